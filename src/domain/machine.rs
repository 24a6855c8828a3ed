//! The person's machines, and what is at work on each, as people read it.

use crate::base::amount::counted;
use crate::base::text::{clean_line, cut, cut_words};
use crate::domain::summary::{Owner, RunState, RunSummary};
use serde::{Deserialize, Serialize};

/// Columns of a ticket's name, and of what a run asks or does.
const NAME: usize = 16;
const ABOUT: usize = 80;

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// As the person's configuration names it; `None`: this one.
    pub name: Option<String>,
    /// How many runs are at work there, or why that is not known.
    pub words: String,
    pub is_reached: bool,
    /// The runs at work there, newest first.
    pub at_work: Vec<AtWork>,
}

/// A run at work there. All of it can be shown as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtWork {
    /// Its id, by which it is shown: two directories may have tickets of one name.
    pub run: String,
    /// The whole name of its ticket.
    pub ticket: String,
    /// Name, state, phases and cost, each in its column.
    pub columns: String,
    /// What it asks the person, or the phase that it works on.
    pub about: String,
    pub needs_you: bool,
}

impl Machine {
    /// What is known of its runs, or why nothing is.
    pub fn of(name: Option<String>, runs: &Result<Vec<RunSummary>, String>) -> Self {
        match runs {
            Ok(runs) => {
                let at_work = runs.iter().filter(|run| run.owner() == Owner::Another).map(AtWork::of).collect();
                Self { name, words: words(runs), is_reached: true, at_work }
            }
            Err(why) => {
                let what = if name.is_none() { "its runs cannot be read" } else { "unreachable" };
                Self {
                    name,
                    words: format!("{what}: {}", clean_line(why, 400)),
                    is_reached: false,
                    at_work: Vec::new(),
                }
            }
        }
    }

    /// What it is called.
    pub fn called(&self) -> &str {
        self.name.as_deref().unwrap_or("here")
    }
}

impl AtWork {
    fn of(run: &RunSummary) -> Self {
        let ticket = clean_line(run.ticket.as_str(), 200);
        let phases = if run.phases == 0 { "–".to_owned() } else { format!("{}/{}", run.phases_done, run.phases) };
        let cost = format!("${:.2}", run.cost_usd);
        let columns = format!("{:<NAME$}  {:<10}  {phases:>5}  {cost:>8}", cut(&ticket, NAME), run.label());
        let about = run.asks().or(run.phase.as_deref()).unwrap_or_default();
        let about = cut_words(&clean_line(about, 400), ABOUT);
        Self { run: run.run.to_string(), ticket, columns, about, needs_you: run.asks().is_some() }
    }
}

/// How many of them are at work, wait for the person, or can be resumed.
fn words(runs: &[RunSummary]) -> String {
    let at_work: Vec<&RunSummary> = runs.iter().filter(|run| run.owner() == Owner::Another).collect();
    let waiting = at_work.iter().filter(|run| run.asks().is_some()).count();
    let interrupted = runs.iter().filter(|run| run.state == RunState::Interrupted).count();
    let mut words = vec![match (at_work.len(), runs.len()) {
        (_, 0) => "no runs".to_owned(),
        (0, all) => format!("none active, {}", counted(all, "run")),
        (some, _) => format!("{some} active"),
    }];
    if waiting > 0 {
        words.push(format!("{waiting} of them {} you", if waiting == 1 { "needs" } else { "need" }));
    }
    if interrupted > 0 {
        words.push(format!("{interrupted} interrupted"));
    }
    words.join(", ")
}

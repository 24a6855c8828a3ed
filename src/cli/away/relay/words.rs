//! What the phone is told of runs.

use crate::adapters::telegram::LONGEST;
use crate::base::text::clean_line;
use crate::domain::credentials::masked;
use crate::domain::summary::{Owner, RunState, RunSummary};

/// How a run has ended.
pub(super) fn ended(run: &RunSummary) -> String {
    let reason = run.reason.as_deref().unwrap_or("ended").replace('_', " ");
    format!("{}\n\nThe run has ended: {reason}.", line(run))
}

/// A run in a line.
pub(super) fn line(run: &RunSummary) -> String {
    let title = clean_line(&run.title, 80);
    let does = match (&run.needs, &run.phase) {
        (Some(_), _) if run.owner() != Owner::Nobody => "waits for you".to_owned(),
        (_, Some(phase)) if run.state == RunState::Running => format!("works on “{}”", clean_line(phase, 60)),
        _ => run.state.word().to_owned(),
    };
    let cost = run.cost_usd + run.carried_usd;
    format!("{} · {title}: {does}, {}/{} phases, ${cost:.2}", run.ticket, run.phases_done, run.phases)
}

/// As much of a text as a message may have, without what looks like a credential.
pub(super) fn fit(text: &str) -> String {
    let text = masked(text);
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 2).chain(" …".chars()).collect()
}

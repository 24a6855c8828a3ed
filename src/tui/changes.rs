//! What differs in the directory of the run in front, as far as it was told, and when it is asked for again. Shared: news
//! of a run makes it stale.

use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::changes::{Changes, Since};
use crate::domain::record::Record;
use crate::tui::tab::Tab;
use std::time::Duration;

/// The pane's name.
pub const NAME: &str = "changes";
/// While Claude works, it is asked for at most so often.
const PACE: Duration = Duration::from_secs(2);
/// Tools that write nothing.
const READERS: [&str; 8] = ["Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "TodoWrite", "AskUserQuestion"];

/// How far back it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Iteration,
    Phase,
    Ticket,
    Base,
}

impl Reach {
    pub fn word(self) -> &'static str {
        match self {
            Self::Iteration => "this iteration",
            Self::Phase => "this phase",
            Self::Ticket => "whole ticket",
            Self::Base => "against the branch's base",
        }
    }

    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Iteration => Self::Phase,
            Self::Phase => Self::Ticket,
            Self::Ticket => Self::Base,
            Self::Base => Self::Iteration,
        }
    }

    /// Nothing differs, in words.
    pub fn nothing(self) -> &'static str {
        match self {
            Self::Iteration => "No changes in this iteration.",
            Self::Phase => "No changes in this phase.",
            Self::Ticket => "No changes since the ticket began.",
            Self::Base => "No changes since the branch began.",
        }
    }
}

/// What is compared.
pub type Compared = (RunId, Since);

/// What is known of the changes.
#[derive(Default)]
pub struct Known {
    /// How far back the person wants to look; `None`: as far as it is of use.
    pub reach: Option<Reach>,
    /// The file under the cursor; `None`: the first.
    pub chosen: Option<String>,
    told: Option<(Compared, Result<Changes, String>)>,
    /// Asked for and not yet answered.
    asked: Option<Compared>,
    last: Option<Timestamp>,
    stale: bool,
}

impl Known {
    /// It may be otherwise now.
    pub fn outdated(&mut self) {
        self.stale = true;
    }

    /// It is answered, now.
    pub fn tell(&mut self, (run, since): Compared, changes: Result<Changes, String>, now: Timestamp) {
        // The pause is between an answer and the next question: a large tree takes longer than that.
        (self.asked, self.last) = (None, Some(now));
        self.told = Some(((run, since), changes));
    }

    /// It could not be asked for.
    pub fn not_asked(&mut self, run: RunId, since: Since, why: &str) {
        self.asked = None;
        self.told = Some(((run, since), Err(why.to_owned())));
        self.stale = true;
    }

    /// What is told of it.
    pub fn of(&self, compared: &Compared) -> Option<&Result<Changes, String>> {
        self.told.as_ref().filter(|(told, _)| told == compared).map(|(_, changes)| changes)
    }

    /// It is known, or asked for.
    pub fn is_known(&self, compared: &Compared, now: Timestamp) -> bool {
        let due = self.stale && self.due_at().is_none_or(|at| at <= now);
        self.asked.is_some() || self.of(compared).is_some() && !due
    }

    pub fn ask(&mut self, compared: Compared, now: Timestamp) {
        (self.asked, self.last, self.stale) = (Some(compared), Some(now), false);
    }

    /// It is asked for.
    pub fn awaits(&self, compared: &Compared) -> bool {
        self.asked.as_ref() == Some(compared)
    }

    /// When it is to be asked for again.
    pub fn due_at(&self) -> Option<Timestamp> {
        let last = self.last.filter(|_| self.stale && self.asked.is_none())?;
        Some(last.plus(PACE))
    }
}

/// A record of the run in front may mean that files were written.
pub fn recorded(known: &mut Known, tab: &Tab, record: &Record) {
    let wrote = match record {
        Record::ToolFinished { .. } => {
            let tool = tab.call.as_ref().and_then(|(call, _)| call.split(' ').next());
            tool.is_none_or(|tool| !READERS.contains(&tool))
        }
        Record::EvidenceGathered { .. }
        | Record::IterationEnded { .. }
        | Record::SnapshotTaken { .. }
        | Record::RunEnded { .. } => true,
        _ => false,
    };
    known.stale |= wrote;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::news::News;
    use crate::domain::request::Reply;
    use crate::domain::request::Request;
    use crate::tui::msg::{Ask, Msg};
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;

    fn wide() -> Ui {
        let mut ui = sample::model();
        ui.tabs.push(sample::running("tk-1"));
        ui.size = (200, 50);
        ui
    }

    fn tick(ui: &mut Ui, seconds: i64) -> Vec<Ask> {
        update(ui, Msg::Tick(sample::ago(-seconds)))
    }

    fn asked(asks: &[Ask]) -> Option<Since> {
        match asks {
            [] => None,
            [Ask::Request(Request::Changes(_, since))] => Some(since.clone()),
            other => panic!("{other:?}"),
        }
    }

    fn answer(ui: &mut Ui, since: Option<Since>) {
        let reply = Reply::Changes(sample::run("tk-1"), since.unwrap(), Ok(Changes::default()));
        assert_eq!(update(ui, Msg::Replied(reply)), []);
    }

    /// Claude's call comes back.
    fn back(ui: &mut Ui, seq: u64, call: &str) -> Vec<Ask> {
        ui.tabs[0].call = Some((call.into(), sample::NOW));
        let record = Record::ToolFinished { n: 7, tool_use_id: "c".into(), is_error: false };
        update(ui, Msg::News(News::Recorded(sample::stored("tk-1", seq, record).into())))
    }

    #[test]
    fn they_are_asked_for_while_they_are_shown() {
        let snapshot = Some(Since::Snapshot("9c1f2ab".into()));
        let mut ui = wide();
        assert_eq!(asked(&tick(&mut ui, 0)), snapshot);
        assert_eq!(tick(&mut ui, 9), [], "one question at a time");
        answer(&mut ui, snapshot.clone());
        ui.changes.reach = Some(Reach::Ticket);
        assert_eq!(asked(&tick(&mut ui, 9)), Some(Since::Ticket));
        let mut narrow = wide();
        narrow.size = (120, 40);
        assert_eq!(tick(&mut narrow, 0), []);
        assert_eq!(asked(&update(&mut narrow, Msg::Key(sample::key("D")))), snapshot);
        answer(&mut narrow, snapshot.clone());
        assert_eq!(update(&mut narrow, Msg::Key(sample::key("D"))), []);
        assert_eq!(tick(&mut narrow, 9), []);
        assert_eq!(asked(&update(&mut narrow, Msg::Key(sample::key("D")))), snapshot, "on focus");
    }

    #[test]
    fn what_claude_writes_is_asked_for_at_most_every_two_seconds() {
        let mut ui = wide();
        let since = asked(&tick(&mut ui, 0));
        answer(&mut ui, since.clone());
        assert_eq!(back(&mut ui, 41, "Read src/a.rs"), []);
        assert_eq!(tick(&mut ui, 5), [], "reading changes nothing");
        assert_eq!(asked(&back(&mut ui, 42, "Edit src/a.rs")), since);
        answer(&mut ui, since.clone());
        assert_eq!(back(&mut ui, 43, "Bash make"), [], "too soon");
        assert_eq!(ui.changes_due(), Some(sample::ago(-7)));
        assert_eq!(tick(&mut ui, 6), []);
        assert_eq!(asked(&tick(&mut ui, 7)), since);
        // Not taken: asked again, in time.
        let request = Request::Changes(sample::run("tk-1"), since.clone().unwrap());
        assert_eq!(update(&mut ui, Msg::NotAsked(Box::new(request))), []);
        assert!(ui.told_changes().is_some_and(Result::is_err));
        assert_eq!(asked(&tick(&mut ui, 9)), since);
    }
}

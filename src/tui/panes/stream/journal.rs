//! The pane's fold over the run's records: iterations, their dividers, and the marks between Claude's words.
//!
//! A mark stands where the stream was when its record came; when a run is loaded from the store, that is the iteration's
//! end. Does not read the scrollback; the way from place to place is `order`. What the banner below the stream tells
//! (`panes::notice`: the run waits, has ended) is not told here as well.

mod judged;

use super::kept::Kept;
use super::layout::one_line;
use super::marks::{Head, Mark};
use super::verdict::{Check, Judged};
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::approval::{Answer, Answered, AnsweredBy, Voided};
use crate::domain::note::{NoteStage, Notes, SENT_AS};
use crate::domain::own_session::PLACE;
use crate::domain::record::{
    BoxSettled, Level, OfPhase, PhaseByPerson, Record, SessionLost, Stored, WorkCarried, WriteOutcome,
};
use crate::domain::stream::show;
use crate::domain::verdict::Verdict;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Most calls whose times are kept.
const TIMED: usize = 4_096;

/// An iteration; number 0 holds what is said before the first one.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) n: u32,
    pub(super) head: Head,
    pub(super) len: usize,
    /// The marks with the number of records before each; ascending.
    pub(super) marks: Vec<(usize, Mark)>,
    /// Claude runs (or ran): marks no longer go to the top.
    spawned: bool,
    pub(super) ended: bool,
    /// A mark says what cut it off.
    cut_told: bool,
}

/// The fold.
#[derive(Debug, Default)]
pub(super) struct Journal {
    pub(super) segments: Vec<Segment>,
    pub(super) cwd: String,
    calls: HashMap<String, (Timestamp, Option<Timestamp>)>,
    /// Calls that wait for the person.
    pub(super) waiting: HashSet<String>,
    /// Calls that the person has changed, and what they are about since then.
    pub(super) edited: HashMap<String, String>,
    /// Calls that were not let run, and by whom.
    refused: HashMap<String, Refused>,
    /// Boxes of which the stream has said that they are not ticked.
    open_boxes: HashSet<String>,
    is_chat: bool,
    /// The run was asked to stop.
    stops: bool,
    /// It is a Claude session that the person has started themselves.
    is_own: bool,
    notes: Notes,
    pub(super) kept: Kept,
}

/// Who did not let a call run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Rules,
    Person,
    /// Nobody was there to ask, or not in time.
    Absence,
}

impl Refused {
    /// The word at the end of the call's line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Rules => "blocked by the gate",
            Self::Person => "denied by you",
            Self::Absence => "denied: nobody answered",
        }
    }
}

impl Journal {
    /// The iteration `n`, made when it is new.
    pub(super) fn segment(&mut self, n: u32) -> &mut Segment {
        let at = match self.segments.binary_search_by_key(&n, |segment| segment.n) {
            Ok(at) => at,
            Err(at) => {
                self.segments.insert(at, Segment { n, ..Segment::default() });
                at
            }
        };
        &mut self.segments[at]
    }

    fn mark(&mut self, mark: Mark) {
        let segment = self.segment(self.segments.last().map_or(0, |segment| segment.n));
        // What is said before Claude starts stands above its words.
        let place = if segment.spawned { usize::MAX } else { 0 };
        segment.marks.push((place, mark));
    }

    fn say(&mut self, level: Level, text: impl Into<String>) {
        self.mark(Mark::Notice { level, text: text.into() });
    }

    /// Gives the new marks their places: where the iteration's records end now.
    pub(super) fn settle(&mut self) {
        for segment in &mut self.segments {
            for (place, _) in segment.marks.iter_mut().rev() {
                if *place <= segment.len {
                    break;
                }
                *place = segment.len;
            }
        }
    }

    /// Forgets the places of marks between records: the scrollback is another one.
    pub(super) fn unsettle(&mut self) {
        for segment in &mut self.segments {
            segment.len = 0;
            for (place, _) in segment.marks.iter_mut().filter(|(place, _)| *place > 0) {
                *place = usize::MAX;
            }
        }
    }

    /// Milliseconds that a call took, as programmator saw it.
    pub(super) fn took(&self, id: &str) -> Option<f64> {
        let (asked, ended) = self.calls.get(id)?;
        Some(ended.as_ref()?.since(*asked).as_secs_f64() * 1e3)
    }

    /// The call was not let run.
    pub(super) fn refused(&self, id: &str) -> Option<Refused> {
        self.refused.get(id).copied()
    }

    fn refuse(&mut self, id: &str, by: Refused) {
        if self.refused.len() >= TIMED {
            self.refused.clear();
        }
        self.refused.insert(id.to_owned(), by);
    }

    fn claim(&mut self) -> Option<(&mut Vec<Check>, &mut Judged)> {
        self.segments
            .iter_mut()
            .rev()
            .flat_map(|segment| segment.marks.iter_mut().rev())
            .find_map(|(_, mark)| match mark {
                Mark::Claim { checks, judged, .. } => Some((checks, judged)),
                _ => None,
            })
            .filter(|(_, judged)| **judged == Judged::NotYet)
    }

    /// The person gave a note of these words.
    pub(super) fn has_note(&self, words: &str) -> bool {
        let marks = self.segments.iter().flat_map(|segment| &segment.marks);
        let words = words.strip_prefix(SENT_AS).unwrap_or(words).trim();
        marks.into_iter().any(|(_, mark)| matches!(mark, Mark::Note { text, .. } if text.trim() == words))
    }

    /// The marks of notes say what has become of the notes.
    fn follow_notes(&mut self, record: &Record) {
        if !self.notes.fold(record) {
            return;
        }
        let marks = self.segments.iter_mut().flat_map(|segment| &mut segment.marks);
        for (_, mark) in marks {
            if let Mark::Note { id, state, .. } = mark
                && let Some(stage) = self.notes.stage(id)
            {
                *state = stage;
            }
        }
    }

    fn follow_waiting(&mut self, record: &Record) {
        match record {
            Record::ApprovalAsked(approval) => {
                self.waiting.insert(approval.id.call.clone());
                self.edited.remove(&approval.id.call);
                if approval.edited_from.is_some() {
                    let target = one_line(&show::target(&approval.tool, &approval.input, &self.cwd));
                    self.edited.insert(approval.id.call.clone(), target);
                }
            }
            Record::ApprovalAnswered(Answered { id, .. }) | Record::ApprovalVoid(Voided { id, .. }) => {
                self.waiting.remove(&id.call);
            }
            Record::IterationEnded { .. } | Record::RunEnded { .. } => self.waiting.clear(),
            _ => {}
        }
    }

    pub(super) fn record(&mut self, stored: &Stored) {
        self.kept.fold(&stored.record, &self.waiting);
        self.follow_waiting(&stored.record);
        self.follow_notes(&stored.record);
        match &stored.record {
            Record::RunStarted { folder, ticket_path, .. } => {
                self.cwd.clone_from(folder);
                self.is_own = Path::new(ticket_path).parent().is_some_and(|folder| folder.ends_with(PLACE));
            }
            // It is for a question of a session that goes on all the time.
            Record::RunResumed { .. } if self.is_own => {}
            Record::WorktreeIntended(worktree) => self.cwd = worktree.directory.display().to_string(),
            Record::RunResumed { .. } => {
                self.stops = false;
                self.say(Level::Info, "run resumed");
            }
            Record::OutputCleared(cleared) => self.say(Level::Info, cleared.on(stored.time)),
            Record::WorkCarried(WorkCarried { run, .. }) => {
                let words = format!("previous run: {0}, `programmator replay {0}` shows it", run.short());
                self.say(Level::Info, words);
            }
            Record::TicketLost { why } => self.say(Level::Error, format!("ticket: {why}")),
            Record::ValidationChangeSeen { .. } => {
                self.say(Level::Warn, "the ticket's validation commands changed during the run");
            }
            Record::IterationStarted { n, phase, session, role, .. } => {
                let step = (!role.step.is_code()).then(|| clean_line(role.step.word(), 20));
                let head = Head { phase: phase.clone(), step, resumed: session.is_some(), ..Head::default() };
                self.segment(*n).head = head;
            }
            Record::AgentSpawned { n, .. } => self.segment(*n).spawned = true,
            Record::SessionLost(SessionLost { session, .. }) => {
                self.say(Level::Warn, format!("Claude cannot resume session {session}; starting a fresh one"));
            }
            // Its line says that it was not let run, and its result why.
            Record::ToolJudged { tool_use_id, verdict, .. } => {
                if self.calls.len() >= TIMED {
                    self.calls.clear();
                }
                self.calls.insert(tool_use_id.clone(), (stored.time, None));
                if *verdict == Verdict::Block {
                    self.refuse(tool_use_id, Refused::Rules);
                }
            }
            // It runs from now on: the time before was the person's.
            Record::ApprovalAnswered(Answered { id, answer: Answer::Allow { .. }, .. }) => {
                if let Some(call) = self.calls.get_mut(&id.call) {
                    call.0 = stored.time;
                }
            }
            Record::ApprovalAnswered(Answered { id, answer: Answer::Deny { .. }, by }) => {
                let by = match by {
                    AnsweredBy::Person(_) | AnsweredBy::Ticket => Refused::Person,
                    AnsweredBy::Timeout | AnsweredBy::Nobody | AnsweredBy::Unshown => Refused::Absence,
                    AnsweredBy::Rules => Refused::Rules,
                };
                self.refuse(&id.call, by);
            }
            Record::ToolFinished { tool_use_id, .. } => {
                if let Some(call) = self.calls.get_mut(tool_use_id) {
                    call.1 = Some(stored.time);
                }
            }
            Record::NoteGiven { id, text } => {
                self.mark(Mark::Note { id: id.clone(), text: text.clone(), state: NoteStage::Queued });
            }
            Record::Noticed { level, text } => self.say(*level, text.clone()),
            Record::PhaseSkipped(OfPhase { phase, .. }) => self.say(Level::Info, format!("↷ skipped “{phase}”")),
            Record::PhaseTicked(PhaseByPerson { of, by, why }) => {
                let how = why.as_ref().map_or("ticked", |_| "accepted");
                let why = why.as_ref().map(|why| format!(" · {why}")).unwrap_or_default();
                self.say(Level::Info, format!("✓ {how} by {by}: “{}”{why}", of.phase));
            }
            Record::PhaseReopened(PhaseByPerson { of, .. }) => {
                self.say(Level::Info, format!("reopened: “{}”", of.phase));
            }
            Record::UntickSettled(BoxSettled { phase, outcome: WriteOutcome::Written, .. }) => {
                self.open_boxes.insert(phase.phase.clone());
                self.say(Level::Warn, format!("“{}” reopened: its box was unticked", phase.phase));
            }
            Record::TickSettled(BoxSettled { phase, outcome: WriteOutcome::Written, .. })
                if self.open_boxes.remove(&phase.phase) =>
            {
                self.say(Level::Info, format!("box of “{}” ticked", phase.phase));
            }
            Record::TickSettled(BoxSettled { phase, outcome, .. })
            | Record::UntickSettled(BoxSettled { phase, outcome, .. }) => {
                if !matches!(outcome, WriteOutcome::Written | WriteOutcome::AlreadySo) {
                    self.open_boxes.insert(phase.phase.clone());
                }
                self.unwritten(&format!("the box of “{}”", phase.phase), outcome);
            }
            Record::ApprovalsKept { why } => self.outlived(why),
            Record::EditRefused(refused) => self.say(Level::Warn, format!("edit rejected: {}", refused.why)),
            Record::StatusSettled { outcome, .. } => self.unwritten("the ticket's status", outcome),
            Record::ChatAsked(_) => self.is_chat = true,
            Record::Paused if !self.is_chat => self.say(Level::Info, "paused"),
            Record::Continued if std::mem::take(&mut self.stops) => {
                self.say(Level::Info, "stop withdrawn: the run keeps going");
            }
            Record::Continued if !self.is_chat => self.say(Level::Info, "resumed"),
            Record::StopRequested { .. } => {
                self.stops = true;
                self.say(Level::Info, "stopping …");
            }
            other => self.judged(other),
        }
    }

    /// The question stays, its process does not: that is no interruption of the person's.
    fn outlived(&mut self, why: &str) {
        self.segments.iter_mut().next_back().into_iter().for_each(|segment| segment.cut_told = true);
        self.say(Level::Warn, format!("still waiting for your answer: {why}"));
    }

    fn unwritten(&mut self, what: &str, outcome: &WriteOutcome) {
        let why = match outcome {
            WriteOutcome::Written | WriteOutcome::AlreadySo => return,
            WriteOutcome::NotThere => "is no longer in the file",
            WriteOutcome::FileGone => "cannot be set: the file is gone",
            WriteOutcome::Failed(why) => why,
        };
        self.say(Level::Warn, format!("{what}: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::answerer::Answerer;
    use crate::domain::approval::QuestionId;
    use crate::domain::merge::{ConflictStage, ConflictStaged};
    use crate::tui::sample;

    #[test]
    fn a_call_takes_its_time_from_the_yes_on() {
        let mut journal = Journal::default();
        let judged = Record::ToolJudged {
            n: 1,
            tool_use_id: "c".into(),
            tool: "Bash".into(),
            target: String::new(),
            verdict: Verdict::Ask,
            reason: String::new(),
            units: vec![],
            cwd: None,
        };
        let answer = Answer::Allow { input: "{}".into(), scope: crate::domain::approval::Scope::Once };
        let yes = Record::ApprovalAnswered(Answered {
            id: QuestionId::first("c"),
            answer,
            by: AnsweredBy::Person(Answerer::SCREEN),
        });
        let finished = Record::ToolFinished { n: 1, tool_use_id: "c".into(), is_error: false };
        for (seq, (seconds, record)) in (1..).zip([(0, judged), (600, yes), (602, finished)]) {
            let time = sample::NOW.plus(std::time::Duration::from_secs(seconds));
            journal.record(&Stored { time, ..sample::stored("tk-1", seq, record) });
        }
        assert_eq!(journal.took("c"), Some(2_000.0));
    }

    #[test]
    fn why_a_conflict_is_not_resolved_is_said() {
        let mut journal = Journal::default();
        let why = vec!["`cargo test` fails on the merged tree\nassertion failed".to_owned(), "a\u{1b}[2Jb".to_owned()];
        let staged = ConflictStaged { n: 3, why, ..ConflictStaged::at(ConflictStage::Open) };
        journal.record(&sample::stored("tk-1", 1, Record::ConflictStaged(staged)));
        journal.record(&sample::stored("tk-1", 2, Record::ConflictStaged(ConflictStaged::at(ConflictStage::Open))));
        assert_eq!(
            said(&journal),
            ["conflict not resolved: `cargo test` fails on the merged tree", "conflict not resolved: ab"]
        );
    }

    /// The notices between Claude's words.
    fn said(journal: &Journal) -> Vec<&str> {
        let marks = journal.segments.iter().flat_map(|segment| &segment.marks);
        marks
            .filter_map(|(_, mark)| if let Mark::Notice { text, .. } = mark { Some(text.as_str()) } else { None })
            .collect()
    }

    #[test]
    fn the_last_word_on_a_box_is_the_latest() {
        let mut journal = Journal::default();
        let phase = OfPhase { phase: "X".into(), id: None };
        let settled = || BoxSettled { phase: phase.clone(), outcome: WriteOutcome::Written, reading: None };
        let records =
            [Record::TickSettled(settled()), Record::UntickSettled(settled()), Record::TickSettled(settled())];
        for (seq, record) in (1..).zip(records) {
            journal.record(&sample::stored("tk-1", seq, record));
        }
        assert_eq!(said(&journal), ["“X” reopened: its box was unticked", "box of “X” ticked"]);
    }

    #[test]
    fn a_changed_call_is_about_what_it_was_changed_to() {
        let mut journal = Journal::default();
        journal.record(&sample::stored("tk-1", 1, Record::ApprovalAsked(sample::push("c"))));
        assert_eq!(journal.edited.get("c"), None);
        let mut changed = sample::push("c");
        changed.edited_from = Some(std::mem::replace(&mut changed.input, r#"{"command":"git status\nls"}"#.into()));
        journal.record(&sample::stored("tk-1", 2, Record::ApprovalAsked(changed)));
        assert_eq!(journal.edited.get("c").map(String::as_str), Some("git status …"));
    }

    #[test]
    fn a_call_waits_until_it_is_answered_or_withdrawn() {
        let answer = Answer::Deny { words: "no".into() };
        for end in [
            Record::ApprovalAnswered(Answered {
                id: QuestionId::first("c"),
                answer,
                by: AnsweredBy::Person(Answerer::SCREEN),
            }),
            Record::ApprovalVoid(Voided { id: QuestionId::first("c"), why: "gone".into() }),
        ] {
            let mut journal = Journal::default();
            journal.record(&sample::stored("tk-1", 1, Record::ApprovalAsked(sample::push("c"))));
            assert!(journal.waiting.contains("c"));
            journal.record(&sample::stored("tk-1", 2, end));
            assert!(journal.waiting.is_empty());
        }
    }
}

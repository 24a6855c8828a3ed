//! What of a run is not stored: that nothing can be now, and the person's ticks and answers that were handed to it and that
//! no record says yet. They are facts when they are stored; until then, and when that comes to nothing, the screen says so.

use crate::base::text::{clean_line, cut};
use crate::base::time::Timestamp;
use crate::domain::approval::{Approval, QuestionId};
use crate::domain::command::UserCommand;
use crate::domain::messages::Weight;
use crate::domain::news::StorageAwaited;
use crate::domain::outcome::ExitReason;
use crate::domain::phase::Mark;
use crate::domain::record::{OfPhase, PhaseByPerson, Record};
use crate::orchestrator::state::State;
use crate::tui::call_words::call_words;
use jiff::tz::TimeZone;
use std::sync::Arc;

/// What is not stored.
#[derive(Default)]
pub struct Unstored {
    /// Nothing can be stored, and the run waits.
    pub awaited: Option<StorageAwaited>,
    handed: Vec<UserCommand>,
}

impl Unstored {
    /// The run has decided about it, whatever it decided: nothing of it waits to be stored.
    pub fn decided(&mut self, command: &UserCommand) {
        self.handed.retain(|handed| handed != command);
    }

    /// Waiting for storage is no work.
    pub fn at_work_until(&self, now: Timestamp) -> Timestamp {
        self.awaited.as_ref().map_or(now, |waiting| now.min(waiting.since))
    }

    fn answers(&self, wanted: &QuestionId) -> bool {
        self.handed.iter().any(|command| matches!(command, UserCommand::AnswerApproval { id, .. } if id == wanted))
    }

    /// Remembers what was handed to the run, as far as it is a tick or an answer.
    pub fn hand(&mut self, state: &State, command: &UserCommand) {
        if missing(state, command).is_some() {
            self.handed.push(command.clone());
        }
    }

    /// A record was stored: others can be, and what has become a fact, or can become none any more, is forgotten.
    pub(super) fn stored(&mut self, state: &State) {
        self.awaited = None;
        self.handed.retain(|command| missing(state, command).is_some());
    }

    /// The questions that wait for the person: not those whose answer only waits for storage.
    pub fn open_questions<'a>(&'a self, state: &'a State) -> impl Iterator<Item = &'a Arc<Approval>> {
        state.approvals.iter().filter(|asked| self.awaited.is_none() || !self.answers(&asked.id))
    }

    /// That nothing can be stored, and what it holds up.
    pub fn words(&self, state: &State, zone: &TimeZone) -> Option<String> {
        let waiting = self.awaited.as_ref()?.words(zone);
        let missing = self.all_missing(state, "not stored yet").map_or(String::new(), |words| format!(" · {words}"));
        Some(clean_line(&format!("{waiting}{missing}"), 600))
    }

    /// What was handed to the run and is in no record.
    pub fn all_missing(&self, state: &State, how: &str) -> Option<String> {
        let all: Vec<String> = self.handed.iter().filter_map(|command| missing(state, command)).collect();
        (!all.is_empty()).then(|| format!("{how}: {}", all.join(", ")))
    }

    /// What a record that is about to be told makes of what was handed to the run.
    pub fn became(&self, state: &State, record: &Record) -> Option<(Weight, String)> {
        match record {
            Record::PhaseTicked(PhaseByPerson { of: OfPhase { phase, id: Some(id) }, .. })
                if self.handed.contains(&UserCommand::TickPhase { phase: *id }) =>
            {
                Some((Weight::Info, format!("ticked “{phase}”")))
            }
            Record::ApprovalVoid(void) if self.answers(&void.id) => {
                Some((Weight::Warn, format!("your answer was not recorded: {}", void.why)))
            }
            Record::RunEnded { reason: ExitReason::StorageFailed, .. } => {
                Some((Weight::Error, self.all_missing(state, "not recorded")?))
            }
            _ => None,
        }
    }
}

/// A tick or an answer that no record says yet, in words.
fn missing(state: &State, command: &UserCommand) -> Option<String> {
    match command {
        UserCommand::TickPhase { phase } => {
            let phase = state.phase_by(*phase).filter(|phase| !matches!(phase.mark, Mark::Done(_)))?;
            Some(format!("the tick of “{}”", cut(&phase.text, 60)))
        }
        UserCommand::AnswerApproval { id, .. } => {
            let asked = state.approvals.iter().find(|asked| asked.id == *id)?;
            Some(format!("your answer about {}", cut(&call_words(asked), 60)))
        }
        _ => None,
    }
}

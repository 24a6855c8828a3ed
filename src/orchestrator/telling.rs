//! What a run has to tell a person who does not look at it: what it needs them for, that it waits, and how it has ended.

use crate::domain::approval::QuestionId;
use crate::domain::messages::reason_words;
use crate::domain::notification::{Level, Notification};
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::orchestrator::state::{Ended, State};
use crate::orchestrator::summary::summary;

/// What a run waits for the person for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The oldest question; `None`: it is no tool call.
    pub question: Option<QuestionId>,
    pub told: Notification,
}

/// What the run waits for the person for, as it stands.
pub fn need(state: &State) -> Option<Need> {
    if state.ended.is_some() {
        return None;
    }
    let disputed = || {
        let phase = state.disputes().next()?;
        Some(format!("disputed: “{}”", phase.text))
    };
    let words = summary(state)?.needs.or_else(disputed)?;
    let question = state.approvals.first().map(|approval| approval.id.clone());
    Some(Need { question, told: tell(state, Level::NeedsYou, "needs you", &words) })
}

/// What a record tells of a run, once it is folded into its state: that it waits for a limit, or has ended.
pub fn of(state: &State, record: &Record) -> Option<Notification> {
    match record {
        Record::Parked(_) => {
            let parking = state.limits.parked.as_ref()?;
            Some(tell(state, Level::Parked, "is parked", &parking.about))
        }
        Record::RunEnded { .. } => match state.ended.as_ref()? {
            Ended { reason: ExitReason::Complete, .. } => {
                Some(tell(state, Level::Finished, "is complete", &state.title))
            }
            Ended { reason: ExitReason::Planned, .. } => Some(tell(state, Level::Finished, "is planned", &state.title)),
            Ended { reason: ExitReason::UserStopped, .. } => None,
            Ended { reason, detail, .. } if detail.is_empty() => {
                Some(tell(state, Level::Failed, "has stopped", reason_words(*reason)))
            }
            Ended { detail, .. } => Some(tell(state, Level::Failed, "has stopped", detail)),
        },
        _ => None,
    }
}

fn tell(state: &State, level: Level, what: &str, text: &str) -> Notification {
    let ticket = state.ticket.as_ref().map_or_else(String::new, ToString::to_string);
    let phase = state.open_iteration().and_then(|_| state.own_text()).map(str::to_owned);
    Notification { level, title: format!("{ticket} {what}"), ticket, phase, text: text.to_owned() }
}

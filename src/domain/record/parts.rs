//! Small words that records are made of; part of the journal's schema like the records themselves.

use crate::base::id::RunId;
use crate::domain::answerer::Answerer;
use crate::domain::outcome::DoneHow;
use crate::domain::phase::PhaseId;
use crate::domain::ticket::revise::{PhasePlace, TicketEdit};
use crate::domain::ticket::{PhaseSettings, Revision};
use serde::{Deserialize, Serialize};

/// A phase as the ticket's file has it, in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseSeed {
    /// Text that identifies the phase.
    pub text: String,
    /// Ticked in the file.
    pub done: bool,
}

/// What the ticket's earlier runs came to, as the last of them left it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkCarried {
    pub run: RunId,
    /// What all of them cost.
    pub cost_usd: f64,
    /// Lines that they have added and removed, each counted from its own first snapshot.
    #[serde(default)]
    pub lines: (u64, u64),
    /// What they were to commit and have not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncommitted: Vec<String>,
    /// The commit that has all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    pub phases: Vec<PhaseCarried>,
    /// On what ground the whole ticket is done, where it has no phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<DoneHow>,
    /// The tree before the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The goal was found reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub achieved: bool,
    /// All of it was reviewed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reviewed: bool,
}

/// A phase, by its number in the new run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCarried {
    pub id: PhaseId,
    /// On what ground it is done; `None`: it is not.
    pub how: Option<DoneHow>,
    pub spent_ms: u64,
    /// Its work was taken back by a restore.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken_back: bool,
    /// The person left it out after the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
}

/// What the ticket says of the work on a phase, in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetPhase {
    pub text: String,
    #[serde(default, skip_serializing_if = "PhaseSettings::is_empty")]
    pub settings: PhaseSettings,
}

/// How bad a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// For the record.
    Info,
    /// Worth a look.
    Warn,
    /// Something failed.
    Error,
}

/// What came of a change to the ticket's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteOutcome {
    /// We changed it.
    Written,
    AlreadySo,
    /// The file has no such place any more (phase renamed or removed, no front matter).
    NotThere,
    FileGone,
    /// It could not be written.
    Failed(String),
}

impl WriteOutcome {
    /// Why lines of the ticket are not as they should be; `None`: they are.
    pub fn revision_trouble(self) -> Option<String> {
        match self {
            Self::NotThere => {
                Some("the ticket was changed there in the meantime; your edit was not applied".to_owned())
            }
            other => other.box_trouble(),
        }
    }

    /// Why the box of a phase is not as it should be; `None`: it is.
    pub fn box_trouble(self) -> Option<String> {
        match self {
            Self::Written | Self::AlreadySo => None,
            Self::NotThere => Some("the phase is no longer in the file".to_owned()),
            Self::FileGone => Some("the file is gone".to_owned()),
            Self::Failed(why) => Some(why),
        }
    }
}

/// A person decided about changed validation commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeAnswered {
    /// The list that counts from now on.
    pub commands: Vec<String>,
    /// The new list was taken.
    pub accepted: bool,
}

/// A failed request that Claude sends again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiRetried {
    pub n: u32,
    pub attempt: u32,
    pub max_retries: u32,
    pub delay_ms: u64,
    /// `rate_limit`, `overloaded`, …
    pub error: String,
    /// HTTP status; `None` for a lost connection.
    #[serde(default)]
    pub status: Option<u16>,
}

/// A validation command ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidationRan {
    pub n: u32,
    pub command: String,
    /// Its exit code; `None` when it was ended by a signal or the timeout.
    pub exit: Option<i32>,
    pub timed_out: bool,
    pub ms: u64,
    /// The last of its output, at most 4,000 bytes.
    pub tail: String,
    /// Path of the whole output.
    pub log: String,
}

impl ValidationRan {
    /// Exit 0.
    pub fn passed(&self) -> bool {
        self.exit == Some(0)
    }
}

/// Which phase a fact is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfPhase {
    /// Its text at that time.
    pub phase: String,
    /// Its number; old journals tell a phase by its text alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PhaseId>,
}

/// Who decided something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByPerson {
    /// They.
    #[serde(default, skip_serializing_if = "Answerer::is_screen")]
    pub by: Answerer,
}

/// What a person decided about a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseByPerson {
    #[serde(flatten)]
    pub of: OfPhase,
    /// Who said so.
    #[serde(default, skip_serializing_if = "Answerer::is_screen")]
    pub by: Answerer,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A change of the ticket's text that a person wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketRevised {
    /// Names it, where it is settled.
    pub id: String,
    /// What it does, in words.
    pub what: String,
    pub revision: Revision,
    /// It says why this phase was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepts: Option<PhasePlace>,
    /// A phase has another text: the one before, and the new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed: Option<(String, String)>,
    /// It takes back the change of this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    #[serde(default, skip_serializing_if = "Answerer::is_screen")]
    pub by: Answerer,
}

/// A change of the ticket's text that the run itself wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditDue {
    /// Names it, until it is settled: the change that is made of it has the same.
    pub id: String,
    pub edit: TicketEdit,
    /// Who wants it.
    pub by: Answerer,
}

impl TicketRevised {
    /// How the ids of those begin that write an accepted draft.
    pub const DRAFT: &'static str = "draft-";

    /// It writes an accepted draft.
    pub fn is_draft(&self) -> bool {
        self.id.starts_with(Self::DRAFT)
    }

    /// The change that takes this one back.
    #[must_use]
    pub fn taken_back(self, id: String, by: Answerer) -> Self {
        Self {
            id,
            what: format!("undid: {}", self.what),
            revision: self.revision.reversed(),
            accepts: None,
            renamed: self.renamed.map(|(from, to)| (to, from)),
            undoes: Some(self.id),
            by,
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionSettled {
    #[serde(flatten)]
    pub revised: TicketRevised,
    pub outcome: WriteOutcome,
}

/// What came of a change to the box of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxSettled {
    #[serde(flatten)]
    pub phase: OfPhase,
    pub outcome: WriteOutcome,
    /// Its number among the readings of the file: earlier ones do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<u64>,
}

/// A wish that the person left in the store is obeyed from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WishTaken {
    pub wish: i64,
}

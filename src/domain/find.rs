//! A search through all tickets and runs, piece by piece: what is looked for, what was found, and where the next piece
//! begins. Plain data; `runtime::find` looks.

use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::search::Only;
use crate::domain::ticket::TicketKey;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is looked for, and from where on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Find {
    /// Words as they are shown, whatever their case; empty: every record that counts.
    pub query: String,
    /// Which records count; with any of these, no ticket's text does.
    pub only: Option<Only>,
    pub from: Cursor,
}

/// Tickets come first, by name; then runs, the newest first, and of each the last iteration first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cursor {
    /// Behind the ticket file of this name; `None`: the first one.
    Ticket(Option<String>),
    Run(Option<InRun>),
}

impl Default for Cursor {
    fn default() -> Self {
        Self::Ticket(None)
    }
}

/// A place in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InRun {
    pub run: RunId,
    pub started: Timestamp,
    /// 0: all of it was looked at.
    pub iteration: u32,
    /// The next record of it.
    pub record: usize,
    /// Found in the run so far.
    pub found: usize,
}

/// A line with the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    pub ticket: TicketKey,
    pub title: String,
    pub spot: Spot,
    /// When the run last changed; `None`: it is in a ticket.
    pub time: Option<Timestamp>,
    /// Clean; the line or what of it is around the words.
    pub line: String,
    /// The words in it, in bytes; empty where only the kind of the record counts.
    pub marked: Range<usize>,
}

/// Where a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spot {
    /// In the ticket's file.
    Ticket {
        /// From 1.
        line: u64,
    },
    /// In what Claude printed.
    Run {
        run: RunId,
        iteration: u32,
        /// From 0, among the iteration's records.
        record: usize,
    },
    /// In a line of the run's log.
    Log {
        run: RunId,
        /// 0: before the first one.
        iteration: u32,
    },
}

impl Spot {
    pub fn run(self) -> Option<RunId> {
        match self {
            Self::Ticket { .. } => None,
            Self::Run { run, .. } | Self::Log { run, .. } => Some(run),
        }
    }
}

/// A piece of the search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    pub matches: Vec<Match>,
    /// Where it goes on; `None`: all was looked at.
    pub next: Option<Cursor>,
    /// Runs that were looked at, and all that there are.
    pub looked: usize,
    pub runs: usize,
}

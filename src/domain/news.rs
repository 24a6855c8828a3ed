//! What front ends (screen, headless printer) hear of runs and tickets, each of them all of it. Plain data; what becomes of
//! it where a front end does not take it says `runtime::channels`. What one of them has asked is answered to that one
//! alone: [`request`](super::request).

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::outcome::ExitReason;
use crate::domain::own_seen::OwnSeen;
use crate::domain::record::Stored;
use crate::domain::request::Refused;
use crate::domain::summary::{Owner, RunSummary};
use crate::domain::ticket::{Ticket, TicketKey};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One piece of news for front ends.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// A ticket was read or changed on disk; also sent for tickets that are only listed.
    TicketRead(TicketKey, Arc<Ticket>),
    /// A ticket's file is gone.
    TicketGone(TicketKey),
    /// The ticket files that are archived, all of them.
    ArchivedSeen(Arc<BTreeSet<String>>),
    /// The files of the tickets folder that cannot be read, all of them, and why; words for the person.
    UnreadSeen(Arc<BTreeMap<String, String>>),
    /// How a run stands that this program or another works on, or has worked on.
    RunSeen(Arc<RunSummary>),
    /// The Claude sessions that the person has started themselves, all that there are.
    OwnSeen(Arc<BTreeMap<TicketKey, OwnSeen>>),
    /// The branch that is checked out in the directory of this program; `None`: it is no repository.
    BranchSeen(Option<String>),
    /// What all runs have spent since midnight.
    SpentToday(SpentToday),
    /// A run was opened (fresh or resumed), or more was told of it than was heard: all its records, oldest first.
    RunOpened {
        ticket: TicketKey,
        run: RunId,
        /// The last record of before it was opened; 0: it is a fresh one.
        earlier: u64,
        records: Vec<Arc<Stored>>,
        /// Who works on it; what becomes of that is in its records, in [`RunLeft`] and in [`News::RunSeen`].
        owner: Owner,
    },
    Recorded(Arc<Stored>),
    /// The scrollback of the run grew (or its live tail changed). Sent at most once per drain burst.
    StreamGrew(RunId),
    /// Nothing can be stored, and the run waits. The run's next record says that it goes on.
    StorageAwaited(StorageAwaited),
    /// A run was left without a last record, because none could be stored.
    RunLeft(RunLeft),
    /// Why a ticket waits to be started here; `None`: it does not any more.
    Queued(TicketKey, Option<String>),
    /// A ticket was not started, for which no front end waits alone.
    NotStarted(Refused),
    /// The issue that a ticket came from was told of it.
    SourceReplied {
        ticket: TicketKey,
        message: String,
    },
    /// Something of ours does not work right now and is tried again.
    Trouble {
        ticket: TicketKey,
        message: String,
    },
}

/// US dollars that runs have spent, whichever program worked on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpentToday {
    /// Since when: the last midnight here.
    pub since: Timestamp,
    /// By runs of this program's directory.
    pub here: f64,
    pub everywhere: f64,
}

/// A run that waits because nothing can be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StorageAwaited {
    pub run: RunId,
    pub ticket: TicketId,
    /// What is wrong, and what to do.
    pub why: String,
    /// When that was first seen.
    pub since: Timestamp,
    /// When the run ends if nothing can be stored until then.
    pub until: Timestamp,
}

impl StorageAwaited {
    pub fn words(&self, zone: &jiff::tz::TimeZone) -> String {
        let (since, until) = (self.since.clock_time(zone), self.until.clock_time(zone));
        format!("cannot store anything since {since}, retrying until {until}: {}", self.why)
    }
}

/// A run that was left without a last record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunLeft {
    pub run: RunId,
    pub ticket: TicketId,
    /// Why it ended; `None`: its program gave it up.
    pub reason: Option<ExitReason>,
    pub message: String,
}

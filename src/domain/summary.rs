//! A run in one row: what `status`, the list of runs and `resume` need without reading its journal.
//!
//! Written by the store beside the records it sums up; how it follows from them is the core's.

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::chat;
use crate::domain::own_session;
use crate::domain::phase::Mark;
use crate::domain::review::PLACE;
use crate::domain::step::StepName;
use crate::domain::ticket::TicketKey;
use crate::domain::worded::worded;
use crate::domain::workspace::Workspace;
use crate::domain::worktree::Worktree;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One run at a glance. The order of the fields is that of `status --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    pub run: RunId,
    pub ticket: TicketId,
    /// The ticket's title when the run began.
    pub title: String,
    pub ticket_path: String,
    /// The directory that the person was in.
    pub folder: String,
    pub state: RunState,
    /// The phase at hand; `None` between phases and without phases.
    pub phase: Option<String>,
    pub phases_done: u32,
    pub phases: u32,
    /// Iterations begun, but those that a limit refused.
    pub iterations: u32,
    pub cost_usd: f64,
    /// Word of the exit reason; `None` while it has not ended.
    pub reason: Option<String>,
    pub started: Timestamp,
    pub updated: Timestamp,
    /// Where each phase stands; empty for runs of older versions.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Some of it is done by Claude's word alone.
    #[serde(default)]
    pub unverified: bool,
    /// What waits for the person, in a few words: the oldest question, else why the run stands still.
    #[serde(default)]
    pub needs: Option<String>,
    /// While it is parked: until when.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// How long it has worked, without what it waited for; 0 for runs of older versions.
    #[serde(default)]
    pub worked_ms: u64,
    /// The commit of its work, made by programmator after the last iteration.
    #[serde(default)]
    pub commit: Option<String>,
    /// Such a commit, or a revert of a hunk, was begun, and its end is not known yet.
    #[serde(default)]
    pub committing: bool,
    /// Lines that the ticket's runs have added and removed; 0 for runs of older versions and without git.
    #[serde(default)]
    pub added: u64,
    #[serde(default)]
    pub removed: u64,
    /// The worktree that it works in; `None`: in `folder`.
    #[serde(default)]
    pub worktree: Option<Worktree>,
    /// What the steps that only look at the work have cost it; nothing for runs of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<AsideCost>,
    /// Its work is in the base of its worktree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merged: bool,
    /// The places among `marks` of phases that count as done, and whose work a restore took back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_back: Vec<usize>,
    /// US dollars that the ticket's earlier runs have cost.
    #[serde(default)]
    pub carried_usd: f64,
}

/// What the iterations of one step that only looks at the work have cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AsideCost {
    pub step: StepName,
    pub calls: u32,
    pub cost_usd: f64,
}

impl RunSummary {
    /// The ticket that it works on.
    pub fn key(&self) -> TicketKey {
        TicketKey::new(self.ticket.clone(), Path::new(&self.ticket_path))
    }

    /// US dollars that all of its ticket's runs have cost.
    pub fn ticket_usd(&self) -> f64 {
        self.carried_usd + self.cost_usd
    }

    /// Who works on it, where that is not this program.
    pub fn owner(&self) -> Owner {
        let rests = matches!(self.state, RunState::Ended | RunState::Interrupted);
        if rests { Owner::Nobody } else { Owner::Another }
    }

    /// Where the run works.
    pub fn workspace(&self) -> Workspace {
        Workspace::shared(&self.folder).in_worktree(self.worktree.clone())
    }

    /// It is part of a review, which nothing begins again.
    pub fn is_review(&self) -> bool {
        Path::new(&self.ticket_path).ends_with(PLACE)
    }

    /// How often its work was reviewed.
    pub fn reviews(&self) -> u32 {
        self.aside.iter().filter(|cost| cost.step.reviews()).map(|cost| cost.calls).sum()
    }

    /// It is a chat.
    pub fn is_chat(&self) -> bool {
        chat::is_id(&self.ticket)
    }

    /// It is a Claude session that the person has started themselves.
    pub fn is_own_session(&self) -> bool {
        own_session::is(&self.ticket, &self.ticket_path)
    }

    /// What the person is waited for, while the run is at work.
    pub fn asks(&self) -> Option<&str> {
        self.needs.as_deref().filter(|_| self.owner() != Owner::Nobody)
    }

    /// What the person was waited for when its program died: the run asks again once it is resumed.
    pub fn left_waiting(&self) -> Option<&str> {
        let asks_again =
            self.state == RunState::Interrupted && !self.is_chat() && !self.is_review() && !self.is_own_session();
        self.needs.as_deref().filter(|_| asks_again)
    }

    /// How it stands, for people.
    pub fn label(&self) -> &'static str {
        match (self.asks(), self.state) {
            (Some(_), _) => "needs you",
            (None, RunState::Waiting) => "queued",
            (None, state) => state.word(),
        }
    }
}

/// Who works on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Owner {
    /// This program: the run takes commands.
    Here,
    /// Another program: it is only shown.
    Another,
    /// Nobody: it has ended, or its program is gone.
    #[default]
    Nobody,
}

worded! {
    /// What a run is doing.
    pub enum RunState {
        Running = "running",
        /// Another run works in its folder.
        Waiting = "waiting",
        Paused = "paused",
        /// It waits for a limit, and goes on by itself.
        Parked = "parked",
        /// It was at work when its program died. Never stored: it is seen from a lock that nobody holds.
        Interrupted = "interrupted",
        /// It has an exit reason.
        Ended = "ended",
    }
}

//! How a phase stands in its run, as its records tell it.

use crate::domain::critique::Issue;
use crate::domain::outcome::DoneHow;
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::OfPhase;
use crate::domain::ticket::PhaseSettings;

/// One phase in the run.
#[derive(Clone, Debug, PartialEq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct PhaseState {
    /// Which phase of the run it is, whatever it is called.
    pub id: PhaseId,
    pub text: String,
    pub mark: Mark,
    /// What the person has made of it after the run was over: where the next run begins.
    pub since: Option<Mark>,
    /// Ticked in the file, as last read or written.
    pub ticked: bool,
    /// Its tick is only a claim, until the box is seen empty: it was first seen while Claude could have made it, or the
    /// phase was taken up again. It is taken back in the file unless the phase is found done.
    pub claimed_tick: bool,
    /// Writes of its box that are under way: until they have ended, the file does not say what is meant.
    pub box_writes: u32,
    /// Claude may have ticked it during such a write: a tick that is read next is only a claim.
    pub unread: bool,
    /// Its work is not in the files any more: they were restored from a snapshot that does not have it.
    pub taken_back: bool,
    /// The box cannot be ticked (gone, or not writable); not tried again.
    pub untickable: bool,
    /// Snapshot before its first iteration in this run: what its evidence is judged against.
    pub baseline: Option<String>,
    /// Iterations that worked on it in this run.
    pub iterations: u32,
    /// Time spent on it in finished iterations, in milliseconds.
    pub spent_ms: u64,
    /// What did not hold, for the next prompt.
    pub dispute: Option<String>,
    pub review: Review,
    /// What the ticket says of the work on it.
    pub settings: PhaseSettings,
}

/// How a phase stands with its critic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// What it was rejected for is not fixed as far as can be checked.
    pub is_open: bool,
    /// How often it was rejected, since the run was last resumed.
    pub rejections: u32,
    /// What it was last rejected for.
    pub issues: Vec<Issue>,
}

impl PhaseState {
    /// It is to be worked on again, as if nothing had been said of it.
    pub(in crate::orchestrator) fn reopen(&mut self) {
        self.mark = Mark::Pending;
        self.dispute = None;
        self.review = Review::default();
        self.claimed_tick = self.ticked;
        self.taken_back = false;
    }

    /// It was found done, on this ground.
    pub(in crate::orchestrator) fn done(&mut self, how: DoneHow) {
        self.mark = Mark::Done(how);
        self.dispute = None;
        self.review.is_open = false;
        self.taken_back = false;
    }

    /// It counts as done, and its work was taken back by a restore.
    pub fn is_taken_back(&self) -> bool {
        self.taken_back && self.since.is_none() && matches!(self.mark, Mark::Done(_))
    }

    pub fn is_open(&self) -> bool {
        !self.mark.is_settled()
    }

    /// How it stands now, whatever the run has left.
    pub fn stands(&self) -> Mark {
        self.since.unwrap_or(self.mark)
    }

    /// Done by Claude, not by the person's tick.
    pub fn is_done_by_claude(&self) -> bool {
        matches!(self.mark, Mark::Done(how) if how != DoneHow::TickedByPerson)
    }

    /// It is done as far as can be checked, on this ground, and a critic is to look at it.
    pub fn checked(&self) -> Option<DoneHow> {
        if let Mark::Checked(how) = self.mark { Some(how) } else { None }
    }

    pub fn named(&self) -> OfPhase {
        OfPhase { phase: self.text.clone(), id: Some(self.id) }
    }
}

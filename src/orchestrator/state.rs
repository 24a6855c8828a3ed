//! Everything the core knows about a run: a fold of its records, nothing else.

mod carry;
mod caveats;
pub(super) mod chat;
mod gate;
mod goal;
mod iteration;
mod limits;
mod phase;
pub(super) mod planning;
mod stage;

pub use chat::Chat;
pub use gate::Gate;
pub(in crate::orchestrator) use gate::{Call, Grant};
pub use goal::{GoalState, OwnEdit};
pub use iteration::{Failure, Iteration, Retry, Validated};
pub use limits::LimitState;
pub use phase::{PhaseState, Review};
pub use planning::{PlanStage, Planning};
pub use stage::{Ended, Pace, Stage};

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::approval::Approval;
use crate::domain::branching::BranchSwitch;
use crate::domain::breaker::Breaker;
use crate::domain::changes::Reverts;
use crate::domain::commit::Commits;
use crate::domain::evaluation::{AddPhases, Proposal};
use crate::domain::merge::{Conflict, ConflictStage, MergeSettled};
use crate::domain::note::Notes;
use crate::domain::outcome::{DoneHow, ExitReason};
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::{PhaseSeed, Record, TicketRevised};
use crate::domain::restore::RestoreIntended;
use crate::domain::session::Sessions;
use crate::domain::settings::Settings;
use crate::domain::ticket::draft::Draft;
use crate::domain::ticket::{Boxes, TicketStatus};
use crate::domain::turn::Usage;
use crate::domain::workspace::Workspace;
use crate::orchestrator::exit::Signs;
use std::sync::Arc;
use std::time::Duration;

/// A run, as its records tell it.
#[derive(Clone, Debug, PartialEq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct State {
    pub run: Option<RunId>,
    pub ticket: Option<TicketId>,
    pub seq: u64,
    pub started: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    pub workspace: Workspace,
    /// The run's worktree was there, with all it needs.
    pub has_worktree: bool,
    /// The directory is being switched to the ticket's branch.
    pub switching: Option<BranchSwitch>,
    /// The base has all that was done in it.
    pub is_merged: bool,
    /// Why the base does not have it: what came of the last try. Shared, as the approvals are.
    pub merge_failed: Option<Arc<MergeSettled>>,
    /// A conflict that Claude is to resolve.
    pub conflict: Option<Arc<Conflict>>,
    /// Files that Claude has changed for one: new ones stay in the worktree when a try is given up, and are known by this.
    pub conflict_files: Vec<String>,
    /// The workspace is its own: no other run may work there.
    pub has_tree: bool,
    /// Since when it waits for its workspace.
    pub queued: Option<Timestamp>,
    pub ticket_path: String,
    pub title: String,
    /// What the front matter's `status` is, as far as we know; `None`: there is none.
    pub ticket_status: Option<TicketStatus>,
    /// The front matter's status cannot be written; not tried again.
    pub status_given_up: bool,
    /// Why the ticket's file cannot be used any more.
    pub ticket_lost: Option<String>,
    /// Why the rules cannot be used; no iteration begins then.
    pub rules_trouble: Option<String>,
    pub settings: Settings,
    /// The validation commands in effect.
    pub validation: Vec<String>,
    /// A changed list in the file that the person has not decided on.
    pub validation_change: Option<Vec<String>>,
    /// A changed list that the person has declined: not asked again.
    pub validation_declined: Option<Vec<String>>,
    /// The phases, in file order. Empty: the run works on the whole ticket.
    pub phases: Vec<PhaseState>,
    /// The whole ticket, judged like a phase when there are no phases.
    pub whole: PhaseState,
    /// Phases that the run has seen, gone ones too: the last number that was given.
    pub phase_ids: u32,
    /// The last of the ticket file's readings and of our writes of boxes, counted as one, that a record names.
    pub reading: u64,
    /// The tree before the ticket was first worked on.
    pub since: Option<String>,
    pub goal: GoalState,
    pub stage: Stage,
    /// The running iteration, or the last one, of whatever step.
    pub iteration: Option<Iteration>,
    /// The last one that has ended and counted as work. Shared, as the approvals are.
    pub last_work: Option<Arc<Iteration>>,
    pub iterations: u32,
    /// Iterations among them that count for nothing.
    pub aside: u32,
    /// Of these, the last ones in a row.
    pub aside_in_a_row: u32,
    /// Iterations that made way for a question, whose answer the next one began with.
    pub continued: u32,
    /// Iterations that were reviews.
    pub reviews: u32,
    pub calls: Vec<Timestamp>,
    pub limits: LimitState,
    /// Iterations in a row without any change.
    pub stagnation: u32,
    /// The last masked error and how often it came in a row.
    pub repeated: Option<(String, u32)>,
    pub breaker: Breaker,
    pub signs: Signs,
    pub boxes: Boxes,
    /// What the person wants of the run's pace.
    pub pace: Pace,
    /// It is to stop because its terminal was closed.
    pub is_hung_up: bool,
    pub notes: Notes,
    pub sessions: Sessions,
    /// What Claude works with where a step has no model of its own.
    pub model: Option<String>,
    pub version: Option<String>,
    pub cost_usd: f64,
    /// What the ticket's earlier runs cost.
    pub carried_usd: f64,
    /// Lines that they have added and removed.
    pub carried_lines: (u64, u64),
    pub usage: Usage,
    /// Tokens in the context and size of the window, when known.
    pub context: Option<(u64, u64)>,
    /// Summaries of the last iterations that count as work, oldest first, at most 5.
    pub summaries: Vec<String>,
    /// Calls of Claude's that wait for the person, in the order they were asked about. Shared: the state is copied
    /// for every decision, and hundreds may wait.
    pub approvals: Vec<Arc<Approval>>,
    /// What the gate has said so far.
    pub gate: Gate,
    /// The commits of its work, and the hunks of it that the person reverted.
    pub commits: Commits,
    pub reverts: Reverts,
    /// Files are being restored, and what came of it is not known yet.
    pub restoring: Option<RestoreIntended>,
    /// Changes of the ticket's text that are under way.
    pub revisions: Vec<TicketRevised>,
    /// Those that the run itself wants, until they are made.
    pub edits: Vec<OwnEdit>,
    /// Lines that this run has added and removed.
    pub lines: (u64, u64),
    /// How far the planning of the ticket is; `None`: the run works. Shared: it has all of a draft.
    pub plan: Option<Arc<Planning>>,
    /// The run is a chat.
    pub chat: Option<Arc<Chat>>,
    pub ended: Option<Ended>,
}

impl State {
    pub fn of(run: RunId, ticket: TicketId) -> Self {
        Self { run: Some(run), ticket: Some(ticket), ..Self::default() }
    }

    /// The phase with this number; `None` when it is gone from the file.
    pub fn phase_by(&self, id: PhaseId) -> Option<&PhaseState> {
        self.phases.iter().find(|phase| phase.id == id)
    }

    pub(super) fn phase_by_mut(&mut self, id: PhaseId) -> Option<&mut PhaseState> {
        self.phases.iter_mut().find(|phase| phase.id == id)
    }

    /// What is worked on or judged: this phase, `None` when it is gone from the file; or the whole ticket.
    pub fn about(&self, phase: Option<PhaseId>) -> Option<&PhaseState> {
        phase.map_or(Some(&self.whole), |id| self.phase_by(id))
    }

    /// What a record is about, to change it; without a text the whole ticket. Old journals have no numbers: there it is
    /// the first phase of this text that was `meant`, else the first.
    pub(super) fn about_mut(
        &mut self,
        text: Option<&str>,
        id: Option<PhaseId>,
        meant: fn(&PhaseState) -> bool,
    ) -> Option<&mut PhaseState> {
        let Some(text) = text else { return Some(&mut self.whole) };
        let id = id.or_else(|| {
            let mut named = self.phases.iter().filter(|phase| phase.text == text);
            let found = named.clone().find(|phase| meant(phase)).or_else(|| named.next());
            found.map(|phase| phase.id)
        });
        self.phase_by_mut(id?)
    }

    /// What the iteration works on, or the last one worked on; `None` when it is gone from the file.
    pub fn own_phase(&self) -> Option<&PhaseState> {
        self.about(self.iteration.as_ref()?.phase)
    }

    pub(super) fn own_phase_mut(&mut self) -> Option<&mut PhaseState> {
        match self.iteration.as_ref()?.phase {
            Some(id) => self.phase_by_mut(id),
            None => Some(&mut self.whole),
        }
    }

    /// The phase of the iteration, or of the last one, by the text that it has now; once it is gone from the file by
    /// that which Claude was told. `None` is the whole ticket.
    pub fn own_text(&self) -> Option<&str> {
        let iteration = self.iteration.as_ref()?;
        let now = iteration.phase.and_then(|id| self.phase_by(id)).map(|phase| phase.text.as_str());
        now.or(iteration.told.as_deref())
    }

    /// Where a phase stands in the file: its text, and of several with this text which, from 0.
    pub fn place(&self, id: PhaseId) -> Option<(&str, usize)> {
        let text = &self.phase_by(id)?.text;
        let before = self.phases.iter().take_while(|phase| phase.id != id);
        Some((text, before.filter(|phase| phase.text == *text).count()))
    }

    /// A phase that the run sees for the first time.
    pub(super) fn new_phase(&mut self, seed: &PhaseSeed) -> PhaseState {
        self.phase_ids += 1;
        PhaseState {
            id: PhaseId(self.phase_ids),
            text: seed.text.clone(),
            mark: if seed.done { Mark::Done(DoneHow::TickedByPerson) } else { Mark::Pending },
            ticked: seed.done,
            ..PhaseState::default()
        }
    }

    pub fn is_writing_box(&self) -> bool {
        self.phases.iter().any(|phase| phase.box_writes > 0)
    }

    /// The ticket's file is being changed.
    pub fn is_writing_ticket(&self) -> bool {
        self.is_writing_box() || !self.revisions.is_empty() || !self.edits.is_empty()
    }

    /// As they stand by now, after the run too.
    pub fn phases_done(&self) -> usize {
        self.phases.iter().filter(|phase| matches!(phase.stands(), Mark::Done(_))).count()
    }

    /// Every phase is done by now, after the run too.
    pub fn has_all_done(&self) -> bool {
        !self.phases.is_empty() && self.phases.iter().all(|phase| matches!(phase.stands(), Mark::Done(_)))
    }

    pub fn phases_skipped(&self) -> usize {
        self.phases.iter().filter(|phase| phase.stands() == Mark::Skipped).count()
    }

    /// Proposed phases that the run waits for the person to decide about.
    pub fn awaits_phases(&self) -> Option<&Proposal> {
        let waits = self.is_open() && self.stage == Stage::Idle && self.edits.is_empty();
        self.goal.proposal.as_ref().filter(|_| waits && self.settings.workflow.add_phases == AddPhases::Ask)
    }

    /// The disputed phases that wait for the person: while the run is paused, nothing else is done about them.
    pub fn disputes(&self) -> impl Iterator<Item = &PhaseState> {
        let waits = self.stage == Stage::Paused;
        self.phases.iter().filter(move |phase| waits && phase.mark == Mark::Disputed)
    }

    /// The phases, or the whole ticket where there are none.
    pub fn parts(&self) -> impl Iterator<Item = &PhaseState> {
        let whole = self.phases.is_empty().then_some(&self.whole);
        self.phases.iter().chain(whole)
    }

    /// The phase to work on next: the first that is not settled.
    pub fn next_phase(&self) -> Option<&PhaseState> {
        self.phases.iter().find(|phase| !phase.mark.is_settled())
    }

    /// Phases whose box Claude ticked by itself and that were not found done: a later run works on them again.
    pub fn claimed_ticks(&self) -> impl Iterator<Item = &PhaseState> {
        self.phases.iter().filter(|phase| phase.ticked && phase.is_open())
    }

    /// The same, by the numbers that they get in a run that begins with `seeds`.
    pub fn claimed_ticks_in(&self, seeds: &[PhaseSeed]) -> Vec<PhaseId> {
        let claimed = |phase: &PhaseState| phase.ticked && !phase.stands().is_settled();
        let meant = self.again_in(seeds).filter(|(_, seed, phase)| seed.done && claimed(phase));
        meant.map(|(id, ..)| id).collect()
    }

    /// What the ticket cost in this run and those before it.
    pub fn ticket_usd(&self) -> f64 {
        self.carried_usd + self.cost_usd
    }

    /// Lines that the ticket's runs have added and removed: this one and those before it.
    pub fn ticket_lines(&self) -> (u64, u64) {
        (self.carried_lines.0 + self.lines.0, self.carried_lines.1 + self.lines.1)
    }

    /// A critic is to look at what was found done on this ground: as the workflow says, or the phase itself where commands
    /// have checked it. What no command checks is never let pass by the phase alone.
    pub fn wants_critique(&self, phase: Option<PhaseId>, how: DoneHow) -> bool {
        match (self.about(phase).and_then(|phase| phase.settings.critique), how) {
            (Some(wanted), DoneHow::Verified) => wanted,
            _ => self.settings.workflow.wants_critique(how),
        }
    }

    pub fn is_complete(&self) -> bool {
        if self.phases.is_empty() {
            matches!(self.whole.mark, Mark::Done(_))
        } else {
            self.phases.iter().all(|phase| phase.mark.is_settled())
        }
    }

    pub fn open_iteration(&self) -> Option<&Iteration> {
        self.iteration.as_ref().filter(|iteration| iteration.ended.is_none())
    }

    /// How long the iteration that is under way has been at work: waiting for the person, or for storage, is no work.
    pub fn worked(&self, now: Timestamp) -> Duration {
        let Some(open) = self.open_iteration() else { return Duration::ZERO };
        let waits = self.gate.waiting.map_or(Duration::ZERO, |since| now.since(since));
        now.since(open.started).saturating_sub(open.waited + waits)
    }

    /// Claude's process may be alive.
    pub fn agent_alive(&self) -> bool {
        matches!(self.stage, Stage::Spawning | Stage::Running | Stage::Closing | Stage::Stopping)
    }

    pub fn is_open(&self) -> bool {
        self.started.is_some() && self.ended.is_none()
    }

    /// It has ended and is not resumed: what it has left does not change any more.
    pub fn is_closed(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| !ended.reason.is_resumable())
    }

    /// Iterations that count: neither those that a limit refused nor those of a step that counts for nothing. One that was
    /// ended for a question and the one that goes on with the answer count as one.
    pub fn counted_iterations(&self) -> u32 {
        self.iterations.saturating_sub(self.limits.refused + self.aside + self.continued)
    }

    pub fn conflict_stage(&self) -> Option<ConflictStage> {
        self.conflict.as_ref().map(|conflict| conflict.stage)
    }

    /// The person must act before the run can go on: apart from calls that wait for them.
    pub fn needs_person(&self) -> bool {
        match &self.ended {
            Some(ended) if ended.is_left => false,
            Some(ended) => match ended.reason {
                ExitReason::Complete | ExitReason::UserStopped | ExitReason::TerminalClosed | ExitReason::Planned => {
                    false
                }
                ExitReason::NotPlanned => self.plan.as_ref().is_none_or(|plan| plan.stage == PlanStage::Due),
                _ => true,
            },
            None => {
                self.validation_change.is_some() || self.waiting_draft().is_some() || self.awaits_phases().is_some()
            }
        }
    }

    /// The draft that waits for the person: Claude has ended the iteration that made it.
    pub fn waiting_draft(&self) -> Option<&Draft> {
        self.plan.as_ref().filter(|_| self.open_iteration().is_none())?.waiting()
    }

    /// Something has happened. What is cleared away later does not make a run younger.
    pub(super) fn touch(&mut self, record: &Record, time: Timestamp) {
        if !matches!(record, Record::SnapshotsPruned(_) | Record::OutputCleared(_) | Record::WorktreeRemoved(_)) {
            self.updated = Some(time);
        }
        match record {
            Record::TreeAwaited { .. } => self.queued = self.queued.or(Some(time)),
            Record::TreeGranted | Record::RunResumed { .. } => self.queued = None,
            _ => {}
        }
    }

    /// Can `programmator <ticket>` resume this run instead of beginning a new one?
    pub fn is_resumable(&self) -> bool {
        self.started.is_some() && self.ended.as_ref().is_none_or(|ended| ended.reason.is_resumable())
    }
}

//! What the core wants done. Imperatives; performed by `runtime::effects`, which answers with inputs.

use crate::base::time::Timestamp;
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answer, Approval, QuestionId};
use crate::domain::branching::BranchSwitch;
use crate::domain::commit::{Agreed, CommitIntended, OwnCommit};
use crate::domain::limits::admission::Ask;
use crate::domain::merge::{ConflictWork, MergeHow};
use crate::domain::profile::Profile;
use crate::domain::record::{OfPhase, Record, TicketRevised};
use crate::domain::session::Told;
use crate::domain::ticket::TicketStatus;
use crate::domain::ticket::revise::TicketEdit;
use crate::domain::tool_call::{ControlRequest, ToolCall};
use crate::domain::verdict::Verdict;
use crate::domain::watchdog::Watch;
use crate::domain::worktree::Worktree;
use crate::orchestrator::prompt::Prompt;
use crate::orchestrator::state::{Planning, State};
use std::sync::Arc;

/// What [`decide`](super::decide::decide) answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// To store, in order, before any effect is performed.
    pub records: Vec<Record>,
    /// To perform, in order.
    pub effects: Vec<Effect>,
    /// The state after the records, as folding them from the journal gives it. `None`: there are none.
    pub next: Option<Arc<State>>,
}

impl Effect {
    /// Its records need not be on the disk when it begins: it waits for that before it does what cannot be repeated
    /// (`SetBox`, `Spawn`), or does no such thing and leads to more records.
    pub fn waits_for_the_disk(&self) -> bool {
        matches!(self, Self::Admit(_) | Self::TakeSnapshot { .. } | Self::SetBox { .. } | Self::Spawn(_))
    }
}

/// One thing to do in the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Look for the run's worktree, make it where it is not there, and see to what it needs → `WorktreeReady` /
    /// `WorktreeFailed`. Done twice, it is done once.
    MakeWorktree(Box<Worktree>),
    /// Get the working directory for this run, or wait for it → `TreeGranted` / `TreeBusy` / `SwitchDue`.
    AcquireTree,
    /// Switch it to the ticket's branch → `Switched`. Done twice, it is done once.
    SwitchBranch(Box<BranchSwitch>),
    /// Give it back: the run is paused before it has done anything there.
    ReleaseTree,
    /// Ask for a call: it is counted if it may be made → `Admitted`. Asked twice for the same, it counts once.
    Admit(Box<Ask>),
    /// Save the working tree → `SnapshotTaken` / `SnapshotFailed`.
    TakeSnapshot {
        n: u32,
        /// The next prompt shows what differs from this snapshot.
        shown_since: Option<String>,
    },
    /// Start Claude, initialize, send the prompt → `AgentStarting`, `AgentSpawned`, `AgentReady`, … / `AgentFailed`.
    Spawn(Box<Spawn>),
    /// Ask the running Claude for its answer once more.
    SendFollowUp { n: u32, prompt: Box<Prompt> },
    /// Hand a note to the running Claude → `NoteEchoed`.
    SendNote {
        /// Id of the note; becomes the message's `uuid`.
        id: String,
        text: String,
    },
    /// Let the gate decide → `Judged`.
    Judge { n: u32, call: Box<ToolCall> },
    Answer {
        request: ControlRequest,
        verdict: Verdict,
        /// What Claude is told when it is refused.
        reason: String,
    },
    /// Answer the call that waits for the person.
    ResolveApproval { id: String, answer: Answer },
    /// A right passphrase was typed for a call that these rules lock: the gate may open them for a while →
    /// `RulesOpened`.
    Unlock { rules: Vec<String> },
    /// Let the gate decide about an input that the person has changed → `EditJudged`.
    JudgeEdit { asked: Arc<Approval>, by: Answerer, input: String },
    /// Let the gate decide anew about a call that waits: its rules were changed → `Rejudged`, `NotRejudged`.
    Rejudge { id: QuestionId, input: String },
    /// Kill Claude and everything of the run, at once → `AgentExited`.
    KillAgent { n: u32 },
    /// Stop Claude's turn; the process lives on → `TurnFinished`.
    Interrupt { n: u32 },
    /// Close Claude's stdin: it ends by itself → `AgentExited`.
    CloseInput { n: u32 },
    /// End Claude by the ladder and sweep what it left → `AgentExited`.
    StopAgent { n: u32 },
    /// Wake the core at a time → `TimerFired`. A timer of the same name replaces the earlier one.
    Arm { timer: Timer, at: Timestamp },
    /// Compare the working tree with two snapshots → `EvidenceGathered` / `EvidenceFailed`.
    GatherEvidence {
        n: u32,
        /// Snapshot id before the iteration.
        iteration_base: String,
        /// Snapshot id before the phase's first iteration.
        phase_base: String,
    },
    /// Run the validation commands one after another, stop at the first failure → `ValidationFinished`.
    RunValidation { n: u32, commands: Vec<String> },
    /// End them → `ValidationStopped`, unless they have just finished.
    StopValidation,
    /// Tick the phase's box or untick it, after the box writes before it → `BoxSettled`.
    SetBox { phase: OfPhase, done: bool },
    /// See what an edit would change in the ticket's file → `EditPlanned`.
    PlanEdit { id: String, edit: Box<TicketEdit> },
    /// Change the ticket's text → `RevisionSettled`. Done twice, it is done once.
    Revise(Box<TicketRevised>),
    /// Find out what writes the accepted draft of this plan into the file as it is → `DraftPlaced`.
    PlaceDraft { plan: Arc<Planning> },
    /// Run the validation commands of a draft that the gate allows → `DraftTried`.
    TryCommands { commands: Vec<String> },
    /// Set `status:` in the front matter → `StatusSettled`.
    SetStatus { to: TicketStatus },
    /// See what a commit of the run's work would be, and whether it may be made → `CommitPlanned`.
    PlanCommit(Box<OwnCommit>),
    /// Make it → `CommitMade`.
    MakeCommit { id: String, agreed: Box<Agreed> },
    /// Find out what came of one that an earlier process has begun, and finish it → `CommitMade`.
    RecoverCommit(Box<CommitIntended>),
    /// Bring the run's work into its base, once these commands pass on the merged tree → `MergeSettled`. Done twice, it is
    /// done once.
    MergeWork { how: MergeHow, commands: Vec<String>, title: String },
    /// Have git do this about a conflict in the worktree → `ConflictDone`. Done twice, it is done once. `made`: the files
    /// that Claude has changed there.
    Conflict { work: ConflictWork, made: Vec<String>, title: String },
    /// Ask whether a person is there to decide → `PersonSought`.
    SeekPerson,
    /// The run is over or waits for nothing: end Claude if there is one, release folder and locks.
    Finish,
}

/// What is needed to start Claude for an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Spawn {
    pub n: u32,
    pub session: Option<String>,
    pub told: Option<Told>,
    pub model: Option<String>,
    /// `--max-budget-usd`: what is left of the budgets.
    pub max_budget_usd: Option<f64>,
    pub effort: Option<String>,
    /// The gate's profile; `None` is the run's.
    pub profile: Option<Profile>,
    /// In its plan mode.
    pub plan_mode: bool,
    /// What it is told; the edge adds the ticket's text.
    pub prompt: Prompt,
}

/// Timers of a run. A timer of an iteration that is over is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timer {
    /// From the start of the process until it has agreed on the protocol.
    Start(u32),
    /// From the prompt to the first byte of the answer.
    FirstByte(u32),
    Iteration(u32),
    /// No byte from Claude.
    Idle(u32),
    /// From the result to the end of the process.
    PostResult(u32),
    /// Until a question to the person is a denial.
    Approval(u32),
    /// A parked run looks whether it may go on.
    Park,
}

impl Timer {
    /// The iteration that it watches over, and which of the watchdog's timers it is.
    pub fn watched(self) -> Option<(u32, Watch)> {
        match self {
            Self::Start(n) => Some((n, Watch::Start)),
            Self::FirstByte(n) => Some((n, Watch::FirstByte)),
            Self::Iteration(n) => Some((n, Watch::Total)),
            Self::Idle(n) => Some((n, Watch::Idle)),
            Self::PostResult(n) => Some((n, Watch::PostResult)),
            Self::Approval(_) | Self::Park => None,
        }
    }
}

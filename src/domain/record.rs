//! The journal's schema: one past-tense fact each, the only truth about a run; all that is shown is a fold over them.
//! Kinds and fields are stored and printed: add, never rename. Unknown fields are ignored, missing get their default.
mod parts;
mod stored;
mod turns;
pub use parts::*;
pub use stored::{FORMAT, Stored};
pub use turns::{AgentReady, ForeignTurn, SessionLost, TurnEnded, TurnFailed};

use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answered, Approval, EditRefused, RulesRead, UnitView, Voided};
use crate::domain::breaker::{Breaker, CounterMoved, StateMoved};
use crate::domain::critique::{Critique, Issue, ShownFile};
use crate::domain::evaluation::{Evaluation, Proposal, ProposalAnswer};
use crate::domain::limits::{Counted, Hit, Limits, Parking, Receipt, Window};
use crate::domain::outcome::{DoneHow, ExitReason, IterationOutcome};
use crate::domain::phase::{Claimed, PhaseId};
use crate::domain::planning::{DraftAnswered, PlanAsked, Tried};
use crate::domain::session::{SessionEnded, Sessions};
use crate::domain::settings::{Settings, SettingsChanged};
use crate::domain::ticket::{Boxes, TicketStatus, draft::Draft};
use crate::domain::wheel::{WheelJudged, WheelReturned, WheelTaken};
use serde::{Deserialize, Serialize};

/// One fact about a run. `n` is always the iteration's number, from 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// The first record of every run.
    RunStarted {
        folder: String,
        ticket_path: String,
        title: String,
        /// `status:` of the front matter; `None` for a plan without one.
        ticket_status: Option<TicketStatus>,
        phases: Vec<PhaseSeed>,
        /// Phases that are ticked in the file, but by Claude alone in an earlier run: still to be done.
        #[serde(default, rename = "doubted")]
        unverified: Vec<String>,
        #[serde(default, rename = "doubted_ids", skip_serializing_if = "Vec::is_empty")]
        unverified_ids: Vec<PhaseId>,
        validation: Vec<String>,
        settings: Settings,
    },
    /// The run goes on in another process (or after it had stopped).
    RunResumed { pid: u32 },
    /// Another run works in this folder; this one waits.
    TreeAwaited { holder: String },
    /// The folder is ours for this run.
    TreeGranted,
    /// The ticket's file changed: what it says now.
    TicketRead {
        title: String,
        phases: Vec<PhaseSeed>,
        /// The number of the reading; old journals have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reading: Option<u64>,
    },
    /// What the ticket says of the work on its phases, each in its order.
    PhaseSettingsRead { phases: Vec<SetPhase> },
    /// How many boxes of a ticket's file are ticked now.
    BoxesRead(Boxes),
    /// What a turn's output says besides its claim.
    OutputAnalysed(crate::domain::analysis::Analysis),
    /// The ticket's file is gone or cannot be read as a ticket.
    TicketLost { why: String },
    /// The file's validation commands differ from the frozen ones.
    ValidationChangeSeen { commands: Vec<String> },
    /// A person decided about changed validation commands.
    ValidationChangeAnswered(ChangeAnswered),
    /// An iteration began.
    IterationStarted {
        n: u32,
        /// Its phase; `None` works on the whole (phaseless) ticket.
        phase: Option<String>,
        /// Claude's session that it continues; `None` is a fresh one.
        session: Option<String>,
        /// Its number; old journals tell it by its text alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<PhaseId>,
        /// What it is for.
        #[serde(flatten)]
        role: crate::domain::step::Role,
    },
    /// The working tree was saved before the iteration: a git object, or the digest of a folder's manifest.
    SnapshotTaken { n: u32, id: String },
    /// A call of Claude was counted, before it was made.
    CallCounted(Counted),
    /// The provider told of one of its windows.
    LimitSeen(Window),
    /// The provider refused a call.
    LimitHit(Hit),
    /// The run waits for a limit. Again when the wait changes.
    Parked(Parking),
    /// The run does not wait any more: it is time, or the person wants something else.
    Unparked,
    /// The person has set other limits since the run began.
    LimitsChanged(Box<Limits>),
    /// What an iteration cost; just before its end.
    Receipt(Receipt),
    /// Claude is about to be started; `notes` are the ids of those in the prompt.
    SpawnRequested { n: u32, notes: Vec<String> },
    /// Claude's process runs.
    AgentSpawned { n: u32, pid: u32 },
    /// Claude's session is open.
    AgentReady(AgentReady),
    /// Claude cannot resume the session.
    SessionLost(SessionLost),
    /// The gate decided about a tool call. Stored before the answer is given.
    ToolJudged {
        n: u32,
        tool_use_id: String,
        tool: String,
        /// What it is about: path, command, pattern. At most 500 characters.
        target: String,
        verdict: crate::domain::verdict::Verdict,
        /// Which rule or profile decided.
        reason: String,
        /// What the call consists of, cut to a size: for a call that is asked about, the question has it whole.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        units: Vec<UnitView>,
        /// The folder that it was made from, where that is not the run's own and no question has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// A tool call came back.
    ToolFinished { n: u32, tool_use_id: String, is_error: bool },
    /// The API failed and Claude tries again.
    ApiRetried(ApiRetried),
    /// A timer of the watchdog ran out; what it cut off follows.
    WatchdogFired(crate::domain::watchdog::WatchdogFired),
    /// What the ticket's earlier runs came to.
    WorkCarried(WorkCarried),
    /// The ticket's sessions of Claude, as the run before left them.
    SessionsCarried(Sessions),
    /// A session will not be resumed. Also behind a run's end.
    SessionEnded(SessionEnded),
    /// The rules changed: the person resumed the run with others.
    SettingsChanged(SettingsChanged),
    /// A person wrote a note for Claude. Its id is a UUID, which Claude echoes.
    NoteGiven { id: String, text: String },
    /// The note was handed to the running Claude.
    NoteSent { id: String },
    /// Claude has taken the note in (echoed it, or it stood in a prompt).
    NoteDelivered { id: String },
    /// The note was handed over, but never taken in: it goes into the next prompt.
    NoteReturned { id: String },
    /// Sending the note has failed twice: it is not sent again.
    NoteNotSent { id: String },
    /// Claude ended with a readable status block.
    ClaimMade {
        n: u32,
        claim: crate::domain::claim::Claim,
        /// What it is about, as found when it was read; in old journals when it is folded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<Claimed>,
    },
    /// Claude ended a turn without a readable status block, and why it cannot be read: `missing`, `truncated`, `unknown_status`, …
    ClaimMissing { n: u32, reason: String },
    /// Claude was asked for the status block only.
    FollowUpSent { n: u32 },
    /// A turn of Claude's came to its end, well or not.
    TurnEnded(TurnEnded),
    /// Claude has begun another turn after one that had ended.
    TurnBegan { n: u32 },
    /// Other tasks of Claude's than before work in the background.
    BackgroundChanged { n: u32, tasks: Vec<crate::domain::background::BackgroundTask> },
    /// Somebody else's words begin a turn of Claude's, or have come into one. It is stopped, and nothing it says counts.
    ForeignTurn(ForeignTurn),
    /// A turn or its API call failed.
    TurnFailed(TurnFailed),
    /// The iteration is being cut off.
    StopAsked { n: u32, outcome: IterationOutcome },
    /// Claude's process is gone, and so is all it left behind.
    AgentExited {
        n: u32,
        code: Option<i32>,
        signal: Option<i32>,
        /// Processes that had to be swept.
        swept: u32,
        cost_usd: f64,
    },
    /// What programmator saw itself.
    EvidenceGathered {
        n: u32,
        /// Files that differ from the snapshot before the iteration (at most 200 names).
        iteration_files: Vec<String>,
        /// Files that differ from the phase's baseline (at most 200 names).
        phase_files: Vec<String>,
    },
    /// A validation command ran.
    ValidationRan(ValidationRan),
    /// A phase is done.
    PhaseDone {
        /// The iteration; 0 when it was not in one.
        n: u32,
        /// The phase; `None` is the whole ticket.
        phase: Option<String>,
        /// On what ground.
        how: DoneHow,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<PhaseId>,
    },
    /// What a claim says of a phase held as far as it can be checked: a critic is to look at it before it is done.
    PhaseChecked {
        n: u32,
        /// The phase; `None` is the whole ticket.
        phase: Option<String>,
        /// On what ground.
        how: DoneHow,
        id: Option<PhaseId>,
    },
    /// What the next prompt shows of the changed files.
    ChangesShown { n: u32, files: Vec<ShownFile> },
    /// The ticket is to be planned before it is worked on.
    PlanAsked(PlanAsked),
    /// Claude gave a readable draft.
    DraftMade { n: u32, draft: Draft },
    /// A person has decided about the draft.
    DraftAnswered(DraftAnswered),
    /// Its validation commands were tried.
    DraftTried { tried: Vec<Tried> },
    /// The accepted draft could not be written; it waits again.
    DraftNotWritten { why: String },
    /// The run is a chat.
    ChatAsked(crate::domain::chat::ChatAsked),
    /// Claude has answered in it.
    ChatAnswered(crate::domain::chat::ChatAnswered),
    /// A critic gave a readable verdict.
    CritiqueMade { n: u32, critique: Critique },
    /// A phase is not done: the critic's issues are to be fixed first.
    PhaseRejected {
        n: u32,
        phase: Option<String>,
        issues: Vec<Issue>,
        id: Option<PhaseId>,
        /// It was found done: the review of the whole ticket rejects it, for all that was changed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        of_ticket: bool,
    },
    /// The review of the whole ticket found nothing that has to be fixed.
    TicketReviewed { n: u32 },
    /// It found these, which somebody is to look at again before they are fixed.
    TicketFaulted { n: u32, issues: Vec<Issue> },
    /// An evaluator gave a readable answer.
    EvaluationMade { n: u32, evaluation: Evaluation },
    /// The ticket's goal is reached.
    GoalAchieved { n: u32 },
    /// It is not: these phases are missing.
    PhasesProposed(Proposal),
    /// What is decided about them.
    ProposalAnswered {
        #[serde(flatten)]
        answer: ProposalAnswer,
        #[serde(default, skip_serializing_if = "Answerer::is_screen")]
        by: Answerer,
    },
    /// A claim did not hold.
    PhaseDisputed {
        n: u32,
        /// The phase; `None` is the whole ticket.
        phase: Option<String>,
        /// What does not hold, for people and for the next prompt.
        why: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<PhaseId>,
    },
    /// The person leaves a phase out.
    PhaseSkipped(OfPhase),
    /// The person says that a phase is done.
    PhaseTicked(PhaseByPerson),
    /// A wish that the person left in the store, beside the run, is obeyed from here on.
    WishTaken(WishTaken),
    /// The person wants a phase worked on again.
    PhaseReopened(PhaseByPerson),
    /// The box of a phase is about to be ticked.
    TickIntended(OfPhase),
    /// The box is ticked (by us now, or it was already), or cannot be.
    TickSettled(BoxSettled),
    /// A box is about to be unticked: it was ticked during an iteration and the phase was not found done, or a person says so.
    UntickIntended(OfPhase),
    /// The box is unticked, or cannot be.
    UntickSettled(BoxSettled),
    /// The run wants the ticket's text changed.
    EditDue(EditDue),
    /// It cannot be changed so, for this reason.
    EditDropped { id: String, what: String, why: String },
    /// The ticket's text is about to be changed. Also behind a run's end.
    RevisionIntended(TicketRevised),
    /// It is changed, or cannot be.
    RevisionSettled(RevisionSettled),
    /// The ticket's `status:` is about to be set.
    StatusIntended { to: TicketStatus },
    /// The status is set, or cannot be.
    StatusSettled { to: TicketStatus, outcome: WriteOutcome },
    /// An iteration is over.
    IterationEnded {
        n: u32,
        outcome: IterationOutcome,
        /// The tree differs from before the iteration.
        changed: bool,
        /// Masked error, when it ended in one.
        fingerprint: Option<String>,
        ms: u64,
        /// The last reading of the ticket's file before it: what is new later, Claude has not done in it. 0: there was none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reading: Option<u64>,
    },
    /// The person asked to pause.
    PauseAsked,
    /// The run waits for the person.
    Paused,
    /// The person let it go on (or took the wish to pause back).
    Continued,
    /// The person asked to stop, or closed the terminal.
    StopRequested {
        #[serde(default, skip_serializing_if = "Answerer::is_screen")]
        by: Answerer,
    },
    /// Something a person should know.
    Noticed { level: Level, text: String },
    /// The run is over. The last record, unless the run is resumed or its breaker reset.
    RunEnded { reason: ExitReason, detail: String, iterations: u32, phases_done: u32, phases: u32, cost_usd: f64 },
    /// The person has said what follows a run's end, or that came to nothing. Behind the end, and stored before it happens.
    EndAnswered(crate::domain::end_answer::EndAnswered),
    /// The ticket's circuit breaker, as the run before left it.
    BreakerCarried { breaker: Breaker },
    /// A counter of the circuit breaker moved.
    BreakerCounted(CounterMoved),
    /// The circuit breaker moved.
    BreakerMoved(StateMoved),
    /// The person closed the circuit breaker: nothing is counted any more. Also behind a run's end.
    BreakerReset(ByPerson),
    /// A call of Claude's waits for the person.
    ApprovalAsked(Approval),
    /// It was answered.
    ApprovalAnswered(Answered),
    /// A person answered a question that was not open any more. Nothing followed from it.
    AnswerTooLate(Answered),
    /// It needs no answer any more.
    ApprovalVoid(Voided),
    /// The open questions outlive Claude's process: it goes on with their answers.
    ApprovalsKept { why: String },
    /// The call as the person changed it may not run; the question still waits.
    EditRefused(EditRefused),
    /// The rules were changed: what was allowed for the rest of the run is asked about again.
    GrantsDropped,
    /// The rules that calls are judged by from here on. What was allowed for the run ends with other rules.
    RulesKnown {
        /// A hash of them and of where the run works.
        rules: String,
    },
    /// Whether the rules of the run can be used has changed.
    RulesRead(RulesRead),
    /// Records can be stored again, after the run had waited for that.
    StorageWaited { ms: u64 },
    /// The run is to commit what it has done.
    CommitDue,
    /// A commit of the ticket's work is about to be made. Also behind a run's end.
    CommitIntended(crate::domain::commit::CommitIntended),
    /// It is made, or is not.
    CommitSettled(crate::domain::commit::CommitSettled),
    /// A hunk of the work is about to be reverted for the person. Also behind a run's end.
    RevertIntended(crate::domain::changes::RevertIntended),
    /// It is reverted, or is not.
    RevertSettled(crate::domain::changes::RevertSettled),
    /// Files are about to be restored from a snapshot for the person. Also behind a run's end.
    RestoreIntended(crate::domain::restore::RestoreIntended),
    /// They are restored, or it is known how far that came.
    RestoreSettled(crate::domain::restore::RestoreSettled),
    /// Old snapshots of the ticket were removed.
    SnapshotsPruned(crate::domain::pruning::SnapshotsPruned),
    /// What Claude and the commands have printed in the run is removed to save space. Behind its end.
    OutputCleared(crate::domain::leftovers::OutputCleared),
    /// The run is to work in this worktree, which is looked for, and made where it is not there.
    WorktreeIntended(crate::domain::worktree::Worktree),
    /// The directory is about to be switched to the ticket's branch.
    SwitchIntended(crate::domain::branching::BranchSwitch),
    /// It is there, or it is known that it is not.
    SwitchSettled(crate::domain::branching::SwitchSettled),
    /// It is there.
    WorktreeMade(crate::domain::worktree::WorktreeMade),
    /// The finished work of a worktree is about to be brought into its base.
    MergeIntended(crate::domain::merge::MergeIntended),
    /// It is there, or it is known that it is not.
    MergeSettled(crate::domain::merge::MergeSettled),
    /// The resolving of a conflict has come so far.
    ConflictStaged(crate::domain::merge::ConflictStaged),
    /// The person has removed it.
    WorktreeRemoved(crate::domain::worktree::WorktreeRemoved),
    /// A person is about to work in the ticket's session.
    WheelTaken(WheelTaken),
    /// A call in that session was judged.
    WheelJudged(WheelJudged),
    /// The session is the run's again.
    WheelReturned(WheelReturned),
    /// Lines that the ticket's runs have added and removed, from the first snapshot to the end of the last iteration.
    LinesCounted { added: u64, removed: u64 },
}

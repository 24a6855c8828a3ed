//! What can happen to a run: the closed list. Past tense; made by `runtime::translate`.

use crate::base::time::Timestamp;
use crate::domain::approval::{Presence, QuestionId, Ruling};
use crate::domain::background::BackgroundTask;
use crate::domain::breaker::Breaker;
use crate::domain::command::UserCommand;
use crate::domain::limits::Limits;
use crate::domain::limits::admission::{Admission, Purpose};
use crate::domain::limits::provider::Window;
use crate::domain::phase::PhaseId;
use crate::domain::record::{ApiRetried, OfPhase, PhaseSeed, WriteOutcome};
use crate::domain::session::Sessions;
use crate::domain::settings::Settings;
use crate::domain::ticket::{Boxes, TicketStatus};
use crate::domain::tool_call::ToolCall;
use crate::domain::turn::TurnResult;
use crate::orchestrator::effect::Timer;
use std::time::Duration;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A person wants the ticket worked on: a fresh run.
    Started(Box<Start>),
    /// The journal of an earlier process was folded; go on from there.
    Resumed {
        /// Our process id.
        pid: u32,
        /// When the ticket's file was read.
        read_at: Timestamp,
        /// The ticket's phases in it.
        phases: Vec<PhaseSeed>,
        /// The rules from now on: the run's own, and over them what the command line says.
        settings: Option<Box<Settings>>,
    },
    /// The folder is ours.
    TreeGranted,
    /// The folder is somebody's.
    TreeBusy {
        /// Whose.
        holder: String,
    },
    /// The ticket's file was read again after a change.
    TicketRead {
        /// When it was read: what was read before our own last change of it says nothing.
        read_at: Timestamp,
        /// Title.
        title: String,
        /// Phases.
        phases: Vec<PhaseSeed>,
        /// Checkboxes, phases or not.
        boxes: Boxes,
        /// Validation commands in it.
        validation: Vec<String>,
    },
    /// The ticket's file is gone or broken.
    TicketLost {
        /// What is wrong.
        why: String,
    },
    /// The ledger has answered.
    Admitted {
        /// The iteration.
        n: u32,
        /// What was asked for.
        purpose: Purpose,
        /// The answer.
        admission: Box<Admission>,
    },
    /// The provider told of one of its windows.
    LimitSeen {
        /// The iteration.
        n: u32,
        /// The window.
        window: Window,
    },
    /// The limits in the configuration of now; a run that is resumed began under those of then.
    LimitsRead(Box<Limits>),
    /// The tree was saved.
    SnapshotTaken {
        /// The iteration.
        n: u32,
        /// Id of the snapshot.
        id: String,
    },
    /// The tree could not be saved.
    SnapshotFailed {
        /// The iteration.
        n: u32,
        /// What failed and what to do.
        message: String,
    },
    /// What must be known of Claude's program is known; its process is started now.
    AgentStarting {
        /// The iteration.
        n: u32,
    },
    /// Claude's process runs.
    AgentSpawned {
        /// The iteration.
        n: u32,
        /// Process id.
        pid: u32,
    },
    /// Claude could not be started or does not speak the protocol; nothing runs.
    AgentFailed {
        /// The iteration.
        n: u32,
        /// What failed and what to do.
        message: String,
    },
    /// Claude does not know the session it was to resume; nothing runs.
    SessionUnknown {
        /// The iteration.
        n: u32,
    },
    /// `system/init` came.
    AgentReady {
        /// The iteration.
        n: u32,
        /// Session id.
        session: String,
        /// Model.
        model: String,
        /// CLI version.
        version: String,
        /// Which text of the ticket it was told.
        told: String,
    },
    /// Claude asks whether a tool may run.
    ToolAsked {
        /// The iteration.
        n: u32,
        /// The call.
        call: Box<ToolCall>,
    },
    /// The gate has decided.
    Judged {
        /// The iteration.
        n: u32,
        /// The call.
        call: Box<ToolCall>,
        /// The decision.
        ruling: Box<Ruling>,
        /// Who could be asked.
        presence: Presence,
    },
    /// A right passphrase was typed for a call that waits for it.
    Unlocked {
        /// The question.
        id: QuestionId,
    },
    /// A right passphrase has opened rules beyond the call that it was typed for.
    RulesOpened {
        /// Which, and for how long.
        words: String,
    },
    /// The gate has decided about an input that the person has changed.
    EditJudged {
        /// The question.
        id: QuestionId,
        /// The changed input.
        input: String,
        /// The decision.
        ruling: Box<Ruling>,
    },
    /// The person's rules are others now.
    RulesChanged {
        /// What has become of them.
        words: String,
        /// Why they cannot be used, if they cannot.
        trouble: Option<String>,
    },
    /// The gate has decided by the new rules about a call that waits.
    Rejudged {
        /// The question.
        id: QuestionId,
        /// The decision.
        ruling: Box<Ruling>,
    },
    /// The gate cannot decide about a call that waits: its rules cannot be used.
    NotRejudged {
        /// The question.
        id: QuestionId,
        /// What is wrong with them.
        why: String,
    },
    /// Records can be stored again.
    StorageWorked {
        /// How long the run waited for that.
        waited: Duration,
    },
    /// A lasting yes of the person's was saved as a rule.
    RuleSaved {
        /// The question that it was made of.
        id: QuestionId,
        /// The file.
        path: String,
    },
    /// Claude does not want to know any more.
    AskWithdrawn {
        /// The iteration.
        n: u32,
        /// Claude's id of the call.
        tool_use_id: String,
    },
    /// A tool of this very process has run, or has tried to.
    ToolRan {
        /// The iteration.
        n: u32,
        /// Claude's id of the call.
        tool_use_id: String,
        /// Claude's own configuration let it run: nobody was asked.
        unasked: bool,
    },
    /// Other tasks than before work in the background.
    BackgroundChanged {
        /// The iteration.
        n: u32,
        /// All that work now.
        tasks: Vec<BackgroundTask>,
    },
    /// Somebody else's words begin a turn of Claude's, or have come into one.
    ForeignTurn {
        /// The iteration.
        n: u32,
        /// A wake-up that Claude had set, not somebody's message.
        wakes: bool,
    },
    /// A tool came back.
    ToolFinished {
        /// The iteration.
        n: u32,
        /// Claude's id of the call.
        tool_use_id: String,
        /// The tool reported an error.
        is_error: bool,
    },
    /// Claude retries the API.
    ApiRetried(ApiRetried),
    /// Claude echoed a note.
    NoteEchoed {
        /// Id of the note.
        id: String,
    },
    /// A `result` record came.
    TurnFinished {
        /// The iteration.
        n: u32,
        /// The turn.
        result: Box<TurnResult>,
    },
    /// The process is gone and swept after.
    AgentExited {
        /// The iteration.
        n: u32,
        /// Exit code.
        code: Option<i32>,
        /// Signal.
        signal: Option<i32>,
        /// Processes that had to be swept.
        swept: u32,
        /// The last of its stderr, for messages.
        stderr: String,
    },
    /// A timer ran out.
    TimerFired {
        /// Which.
        timer: Timer,
        /// When Claude's last byte came; for the first byte's timer, the last byte of an answer; for a question's, when
        /// the person last touched the screen.
        last_byte: Timestamp,
    },
    /// The tree was compared.
    EvidenceGathered {
        /// The iteration.
        n: u32,
        /// Files that differ from before the iteration.
        iteration_files: Vec<String>,
        /// Files that differ from before the phase.
        phase_files: Vec<String>,
    },
    /// The tree could not be compared.
    EvidenceFailed {
        /// The iteration.
        n: u32,
        /// What failed and what to do.
        message: String,
    },
    /// The commands ran.
    ValidationFinished {
        /// The iteration.
        n: u32,
        /// One result for each command that ran, in order.
        results: Vec<CommandResult>,
    },
    /// The box was ticked or unticked, or not.
    BoxSettled {
        /// The phase.
        phase: OfPhase,
        /// It was to be ticked.
        done: bool,
        /// What came of it.
        outcome: WriteOutcome,
    },
    /// The status was set, or not.
    StatusSettled {
        /// The new status.
        to: TicketStatus,
        /// What came of it.
        outcome: WriteOutcome,
    },
    /// The person asked for something.
    Commanded {
        /// A fresh UUID, used when the command makes something new (a note).
        id: String,
        /// The request.
        command: UserCommand,
    },
    /// The person left a request in the store, from another process.
    Wished {
        /// Its number there.
        wish: i64,
        /// The request.
        command: UserCommand,
    },
    /// Something that a person should know; the run goes on.
    Warned {
        /// What.
        text: String,
    },
    /// Nothing could be stored for as long as a run waits for that.
    StorageFailed {
        /// What, and what to do.
        message: String,
    },
    /// Something of ours went wrong that nobody answers for.
    Faulted {
        /// What, and what to do.
        message: String,
    },
}

/// What a fresh run begins with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// Absolute path of the working directory.
    pub folder: String,
    /// Absolute path of the ticket file.
    pub ticket_path: String,
    /// The ticket's title.
    pub title: String,
    /// Front matter status.
    pub ticket_status: Option<TicketStatus>,
    /// Phases as read.
    pub phases: Vec<PhaseSeed>,
    /// Phases whose tick an earlier run knows to be Claude's own and not found true, by the numbers they get now.
    pub doubted: Vec<PhaseId>,
    /// Validation commands: the ticket's, then the user's config.
    pub validation: Vec<String>,
    /// Rules.
    pub settings: Settings,
    /// The ticket's circuit breaker, as the run before left it.
    pub breaker: Breaker,
    /// The ticket's sessions of Claude, as the run before left them.
    pub sessions: Sessions,
}

/// One validation command's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandResult {
    /// The command line.
    pub command: String,
    /// Exit code; `None` for a signal or the timeout.
    pub exit: Option<i32>,
    /// It ran into the timeout.
    pub timed_out: bool,
    /// Milliseconds.
    pub ms: u64,
    /// The last 4,000 bytes of its output.
    pub tail: String,
    /// Path of the whole output.
    pub log: String,
}

impl CommandResult {
    /// Exit 0.
    pub fn passed(&self) -> bool {
        self.exit == Some(0)
    }
}

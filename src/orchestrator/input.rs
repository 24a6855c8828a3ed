//! What can happen to a run: the closed list. Past tense; made by `runtime::translate`.

use crate::base::time::Timestamp;
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Presence, QuestionId, Ruling};
use crate::domain::background::BackgroundTask;
use crate::domain::branching::{BranchSwitch, SwitchSettled};
use crate::domain::breaker::Breaker;
use crate::domain::chat::ChatAsked;
use crate::domain::command::UserCommand;
use crate::domain::commit::{Agreed, CommitSettled};
use crate::domain::critique::ShownFile;
use crate::domain::limits::Limits;
use crate::domain::limits::admission::{Admission, Purpose};
use crate::domain::limits::provider::Window;
use crate::domain::merge::{ConflictWork, MergeSettled};
use crate::domain::phase::PhaseId;
use crate::domain::planning::{PlanAsked, Tried};
use crate::domain::record::{
    ApiRetried, OfPhase, PhaseSeed, Record, RevisionSettled, SetPhase, TicketRevised, ValidationRan, WorkCarried,
    WriteOutcome,
};
use crate::domain::session::{Sessions, Told};
use crate::domain::settings::Settings;
use crate::domain::ticket::{Boxes, Revision, TicketStatus};
use crate::domain::tool_call::ToolCall;
use crate::domain::turn::TurnResult;
use crate::domain::workspace::Workspace;
use crate::domain::worktree::WorktreeMade;
use crate::orchestrator::effect::Timer;
use std::time::Duration;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A person wants the ticket worked on: a fresh run.
    Started(Box<Start>),
    /// The journal of an earlier process was folded; go on from there.
    Resumed {
        pid: u32,
        /// The number of its reading of the ticket's file.
        reading: u64,
        /// The ticket's phases in it.
        phases: Vec<PhaseSeed>,
        /// The rules from now on: the run's own, and over them what the command line says.
        settings: Option<Box<Settings>>,
    },
    /// The run's worktree is there, with all it needs.
    WorktreeReady(WorktreeMade),
    /// It cannot be made; words for the person.
    WorktreeFailed { why: String },
    /// The folder is ours.
    TreeGranted,
    /// The folder is ours, and on another branch than the ticket's.
    SwitchDue(BranchSwitch),
    /// It is on the ticket's, or cannot be.
    Switched(SwitchSettled),
    /// The folder is somebody's.
    TreeBusy { holder: String },
    /// The ticket's file was read again after a change.
    TicketRead {
        /// Its number among the readings, and our writes of boxes: it has what came before it, and nothing else.
        reading: u64,
        title: String,
        phases: Vec<PhaseSeed>,
        /// Checkboxes, phases or not.
        boxes: Boxes,
        validation: Vec<String>,
    },
    /// What the file says of the work on its phases, as it was read last.
    PhaseSettingsRead { phases: Vec<SetPhase> },
    /// The ticket's file is gone or broken.
    TicketLost { why: String },
    /// The ledger has answered.
    Admitted { n: u32, purpose: Purpose, admission: Box<Admission> },
    /// The provider told of one of its windows.
    LimitSeen { n: u32, window: Window },
    /// The limits in the configuration of now; a run that is resumed began under those of then.
    LimitsRead(Box<Limits>),
    /// Lines that the ticket's runs have added and removed so far.
    LinesCounted { added: u64, removed: u64 },
    /// The tree was saved.
    SnapshotTaken { n: u32, id: String },
    /// What the prompt that follows shows of the changed files.
    ChangesShown { n: u32, files: Vec<ShownFile> },
    /// The tree could not be saved.
    SnapshotFailed { n: u32, message: String },
    /// What must be known of Claude's program is known; its process is started now.
    AgentStarting { n: u32 },
    /// Claude's process runs.
    AgentSpawned { n: u32, pid: u32 },
    /// Claude could not be started or does not speak the protocol; nothing runs.
    AgentFailed { n: u32, message: String },
    /// Claude does not know the session it was to resume; nothing runs.
    SessionUnknown { n: u32 },
    /// `system/init` came.
    AgentReady { n: u32, session: String, model: String, version: String, told: Told },
    /// Claude asks whether a tool may run.
    ToolAsked { n: u32, call: Box<ToolCall> },
    /// The gate has decided.
    Judged { n: u32, call: Box<ToolCall>, ruling: Box<Ruling>, presence: Presence },
    /// Whether a person is there to decide.
    PersonSought { presence: Presence },
    /// A right passphrase was typed for a call that waits for it.
    Unlocked { id: QuestionId, by: Answerer },
    /// A right passphrase has opened rules beyond the call that it was typed for.
    RulesOpened {
        /// Which, and for how long.
        words: String,
    },
    /// The gate has decided about an input that the person has changed.
    EditJudged { id: QuestionId, by: Answerer, input: String, ruling: Box<Ruling> },
    /// The person's rules are others now.
    RulesChanged {
        /// What has become of them.
        words: String,
        /// Why they cannot be used, if they cannot.
        trouble: Option<String>,
    },
    /// The rules that calls are judged by, as a hash: when the run is opened, and after each change.
    RulesKnown { rules: String },
    /// The gate has decided by the new rules about a call that waits.
    Rejudged { id: QuestionId, ruling: Box<Ruling> },
    /// The gate cannot decide about a call that waits: its rules cannot be used.
    NotRejudged { id: QuestionId, why: String },
    /// Records can be stored again.
    StorageWorked { waited: Duration },
    /// A lasting yes of the person's was saved as a rule.
    RuleSaved {
        /// The question that it was made of.
        id: QuestionId,
        by: Answerer,
        path: String,
    },
    /// Claude does not want to know any more.
    AskWithdrawn { n: u32, tool_use_id: String },
    /// A tool of this very process has run, or has tried to.
    ToolRan {
        n: u32,
        tool_use_id: String,
        /// Claude's own configuration let it run: nobody was asked.
        unasked: bool,
    },
    /// Other tasks than before work in the background.
    BackgroundChanged { n: u32, tasks: Vec<BackgroundTask> },
    /// Somebody else's words begin a turn of Claude's, or have come into one.
    ForeignTurn {
        n: u32,
        /// A wake-up that Claude had set, not somebody's message.
        wakes: bool,
    },
    /// A tool came back.
    ToolFinished { n: u32, tool_use_id: String, is_error: bool },
    /// Claude retries the API.
    ApiRetried(ApiRetried),
    /// Claude echoed a note.
    NoteEchoed { id: String },
    /// A `result` record came.
    TurnFinished { n: u32, result: Box<TurnResult> },
    /// The process is gone and swept after.
    AgentExited {
        n: u32,
        code: Option<i32>,
        signal: Option<i32>,
        /// Processes that had to be swept.
        swept: u32,
        /// The last of its stderr, for messages.
        stderr: String,
    },
    /// A timer ran out.
    TimerFired {
        timer: Timer,
        /// When Claude's last byte came; for the first byte's timer, the last byte of an answer; for a question's, when
        /// the person last touched the screen.
        last_byte: Timestamp,
    },
    /// The tree was compared.
    EvidenceGathered {
        n: u32,
        /// Files that differ from before the iteration.
        iteration_files: Vec<String>,
        /// Files that differ from before the phase.
        phase_files: Vec<String>,
        /// The last reading of the ticket's file, after Claude had ended.
        reading: u64,
    },
    /// The person has another program go on with the run.
    HandedOver,
    /// The tree could not be compared.
    EvidenceFailed { n: u32, message: String },
    /// The commands ran.
    ValidationFinished {
        n: u32,
        results: Vec<ValidationRan>,
        /// The last reading of the ticket's file, after they had ended.
        reading: u64,
    },
    /// The commands were ended before they had finished.
    ValidationStopped {
        n: u32,
        /// The last reading of the ticket's file, after that.
        reading: u64,
    },
    /// The box was ticked or unticked, or not.
    BoxSettled {
        phase: OfPhase,
        /// It was to be ticked.
        done: bool,
        outcome: WriteOutcome,
        /// Its number among the readings of the file.
        reading: u64,
    },
    /// The ticket's text was changed, or not.
    RevisionSettled(RevisionSettled),
    /// What an edit that the run wants would change in the ticket's file; or why it cannot: words for the person.
    EditPlanned { id: String, planned: Result<Revision, String> },
    /// The ticket is to be planned: nothing else is done in this run.
    PlanAsked(PlanAsked),
    /// The run is a chat: nothing else is done in it.
    ChatAsked(ChatAsked),
    /// What writes the accepted draft into the ticket; words for the person where nothing can.
    DraftPlaced(Result<Box<TicketRevised>, String>),
    /// A draft's validation commands were tried.
    DraftTried(Vec<Tried>),
    /// The status was set, or not.
    StatusSettled { to: TicketStatus, outcome: WriteOutcome },
    /// What the run would commit, or why it commits nothing.
    CommitPlanned {
        /// Names the try.
        id: String,
        /// `None`: nothing is left to commit.
        planned: Result<Option<Box<Agreed>>, String>,
    },
    /// What came of a commit that an earlier process has begun cannot be found out.
    CommitUnknown { why: String },
    /// A commit is made, or it is known that it is not.
    CommitMade(CommitSettled),
    /// The work is in its base, or it is known that it is not.
    MergeSettled(MergeSettled),
    /// The person wants Claude to resolve the conflict that kept the work from its base.
    ResolveAsked { by: Answerer },
    /// What git has done about that: files in conflict, or with markers left.
    ConflictDone { work: ConflictWork, done: Result<Vec<String>, String> },
    /// The person asked for something.
    Commanded {
        /// A fresh UUID, used when the command makes something new (a note).
        id: String,
        by: Answerer,
        command: UserCommand,
    },
    /// Something is done in the run's directory for the person, or about to be: what the journal is to say of it.
    DoneBeside {
        /// A fresh UUID, for who waits until it is stored.
        id: String,
        record: Box<Record>,
    },
    /// The person left a request in the store, from another process.
    Wished { wish: i64, by: Answerer, command: UserCommand },
    /// Something that a person should know; the run goes on.
    Warned { text: String },
    /// Nothing could be stored for as long as a run waits for that.
    StorageFailed { message: String },
    /// Something of ours went wrong that nobody answers for.
    Faulted { message: String },
}

/// What a fresh run begins with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    pub workspace: Workspace,
    pub ticket_path: String,
    pub title: String,
    pub ticket_status: Option<TicketStatus>,
    pub phases: Vec<PhaseSeed>,
    /// Phases whose tick an earlier run knows to be Claude's own and not found true, by the numbers they get now.
    pub claimed_ticks: Vec<PhaseId>,
    /// What the ticket's earlier runs came to.
    pub carried: Option<WorkCarried>,
    /// Validation commands: the ticket's, then the user's config.
    pub validation: Vec<String>,
    pub settings: Settings,
    /// The ticket's circuit breaker, as the run before left it.
    pub breaker: Breaker,
    /// The ticket's sessions of Claude, as the run before left them.
    pub sessions: Sessions,
}

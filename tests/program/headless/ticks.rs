//! A person's ticks: through programmator they count at once, whoever works on the ticket; Claude's never do.

use crate::project::{PROGRAM, Project};
use crate::watched::{DILIGENT, at_work, ended, of_kind, ran, records, said, signal, stop, text};
use programmator::adapters::store::{Store, Wish};
use programmator::base::time::Timestamp;
use programmator::domain::answerer::Answerer;
use programmator::domain::command::UserCommand;
use programmator::domain::phase::PhaseId;
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Waits until this holds.
fn soon(what: &str, ask: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !ask() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

/// Asks the only run to tick this phase, and does not wait for it.
fn wish_tick(project: &Project, phase: u32) {
    let store = Store::open(&project.path("state")).unwrap();
    let command = UserCommand::TickPhase { phase: PhaseId(phase) };
    let wish = Wish { by: Answerer::COMMAND_LINE, command };
    store.wish(store.runs().unwrap()[0].run, Timestamp::from_millis(1), &wish).unwrap();
}

#[test]
fn a_tick_reaches_the_run_of_another_process_and_counts_at_once() {
    let (project, child) = at_work(&["Alpha", "Beta", "Gamma"]);
    let ticked = said(&project, &["ticket", "tick", "tk-1", "2"], 0);
    assert!(ticked.contains("“Beta” is ticked") && ticked.contains("has applied it"), "{ticked}");
    soon("the run ticks the box in the file", || project.ticket_text("tk-1").contains("- [x] Beta"));
    let other = said(&project, &["ticket", "untick", "tk-1", "2"], 0);
    assert!(other.contains("is unticked"), "{other}");
    let last = said(&project, &["ticket", "tick", "tk-1", "Gamma"], 0);
    assert!(last.contains("has applied it"), "{last}");
    // The running phase as well: its iteration is cut off.
    let ticked = said(&project, &["ticket", "tick", "tk-1", "Alpha"], 0);
    assert!(ticked.contains("has applied it"), "{ticked}");
    let again = said(&project, &["ticket", "tick", "tk-1", "Alpha"], 0);
    assert!(again.contains("already"), "{again}");
    project.write("go", "");
    ended(child, 0);
    let journal = project.journal();
    let phases = |kind: &str| {
        let found = of_kind(&journal, kind);
        found.iter().map(|record| record["phase"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(phases("phase_ticked"), ["Beta", "Gamma", "Alpha"]);
    assert_eq!(phases("iteration_started"), ["Alpha", "Beta"]);
    assert_eq!(phases("phase_done"), ["Beta"]);
    let mut wishes: Vec<i64> = of_kind(&journal, "wish_taken").iter().map(|r| r["wish"].as_i64().unwrap()).collect();
    let noted = wishes.len();
    wishes.dedup();
    assert_eq!(wishes.len(), noted, "each wish is noted once");
    assert!(!project.ticket_text("tk-1").contains("[ ]"));
}

/// Alpha is not done before alpha.txt is there; a script of the project, which the gate cannot see into, ticks its box.
fn ticked_by_a_script() -> Project {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha", "Beta"]);
    project.validate_by("test -e alpha.txt");
    project.write("work/tick.sh", "sed -i 's/- ... Alpha/- [x] Alpha/' .tickets/tk-1.md; date +%N > other.txt\n");
    project
}

#[test]
fn a_tick_of_claudes_own_is_taken_back_where_its_claim_does_not_hold() {
    let project = ticked_by_a_script();
    project.scenario(
        "
turns:
  - when: {prompt: \"- [x] Alpha\"}
    steps: [{status: {summary: told that it is done}}]
  - when: {phase: Alpha}
    steps: [{bash: sh tick.sh}, {status: {summary: ticked and done}}]
",
    );
    let told = ran(&project, &["run", "--json", "-n", "2", "tk-1"], 4);
    let summaries: Vec<&Value> = of_kind(&told, "claim_made").iter().map(|made| &made["claim"]["summary"]).collect();
    assert_eq!(summaries, ["ticked and done", "ticked and done"], "no prompt shows a box that is ticked");
    assert_eq!(of_kind(&told, "phase_disputed").len(), 2);
    let back = of_kind(&told, "untick_settled");
    assert_eq!(back.iter().map(|back| &back["phase"]).collect::<Vec<_>>(), ["Alpha", "Alpha"], "{told:?}");
    assert!(project.ticket_text("tk-1").contains("- [ ] Alpha\n- [ ] Beta\n"), "{}", project.ticket_text("tk-1"));
    let end = told.last().unwrap();
    assert_eq!((&end["phases_done"], &end["phases"]), (&0.into(), &2.into()));
    let shown = said(&project, &["ticket", "show", "--phases", "tk-1"], 0);
    assert!(shown.contains("(0 of 2 done)"), "{shown}");
}

#[test]
fn what_the_person_writes_stands_where_a_tick_is_taken_back() {
    let project = ticked_by_a_script();
    // The person writes in the file while the claim is checked.
    let edit = "sed -i -e 's/^# Work on tk-1/# Better/' -e 's/Beta/Beta, but better/' .tickets/tk-1.md; exit 1\n";
    project.write("work/check.sh", edit);
    let ticket = project.ticket_text("tk-1").replace("test -e alpha.txt", "sh check.sh");
    project.write("work/.tickets/tk-1.md", &ticket);
    project.scenario("turns: [{when: {phase: Alpha}, steps: [{bash: sh tick.sh}, {status: {summary: done}}]}]");
    said(&project, &["run", "--json", "-n", "1", "tk-1"], 4);
    let edited = ticket.replace("# Work on tk-1", "# Better").replace("Beta", "Beta, but better");
    assert_eq!(project.ticket_text("tk-1"), edited.replace("status: open", "status: in_progress"));
}

#[test]
fn a_tick_that_a_run_left_behind_is_taken_back_by_the_next() {
    let project = ticked_by_a_script();
    let blocked = "{bash: sh tick.sh}, {status: {phase: \"\", status: BLOCKED, error: no key}}";
    project.scenario(&format!("turns: [{{when: {{phase: Alpha}}, steps: [{blocked}]}}]"));
    let output = project.run(&["run", "--json", "tk-1"]);
    assert_eq!(of_kind(&records(&output), "run_ended")[0]["reason"], "blocked", "{}", text(&output));
    assert!(project.ticket_text("tk-1").contains("- [x] Alpha"), "it ended in the middle");
    project.scenario(
        "
turns:
  - when: {lacks: {alpha.txt: x}}
    steps: [{write: {path: alpha.txt, content: x}}, {status: {phase: Alpha, summary: really}}]
  - when: {has: {alpha.txt: x}}
    steps: [{write: {path: beta.txt, content: x}}, {status: {phase: Beta, summary: too}}]
",
    );
    let told = ran(&project, &["run", "--json", "tk-1"], 0);
    let seen = ["untick_settled", "iteration_started", "phase_done", "tick_settled"];
    let mut order: Vec<String> = Vec::new();
    for record in told.iter().filter(|record| seen.contains(&record["kind"].as_str().unwrap())) {
        order.push(format!("{} {}", record["kind"].as_str().unwrap(), record["phase"].as_str().unwrap()));
    }
    let worked =
        |phase: &str| ["iteration_started", "phase_done", "tick_settled"].map(|kind| format!("{kind} {phase}"));
    let expected: Vec<String> =
        ["untick_settled Alpha".to_owned()].into_iter().chain(worked("Alpha")).chain(worked("Beta")).collect();
    assert_eq!(order, expected);
}

#[test]
fn two_phases_of_one_name_are_two_phases() {
    let (project, child) = at_work(&["Fix it", "Other", "Fix it"]);
    // As key d does, on the last of them, while Claude works on the first.
    wish_tick(&project, 3);
    soon("the run ticks the box in the file", || project.ticket_text("tk-1").contains("- [x]"));
    let boxes = "- [ ] Fix it\n- [ ] Other\n- [x] Fix it\n";
    assert!(project.ticket_text("tk-1").contains(boxes), "{}", project.ticket_text("tk-1"));
    project.write("go", "");
    ended(child, 0);
    for (kind, expected) in [("iteration_started", &[1, 2][..]), ("phase_done", &[1, 2]), ("tick_settled", &[3, 1, 2])]
    {
        let told = project.journal();
        let ids: Vec<&Value> = of_kind(&told, kind).iter().map(|record| &record["id"]).collect();
        assert_eq!(ids, expected, "{kind}");
    }
    assert!(!project.ticket_text("tk-1").contains("[ ]"));
}

/// The run knows of it, and cannot note it before it is taken back.
#[test]
fn a_tick_that_a_run_does_not_take_over_happens_neither_now_nor_later() {
    let (project, mut child) = at_work(&["Alpha", "Beta"]);
    let (state, away) = (project.path("state"), project.path("away"));
    std::fs::rename(&state, &away).unwrap();
    let refused =
        project.command(&["ticket", "tick", "tk-1", "2"]).env("PROGRAMMATOR_STATE_DIR", &away).output().unwrap();
    assert_eq!(refused.status.code(), Some(75), "{}", text(&refused));
    assert!(text(&refused).contains("Nothing was changed"), "{}", text(&refused));
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("retrying until"), "the run has heard of it: {said}");
    std::fs::rename(&away, &state).unwrap();
    soon("the run stores again", || !of_kind(&project.journal(), "storage_waited").is_empty());
    project.write("go", "");
    let output = ended(child, 0);
    let journal = project.journal();
    for kind in ["phase_ticked", "wish_taken"] {
        assert!(of_kind(&journal, kind).is_empty(), "{kind}: {}", text(&output));
    }
    assert_eq!(of_kind(&journal, "phase_done").len(), 2, "{}", text(&output));
}

/// Who asked died before they could take it back.
#[test]
fn a_tick_that_nobody_waits_for_is_forgotten_by_the_next_program_which_says_so() {
    let (project, child) = at_work(&["Alpha", "Beta"]);
    signal(&child, Signal::KILL);
    child.wait_with_output().unwrap();
    wish_tick(&project, 2);
    project.write("go", "");
    let output = said(&project, &["resume", "--json"], 0);
    let journal = project.journal();
    for kind in ["phase_ticked", "wish_taken"] {
        assert!(of_kind(&journal, kind).is_empty(), "{kind}: {output}");
    }
    let told =
        of_kind(&journal, "noticed").iter().any(|notice| notice["text"].as_str().unwrap().contains("was dropped"));
    assert!(told, "{output}");
}

#[test]
fn a_tick_counts_also_between_runs_and_is_taken_back() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha", "Beta", "Gamma"]);
    let ticked = said(&project, &["ticket", "tick", "tk-1", "1"], 0);
    assert_eq!(ticked, "tk-1: “Alpha” is ticked.\n");
    assert!(said(&project, &["ticket", "tick", "tk-1", "1"], 0).contains("was already ticked"));
    assert!(project.ticket_text("tk-1").contains("- [x] Alpha"));
    // Claude ticks a box itself and claims nothing: the run ends, and its tick is a claim for the next one.
    project.write("work/tick.sh", "sed -i 's/- ... Beta/- [x] Beta/' .tickets/tk-1.md\n");
    project.scenario("turns: [{when: {phase: Beta}, steps: [{bash: \"sh tick.sh\"}, {status: {phase: \"\"}}]}]");
    let first = ran(&project, &["run", "--json", "-n", "1", "tk-1"], 4);
    let notices = of_kind(&first, "noticed");
    assert!(notices.iter().any(|notice| notice["text"].as_str().unwrap().contains("“Beta” was ticked in the file")));
    // The person makes it theirs: the next run leaves it out.
    assert!(said(&project, &["ticket", "tick", "tk-1", "Beta"], 0).contains("“Beta” is ticked"));
    project.scenario(DILIGENT);
    let second = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&second, "iteration_started").len(), 1, "Gamma alone: {second:?}");
    assert!(said(&project, &["ticket", "untick", "tk-1", "3"], 0).contains("is unticked"));
    assert!(project.ticket_text("tk-1").contains("- [ ] Gamma"));
    said(&project, &["ticket", "tick", "tk-1", "4"], 2);
}

#[test]
fn a_number_is_the_one_that_a_heading_carries_and_a_name_must_be_of_one_phase() {
    let project = Project::new();
    project.write("work/.tickets/tk-1.md", "# T\n\n### Phase 2: Second\n\n### Phase 3: Third\n");
    let refused = said(&project, &["ticket", "tick", "tk-1", "2"], 2);
    let both = refused;
    assert!(both.contains("number of “Phase 2: Second”") && both.contains("position of “Phase 3: Third”"), "{both}");
    assert!(!project.ticket_text("tk-1").contains("[x]"), "nothing is ticked");
    assert!(said(&project, &["ticket", "tick", "tk-1", "Phase 2"], 0).contains("“Phase 2: Second” is ticked"));
    assert!(said(&project, &["ticket", "tick", "tk-1", "3"], 0).contains("“Phase 3: Third” is ticked"));
    project.ticket("tk-3", &["2FA login", "Add tests", "3rd-party licences", "404 page", "5 - Docs", "5 tests fail"]);
    for (number, phase) in [("2", "Add tests"), ("3", "3rd-party licences"), ("5", "5 - Docs")] {
        let ticked = said(&project, &["ticket", "tick", "tk-3", number], 0);
        assert_eq!(ticked, format!("tk-3: “{phase}” is ticked.\n"));
    }
    assert_eq!(project.run(&["ticket", "tick", "tk-3", "404"]).status.code(), Some(2));
    project.ticket("tk-2", &["Fix it", "Other", "Fix it"]);
    for name in ["3", "Fix it"] {
        let refused = said(&project, &["ticket", "tick", "tk-2", name], 2);
        assert!(refused.contains("tk-2 has several phases “Fix it”"), "{refused}");
    }
    assert!(!project.ticket_text("tk-2").contains("[x]"));
}

/// Also a tool of Claude's that has cleaned its environment.
#[test]
fn a_run_may_not_do_what_is_for_a_person() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha"]);
    let marker = "PROGRAMMATOR_RUN_ID";
    let commands: [&[&str]; 8] = [
        &["ticket", "tick", "tk-1", "1"],
        &["trust"],
        &["circuit", "reset"],
        &["session", "reset", "tk-1"],
        &["resume"],
        &["run", "tk-1"],
        &["tk-1"],
        &["restore", "tk-1", "1"],
    ];
    for args in commands {
        let inside = project.command(args).env(marker, "r").output().unwrap();
        assert_eq!(inside.status.code(), Some(77), "{args:?}: {}", text(&inside));
    }
    let below = Command::new("sh")
        .args(["-c", "env -u PROGRAMMATOR_RUN_ID \"$0\" ticket tick tk-1 1; exit $?", PROGRAM])
        .env_clear()
        .envs(project.env())
        .env(marker, "r")
        .current_dir(project.work())
        .output()
        .unwrap();
    assert_eq!(below.status.code(), Some(77), "{}", text(&below));
    assert!(project.ticket_text("tk-1").contains("- [ ] Alpha"));
}

#[test]
fn a_stop_ends_the_validation_commands_and_reads_the_file_behind_them() {
    let project = Project::with(&["Alpha", "Beta"], DILIGENT);
    project.validate_by("test -e checking || { touch checking; sleep 600; }");
    let child =
        project.command(&["run", "--json", "tk-1"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    soon("the commands run", || project.path("work/checking").exists());
    let stopped = Instant::now();
    stop(child);
    assert!(stopped.elapsed() < Duration::from_secs(60), "they are not waited for");
    let journal = project.journal();
    let end = of_kind(&journal, "iteration_ended")[0];
    assert_eq!(end["outcome"], "interrupted", "{end}");
    assert!(end["reading"].as_u64().is_some_and(|reading| reading > 0), "{end}");
    assert_eq!(project.processes(), Vec::<String>::new());
    // Nothing but the person can have ticked it since.
    project.write("work/.tickets/tk-1.md", &project.ticket_text("tk-1").replace("[ ] Beta", "[x] Beta"));
    ran(&project, &["run", "--json", "tk-1"], 0);
    let told =
        of_kind(&project.journal(), "noticed").iter().any(|told| told["text"].as_str().unwrap().contains("a claim"));
    assert!(!told && project.ticket_text("tk-1").contains("[x] Beta"), "{:?}", project.journal());
}

#[test]
fn a_finished_ticket_is_not_run_again() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha"]);
    project.scenario(DILIGENT);
    said(&project, &["run", "tk-1"], 0);
    for args in [&["run", "tk-1"][..], &["run", "--json", "tk-1"], &["run", "--detach", "tk-1"], &["tk-1"]] {
        let told = said(&project, args, 0);
        assert!(told.contains("tk-1 is complete: nothing is left to do"), "{args:?}: {told}");
        assert!(told.contains("programmator phase reopen tk-1 1") && !told.contains("worked on"), "{args:?}: {told}");
    }
    let runs: serde_json::Value = serde_json::from_slice(&project.run(&["status", "--json"]).stdout).expect("runs");
    assert_eq!(runs.to_string().matches("\"iterations\":1").count(), 1, "{runs:#}");
    said(&project, &["phase", "reopen", "tk-1", "1"], 0);
    assert!(!text(&project.run(&["run", "tk-1"])).contains("nothing is left"));
}

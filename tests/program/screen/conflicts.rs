//! A conflict with the base: its card, a shell in the worktree, and Claude that resolves it.

use super::stage::{ROOMY, leave, start_with};
use crate::project::Project;
use crate::terminal::Terminal;
use crate::watched::{of_kind, ran, start_until};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;

/// A project whose ticket is done in its worktree, and conflicts with a commit that was made meanwhile.
fn in_conflict() -> Project {
    in_conflict_under("{name: simple}")
}

/// The same, with this workflow.
pub(crate) fn in_conflict_under(workflow: &str) -> Project {
    let project = Project::new();
    project.git(&["config", "user.name", "P"]);
    project.git(&["config", "user.email", "p@example.invalid"]);
    project.ticket("tk-1", &["First"]);
    let text = format!("{}\n## Validation Commands\n\n- `! grep -q broken same.txt`\n", project.ticket_text("tk-1"));
    project.write("work/.tickets/tk-1.md", &text);
    project.write("work/same.txt", "as it was\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Ticket"]);
    let (begun, resolved) = (project.gate("begun"), project.gate("resolved"));
    project.scenario_with(
        &format!(
            "
turns:
  - when: {{prompt: Resolve merge conflicts}}
    times: 1
    steps: [ {{status: {{phase: \"\", status: DONE, summary: nothing}}}} ]
  - when: {{prompt: Resolve merge conflicts}}
    times: 1
    steps: [ {{write: {{path: same.txt, content: \"broken\\n\"}}}}, {{status: {{phase: \"\", status: DONE}}}} ]
  - when: {{prompt: Resolve merge conflicts}}
    steps:
      - bash: \"{resolved}\"
      - write: {{path: same.txt, content: \"ours and theirs\\n\"}}
      - status: {{phase: \"\", status: DONE, summary: kept both}}
  - when: {{phase: First}}
    steps: [ {{write: {{path: same.txt, content: \"ours\\n\"}}}}, {{bash: \"{begun}\"}}, {{status: {{}}}} ]
"
        ),
        &format!(
            "policy: {{profile: trusted}}\nworkflow: {workflow}\n\
             git: {{worktree: ticket, commit: ticket, merge: merge}}\n"
        ),
    );
    let (mut child, _) = start_until(&project, &["run", "--json", "tk-1"], "tool_judged");
    project.write("work/same.txt", "theirs\n");
    project.git(&["commit", "-q", "-m", "Theirs", "same.txt"]);
    project.open_gate("begun");
    // Nobody reads what else it says: it is not to stop for that.
    let mut rest = child.stdout.take().unwrap();
    std::io::copy(&mut rest, &mut std::io::sink()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "a conflict is for a person");
    project
}

/// The card of the conflict, opened from Home.
fn at_the_card(project: &Project) -> Terminal {
    let shell = project.path("shell");
    std::fs::write(&shell, "#!/bin/sh\npwd > \"$TOLD\"\necho in the shell\nexit 7\n").unwrap();
    std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o755)).unwrap();
    let told = project.path("told");
    let more = [("SHELL", shell.to_str().unwrap()), ("TOLD", told.to_str().unwrap())];
    let mut terminal = start_with(project, &[], ROOMY, &more);
    terminal.wait_for("NEEDS YOU");
    terminal.keys_until("\r", "M Claude resolves");
    terminal
}

#[test]
fn claude_resolves_it_and_the_base_moves_once_that_is_validated_and_reviewed() {
    let project = in_conflict();
    let before = project.git(&["rev-parse", "main"]);
    let mut terminal = at_the_card(&project);
    let card = terminal.screen();
    assert!(card.contains("conflict with main in same.txt") && card.contains("worktree "), "{card}");
    assert!(card.contains("W shell there") && !card.contains("c commit"), "{card}");

    terminal.keys("W");
    terminal.wait_until("the shell has ended", |screen| {
        project.path("told").exists() && screen.contains("M Claude resolves")
    });
    assert!(project.read("told").trim_end().ends_with("/tk-1"), "{}", project.read("told"));

    terminal.keys_until("M", "Let Claude resolve the conflicts of tk-1 with main in 1");
    terminal.keys("y");
    terminal.wait_for("resolved");
    assert_eq!(project.git(&["rev-parse", "main"]), before, "not before it is resolved");
    project.open_gate("resolved");
    terminal.wait_for("run again");
    let records = project.journal();
    let stages: Vec<&str> =
        of_kind(&records, "conflict_staged").iter().map(|one| one["stage"].as_str().unwrap()).collect();
    let tried = ["asked", "opening", "open", "open", "open"];
    let done = ["claimed", "checking", "checked", "approved", "committing", "over"];
    assert_eq!(stages, [&tried[..], &done].concat());
    let ran: Vec<_> = of_kind(&records, "validation_ran").iter().map(|one| one["command"].clone()).collect();
    let looked = ran.iter().position(|command| command == "looking for conflict markers").unwrap();
    assert_eq!(ran[looked + 1], "! grep -q broken same.txt", "{ran:?}");
    let steps: Vec<_> = of_kind(&records, "iteration_started").iter().map(|one| one["step"].clone()).collect();
    assert_eq!(steps.iter().filter(|step| *step == "resolve").count(), 3, "{steps:?}");
    assert_eq!(steps.last().unwrap(), "critique");
    assert_eq!(project.read("work/same.txt"), "ours and theirs\n");
    assert_eq!(project.git(&["show", "main:same.txt"]), "ours and theirs\n");
    assert!(project.ticket_text("tk-1").contains("status: closed\n"));
    leave(terminal, &project);
}

#[test]
fn a_program_that_is_killed_meanwhile_is_gone_on_with() {
    let project = in_conflict();
    let mut terminal = at_the_card(&project);
    terminal.keys_until("M", "Let Claude resolve the conflicts");
    terminal.keys("y");
    terminal.wait_until("the third try is at its gate", |_| {
        let records = project.journal();
        of_kind(&records, "iteration_started").iter().filter(|one| one["step"] == "resolve").count() == 3
    });
    terminal.signal(Signal::KILL);
    project.open_gate("resolved");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&records, "merge_settled").last().unwrap()["trouble"], serde_json::Value::Null);
    assert_eq!(project.git(&["show", "main:same.txt"]), "ours and theirs\n");
}

#[test]
fn a_phase_that_is_reopened_while_the_merge_is_open_waits_for_its_end() {
    let project = in_conflict();
    let mut terminal = at_the_card(&project);
    terminal.keys_until("M", "Let Claude resolve the conflicts");
    terminal.keys("y");
    let resolves = |records: &[serde_json::Value]| {
        of_kind(records, "iteration_started").iter().filter(|one| one["step"] == "resolve").count()
    };
    terminal.wait_until("the third try is at its gate", |_| resolves(&project.journal()) == 3);
    let output = project.run(&["ticket", "untick", "tk-1", "1"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    project.open_gate("resolved");
    terminal.wait_until("it is worked on again, and done", |_| {
        let records = project.journal();
        let ended = of_kind(&records, "run_ended");
        ended.last().is_some_and(|last| last["reason"] == "complete")
    });
    let records = project.journal();
    let at = |is_it: &dyn Fn(&serde_json::Value) -> bool| records.iter().rposition(is_it).unwrap();
    let reopened = at(&|one| one["kind"] == "phase_reopened");
    let over = at(&|one| one["kind"] == "conflict_staged" && one["stage"] == "over");
    let worked = at(&|one| one["kind"] == "iteration_started" && one["step"] != "resolve" && one["step"] != "critique");
    assert!(reopened < over && over < worked, "{reopened} {over} {worked}");
    // The journal knows it before the screen does, which asks whoever quits during a run.
    terminal.wait_until("its end", |screen| screen.contains("✓ done") && screen.contains("h home"));
    leave(terminal, &project);
}

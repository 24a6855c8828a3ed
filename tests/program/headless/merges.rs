//! The work of worktrees comes into its base: validated as it will be there, one after the other, or not at all.

use crate::project::Project;
use crate::screen::conflicts::in_conflict_under;
use crate::watched::{of_kind, ran, said, start_until, text};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const BASE: &str = "policy: {profile: trusted}\nworkflow: {name: simple}\n";

/// A project with these tickets (id, phase, validation command), all committed, and no other change.
fn project(tickets: &[(&str, &str, &str)], scenario: &str, git: &str) -> Project {
    let project = Project::new();
    project.git(&["config", "user.name", "P"]);
    project.git(&["config", "user.email", "p@example.invalid"]);
    for (id, phase, command) in tickets {
        project.ticket(id, &[phase]);
        let text = format!("{}\n## Validation Commands\n\n- `{command}`\n", project.ticket_text(id));
        project.write(&format!("work/.tickets/{id}.md"), &text);
    }
    project.write("work/same.txt", "as it was\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Tickets"]);
    project.scenario_with(scenario, &format!("{BASE}git: {{worktree: ticket, commit: ticket, {git}}}\n"));
    project
}

fn end<'a>(records: &'a [Value], ticket: &str) -> &'a Value {
    records.iter().find(|record| record["kind"] == "run_ended" && record["ticket"] == ticket).unwrap()
}

const ONE: &str = "
turns:
  - when: {phase: First}
    steps: [ {write: {path: a.txt, content: a}}, {status: {}} ]
";

#[test]
fn who_merges_may_be_said_by_the_environment_alone() {
    let project = project(&[("tk-1", "First", "true")], ONE, "merge: merge");
    project.git(&["config", "--unset", "user.name"]);
    project.git(&["config", "--unset", "user.email"]);
    let who = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    let output = project.command(&["run", "tk-1"]).envs(who.map(|name| (name, "someone"))).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let merged = project.git(&["log", "-1", "--format=%cn: %s", "main"]);
    assert!(merged.starts_with("someone: "), "{merged}");
}

#[test]
fn of_three_tickets_one_conflicts_and_one_fails_on_the_merged_tree() {
    let tickets = [
        ("tk-1", "First", "test -e a.txt"),
        ("tk-2", "Second", "true"),
        // Passes where it is made, and fails with the work of the first.
        ("tk-3", "Third", "! test -e a.txt"),
    ];
    // The others end when the work of the first has come into the person's files: the base that they began at has moved.
    let project = project(&tickets, "turns: []\n", "merge: merge");
    let wait = format!("until [ -e {} ]; do sleep 0.02; done", project.path("work/a.txt").display());
    let scenario = format!(
        "
turns:
  - when: {{phase: First}}
    steps: [ {{write: {{path: a.txt, content: a}}}}, {{bash: \"echo first > same.txt\"}}, {{status: {{}}}} ]
  - when: {{phase: Second}}
    steps: [ {{bash: \"echo second > same.txt\"}}, {{bash: \"{wait}\"}}, {{status: {{}}}} ]
  - when: {{phase: Third}}
    steps: [ {{write: {{path: c.txt, content: c}}}}, {{bash: \"{wait}\"}}, {{status: {{}}}} ]
"
    );
    project.scenario_with(&scenario, &format!("{BASE}git: {{worktree: ticket, commit: ticket, merge: merge}}\n"));
    let records = ran(&project, &["run", "--json", "--timeout", "100", "tk-1", "tk-2", "tk-3"], 3);

    for (ticket, reason) in [("tk-1", "complete"), ("tk-2", "merge_failed"), ("tk-3", "merge_failed")] {
        let end = end(&records, ticket);
        assert_eq!(end["reason"], reason, "{end}");
    }
    let settled =
        |ticket: &str| *of_kind(&records, "merge_settled").iter().find(|one| one["ticket"] == ticket).unwrap();
    assert_eq!(settled("tk-2")["files"], serde_json::json!(["same.txt"]));
    let trouble = settled("tk-3")["trouble"].as_str().unwrap();
    assert!(trouble.contains("`! test -e a.txt` fails on the tree merged into main"), "{trouble}");
    for record in of_kind(&records, "merge_intended") {
        let after = records.iter().any(|one| one["kind"] == "merge_settled" && one["ticket"] == record["ticket"]);
        assert!(after, "{record}");
    }

    // The base has the first and nothing else, and the person's files are those of the base.
    assert_eq!(
        project.git(&["log", "--format=%s", "main"]).lines().count(),
        4,
        "{}",
        project.git(&["log", "--oneline"])
    );
    assert_eq!((project.read("work/a.txt"), project.read("work/same.txt")), ("a".into(), "first\n".into()));
    assert!(!project.path("work/c.txt").exists());
    for (ticket, word) in [("tk-1", "closed"), ("tk-2", "in_progress"), ("tk-3", "in_progress")] {
        assert!(project.ticket_text(ticket).contains(&format!("status: {word}\n")), "{ticket}");
    }
    let trees = project.git(&["worktree", "list"]);
    assert!(trees.lines().count() == 4 && !trees.contains(".merge"), "{trees}");
    // What was not merged is where it was made.
    assert_eq!(project.git(&["show", "programmator/tk-2:same.txt"]), "second\n");
    assert_eq!(project.git(&["show", "programmator/tk-3:c.txt"]), "c");
}

#[test]
fn a_base_with_changes_of_the_persons_is_not_moved_and_later_it_is() {
    let project = project(&[("tk-1", "First", "true")], ONE, "merge: rebase");
    let before = project.git(&["rev-parse", "main"]);
    project.write("work/README.md", "# Mine\n");
    let records = ran(&project, &["run", "--json", "tk-1"], 3);
    let detail = end(&records, "tk-1")["detail"].as_str().unwrap();
    assert!(detail.contains("1 uncommitted file (README.md): commit or stash"), "{detail}");
    assert_eq!(project.git(&["rev-parse", "main"]), before);
    assert!(!project.path("work/a.txt").exists() && project.read("work/README.md") == "# Mine\n");

    project.git(&["commit", "-q", "-m", "Mine", "README.md"]);
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&records, "iteration_started").len(), 0, "nothing is done again");
    assert_eq!(project.git(&["log", "--format=%s", "-2"]), "Work on tk-1\nMine\n", "rebased");
    assert_eq!(project.read("work/a.txt"), "a");
    // The base has it all, made anew: nothing would be lost.
    assert!(project.run(&["worktree", "remove", "tk-1"]).status.success());
}

#[test]
fn a_base_that_nobody_has_checked_out_is_moved_too() {
    let project = project(&[("tk-1", "First", "true")], ONE, "merge: merge, base: trunk");
    project.git(&["branch", "trunk"]);
    let main = project.git(&["rev-parse", "main"]);
    ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(project.git(&["rev-parse", "main"]), main);
    assert_eq!(
        project.git(&["log", "--first-parent", "--format=%s", "-1", "trunk"]),
        "Merge programmator/tk-1: Work on tk-1\n"
    );
    assert_eq!(project.git(&["show", "trunk:a.txt"]), "a");
}

#[test]
fn killed_while_the_merged_tree_is_validated_the_base_stays_and_the_next_start_merges_once() {
    let project = project(&[("tk-1", "First", "true")], ONE, "merge: merge");
    let gate = project.gate("merged");
    // Only on the merged tree: there the folder has another name.
    let command = format!("case $PWD in *.merge) {gate};; esac");
    let text = project.ticket_text("tk-1").replace("- `true`", &format!("- `{command}`"));
    project.write("work/.tickets/tk-1.md", &text);
    let before = project.git(&["rev-parse", "main"]);
    let (mut child, _) = start_until(&project, &["run", "--json", "tk-1"], "merge_intended");
    let scratch = || project.git(&["worktree", "list"]).contains(".merge");
    while !scratch() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(project.git(&["rev-parse", "main"]), before);
    project.open_gate("merged");
    let mut again = project.command(&["run", "--json", "tk-1"]);
    let output = again.stdout(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(
        project.git(&["log", "--first-parent", "--format=%s", "-2"]),
        "Merge programmator/tk-1: Work on tk-1\nTickets\n"
    );
    assert!(!scratch());
}

#[test]
fn a_base_that_is_no_branch_is_told_before_anything_is_done() {
    let project = project(&[("tk-1", "First", "true")], ONE, "merge: merge, base: v1");
    project.git(&["tag", "v1"]);
    let records = ran(&project, &["run", "--json", "tk-1"], 1);
    let detail = end(&records, "tk-1")["detail"].as_str().unwrap();
    assert!(detail.contains("needs a local branch with a commit, which v1 is not: set git.base to one"), "{detail}");
    assert!(of_kind(&records, "iteration_started").is_empty());
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1, "it would begin there for ever");
}

#[test]
fn the_persons_files_do_not_go_forward_under_a_run_in_a_folder_below() {
    let project = project(&[("tk-1", "First", "true"), ("tk-2", "Second", "true")], ONE, "merge: merge");
    let gate = project.gate("below");
    let scenario = format!(
        "{ONE}  - when: {{phase: Second}}
    steps: [ {{bash: \"{gate}\"}}, {{status: {{}}}} ]
"
    );
    project.scenario_with(&scenario, BASE);
    project.write("work/web/page", "");
    let below = ["-C", "web", "run", "--json", "../.tickets/tk-2.md"];
    let (mut child, _) = start_until(&project, &below, "spawn_requested");
    project.scenario_with(&scenario, &format!("{BASE}git: {{worktree: ticket, commit: ticket, merge: merge}}\n"));
    let before = project.git(&["rev-parse", "main"]);
    let records = ran(&project, &["run", "--json", "tk-1"], 3);
    let detail = end(&records, "tk-1")["detail"].as_str().unwrap();
    assert!(
        detail.contains("tk-2 in another process, pid ") && detail.contains("work/web: start this ticket again"),
        "{detail}"
    );
    assert_eq!(project.git(&["rev-parse", "main"]), before);
    project.open_gate("below");
    child.wait().unwrap();
    ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(project.read("work/a.txt"), "a");
}

#[test]
fn a_chat_that_waits_for_a_message_holds_up_no_merge_and_talks_on() {
    let says = "  - when: {prompt: hello}
    steps: [ {say: \"Hello to you.\"}, no_status ]
";
    let project = project(&[("tk-1", "First", "true")], &format!("{ONE}{says}"), "merge: merge");
    let mut chat = project.command(&["chat", "--plain"]);
    let mut chat = chat.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut typed, mut heard) = (chat.stdin.take().unwrap(), BufReader::new(chat.stdout.take().unwrap()).lines());
    let mut talk = || {
        writeln!(typed, "hello").unwrap();
        assert_eq!(heard.next().unwrap().unwrap(), "Hello to you.");
    };
    talk();
    ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(project.read("work/a.txt"), "a");
    talk();
    drop(typed);
    assert!(chat.wait().unwrap().success());
}

#[test]
fn a_worktree_is_removed_with_what_a_stopped_merge_and_a_stopped_copy_have_left() {
    let project = project(&[("tk-1", "First", "true")], ONE, "merge: merge");
    ran(&project, &["run", "--json", "tk-1"], 0);
    let own = std::path::PathBuf::from(said(&project, &["worktree", "path", "tk-1"], 0).trim_end());
    let scratch = own.with_file_name(".tk-1.merge");
    project.git(&["worktree", "add", "-q", "--detach", scratch.to_str().unwrap()]);
    std::fs::write(own.with_file_name(".tk-1.partial"), "KEY").unwrap();
    assert!(said(&project, &["worktree", "remove", "tk-1"], 0).contains("Removed "));
    assert!(!own.parent().unwrap().exists(), "the folder of the repository is empty");
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_setup_and_a_validation_of_the_merged_tree_have_outputs_of_their_own() {
    let project =
        project(&[("tk-1", "First", "case $PWD in *.merge) echo checked; false;; esac")], ONE, "merge: merge");
    project.scenario_with(
        ONE,
        &format!("{BASE}git: {{worktree: ticket, commit: ticket, merge: merge}}\nworktree: {{setup: echo set up}}\n"),
    );
    let records = ran(&project, &["run", "--json", "tk-1"], 3);
    let run = records[0]["run"].as_str().unwrap();
    let logs = project.path(&format!("state/runs/{run}"));
    let read = |name: &str| std::fs::read_to_string(logs.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(read("merge/validation-1.log"), "checked\n");
    assert_eq!(read("merge/setup/validation-1.log"), "set up\n");
}

#[test]
fn a_conflict_is_resolved_without_a_screen_or_stays_one_and_is_tried_again() {
    let workflow = "{name: simple, fix_tries: 0}";
    let project = in_conflict_under(workflow);
    // Claude makes a file and leaves the markers, then does nothing, then resolves it.
    let scenario = "
turns:
  - when: {prompt: Resolve merge conflicts}
    times: 1
    steps: [ {write: {path: extra.txt, content: \"extra\\n\"}}, {status: {phase: \"\", status: DONE}} ]
  - when: {prompt: Resolve merge conflicts}
    times: 1
    steps: [ {status: {phase: \"\", status: DONE}} ]
  - when: {prompt: Resolve merge conflicts}
    steps: [ {write: {path: same.txt, content: \"both\\n\"}}, {status: {phase: \"\", status: DONE}} ]
";
    let git = "git: {worktree: ticket, commit: ticket, merge: merge}\n";
    project.scenario_with(scenario, &format!("policy: {{profile: trusted}}\nworkflow: {workflow}\n{git}"));
    let before = project.git(&["rev-parse", "main"]);
    let resolve = ["run", "--json", "--resolve", "tk-1"];
    // The yes is for the conflict, not for other work.
    said(&project, &["ticket", "untick", "tk-1", "1"], 0);
    let refused = said(&project, &resolve, 2);
    assert!(refused.contains("open phases again"), "{refused}");
    said(&project, &["ticket", "tick", "tk-1", "1"], 0);
    for _ in 0..2 {
        let records = ran(&project, &resolve, 3);
        let end = end(&records, "tk-1");
        let is_still_one = end["detail"].as_str().unwrap().contains("Claude did not resolve the conflict");
        assert!(end["reason"] == "merge_failed" && is_still_one, "{end}");
        assert_eq!(project.git(&["rev-parse", "main"]), before);
    }
    let records = ran(&project, &resolve, 0);
    assert_eq!(of_kind(&records, "conflict_staged").last().unwrap()["stage"], "over");
    assert_eq!(of_kind(&records, "iteration_started").last().unwrap()["step"], "critique", "it is reviewed");
    assert_eq!(project.git(&["show", "main:same.txt"]), "both\n");
    assert_eq!(project.git(&["show", "main:extra.txt"]), "extra\n", "what Claude made before is not refused");

    for (args, code, words) in [
        (&["run", "--resolve", "tk-1"][..], 2, "did not end with a conflict to resolve"),
        (&["run", "--resolve", "tk-1", "tk-2"], 2, "--resolve takes one ticket"),
        (&["run", "--resolve", "tk-9"], 2, "tk-9"),
    ] {
        let output = project.run(args);
        assert!(output.status.code() == Some(code) && text(&output).contains(words), "{args:?}: {}", text(&output));
    }
}

#[test]
fn the_work_of_a_skipped_phase_is_neither_committed_nor_merged() {
    let scenario = "turns: [{times: 0, steps: [{write: {path: half.txt, content: \"half\\n\"}}, {status: {phase: \"\", status: CONTINUE}}]}]\n";
    let git = "git: {worktree: ticket, commit: phase, merge: merge}\n";
    let config = format!("policy: {{profile: trusted}}\nworkflow: {{name: simple}}\n{git}");
    let project = Project::with_config(&["Alpha"], scenario, &config);
    let before = project.git(&["rev-parse", "main"]);
    let (_, first) = crate::watched::run(&project, &["-n", "1", "tk-1"]);
    assert_eq!(end(&first, "tk-1")["reason"], "max_iterations", "{first:#?}");
    said(&project, &["phase", "skip", "tk-1", "1"], 0);
    let records = crate::watched::run(&project, &["tk-1"]).1;
    assert_eq!(end(&records, "tk-1")["reason"], "merge_failed", "{records:?}");
    assert_eq!(project.git(&["rev-parse", "main"]), before);
    assert_eq!(of_kind(&records, "commit_intended").len(), 0);
}

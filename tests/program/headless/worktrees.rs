//! Tickets in worktrees of their own: where the work goes, what is in one, what removes one.

use crate::project::Project;
use crate::watched::{DILIGENT, of_kind, ran, said, start_until, text};
use std::path::PathBuf;

/// A project whose tickets have worktrees, with changes of the person's that are not committed.
fn project(phases: &[&str], config: &str) -> Project {
    let config = format!("workflow: {{name: simple}}\npolicy: {{profile: trusted}}\n{config}");
    let project = Project::with_config(phases, DILIGENT, &config);
    project.git(&["config", "user.name", "P"]);
    project.git(&["config", "user.email", "p@example.invalid"]);
    project.write("work/.gitignore", "/target\n.env\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "A ticket"]);
    project.write("work/README.md", "# Mine\n");
    project.write("work/mine.txt", "mine\n");
    project
}

const COMMITTED: &str = "git: {worktree: ticket, commit: ticket}\n";

fn path(project: &Project, ticket: &str) -> PathBuf {
    said(project, &["worktree", "path", ticket], 0).trim_end().into()
}

#[test]
fn a_ticket_works_apart_from_the_person_and_its_own_file_is_ticked() {
    let project = project(&["First"], COMMITTED);
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    let kinds: Vec<&str> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    let at = |kind: &str| kinds.iter().position(|one| *one == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"));
    assert!(at("worktree_intended") < at("worktree_made") && at("worktree_made") < at("tree_granted"), "{kinds:?}");

    let own = path(&project, "tk-1");
    assert!(own.starts_with(project.path("home/.local/share/programmator/worktrees")), "{own:?}");
    assert!(own.join("first.txt").is_file() && !project.path("work/first.txt").exists());
    assert_eq!(project.git(&["status", "--porcelain"]), " M .tickets/tk-1.md\n M README.md\n?? mine.txt\n");
    assert_eq!(project.git(&["branch", "--show-current"]), "main\n");
    assert_eq!(project.git(&["log", "--format=%s", "programmator/tk-1"]), "Work on tk-1\nA ticket\nBegin\n");
    assert_eq!(project.git(&["show", "--name-only", "--format=", "programmator/tk-1"]), "first.txt\n");
    // Its own file is ticked, the worktree's copy of it is left alone and cannot be run.
    assert!(project.ticket_text("tk-1").contains("- [x] First"));
    let copy = own.join(".tickets/tk-1.md");
    assert!(std::fs::read_to_string(&copy).unwrap().contains("- [ ] First"));
    let refused = project.run(&["run", copy.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("is a copy in the worktree of tk-1"), "{}", text(&refused));

    let listed = said(&project, &["worktree", "list"], 0);
    assert!(listed.contains("programmator/tk-1") && listed.contains("1 unmerged commit"), "{listed}");
}

#[test]
fn two_tickets_run_at_the_same_time_each_in_its_own() {
    let project = project(&["First"], COMMITTED);
    project.ticket("tk-2", &["Second"]);
    project.scenario_with(
        &format!(
            "
turns:
  - when: {{phase: First}}
    steps: [ {{bash: \"touch {one}; until [ -e {two} ]; do sleep 0.02; done\"}}, {{write: {{path: a, content: a}}}}, {{status: {{}}}} ]
  - when: {{phase: Second}}
    steps: [ {{bash: \"touch {two}; until [ -e {one} ]; do sleep 0.02; done\"}}, {{write: {{path: b, content: b}}}}, {{status: {{}}}} ]
",
            one = project.path("agent/one").display(),
            two = project.path("agent/two").display()
        ),
        &format!("policy: {{profile: trusted}}\nworkflow: {{name: simple}}\n{COMMITTED}"),
    );
    // Each waits for the other: one after the other would wait for ever.
    let records = ran(&project, &["run", "--json", "--timeout", "60", "tk-1", "tk-2"], 0);
    assert!(of_kind(&records, "tree_awaited").is_empty());
    for (ticket, file) in [("tk-1", "a"), ("tk-2", "b")] {
        let branch = format!("programmator/{ticket}");
        assert_eq!(project.git(&["show", "--name-only", "--format=", &branch]).trim(), file);
    }
}

#[test]
fn what_is_new_gets_the_persons_files_and_setup_once_and_a_later_run_uses_it_again() {
    let setup = "git: {worktree: ticket}\nworktree: {copy: [.env, README.md], setup: \"cat .env >> target-log; mkdir -p target\"}\n";
    let project = project(&["First", "Second"], setup);
    project.write("work/.env", "KEY=1\n");
    project.write("work/target/built", "x");
    // A project sets none of it, trusted or not.
    project.write("work/.programmator/config.yaml", "worktree: {setup: \"touch stolen\"}\n");
    assert!(said(&project, &["trust"], 0).contains("trusted"));
    let records = ran(&project, &["run", "--json", "-n", "1", "tk-1"], 4);
    let made = of_kind(&records, "worktree_made")[0]["notes"].to_string();
    for words in [".env copied", "README.md not copied: not ignored by git", "target", "cat .env >> target-log"] {
        assert!(made.contains(words), "{words}: {made}");
    }
    let own = path(&project, "tk-1");
    assert!(!own.join("stolen").exists());
    assert_eq!(std::fs::read_to_string(own.join("README.md")).unwrap(), "# A project\n");
    // Without the setting it is used again: it is there.
    project.scenario(DILIGENT);
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&records, "worktree_made")[0]["notes"], serde_json::Value::Null);
    assert_eq!(std::fs::read_to_string(own.join("target-log")).unwrap(), "KEY=1\n", "the setup ran once");
    assert!(own.join("second.txt").is_file());
}

#[test]
fn a_setup_that_fails_ends_the_run_and_the_next_start_tries_again() {
    let project =
        project(&["First"], "git: {worktree: ticket}\nworktree: {setup: \"echo no network; test -e ../go\"}\n");
    let records = ran(&project, &["run", "--json", "tk-1"], 1);
    let end = records.last().unwrap()["detail"].as_str().unwrap();
    assert!(end.contains("(worktree.setup) ended with exit code 1: no network"), "{end}");
    assert!(of_kind(&records, "iteration_started").is_empty());
    std::fs::write(path(&project, "tk-1").join("../go"), "").unwrap();
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&records, "worktree_made").len(), 1);
}

#[test]
fn killed_while_a_worktree_is_set_up_it_is_finished_by_the_next_start() {
    let project = project(&["First"], "");
    let begun = project.path("agent/begun");
    let gate = project.gate("setup");
    let config = format!(
        "policy: {{profile: trusted}}\nworkflow: {{name: simple}}\ngit: {{worktree: ticket}}\n\
         worktree: {{setup: \"touch {}; {gate}\"}}\n",
        begun.display()
    );
    project.scenario_with(DILIGENT, &config);
    let (mut child, _) = start_until(&project, &["run", "--json", "tk-1"], "worktree_intended");
    while !begun.exists() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    project.open_gate("setup");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&records, "worktree_made").len(), 1);
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 2);
    assert!(path(&project, "tk-1").join("first.txt").is_file());
}

#[test]
fn one_that_holds_work_is_not_removed_and_what_is_removed_is_begun_anew() {
    let project = project(&["First"], COMMITTED);
    ran(&project, &["run", "--json", "tk-1"], 0);
    let own = path(&project, "tk-1");
    let refused = |words: &str| {
        let output = project.run(&["worktree", "remove", "tk-1"]);
        assert!(output.status.code() == Some(1) && text(&output).contains(words), "{words}: {}", text(&output));
        assert!(own.join("first.txt").is_file());
    };
    refused("1 unmerged commit");
    std::fs::write(own.join("new"), "").unwrap();
    refused("1 untracked file (new)");
    std::fs::remove_file(own.join("new")).unwrap();
    project.git(&["stash", "-q"]);
    project.git(&["merge", "-q", "programmator/tk-1"]);
    std::fs::write(own.join("README.md"), "changed\n").unwrap();
    refused("1 uncommitted file (README.md)");
    std::fs::write(own.join("README.md"), "# A project\n").unwrap();
    assert!(said(&project, &["worktree", "list"], 0).contains("nothing to lose"));
    assert!(said(&project, &["worktree", "remove", "tk-1"], 0).contains("Removed "));
    assert!(!own.exists());
    assert_eq!(project.git(&["branch", "--list", "programmator/*"]), "");
    assert_eq!(project.run(&["worktree", "path", "tk-1"]).status.code(), Some(2));

    // There is more to do.
    project.ticket("tk-1", &["Second"]);
    ran(&project, &["run", "--json", "tk-1"], 0);
    assert!(path(&project, "tk-1").join("second.txt").is_file());
}

#[test]
fn two_tickets_with_one_id_do_not_share_a_worktree() {
    let project = project(&["First"], COMMITTED);
    project.write("work/web/.tickets/tk-1.md", &project.ticket_text("tk-1").replace("First", "Second"));
    ran(&project, &["run", "--json", "tk-1"], 0);
    let output = project.run(&["run", "web/.tickets/tk-1.md"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("work/.tickets/tk-1.md has the same id and uses"), "{}", text(&output));
    assert!(!path(&project, "tk-1").join("second.txt").exists());
}

#[test]
fn a_worktree_needs_a_repository_and_a_branch() {
    let project = Project::without_git();
    project.ticket("tk-1", &["First"]);
    project.scenario(DILIGENT);
    let output = project.run(&["run", "--worktree", "tk-1"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("needs a git repository"), "{}", text(&output));
}

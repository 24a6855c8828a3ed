//! `git.branch` without a worktree: the person's directory is on the ticket's branch, where that changes no file.

use super::forks::killing;
use crate::project::Project;
use crate::watched::{DILIGENT, WAITING, of_kind, ran, start_until, text};
use std::io::Write;
use std::process::Stdio;

fn project(git: &str) -> Project {
    let project = Project::new();
    project.git(&["config", "user.name", "P"]);
    project.git(&["config", "user.email", "p@example.invalid"]);
    project.ticket("tk-1", &["First"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Ticket"]);
    project.scenario_with(DILIGENT, &format!("git: {{{git}}}\n"));
    project
}

fn branch(project: &Project) -> String {
    project.git(&["branch", "--show-current"]).trim().to_owned()
}

#[test]
fn a_run_works_on_a_branch_that_begins_where_the_directory_is() {
    let project = project("branch: \"work/{{ id }}\", commit: ticket");
    let main = project.git(&["rev-parse", "main"]);
    project.write("work/README.md", "# Mine\n");
    project.write("work/mine.txt", "mine\n");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    let kinds: Vec<&str> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    let at = |kind: &str| kinds.iter().position(|one| *one == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"));
    assert!(at("switch_intended") < at("switch_settled") && at("switch_settled") < at("tree_granted"), "{kinds:?}");
    let log = text(&project.run(&["logs", "tk-1"]));
    assert!(log.contains("switched the directory from main to the new branch work/tk-1"), "{log}");
    assert_eq!((branch(&project), project.git(&["rev-parse", "main"])), ("work/tk-1".to_owned(), main));
    assert_eq!(project.git(&["show", "--name-only", "--format="]), "first.txt\n");
    assert_eq!((project.read("work/README.md"), project.read("work/mine.txt")), ("# Mine\n".into(), "mine\n".into()));
}

#[test]
fn what_would_change_files_is_left_to_the_person_and_said() {
    let project = project("branch: own");
    let refused = |words: &str| {
        let records = ran(&project, &["run", "--json", "tk-1"], 1);
        let end = of_kind(&records, "run_ended")[0]["detail"].as_str().unwrap().to_owned();
        assert!(end.contains(words), "{end}");
        assert!(of_kind(&records, "iteration_started").is_empty());
        assert_eq!(branch(&project), "main");
    };
    project.git(&["switch", "-q", "-c", "own"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "More"]);
    project.git(&["switch", "-q", "main"]);
    refused("is on main, and the branch own (git.branch) is at another commit: `git switch own` and start again");
    // Killed between making the branch and switching to it, it is switched to by the next start.
    project.git(&["branch", "-f", "own", "main"]);
    ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(branch(&project), "own");
}

/// Whichever of the two was first, the end of the program or the switch: what is said of it is true.
#[test]
fn a_switch_that_was_begun_is_ended_though_the_setting_is_gone_meanwhile() {
    let project = project("branch: own");
    let (mut child, _) = start_until(&project, &["run", "--json", "tk-1"], "switch_intended");
    child.kill().unwrap();
    child.wait().unwrap();
    project.write("config/config.yaml", &project.read("config/config.yaml").replace("branch: own", ""));
    let records = ran(&project, &["resume", "--json"], 0);
    assert!(of_kind(&records, "switch_settled").iter().all(|settled| settled["trouble"].is_null()), "{records:?}");
    assert_eq!(branch(&project), "own");
}

#[test]
fn a_branch_begins_at_its_base_or_not_at_all() {
    let project = project("branch: own, base: release");
    project.git(&["branch", "release"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "More"]);
    let records = ran(&project, &["run", "--json", "tk-1"], 1);
    let end = of_kind(&records, "run_ended")[0]["detail"].as_str().unwrap().to_owned();
    assert!(end.contains("own (git.branch) starts at release (git.base): `git switch release`"), "{end}");
    assert_eq!(project.git(&["branch", "--list", "own"]), "");
    project.git(&["switch", "-q", "release"]);
    ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(branch(&project), "own");

    let protected = self::project("branch: master");
    let refused = protected.run(&["run", "--json", "tk-1"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("the branch master (git.branch) is protected"), "{}", text(&refused));
    assert_eq!(branch(&protected), "main");
}

/// A ticket more than the first.
fn second(project: &Project) {
    project.ticket("tk-2", &["Second"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Ticket"]);
}

#[test]
fn the_branch_of_the_next_ticket_begins_where_that_of_the_first_one_did() {
    let project = project("branch: \"work/{{ id }}\", commit: ticket");
    second(&project);
    let main = project.git(&["rev-parse", "main"]);
    ran(&project, &["run", "--json", "tk-1"], 0);
    let records = ran(&project, &["run", "--json", "tk-2"], 1);
    let end = of_kind(&records, "run_ended")[0]["detail"].as_str().unwrap().to_owned();
    assert!(end.contains("is on work/tk-1") && end.contains("starts at main: `git switch main`"), "{end}");
    project.git(&["switch", "-q", "main"]);
    ran(&project, &["run", "--json", "tk-2"], 0);
    assert_eq!((project.git(&["rev-parse", "work/tk-2~1"]), branch(&project)), (main, "work/tk-2".to_owned()));

    // Without a commit nothing is in the way, and the second one is not taken for a part of the first.
    let project = self::project("branch: \"work/{{ id }}\"");
    second(&project);
    ran(&project, &["run", "--json", "tk-1"], 0);
    let records = ran(&project, &["run", "--json", "tk-2"], 0);
    let settled = of_kind(&records, "switch_settled")[0];
    assert_eq!((settled["from"].as_str(), settled["base"].as_str()), (Some("work/tk-1"), Some("main")), "{settled}");
}

#[test]
fn killed_around_the_switch_the_next_start_finds_out_what_came_of_it() {
    for after in [false, true] {
        let project = project("branch: own");
        let path = killing(&project, " switch ", after);
        let killed = project.command(&["run", "--json", "tk-1"]).env("PATH", &path).output().unwrap();
        assert!(killed.status.code().is_none() && !project.path("armed").exists(), "{}", text(&killed));
        let journal = project.journal();
        assert_eq!((of_kind(&journal, "switch_intended").len(), of_kind(&journal, "switch_settled").len()), (1, 0));
        let records = ran(&project, &["run", "--json", "tk-1"], 0);
        assert_eq!(of_kind(&records, "switch_settled").len(), 1);
        assert_eq!(of_kind(&records, "switch_intended").len(), usize::from(!after));
        assert_eq!(branch(&project), "own");
    }
}

#[test]
fn an_iteration_that_was_cut_off_is_compared_where_its_files_are() {
    let project = project("branch: own");
    project.scenario_with(WAITING, "git: {branch: own}\n");
    let (mut child, _) = start_until(&project, &["run", "--json", "tk-1"], "tool_finished");
    child.kill().unwrap();
    child.wait().unwrap();
    project.git(&["commit", "-q", "-m", "Mine", "--allow-empty"]);
    project.git(&["switch", "-q", "main"]);
    let records = ran(&project, &["run", "--json", "tk-1"], 1);
    assert_eq!(of_kind(&records, "run_ended")[0]["reason"], "error");
    assert!(of_kind(&records, "evidence_gathered").is_empty() && of_kind(&records, "iteration_ended").is_empty());
    project.git(&["switch", "-q", "own"]);
    project.write("go", "");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    let files = of_kind(&records, "evidence_gathered")[0]["iteration_files"].clone();
    assert_eq!((files, &of_kind(&records, "iteration_ended")[0]["n"]), (serde_json::json!(["first.txt"]), &1.into()));
}

#[test]
fn a_protected_branch_is_no_matter_of_chats_and_plans() {
    let project = project("branch: master");
    project.write("work/.tickets/tk-3.md", "---\nid: tk-3\nstatus: open\n---\n# Limit logins\n\nSoon.\n");
    let draft = "
turns:
  - when: {planner: true}
    steps: [ {draft: {title: T, text: t, phases: [First], validation: []}} ]
  - when: {prompt: hello}
    steps: [ {say: \"Hello to you.\"}, no_status ]
";
    project.scenario_with(draft, "git: {branch: master}\n");
    let planned = project.run(&["plan", "tk-3", "--save"]);
    assert_eq!(planned.status.code(), Some(0), "{}", text(&planned));
    assert!(project.ticket_text("tk-3").contains("- [ ] First"), "{}", project.ticket_text("tk-3"));
    project.ticket("tk-4", &["First"]);
    let refused = project.run(&["run", "--json", "tk-4"]);
    assert!(text(&refused).contains("is protected"), "{}", text(&refused));
    let mut chat = project.command(&["chat", "--plain"]);
    let mut chat = chat.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    chat.stdin.take().unwrap().write_all(b"hello\n").unwrap();
    let chat = chat.wait_with_output().unwrap();
    assert!(text(&chat).contains("Hello to you."), "{}", text(&chat));
    assert_eq!(branch(&project), "main");
}

//! Planning without a screen, on the scripted agent: what is drafted, what is written and when.

use crate::project::Project;
use crate::watched::of_kind;
use serde_json::Value;
use std::process::Output;

/// The planner reads, tries to write, and drafts.
const PLANNER: &str = r#"
turns:
  - when: {planner: true}
    steps:
      - read: README.md
      - write: {path: PLAN.md, content: "mine\n"}
      - bash: "echo mine > plan.txt"
      - draft:
          title: "Logins are limited"
          text: "Six tries a minute are one too many."
          phases: ["Count the tries", "Refuse the sixth: with 429"]
          validation: ["sh test.sh", "echo `date`"]
"#;

fn project(scenario: &str) -> Project {
    let project = Project::new();
    project.scenario(scenario);
    project
}

fn printed(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The only ticket's id and text.
fn only_ticket(project: &Project) -> (String, String) {
    let files: Vec<_> =
        std::fs::read_dir(project.path("work/.tickets")).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    (file.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(file).unwrap())
}

fn bare(project: &Project) {
    project.write("work/.tickets/tk-1.md", "---\nid: tk-1\nstatus: open\n---\n# Limit logins\n\nSoon.\n");
}

#[test]
fn an_idea_becomes_a_ticket_that_can_be_run() {
    let project = project(PLANNER);
    let output = project.run(&["plan", "Limit logins to five a minute", "--save"]);
    let (out, err) = printed(&output);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(out.starts_with("# Logins are limited\n\nSix tries"), "{out}");
    let (id, text) = only_ticket(&project);
    assert!(text.contains(&format!("id: {id}\nstatus: open\n")), "{text}");
    assert!(text.contains("# Logins are limited\n\nSix tries a minute are one too many.\n\n## Design\n\n- [ ] Count the tries\n- [ ] Refuse the sixth: with 429\n\n## Validation Commands\n\n- `sh test.sh`\n- `` echo `date` ``\n"), "{text}");
    let records = project.journal();
    let blocked = of_kind(&records, "tool_judged").iter().filter(|call| call["verdict"] == "block").count();
    assert_eq!(blocked, 2, "both writes are refused, and that is in the journal");
    assert!(!project.path("work/PLAN.md").exists() && !project.path("work/plan.txt").exists());
    let end = records.last().unwrap();
    assert_eq!((&end["reason"], &end["iterations"]), (&"planned".into(), &0.into()));
    let show = project.run(&["ticket", "show", &id, "--json"]);
    let shown: Value = serde_json::from_slice(&show.stdout).unwrap();
    assert_eq!(shown["phases"].as_array().unwrap().len(), 2);
}

#[test]
fn a_draft_is_printed_and_written_later_without_another_call() {
    let project = project(PLANNER);
    bare(&project);
    let before = project.ticket_text("tk-1");
    let output = project.run(&["plan", "tk-1", "--json"]);
    let (out, err) = printed(&output);
    assert_eq!(output.status.code(), Some(0), "{err}");
    let draft: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&draft["ticket"], &draft["saved"]), (&"tk-1".into(), &false.into()));
    assert_eq!(draft["draft"]["phases"][1], "Refuse the sixth: with 429");
    assert!(err.contains("write this draft with `programmator plan tk-1 --save`"), "{err}");
    assert_eq!(project.ticket_text("tk-1"), before, "nothing is written unasked");
    let again = project.run(&["plan", "tk-1"]);
    let (out, _) = printed(&again);
    assert_eq!(again.status.code(), Some(0), "{out}");
    assert!(out.contains("Refuse the sixth: with 429"), "{out}");
    assert_eq!(of_kind(&project.journal(), "run_resumed").len(), 0, "nothing runs for it");
    // To run it continues the plan, and says so.
    let output = project.run(&["run", "tk-1"]);
    let (out, _) = printed(&output);
    assert_eq!(output.status.code(), Some(3), "{out}");
    assert!(out.contains("the draft of this ticket's phases is still undecided"), "{out}");
    assert!(out.contains("programmator phase add tk-1 TEXT"), "{out}");
    assert!(out.contains("save it with `programmator plan tk-1 --save`"), "{out}");
    assert_eq!(project.run(&["plan", "tk-1", "--save"]).status.code(), Some(0));
    assert_eq!(
        project.ticket_text("tk-1"),
        format!(
            "{before}\n## Design\n\n- [ ] Count the tries\n- [ ] Refuse the sixth: with 429\n\n## Validation Commands\n\n- `sh test.sh`\n- `` echo `date` ``\n"
        ),
        "and what stood there stands there"
    );
    let records = project.journal();
    assert_eq!(of_kind(&records, "agent_spawned").len(), 1, "the draft is paid for once");
    let output = project.run(&["plan", "tk-1"]);
    let (_, err) = printed(&output);
    assert!(output.status.code() == Some(2) && err.contains("tk-1 already has phases"), "{err}");
}

#[test]
fn what_is_no_draft_twice_is_said_and_nothing_is_written() {
    let project = project(
        "turns:\n  - when: {planner: true}\n    steps: [say: \"I would do it.\"]\n  - when: {planner: true, follow_up: true}\n    steps: [draft: {phases: [\"Same\", \"Same\"]}]\n",
    );
    bare(&project);
    let output = project.run(&["plan", "tk-1", "--save"]);
    let (out, err) = printed(&output);
    assert_eq!((output.status.code(), out.as_str()), (Some(3), ""), "{err}");
    assert!(err.contains("Two phases have the same text"), "{err}");
    assert!(!project.ticket_text("tk-1").contains("Design"));
}

#[test]
fn what_is_no_ticket_and_no_idea_is_an_error() {
    let project = project(PLANNER);
    let output = project.run(&["plan", "tk-9", "--save"]);
    let (_, err) = printed(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(err.contains("no ticket `tk-9`") && err.contains("in a few words"), "{err}");
    assert_eq!(std::fs::read_dir(project.path("work/.tickets")).unwrap().count(), 0, "no ticket is made of it");
}

#[test]
fn without_a_claude_an_idea_leaves_no_ticket_behind() {
    let project = project(PLANNER);
    project.write("config/config.yaml", "agent:\n  command: [no-such-claude]\n");
    for _ in 0..2 {
        let output = project.run(&["plan", "Limit logins to five a minute", "--save"]);
        let (_, err) = printed(&output);
        assert!(output.status.code() == Some(1) && err.contains("`no-such-claude` was not found"), "{err}");
    }
    let tickets = std::fs::read_dir(project.path("work/.tickets")).map_or(0, Iterator::count);
    assert_eq!(tickets, 0);
}

//! The evaluator on the scripted agent: what it is shown, what it may do, what becomes of the phases that it proposes.

use super::critique::steps;
use crate::project::Project;
use crate::watched::{of_kind, ran};

/// The work of each phase; the goal is reached when `more.txt` is there.
const SCENARIO: &str = r#"
turns:
  - when: {evaluator: true, lacks: {more.txt: "more"}}
    steps:
      - write: {path: more.txt, content: "the evaluator was here\n"}
      - goal: {new_phases: ["Write more"], summary: "There is not enough."}
  - when: {evaluator: true, prompt: "+one"}
    steps: [ {goal: {summary: "I saw all of it."}} ]
  - when: {evaluator: true}
    steps: [ {goal: {new_phases: ["no diff was shown"]}} ]
  - when: {phase: "Write more"}
    steps: [ {write: {path: more.txt, content: "more\n"}}, {status: {}} ]
  - when: {phase: ""}
    steps: [ {write: {path: one.txt, content: "one\n"}}, {status: {}} ]
"#;

fn config(add: &str) -> String {
    format!("workflow: {{name: thorough{add}}}\npolicy: {{profile: trusted}}\n")
}

#[test]
fn missing_phases_are_added_to_the_ticket_and_worked_on() {
    let project = Project::with_config(&["Do it"], SCENARIO, &config(", add_phases: auto"));
    project.validate_by("test -f one.txt");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(steps(&records), ["code", "critique", "evaluate", "code", "critique", "evaluate"]);
    assert!(project.ticket_text("tk-1").contains("- [x] Do it\n- [x] Write more\n"), "{}", project.ticket_text("tk-1"));
    let judged = of_kind(&records, "tool_judged");
    let of_evaluator: Vec<_> = judged.iter().filter(|call| call["n"] == 3).map(|call| &call["verdict"]).collect();
    assert_eq!(of_evaluator, ["block"], "an evaluator that writes is refused: {judged:?}");
    assert_eq!(of_kind(&records, "evaluation_made")[1]["evaluation"]["summary"], "I saw all of it.");
    assert_eq!(of_kind(&records, "proposal_answered")[0]["by"], "configuration");
}

#[test]
fn without_a_word_from_the_person_nothing_is_added_and_the_run_says_what_is_missing() {
    let project = Project::with_config(&["Do it"], SCENARIO, &config(""));
    project.validate_by("test -f one.txt");
    let before = project.ticket_text("tk-1");
    let records = ran(&project, &["run", "--json", "tk-1"], 3);
    assert_eq!(steps(&records), ["code", "critique", "evaluate"]);
    let end = records.last().unwrap();
    assert_eq!(end["reason"], "review_failed");
    assert!(end["detail"].as_str().unwrap().contains("missing: “Write more”"), "{end}");
    let text = project.ticket_text("tk-1");
    assert_eq!(text, before.replace("[ ] Do it", "[x] Do it").replace("status: open", "status: in_progress"));
}

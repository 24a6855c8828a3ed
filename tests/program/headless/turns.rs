//! Turns that no message of ours began, and subagents, as either version of Claude plays them.

use crate::project::Project;
use crate::watched::{of_kind, ran};

fn run(scenario: &str) -> (Project, Vec<serde_json::Value>) {
    let project = Project::with(&["Phase 1: Do it"], scenario);
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(project.processes(), Vec::<String>::new());
    (project, records)
}

#[test]
fn a_subagent_is_waited_for_wherever_it_works() {
    for cli in ["2.1.197", "2.1.330"] {
        let (project, records) = run(&format!(
            "
cli: {cli}
turns:
  - when: {{phase: \"\"}}
    steps:
      - agent:
          description: a part
          prompt: do the part
          steps:
            - sleep_ms: 300
            - write: {{path: part.txt, content: \"x\\n\"}}
            - status: {{status: BLOCKED, summary: a subagent has no say, error: none}}
          meanwhile:
            - status: {{status: BLOCKED, summary: too early, error: none}}
          then:
            - status: {{summary: did it, files: [part.txt]}}
"
        ));
        let claims: Vec<_> =
            of_kind(&records, "claim_made").iter().map(|record| record["claim"]["summary"].clone()).collect();
        assert_eq!(claims, ["did it"], "{cli}");
        assert!(of_kind(&records, "follow_up_sent").is_empty(), "{cli}");
        assert_eq!(project.read("work/part.txt"), "x\n", "{cli}: its call was let run");
        let told = of_kind(&records, "background_changed");
        assert_eq!(told.len(), if cli == "2.1.330" { 2 } else { 0 }, "{cli}");
    }
}

#[test]
fn a_turn_of_somebody_else_is_stopped_and_claims_nothing() {
    let foreign = "{wakes: WAKES, steps: [{write: {path: evil.txt, content: x}}, {sleep_ms: 60000}, {status: {summary: foreign}}]}";
    for (wakes, first) in [("true", "write: {path: a.txt, content: \"x\\n\"}"), ("false", "say: No block yet.")] {
        let (project, records) = run(&format!(
            "
cli: 2.1.330
turns:
  - when: {{phase: \"\"}}
    steps: [{{{first}}}]
    after: [{{foreign: {}}}]
  - when: {{follow_up: true}}
    steps: [{{status: {{summary: own}}}}]
",
            foreign.replace("WAKES", wakes)
        ));
        assert_eq!(of_kind(&records, "foreign_turn").len(), 1, "{first}");
        let claims: Vec<_> =
            of_kind(&records, "claim_made").iter().map(|record| record["claim"]["summary"].clone()).collect();
        assert_eq!(claims, ["own"], "{first}");
        assert!(!project.path("work/evil.txt").exists(), "{first}");
    }
}

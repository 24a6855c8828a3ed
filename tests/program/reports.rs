//! `programmator report`: what runs have come to while nobody looked.

use crate::project::Project;
use crate::watched::{DILIGENT, json, ran, said};
use serde_json::Value;

#[test]
fn what_was_done_verified_and_changed_is_told_and_what_came_before_is_not() {
    let project = Project::with(&["Alpha", "Beta"], DILIGENT);
    let none = said(&project, &["report"], 0);
    assert!(none.starts_with("Nothing has happened since "), "{none}");
    project.validate_by("true");
    ran(&project, &["run", "--json", "tk-1"], 0);
    project.ticket("tk-2", &["Gamma"]);
    project.scenario("turns: [{times: 0, steps: [{status: {status: BLOCKED, error: 'no \\x1b[31mkey'}}]}]\n");
    project.run(&["run", "--json", "tk-2"]);

    let report = json(&project, &["report", "--json"]);
    let runs = report["runs"].as_array().expect("a list");
    let tickets: Vec<&Value> = runs.iter().map(|run| &run["ticket"]).collect();
    assert_eq!(tickets, ["tk-2", "tk-1"], "what waits comes first: {report}");
    let done = &runs[1];
    assert_eq!((&done["phases_done"], &done["phases"], &done["iterations"]), (&2.into(), &2.into(), &2.into()));
    assert_eq!(done["files"], serde_json::json!(["alpha.txt", "beta.txt"]));
    let decided = done["decided"].as_array().expect("a list");
    let row = |phase: &Value| ["phase", "became", "how", "commands"].map(|key| phase[key].to_string()).join(" ");
    let rows: Vec<String> = decided.iter().map(row).collect();
    let expected = ["Alpha", "Beta"].map(|phase| format!("\"{phase}\" \"done\" \"verified\" [\"true\"]"));
    assert_eq!(rows, expected);
    assert_eq!((&done["unverified"], &runs[0]["unverified"]), (&false.into(), &false.into()));
    assert_eq!(runs[0]["decided"][0]["became"], "blocked");
    assert_eq!(runs[0]["waits"].as_array().map(Vec::len), Some(1));

    assert_eq!(runs[0]["ended"].as_str().map(|words| words.matches("blocked").count()), Some(1), "said once: {report}");
    let words = said(&project, &["report"], 0);
    for part in ["2 runs", "1 needs you", "## tk-1 Work on tk-1", "- Alpha: verified by `true`", "2 files changed"] {
        assert!(words.contains(part), "{part} is not in\n{words}");
    }
    assert!(!words.contains('\x1b'), "{words}");
    let one = said(&project, &["report", "tk-1"], 0);
    assert!(one.contains("tk-1") && !one.contains("tk-2"), "{one}");
    let later = said(&project, &["report", "--since", "2199-01-01"], 2);
    assert!(later.contains("in the future"), "{later}");
    let wrong = said(&project, &["report", "--since", "soon"], 2);
    assert!(wrong.contains("invalid --since") && wrong.contains("`8h`"), "{wrong}");
    said(&project, &["report", "tk-9"], 2);
}

//! A run as a file, in each form, from the store of the real program.

use crate::project::Project;
use crate::watched::{DILIGENT, said, text};
use serde_json::Value;

fn ran() -> Project {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha", "Beta"]);
    project.scenario(DILIGENT);
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    project
}

fn exported(project: &Project, args: &[&str]) -> String {
    let output = project.run(&[&["export", "tk-1"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    String::from_utf8(output.stdout).expect("text")
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn markdown_tells_what_was_said_in_the_iteration_that_said_it() {
    let project = ran();
    let page = exported(&project, &[]);
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words}:\n{page}"));
    let parts = [
        "# tk-1", "## Iteration 1: Alpha", "Working on Alpha.", "**Write** `alpha.txt`", "## Iteration 2: Beta",
        "Working on Beta.",
    ];
    assert!(parts.map(at).is_sorted(), "{page}");
    let second = exported(&project, &["--iteration", "2"]);
    assert!(second.contains("Working on Beta.") && !second.contains("Alpha."), "{second}");
    said(&project, &["export", "tk-1", "--iteration", "7"], 2);
}

#[test]
fn jsonl_has_every_record_and_every_line_of_claude() {
    let project = ran();
    let all = lines(&exported(&project, &["--as", "jsonl"]));
    let records: Vec<&Value> = all.iter().filter(|line| line["kind"] != "stream").collect();
    let journal = lines(&String::from_utf8(project.run(&["logs", "tk-1", "--json"]).stdout).expect("text"));
    assert_eq!(records, journal.iter().collect::<Vec<_>>());
    let place = |wanted: &dyn Fn(&Value) -> bool| all.iter().position(wanted).expect("it is there");
    let told = |n: u64| place(&move |line| line["kind"] == "stream" && line["iteration"] == n);
    let begun = |n: u64| place(&move |line| line["kind"] == "iteration_started" && line["n"] == n);
    assert!([begun(1), told(1), begun(2), told(2)].is_sorted());
    assert!(all[told(1)]["line"]["type"].is_string());
    assert!(all[told(1)..told(2)].iter().any(|line| line["line"].to_string().contains("Working on Alpha.")));
}

#[test]
fn a_recording_has_its_head_and_times_that_never_go_back() {
    let project = ran();
    let all = lines(&exported(&project, &["--as", "cast"]));
    assert_eq!((&all[0]["version"], &all[0]["width"]), (&Value::from(2), &Value::from(120)));
    let times: Vec<f64> = all[1..].iter().map(|event| event[0].as_f64().expect("seconds")).collect();
    assert!(times.len() > 5 && times.is_sorted() && times[0] >= 0.0, "{times:?}");
    let shown: String = all[1..].iter().map(|event| event[2].as_str().expect("text")).collect();
    assert!(shown.contains("Working on Beta.\r\n") && !shown.replace("\r\n", "").contains('\n'), "{shown}");
    assert!(!shown.contains('\u{1b}'));
}

#[test]
fn a_file_is_the_persons_alone_and_never_overwritten() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = ran();
    let file = project.path("run.md");
    let name = file.to_str().expect("text");
    exported(&project, &["-o", name]);
    let whole = std::fs::read_to_string(&file).expect("the export");
    assert!(whole.contains("Working on Alpha."));
    assert_eq!(std::fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
    std::fs::write(&file, "mine").expect("written");
    let why = said(&project, &["export", "tk-1", "-o", name], 2);
    assert!(why.contains("exists"), "{why}");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "mine");
}

#[test]
fn secrets_are_masked_in_every_form() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha"]);
    let says = "
turns:
  - when: {phase: \"\"}
    steps:
      - say: \"The token is hunter2-hunter2 in paris-texas.\"
      - write: {path: \"a.txt\", content: \"a\\n\"}
      - status: {summary: s}
";
    project.scenario(says);
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    for form in ["md", "jsonl", "cast"] {
        let mut command = project.command(&["export", "tk-1", "--as", form]);
        let output =
            command.env("DEPLOY_TOKEN", "hunter2-hunter2").env("PLACE", "paris-texas").output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(text.contains("paris-texas") && !text.contains("hunter2"), "{form}: {text}");
    }
}

/// Of several lines, with what JSON escapes, cut where a line ends, and beside signs of a change.
#[test]
fn a_secret_is_masked_however_it_is_written() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha"]);
    let key = "first-part-1\n\"second\"-part\\2\nthird-part-3";
    let token = "hunter2-hunter2-hunter2";
    // What is shown is cut at 200 and 400 letters.
    let summary = format!("{}{token}{}{token}", "x".repeat(190), "x".repeat(177));
    let says = serde_json::json!({"turns": [{"when": {"phase": ""}, "steps": [
        {"say": format!("It is {key}, and a line of it is third-part-3.")},
        {"write": {"path": "a.txt", "content": format!("a\n{key}\nb\n")}},
        {"status": {"summary": summary}},
    ]}]});
    project.scenario(&says.to_string());
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    for form in ["md", "jsonl", "cast"] {
        let mut command = project.command(&["export", "tk-1", "--as", form]);
        let output = command.env("DEPLOY_KEY", key).env("DEPLOY_TOKEN", token).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(text.contains("a.txt") && text.contains("••••"), "{form}: {text}");
        for part in ["first-part", "second", "third-part", "hunter2"] {
            assert!(!text.contains(part), "{form}: {part} in {text}");
        }
        if form == "jsonl" {
            lines(&text);
        }
    }
}

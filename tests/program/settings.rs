//! `programmator settings merge`: what is shown, asked, written, and refused.

use crate::project::Project;
use crate::watched::{said, text};

const FILE: &str = "work/.claude/settings.local.json";

#[test]
fn rules_are_shown_and_written_once_and_nothing_else_moves() {
    let project = Project::new();
    project.write("work/Cargo.toml", "[package]\n");
    let before =
        "{\n    \"zebra\": 1,\n    \"permissions\": {\"deny\": [\"Glob\"]},\n    \"apple\": {\"b\": 2.50}\n}\n";
    project.write(FILE, before);
    let why = said(&project, &["settings", "merge"], 2);
    assert!(why.contains("no terminal to ask on"), "{why}");
    assert_eq!(project.read(FILE), before);
    let output = project.run(&["settings", "merge", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let shown = String::from_utf8(output.stdout).expect("text");
    assert!(shown.contains("@@") && shown.contains("Bash(cargo test)"), "a diff: {shown}");
    let after = project.read(FILE);
    assert!(
        after.starts_with("{\n    \"zebra\": 1,\n") && after.ends_with("    \"apple\": {\"b\": 2.50}\n}\n"),
        "{after}"
    );
    assert!(!after.contains("\"Glob\",") && after.contains("\"Read(./**)\""), "{after}");
    let again = project.run(&["settings", "merge", "--yes"]);
    assert!(String::from_utf8_lossy(&again.stdout).contains("already has all of these rules"), "{}", text(&again));
    assert_eq!(project.read(FILE), after);
}

#[test]
fn a_broken_file_a_link_and_claude_are_refused() {
    let project = Project::new();
    project.write(FILE, "{\"permissions\": {},}\n");
    let why = said(&project, &["settings", "merge", "--yes"], 2);
    assert!(why.contains("not valid JSON: trailing comma at line 1") && why.contains("nothing was changed"), "{why}");
    assert_eq!(project.read(FILE), "{\"permissions\": {},}\n");
    std::fs::remove_file(project.path(FILE)).expect("removed");
    std::os::unix::fs::symlink(project.path("work/README.md"), project.path(FILE)).expect("a link");
    let why = said(&project, &["settings", "merge", "--yes"], 1);
    assert!(why.contains("it is a link"), "{why}");
    let output =
        project.command(&["settings", "merge", "--yes"]).env("PROGRAMMATOR_RUN_ID", "x").output().expect("it starts");
    assert_eq!(output.status.code(), Some(77), "{}", text(&output));
}

//! The export dialog, down to the file.

use super::stage::{ROOMY, gated_project, leave, start};

#[test]
fn a_run_is_exported_from_the_screen_and_never_over_a_file() {
    let project = gated_project(&["Alpha"]);
    project.open_gate("alpha");
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("complete: ");
    terminal.keys_until("E", "Export · tk-1");
    terminal.keys("\r");
    terminal.wait_for("Written: ~/tk-1-");
    let exported = || std::fs::read_dir(project.path("home")).unwrap().map(|entry| entry.unwrap().path());
    let file = exported().find(|path| path.extension().is_some_and(|ending| ending == "md")).expect("a file");
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.starts_with("# tk-1") && page.contains("Alpha"), "{page}");
    std::fs::write(&file, "mine").unwrap();
    terminal.keys("\r");
    terminal.wait_until("no dialog", |screen| !screen.contains("Export ·"));
    terminal.keys_until("E", "Export · tk-1");
    terminal.keys("\r");
    terminal.wait_for("Not written: the file exists");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    terminal.keys("\x1b");
    terminal.wait_until("no dialog", |screen| !screen.contains("Export ·"));
    leave(terminal, &project);
}

//! A person changes the ticket's file while a run is at work: from outside, from the screen, and what is put to them.

use super::stage::{
    ROOMY, at_the_gate, boxes, count, gated, gated_project, gated_run, leave, leave_with, start_with, wait_at_the_gate,
};
use crate::project::Project;
use crate::terminal::Terminal;
use crate::watched::said;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

#[test]
fn an_edit_of_the_file_shows_and_the_run_follows_it() {
    let (project, mut terminal) = gated_run(&["Alpha", "Beta", "Gamma"]);
    let edit = |terminal: &Terminal, from: &str, to: &str, shown: &str| {
        let text = project.ticket_text("tk-1");
        assert!(text.contains(from), "{text}");
        project.write("work/.tickets/tk-1.md", &text.replacen(from, to, 1));
        let written = Instant::now();
        terminal.wait_for(shown);
        println!("“{shown}” was seen {} ms after the write", written.elapsed().as_millis());
    };
    edit(&terminal, "- [ ] Gamma\n", "- [ ] Gamma\n- [ ] Delta\n", "○ Delta");
    // While an iteration is open a tick is a claim, whoever made it.
    edit(&terminal, "- [ ] Gamma", "- [x] Gamma", "that counts as a claim");
    assert!(terminal.screen().contains("○ Gamma"), "{}", terminal.screen());
    edit(&terminal, "- [x] Gamma", "- [ ] Gamma", "0/4 phases ticked");
    edit(&terminal, "- [ ] Alpha", "- [ ] Alpha and more", "▶ Alpha and more");
    // Claude claims the phase by the name it was given; it is the renamed one.
    terminal.keys_until("p", "pausing");
    project.open_gate("alpha");
    terminal.wait_for("paused · p resumes");
    // Now that nothing of Claude's runs, the person's tick is believed.
    edit(&terminal, "- [ ] Delta", "- [x] Delta", "✓ Delta");
    terminal.keys("p");
    wait_at_the_gate(&terminal, "Beta");
    assert!(terminal.screen().contains("? Alpha and more"), "{}", terminal.screen());
    project.open_gate("beta");
    project.open_gate("gamma");
    terminal.wait_for("complete: 4/4 phases");
    let all = ["Alpha and more", "Beta", "Gamma", "Delta"].map(|phase| (phase.to_owned(), true));
    assert_eq!(boxes(&project, "tk-1"), all);
    assert!(!project.path("work/delta.txt").exists(), "what the person ticked is not worked on");
    leave(terminal, &project);
}

#[test]
fn a_ticket_that_is_removed_ends_the_run_and_is_not_made_anew() {
    let (project, terminal) = gated_run(&["Alpha"]);
    std::fs::remove_file(project.path("work/.tickets/tk-1.md")).unwrap();
    terminal.wait_for("run ended: ");
    assert!(!project.path("work/.tickets/tk-1.md").exists());
    leave_with(terminal, &project, 1);
}

#[test]
fn the_editor_has_the_terminal_and_gives_it_back() {
    let project = gated_project(&["Alpha", "Beta"]);
    project.write("editor", "#!/bin/sh\necho \"EDITING ${1##*/}\"\nread line\necho \"- [ ] $line\" >> \"$1\"\n");
    std::fs::set_permissions(project.path("editor"), PermissionsExt::from_mode(0o755)).unwrap();
    let editor = project.path("editor").display().to_string();
    let mut terminal = start_with(&project, &["tk-1"], ROOMY, &[("EDITOR", &editor)]);
    wait_at_the_gate(&terminal, "Alpha");
    terminal.keys_until("e", "EDITING tk-1.md");
    assert!(!terminal.in_alternate_screen() && terminal.has_its_modes_back());
    // The run goes on behind the editor.
    project.open_gate("alpha");
    wait_for_file(&project, "work/beta.txt", &terminal);
    assert!(boxes(&project, "tk-1")[0].1, "ticked while the editor is open");
    assert!(!terminal.in_alternate_screen(), "nothing is drawn over the editor");
    // These are keys of the table; here they are the editor's.
    terminal.keys_until("quips\n", "○ quips");
    assert!(terminal.in_alternate_screen());
    project.open_gate("beta");
    project.open_gate("quips");
    terminal.wait_for("complete: 3/3 phases");
    leave(terminal, &project);
}

#[test]
fn a_new_ticket_opens_in_the_editor() {
    let project = Project::new();
    project.write(
        "editor",
        "#!/bin/sh\necho \"EDITING ${1##*/}\"\nread line\nsed -i.old \"s/what is done first/$line/\" \"$1\"\n",
    );
    std::fs::set_permissions(project.path("editor"), PermissionsExt::from_mode(0o755)).unwrap();
    let editor = [("EDITOR", project.path("editor").display().to_string())];
    let editor = editor.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut terminal = start_with(&project, &["ticket", "new", "Quick sort"], ROOMY, &editor);
    terminal.wait_for("EDITING wor-");
    terminal.keys("quips\n");
    assert!(terminal.wait_end().success(), "{}", terminal.screen());
    let listed = || String::from_utf8(project.run(&["ticket", "list"]).stdout).unwrap();
    let ticket = listed()
        .lines()
        .find(|line| line.contains("Quick sort"))
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap()
        .to_owned();
    assert!(project.ticket_text(&ticket).contains("- [ ] Phase 1: quips"), "{}", project.ticket_text(&ticket));
    let mut terminal = start_with(&project, &["ticket", "new", "--no-edit", "Merge sort"], ROOMY, &editor);
    assert!(terminal.wait_end().success() && !terminal.screen().contains("EDITING"), "{}", terminal.screen());
    assert!(listed().contains("[open] - Merge sort"), "{}", listed());
}

#[test]
fn the_demo_wears_a_theme_of_the_persons() {
    let project = Project::new();
    project.write("config/themes/dusk.yaml", "inherits: auto\nstyles:\n  title: '#ff8c42 bold'\n");
    let mut terminal = start_with(&project, &["demo", "--theme", "dusk"], ROOMY, &[("COLORTERM", "truecolor")]);
    terminal.wait_raw("the theme's colour", |bytes| bytes.windows(14).any(|part| part == b"38;2;255;140;6"));
    terminal.wait_for("iteration 1");
    terminal.keys_until("q", "stop now");
    terminal.keys("s");
    assert_eq!(terminal.wait_end().exit_code(), 5, "{}", terminal.screen());
}

fn wait_for_file(project: &Project, name: &str, terminal: &Terminal) {
    let deadline = Instant::now() + std::time::Duration::from_secs(60);
    while !project.path(name).exists() {
        assert!(Instant::now() < deadline, "{name} never came:\n{}", terminal.screen());
        std::thread::yield_now();
    }
}

/// A run whose ticket says `true` checks it, and now wants another command. The card is open.
fn asked(new: &str) -> (Project, Terminal) {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha"]);
    project.validate_by("true");
    project.scenario(&gated(&project));
    let mut terminal = at_the_gate(&project, "Alpha");
    project.write("work/.tickets/tk-1.md", &project.ticket_text("tk-1").replace("`true`", &format!("`{new}`")));
    terminal.wait_for("! needs you");
    let screen = terminal.keys_until("!", "Added:");
    assert!(screen.contains(&format!("+ {new}")) && screen.contains("- true"), "{screen}");
    (project, terminal)
}

#[test]
fn a_changed_validation_list_counts_after_a_yes() {
    let (project, mut terminal) = asked("test -e alpha.txt");
    terminal.keys_until("y", "using the new validation commands");
    project.open_gate("alpha");
    terminal.wait_for("complete: 1/1 phases");
    assert!(said(&project, &["logs", "tk-1"], 0).contains("validation passed: `test -e alpha.txt`"));
    leave(terminal, &project);
}

#[test]
fn a_changed_validation_list_does_not_count_after_a_no() {
    let (project, mut terminal) = asked("touch must-not-run");
    terminal.keys_until("n", "using the old validation commands");
    project.open_gate("alpha");
    terminal.wait_for("complete: 1/1 phases");
    assert!(said(&project, &["logs", "tk-1"], 0).contains("validation passed: `true`"));
    assert!(!project.path("work/must-not-run").exists());
    assert_eq!(count(&project, "validation_change_seen"), 1, "asked once");
    leave(terminal, &project);
}

//! Home: every ticket and run in one table, and what can be done from there.

use super::stage::{ROOMY, SMALL, gated, leave, start};
use crate::project::Project;
use crate::terminal::Terminal;
use std::time::{Duration, Instant};

/// Home of a project with these tickets, each of one phase, and an agent behind gates.
fn at_home(tickets: &[(&str, &str)], size: (u16, u16)) -> (Project, Terminal) {
    let project = Project::new();
    for (ticket, phase) in tickets {
        project.ticket(ticket, &[phase]);
    }
    project.scenario(&gated(&project));
    let terminal = start(&project, &[], size);
    for (ticket, _) in tickets {
        terminal.wait_for(&format!("Work on {ticket}"));
    }
    (project, terminal)
}

#[test]
fn an_empty_place_says_how_to_begin_and_what_a_first_run_would_fail_for() {
    let project = Project::without_git();
    project.scenario("logged_out: true\n");
    for size in [ROOMY, SMALL] {
        let terminal = start(&project, &[], size);
        let screen = terminal.wait_for("✗ login");
        for words in
            ["works through tickets with Claude Code", "write your first ticket", "programmator demo", "git init"]
        {
            assert!(screen.contains(words), "“{words}” is missing:\n{screen}");
        }
        // The command has the paths of this test, and is broken where there is room.
        let joined = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains("auth login`, or set ANTHROPIC_API_KEY"), "{screen}");
        leave(terminal, &project);
    }
    project.write("config/config.yaml", "agent: {command: [no-such-claude]}\n");
    let terminal = start(&project, &[], ROOMY);
    let screen = terminal.wait_for("✗ claude");
    assert!(screen.contains("`no-such-claude` was not found. Install it with"), "{screen}");
    leave(terminal, &project);
}

#[test]
fn doctor_says_the_same() {
    let project = Project::without_git();
    project.scenario("logged_out: true\n");
    let output = project.run(&["doctor"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("fail  login     Claude Code is not logged in: run `"), "{text}");
    assert_eq!(output.status.code(), Some(1), "{text}");
    project.scenario("");
    let text = String::from_utf8_lossy(&project.run(&["doctor"]).stdout).into_owned();
    assert!(text.contains("ok    login     Claude Code is logged in"), "{text}");
}

#[test]
fn the_header_shows_the_branch_that_is_checked_out() {
    let (project, terminal) = at_home(&[("tk-1", "Alpha")], ROOMY);
    terminal.wait_for(&format!("{} · main", project.work().display()));
    project.git(&["checkout", "-q", "-b", "fix/login"]);
    terminal.wait_for(" · fix/login");
    leave(terminal, &project);
}

/// Presses a key until it helps: a card takes no answer in its first moment.
fn press_until(terminal: &mut Terminal, key: &str, words: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        terminal.keys(key);
        let pressed = Instant::now();
        while pressed.elapsed() < Duration::from_millis(300) {
            if terminal.screen().contains(words) {
                return terminal.wait_for(words);
            }
            std::thread::yield_now();
        }
    }
    panic!("{key} did not lead to “{words}”:\n{}", terminal.screen());
}

#[test]
fn tickets_are_found_opened_and_left_by_keys() {
    let (project, mut terminal) = at_home(&[("tk-1", "Alpha"), ("tk-2", "Beta")], ROOMY);
    terminal.wait_for("READY  2");
    terminal.keys_until("j", "│ tk-2");
    terminal.keys_until("\r", "Stream · tk-2");
    terminal.keys_until("h", "READY  2");
    terminal.keys_until("/tk-2", "only “tk-2”");
    terminal.wait_until("only tk-2", |screen| !screen.contains("Work on tk-1"));
    terminal.keys_until("\r", "Esc shows all");
    terminal.keys_until("\x1b", "Work on tk-1");
    terminal.keys_until(" ", "Space table");
    terminal.keys_until(" ", "Space peek");
    terminal.keys_until("S", " · by age");
    terminal.keys_until("v", "1 selected");
    terminal.keys_until("\x1b", "READY  2");
    terminal.wait_until("nothing is selected", |screen| !screen.contains("1 selected"));
    leave(terminal, &project);
}

#[test]
fn a_ticket_is_written_by_a_template() {
    let (project, mut terminal) = at_home(&[("tk-1", "Alpha")], ROOMY);
    let template = "---\ntype: bug\ntags: [login]\n---\n## Design\n\n- [ ] Write a failing test\n- [ ] Mend it\n";
    project.write("config/templates/bug.md", template);
    terminal.keys_until("n", "New ticket");
    // It is known once it is offered: the form asks for it when it opens.
    terminal.keys("Fix the login");
    press_until(&mut terminal, "\x14", "template bug");
    terminal.wait_for("Write a failing test");
    terminal.keys_until("\x0e", "No usual check is known");
    let screen = terminal.keys_until("\x13", "created wor-");
    assert!(screen.contains(" in ") && screen.contains("work/.tickets"), "{screen}");
    let screen = terminal.wait_for("READY  2");
    assert!(screen.contains("Fix the login") && screen.contains("#login"), "{screen}");
    let folder = project.path("work/.tickets");
    let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let file = files.into_iter().find(|path| path.display().to_string().contains("/wor-")).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    for line in ["type: bug", "tags: [login]", "# Fix the login", "- [ ] Mend it"] {
        assert!(text.contains(line), "“{line}” is missing:\n{text}");
    }
    leave(terminal, &project);
}

#[test]
fn a_run_is_started_and_its_question_answered_from_home() {
    let turn =
        "turns: [{when: {phase: \"\"}, steps: [{bash: \"git push -q origin HEAD:x\"}, {status: {summary: did}}]}]\n";
    let project = Project::with_config(&["Alpha"], turn, "policy: {profile: guarded}\n");
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("READY  1");
    let screen = terminal.keys_until("s", "Start tk-1 “Work on tk-1”?");
    for words in ["1 open phase, profile guarded.", "No estimate", "no validation commands"] {
        assert!(screen.contains(words), "“{words}” is missing:\n{screen}");
    }
    let screen = terminal.keys_until("y", "NEEDS YOU  1");
    assert!(screen.contains("git push -q"), "the call is in the row:\n{screen}");
    terminal.keys_until("!", "allow once");
    let screen = press_until(&mut terminal, "y", "DONE  1");
    assert!(!screen.contains("Stream · tk-1"), "Home is still shown:\n{screen}");
    leave(terminal, &project);
}

#[test]
fn an_archived_ticket_is_out_of_the_table_until_it_is_taken_back() {
    let (project, mut terminal) = at_home(&[("tk-1", "Alpha"), ("tk-2", "Beta")], ROOMY);
    terminal.wait_for("READY  2");
    terminal.keys_until("d", "archived tk-1 · u undoes it");
    terminal.wait_for("READY  1");
    terminal.keys_until("A", "archived tickets (A shows");
    terminal.wait_for("Work on tk-1");
    terminal.keys_until("A", "Work on tk-2");
    leave(terminal, &project);
    assert!(project.ticket_text("tk-1").contains("status: open"), "the file stays as it is");
    // Another program knows it, too.
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("READY  1");
    terminal.keys_until("A", "Work on tk-1");
    terminal.keys_until("d", "tk-1 unarchived");
    terminal.keys_until("A", "READY  2");
    terminal.keys_until("d", "archived tk-1");
    terminal.keys_until("u", "READY  2");
    leave(terminal, &project);
}

#[test]
fn what_cannot_be_read_is_listed_with_the_reason() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha"]);
    project.scenario("");
    project.write("elsewhere.md", "# Elsewhere\n");
    std::os::unix::fs::symlink(project.path("elsewhere.md"), project.path("work/.tickets/out.md")).unwrap();
    let terminal = start(&project, &[], ROOMY);
    let screen = terminal.wait_for("UNREADABLE  1");
    assert!(screen.contains("✗ out.md  is a link out of the tickets folder"), "{screen}");
    leave(terminal, &project);
}

#[test]
fn a_folder_without_git_becomes_a_repository_before_the_start_and_what_was_before_is_told() {
    let project = Project::without_git();
    project.ticket("tk-1", &["Alpha"]);
    project.ticket("tk-2", &["Beta"]);
    project.scenario(crate::watched::DILIGENT);
    project.write("work/.programmator/notes.md", "for people\n");
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("READY  1");
    let screen = terminal.keys_until("s", "Start tk-2 “Work on tk-2”?");
    assert!(screen.contains("no git repository") && screen.contains("I git init"), "{screen}");
    let screen = terminal.keys_until("I", "git init done");
    assert!(screen.contains("Start tk-2 “Work on tk-2”?") && !screen.contains("no git repository"), "{screen}");
    let shown = project.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(shown.contains(".programmator/notes.md"), "a person's own files can be committed: {shown}");
    assert!(!shown.contains("lock") && !shown.contains(".gitignore"), "{shown}");
    press_until(&mut terminal, "y", "DONE  2");
    terminal.keys_until("/", "filter:");
    terminal.keys_until("tk-1\r", "only “tk-1”");
    terminal.keys_until("\r", "run again");
    let screen = terminal.keys_until("c", "Nothing to commit: all changes of the runs are excluded");
    assert!(screen.contains("alpha.txt  is from before `git init`: commit it yourself"), "{screen}");
    terminal.keys("\x1b");
    terminal.wait_until("the dialog is closed", |screen| !screen.contains("Commit · tk-1"));
    terminal.keys_until("h", "only “tk-1”");
    terminal.keys_until("\x1b", "Work on tk-2");
    terminal.keys_until("/", "filter:");
    terminal.keys_until("tk-2\r", "only “tk-2”");
    terminal.keys_until("\r", "run again");
    let screen = terminal.keys_until("c", "A beta.txt");
    assert!(screen.contains("A beta.txt") && !screen.contains("alpha.txt"), "{screen}");
    terminal.keys("\x1b");
    terminal.wait_until("the dialog is closed", |screen| !screen.contains("Commit · tk-2"));
    leave(terminal, &project);
}

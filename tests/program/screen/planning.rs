//! Planning on the screen: from an idea to a ticket that can be run, in a terminal.

use super::stage::{ROOMY, count, start};
use crate::project::Project;
use crate::terminal::Terminal;
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// The planner asks a question, drafts, and drafts again by the person's words.
const PLANNER: &str = r#"
turns:
  - when: {planner: true, prompt: "Smaller steps"}
    steps:
      - draft: {title: "Logins are limited", phases: ["Count the tries", "Refuse the sixth", "Tell the user"], validation: ["true", "git push"]}
  - when: {planner: true}
    steps:
      - ask: {question: "By address or by account?", options: [address, account]}
      - draft: {title: "Logins are limited by {answer}", phases: ["Limit it"], validation: ["true"]}
"#;

/// Presses `!` once something waits, and again only where that shows nothing for long: a key too many would be one for the
/// dialog that the first has opened.
fn waiting(terminal: &mut Terminal, words: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if !terminal.screen().contains("needs you") {
            std::thread::yield_now();
            continue;
        }
        terminal.keys("!");
        let pressed = Instant::now();
        while pressed.elapsed() < Duration::from_secs(10) {
            if terminal.screen().contains(words) {
                std::thread::sleep(programmator::tui::modals::card::APPEARS);
                break;
            }
            std::thread::yield_now();
        }
        let screen = terminal.screen();
        if screen.contains(words) {
            return screen;
        }
    }
    panic!("nothing with “{words}”:\n{}", terminal.screen());
}

fn only_ticket(project: &Project) -> String {
    let files: Vec<_> =
        std::fs::read_dir(project.path("work/.tickets")).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn an_idea_is_planned_with_a_question_and_words_about_the_draft() {
    let project = Project::with_config(&[], PLANNER, "policy: {profile: guarded}\n");
    std::fs::remove_dir_all(project.path("work/.tickets")).unwrap();
    let mut terminal = start(&project, &["plan", "Limit the logins"], ROOMY);
    waiting(&mut terminal, "waiting for you ━");
    terminal.keys("j\r");
    let screen = waiting(&mut terminal, "Draft · ");
    assert!(screen.contains("Logins are limited by account") && screen.contains(" 1. Limit it"), "{screen}");
    terminal.keys_until("r", "what should Claude change?");
    terminal.keys_until("Smaller steps, please.\r", "sent back");
    let screen = waiting(&mut terminal, "Draft · ");
    assert!(screen.contains(" 3. Tell the user") && !only_ticket(&project).contains("Design"), "{screen}");
    assert_eq!(count(&project, "draft_tried"), 0, "nothing is tried by itself");
    let screen = terminal.keys_until("t", "not run: needs your approval");
    assert!(screen.contains("passed"), "{screen}");
    terminal.keys_until("y", "is planned");
    let text = only_ticket(&project);
    assert!(
        text.contains("# Logins are limited\n")
            && text.contains("- [ ] Tell the user\n")
            && text.contains("- `git push`"),
        "{text}"
    );
    let sessions: Vec<_> = project
        .journal()
        .iter()
        .filter(|record| record["kind"] == "agent_ready")
        .map(|ready| ready["session"].clone())
        .collect();
    assert!(sessions.len() == 2 && sessions[0] == sessions[1], "the words go back to the same session: {sessions:?}");
    terminal.keys("q");
    terminal.wait_end();
}

#[test]
fn a_draft_outlives_its_program_and_a_refusal_writes_nothing() {
    let project = Project::with_config(&[], PLANNER, "policy: {profile: guarded}\n");
    project.write("work/.tickets/tk-1.md", "---\nid: tk-1\nstatus: open\n---\n# Limit logins\n");
    let before = project.ticket_text("tk-1");
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("Limit logins");
    terminal.keys_until("w", "you review the draft");
    terminal.keys("y");
    waiting(&mut terminal, "waiting for you ━");
    terminal.keys("\r");
    waiting(&mut terminal, "Draft · ");
    terminal.signal(Signal::KILL);
    terminal.wait_end();
    let mut terminal = start(&project, &["plan", "tk-1"], ROOMY);
    let screen = waiting(&mut terminal, "Draft · ");
    assert!(screen.contains(" 1. Limit it"), "{screen}");
    let made = project.journal().into_iter().find(|record| record["kind"] == "draft_made").unwrap();
    assert_eq!(made["draft"]["title"], "", "the title is the person's");
    assert_eq!(count(&project, "agent_spawned"), 1, "it is paid for once");
    terminal.keys_until("x", "x again discards the draft");
    terminal.keys("x");
    terminal.wait_until("the end", |screen| screen.contains("discarded"));
    assert_eq!(project.ticket_text("tk-1"), before);
    terminal.keys("q");
    terminal.wait_end();
}

/// What one command makes decides about the next: `make test` is the project's own once there is a Makefile.
#[test]
fn a_command_is_judged_just_before_it_is_tried() {
    let scenario = r#"
turns:
  - when: {planner: true}
    steps:
      - draft: {title: "Made", phases: ["Make it"], validation: ["cp Makefile.in Makefile", "make test"]}
"#;
    let project = Project::with_config(&[], scenario, "policy: {profile: guarded}\n");
    project.write("work/Makefile.in", "test:\n\t@echo made-and-tested\n");
    let mut terminal = start(&project, &["plan", "Make it all"], ROOMY);
    waiting(&mut terminal, "Draft · ");
    terminal.keys_until("t", "passed");
    let tried = project.journal().into_iter().find(|record| record["kind"] == "draft_tried").expect("it was tried");
    let exits: Vec<_> = tried["tried"].as_array().unwrap().iter().map(|one| one["exit"].clone()).collect();
    assert_eq!(exits, [0, 0], "{tried}");
    terminal.keys_until("y", "is planned");
    terminal.keys("q");
    terminal.wait_end();
}

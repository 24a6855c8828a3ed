//! Claude sessions that the person has started themselves, on the screen: on Home, and what is said in them.

use super::approvals::settle;
use super::stage::{ROOMY, SMALL, leave, start};
use crate::known_sessions::{Claude, of};
use crate::own_sessions::{call, decision, hook, on};
use crate::project::Project;
use crate::terminal::Terminal;
use crate::watched::said;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write as _;

const SESSION: &str = "session-1a2b3c4d";

/// A Claude that has begun a session in the project, and writes it down in `session.jsonl`.
fn begun(project: &Project, more: &Value) -> Claude {
    let mut claude = Claude::start(project, &[("WT_SESSION", "0b7c")]);
    let mut told = of("1a2b3c4d", "SessionStart", more);
    told["cwd"] = project.work().display().to_string().into();
    told["transcript_path"] = project.path("session.jsonl").display().to_string().into();
    claude.tell(&told);
    claude
}

fn user(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn assistant(text: &str, stop: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    json!({"message": {"role": "assistant", "content": content, "stop_reason": stop}, "type": "assistant"})
}

fn write_down(project: &Project, lines: &[Value]) {
    let path = project.path("session.jsonl");
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a file");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    file.write_all(text.as_bytes()).expect("it can be written");
}

/// The rows of the screen with this in them.
fn rows(terminal: &Terminal, words: &str) -> Vec<String> {
    terminal.screen().lines().filter(|line| line.contains(words)).map(str::to_owned).collect()
}

#[test]
fn it_is_on_home_and_what_is_said_in_it_is_shown_live_until_it_ends() {
    let project = Project::new();
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("write your first ticket");
    let mut claude = begun(&project, &json!({"source": "startup"}));
    terminal.wait_for("Your Claude session in");
    assert!(rows(&terminal, "Your Claude session in")[0].contains("session"), "{}", terminal.screen());
    write_down(
        &project,
        &[json!({"type": "mode"}), user("fix the\u{1b}[2J 日本 build"), assistant("I look.", "tool_use")],
    );
    terminal.wait_for("fix the 日本 build");
    terminal.wait_for("Claude is working");
    let screen = terminal.keys_until("\r", "I look.");
    assert!(screen.contains("read-only: your own Claude session in Windows Terminal 0b7c"), "{screen}");
    for word in ["commit", "pause", "[i] message", "stop", "edit"] {
        assert!(!screen.lines().last().unwrap_or_default().contains(word), "{word}:\n{screen}");
    }
    terminal.keys_until("p", "type everything else in its terminal");
    write_down(&project, &[assistant("It is fixed.", "end_turn")]);
    terminal.wait_for("It is fixed.");
    terminal.wait_for("waiting for your next message");

    // What it asks is answered here.
    let _on = on(&project);
    let mut question = call("git push");
    question["cwd"] = project.work().display().to_string().into();
    let waits = hook(&project, &question);
    terminal.wait_for("Press !");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "read-only");
    assert_eq!(decision(waits), json!({"behavior": "allow"}));

    // Claude Code writes another file in its place.
    project.write("new.jsonl", &format!("{}\n", user("another beginning")));
    std::fs::rename(project.path("new.jsonl"), project.path("session.jsonl")).expect("it can be renamed");
    terminal
        .wait_until("the new file", |screen| screen.contains("another beginning") && !screen.contains("It is fixed."));
    write_down(&project, &[assistant("Said at last.", "end_turn")]);
    terminal.wait_for("Said at last.");
    claude.tell(&of("1a2b3c4d", "SessionEnd", &json!({"reason": "prompt_input_exit"})));
    terminal.wait_for("the session has ended");
    assert!(terminal.screen().contains("Said at last."), "{}", terminal.screen());
    claude.end();
    leave(terminal, &project);
}

#[test]
fn it_is_opened_by_its_name_and_on_a_small_screen() {
    let project = Project::new();
    assert!(said(&project, &["attach", "session-zzzz"], 2).contains("`programmator away status` lists them"));
    let told = said(&project, &["attach", SESSION], 1);
    assert!(told.contains("session-1a2b3c4d has ended, or started without programmator's hooks"), "{told}");
    let claude = begun(&project, &json!({"source": "resume"}));
    write_down(&project, &[user("fix the build"), assistant("It is fixed.", "end_turn")]);
    for name in [SESSION, "1a2b3c4d-0000-4000-8000-000000000000"] {
        for size in [ROOMY, SMALL] {
            let mut terminal = start(&project, &["attach", name], size);
            terminal.wait_for("It is fixed.");
            terminal.wait_for("read-only");
            terminal.keys("q");
            assert_eq!(terminal.wait_end().exit_code(), 0, "{}", terminal.screen());
        }
    }
    // Killed, without a word.
    claude.end();
    assert!(said(&project, &["attach", SESSION], 1).contains("has ended"));
}

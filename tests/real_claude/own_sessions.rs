//! A Claude that the person has started themselves, in a terminal of their own, with the hooks in its settings: what is answered
//! elsewhere reaches it, and what is answered in its terminal is known elsewhere.

use crate::messages_stub::Reply;
use crate::program::Bench;
use crate::real_cli::claude;
use crate::terminal::{Start, Terminal};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// The person's home: they have answered what Claude asks at its first start.
pub fn at_home(bench: &Bench) {
    let folder = bench.project.work().display().to_string();
    let known = json!({
        "hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
        "projects": {folder: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
    });
    bench.project.write("home/.claude.json", &known.to_string());
}

/// The same, with the hooks in its settings.
fn at_home_with_hooks(bench: &Bench) {
    at_home(bench);
    said(bench, &["hooks", "install", "--yes"]);
}

pub fn said(bench: &Bench, args: &[&str]) -> String {
    let output = bench.command(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// As long as this is there, the phone is on.
fn on(bench: &Bench) -> File {
    let file = File::create(bench.project.path("state/away.lock")).unwrap();
    file.lock().unwrap();
    file
}

/// A session that does what the service says.
fn session(bench: &Bench, replies: impl IntoIterator<Item = Reply>) -> Terminal {
    bench.script(replies);
    claude_with(bench, &[], &["begin"])
}

/// Claude in a terminal of its own, with these arguments more and told this at first, if anything.
pub fn claude_with(bench: &Bench, more: &[&str], told: &[&str]) -> Terminal {
    let (program, folder, env) = (claude(), bench.project.work(), bench.env());
    let args = [more, &["--model", "claude-sonnet-4-6", "--permission-mode", "default"], told].concat();
    Terminal::start(&Start { program: Path::new(&program), args: &args, env: &env, folder: &folder, size: (120, 40) })
}

/// The name of the question that has these words.
fn asked(bench: &Bench, terminal: &Terminal, words: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let waiting: Value = serde_json::from_str(&said(bench, &["queue", "--json"])).unwrap();
        let of = |one: &&Value| one["words"].as_str().unwrap().contains(words);
        if let Some(one) = waiting.as_array().unwrap().iter().find(of) {
            return one["name"].as_str().unwrap().to_owned();
        }
        assert!(Instant::now() < deadline, "{words} is not asked: {waiting}\n{}", terminal.screen());
    }
}

pub fn until_none_waits(bench: &Bench) {
    let deadline = Instant::now() + PATIENCE;
    while said(bench, &["queue"]) != "No question is waiting for you.\n" {
        assert!(Instant::now() < deadline, "one still waits");
    }
}

pub fn touch(name: &str) -> Reply {
    Reply::tool("Bash", json!({"command": format!("touch {name}"), "description": "Make it"}))
}

#[test]
fn a_call_is_allowed_from_elsewhere_and_words_at_its_end_are_the_next_turn() {
    let bench = Bench::new(&["Alpha"]);
    at_home_with_hooks(&bench);
    let _on = on(&bench);
    let terminal = session(&bench, [touch("made"), Reply::text("It is made."), Reply::text("Bye.")]);
    said(&bench, &["answer", &asked(&bench, &terminal, "touch made"), "allow"]);
    bench.wait_for_file("made");
    let end = asked(&bench, &terminal, "Claude has finished");
    assert!(said(&bench, &["queue", &end]).contains("It is made."));
    said(&bench, &["answer", &end, "now", "say", "goodbye"]);
    let requests = bench.stub.wait_for(3);
    assert!(requests[2]["messages"].to_string().contains("now say goodbye"), "{}", requests[2]["messages"]);
    terminal.wait_for("Bye.");
}

#[test]
fn a_session_is_known_with_its_terminal_from_its_start_and_what_claude_tells_is_taken() {
    let bench = Bench::new(&["Alpha"]);
    at_home_with_hooks(&bench);
    let _on = on(&bench);
    bench.script([touch("made"), Reply::text("It is made.")]);
    let mut terminal = claude_with(&bench, &[], &[]);
    // Before anything was asked or done in it.
    let deadline = Instant::now() + PATIENCE;
    let known = loop {
        let status: Value = serde_json::from_str(&said(&bench, &["away", "status", "--json"])).unwrap();
        if let [known] = status["sessions"].as_array().unwrap().as_slice() {
            break known.clone();
        }
        assert!(Instant::now() < deadline, "{status}\n{}", terminal.screen());
    };
    let device = std::fs::read_link(format!("/proc/{}/fd/0", terminal.pid())).unwrap();
    assert_eq!((&known["pid"], &known["source"]), (&json!(terminal.pid()), &json!("tty")), "{known}");
    assert_eq!(format!("/dev/{}", known["terminal"].as_str().unwrap()), device.to_string_lossy(), "{known}");
    assert_eq!(bench.stub.requests().len(), 0, "nothing was asked of Claude yet");
    terminal.keys("begin\r");
    let question = asked(&bench, &terminal, "touch made");
    // Nobody has pressed a key for some seconds: Claude says so. No relay takes it from there.
    let deadline = Instant::now() + PATIENCE;
    let told = loop {
        let left = std::fs::read_dir(bench.project.path("state/hooks/notices")).into_iter().flatten().flatten();
        let mut texts = left.filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
        if let Some(told) = texts.find_map(|text| serde_json::from_str::<Value>(&text).ok()) {
            break told;
        }
        assert!(Instant::now() < deadline, "Claude tells nothing:\n{}", terminal.screen());
        std::thread::yield_now();
    };
    assert_eq!((&told["session"], &told["about"]), (&known["session"], &json!("permission")), "{told}");
    assert!(told["words"].as_str().unwrap().contains("permission"), "{told}");
    said(&bench, &["answer", &question, "allow"]);
    bench.wait_for_file("made");
}

#[test]
fn words_deny_a_call_and_claude_reads_them() {
    let bench = Bench::new(&["Alpha"]);
    at_home_with_hooks(&bench);
    let _on = on(&bench);
    let terminal = session(&bench, [touch("made"), Reply::text("As you like.")]);
    said(&bench, &["answer", &asked(&bench, &terminal, "touch made"), "deny", "call", "it", "other"]);
    let requests = bench.stub.wait_for(2);
    assert!(requests[1]["messages"].to_string().contains("call it other"), "{}", requests[1]["messages"]);
    terminal.wait_for("As you like.");
    assert!(!bench.file("made").exists());
}

#[test]
fn what_is_answered_in_its_terminal_is_asked_no_more_and_its_prompt_stays() {
    let bench = Bench::new(&["Alpha"]);
    at_home_with_hooks(&bench);
    let on = on(&bench);
    let mut terminal = session(&bench, [touch("made"), touch("also"), Reply::text("Both.")]);
    let first = asked(&bench, &terminal, "touch made");
    terminal.wait_for("Do you want to proceed?");
    terminal.keys("1");
    bench.wait_for_file("made");
    asked(&bench, &terminal, "touch also");
    let late = bench.command(&["answer", &first, "deny"]).output().unwrap();
    assert!(String::from_utf8_lossy(&late.stderr).contains("too late: answered in its terminal"), "{late:?}");
    // Nobody is asked any more: Claude's own prompt is there all the same.
    drop(on);
    until_none_waits(&bench);
    terminal.wait_for("Do you want to proceed?");
    terminal.keys("1");
    bench.wait_for_file("also");
    terminal.wait_for("Both.");
}

#[test]
fn a_plain_no_ends_the_turn_and_a_killed_claude_asks_nothing_more() {
    let bench = Bench::new(&["Alpha"]);
    at_home_with_hooks(&bench);
    let _on = on(&bench);
    let mut terminal = session(&bench, [touch("made"), touch("other")]);
    said(&bench, &["answer", &asked(&bench, &terminal, "touch made"), "deny"]);
    terminal.wait_for("Interrupted");
    terminal.keys("again\r");
    asked(&bench, &terminal, "touch other");
    assert_eq!(bench.stub.requests().len(), 2, "it was not told to go on");
    terminal.signal(Signal::KILL);
    until_none_waits(&bench);
    assert!(!bench.file("made").exists() && !bench.file("other").exists());
}

#[test]
fn a_claude_that_a_script_waits_for_is_not_held() {
    let bench = Bench::new(&["Alpha"]);
    at_home_with_hooks(&bench);
    let _on = on(&bench);
    // The second one as a tool of a session with a terminal starts it.
    for inherited in [None, Some(("CLAUDE_CODE_ENTRYPOINT", "cli"))] {
        bench.script([Reply::text("Done.")]);
        let mut claude = Command::new(claude());
        claude.args(["-p", "begin"]).env_clear().envs(bench.env()).envs(inherited).current_dir(bench.project.work());
        let output = claude.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success() && output.stdout == b"Done.\n", "{output:?}");
    }
}

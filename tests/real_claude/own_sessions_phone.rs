//! A Claude that the person has started themselves, with the hooks of the plugin, and their phone: the relay, the hook and Claude
//! are the real ones, the Bot API is a double.

use crate::bot_api::{BotApi, PERSON, Sent};
use crate::messages_stub::Reply;
use crate::own_sessions::{at_home, claude_with, said, touch, until_none_waits};
use crate::pairing::paired;
use crate::program::Bench;
use crate::terminal::Terminal;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A person who is away: their phone is asked for as long as this is there.
struct Away {
    bench: Bench,
    api: BotApi,
    plugin: String,
}

impl Drop for Away {
    fn drop(&mut self) {
        let _ = self.bench.command(&["away", "off"]).output();
    }
}

fn away() -> Away {
    let (bench, api) = (Bench::new(&["Alpha"]), BotApi::start());
    at_home(&bench);
    let plugin = bench.project.path("plugin").display().to_string();
    said(&bench, &["hooks", "plugin", &plugin]);
    paired(&bench.project, &api, &[]);
    said(&bench, &["away", "on"]);
    Away { bench, api, plugin }
}

impl Away {
    fn session(&self, replies: impl IntoIterator<Item = Reply>) -> Terminal {
        self.bench.script(replies);
        claude_with(&self.bench, &["--plugin-dir", &self.plugin], &["begin"])
    }

    /// The message that asks this.
    fn asked(&self, words: &str) -> Sent {
        self.api.wait_for(words, |sent| sent.text.contains(words) && sent.text.starts_with("session-"))
    }

    /// Waits until the message tells how its question came to its end.
    fn told(&self, question: &Sent, end: &str) {
        self.api.wait_for(end, |sent| sent.id == question.id && sent.text.contains(end) && sent.buttons.is_empty());
    }
}

#[test]
fn a_call_is_allowed_by_phone_and_a_reply_to_the_end_of_the_turn_is_the_next_one() {
    let away = away();
    let terminal = away.session([touch("made"), Reply::text("It is made."), Reply::text("Bye.")]);
    let call = away.asked("touch made");
    away.api.press(PERSON, call.id, "allow");
    away.bench.wait_for_file("made");
    away.told(&call, "allowed by you (phone)");
    let end = away.asked("It is made.");
    away.api.reply(end.id, "now say goodbye");
    let requests = away.bench.stub.wait_for(3);
    assert!(requests[2]["messages"].to_string().contains("now say goodbye"), "{}", requests[2]["messages"]);
    terminal.wait_for("Bye.");
    away.told(&end, "by you (phone)");
}

#[test]
fn words_from_the_phone_deny_a_call_and_claude_reads_them() {
    let away = away();
    let terminal = away.session([touch("made"), Reply::text("As you like.")]);
    let call = away.asked("touch made");
    away.api.reply(call.id, "call it other");
    let requests = away.bench.stub.wait_for(2);
    assert!(requests[1]["messages"].to_string().contains("call it other"), "{}", requests[1]["messages"]);
    terminal.wait_for("As you like.");
    away.told(&call, "denied by you (phone): call it other");
    assert!(!away.bench.file("made").exists());
}

#[test]
fn what_is_answered_in_its_terminal_first_is_told_on_the_phone_and_a_press_is_too_late() {
    let away = away();
    let mut terminal = away.session([touch("made"), Reply::text("It is made.")]);
    let call = away.asked("touch made");
    terminal.wait_for("Do you want to proceed?");
    terminal.keys("1");
    away.bench.wait_for_file("made");
    away.told(&call, "answered in its terminal");
    away.api.press(PERSON, call.id, "deny");
    away.api.wait_told("Too late: answered in its terminal");
}

#[test]
fn where_the_relay_is_killed_meanwhile_claudes_own_prompt_is_there_and_counts() {
    let away = away();
    let mut terminal = away.session([touch("made"), touch("also"), Reply::text("Both.")]);
    let call = away.asked("touch made");
    let status: Value = serde_json::from_str(&said(&away.bench, &["away", "status", "--json"])).unwrap();
    let relay = status["relay"].as_i64().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).expect("a relay");
    kill_process(relay, Signal::KILL).unwrap();
    until_none_waits(&away.bench);
    terminal.wait_for("Do you want to proceed?");
    terminal.keys("1");
    away.bench.wait_for_file("made");
    // Nor is the next one asked elsewhere.
    terminal.wait_until("the next prompt", |screen| screen.contains("touch also") && screen.contains("proceed?"));
    assert_eq!(said(&away.bench, &["queue"]), "No question is waiting for you.\n");
    terminal.keys("1");
    away.bench.wait_for_file("also");
    terminal.wait_for("Both.");
    // On again, it tells what came of what it had asked.
    said(&away.bench, &["away", "on"]);
    away.told(&call, "withdrawn here: Claude asks in its terminal");
    assert!(away.api.sent().iter().all(|sent| !sent.text.contains("touch also")), "{:#?}", away.api.sent());
}

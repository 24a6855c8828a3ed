//! Claude sessions that the person has started themselves: which there are, where, and which of them are asked elsewhere.

use crate::away::name;
use crate::bot_api::{BotApi, PERSON};
use crate::own_sessions::{
    PATIENCE, SETTINGS, asked, call, claude, decision, finished, hook, installed, on, printed, tell,
};
use crate::pairing::paired;
use crate::project::{PROGRAM, Project};
use crate::watched::{json, said};
use programmator::domain::claude_hooks::{self, Hooks};
use serde_json::{Value, json as value};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::Instant;

/// A Claude that stays, and runs its hook for each line.
const STAYS: &str =
    "while read -r told; do CLAUDECODE=1 \"$0\" hook session <<-END\n$told\nEND\necho \"exit $?\"; done";

pub struct Claude {
    child: Child,
    say: ChildStdin,
    heard: BufReader<ChildStdout>,
}

impl Claude {
    pub fn start(project: &Project, variables: &[(&str, &str)]) -> Self {
        let mut command = claude(project, STAYS);
        let mut child = command.envs(variables.iter().copied()).spawn().expect("it starts");
        let (say, heard) = (child.stdin.take().expect("a pipe"), BufReader::new(child.stdout.take().expect("a pipe")));
        Self { child, say, heard }
    }

    /// Its hook says nothing to it.
    pub fn tell(&mut self, told: &Value) {
        writeln!(self.say, "{told}").expect("it listens");
        let mut line = String::new();
        self.heard.read_line(&mut line).expect("it answers");
        assert_eq!(line, "exit 0\n", "{told}");
    }

    pub fn end(mut self) {
        self.child.kill().expect("it is there");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Claude {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}

/// The phone is asked, until this is gone.
struct Away<'a>(&'a Project);

impl<'a> Away<'a> {
    fn on(project: &'a Project) -> Self {
        said(project, &["away", "on"], 0);
        Self(project)
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        let _ = self.0.run(&["away", "off"]);
    }
}

/// What Claude tells of a session.
pub fn of(mark: &str, event: &str, more: &Value) -> Value {
    let mut told = value!({
        "session_id": format!("{mark}-0000-4000-8000-000000000000"), "cwd": "/w/shop", "hook_event_name": event,
        "transcript_path": "/nowhere/t.jsonl",
    });
    told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    told
}

fn start(mark: &str, source: &str) -> Value {
    of(mark, "SessionStart", &value!({"source": source}))
}

fn known(project: &Project) -> Vec<Value> {
    json(project, &["away", "status", "--json"])["sessions"].as_array().expect("a list").clone()
}

fn names(project: &Project) -> Vec<String> {
    known(project).iter().map(|known| known["session"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn the_sessions_that_are_there_are_listed_with_their_terminals() {
    let project = Project::new();
    assert_eq!(known(&project), [] as [Value; 0]);
    let window = [("WT_SESSION", "0b7c")];
    let mut first = Claude::start(&project, &window);
    let mut second = Claude::start(&project, &[("WT_SESSION", "0b7c"), ("TMUX", "/tmp/t,1,0"), ("TMUX_PANE", "%3")]);
    first.tell(&start("11111111", "startup"));
    second.tell(&start("22222222", "startup"));
    assert_eq!(names(&project), ["session-11111111", "session-22222222"], "two in one terminal");
    let shown = said(&project, &["away", "status"], 0);
    assert!(shown.contains("  session-11111111  Windows Terminal 0b7c  /w/shop  (by WT_SESSION)\n"), "{shown}");
    assert!(shown.contains("  session-22222222  tmux pane %3           /w/shop  (by WT_SESSION)\n"), "{shown}");
    assert_eq!(known(&project)[1]["tmux_pane"], "%3");
    assert!(!shown.contains("is not known"), "{shown}");
    // The same session, and another one in the same Claude.
    for again in [start("11111111", "compact"), start("11111111", "resume"), start("33333333", "clear")] {
        first.tell(&again);
    }
    assert_eq!(names(&project), ["session-22222222", "session-33333333"]);
    second.tell(&of("22222222", "SessionEnd", &value!({"reason": "prompt_input_exit"})));
    assert_eq!(names(&project), ["session-33333333"]);
    // Killed, without a word.
    first.end();
    assert_eq!(names(&project), [] as [&str; 0]);
    second.end();
}

#[test]
fn a_session_of_which_only_the_process_is_known_is_doubted() {
    let project = Project::new();
    let alone = "exec setsid /bin/sh -c \"$1\" \"$0\"";
    let mut command = claude(&project, alone);
    let mut child = command.arg(format!("{STAYS}; exit")).spawn().expect("it starts");
    let (say, heard) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut claude = Claude { child, say, heard };
    claude.tell(&start("11111111", "startup"));
    let shown = said(&project, &["away", "status"], 0);
    let doubt = "session-11111111: terminal unknown: only its process was found.\n";
    assert!(shown.contains(" (by pid)\n") && shown.ends_with(doubt), "{shown}");
    let known = known(&project);
    assert_eq!((&known[0]["source"], known[0]["warning"].is_string()), (&value!("pid"), true));
    claude.end();
}

#[test]
fn a_session_that_cannot_be_kept_begins_all_the_same() {
    let project = Project::new();
    project.write("state/hooks", "in the way");
    let mut claude = Claude::start(&project, &[]);
    claude.tell(&start("11111111", "startup"));
    claude.tell(&of("11111111", "SessionEnd", &value!({})));
    claude.end();
    std::fs::remove_file(project.path("state/hooks")).unwrap();
    // One that a session has started for one answer does not take its place.
    let script = "CLAUDECODE=1 /bin/sh -c '\"$0\" hook session; echo \"exit $?\"; true' \"$0\" -p";
    let inner = self::claude(&project, script).stdin(std::process::Stdio::piped()).spawn().expect("it starts");
    assert_eq!(printed(fed(inner, &start("11111111", "startup"))), "");
    let of_run = tell(
        self::claude(&project, crate::own_sessions::CLAUDE).env("PROGRAMMATOR_RUN_ID", "r"),
        start("11111111", "startup").to_string().as_bytes(),
    );
    assert_eq!(printed(of_run), "");
    assert!(!project.path("state/hooks").exists(), "neither is one of the person's own");
}

fn fed(mut child: Child, told: &Value) -> Child {
    child.stdin.take().expect("a pipe").write_all(told.to_string().as_bytes()).expect("it listens");
    child
}

#[test]
fn the_phone_says_where_the_terminal_is_and_in_brief_does_not() {
    for (more, head) in
        [(&[][..], "Your Claude session in shop · tmux pane %7\n"), (&["--brief"][..], "Your Claude session in shop\n")]
    {
        let (api, project) = (BotApi::start(), Project::new());
        paired(&project, &api, more);
        let _on = Away::on(&project);
        let mut claude = claude(&project, crate::own_sessions::CLAUDE);
        let claude = claude.env("TMUX", "/tmp/t,1,0").env("TMUX_PANE", "%7");
        let waits = tell(claude, call("git push").to_string().as_bytes());
        let question = api.wait_for("the call", |sent| sent.text.contains("Bash") && !sent.buttons.is_empty());
        assert!(question.text.contains(head), "{}", question.text);
        api.press(PERSON, question.id, "deny");
        assert_eq!(decision(waits)["interrupt"], true);
    }
}

#[test]
fn an_installation_of_before_is_told_what_it_lacks() {
    let project = Project::new();
    let before = "{\n  \"zebra\": 1.50\n}\n";
    let command = claude_hooks::command(PROGRAM);
    let events = ["PermissionRequest", "Stop", "SessionEnd"];
    let old = claude_hooks::added(before, Hooks { command: &command, wait: 3_600, events: &events }).unwrap();
    project.write(SETTINGS, &old);
    project.write(&format!("{SETTINGS}.before-programmator"), before);
    let lacks = "missing hooks: SessionStart, Notification";
    let shown = said(&project, &["hooks", "status"], 0);
    assert!(shown.contains(lacks) && shown.contains("policy.own_sessions is off: "), "{shown}");
    let checked = String::from_utf8_lossy(&project.run(&["doctor"]).stdout).into_owned();
    assert!(checked.contains(lacks), "{checked}");
    project.write("config/config.yaml", "policy: {own_sessions: enforce}\n");
    let shown = said(&project, &["hooks", "status"], 0);
    assert!(shown.contains("missing hooks: PreToolUse, SessionStart, Notification"), "{shown}");
    let shown = said(&project, &["hooks", "install", "--yes"], 0);
    assert!(shown.contains("policy.own_sessions is enforce: "), "{shown}");
    assert_eq!(installed(&project)["hooks"]["SessionStart"][0]["hooks"][0]["timeout"], 30);
    assert!(said(&project, &["hooks", "install", "--yes"], 0).contains("policy.own_sessions is enforce: "));
    assert!(!said(&project, &["hooks", "status"], 0).contains("missing hooks"));
    said(&project, &["hooks", "remove", "--yes"], 0);
    assert_eq!(project.read(SETTINGS), before, "to the byte");
    // One of before is taken out to the byte, too.
    project.write(SETTINGS, &old);
    project.write(&format!("{SETTINGS}.before-programmator"), before);
    said(&project, &["hooks", "remove", "--yes"], 0);
    assert_eq!(project.read(SETTINGS), before);
}

#[test]
fn a_muted_session_asks_in_its_terminal_only() {
    let project = Project::new();
    let _on = on(&project);
    assert!(said(&project, &["away", "mute", "session-1a2b3c4d"], 2).contains("no ticket or Claude session named"));
    assert_eq!(said(&project, &["away", "mute"], 0), "Nothing is muted.\n");
    let mut claude = Claude::start(&project, &[]);
    claude.tell(&start("1a2b3c4d", "startup"));
    claude.tell(&of("22222222", "SessionEnd", &value!({})));
    // While it waits.
    let waits = hook(&project, &call("git push"));
    asked(&project);
    let told = said(&project, &["away", "mute", "session-1a2b3c4d"], 0);
    let back = "Undo with `programmator away unmute session-1a2b3c4d`.";
    assert_eq!(told, format!("session-1a2b3c4d is muted: it asks in its terminal only. {back}\n"));
    assert_eq!(printed(waits), "");
    assert_eq!(said(&project, &["queue"], 0), "No question is waiting for you.\n");
    assert_eq!(printed(hook(&project, &call("git push"))), "");
    assert!(said(&project, &["away", "status"], 0).contains(", muted)"));
    assert_eq!(known(&project)[0]["muted"], true);
    assert_eq!(said(&project, &["away", "mute"], 0), "Muted: session-1a2b3c4d\n");
    // Another one asks.
    let mut other = call("ls");
    other["session_id"] = "99999999-0000-4000-8000-000000000000".into();
    let waits = hook(&project, &other);
    said(&project, &["answer", &name(&asked(&project)), "allow"], 0);
    assert_eq!(decision(waits), value!({"behavior": "allow"}));
    for words in ["is unmuted.\n", "is not muted.\n"] {
        assert!(said(&project, &["away", "unmute", "session-1a2b3c4d"], 0).ends_with(words));
    }
    let waits = hook(&project, &call("git push"));
    said(&project, &["answer", &name(&asked(&project)), "allow"], 0);
    assert_eq!(decision(waits), value!({"behavior": "allow"}));
    let inside = project.command(&["away", "mute"]).env("PROGRAMMATOR_RUN_ID", "r").output().unwrap();
    assert_eq!(inside.status.code(), Some(77));
    claude.end();
}

#[test]
fn the_phone_is_asked_of_one_session_alone() {
    let (api, project) = (BotApi::start(), Project::new());
    paired(&project, &api, &[]);
    assert!(said(&project, &["away", "on", "session-1a2b3c4d"], 2).contains("no ticket or Claude session named"));
    let mut claude = Claude::start(&project, &[]);
    claude.tell(&start("1a2b3c4d", "startup"));
    let _off = Away(&project);
    let told = said(&project, &["away", "on", "session-1a2b3c4d"], 0);
    assert!(told.contains("only the questions of session-1a2b3c4d from @test_bot (pid "), "{told}");
    let mut other = call("other");
    other["session_id"] = "99999999-0000-4000-8000-000000000000".into();
    assert_eq!(printed(hook(&project, &other)), "");
    let waits = hook(&project, &call("git push"));
    let question = api.wait_for("the call", |sent| sent.text.contains("git push") && !sent.buttons.is_empty());
    api.press(PERSON, question.id, "allow");
    assert_eq!(decision(waits), value!({"behavior": "allow"}));
    // The phone mutes it, too.
    api.write(PERSON, "/mute session-1a2b3c4d");
    api.wait_for("muted", |sent| {
        sent.text.starts_with("session-1a2b3c4d is muted: it asks in its terminal only. Undo with /unmute ")
    });
    assert_eq!(printed(hook(&project, &call("git push"))), "");
    api.write(PERSON, "/unmute session-1a2b3c4d");
    api.wait_for("unmuted", |sent| sent.text == "session-1a2b3c4d is unmuted.");
    // All, and back to none.
    assert!(said(&project, &["away", "on"], 0).contains("the questions of all runs from @"));
    let waits = hook(&project, &other);
    let question = api.wait_for("the other", |sent| sent.text.contains("Bash other") && !sent.buttons.is_empty());
    api.press(PERSON, question.id, "allow");
    assert_eq!(decision(waits), value!({"behavior": "allow"}));
    assert!(said(&project, &["away", "off", "session-1a2b3c4d"], 2).contains("away mute NAME"));
    assert_eq!(said(&project, &["away", "off"], 0), "Phone notifications are off.\n");
    // What some had opened is cleared with the last of them.
    said(&project, &["away", "on", "session-1a2b3c4d"], 0);
    assert_eq!(said(&project, &["away", "off", "session-1a2b3c4d"], 0), "Phone notifications are off.\n");
    assert!(said(&project, &["away", "on"], 0).contains("the questions of all runs from @"));
    said(&project, &["away", "off"], 0);
    claude.end();
}

#[test]
fn always_on_begins_with_what_is_asked_there_and_off_ends_it_whatever_is_wrong() {
    let (api, project) = (BotApi::start(), Project::new());
    let config = std::fs::read_to_string(project.path("config/config.yaml")).unwrap_or_default();
    project.write("config/config.yaml", &format!("{config}away: {{always_on: true}}\n"));
    paired(&project, &api, &[]);
    let mut claude = Claude::start(&project, &[]);
    claude.tell(&start("1a2b3c4d", "startup"));
    said(&project, &["away", "mute", "session-1a2b3c4d"], 0);
    let status = || json(&project, &["away", "status", "--json"]);
    assert_eq!(printed(hook(&project, &call("git push"))), "");
    assert_eq!(status()["relay"], Value::Null, "what is muted has nobody asked");
    said(&project, &["away", "unmute", "session-1a2b3c4d"], 0);
    let _off = Away(&project);
    let waits = hook(&project, &call("git push"));
    let question = api.wait_for("the call", |sent| sent.text.contains("git push") && !sent.buttons.is_empty());
    api.press(PERSON, question.id, "allow");
    assert_eq!(decision(waits), value!({"behavior": "allow"}));
    assert!(status()["relay"].is_i64() && status()["scope_error"].is_null());
    // What is muted cannot be read: nothing is asked, it stays as it is, and the phone can be cut off.
    project.write("state/away-scope.json", "{");
    assert_eq!(printed(hook(&project, &call("git push"))), "");
    assert!(said(&project, &["away", "status"], 0).contains("the list of muted names cannot be read: "));
    said(&project, &["away", "mute", "session-1a2b3c4d"], 1);
    said(&project, &["away", "off"], 0);
    assert_eq!(status()["relay"], Value::Null);
    assert_eq!(project.read("state/away-scope.json"), "{");
    claude.end();
}

fn notice(kind: &str, words: &str) -> Value {
    of("1a2b3c4d", "Notification", &value!({"notification_type": kind, "message": words}))
}

#[test]
fn what_claude_tells_comes_to_the_phone_once_and_not_what_was_asked() {
    let (api, project) = (BotApi::start(), Project::new());
    paired(&project, &api, &[]);
    let idle = notice("idle_prompt", "Claude is waiting for your input");
    assert_eq!(printed(hook(&project, &idle)), "");
    assert!(!project.path("state/hooks/notices").exists(), "nobody is told");
    let _on = Away::on(&project);
    let mut claude = Claude::start(&project, &[("TMUX", "/tmp/t,1,0"), ("TMUX_PANE", "%3")]);
    claude.tell(&start("1a2b3c4d", "startup"));
    // As of one in Claude's settings and one in a plugin.
    claude.tell(&idle);
    claude.tell(&idle);
    let text = "session-1a2b3c4d: Claude is waiting for your input\nYour Claude session in shop · tmux pane %3\n\nAnswer in its terminal.";
    let told = api.wait_for("it waits", |sent| sent.text == text);
    assert!(!told.silent);
    // What has no question of its own is told while one is out, without a sound, and the question is not told again.
    let waits = hook(&project, &call("git push"));
    let question = api.wait_for("the call", |sent| sent.text.contains("git push") && !sent.buttons.is_empty());
    claude.tell(&notice("permission_prompt", "Claude needs your permission to use Bash"));
    claude.tell(&notice("auth_success", "Signed in with ghp_abcdefghijklmnopqrstuvwx"));
    let told = api.wait_for("signed in", |sent| sent.text.contains("Signed in with [masked]\n"));
    assert!(told.silent);
    api.press(PERSON, question.id, "allow");
    assert_eq!(decision(waits), value!({"behavior": "allow"}));
    // It has finished, was told what is next, and waits again; then it is told to stop, and waits for nothing new.
    let mut last = told.id;
    for (answer, words) in [("now the docs", "waits after the docs"), ("no", "waits after a no")] {
        let waits = hook(&project, &finished());
        let question = api.wait_for("what is next", |sent| sent.id > last && sent.text.contains("All tests pass."));
        api.reply(question.id, answer);
        printed(waits);
        api.wait_for("its end", |sent| sent.id == question.id && sent.text.contains("by you (phone)"));
        claude.tell(&notice("idle_prompt", words));
        last = question.id;
        if answer != "no" {
            api.wait_for("it waits again", |sent| sent.text.contains(words));
        }
    }
    claude.tell(&notice("elicitation_dialog", "the last one"));
    api.wait_for("the last one", |sent| sent.text.contains("the last one"));
    let all = |words: &str| api.sent().iter().filter(|sent| sent.text.contains(words)).count();
    assert_eq!(all("waiting for your input"), 1);
    assert_eq!(all("needs your permission"), 0, "{:#?}", api.sent());
    assert_eq!((all("waits after the docs"), all("waits after a no")), (1, 0));
    let left = || std::fs::read_dir(project.path("state/hooks/notices")).unwrap().count();
    let deadline = Instant::now() + PATIENCE;
    while left() > 0 {
        assert!(Instant::now() < deadline, "what was told is left");
    }
    // Of a muted one nothing is told, and nothing is left.
    said(&project, &["away", "mute", "session-1a2b3c4d"], 0);
    claude.tell(&idle);
    assert_eq!(left(), 0);
    claude.end();
}

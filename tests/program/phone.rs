//! Questions on the phone, by a double of Telegram's Bot API.

use crate::away::{Away, PUSH, asked, away, ended, name, project};
use crate::bot_api::{BotApi, PERSON, Sent, TOKEN, now};
use crate::project::Project;
use crate::watched::{json, of_kind, said};
use serde_json::{Value, json as value};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Pairs the person's account.
fn paired(project: &Project, api: &BotApi, more: &[&str]) {
    let url = api.url();
    let args = [&["away", "setup", "--api", &url], more].concat();
    let mut command = project.command(&args);
    command.env("PROGRAMMATOR_TELEGRAM_TOKEN", TOKEN).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("/start") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "a code is told");
    }
    api.write(PERSON + 1, "/start AAAAAAAA");
    api.write(PERSON, line.trim());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("Paired with Ada."), "{rest}");
    assert!(child.wait().unwrap().success());
    api.wait_for("the pairing is told", |sent| sent.chat == PERSON && sent.text.starts_with("Paired."));
}

/// A run that asks on the phone; both go with it.
struct Phone {
    api: BotApi,
    project: Away,
}

impl Drop for Phone {
    fn drop(&mut self) {
        let _ = self.project.run(&["away", "off"]);
    }
}

fn phone(steps: &[&str], more: &[&str]) -> Phone {
    let (api, project) = (BotApi::start(), project(steps));
    paired(&project, &api, more);
    let told = said(&project, &["away", "on"], 0);
    assert!(told.starts_with("Ada is asked by @test_bot what runs ask (pid "), "{told}");
    let phone = Phone { api, project: away(project) };
    let told = said(&phone.project, &["run", "--detach", "tk-1"], 0);
    assert!(told.contains("tk-1 is being worked on"), "{told}");
    phone
}

impl Phone {
    fn question(&self, words: &str) -> Sent {
        self.api.wait_for(words, |sent| sent.text.contains(words) && !sent.buttons.is_empty())
    }

    /// Waits until the message tells how its question came to its end.
    fn told(&self, question: &Sent, end: &str) {
        self.api.wait_for(end, |sent| sent.id == question.id && sent.text.contains(end) && sent.buttons.is_empty());
    }
}

#[test]
fn a_call_is_allowed_by_a_button_and_the_message_tells_its_end() {
    let phone = phone(&[PUSH], &[]);
    let question = phone.question("git push -q origin HEAD:work");
    assert!(question.text.starts_with("tk-1 · Work on tk-1\n\nClaude wants to use Bash\n"), "{}", question.text);
    let words: Vec<&str> = question.buttons.iter().map(|(words, _)| words.as_str()).collect();
    assert_eq!(words, ["✅ Allow once", "✅ For this run", "❌ Deny", "✏ Deny, with words"]);
    // Nobody else's press counts, nor is it answered.
    phone.api.press(PERSON + 1, question.id, "allow");
    phone.api.wait_heard();
    asked(&phone.project);
    phone.api.press(PERSON, question.id, "allow");
    phone.told(&question, "✅ allowed by you (phone)");
    let records = ended(&phone.project);
    let answers = of_kind(&records, "approval_answered");
    assert_eq!((answers.len(), &answers[0]["by"]), (1, &value!("phone")));
    // The same press once more comes too late.
    phone.api.press(PERSON, question.id, "deny");
    phone.api.wait_told("Too late: allowed by you (phone)");
    phone.api.wait_for("the end of the run", |sent| sent.text.contains("The run has ended: complete."));
}

#[test]
fn words_deny_and_an_answer_elsewhere_is_told() {
    let phone = phone(&[PUSH, "bash: \"git push -q origin HEAD:second\""], &[]);
    let first = phone.question("HEAD:work");
    phone.api.press(PERSON, first.id, "words");
    let prompt = phone.api.wait_for("words are asked for", |sent| sent.text.contains("what should Claude do instead"));
    // They have said no already, whatever the words are.
    phone.api.reply(prompt.id, "ok");
    phone.told(&first, "denied by you (phone)");
    let second = phone.question("HEAD:second");
    let waiting = asked(&phone.project);
    said(&phone.project, &["answer", &name(&waiting), "allow"], 0);
    phone.told(&second, "allowed by you (command line)");
    phone.api.reply(second.id, "no");
    phone.api.wait_for("too late", |sent| sent.text == "Too late: allowed by you (command line)");
    let records = phone.project.journal();
    let answers = of_kind(&records, "approval_answered");
    assert_eq!(answers[0]["answer"]["words"], "ok", "{answers:?}");
    assert_eq!(answers[1]["by"], "command_line", "{answers:?}");
}

#[test]
fn what_is_old_unclear_or_for_another_place_is_not_obeyed() {
    let phone = phone(&[PUSH], &[]);
    let question = phone.question("git push");
    let stale = phone.api.write_at(PERSON, "yes", Some(question.id), now() - 301);
    assert!(stale > 0);
    phone.api.wait_for("too late", |sent| sent.text.contains("came too late to be obeyed"));
    phone.api.reply(question.id + 1_000, "yes");
    phone.api.wait_for("unknown", |sent| {
        sent.text == "The message that you reply to asks nothing." && sent.answers.is_some()
    });
    phone.api.reply(question.id, "all");
    phone.api.wait_for("not for Bash", |sent| sent.text.contains("`all` is for edits of files"));
    phone.api.write(PERSON, "/status");
    phone.api.wait_for("the run", |sent| sent.text.starts_with("tk-1 · Work on tk-1: waits for you, 0/1 phases"));
    phone.api.write(PERSON, "/pause tk-2");
    phone.api.wait_for("which", |sent| sent.text == "Say which ticket: /pause tk-1");
    phone.api.write(PERSON, "/dance");
    phone.api.wait_for("unknown", |sent| sent.text.starts_with("/dance is not known here."));
    asked(&phone.project);
    // A word alone is for the only question there is.
    phone.api.write(PERSON, "yes");
    phone.told(&question, "allowed by you (phone)");
}

/// What `away status` says once it is so.
fn status_where(project: &Project, is_so: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let status = json(project, &["away", "status", "--json"]);
        if is_so(&status) {
            return status;
        }
        assert!(Instant::now() < deadline, "it never came to this: {status}");
    }
}

#[test]
fn a_relay_that_was_killed_asks_nothing_twice_and_obeys_what_was_said_meanwhile() {
    let phone = phone(&[PUSH], &[]);
    let question = phone.question("git push");
    // Killed between sending and keeping, it would ask once more.
    let status = status_where(&phone.project, |status| status["open"] == 1);
    let relay = status["relay"].as_i64().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(relay).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    status_where(&phone.project, |status| status["relay"].is_null());
    phone.api.press(PERSON, question.id, "allow");
    // Trouble on the way: a pause that is wanted, a server that fails, a connection that is cut.
    phone.api.trouble(
        "editMessageText",
        429,
        value!({"ok": false, "error_code": 429, "description": "Too Many Requests", "parameters": {"retry_after": 1}}),
    );
    phone.api.trouble("editMessageText", 502, value!("<html>"));
    phone.api.trouble("getUpdates", 0, value!(null));
    said(&phone.project, &["away", "on"], 0);
    phone.told(&question, "allowed by you (phone)");
    ended(&phone.project);
    let asked = phone.api.sent().into_iter().filter(|sent| sent.text.contains("git push")).count();
    assert_eq!(asked, 1, "it was asked once");
}

#[test]
fn what_does_not_fit_comes_as_a_file_and_secrets_stay() {
    let long = format!("bash: \"git push -q origin HEAD:work # sk-ant-{} {}\"", "a1".repeat(20), "x".repeat(2_000));
    let phone = phone(&[&long], &[]);
    let question = phone.question("All of it is in the file.");
    let file = question.file.clone().expect("a file");
    assert!(file.contains("git push") && file.contains("[masked]") && !file.contains("sk-ant-a1"), "{file}");
    phone.api.press(PERSON, question.id, "allow");
    phone.api.wait_told("This can only be denied from here");
    phone.api.press(PERSON, question.id, "deny");
    phone.told(&question, "denied by you (phone)");
}

#[test]
fn a_question_that_telegram_refuses_is_only_denied() {
    let (api, project) = (BotApi::start(), project(&[PUSH]));
    paired(&project, &api, &[]);
    api.trouble("sendMessage", 400, value!({"ok": false, "error_code": 400, "description": "Bad Request: no"}));
    said(&project, &["away", "on"], 0);
    let phone = Phone { api, project: away(project) };
    said(&phone.project, &["run", "--detach", "tk-1"], 0);
    let question = phone.question("Its question cannot be shown here");
    phone.api.press(PERSON, question.id, "allow");
    phone.api.wait_told("This can only be denied from here");
    // Another program reads the bot's messages: the relay gives way, and says so.
    for _ in 0..3 {
        phone.api.trouble("getUpdates", 409, value!({"ok": false, "error_code": 409, "description": "Conflict"}));
    }
    phone.api.write(PERSON, "/help");
    phone.api.wait_for("it has stopped", |sent| sent.text.starts_with("The relay has stopped"));
}

#[test]
fn in_brief_nothing_of_the_call_leaves_the_machine() {
    let phone = phone(&[PUSH], &["--brief"]);
    let question = phone.question("Claude asks to use Bash.");
    phone.api.press(PERSON, question.id, "deny");
    phone.told(&question, "denied by you (phone)");
    assert!(phone.api.sent().iter().all(|sent| !sent.text.contains("git push")));
}

#[test]
fn the_relay_ends_by_off_and_the_pairing_by_unpair() {
    let (api, project) = (BotApi::start(), Project::new());
    let refused = project.run(&["away", "on"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no phone is paired"), "{refused:?}");
    let untyped = project.run(&["away", "setup"]);
    let words = String::from_utf8_lossy(&untyped.stderr).into_owned();
    assert!(words.contains("type the token in a terminal, or set PROGRAMMATOR_TELEGRAM_TOKEN"), "{words}");
    paired(&project, &api, &[]);
    let file = std::fs::metadata(project.path("config/telegram.json")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o777, 0o600);
    said(&project, &["away", "on"], 0);
    assert!(said(&project, &["away", "on"], 0).contains("already asked"));
    said(&project, &["away", "test"], 0);
    api.wait_for("the test", |sent| sent.text == "programmator can reach you here.");
    assert!(said(&project, &["away", "status"], 0).contains("0 of its questions wait"));
    let checked = String::from_utf8_lossy(&project.run(&["doctor"]).stdout).into_owned();
    assert!(checked.contains("ok    phone     Ada is asked by @test_bot"), "{checked}");
    // Inside a run nobody is let in.
    let inside = project.command(&["away", "unpair"]).env("PROGRAMMATOR_RUN_ID", "x").output().unwrap();
    assert_eq!(inside.status.code(), Some(77));
    assert_eq!(said(&project, &["away", "unpair"], 0).trim(), "Forgotten. @BotFather can also revoke the bot's token.");
    assert!(said(&project, &["away", "status"], 0).contains("No phone is paired"));
    assert_eq!(said(&project, &["away", "off"], 0).trim(), "The phone was not asked.");
    let log = walk(&project.path("state"));
    assert!(log.iter().all(|text| !text.contains(TOKEN)), "the token is in no file of the state folder");
}

/// What the files below a folder say.
fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            out.extend(walk(&entry));
        } else if let Ok(bytes) = std::fs::read(&entry) {
            out.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    out
}

//! Questions on the phone, by a double of Telegram's Bot API.

mod ends;
mod relay;

use crate::away::{Away, PUSH, WRITE, asked, away, change_validation, ended, name, project};
use crate::bot_api::{BotApi, PERSON, Sent, TOKEN, now};
use crate::pairing::paired;
use crate::project::Project;
use crate::watched::{json, of_kind, said};
use serde_json::{Value, json as value};
use std::time::{Duration, Instant};

const ASKS: &str = "ask: {question: \"Which colour?\", options: [Red, Blue]}";

#[test]
fn the_settings_of_claude_afk_are_shown_and_taken_over_once_the_person_says_so() {
    let (api, project) = (BotApi::start(), project(&[PUSH]));
    let theirs = r#"{"retryInterval": 120, "maxRetries": 2, "alwaysEnabled": true, "pollingInterval": 2, "bulkApprovalTools": ["Edit"]}"#;
    project.write("home/.claude/claude-afk/config.json", theirs);
    project.write("home/.claude/claude-afk/state.json", r#"{"chatId": 1}"#);
    let before = project.read("config/config.yaml");
    let setup = |more: &[&str]| {
        // It ends when it finds no bot.
        let args = [&["away", "setup", "--api", "http://127.0.0.1:9"], more].concat();
        let output = project.command(&args).env("PROGRAMMATOR_TELEGRAM_TOKEN", TOKEN).output().unwrap();
        crate::watched::text(&output)
    };
    let shown = setup(&[]);
    assert!(shown.contains("  retryInterval: 120\n      away.repeat_after: 120\n"), "{shown}");
    assert!(shown.contains("  pollingInterval: 2\n      not imported: Telegram delivers messages at once"), "{shown}");
    assert_eq!(project.read("config/config.yaml"), before, "nobody has agreed");
    let taken = setup(&["--claude-afk"]);
    assert!(taken.contains("Imported into "), "{taken}");
    let added = "away:\n  repeat_after: 120\n  repeats: 2\n  always_on: true\n  bulk_tools: [\"Edit\"]\n";
    assert_eq!(project.read("config/config.yaml"), format!("{before}{added}"));
    let again = setup(&["--claude-afk"]);
    assert!(again.contains("has an `away:` section") && again.contains("  repeats: 2\n"), "{again}");
    // The account is paired anew.
    paired(&project, &api, &[]);
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
    assert!(told.starts_with("Ada now gets the questions of all runs from @test_bot (pid "), "{told}");
    let phone = Phone { api, project: away(project) };
    let told = said(&phone.project, &["run", "--detach", "tk-1"], 0);
    assert!(told.contains("tk-1 is running in the background"), "{told}");
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
    assert!(
        question
            .text
            .starts_with("tk-1: Bash git push -q origin HEAD:work\nWork on tk-1 · Alpha\n\nClaude wants to use Bash\n"),
        "{}",
        question.text
    );
    let words: Vec<&str> = question.buttons.iter().map(|(words, _)| words.as_str()).collect();
    assert_eq!(words, ["✅ Allow once", "✅ Allow for this run", "❌ Deny", "✏ Deny with a reason"]);
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
    phone.api.wait_for("the end of the run", |sent| sent.text.starts_with("tk-1: complete"));
}

#[test]
fn words_deny_and_an_answer_elsewhere_is_told() {
    let phone = phone(&[PUSH, "bash: \"git push -q origin HEAD:second\""], &[]);
    let first = phone.question("HEAD:work");
    phone.api.press(PERSON, first.id, "words");
    let prompt =
        phone.api.wait_for("words are asked for", |sent| sent.text.contains("with what Claude should do instead"));
    // They have said no already, whatever the words are.
    phone.api.reply(prompt.id, "ok");
    phone.told(&first, "denied by you (phone): ok");
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
    phone.api.wait_for("too late", |sent| sent.text.contains("more than five minutes old"));
    phone.api.reply(question.id + 1_000, "yes");
    phone.api.wait_for("unknown", |sent| {
        sent.text == "The message that you replied to is not a question." && sent.answers.is_some()
    });
    phone.api.reply(question.id, "all");
    phone.api.wait_for("not for Bash", |sent| sent.text.starts_with("`all` does not work here"));
    phone.api.write(PERSON, "/status");
    phone.api.wait_for("the run", |sent| {
        sent.text.starts_with("tk-1 · Work on tk-1: needs you (Bash git push -q origin HEAD:work), 0/1 phases")
    });
    phone.api.write(PERSON, "/pause tk-2");
    phone.api.wait_for("which", |sent| sent.text == "Which ticket? /pause tk-1");
    phone.api.write(PERSON, "/dance");
    phone.api.wait_for("unknown", |sent| sent.text.starts_with("Unknown command /dance."));
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

/// The relay that asks.
fn relay(project: &Project) -> rustix::process::Pid {
    let relay = json(project, &["away", "status", "--json"])["relay"].as_i64().expect("a relay");
    rustix::process::Pid::from_raw(i32::try_from(relay).unwrap()).unwrap()
}

fn kill_relay(project: &Project) {
    rustix::process::kill_process(relay(project), rustix::process::Signal::KILL).unwrap();
    status_where(project, |status| status["relay"].is_null());
}

#[test]
fn a_relay_that_was_killed_asks_nothing_twice_and_obeys_what_was_said_meanwhile() {
    let phone = phone(&[PUSH], &[]);
    let question = phone.question("git push");
    // Killed between sending and keeping, it would ask once more.
    status_where(&phone.project, |status| status["open"] == 1);
    kill_relay(&phone.project);
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
    let question = phone.question("The file has the full text.");
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
    said(&project, &["away", "on"], 0);
    api.wait_for("it is on", |sent| sent.text.starts_with("Runs now send their questions here."));
    api.trouble("sendMessage", 400, value!({"ok": false, "error_code": 400, "description": "Bad Request: no"}));
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
fn what_is_masked_is_never_allowed_from_there() {
    let hidden = "bash: \"API_TOKEN=x$(touch${IFS}seen) git push -q origin HEAD:work\"";
    let phone = phone(&[hidden], &[]);
    let question = phone.question("API_TOKEN=[masked]");
    assert!(question.buttons.iter().all(|(words, _)| words.contains("Deny")), "{question:?}");
    phone.api.press(PERSON, question.id, "allow");
    phone.api.wait_told("This can only be denied from here");
    phone.api.reply(question.id, "no");
    phone.told(&question, "denied by you (phone)");
    assert!(!phone.project.path("work/seen").exists());
}

#[test]
fn claudes_own_question_is_answered_by_an_option_and_the_answer_is_told() {
    let phone = phone(&["say: \"Two ways are open.\"", ASKS], &[]);
    let question = phone.question("tk-1 asks: Which colour?");
    assert!(question.text.contains("Claude said: Two ways are open."), "{}", question.text);
    assert!(question.text.contains("Press an option, or reply"), "{}", question.text);
    phone.api.reply(question.id, "7");
    phone.api.wait_for("no option", |sent| sent.text == "No option 7: choose 1 to 2.");
    phone.api.press(PERSON, question.id, "option 2");
    phone.told(&question, "✅ answered by you (phone): Blue");
    let end = phone.api.wait_for("its end", |sent| sent.id == question.id && sent.text.contains("✅"));
    assert!(!end.text.contains("Press an option"), "how it is answered is of no use any more: {}", end.text);
}

#[test]
fn a_stranger_who_writes_and_writes_holds_up_nothing() {
    let (api, project) = (BotApi::start(), project(&[PUSH]));
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let phone = Phone { api, project: away(project) };
    said(&phone.project, &["run", "--detach", "tk-1"], 0);
    // More than one message in each look at the runs, until it is asked.
    while !phone.api.sent().iter().any(|sent| sent.text.contains("git push")) {
        phone.api.write(PERSON + 1, "hello");
        phone.api.wait_heard();
    }
    assert!(phone.api.sent().iter().all(|sent| sent.chat == PERSON), "nobody else is answered");
}

#[test]
fn a_run_whose_program_dies_is_told_resumed_from_there_and_its_end_told_once_more() {
    let phone = phone(&[PUSH], &[]);
    phone.question("HEAD:work");
    // Stopped, its end is told; the phone goes on with it.
    phone.api.write(PERSON, "/note Tk-1 be careful");
    phone.api.wait_for("it is told", |sent| sent.text == "tk-1 gets your message.");
    said(&phone.project, &["stop", "--now", "tk-1"], 0);
    let end =
        phone.api.wait_for("its end", |sent| sent.text.starts_with("tk-1: stopped by you; resume with /resume tk-1"));
    let words: Vec<&str> = end.buttons.iter().map(|(words, _)| words.as_str()).collect();
    assert_eq!(words, ["▶ Resume", "▪ Leave it"]);
    phone.api.reply(end.id, "/stop");
    phone.api.wait_for("a command about it", |sent| sent.text == "tk-1 is not running.");
    phone.api.press(PERSON, end.id, "end resume");
    phone.api.wait_told("tk-1 is running in the background (pid ");
    let second = phone.api.wait_for("it asks", |sent| sent.id > end.id && !sent.buttons.is_empty());
    let told = phone.api.told().into_iter().find(|told| told.contains("(pid ")).expect("it was told");
    let pid = told.split("(pid ").nth(1).and_then(|rest| rest.split(')').next()?.parse().ok());
    let pid = rustix::process::Pid::from_raw(pid.expect("its number")).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    phone.api.wait_for("nobody works on it", |sent| {
        sent.answers == Some(second.id) && sent.text.starts_with("tk-1 is not running.")
    });
    phone.api.write(PERSON, "/resume tk-1");
    let third = phone.api.wait_for("it asks again", |sent| sent.id > second.id && !sent.buttons.is_empty());
    phone.api.press(PERSON, third.id, "allow");
    phone.told(&third, "✅ allowed by you (phone)");
    let end = phone.api.wait_for("its second end", |sent| sent.text.starts_with("tk-1: complete"));
    // What is written then is the next phase.
    assert!(end.buttons.is_empty(), "{end:?}");
    phone.api.reply(end.id, "Say it in\nthe README");
    let last = phone.api.wait_for("it asks", |sent| sent.id > end.id && !sent.buttons.is_empty());
    assert!(last.text.contains(" · Say it in the README\n"), "{}", last.text);
    phone.api.press(PERSON, last.id, "allow");
    phone.api.wait_for("its third end", |sent| sent.id > last.id && sent.text.starts_with("tk-1: complete"));
}

#[test]
fn a_ticket_that_is_muted_is_asked_about_on_the_machine_only() {
    let phone = phone(&[PUSH, "bash: \"git push -q origin HEAD:second\""], &[]);
    let first = phone.question("HEAD:work");
    phone.api.write(PERSON, "/mute tk-9");
    phone.api.wait_for("unknown", |sent| sent.text.starts_with("No run of tk-9 found."));
    phone.api.write(PERSON, "/mute Tk-1");
    phone.api.wait_for("muted", |sent| sent.text.starts_with("tk-1 is muted: it asks on this machine only."));
    phone.api.press(PERSON, first.id, "allow");
    phone.told(&first, "allowed by you (phone)");
    let deadline = Instant::now() + Duration::from_secs(60);
    let second = loop {
        let waiting = asked(&phone.project);
        if waiting["words"].as_str().is_some_and(|words| words.contains("second")) {
            break waiting;
        }
        assert!(Instant::now() < deadline, "{waiting}");
    };
    let before = phone.api.sent().len();
    phone.api.write(PERSON, "/unmute tk-1");
    let shown = phone.question("HEAD:second");
    let unmuted = phone.api.wait_for("unmuted", |sent| sent.text.starts_with("tk-1 is unmuted."));
    assert!(shown.id > unmuted.id && phone.api.sent()[..before].iter().all(|sent| !sent.text.contains("HEAD:second")));
    said(&phone.project, &["answer", &name(&second), "deny"], 0);
    phone.told(&shown, "denied by you (command line)");
}

#[test]
fn in_brief_nothing_of_the_call_leaves_the_machine() {
    let phone = phone(&[PUSH], &["--brief"]);
    let question = phone.question("Claude wants to use Bash\n");
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
    assert!(words.contains("enter the token in a terminal, or set PROGRAMMATOR_TELEGRAM_TOKEN"), "{words}");
    paired(&project, &api, &[]);
    let file = std::fs::metadata(project.path("config/telegram.json")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o777, 0o600);
    said(&project, &["away", "on"], 0);
    assert!(said(&project, &["away", "on"], 0).contains("already gets the questions"));
    said(&project, &["away", "test"], 0);
    api.wait_for("the test", |sent| sent.text == "programmator can reach you here.");
    assert!(said(&project, &["away", "status"], 0).contains("0 questions wait there."));
    let checked = String::from_utf8_lossy(&project.run(&["doctor"]).stdout).into_owned();
    assert!(checked.contains("ok    phone     Ada gets questions from @test_bot"), "{checked}");
    // Inside a run nobody is let in.
    let inside = project.command(&["away", "unpair"]).env("PROGRAMMATOR_RUN_ID", "x").output().unwrap();
    assert_eq!(inside.status.code(), Some(77));
    assert_eq!(said(&project, &["away", "unpair"], 0).trim(), "Forgotten. @BotFather can also revoke the bot's token.");
    assert!(said(&project, &["away", "status"], 0).contains("No phone is paired"));
    assert_eq!(said(&project, &["away", "off"], 0).trim(), "Phone notifications are already off.");
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

#[test]
fn changed_validation_commands_are_decided_there() {
    let (api, project) = (BotApi::start(), project(&[WRITE, PUSH]));
    project.validate_by("true");
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let phone = Phone { api, project: away(project) };
    said(&phone.project, &["run", "--detach", "tk-1"], 0);
    let push = phone.question("git push");
    change_validation(&phone.project, "true", "test -e alpha.txt");
    let change = phone.question("validation commands changed");
    assert!(change.text.ends_with("Added:\n  test -e alpha.txt\nRemoved:\n  true"), "{}", change.text);
    let words: Vec<&str> = change.buttons.iter().map(|(words, _)| words.as_str()).collect();
    assert_eq!(words, ["Accept", "Keep"]);
    phone.api.reply(change.id, "perhaps");
    phone.api.wait_for("what there is to say", |sent| sent.text == "`perhaps` is not a possible answer: accept, keep");
    phone.api.press(PERSON, change.id, "option accept");
    phone.told(&change, "the new validation commands apply from now on, by you (phone)");
    phone.api.press(PERSON, change.id, "option keep");
    phone.api.wait_told("Too late: the new validation commands apply from now on, by you (phone)");
    phone.api.press(PERSON, push.id, "allow");
    let records = ended(&phone.project);
    assert_eq!(of_kind(&records, "validation_ran")[0]["command"], "test -e alpha.txt");
}

#[test]
fn an_edit_is_shown_as_a_diff_and_masked_like_everything_else() {
    let token = format!("sk-ant-{}", "a1".repeat(20));
    let write = format!("write: {{path: ../outside.txt, content: \"one\\ntwo {token}\\n\"}}");
    let phone = phone(&[&write], &[]);
    let question = phone.question("tk-1: Write");
    assert!(question.text.contains("  | the whole file:\n  |   + one\n  |   + two [masked]"), "{}", question.text);
    assert!(question.buttons.iter().all(|(words, _)| words.contains("Deny")), "{question:?}");
    phone.api.press(PERSON, question.id, "deny");
    phone.told(&question, "denied by you (phone)");
}

#[test]
fn the_end_of_a_run_is_answered_there_or_elsewhere_and_its_message_says_so() {
    let (api, project) = (BotApi::start(), crate::ends::blocked());
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let phone = Phone { api, project: away(project) };
    // It is begun anew and stopped: an end of its own, which the phone is told.
    let id = name(&asked(&phone.project));
    said(&phone.project, &["answer", &id, "resume"], 0);
    said(&phone.project, &["stop", "--now", "tk-1"], 0);
    let end = phone.question("tk-1: stopped by you");
    let words: Vec<&str> = end.buttons.iter().map(|(words, _)| words.as_str()).collect();
    assert_eq!(words, ["▶ Resume", "▪ Leave it"]);
    let whole = said(&phone.project, &["queue", "tk-1"], 0);
    let id = whole.split("programmator answer ").nth(1).and_then(|rest| rest.split(' ').next()).expect("its name");
    said(&phone.project, &["answer", id, "leave"], 0);
    phone.told(&end, "▪ left as it is by you (command line)");
    phone.api.press(PERSON, end.id, "end resume");
    phone.api.wait_told("too late: left as it is by you (command line)");
    // A run of its own ends in another way: the first message is not about that.
    said(&phone.project, &["run", "--detach", "tk-1"], 0);
    said(&phone.project, &["stop", "--now", "tk-1"], 0);
    let second = phone.api.wait_for("its own end", |sent| sent.id > end.id && sent.text.contains("stopped by you"));
    phone.api.press(PERSON, end.id, "end leave");
    phone.api.wait_told("Too late: left as it is by you (command line)");
    phone.api.reply(second.id, "no");
    phone.told(&second, "▪ left as it is by you (phone)");
    assert_eq!(crate::ends::of_all(&phone.project, "end_answered").len(), 3, "nothing was resumed");
}

#[test]
fn a_run_that_waits_for_a_limit_is_told_and_tries_again_when_told_there() {
    let (api, project) = (BotApi::start(), project(&[WRITE]));
    project.ticket("tk-1", &["Alpha", "Beta"]);
    // What leaves the machine is that it waits, and until when.
    paired(&project, &api, &["--brief"]);
    said(&project, &["away", "on"], 0);
    let phone = Phone { api, project: away(project) };
    said(&phone.project, &["run", "--detach", "--calls", "1", "tk-1"], 0);
    let question = phone.question("tk-1: parked until ");
    assert!(
        question.text.contains("is not sent to the phone") && !question.text.contains("1 call"),
        "{}",
        question.text
    );
    assert_eq!(question.buttons, [("Retry now".to_owned(), "option try-now".to_owned())]);
    phone.api.press(PERSON, question.id, "option try-now");
    phone.api.wait_told("still limited");
    said(&phone.project, &["stop", "--now", "tk-1"], 0);
    phone.told(&question, "the run no longer needs this");
}

#[test]
fn several_questions_at_once_are_listed_and_each_is_answered_in_its_own_message() {
    let (api, project) = (BotApi::start(), project(&[PUSH]));
    project.ticket("tk-2", &["Beta"]);
    paired(&project, &api, &[]);
    let config = project.read("config/config.yaml");
    project.write("config/config.yaml", &format!("{config}git: {{worktree: ticket}}\n"));
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Tickets"]);
    let phone = Phone { api, project: away(project) };
    said(&phone.project, &["run", "--detach", "tk-1", "tk-2"], 0);
    named_all(&phone.project, 2);
    said(&phone.project, &["away", "on"], 0);
    let list = phone
        .api
        .wait_for("the list", |sent| sent.text.starts_with("2 questions, each in its own message below:\n1. tk-"));
    let of = |ticket: &str| {
        let begin = format!("{ticket}: Bash git push");
        phone.api.wait_for(&begin, |sent| sent.text.starts_with(&begin) && !sent.buttons.is_empty())
    };
    let (first, second) = (of("tk-1"), of("tk-2"));
    assert!(!list.silent && first.silent && second.silent, "one sound");
    phone.api.reply(list.id, "yes");
    phone.api.wait_for("it is no question", |sent| sent.text == "The message that you replied to is not a question.");
    phone.api.press(PERSON, second.id, "deny");
    phone.told(&second, "denied by you (phone)");
    let half = |sent: &Sent| sent.id == list.id && sent.text.contains("▪ tk-2: Bash git push");
    let half = phone.api.wait_for("the list says so", half);
    assert!(half.text.contains(". tk-1: Bash git push"), "{}", half.text);
    phone.api.press(PERSON, first.id, "allow");
    phone.told(&first, "allowed by you (phone)");
    phone.api.wait_for("of both", |sent| sent.id == list.id && sent.text.contains("allowed by you (phone)"));
}

/// Waits until so many questions wait.
fn named_all(project: &Project, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while json(project, &["queue", "--json"]).as_array().map(Vec::len) != Some(count) {
        assert!(Instant::now() < deadline, "they do not wait");
    }
}

#[test]
fn with_always_on_a_run_in_the_background_begins_to_ask_and_off_says_what_keeps_it_on() {
    let (api, project) = (BotApi::start(), project(&[PUSH]));
    let config = project.read("config/config.yaml");
    project.write("config/config.yaml", &format!("{config}away: {{always_on: true}}\n"));
    paired(&project, &api, &[]);
    let phone = Phone { api, project: away(project) };
    said(&phone.project, &["run", "--detach", "tk-1"], 0);
    let question = phone.question("HEAD:work");
    // A relay that ends between sending and keeping would not know its message.
    status_where(&phone.project, |status| status["open"] == 1);
    let told = said(&phone.project, &["away", "off"], 0);
    assert!(told.contains("away.always_on is set"), "{told}");
    said(&phone.project, &["answer", &name(&asked(&phone.project)), "allow"], 0);
    ended(&phone.project);
    // The next run begins it again, and what was answered meanwhile is told.
    phone.project.ticket("tk-1", &["Alpha", "Beta"]);
    said(&phone.project, &["run", "--detach", "tk-1"], 0);
    phone.told(&question, "allowed by you (command line)");
    let log = said(&phone.project, &["away", "log", "--last", "1000"], 0);
    assert!(
        log.contains("  sent  tk-1: message ") && log.contains("    | tk-1: Bash git push -q origin HEAD:work\n"),
        "{log}"
    );
    assert!(log.contains("  edited  tk-1: message "), "{log}");
}

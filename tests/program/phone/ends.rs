//! Ends of runs on the phone: each is told once, and an answer is for how it stands now.

use super::*;
use crate::ends::of_all;
use crate::screen::conflicts::in_conflict_under;

#[test]
fn an_end_from_before_the_phone_was_asked_is_not_told_by_the_answer_to_it() {
    let (api, project) = (BotApi::start(), crate::ends::blocked());
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let phone = Phone { api, project: away(project) };
    said(&phone.project, &["answer", &name(&asked(&phone.project)), "leave"], 0);
    // What ends later is told in one look with it, and what is written after that look is heard behind it.
    phone.project.ticket("tk-2", &["Beta"]);
    phone.project.open_gate("on");
    said(&phone.project, &["run", "tk-2"], 0);
    phone.api.wait_for("the other end", |sent| sent.text.starts_with("tk-2: complete"));
    phone.api.write(PERSON, "/help");
    phone.api.wait_for("it is heard", |sent| sent.text.starts_with("Commands:"));
    assert!(phone.api.sent().iter().all(|sent| !sent.text.starts_with("tk-1")), "{:?}", phone.api.sent());
}

#[test]
fn a_run_that_has_ended_again_while_no_relay_was_there_is_told_again_and_once() {
    let phone = phone(&[PUSH], &[]);
    phone.question("HEAD:work");
    said(&phone.project, &["stop", "--now", "tk-1"], 0);
    let first = phone.api.wait_for("its end", |sent| sent.text.starts_with("tk-1: stopped by you"));
    kill_relay(&phone.project);
    said(&phone.project, &["resume", "--detach", "tk-1"], 0);
    asked(&phone.project);
    said(&phone.project, &["stop", "--now", "tk-1"], 0);
    said(&phone.project, &["away", "on"], 0);
    let of_end = |sent: &Sent| sent.text.starts_with("tk-1: stopped by you");
    let second = phone.api.wait_for("its second end", |sent| sent.id > first.id && of_end(sent));
    kill_relay(&phone.project);
    said(&phone.project, &["away", "on"], 0);
    phone.api.reply(first.id, "be careful");
    phone.api.wait_for("it is for another end", |sent| sent.text.contains("Your message was not delivered"));
    let ends = phone.api.sent().into_iter().filter(of_end).count();
    assert_eq!((ends, of_all(&phone.project, "end_answered").len()), (2, 0));
    phone.api.press(PERSON, first.id, "end leave");
    phone.api.wait_told("Too late: a new run has started since");
    phone.api.press(PERSON, second.id, "end leave");
    phone.api.wait_told("tk-1 is left as it is");
}

#[test]
fn what_was_merged_by_hand_since_is_not_merged_or_resolved_by_an_old_message() {
    let (api, project) = (BotApi::start(), in_conflict_under("{name: simple, fix_tries: 2}"));
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let phone = Phone { api, project: away(project) };
    let end = asked(&phone.project);
    said(&phone.project, &["answer", &name(&end), "merge"], 0);
    let told = phone.question("tk-1");
    let own = json(&phone.project, &["worktree", "list", "--json"]);
    let branch = own[0]["branch"].as_str().expect("its branch");
    phone.project.git(&["merge", "-q", "-s", "ours", "-m", "By hand", branch]);
    let count = |kind| of_all(&phone.project, kind).len();
    let before = (count("run_started"), count("run_resumed"));
    for (nth, data) in ["end merge", "end resolve"].into_iter().enumerate() {
        phone.api.press(PERSON, told.id, data);
        phone.api.wait_told_times("has no commits that main lacks: it was merged or removed", nth + 1);
    }
    phone.api.wait_heard();
    assert_eq!((count("run_started"), count("run_resumed")), before, "nothing was begun");
    let failed = of_all(&phone.project, "end_answered");
    assert!(failed.iter().any(|said| said["answer"] == "resolve" && said["failed"].is_string()), "{failed:?}");
    phone.api.press(PERSON, told.id, "end leave");
    phone.told(&told, "left as it is by you (phone)");
    assert_eq!(json(&phone.project, &["queue", "--json"]).as_array().map(Vec::len), Some(0));
}

//! A person's answers, in a terminal, against the real rules: what runs, what does not, and what is asked again.

use super::stage::{ROOMY, SMALL, leave, start};
use crate::project::Project;
use crate::terminal::Terminal;
use rustix::process::Signal;
use serde_json::Value;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// What the demo's Claude does in the one phase of `tk-1`, a line of YAML a step; the rules are `profile`'s.
fn project(profile: &str, steps: &[&str]) -> Project {
    let steps = steps.iter().fold(String::new(), |mut yaml, step| {
        let _ = writeln!(yaml, "      - {step}");
        yaml
    });
    let turn = format!("turns:\n  - when: {{phase: \"\"}}\n    steps:\n{steps}      - status: {{summary: did}}\n");
    let project = Project::with_config(&["Alpha"], &turn, &format!("policy:\n  profile: {profile}\n"));
    project.git(&["init", "-q", "--bare", &project.path("remote.git").display().to_string()]);
    project.git(&["remote", "add", "origin", &project.path("remote.git").display().to_string()]);
    project
}

/// A step that asks under `guarded`: it talks to another machine.
fn push(branch: &str) -> String {
    format!("bash: \"git push -q origin HEAD:{branch}\"")
}

fn pushed(project: &Project) -> Vec<String> {
    let heads = project.path("remote.git").display().to_string();
    let all = project.git(&["--git-dir", &heads, "for-each-ref", "--format=%(refname:short)"]);
    all.lines().map(str::to_owned).collect()
}

/// A card takes no yes in the moment in which it appears.
pub(super) fn settle() {
    std::thread::sleep(programmator::tui::modals::card::APPEARS);
}

/// The card of the next thing that waits, with these words on it. What Claude asks comes when it comes, so the key is
/// pressed until it helps.
fn card(terminal: &mut Terminal, words: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_it = |screen: &str| screen.contains("waiting for you ━") && screen.contains(words);
    while Instant::now() < deadline {
        terminal.keys("!");
        let pressed = Instant::now();
        while pressed.elapsed() < Duration::from_millis(300) {
            if is_it(&terminal.screen()) {
                settle();
                break;
            }
            std::thread::yield_now();
        }
        // A key that came late, once the card was there, has put it away again.
        let screen = terminal.screen();
        if is_it(&screen) {
            return screen;
        }
    }
    panic!("no card with “{words}”:\n{}", terminal.screen());
}

/// Who answered what, in order, of the records.
fn answers(records: &[Value]) -> Vec<(String, String)> {
    let answered = records.iter().filter(|record| record["kind"] == "approval_answered");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    answered
        .map(|record| {
            let what = &record["answer"];
            let scope = what.get("scope").or(what.get("words")).map(word).unwrap_or_default();
            (format!("{} {scope}", word(&what["answer"])), word(&record["by"]))
        })
        .collect()
}

fn pairs(answers: &[(&str, &str)]) -> Vec<(String, String)> {
    answers.iter().map(|(what, by)| ((*what).to_owned(), (*by).to_owned())).collect()
}

#[test]
fn a_yes_is_for_once_and_leaving_is_none() {
    let project = project("guarded", &[&push("one"), &push("one"), &push("two")]);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    let screen = card(&mut terminal, "HEAD:one");
    assert!(screen.contains("ask-network") && screen.contains("1 of 1 waiting for you"), "{screen}");
    terminal.keys("\x1b");
    terminal.wait_until("the card gone", |screen| !screen.contains("1 of 1 waiting for you"));
    terminal.wait_for("Approve `git push");
    assert!(pushed(&project).is_empty() && answers(&project.journal()).is_empty(), "leaving is no answer");
    for branch in ["one", "one", "two"] {
        card(&mut terminal, &format!("HEAD:{branch}"));
        terminal.keys_until("y", "allowed: Bash git push");
    }
    terminal.wait_for("complete: 1/1 phases");
    assert_eq!(pushed(&project), ["one", "two"]);
    assert_eq!(answers(&project.journal()), pairs(&[("allow once", "screen"); 3]));
    leave(terminal, &project);
}

#[test]
fn what_was_allowed_is_proposed_as_rules_and_judged_again_by_them() {
    let write = "write: {path: \"{slug}.txt\", content: x}";
    let steps = [&push("one"), &push("one"), &push("two"), &push("two --force"), write];
    let project = project("guarded", &steps);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    for branch in ["one", "one"] {
        card(&mut terminal, &format!("HEAD:{branch}"));
        terminal.keys_until("y", "allowed: Bash git push");
    }
    for branch in ["two", "two --force"] {
        card(&mut terminal, &format!("HEAD:{branch}"));
        terminal.keys_until("d", "Why not");
        terminal.keys_until("\r", "denied: Bash git push");
    }
    terminal.wait_for("complete: 1/1 phases");
    leave(terminal, &project);
    let said = |args: &[&str], code: i32| {
        let output = project.run(&[&["policy"], args].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let learned = said(&["learn"], 0);
    let line = |at: usize| learned.lines().nth(at).unwrap_or_default();
    assert_eq!(line(1), "# would have saved 2 questions", "{learned}");
    let reach = format!("# allows this command word for word, in {} and below", project.work().display());
    assert!(line(2) == reach && line(3).starts_with("- name: always-git-push"), "{learned}");
    assert!(learned.contains("HEAD:one") && !learned.contains("HEAD:two"), "{learned}");
    assert!(said(&["learn", "--least", "3"], 1).contains("no rule would have saved 3 questions"));

    assert_eq!(said(&["replay", "tk-1"], 0).lines().count(), 1);
    project.write("work/draft.yaml", &format!("version: 1\nrules:\n{learned}"));
    let again = said(&["replay", "tk-1", "--policy", "draft.yaml"], 1);
    assert!(again.starts_with("ask        → allow       Bash git push -q origin HEAD:one"), "{again}");
    assert!(again.ends_with(": 5 calls, 2 with a different verdict\n"), "{again}");
    let strict = said(&["replay", "tk-1", "--profile", "strict", "--json"], 1);
    let first: Value = serde_json::from_str(strict.lines().next().unwrap()).unwrap();
    assert_eq!((&first["was"], &first["now"], &first["tool"]), (&"ask".into(), &"block".into(), &"Bash".into()));
}

#[test]
fn only_what_was_said_yes_to_is_proposed_each_rule_once() {
    let a = push("a");
    let both = "bash: \"git push -q origin HEAD:a && git push -q origin HEAD:b\"";
    let steps = [&a, &a, &push("c"), &push("c"), both, both, "write: {path: \"{slug}.txt\", content: x}"];
    let project = project("guarded", &steps);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    card(&mut terminal, "HEAD:a");
    terminal.keys_until("t", "HEAD:c");
    for _ in 0..2 {
        card(&mut terminal, "HEAD:c");
        terminal.keys_until("e", "save, then y to run");
        terminal.keys("\x7fd\x13");
        terminal.wait_for("with its verdict");
        terminal.wait_for("once");
        settle();
        terminal.keys_until("y", "allowed: Bash git push");
    }
    for _ in 0..2 {
        card(&mut terminal, "HEAD:b");
        terminal.keys_until("y", "allowed: Bash git push");
    }
    terminal.wait_for("complete: 1/1 phases");
    leave(terminal, &project);
    project.write("work/src/x", "");
    let mut learn = project.command(&["policy", "learn"]);
    let output = learn.current_dir(project.path("work/src")).output().unwrap();
    let learned = String::from_utf8(output.stdout).unwrap();
    assert!(!learned.contains("HEAD:c") && !learned.contains("HEAD:d"), "edits are for once: {learned}");
    assert!(!learned.contains("though it did not run"), "what was allowed for the run ran: {learned}");
    assert_eq!(learned.matches("- name: ").count(), 2, "{learned}");
    project.write("work/draft.yaml", &format!("version: 1\nrules:\n{learned}"));
    let output = project.run(&["policy", "replay", "tk-1", "--policy", "draft.yaml"]);
    let again = String::from_utf8(output.stdout).unwrap();
    assert!(again.contains("ask        → allow       Bash git push -q origin HEAD:a && git push"), "{again}");
}

#[test]
fn a_yes_for_the_ticket_outlives_the_process_while_the_rules_are_the_same() {
    let project = project("guarded", &[&push("one"), &push("two"), "write: {path: \"{slug}.txt\", content: x}"]);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    card(&mut terminal, "HEAD:one");
    terminal.keys_until("t", "HEAD:two");
    card(&mut terminal, "HEAD:two");
    terminal.signal(Signal::KILL);
    terminal.wait_end();

    let mut terminal = start(&project, &["resume"], ROOMY);
    card(&mut terminal, "HEAD:two");
    terminal.keys_until("y", "complete: 1/1 phases");
    let again = ("allow once", "ticket");
    let by = [("allow ticket", "screen"), ("allow once", "screen"), again, again];
    assert_eq!(answers(&project.journal()), pairs(&by), "each was asked about once, for both processes");
    leave(terminal, &project);
}

#[test]
fn other_rules_ask_again_what_was_allowed_under_those_before() {
    let project = project("guarded", &[&push("one"), &push("two"), "write: {path: \"{slug}.txt\", content: x}"]);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    card(&mut terminal, "HEAD:one");
    terminal.keys_until("t", "HEAD:two");
    card(&mut terminal, "HEAD:two");
    terminal.signal(Signal::KILL);
    terminal.wait_end();

    project.write("config/policy.yaml", "version: 1\nrules:\n  - {name: mine, action: block, command: frobnicate}\n");
    let mut terminal = start(&project, &["resume"], ROOMY);
    card(&mut terminal, "HEAD:two");
    terminal.keys("y");
    terminal.wait_until("the next call", |screen| screen.contains("Approve `git push -q origin HEAD:one"));
    card(&mut terminal, "HEAD:one");
    terminal.keys_until("y", "complete: 1/1 phases");
    let by = [("allow ticket", "screen"), ("allow once", "screen"), ("allow once", "screen"), ("allow once", "ticket")];
    assert_eq!(answers(&project.journal()), pairs(&by));
    leave(terminal, &project);
}

#[test]
fn a_yes_for_the_ticket_holds_for_its_like_in_this_run_and_no_other() {
    let project =
        project("guarded", &[&push("one"), &push("one"), &push("one"), "write: {path: \"{slug}.txt\", content: x}"]);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    card(&mut terminal, "HEAD:one");
    terminal.keys_until("t", "complete: 1/1 phases");
    let by = [("allow ticket", "screen"), ("allow once", "ticket"), ("allow once", "ticket")];
    assert_eq!(answers(&project.journal()), pairs(&by));
    leave(terminal, &project);

    project.ticket("tk-2", &["Beta"]);
    let mut terminal = start(&project, &["tk-2"], ROOMY);
    card(&mut terminal, "HEAD:one");
    terminal.keys_until("d", "Why not");
    terminal.keys_until("push nothing today\r", "denied: Bash git push");
    // Claude was told the person's words: they stand in its tool result.
    terminal.wait_for("push nothing today");
    for _ in 0..2 {
        card(&mut terminal, "HEAD:one");
        terminal.keys_until("d", "Why not");
        terminal.keys_until("\r", "denied: Bash git push");
    }
    terminal.wait_for("complete: 1/1 phases");
    leave(terminal, &project);
}

#[test]
fn a_lasting_yes_is_a_rule_that_is_shown_saved_told_of_and_holds() {
    let project = project(
        "guarded",
        &["write: {path: made.txt, content: x}", &push("one"), &push("one"), &push("two"), "bash: \"frobnicate x\""],
    );
    let policy = project.path("config/policy.yaml");
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    let screen = card(&mut terminal, "HEAD:one");
    assert!(screen.contains("A always"), "{screen}");
    let screen = terminal.keys_until("A", "save it and allow this call");
    assert!(screen.contains("HEAD:one") && !policy.exists(), "shown before it is saved:\n{screen}");
    terminal.keys_until("n", "A always");
    assert!(!policy.exists() && answers(&project.journal()).is_empty());
    terminal.keys_until("A", "save it and allow this call");
    terminal.keys_until("y", &format!("saved in {}", policy.display()));
    // The second is not asked about; the third is another command.
    card(&mut terminal, "HEAD:two");
    terminal.keys("y");
    let screen = card(&mut terminal, "frobnicate");
    assert!(!screen.contains("A always"), "no rule for what is not known:\n{screen}");
    terminal.keys("A");
    terminal.keys_until("d", "Why not");
    terminal.keys_until("\r", "complete: 1/1 phases");
    let told = format!("saved in {}", policy.display());
    assert!(
        project.journal().iter().any(|record| record["text"].as_str().is_some_and(|text| text.contains(&told))),
        "the journal says where the rule is"
    );
    leave(terminal, &project);

    let text = std::fs::read_to_string(&policy).unwrap();
    assert_eq!(text.matches("- name:").count(), 1, "{text}");
    for (command, code) in [("git push -q origin HEAD:one", 0), ("git push -q origin HEAD:one --force", 10)] {
        assert_eq!(project.run(&["policy", "check", command]).status.code(), Some(code), "{command}: {text}");
    }
    let by: Vec<String> = answers(&project.journal()).into_iter().map(|(what, _)| what).collect();
    assert_eq!(by[..2], ["allow always", "allow once"]);
}

#[test]
fn an_edited_call_is_judged_again_and_a_block_stays_a_block() {
    let project = project("guarded", &[&push("one")]);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    card(&mut terminal, "HEAD:one");
    terminal.keys_until("e", "save, then y to run");
    terminal.keys(&"\x7f".repeat(40));
    terminal.keys_until("rm -rf .git", "rm -rf .git");
    terminal.keys("\x13");
    // The reason stands over what was typed, which can be changed further.
    let screen = terminal.wait_for("Edit rejected");
    assert!(screen.contains("rm -rf .git") && screen.contains("save, then y to run"), "{screen}");
    terminal.keys(&"\x7f".repeat("rm -rf .git".len()));
    terminal.keys("touch fine.txt\x13");
    // What the rules say of it stands there before any yes.
    terminal.wait_for("with its verdict");
    terminal.wait_for("once");
    settle();
    terminal.keys_until("y", "complete: 1/1 phases");
    assert!(
        project.path("work/.git").exists() && project.path("work/fine.txt").exists() && pushed(&project).is_empty()
    );
    leave(terminal, &project);
}

#[test]
fn what_is_longer_than_its_card_is_read_to_the_end_before_a_yes() {
    let lines = (0..160).map(|n| format!("echo line {n};")).collect::<Vec<_>>().join(" ");
    let long = format!("bash: \"{lines} git push -q origin HEAD:hidden\"");
    let project = project("guarded", &[&long]);
    let mut terminal = start(&project, &["tk-1"], SMALL);
    let screen = card(&mut terminal, "line 0");
    assert!(!screen.contains("hidden") && screen.contains("Space more"), "{screen}");
    terminal.keys("yt");
    terminal.keys("A");
    terminal.keys("j");
    assert!(answers(&project.journal()).is_empty(), "what was not read is not agreed to");
    terminal.keys_until("G", "once");
    assert!(answers(&project.journal()).is_empty());
    terminal.keys_until("y", "complete: 1/1 phases");
    assert_eq!(pushed(&project), ["hidden"]);
    leave(terminal, &project);
}

#[test]
fn questions_and_plans_of_claudes_are_answered_on_their_cards() {
    let project = project(
        "strict",
        &[
            "ask: {question: \"Which colours?\", options: [red, blue, green], multi: true}",
            "say: \"heard {answer}\"",
            "ask: {question: \"Which name?\", options: [Ann, Bob]}",
            "say: \"heard {answer}\"",
            "plan: \"First this, then that.\"",
            "plan: \"Only that.\"",
        ],
    );
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    card(&mut terminal, "Which colours?");
    terminal.keys_until(" jj \r", "heard red, green");
    card(&mut terminal, "Which name?");
    terminal.keys_until("jj\r", "Your answer?");
    terminal.keys_until("Cleo\r", "heard Cleo");
    card(&mut terminal, "First this");
    terminal.keys_until("d", "Why not");
    terminal.keys("leave out the first\r");
    card(&mut terminal, "Only that.");
    terminal.keys("y");
    terminal.wait_until("the end", |screen| screen.contains("ended") || screen.contains("phases done"));
    let answered = answers(&project.journal());
    let what: Vec<&str> = answered.iter().map(|(what, _)| what.as_str()).collect();
    assert_eq!(what[..4], ["allow once", "allow once", "deny leave out the first", "allow once"]);
    terminal.keys("q");
}

#[test]
fn what_needs_the_passphrase_is_blocked_until_one_is_set_and_open_for_a_while_after_it_was_typed() {
    let steps = ["bash: \"touch a.txt\"", "bash: \"touch b.txt\"", "bash: \"touch c.txt\""];
    let unset = project("strict", &steps);
    let terminal = start(&unset, &["tk-1"], ROOMY);
    terminal.wait_for("none is set");
    terminal.wait_until("the end", |screen| screen.contains("ended"));
    assert!(!unset.path("work/a.txt").exists() && answers(&unset.journal()).is_empty());
    drop(terminal);

    let project = project("strict", &steps);
    let set = |words: &str| {
        use std::io::Write;
        let mut child =
            project.command(&["passphrase", "set", "--stdin"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(words.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    };
    set("correct horse battery\n");
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    let screen = card(&mut terminal, "touch a.txt");
    assert!(screen.contains("secret-for-write") && !screen.contains("A always"), "{screen}");
    terminal.keys_until("y", "check");
    for failure in 1..=5 {
        terminal.keys_until("not the words at all\r", "checking the passphrase");
        let after = if failure < 5 { "passphrase  █" } else { "Wait " };
        terminal.wait_until("the next try", |screen| screen.contains("Wrong passphrase") && screen.contains(after));
    }
    assert!(!terminal.screen().contains("not the words"), "{}", terminal.screen());
    // A try while it is locked is not sent, though it is the right one.
    terminal.keys("correct horse battery\r");
    terminal.wait_until("the lock open", |screen| !screen.contains("Wait "));
    terminal.keys_until("\r", "complete: 1/1 phases");
    for name in ["a", "b", "c"] {
        assert!(project.path(&format!("work/{name}.txt")).exists(), "{name}");
    }
    assert_eq!(answers(&project.journal()), pairs(&[("allow once", "screen")]), "the rule was open for the others");
    let printed = String::from_utf8_lossy(&terminal.raw()).into_owned();
    let stored = serde_json::to_string(&project.journal()).unwrap();
    assert!(!printed.contains("horse") && !stored.contains("horse"), "never shown, never kept");
    leave(terminal, &project);
}

#[test]
fn a_question_outlives_its_program_and_claude_goes_on_with_the_answer() {
    let project = project("guarded", &[&push("one")]);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    card(&mut terminal, "HEAD:one");
    terminal.signal(Signal::KILL);
    terminal.wait_end();
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("run resumed");
    card(&mut terminal, "HEAD:one");
    terminal.keys_until("y", "complete: 1/1 phases");
    let records = project.journal();
    let ids = |kind: &str| -> Vec<String> {
        let of_kind = records.iter().filter(|record| record["kind"] == kind);
        of_kind.map(|record| record["id"].as_str().unwrap().to_owned()).collect()
    };
    let asked = ids("approval_asked");
    assert_eq!((ids("approval_void"), ids("approval_answered")), (Vec::new(), asked), "the second is the call again");
    assert_eq!(answers(&records), pairs(&[("allow once", "screen"), ("allow once", "ticket")]));
    assert_eq!(pushed(&project), ["one"]);
    leave(terminal, &project);
}

#[test]
fn where_nobody_can_answer_what_outlived_its_program_claude_is_told_so() {
    let project = project("guarded", &[&push("one")]);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    card(&mut terminal, "HEAD:one");
    terminal.signal(Signal::KILL);
    terminal.wait_end();
    project.run(&["run", "tk-1", "-n", "2"]);
    let records = project.journal();
    let of = |kind: &str| records.iter().filter(|record| record["kind"] == kind).collect::<Vec<_>>();
    assert_eq!((of("approval_void").len(), of("approvals_kept").len()), (1, 1));
    assert!(of("approval_answered").iter().all(|record| record["by"] == "nobody"), "{records:?}");
    assert!(!of("approval_answered").is_empty() && pushed(&project).is_empty());
}

#[test]
fn claudes_process_ends_at_a_question_that_waits_and_goes_on_with_the_answer() {
    let project = project("guarded\napproval:\n  defer_after: 1", &[&push("one")]);
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    card(&mut terminal, "HEAD:one");
    // The card stays while the process behind it goes.
    let ended = |project: &Project| project.journal().iter().any(|record| record["kind"] == "iteration_ended");
    while !ended(&project) {
        std::thread::yield_now();
    }
    assert!(pushed(&project).is_empty());
    terminal.wait_for("waiting for you ━");
    terminal.keys_until("y", "complete: 1/1 phases");
    assert_eq!(answers(&project.journal()), pairs(&[("allow once", "screen"), ("allow once", "ticket")]));
    assert_eq!(pushed(&project), ["one"]);
    leave(terminal, &project);
}

#[test]
fn one_queue_holds_calls_and_changed_commands() {
    let both = format!("parallel: [{{{}}}, {{{}}}]", push("one"), push("two"));
    let project = project("guarded", &[&both]);
    project.validate_by("true");
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("1 more wait");
    project.write("work/.tickets/tk-1.md", &project.ticket_text("tk-1").replace("`true`", "`test -e .git`"));
    terminal.wait_until("three things that wait", |screen| screen.contains("3 waiting"));
    terminal.keys_until("!", "1 of 3 waiting for you");
    terminal.keys_until("!", "2 of 3 waiting for you");
    terminal.keys_until("!", "Added:");
    terminal.keys("y");
    terminal.wait_until("two things that wait", |screen| screen.contains("2 waiting"));
    terminal.keys_until("!", "1 of 2 waiting for you");
    settle();
    terminal.keys_until("y", "1 more waiting, ! shows the next");
    terminal.keys_until("!", "1 of 1 waiting for you");
    settle();
    terminal.keys("y");
    terminal.wait_until("the end", |screen| screen.lines().next().is_some_and(|bar| bar.contains("✓ done")));
    assert_eq!(pushed(&project), ["one", "two"]);
    leave(terminal, &project);
}

#[test]
fn rules_that_are_edited_while_a_question_waits_judge_it_again() {
    let project = project(
        "guarded",
        &["write: {path: made.txt, content: x}", &push("one"), &push("two"), &push("three"), &push("four")],
    );
    let rule = |branch: &str, action: &str| {
        format!(
            "  - {{name: {branch}-{action}, action: {action}, command: git, args: {{prefix: [[push]]}}, regex: \"git push -q origin HEAD:{branch}\"}}\n"
        )
    };
    let mut rules = "version: 1\nrules:\n".to_owned();
    let mut edit = |more: &str| {
        rules.push_str(more);
        project.write("config/policy.yaml", &rules);
    };
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    // Refused by the new rules, card and all …
    card(&mut terminal, "HEAD:one");
    edit(&rule("one", "block"));
    terminal.wait_for("denied by the changed rules");
    // … let through …
    card(&mut terminal, "HEAD:two");
    edit(&rule("two", "allow"));
    terminal.wait_for("allowed by the changed rules");
    // … or asked about by another rule: the card is the new question's, and a key that was meant for the old one is none.
    card(&mut terminal, "rule ask-network");
    edit(&rule("three", "ask"));
    let screen = terminal.wait_for("Asked again: the rules were changed.");
    assert!(screen.contains("rule three-ask"), "{screen}");
    terminal.keys_until("y", "asked again");
    settle();
    terminal.keys("y");
    // Rules that cannot be used, half saved perhaps, refuse nothing that waits: the card says where they are wrong, and
    // what they say in the end counts.
    card(&mut terminal, "HEAD:four");
    project.write("config/policy.yaml", "version: 1\nrulse: []\n");
    let screen = terminal.wait_for("This call keeps waiting");
    assert!(screen.contains("policy.yaml:2:1") && screen.contains("HEAD:four"), "{screen}");
    edit(&rule("four", "allow"));
    terminal.wait_until("the end", |screen| {
        screen.contains("new calls are blocked") && screen.contains("complete: 1/1 phases")
    });
    assert_eq!(pushed(&project), ["four", "three", "two"]);
    let by = [("deny", "rules"), ("allow once", "rules"), ("allow once", "screen"), ("allow once", "rules")];
    let answered: Vec<(String, String)> = answers(&project.journal())
        .into_iter()
        .map(|(what, by)| (if what.starts_with("deny") { "deny".into() } else { what }, by))
        .collect();
    assert_eq!(answered, pairs(&by));
    leave(terminal, &project);
}

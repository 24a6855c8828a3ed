//! Questions to a person at the screen, by the program itself under the default rules, in a pty of 120×40.

use crate::approvals::bash;
use crate::messages_stub::Reply;
use crate::program::{Bench, TICKET, block};
use crate::terminal::Terminal;
use programmator::adapters::store::Store;
use programmator::runtime::offline::state_of;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// A project with a program that notes what it was called with. The default rules ask about one of this name.
fn bench() -> Bench {
    let bench = Bench::new(&["Do it"]);
    bench.judged_by("guarded");
    bench.project.write("work/deploy", "#!/bin/sh\necho \"$*\" >> ran.txt\n");
    std::fs::set_permissions(bench.file("deploy"), std::fs::Permissions::from_mode(0o755)).unwrap();
    bench
}

fn ran(bench: &Bench) -> String {
    std::fs::read_to_string(bench.file("ran.txt")).unwrap_or_default()
}

/// What stands on the frame of every card.
const CARD: &str = "waiting for you ━";

fn open_questions(bench: &Bench) -> Vec<String> {
    let store = Store::open(&bench.project.path("state")).unwrap();
    let run = store.runs().unwrap()[0].run;
    state_of(&store, run).unwrap().approvals.into_iter().map(|approval| approval.id.call.clone()).collect()
}

/// Opens the card with these words, once the screen tells of it so.
fn card(terminal: &mut Terminal, told: &str, words: &str) {
    let waits = |line: &str| line.contains("Press !") && line.contains(told);
    terminal.wait_until(told, |screen| screen.lines().any(waits));
    terminal.keys("!");
    terminal.wait_until(words, |screen| screen.contains(words) && screen.contains(CARD));
    settle();
}

/// A card takes no yes in the moment in which it appears.
fn settle() {
    std::thread::sleep(programmator::tui::modals::card::APPEARS);
}

/// The card has gone.
fn answered(terminal: &Terminal) {
    terminal.wait_until("no card", |screen| !screen.contains(CARD));
}

#[test]
fn a_person_answers_every_kind_of_question_with_keys() {
    let bench = bench();
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]}]});
    bench.script([
        bash("./deploy one"),
        bash("./deploy two"),
        bash("./deploy three"),
        Reply::tool("AskUserQuestion", question),
        Reply::tool("EnterPlanMode", json!({})),
        Reply::plan("THE-PLAN: step by step"),
        Reply::tool("ExitPlanMode", json!({})),
        bash("./deploy four"),
        Reply::text(&block("Do it", "DONE", &["ran.txt"])),
    ]);
    let mut terminal = bench.open(&[TICKET]);
    card(&mut terminal, "./deploy one", "./deploy one");
    terminal.keys("y");
    answered(&terminal);
    card(&mut terminal, "./deploy two", "./deploy two");
    assert_eq!(ran(&bench), "one\n");
    terminal.keys_until("d", "reason for Claude");
    terminal.keys("use number three\r");
    answered(&terminal);
    card(&mut terminal, "./deploy three", "./deploy three");
    terminal.keys_until("e", "save, then y to run");
    terminal.keys_until(" edited", "./deploy three edited");
    terminal.keys("\x13");
    // The changed call is a question of its own: a yes before it counts for nothing.
    terminal.wait_for("with its verdict");
    terminal.wait_for("once");
    settle();
    terminal.keys("y");
    answered(&terminal);
    card(&mut terminal, "Which colour?", "Which colour?");
    terminal.keys("j\r");
    answered(&terminal);
    card(&mut terminal, "has a plan", "THE-PLAN");
    terminal.keys("y");
    answered(&terminal);
    card(&mut terminal, "./deploy four", "./deploy four");
    terminal.keys_until("y", "complete: 1/1 phases");
    assert_eq!(ran(&bench), "one\nthree edited\nfour\n");
    assert!(bench.asked(2).contains("use number three"), "{}", bench.asked(2));
    assert!(bench.asked(4).contains(r#"\"Which colour?\"=\"blue\""#), "{}", bench.asked(4));
    terminal.keys("q");
    assert_eq!(terminal.wait_end().exit_code(), 0);
}

#[test]
fn an_interrupt_takes_the_card_away_and_says_so() {
    let bench = bench();
    bench.script([bash("./deploy one")]);
    let mut terminal = bench.open(&[TICKET]);
    card(&mut terminal, "./deploy one", "./deploy one");
    terminal.keys("\x1b");
    answered(&terminal);
    terminal.keys_until("P", "paused");
    terminal.wait_until("no question", |screen| !screen.contains("1 waiting"));
    let journal = bench.project.journal();
    let of = |kind: &str| journal.iter().filter(|record| record["kind"] == kind).count();
    assert_eq!((of("approval_asked"), of("approval_void"), of("approval_answered")), (1, 1, 0));
    assert_eq!(ran(&bench), "");
}

#[test]
fn after_our_death_the_question_still_waits_and_the_call_runs_once_with_its_answer() {
    let bench = bench();
    bench.script([bash("./deploy one")]);
    let mut terminal = bench.open(&[TICKET]);
    card(&mut terminal, "./deploy one", "./deploy one");
    terminal.signal(rustix::process::Signal::KILL);
    terminal.wait_end();
    // Claude's end follows ours, and what it waited for with us was never answered.
    let until = Instant::now() + Duration::from_secs(30);
    while !bench.survivors().is_empty() {
        assert!(Instant::now() < until, "{:?}", bench.survivors());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(ran(&bench), "", "it did not run meanwhile");
    let old = open_questions(&bench);
    assert_eq!(old.len(), 1);
    bench.script([bash("./deploy one"), Reply::text(&block("Do it", "DONE", &["ran.txt"]))]);
    let mut terminal = bench.open(&["resume", TICKET]);
    goes_on_with_a_yes(&bench, &mut terminal);
}

#[test]
fn a_process_that_has_waited_long_enough_is_ended_and_goes_on_with_the_answer() {
    let bench = bench();
    let config = bench.project.read("config/config.yaml") + "approval: {defer_after: 1}\n";
    bench.project.write("config/config.yaml", &config);
    bench.script([bash("./deploy one")]);
    let mut terminal = bench.open(&[TICKET]);
    terminal.wait_for("still waiting for your answer");
    let until = Instant::now() + Duration::from_secs(30);
    while !bench.survivors().is_empty() {
        assert!(Instant::now() < until, "Claude costs nothing while nobody answers: {:?}", bench.survivors());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!((ran(&bench).as_str(), open_questions(&bench).len()), ("", 1));
    bench.script([bash("./deploy one"), Reply::text(&block("Do it", "DONE", &["ran.txt"]))]);
    goes_on_with_a_yes(&bench, &mut terminal);
}

/// The question whose process is gone is answered: the session goes on, is told so, and its call runs once, unasked.
fn goes_on_with_a_yes(bench: &Bench, terminal: &mut Terminal) {
    card(terminal, "./deploy one", "./deploy one");
    terminal.keys_until("y", "complete: 1/1 phases");
    assert_eq!(ran(bench), "one\n");
    assert!(bench.asked(2).contains("Make the same call again now"), "{}", bench.asked(2));
    let journal = bench.project.journal();
    let of = |kind: &str| journal.iter().filter(|record| record["kind"] == kind).collect::<Vec<_>>();
    assert_eq!((of("approvals_kept").len(), of("approval_void").len()), (1, 0));
    let by: Vec<_> = of("approval_answered").iter().map(|record| record["by"].clone()).collect();
    assert_eq!(by, ["screen", "ticket"]);
    let begun = of("iteration_started");
    assert!(begun.len() == 2 && begun[1]["session"].is_string(), "in the session that was cut off: {begun:?}");
}

//! Questions to the person on the real CLI: in this process with the test as the person, and in a terminal.

use crate::attended::{Attended, by_words, no, yes};
use crate::messages_stub::Reply;
use crate::program::{Bench, TICKET, Told, block};
use crate::real_cli::{claude, service};
use programmator::adapters::store::Store;
use programmator::domain::approval::{Answer, ApprovalKind, Presence, Scope};
use programmator::domain::breaker::Circuit;
use programmator::domain::command::UserCommand;
use programmator::domain::outcome::ExitReason;
use programmator::domain::record::Record;
use programmator::domain::verdict::Verdict;
use programmator::orchestrator::state::Stage;
use programmator::runtime::offline::state_of;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The CLI with a home of its own and the stub as its service, also when this process starts it.
pub fn bench() -> Bench {
    bench_with("")
}

/// The same with more lines of configuration.
pub fn bench_with(more: &str) -> Bench {
    let bench = Bench::new(&["Do it"]);
    let home = bench.project.path("home").display().to_string();
    let env: serde_json::Map<String, Value> = service(&bench.stub)
        .into_iter()
        .chain([("HOME".to_owned(), home)])
        .map(|(key, value)| (key, json!(value)))
        .collect();
    let command = json!(["env", "-u", "ANTHROPIC_AUTH_TOKEN", "-u", "CLAUDE_CONFIG_DIR", claude()]);
    bench.project.write(
        "config/config.yaml",
        &format!("workflow: {{name: simple}}\nagent:\n  command: {command}\n  env: {}\n{more}", json!(env)),
    );
    bench
}

pub const SUBAGENT: &str = "SUBAGENT: do the part";

/// What the main agent reads when its subagent works in the background: it goes on at once.
pub const LAUNCHED: &str = "Async agent launched";

pub fn bash(command: &str) -> Reply {
    Reply::tool("Bash", json!({"command": command, "description": "d"}))
}

pub fn done(file: &str) -> Reply {
    Reply::text(&block("Do it", "DONE", &[file]))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_call_goes_the_way_that_rules_and_person_say() {
    let bench = bench();
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]}]});
    bench.script([
        bash("touch plain.txt"),
        bash("touch blocked.txt"),
        bash("touch asked-1.txt"),
        bash("touch asked-2.txt"),
        bash("touch asked-3.txt"),
        Reply::tool("AskUserQuestion", question),
        done("plain.txt"),
    ]);
    let mut run = Attended::open(&bench.project, TICKET, Presence::Screen, by_words());
    run.decide(yes).await;
    let edited = Answer::Allow { input: json!({"command": "touch edited.txt"}).to_string(), scope: Scope::Once };
    run.decide(|_| edited).await;
    let changed = run.decide(yes).await;
    assert_eq!(changed.input, r#"{"command":"touch edited.txt"}"#, "what was changed is asked about before it runs");
    run.decide(|_| no("use make \"instead\"")).await;
    let question = run
        .decide(|approval| {
            let mut input: Value = serde_json::from_str(&approval.input).unwrap();
            input["answers"] = json!({"Which colour?": "blue"});
            Answer::Allow { input: input.to_string(), scope: Scope::Once }
        })
        .await;
    assert_eq!((question.kind, question.tool.as_str()), (ApprovalKind::Question, "AskUserQuestion"));
    assert_eq!(run.end().await, Some(ExitReason::Complete));

    let made = |name: &&str| bench.file(&format!("{name}.txt")).exists();
    let names = ["plain", "blocked", "asked-1", "asked-2", "edited", "asked-3"];
    assert_eq!(names.iter().filter(|name| made(name)).copied().collect::<Vec<_>>(), ["plain", "asked-1", "edited"]);
    assert!(bench.asked(2).contains("words: the word is in it"), "Claude reads why it was blocked");
    assert!(bench.asked(5).contains(r#"use make \"instead\""#), "and the words: {}", bench.asked(5));
    let answered = bench.asked(6);
    // What the scripted agent says too.
    let said = r#"Your questions have been answered: \"Which colour?\"=\"blue\"."#;
    assert!(answered.contains(said), "{answered}");
    let [allow, ask, block] = [Verdict::Allow, Verdict::Ask, Verdict::Block];
    assert_eq!(run.verdicts(), [allow, block, ask, ask, ask, ask, ask], "the changed call has a verdict of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subagent_waits_for_the_person_too() {
    let bench = bench();
    bench.script([
        Reply::tool("Task", json!({"description": "a part", "prompt": SUBAGENT, "subagent_type": "general-purpose"})),
        // The subagent may work beside the main agent.
        bash("touch asked-sub.txt").in_conversation(SUBAGENT),
        bash("touch asked-no.txt").in_conversation(SUBAGENT),
        Reply::text("The part is done.").in_conversation(SUBAGENT),
        Reply::text("It works.").when(LAUNCHED),
        done("asked-sub.txt"),
    ]);
    let mut run = Attended::open(&bench.project, TICKET, Presence::Screen, by_words());
    let first = run.decide(yes).await;
    assert!(first.agent.is_some(), "{first:?}");
    run.decide(|_| no("not that")).await;
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    assert!(bench.file("asked-sub.txt").exists() && !bench.file("asked-no.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_withdraws_the_question() {
    let bench = bench();
    bench.script([bash("touch asked-1.txt")]);
    let mut run = Attended::open(&bench.project, TICKET, Presence::Screen, by_words());
    let first = run.question(&[]).await;
    run.command(UserCommand::PauseNow).await;
    run.until("the pause", |state| state.stage == Stage::Paused).await;
    run.answer(&first.id, yes(&first)).await;
    bench.script([bash("touch asked-2.txt"), done("asked-2.txt")]);
    run.command(UserCommand::Resume).await;
    run.decide(yes).await;
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    assert!(!bench.file("asked-1.txt").exists() && bench.file("asked-2.txt").exists());
    let void = run.journal().into_iter().filter(|record| matches!(record, Record::ApprovalVoid(_))).count();
    assert_eq!(void, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_wait_side_by_side_are_answered_in_any_order() {
    let bench = bench();
    for name in ["asked-a.txt", "asked-b.txt"] {
        bench.project.write(&format!("work/{name}"), &format!("inside {name}\n"));
    }
    let read = |name: &str| json!({"file_path": bench.file(name)});
    let both = Reply::tool("Read", read("asked-a.txt")).and_tool("Read", read("asked-b.txt"));
    let two = bash("touch asked-1.txt").and_tool("Bash", json!({"command": "touch asked-2.txt", "description": "d"}));
    bench.script([both, two, done("asked-2.txt")]);
    let mut run = Attended::open(&bench.project, TICKET, Presence::Screen, by_words());
    run.until("both", |state| state.approvals.len() == 2).await;
    let waits = |name: &str| run.state.approvals.iter().find(|it| it.input.contains(name)).unwrap().clone();
    let (first, second) = (waits("asked-a"), waits("asked-b"));
    run.answer(&second.id, yes(&second)).await;
    run.until("the later answer", |state| state.approvals.len() == 1).await;
    run.answer(&first.id, no("not that file")).await;
    // What changes something is asked about one after another; each answer is for its own call.
    let seen = [first.id.clone(), second.id.clone()];
    let third = run.question(&seen).await;
    run.answer(&third.id, no("not the first")).await;
    let fourth = run.question(&[first.id.clone(), second.id.clone(), third.id.clone()]).await;
    run.answer(&fourth.id, yes(&fourth)).await;
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    let results = bench.asked(1);
    assert!(results.contains("inside asked-b.txt") && !results.contains("inside asked-a.txt"), "{results}");
    assert!(results.contains("not that file"), "{results}");
    assert!(!bench.file("asked-1.txt").exists() && bench.file("asked-2.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_refused_with_words_and_approved_after() {
    let bench = bench();
    let exit = || Reply::tool("ExitPlanMode", json!({}));
    bench.script([
        Reply::tool("EnterPlanMode", json!({})),
        exit(),
        Reply::plan("FIRST-PLAN: all at once"),
        exit(),
        Reply::plan("SECOND-PLAN: step by step"),
        exit(),
        bash("touch plain.txt"),
        done("plain.txt"),
    ]);
    let mut run = Attended::open(&bench.project, TICKET, Presence::Screen, by_words());
    let first = run.decide(|_| no("begin with the tests")).await;
    assert_eq!((first.kind, first.tool.as_str()), (ApprovalKind::Plan, "ExitPlanMode"));
    assert!(first.input.contains("FIRST-PLAN"), "the person reads it: {}", first.input);
    let second = run.decide(yes).await;
    assert!(second.input.contains("SECOND-PLAN"), "{}", second.input);
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    assert!(bench.asked(2).contains("no plan was written"), "nobody is asked about nothing: {}", bench.asked(2));
    assert!(bench.asked(4).contains("begin with the tests"), "{}", bench.asked(4));
    assert!(bench.file("plain.txt").exists(), "and it went to work");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_waits_longer_than_every_timer_of_the_run() {
    // Far less than it takes a person; `PROGRAMMATOR_TEST_WAIT` makes it as long as you like, in seconds.
    let wait = std::env::var("PROGRAMMATOR_TEST_WAIT").map_or(15, |text| text.parse().unwrap());
    let bench = bench_with("limits:\n  iteration_timeout: 12\n  idle_timeout: 5\n");
    bench.script([bash("touch asked.txt"), done("asked.txt")]);
    let mut run = Attended::open(&bench.project, TICKET, Presence::Screen, by_words());
    let asked = run.question(&[]).await;
    let news = run.silent_for(Duration::from_secs(wait)).await;
    assert_eq!(news, Vec::<String>::new(), "nothing happens while it waits");
    assert!(!bench.file("asked.txt").exists());
    assert_eq!(bench.stub.requests().len(), 1);
    run.answer(&asked.id, yes(&asked)).await;
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    assert!(bench.file("asked.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claude_that_goes_round_the_gate_is_killed_and_nothing_runs_after() {
    let bench = bench();
    // In this mode Claude asks nobody before it reads, and says nothing of it.
    let script = "#!/bin/bash\nexec \"$@\" --bare\n";
    bench.project.write("wrapper", script);
    let wrapper = bench.project.path("wrapper");
    std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let config = bench.project.read("config/config.yaml");
    let (cli, both) = (json!(claude()), json!([wrapper.display().to_string(), claude()]).to_string());
    let config = config.replace(&cli.to_string(), both.trim_matches(['[', ']']));
    bench.project.write("config/config.yaml", &config);
    bench.project.write("work/secret.txt", "a word\n");
    let read = Reply::tool("Read", json!({"file_path": bench.file("secret.txt")}));
    bench.script([read, bash("touch after.txt"), done("after.txt")]);
    let mut run = Attended::open(&bench.project, TICKET, Presence::Screen, by_words());
    let end = run.end().await;
    let journal = run.journal();
    assert_eq!(end, Some(ExitReason::CircuitOpen), "{journal:#?}");
    let told = |part: &str| journal.iter().any(|it| matches!(it, Record::Noticed { text, .. } if text.contains(part)));
    assert!(told("ran without a verdict"), "{journal:#?}");
    assert!(journal.iter().any(|record| matches!(record, Record::AgentExited { signal: Some(9), .. })));
    assert!(!bench.file("after.txt").exists());
    assert_eq!(bench.survivors(), Vec::<String>::new());
    assert_eq!(run.state.breaker.state, Circuit::Open, "nothing runs before somebody has looked");
}

#[test]
fn our_death_while_asking_leaves_nothing_open() {
    let bench = Bench::new(&["Do it"]);
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]}]});
    bench.script([Reply::tool("AskUserQuestion", question)]);
    let mut terminal = bench.open(&[TICKET]);
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let store = Store::open(&bench.project.path("state")).unwrap();
        let asked = store.runs().unwrap().first().map(|run| state_of(&store, run.run).unwrap());
        if asked.is_some_and(|state| !state.approvals.is_empty()) {
            break;
        }
        assert!(Instant::now() < until, "no question came:\n{}", terminal.screen());
        std::thread::sleep(Duration::from_millis(50));
    }
    terminal.signal(rustix::process::Signal::KILL);
    terminal.wait_end();
    let write = Reply::tool("Write", json!({"file_path": bench.file("a.txt"), "content": "x"}));
    bench.script([write, done("a.txt")]);
    let told = Told::new(&bench.command(&["resume", "--json"]).output().unwrap());
    told.ended(0, "complete");
    assert_eq!(told.of("approval_void").len(), 1, "the old question is void");
    assert!(told.of("approval_answered").is_empty());
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}

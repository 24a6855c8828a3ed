//! Whole runs on the scripted agent, in this process, with the test as the person.

use crate::attended::{Attended, by_words, no, yes};
use crate::project::Project;
use crate::watched::json;
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::{Answer, AnsweredBy, Approval, ApprovalKind, Presence, Ruling, Scope, Voided};
use programmator::domain::breaker::Circuit;
use programmator::domain::command::UserCommand;
use programmator::domain::outcome::ExitReason;
use programmator::domain::record::Record;
use programmator::domain::tool_call::ToolCall;
use programmator::domain::verdict::Verdict;
use programmator::orchestrator::state::Stage;
use programmator::runtime::gate::{Gate, Judge};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};

const TICKET: &str = "tk-1";

fn project(steps: &str) -> Project {
    let project = Project::new();
    project.ticket(TICKET, &["Do it"]);
    project
        .scenario(&format!("turns:\n  - when: {{phase: Do}}\n    steps:\n{steps}      - status: {{summary: did}}\n"));
    project
}

fn answers(run: &Attended) -> Vec<(String, Answer, AnsweredBy)> {
    let answered = run.journal().into_iter().filter_map(|record| match record {
        Record::ApprovalAnswered(answered) => Some((answered.id.call, answered.answer, answered.by)),
        _ => None,
    });
    answered.collect()
}

fn notices(run: &Attended) -> Vec<String> {
    let texts = run.journal().into_iter().filter_map(|record| match record {
        Record::Noticed { text, .. } => Some(text),
        _ => None,
    });
    texts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_questions_at_once_each_get_their_own_answer() {
    let mut steps = "      - parallel:\n".to_owned();
    for n in 0..500 {
        writeln!(steps, "          - write: {{path: \"out/{n}.txt\", content: \"asked {n}\"}}").unwrap();
    }
    let project = project(&steps);
    let mut run = Attended::open(&project, TICKET, Presence::Screen, by_words());
    run.until("all of them", |state| state.approvals.len() == 500).await;
    let number = |input: &str| {
        let input: Value = serde_json::from_str(input).unwrap();
        input["content"].as_str().unwrap().trim_start_matches("asked ").parse::<u32>().unwrap()
    };
    let mut open = run.state.approvals.clone();
    let mut dice = 11_u64;
    while !open.is_empty() {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let approval = open.swap_remove(usize::try_from(dice >> 33).unwrap() % open.len());
        let n = number(&approval.input);
        let answer = match n % 3 {
            0 => no(&format!("not {n}")),
            1 => yes(&approval),
            _ => {
                let mut input: Value = serde_json::from_str(&approval.input).unwrap();
                input["content"] = json!(format!("edited {n}"));
                Answer::Allow { input: input.to_string(), scope: Scope::Once }
            }
        };
        run.answer(&approval.id, answer.clone()).await;
        // What comes second changes nothing; a changed input is asked about anew before it counts.
        if n % 3 == 2 {
            let next = approval.id.next();
            run.until("the edit's question", |state| state.approvals.iter().any(|asked| asked.id == next)).await;
            run.answer(&next, answer).await;
        } else {
            run.answer(&approval.id, if n % 3 == 0 { yes(&approval) } else { no("no more") }).await;
        }
    }
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    let answered = answers(&run);
    let ids: HashSet<&String> = answered.iter().map(|(id, ..)| id).collect();
    assert_eq!((answered.len(), ids.len()), (500, 500), "each once");
    for n in 0..500 {
        let file = std::fs::read_to_string(project.path(&format!("work/out/{n}.txt"))).ok();
        let expected = match n % 3 {
            0 => None,
            1 => Some(format!("asked {n}")),
            _ => Some(format!("edited {n}")),
        };
        assert_eq!(file, expected, "{n}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_one_after_another_and_one_answer_for_the_ticket() {
    let mut steps = String::new();
    for n in 0..60 {
        writeln!(steps, "      - bash: \"echo asked {n} >> log.txt\"").unwrap();
    }
    for _ in 0..40 {
        writeln!(steps, "      - bash: \"echo asked again >> log.txt\"").unwrap();
    }
    let project = project(&steps);
    let mut run = Attended::open(&project, TICKET, Presence::Screen, by_words());
    for n in 0..60 {
        let approval = run.decide(yes).await;
        assert!(approval.input.contains(&format!("asked {n} ")), "{n}: {}", approval.input);
        assert_eq!(
            (approval.tool.as_str(), approval.kind, approval.rule.as_str()),
            ("Bash", ApprovalKind::Call, "words")
        );
    }
    run.decide(|approval| Answer::Allow { input: approval.input.clone(), scope: Scope::Ticket }).await;
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    assert_eq!(project.read("work/log.txt").lines().count(), 100);
    let mut by: HashMap<AnsweredBy, usize> = HashMap::new();
    for (.., who) in answers(&run) {
        *by.entry(who).or_default() += 1;
    }
    assert_eq!(by, HashMap::from([(AnsweredBy::Person(Answerer::SCREEN), 61), (AnsweredBy::Ticket, 39)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_claudes_own_question_and_a_plan_reach_it() {
    let project = project(
        "      - ask: {question: \"Which colour?\", options: [red, blue]}\n      - write: {path: \"{answer}.txt\", content: x}\n      \
         - plan: \"First this, then that.\"\n",
    );
    let mut run = Attended::open(&project, TICKET, Presence::Screen, by_words());
    let question = run
        .decide(|approval| {
            let mut input: Value = serde_json::from_str(&approval.input).unwrap();
            input["answers"] = json!({"Which colour?": "blue"});
            Answer::Allow { input: input.to_string(), scope: Scope::Once }
        })
        .await;
    assert_eq!(question.kind, ApprovalKind::Question);
    let plan = run.decide(|_| no("begin with that")).await;
    assert_eq!(plan.kind, ApprovalKind::Plan);
    assert!(plan.input.contains("First this"), "{}", plan.input);
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    assert!(project.path("work/blue.txt").exists(), "the answer was heard");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_front_ends_the_first_answer_counts_and_says_whose_it_is() {
    let project = project("      - bash: \"touch asked.txt\"\n");
    let mut run = Attended::open(&project, TICKET, Presence::Screen, by_words());
    let approval = run.question(&[]).await;
    let id = approval.id.clone();
    let ann = Answerer { name: Some("Ann".into()), ..Answerer::COMMAND_LINE };
    run.command_by(ann.clone(), UserCommand::AnswerApproval { id: id.clone(), answer: yes(&approval) }).await;
    run.answer(&id, no("too late")).await;
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    assert_eq!(answers(&run), [(id.call, yes(&approval), AnsweredBy::Person(ann))]);
    assert!(project.path("work/asked.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_call_that_is_blocked_does_not_run_and_waits_on() {
    let project = project("      - bash: \"touch asked.txt\"\n");
    let mut run = Attended::open(&project, TICKET, Presence::Screen, by_words());
    let approval = run.question(&[]).await;
    for input in [r#"{"command":"touch blocked.txt"}"#, "touch x", "[]"] {
        run.answer(&approval.id, Answer::Allow { input: input.into(), scope: Scope::Once }).await;
    }
    run.command(UserCommand::Steer { text: "a mark behind them".into() }).await;
    run.until("the mark", |state| !state.notes.all().is_empty()).await;
    assert_eq!(run.state.approvals.len(), 1, "it still waits");
    let mut id = approval.id.clone();
    for (name, kind) in [("locked", ApprovalKind::Passphrase), ("fine", ApprovalKind::Call)] {
        let input = json!({ "command": format!("touch {name}.txt") }).to_string();
        run.command(UserCommand::EditCall { id: id.clone(), input }).await;
        let (before, next) = (id.clone(), id.next());
        run.until("the new question", move |state| state.approvals.iter().all(|asked| asked.id != before)).await;
        let asked = &run.state.approvals[0];
        assert_eq!((&asked.id, asked.kind), (&next, kind), "with what the rules say of it");
        id = next;
    }
    let fine = Approval::clone(&run.state.approvals[0]);
    run.answer(&fine.id, yes(&fine)).await;
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    let made = |name: &str| project.path(&format!("work/{name}.txt")).exists();
    assert_eq!(["asked", "blocked", "locked", "fine"].map(made), [false, false, false, true]);
    let refused = run.journal().iter().filter(|record| matches!(record, Record::EditRefused(_))).count();
    assert_eq!(refused, 3, "the person is told, each time");
    let expected = [Verdict::Ask, Verdict::Passphrase, Verdict::Ask];
    assert_eq!(run.verdicts(), expected, "each changed call has a verdict of its own, and a yes is the person's");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_voids_a_question_and_claude_asks_anew() {
    let project = project("      - bash: \"touch asked.txt\"\n");
    let mut run = Attended::open(&project, TICKET, Presence::Screen, by_words());
    let first = run.question(&[]).await;
    run.command(UserCommand::PauseNow).await;
    run.until("the pause", |state| state.stage == Stage::Paused).await;
    assert!(run.state.approvals.is_empty());
    run.answer(&first.id, yes(&first)).await;
    run.command(UserCommand::Resume).await;
    let second = run.question(&[]).await;
    assert_ne!(first.id, second.id);
    run.answer(&first.id, yes(&first)).await;
    run.command(UserCommand::Steer { text: "a mark behind it".into() }).await;
    run.until("the mark", |state| !state.notes.all().is_empty()).await;
    assert!(!project.path("work/asked.txt").exists(), "nothing ran on an old answer");
    run.answer(&second.id, yes(&second)).await;
    assert_eq!(run.end().await, Some(ExitReason::Complete));
    assert!(project.path("work/asked.txt").exists());
    let void: Vec<String> = run
        .journal()
        .into_iter()
        .filter_map(|record| match record {
            Record::ApprovalVoid(Voided { id, .. }) => Some(id.call),
            _ => None,
        })
        .collect();
    assert_eq!((void, answers(&run).len()), (vec![first.id.call], 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_answers_in_time_is_a_denial_that_claude_reads() {
    let project = project("      - bash: \"touch asked.txt\"\n");
    let config = project.read("config/config.yaml") + "approval:\n  timeout: 1\n";
    project.write("config/config.yaml", &config);
    let mut run = Attended::open(&project, TICKET, Presence::Screen, by_words());
    run.end().await;
    assert!(!project.path("work/asked.txt").exists());
    let answered = answers(&run);
    assert!(answered.iter().all(|(.., by)| *by == AnsweredBy::Timeout) && !answered.is_empty(), "{answered:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_nobody_there_claude_is_told_and_the_end_lists_it() {
    let project = project("      - bash: \"touch asked.txt\"\n      - write: {path: other.txt, content: x}\n");
    let mut run = Attended::open(&project, TICKET, Presence::Nobody, by_words());
    assert_eq!(run.end().await, Some(ExitReason::Complete), "it went on without");
    assert!(!project.path("work/asked.txt").exists() && project.path("work/other.txt").exists());
    let told = notices(&run);
    assert!(
        told.iter().any(|text| text.starts_with("1 call was denied because nobody could be asked: Bash")),
        "{told:?}"
    );
    let status = project.run(&["status", TICKET]);
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(status.contains("1, because nobody could approve:\n    Bash"), "{status}");
    let told = json(&project, &["status", "--json", TICKET]);
    assert_eq!((&told["unasked"]["count"], told["unasked"]["calls"].as_array().unwrap().len()), (&json!(1), 1));
    let [(_, Answer::Deny { words }, AnsweredBy::Nobody)] = &answers(&run)[..] else { panic!("{:?}", answers(&run)) };
    assert!(words.contains("find a way that needs no approval"), "{words}");
}

#[test]
fn the_folder_of_the_tickets_is_not_claudes_to_write() {
    let project = project("      - bash: \"true\"\n");
    project.write("config/config.yaml", "tickets: {dir: docs/tickets}\npolicy: {profile: trusted}\n");
    project.write("work/docs/tickets/a.md", "# A\n");
    for (command, code) in [("touch docs/tickets/a.md", 2), ("rm docs/tickets/a.md", 2), ("touch docs/a.md", 0)] {
        assert_eq!(project.run(&["policy", "check", command]).status.code(), Some(code), "{command}");
    }
    // A person who keeps the tickets in the project's own folder can still have work done there.
    project.write("config/config.yaml", "tickets: {dir: .}\npolicy: {profile: trusted}\n");
    project.write("work/own.md", &project.ticket_text(TICKET));
    for (command, code) in [("touch docs/a.md", 0), ("touch README.md", 0), ("touch own.md", 2), ("mv x own.md", 2)] {
        assert_eq!(project.run(&["policy", "check", command]).status.code(), Some(code), "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_ran_ungated_stops_the_run_and_the_next() {
    let subagent = |name: &str, record: &Value| {
        format!("      - raw: {}\n", json!(format!("{}\n", record)).to_string().replace("NAME", name))
    };
    let used = json!({"type": "assistant", "parent_tool_use_id": "toolu_task", "message": {"role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu_NAME", "name": "Bash", "input": {}}]}});
    let came_back = json!({"type": "user", "parent_tool_use_id": "toolu_task", "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_NAME", "content": "ok"}]}});
    let refused = json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "is_error": true,
        "tool_use_id": "toolu_NAME", "content": "<tool_use_error>Error: No such tool available: X</tool_use_error>"}]}});
    let own = "      - tool_without_asking: {bash: \"touch ungated.txt\"}\n".to_owned();
    for (name, steps, trips) in [
        ("its own call", own, true),
        ("a subagent's", subagent("sub", &used) + &subagent("sub", &came_back), true),
        ("of an earlier process", subagent("old", &came_back), false),
        ("refused by Claude itself", subagent("odd", &used) + &subagent("odd", &refused), false),
    ] {
        let project = project(&(steps + "      - write: {path: after.txt, content: x}\n"));
        let mut run = Attended::open(&project, TICKET, Presence::Screen, by_words());
        let reason = run.end().await;
        if !trips {
            assert_eq!(reason, Some(ExitReason::Complete), "{name}: {:?}", notices(&run));
            continue;
        }
        assert_eq!(reason, Some(ExitReason::CircuitOpen), "{name}");
        assert_eq!(run.state.breaker.state, Circuit::Open, "{name}");
        assert!(notices(&run).iter().any(|text| text.contains("ran without a verdict")), "{name}: {:?}", notices(&run));
        let killed =
            run.journal().into_iter().any(|record| matches!(record, Record::AgentExited { signal: Some(9), .. }));
        assert!(killed, "{name}: at once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_a_repository_brings_along_are_told_and_loaded_only_as_trusted() {
    let project = project("      - bash: \"date +%N > a.txt\"\n");
    project.write("work/.mcp.json", "{\"mcpServers\":{}}");
    project.write("work/.claude/settings.json", "{}");
    let told = |presence| {
        let project = &project;
        async move {
            project.ticket(TICKET, &["Do it"]);
            let mut run = Attended::open(project, TICKET, presence, by_words());
            run.end().await;
            notices(&run).into_iter().filter(|text| text.contains(".mcp.json")).collect::<Vec<_>>()
        }
    };
    let [text] = &told(Presence::Screen).await[..] else { panic!("told once") };
    assert!(text.contains("does not load: .claude/settings.json, .mcp.json (review them;"), "{text}");
    assert!(project.run(&["trust"]).status.success());
    assert!(told(Presence::Screen).await[0].contains("loads: "));
    assert!(told(Presence::Nobody).await[0].contains("does not load"));
    project.write("work/.mcp.json", "{\"mcpServers\":{\"x\":{\"command\":\"evil\"}}}");
    assert!(told(Presence::Screen).await[0].contains("they have changed since you trusted them"));
}

/// Rules that change while they judge a call: the change has reached the run before there is a verdict.
struct ChangingRules {
    file: PathBuf,
    asked: Gate,
    /// Each text of the file that was told of.
    told: (Mutex<Vec<String>>, Condvar),
}

impl Judge for ChangingRules {
    fn judge(&self, call: &ToolCall) -> Ruling {
        let (told, another) = &self.told;
        // The second is looked at when the run has been told of the first.
        for n in 1..=2 {
            let (text, new) = (format!("{n} {:?}", call.request), self.file.with_extension("new"));
            std::fs::write(&new, &text).unwrap();
            std::fs::rename(&new, &self.file).unwrap();
            drop(another.wait_while(told.lock().unwrap(), |told| !told.contains(&text)).unwrap());
        }
        self.asked.judge(call)
    }

    fn judge_again(&self, call: &ToolCall) -> Result<Ruling, String> {
        Ok(Ruling { verdict: Verdict::Block, reason: "other rules".into(), ..self.asked.judge(call) })
    }

    fn refresh(&self) -> Option<String> {
        let text = std::fs::read_to_string(&self.file).ok()?;
        let mut told = self.told.0.lock().unwrap();
        (told.last() != Some(&text)).then(|| told.push(text.clone()))?;
        self.told.1.notify_all();
        Some(text)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rules_that_change_while_a_call_is_judged_judge_it_again() {
    let project = project("      - bash: \"echo asked >> log.txt\"\n");
    let file = project.path("policy.txt");
    let rules = ChangingRules { file, asked: by_words(), told: Default::default() };
    let mut run = Attended::open(&project, TICKET, Presence::Screen, Arc::new(rules));
    run.end().await;
    let answered = answers(&run).into_iter().map(|(_, answer, by)| (answer, by)).next();
    assert_eq!(answered, Some((no("words: other rules"), AnsweredBy::Rules)));
}

//! What has ended is answered in the queue, like a question: a conflict, a run that waits, incomplete and complete work.

use crate::away::{WRITE, asked, away, ended, name, named};
use crate::project::Project;
use crate::screen::conflicts::in_conflict_under;
use crate::watched::{json, of_kind, said, start_until, stop};
use programmator::adapters::store::{Append, Store};
use programmator::base::time::Timestamp;
use programmator::domain::answerer::Answerer;
use programmator::domain::end_answer::{EndAnswer, EndAnswered};
use programmator::domain::record::Record;
use programmator::domain::summary::RunSummary;
use programmator::tui::tab::TabStatus;
use serde_json::Value;
use std::process::Output;
use std::time::{Duration, Instant};

/// What all runs have recorded of this kind, oldest first.
pub fn of_all(project: &Project, kind: &str) -> Vec<Value> {
    let store = Store::open(&project.path("state")).expect("the store opens");
    let mut runs = store.runs().expect("the runs");
    runs.reverse();
    let records = runs.into_iter().flat_map(|run| store.load(run.run).expect("a journal").records);
    let records: Vec<Value> = records.map(|stored| serde_json::to_value(&*stored).expect("a record")).collect();
    of_kind(&records, kind).into_iter().cloned().collect()
}

/// Waits until runs have ended so often.
pub fn wait_for_ends(project: &Project, count: usize) -> Vec<Value> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let ends = of_all(project, "run_ended");
        if ends.len() >= count {
            return ends;
        }
        assert!(Instant::now() < deadline, "{} ends only", ends.len());
        json(project, &["status", "--json"]);
    }
}

fn answers_at_once(project: &Project, answers: &[&[&str]]) -> Vec<Output> {
    let begun = answers.iter().map(|answer| {
        let mut command = project.command(&[&["answer"], *answer].concat());
        std::thread::spawn(move || command.output().expect("it starts"))
    });
    let begun: Vec<_> = begun.collect();
    begun.into_iter().map(|one| one.join().expect("it ends")).collect()
}

/// The end that waits in the queue of this directory.
fn left(project: &Project) -> Value {
    let waiting = json(project, &["queue", "--json"]);
    waiting.as_array().expect("a list").first().unwrap_or_else(|| panic!("nothing waits")).clone()
}

/// A ticket on which Claude is blocked at first; then it works once the gate `on` is open.
pub fn blocked() -> Project {
    let project = Project::with(&["Alpha"], "turns: []\n");
    let on = project.gate("on");
    project.scenario_with(
        &format!(
            "turns:
  - when: {{phase: \"\"}}
    times: 1
    steps: [ {{status: {{status: BLOCKED, summary: no key}}}} ]
  - when: {{phase: \"\"}}
    steps: [ {{bash: \"{on}\"}}, {{write: {{path: alpha.txt, content: \"1\"}}}}, {{status: {{}}}} ]
"
        ),
        "policy: {profile: trusted}\n",
    );
    said(&project, &["run", "tk-1"], 3);
    project
}

#[test]
fn what_is_incomplete_waits_in_the_queue_and_is_resumed_once_with_words() {
    let project = away(blocked());
    let list = said(&project, &["queue"], 0);
    assert!(list.contains("Ended runs that need you:\nended-"), "{list}");
    let end = left(&project);
    let id = name(&end);
    assert_eq!((&end["kind"], &end["answers"][0]["word"]), (&"incomplete".into(), &"resume".into()), "{end}");
    let whole = said(&project, &["queue", &id], 0);
    assert!(whole.contains("no key") && whole.contains(&format!("answer {id} resume [WORDS]\n")), "{whole}");
    assert!(said(&project, &["answer", "tk-1", "resume"], 2).contains("is not the name of a question"));
    assert!(said(&project, &["answer", &id, "allow"], 2).contains("is not a possible answer: resume [WORDS], leave"));
    let told = answers_at_once(&project, &[&[&id, "resume", "the key is 7"], &[&id, "leave"], &[&id, "resume"]]);
    let counted = told.iter().filter(|told| told.status.success()).count();
    let answered = of_all(&project, "end_answered");
    assert_eq!((counted, answered.len()), (1, 1), "{told:?} {answered:?}");
    let late = told.iter().filter(|told| String::from_utf8_lossy(&told.stderr).contains("too late: "));
    assert_eq!(late.count(), 2, "{told:?}");
}

#[test]
fn words_for_what_ended_reach_the_run_that_follows() {
    let project = away(blocked());
    let id = name(&left(&project));
    let told = said(&project, &["answer", &id, "resume", "the", "key is 7"], 0);
    assert!(
        told.contains("tk-1 is running in the background") && told.contains("goes into its first prompt"),
        "{told}"
    );
    project.open_gate("on");
    let ends = wait_for_ends(&project, 2);
    assert_eq!(ends[1]["reason"], "complete", "{ends:?}");
    let given = of_all(&project, "note_given");
    assert_eq!((given.len(), &given[0]["text"]), (1, &"the key is 7".into()));
    let prompts = of_all(&project, "spawn_requested");
    assert_eq!(prompts[prompts.len() - 1]["notes"][0], given[0]["id"], "they are in its first prompt: {prompts:?}");
    let late = said(&project, &["answer", &id, "leave"], 1);
    assert!(late.contains("too late: resumed by you (command line): the key is 7"), "{late}");
}

#[test]
fn a_run_that_was_stopped_is_resumed_with_words_in_its_next_prompt() {
    let project = crate::away::begun(&[WRITE, crate::away::PUSH]);
    asked(&project);
    said(&project, &["stop", "--now", "tk-1"], 0);
    ended(&project);
    assert_eq!(
        json(&project, &["queue", "--json"]).as_array().map(Vec::len),
        Some(0),
        "what you stop waits for nobody"
    );
    let whole = said(&project, &["queue", "tk-1"], 0);
    let id = whole.split("programmator answer ").nth(1).and_then(|rest| rest.split(' ').next()).expect("its name");
    said(&project, &["answer", id, "resume", "be careful"], 0);
    asked(&project);
    let given = of_all(&project, "note_given");
    assert_eq!((given.len(), &given[0]["text"]), (1, &"be careful".into()));
    let prompts = of_all(&project, "spawn_requested");
    assert_eq!(prompts.last().expect("it goes on")["notes"][0], given[0]["id"], "it is in the prompt");
}

#[test]
fn words_for_what_is_complete_are_one_more_phase_and_the_first_count() {
    let project = away(Project::with(&["Alpha"], DILIGENT));
    said(&project, &["run", "tk-1"], 0);
    assert_eq!(json(&project, &["queue", "--json"]).as_array().map(Vec::len), Some(0));
    let whole = said(&project, &["queue", "tk-1"], 0);
    let id = whole.split("programmator answer ").nth(1).and_then(|rest| rest.split(' ').next()).expect("its name");
    let long = said(&project, &["answer", id, &"é".repeat(501)], 2);
    assert!(long.contains("at most 500 characters, and this has 501"), "nothing is cut: {long}");
    let told = answers_at_once(&project, &[&[id, "Say it"], &[id, "Draw it"], &[id, "Sing it"]]);
    let counted: Vec<usize> = (0..3).filter(|at| told[*at].status.success()).collect();
    assert_eq!(counted.len(), 1, "{told:?}");
    let ends = wait_for_ends(&project, 2);
    assert_eq!(ends[1]["reason"], "complete");
    let ticket = project.ticket_text("tk-1");
    let said_it = ["- [x] Say it", "- [x] Draw it", "- [x] Sing it"];
    for (at, phase) in said_it.iter().enumerate() {
        assert_eq!(ticket.contains(phase), counted[0] == at, "{ticket}");
    }
}

/// Each phase makes a file.
const DILIGENT: &str = "
turns:
  - when: {phase: \"\"}
    steps: [ {write: {path: \"{slug}.txt\", content: \"1\"}}, {status: {}} ]
";

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_whose_program_was_killed_is_carried_out_by_the_next_one() {
    let project = away(Project::with(&["Alpha"], DILIGENT));
    said(&project, &["run", "tk-1"], 0);
    let whole = said(&project, &["queue", "tk-1"], 0);
    let id = whole.split("programmator answer ").nth(1).and_then(|rest| rest.split(' ').next()).expect("its name");
    // As if the one who took this answer had been killed once it was recorded.
    {
        let store = Store::open(&project.path("state")).expect("the store opens");
        let run = store.runs().expect("the runs").remove(0);
        let said = EndAnswered { answer: EndAnswer::Phase, words: "Say it".into(), by: Answerer::PHONE, failed: None };
        let (time, ticket) = (Timestamp::from_millis(run.updated.millis() + 1), run.ticket.clone());
        let append =
            Append { run: run.run, ticket, time, records: vec![Record::EndAnswered(said)], summary: run.clone() };
        store.append(append).await.expect("it is stored");
    }
    let late = said(&project, &["answer", id, "Draw it"], 1);
    let first = "too late: continued with another phase by you (phone): Say it. Your words are the next phase of tk-1.";
    assert!(late.contains(first), "{late}");
    wait_for_ends(&project, 2);
    let ticket = project.ticket_text("tk-1");
    assert_eq!((ticket.matches("Say it").count(), ticket.contains("Draw it")), (1, false), "{ticket}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_taken_long_ago_and_not_carried_out_gives_way_to_a_new_one() {
    let project = away(blocked());
    let id = name(&left(&project));
    {
        let store = Store::open(&project.path("state")).expect("the store opens");
        let run = store.runs().expect("the runs").remove(0);
        let words = "drop the table".into();
        let said = EndAnswered { answer: EndAnswer::Resume, words, by: Answerer::PHONE, failed: None };
        let (time, ticket) = (Timestamp::from_millis(run.updated.millis() - 3_600_000), run.ticket.clone());
        let summary = RunSummary { updated: time, ..run.clone() };
        let append = Append { run: run.run, ticket, time, records: vec![Record::EndAnswered(said)], summary };
        store.append(append).await.expect("it is stored");
    }
    assert_eq!(said(&project, &["answer", &id, "leave"], 0), "tk-1 is left as it is\n");
    let answered = of_all(&project, "end_answered");
    assert!(answered[1]["failed"].as_str().expect("why").contains("more than five minutes ago"), "{answered:?}");
    assert_eq!((answered.len(), of_all(&project, "run_started").len()), (3, 1), "nothing was begun");
}

#[test]
fn words_of_an_answer_that_failed_are_not_said_to_claude() {
    let project = away(blocked());
    let id = name(&left(&project));
    let config = project.read("config/config.yaml");
    project.write("config/config.yaml", "agent: {command: [/nowhere/claude]}\n");
    said(&project, &["answer", &id, "resume", "drop the table"], 1);
    project.write("config/config.yaml", &config);
    let whole = said(&project, &["queue", &id], 0);
    assert!(whole.contains("`resume`  (with the message “drop the table”) failed: "), "{whole}");
    project.open_gate("on");
    said(&project, &["answer", &id, "resume", "keep the table"], 0);
    wait_for_ends(&project, 2);
    let given = of_all(&project, "note_given");
    assert_eq!((given.len(), &given[0]["text"]), (1, &"keep the table".into()), "{given:?}");
}

#[test]
fn a_conflict_is_left_as_it_is_or_resolved_from_the_queue() {
    let project = away(in_conflict_under("{name: simple, fix_tries: 2}"));
    project.open_gate("resolved");
    let end = left(&project);
    let words: Vec<&str> =
        end["answers"].as_array().expect("answers").iter().filter_map(|one| one["word"].as_str()).collect();
    assert_eq!((end["words"].as_str(), &words[..]), (Some("merge conflict"), &["resolve", "merge", "leave"][..]));
    // Nothing was resolved: it ends with the same conflict, under another name.
    said(&project, &["answer", &name(&end), "merge"], 0);
    wait_for_ends(&project, 2);
    let again = left(&project);
    assert_ne!(name(&again), name(&end));
    assert!(said(&project, &["answer", &name(&end), "leave"], 1).contains("too late: merge retried by you"));
    said(&project, &["answer", &name(&again), "resolve"], 0);
    let ends = wait_for_ends(&project, 3);
    assert_eq!(ends[2]["reason"], "complete", "{ends:?}");
    assert_eq!(project.git(&["show", "main:same.txt"]), "ours and theirs\n");
}

#[test]
fn what_is_left_waits_for_nobody() {
    let project = blocked();
    let id = name(&left(&project));
    let waits = || json(&project, &["report", "--json"])["runs"][0]["waits"].as_array().map(Vec::len);
    assert_eq!(waits(), Some(1));
    assert!(said(&project, &["answer", "tk-1", "leave"], 2).contains("is not the name of a question"));
    assert_eq!(said(&project, &["answer", &id, "leave"], 0), "tk-1 is left as it is\n");
    assert_eq!(json(&project, &["queue", "--json"]).as_array().map(Vec::len), Some(0));
    let late = said(&project, &["answer", &id, "resume"], 1);
    assert!(late.contains("too late: left as it is by you (command line)"), "{late}");
    assert_eq!(of_all(&project, "end_answered").len(), 1);
    assert_eq!(waits(), Some(0), "the report neither");
    let run = Store::open(&project.path("state")).expect("the store opens").runs().expect("the runs").remove(0);
    assert_eq!(TabStatus::of(&run), TabStatus::Stopped, "nor Home");
}

#[test]
fn a_run_that_waits_for_a_limit_is_in_the_queue_and_tries_again_when_told() {
    let project = Project::with(&["One", "Two"], DILIGENT);
    let (child, _) = start_until(&project, &["run", "--json", "--calls", "1", "tk-1"], "parked");
    let waits = named(&project, "parked-");
    assert!(waits["words"].as_str().expect("words").starts_with("parked until "), "{waits}");
    let still = said(&project, &["answer", &name(&waits), "try-now"], 1);
    assert!(still.contains("retried, but still limited"), "{still}");
    assert_eq!(name(&named(&project, "parked-")), name(&waits), "it is the same wait");
    stop(child);
}

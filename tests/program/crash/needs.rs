//! Many questions of several runs at once, answered from a terminal and a phone while runs and relay are killed at random
//! moments: each is answered once at most, none is lost, and the phone tells of each how it came to its end.
//!
//! `NEEDS=10000` asks more of them, `CRASH_SEED=<seed>` draws the same moments again.

use super::{Dice, PATIENCE};
use crate::bot_api::{BotApi, PERSON};
use crate::pairing::paired;
use crate::project::Project;
use crate::watched::{json, of_kind, said};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Instant, SystemTime};

const RUNS: usize = 5;
/// Questions of one phase.
const EACH: usize = 5;

const CONFIG: &str = "
git: {worktree: ticket}
run: {max_parallel: 9}
limits: {calls: 100000, max_iterations: 1000, stagnation: 1000}
breaker: {permission_denials: 1000, no_progress: 1000, same_error: 1000}
";
const POLICY: &str = "version: 1\nrules:\n  - {name: person, action: ask, command: echo}\n";

fn scenario() -> String {
    let calls: Vec<String> = (0..EACH).map(|n| format!("      - bash: \"echo {{slug}}-{n} >> effects\"\n")).collect();
    let calls = calls.concat();
    format!(
        "turns:\n  - when: {{phase: \"\"}}\n    steps:\n      - write: {{path: \"{{slug}}.txt\", content: \"1\"}}\n{calls}      - status: {{summary: did}}\n"
    )
}

fn ticket(n: usize) -> String {
    format!("tk-{n}")
}

fn project(phases: usize) -> Project {
    let names: Vec<String> = (0..phases).map(|n| format!("Part {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let project = Project::with_config(&names, &scenario(), CONFIG);
    for n in 2..=RUNS {
        project.ticket(&ticket(n), &names);
    }
    project.write("config/policy.yaml", POLICY);
    project.write("work/.git/info/exclude", "effects\n");
    project
}

fn records(project: &Project, ticket: &str) -> Vec<Value> {
    let lines = said(project, &["logs", "--json", ticket], 0);
    lines.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

/// The program with this number is gone from one moment to the next, if it is there.
fn kill(pid: &Value) -> bool {
    let pid = pid.as_i64().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

#[test]
fn each_question_is_answered_once_whoever_is_killed_meanwhile() {
    let wanted: usize = std::env::var("NEEDS").map_or(50, |needs| needs.parse().expect("NEEDS is a number"));
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64;
    let seed = std::env::var("CRASH_SEED").map_or_else(|_| clock(), |seed| seed.parse().expect("a number"));
    let mut dice = Dice(seed);
    let (api, project) = (BotApi::start(), project(wanted.div_ceil(RUNS * EACH)));
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let mut programs: BTreeMap<String, Value> = BTreeMap::new();
    let (mut kills, mut relays) = (0, 0);
    let mut quiet = Instant::now();
    loop {
        let runs = json(&project, &["status", "--json"]);
        let runs = runs.as_array().expect("a list");
        let mut over = 0;
        for n in 1..=RUNS {
            let ticket = ticket(n);
            let run = runs.iter().find(|run| run["ticket"] == ticket.as_str());
            let begin = match run.map(|run| run["state"].as_str().expect("a word")) {
                None => "run",
                Some("interrupted") => "resume",
                Some("ended") => {
                    assert_eq!(run.map(|run| &run["reason"]), Some(&"complete".into()), "seed {seed}: {run:?}");
                    over += 1;
                    continue;
                }
                Some(_) => continue,
            };
            let told = project.run(&[begin, "--detach", &ticket]);
            let told = String::from_utf8_lossy(&told.stdout).into_owned();
            let pid = told.split("(pid ").nth(1).and_then(|rest| rest.split(')').next()?.parse::<i64>().ok());
            programs.insert(ticket, pid.map_or(Value::Null, Value::from));
        }
        if over == RUNS {
            break;
        }
        let waiting = json(&project, &["queue", "--json"]);
        let waiting: Vec<&Value> = waiting.as_array().expect("a list").iter().collect();
        match dice.below(20) {
            0 => kills += usize::from(programs.get(&ticket(1 + dice.below(RUNS))).is_some_and(kill)),
            1 => {
                relays += usize::from(kill(&json(&project, &["away", "status", "--json"])["relay"]));
                project.run(&["away", "on"]);
            }
            2..=6 => {
                let open: Vec<_> = api.sent().into_iter().filter(|sent| !sent.buttons.is_empty()).collect();
                if !open.is_empty() {
                    let sent = &open[dice.below(open.len())];
                    api.press(PERSON, sent.id, if dice.below(2) == 0 { "allow" } else { "deny" });
                }
            }
            _ if waiting.is_empty() => assert!(quiet.elapsed() < PATIENCE, "seed {seed}: nothing happens: {runs:#?}"),
            _ => {
                quiet = Instant::now();
                let name = waiting[dice.below(waiting.len())]["name"].as_str().expect("a name");
                // Others may have been faster.
                project.run(&["answer", name, if dice.below(2) == 0 { "allow" } else { "deny" }]);
            }
        }
    }
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    let mut asked = 0;
    for n in 1..=RUNS {
        let ticket = ticket(n);
        let journal = records(&project, &ticket);
        let questions = of_kind(&journal, "approval_asked");
        asked += questions.len();
        for question in questions {
            let ends: Vec<&Value> = (journal.iter())
                .filter(|one| ["approval_answered", "approval_void"].iter().any(|kind| one["kind"] == *kind))
                .filter(|one| one["id"] == question["id"] && one["revision"] == question["revision"])
                .collect();
            assert_eq!(ends.len(), 1, "seed {seed}: {question} has one end: {ends:?}");
            if ends[0]["by"] == "phone" {
                let how = if ends[0]["answer"]["answer"] == "allow" { "allowed" } else { "denied" };
                *told.entry(format!("{how} by you (phone)")).or_default() += 1;
            }
        }
    }
    assert!(asked >= wanted, "seed {seed}: {asked} questions of {wanted}");
    // A relay that is killed between sending and keeping sends once more, and does not know the first message.
    let is_open = |sent: &&crate::bot_api::Sent| !sent.buttons.is_empty() && !sent.buttons[0].1.starts_with("end ");
    let deadline = Instant::now() + PATIENCE;
    while api.sent().iter().filter(is_open).count() > relays {
        assert!(Instant::now() < deadline, "seed {seed}: messages do not tell the end: {:#?}", api.sent());
        std::thread::yield_now();
    }
    for (end, count) in told {
        // A list of several says it of each once more.
        let is_list = |text: &str| text.contains(" questions, each in its own message below:");
        let on_phone = api.sent().iter().filter(|sent| sent.text.contains(&end) && !is_list(&sent.text)).count();
        assert!(
            on_phone <= count && on_phone + relays >= count,
            "seed {seed}: {end}: {count} records, {on_phone} messages"
        );
    }
    said(&project, &["away", "off"], 0);
    eprintln!("{asked} questions, {kills} runs and {relays} relays killed; seed {seed}");
}

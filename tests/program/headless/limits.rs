//! Runs that meet limits: they park and go on, alone and together, and stop at a budget.

use crate::project::Project;
use crate::watched::{DILIGENT, json, of_kind, ran, records, text};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// A run in the background, read record by record.
struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(project: &Project, args: &[&str]) -> Self {
        let mut command = project.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next record of a kind; what comes before it is skipped.
    fn wait_for(&mut self, kind: &str) -> Value {
        for line in self.lines.by_ref() {
            let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if record["kind"] == kind {
                return record;
            }
        }
        panic!("no {kind}");
    }

    fn end(mut self, signal: rustix::process::Signal) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

#[test]
fn a_refused_iteration_parks_the_run_and_counts_for_nothing() {
    for (error, cause) in [
        ("{status: 429, kind: rate_limit}", "limit"),
        ("{status: 529, kind: server_error}", "overloaded"),
        ("{status: 400, kind: billing_error, text: \"Credit balance is too low\"}", "credit"),
        ("{kind: unknown, text: \"You've hit your session limit\"}", "limit"),
    ] {
        let scenario = DILIGENT.replacen(
            "turns:",
            &format!("turns:\n  - when: {{phase: Do}}\n    times: 2\n    steps: [{{api_error: {error}}}]"),
            1,
        );
        let project = Project::with_config(
            &["Do it"],
            &scenario,
            "limits: {stagnation: 1, repeated_error: 1, max_iterations: 1}\n",
        );
        let records = ran(&project, &["run", "--json", "tk-1"], 0);
        let hits = of_kind(&records, "limit_hit");
        assert_eq!(hits.len(), 2, "{error}");
        assert_eq!((&hits[0]["cause"], &hits[0]["reset"]), (&cause.into(), &"unknown".into()), "{error}");
        assert_eq!((&hits[0]["tries"], &hits[1]["tries"]), (&1.into(), &2.into()), "waits grow");
        let parked = of_kind(&records, "parked");
        assert_eq!((parked.len(), &parked[0]["why"]), (2, &"provider".into()), "{error}");
        assert_eq!(of_kind(&records, "unparked").len(), 2);
        let outcomes: Vec<_> = of_kind(&records, "iteration_ended").iter().map(|ended| &ended["outcome"]).collect();
        assert_eq!(outcomes, ["parked", "parked", "claimed"], "{error}");
        assert_eq!(records.last().unwrap()["iterations"], 1, "a refused iteration is none");
        assert!(of_kind(&records, "breaker_counted").is_empty(), "{error}");
    }
}

#[test]
fn the_limit_of_some_models_is_not_that_of_the_account() {
    for (model, scope) in [("claude-opus-4-8", "seven_day_opus"), ("claude-sonnet-4-6", "account")] {
        let refused = "steps: [{api_error: {kind: unknown, text: \"You've hit your Opus limit\"}}]";
        let project = Project::with(
            &["Do it"],
            &DILIGENT.replacen("turns:", &format!("turns:\n  - when: {{phase: Do}}\n    times: 1\n    {refused}"), 1),
        );
        let records = ran(&project, &["run", "--json", "--model", model, "tk-1"], 0);
        assert_eq!(of_kind(&records, "limit_hit")[0]["scope"], scope, "{model}");
        assert_eq!(of_kind(&records, "parked").len(), 1, "{model}: it waits itself");
    }
}

#[test]
fn a_window_that_the_provider_closes_is_waited_for_to_its_reset() {
    let resets = seconds() + 3_600;
    let event =
        |status: &str| format!("{{rate_limit_event: {{status: {status}, kind: five_hour, resets_at: {resets}}}}}");
    let project = Project::with(
        &["Do it"],
        &format!("turns:\n  - steps: [{}, {{api_error: {{status: 429, kind: rate_limit}}}}]\n", event("rejected")),
    );
    let mut running = Running::start(&project, &["run", "--json", "tk-1"]);
    assert_eq!(running.wait_for("limit_seen")["status"], "rejected");
    let parked = running.wait_for("parked");
    assert_eq!((&parked["reset"], &parked["why"]), (&"known".into(), &"provider".into()));
    assert!(parked["about"].as_str().unwrap().contains("five-hour limit"), "{parked}");
    let shown = json(&project, &["status", "tk-1", "--json"]);
    assert_eq!((&shown["state"], &shown["iterations"]), (&"parked".into(), &0.into()), "{shown}");
    let left = shown["parked"]["seconds"].as_u64().unwrap();
    assert!((3_500..=3_625).contains(&left), "{shown}");
    assert_eq!(shown["limits"]["windows"][0]["window"], "five_hour");
    assert_eq!(running.end(rustix::process::Signal::KILL), None);

    // Killed while parked: the countdown goes on, and nothing is called.
    let mut resumed = Running::start(&project, &["resume", "tk-1", "--json"]);
    let again = resumed.wait_for("parked");
    assert_eq!((&again["until"], &again["reset"]), (&parked["until"], &parked["reset"]));
    assert_eq!(resumed.end(rustix::process::Signal::TERM), Some(143));
    let shown = json(&project, &["status", "tk-1", "--json"]);
    assert_eq!((&shown["reason"], &shown["limits"]["calls"]["used"]), (&"user_stopped".into(), &1.into()), "{shown}");
    assert_eq!(project.processes(), Vec::<String>::new());
}

#[test]
fn an_allowed_event_and_the_words_of_a_limit_in_claudes_mouth_are_no_limit() {
    let project = Project::with(
        &["Do it"],
        "
turns:
  - when: {phase: Do}
    steps:
      - rate_limit_event: {status: allowed, kind: five_hour, resets_at: 4102444800}
      - say: \"You've hit your session limit · resets 3pm (Europe/Berlin). Claude AI usage limit reached|4102444800\"
      - write: {path: a.txt, content: \"5-hour limit reached\"}
      - bash: \"echo out of extra usage; cat a.txt\"
      - status: {summary: done}
",
    );
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&records, "limit_seen").len(), 1);
    assert!(of_kind(&records, "limit_hit").is_empty() && of_kind(&records, "parked").is_empty());
}

#[test]
fn calls_are_counted_over_all_tickets_and_programs() {
    let project = Project::with_config(&["Alpha"], DILIGENT, "limits: {window: sliding}\n");
    project.ticket("tk-2", &["Beta"]);
    let first = project.run(&["run", "--json", "--calls", "2", "tk-1"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first));
    let counted = records(&first);
    assert_eq!(of_kind(&counted, "call_counted")[0]["ledger"]["calls"], 1);
    let second = ran(&project, &["run", "--json", "--calls", "2", "tk-2"], 0);
    assert_eq!(of_kind(&second, "call_counted")[0]["ledger"]["calls"], 2);

    project.ticket("tk-3", &["Gamma"]);
    let mut third = Running::start(&project, &["run", "--json", "--calls", "2", "tk-3"]);
    let parked = third.wait_for("parked");
    assert_eq!((&parked["why"], &parked["reset"]), (&"calls".into(), &"known".into()));
    let shown = json(&project, &["status", "tk-3", "--json"]);
    let seconds = shown["parked"]["seconds"].as_u64().unwrap();
    assert!((3_400..=3_600).contains(&seconds), "an hour after the first call: {shown}");
    assert_eq!((&shown["limits"]["calls"]["used"], &shown["limits"]["calls"]["limit"]), (&2.into(), &2.into()));
    assert_eq!(third.end(rustix::process::Signal::TERM), Some(143));
    // With more calls allowed the same run goes on.
    let records = ran(&project, &["resume", "tk-3", "--json", "--calls", "3"], 0);
    assert_eq!(of_kind(&records, "limits_changed")[0]["calls"], 3);
    assert!(of_kind(&records, "parked").is_empty());
}

#[test]
fn tokens_of_an_hour_park_the_next_call() {
    let project = Project::with_config(&["Alpha", "Beta"], DILIGENT, "limits: {window: sliding, tokens: 100}\n");
    let mut running = Running::start(&project, &["run", "--json", "tk-1"]);
    let parked = running.wait_for("parked");
    assert_eq!(parked["why"], "tokens", "the first iteration used more than 100: {parked}");
    assert_eq!(running.end(rustix::process::Signal::TERM), Some(143));
}

#[test]
fn a_budget_stops_before_what_does_not_fit_until_it_is_raised() {
    let project = Project::new();
    project.ticket("tk-0", &["Alpha"]);
    project.scenario(DILIGENT);
    let first = project.run(&["run", "--json", "tk-0"]);
    let cost = records(&first).last().unwrap()["cost_usd"].as_f64().unwrap();
    assert!(cost > 0.001, "an iteration costs something: {cost}");

    project.ticket("tk-1", &["Beta", "Gamma"]);
    project.scenario_with(DILIGENT, &format!("budget: {{run_usd: {:.5}}}\n", cost * 1.5));
    let output = project.run(&["run", "--json", "tk-1"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    let told = records(&output);
    let end = told.last().unwrap();
    assert_eq!((&end["reason"], &end["iterations"], &end["phases_done"]), (&"budget".into(), &1.into(), &1.into()));
    assert!(end["detail"].as_str().unwrap().contains("budget.run_usd"), "{end}");
    let receipts = of_kind(&told, "receipt");
    assert_eq!((receipts.len(), &receipts[0]["phase"], &receipts[0]["tries"]), (1, &"Beta".into(), &0.into()));
    assert!(receipts[0]["cost_usd"].as_f64().unwrap() > 0.0 && receipts[0]["output"].as_u64().unwrap() > 0);

    // To resume is not to grant it anew: it bounds the run, however often that is resumed.
    for _ in 0..2 {
        let output = project.run(&["resume", "tk-1", "--json"]);
        let told = records(&output);
        assert_eq!(output.status.code(), Some(4), "{}", text(&output));
        assert!(of_kind(&told, "call_counted").is_empty(), "nothing was called");
        let detail = told.last().unwrap()["detail"].as_str().unwrap();
        assert!(detail.contains("raise `budget.run_usd` and resume"), "{detail}");
    }
    project.scenario_with(DILIGENT, &format!("budget: {{run_usd: {:.5}}}\n", cost * 4.0));
    let output = ran(&project, &["resume", "tk-1", "--json"], 0);
    assert_eq!(output.last().unwrap()["iterations"], 2, "the same run");
    let shown = json(&project, &["status", "tk-1", "--json"]);
    let phases: Vec<_> = shown["receipts"]["phases"].as_array().unwrap().iter().map(|phase| &phase["phase"]).collect();
    assert_eq!(phases, ["Beta", "Gamma"]);
    assert_eq!(shown["receipts"]["total"]["iterations"], 2);

    // All runs of the ticket together.
    project.ticket("tk-1", &["Delta"]);
    project.scenario_with(DILIGENT, &format!("budget: {{ticket_usd: {cost:.5}}}\n"));
    let output = project.run(&["run", "--json", "tk-1"]);
    let told = records(&output);
    assert_eq!(
        (output.status.code(), &told.last().unwrap()["reason"]),
        (Some(4), &"budget".into()),
        "{}",
        text(&output)
    );
    assert!(of_kind(&told, "call_counted").is_empty(), "nothing was called");
}

#[test]
fn the_wait_is_told_to_people_too() {
    let scenario = DILIGENT.replacen(
        "turns:",
        "turns:\n  - times: 1\n    when: {phase: Do}\n    steps: [{api_error: {status: 429, kind: rate_limit}}]",
        1,
    );
    let project = Project::with(&["Do it"], &scenario);
    let output = project.run(&["run", "tk-1"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for part in ["reset unknown", "parked: the provider's rate limit is reached", "retrying at", "iteration 2 cost"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let shown = project.run(&["status", "tk-1"]);
    let said = text(&shown);
    assert!(said.contains("2 of 100 this hour") && said.contains("total"), "{said}");
    // The refused one was called and costs, but is no iteration.
    assert!(said.contains(", 1 iteration\n"), "{said}");
    let total = &json(&project, &["status", "tk-1", "--json"])["receipts"]["total"];
    assert_eq!(total["iterations"], 1, "{total}");
}

/// What the real CLI printed when its model was overloaded and another took over.
const FALLBACK: &str = include_str!("../../fixtures/stream/fallback.jsonl");

#[test]
fn an_overloaded_model_gives_way_to_the_fallback_model_and_nothing_is_parked() {
    let said: Vec<String> =
        FALLBACK.lines().take(3).map(|line| serde_json::to_string(&format!("{line}\n")).unwrap()).collect();
    let raw = said.iter().map(|line| format!("      - raw: {line}\n")).collect::<Vec<_>>().concat();
    let scenario = format!(
        "turns:\n  - when: {{phase: Do}}\n    steps:\n{raw}      - write: {{path: a.txt, content: x}}\n      - status: {{summary: done}}\n"
    );
    let project = Project::with_config(&["Do"], &scenario, "");
    // What Claude is started with goes into a file.
    project.write("wrapper.sh", "echo \"$*\" >> \"$(dirname \"$0\")/started.txt\"\nexec \"$@\"\n");
    let wrapper = project.path("wrapper.sh").display().to_string();
    let config = project.read("config/config.yaml").replace(
        "  command: [",
        &format!("  model: claude-opus-4-8\n  fallback_model: claude-sonnet-4-6\n  command: [sh, {wrapper:?}, "),
    );
    project.write("config/config.yaml", &config);
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    let retried: Vec<_> =
        of_kind(&records, "api_retried").iter().map(|one| (one["attempt"].clone(), one["status"].clone())).collect();
    assert_eq!(retried, [(1.into(), 529.into()), (2.into(), 529.into())]);
    assert!(of_kind(&records, "limit_hit").is_empty() && of_kind(&records, "parked").is_empty());
    assert_eq!(of_kind(&records, "receipt")[0]["tries"], 2);
    let started = project.read("started.txt");
    assert!(started.contains("--model claude-opus-4-8 --fallback-model claude-sonnet-4-6"), "{started}");
}

//! `run --dry-run` says what `run` then does, and leaves everything as it was.

use crate::project::Project;
use crate::watched::{DILIGENT, at_work, of_kind, ran, said, stop, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Keeps what it was sent.
const KEEPS: &str = "
turns:
  - when: {phase: \"\"}
    steps:
      - write: {path: \"{slug}.prompt\", content: \"{prompt}\"}
      - status: {summary: s}
";

/// Every file below the folder, with its bytes; of a database only its name, which is read by those that look.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").filter_map(Result::ok) {
        let (path, name) = (entry.path(), entry.path().display().to_string());
        if path.is_dir() {
            all.insert(name, Vec::new());
            all.extend(files(&path));
        } else if path.is_file() && !name.ends_with("-shm") && !name.ends_with("-wal") {
            all.insert(name, std::fs::read(&path).expect("a file"));
        }
    }
    all
}

/// The only report; nothing is changed by asking for it.
fn report(project: &Project, args: &[&str], code: i32) -> Value {
    let all: Vec<&str> = ["run", "--dry-run", "--json", "tk-1"].iter().chain(args).copied().collect();
    let before = files(&project.path(""));
    let output = project.run(&all);
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    let after = files(&project.path(""));
    let differs = |name: &&String| before.get(*name) != after.get(*name);
    let changed: Vec<&String> = before.keys().chain(after.keys()).filter(differs).collect();
    assert_eq!(changed, Vec::<&String>::new(), "nothing is written");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
}

fn first(report: &Value, list: &str) -> String {
    report[list][0]["text"].as_str().or(report[list][0].as_str()).unwrap_or_default().to_owned()
}

/// `run` refuses with the same exit code, and says the same.
fn refused(project: &Project, args: &[&str], code: i32, words: &str) {
    let report = report(project, args, code);
    let why = first(&report, "refusals");
    assert!(why.contains(words), "{report}");
    let all: Vec<&str> = ["run", "tk-1"].iter().chain(args).copied().collect();
    let run = said(project, &all, code);
    assert!(run.contains(words), "{run}");
}

#[test]
fn it_shows_the_prompt_and_the_arguments_that_claude_then_gets_and_writes_nothing() {
    let project = Project::with(&["One", "Two"], KEEPS);
    project.validate_by("true");
    // Claude behind a script that keeps how it was called.
    let config = project.read("config/config.yaml");
    let words = config.lines().find_map(|line| line.trim().strip_prefix("command: ")).expect("a command");
    let words: Vec<String> = serde_json::from_str(words).expect("a list");
    let script = format!(
        "shift\ncase \"$*\" in *initialize*|*stream-json*) printf '%s\\n' \"$@\" > {};; esac\nexec {} \"$@\"\n",
        project.path("called").display(),
        words.join(" ")
    );
    project.write("claude.sh", &script);
    let own = format!("[sh, {:?}, token-of-mine]", project.path("claude.sh").display().to_string());
    let config = config.replace(&serde_json::to_string(&words).expect("a list"), &own);
    project.write("config/config.yaml", &config.replace("agent:\n", "agent:\n  env: {MY_TOKEN: token-of-mine}\n"));

    let shown = report(&project, &["-n", "1"], 0);
    assert!(!project.path("state/programmator.db").exists(), "not even a store");
    let call = &shown["call"];
    assert_eq!((&call["iteration"], &call["phase"], &call["step"]), (&1.into(), &"One".into(), &"code".into()));
    assert_eq!((&call["session"], &call["permission_mode"]), (&Value::Null, &"default".into()));
    assert_eq!((&call["profile"], &shown["run"]["limits"]["max_iterations"]), (&"trusted".into(), &1.into()));
    assert_eq!(shown["run"]["checks"][0], serde_json::json!({"command": "true", "from": "the ticket"}));
    ran(&project, &["run", "--json", "-n", "1", "tk-1"], 4);
    assert_eq!(call["prompt"], project.read("work/one.prompt"));
    let command: Vec<&str> = call["command"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    assert_eq!((command[0], command[2]), ("sh", "••••"), "a secret is not shown");
    // Each run has its own scratch folder.
    let masked = |text: &str| {
        let parts = text.split("programmator-0").enumerate();
        parts.map(|(at, part)| if at == 0 { part } else { &part[35..] }).collect::<Vec<_>>().join("…")
    };
    assert_eq!(masked(&command[3..].join("\n")), masked(project.read("called").trim_end_matches('\n')));

    // With a store there is no more written than without one, and the session goes on.
    let again = report(&project, &["-n", "1"], 0);
    assert_eq!((&again["call"]["phase"], &again["run"]["limits"]["calls"]["used"]), (&"Two".into(), &2.into()));
    assert!(again["call"]["session"].is_string(), "{again}");
}

#[test]
fn what_refuses_a_run_is_said_with_its_exit_code() {
    let project = Project::with(&["One"], DILIGENT);
    let config = project.read("config/config.yaml");
    project.write("config/config.yaml", "agent: {command: [no-such-claude]}\n");
    refused(&project, &[], 1, "no-such-claude");
    project.write("config/config.yaml", &config);
    project.write("config/policy.yaml", "rules: [nonsense]\n");
    refused(&project, &[], 2, "the policy cannot be used");
    std::fs::remove_file(project.path("config/policy.yaml")).expect("it is there");
    let ticket = project.ticket_text("tk-1");
    project.write("work/.tickets/tk-1.md", &ticket.replace("deps: []", "deps: [tk-9]"));
    refused(&project, &[], 2, "it depends on tk-9, which is no ticket in");
    project.write("work/.tickets/tk-1.md", &ticket);
    project.write("config/config.yaml", &format!("{config}git: {{branch: main}}\n"));
    refused(&project, &[], 2, "the branch main (git.branch) is protected");
    // A branch that cannot be switched to: the run would begin and end at once.
    project.write("config/config.yaml", &format!("{config}git: {{branch: own, base: nowhere}}\n"));
    refused(&project, &[], 1, "no commit at nowhere (git.base)");
    assert_eq!(said(&project, &["run", "--dry-run", "no-such"], 2).lines().count(), 1);
}

#[test]
fn a_breaker_that_is_open_and_a_budget_that_is_spent_refuse_it() {
    let project = Project::with_config(&["One", "Two"], DILIGENT, "budget: {ticket_usd: 0.0001}\n");
    let spent = project.run(&["run", "tk-1"]);
    assert_eq!(spent.status.code(), Some(4), "{}", text(&spent));
    refused(&project, &[], 4, "for this ticket spent");

    let nothing = "turns:\n  - when: {phase: \"\"}\n    steps: [{status: {summary: nothing}}]\n";
    let project =
        Project::with_config(&["One", "Two"], nothing, "breaker: {no_progress: 1}\nlimits: {stagnation: 9}\n");
    ran(&project, &["run", "--json", "tk-1"], 4);
    refused(&project, &[], 4, "programmator circuit reset tk-1");
}

#[test]
fn a_run_at_work_refuses_its_ticket_and_delays_others_in_its_directory() {
    let (project, child) = at_work(&["One"]);
    // The run itself writes on, so that only what is said is compared.
    for args in [&["run", "tk-1"][..], &["run", "--dry-run", "tk-1"]] {
        assert!(said(&project, args, 75).contains("tk-1 is already running in"));
    }
    project.ticket("tk-2", &["One"]);
    let other: Value = {
        let output = project.run(&["run", "--dry-run", "--json", "--calls", "1", "tk-2"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        serde_json::from_slice(&output.stdout).expect("an object")
    };
    assert!(first(&other, "delays").contains("tk-1 in another process"), "{other}");
    let limit = other["delays"][1].as_str().expect("a delay");
    assert!(limit.contains("hourly limit of 1 call reached") && limit.contains("--calls"), "{limit}");
    assert!(other["call"]["prompt"].is_string(), "what waits is shown all the same");
    let told = said(&project, &["run", "--dry-run", "tk-2"], 0);
    assert!(told.starts_with("tk-2: would start after waiting\n"), "{told}");
    stop(child);
}

#[test]
fn settings_that_nobody_trusts_files_that_are_not_committed_and_a_worktree_are_said() {
    let project = Project::with(&["One"], DILIGENT);
    project.write("work/.programmator/config.yaml", "validation: {commands: [make check]}\n");
    project.write("work/README.md", "# Changed\n");
    let shown = report(&project, &["--worktree"], 0);
    let notes = shown["notes"].to_string();
    assert!(notes.contains("sets validation.commands: ignored") && notes.contains("programmator trust"), "{notes}");
    assert!(notes.contains("2 files not committed") && notes.contains("starts at main without them"), "{notes}");
    assert!(shown["run"]["before"][0].as_str().is_some_and(|first| first.starts_with("make the worktree ")), "{shown}");
    assert_eq!(
        (&shown["run"]["worktree"]["branch"], &shown["run"]["checks"]),
        (&"programmator/tk-1".into(), &serde_json::json!([]))
    );
    assert!(project.git(&["branch", "--list", "programmator/*"]).is_empty());
    said(&project, &["trust"], 0);
    let trusted = report(&project, &[], 0);
    let from = trusted["run"]["checks"][0]["from"].as_str().expect("where");
    assert!(from.contains(".programmator/config.yaml:1"), "{from}");
    project.write("work/.programmator/config.yaml", "validation: {commands: [make chec]}\n");
    assert!(report(&project, &[], 0)["notes"].to_string().contains("have changed since you trusted them"));
}

#[test]
fn a_ticket_that_is_done_calls_nobody() {
    let project = Project::with(&["One"], DILIGENT);
    ran(&project, &["run", "--json", "tk-1"], 0);
    for args in [&["run", "tk-1"][..], &["run", "--dry-run", "tk-1"]] {
        assert!(said(&project, args, 0).contains("tk-1 is complete: nothing is left to do"));
    }
    let told: Value =
        serde_json::from_str(&said(&project, &["run", "--dry-run", "--json", "tk-1"], 0)).expect("an object");
    assert_eq!((&told["ticket"], &told["would_start"], &told["exit_code"]), (&"tk-1".into(), &false.into(), &0.into()));
    assert!(told["notes"][0].as_str().unwrap().contains("is complete"), "{told}");
    // What is named does what is said of it.
    let told = said(&project, &["resume", "tk-1"], 2);
    assert!(told.contains("is complete; `programmator tk-1` shows it, `programmator phase reopen tk-1 1`"), "{told}");
    said(&project, &["phase", "reopen", "tk-1", "1"], 0);
    assert!(said(&project, &["run", "--dry-run", "tk-1"], 0).starts_with("tk-1: would start"));
}

#[test]
fn the_order_of_ready_tickets_is_that_in_which_they_are_worked_on() {
    let project = Project::with(&["One"], DILIGENT);
    let with = |id: &str, lines: &str| {
        project.ticket(id, &[id]);
        let text = project.ticket_text(id).replace("deps: []\n", "").replace("priority: 2", lines);
        project.write(&format!("work/.tickets/{id}.md"), &text);
    };
    with("tk-0", "priority: 2\ndeps: [tk-3]");
    with("tk-3", "priority: 0");
    with("tk-4", "deps: [tk-9]");
    let project = &project;
    let all = |args: &[&str]| {
        let before = files(&project.path(""));
        let told = said(project, &[&["run", "--ready", "--dry-run"], args].concat(), 0);
        assert!(before == files(&project.path("")), "nothing is written");
        told
    };
    let text = all(&[]);
    let order: Vec<&str> = text.lines().collect();
    let started: Vec<String> = of_kind(&ran(project, &["run", "--ready", "--json"], 0), "run_started")
        .iter()
        .map(|record| record["ticket"].as_str().expect("an id").to_owned())
        .collect();
    let foretold: Vec<&str> = order.iter().filter_map(|line| line.split_once(". ")?.1.split(' ').next()).collect();
    assert_eq!(foretold, started, "{text}");
    assert!(text.contains("tk-0  Work on tk-0  after tk-3\n"), "{text}");
    assert!(text.contains("tk-4 is not started: it waits for tk-9\n"), "{text}");
    let none: Value = serde_json::from_str(&all(&["--json", "--tag", "none"])).expect("an object");
    assert_eq!((&none["order"], &none["max_parallel"]), (&serde_json::json!([]), &1.into()));
}

#[test]
fn what_another_program_works_on_is_left_out_of_the_ready_ones() {
    let (project, child) = at_work(&["One"]);
    project.ticket("tk-2", &["Two"]);
    let told = said(&project, &["run", "--ready", "--dry-run"], 0);
    stop(child);
    assert!(told.starts_with("1. tk-2  Work on tk-2\n") && told.contains("tk-1 is already running in"), "{told}");
}

//! The program is killed at single system calls of a run, and the next start goes on as if nothing had been.
//!
//! `strace` does the killing. Which calls is drawn from one seed; a failure names it, and `CRASH_SEED=<seed>` draws the
//! same ones again. Without `strace`, or where tracing is forbidden, this test fails and says so.

#![cfg(target_os = "linux")]

use crate::project::Project;
use programmator::adapters::store::Store;
use std::collections::HashMap;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Calls that change a file, say that it is stored, lock, or start a process.
const CALLS: [&str; 10] =
    ["pwrite64", "fdatasync", "fsync", "openat", "rename", "unlink", "flock", "write", "ftruncate", "clone3"];

/// Kills of one test.
const KILLS: usize = 6;

const PHASES: [&str; 2] = ["Alpha", "Beta"];

const SCENARIO: &str = "
turns:
  - when: {phase: \"\"}
    steps:
      - write: {path: \"{slug}.txt\", content: \"{phase}\\n\"}
      - status: {}
";

fn project() -> Project {
    Project::with_config(&PHASES, SCENARIO, "validation: {commands: [\"true\"]}\n")
}

/// A run under `strace`, which looks at the program and at nobody whom it starts, and what it wrote down.
fn traced(project: &Project, calls: &str, inject: Option<&str>) -> (Output, String) {
    let log = project.path("strace.log");
    let mut command = Command::new("strace");
    command.args(["-f", "-q", "-b", "execve", "-e", &format!("trace={calls}"), "-o"]).arg(&log);
    command.args(inject.map(|inject| format!("--inject={inject}")));
    command.arg(crate::project::PROGRAM).args(["run", "--json", "tk-1"]);
    command.env_clear().envs(project.env()).current_dir(project.work()).stdin(Stdio::null());
    let output = command.output().unwrap_or_else(|error| {
        panic!("`strace` is needed to kill the program at a system call, and cannot be started ({error}): apt-get install strace")
    });
    let log = std::fs::read_to_string(log).unwrap_or_default();
    assert!(!log.is_empty(), "strace could not trace: {}", String::from_utf8_lossy(&output.stderr));
    (output, log)
}

/// How often each call is made by one thread, at most, in a run that nobody disturbs: `strace` counts for each by itself.
fn undisturbed() -> Vec<(&'static str, usize)> {
    let (output, log) = traced(&project(), &CALLS.join(","), None);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let count = |call: &str| {
        let begins = format!(" {call}(");
        let mut threads: HashMap<&str, usize> = HashMap::new();
        for line in log.lines().filter(|line| line.contains(&begins)) {
            *threads.entry(line.split(' ').next().unwrap_or_default()).or_default() += 1;
        }
        threads.into_values().max().unwrap_or_default()
    };
    CALLS.iter().map(|call| (*call, count(call))).filter(|(_, count)| *count > 0).collect()
}

/// Kills a run at the `nth` of its `call`s and lets another go on. `false`: it made fewer this time.
fn survives(call: &str, nth: usize) -> bool {
    let project = project();
    let (_, log) = traced(&project, call, Some(&format!("{call}:signal=KILL:when={nth}")));
    if !log.contains("killed by SIGKILL") {
        return false;
    }
    let complete = || {
        let status = project.run(&["status", "--json"]);
        String::from_utf8_lossy(&status.stdout).contains("\"complete\"")
    };
    if !complete() {
        // A process that it was just starting holds its locks until it has begun.
        let begun = Instant::now();
        let output = loop {
            let output = project.run(&["run", "--json", "tk-1"]);
            if output.status.code() != Some(75) || begun.elapsed() > Duration::from_secs(10) {
                break output;
            }
        };
        let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{told}");
    }
    let ticket = project.ticket_text("tk-1");
    assert_eq!(ticket.matches("- [x]").count(), PHASES.len(), "{ticket}");
    let store = Store::open(&project.path("state")).unwrap();
    let runs = store.runs().unwrap();
    let kinds: Vec<serde_json::Value> = runs
        .iter()
        .flat_map(|run| store.load(run.run).unwrap().records)
        .map(|stored| serde_json::to_value(&*stored).unwrap())
        .collect();
    for phase in PHASES {
        let done = kinds.iter().filter(|record| record["kind"] == "phase_done" && record["phase"] == phase).count();
        assert_eq!(done, 1, "{phase} is done once");
    }
    let beside: Vec<_> = std::fs::read_dir(project.path("work/.tickets")).unwrap().collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
    // What the killed one left may take its time to end.
    let begun = Instant::now();
    while !project.processes().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", project.processes());
        std::thread::yield_now();
    }
    true
}

#[test]
fn a_kill_at_any_system_call_loses_nothing() {
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64;
    let seed: u64 = std::env::var("CRASH_SEED").map_or_else(|_| clock(), |seed| seed.parse().unwrap());
    let calls = undisturbed();
    assert!(calls.len() >= 5, "{calls:?}");
    let (mut dice, mut kills) = (seed, 0);
    for at in 0..3 * KILLS {
        // The same generator as Knuth's MMIX has.
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (call, count) = calls[at % calls.len()];
        let nth = 1 + usize::try_from(dice >> 33).unwrap() % count;
        let survived = std::panic::catch_unwind(|| survives(call, nth));
        let Ok(killed) = survived else { panic!("killed at {call} number {nth}: CRASH_SEED={seed}") };
        kills += usize::from(killed);
        if kills == KILLS {
            println!("{kills} kills survived, of {calls:?}; seed {seed}");
            return;
        }
    }
    panic!("only {kills} calls were reached: CRASH_SEED={seed}");
}

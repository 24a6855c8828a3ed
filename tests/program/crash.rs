//! The program is killed outright at random moments of a run, again and again, and goes on each time as if nothing had been.
//!
//! The moments come from one seed: after so many records, or after a part of the time that an undisturbed run takes. A
//! failure names the seed; `CRASH_SEED=<seed>` plays the same moments again, `CRASH_KILLS=<n>` more of them.

mod calls;
mod needs;

use crate::project::Project;
use crate::watched::json;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

const AT_ONCE: usize = 3;
const PHASES: [&str; 6] = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta"];
/// Longer than a whole run takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Every effect of Claude's is noted by itself, in a file that git ignores: one line per Bash command that ran.
const SCENARIO: &str = "
turns:
  - when: {phase: \"\"}
    steps:
      - think: \"What does {phase} need?\"
      - say: \"Working on {phase}.\"
      - write: {path: \"{slug}.txt\", content: \"{phase}\\n\"}
      - bash: \"echo {slug} >> effects\"
      - bash: \"frobnicate {slug}; touch refused\"
      - read: \"{slug}.txt\"
      - status: {summary: \"did {phase}\"}
";

/// One command is for the person, and nobody is there.
const POLICY: &str = "version: 1\nrules:\n  - {name: person, action: ask, command: frobnicate}\n";

/// When the program dies.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// After this many records.
    Records(usize),
    /// After this time.
    Time(Duration),
    /// After this many records and then a time.
    Between(usize, Duration),
    /// Never: it may finish.
    Never,
}

/// What an undisturbed run is like.
struct Undisturbed {
    records: usize,
    time: Duration,
    ticket: String,
}

/// A small generator of numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.roll() % n as u64).unwrap()
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        self.below(1_000) as f64 / 1_000.0
    }

    fn moment(&mut self, whole: &Undisturbed) -> Moment {
        let beat = whole.time / u32::try_from(whole.records).unwrap();
        match self.below(3) {
            0 => Moment::Records(1 + self.below(whole.records)),
            1 => Moment::Time(whole.time.mul_f64(self.part())),
            _ => Moment::Between(1 + self.below(whole.records), beat.mul_f64(2.0 * self.part())),
        }
    }
}

/// A project with the ticket, and with work of the person's that nobody may touch.
fn project() -> Project {
    // An iteration that is begun again finds its work done and is refused the same call: no reason to stop here.
    let project = Project::with_config(&PHASES, SCENARIO, "breaker: {permission_denials: 100, no_progress: 100}\n");
    project.write("config/policy.yaml", POLICY);
    project.write("work/.git/info/exclude", "effects\nrefused\n");
    project.write("work/mine.txt", "not committed\n");
    project.write("work/README.md", "# A project\n\nbeing rewritten\n");
    project.write("work/staged.txt", "staged\n");
    project.git(&["add", "staged.txt"]);
    project.write("work/staged.txt", "staged, and changed since\n");
    project
}

/// How a program came to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Killed,
    Exited(Option<i32>),
}

/// Starts the program and kills it at that moment, if it lives that long.
fn play(project: &Project, args: &[&str], moment: Moment) -> End {
    let mut child = project.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (send, records) = mpsc::channel();
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
    let count = match moment {
        Moment::Records(count) | Moment::Between(count, _) => count,
        Moment::Time(_) => 0,
        Moment::Never => usize::MAX,
    };
    let mut open = true;
    for _ in 0..count {
        match records.recv_timeout(PATIENCE) {
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => {
                open = false;
                break;
            }
            Err(RecvTimeoutError::Timeout) => {
                child.kill().unwrap();
                panic!("the program hung: {args:?}");
            }
        }
    }
    let until = match moment {
        Moment::Time(time) => Some(begun + time),
        Moment::Between(_, time) => Some(Instant::now() + time),
        Moment::Records(_) | Moment::Never => None,
    };
    // Records that come meanwhile are passed over; the end of them is the end of the program.
    while let (true, Some(until)) = (open, until) {
        match records.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => open = false,
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    let end = finish(&mut child, open);
    drop(records);
    let _ = reader.join().unwrap();
    end
}

fn finish(child: &mut Child, kill: bool) -> End {
    if kill {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    match status.code() {
        None => End::Killed,
        code => End::Exited(code),
    }
}

/// What `status --json` says of the only run; `None` before there is one. A child that was just being started when its
/// program died holds what the program held until it is a program of its own.
fn status(project: &Project) -> Option<Value> {
    let until = Instant::now() + PATIENCE;
    loop {
        let runs = json(project, &["status", "--json"]);
        assert!(runs.as_array().unwrap().len() <= 1, "one run goes on, no second begins: {runs}");
        let run = runs.get(0).cloned();
        if run.as_ref().is_none_or(|run| run["state"] != "running") || Instant::now() > until {
            return run;
        }
        std::thread::yield_now();
    }
}

/// One project's life: killed once or more, then left to finish. The number of kills that met a living program.
fn live(seed: u64, whole: &Undisturbed) -> usize {
    let mut dice = Dice(seed);
    let project = project();
    let index = project.git(&["ls-files", "--stage"]);
    let mut kills = 0;
    let mut moment = dice.moment(whole);
    for attempt in 0.. {
        assert!(attempt < 20, "it never finishes");
        // Before the first record is stored there is nothing to go on with.
        let args: &[&str] = match status(&project) {
            None => &["run", "--json", "tk-1"],
            Some(run) if run["reason"] == "complete" => break,
            Some(run) => {
                assert_eq!(run["state"], "interrupted", "{run}");
                &["resume", "--json"]
            }
        };
        match play(&project, args, moment) {
            End::Killed => kills += 1,
            end @ End::Exited(_) => {
                let last: Vec<_> =
                    project.journal().into_iter().rev().take(12).map(|record| record.to_string()).collect();
                assert_eq!(
                    end,
                    End::Exited(Some(0)),
                    "attempt {attempt} at {moment:?}, latest first:\n{}",
                    last.join("\n")
                );
            }
        }
        // Going on is killed too, now and then.
        moment = if kills < 3 && dice.below(3) == 0 { dice.moment(whole) } else { Moment::Never };
    }
    assert_eq!(project.processes(), Vec::<String>::new(), "no process is left");
    assert_eq!(project.ticket_text("tk-1"), whole.ticket, "the same final ticket");
    assert_eq!(project.read("work/mine.txt"), "not committed\n");
    assert_eq!(project.read("work/README.md"), "# A project\n\nbeing rewritten\n");
    assert_eq!(project.read("work/staged.txt"), "staged, and changed since\n");
    assert_eq!(project.git(&["ls-files", "--stage"]), index, "the index is the person's");
    check_journal(&project);
    kills
}

fn check_journal(project: &Project) {
    let journal = project.journal();
    let of = |kind: &'static str| journal.iter().filter(move |record| record["kind"] == kind);
    for (at, record) in journal.iter().enumerate() {
        assert_eq!(record["seq"], at as u64 + 1, "no record is lost");
    }
    for phase in PHASES {
        let done = of("phase_done").filter(|record| record["phase"] == phase).count();
        assert_eq!(done, 1, "{phase} is done exactly once");
        let of_phase = |kind| of(kind).filter(|record| record["phase"] == phase).count();
        assert!(of_phase("tick_intended") >= 1, "{phase} is meant to be ticked");
        // Killed between the write and its record: then the file itself said so when it was read again.
        let seen = |record: &&Value| {
            record["phases"].as_array().unwrap().iter().any(|seed| seed["text"] == phase && seed["done"] == true)
        };
        let settled = of_phase("tick_settled");
        assert!(
            settled == 1 || (settled == 0 && of("ticket_read").any(|record| seen(&record))),
            "{phase}: {settled} ticks"
        );
    }
    assert_eq!(of("run_ended").count(), 1);
    check_verdicts(project, &journal);
}

/// Whatever Claude did, it was judged before: by its own notes, and by every result in the stream.
fn check_verdicts(project: &Project, journal: &[Value]) {
    let judged: Vec<&Value> = journal.iter().filter(|record| record["kind"] == "tool_judged").collect();
    let effects = std::fs::read_to_string(project.path("work/effects")).unwrap_or_default();
    let mut ran: BTreeMap<&str, usize> = BTreeMap::new();
    for slug in effects.lines() {
        *ran.entry(slug).or_default() += 1;
    }
    assert_eq!(ran.len(), PHASES.len(), "every phase had its effect");
    for (slug, ran) in ran {
        let target = format!("echo {slug} >>");
        let verdicts = judged.iter().filter(|record| record["target"].as_str().unwrap().contains(&target)).count();
        assert!(verdicts >= ran, "{slug}: {ran} effects, {verdicts} verdicts");
        let file = format!("{slug}.txt");
        let written = judged
            .iter()
            .any(|record| record["tool"] == "Write" && record["target"].as_str().unwrap().ends_with(&file));
        assert!(written, "{file} was written and not judged");
    }
    let (mut results, mut refused) = (0, 0);
    for (id, said) in results_in_the_stream(project) {
        assert!(judged.iter().any(|record| record["tool_use_id"] == id.as_str()), "{id} has a result and no verdict");
        results += 1;
        if said.contains("nobody is available to approve") {
            let stored = |kind| journal.iter().filter(|record| record["kind"] == kind && record["id"] == id).count();
            assert_eq!((stored("approval_asked"), stored("approval_answered")), (1, 1), "{id} was answered unstored");
            refused += 1;
        }
    }
    assert!(refused >= PHASES.len() / 2, "{refused} refusals reached Claude");
    assert!(!project.path("work/refused").exists(), "what nobody allowed did not run");
    assert!(results >= 3 * PHASES.len() / 2, "the streams are there to be looked at: {results} results");
}

/// The id and the text of each result that Claude printed.
fn results_in_the_stream(project: &Project) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for run in std::fs::read_dir(project.path("state/runs")).unwrap() {
        for file in std::fs::read_dir(run.unwrap().path()).unwrap().map(|entry| entry.unwrap().path()) {
            if file.extension().is_none_or(|extension| extension != "ndjson") {
                continue;
            }
            let text = std::fs::read_to_string(file).unwrap();
            // The last line may be cut off by a kill.
            for record in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                let blocks = record["message"]["content"].as_array().cloned().unwrap_or_default();
                let results = blocks.iter().filter(|block| block["type"] == "tool_result");
                found.extend(
                    results.map(|it| (it["tool_use_id"].as_str().unwrap().to_owned(), it["content"].to_string())),
                );
            }
        }
    }
    found
}

fn undisturbed() -> Undisturbed {
    let project = project();
    let begun = Instant::now();
    assert_eq!(play(&project, &["run", "--json", "tk-1"], Moment::Never), End::Exited(Some(0)));
    let time = begun.elapsed();
    check_journal(&project);
    let ticket = project.ticket_text("tk-1");
    assert_eq!(ticket.matches("- [x]").count(), PHASES.len(), "{ticket}");
    Undisturbed { records: project.journal().len(), time, ticket }
}

#[test]
fn kills_at_random_moments_lose_nothing() {
    let wanted = std::env::var("CRASH_KILLS").map_or(20, |kills| kills.parse().expect("CRASH_KILLS is a number"));
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64;
    let seed =
        std::env::var("CRASH_SEED").map_or_else(|_| clock(), |seed| seed.parse().expect("CRASH_SEED is a number"));
    let begun = Instant::now();
    let whole = undisturbed();
    let (next, kills) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while kills.load(Ordering::SeqCst) < wanted {
                    let case = next.fetch_add(1, Ordering::SeqCst) as u64;
                    let lived = std::panic::catch_unwind(|| live(seed.wrapping_add(case), &whole));
                    let Ok(more) = lived else {
                        panic!("case {case} failed; to play it alone: CRASH_SEED={}", seed + case);
                    };
                    kills.fetch_add(more, Ordering::SeqCst);
                }
            });
        }
    });
    let (kills, cases) = (kills.into_inner(), next.into_inner());
    assert!(kills >= wanted);
    println!(
        "{kills} kills in {cases} runs survived in {:.0} s; an undisturbed run: {} records, {} ms; seed {seed}",
        begun.elapsed().as_secs_f64(),
        whole.records,
        whole.time.as_millis()
    );
}

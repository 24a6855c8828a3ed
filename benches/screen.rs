//! The program itself in a terminal of 200 × 50, beside the floors of this very run: what a person waits for, and what
//! it costs the machine. A figure beyond its limit is an exit code of 1.
//!
//! `cargo bench --bench screen` takes two to four minutes; `cargo bench --bench screen -- WORD` takes the rows whose
//! name has the word. Floors and the program take turns, figures are medians, and what depends on the machine is told
//! as a ratio or with its floor taken off. The last line is the same as JSON. Processor time, wake-ups and memory are
//! read from `/proc`: on Linux only.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs, dead_code)]

use programmator::adapters::clock::fresh_run_id;
use programmator::adapters::store::{Append, Store};
use programmator::base::id::TicketId;
use programmator::base::time::Timestamp;
use programmator::domain::record::Record;
use programmator::domain::summary::{RunState, RunSummary};
use stage::{Stage, at, counted, median, timed};
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

#[path = "support/corpus.rs"]
mod corpus;
#[path = "support/limit.rs"]
mod limit;
#[path = "../tests/support/project.rs"]
mod project;
#[path = "support/stage.rs"]
mod stage;
#[path = "../tests/support/terminal.rs"]
mod terminal;

/// Words of the help, which `?` opens.
const HELP: &str = "thing that needs you";

/// What the screen says of a run that has ended well.
const ENDED: &str = "✓ done";

/// What a figure must not be above, or below.
#[derive(Clone, Copy)]
enum Limit {
    Most(f64),
    Least(f64),
}

#[derive(Default)]
struct Report {
    rows: Vec<serde_json::Value>,
    misses: usize,
}

impl Report {
    fn row(&mut self, name: &str, value: f64, unit: &str, limit: Limit, beside: &str) {
        let (sign, bound, met) = match limit {
            Limit::Most(bound) => ("≤", bound, value <= bound),
            Limit::Least(bound) => ("≥", bound, value >= bound),
        };
        self.misses += usize::from(!met);
        let mark = if met { " " } else { "✗" };
        println!("{mark} {name:44} {value:9.2} {unit:4} {sign} {bound:6}   {beside}");
        self.rows.push(serde_json::json!({
            "name": name, "value": value, "unit": unit, "limit": bound, "at_most": sign == "≤", "met": met,
            "beside": beside,
        }));
    }
}

/// Adds what it has measured.
type Measure = fn(&mut Report);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|word| word == stage::AGENT) {
        return stage::agent(&args[1..]);
    }
    let wanted: Vec<&String> = args.iter().filter(|word| !word.starts_with("--")).collect();
    let groups: [(&str, Measure); 9] = [
        ("frame", first_frame),
        ("home", home),
        ("gap", gap),
        ("stream", stream),
        ("small", million),
        ("silent", silent),
        ("rate", rates),
        ("tabs", tabs),
        ("iterations", iterations),
    ];
    let (began, mut report) = (Instant::now(), Report::default());
    for (name, measure) in groups {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            measure(&mut report);
        }
    }
    println!("{} rows, {} missed, {:.0} s", report.rows.len(), report.misses, began.elapsed().as_secs_f64());
    println!("{}", serde_json::Value::Array(report.rows));
    if report.misses == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// From the start of `program` to the first thing on the screen.
fn frame(stage: &Stage, program: &str, args: &[&str]) -> f64 {
    let (env, folder) = (stage.project.env(), stage.project.work());
    let start = terminal::Start { program: Path::new(program), args, env: &env, folder: &folder, size: (200, 50) };
    let (ms, terminal) = timed(|| {
        let terminal = terminal::Terminal::start(&start);
        terminal.wait_until("anything", |screen| !screen.trim().is_empty());
        terminal
    });
    drop(terminal);
    ms
}

fn first_frame(report: &mut Report) {
    let stage = Stage::new(1, "turns: []\n");
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..21 {
        floor.push(frame(&stage, "/bin/echo", &["hello"]));
        ours.push(frame(&stage, project::PROGRAM, &[]));
    }
    let beside = format!("above /bin/echo in the same terminal ({:.2} ms)", median(&floor));
    report.row("first frame", median(&ours) - median(&floor), "ms", Limit::Most(6.0), &beside);
    report.row("first frame, 95 of 100", at(&ours, 0.95) - median(&floor), "ms", Limit::Most(12.0), &beside);
}

/// 10,000 tickets and 2,000 runs.
fn home(report: &mut Report) {
    let stage = Stage::new(1, "turns: []\n");
    for n in 0..10_000 {
        stage.project.ticket(&format!("many-{n:05}"), &["Phase 1: a step", "Phase 2: another"]);
    }
    let store = Store::open(&stage.project.path("state")).unwrap();
    for n in 0..2_000 {
        store.append_blocking(ended_run(&stage, n)).unwrap();
    }
    drop(store);
    let (mut floor, mut first, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..9 {
        floor.push(frame(&stage, "/bin/echo", &["hello"]));
        first.push(frame(&stage, project::PROGRAM, &[]));
        let (ms, terminal) = timed(|| {
            let terminal = stage.screen(&[]);
            terminal.wait_until("the tickets", |screen| screen.contains("many-0"));
            terminal
        });
        rows.push(ms);
        drop(terminal);
    }
    let beside = format!("10,000 tickets, 2,000 runs, above /bin/echo ({:.2} ms)", median(&floor));
    report.row("Home: first frame", median(&first) - median(&floor), "ms", Limit::Most(6.0), &beside);
    report.row("Home: rows", median(&rows) - median(&floor), "ms", Limit::Most(50.0), &beside);
}

fn ended_run(stage: &Stage, n: usize) -> Append {
    let (run, time) = (fresh_run_id(), Timestamp::from_millis(1_795_000_000_000 + n as i64));
    let ticket = TicketId::parse(&format!("many-{n:05}")).unwrap();
    let summary = RunSummary {
        run,
        ticket: ticket.clone(),
        title: "A ticket of many".to_owned(),
        ticket_path: stage.project.path(&format!("work/.tickets/many-{n:05}.md")).display().to_string(),
        folder: stage.project.work().display().to_string(),
        state: RunState::Ended,
        phase: None,
        phases_done: 2,
        phases: 2,
        iterations: 2,
        cost_usd: 0.1,
        reason: Some("complete".to_owned()),
        started: time,
        updated: time,
        marks: Vec::new(),
        unverified: false,
        needs: None,
        until: None,
        worked_ms: 0,
        commit: None,
        committing: false,
        added: 0,
        removed: 0,
    };
    Append { run, ticket, time, records: vec![Record::Paused; 10], summary }
}

/// From the end of Claude to its next start: evidence, claim, tick, snapshot, prompt.
fn gap(report: &mut Report) {
    const SCENARIO: &str = "turns: [{times: 0, steps: [{write: {path: '{slug}.txt', content: '{phase}'}}, \
                            {status: {status: CONTINUE}}]}]\n";
    for (files, most) in [(10, 15.0), (10_000, 40.0)] {
        let stage = Stage::new(26, SCENARIO);
        for n in 0..files {
            stage.project.write(&format!("work/src/d{}/f{n}.rs", n / 100), &"fn f() {}\n".repeat(40));
        }
        stage.project.git(&["add", "-A"]);
        stage.project.git(&["-c", "user.name=P", "-c", "user.email=p@example.invalid", "commit", "-q", "-m", "Files"]);
        let output = stage.project.run(&["run", "-n", "25", "tk-1"]);
        let ours = stage.gaps();
        assert!(ours.len() >= 20, "{} iterations: {}", ours.len(), String::from_utf8_lossy(&output.stderr));
        std::fs::remove_file(stage.project.path("log")).unwrap();
        for _ in 0..20 {
            let words = stage.agent_words();
            // Without flags it is refused, and ends at once.
            let mut idle = Command::new(&words[0]);
            idle.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        }
        let floor = median(&stage.gaps());
        let beside = format!("above a loop that only spawns ({floor:.2} ms); {} iterations", ours.len());
        let name = format!("end of Claude → next start, {files} files");
        report.row(&name, median(&ours) - floor, "ms", Limit::Most(most), &beside);
    }
}

/// 100,000 records as fast as they can be taken, with and without deltas; then what was printed is searched.
fn stream(report: &mut Report) {
    let plain = stream_of(100_000);
    flood(report, "100,000 records ÷ L", &plain, Limit::Least(0.5), true);
    let deltas = with_deltas(&plain);
    flood(report, "the same with partial messages ÷ L", &deltas, Limit::Least(0.4), false);
}

/// The corpus, but its results are of calls that others made: nobody was asked about them, as the gate would notice.
fn stream_of(records: usize) -> Vec<u8> {
    let mut corpus = corpus::corpus(records);
    let found: Vec<usize> = memchr::memmem::find_iter(&corpus, br#""tool_use_id":"toolu_"#).collect();
    for at in found {
        corpus[at + br#""tool_use_id":""#.len()..][..6].copy_from_slice(b"other_");
    }
    corpus
}

/// Before every text, what was streamed of it.
fn with_deltas(corpus: &[u8]) -> Vec<u8> {
    const DELTA: &[u8] = br#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words of it "}},"parent_tool_use_id":null,"session_id":"17eb9055-861e-0a8b-31e8-6cdcf75b7a4a","uuid":"08897e7d-8890-a9d8-86d0-ea00da25e718"}"#;
    let mut out = Vec::with_capacity(corpus.len() * 2);
    for line in corpus.split_inclusive(|byte| *byte == b'\n') {
        let text = memchr::memmem::find(&line[..line.len().min(300)], br#""type":"text""#).is_some();
        for _ in 0..if text { 8 } else { 0 } {
            out.extend_from_slice(DELTA);
            out.push(b'\n');
        }
        out.extend_from_slice(line);
    }
    out
}

fn flood(report: &mut Report, name: &str, corpus: &[u8], limit: Limit, more: bool) {
    let (mut floor, mut ours, mut peak) = (Vec::new(), Vec::new(), 0.0_f64);
    let records = corpus.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() as f64;
    for round in 0..3 {
        let (ms, ()) = timed(|| {
            for line in corpus.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                black_box(limit::typed(line));
            }
        });
        floor.push(ms);
        let stage = Stage::new(1, "");
        let file = stage.file("stream.ndjson", corpus).display().to_string();
        let steps = format!("[{{replay: {file:?}}}, {{status: {{status: DONE}}}}]");
        stage.file("scenario.yaml", format!("turns: [{{times: 0, steps: {steps}}}]\n").as_bytes());
        let terminal = stage.screen(&["tk-1"]);
        stage.wait_ends(1, |_| ());
        let log = stage.log();
        ours.push((log[1].1 - log[0].1) as f64 / 1e6);
        terminal.wait_for(ENDED);
        peak = peak.max(counted(terminal.pid()).peak);
        if more && round == 0 {
            finished(report, &terminal);
            drop(terminal);
            search(report, &stage, Path::new(&file));
        }
    }
    let rate = |ms: f64| records / ms;
    let beside = format!("L {:.0} k/s, here {:.0} k/s", rate(median(&floor)), rate(median(&ours)));
    report.row(name, median(&floor) / median(&ours), "", limit, &beside);
    if more {
        report.row("peak memory, 100,000 records", peak, "MB", Limit::Most(26.0), "");
    }
}

/// A finished run on the screen costs nothing.
fn finished(report: &mut Report, terminal: &terminal::Terminal) {
    std::thread::sleep(Duration::from_secs(12));
    let (before, bytes) = (counted(terminal.pid()), terminal.raw().len());
    std::thread::sleep(Duration::from_secs(4));
    let (after, more) = (counted(terminal.pid()), terminal.raw().len() - bytes);
    report.row("finished: wake-ups", (after.wakes - before.wakes) as f64 / 4.0, "/s", Limit::Most(0.3), "");
    report.row("finished: bytes", more as f64 / 4.0, "/s", Limit::Most(0.0), "");
}

/// A word that is nowhere, beside a search of the same bytes that does nothing else; keys meanwhile.
fn search(report: &mut Report, stage: &Stage, file: &Path) {
    let (mut floor, mut ours, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    let mut terminal = stage.screen(&["replay", "tk-1"]);
    terminal.wait_for(ENDED);
    std::thread::sleep(Duration::from_secs(1));
    for n in 0..3 {
        let word = format!("Nowhere{n}");
        let (ms, ()) = timed(|| {
            let bytes = std::fs::read(file).unwrap();
            assert!(memchr::memmem::find(&bytes, word.as_bytes()).is_none());
        });
        floor.push(ms);
        terminal.keys_until(&format!("/{word}"), &word);
        ours.push(timed(|| terminal.keys_until("\r", "not found")).0);
        terminal.keys("/Nonesuch\r");
        keys.extend(toggles(&mut terminal, 2));
        terminal.wait_for("not found");
        terminal.keys("\x1b");
        terminal.wait_until("the end of the search", |screen| !screen.contains("not found"));
    }
    let beside = format!("a read and a search of the same bytes: {:.0} ms", median(&floor));
    report.row(
        "search of 100,000 records ÷ reading them",
        median(&ours) / median(&floor),
        "",
        Limit::Most(1.5),
        &beside,
    );
    report.row("key during a search, longest", at(&keys, 1.0), "ms", Limit::Most(33.0), "");
}

/// `?` until the help is there, and gone.
fn toggles(terminal: &mut terminal::Terminal, times: usize) -> Vec<f64> {
    let mut took = Vec::new();
    for _ in 0..times {
        took.push(timed(|| terminal.keys_until("?", HELP)).0);
        terminal.keys("?");
        took.push(timed(|| terminal.wait_until("no help", |screen| !screen.contains(HELP))).0);
        std::thread::sleep(Duration::from_millis(60));
    }
    took
}

/// 1,000 and a million short records: memory.
fn million(report: &mut Report) {
    const RECORD: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"words"}]}}"#;
    for (records, most) in [(1_000, 18.0), (1_000_000, 60.0)] {
        let stage = Stage::new(1, "");
        let file = stage.file("stream.ndjson", format!("{RECORD}\n").repeat(records).as_bytes()).display().to_string();
        let steps = format!("[{{replay: {file:?}}}, {{status: {{status: DONE}}}}]");
        stage.file("scenario.yaml", format!("turns: [{{times: 0, steps: {steps}}}]\n").as_bytes());
        let terminal = stage.screen(&["tk-1"]);
        stage.wait_ends(1, |_| ());
        terminal.wait_for(ENDED);
        let peak = counted(terminal.pid()).peak;
        report.row(&format!("peak memory, {records} records"), peak, "MB", Limit::Most(most), "");
    }
}

/// Claude says nothing for ten seconds; only a clock moves.
fn silent(report: &mut Report) {
    let stage = Stage::new(1, "");
    let file = stage.file("stream.ndjson", &stream_of(200)).display().to_string();
    let scenario = format!("turns: [{{times: 0, steps: [{{replay: {file:?}}}, {{hang: {{}}}}]}}]\n");
    stage.file("scenario.yaml", scenario.as_bytes());
    let terminal = stage.screen(&["tk-1"]);
    terminal.wait_for("following");
    std::thread::sleep(Duration::from_secs(12));
    let before = counted(terminal.pid());
    std::thread::sleep(Duration::from_secs(10));
    let after = counted(terminal.pid());
    report.row("silent Claude: wake-ups", (after.wakes - before.wakes) as f64 / 10.0, "/s", Limit::Most(1.1), "");
    report.row("silent Claude: processor", (after.cpu - before.cpu) * 10.0, "%", Limit::Most(0.3), "");
}

/// 50 and 5,000 records a second, each by a write of its own.
fn rates(report: &mut Report) {
    let corpus = stream_of(480);
    let records: Vec<&[u8]> = corpus.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    for (rate, most) in [(50, 5.0), (5_000, 18.0)] {
        let stage = Stage::new(1, "");
        let scenario = stage::rated(&stage.project.path("home"), &records, rate, 12);
        stage.file("scenario.yaml", scenario.as_bytes());
        let mut terminal = stage.screen(&["tk-1"]);
        terminal.wait_for("following");
        std::thread::sleep(Duration::from_secs(2));
        let (before, bytes, began) = (counted(terminal.pid()), terminal.raw().len(), Instant::now());
        std::thread::sleep(Duration::from_secs(6));
        let (after, more, took) =
            (counted(terminal.pid()), terminal.raw().len() - bytes, began.elapsed().as_secs_f64());
        let cpu = (after.cpu - before.cpu) / took * 100.0;
        report.row(&format!("{rate} records/s: processor"), cpu, "%", Limit::Most(most), "");
        if rate == 50 {
            report.row("50 records/s: bytes", more as f64 / took / 1e3, "KB/s", Limit::Most(60.0), "");
        } else {
            let keys = toggles(&mut terminal, 15);
            report.row("key at 5,000 records/s", median(&keys), "ms", Limit::Most(3.0), "");
            report.row("key at 5,000 records/s, 99 of 100", at(&keys, 0.99), "ms", Limit::Most(16.0), "");
        }
    }
}

/// 50 tabs, each a run in a folder of its own that prints 50 records a second.
fn tabs(report: &mut Report) {
    const TABS: usize = 50;
    let corpus = stream_of(48);
    let records: Vec<&[u8]> = corpus.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let stage = Stage::new(1, "turns: [{times: 0, steps: [{hang: {}}]}]\n");
    let names: Vec<String> = (0..TABS).map(|n| format!("tab-{n:02}")).collect();
    let mut started = Vec::new();
    for name in &names {
        stage.project.ticket(name, &["Phase 1: a step"]);
        let folder = stage.project.path(&format!("folder-{name}"));
        std::fs::create_dir_all(&folder).unwrap();
        let folder = folder.display().to_string();
        let init = Command::new("git").args(["init", "-q", &folder]).status().unwrap();
        assert!(init.success());
        let mut command = stage.project.command(&["run", "-C", &folder, name]);
        command.env("TICKETS_DIR", stage.project.path("work/.tickets"));
        started.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let count = started.len();
        let began = Instant::now();
        while stage.log().iter().filter(|(start, _)| *start).count() < count {
            assert!(began.elapsed() < Duration::from_secs(20), "run {count} did not start");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    // They are left without a word, and each is taken up again in its folder.
    for run in &mut started {
        run.kill().unwrap();
        run.wait().unwrap();
    }
    let scenario = stage::rated(&stage.project.path("home"), &records, 50, 40);
    stage.file("scenario.yaml", scenario.as_bytes());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut terminal = stage.screen(&names);
    let began = Instant::now();
    while stage.log().iter().filter(|(start, _)| *start).count() < 2 * TABS {
        assert!(began.elapsed() < Duration::from_secs(40), "not all tabs run: {}", terminal.screen());
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs(2));
    let (before, began) = (counted(terminal.pid()), Instant::now());
    std::thread::sleep(Duration::from_secs(6));
    let (after, took) = (counted(terminal.pid()), began.elapsed().as_secs_f64());
    let keys = toggles(&mut terminal, 10);
    report.row("50 tabs: processor", (after.cpu - before.cpu) / took * 100.0, "%", Limit::Most(20.0), "");
    report.row("50 tabs: memory", after.rss, "MB", Limit::Most(64.0), "");
    report.row("50 tabs: key, 99 of 100", at(&keys, 0.99), "ms", Limit::Most(16.0), "");
}

/// Memory over 200 iterations on the screen.
fn iterations(report: &mut Report) {
    const SCENARIO: &str = "turns: [{times: 0, steps: [{write: {path: '{slug}.txt', content: '{phase}'}}, \
                            {status: {status: CONTINUE}}]}]\n";
    let stage = Stage::new(210, SCENARIO);
    let terminal = stage.screen(&["tk-1"]);
    let mut early = None;
    stage.wait_ends(200, |ends| {
        if ends >= 50 && early.is_none() {
            early = Some((ends, counted(terminal.pid()).rss));
        }
    });
    let (from, rss) = early.unwrap();
    let grown = (counted(terminal.pid()).rss - rss) * 1e3 / (200 - from) as f64;
    let beside = format!("{rss:.1} MB after {from}");
    report.row("memory of one more iteration", grown, "KB", Limit::Most(6.0), &beside);
}

//! A run of a million records, 2.6 GB of them: shown, left by a kill, taken up again, walked through, searched.

use crate::flood::{records, stream_of};
use crate::rates::{cost, toggles};
use crate::report::{Limit, Report};
use crate::stage::{ENDED, Stage, at, counted, median, timed};
use crate::start::floor;
use crate::watched::{Watched, ms};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The stream is played so many times over.
const TIMES: usize = 10;

/// What every window of the stream has.
const SHOWN: &str = "cargo test";

pub fn million(report: &mut Report) {
    let stage = Stage::new(1, "");
    let stream = stream_of(100_000);
    let file = stage.file("stream.ndjson", &stream).display().to_string();
    assert_eq!(records(&stream).count() * TIMES, 1_000_000);
    drop(stream);
    let steps = format!("{{replay: {file:?}}}, ").repeat(TIMES);
    stage.file("scenario.yaml", format!("turns: [{{times: 0, steps: [{steps}{{hang: {{}}}}]}}]\n").as_bytes());
    let terminal = stage.screen(&["tk-1"]);
    stage.wait_starts(1);
    let (ms, ()) = timed(|| wait_for_index(&stage));
    std::thread::sleep(Duration::from_secs(1));
    let peak = counted(terminal.pid()).peak;
    report.row("peak memory, 1,000,000 records", peak, "MB", Limit::Most(60.0), &format!("{:.0} k/s", 1e6 / ms));
    drop(terminal);
    resume(report, &stage);
    // The run comes to its end.
    stage.file("scenario.yaml", b"turns: [{times: 0, steps: [{status: {status: DONE}}]}]\n");
    let mut terminal = stage.screen(&["tk-1"]);
    terminal.wait_for(ENDED);
    drop(terminal);
    walk(report, &stage);
    search(report, &stage);
}

/// Until all of them are stored: 16 bytes each in the index.
fn wait_for_index(stage: &Stage) {
    let began = Instant::now();
    let size = || std::fs::metadata(printed(stage)?.with_extension("idx")).ok().map(|data| data.len());
    while size().is_none_or(|bytes| bytes < 16_000_000) {
        assert!(began.elapsed() < Duration::from_secs(180), "the million was not played");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// From the start of the program to the end of what Claude had printed.
fn resume(report: &mut Report, stage: &Stage) {
    stage.file("scenario.yaml", b"turns: [{times: 0, steps: [{hang: {}}]}]\n");
    let (mut floors, mut first, mut whole, mut attached) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // Each time adds what is above the end: after a few more it would be off the screen.
    for _ in 0..3 {
        floors.push(floor(stage));
        let began = Instant::now();
        let mut terminal = stage.screen(&["tk-1"]);
        first.push(ms(began, terminal.wait_until("anything", |screen| !screen.trim().is_empty())));
        whole.push(ms(began, terminal.wait_for(SHOWN)));
        let began = Instant::now();
        attached.push(ms(began, stage.screen(&["attach", "tk-1"]).wait_for(SHOWN)));
    }
    let beside = format!("above /bin/echo ({:.2} ms)", median(&floors));
    report.row("resumed at 1 M: first frame", median(&first) - median(&floors), "ms", Limit::Most(30.0), &beside);
    report.row("resumed at 1 M: its end", median(&whole) - median(&floors), "ms", Limit::Most(100.0), &beside);
    report.row("attached at 1 M: its end", median(&attached) - median(&floors), "ms", Limit::Most(50.0), &beside);
}

/// From what is done to the end of the frame after it.
fn frame_after(terminal: &mut Watched, act: impl FnOnce(&mut Watched) -> Instant) -> f64 {
    let done = act(terminal);
    let frame = terminal.wait_frame(done);
    std::thread::sleep(Duration::from_millis(60));
    ms(done, frame)
}

/// Scrolling, jumps and other sizes; then nothing.
fn walk(report: &mut Report, stage: &Stage) {
    const UP: &str = "\x1b[5~";
    const DOWN: &str = "\x1b[6~";
    let mut terminal = stage.screen(&["replay", "tk-1"]);
    terminal.wait_for("complete: 1/1");
    std::thread::sleep(Duration::from_millis(500));
    let (mut keys, mut sizes) = (Vec::new(), Vec::new());
    for _ in 0..6 {
        for key in [UP, UP, "k", "k", "j", DOWN, "g", DOWN, "j", "G"] {
            keys.push(frame_after(&mut terminal, |terminal| terminal.keys(key)));
        }
    }
    terminal.keys(UP);
    std::thread::sleep(Duration::from_millis(100));
    for size in [(400, 100), (80, 24), (400, 100), (80, 24), (400, 100), (200, 50)] {
        sizes.push(frame_after(&mut terminal, |terminal| terminal.resize(size)));
    }
    let beside = format!("longest {:.1} ms", at(&keys, 1.0));
    report.row("PgUp, k, g, G at 1 M, 99 of 100", at(&keys, 0.99), "ms", Limit::Most(16.0), &beside);
    report.row(
        "another size at 1 M",
        median(&sizes),
        "ms",
        Limit::Most(16.0),
        &format!("longest {:.1} ms", at(&sizes, 1.0)),
    );
    std::thread::sleep(Duration::from_secs(10));
    let cost = cost(&mut terminal, 4);
    report.row("finished: wake-ups", cost.wakes, "/s", Limit::Most(0.0), "");
    report.row("finished: bytes", cost.bytes, "/s", Limit::Most(0.0), "");
}

/// What Claude printed in the run.
fn printed(stage: &Stage) -> Option<PathBuf> {
    let runs = std::fs::read_dir(stage.project.path("state/runs")).ok()?;
    let files = runs.flatten().map(|run| run.path().join("1.ndjson"));
    files.max_by_key(|path| path.metadata().map_or(0, |data| data.len()))
}

/// A search of the bytes that does nothing else.
fn reading(path: &Path, word: &[u8]) {
    let (mut file, mut buffer) = (File::open(path).unwrap(), vec![0; 1 << 20]);
    loop {
        let read = file.read(&mut buffer).unwrap();
        if read == 0 {
            return;
        }
        assert!(memchr::memmem::find(&buffer[..read], word).is_none());
    }
}

/// A word that is nowhere, beside a search of the same bytes that does nothing else; keys meanwhile.
fn search(report: &mut Report, stage: &Stage) {
    let (mut floors, mut ours, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    let mut terminal = stage.screen(&["replay", "tk-1"]);
    terminal.wait_for("complete: 1/1");
    let file = printed(stage).unwrap();
    for n in 0..3 {
        let word = format!("Nowhere{n}");
        floors.push(timed(|| reading(&file, word.as_bytes())).0);
        terminal.until(&format!("/{word}"), &word);
        ours.push(terminal.until("\r", "not found"));
        terminal.keys("/Nonesuch\r");
        keys.extend(toggles(&mut terminal, 2));
        terminal.wait_for("not found");
        terminal.keys("\x1b");
        terminal.wait_until("the end of the search", |screen| !screen.contains("not found"));
    }
    let beside = format!("{:.0} ms of {:.0} for one thread that only reads", median(&ours), median(&floors));
    report.row("search of 1 M ÷ reading it", median(&ours) / median(&floors), "", Limit::Most(1.45), &beside);
    report.row("search of 1 M", median(&ours), "ms", Limit::Most(700.0), &beside);
    report.row("key during a search, longest", at(&keys, 1.0), "ms", Limit::Most(16.0), "");
}

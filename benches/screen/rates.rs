//! One run in front: what it costs while Claude is silent, and while it prints.

use crate::feed::{self, Feed};
use crate::flood::{records, stream_of};
use crate::report::{Limit, Report};
use crate::stage::{HELP, Stage, at, counted, median};
use crate::watched::{Watched, ms};
use std::time::{Duration, Instant};

/// What is measured in a while.
pub struct Cost {
    /// Of a core, in percent.
    pub cpu: f64,
    /// In a second.
    pub wakes: f64,
    /// Bytes to the terminal in a second.
    pub bytes: f64,
}

/// What the program costs in so many seconds.
pub fn cost(terminal: &mut Watched, seconds: u64) -> Cost {
    let (before, bytes, began) = (counted(terminal.pid()), terminal.printed(), Instant::now());
    std::thread::sleep(Duration::from_secs(seconds));
    let (after, more, took) = (counted(terminal.pid()), terminal.printed() - bytes, began.elapsed().as_secs_f64());
    Cost {
        cpu: (after.cpu - before.cpu) / took * 100.0,
        wakes: after.woken_since(&before) as f64 / took,
        bytes: more as f64 / took,
    }
}

/// `?` until the help is there, and gone, in milliseconds.
pub fn toggles(terminal: &mut Watched, times: usize) -> Vec<f64> {
    let mut took = Vec::new();
    for _ in 0..times {
        took.push(terminal.until("?", HELP));
        std::thread::sleep(Duration::from_millis(60));
        let typed = terminal.keys("?");
        took.push(ms(typed, terminal.wait_until("no help", |screen| !screen.contains(HELP))));
        std::thread::sleep(Duration::from_millis(60));
    }
    took
}

/// Records of the corpus, each with its newline.
pub fn lines(count: usize) -> Vec<Vec<u8>> {
    records(&stream_of(count)).map(|record| [record, b"\n"].concat()).collect()
}

/// Claude says nothing for ten seconds; only a clock moves.
pub fn silent(report: &mut Report) {
    let stage = Stage::new(1, "");
    let file = stage.file("stream.ndjson", &stream_of(200)).display().to_string();
    let scenario = format!("turns: [{{times: 0, steps: [{{replay: {file:?}}}, {{hang: {{}}}}]}}]\n");
    stage.file("scenario.yaml", scenario.as_bytes());
    let mut terminal = stage.screen(&["tk-1"]);
    terminal.wait_for("following");
    std::thread::sleep(Duration::from_secs(12));
    let cost = cost(&mut terminal, 10);
    report.row("silent Claude: wake-ups", cost.wakes, "/s", Limit::Most(1.1), "");
    report.row("silent Claude: processor", cost.cpu, "%", Limit::Most(0.3), "");
}

/// 50, 1,000 and 5,000 records a second.
pub fn rates(report: &mut Report) {
    for (rate, most) in [(50, 5.0), (1_000, 12.0), (5_000, 18.0)] {
        let stage = Stage::new(1, "");
        let pipe = stage.project.path("feed");
        feed::pipe(&pipe);
        stage.file("scenario.yaml", feed::scenario(&pipe).as_bytes());
        let mut terminal = stage.screen(&["tk-1"]);
        let feed = Feed::start(&[pipe], lines(480), rate);
        terminal.wait_for("following");
        std::thread::sleep(Duration::from_secs(2));
        let (before, began) = (feed.sent(), Instant::now());
        let cost = cost(&mut terminal, 6);
        let true_rate = (feed.sent() - before) as f64 / began.elapsed().as_secs_f64();
        let beside = format!("{true_rate:.0} records/s came");
        report.row(&format!("{rate} records/s: processor"), cost.cpu, "%", Limit::Most(most), &beside);
        if rate == 50 {
            report.row("50 records/s: bytes", cost.bytes / 1e3, "KB/s", Limit::Most(60.0), "");
        }
        if rate == 5_000 {
            let keys = toggles(&mut terminal, 30);
            report.row("key at 5,000 records/s", median(&keys), "ms", Limit::Most(3.0), "");
            report.row("key at 5,000 records/s, 99 of 100", at(&keys, 0.99), "ms", Limit::Most(16.0), "");
        }
        // The terminal first: a pipe that nobody reads must not be waited for.
        drop(terminal);
    }
}

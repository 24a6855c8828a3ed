//! Much at once, and for long: 50 runs on the screen, and one of 500 iterations.

use crate::feed::{self, Feed};
use crate::gap::WORK;
use crate::rates::{cost, lines, toggles};
use crate::report::{Limit, Report};
use crate::stage::{Stage, at, counted};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// 50 tabs, each a run in a folder of its own that prints 50 records a second.
pub fn tabs(report: &mut Report) {
    const TABS: usize = 50;
    let stage = Stage::new(1, "turns: [{times: 0, steps: [{hang: {}}]}]\n");
    let names: Vec<String> = (0..TABS).map(|n| format!("tab-{n:02}")).collect();
    let folder = |name: &str| stage.project.path(&format!("folder-{name}"));
    for (n, name) in names.iter().enumerate() {
        stage.project.ticket(name, &["Phase 1: a step"]);
        let folder = folder(name).display().to_string();
        assert!(Command::new("git").args(["init", "-q", &folder]).status().unwrap().success());
        let mut command = stage.project.command(&["run", "-C", &folder, name]);
        command.env("TICKETS_DIR", stage.project.path("work/.tickets"));
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        stage.wait_starts(n + 1);
        // It is left without a word, and taken up again in its folder.
        run.kill().unwrap();
        run.wait().unwrap();
    }
    // Where git does not look, and each run does: it plays what is at this place of its own folder.
    let pipes: Vec<PathBuf> = names.iter().map(|name| folder(name).join(".git/feed")).collect();
    for pipe in &pipes {
        feed::pipe(pipe);
    }
    stage.file("scenario.yaml", feed::scenario(".git/feed".as_ref()).as_bytes());
    let mut terminal = stage.screen(&names.iter().map(String::as_str).collect::<Vec<_>>());
    stage.wait_starts(2 * TABS);
    let feed = Feed::start(&pipes, lines(48), 50);
    std::thread::sleep(Duration::from_secs(3));
    let before = feed.sent();
    let cost = cost(&mut terminal, 6);
    let beside = format!("{:.0} records/s came in all", (feed.sent() - before) as f64 / 6.0);
    let peak = counted(terminal.pid()).peak;
    let keys = toggles(&mut terminal, 20);
    report.row("50 tabs: processor", cost.cpu, "%", Limit::Most(20.0), &beside);
    report.row("50 tabs: most memory", peak, "MB", Limit::Most(64.0), "");
    report.row("50 tabs: key, 99 of 100", at(&keys, 0.99), "ms", Limit::Most(16.0), "");
    drop(terminal);
}

/// Memory over 500 iterations on the screen.
pub fn iterations(report: &mut Report) {
    const FROM: usize = 100;
    const TO: usize = 500;
    let stage = Stage::new(TO + 10, WORK);
    let terminal = stage.screen(&["tk-1"]);
    let mut early = None;
    stage.wait_ends(TO, |ends| {
        if ends >= FROM && early.is_none() {
            early = Some((ends, counted(terminal.pid()).rss));
        }
    });
    let (from, rss) = early.unwrap();
    let late = counted(terminal.pid()).rss;
    let beside = format!("{rss:.1} MB after {from}, {late:.1} MB after {TO}");
    report.row(
        "memory of one more iteration",
        (late - rss) * 1e3 / (TO - from) as f64,
        "KB",
        Limit::Most(6.0),
        &beside,
    );
}

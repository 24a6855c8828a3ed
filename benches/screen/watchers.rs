//! A run in the background that prints 1,000 records a second: what it costs while nobody looks, and with screens attached.

use crate::feed::{self, Feed};
use crate::rates::{cost, lines};
use crate::report::{Limit, Report};
use crate::stage::{Stage, counted};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Records a second.
const RATE: u64 = 1_000;
/// Most screens at a time.
const SCREENS: usize = 5;

/// The run; it ends with the stage.
struct Behind(Child);

impl Drop for Behind {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Behind {
    /// Share of a core that it takes in so many seconds, in percent.
    fn cpu(&self, seconds: u64) -> f64 {
        let (before, began) = (counted(self.0.id()).cpu, Instant::now());
        std::thread::sleep(Duration::from_secs(seconds));
        (counted(self.0.id()).cpu - before) / began.elapsed().as_secs_f64() * 100.0
    }
}

/// What a screen costs the run that it shows, and what it costs itself.
pub fn watchers(report: &mut Report) {
    let stage = Stage::new(1, "");
    let pipe = stage.project.path("feed");
    feed::pipe(&pipe);
    stage.file("scenario.yaml", feed::scenario(&pipe).as_bytes());
    let mut command = stage.project.command(&["run", "tk-1"]);
    let behind = Behind(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let feed = Feed::start(&[pipe], lines(480), RATE);
    std::thread::sleep(Duration::from_secs(2));
    let alone = behind.cpu(6);
    report.row("1,000 records/s, nobody looks: processor", alone, "%", Limit::Most(12.0), "");
    let mut screens = Vec::new();
    for count in [1, SCREENS] {
        while screens.len() < count {
            let mut screen = stage.screen(&["attach", "tk-1"]);
            screen.wait_for("cargo test");
            screens.push(screen);
        }
        std::thread::sleep(Duration::from_secs(2));
        let (before, began) = (feed.sent(), Instant::now());
        let beside = |sent: u64| format!("{:.0} records/s came", sent as f64 / began.elapsed().as_secs_f64());
        let with = behind.cpu(6);
        let came = beside(feed.sent() - before);
        report.row(&format!("the run beside {count} attached ÷ alone"), with / alone, "", Limit::Most(1.5), &came);
    }
    let own = cost(&mut screens[0], 6).cpu;
    report.row("an attached screen itself: processor", own, "%", Limit::Most(12.0), "one of five");
    drop(feed);
}

//! From the end of Claude to its next start: evidence, claim, tick, snapshot, prompt.

use crate::report::{Limit, Report};
use crate::stage::{Stage, median};
use std::process::{Command, Stdio};

/// An iteration that changes a file, and is over at once.
pub const WORK: &str = "turns: [{times: 0, steps: [{write: {path: '{slug}.txt', content: '{phase}'}}, \
                        {status: {status: CONTINUE}}]}]\n";

/// The same, of a Claude that is there for a moment: what the program does beside it is no part of the gap.
const WORK_A_WHILE: &str = "turns: [{times: 0, steps: [{write: {path: '{slug}.txt', content: '{phase}'}}, \
                            {sleep_ms: 100}, {status: {status: CONTINUE}}]}]\n";

/// Who starts next: Claude, for the phase at hand, or the critic of what it has done.
enum Next {
    Work,
    Critic,
}

pub fn gap(report: &mut Report) {
    for (files, next, most) in [(10, Next::Work, 15.0), (10_000, Next::Work, 40.0), (10, Next::Critic, 30.0)] {
        let stage = Stage::new(26, WORK_A_WHILE);
        if matches!(next, Next::Work) {
            let config = stage.project.read("config/config.yaml");
            stage.project.write("config/config.yaml", &format!("{config}workflow: {{name: simple}}\n"));
        }
        for n in 0..files {
            stage.project.write(&format!("work/src/d{}/f{n}.rs", n / 100), &"fn f() {}\n".repeat(40));
        }
        stage.project.git(&["add", "-A"]);
        stage.project.git(&["-c", "user.name=P", "-c", "user.email=p@example.invalid", "commit", "-q", "-m", "Files"]);
        let output = stage.project.run(&["run", "-n", "25", "tk-1"]);
        let mut ours = stage.gaps();
        assert!(ours.len() >= 20, "{} iterations: {}", ours.len(), String::from_utf8_lossy(&output.stderr));
        let who = match next {
            Next::Work => "next start",
            // They take turns.
            Next::Critic => {
                ours = ours.into_iter().step_by(2).collect();
                "its critic"
            }
        };
        std::fs::remove_file(stage.project.path("log")).unwrap();
        for _ in 0..20 {
            let words = stage.agent_words();
            // Without flags it is refused, and ends at once.
            let mut idle = Command::new(&words[0]);
            idle.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        }
        let floor = median(&stage.gaps());
        let beside = format!("above a loop that only spawns ({floor:.2} ms); {} of them", ours.len());
        let name = format!("end of Claude → {who}, {files} files");
        report.row(&name, median(&ours) - floor, "ms", Limit::Most(most), &beside);
    }
}

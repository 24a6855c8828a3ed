//! From the start of the program to the first thing on the screen.

use crate::project;
use crate::report::{Limit, Report};
use crate::stage::{Stage, at, median};
use crate::watched::{Start, Watched, ms};
use std::path::Path;
use std::time::Instant;

/// From the start of `program` to the first thing on the screen, in milliseconds.
pub fn frame(stage: &Stage, program: &str, args: &[&str]) -> f64 {
    let (env, folder) = (stage.project.env(), stage.project.work());
    let start = Start { program: Path::new(program), args, env: &env, folder: &folder, size: (200, 50) };
    let began = Instant::now();
    let mut terminal = Watched::start(&start);
    ms(began, terminal.wait_until("anything", |screen| !screen.trim().is_empty()))
}

/// The same of a program that does nothing else.
pub fn floor(stage: &Stage) -> f64 {
    frame(stage, "/bin/echo", &["hello"])
}

pub fn first_frame(report: &mut Report) {
    let stage = Stage::new(1, "turns: []\n");
    let (mut floors, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..21 {
        floors.push(floor(&stage));
        ours.push(frame(&stage, project::PROGRAM, &[]));
    }
    let beside = format!("above /bin/echo in the same terminal ({:.2} ms)", median(&floors));
    report.row("first frame", median(&ours) - median(&floors), "ms", Limit::Most(6.0), &beside);
    report.row("first frame, 95 of 100", at(&ours, 0.95) - median(&floors), "ms", Limit::Most(12.0), &beside);
}

//! Home with 10,000 tickets and 2,000 runs.

use crate::report::{Limit, Report};
use crate::stage::{Stage, median};
use crate::start::{floor, frame};
use crate::watched::ms;
use crate::{project, runs};
use programmator::adapters::clock::fresh_run_id;
use programmator::adapters::store::{Append, Store};
use programmator::base::id::TicketId;
use programmator::base::time::Timestamp;
use programmator::domain::record::Record;
use programmator::domain::summary::{RunState, RunSummary};
use std::time::Instant;

const TICKETS: usize = 10_000;
const RUNS: usize = 2_000;

pub fn home(report: &mut Report) {
    let stage = Stage::new(1, "turns: []\n");
    for n in 0..TICKETS {
        stage.project.ticket(&format!("many-{n:05}"), &["Phase 1: a step", "Phase 2: another"]);
    }
    let store = Store::open(&stage.project.path("state")).unwrap();
    for n in 0..RUNS {
        store.append_blocking(ended_run(&stage, n)).unwrap();
    }
    drop(store);
    let [mut floors, mut first, mut rows, mut all] = [const { Vec::new() }; 4];
    for _ in 0..9 {
        floors.push(floor(&stage));
        first.push(frame(&stage, project::PROGRAM, &[]));
        let began = Instant::now();
        let mut terminal = stage.screen(&[]);
        rows.push(ms(began, terminal.wait_for("many-0")));
        // `tk-1` is ready, too; those with a run are complete with open boxes: ready again.
        all.push(ms(began, terminal.wait_for(&format!("{} ready", TICKETS + 1))));
    }
    let beside = format!("{TICKETS} tickets, {RUNS} runs, above /bin/echo ({:.2} ms)", median(&floors));
    report.row("Home: first frame", median(&first) - median(&floors), "ms", Limit::Most(6.0), &beside);
    let whole = format!("all of them after {:.0} ms", median(&all) - median(&floors));
    report.row("Home: rows", median(&rows) - median(&floors), "ms", Limit::Most(50.0), &whole);
}

fn ended_run(stage: &Stage, n: usize) -> Append {
    let (run, time) = (fresh_run_id(), Timestamp::from_millis(1_795_000_000_000 + n as i64));
    let ticket = TicketId::parse(&format!("many-{n:05}")).unwrap();
    let summary = RunSummary {
        title: "A ticket of many".to_owned(),
        ticket_path: stage.project.path(&format!("work/.tickets/many-{n:05}.md")).display().to_string(),
        folder: stage.project.work().display().to_string(),
        state: RunState::Ended,
        phases_done: 2,
        phases: 2,
        iterations: 2,
        cost_usd: 0.1,
        reason: Some("complete".to_owned()),
        ..runs::summary(run, &ticket, time)
    };
    Append { run, ticket, time, records: vec![Record::Paused; 10], summary }
}

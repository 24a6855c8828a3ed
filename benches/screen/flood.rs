//! As many records as can be taken.

use crate::report::{Limit, Report};
use crate::stage::{ENDED, Stage, counted, median, timed};
use crate::{corpus, limit};
use std::hint::black_box;

/// 100,000 records, with and without what was streamed of them before.
pub fn flood(report: &mut Report) {
    let plain = stream_of(100_000);
    let peak = beside_reading(report, "100,000 records ÷ L", &plain, Limit::Least(0.5));
    report.row("peak memory, 100,000 records", peak, "MB", Limit::Most(26.0), "");
    let deltas = with_deltas(&plain);
    beside_reading(report, "the same with partial messages ÷ L", &deltas, Limit::Least(0.4));
}

/// 1,000 records: what the program itself needs.
pub fn small(report: &mut Report) {
    let peaks: Vec<f64> = (0..3).map(|_| played(&stream_of(1_000)).1).collect();
    report.row("peak memory, 1,000 records", median(&peaks), "MB", Limit::Most(18.0), "");
}

/// The corpus, but its results are of calls that others made: nobody was asked about them, as the gate would notice.
pub fn stream_of(records: usize) -> Vec<u8> {
    let mut corpus = corpus::corpus(records);
    let found: Vec<usize> = memchr::memmem::find_iter(&corpus, br#""tool_use_id":"toolu_"#).collect();
    for at in found {
        corpus[at + br#""tool_use_id":""#.len()..][..6].copy_from_slice(b"other_");
    }
    corpus
}

/// Its records.
pub fn records(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    stream.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// Before every text, what was streamed of it.
fn with_deltas(stream: &[u8]) -> Vec<u8> {
    const DELTA: &[u8] = br#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words of it "}},"parent_tool_use_id":null,"session_id":"17eb9055-861e-0a8b-31e8-6cdcf75b7a4a","uuid":"08897e7d-8890-a9d8-86d0-ea00da25e718"}"#;
    let mut out = Vec::with_capacity(stream.len() * 2);
    for line in stream.split_inclusive(|byte| *byte == b'\n') {
        let text = memchr::memmem::find(&line[..line.len().min(300)], br#""type":"text""#).is_some();
        for _ in 0..if text { 8 } else { 0 } {
            out.extend_from_slice(DELTA);
            out.push(b'\n');
        }
        out.extend_from_slice(line);
    }
    out
}

/// Plays the stream to a run on the screen. Gives milliseconds from Claude's start to its end, and the most memory in MB.
fn played(stream: &[u8]) -> (f64, f64) {
    let stage = Stage::new(1, "");
    let file = stage.file("stream.ndjson", stream).display().to_string();
    let steps = format!("[{{replay: {file:?}}}, {{status: {{status: DONE}}}}]");
    stage.file("scenario.yaml", format!("turns: [{{times: 0, steps: {steps}}}]\n").as_bytes());
    let mut terminal = stage.screen(&["tk-1"]);
    stage.wait_ends(1, |_| ());
    let log = stage.log();
    terminal.wait_for(ENDED);
    ((log[1].1 - log[0].1) as f64 / 1e6, counted(terminal.pid()).peak)
}

/// The stream beside a pass of the JSON library over it. Gives the most memory.
fn beside_reading(report: &mut Report, name: &str, stream: &[u8], limit: Limit) -> f64 {
    let (mut floor, mut ours, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        floor.push(timed(|| records(stream).for_each(|line| _ = black_box(limit::typed(line)))).0);
        let (ms, peak) = played(stream);
        ours.push(ms);
        peaks.push(peak);
    }
    let rate = |ms: f64| records(stream).count() as f64 / ms;
    let beside = format!("L {:.0} k/s, here {:.0} k/s", rate(median(&floor)), rate(median(&ours)));
    report.row(name, median(&floor) / median(&ours), "", limit, &beside);
    median(&peaks)
}

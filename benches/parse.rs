//! What it costs to understand a record, beside its limit `limit_typed_pass` (the JSON library, typed and
//! borrowing, from bytes). All rows read the same 10,000 records.
//!
//! `cargo bench --bench parse`. Read the ratio of the medians, not the medians: `envelope` ÷ limit is what
//! finding the parts costs (it checks UTF-8 once, so it may be below 1), `turn` ÷ limit is all that is done
//! to a record for the run (texts gathered, tool results told). `value` and `tokens` show what a tree of
//! values would cost, and what even skipping costs.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use programmator::domain::stream::envelope::{Kind, Line, decode, read};
use programmator::domain::stream::turn::{TurnReader, tool_ends};
use std::hint::black_box;
use std::sync::LazyLock;

#[path = "support/corpus.rs"]
mod corpus;
#[path = "support/limit.rs"]
mod limit;

const RECORDS: usize = 10_000;

static STREAM: LazyLock<Vec<u8>> = LazyLock::new(|| corpus::corpus(RECORDS));

fn bench(bencher: Bencher<'_, '_>, mut each: impl FnMut(&[u8])) {
    let lines: Vec<&[u8]> = STREAM.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    bencher
        .counter(BytesCount::new(STREAM.len()))
        .counter(ItemsCount::new(RECORDS))
        .bench_local(|| lines.iter().for_each(|line| each(line)));
}

#[divan::bench(sample_count = 20)]
fn envelope(bencher: Bencher<'_, '_>) {
    bench(bencher, |line| match read(&decode(line)) {
        Line::Record(envelope) => drop(black_box(envelope.shows())),
        other => drop(black_box(other)),
    });
}

#[divan::bench(sample_count = 20)]
fn limit_typed_pass(bencher: Bencher<'_, '_>) {
    bench(bencher, |line| {
        black_box(limit::typed(line));
    });
}

#[divan::bench(sample_count = 20)]
fn tokens(bencher: Bencher<'_, '_>) {
    bench(bencher, |line| {
        black_box(serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok());
    });
}

#[divan::bench(sample_count = 20)]
fn turn(bencher: Bencher<'_, '_>) {
    let mut turn = TurnReader::default();
    bench(bencher, |line| {
        if let Line::Record(envelope) = read(&decode(line)) {
            match envelope.kind() {
                Kind::Assistant => drop(turn.assistant(&envelope)),
                Kind::User => drop(black_box(tool_ends(&envelope))),
                _ => {}
            }
        }
    });
}

#[divan::bench(sample_count = 20)]
fn value(bencher: Bencher<'_, '_>) {
    bench(bencher, |line| {
        black_box(serde_json::from_slice::<serde_json::Value>(line).is_ok());
    });
}

fn main() {
    divan::main();
}

//! From a process's stdout to an indexed file on disk, beside the limits of this very run. Every row takes the same
//! 20,000 records (50 MB).
//!
//! `cargo bench --bench ingest`. `limit_typed_pass` is one typed, borrowing pass of the JSON library over bytes that
//! are in memory already. `limit_pipe` moves the bytes through a pipe and nothing more. `process_to_file` is the
//! product: the scripted agent is started, speaks the protocol, plays the stream; it is drained, kept and indexed.
//! The share of the limit that is reached is `limit_typed_pass` ÷ `process_to_file` (medians); the start and the end of
//! the process are in it.

#![allow(clippy::unwrap_used, missing_docs)]

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use programmator::adapters::agent::launch::{Additions, Launch, Options, environment};
use programmator::adapters::agent::{Agent, AgentEvent};
use programmator::adapters::clock::{SystemClock, fresh_id, fresh_run_id};
use programmator::adapters::store::{Bounds, Store};
use programmator::base::lines::Lines;
use programmator::domain::scrollback::{Scrollback, Sink};
use programmator::domain::stream::envelope::classify;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use tokio::sync::mpsc;

#[path = "support/corpus.rs"]
mod corpus;
#[path = "support/limit.rs"]
mod limit;

const RECORDS: usize = 20_000;

static STREAM: LazyLock<Vec<u8>> = LazyLock::new(|| corpus::corpus(RECORDS));

fn bench(bencher: Bencher<'_, '_>, mut each: impl FnMut(&[u8])) {
    bencher.counter(BytesCount::new(STREAM.len())).counter(ItemsCount::new(RECORDS)).bench_local(|| {
        let mut lines = Lines::default();
        for chunk in STREAM.chunks(256 << 10) {
            lines.feed(chunk, |line, _| each(line));
        }
    });
}

#[divan::bench(sample_count = 10)]
fn limit_split(bencher: Bencher<'_, '_>) {
    bench(bencher, |line| {
        black_box(line);
    });
}

#[divan::bench(sample_count = 10)]
fn limit_typed_pass(bencher: Bencher<'_, '_>) {
    bench(bencher, |line| {
        black_box(limit::typed(line));
    });
}

#[divan::bench(sample_count = 10)]
fn limit_pipe(bencher: Bencher<'_, '_>) {
    bencher.counter(BytesCount::new(STREAM.len())).counter(ItemsCount::new(RECORDS)).bench_local(|| {
        let (mut from, mut to) = std::io::pipe().unwrap();
        let writer = std::thread::spawn(move || to.write_all(&STREAM).unwrap());
        let mut buffer = vec![0; 256 << 10];
        while from.read(&mut buffer).unwrap() > 0 {
            black_box(&buffer);
        }
        writer.join().unwrap();
    });
}

/// Understanding and keeping, on one thread, without a process.
#[divan::bench(sample_count = 10)]
fn bytes_to_file(bencher: Bencher<'_, '_>) {
    let temp = tempfile::tempdir().unwrap();
    let store = Store::open(temp.path()).unwrap();
    bencher.counter(BytesCount::new(STREAM.len())).counter(ItemsCount::new(RECORDS)).bench_local(|| {
        let scrollback = store.scrollback(fresh_run_id(), classify).unwrap();
        let mut sink = scrollback.begin(1, Bounds::default(), Box::new(|| {})).unwrap();
        let mut lines = Lines::default();
        for chunk in STREAM.chunks(256 << 10) {
            lines.feed(chunk, |line, _| sink.line(line, classify(line)).unwrap());
            sink.burst_ended().unwrap();
        }
        assert_eq!(scrollback.len(1), RECORDS);
        // The sync at its end is `store`'s to measure.
        std::mem::forget(sink);
    });
}

#[divan::bench(sample_count = 10)]
fn process_to_file(bencher: Bencher<'_, '_>) {
    let temp = tempfile::tempdir().unwrap();
    let stream = temp.path().join("stream.ndjson");
    std::fs::write(&stream, &*STREAM).unwrap();
    let scenario = temp.path().join("scenario.yaml");
    let turns = format!("turns: [{{times: 0, steps: [{{replay: {:?}}}]}}]\n", stream.display().to_string());
    std::fs::write(&scenario, turns).unwrap();
    let store = Store::open(&temp.path().join("store")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    bencher
        .counter(BytesCount::new(STREAM.len()))
        .counter(ItemsCount::new(RECORDS))
        .bench_local(|| assert!(runtime.block_on(play(&store, &scenario, temp.path())) >= RECORDS));
}

/// One process from its start to its end. Records that were kept and indexed.
async fn play(store: &Store, scenario: &Path, folder: &Path) -> usize {
    let run = fresh_run_id();
    let scrollback = store.scrollback(run, classify).unwrap();
    let sink = scrollback.begin(1, Bounds::default(), Box::new(|| {})).unwrap();
    let words = ["scripted-agent", "--pace", "0", "--state", "agent", "--scenario"].map(str::to_owned);
    let mut command = vec![env!("CARGO_BIN_EXE_programmator").to_owned()];
    command.extend(words);
    command.push(scenario.display().to_string());
    let additions = Additions { marker: run.to_string(), ..Additions::default() };
    let launch = Launch {
        command,
        options: Options::default(),
        env: environment(std::env::vars_os(), &additions),
        folder: folder.to_owned(),
        marker: run.to_string(),
        patience: None,
    };
    let (events, mut seen) = mpsc::channel(64);
    let agent = Agent::spawn(launch, Arc::new(SystemClock), Box::new(sink), events).await.unwrap();
    agent.send_user(&fresh_id(), "go").await.unwrap();
    while let Some(event) = seen.recv().await {
        match event {
            AgentEvent::TurnFinished(_) => agent.close_input().await,
            AgentEvent::Exited(_) => break,
            _ => {}
        }
    }
    scrollback.iterations().into_iter().map(|n| scrollback.len(n)).sum()
}

fn main() {
    divan::main();
}

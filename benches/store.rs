//! The store beside its floors: a durable append beside one sync of the disk, a journal of 100,000 records,
//! scrollback per record beside plain buffered writes, and a run of a million records opened at its end.
//!
//! `cargo bench --bench store`. How to read it: `append_one_durable` ÷ `floor_one_write_and_sync` is what `SQLite` costs
//! beyond the disk (1 is perfect), `scrollback_100k_lines` ÷ `floor_100k_lines_buffered` what the index and the readers
//! cost beyond the bytes. The other rows have no floor but zero: they must stay below a tenth of a second.

#![allow(clippy::unwrap_used, clippy::unnecessary_wraps, missing_docs)]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use programmator::adapters::clock::fresh_run_id;
use programmator::adapters::store::{Append, Bounds, Store};
use programmator::base::id::{RunId, TicketId};
use programmator::base::time::Timestamp;
use programmator::domain::record::Record;
use programmator::domain::scrollback::{EntryKind, Scrollback, Sink};
use programmator::domain::verdict::Verdict;
use std::fs::File;
use std::io::{BufWriter, Write};

const LINE: [u8; 600] = [b'x'; 600];

#[path = "support/runs.rs"]
mod runs;

fn main() {
    divan::main();
}

fn append(run: RunId, records: usize) -> Append {
    let ticket = TicketId::parse("tk-1").unwrap();
    let time = Timestamp::from_millis(0);
    let judged = Record::ToolJudged {
        n: 1,
        tool_use_id: "toolu_01A09q90qw90lq917835lq9".to_owned(),
        tool: "Bash".to_owned(),
        target: "cargo test --workspace".to_owned(),
        verdict: Verdict::Allow,
        reason: "profile trusted".to_owned(),
        units: vec![],
        cwd: None,
    };
    Append { run, time, records: vec![judged; records], summary: runs::summary(run, &ticket, time), ticket }
}

fn classify(_: &[u8]) -> Option<EntryKind> {
    Some(EntryKind::Assistant)
}

#[divan::bench]
fn append_one_durable(bencher: Bencher) {
    let temp = tempfile::tempdir().unwrap();
    let store = Store::open(&temp.path().join("s")).unwrap();
    let one = append(fresh_run_id(), 1);
    bencher.bench(|| store.append_blocking(one.clone()).unwrap());
}

#[divan::bench]
fn floor_one_write_and_sync(bencher: Bencher) {
    let temp = tempfile::tempdir().unwrap();
    let mut file = File::create(temp.path().join("f")).unwrap();
    bencher.bench_local(|| {
        file.write_all(&[b'x'; 4_120]).unwrap();
        file.sync_data().unwrap();
    });
}

#[divan::bench(sample_count = 10)]
fn load_100k_records(bencher: Bencher) {
    let temp = tempfile::tempdir().unwrap();
    let store = Store::open(&temp.path().join("s")).unwrap();
    let run = fresh_run_id();
    store.append_blocking(append(run, 100_000)).unwrap();
    bencher.counter(ItemsCount::new(100_000_u32)).bench(|| assert_eq!(store.load(run).unwrap().records.len(), 100_000));
}

#[divan::bench(sample_count = 10)]
fn scrollback_100k_lines(bencher: Bencher) {
    let temp = tempfile::tempdir().unwrap();
    let store = Store::open(&temp.path().join("s")).unwrap();
    bencher.counter(ItemsCount::new(100_000_u32)).bench(|| {
        let scrollback = store.scrollback(fresh_run_id(), classify).unwrap();
        let mut sink = scrollback.begin(1, Bounds::default(), Box::new(|| {})).unwrap();
        for n in 0..100_000 {
            sink.line(black_box(&LINE), Some(EntryKind::User)).unwrap();
            if n % 100 == 0 {
                sink.burst_ended().unwrap();
            }
        }
        sink.burst_ended().unwrap();
        // The sync at the end of an iteration is measured by `floor_one_write_and_sync`.
        std::mem::forget(sink);
    });
}

#[divan::bench(sample_count = 10)]
fn floor_100k_lines_buffered(bencher: Bencher) {
    let temp = tempfile::tempdir().unwrap();
    bencher.counter(ItemsCount::new(100_000_u32)).bench(|| {
        let mut file = BufWriter::with_capacity(60_000, File::create(temp.path().join("f")).unwrap());
        for _ in 0..100_000 {
            file.write_all(black_box(&LINE)).unwrap();
            file.write_all(b"\n").unwrap();
        }
        file.flush().unwrap();
    });
}

#[divan::bench(sample_count = 10)]
fn open_a_million_records_at_the_end(bencher: Bencher) {
    let temp = tempfile::tempdir().unwrap();
    let store = Store::open(&temp.path().join("s")).unwrap();
    let run = fresh_run_id();
    let mut sink = store.scrollback(run, classify).unwrap().begin(1, Bounds::default(), Box::new(|| {})).unwrap();
    for _ in 0..1_000_000 {
        sink.line(&LINE[..100], Some(EntryKind::User)).unwrap();
    }
    sink.finish().unwrap();
    bencher.bench(|| {
        let scrollback = store.scrollback(run, classify).unwrap();
        let len = scrollback.len(1);
        let mut entries = Vec::new();
        scrollback.entries(1, len - 50..len, &mut entries);
        for entry in entries {
            black_box(scrollback.read(1, entry, 4_096).unwrap());
        }
    });
}

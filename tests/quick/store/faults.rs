//! kill -9 and a full disk.

use super::child::{Other, folder_for};
use super::samples::{append, counted, fresh, note, open, time};
use programmator::adapters::store::{Bounds, Store, StoreError};
use programmator::base::id::RunId;
use programmator::domain::scrollback::{EntryKind, Scrollback, Sink};
use std::fs;

fn run_of(folder: &std::path::Path) -> RunId {
    RunId::parse(&fs::read_to_string(folder.join("run")).unwrap()).unwrap()
}

#[test]
fn child_appends_for_ever() {
    let Some(folder) = folder_for("store::faults::child_appends_for_ever") else { return };
    let store = open(&folder);
    let begun = store.load(run_of(&folder)).unwrap().records.len();
    // A call is counted once, however often it is told.
    for n in u32::try_from(begun).unwrap().. {
        let pair = vec![note(&"x".repeat(3_000)), counted(n)];
        let stored = store.append_blocking(append(run_of(&folder), pair)).unwrap();
        println!("ack {}", stored.last().unwrap().seq);
    }
}

#[test]
fn fifty_times_killed_nothing_that_was_acknowledged_is_lost() {
    let temp = tempfile::tempdir().unwrap();
    let run = fresh();
    fs::write(temp.path().join("run"), run.to_string()).unwrap();
    let mut last = 0;
    for round in 0..50 {
        let mut other = Other::start("store::faults::child_appends_for_ever", temp.path());
        let mut acknowledged = last;
        for _ in 0..=round % 7 {
            acknowledged = other.hear("ack ").unwrap().parse().unwrap();
        }
        other.kill();
        while let Some(more) = other.hear("ack ") {
            acknowledged = more.parse().unwrap();
        }
        let store = open(temp.path());
        let loaded = store.load(run).unwrap();
        let seqs: Vec<u64> = loaded.records.iter().map(|stored| stored.seq).collect();
        last = seqs.len() as u64;
        assert_eq!(seqs, (1..=last).collect::<Vec<_>>(), "round {round}");
        assert!(last >= acknowledged, "round {round}: {last} of {acknowledged}");
        assert_eq!(last % 2, 0, "round {round}: half an append");
        assert_eq!(store.calls_since(time(0)).unwrap(), last / 2);
    }
}

#[cfg(unix)]
fn limit_files_to(bytes: Option<u64>) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Fsize).maximum;
    let current = bytes.or(maximum);
    setrlimit(Resource::Fsize, Rlimit { current, maximum }).unwrap();
}

#[cfg(unix)]
#[test]
fn child_fills_the_disk() {
    let Some(folder) = folder_for("store::faults::child_fills_the_disk") else { return };
    let store = open(&folder);
    let run = fresh();
    store.append_blocking(append(run, vec![note("before")])).unwrap();
    let log = store.folder().join("programmator.db-wal");

    limit_files_to(Some(fs::metadata(&log).unwrap().len() + 5_000));
    let large = append(run, vec![note("half"), note(&"x".repeat(100_000))]);
    for _ in 0..3 {
        let error = store.append_blocking(large.clone()).unwrap_err();
        assert!(matches!(error, StoreError::Full { .. } | StoreError::Disk { .. }), "{error:?}");
        let said = error.to_string();
        assert!(said.contains("programmator.db") && said.contains("nothing is stored until"), "{said}");
        assert_eq!(store.load(run).unwrap().records.len(), 1);
    }

    limit_files_to(None);
    let seqs: Vec<u64> = store.append_blocking(large).unwrap().iter().map(|stored| stored.seq).collect();
    assert_eq!(seqs, [2, 3]);
    drop(store);
    assert_eq!(open(&folder).load(run).unwrap().records.len(), 3);
    println!("passed");
}

#[cfg(unix)]
#[test]
fn a_full_disk_fails_the_append_whole_and_later_ones_succeed() {
    let temp = tempfile::tempdir().unwrap();
    let mut other = Other::start_with_file_limits("store::faults::child_fills_the_disk", temp.path());
    assert!(other.hear("passed").is_some());
    assert!(other.process.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn child_fills_the_disk_with_scrollback() {
    let Some(folder) = folder_for("store::faults::child_fills_the_disk_with_scrollback") else { return };
    let run = fresh();
    let scrollback = open(&folder).scrollback(run, |_| Some(EntryKind::User)).unwrap();
    let mut sink = scrollback.begin(1, Bounds::default(), Box::new(|| {})).unwrap();
    sink.line(b"first", Some(EntryKind::User)).unwrap();
    sink.burst_ended().unwrap();

    limit_files_to(Some(1_000));
    let long = [b'x'; 2_000];
    sink.line(&long, Some(EntryKind::User)).unwrap();
    assert!(sink.burst_ended().is_err(), "told once");
    sink.line(b"waits", Some(EntryKind::Result)).unwrap();
    assert!(sink.burst_ended().is_ok(), "and not again");
    assert_eq!(scrollback.len(1), 1);

    limit_files_to(None);
    sink.finish().unwrap();
    let mut entries = Vec::new();
    scrollback.entries(1, 0..9, &mut entries);
    let lines: Vec<Vec<u8>> = entries.iter().map(|entry| scrollback.read(1, *entry, 9_999).unwrap()).collect();
    assert_eq!(lines, [b"first".to_vec(), long.to_vec(), b"waits".to_vec()]);
    println!("passed");
}

#[cfg(unix)]
#[test]
fn scrollback_waits_for_room_and_tells_once() {
    let temp = tempfile::tempdir().unwrap();
    let role = "store::faults::child_fills_the_disk_with_scrollback";
    let mut other = Other::start_with_file_limits(role, temp.path());
    assert!(other.hear("passed").is_some());
    assert!(other.process.wait().unwrap().success());
}

/// Every file of the folder with its bytes.
fn everything(folder: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            all.extend(everything(&entry));
        } else {
            all.push((entry.clone(), fs::read(&entry).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn a_store_that_cannot_be_written_is_read_and_not_a_byte_changes() {
    let temp = tempfile::tempdir().unwrap();
    // Signs that mean something in the address of a database.
    let above = temp.path().join("a state?with#signs%20");
    let run = fresh();
    let (store, folder) = (open(&above), above.join("state"));
    store.append_blocking(append(run, vec![note("before")])).unwrap();
    let crashed = temp.path().join("crashed");
    fs::create_dir(&crashed).unwrap();
    for name in ["programmator.db", "programmator.db-wal", "programmator.db-shm"] {
        fs::copy(folder.join(name), crashed.join(name)).unwrap();
    }
    fs::create_dir(crashed.join("locks")).unwrap();
    drop(store);
    let never_made = temp.path().join("never made");
    fs::create_dir(&never_made).unwrap();
    fs::write(never_made.join("programmator.db"), "").unwrap();
    let said = Store::open_to_read(&never_made).unwrap_err().to_string();
    assert!(said.contains("nothing was ever stored"), "{said}");
    for folder in [folder, crashed] {
        let store = Store::open_to_read(&folder).unwrap();
        let before: Vec<_> =
            everything(&folder).into_iter().filter(|(path, _)| !path.ends_with("programmator.db-shm")).collect();
        assert_eq!(store.load(run).unwrap().records.len(), 1, "{}", folder.display());
        assert_eq!(store.runs().unwrap().len(), 1);
        store.append_blocking(append(run, vec![note("after")])).unwrap_err();
        drop(store);
        let after: Vec<_> =
            everything(&folder).into_iter().filter(|(path, _)| !path.ends_with("programmator.db-shm")).collect();
        assert_eq!(before, after);
    }
}

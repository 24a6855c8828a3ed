//! Locks: one holder, said by name, gone with its holder.

use crate::child::{Other, folder_for};
use crate::samples::{fresh, open, summary, ticket, time};
use programmator::adapters::store::{Holder, LockError};
use programmator::domain::summary::{RunState, RunSummary};
use std::fs;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

fn holder(pid: u32) -> Holder {
    Holder { pid, ticket: ticket("tk-1"), run: None, since: time(0) }
}

fn held<T: std::fmt::Debug>(lock: Result<T, LockError>) -> String {
    match lock.unwrap_err() {
        LockError::Held { holder } => holder,
        LockError::Store(error) => panic!("{error}"),
    }
}

#[test]
fn child_holds_a_ticket() {
    let Some(folder) = folder_for("locks::child_holds_a_ticket") else {
        return;
    };
    let store = open(&folder);
    let _lock = store.lock_ticket(&folder.join("tk.md"), &holder(std::process::id())).unwrap();
    println!("locked");
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn a_lock_names_its_holder_and_dies_with_it() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("tk.md");
    fs::write(&file, "x").unwrap();
    let mut other = Other::start("locks::child_holds_a_ticket", temp.path());
    other.hear("locked").unwrap();
    let store = open(temp.path());
    let pid = format!("pid {}", other.process.id());
    let said = held(store.lock_ticket(&file, &holder(1)));
    assert!(said.contains(&pid) && said.contains("tk-1"), "{said}");
    assert!(store.ticket_holder(&file).unwrap().unwrap().contains(&pid));

    other.kill();
    let killed = Instant::now();
    let lock = store.lock_ticket(&file, &holder(1)).unwrap();
    assert!(killed.elapsed() < Duration::from_millis(100));
    drop(lock);
    assert_eq!(store.ticket_holder(&file).unwrap(), None);
}

#[test]
fn one_file_is_one_lock_whatever_way_it_is_named() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let file = temp.path().join("tk.md");
    fs::write(&file, "x").unwrap();
    let mut lock = store.lock_ticket(&file, &holder(7)).unwrap();
    let run = fresh();
    lock.describe(&Holder { run: Some(run), ..holder(7) }).unwrap();
    let said = held(store.lock_ticket(&temp.path().join("./state/../tk.md"), &holder(8)));
    assert!(said.contains(&run.short()), "{said}");
    #[cfg(unix)]
    {
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(temp.path(), &link).unwrap();
        held(store.lock_ticket(&link.join("tk.md"), &holder(8)));
        fs::remove_file(&file).unwrap();
        held(store.lock_ticket(&link.join("tk.md"), &holder(8)));
        fs::write(&file, "x").unwrap();
    }
    // The same path as a work folder is another matter, and so is another ticket.
    store.lock_tree(&file, &holder(8)).unwrap();
    store.lock_ticket(&temp.path().join("other.md"), &holder(8)).unwrap();
}

#[test]
fn asking_who_holds_a_ticket_refuses_nobody() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let file = temp.path().join("tk.md");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut seen = 0_u32;
            while !stop.load(Ordering::SeqCst) {
                seen += u32::from(store.ticket_holder(&file).unwrap().is_some());
            }
            seen
        });
        let refused = (0..500).filter(|_| store.lock_ticket(&file, &holder(1)).is_err()).count();
        stop.store(true, Ordering::SeqCst);
        asking.join().unwrap();
        assert_eq!(refused, 0);
    });
}

#[test]
fn a_run_that_nobody_works_on_is_interrupted() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let file = temp.path().join("tk.md");
    let (run, newer) = (fresh(), fresh());
    let running = RunSummary { ticket_path: file.display().to_string(), ..summary(run) };
    let seen = |summary: &RunSummary| store.as_seen(summary.clone()).unwrap().state;
    assert_eq!(seen(&running), RunState::Interrupted);
    let mut lock = store.lock_ticket(&file, &holder(1)).unwrap();
    assert_eq!(seen(&running), RunState::Running, "which run is not yet known");
    for (holds, expected) in [(run, RunState::Running), (newer, RunState::Interrupted)] {
        let holder = Holder { run: Some(holds), ..holder(1) };
        lock.describe(&holder).unwrap();
        assert_eq!(seen(&running), expected);
    }
    let ended = RunSummary { state: RunState::Ended, ..running };
    assert_eq!(seen(&ended), RunState::Ended);
}

#[test]
fn what_a_lock_file_says_reaches_no_terminal_raw() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let file = temp.path().join("tk.md");
    let _lock = store.lock_ticket(&file, &holder(7)).unwrap();
    for entry in fs::read_dir(store.folder().join("locks")).unwrap() {
        fs::write(entry.unwrap().path(), "\x1b[31m not JSON").unwrap();
    }
    assert_eq!(held(store.lock_ticket(&file, &holder(8))), "another programmator");
}

#[tokio::test]
async fn a_waiter_gets_the_folder_when_it_is_free_and_one_that_left_does_not_keep_it() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let first = store.lock_tree(temp.path(), &holder(1)).unwrap();
    {
        // Polled until it waits, then dropped.
        let (who, left) = (holder(2), store.clone());
        let waiting = left.wait_tree(temp.path(), &who);
        tokio::pin!(waiting);
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("the folder is not free"),
            () = tokio::task::yield_now() => {}
        }
    }
    let (theirs, folder) = (store.clone(), temp.path().to_owned());
    let waiter = tokio::spawn(async move { theirs.wait_tree(&folder, &holder(3)).await });
    tokio::task::yield_now().await;
    assert!(!waiter.is_finished());
    drop(first);
    let lock = waiter.await.unwrap().unwrap();
    assert!(held(store.lock_tree(temp.path(), &holder(4))).contains("pid 3"));
    drop(lock);
    // Free for good: the one that left may hold it for a moment, but gives it back.
    store.wait_tree(temp.path(), &holder(5)).await.unwrap();
}

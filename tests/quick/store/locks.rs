//! Locks: one holder, said by name, gone with its holder.

use super::child::{Other, folder_for};
use super::samples::{append, fresh, note, open, summary, ticket, time};
use programmator::adapters::store::{Holder, LockError, Store, StoreError};
use programmator::domain::summary::{RunState, RunSummary};
use programmator::domain::workspace::Workspace;
use std::collections::BTreeMap;
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
    let Some(folder) = folder_for("store::locks::child_holds_a_ticket") else { return };
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
    let mut other = Other::start("store::locks::child_holds_a_ticket", temp.path());
    other.hear("locked").unwrap();
    let store = open(temp.path());
    let pid = format!("pid {}", other.process.id());
    let said = held(store.lock_ticket(&file, &holder(1)));
    assert!(said.contains(&pid) && said.contains("tk-1"), "{said}");
    assert!(store.ticket_holder(&file).unwrap().unwrap().contains(&pid));

    other.kill();
    let lock = store.lock_ticket(&file, &holder(1)).unwrap();
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
    // The same path as a working directory is another matter, and so is another ticket.
    store.lock_tree(&Workspace::shared(temp.path()), &holder(8)).unwrap();
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

#[tokio::test]
async fn how_runs_stand_is_told_once_each_time_it_changes_and_when_their_program_is_gone() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let file = temp.path().join("tk.md");
    let (run, other) = (fresh(), fresh());
    let at_work = |run, path: &str| {
        let mut given = append(run, vec![note("a")]);
        given.summary.ticket_path = path.to_owned();
        given
    };
    let path = file.display().to_string();
    let lock = store.lock_ticket(&file, &Holder { run: Some(run), ..holder(1) }).unwrap();
    store.append(at_work(run, &path)).await.unwrap();
    store.append(at_work(other, "/elsewhere.md")).await.unwrap();
    let mut follower = store.follow_runs().unwrap();
    let states = |told: Vec<RunSummary>| told.iter().map(|told| (told.run, told.state)).collect::<BTreeMap<_, _>>();
    let all = states(follower.next().await.unwrap());
    assert_eq!(all, BTreeMap::from([(run, RunState::Running), (other, RunState::Interrupted)]));
    assert_eq!((follower.at_work().count(), follower.died().unwrap().len()), (1, 0));
    store.append(at_work(run, &path)).await.unwrap();
    let changed = states(follower.next().await.unwrap());
    assert_eq!(changed, BTreeMap::from([(run, RunState::Running)]), "only what has changed");
    drop(lock);
    assert_eq!(states(follower.died().unwrap()), BTreeMap::from([(run, RunState::Interrupted)]));
    assert_eq!((follower.at_work().count(), follower.died().unwrap().len()), (0, 0), "once");
}

#[cfg(unix)]
#[test]
fn a_run_whose_ticket_is_a_link_for_a_while_is_still_seen_at_work() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let (file, other) = (temp.path().join("tk.md"), temp.path().join("other.md"));
    fs::write(&file, "x").unwrap();
    fs::write(&other, "x").unwrap();
    let running = RunSummary { ticket_path: file.display().to_string(), ..summary(fresh()) };
    let _lock = store.lock_ticket(&file, &holder(1)).unwrap();
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&other, &file).unwrap();
    assert_eq!(store.as_seen(running).unwrap().state, RunState::Running);
}

/// A folder, a repository, a working tree of it, a folder below its top.
fn folders(root: &std::path::Path) -> Vec<std::path::PathBuf> {
    let git = |folder: &std::path::Path, args: &[&str]| {
        let done = std::process::Command::new("git").current_dir(folder).args(args).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    let (bare, repository) = (root.join("bare"), root.join("repository"));
    for folder in [&bare, &repository.join("below")] {
        fs::create_dir_all(folder).unwrap();
    }
    git(&repository, &["init", "-q"]);
    let who = ["-c", "user.name=x", "-c", "user.email=x@x"];
    git(&repository, &[&who[..], &["commit", "-q", "--allow-empty", "-m", "x"]].concat());
    git(&repository, &["worktree", "add", "-q", "../linked"]);
    vec![bare, repository.clone(), root.join("linked"), repository.join("below")]
}

#[test]
fn a_work_folder_is_locked_for_programs_like_ours_and_for_nobody_else() {
    let temp = tempfile::tempdir().unwrap();
    let (ours, theirs) = (open(&temp.path().join("ours")), open(&temp.path().join("theirs")));
    let folders = folders(temp.path());
    let mut held_all = Vec::new();
    for folder in &folders {
        let names = || fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        let before = names();
        let workspace = &Workspace::shared(folder);
        // A build may hold the folder itself, and may want to.
        let build = fs::File::open(folder).unwrap();
        build.try_lock().unwrap();
        let lock = ours.lock_tree(workspace, &holder(1)).unwrap();
        build.unlock().unwrap();
        build.try_lock().unwrap();
        assert!(
            held(theirs.lock_tree(workspace, &holder(2))).contains("different or deleted state folder"),
            "{}",
            folder.display()
        );
        let is_bare = folder.ends_with("bare");
        let new: Vec<_> = names().into_iter().filter(|name| !before.contains(name)).collect();
        assert_eq!(
            new.iter().map(|name| name.to_str().unwrap()).collect::<Vec<_>>(),
            [".programmator"][..usize::from(is_bare)]
        );
        held_all.push(lock);
    }
    // Each is a folder of its own.
    assert_eq!(held_all.len(), folders.len());
    drop(held_all);
    for folder in &folders {
        theirs.lock_tree(&Workspace::shared(folder), &holder(2)).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_lock_leads_nowhere() {
    let temp = tempfile::tempdir().unwrap();
    let (work, target) = (temp.path().join("work"), temp.path().join("target"));
    fs::create_dir_all(work.join(".programmator")).unwrap();
    std::os::unix::fs::symlink(&target, work.join(".programmator/lock")).unwrap();
    open(&temp.path().join("state")).lock_tree(&Workspace::shared(&work), &holder(1)).unwrap();
    assert!(!target.exists());
}

#[tokio::test]
async fn who_waits_for_another_state_folder_keeps_nothing_from_those_with_the_same() {
    let temp = tempfile::tempdir().unwrap();
    let work = temp.path().join("work");
    fs::create_dir(&work).unwrap();
    let (ours, theirs) = (open(&temp.path().join("ours")), open(&temp.path().join("theirs")));
    let first = theirs.lock_tree(&Workspace::shared(&work), &holder(1)).unwrap();
    let (waits, workspace) = (ours.clone(), Workspace::shared(&work));
    let waiter = tokio::spawn(async move { waits.wait_tree(&workspace, &holder(2)).await });
    let deadline = Instant::now() + Duration::from_millis(300);
    while Instant::now() < deadline {
        tokio::task::yield_now().await;
        let said = held(ours.lock_tree(&Workspace::shared(&work), &holder(3)));
        assert!(said.contains("different or deleted state folder"), "{said}");
    }
    drop(first);
    let lock = waiter.await.unwrap().unwrap();
    assert!(held(ours.lock_tree(&Workspace::shared(&work), &holder(4))).contains("pid 2"));
    drop(lock);
}

#[tokio::test]
async fn who_moves_a_trees_files_is_waited_for_in_each_of_its_folders() {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().join("shop");
    for folder in [".git", "web", "api"] {
        fs::create_dir_all(top.join(folder)).unwrap();
    }
    let store = open(&temp.path().join("state"));
    let [web, api, beside] = [top.join("web"), top.join("api"), temp.path().to_owned()].map(Workspace::shared);
    let before = store.lock_tree(&web, &holder(1)).unwrap();
    let files = store.lock_files(&top, &holder(2)).unwrap();
    // Who was there before is found, and who comes later waits.
    assert!(held(store.lock_within(&web, &holder(2))).contains("pid 1"));
    assert!(held(store.lock_tree(&api, &holder(3))).contains("pid 2"));
    store.lock_within(&api, &holder(2)).unwrap();
    store.lock_tree(&beside, &holder(3)).unwrap();
    let (waits, theirs) = (store.clone(), api.clone());
    let waiter = tokio::spawn(async move { waits.wait_tree(&theirs, &holder(3)).await });
    for _ in 0..50 {
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished());
    }
    drop(files);
    let lock = waiter.await.unwrap().unwrap();
    assert!(held(store.lock_tree(&api, &holder(4))).contains("pid 3"));
    drop((before, lock));
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
    let first = store.lock_tree(&Workspace::shared(temp.path()), &holder(1)).unwrap();
    {
        // Polled until it waits, then dropped.
        let (who, left, workspace) = (holder(2), store.clone(), Workspace::shared(temp.path()));
        let waiting = left.wait_tree(&workspace, &who);
        tokio::pin!(waiting);
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("the folder is not free"),
            () = tokio::task::yield_now() => {}
        }
    }
    let (theirs, workspace) = (store.clone(), Workspace::shared(temp.path()));
    let waiter = tokio::spawn(async move { theirs.wait_tree(&workspace, &holder(3)).await });
    tokio::task::yield_now().await;
    assert!(!waiter.is_finished());
    drop(first);
    let lock = waiter.await.unwrap().unwrap();
    assert!(held(store.lock_tree(&Workspace::shared(temp.path()), &holder(4))).contains("pid 3"));
    drop(lock);
    // Free for good: the one that left may hold it for a moment, but gives it back.
    store.wait_tree(&Workspace::shared(temp.path()), &holder(5)).await.unwrap();
}

#[test]
fn another_state_folder_is_no_way_around_a_lock() {
    let temp = tempfile::tempdir().unwrap();
    let (file, work) = (temp.path().join("tk.md"), temp.path().join("work"));
    fs::write(&file, "x").unwrap();
    fs::create_dir(&work).unwrap();
    let (ours, theirs) = (open(&temp.path().join("ours")), open(&temp.path().join("theirs")));
    let lock = ours.lock_ticket(&file, &holder(1)).unwrap();
    let tree = ours.lock_tree(&Workspace::shared(&work), &holder(1)).unwrap();
    assert!(held(theirs.lock_ticket(&file, &holder(2))).contains("different or deleted state folder"));
    assert!(
        held(theirs.lock_tree(&Workspace::shared(&work), &holder(2))).contains("different or deleted state folder")
    );

    // Saved by an editor that puts a new file in its place.
    fs::write(temp.path().join("new"), "y").unwrap();
    fs::rename(temp.path().join("new"), &file).unwrap();
    lock.follow(&file).unwrap();
    assert!(held(theirs.lock_ticket(&file, &holder(2))).contains("different or deleted state folder"));
    fs::remove_file(&file).unwrap();
    lock.follow(&file).unwrap();

    fs::write(&file, "z").unwrap();
    drop((lock, tree));
    let lock = theirs.lock_ticket(&file, &holder(2)).unwrap();
    theirs.lock_tree(&Workspace::shared(&work), &holder(2)).unwrap();
    drop(lock);
}

#[test]
fn what_was_put_in_the_place_of_a_ticket_by_another_program_is_its_own() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("tk.md");
    fs::write(&file, "x").unwrap();
    let (ours, theirs) = (open(&temp.path().join("ours")), open(&temp.path().join("theirs")));
    let lock = ours.lock_ticket(&file, &holder(1)).unwrap();
    let other = temp.path().join("other.md");
    fs::write(&other, "y").unwrap();
    let _theirs = theirs.lock_ticket(&other, &holder(2)).unwrap();
    fs::rename(&other, &file).unwrap();
    held(lock.follow(&file));
}

#[test]
fn a_database_that_was_moved_takes_no_records_until_it_is_back() {
    let temp = tempfile::tempdir().unwrap();
    let (state, away) = (temp.path().join("state"), temp.path().join("away"));
    let store = open(&state);
    let run = fresh();
    store.append_blocking(append(run, vec![note("before")])).unwrap();
    fs::rename(&state, &away).unwrap();
    let gone = |store: &Store| store.append_blocking(append(run, vec![note("lost")])).unwrap_err();
    assert!(matches!(gone(&store), StoreError::Gone { .. }));
    // Another program may begin anew there.
    let other = open(&state);
    assert!(matches!(gone(&store), StoreError::Gone { .. }), "{}", gone(&store));
    drop(other);
    fs::remove_dir_all(&state).unwrap();
    fs::rename(&away, &state).unwrap();
    store.append_blocking(append(run, vec![note("after")])).unwrap();
    assert_eq!(store.load(run).unwrap().records.len(), 2);
}

#[test]
fn a_sweep_that_does_not_end_is_not_waited_for_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open(folder.path()), open(folder.path()));
    let ticket = folder.path().join("tk-1.md");
    let halted = one.lock_sweep(&ticket, Duration::ZERO).unwrap();
    let refused = other.lock_sweep(&ticket, Duration::from_millis(30)).unwrap_err().to_string();
    assert!(refused.contains("tk-1.md") && refused.contains("suspended"), "{refused}");
    drop(halted);
    other.lock_sweep(&ticket, Duration::ZERO).unwrap();
}

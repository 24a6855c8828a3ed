//! What is appended is what is loaded, in order, whoever else writes.

use super::child::{Other, folder_for};
use super::samples::{append, counted, every_record, fresh, note, open, summary, ticket, time};
use programmator::adapters::store::{Append, Store, StoreError, Wish};
use programmator::base::id::RunId;
use programmator::domain::answerer::Answerer;
use programmator::domain::command::UserCommand;
use programmator::domain::record::{Record, WishTaken};
use programmator::domain::summary::{RunState, RunSummary};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

fn seqs(store: &Store, run: RunId) -> Vec<u64> {
    let loaded = store.load(run).unwrap();
    assert_eq!(loaded.skipped, []);
    loaded.records.iter().map(|stored| stored.seq).collect()
}

fn database(store: &Store) -> rusqlite::Connection {
    rusqlite::Connection::open(store.folder().join("programmator.db")).unwrap()
}

/// The run is known then, and has no record more.
fn leave_wish(store: &Store, run: RunId) -> i64 {
    store.append_blocking(append(run, Vec::new())).unwrap();
    store.wish(run, time(7), &Wish { by: Answerer::COMMAND_LINE, command: UserCommand::Stop }).unwrap()
}

#[test]
fn every_record_comes_back_as_it_was_also_after_a_restart() {
    let temp = tempfile::tempdir().unwrap();
    let run = fresh();
    let store = open(temp.path());
    leave_wish(&store, run);
    let stored = store.append_blocking(append(run, every_record())).unwrap();
    assert_eq!(store.load(run).unwrap().records, stored);
    drop(store);

    let loaded = open(temp.path()).load(run).unwrap();
    assert_eq!(loaded.records, stored);
    for (given, back) in every_record().iter().zip(&loaded.records) {
        assert_eq!(given, &back.record);
        assert_eq!((back.time, back.run, &back.ticket), (time(7), run, &ticket("tk-1")));
    }
    assert_eq!(loaded.records.last().unwrap().seq, every_record().len() as u64);
}

#[test]
fn a_column_of_a_newer_program_does_not_stop_this_one() {
    let temp = tempfile::tempdir().unwrap();
    let (store, run) = (open(temp.path()), fresh());
    for table in ["runs", "records", "sessions", "tickets_seen"] {
        database(&store).execute_batch(&format!("ALTER TABLE {table} ADD COLUMN later INTEGER")).unwrap();
    }
    leave_wish(&store, run);
    let stored = store.append_blocking(append(run, every_record())).unwrap();
    assert_eq!(store.load(run).unwrap().records, stored);
}

#[test]
fn a_wish_that_was_taken_back_is_not_noted_nor_anything_with_it() {
    let temp = tempfile::tempdir().unwrap();
    let (store, run) = (open(temp.path()), fresh());
    let [kept, withdrawn] = [(); 2].map(|()| leave_wish(&store, run));
    store.withdraw(withdrawn).unwrap();
    let noted = |wish| vec![note("before"), Record::WishTaken(WishTaken { wish }), note("after")];
    let refused = store.append_blocking(append(run, noted(withdrawn)));
    assert!(matches!(refused, Err(StoreError::Withdrawn)), "{refused:?}");
    assert_eq!(seqs(&store, run), Vec::<u64>::new());
    store.append_blocking(append(run, noted(kept))).unwrap();
    assert_eq!(seqs(&store, run), [1, 2, 3]);
    assert!(matches!(store.append_blocking(append(run, noted(kept))), Err(StoreError::Withdrawn)), "noted once");
}

#[test]
fn numbers_have_no_gap_under_eight_threads_and_two_handles() {
    let temp = tempfile::tempdir().unwrap();
    let handles = [open(temp.path()), open(temp.path())];
    let run = fresh();
    let mut given: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|who| {
                let store = handles[who % 2].clone();
                scope.spawn(move || -> Vec<u64> {
                    (0..25)
                        .flat_map(|call| {
                            let two = vec![note("a"), counted(u32::try_from(who * 25 + call).unwrap())];
                            store.append_blocking(append(run, two)).unwrap()
                        })
                        .map(|stored| stored.seq)
                        .collect()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    given.sort_unstable();
    assert_eq!(given, (1..=400).collect::<Vec<_>>());
    assert_eq!(seqs(&handles[0], run), given);
    assert_eq!(handles[1].calls_since(time(7)).unwrap(), 200);
    assert_eq!(handles[1].calls_since(time(8)).unwrap(), 0);
}

#[test]
fn child_appends_ten() {
    let Some(folder) = folder_for("store::journal::child_appends_ten") else { return };
    let store = open(&folder);
    let run = RunId::parse(&std::fs::read_to_string(folder.join("run")).unwrap()).unwrap();
    for _ in 0..10 {
        store.append_blocking(append(run, vec![note("theirs")])).unwrap();
    }
}

#[test]
fn two_programs_that_start_at_once_write_one_journal() {
    let temp = tempfile::tempdir().unwrap();
    let run = fresh();
    std::fs::write(temp.path().join("run"), run.to_string()).unwrap();
    let mut others: Vec<_> = (0..2).map(|_| Other::start("store::journal::child_appends_ten", temp.path())).collect();
    let store = open(temp.path());
    for _ in 0..10 {
        store.append_blocking(append(run, vec![note("ours")])).unwrap();
    }
    for other in &mut others {
        assert!(other.process.wait().unwrap().success());
    }
    assert_eq!(seqs(&store, run), (1..=30).collect::<Vec<_>>());
}

#[tokio::test]
async fn appends_of_one_caller_keep_their_order_and_others_do_not_wait_for_them() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let run = fresh();
    let tasks: Vec<_> = (0..40)
        .map(|_| {
            let (store, own) = (store.clone(), fresh());
            tokio::spawn(async move { store.append(append(own, vec![note("x")])).await })
        })
        .collect();
    for n in 0..20 {
        let stored = store.append(append(run, vec![note(&n.to_string())])).await.unwrap();
        assert_eq!(stored[0].seq, n + 1);
    }
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap()[0].seq, 1);
    }
}

#[test]
fn an_append_without_records_writes_the_summary() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let run = fresh();
    store.append_blocking(append(run, vec![note("x")])).unwrap();
    let ended = RunSummary {
        state: RunState::Ended,
        phase: None,
        reason: Some("complete".into()),
        updated: time(9_000),
        ..summary(run)
    };
    let change = Append { summary: ended.clone(), ..append(run, vec![]) };
    assert_eq!(store.append_blocking(change).unwrap(), []);
    assert_eq!(store.runs().unwrap(), [ended]);
    assert_eq!(seqs(&store, run), [1]);
}

#[test]
fn kinds_of_a_newer_program_are_skipped_and_reported() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let run = fresh();
    store.append_blocking(append(run, vec![note("1"), note("2"), note("3")])).unwrap();
    database(&store)
        .execute("UPDATE records SET kind = 'dreamt', json = '{\"kind\":\"dreamt\"}' WHERE seq = 2", [])
        .unwrap();
    let loaded = store.load(run).unwrap();
    let read: Vec<u64> = loaded.records.iter().map(|stored| stored.seq).collect();
    assert_eq!(read, [1, 3]);
    assert_eq!((loaded.skipped[0].seq, loaded.skipped[0].kind.as_str()), (2, "dreamt"));
}

#[test]
fn the_tables_sum_up_the_journal() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let run = fresh();
    leave_wish(&store, run);
    store.append_blocking(append(run, every_record())).unwrap();
    let one = |sql: &str| -> String { database(&store).query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(one("SELECT outcome || changed || cost_usd FROM iterations"), "cut_off10.125");
    assert_eq!(one("SELECT state FROM sessions"), "expired");
    assert_eq!(one("SELECT group_concat(state) FROM session_transitions"), "open,lost,expired");
    assert_eq!(one("SELECT ticket || path FROM tickets_seen"), "tk-1/t");
    assert_eq!(one("SELECT kind FROM records WHERE json_extract(json, '$.kind') = 'call_counted'"), "call_counted");
    assert_eq!(store.calls_since(time(0)).unwrap(), 1);
    let kinds: BTreeSet<String> = store
        .load(RunId::parse(&one("SELECT run FROM runs")).unwrap())
        .unwrap()
        .records
        .iter()
        .map(|stored| serde_json::to_value(&**stored).unwrap()["kind"].to_string())
        .collect();
    let sampled: BTreeSet<String> =
        every_record().iter().map(|record| serde_json::to_value(record).unwrap()["kind"].to_string()).collect();
    assert_eq!(kinds, sampled);
}

#[test]
fn runs_are_found_by_ticket_and_by_either_end_of_their_id() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let ids = [
        "0192aaaa-0000-7000-8000-000000000001", "0192bbbb-0000-7000-8000-000000000002",
        "0192cccc-0000-7000-8000-000000000003", "0192dddd-0000-7000-8000-000000000004",
    ];
    let rows = [("tk-1", "/a/tk-1.md"), ("tk-1", "/a/tk-1.md"), ("tk-2", "/a/tk-2.md"), ("tk-2", "/b/tk-2.md")];
    for (at, (id, (name, path))) in ids.iter().zip(rows).enumerate() {
        let run = RunId::parse(id).unwrap();
        let summary =
            RunSummary { ticket: ticket(name), ticket_path: path.into(), started: time(at as i64), ..summary(run) };
        let change = Append { ticket: ticket(name), summary, ..append(run, vec![note("x")]) };
        store.append_blocking(change).unwrap();
    }
    let text = |run: &RunSummary| run.run.to_string();
    let newest_first: Vec<_> = store.runs().unwrap().iter().map(text).collect();
    assert_eq!(newest_first, [ids[3], ids[2], ids[1], ids[0]]);
    let ids_of = |runs: Vec<RunSummary>| runs.iter().map(text).collect::<Vec<_>>();
    let cases: [(&str, &[&str]); 11] = [
        ("tk-1", &[ids[1]]),
        ("0192b", &[ids[1]]),
        ("0192BBBB-0", &[ids[1]]),
        ("00000003", &[ids[2]]),
        (ids[0], &[ids[0]]),
        ("0192", &[ids[3], ids[2], ids[1], ids[0]]),
        ("k-1", &[ids[1]]),
        ("1", &[ids[0], ids[1]]),
        ("tk-", &[ids[3], ids[2], ids[1]]),
        ("", &[]),
        ("%", &[]),
    ];
    for (words, expected) in cases {
        assert_eq!(ids_of(store.runs_like(words).unwrap()), expected, "{words:?}");
    }
    assert_eq!(ids_of(store.runs_of("tk-2").unwrap()), [ids[3], ids[2]]);
    assert_eq!(ids_of(store.runs_of("tk-").unwrap()), [""; 0]);
    assert_eq!(store.latest_for("/a/tk-1.md").unwrap().map(|run| text(&run)), Some(ids[1].into()));
    assert_eq!(store.latest_for("/a/none.md").unwrap(), None);
}

#[test]
fn a_chat_is_called_by_its_first_message() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let said = |text: &str| Record::NoteGiven { id: text.into(), text: text.into() };
    for (name, title) in [("chat-7f3e01ab", "Why is CI red?"), ("chat-7f3e", "")] {
        let run = fresh();
        let records = vec![said("Why is\u{1b}[2J CI red?"), said("And now?")];
        let summary = RunSummary { ticket: ticket(name), ..summary(run) };
        store.append_blocking(Append { ticket: ticket(name), summary, ..append(run, records) }).unwrap();
        assert_eq!(store.run(run).unwrap().unwrap().0.title, title, "{name}");
    }
}

#[test]
fn a_summary_is_printed_in_the_order_that_status_promises() {
    let json = serde_json::to_string(&summary(RunId::parse("0192aaaa-0000-7000-8000-000000000001").unwrap()));
    assert_eq!(
        json.unwrap(),
        r#"{"run":"0192aaaa-0000-7000-8000-000000000001","ticket":"tk-1","title":"","ticket_path":"/t/tk-1.md","folder":"/w","state":"running","phase":"Phase ☃","phases_done":1,"phases":4,"iterations":2,"cost_usd":0.25,"reason":null,"started":"2026-11-21T14:02:13.000Z","updated":"2026-11-21T14:02:13.005Z","marks":[{"done":"verified"},"running","pending","disputed"],"unverified":true,"needs":"Bash git push","until":"2026-11-21T14:02:13.009Z","worked_ms":7,"commit":"0123456789abcdef","committing":true,"added":3,"removed":4,"worktree":{"top":"/trees/é: x","directory":"/trees/é: x","home_top":"/w","branch":"b/é","base":"main"},"aside":[{"step":"critique","calls":2,"cost_usd":0.5}],"merged":true,"taken_back":[0],"carried_usd":0.5}"#
    );
}

#[tokio::test]
async fn an_append_that_cannot_be_written_fails_alone() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let tasks: Vec<_> = (0..60)
        .map(|n| {
            let (store, run) = (store.clone(), fresh());
            let mut given = append(run, vec![note("a"), note("b")]);
            if n % 20 == 10 {
                given.summary.cost_usd = f64::NAN; // no number for a database
            }
            tokio::spawn(async move { (n, run, store.append(given).await) })
        })
        .collect();
    for task in tasks {
        let (n, run, answer) = task.await.unwrap();
        assert_eq!(answer.is_ok(), n % 20 != 10, "{n}: {answer:?}");
        assert_eq!(seqs(&store, run).len(), if answer.is_ok() { 2 } else { 0 });
    }
}

/// Fails rather than hangs when nobody rings.
async fn soon<T>(news: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), news).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_in_another_handle_sees_every_record_once_and_in_order() {
    let temp = tempfile::tempdir().unwrap();
    let (writer, reader) = (open(temp.path()), open(temp.path()));
    let run = fresh();
    writer.append(append(run, vec![note("old"), note("known")])).await.unwrap();
    let mut follower = reader.follow(run, 1).unwrap();
    let writing = tokio::spawn(async move {
        for n in 0..50 {
            writer.append(append(run, vec![note(&n.to_string())])).await.unwrap();
            tokio::task::yield_now().await;
        }
        writer
    });
    let mut seen = Vec::new();
    while seen.len() < 51 {
        let news = soon(follower.next()).await.unwrap();
        seen.extend(news.records.iter().map(|stored| stored.seq));
    }
    assert_eq!(seen, (2..=52).collect::<Vec<_>>());

    // Asleep now: the next commit alone wakes it.
    let writer = writing.await.unwrap();
    let next = tokio::spawn(async move { soon(follower.next()).await.unwrap().records });
    let given = writer.append(append(run, vec![note("last")])).await.unwrap();
    let heard: Vec<Arc<_>> = next.await.unwrap();
    assert_eq!(heard, given);
}

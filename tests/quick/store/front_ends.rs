//! What front ends hear: several at once, one that has stopped, one that comes late.

use super::samples::{append, fresh, note, open, ticket, time};
use programmator::adapters::store::Store;
use programmator::base::id::RunId;
use programmator::domain::approval::Presence;
use programmator::domain::news::{News, RunLeft, StorageAwaited};
use programmator::domain::stream::envelope::classify;
use programmator::domain::summary::RunSummary;
use programmator::domain::ticket::TicketKey;
use programmator::runtime::channels;
use programmator::runtime::reporter::{Reporter, Subscription};
use std::sync::Arc;

/// More than a front end is kept.
const MANY: u64 = 3 * channels::NEWS as u64;

fn opened(store: &Store) -> (Reporter, RunId) {
    let (reporter, run) = (Reporter::new(store.clone()), fresh());
    reporter.opened(run, &TicketKey::unknown("tk-1"), 0, Arc::new(store.scrollback(run, classify).unwrap()));
    (reporter, run)
}

async fn works(store: &Store, reporter: &Reporter, run: RunId, mut looks: impl FnMut()) {
    for first in (1..=MANY).step_by(64) {
        let notes = (first..first + 64).map(|n| note(&n.to_string())).collect();
        for stored in store.append(append(run, notes)).await.unwrap() {
            reporter.recorded(stored);
            reporter.tell(&News::StreamGrew(run));
        }
        looks();
    }
}

/// Everything that can be heard now: records by their places, the rest in a word.
fn heard(front_end: &mut Subscription) -> Vec<String> {
    let said = |news| match news {
        News::Recorded(stored) => stored.seq.to_string(),
        News::RunOpened { records, .. } => format!("all {}", records.len()),
        News::StreamGrew(_) => "grown".to_owned(),
        News::StorageAwaited(waiting) => waiting.why,
        News::RunLeft(left) => left.message,
        _ => "other".to_owned(),
    };
    std::iter::from_fn(|| front_end.try_next()).map(said).collect()
}

#[tokio::test]
async fn each_hears_all_and_one_that_has_stopped_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (reporter, run) = opened(&store);
    let [mut one, mut two, mut stopped] =
        [Presence::Screen, Presence::Nobody, Presence::Screen].map(|presence| reporter.subscribe(presence));
    let (mut by_one, mut by_two) = (Vec::new(), Vec::new());
    works(&store, &reporter, run, || {
        by_one.extend(heard(&mut one));
        by_two.extend(heard(&mut two));
    })
    .await;
    let places: Vec<String> = (1..=MANY).map(|n| n.to_string()).collect();
    for all in [by_one, by_two] {
        assert!(all[0].starts_with("all "), "what was there when it was opened: {}", all[0]);
        let read: u64 = all[0].trim_start_matches("all ").parse().unwrap();
        let records: Vec<&String> = all[1..].iter().filter(|said| *said != "grown").collect();
        assert!(
            records.iter().copied().skip_while(|seq| seq.parse::<u64>().unwrap() <= read).eq(&places[read as usize..])
        );
    }
    let why =
        |why: &str| StorageAwaited { run, ticket: ticket("tk-1"), why: why.into(), since: time(1), until: time(2) };
    reporter.storage_awaited(why("full"));
    reporter.storage_awaited(why("still full"));
    reporter.trouble(&TicketKey::unknown("tk-1"), "dropped where there is no room");
    let mut late = reporter.subscribe(Presence::Nobody);
    assert_eq!(heard(&mut late), [format!("all {MANY}"), "still full".into()]);
    reporter.left(RunLeft { run, ticket: ticket("tk-1"), reason: None, message: "left".into() });
    assert_eq!(heard(&mut late), ["left"]);
    let all = heard(&mut stopped);
    assert_eq!(all, [format!("all {MANY}"), "still full".into(), "other".into(), "left".into(), "grown".into()]);
}

#[tokio::test]
async fn one_that_is_full_reads_the_run_again_where_it_lost_the_thread() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (reporter, run) = opened(&store);
    let mut slow = reporter.subscribe(Presence::Screen);
    assert_eq!(heard(&mut slow), ["all 0"]);
    works(&store, &reporter, run, || ()).await;
    let message = "left after all that".to_owned();
    reporter.left(RunLeft { run, ticket: ticket("tk-1"), reason: None, message });
    let all = heard(&mut slow);
    let kept: Vec<String> = (1..=channels::NEWS).map(|n| n.to_string()).collect();
    assert_eq!(all[..channels::NEWS], kept);
    assert_eq!(all[channels::NEWS..], [format!("all {MANY}"), "left after all that".into(), "grown".into()]);
    let later = heard(&mut reporter.subscribe(Presence::Screen));
    assert_eq!(later.last().map(String::as_str), Some("left after all that"), "the store does not say it");
    works(&store, &reporter, run, || ()).await;
    assert_eq!(heard(&mut slow)[0], (MANY + 1).to_string(), "and listens as before");
}

#[tokio::test]
async fn somebody_is_there_as_long_as_a_front_end_listens_that_can_answer() {
    let folder = tempfile::tempdir().unwrap();
    let reporter = Reporter::new(open(folder.path()));
    let printer = reporter.subscribe(Presence::Nobody);
    assert_eq!(reporter.presence(), Presence::Nobody);
    let [near, far] = [reporter.subscribe(Presence::Screen), reporter.subscribe(Presence::Screen)];
    near.touched(time(5));
    far.touched(time(9));
    printer.touched(time(1));
    assert_eq!((reporter.presence(), reporter.last_touched()), (Presence::Screen, time(9)));
    drop(far);
    assert_eq!((reporter.presence(), reporter.last_touched()), (Presence::Screen, time(5)));
    drop(near);
    assert_eq!(reporter.presence(), Presence::Nobody);
}

#[tokio::test]
async fn a_run_that_could_not_be_read_is_read_again_though_nothing_more_happens_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (reporter, run) = opened(&store);
    store.append(append(run, vec![note("asked")])).await.unwrap();
    let db = rusqlite::Connection::open(store.folder().join("programmator.db")).unwrap();
    db.execute_batch("ALTER TABLE records RENAME TO away").unwrap();
    let mut front_end = reporter.subscribe(Presence::Screen);
    assert_eq!(heard(&mut front_end), [""; 0], "it cannot be read");
    db.execute_batch("ALTER TABLE away RENAME TO records").unwrap();
    let news = tokio::time::timeout(std::time::Duration::from_secs(20), front_end.next()).await.unwrap();
    assert!(matches!(news, News::RunOpened { records, .. } if records.len() == 1));
}

#[tokio::test]
async fn a_run_that_is_read_whole_does_not_wait_for_storage_that_it_has_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (reporter, run) = opened(&store);
    let mut slow = reporter.subscribe(Presence::Screen);
    let why = "full".into();
    reporter.storage_awaited(StorageAwaited { run, ticket: ticket("tk-1"), why, since: time(1), until: time(2) });
    for stored in store.append(append(run, vec![note("stored")])).await.unwrap() {
        reporter.recorded(stored);
    }
    assert_eq!(heard(&mut slow), ["all 1"]);
}

#[tokio::test]
async fn of_how_a_run_stands_the_latest_is_heard_once_and_the_next_again() {
    let folder = tempfile::tempdir().unwrap();
    let reporter = Reporter::new(open(folder.path()));
    let mut front_end = reporter.subscribe(Presence::Screen);
    let [one, two] = [fresh(), fresh()];
    let stands = |run, iterations| {
        let summary = RunSummary { iterations, ..append(run, Vec::new()).summary };
        reporter.tell(&News::RunSeen(Arc::new(summary)));
    };
    let mut seen = || -> Vec<(RunId, u32)> {
        let said = std::iter::from_fn(|| front_end.try_next());
        said.map(|news| match news {
            News::RunSeen(run) => (run.run, run.iterations),
            other => panic!("{other:?}"),
        })
        .collect()
    };
    for (run, iterations) in [(one, 1), (two, 1), (one, 2)] {
        stands(run, iterations);
    }
    assert_eq!(seen(), [(two, 1), (one, 2)]);
    for (run, iterations) in [(one, 3), (one, 4)] {
        stands(run, iterations);
    }
    assert_eq!(seen(), [(one, 4)]);
}

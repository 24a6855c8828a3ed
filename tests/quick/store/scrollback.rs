//! Scrollback: what was written is what is read, also while it is being written and after it was cut off.

use super::samples::{fresh, open};
use programmator::adapters::store::{Bounds, RunScrollback};
use programmator::domain::scrollback::{Entry, EntryKind, LiveChange, Scrollback, Sink};
use std::fs;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// `-…` shows nothing; a brace opens a record of Claude's; the rest is garbage.
fn classify(line: &[u8]) -> Option<EntryKind> {
    match line.first() {
        Some(b'-') => None,
        Some(b'{') => Some(EntryKind::Assistant),
        _ => Some(EntryKind::Garbage),
    }
}

fn all(scrollback: &impl Scrollback, n: u32) -> Vec<(EntryKind, String)> {
    let mut entries = Vec::new();
    scrollback.entries(n, 0..usize::MAX, &mut entries);
    assert_eq!(entries.len(), scrollback.len(n));
    let text = |entry: &Entry| scrollback.read(n, *entry, usize::MAX).unwrap();
    entries.iter().map(|entry| (entry.kind, String::from_utf8(text(entry)).unwrap())).collect()
}

#[test]
fn what_was_written_is_read_now_and_later_with_and_without_its_index() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let run = fresh();
    let grown = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&grown);
    let scrollback = store.scrollback(run, classify).unwrap();
    let mut sink = scrollback
        .begin(
            2,
            Bounds::default(),
            Box::new(move || {
                counter.fetch_add(1, Ordering::SeqCst);
            }),
        )
        .unwrap();
    let large = format!("{{{}", "y".repeat(3 << 20));
    for line in ["{one", "-delta", "", "{日本\u{2028}", &large, "garbage"] {
        sink.line(line.as_bytes(), classify(line.as_bytes())).unwrap();
    }
    sink.burst_ended().unwrap();
    let expected = [
        (EntryKind::Assistant, "{one".to_owned()),
        (EntryKind::Assistant, "{日本\u{2028}".to_owned()),
        (EntryKind::Assistant, large.clone()),
        (EntryKind::Garbage, "garbage".to_owned()),
    ];
    assert_eq!(all(&scrollback, 2), expected);
    assert!(grown.load(Ordering::SeqCst) > 0);
    sink.finish().unwrap();

    let folder = store.run_folder(run);
    assert_eq!(
        fs::read_to_string(folder.join("2.ndjson")).unwrap(),
        format!("{{one\n-delta\n\n{{日本\u{2028}\n{large}\ngarbage\n")
    );
    let again = store.scrollback(run, |_| panic!("nothing to classify")).unwrap();
    assert_eq!((again.iterations(), all(&again, 2)), (vec![2], expected.to_vec()));
    fs::remove_file(folder.join("2.idx")).unwrap();
    assert_eq!(all(&store.scrollback(run, classify).unwrap(), 2), expected);
    let entry = {
        let mut entries = Vec::new();
        again.entries(2, 2..3, &mut entries);
        entries[0]
    };
    assert_eq!(again.read(2, entry, 4).unwrap(), b"{yyy");
}

#[test]
fn another_handle_sees_what_was_written_since_when_it_looks_again() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let run = fresh();
    let write = |n, lines: &[&str]| {
        let writer = store.scrollback(run, classify).unwrap();
        let mut sink = writer.begin(n, Bounds::default(), Box::new(|| ())).unwrap();
        for line in lines {
            sink.line(line.as_bytes(), classify(line.as_bytes())).unwrap();
        }
        sink.finish().unwrap();
    };
    let reader = store.scrollback(run, classify).unwrap();
    assert!(!reader.look_again().unwrap());
    assert_eq!(reader.iterations(), [0; 0]);
    write(1, &["{one"]);
    assert!(reader.look_again().unwrap());
    assert_eq!(all(&reader, 1).len(), 1);
    assert!(!reader.look_again().unwrap(), "nothing has come");
    write(1, &["{two", "{three"]);
    write(2, &["{four"]);
    assert_eq!((all(&reader, 1).len(), reader.iterations().len()), (1, 1), "it has not looked");
    reader.look_again().unwrap();
    assert_eq!((all(&reader, 1).len(), all(&reader, 2).len()), (3, 1));
}

#[test]
fn a_run_that_printed_nothing_has_no_iterations() {
    let temp = tempfile::tempdir().unwrap();
    let scrollback = open(temp.path()).scrollback(fresh(), classify).unwrap();
    assert_eq!((scrollback.iterations(), scrollback.len(1)), (vec![], 0));
    assert_eq!(all(&scrollback, 1), []);
    assert!(scrollback.live().is_empty());
}

#[test]
fn a_torn_line_is_kept_and_what_follows_stands_alone() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let run = fresh();
    let whole = b"{one\n-x\n{two\n";
    for cut in 0..=whole.len() {
        let n = cut as u32;
        let scrollback = store.scrollback(run, classify).unwrap();
        scrollback.begin(n, Bounds::default(), Box::new(|| {})).unwrap().finish().unwrap();
        let path = store.run_folder(run).join(format!("{n}.ndjson"));
        fs::File::create(&path).unwrap().write_all(&whole[..cut]).unwrap();

        let reopened = store.scrollback(run, classify).unwrap();
        let mut sink = reopened.begin(n, Bounds::default(), Box::new(|| {})).unwrap();
        sink.line(b"{three", Some(EntryKind::Assistant)).unwrap();
        sink.finish().unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(&whole[..cut]), "cut at {cut}");
        let lines: Vec<String> = String::from_utf8(bytes)
            .unwrap()
            .lines()
            .filter(|line| !line.is_empty() && classify(line.as_bytes()).is_some())
            .map(str::to_owned)
            .collect();
        for seen in [all(&reopened, n), all(&store.scrollback(run, classify).unwrap(), n)] {
            let texts: Vec<&str> = seen.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(texts, lines, "cut at {cut}");
        }
        assert_eq!(lines.last().unwrap(), "{three");
    }
}

#[test]
fn a_reader_beside_the_writer_sees_only_whole_records_and_all_of_them() {
    const RECORDS: usize = 20_000;
    let temp = tempfile::tempdir().unwrap();
    let scrollback = open(temp.path()).scrollback(fresh(), classify).unwrap();
    let (wake, woken) = mpsc::sync_channel(1);
    let mut sink = scrollback
        .begin(
            1,
            Bounds::default(),
            Box::new(move || {
                let _ = wake.try_send(());
            }),
        )
        .unwrap();
    let reader = scrollback.clone();
    thread::scope(|scope| {
        let reading = scope.spawn(move || {
            let mut next = 0;
            while next < RECORDS {
                let mut entries = Vec::new();
                reader.entries(1, next..usize::MAX, &mut entries);
                if entries.is_empty() {
                    woken.recv().unwrap();
                }
                for entry in entries {
                    let text = reader.read(1, entry, 100).unwrap();
                    assert_eq!(text, format!("{{{next}}}").into_bytes());
                    next += 1;
                }
            }
        });
        for n in 0..RECORDS {
            sink.line(format!("{{{n}}}").as_bytes(), Some(EntryKind::Assistant)).unwrap();
            if n % 7 == 0 {
                sink.burst_ended().unwrap();
            }
        }
        sink.burst_ended().unwrap();
        reading.join().unwrap();
    });
}

#[test]
fn the_live_tail_is_capped_and_cleared() {
    let temp = tempfile::tempdir().unwrap();
    let scrollback = open(temp.path()).scrollback(fresh(), classify).unwrap();
    let mut sink = scrollback.begin(1, Bounds::default(), Box::new(|| {})).unwrap();
    for n in 0..20_000 {
        sink.live(LiveChange::Text(&format!("wörd {n} ")));
    }
    sink.live(LiveChange::Thinking("hm"));
    sink.live(LiveChange::Tool("Bash"));
    let live = scrollback.live();
    assert!(live.text.ends_with("wörd 19999 "));
    assert!((60_000..=64 << 10).contains(&live.text.len()), "{}", live.text.len());
    assert_eq!((live.thinking.as_str(), live.tool.as_deref()), ("hm", Some("Bash")));
    sink.live(LiveChange::Clear);
    assert!(scrollback.live().is_empty());
    sink.live(LiveChange::Text("left over"));
    drop(sink);
    assert!(scrollback.live().is_empty(), "nothing is being said after the end");
}

#[test]
fn of_more_than_is_kept_the_beginning_and_the_end_stay_and_the_gap_is_shown() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let run = fresh();
    let scrollback = store.scrollback(run, classify).unwrap();
    let bounds = Bounds { limit: 16 << 20, reserve: 0 };
    let mut sink = scrollback.begin(1, bounds, Box::new(|| {})).unwrap();
    let mut told = 0;
    for n in 0..40_000 {
        let line = format!("{{{n:06} {}", "x".repeat(1_000));
        sink.line(line.as_bytes(), Some(EntryKind::Assistant)).unwrap_or_else(|error| {
            assert!(error.to_string().contains("storage.stream"), "{error}");
            told += 1;
        });
    }
    assert_eq!(told, 1);
    sink.finish().unwrap();
    let shown = |scrollback: &RunScrollback| -> Vec<String> {
        let mut entries = Vec::new();
        scrollback.entries(1, 0..100_000, &mut entries);
        let text = |entry: &Entry| String::from_utf8(scrollback.read(1, *entry, 200).unwrap()).unwrap();
        entries.iter().map(text).collect()
    };
    let lines = shown(&scrollback);
    assert!(lines[0].starts_with("{000000 ") && lines.last().unwrap().starts_with("{039999 "));
    let gap = lines.iter().position(|line| line.contains("missing here")).unwrap();
    let number = |at: usize| lines[at][1..7].parse::<usize>().unwrap();
    assert!(number(gap - 1) + 1 == gap && gap > 7_000, "{gap}");
    let gone = (number(gap + 1) - gap) * 1_009;
    assert!(lines[gap].contains(&format!("programmator: {gone} bytes")), "{}", lines[gap]);
    let file = store.run_folder(run).join("1.ndjson");
    assert!(fs::metadata(&file).unwrap().len() <= (16 << 20) + 300);
    let marks = fs::read_to_string(&file).unwrap();
    assert_eq!(marks.lines().count(), lines.len(), "whole lines");
    assert_eq!(shown(&store.scrollback(run, classify).unwrap()).len(), lines.len(), "and so for those who come later");
}

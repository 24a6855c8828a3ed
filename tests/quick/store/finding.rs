//! A search through tickets and runs: in pieces it finds what it finds at once, the newest first, and has its bounds.

use super::samples::{append, open, summary, time};
use programmator::adapters::clock::fresh_run_id;
use programmator::adapters::store::{Append, Bounds, Store};
use programmator::base::id::RunId;
use programmator::domain::find::{Batch, Cursor, Find, Match, Spot};
use programmator::domain::record::{Level, Record};
use programmator::domain::scrollback::Sink;
use programmator::domain::search::Only;
use programmator::domain::step::Role;
use programmator::domain::stream::envelope::classify;
use programmator::domain::verdict::Verdict;
use programmator::runtime::find::batch;
use std::fs;
use std::path::Path;
use std::time::Duration;

fn said(words: &str) -> String {
    serde_json::json!({"type":"assistant","message":{"content":[{"type":"text","text":words}]}}).to_string()
}

/// A run that began then, and what Claude printed in its iterations.
fn run(store: &Store, started: i64, iterations: &[&[String]]) -> RunId {
    let id = fresh_run_id();
    let mut seen = summary(id);
    seen.started = time(started);
    store.append_blocking(Append { summary: seen, ..append(id, vec![super::samples::note("x")]) }).unwrap();
    let scrollback = store.scrollback(id, classify).unwrap();
    for (n, lines) in (1..).zip(iterations) {
        let mut sink = scrollback.begin(n, Bounds::default(), Box::new(|| {})).unwrap();
        for line in *lines {
            sink.line(line.as_bytes(), classify(line.as_bytes())).unwrap();
        }
        sink.finish().unwrap();
    }
    id
}

fn all(store: &Store, tickets: &Path, find: &Find, piece: Duration) -> (Vec<Match>, usize) {
    let (mut find, mut found, mut pieces) = (find.clone(), Vec::new(), 0);
    loop {
        let Batch { matches, next, looked, runs } = batch(store, tickets, &find, piece).unwrap();
        assert!(looked <= runs);
        found.extend(matches);
        pieces += 1;
        match next {
            Some(next) => find.from = next,
            None => return (found, pieces),
        }
    }
}

fn find(query: &str, only: Option<Only>) -> Find {
    Find { query: query.into(), only, from: Cursor::default() }
}

#[test]
fn the_newest_comes_first_and_pieces_find_what_is_found_at_once() {
    let temp = tempfile::tempdir().unwrap();
    let (store, dir) = (open(temp.path()), temp.path().join("tickets"));
    fs::create_dir(&dir).unwrap();
    for name in ["tk-8", "tk-9"] {
        fs::write(dir.join(format!("{name}.md")), format!("---\nid: {name}\n---\n# Birds\n\n- [ ] a Kingfisher\n"))
            .unwrap();
    }
    fs::write(dir.join("tk-7.md"), "# Nothing\n").unwrap();
    let failed = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"no kingfisher","is_error":true,"tool_use_id":"a"}]}}"#;
    let many: Vec<String> = (0..3_000).map(|i| said(if i == 2_500 { "one kingfisher" } else { "nothing" })).collect();
    let old = run(&store, 1, &[&[said("hi"), said("A kingfisher\u{1b}[2J")], &[failed.to_owned()]]);
    let gone = run(&store, 2, &[&[said("kingfisher")]]);
    let new = run(&store, 3, &[&many]);
    fs::remove_dir_all(store.run_folder(gone)).unwrap();
    let wanted = find("KINGFISHER", None);
    let (found, pieces) = all(&store, &dir, &wanted, Duration::from_secs(60));
    let spot = |run, iteration, record| Spot::Run { run, iteration, record };
    let spots: Vec<Spot> = found.iter().map(|found| found.spot).collect();
    let in_ticket = Spot::Ticket { line: 6 };
    assert_eq!(spots, [in_ticket, in_ticket, spot(new, 1, 2_500), spot(old, 2, 0), spot(old, 1, 1)]);
    assert_eq!((pieces, found[0].title.as_str()), (1, "Birds"));
    let marked = |found: &Match| (found.line[found.marked.clone()].to_lowercase(), found.line.clone());
    assert_eq!(marked(&found[4]), ("kingfisher".into(), "A kingfisher".into()));
    let (again, pieces) = all(&store, &dir, &wanted, Duration::ZERO);
    assert_eq!(again, found);
    assert!(pieces > 6, "{pieces}");
    let (errors, _) = all(&store, &dir, &find("", Some(Only::Errors)), Duration::ZERO);
    assert_eq!(errors.iter().map(|found| found.spot).collect::<Vec<_>>(), [spot(old, 2, 0)]);
    assert_eq!(all(&store, &dir, &find("  ", None), Duration::ZERO).0, []);
}

/// A line of the log says what Claude has not: but for calls that were let through, which Claude has printed.
#[test]
fn the_log_of_a_run_is_searched_before_what_claude_printed() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let id = run(&store, 1, &[&[said("a heron")]]);
    let began = Record::IterationStarted { n: 1, phase: None, session: None, id: None, role: Role::default() };
    let noticed = |text: String| Record::Noticed { level: Level::Warn, text };
    let lines = (0..30).map(|i| noticed(format!("Heron {i}\u{1b}[2J")));
    let allowed = Record::ToolJudged {
        n: 1,
        tool_use_id: "a".into(),
        tool: "Bash".into(),
        target: "echo heron".into(),
        verdict: Verdict::Allow,
        reason: "reads".into(),
        units: Vec::new(),
        cwd: None,
    };
    let before = [allowed, noticed("no bird".into()), noticed("heron 0".into()), began];
    let records = before.into_iter().chain(lines).collect();
    store.append_blocking(append(id, records)).unwrap();
    let (found, pieces) = all(&store, temp.path(), &find("heron", None), Duration::from_secs(60));
    let log = |iteration| Spot::Log { run: id, iteration };
    let spots: Vec<Spot> = found.iter().map(|found| found.spot).collect();
    assert_eq!(spots[..2], [log(0), log(1)]);
    assert_eq!(found[0].line, "heron 0", "not the call");
    assert_eq!((spots.len(), spots[9], spots[10]), (11, log(1), Spot::Run { run: id, iteration: 1, record: 0 }));
    assert_eq!((found[1].line.as_str(), &found[1].line[found[1].marked.clone()]), ("Heron 0", "Heron"));
    assert_eq!(pieces, 1);
    assert_eq!(all(&store, temp.path(), &find("heron", None), Duration::ZERO).0, found);
    assert_eq!(all(&store, temp.path(), &find("heron", Some(Only::Errors)), Duration::ZERO).0, []);
}

#[test]
fn one_run_does_not_fill_the_list() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    let many: Vec<String> = (0..2_000).map(|i| said(&format!("needle {i}"))).collect();
    run(&store, 2, &[&many]);
    let old = run(&store, 1, &[&[said("a needle")]]);
    for piece in [Duration::ZERO, Duration::from_secs(60)] {
        let (found, _) = all(&store, temp.path(), &find("needle", None), piece);
        assert_eq!(found.len(), 41);
        assert_eq!(found[40].spot, Spot::Run { run: old, iteration: 1, record: 0 });
    }
}

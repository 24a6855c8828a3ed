//! From iteration to iteration, phase to phase, error to error; a search among some records only.

use super::pane::{Pane, call, failure, result, text};
use programmator::domain::search::{Only, Way};
use programmator::tui::panes::stream::{Goal, Part, SearchStatus, StreamMsg};
use serde_json::json;

/// Four iterations of two phases; in each an edit, a failed command, and many words.
fn pane() -> Pane {
    let mut pane = Pane::new(60, 10);
    for (n, phase) in [(1, "One"), (2, "One"), (3, "Two"), (4, "Two")] {
        pane.start(n, phase, None);
        pane.push(
            n,
            &call(&format!("e{n}"), "Edit", json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})),
        );
        pane.push(n, &result(&format!("e{n}"), "updated", json!({})));
        pane.push(n, &call(&format!("b{n}"), "Bash", json!({"command": format!("make {n}")})));
        pane.push(n, &failure(&format!("b{n}"), &format!("error: broken {n}")));
        for at in 0..8 {
            pane.push(n, &text(&format!("An error, in words only: {n}.{at}.")));
        }
    }
    pane.prepare();
    pane
}

fn jump(pane: &mut Pane, to: Goal, way: Way) -> String {
    pane.update(StreamMsg::Jump(to, way));
    pane.prepare();
    pane.state.part(Part::Block).unwrap_or_default()
}

#[test]
fn iterations_and_phases_are_gone_through_both_ways() {
    let mut pane = pane();
    let mut up = |to| jump(&mut pane, to, Way::Up).split_whitespace().nth(1).map(str::to_owned);
    assert_eq!([up(Goal::Iteration), up(Goal::Iteration)], [Some("4".into()), Some("3".into())]);
    assert_eq!([up(Goal::Phase), up(Goal::Phase)], [Some("1".into()), Some("1".into())], "and not beyond the first");
    let mut down = |to| jump(&mut pane, to, Way::Down).split_whitespace().nth(1).map(str::to_owned);
    assert_eq!([down(Goal::Iteration), down(Goal::Phase)], [Some("2".into()), Some("3".into())]);
}

#[test]
fn errors_and_edits_are_gone_through_and_no_words_count_as_one() {
    let mut pane = pane();
    let errors = Goal::Record(Only::Errors);
    assert!(jump(&mut pane, errors, Way::Up).contains("broken 4"));
    assert_eq!(pane.state.search(), Some(SearchStatus::Found("errors".into())));
    assert_eq!(pane.state.hits(), Some((Some(4), 4, false)));
    assert!(jump(&mut pane, errors, Way::Up).contains("broken 3"));
    assert!(jump(&mut pane, errors, Way::Down).contains("broken 4"));
    assert!(jump(&mut pane, Goal::Record(Only::Edits), Way::Up).starts_with("Edit a.rs"));
    assert_eq!(pane.state.hits(), Some((Some(4), 4, false)));
    pane.update(StreamMsg::ClearSearch);
    pane.prepare();
    assert_eq!(pane.state.search(), None);
}

#[test]
fn words_are_looked_for_among_some_records_only() {
    let mut pane = pane();
    pane.update(StreamMsg::Only(Only::Tools));
    pane.prepare();
    assert_eq!(pane.state.hits().map(|(_, all, _)| all), Some(8));
    pane.update(StreamMsg::Search("make".into()));
    pane.prepare();
    assert_eq!(pane.state.search(), Some(SearchStatus::Found("tools: make".into())));
    assert_eq!(pane.state.hits().map(|(_, all, _)| all), Some(4));
    pane.update(StreamMsg::ClearSearch);
    pane.update(StreamMsg::Search("error".into()));
    pane.prepare();
    assert_eq!(pane.state.hits().map(|(_, all, _)| all), Some(36), "all records count again");
}

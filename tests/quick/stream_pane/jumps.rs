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

#[test]
fn the_number_of_a_hit_and_how_many_there_are_stay_true_while_one_walks() {
    let mut pane = pane();
    pane.update(StreamMsg::Search("words only: 3".into()));
    pane.prepare();
    let mut seen = Vec::new();
    for _ in 0..9 {
        let (at, all, more) = pane.state.hits().unwrap();
        assert_eq!((all, more), (8, false), "{seen:?}");
        seen.push(at.unwrap());
        pane.update(StreamMsg::PrevHit);
        pane.prepare();
    }
    assert_eq!(seen, [8, 7, 6, 5, 4, 3, 2, 1, 8]);
    pane.update(StreamMsg::Search("two".into()));
    pane.prepare();
    let before = pane.state.hits().unwrap();
    assert_eq!((before.1, before.2), (2, false), "the rules above the iterations of this phase");
    pane.update(StreamMsg::NextHit);
    pane.prepare();
    assert_eq!(pane.state.hits().unwrap().1, 2);
}

#[test]
fn what_is_not_drawn_is_no_hit_and_a_filter_begins_at_a_record_that_counts() {
    let mut pane = pane();
    for at in 0..3 {
        pane.push(4, &call(&format!("x{at}"), "Bash", json!({"command": "false"})));
        pane.push(4, &failure(&format!("x{at}"), "Exit code 7\nnothing to see"));
    }
    pane.prepare();
    pane.update(StreamMsg::Search("exit code".into()));
    pane.prepare();
    assert_eq!(pane.state.hits(), Some((None, 0, false)));
    assert_eq!(pane.state.search(), Some(SearchStatus::Missing("exit code".into())));
    pane.update(StreamMsg::ClearSearch);
    pane.update(StreamMsg::Top);
    pane.update(StreamMsg::Lines(6));
    pane.prepare();
    pane.update(StreamMsg::Only(Only::Edits));
    pane.prepare();
    assert_eq!(pane.state.hits(), Some((Some(2), 4, false)));
    assert!(pane.state.part(Part::Block).unwrap().starts_with("Edit a.rs"));
}

//! The Stream pane against a scrollback in memory: how it looks, and that scrolling neither loses nor moves a row.

mod code;
mod copying;
mod cursor;
mod jumps;
mod looks;
mod pane;
mod properties;
mod runs;

use crate::sample;
use pane::{Memory, Pane, call, result, text, thinking, within};
use programmator::domain::claim::{Claim, ClaimStatus};
use programmator::domain::outcome::{DoneHow, IterationOutcome};
use programmator::domain::record::{Record, ValidationRan};
use programmator::domain::scrollback::Live;
use programmator::domain::verdict::Verdict;
use programmator::tui::marks::Glyphs;
use programmator::tui::panes::notice::place;
use programmator::tui::panes::stream::{FollowStatus, SearchStatus, StreamMsg, StreamState, view_edge};
use programmator::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// The session of the drawing: two iterations, the first one judged.
fn session(width: u16, height: u16) -> Pane {
    let mut pane = Pane::new(width, height);
    pane.start(6, "Token bucket per account", Some("9f3e"));
    pane.push(6, &text("The bucket is in place."));
    pane.push(6, &text("```yaml\nPROGRAMMATOR_STATUS:\n  phase_completed: \"Token bucket per account\"\n  status: CONTINUE\n  files_changed:\n    - src/limit.rs\n  summary: \"Added a token bucket with refill\"\n```\n"));
    pane.prepare();
    pane.record(1, Record::ClaimMade { n: 6, claim: claim("Token bucket per account"), about: None });
    pane.record(
        2,
        Record::ValidationRan(ValidationRan {
            n: 6,
            command: "cargo test".into(),
            exit: Some(0),
            timed_out: false,
            ms: 41_300,
            tail: String::new(),
            log: String::new(),
        }),
    );
    pane.record(
        3,
        Record::PhaseDone { n: 6, phase: Some("Token bucket per account".into()), how: DoneHow::Verified, id: None },
    );
    pane.record(4, Record::AgentExited { n: 6, code: Some(0), signal: None, swept: 0, cost_usd: 0.31 });
    pane.record(
        5,
        Record::IterationEnded {
            n: 6,
            outcome: IterationOutcome::Claimed,
            changed: true,
            fingerprint: None,
            ms: 160_000,
            reading: None,
        },
    );
    pane.start(7, "Wire into middleware", None);
    pane.push(7, &thinking("The stack is built in http/stack.rs. Static assets must stay exempt.\nCompression comes last.\nMetrics would be next.\nThen docs.\nThen more."));
    pane.push(7, &text("I'll look at how the middleware stack is put together before adding the limiter, so that static assets stay **exempt**."));
    pane.push(7, &call("t1", "Read", json!({"file_path":"src/http/stack.rs"})));
    pane.push(7, &call("t2", "Grep", json!({"pattern":"layer(","path":"src/"})));
    pane.push(7, &result("t2", "…", json!({"mode":"content","numLines":9})));
    pane.push(7, &result("t1", "…", json!({"type":"text","file":{"numLines":214}})));
    pane.push(7, &call("t3", "Edit", json!({"file_path":"src/http/stack.rs",
        "old_string":"    .layer(TraceLayer::new())\n    .layer(auth)\n    .layer(compression)",
        "new_string":"    .layer(TraceLayer::new())\n    .layer(auth.clone())\n    .layer(RateLimit::per_account(limits))\n    .layer(compression)"})));
    pane.push(7, &result("t3", "updated", json!({"filePath":"x","structuredPatch":[{"oldStart":40,"oldLines":4,"newStart":40,"newLines":5,
        "lines":["     a","     .layer(TraceLayer::new())","-    .layer(auth)","+    .layer(auth.clone())","+    .layer(RateLimit::per_account(limits))","     .layer(compression)"]}]})));
    pane.push(7, &call("t4", "Bash", json!({"command":"cargo check -p web"})));
    for (ms, record) in [
        (
            10_000,
            Record::ToolJudged {
                n: 7,
                tool_use_id: "t4".into(),
                tool: "Bash".into(),
                target: "cargo check".into(),
                verdict: Verdict::Allow,
                reason: "trusted".into(),
                units: vec![],
                cwd: None,
            },
        ),
        (18_200, Record::ToolFinished { n: 7, tool_use_id: "t4".into(), is_error: false }),
    ] {
        pane.record(ms, record);
    }
    pane.push(
        7,
        &result("t4", "    Checking web\n    Finished", json!({"stdout":"    Checking web\n    Finished","stderr":""})),
    );
    pane.push(
        7,
        &call(
            "t5",
            "Task",
            json!({"description":"explore error types","prompt":"p","subagent_type":"general-purpose"}),
        ),
    );
    pane.push(7, &within(call("s1", "Bash", json!({"command":"rg Error"})), "t5"));
    pane.push(7, &within(result("s1", "hidden words", json!({})), "t5"));
    pane.push(7, &json!({"type":"system","subtype":"task_progress","tool_use_id":"t5","usage":{"tool_uses":3,"duration_ms":11_000}}));
    pane.memory.say("Now the response body for 429: RFC 9457 problem details with a Retry-After header");
    pane
}

fn claim(phase: &str) -> Claim {
    Claim {
        phase_completed: Some(phase.into()),
        files_changed: vec!["src/limit.rs".into()],
        summary: "Added a token bucket".into(),
        ..Claim::new(ClaimStatus::Continue)
    }
}

fn check(name: &str, pane: &mut Pane) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/stream"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let screen = pane.screen().join("\n");
    settings.bind(|| insta::assert_snapshot!(name.to_owned(), screen));
}

#[test]
fn a_session_at_four_widths() {
    for width in [60, 78, 118, 140] {
        check(&format!("session@{width}x30"), &mut session(width, 30));
    }
}

#[test]
fn scrolled_it_stays_and_counts_what_comes() {
    let mut pane = session(78, 12);
    pane.prepare();
    pane.update(StreamMsg::Lines(-7));
    let before = pane.screen();
    for i in 0..5 {
        pane.push(7, &call(&format!("n{i}"), "Bash", json!({"command": format!("ls {i}")})));
        pane.memory.say(" and more words that make the live text grow");
    }
    check("scrolled@78x12", &mut pane);
    let after = pane.screen();
    // Results may be written into rows; no row moves.
    assert_eq!(before, after);
    let FollowStatus::Behind { new_lines } = pane.state.status() else {
        panic!("it follows");
    };
    // Five calls, the blank row above the first and the live text's growth.
    assert!((5..=12).contains(&new_lines), "{new_lines}");
    pane.update(StreamMsg::End);
    assert_eq!(pane.state.status(), FollowStatus::Following);
}

#[test]
fn the_live_text_becomes_a_record_without_a_jump() {
    let mut pane = Pane::new(40, 6);
    pane.start(1, "One", None);
    pane.push(1, &call("t", "Read", json!({"file_path":"a"})));
    let words = "Some words that go on and on and on. ".repeat(12);
    pane.memory.say(&words);
    pane.prepare();
    pane.update(StreamMsg::Lines(-3));
    let before = pane.screen();
    *pane.memory.live.lock().unwrap() = Live::default();
    pane.push(1, &text(&words));
    pane.push(1, &text("And then something else."));
    assert_eq!(pane.screen(), before);
    assert!(pane.behind());
    // The same run, read again.
    pane.state.attach(pane.memory.clone());
    assert_eq!(pane.screen(), before);
}

#[test]
fn searching_marks_and_goes_to_hits() {
    let mut pane = session(78, 12);
    pane.prepare();
    for i in 0..400 {
        pane.push(7, &text(&format!("filler {i}")));
    }
    pane.push(7, &text("here it says Needle once"));
    for i in 400..800 {
        pane.push(7, &text(&format!("filler {i}")));
    }
    pane.prepare();
    pane.state.update(StreamMsg::Search("needle".into()));
    for _ in 0..50 {
        pane.prepare();
        if !matches!(pane.state.search(), Some(SearchStatus::Busy(_))) {
            break;
        }
    }
    assert_eq!(pane.state.search(), Some(SearchStatus::Found("needle".into())));
    assert!(pane.screen().iter().any(|row| row.contains("Needle")), "{:?}", pane.screen());
    check("searching@78x12", &mut pane);
    let buffer = pane.buffer();
    let marked: String = buffer
        .content()
        .iter()
        .filter(|cell| cell.modifier.contains(ratatui::style::Modifier::REVERSED))
        .map(ratatui::buffer::Cell::symbol)
        .collect();
    assert_eq!(marked, "Needle");
    pane.update(StreamMsg::Top);
    let inside = Rect::new(0, 0, 77, 12);
    let mut edge = Buffer::empty(Rect::new(0, 0, 78, 12));
    view_edge(&pane.state, Glyphs::Unicode, &Theme::plain(), inside, &mut edge);
    let edge: String = (0..12).map(|y| edge[(77, y)].symbol()).collect();
    assert_eq!(edge, "█     ◆     ", "where the window is and where the words are");

    pane.state.update(StreamMsg::Search("layer(auth)".into()));
    for _ in 0..50 {
        pane.prepare();
    }
    assert!(pane.screen().iter().any(|row| row.contains(".layer(auth)")), "{:?}", pane.screen());
    pane.state.update(StreamMsg::Search("nowhere at all".into()));
    for _ in 0..50 {
        pane.prepare();
    }
    assert_eq!(pane.state.search(), Some(SearchStatus::Missing("nowhere at all".into())));
    pane.update(StreamMsg::ClearSearch);
    assert_eq!(pane.state.search(), None);
}

#[test]
fn a_search_that_gave_way_to_another_is_not_gone_on_with() {
    let memory = Arc::new(Memory { surveys: Some(Mutex::default()), ..Memory::default() });
    for i in 0..3_000 {
        memory.push(1, &text(&format!("filler {i}")));
    }
    let mut state = StreamState::default();
    state.attach(memory.clone());
    for query in ["f", "fi"] {
        state.update(StreamMsg::Search(query.into()));
        state.prepare(80, 20);
    }
    let steps: Vec<bool> =
        memory.surveys.as_ref().unwrap().lock().unwrap().iter().map(|survey| survey.step(&*memory)).collect();
    assert_eq!(steps, [false, true]);
}

#[test]
fn what_is_folded_away_is_opened_where_the_search_finds_it() {
    let lines = |n: u32| (1..=n).map(|at| format!("line {at} end")).collect::<Vec<_>>().join("\n");
    let mut pane = Pane::new(60, 10);
    pane.start(1, "One", None);
    pane.push(1, &call("t1", "Bash", json!({"command":"seq 1 60"})));
    pane.push(1, &result("t1", &lines(60), json!({"stdout": lines(60), "stderr": ""})));
    let words = lines(30).replace("line", "word");
    pane.push(1, &call("t2", "Write", json!({"file_path":"b.txt","content": words})));
    pane.push(1, &result("t2", "created", json!({"type":"create","content": words,"structuredPatch":[]})));
    let long = format!("{} needle at the edge", "A prompt of many words. ".repeat(30));
    pane.push(1, &json!({"type":"user","isReplay":true,"message":{"role":"user","content": long}}));
    pane.prepare();
    let folded = pane.walk();
    for query in ["line 37 end", "word 21 end", "needle"] {
        pane.state.update(StreamMsg::Search(query.into()));
        for _ in 0..50 {
            pane.prepare();
        }
        assert_eq!(pane.state.search(), Some(SearchStatus::Found(query.into())));
        assert!(pane.screen().iter().any(|row| row.contains(query)), "{query}: {:?}", pane.screen());
    }
    pane.update(StreamMsg::ClearSearch);
    assert_eq!(pane.walk(), folded, "the end of the search folds it again");
}

#[test]
fn next_and_previous_hit_go_through_all() {
    let mut pane = Pane::new(40, 5);
    pane.start(1, "One", None);
    for i in 0..60 {
        let words = if i % 20 == 7 { format!("hit {i}") } else { format!("row {i}") };
        pane.push(1, &text(&words));
    }
    pane.prepare();
    pane.update(StreamMsg::Top);
    pane.state.update(StreamMsg::Search("HIT".into()));
    let mut seen = Vec::new();
    let mut counts = Vec::new();
    for _ in 0..4 {
        pane.prepare();
        pane.prepare();
        counts.extend(pane.state.hits());
        let hit = pane.screen().into_iter().find(|row| row.starts_with("hit")).unwrap_or_default();
        seen.push(hit);
        pane.state.update(StreamMsg::NextHit);
    }
    assert_eq!(seen, ["hit 7", "hit 27", "hit 47", "hit 7"]);
    assert_eq!(counts, [1, 2, 3, 1].map(|at| (Some(at), 3, false)));
    pane.prepare();
    pane.state.update(StreamMsg::PrevHit);
    pane.prepare();
    assert!(pane.screen().iter().any(|row| row == "hit 7"), "{:?}", pane.screen());
}

#[test]
fn nothing_at_all_is_fine() {
    let mut pane = Pane::new(20, 3);
    assert_eq!(pane.screen(), ["", "", ""]);
    for msg in
        [StreamMsg::Top, StreamMsg::Lines(-3), StreamMsg::Page(9), StreamMsg::Search("x".into()), StreamMsg::NextHit]
    {
        pane.update(msg);
    }
    let mut detached = StreamState::default();
    detached.prepare(0, 0);
    assert_eq!(detached.status(), FollowStatus::Following);
}

#[test]
fn who_has_scrolled_back_reads_on_beside_a_short_end_card() {
    let mut pane = session(78, 12);
    let mut model = sample::model();
    model.tabs.push(sample::finished("tk-1"));
    let mut height = |pane: Pane| {
        model.tabs[0].stream = pane.state;
        place(&model, Rect::new(0, 0, 78, 30)).banner.height
    };
    pane.prepare();
    pane.update(StreamMsg::Top);
    assert_ne!(pane.state.status(), FollowStatus::Following);
    assert_eq!(height(pane), 4);
    assert_eq!(height(session(78, 12)), 9);
}

//! How single things look: folded and unfolded output, edits, failures, scripts, escapes, machinery, verdicts.

use super::pane::{Pane, call, failure, result, text, thinking};
use super::{check, claim, session};
use crate::sample;
use programmator::domain::outcome::{ExitReason, IterationOutcome};
use programmator::domain::record::{Level, Record, SessionLost, ValidationRan};
use programmator::tui::panes::stream::StreamMsg;
use serde_json::json;

#[test]
fn a_huge_result_is_folded_and_unfolds() {
    let mut pane = Pane::new(78, 14);
    pane.start(1, "Big output", None);
    let output = (0..3_000).map(|i| format!("line {i}\n")).collect::<Vec<_>>().concat();
    pane.push(1, &call("b", "Bash", json!({"command":"seq 3000\necho done"})));
    pane.push(1, &result("b", &output, json!({"stdout":output,"stderr":""})));
    pane.push(1, &text("That was long."));
    check("huge_result_folded@78x14", &mut pane);
    pane.state.update(StreamMsg::ToggleFold);
    pane.state.update(StreamMsg::Top);
    check("huge_result_unfolded@78x14", &mut pane);
    let rows = pane.walk();
    assert!(rows.iter().any(|row| row.trim() == "line 2999"));
}

#[test]
fn a_line_of_64_mb_is_shown_as_cut() {
    let mut pane = Pane::new(78, 10);
    pane.start(1, "Giant", None);
    let words = "word ".repeat(13_000_000);
    let line = format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{words}"}}]}}}}"#);
    pane.memory.push_line(1, line.as_bytes());
    pane.push(1, &text("after"));
    let screen = pane.screen();
    assert!(screen.iter().any(|row| row.contains("MB more, in the log file")), "{screen:?}");
    assert!(screen.iter().any(|row| row == "after"), "{screen:?}");
}

#[test]
fn edits_and_failures() {
    let mut pane = Pane::new(78, 34);
    pane.start(1, "Edits", None);
    let old = (0..30).map(|i| format!("\told {i}\n")).collect::<Vec<_>>().concat();
    pane.push(1, &call("e", "Edit", json!({"file_path":"a.rs","old_string":old,"new_string":"new\n"})));
    pane.push(1, &failure("e", "<tool_use_error>String to replace not found in file.</tool_use_error>"));
    pane.push(1, &call("w", "Write", json!({"file_path":"b.rs","content":"fn main() {}\n"})));
    pane.push(1, &result("w", "created", json!({"type":"create","content":"fn main() {}\n","structuredPatch":[]})));
    pane.push(1, &call("b1", "Bash", json!({"command":"cargo test"})));
    pane.push(1, &call("b2", "Bash", json!({"command":"cargo clippy"})));
    pane.push(
        1,
        &failure("b1", "Exit code 101\nerror[E0308]: mismatched types\n  --> src/a.rs:3:5\na\nb\nc\nd\ne\nf\ng"),
    );
    pane.push(1, &result("b2", "", json!({"stdout":"","stderr":""})));
    check("edits_and_failures@78x34", &mut pane);
}

#[test]
fn thoughts_subagents_and_what_unfolds_of_them() {
    let mut pane = session(78, 60);
    pane.state.update(StreamMsg::ToggleFold);
    check("unfolded@78x60", &mut pane);
}

#[test]
fn other_scripts_keep_their_columns() {
    let mut pane = Pane::new(40, 22);
    pane.start(1, "日本語のフェーズ", None);
    pane.push(1, &text("日本語のテキストは幅が二倍です。改行も正しく行われます。"));
    pane.push(1, &text("Families 👩‍👩‍👧‍👦 and flags 🇩🇪 and e\u{301}\u{302} stay whole; שלום and مرحبا too."));
    pane.push(1, &call("r", "Read", json!({"file_path":"src/とても長いファイル名のパス/設定ファイル.rs"})));
    pane.push(1, &result("r", "x", json!({"type":"text","file":{"numLines":7}})));
    pane.push(1, &text("tab\tstops\tand | tables |"));
    check("scripts@40x22", &mut pane);
}

#[test]
fn nothing_a_terminal_obeys_gets_through() {
    let evil = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \u{9b}31m \x1bP+q\x1b\\ a\u{202e}b \x07\x08\x7f \r x";
    let mut pane = Pane::new(60, 40);
    pane.record(0, Record::Noticed { level: Level::Warn, text: evil.into() });
    pane.start(1, evil, None);
    pane.push(1, &text(evil));
    pane.push(1, &thinking(evil));
    pane.push(1, &call("t", evil, json!({"x":evil})));
    pane.push(1, &failure("t", evil));
    pane.push(1, &call("e", "Edit", json!({"file_path":evil,"old_string":evil,"new_string":"y"})));
    pane.push(1, &result("e", evil, json!({})));
    pane.push(1, &json!({"type":"system","subtype":evil,"text":evil}));
    pane.push(1, &json!({"type":"user","message":{"content":evil}}));
    pane.memory.push_line(1, evil.as_bytes());
    pane.prepare();
    pane.record(1, Record::NoteGiven { id: "n".into(), text: evil.into() });
    pane.record(1, Record::ClaimMade { n: 1, claim: claim(evil), about: None });
    pane.record(1, Record::PhaseDisputed { n: 1, phase: None, why: evil.into(), id: None });
    pane.memory.say(evil);
    for fold in [false, true] {
        if fold {
            pane.state.update(StreamMsg::ToggleFold);
        }
        let buffer = pane.buffer();
        for cell in buffer.content() {
            let bad = cell.symbol().chars().find(|c| c.is_control() || ('\u{202a}'..='\u{202e}').contains(c));
            assert_eq!(bad, None, "{:?}", cell.symbol());
        }
    }
    pane.state.update(StreamMsg::ToggleFold);
    check("escapes@60x40", &mut pane);
}

#[test]
fn retries_limits_and_machinery() {
    let mut pane = Pane::new(78, 16);
    pane.start(1, "Trouble", None);
    pane.record(0, Record::SessionLost(SessionLost { n: 1, session: "9f3e".into() }));
    for attempt in 1..=2 {
        pane.push(1, &json!({"type":"system","subtype":"api_retry","attempt":attempt,"max_retries":10,"retry_delay_ms":577.3,"error_status":529,"error":"overloaded"}));
    }
    pane.push(1, &json!({"type":"system","subtype":"model_fallback","content":"Switched to Sonnet 4.6 due to high demand for Opus 4.8"}));
    pane.push(1, &json!({"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":190_021,"post_tokens":634}}));
    pane.push(1, &json!({"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour","utilization":0.85}}));
    pane.push(1, &json!({"type":"assistant","error":"rate_limit","message":{"content":[{"type":"text","text":"API Error: Request rejected (429)"}]}}));
    pane.push(1, &json!({"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)"}));
    pane.prepare();
    pane.record(1, Record::ClaimMissing { n: 1, reason: "missing".into() });
    pane.record(1, Record::FollowUpSent { n: 1 });
    check("machinery@78x16", &mut pane);
}

#[test]
fn disputes_notes_and_the_end() {
    let mut pane = Pane::new(78, 26);
    pane.start(1, "Ship it", None);
    pane.push(1, &text("Done, all tests pass."));
    pane.prepare();
    pane.record(1, Record::NoteGiven { id: "a".into(), text: "Use the shared error type, please.".into() });
    pane.record(1, Record::NoteGiven { id: "b".into(), text: "And keep the old route.".into() });
    pane.record(2, Record::NoteSent { id: "a".into() });
    let sent = "Message from the user:\n\nUse the shared error type, please.";
    pane.push(1, &json!({"type":"user","message":{"role":"user","content":sent}}));
    pane.record(3, Record::NoteDelivered { id: "a".into() });
    pane.record(4, Record::ClaimMade { n: 1, claim: claim("Ship it"), about: None });
    pane.record(
        5,
        Record::ValidationRan(ValidationRan {
            n: 1,
            command: "cargo test".into(),
            exit: Some(101),
            timed_out: false,
            ms: 12_000,
            tail: "running 3 tests\ntest burst ... FAILED\n\nassertion failed: left == right".into(),
            log: "x".into(),
        }),
    );
    pane.record(
        6,
        Record::PhaseDisputed {
            n: 1,
            phase: Some("Ship it".into()),
            why: "`cargo test` failed with exit code 101\nassertion failed".into(),
            id: None,
        },
    );
    pane.record(
        7,
        Record::IterationEnded {
            n: 1,
            outcome: IterationOutcome::TimedOut,
            changed: false,
            fingerprint: None,
            ms: 900_000,
            reading: None,
        },
    );
    pane.record(
        8,
        Record::RunEnded {
            reason: ExitReason::Timeout,
            detail: "an iteration took too long; raise timeout or resume".into(),
            iterations: 1,
            phases_done: 0,
            phases: 1,
            cost_usd: 0.2,
        },
    );
    let screen = pane.screen().join("\n");
    for once in ["cargo test", "Use the shared error type", "left == right"] {
        assert_eq!(screen.matches(once).count(), 1, "“{once}” in:\n{screen}");
    }
    assert!(!screen.contains("validated"), "{screen}");
    check("disputed@78x26", &mut pane);
}

#[test]
fn an_exit_code_is_said_once() {
    let mut pane = Pane::new(60, 10);
    pane.start(1, "One", None);
    pane.push(1, &call("b", "Bash", json!({"command": "make"})));
    pane.push(1, &failure("b", "Exit code 3"));
    let screen = pane.screen().join("\n");
    assert!(screen.contains("exit 3") && !screen.contains("Exit code"), "{screen}");
}

#[test]
fn of_a_call_whose_question_is_kept_no_refusal_is_shown() {
    let mut pane = Pane::new(78, 14);
    pane.start(1, "Ship it", None);
    pane.push(1, &call("c", "Bash", json!({"command":"git push"})));
    pane.record(1, Record::ApprovalAsked(sample::push("c")));
    pane.push(1, &failure("c", "The user doesn't want to proceed with this tool use. The tool use was rejected."));
    pane.state.update(StreamMsg::ToggleFold);
    let shown = |pane: &mut Pane| pane.screen().join("\n");
    assert!(shown(&mut pane).contains("want to proceed"), "{}", shown(&mut pane));
    pane.record(2, Record::ApprovalsKept { why: String::new() });
    let screen = shown(&mut pane);
    assert!(screen.contains("waits for your answer") && !screen.contains("want to proceed"), "{screen}");
}

//! What the real CLI printed once (trimmed: lists of commands, agents, models, skills and tools are
//! left out, long texts cut in the middle), read by our reader. `expected.json` says what is in the
//! files; it was made from them by other code than ours.

use programmator::domain::stream::control::{Asked, asked};
use programmator::domain::stream::envelope::{Envelope, Kind, Line, read};
use programmator::domain::stream::turn::{TurnReader, tool_ends};
use programmator::domain::stream::{live, system};
use programmator::domain::turn::TurnResult;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Debug, Deserialize)]
struct Expected {
    name: String,
    counts: BTreeMap<String, usize>,
    asked: usize,
    cancelled: usize,
    tool_ends: usize,
    results: Vec<ExpectedResult>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct ExpectedResult {
    subtype: String,
    is_error: bool,
    status: Option<u16>,
    kind: Option<String>,
    text: String,
    message: String,
    reason: Option<String>,
    micro_usd: i64,
    input: u64,
    output: u64,
    denials: Vec<String>,
}

impl From<TurnResult> for ExpectedResult {
    fn from(turn: TurnResult) -> Self {
        Self {
            subtype: turn.subtype,
            is_error: turn.is_error,
            status: turn.api_error_status,
            kind: turn.error_kind,
            text: turn.text,
            message: turn.message,
            reason: turn.terminal_reason,
            micro_usd: (turn.cost_usd * 1e6).round() as i64,
            input: turn.usage.input,
            output: turn.usage.output,
            denials: turn.refused.into_iter().map(|refused| refused.tool).collect(),
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recorded")
}

fn expectations() -> Vec<Expected> {
    let text = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn recording(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.jsonl"))).unwrap()
}

/// What our reader makes of a recording.
#[derive(Debug, Default)]
struct Read {
    counts: BTreeMap<String, usize>,
    asked: usize,
    cancelled: usize,
    tool_ends: usize,
    results: Vec<ExpectedResult>,
    live: String,
}

fn read_all(text: &str) -> Read {
    let mut seen = Read::default();
    let mut turn = TurnReader::default();
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        let Line::Record(envelope) = read(line) else { panic!("not read as a record: {line}") };
        let name = match envelope.kind() {
            Kind::System | Kind::Result => {
                format!("{}/{}", envelope.type_name(), envelope.subtype())
            }
            _ => envelope.type_name().to_owned(),
        };
        *seen.counts.entry(name).or_default() += 1;
        take(&mut seen, &mut turn, &envelope, line);
    }
    seen
}

fn take(seen: &mut Read, turn: &mut TurnReader, envelope: &Envelope<'_>, line: &str) {
    match envelope.kind() {
        Kind::Assistant => drop(turn.assistant(envelope)),
        Kind::User if !envelope.is_replay() => seen.tool_ends += tool_ends(envelope).len(),
        Kind::Result => seen.results.push(turn.finish(envelope, line).into()),
        Kind::System if envelope.subtype() == "init" => {
            let init = system::init(line);
            assert!(!init.session.is_empty() && !init.model.is_empty(), "{line}");
            assert_eq!(init.version, "2.1.197");
            turn.begin(&init.model);
        }
        Kind::System if envelope.subtype() == "api_retry" => {
            let retry = system::api_retry(line);
            assert!(retry.attempt > 0 && !retry.error.is_empty(), "{line}");
        }
        Kind::StreamEvent => {
            live::change(&envelope.event.0, |change| {
                write!(seen.live, "{change:?}").unwrap();
            });
        }
        Kind::ControlRequest => {
            let read = asked(envelope);
            let is_tool = matches!(read, Some(Asked::Tool(_)));
            assert!(is_tool || matches!(read, Some(Asked::Unsupported { .. })), "{line}");
            seen.asked += usize::from(is_tool);
        }
        Kind::ControlCancel => seen.cancelled += 1,
        _ => {}
    }
}

#[test]
fn every_recording_is_read_without_loss() {
    let expectations = expectations();
    assert!(expectations.len() >= 40);
    for expected in expectations {
        let seen = read_all(&recording(&expected.name));
        let name = &expected.name;
        assert_eq!(seen.counts, expected.counts, "{name}");
        assert_eq!(
            (seen.asked, seen.cancelled, seen.tool_ends),
            (expected.asked, expected.cancelled, expected.tool_ends),
            "{name}"
        );
        assert_eq!(seen.results, expected.results, "{name}");
    }
}

#[test]
fn every_recording_in_the_folder_is_expected() {
    let expected: Vec<String> = expectations().into_iter().map(|e| e.name).collect();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(expected.contains(&name), "{name} is not in expected.json");
        }
    }
}

#[test]
fn words_of_a_lost_attempt_are_only_live() {
    let seen = read_all(&recording("06f2_drop_mid_partial"));
    assert!(seen.live.contains("partial text that is c"), "{}", seen.live);
    assert_eq!(seen.results[0].text, "ok after drop");
}

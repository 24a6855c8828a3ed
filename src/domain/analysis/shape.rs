//! The shapes that an output of Claude's comes in: one flat object, the CLI's result object, an array (or lines) of
//! stream frames, or plain text. Every field may be missing or odd; what cannot be read is not there.

use crate::domain::claim::parse::{Reading, Reason, parse};
use crate::domain::claim::{Claim, ClaimStatus, Signals, Source, WorkType};
use crate::domain::denial::Denial;
use crate::domain::stream::repair;
use crate::domain::turn::TurnResult;
use serde_json::{Map, Value};

/// Above this many bytes only an output that holds a `result` record is read as JSON: a huge stream that was cut off
/// before its end is text.
pub const MAX_JSON: usize = 1 << 20;

/// Which shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// `{"status": …, "exit_signal": …}`
    Flat,
    /// `{"result": …, "session_id": …}`, what `--output-format json` prints.
    Cli,
    /// An array of stream records, or one to a line.
    Frames,
    #[default]
    Text,
}

/// What an output holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    pub shape: Shape,
    /// Claude's words: the result, or the whole text.
    pub text: String,
    /// Said by the structure itself.
    pub status: Option<ClaimStatus>,
    /// Said by the structure itself.
    pub exit_signal: Option<bool>,
    /// Said by the structure itself.
    pub work_type: Option<WorkType>,
    /// Files that it says were changed.
    pub files_modified: u64,
    /// Errors that it counts; 1 when it only says that there are some.
    pub error_count: u64,
    pub is_error: bool,
    /// Confidence that it states itself.
    pub confidence: Option<u32>,
    pub indicators: usize,
    pub has_result: bool,
    pub session: Option<String>,
    pub loop_number: Option<u64>,
    pub denials: Vec<Denial>,
}

impl Output {
    /// A turn that was read record by record: frames, already taken apart.
    pub fn of_turn(turn: &TurnResult) -> Self {
        Self {
            shape: Shape::Frames,
            text: turn.text.clone(),
            is_error: turn.is_error,
            has_result: true,
            denials: turn.refused.clone(),
            ..Self::default()
        }
    }
}

pub fn read(text: &str) -> Output {
    let trimmed = text.trim();
    let is_json = trimmed.starts_with(['{', '[']) && (trimmed.len() <= MAX_JSON || has_result_record(trimmed));
    let found = is_json.then(|| value(trimmed).map(|value| of_value(&value)).or_else(|| of_lines(trimmed))).flatten();
    found.unwrap_or_else(|| Output { text: text.to_owned(), ..Output::default() })
}

/// Reads the status block of an output in whatever shape it is: in its result, or, of a flat object that has Hank's
/// keys, said by the object itself.
pub fn status(text: &str) -> Reading {
    let output = read(text);
    let is_hanks = output.exit_signal.is_some() || output.work_type.is_some();
    match output.shape {
        Shape::Cli | Shape::Frames => parse(&output.text),
        Shape::Flat if is_hanks => of_flat_status(&output),
        Shape::Flat | Shape::Text => parse(text),
    }
}

fn of_flat_status(output: &Output) -> Reading {
    let claim = output.status.map(|status| {
        let counted = u32::try_from(output.files_modified).ok().filter(|count| *count > 0);
        let signals = Signals {
            exit_signal: output.exit_signal,
            work_type: output.work_type,
            files_modified: counted,
            ..Signals::default()
        };
        Claim { summary: output.text.clone(), signals, source: Source::Hank, ..Claim::new(status) }
    });
    let reason = claim.is_none().then_some(Reason::MissingStatus);
    Reading { found: true, claim, reason, warnings: Vec::new() }
}

fn has_result_record(text: &str) -> bool {
    text.contains(r#""type":"result""#) || text.contains(r#""type": "result""#)
}

fn value(text: &str) -> Option<Value> {
    serde_json::from_slice(&repair::surrogates(text.as_bytes())).ok()
}

/// Lines of records; one that cannot be read (cut off, glued) is passed over, as long as a result is there.
fn of_lines(text: &str) -> Option<Output> {
    let frames: Vec<Value> = text.lines().filter_map(value).filter(Value::is_object).collect();
    let has_result = frames.iter().any(|frame| word(frame, "type") == Some("result"));
    has_result.then(|| of_frames(&frames))
}

fn of_value(value: &Value) -> Output {
    match value {
        Value::Array(frames) => of_frames(frames),
        Value::Object(object) if object.contains_key("result") || word(value, "type") == Some("result") => {
            of_cli(object, Shape::Cli)
        }
        Value::Object(object) => of_flat(object),
        _ => Output::default(),
    }
}

/// The last `result` speaks for all; what it leaves out is in `system/init`.
fn of_frames(frames: &[Value]) -> Output {
    let is = |kind: &'static str| move |frame: &&Value| word(frame, "type") == Some(kind);
    let result = frames.iter().rev().find(is("result")).and_then(Value::as_object);
    let mut output = result.map_or_else(Output::default, |result| of_cli(result, Shape::Frames));
    output.shape = Shape::Frames;
    let init = frames.iter().filter(is("system")).find(|frame| word(frame, "subtype") == Some("init"));
    output.session = output.session.or_else(|| session(init?.as_object()?));
    if output.text.is_empty() {
        // Cut off before the end of its turn: what was said so far.
        output.text = frames.iter().filter(is("assistant")).flat_map(texts).collect::<Vec<_>>().join("\n");
    }
    output
}

/// The text blocks of a message of the main agent.
fn texts(frame: &Value) -> Vec<&str> {
    let is_main = frame.get("parent_tool_use_id").is_none_or(Value::is_null);
    let content = frame.get("message").and_then(|message| message.get("content")).filter(|_| is_main);
    let blocks = content.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    blocks.iter().filter_map(|block| word(block, "text")).collect()
}

fn of_cli(object: &Map<String, Value>, shape: Shape) -> Output {
    let text = object.get("result").and_then(Value::as_str);
    let metadata = object.get("metadata").and_then(Value::as_object);
    let about = |key: &str| metadata.and_then(|metadata| metadata.get(key));
    let complete = about("completion_status").and_then(Value::as_str);
    let has_errors = about("has_errors").is_some_and(is_true);
    Output {
        shape,
        has_result: text.is_some(),
        text: text.unwrap_or_default().to_owned(),
        status: complete.filter(|word| word.eq_ignore_ascii_case("complete")).map(|_| ClaimStatus::Done),
        files_modified: about("files_changed").and_then(count).unwrap_or(0),
        error_count: about("error_count").and_then(count).unwrap_or(u64::from(has_errors)),
        is_error: object.get("is_error").is_some_and(is_true),
        indicators: about("progress_indicators").and_then(Value::as_array).map_or(0, Vec::len),
        session: session(object).or_else(|| metadata.and_then(session)),
        loop_number: about("loop_number").and_then(count),
        denials: denials(object),
        ..Output::default()
    }
}

fn of_flat(object: &Map<String, Value>) -> Output {
    let said = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let has_errors = object.get("has_errors").is_some_and(is_true);
    Output {
        shape: Shape::Flat,
        text: said("summary").to_owned(),
        status: Source::Hank.status(said("status")),
        exit_signal: object.get("exit_signal").and_then(truth),
        work_type: WorkType::said(said("work_type")),
        files_modified: object.get("files_modified").and_then(count).unwrap_or(0),
        error_count: object.get("error_count").and_then(count).unwrap_or(u64::from(has_errors)),
        is_error: object.get("is_error").is_some_and(is_true),
        confidence: object.get("confidence").and_then(count).and_then(|points| u32::try_from(points).ok()),
        session: session(object),
        loop_number: object.get("loop_number").and_then(count),
        denials: denials(object),
        ..Output::default()
    }
}

fn session(object: &Map<String, Value>) -> Option<String> {
    let id = ["session_id", "sessionId"].iter().find_map(|key| object.get(*key)?.as_str());
    id.filter(|id| !id.is_empty()).map(str::to_owned)
}

fn denials(object: &Map<String, Value>) -> Vec<Denial> {
    let list = object.get("permission_denials").and_then(Value::as_array);
    let one = |denial: &Value| {
        let said = |key| word(denial, key).unwrap_or_default();
        let command = denial.get("tool_input").and_then(|input| word(input, "command")).unwrap_or_default();
        denial.is_object().then(|| Denial::new(said("tool_name"), said("tool_use_id"), command))
    };
    list.map(|list| list.iter().filter_map(one).collect()).unwrap_or_default()
}

fn word<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

fn is_true(value: &Value) -> bool {
    truth(value) == Some(true)
}

fn truth(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| value.as_str()?.to_ascii_lowercase().parse().ok())
}

/// A count: a number that is not negative, also in quotes; of a list its length.
fn count(value: &Value) -> Option<u64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    let counted = number.filter(|number| number.is_finite() && *number >= 0.0).map(|number| number as u64);
    counted.or_else(|| value.as_array().map(|list| list.len() as u64))
}

//! Errors that JSON states by its fields: Claude's stream records (`claude-cli` shapes: flat object, result
//! object, array of frames), API answers, logs of other tools. What its strings say is not looked at: a record
//! that holds no error may quote thousands.

use super::found::{ErrorLine, error_line};
use super::kind::ErrorKind;
use crate::domain::stream::repair;
use serde_json::{Map, Value};

/// How deep objects are followed below the record itself.
const DEPTH: usize = 3;

/// What structure says of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// It is JSON and states an error: who, and what it says.
    Error(ErrorKind, String),
    /// It is JSON and states none.
    Fine,
    None,
}

/// Reads a text that is one JSON value over several lines. `None` when it is not.
pub(super) fn whole(text: &str) -> Option<Vec<ErrorLine>> {
    let trimmed = text.trim();
    if !trimmed.contains('\n') {
        return None;
    }
    let found = match value(trimmed)? {
        Value::Array(frames) => frames.iter().filter_map(|frame| error_in(frame, DEPTH)).collect(),
        one => error_in(&one, DEPTH).into_iter().collect::<Vec<_>>(),
    };
    // The tree has no line numbers: the first line that has the telling key is the best there is.
    let place = text.lines().position(is_telling).map_or(1, |at| at + 1);
    Some(found.into_iter().map(|(kind, said)| error_line(place, kind, &said)).collect())
}

/// A line of pretty JSON that by itself states an error.
fn is_telling(line: &str) -> bool {
    matches!(self::line(line), Structure::Error(..)) || line.trim_start().starts_with("\"error\"")
}

/// Reads one line: a JSON value, or a line of a pretty-printed one (`"is_error": true,`).
pub(super) fn line(line: &str) -> Structure {
    let bare = line.trim();
    let bare = bare.strip_suffix(',').unwrap_or(bare);
    let found = if bare.starts_with('"') && bare.contains("\":") {
        // A key by itself: what it opens on later lines is judged there.
        value(&format!("{{{bare}}}"))
    } else {
        value(bare)
    };
    match found {
        Some(json) => error_in(&json, DEPTH).map_or(Structure::Fine, |(kind, said)| Structure::Error(kind, said)),
        None => Structure::None,
    }
}

fn value(text: &str) -> Option<Value> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_slice(&repair::surrogates(text.as_bytes())).ok()
}

fn error_in(json: &Value, depth: usize) -> Option<(ErrorKind, String)> {
    match json {
        Value::Array(items) => items.iter().find_map(|item| error_in(item, depth)),
        Value::Object(record) if depth > 0 => match text(record, "type") {
            "user" => tool_result(record),
            "assistant" => assistant(record),
            "result" => result(record),
            // What a model asks for, and a limit that is waited for, are no errors.
            "tool_use" | "rate_limit_event" => None,
            _ => any(record, depth),
        },
        _ => None,
    }
}

fn tool_result(record: &Map<String, Value>) -> Option<(ErrorKind, String)> {
    let content = record.get("message")?.get("content")?.as_array()?;
    let failed = content.iter().filter_map(Value::as_object).find(|block| is_yes(block.get("is_error")))?;
    Some((ErrorKind::ToolResult, message(failed, "tool_result with is_error")))
}

fn assistant(record: &Map<String, Value>) -> Option<(ErrorKind, String)> {
    if says_something(record.get("error")) {
        return Some((ErrorKind::Api, message(record, "assistant")));
    }
    is_yes(record.get("isApiErrorMessage")).then(|| (ErrorKind::Api, "API error".to_owned()))
}

/// `is_error` decides before `subtype`: failures of the API are `success` with `is_error`.
fn result(record: &Map<String, Value>) -> Option<(ErrorKind, String)> {
    let subtype = text(record, "subtype");
    let status = record.get("api_error_status").and_then(Value::as_u64).is_some_and(|status| status >= 400);
    (is_yes(record.get("is_error")) || subtype.starts_with("error") || status).then(|| {
        let otherwise = if subtype.is_empty() { "result with is_error" } else { subtype };
        (ErrorKind::Result, message(record, otherwise))
    })
}

/// Any other object.
fn any(record: &Map<String, Value>, depth: usize) -> Option<(ErrorKind, String)> {
    let own_type = text(record, "type");
    let api = own_type == "error" || own_type.ends_with("_error") || text(record, "subtype") == "api_retry";
    let api = api || record.get("error").and_then(|error| error.get("type")).is_some();
    let kind = match own_type {
        _ if api => ErrorKind::Api,
        "tool_result" => ErrorKind::ToolResult,
        _ => ErrorKind::Json,
    };
    // A record that names no error and says so beats what lies deeper in it.
    if api || record.iter().any(|(key, value)| states_error(key, value)) {
        return Some((kind, message(record, "error")));
    }
    ["message", "metadata", "event", "response"].iter().find_map(|key| error_in(record.get(*key)?, depth - 1))
}

/// Whether a key and its value, whatever the spelling, state an error.
fn states_error(key: &str, value: &Value) -> bool {
    let bare: String = key.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).collect();
    match bare.as_str() {
        "iserror" | "haserror" | "haserrors" => is_yes(Some(value)),
        "error" | "errors" => says_something(Some(value)),
        "errorcount" | "failed" | "failures" | "numfailedtests" => value.as_u64().is_some_and(|count| count > 0),
        "subtype" => value.as_str().is_some_and(|word| word.starts_with("error")),
        "level" | "severity" => value.as_str().is_some_and(|word| {
            ["error", "fatal", "critical", "panic"].iter().any(|level| level.eq_ignore_ascii_case(word))
        }),
        _ => false,
    }
}

fn is_yes(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(yes)) => *yes,
        Some(Value::String(word)) => word.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

/// Whether the value of an `error` key names an error: nothing, no and none do not.
fn says_something(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(yes)) => *yes,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(word)) => {
            let word = word.trim().to_ascii_lowercase();
            !matches!(word.as_str(), "" | "none" | "null" | "nil" | "no" | "n/a" | "false" | "0" | "ok" | "-")
        }
        Some(Value::Array(items)) => items.iter().any(|item| says_something(Some(item))),
        Some(Value::Object(fields)) => !fields.is_empty(),
    }
}

fn text<'a>(record: &'a Map<String, Value>, key: &str) -> &'a str {
    record.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// What a record says in words, wherever it says it; `otherwise` when it says nothing.
fn message(record: &Map<String, Value>, otherwise: &str) -> String {
    ["result", "errors", "error", "message", "content", "msg", "text"]
        .iter()
        .find_map(|key| words(record.get(*key)?, DEPTH))
        .unwrap_or(otherwise)
        .to_owned()
}

fn words(value: &Value, depth: usize) -> Option<&str> {
    match value {
        Value::String(text) => Some(text.as_str()).filter(|text| !text.trim().is_empty()),
        Value::Array(items) => items.iter().find_map(|item| words(item, depth)),
        Value::Object(fields) if depth > 0 => {
            ["message", "content", "text", "type"].iter().find_map(|key| words(fields.get(*key)?, depth - 1))
        }
        _ => None,
    }
}

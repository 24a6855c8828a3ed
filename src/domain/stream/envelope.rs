//! The envelope of a stream record: what kind it is and where its parts lie, borrowed from the line.
//!
//! One pass over the line, no tree of values; most records are messages and words of messages, whose own parts are found
//! in the same pass. What is rare is read where it is needed ([`super::turn`], [`super::control`]).

use super::live::Event;
use super::message::Message;
use super::raw::{Inner, Raw, flag, string, word};
use super::repair;
use crate::domain::scrollback::EntryKind;
use serde::Deserialize;
use std::borrow::Cow;

/// The parts of a record, all of them optional, none of them decoded.
#[derive(Debug, Default, Deserialize)]
pub struct Envelope<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    subtype: Raw<'a>,
    /// The subagent's call; null for the main agent.
    parent_tool_use_id: Raw<'a>,
    pub session_id: Raw<'a>,
    /// Id of the record; a replayed user message has the id it was sent with.
    pub uuid: Raw<'a>,
    /// Kind of an API error (`assistant`, `system/api_retry`).
    pub error: Raw<'a>,
    /// `assistant` and `user`: the message.
    #[serde(borrow, default)]
    pub message: Inner<Message<'a>>,
    /// `stream_event`: the API's own event.
    #[serde(borrow, default)]
    pub event: Inner<Event<'a>>,
    /// Control records: the id to answer to.
    pub request_id: Raw<'a>,
    /// `control_request`: what is asked.
    pub request: Raw<'a>,
    /// `control_response`: the answer.
    pub response: Raw<'a>,
    /// `rate_limit_event`: the provider's window.
    pub rate_limit_info: Raw<'a>,
    /// `user`: a message of ours, echoed.
    #[serde(borrow, rename = "isReplay")]
    replay: Raw<'a>,
    /// `user`: what a tool brought back, as the tool shapes it.
    pub tool_use_result: Raw<'a>,
    /// `user`: who let its calls run.
    pub tool_result_meta: Raw<'a>,
    /// `stream_event`: what was streamed of a message was lost.
    abandoned_blocks: Raw<'a>,
}

/// The kinds of record that anybody here acts upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Assistant,
    User,
    Result,
    System,
    StreamEvent,
    RateLimit,
    ControlRequest,
    ControlResponse,
    ControlCancel,
    /// `command_lifecycle`: how far a message to Claude has come.
    Lifecycle,
    /// Anything else; to be ignored.
    Other,
}

/// Subtypes of `system` that a person should see.
const SHOWN_SYSTEM: [&str; 16] = [
    "agents_killed", "api_error", "api_retry", "compact_boundary", "informational", "local_command_output",
    "model_consent_fallback", "model_fallback", "model_refusal_fallback", "model_refusal_no_fallback", "notification",
    "permission_denied", "permission_retry", "task_notification", "task_started", "worker_shutting_down",
];

impl<'a> Envelope<'a> {
    /// Reads the envelope of one record; `None` when the text is not one JSON object.
    pub fn parse(line: &'a str) -> Option<Self> {
        // A JSON array would fill the fields by position.
        if !line.trim_start().starts_with('{') {
            return None;
        }
        serde_json::from_str(line).ok()
    }

    pub fn kind(&self) -> Kind {
        match word(self.kind) {
            "assistant" => Kind::Assistant,
            "user" => Kind::User,
            "result" => Kind::Result,
            "system" => Kind::System,
            "stream_event" => Kind::StreamEvent,
            "rate_limit_event" => Kind::RateLimit,
            "control_request" => Kind::ControlRequest,
            "control_response" => Kind::ControlResponse,
            "control_cancel_request" => Kind::ControlCancel,
            "command_lifecycle" => Kind::Lifecycle,
            _ => Kind::Other,
        }
    }

    /// `type` as it stands.
    pub fn type_name(&self) -> &'a str {
        word(self.kind)
    }

    /// `subtype`, or `""`.
    pub fn subtype(&self) -> &'a str {
        word(self.subtype)
    }

    /// The record is the main agent's own, not a subagent's.
    pub fn is_main(&self) -> bool {
        self.parent_tool_use_id.is_none()
    }

    /// The call in which a subagent works, for its records.
    pub fn parent(&self) -> Option<String> {
        self.parent_tool_use_id.map(|_| string(self.parent_tool_use_id))
    }

    /// A user message of ours that Claude took up.
    pub fn is_replay(&self) -> bool {
        flag(self.replay) == Some(true)
    }

    /// Words that were streamed before it will never become a record.
    pub fn takes_back(&self) -> bool {
        self.abandoned_blocks.is_some()
    }

    /// What the record shows to a person, if anything.
    pub fn shows(&self) -> Option<EntryKind> {
        match self.kind() {
            Kind::Assistant => Some(EntryKind::Assistant),
            Kind::User => Some(EntryKind::User),
            Kind::Result => Some(EntryKind::Result),
            Kind::RateLimit => Some(EntryKind::RateLimit),
            Kind::System => SHOWN_SYSTEM.contains(&self.subtype()).then_some(EntryKind::System),
            _ => None,
        }
    }
}

/// What a line turned out to be.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every line is the large one, and none is kept")]
pub enum Line<'a> {
    /// One record, the normal case.
    Record(Envelope<'a>),
    /// Several records without a newline between them, or a record that needed repair: read each of these instead.
    Several(Vec<String>),
    Blank,
    Garbage,
}

/// Bytes of a line as text; invalid UTF-8 becomes U+FFFD.
pub fn decode(line: &[u8]) -> Cow<'_, str> {
    // The check alone takes a stride at a time; `from_utf8_lossy` looks at every byte.
    std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed)
}

/// Reads one line. Never recurses, however deep its JSON is.
pub fn read(line: &str) -> Line<'_> {
    if let Some(envelope) = Envelope::parse(line) {
        return Line::Record(envelope);
    }
    if line.trim().is_empty() {
        return Line::Blank;
    }
    glued(line).or_else(|| inserted(line)).or_else(|| repaired(line)).map_or(Line::Garbage, Line::Several)
}

/// What a kept line shows; `None`: nothing. For lines whose index is lost.
pub fn classify(line: &[u8]) -> Option<EntryKind> {
    match read(&decode(line)) {
        Line::Record(envelope) => envelope.shows(),
        Line::Garbage => Some(EntryKind::Garbage),
        Line::Several(_) | Line::Blank => None,
    }
}

/// Whole records one after another on one line.
fn glued(line: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let end = object_at_start(rest)?;
        found.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    (found.len() > 1).then_some(found)
}

/// A `rate_limit_event` printed into the middle of another record, or behind garbage.
fn inserted(line: &str) -> Option<Vec<String>> {
    const START: &[u8] = br#"{"type":"rate_limit_event""#;
    let at = memchr::memmem::find(line.as_bytes(), START)?;
    let end = at + object_at_start(&line[at..])?;
    let mut found = Vec::new();
    let around = [&line[..at], &line[end..]].concat();
    if Envelope::parse(&around).is_some() {
        found.push(around);
    } else {
        found.extend([&line[..at], &line[end..]].into_iter().filter(|part| !part.trim().is_empty()).map(str::to_owned));
    }
    found.push(line[at..end].to_owned());
    Some(found)
}

/// A record whose keys hold halves of emoji; halves in values hurt nobody until they are decoded.
fn repaired(line: &str) -> Option<Vec<String>> {
    let Cow::Owned(bytes) = repair::surrogates(line.as_bytes()) else { return None };
    let line = String::from_utf8(bytes).ok()?;
    Envelope::parse(&line).is_some().then(|| vec![line])
}

/// Length of the JSON object that `text` starts with.
fn object_at_start(text: &str) -> Option<usize> {
    if !text.starts_with('{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(line: &str) -> Vec<Option<EntryKind>> {
        match read(line) {
            Line::Record(envelope) => vec![envelope.shows()],
            Line::Several(lines) => lines.iter().flat_map(|line| kinds(line)).collect(),
            Line::Blank => vec![],
            Line::Garbage => vec![Some(EntryKind::Garbage)],
        }
    }

    #[test]
    fn lines_are_classified_by_type_wherever_the_key_stands() {
        let cases = [
            (r#"{"type":"assistant"}"#, Some(EntryKind::Assistant)),
            (r#"{"x":[1],"type":"user","message":"m"}"#, Some(EntryKind::User)),
            (r#"{"type":"result","subtype":"success"}"#, Some(EntryKind::Result)),
            (r#"{"type":"system","subtype":"api_retry"}"#, Some(EntryKind::System)),
            (r#"{"type":"system","subtype":"init"}"#, None),
            (r#"{"type":"system","subtype":17}"#, None),
            (r#"{"type":"rate_limit_event"}"#, Some(EntryKind::RateLimit)),
            (r#"{"type":"stream_event"}"#, None),
            (r#"{"type":"from_the_future","message":{}}"#, None),
            (r#"{"type":{"a":1}}"#, None),
            (r#"["assistant"]"#, Some(EntryKind::Garbage)),
            ("npm warn something", Some(EntryKind::Garbage)),
            (r#"{"type":"result","sub"#, Some(EntryKind::Garbage)),
        ];
        for (line, expected) in cases {
            assert_eq!(kinds(line), [expected], "{line}");
        }
        assert!(kinds(" \r").is_empty());
    }

    #[test]
    fn a_rate_limit_event_glued_into_a_line_is_salvaged_and_so_is_the_line() {
        const EVENT: &str = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}"#;
        let record = r#"{"type":"assistant","message":{"content":[]}}"#;
        let middle = format!("{}{EVENT}{}", &record[..20], &record[20..]);
        let cases = [
            (format!("{record}{EVENT}"), Some(EntryKind::Assistant)),
            (middle, Some(EntryKind::Assistant)),
            (format!("oops {EVENT}"), Some(EntryKind::Garbage)),
        ];
        for (line, other) in cases {
            assert_eq!(kinds(&line), [other, Some(EntryKind::RateLimit)], "{line}");
        }
        assert_eq!(kinds(&format!("{EVENT} {record}")), [Some(EntryKind::RateLimit), Some(EntryKind::Assistant)]);
    }

    #[test]
    fn halves_of_emoji_cost_no_record() {
        let in_value = r#"{"type":"result","result":"cut \ud83c"}"#;
        let in_key = r#"{"type":"result","cut \ud83c":1}"#;
        assert_eq!(kinds(in_value), [Some(EntryKind::Result)]);
        assert_eq!(kinds(in_key), [Some(EntryKind::Result)]);
    }

    #[test]
    fn depth_is_no_danger() {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let deep = format!(r#"{{"type":"user","message":{}1{}}}"#, open.repeat(10_000), close.repeat(10_000));
            assert_eq!(kinds(&deep), [Some(EntryKind::User)]);
            let cut = &deep[..deep.len() - 1];
            assert_eq!(kinds(cut), [Some(EntryKind::Garbage)]);
        }
    }

    proptest! {
        #[test]
        fn an_event_printed_anywhere_into_a_record_costs_neither(at in 0usize..80) {
            const EVENT: &str = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}"#;
            let record = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"hi \n é"}]}}"#;
            let at = (0..=at.min(record.len())).rev().find(|at| record.is_char_boundary(*at)).unwrap_or(0);
            let line = format!("{}{EVENT}{}", &record[..at], &record[at..]);
            let mut found = kinds(&line);
            found.sort_by_key(|kind| kind.map(|kind| kind as u8));
            prop_assert_eq!(found, [Some(EntryKind::Assistant), Some(EntryKind::RateLimit)]);
        }

        #[test]
        fn no_line_panics(line in "\\PC*|[{}\\[\\]\",:a-z0-9\\\\ ]{0,80}") {
            kinds(&line);
        }
    }
}

//! The front matter: the YAML between a first line `---` and the next one.
//!
//! Read under limits (size, depth, no anchors, aliases, tags, merge keys or duplicate keys) so that no
//! file can cost more than reading it. Places in problems are those of the whole file.

use super::lines;
use super::{Problem, Severity};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Spanned, options::MergeKeyPolicy};
use std::fmt;
use std::ops::Range;

/// Largest front matter that is read, in bytes.
pub(super) const MAX_BYTES: usize = 64 * 1024;
/// Deepest nesting that is read.
const MAX_DEPTH: usize = 16;
/// Most values that are read.
const MAX_NODES: usize = 4_096;

/// Where front matter and body are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// Bytes between the two `---` lines; `None` when the file has no front matter.
    pub yaml: Option<Range<usize>>,
    /// Offset of the first byte of the body.
    pub body: usize,
    /// 1-based line of the first line of the body.
    pub body_line: usize,
    /// The front matter is opened and never closed.
    pub unclosed: bool,
}

pub(super) fn split(bytes: &[u8]) -> Split {
    let start = lines::text_start(bytes);
    let mut split = Split { yaml: None, body: start, body_line: 1, unclosed: false };
    let mut lines = lines::raw(bytes, start, 1);
    let is_rule = |text: &[u8]| text.trim_ascii_end() == b"---";
    if !lines.next().is_some_and(|(_, _, text)| is_rule(text)) {
        return split;
    }
    let mut yaml_start = None;
    while let Some((number, at, text)) = lines.next() {
        let yaml_start = *yaml_start.get_or_insert(at);
        if is_rule(text) {
            split.yaml = Some(yaml_start..at);
            split.body_line = number + 1;
            split.body = lines.next().map_or(bytes.len(), |(_, at, _)| at);
            return split;
        }
    }
    split.unclosed = true;
    split
}

/// What the front matter says. Keys that are not there are `None` or empty.
#[derive(Debug, Default)]
pub(super) struct Front {
    pub id: Option<Text>,
    pub title: Option<Text>,
    pub status: Option<Text>,
    pub deps: Vec<String>,
    pub extra: Vec<(String, String)>,
    pub problems: Vec<Problem>,
}

/// A value and its place.
#[derive(Debug)]
pub(super) struct Text {
    pub value: String,
    /// 1-based line of the file.
    pub line: usize,
    /// 1-based column.
    pub column: usize,
    /// The bytes of the YAML text that the value was read from, quotes included, where known.
    pub bytes: Option<Range<usize>>,
}

impl Front {
    /// Reads the YAML text, which begins on line 2 of the file.
    pub fn read(yaml: &str) -> Self {
        let mut front = Self::default();
        if yaml.len() > MAX_BYTES {
            front.problems.push(Problem {
                line: 1,
                column: 1,
                message: format!(
                    "the front matter is larger than {} KiB: move text below the second `---`",
                    MAX_BYTES / 1024
                ),
                severity: Severity::Error,
            });
            return front;
        }
        match serde_yaml::from_str_with_options::<Option<Entries>>(yaml, options()) {
            Ok(entries) => {
                for (key, value) in entries.map(|entries| entries.0).unwrap_or_default() {
                    front.take(yaml, key, &value);
                }
            }
            Err(error) => {
                let (line, column) = error
                    .location()
                    .map_or((1, 1), |location| (location.line() as usize + 1, location.column() as usize));
                front.problems.push(Problem {
                    line,
                    column,
                    message: format!("the front matter cannot be read: {}", words(&error)),
                    severity: Severity::Error,
                });
            }
        }
        front
    }

    fn take(&mut self, yaml: &str, key: String, value: &Spanned<Value>) {
        let text = Text {
            value: shown(yaml, value),
            line: value.referenced.line() as usize + 1,
            column: value.referenced.column() as usize,
            bytes: bytes_of(value),
        };
        let is_scalar = matches!(value.value, Value::Text(_) | Value::Spelled);
        match key.as_str() {
            "id" if is_scalar => self.id = Some(text),
            "title" if is_scalar => self.title = Some(text),
            "status" if is_scalar => self.status = Some(text),
            "deps" if is_scalar => self.deps = vec![text.value],
            "deps" if matches!(value.value, Value::List(_) | Value::Empty) => {
                if let Value::List(list) = &value.value {
                    self.deps = list.iter().map(|item| shown(yaml, item)).collect();
                }
            }
            "id" | "title" | "status" if matches!(value.value, Value::Empty) => {}
            "id" | "title" | "status" | "deps" => self.problems.push(Problem {
                line: text.line,
                column: text.column,
                message: format!(
                    "`{key}` is ignored: it should be {}",
                    match key.as_str() {
                        "deps" => "a list of ticket ids, like [tk-1a2b]",
                        _ => "a string",
                    }
                ),
                severity: Severity::Warning,
            }),
            _ => self.extra.push((key, text.value)),
        }
    }
}

fn options() -> serde_yaml::Options {
    serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_aliases: 0,
            max_anchors: 0,
            max_documents: 1,
            max_total_scalar_bytes: MAX_BYTES,
        },
        strict_booleans: true,
        reject_unsupported_tags: true,
        merge_keys: MergeKeyPolicy::Error,
    }
}

/// What is wrong, in words for people; the library's own without its picture and its places, which count
/// from the front matter's start, where it has good ones.
fn words(error: &serde_yaml::Error) -> String {
    use serde_yaml::{Error, budget::BudgetBreach};
    match error.without_snippet() {
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("the key `{key}` appears twice")
        }
        Error::UnknownAnchor { .. }
        | Error::Budget { breach: BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. }, .. } => {
            "anchors (`&`) and aliases (`*`) are not read in tickets: quote the text".to_owned()
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            format!("it is nested deeper than {MAX_DEPTH} levels")
        }
        Error::Budget { .. } => format!("it has more than {MAX_NODES} values"),
        other => {
            let text = other.to_string();
            let text = text.lines().next().unwrap_or_default();
            text.split(" at line ").next().unwrap_or(text).trim().to_owned()
        }
    }
}

/// A mapping in the order of the file.
struct Entries(Vec<(String, Spanned<Value>)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("lines of `key: value`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// A value, as far as tickets care.
#[derive(Debug)]
enum Value {
    Empty,
    Text(String),
    /// A number or a boolean: what counts is how it is spelled in the file.
    Spelled,
    List(Vec<Spanned<Value>>),
    Map,
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

/// A visitor's answers that are the same value for each of these types.
macro_rules! scalars {
    ($($visit:ident: $of:ty),+ => $value:expr) => {
        $(fn $visit<E>(self, _: $of) -> Result<Self::Value, E> {
            Ok($value)
        })+
    };
}
pub(crate) use scalars;

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Empty)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Empty)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_i128: i128, visit_u128: u128, visit_f64: f64
        => Value::Spelled);

    fn visit_bytes<E: serde::de::Error>(self, _: &[u8]) -> Result<Value, E> {
        Err(E::custom("binary values are not allowed in a ticket"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = seq.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<String, IgnoredAny>()?.is_some() {}
        Ok(Value::Map)
    }
}

fn bytes_of(value: &Spanned<Value>) -> Option<Range<usize>> {
    let span = value.referenced.span();
    let start = span.byte_offset()? as usize;
    Some(start..start + span.byte_len()? as usize)
}

/// A value in one text: as spelled in the file, a list with commas.
fn shown(yaml: &str, value: &Spanned<Value>) -> String {
    let spelled =
        || bytes_of(value).and_then(|bytes| yaml.get(bytes)).map(|text| text.trim().to_owned()).unwrap_or_default();
    match &value.value {
        Value::Empty => String::new(),
        Value::Text(text) => text.clone(),
        Value::Spelled | Value::Map => spelled(),
        Value::List(list) => list.iter().map(|item| shown(yaml, item)).collect::<Vec<_>>().join(", "),
    }
}

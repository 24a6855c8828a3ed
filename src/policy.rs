//! The gate: what decides every tool call before it runs. Pure; what it must know of files comes through
//! [`place::PathView`].
//!
//! A call becomes [`unit`]s ([`call`], [`bash`] with the tables of [`commands`]); the [`floor`] and the [`rules`]
//! judge each; the strictest verdict is the call's ([`engine`]). ALLOW is proof; every other action takes what
//! might be.
//!
//! [`judge`] is what runs use today: it allows everything, and says what may write.

pub mod bash;
pub mod call;
pub mod cases;
pub mod chars;
pub mod commands;
pub mod engine;
pub mod floor;
pub mod glob;
pub mod import;
pub mod place;
pub mod rules;
pub mod unit;
pub mod verdict;

use crate::base::text::clean_line;
use crate::domain::record::Verdict;
use serde_json::Value;

/// Longest target of a call in a record, in columns.
const TARGET: usize = 500;

/// What the gate says about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The decision.
    pub verdict: Verdict,
    /// The rule or profile that decided.
    pub reason: String,
    /// What the call is about, in one clean line.
    pub target: String,
    /// The call may change files, and so may tick the ticket's boxes.
    pub writes: bool,
}

/// Tools of Claude's that change no file. Any other may, whatever it says it is about.
const READERS: [&str; 12] = [
    "Read",
    "Grep",
    "Glob",
    "LS",
    "NotebookRead",
    "WebFetch",
    "WebSearch",
    "TodoWrite",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "BashOutput",
];

/// Judges a call of `tool` with `input` (JSON text).
pub fn judge(tool: &str, input: &str) -> Judgement {
    let input: Value = serde_json::from_str(input).unwrap_or(Value::Null);
    Judgement {
        verdict: Verdict::Allow,
        reason: "profile trusted".to_owned(),
        target: clean_line(target(&input), TARGET),
        writes: !READERS.contains(&tool),
    }
}

/// The field that says most about a call; any first text where none of the known ones is there.
fn target(input: &Value) -> &str {
    const FIELDS: [&str; 9] =
        ["command", "file_path", "notebook_path", "pattern", "path", "url", "query", "description", "prompt"];
    let known = FIELDS.iter().find_map(|field| input.get(field)?.as_str());
    known.or_else(|| strings(input).next()).unwrap_or("")
}

/// The texts of an object, one level deep.
fn strings(input: &Value) -> impl Iterator<Item = &str> {
    input.as_object().into_iter().flat_map(|fields| fields.values()).filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_gets_a_verdict_and_a_target() {
        let cases = [
            ("Bash", r#"{"command":"cargo test\nrm x","description":"d"}"#, "cargo test rm x", true),
            ("Edit", r#"{"file_path":"/p/a.rs","old_string":"a"}"#, "/p/a.rs", true),
            ("Read", r#"{"file_path":"/p/a.rs"}"#, "/p/a.rs", false),
            ("mcp__x__y", r#"{"n":1,"what":"\u001b[31mred"}"#, "red", true),
            ("Odd", "not json", "", true),
        ];
        for (tool, input, target, writes) in cases {
            let judged = judge(tool, input);
            assert_eq!(judged.verdict, Verdict::Allow);
            assert_eq!((judged.target.as_str(), judged.writes), (target, writes), "{tool} {input}");
        }
    }
}

//! The gate: what decides every tool call before it runs. Pure; what it must know of files comes through
//! [`place::PathView`].
//!
//! A call becomes units ([`mod@unit`], [`call`], [`bash`] with the tables of [`commands`]); the [`floor`] and the [`rules`]
//! judge each; the strictest verdict is the call's ([`engine`]). ALLOW is proof; every other action takes what
//! might be.

pub mod bash;
mod built_in;
pub mod call;
pub mod cases;
pub mod chars;
pub mod commands;
pub mod credentials;
pub mod engine;
pub mod floor;
pub mod git_programs;
pub mod glob;
pub mod import;
pub mod kind;
pub mod place;
pub mod proposal;
pub mod remembered;
pub mod rules;
pub mod tables;
pub mod unit;
pub mod verdict;

use crate::base::text::clean_line;
use serde_json::Value;

/// Longest target of a call in a record, in columns.
const TARGET: usize = 500;

/// What a call is about, in one clean line: for records.
pub fn target(input: &Value) -> String {
    clean_line(most_telling(input), TARGET)
}

/// The field that says most about a call; any first text where none of the known ones is there.
fn most_telling(input: &Value) -> &str {
    const FIELDS: [&str; 10] = [
        "command", "file_path", "notebook_path", "pattern", "path", "url", "query", "subject", "description", "prompt",
    ];
    let known = FIELDS.iter().find_map(|field| input.get(field)?.as_str());
    // Claude's own questions.
    let question = || input.pointer("/questions/0/question").and_then(Value::as_str);
    known.or_else(question).or_else(|| strings(input).next()).unwrap_or("")
}

/// The texts of an object, one level deep.
fn strings(input: &Value) -> impl Iterator<Item = &str> {
    input.as_object().into_iter().flat_map(|fields| fields.values()).filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_a_target() {
        let cases = [
            (r#"{"command":"cargo test\nrm x","description":"d"}"#, "cargo test rm x"),
            (r#"{"file_path":"/p/a.rs","old_string":"a"}"#, "/p/a.rs"),
            (r#"{"description":"long","subject":"First"}"#, "First"),
            (r#"{"n":1,"what":"\u001b[31mred"}"#, "red"),
            (r#"{"questions":[{"header":"h","question":"Which colour?","options":[]}]}"#, "Which colour?"),
            ("[]", ""),
        ];
        for (input, expected) in cases {
            assert_eq!(target(&serde_json::from_str(input).unwrap()), expected, "{input}");
        }
    }
}

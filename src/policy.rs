//! The gate: what decides every tool call before it runs. Pure.
//!
//! Today there is one profile, `trusted`: everything is allowed, and everything is judged and recorded.

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
    /// The call names the ticket's own file.
    pub touches_ticket: bool,
}

/// Judges a call of `tool` with `input` (JSON text). `ticket_file` is the ticket's file name.
pub fn judge(tool: &str, input: &str, ticket_file: &str) -> Judgement {
    let input: Value = serde_json::from_str(input).unwrap_or(Value::Null);
    let writes = matches!(tool, "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "Bash" | "Task" | "Agent");
    let names_ticket = || strings(&input).any(|text| text.contains(ticket_file));
    Judgement {
        verdict: Verdict::Allow,
        reason: "profile trusted".to_owned(),
        target: clean_line(target(&input), TARGET),
        touches_ticket: writes && !ticket_file.is_empty() && names_ticket(),
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
            ("Bash", r#"{"command":"cargo test\nrm x","description":"d"}"#, "cargo test rm x", false),
            ("Edit", r#"{"file_path":"/p/.tickets/tk-1.md","old_string":"a"}"#, "/p/.tickets/tk-1.md", true),
            ("Read", r#"{"file_path":"/p/.tickets/tk-1.md"}"#, "/p/.tickets/tk-1.md", false),
            ("Bash", r#"{"command":"sed -i s/a/b/ .tickets/tk-1.md"}"#, "sed -i s/a/b/ .tickets/tk-1.md", true),
            ("mcp__x__y", r#"{"n":1,"what":"\u001b[31mred"}"#, "red", false),
            ("Odd", "not json", "", false),
        ];
        for (tool, input, target, touches) in cases {
            let judged = judge(tool, input, "tk-1.md");
            assert_eq!(judged.verdict, Verdict::Allow);
            assert_eq!((judged.target.as_str(), judged.touches_ticket), (target, touches), "{tool} {input}");
        }
    }
}

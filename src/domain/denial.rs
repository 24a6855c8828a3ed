//! Tool calls that Claude was refused, as the `result` record lists them: what is shown of them, and whether they
//! only come of a compound command. Whose refusals they were, and what follows, is the orchestrator's.

use crate::base::text::clean_line;
use crate::domain::approval::runs_in_shell;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Columns of a refused command that are shown.
const SHOWN: usize = 60;
/// Columns of a command that are kept.
const KEPT: usize = 2_000;

/// One refused call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Denial {
    /// `Bash`, `Write`, …; `unknown` when Claude does not say.
    pub tool: String,
    /// Claude's id of the call; may be empty.
    pub tool_use_id: String,
    /// Of a `Bash` call the command, at most 2,000 columns; else empty.
    pub command: String,
}

impl Denial {
    /// Made of what the record holds.
    pub fn new(tool: &str, tool_use_id: &str, command: &str) -> Self {
        let tool = if tool.is_empty() { "unknown" } else { tool };
        Self {
            tool: tool.to_owned(),
            tool_use_id: tool_use_id.to_owned(),
            command: crate::base::text::cut(command, KEPT),
        }
    }

    /// For people, one clean line: `Bash(npm install)`, of a command its first line; of other tools the name.
    pub fn shown(&self) -> Cow<'_, str> {
        match self.command.lines().find(|line| !line.trim().is_empty()) {
            Some(line) if runs_in_shell(&self.tool) => format!("{}({})", self.tool, clean_line(line, SHOWN)).into(),
            _ => clean_line(&self.tool, SHOWN).into(),
        }
    }
}

/// Claude's own rules let every single command pass, but not the way they were put together: a rule such as
/// `Bash(npm *)` does not cover a pipeline. True when there are refusals, all of them are of `Bash`, and each
/// command in them begins like one of the patterns with a wildcard in `allowed`.
pub fn only_compound(denials: &[Denial], allowed: &[String]) -> bool {
    let patterns: Vec<&str> = allowed.iter().filter_map(|tool| wildcard(tool)).collect();
    let covered = |command: &&str| patterns.iter().any(|pattern| begins_with(command, pattern));
    !denials.is_empty()
        && denials.iter().all(|denial| {
            let commands = commands(&denial.command);
            denial.tool == "Bash" && !commands.is_empty() && commands.iter().all(covered)
        })
}

/// What stands before the wildcard of `Bash(git *)` or `Bash(git:*)`; empty for any command.
fn wildcard(tool: &str) -> Option<&str> {
    if tool.trim() == "Bash" {
        return Some("");
    }
    let inside = tool.trim().strip_prefix("Bash(")?.strip_suffix(')')?;
    let before = inside.strip_suffix('*')?;
    let before = before.strip_suffix(':').unwrap_or(before);
    // `git*` would cover `gitlab` too: that is not what is asked here.
    (before.is_empty() || before.ends_with(' ') || inside.ends_with(":*")).then_some(before.trim())
}

fn begins_with(command: &str, pattern: &str) -> bool {
    let mut words = command.split_whitespace();
    pattern.split_whitespace().all(|word| words.next() == Some(word))
}

/// The simple commands of a command line, split where the shell would, without assignments before them and without
/// a `cd`, which needs nobody's leave.
fn commands(line: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let is_free = quote.is_none();
        // `2>&1` and `&>` redirect.
        let redirects = c == '&' && (before == '>' || line[at + 1..].starts_with('>'));
        if quote == Some(c) && before != '\\' {
            quote = None;
        } else if is_free && matches!(c, '\'' | '"') && before != '\\' {
            quote = Some(c);
        } else if is_free && !redirects && matches!(c, ';' | '|' | '&' | '\n') {
            parts.push(&line[start..at]);
            start = at + c.len_utf8();
        }
        before = c;
    }
    parts.push(&line[start..]);
    parts.into_iter().map(without_assignments).filter(|part| !part.is_empty() && !begins_with(part, "cd")).collect()
}

fn without_assignments(command: &str) -> &str {
    let mut rest = command.trim();
    while let Some((word, behind)) = rest.split_once(' ') {
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !word.split_once('=').is_some_and(|(name, _)| is_name(name)) {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

//! Reads what the second look at a list of issues says of each: the status block with `issues`, an item for each number.

use super::block::{self, Block};
use super::critique::Unreadable;
use super::key::Field;
use super::lines;
use super::value;
use crate::base::text::cut;
use crate::domain::review::Check;
use serde::Deserialize;

const MAX_TEXT: usize = 4 << 10;

/// Reads the last block with checks.
///
/// # Errors
///
/// `missing`, `truncated` or `no_checks`.
pub fn parse_checks(text: &str) -> Result<Vec<Check>, Unreadable> {
    let lines = lines::lines(text);
    let (mut last, mut at): (Option<Block>, usize) = (None, 0);
    while at < lines.len() {
        let next = match block::read(&lines, at) {
            Some((block, next)) => {
                let has_issues = block.entries.iter().any(|entry| entry.field == Some(Field::Issues));
                last = if has_issues { Some(block) } else { last };
                next
            }
            None => at,
        };
        at = next.max(at + 1);
    }
    let block = last.ok_or("missing")?;
    if block.cut || block.mid_line && block.fence_open {
        return Err("truncated");
    }
    let entries = block.entries.iter().filter(|entry| entry.field == Some(Field::Issues));
    let checks: Vec<Check> = entries
        .filter_map(|entry| value::yaml::<Vec<Raw>>(&format!("{}\n{}", entry.first, entry.more.join("\n"))))
        .flatten()
        .filter_map(Raw::check)
        .collect();
    if checks.is_empty() { Err("no_checks") } else { Ok(checks) }
}

#[derive(Deserialize)]
struct Raw {
    #[serde(alias = "number", alias = "n", alias = "id")]
    issue: Option<usize>,
    #[serde(alias = "result", alias = "holds", alias = "status")]
    verdict: Option<Word>,
    #[serde(alias = "why", alias = "text", alias = "evidence")]
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Word {
    Holds(bool),
    Text(String),
}

impl Raw {
    /// A word that is neither is no check: the issue stays.
    fn check(self) -> Option<Check> {
        let holds = match self.verdict? {
            Word::Holds(holds) => holds,
            Word::Text(word) => match word.trim().to_ascii_lowercase().as_str() {
                "confirmed" | "confirm" | "valid" | "keep" => true,
                "dropped" | "drop" | "invalid" | "false_positive" | "false positive" => false,
                _ => return None,
            },
        };
        let reason = self.reason.map(|reason| cut(reason.trim(), MAX_TEXT)).unwrap_or_default();
        Some(Check { issue: self.issue?, holds, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_issue_is_confirmed_or_dropped_or_left_alone() {
        let text = "I looked.\n\n```yaml\nPROGRAMMATOR_STATUS:\n  issues:\n    - issue: 1\n      verdict: confirmed\n      \
                    reason: \"seen: line 3\"\n    - issue: 2\n      verdict: DROPPED\n      reason: guarded above\n    - issue: \
                    3\n      verdict: perhaps\n    - issue: 4\n      holds: false\n  summary: \"two\"\n```\n";
        let checks = parse_checks(text).unwrap();
        let told: Vec<_> = checks.iter().map(|check| (check.issue, check.holds, check.reason.as_str())).collect();
        assert_eq!(told, [(1, true, "seen: line 3"), (2, false, "guarded above"), (4, false, "")]);
    }

    #[test]
    fn what_says_nothing_of_any_issue_is_unreadable() {
        for (text, why) in [
            ("All of them hold.", "missing"),
            ("PROGRAMMATOR_STATUS:\n  status: DONE\n  summary: \"x\"\n", "missing"),
            ("PROGRAMMATOR_STATUS:\n  issues: []\n  summary: \"x\"\n", "no_checks"),
            ("PROGRAMMATOR_STATUS:\n  issues:\n    - issue: 1\n      verdict: maybe\n", "no_checks"),
        ] {
            assert_eq!(parse_checks(text), Err(why), "{text}");
        }
    }
}

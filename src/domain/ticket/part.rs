//! A ticket that a draft splits off the one it is for: a part of the work with phases of its own. Owns how it is written behind the draft
//! for a person to read and edit, and where the text of each begins when it is read back.

use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// What such a ticket says. The draft's validation commands check it, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub title: String,
    pub text: String,
    pub phases: Vec<String>,
    /// The parts before it that must be closed before it begins, counted from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
}

/// The text of one part as it was found.
pub(super) struct Found {
    /// Title, text and phases, as a ticket has them.
    pub markdown: String,
    pub after: Vec<usize>,
}

const HEADING: &str = "# Ticket ";
const AFTER: &str = "After: ";

impl Part {
    /// The markdown of the part in this place, from 1.
    pub(super) fn markdown(&self, n: usize) -> String {
        let mut out = format!("{HEADING}{n}: {}\n\n", self.title);
        if !self.after.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(out, "{AFTER}{}\n\n", numbers(&self.after));
        }
        if !self.text.is_empty() {
            let _ = write!(out, "{}\n\n", self.text);
        }
        self.phases.iter().fold(out, |out, phase| out + "- [ ] " + phase + "\n")
    }
}

/// "1, 3".
pub fn numbers(parts: &[usize]) -> String {
    parts.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// What stands before the first part, and the parts. A number in a heading is the name that others wait by; where there is no such
/// part, it is one that none can have.
pub(super) fn split(text: &str) -> (String, Vec<Found>) {
    let (mut own, mut names, mut parts) = (String::new(), Vec::new(), Vec::<Found>::new());
    for line in text.lines() {
        if let Some((name, title)) = heading(line) {
            names.push(name);
            parts.push(Found { markdown: format!("# {title}\n"), after: Vec::new() });
            continue;
        }
        match parts.last_mut() {
            None => own.extend([line, "\n"]),
            Some(part) => match waits(line).filter(|_| part.markdown.trim_end().lines().count() == 1) {
                Some(after) if part.after.is_empty() => part.after = after,
                _ => part.markdown.extend([line, "\n"]),
            },
        }
    }
    for part in &mut parts {
        for after in &mut part.after {
            *after = names.iter().position(|name| name == after).map_or(usize::MAX, |at| at + 1);
        }
    }
    (own, parts)
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let (number, title) = line.strip_prefix(HEADING)?.split_once(':')?;
    Some((number.trim().parse().ok()?, title.trim()))
}

fn waits(line: &str) -> Option<Vec<usize>> {
    line.strip_prefix(AFTER)?.split(',').map(|number| number.trim().parse().ok()).collect()
}

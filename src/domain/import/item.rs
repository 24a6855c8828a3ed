//! A task of another program, whichever it is.

use super::visible;
use crate::base::amount::counted;
use crate::base::hex::hex;
use crate::domain::worded::worded;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Letters of a title that are in its key.
const SLUG: usize = 60;
/// Longest key that a reference has whole, in bytes.
const KEY: usize = 180;

worded! {
    /// Where tasks come from.
    pub enum Source {
        /// `bd`, or its `issues.jsonl`.
        Beads = "beads",
        /// The issues of a repository, by `gh`.
        Github = "github",
        /// A requirements document or specification.
        Prd = "prd",
        /// Hank's and Ralph's `fix_plan.md`.
        Hank = "hank",
        /// autoclaude's `TODO.md`.
        Autoclaude = "autoclaude",
        /// ralph-tui's `prd.json`.
        Ralph = "ralph",
        /// ralphex's plans.
        Ralphex = "ralphex",
        /// A list of tasks.
        Tasks = "tasks",
    }
}

/// A task, as its source has it. Nothing in it is safe to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// What its source calls it; the same the next time, and no other has it.
    pub key: String,
    pub title: String,
    /// The heading of what it is a part of, where its source has one.
    pub above: String,
    pub text: String,
    /// Steps that are open, and those that are done.
    pub phases: Vec<String>,
    pub done_phases: Vec<String>,
    /// Commands that it wants to be checked by.
    pub commands: Vec<String>,
    /// From 0, the highest, to 4.
    pub priority: Option<u8>,
    /// As `tk` has it: bug, feature, task, epic or chore.
    pub kind: Option<&'static str>,
    pub labels: Vec<String>,
    /// Keys of those that come before it.
    pub deps: Vec<String>,
    pub is_done: bool,
}

impl Item {
    /// What its ticket says of where it comes from.
    pub fn reference(&self, source: Source) -> String {
        let key = visible::line(&self.key);
        if key.len() <= KEY {
            return format!("{}:{key}", source.word());
        }
        let begin: String = key.chars().take(KEY / 4).collect();
        format!("{}:{begin}…{}", source.word(), mark(self.key.as_bytes()))
    }

    /// What else it has, for people. `takes_commands`: its validation commands come along.
    pub fn about(&self, takes_commands: bool) -> String {
        let phases = (!self.phases.is_empty()).then(|| counted(self.phases.len(), "phase"));
        let left = if takes_commands { "" } else { " left out" };
        let commands = counted(self.commands.len(), "validation command") + left;
        let commands = (!self.commands.is_empty()).then_some(commands);
        let priority = self.priority.map(|priority| format!("priority {priority}"));
        let all: Vec<String> = [phases, commands, priority].into_iter().flatten().collect();
        if all.is_empty() { String::new() } else { format!("  ({})", all.join(", ")) }
    }

    /// Changes with what it asks for; not with what of it is done.
    pub fn digest(&self) -> String {
        let steps: BTreeSet<&String> = self.phases.iter().chain(&self.done_phases).collect();
        // A tick may move a line, too.
        let text = unticked(&self.text);
        let lines: BTreeSet<&str> = text.lines().collect();
        let steps = steps.into_iter().map(String::as_str);
        // Their programs name them in any order.
        let deps: BTreeSet<&String> = self.deps.iter().collect();
        let all = [self.title.as_str()]
            .into_iter()
            .chain(lines)
            .chain(steps)
            .chain(self.commands.iter().chain(deps).map(String::as_str));
        let joined = all.map(|text| format!("{}:{text}", text.len())).collect::<Vec<_>>().concat();
        // It stands in YAML, where twelve digits and an `e` are a number.
        format!("d{}", mark(joined.as_bytes()))
    }
}

/// The text with every box open.
fn unticked(text: &str) -> String {
    text.replace("[x]", "[ ]").replace("[X]", "[ ]")
}

/// Enough of a hash to tell texts apart.
fn mark(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..6])
}

/// A key for each title below a place: its words; where another has them already, with those of what it is a part of, else with a
/// number.
pub(super) fn keyed(place: &str, items: &mut [Item]) {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for item in items {
        let mut own = slug(&item.title);
        if taken.contains_key(&own) && !item.above.is_empty() {
            own = slug(&format!("{} {}", item.above, item.title));
        }
        let n = taken.entry(own.clone()).or_default();
        *n += 1;
        // No slug has a dot.
        item.key = if *n == 1 { format!("{place}#{own}") } else { format!("{place}#{own}.{n}") };
    }
}

fn slug(title: &str) -> String {
    let words: String = title.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-").chars().take(SLUG).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_digest_is_a_number() {
        for n in 0..3_000 {
            let digest = Item { title: n.to_string(), ..Item::default() }.digest();
            assert!(digest.parse::<f64>().is_err(), "{digest}");
        }
    }
}

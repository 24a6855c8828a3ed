//! Reads a planner's answer: the status block with `phases`, `validation` and, for a new ticket, `title` and `text`.
//!
//! The last block with phases decides. It is checked by `domain::planning`: a draft that a ticket could not hold is none.

use super::block::{self, Block, Entry};
use super::{key, lines, value};
use crate::domain::planning::{DraftFault, checked};
use crate::domain::ticket::PhaseSettings;
use crate::domain::ticket::draft::Draft;
use crate::domain::ticket::part::Part;
use serde::Deserialize;

/// Reads the last draft of `text`: the text blocks of the planner's last turn, joined.
///
/// # Errors
///
/// Why there is none.
pub fn parse_draft(text: &str) -> Result<Draft, DraftFault> {
    let lines = lines::lines(text);
    let (mut last, mut at) = (None, 0);
    while at < lines.len() {
        let Some((block, next)) = block::read(&lines, at) else {
            at += 1;
            continue;
        };
        let is_template = |entry: &Entry| entry.more.iter().chain([&entry.first]).any(|line| line.contains("- <"));
        if named(&block, &["phases"]).is_some_and(|entry| !is_template(entry)) {
            last = Some(block);
        }
        at = next.max(at + 1);
    }
    let block = last.ok_or(DraftFault::Missing)?;
    // A list that the text ends in may have been longer.
    let ends_in_list = block.mid_line && block.entries.last().is_some_and(|last| last.name != "summary");
    if block.cut || ends_in_list || block.mid_line && block.fence_open {
        return Err(DraftFault::Truncated);
    }
    let text = |name: &str| named(&block, &[name]).and_then(|entry| value::text(entry, &mut Vec::new()));
    let items = |names: &[&str]| named(&block, names).map(list).unwrap_or_default();
    checked(Draft {
        title: text("title").unwrap_or_default(),
        text: text("text").unwrap_or_default(),
        // Which model works on a phase, and whether a critic looks at it, is not Claude's to say.
        phases: items(&["phases"]).iter().map(|phase| PhaseSettings::bare(phase).to_owned()).collect(),
        validation: items(&["validation", "validation_commands"]),
        parts: named(&block, &["tickets"]).map(parts).transpose()?.unwrap_or_default(),
        ..Draft::default()
    })
}

/// A ticket as Claude lists it.
#[derive(Deserialize)]
struct Listed {
    title: String,
    #[serde(default)]
    text: String,
    phases: Vec<String>,
    #[serde(default)]
    after: Vec<usize>,
}

/// The tickets that the work is split into. What is no YAML is not guessed at: a phase could come to another ticket.
fn parts(entry: &Entry) -> Result<Vec<Part>, DraftFault> {
    let source = format!("{}\n{}", entry.first, entry.more.join("\n"));
    if NOTHING.contains(&source.trim()) {
        return Ok(Vec::new());
    }
    let listed: Vec<Listed> = value::yaml(source.trim_matches('\n')).ok_or(DraftFault::BadTickets)?;
    let part = |Listed { title, text, phases, after }: Listed| Part {
        title,
        text,
        phases: phases.iter().map(|phase| PhaseSettings::bare(phase).to_owned()).collect(),
        after,
    };
    Ok(listed.into_iter().map(part).collect())
}

/// How a list says that it has nothing.
const NOTHING: [&str; 6] = ["", "[]", "null", "~", "none", "None"];

fn named<'a>(block: &'a Block, names: &[&str]) -> Option<&'a Entry> {
    let is_it = |entry: &&Entry| names.iter().any(|name| entry.name.eq_ignore_ascii_case(name));
    block.entries.iter().rev().find(is_it)
}

/// The items of a list: as YAML where it is that, else line by line, salvaged.
fn list(entry: &Entry) -> Vec<String> {
    let source = format!("{}\n{}", entry.first, entry.more.join("\n"));
    if NOTHING.contains(&source.trim()) {
        return Vec::new();
    }
    let source = source.trim_matches('\n');
    value::yaml::<Vec<String>>(source).unwrap_or_else(|| items(source))
}

/// Each bullet or number begins an item; what else there is continues it.
fn items(source: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in source.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match (key::bullet(line).or_else(|| numbered(line)), items.last_mut()) {
            (None, Some(last)) => *last = format!("{last} {line}"),
            (item, _) => items.push(item.unwrap_or(line).to_owned()),
        }
    }
    items.iter().map(|item| value::yaml::<String>(item).unwrap_or_else(|| item.clone())).collect()
}

fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < line.len()).then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(text: &str) -> Result<(Vec<String>, Vec<String>), DraftFault> {
        parse_draft(text).map(|draft| (draft.phases, draft.validation))
    }

    fn lists(phases: &[&str], validation: &[&str]) -> (Vec<String>, Vec<String>) {
        let all = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        (all(phases), all(validation))
    }

    #[test]
    fn a_block_says_the_whole_ticket() {
        let text = "I looked.\n\n```yaml\nPROGRAMMATOR_STATUS:\n  title: \"Limit logins: five a minute\"\n  text: |\n    Six are too many.\n\n    Also by IPv6.\n  phases:\n    - \"Count the tries\"\n    - Refuse the sixth\n  validation:\n    - \"cargo test -- 'a b'\"\n  summary: \"Two steps.\"\n```\n";
        let draft = parse_draft(text).unwrap();
        assert_eq!(draft.title, "Limit logins: five a minute");
        assert_eq!(draft.text, "Six are too many.\n\nAlso by IPv6.");
        assert_eq!(draft.phases, ["Count the tries", "Refuse the sixth"]);
        assert_eq!(draft.validation, ["cargo test -- 'a b'"]);
    }

    #[test]
    fn work_is_split_into_tickets() {
        let text = "```yaml\nPROGRAMMATOR_STATUS:\n  tickets:\n    - title: \"Count: the tries\"\n      text: \"In memory.\"\n      phases:\n        - \"Add a table\"\n        - \"Fill it <!-- model: opus -->\"\n    - title: \"Refuse the sixth\"\n      phases:\n        - \"Answer 429\"\n      after: [1]\n  phases:\n    - \"Check it all\"\n  validation: []\n  summary: \"Two.\"\n```\n";
        let draft = parse_draft(text).unwrap();
        assert_eq!(draft.phases, ["Check it all"]);
        let parts: Vec<_> =
            draft.parts.iter().map(|one| (one.title.as_str(), one.phases.len(), &one.after[..])).collect();
        assert_eq!(parts, [("Count: the tries", 2, &[][..]), ("Refuse the sixth", 1, &[1][..])]);
        assert_eq!((draft.parts[0].text.as_str(), draft.parts[0].phases[1].as_str()), ("In memory.", "Fill it"));
        assert_eq!(parse_draft(&text.replace("\"Count: the tries\"", "Count: the tries")), Err(DraftFault::BadTickets));
        assert!(parse_draft(&text.replace("after: [1]", "after: [2]")) == Err(DraftFault::BadOrder));
        let none = "PROGRAMMATOR_STATUS:\n  tickets: []\n  phases: [a]\n  validation: []\n  summary: x\n";
        assert_eq!(parse_draft(none).map(|draft| draft.parts), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_yaml_is_salvaged() {
        let block = |phases: &str| format!("PROGRAMMATOR_STATUS:\n  phases:{phases}\n  validation: []\n  summary: x\n");
        for (phases, expected) in [
            (
                "\n    - Add a limit: five\n    - Say \"no\" to the sixth",
                &["Add a limit: five", "Say \"no\" to the sixth"][..],
            ),
            ("\n    1. One\n    2) Two", &["One", "Two"]),
            (" [\"One\", \"Two\"]", &["One", "Two"]),
            ("\n    - \"One: a\"\n    - [ ] Two: b\n      and more", &["One: a", "Two: b and more"]),
            ("\n  - One\n  - Two", &["One", "Two"]),
            ("\n    - \"One <!-- critique: off -->\"\n    - Two", &["One", "Two"]),
        ] {
            assert_eq!(said(&block(phases)), Ok(lists(expected, &[])), "{phases}");
        }
    }

    #[test]
    fn a_draft_is_never_guessed() {
        let block = |phases: &str| format!("PROGRAMMATOR_STATUS:\n  phases:{phases}\n  validation: []\n  summary: x\n");
        for (text, fault) in [
            ("Here is my plan:\n- One\n- Two\n".to_owned(), DraftFault::Missing),
            ("PROGRAMMATOR_STATUS:\n  status: DONE\n  summary: x\n".to_owned(), DraftFault::Missing),
            (block(" []"), DraftFault::NoPhases),
            (block("\n    - a\n    - a"), DraftFault::SamePhase),
            (block("\n    - <a step, in double quotes>"), DraftFault::Missing),
            ("PROGRAMMATOR_STATUS:\n  phases:\n    - \"One\"\n    - \"Tw".to_owned(), DraftFault::Truncated),
            (
                "PROGRAMMATOR_STATUS:\n  phases: [a]\n  validation:\n    - \"a\\nb\"\n".to_owned(),
                DraftFault::BadCommand,
            ),
        ] {
            assert_eq!(said(&text), Err(fault), "{text}");
        }
        let last = format!("{}\n{}", block("\n    - a"), block("\n    - b"));
        assert_eq!(said(&last), Ok(lists(&["b"], &[])), "the last block decides");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "([a-z_]{0,12}[: \\-\\n\"\\[{]?|PROGRAMMATOR_STATUS:\\n  |phases:|\\n    - |validation:\\n|é){0,40}") {
            if let Ok(draft) = parse_draft(&text) {
                prop_assert!(!draft.phases.is_empty());
            }
        }
    }
}

//! A ticket that is being written: what a person has said of it, and the markdown that it becomes.

use crate::base::text::{Clean, clean_line};
use crate::domain::ticket::TEMPLATE_PHASE;
use crate::domain::ticket::parse::parse;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// What a new ticket says. Lists without an entry become places to fill in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    pub title: String,
    /// What should be true, in markdown.
    pub text: String,
    pub phases: Vec<String>,
    /// Commands that check every claim.
    pub validation: Vec<String>,
}

impl Draft {
    /// The title as it stands in the file; empty: there is none yet.
    pub fn title(&self) -> String {
        clean_line(&self.title, 200)
    }

    /// Why a ticket of it would not say what was typed, as where its text hides the phases; for the person.
    pub fn hidden(&self) -> Option<&'static str> {
        let ticket = parse(self.markdown().as_bytes(), "new.md");
        let phases: Vec<String> = lines(&self.phases).map(|phase| bare(&phase).to_owned()).collect();
        let read: Vec<&str> = ticket.phases.iter().map(|phase| phase.text.as_str()).collect();
        let checks: Vec<String> = lines(&self.validation).collect();
        if !phases.is_empty() && read != phases {
            Some(
                "The phases would not be read as typed: look for an open code block or comment, or boxes, in the text.",
            )
        } else if ticket.validation != checks {
            Some("The checks would not be read as typed: look for an open code block or comment in the text.")
        } else {
            None
        }
    }

    /// The markdown below the front matter.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.title());
        let text = Clean::new(self.text.trim());
        if !text.as_str().is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}\n\n", text.as_str());
        }
        out.push_str("## Design\n\n");
        for phase in lines(&self.phases) {
            let _ = writeln!(out, "- [ ] {}", bare(&phase));
        }
        if lines(&self.phases).next().is_none() {
            let _ = writeln!(out, "- [ ] {TEMPLATE_PHASE}");
        }
        out.push_str("\n## Validation Commands\n\n");
        for command in lines(&self.validation) {
            let _ = writeln!(out, "- {}", code(&command));
        }
        if lines(&self.validation).next().is_none() {
            out.push_str("<!-- Commands that check every claim, one a line: - `cargo test` -->\n");
        }
        out.push_str("\n## Acceptance Criteria\n\n");
        out
    }
}

/// Entries of a list, each in one line.
fn lines(list: &[String]) -> impl Iterator<Item = String> {
    list.iter().map(|line| clean_line(line, 2_000).trim().to_owned()).filter(|line| !line.is_empty())
}

/// A phase without the bullet and the box that may have been typed before it.
fn bare(phase: &str) -> &str {
    let bare = ["- ", "* "].iter().find_map(|bullet| phase.strip_prefix(bullet)).unwrap_or(phase).trim_start();
    ["[ ] ", "[x] "].iter().find_map(|tick| bare.strip_prefix(tick)).unwrap_or(bare).trim()
}

/// A command as a span of code, whatever backticks are in it.
fn code(command: &str) -> String {
    let longest = command.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let air = if command.starts_with('`') || command.ends_with('`') { " " } else { "" };
    format!("{fence}{air}{command}{air}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_what_the_ticket_says() {
        let draft = Draft {
            title: "Limit \u{1b}[31mlogins".into(),
            text: "Six tries a minute are one too many.\n\nAlso by IPv6.".into(),
            phases: ["Count the tries", "- [ ] Refuse the sixth", "  ", "* **Say** so"].map(str::to_owned).to_vec(),
            validation: ["cargo test", "echo `date` && echo ``x``", "`which bash` -c true", "*.sh", "- x"]
                .map(str::to_owned)
                .to_vec(),
        };
        let ticket = parse(draft.markdown().as_bytes(), "tk-1.md");
        assert_eq!(ticket.title, "Limit logins");
        let phases: Vec<&str> = ticket.phases.iter().map(|phase| phase.text.as_str()).collect();
        assert_eq!(phases, ["Count the tries", "Refuse the sixth", "**Say** so"]);
        assert_eq!(ticket.validation, draft.validation);
        assert_eq!((ticket.problems, draft.hidden()), (Vec::new(), None));
    }

    #[test]
    fn a_text_that_hides_the_phases_is_told() {
        for text in ["```\ncode", "~~~", "<!-- to do"] {
            let draft = Draft {
                title: "T".into(),
                text: text.into(),
                phases: vec!["A".into()],
                validation: vec!["make".into()],
            };
            assert!(draft.hidden().is_some(), "{text}");
        }
    }

    #[test]
    fn what_was_not_typed_is_a_place_to_fill_in() {
        let ticket = parse(Draft { title: "T".into(), ..Draft::default() }.markdown().as_bytes(), "tk-1.md");
        assert_eq!(ticket.phases.len(), 1);
        assert_eq!(ticket.phases[0].text, TEMPLATE_PHASE);
        assert!(ticket.validation.is_empty());
    }
}

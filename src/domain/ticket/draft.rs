//! A ticket that is being written: what a person has said of it, and the markdown that it becomes.

use crate::base::text::{Clean, clean_line};
use crate::domain::ticket::parse::{body, parse};
use crate::domain::ticket::part::{self, Part};
use crate::domain::ticket::phase_settings;
use crate::domain::ticket::{Phase, PhaseSettings, TEMPLATE_PHASE};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// What a new ticket says. Without phases it is worked on as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    pub title: String,
    /// What should be true, in markdown.
    pub text: String,
    /// Each with the comment of its settings behind it, where it has one.
    pub phases: Vec<String>,
    /// Commands that check every claim.
    pub validation: Vec<String>,
    /// The front matter's `type` and `priority`; empty: as `tk` has them.
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub priority: String,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Tickets of their own that the work is split into; this one is worked on when they are closed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

impl Draft {
    /// What a template begins a ticket with: a ticket's file, or only parts of one.
    pub fn of_template(text: &str) -> Self {
        let ticket = parse(text.as_bytes(), "template.md");
        let body = String::from_utf8_lossy(body(text.as_bytes())).into_owned();
        let extra = |key: &str| ticket.extra.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
        let tags = extra("tags").unwrap_or_default();
        Self {
            title: body.lines().find_map(|line| line.strip_prefix("# ")).map(own_title).unwrap_or_default(),
            text: prose(&body),
            phases: ticket.phases.iter().filter(|one| one.text != TEMPLATE_PHASE).map(Phase::typed).collect(),
            validation: ticket.validation,
            kind: extra("type").unwrap_or_default(),
            priority: extra("priority").unwrap_or_default(),
            tags: tags.split([',', ' ']).filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
            parts: Vec::new(),
        }
    }

    /// The draft whose `body` a person has edited.
    pub fn of_body(text: &str) -> Self {
        let (own, parts) = part::split(text);
        let part = |found: part::Found| {
            let Self { title, text, phases, .. } = Self::of_template(&found.markdown);
            Part { title, text, phases, after: found.after }
        };
        Self { parts: parts.into_iter().map(part).collect(), ..Self::of_template(&own) }
    }

    /// The ticket that a part becomes.
    #[must_use]
    pub fn of_part(&self, part: &Part) -> Self {
        let Part { title, text, phases, .. } = part.clone();
        Self { title, text, phases, parts: Vec::new(), ..self.clone() }
    }

    /// Nothing was typed.
    pub fn is_empty(&self) -> bool {
        let all = self.phases.iter().chain(&self.validation).chain([&self.title, &self.text]);
        all.into_iter().all(|text| text.trim().is_empty())
    }

    /// The title as it stands in the file; empty: there is none yet.
    pub fn title(&self) -> String {
        clean_line(&self.title, 200)
    }

    /// Why a ticket of it would not say what was typed, as where its text hides the phases; for the person.
    pub fn hidden(&self) -> Option<&'static str> {
        let ticket = parse(self.markdown().as_bytes(), "new.md");
        let phases: Vec<String> = self.phases().collect();
        let read: Vec<String> = ticket.phases.iter().map(Phase::typed).collect();
        let checks: Vec<String> = commands(&self.validation).collect();
        if !phases.is_empty() && read != phases {
            Some(
                "The phases would not be read as typed: check for an open code block or comment, or checkboxes, in the text.",
            )
        } else if ticket.validation != checks {
            Some("The checks would not be read as typed: check for an open code block or comment in the text.")
        } else {
            None
        }
    }

    /// The phases as they stand in the file.
    pub fn phases(&self) -> impl Iterator<Item = String> {
        lines(&self.phases).map(|phase| PhaseSettings::tidied(&bare(&phase))).filter(|phase| !phase.is_empty())
    }

    /// The same without what is not said and what every ticket has; the parts stand behind it.
    pub fn body(&self) -> String {
        let markdown = self.markdown();
        let body = markdown.strip_suffix("\n## Acceptance Criteria\n\n").unwrap_or(&markdown);
        let body = body.strip_prefix("# \n\n").unwrap_or(body).to_owned();
        (1..).zip(&self.parts).fold(body, |out, (n, part)| out + "\n" + &part.markdown(n))
    }

    /// The markdown below the front matter.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.title());
        let text = Clean::new(self.text.trim());
        if !text.as_str().is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}\n\n", text.as_str());
        }
        let phases: Vec<String> = self.phases().map(|phase| format!("- [ ] {phase}\n")).collect();
        if !phases.is_empty() {
            let _ = write!(out, "## Design\n\n{}\n", phases.concat());
        }
        out.push_str("## Validation Commands\n\n");
        for command in commands(&self.validation) {
            let _ = writeln!(out, "{}", item(&command));
        }
        if commands(&self.validation).next().is_none() {
            out.push_str("<!-- Commands that check every claim, one per line: - `cargo test` -->\n");
        }
        out.push_str("\n## Acceptance Criteria\n\n");
        out
    }
}

/// A template's title, unless it stands for one, as `{title}` or `<what should be true>` do.
fn own_title(title: &str) -> String {
    let title = title.trim();
    let is_place =
        [('{', '}'), ('<', '>'), ('[', ']')].iter().any(|(from, to)| title.starts_with(*from) && title.ends_with(*to));
    if is_place { String::new() } else { title.to_owned() }
}

/// What of a template is neither title nor phase nor check.
fn prose(body: &str) -> String {
    let mut out = String::new();
    let mut in_checks = false;
    for line in body.lines() {
        let heading = line.strip_prefix("## ").map(|name| name.trim().to_lowercase());
        in_checks = heading.as_ref().map_or(in_checks, |name| name == "validation commands");
        // A section that a new ticket has anyway.
        let is_ours = heading.is_some_and(|name| matches!(&name[..], "design" | "acceptance criteria"));
        let is_box = ["- [ ]", "- [x]", "* [ ]"].iter().any(|tick| line.trim_start().starts_with(tick));
        let is_setting = phase_settings::is_line(line);
        if !in_checks && !is_ours && !is_box && !is_setting && !line.starts_with("# ") {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim().to_owned()
}

/// Entries of a list, each in one line.
fn lines(list: &[String]) -> impl Iterator<Item = String> {
    list.iter().map(|line| clean_line(line, 2_000).trim().to_owned()).filter(|line| !line.is_empty())
}

/// Commands, each in one line and with the blanks that it has.
fn commands(list: &[String]) -> impl Iterator<Item = String> {
    let lines = list.iter().map(|line| Clean::new(line).into_string().replace(['\n', '\t'], " ").trim().to_owned());
    lines.filter(|line| !line.is_empty())
}

/// A phase without the bullet and the box that may have been typed before it.
fn bare(phase: &str) -> String {
    // A bullet or box without words is an empty phase, not one of that name.
    let without = |text: &str, marks: [&str; 2]| {
        let rest = marks.iter().find_map(|mark| text.strip_prefix(mark));
        rest.filter(|rest| rest.is_empty() || rest.starts_with(' ')).map(|rest| rest.trim().to_owned())
    };
    let mut text = phase.trim().to_owned();
    while let Some(bare) = without(&text, ["-", "*"]).or_else(|| without(&text, ["[ ]", "[x]"])) {
        text = bare;
    }
    text
}

/// A command as an item of the list of commands.
pub fn item(command: &str) -> String {
    format!("- {}", code(command))
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
            phases: ["Count the tries", "- [ ] Refuse the sixth", "  ", "- [ ]", "-", "* **Say** so"]
                .map(str::to_owned)
                .to_vec(),
            validation: ["cargo test", "echo `date` && echo ``x``", "`which bash` -c true", "*.sh", "- x"]
                .map(str::to_owned)
                .to_vec(),
            ..Draft::default()
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
                ..Draft::default()
            };
            assert!(draft.hidden().is_some(), "{text}");
        }
    }

    #[test]
    fn a_template_is_taken_apart() {
        let draft = Draft::of_template(
            "---\ntype: bug\npriority: 1\ntags: [web, 'auth']\n---\n# Fix \n\nWhat happens:\n\n## Notes\n\nNone yet.\n\n## Design\n\n- [ ] Write a \
             failing test <!--model:opus-->\n- [ ] Mend it\n  <!-- critique: off -->\n\n## Validation Commands\n\n- `make test`\n\n## Acceptance Criteria\n",
        );
        assert_eq!((draft.title.as_str(), draft.kind.as_str(), draft.priority.as_str()), ("Fix", "bug", "1"));
        assert_eq!(draft.tags, ["web", "auth"]);
        assert_eq!(draft.text, "What happens:\n\n## Notes\n\nNone yet.");
        assert_eq!(draft.phases, ["Write a failing test <!-- model: opus -->", "Mend it <!-- critique: off -->"]);
        let again = parse(draft.markdown().as_bytes(), "t.md");
        assert_eq!(again.phases.iter().map(Phase::typed).collect::<Vec<_>>(), draft.phases, "settings stay");
        assert_eq!(draft.validation, ["make test"]);
        assert_eq!(draft.hidden(), None);
        assert_eq!(Draft::of_template("").text, "");
    }

    #[test]
    fn a_title_alone_is_a_ticket_that_can_be_run() {
        let ticket = parse(Draft { title: "T".into(), ..Draft::default() }.markdown().as_bytes(), "tk-1.md");
        assert_eq!((ticket.title.as_str(), ticket.phases.len(), ticket.validation.len()), ("T", 0, 0));
        assert_eq!(ticket.problems, []);
    }

    #[test]
    fn what_a_template_leaves_open_is_left_open() {
        for title in ["{title}", "{{ title }}", "<What should be true>"] {
            let draft = Draft::of_template(&format!("# {title}\n\n- [ ] {TEMPLATE_PHASE}\n"));
            assert_eq!((draft.title.as_str(), draft.phases.len()), ("", 0), "{title}");
        }
        assert_eq!(Draft::of_template("# Mend {this} soon\n").title, "Mend {this} soon");
    }
}

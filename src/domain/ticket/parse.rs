//! Reads a ticket's bytes. Never fails: what cannot be read becomes a [`Problem`] with its line and column.
//!
//! Which headings and checkboxes are phases is decided in `phases`; front matter is read in `front`.

use super::boxes::{self, Boxes};
use super::front::{self, Front, Text};
use super::outline::{Checkbox, Outline};
use super::phases::{self, Found};
use super::section::Section;
use super::{PhaseSettings, Problem, Severity, TEMPLATE_PHASE, Ticket, TicketStatus};
use crate::base::id::TicketId;
use std::collections::HashMap;

/// What stands behind the front matter of a file.
pub fn body(bytes: &[u8]) -> &[u8] {
    bytes.get(front::split(bytes).body..).unwrap_or_default()
}

/// Reads `bytes`, the content of a file called `name` (without folder).
///
/// A file with front matter is a ticket and called by its `id`, else by the file's stem; one without is a
/// plan and called by the file's name.
pub fn parse(bytes: &[u8], name: &str) -> Ticket {
    let split = front::split(bytes);
    let outline = Outline::read(bytes, split.body, split.body_line);
    let mut front = match &split.yaml {
        Some(yaml) => Front::read(&String::from_utf8_lossy(&bytes[yaml.clone()])),
        None => Front::default(),
    };
    let mut problems = std::mem::take(&mut front.problems);
    if split.unclosed {
        problems.push(Problem {
            line: 1,
            column: 1,
            message: "the front matter is not closed: end it with a line `---`".to_owned(),
            severity: Severity::Error,
        });
    }
    let is_hanks = split.yaml.is_none() && boxes::is_hanks_plan(name);
    let found = if is_hanks { phases::find_in_hanks_plan(&outline) } else { phases::find(&outline) };
    problems.extend(outline.problems.iter().cloned());
    problems.extend(twins(&found));
    problems.extend(unedited(&found));
    problems.extend(unknown_settings(&outline));
    if found.is_empty() && !is_hanks {
        problems.extend(unread(&outline));
    }

    let id = id(&front, name, split.yaml.is_some(), &mut problems);
    let status = status(front.status.as_ref(), &mut problems);
    let title = front
        .title
        .map(|title| title.value)
        .filter(|title| !title.trim().is_empty())
        .or_else(|| first_title(&outline))
        .unwrap_or_else(|| id.to_string());
    problems.sort_by_key(|problem| (problem.line, problem.column));
    Ticket {
        id,
        title,
        status,
        deps: front.deps,
        extra: front.extra,
        phases: found.into_iter().map(|found| found.phase).collect(),
        boxes: Boxes::count(&outline),
        validation: outline.commands,
        problems,
        text: String::from_utf8_lossy(&bytes[super::lines::text_start(bytes)..]).into_owned(),
    }
}

fn id(front: &Front, name: &str, is_ticket: bool, problems: &mut Vec<Problem>) -> TicketId {
    if let Some(text) = &front.id {
        match TicketId::parse(&text.value) {
            Ok(id) => return id,
            Err(error) => problems.push(problem_at(text, error.to_string(), Severity::Error)),
        }
    }
    let stem = name.strip_suffix(".md").unwrap_or(name);
    TicketId::from_file_name(if is_ticket { stem } else { name })
}

fn status(text: Option<&Text>, problems: &mut Vec<Problem>) -> Option<TicketStatus> {
    let text = text?;
    let status = TicketStatus::from_word(text.value.trim());
    if status.is_none() {
        let message = "unknown status: use open, in_progress or closed".to_owned();
        problems.push(problem_at(text, message, Severity::Warning));
    }
    status
}

fn problem_at(text: &Text, message: String, severity: Severity) -> Problem {
    Problem { line: text.line, column: text.column, message, severity }
}

fn first_title(outline: &Outline) -> Option<String> {
    outline
        .headings
        .iter()
        .find(|heading| heading.level == 1 && !heading.text.is_empty())
        .map(|heading| heading.text.clone())
}

/// A phase that nobody has written yet: Claude would have nothing to work on.
fn unedited(found: &[Found]) -> impl Iterator<Item = Problem> {
    let phases = found.iter().map(|found| &found.phase);
    phases.filter(|phase| !phase.done && phase.text == TEMPLATE_PHASE).map(|phase| Problem {
        line: phase.line,
        column: 1,
        message: "replace the placeholder phase".to_owned(),
        severity: Severity::Error,
    })
}

/// Settings of phases that cannot be used.
fn unknown_settings(outline: &Outline) -> impl Iterator<Item = Problem> {
    let boxes = outline.boxes.iter().map(|one| (one.line, one.settings.as_deref()));
    let headings = outline.headings.iter().map(|one| (one.line, one.settings.as_deref()));
    boxes.chain(headings).flat_map(|(line, comment)| {
        let wrong = comment.and_then(PhaseSettings::read).map_or_else(Vec::new, |(_, wrong)| wrong);
        wrong.into_iter().map(move |message| Problem { line, column: 1, message, severity: Severity::Warning })
    })
}

/// An open box that is nothing to programmator, in a ticket without phases: it would be closed with that box open.
fn unread(outline: &Outline) -> Option<Problem> {
    let is_told = |line| outline.problems.iter().any(|problem| problem.line == line);
    let is_command = |one: &Checkbox| outline.section(one.heading) == Section::Validation && !is_told(one.line);
    let open = outline.boxes.iter().find(|one| !one.done && !is_command(one))?;
    Some(Problem {
        line: open.line,
        column: 1,
        message: "no open checkbox of this ticket is a phase: it runs as a whole. Write phases under another heading"
            .to_owned(),
        severity: Severity::Warning,
    })
}

/// Phases are told apart by their text; two with the same are ticked from the top.
fn twins(found: &[Found]) -> Vec<Problem> {
    let mut first = HashMap::new();
    let mut problems = Vec::new();
    for Found { phase, .. } in found {
        match first.get(phase.text.as_str()) {
            None => drop(first.insert(phase.text.as_str(), phase.line)),
            Some(line) => problems.push(Problem {
                line: phase.line,
                column: 1,
                message: format!(
                    "same text as the phase in line {line}: give them different texts, because the first open one is ticked"
                ),
                severity: Severity::Warning,
            }),
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::PhaseForm;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_template_that_nobody_filled_in_is_not_run() {
        let read = |line: &str| parse(format!("# T\n\n{line}\n").as_bytes(), "t.md");
        let ticket = read(&format!("- [ ] {TEMPLATE_PHASE}"));
        let problem = ticket.problems.first().expect("a problem");
        assert!(ticket.is_broken() && problem.line == 3 && problem.message.contains("placeholder"), "{problem:?}");
        for real in ["- [ ] Write down what is done first", &format!("- [x] {TEMPLATE_PHASE}")] {
            assert!(!read(real).is_broken(), "{real}");
        }
    }

    /// `n form done text tasks` of each phase, shortened for tables.
    fn phases(text: &str) -> Vec<String> {
        parse(text.as_bytes(), "t.md")
            .phases
            .iter()
            .map(|phase| {
                let form = match phase.form {
                    PhaseForm::Checkbox => "box",
                    PhaseForm::PhaseHeading => "phase",
                    PhaseForm::NumberedHeading => "number",
                };
                let done = if phase.done { "x" } else { "-" };
                let tasks: Vec<String> = phase
                    .tasks
                    .iter()
                    .map(|task| format!(" +{}{}", task.text, if task.done { "x" } else { "" }))
                    .collect();
                let tasks = tasks.concat();
                format!("{form} {done} {}{tasks}", phase.text)
            })
            .collect()
    }

    #[test]
    fn phases_in_all_their_forms() {
        let cases: &[(&str, &[&str])] = &[
            ("- [ ] a\n* [x] b\n+ [X] c\n1. [ ] d\n2) [ ] e", &["box - a", "box x b", "box x c", "box - d", "box - e"]),
            ("- [ ] a\n  - [x] t\n    - [ ] u\n- [ ] b", &["box - a +tx +u", "box - b"]),
            ("- [ ] a\n\t* [ ] t\n- [ ] b", &["box - a +t", "box - b"]),
            ("1. [ ] a\n  - [ ] t\n2. [ ] b", &["box - a +t", "box - b"]),
            ("- group\n  - [ ] a\n  - [ ] b", &["box - a", "box - b"]),
            ("- [ ] a\n\n  more\n\n  - [ ] t\n\ntext\n\n  - [ ] b", &["box - a +t", "box - b"]),
            ("text\n\n    - [ ] code", &[]),
            // What only looks like a checkbox.
            (
                "- [2026-11-21] a\n- [NOTE] b\n- [v1.0] c\n- [#123] d\n- [x](y) e\n- [ ](y)\n- [] f\n- [x]g\n- [ ]\n[ ] h\n> - [ ] i",
                &[],
            ),
            // Hidden.
            ("```\n- [ ] a\n```\n~~~\n- [ ] b\n~~~\n<!--\n- [ ] c\n-->\n- [ ] d", &["box - d"]),
            ("- [ ] a\n  ```md\n  - [ ] hidden\n  ```\n- [ ] b", &["box - a", "box - b"]),
            ("- [ ] a\n```\n- [ ] b", &["box - a"]),
            // Which section.
            ("## Acceptance Criteria\n- [ ] ac\n## Design\n- [ ] a\n## Other\n- [ ] o", &["box - a"]),
            ("- [ ] a\n## Definition of Done\n- [ ] d\n## Notes\n- [ ] n", &["box - a"]),
            ("## Implementation Plan\n### Backend\n- [ ] a\n### Acceptance criteria\n- [ ] c", &["box - a"]),
            ("Tasks\n=====\n\n- [ ] a\n\nNotes\n-----\n\n- [ ] n", &["box - a"]),
            ("## Acceptance Criteria\n- [ ] only\n- [x] these", &["box - only", "box x these"]),
            ("## Validation Commands\n- [ ] `make`", &[]),
            ("## VALIDATION commands:\n- [ ] a\n### More\n- [ ] b", &[]),
            // Only that heading, and never a title.
            ("# Validation fails\n- [ ] a\n- [ ] b", &["box - a", "box - b"]),
            ("# Validation Commands\n- [ ] a", &["box - a"]),
            ("## Validation\n- [ ] a", &["box - a"]),
            ("## Validation rules\n- [ ] a", &["box - a"]),
            ("## Form validation\n- [ ] a", &["box - a"]),
            ("## Validate input\n- [ ] a\n## Validation Commands (CI)\n- [ ] b", &["box - a", "box - b"]),
            ("# Validation\n## Phase 1: A\n- [ ] t", &["phase - Phase 1: A +t"]),
            ("# Validation\n## 1. A\n## 2. B", &["number - 1. A", "number - 2. B"]),
            // Headings.
            (
                "## Phase 1: A\n## phase 2. B [x]\n### Phase 3 - C [ ]\n## Phase 4",
                &["phase - Phase 1: A", "phase x phase 2. B", "phase - Phase 4"],
            ),
            ("# Step 1\n# STEP 2: ü [X]\n", &["phase - Step 1", "phase x STEP 2: ü"]),
            ("## Phases\n## Phase one\n## Phase 1x2\n## Phasel 1\n## Phase1", &[]),
            (
                "## Phase 1: A\n- [ ] t\n### Step 1\n- [x] u\n## Phase 2: B\n",
                &["phase - Phase 1: A +t +ux", "phase - Phase 2: B"],
            ),
            ("## Phase 1: A\n- [ ] t\n## Follow-ups\n- [ ] later", &["phase - Phase 1: A +t"]),
            (
                "- [ ] Phase 1: A\n- [ ] Phase 2: B\n## Phase 1: A\nwords\n## Phase 2: B\n",
                &["box - Phase 1: A", "box - Phase 2: B"],
            ),
            ("## Tasks\n- [ ] A\n## Phase 1: A\n- [ ] detail", &["box - A"]),
            ("## Phase 1: A\n## Acceptance Criteria\n- [ ] ac", &["phase - Phase 1: A"]),
            ("## 1. A\n### 1. sub\n## 2. B ##\n## 4. D", &["number - 1. A", "number - 2. B"]),
            ("# 1. Title\n## 1. A\n## 2. B [x]", &["number - 1. A", "number x 2. B"]),
            ("## 1. A", &[]),
            ("## 2. A\n## 3. B", &[]),
            ("## 1. A\n## 2. B\n- [ ] a", &["box - a"]),
            ("## 1. A\n## 2. B\n## Acceptance Criteria\n- [ ] a", &["number - 1. A", "number - 2. B"]),
            ("```\n## Phase 1: A\n```\n## Phase 2: B", &["phase - Phase 2: B"]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(phases(text), *expected, "{text:?}");
            // Line ends, a byte order mark, a final newline and front matter change nothing.
            for bom in ["", "\u{feff}"] {
                for head in ["", "---\nid: a\n---\n"] {
                    for tail in ["", "\n"] {
                        let file = format!("{bom}{head}{text}{tail}");
                        assert_eq!(phases(&file), *expected, "{file:?}");
                        assert_eq!(phases(&file.replace('\n', "\r\n")), *expected, "{file:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_comment_at_a_phase_says_how_it_is_worked_on() {
        let text = "- [ ] a <!-- model: opus, critique: off -->\n- [x] b\n  <!-- effort: high -->\n  - [ ] t\n- [ ] c <!-- a note -->\n- [ ] d\n\n<!-- model: far -->\n- [ ] e\n<!-- model: opus, colour: red -->\n";
        let ticket = parse(text.as_bytes(), "t.md");
        let seen: Vec<_> = ticket.phases.iter().map(|phase| (phase.text.as_str(), phase.settings.words())).collect();
        let expected = [
            ("a", "model: opus, critique: off"),
            ("b", "effort: high"),
            ("c <!-- a note -->", ""),
            ("d", ""),
            ("e", "model: opus"),
        ];
        assert_eq!(seen, expected.map(|(text, words)| (text, words.to_owned())));
        let problems: Vec<_> = ticket.problems.iter().map(|problem| (problem.line, problem.severity)).collect();
        assert_eq!(problems, [(9, Severity::Warning)], "{:?}", ticket.problems);
        let ticket = parse(b"## Phase 1: A [x] <!-- model: m -->\n\n## Phase 2: B\n<!-- critique: on -->\n", "t.md");
        let seen: Vec<_> = ticket.phases.iter().map(|phase| (phase.done, phase.settings.words())).collect();
        assert_eq!(seen, [(true, "model: m".to_owned()), (false, "critique: on".to_owned())]);
    }

    const TICKET: &str = "---\nid: tk-4f2a\nstatus: in_progress\ndeps: [tk-1, tk-2]\nlinks: []\ncreated: 2026-01-30T10:00:00Z\ntype: task\npriority: 2\nversion: 1.10\ntags: [a, 007]\nmore: {x: 1}\n---\n# The title\n\n## Design\n- [ ] a\n";

    #[test]
    fn front_matter_is_kept_as_spelled() {
        let ticket = parse(TICKET.as_bytes(), "other.md");
        assert_eq!(ticket.id.as_str(), "tk-4f2a");
        assert_eq!(ticket.title, "The title");
        assert_eq!(ticket.status, Some(TicketStatus::InProgress));
        assert_eq!(ticket.deps, ["tk-1", "tk-2"]);
        assert_eq!(ticket.phases[0].line, 16);
        assert_eq!(ticket.problems, []);
        let extra: Vec<String> = ticket.extra.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(
            extra[..6],
            ["links=", "created=2026-01-30T10:00:00Z", "type=task", "priority=2", "version=1.10", "tags=a, 007"]
        );
    }

    #[test]
    fn names_come_from_front_matter_heading_or_file() {
        let cases = [
            ("# T\n", "my plan.md", "my-plan.md", "T"),
            ("no heading", "docs.md", "docs.md", "docs.md"),
            ("---\nstatus: open\n---\n", "tk-1.md", "tk-1", "tk-1"),
            ("---\nid: 42\ntitle: 'x: y'\n---\n# H\n", "f.md", "42", "x: y"),
            ("---\n---\n```\n# no\n```\n# Yes #\n", "f.md", "f", "Yes"),
        ];
        for (text, name, id, title) in cases {
            let ticket = parse(text.as_bytes(), name);
            assert_eq!((ticket.id.as_str(), ticket.title.as_str()), (id, title), "{text:?}");
            assert!(!ticket.is_broken(), "{text:?}");
        }
    }

    #[test]
    fn a_broken_front_matter_says_where() {
        let deep = format!("a: {}{}", "[".repeat(20), "]".repeat(20));
        let bomb = "a: &a [x, x]\nb: [*a, *a]".to_owned();
        let cases: &[(&str, usize, Option<usize>)] = &[
            ("id: a\nbad: [1, 2\nstatus: open", 4, Some(7)),
            ("id: a\n\tx: 1", 2, None),
            ("id: a\nid: b", 3, Some(1)),
            ("id: a\ntags: *x", 3, Some(7)),
            ("id: a\nx: &x 1", 3, None),
            ("id: a\nx: !foo 1", 3, None),
            ("x: 1\n<<: {y: 2}", 3, None),
            ("id: ../etc", 2, Some(5)),
            ("- a\n- b", 2, None),
            ("just text", 2, None),
            (&deep, 2, None),
            (&bomb, 2, None),
        ];
        for (yaml, line, column) in cases {
            let ticket = parse(format!("---\n{yaml}\n---\n# T\n- [ ] a\n").as_bytes(), "tk-9.md");
            assert!(ticket.is_broken(), "{yaml:?}");
            eprintln!("{yaml:?} {:?}", ticket.problems);
            let problem = &ticket.problems[0];
            assert_eq!(problem.line, *line, "{yaml:?}: {problem:?}");
            if let Some(column) = column {
                assert_eq!(problem.column, *column, "{yaml:?}: {problem:?}");
            }
            assert!(!problem.message.contains(" line "), "{problem:?}");
            assert_eq!(ticket.id.as_str(), "tk-9");
            assert_eq!(ticket.phases.len(), 1, "the body is read all the same");
        }
        let unclosed = parse(b"---\nid: a\n- [ ] a\n", "f.md");
        assert!(unclosed.is_broken());
    }

    #[test]
    fn a_huge_front_matter_is_refused_without_reading_it() {
        let huge = format!("---\n{}---\n- [ ] a\n", "k: v\n".repeat(20_000));
        let ticket = parse(huge.as_bytes(), "f.md");
        assert!(ticket.problems[0].message.contains("64 KiB"));
        assert_eq!(ticket.phases.len(), 1);
    }

    #[test]
    fn odd_values_are_warnings() {
        let cases = [
            ("status: done", "unknown status"),
            ("status: [open]", "`status` is ignored"),
            ("deps: {a: 1}", "`deps` is ignored"),
        ];
        for (yaml, expected) in cases {
            let ticket = parse(format!("---\n{yaml}\n---\n").as_bytes(), "f.md");
            assert!(!ticket.is_broken());
            assert!(ticket.problems[0].message.contains(expected), "{:?}", ticket.problems);
            assert_eq!(ticket.problems[0].line, 2);
            assert_eq!(ticket.status, None);
        }
        let twins = parse(b"- [ ] a\n- [ ] b\n- [x] a\n", "f.md").problems;
        assert_eq!((twins.len(), twins[0].line, twins[0].severity), (1, 3, Severity::Warning));
    }

    #[test]
    fn validation_commands_are_list_items_or_shell_blocks() {
        let text = "## Validation Commands\n\nwords\n- `cargo test`\n* ``echo `x` ``\n1. `make` (slow)\n- [ ] `ls`\n- no command\n\n```sh\n# comment\n$ npm test\ncargo b \\\n  --all\n```\n```json\n{}\n```\n### More\n- `last`\n## Next\n- `no`\n";
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let ticket = parse(text.as_bytes(), "f.md");
            assert_eq!(
                ticket.validation,
                ["cargo test", "echo `x`", "make", "ls", "npm test", "cargo b \\\n--all", "last"]
            );
            assert_eq!(ticket.problems.len(), 1);
            assert_eq!(ticket.problems[0].line, 8);
        }
    }

    #[test]
    fn open_boxes_none_of_which_is_a_phase_are_a_problem() {
        let cases = [
            ("# T\n## Validation Commands\n- [ ] write it\n", "t.md", Some(3)),
            ("# T\n## Validation Commands\n- [ ] `make`\n- [x] write it\n", "t.md", None),
            ("# T\n- [ ] a\n## Validation Commands\n- [ ] write it\n", "t.md", None),
            ("# T\n- [ ] a\n", "fix_plan.md", None),
        ];
        for (text, name, line) in cases {
            let problems = parse(text.as_bytes(), name).problems;
            let told = problems.iter().find(|problem| problem.message.contains("of this ticket is a phase"));
            assert_eq!(told.map(|problem| problem.line), line, "{text:?}: {problems:?}");
            assert!(told.is_none_or(|problem| problem.severity == Severity::Warning));
        }
    }

    #[test]
    fn any_bytes_are_text() {
        let ticket = parse(b"\xef\xbb\xbf- [ ] a\xffb\0\r\n", "f.md");
        assert_eq!(ticket.phases[0].text, "a\u{fffd}b\0");
        assert!(ticket.text.starts_with("- ["), "the byte order mark is gone");
    }

    #[test]
    fn many_lines_are_read_in_one_pass() {
        let text = "## Phase 1: a\n- [ ] b\n".repeat(60_000);
        assert_eq!(parse(text.as_bytes(), "f.md").phases.len(), 60_000);
    }

    proptest! {
        #[test]
        fn any_input_is_read(bytes in prop::collection::vec(any::<u8>(), 0..200), front in any::<bool>()) {
            let mut file = if front { b"---\n".to_vec() } else { Vec::new() };
            file.extend(bytes);
            let ticket = parse(&file, "f.md");
            prop_assert!(ticket.phases.iter().enumerate().all(|(at, phase)| phase.n == at + 1));
        }
    }
}

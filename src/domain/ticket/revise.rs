//! What a person, or a step, wants changed in a ticket's text: phases added, renamed, split, moved, a note appended.
//! Pure: it becomes a [`Revision`] of the file as it was read, or it is said why it cannot.
//!
//! Every change is read again before it is made: the phases must be the ones that are meant, and nothing else may read
//! differently.

mod note;
mod plan;

use super::draft::Draft;
use super::lines::{item_content, text_start};
use super::outline::Outline;
use super::parse::parse;
use super::revision::Revision;
use super::section::phase_number;
use super::{Phase, PhaseForm, Task, Ticket, front, phase_settings};
use crate::base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Longest text of a phase and of a note, in bytes.
const LONGEST_PHASE: usize = 1_000;
const LONGEST_NOTE: usize = 20_000;

/// Which phase is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhasePlace {
    pub text: String,
    /// Of several phases with this text, which, from 0.
    pub nth: usize,
}

/// A change of a ticket's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TicketEdit {
    /// New phases behind this one, else behind all.
    Add {
        texts: Vec<String>,
        after: Option<PhasePlace>,
    },
    Rename {
        phase: PhasePlace,
        text: String,
    },
    /// The first text is the phase's; the others are new phases behind it.
    Split {
        phase: PhasePlace,
        texts: Vec<String>,
    },
    /// The phase trades places with the one before it or behind it.
    Move {
        phase: PhasePlace,
        to: Direction,
    },
    /// A note below the others, in the form that `tk add-note` gives it.
    Note {
        text: String,
    },
    /// An accepted draft, for a ticket without phases.
    Plan {
        draft: Box<Draft>,
        /// What the file said when it was made to be planned.
        made: Option<Box<Draft>>,
        /// Ids of the tickets that the draft splits off, which it waits for.
        #[serde(default)]
        deps: Vec<String>,
    },
}

/// What is to be changed in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revised {
    pub revision: Revision,
    /// A phase has another text now: the one before, and the new one.
    pub renamed: Option<(String, String)>,
}

/// Where a phase is moved, by one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    Up,
    Down,
}

impl TicketEdit {
    /// What it does, in a few words for log and journal.
    pub fn words(&self) -> String {
        let quoted = |texts: &[String]| texts.iter().map(|text| format!("“{text}”")).collect::<Vec<_>>().join(", ");
        match self {
            Self::Add { texts, .. } => format!("added {}", quoted(texts)),
            Self::Rename { phase, text } => format!("renamed “{}” to “{text}”", phase.text),
            Self::Split { phase, texts } => format!("split “{}” into {}", phase.text, quoted(texts)),
            Self::Move { phase, to: Direction::Up } => format!("moved “{}” up", phase.text),
            Self::Move { phase, to: Direction::Down } => format!("moved “{}” down", phase.text),
            Self::Note { .. } => "added a note".to_owned(),
            Self::Plan { draft, deps, .. } if deps.is_empty() => format!("planned {}", quoted(&draft.phases)),
            Self::Plan { draft, deps, .. } => format!("planned {}, after {}", quoted(&draft.phases), deps.join(", ")),
        }
    }
}

/// Why a change cannot be made, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRevised {
    #[error("“{0}” is no longer in the ticket")]
    NoSuchPhase(String),
    #[error("the text is empty")]
    NoText,
    #[error("a phase is one line of at most {LONGEST_PHASE} bytes, without control characters")]
    NoLine,
    #[error("a note is at most {LONGEST_NOTE} bytes, without control characters")]
    NoNote,
    #[error("“{0}” is already the {1} phase")]
    AtTheEnd(String, &'static str),
    #[error("a split needs two texts or more")]
    NotSplit,
    #[error("the ticket already has phases")]
    HasPhases,
    #[error("nothing to change")]
    AlreadySo,
    #[error("`deps` cannot be changed in the front matter: edit the file")]
    NoDeps,
    #[error("the ticket is not valid UTF-8: edit the file")]
    NotText,
    #[error("this text would change how the ticket is read: edit the file")]
    Unreadable,
}

/// What the change is in the file of these bytes, which is called `name` (without folder).
pub fn revise(bytes: &[u8], name: &str, edit: &TicketEdit, now: Timestamp) -> Result<Revised, NotRevised> {
    let before = std::str::from_utf8(bytes).map_err(|_| NotRevised::NotText)?;
    let waiting = edit.waiting(bytes)?;
    let (bytes, text) = (&*waiting, std::str::from_utf8(&waiting).map_err(|_| NotRevised::NotText)?);
    let split = front::split(bytes);
    let outline = Outline::read(bytes, split.body, split.body_line);
    let file = File { ticket: parse(bytes, name), outline, lines: text.split('\n').collect() };
    let candidates = match edit {
        TicketEdit::Note { text } => file.noted(text, now)?,
        TicketEdit::Plan { draft, made, .. } => file.planned(bytes, draft, made.as_deref())?,
        edit => vec![file.changed(edit)?],
    };
    let made = candidates.into_iter().find(|made| file.reads_as(made, name)).ok_or(NotRevised::Unreadable)?;
    let before: Vec<&str> = before.split('\n').collect();
    let revision = Revision::between(&before, &made.lines).ok_or(NotRevised::AlreadySo)?;
    Ok(Revised { revision, renamed: made.renamed })
}

struct File<'a> {
    ticket: Ticket,
    outline: Outline,
    lines: Vec<&'a str>,
}

/// Of each phase its text, whether it is ticked, and what is nested in it.
type Phases = Vec<(String, bool, Vec<Task>)>;

/// What a file is to be: its lines, and what is to be read from them.
struct Made {
    lines: Vec<String>,
    phases: Phases,
    validation: Vec<String>,
    title: String,
    renamed: Option<(String, String)>,
}

impl File<'_> {
    fn changed(&self, edit: &TicketEdit) -> Result<Made, NotRevised> {
        let mut made = self.unchanged();
        match edit {
            TicketEdit::Add { texts, after } => {
                let after = after.as_ref().map(|after| self.find(after)).transpose()?;
                self.add(&mut made, texts, after.or(self.ticket.phases.len().checked_sub(1)))?;
            }
            TicketEdit::Rename { phase, text } => self.rename(&mut made, self.find(phase)?, text)?,
            TicketEdit::Split { phase, texts } => {
                let ([first, others @ ..], at) = (&texts[..], self.find(phase)?) else {
                    return Err(NotRevised::NotSplit);
                };
                if others.is_empty() {
                    return Err(NotRevised::NotSplit);
                }
                // From below, so that the lines above keep their places.
                self.add(&mut made, others, Some(at))?;
                self.rename(&mut made, at, first)?;
            }
            TicketEdit::Move { phase, to } => {
                let at = self.find(phase)?;
                let (first, end) = match to {
                    Direction::Up => (at.checked_sub(1), "first"),
                    Direction::Down => (Some(at).filter(|at| at + 1 < self.ticket.phases.len()), "last"),
                };
                self.swap(&mut made, first.ok_or_else(|| NotRevised::AtTheEnd(phase.text.clone(), end))?);
            }
            TicketEdit::Note { .. } | TicketEdit::Plan { .. } => {}
        }
        Ok(made)
    }

    fn unchanged(&self) -> Made {
        let phases = self.ticket.phases.iter().map(|phase| (phase.text.clone(), phase.done, phase.tasks.clone()));
        Made {
            lines: self.lines.iter().map(|line| (*line).to_owned()).collect(),
            phases: phases.collect(),
            validation: self.ticket.validation.clone(),
            title: self.ticket.title.clone(),
            renamed: None,
        }
    }

    fn find(&self, wanted: &PhasePlace) -> Result<usize, NotRevised> {
        let named = self.ticket.phases.iter().enumerate().filter(|(_, phase)| phase.text == wanted.text);
        let found = named.map(|(at, _)| at).nth(wanted.nth);
        found.ok_or_else(|| NotRevised::NoSuchPhase(wanted.text.clone()))
    }

    fn rename(&self, made: &mut Made, at: usize, text: &str) -> Result<(), NotRevised> {
        let phase = &self.ticket.phases[at];
        let text = worded(phase, line_of(text)?);
        let line = &mut made.lines[phase.line - 1];
        let behind = prefix(phase, line).ok_or(NotRevised::Unreadable)?.len();
        let from = behind + line[behind..].find(&phase.text).ok_or(NotRevised::Unreadable)?;
        line.replace_range(from..from + phase.text.len(), &text);
        made.renamed = Some((phase.text.clone(), text.clone()));
        made.phases[at].0 = text;
        Ok(())
    }

    /// New phases behind this one, in its form; in a ticket without phases as boxes of a section of their own.
    fn add(&self, made: &mut Made, texts: &[String], after: Option<usize>) -> Result<(), NotRevised> {
        if texts.is_empty() {
            return Err(NotRevised::NoText);
        }
        let Some(at) = after else {
            let texts = texts.iter().map(|text| line_of(text)).collect::<Result<Vec<_>, _>>()?;
            let boxes = texts.iter().map(|text| format!("- [ ] {text}"));
            let lines = ["", "## Phases", ""].map(str::to_owned).into_iter().chain(boxes);
            self.insert(made, self.end(), lines);
            made.phases = texts.into_iter().map(|text| (text.to_owned(), false, Vec::new())).collect();
            return Ok(());
        };
        let phase = &self.ticket.phases[at];
        let mut numbers = self.ticket.phases.iter().filter_map(|phase| phase_number(&phase.text)).max().unwrap_or(0);
        let (mut lines, mut phases) = (Vec::new(), Vec::new());
        for (more, text) in (1..).zip(texts) {
            let text = line_of(text)?;
            let text = match phase.form {
                PhaseForm::PhaseHeading if phase_number(text).is_none() => {
                    numbers += 1;
                    format!("{} {numbers}: {text}", phase.text.split_whitespace().next().unwrap_or("Phase"))
                }
                PhaseForm::NumberedHeading => format!("{}. {text}", at + 1 + more),
                _ => text.to_owned(),
            };
            if phase.form == PhaseForm::Checkbox {
                let prefix = prefix(phase, self.lines[phase.line - 1]).ok_or(NotRevised::Unreadable)?;
                let open = prefix.replace("[x]", "[ ]").replace("[X]", "[ ]");
                lines.push(format!("{}{text}", counted_on(&open, more)));
            } else {
                let level = self.outline.headings.iter().find(|heading| heading.line == phase.line);
                let hashes = "#".repeat(level.map_or(2, |heading| heading.level));
                lines.extend([String::new(), format!("{hashes} {text}")]);
            }
            phases.push((text, false, Vec::new()));
        }
        self.insert(made, self.block(phase).1, lines);
        let behind = made.phases.split_off(at + 1);
        made.phases.extend(phases.into_iter().chain(behind));
        Ok(())
    }

    /// This phase and the next one trade places, each with what stands below it.
    fn swap(&self, made: &mut Made, first: usize) {
        let [(from, end), (next, last)] = [first, first + 1].map(|at| self.block(&self.ticket.phases[at]));
        let lines = &self.lines;
        let swapped = [&lines[next..last], &lines[end..next], &lines[from..end]].concat();
        made.lines.splice(from..last, swapped.into_iter().map(str::to_owned));
        made.phases.swap(first, first + 1);
    }

    /// Puts lines before the one at this place, ended as the others are.
    fn insert(&self, made: &mut Made, at: usize, lines: impl IntoIterator<Item = String>) {
        let end = if self.lines[0].ends_with('\r') { "\r" } else { "" };
        let mut lines: Vec<String> = lines.into_iter().map(|line| line + end).collect();
        // Behind a last line that has no end, the new last one has none.
        if at == self.lines.len() && !end.is_empty() {
            if let Some(last) = lines.last_mut() {
                last.pop();
            }
            if let Some(last) = made.lines.last_mut() {
                last.push('\r');
            }
        }
        made.lines.splice(at..at, lines);
    }

    /// Behind the last line that is not blank.
    fn end(&self) -> usize {
        self.trimmed(0, self.lines.len())
    }

    fn trimmed(&self, from: usize, end: usize) -> usize {
        let last = self.lines[from..end].iter().rposition(|line| !line.trim().is_empty());
        last.map_or(from, |last| from + last + 1)
    }

    /// The lines of a heading and what stands below it, without blanks at the end.
    fn section(&self, at: usize) -> (usize, usize) {
        let headings = &self.outline.headings;
        let next = headings[at + 1..].iter().find(|next| next.level <= headings[at].level);
        let from = headings[at].line - 1;
        (from, self.trimmed(from, next.map_or(self.lines.len(), |next| next.line - 1)))
    }

    /// The lines of a phase: its own and those that belong to it.
    fn block(&self, phase: &Phase) -> (usize, usize) {
        let from = phase.line - 1;
        if let Some(at) = self.outline.headings.iter().position(|heading| heading.line == phase.line) {
            return self.section(at);
        }
        let column = |line: &str| line.len() - line.trim_start().len();
        let own = column(self.lines[from]);
        let mut was_blank = false;
        let mut end = from + 1;
        end += usize::from(self.lines.get(end).is_some_and(|line| phase_settings::is_line(line)));
        while let Some(line) = self.lines.get(end) {
            let rest = line.trim();
            let continues = !was_blank
                && item_content(rest.as_bytes()).is_none()
                && !rest.starts_with(['#', '`', '~', '<', '-', '=', '>', '|']);
            if !rest.is_empty() && column(line) < own + 2 && !continues {
                break;
            }
            was_blank = rest.is_empty();
            end += 1;
        }
        (from, self.trimmed(from, end))
    }

    /// The phases are those that are meant, and the rest of the ticket says what it said.
    fn reads_as(&self, made: &Made, name: &str) -> bool {
        let (old, new) = (&self.ticket, parse(made.lines.join("\n").as_bytes(), name));
        let read = new.phases.iter().map(|phase| (&phase.text, phase.done, &phase.tasks));
        read.eq(made.phases.iter().map(|(text, done, tasks)| (text, *done, tasks)))
            && (&new.title, &new.validation) == (&made.title, &made.validation)
            && (&new.id, new.status) == (&old.id, old.status)
            && new.problems.len() <= old.problems.len() + 1
    }
}

/// The text of a phase, as it can stand in the file.
fn line_of(text: &str) -> Result<&str, NotRevised> {
    let text = text.trim();
    match text {
        "" => Err(NotRevised::NoText),
        text if text.len() > LONGEST_PHASE || text.chars().any(char::is_control) => Err(NotRevised::NoLine),
        text => Ok(text),
    }
}

/// A heading that is a phase by its number keeps it.
fn worded(phase: &Phase, text: &str) -> String {
    let number = match phase.form {
        PhaseForm::Checkbox => None,
        PhaseForm::PhaseHeading if phase_number(text).is_some() => None,
        PhaseForm::PhaseHeading => phase.text.split_inclusive([':', '.', '-', '–', '—', ')']).next(),
        PhaseForm::NumberedHeading if text.starts_with(|c: char| c.is_ascii_digit()) => None,
        PhaseForm::NumberedHeading => phase.text.split_inclusive('.').next(),
    };
    number.map_or_else(|| text.to_owned(), |number| format!("{} {text}", number.trim_end()))
}

/// What stands before a phase's text in its line.
fn prefix<'a>(phase: &Phase, line: &'a str) -> Option<&'a str> {
    let behind = match phase.form {
        PhaseForm::Checkbox => line.find("] ").or_else(|| line.find("]\t"))? + 2,
        _ => line.len() - line[text_start(line.as_bytes())..].trim_start().trim_start_matches('#').len(),
    };
    line.get(..behind)
}

/// The bullet of an item so many behind: the next numbers, where it is numbered.
fn counted_on(prefix: &str, more: usize) -> String {
    let blanks = prefix.len() - prefix.trim_start().len();
    let digits = prefix[blanks..].bytes().take_while(u8::is_ascii_digit).count();
    match prefix[blanks..blanks + digits].parse::<usize>() {
        Ok(number) => format!("{}{}{}", &prefix[..blanks], number + more, &prefix[blanks + digits..]),
        Err(_) => prefix.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> PhasePlace {
        PhasePlace { text: text.to_owned(), nth: 0 }
    }

    fn add(texts: &[&str], after: Option<&str>) -> TicketEdit {
        TicketEdit::Add { texts: texts.iter().map(ToString::to_string).collect(), after: after.map(at) }
    }

    fn rename(phase: &str, text: &str) -> TicketEdit {
        TicketEdit::Rename { phase: at(phase), text: text.to_owned() }
    }

    fn split(phase: &str, texts: &[&str]) -> TicketEdit {
        TicketEdit::Split { phase: at(phase), texts: texts.iter().map(ToString::to_string).collect() }
    }

    fn shift(phase: &str, to: Direction) -> TicketEdit {
        TicketEdit::Move { phase: at(phase), to }
    }

    fn note(text: &str) -> TicketEdit {
        TicketEdit::Note { text: text.to_owned() }
    }

    fn made(file: &str, edit: &TicketEdit) -> Result<String, NotRevised> {
        let Revised { revision, .. } = revise(file.as_bytes(), "t.md", edit, Timestamp::from_millis(0))?;
        let bytes = revision.apply(file.as_bytes()).unwrap();
        assert_eq!(revision.reversed().apply(&bytes).unwrap(), file.as_bytes(), "taken back");
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn phases_are_changed_in_their_own_form_and_nothing_else_is() {
        for (file, edit, expected) in [
            (
                "# T\n- [x] a\n  more\n- [ ] b\n\nEnd",
                add(&["n"], Some("a")),
                "# T\n- [x] a\n  more\n- [ ] n\n- [ ] b\n\nEnd",
            ),
            ("* [ ] a", add(&["n", "m"], None), "* [ ] a\n* [ ] n\n* [ ] m"),
            ("1. [x] a\r\n", add(&["n"], None), "1. [x] a\r\n2. [ ] n\r\n"),
            ("# T\r\n- [ ] a", add(&["n"], None), "# T\r\n- [ ] a\r\n- [ ] n"),
            ("# T\n\nDo.\n", add(&["n"], None), "# T\n\nDo.\n\n## Phases\n\n- [ ] n\n"),
            ("## Phase 1: A\nx\n\n## Notes\n", add(&["n"], None), "## Phase 1: A\nx\n\n## Phase 2: n\n\n## Notes\n"),
            ("## 1. A\n## 2. B\nx\n", add(&["n"], None), "## 1. A\n## 2. B\nx\n\n## 3. n\n"),
            ("- [x]  a \n- [ ] b\n", rename("a", "ü [x] `c`"), "- [x]  ü [x] `c` \n- [ ] b\n"),
            ("## Phase 1: A ## [x]\r\n", rename("Phase 1: A", "B"), "## Phase 1: B ## [x]\r\n"),
            ("\u{feff}## Step 1. A\n", rename("Step 1. A", "Step 1. B"), "\u{feff}## Step 1. B\n"),
            ("## 1. A\n## 2. B\n", rename("2. B", "C"), "## 1. A\n## 2. C\n"),
            ("- [ ] a\n  - [x] t\n- [ ] b\n", split("a", &["n", "m"]), "- [ ] n\n  - [x] t\n- [ ] m\n- [ ] b\n"),
            ("## Phase 1: A\n- [ ] t\n", split("Phase 1: A", &["n", "m"]), "## Phase 1: n\n- [ ] t\n\n## Phase 2: m\n"),
            ("- [x] a\n  - [ ] t\n\n- [ ] b\nlazy", shift("a", Direction::Down), "- [ ] b\nlazy\n\n- [x] a\n  - [ ] t"),
            (
                "## Phase 1: A\nx\n\n## Phase 2: B\n",
                shift("Phase 2: B", Direction::Up),
                "## Phase 2: B\n\n## Phase 1: A\nx\n",
            ),
            ("- [ ] a\n", note("x"), "- [ ] a\n\n## Notes\n\n**1970-01-01T00:00:00Z**\n\nx\n"),
            (
                "- [ ] a\n\n## Notes\n\nold\n\n## End\n",
                note("x\n\ny"),
                "- [ ] a\n\n## Notes\n\nold\n\n**1970-01-01T00:00:00Z**\n\nx\n\ny\n\n## End\n",
            ),
            ("- [ ] a", note("# x\n```"), "- [ ] a\n\n## Notes\n\n**1970-01-01T00:00:00Z**\n\n> # x\n> ```"),
        ] {
            assert_eq!(made(file, &edit).as_deref(), Ok(expected), "{file:?} {edit:?}");
        }
    }

    #[test]
    fn an_accepted_draft_goes_below_what_stands_there() {
        let draft = |phases: [&str; 2], validation: &[&str]| Draft {
            title: "New".into(),
            text: "Text.".into(),
            phases: phases.map(str::to_owned).to_vec(),
            validation: validation.iter().map(ToString::to_string).collect(),
            ..Draft::default()
        };
        let plan = |draft: Draft| TicketEdit::Plan { draft: Box::new(draft), made: None, deps: Vec::new() };
        let two = || draft(["a", "b"], &["make"]);
        for (file, edit, expected) in [
            (
                "# T\n",
                plan(draft(["a <!-- model: m -->", "b"], &[])),
                "# T\n\n## Design\n\n- [ ] a <!-- model: m -->\n- [ ] b\n",
            ),
            ("", plan(two()), "\n## Design\n\n- [ ] a\n- [ ] b\n\n## Validation Commands\n\n- `make`\n"),
            (
                "# T\r\n\r\nDo.\r\n",
                plan(two()),
                "# T\r\n\r\nDo.\r\n\r\n## Design\r\n\r\n- [ ] a\r\n- [ ] b\r\n\r\n## Validation Commands\r\n\r\n- `make`\r\n",
            ),
            (
                "# T\n\n## Design\n\nBy hand.\n\n## Validation Commands\n\n- `make`\n- `lint`\n\n## Notes\n\nx\n",
                plan(draft(["a", "b"], &["make", "`x`"])),
                "# T\n\n## Design\n\nBy hand.\n\n- [ ] a\n- [ ] b\n\n## Validation Commands\n\n- `make`\n- `lint`\n- `` `x` ``\n\n## Notes\n\nx\n",
            ),
            (
                "# T\n\n## Acceptance Criteria\n\nGood.\n",
                plan(draft(["a", "b"], &[])),
                "# T\n\n## Design\n\n- [ ] a\n- [ ] b\n\n## Acceptance Criteria\n\nGood.\n",
            ),
        ] {
            assert_eq!(made(file, &edit).as_deref(), Ok(expected), "{file:?}");
        }
        let seed =
            Draft { title: "Idea".into(), text: "Mine.".into(), validation: vec!["own".into()], ..Draft::default() };
        let fresh = format!("---\nid: t\n---\n{}", seed.markdown());
        let whole = |draft: Draft| TicketEdit::Plan {
            draft: Box::new(draft),
            made: Some(Box::new(seed.clone())),
            deps: Vec::new(),
        };
        let planned = made(&fresh, &whole(two())).unwrap();
        assert!(planned.starts_with("---\nid: t\n---\n# New\n\nText.\n\n## Design\n\n- [ ] a\n"), "{planned}");
        assert!(planned.contains("- `own`\n- `make`\n"), "{planned}");
        let edited = fresh.replace("Mine.", "Mine, and more.");
        let planned = made(&edited, &whole(two())).unwrap();
        assert!(planned.contains("# Idea\n\nMine, and more.\n\n## Design\n"), "a person's words stay: {planned}");
        assert_eq!(made("- [ ] x\n", &plan(two())), Err(NotRevised::HasPhases));
        assert_eq!(made("Text\n```\nopen", &plan(two())), Err(NotRevised::Unreadable));
    }

    #[test]
    fn what_cannot_be_is_said() {
        for (file, edit, why) in [
            ("- [ ] a\n", rename("b", "c"), "“b” is no longer in the ticket"),
            ("- [ ] a\n", rename("a", "a"), "nothing to change"),
            ("- [ ] a\n", rename("a", " "), "the text is empty"),
            ("- [ ] a\n", rename("a", "x\u{1b}[2J"), "a phase is one line"),
            ("- [ ] a\n", add(&["x\ny"], None), "a phase is one line"),
            ("- [ ] a\n", split("a", &["x"]), "a split needs two"),
            ("- [ ] a\n", shift("a", Direction::Up), "“a” is already the first phase"),
            ("- [ ] a\n", shift("a", Direction::Down), "“a” is already the last phase"),
            ("- [ ] a\n", note("\u{1b}[2J"), "a note is at most"),
            ("- [ ] a\n```\nopen", add(&["n"], None), ""),
            ("## 1. A\n## 2. B\n", shift("1. A", Direction::Down), "would change how the ticket is read"),
            ("## 1. A\n## 2. B\n", add(&["n"], Some("1. A")), "would change how the ticket is read"),
            ("Text\n```\nopen", add(&["n"], None), "would change how the ticket is read"),
        ] {
            match made(file, &edit) {
                Err(error) => assert!(!why.is_empty() && error.to_string().contains(why), "{edit:?}: {error}"),
                Ok(text) => assert!(why.is_empty(), "{edit:?}: {text}"),
            }
        }
        let broken = revise(b"- [ ] a\xff\n", "t.md", &add(&["n"], None), Timestamp::from_millis(0));
        assert_eq!(broken, Err(NotRevised::NotText));
    }

    #[test]
    fn of_several_with_one_text_the_one_that_is_meant_is_changed() {
        let edit = TicketEdit::Rename { phase: PhasePlace { text: "a".into(), nth: 1 }, text: "c".into() };
        assert_eq!(made("- [x] a\n- [ ] b\n- [ ] a\n", &edit).as_deref(), Ok("- [x] a\n- [ ] b\n- [ ] c\n"));
    }

    proptest! {
        #[test]
        fn a_change_that_is_made_reads_as_it_is_meant_and_can_be_taken_back(
            lines in prop::collection::vec(prop_oneof![
                "[-*] \\[[ x]\\] [a-c]", "  - \\[ \\] [a-c]", "[1-3]\\. \\[[ x]\\] [a-c]",
                "## (Phase [1-3]: [a-c]|[1-3]\\. [a-c]|Notes|Design)", "```|<!--|-->|", "\\PC{0,6}",
            ], 0..12),
            end in prop_oneof![Just("\n"), Just("\r\n")],
            texts in prop::collection::vec("\\PC{1,8}", 2..3),
            which in any::<prop::sample::Index>(), kind in 0..6,
        ) {
            let file = lines.join(end);
            let before = parse(file.as_bytes(), "t.md");
            let phase = (!before.phases.is_empty()).then(|| &before.phases[which.index(before.phases.len())]);
            let place = at(phase.map_or("", |phase| &phase.text));
            let edit = match kind {
                0 => TicketEdit::Add { texts, after: phase.map(|_| place) },
                1 => TicketEdit::Rename { phase: place, text: texts[0].clone() },
                2 => TicketEdit::Split { phase: place, texts },
                3 => shift(&place.text, Direction::Down),
                4 => TicketEdit::Plan {
                    draft: Box::new(Draft { phases: texts, validation: vec!["make".to_owned()], ..Draft::default() }),
                    made: None,
                    deps: Vec::new(),
                },
                _ => note(&texts.join("\n")),
            };
            if let Ok(edited) = made(&file, &edit) {
                let after = parse(edited.as_bytes(), "t.md");
                let grown = match kind { 0 | 4 => 2, 2 => 1, _ => 0 };
                prop_assert_eq!(after.phases.len(), before.phases.len() + grown);
                let is_new = kind == 4 && !before.validation.contains(&"make".to_owned());
                let validation = before.validation.into_iter().chain(is_new.then(|| "make".to_owned()));
                prop_assert_eq!(after.validation, validation.collect::<Vec<_>>());
            }
        }
    }
}

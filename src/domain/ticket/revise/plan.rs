//! Puts an accepted draft into a ticket that has no phases: boxes below `## Design`, and items below
//! `## Validation Commands`. Nothing that stands there is changed, unless the file is still what was made to be planned.

use super::{File, Made, NotRevised, Phases, TicketEdit, line_of};
use crate::domain::ticket::PhaseSettings;
use crate::domain::ticket::card;
use crate::domain::ticket::draft::{Draft, item};
use crate::domain::ticket::edit::Unchanged;
use crate::domain::ticket::parse::body;
use std::borrow::Cow;

impl File<'_> {
    /// The places to try, the best first. `made`: what the file said when it was made to be planned.
    pub(super) fn planned(&self, bytes: &[u8], draft: &Draft, made: Option<&Draft>) -> Result<Vec<Made>, NotRevised> {
        if !self.ticket.phases.is_empty() {
            return Err(NotRevised::HasPhases);
        }
        let texts = draft.phases.iter().map(|text| line_of(text)).collect::<Result<Vec<_>, _>>()?;
        if texts.is_empty() {
            return Err(NotRevised::NoText);
        }
        let bare = |text: &&str| (PhaseSettings::off(text).to_owned(), false, Vec::new());
        let phases: Phases = texts.iter().map(bare).collect();
        let boxes: Vec<String> = texts.iter().map(|text| format!("- [ ] {text}")).collect();
        if let Some(made) = made.filter(|made| made.markdown().as_bytes() == body(bytes)) {
            return Ok(vec![self.anew(draft, made, phases)]);
        }
        let kept = &self.ticket.validation;
        let new: Vec<&String> = draft.validation.iter().filter(|command| !kept.contains(command)).collect();
        let places = [self.design(), Some((self.before_checks(), "## Design")), Some((self.end(), "## Design"))];
        let places = places.into_iter().flatten().chain([(self.end(), "## Phases")]);
        let made = places.map(|(at, heading)| {
            let head = ["", heading, ""].map(str::to_owned);
            // Below a heading that is there, one blank line is enough.
            let head = head.into_iter().skip(if heading.is_empty() { 2 } else { 0 });
            let mut made = self.unchanged();
            let (checks, items) = self.checks(&new);
            if checks >= at {
                self.insert(&mut made, checks, items);
                self.insert(&mut made, at, head.chain(boxes.clone()));
            } else {
                self.insert(&mut made, at, head.chain(boxes.clone()));
                self.insert(&mut made, checks, items);
            }
            made.phases.clone_from(&phases);
            made.validation.extend(new.iter().map(|command| (*command).clone()));
            made
        });
        Ok(made.collect())
    }

    /// A file that is still as it was made says what the draft says, below its front matter.
    fn anew(&self, draft: &Draft, made: &Draft, phases: Phases) -> Made {
        let title = if draft.title.is_empty() { made.title.clone() } else { draft.title.clone() };
        let text = if draft.text.is_empty() { made.text.clone() } else { draft.text.clone() };
        let kept = &self.ticket.validation;
        let new = draft.validation.iter().filter(|command| !kept.contains(command));
        let validation = kept.iter().chain(new).cloned().collect();
        let draft = Draft { title, text, phases: draft.phases.clone(), validation, ..made.clone() };
        let markdown = draft.markdown();
        let old = made.markdown().split('\n').count();
        let front = self.lines[..self.lines.len() - old].iter().map(|line| (*line).to_owned());
        let lines: Vec<String> = front.chain(markdown.split('\n').map(str::to_owned)).collect();
        Made { lines, phases, title: draft.title(), validation: draft.validation, renamed: None }
    }

    /// Behind what stands below `## Design`.
    fn design(&self) -> Option<(usize, &'static str)> {
        let is_it = |text: &str| text.eq_ignore_ascii_case("design");
        let at = self.outline.headings.iter().position(|heading| heading.level > 1 && is_it(&heading.text))?;
        Some((self.section(at).1, ""))
    }

    fn heading_of_checks(&self) -> Option<usize> {
        let is_it = |text: &str| text.trim().eq_ignore_ascii_case("validation commands");
        self.outline.headings.iter().position(|heading| heading.level > 1 && is_it(&heading.text))
    }

    /// Above the validation commands or the acceptance criteria, whichever comes first; else at the end.
    fn before_checks(&self) -> usize {
        let is_later = |text: &str| {
            ["validation commands", "acceptance criteria", "notes"].contains(&text.trim().to_lowercase().as_str())
        };
        let first = self.outline.headings.iter().find(|heading| heading.level > 1 && is_later(&heading.text));
        first.map_or_else(|| self.end(), |heading| self.trimmed(0, heading.line - 1))
    }

    /// Where new commands go, and as which lines.
    fn checks(&self, new: &[&String]) -> (usize, Vec<String>) {
        if new.is_empty() {
            return (self.lines.len(), Vec::new());
        }
        let items = new.iter().map(|command| item(command));
        if let Some(at) = self.heading_of_checks() {
            let blank = self.ticket.validation.is_empty().then(String::new);
            (self.section(at).1, blank.into_iter().chain(items).collect())
        } else {
            let head = ["", "## Validation Commands", ""].map(str::to_owned);
            (self.end(), head.into_iter().chain(items).collect())
        }
    }
}

impl TicketEdit {
    /// The file with the deps that come with a plan: the tickets that it is split into come first.
    pub(super) fn waiting<'a>(&self, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, NotRevised> {
        match self {
            Self::Plan { deps, .. } if !deps.is_empty() => match card::add(bytes, "deps", deps) {
                Ok(waiting) => Ok(Cow::Owned(waiting)),
                Err(Unchanged::AlreadySo) => Ok(Cow::Borrowed(bytes)),
                Err(_) => Err(NotRevised::NoDeps),
            },
            _ => Ok(Cow::Borrowed(bytes)),
        }
    }
}

//! The files that differ between two snapshots, to be looked at line by line.

use super::foot::Foot;
use crate::base::amount;
use crate::domain::changes::Changes;
use crate::domain::request::Request;
use crate::domain::restore::listed;
use crate::tui::changes::Compared;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::diff::Diff;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::panes::changes::line;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred};
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeSet;

/// Said where other tickets' runs have changed some of the files.
const OTHERS: &str = "After some files: the tickets whose runs changed them since. R skips those unless ticked.";

/// Lines of a list at least.
pub(super) const LEAST: usize = 6;

pub(super) struct Files {
    compared: Compared,
    /// From what to what.
    words: String,
    told: Option<Result<Changes, String>>,
    at: usize,
    /// Files that are to be restored alone.
    pub(super) ticked: BTreeSet<String>,
}

#[allow(clippy::large_enum_variant, reason = "it lives for one key")]
pub(super) enum Outcome {
    Stays,
    Leaves,
    Shows(Box<Diff>, Ask),
}

/// Other tickets stand behind some of the files that are listed.
fn has_others(told: &Changes) -> bool {
    told.files.iter().any(|file| told.others.contains_key(&file.path))
}

impl Files {
    /// What differs there, and the request for it.
    pub(super) fn of(compared: Compared, words: String) -> (Self, Ask) {
        let (run, since) = compared.clone();
        (
            Self { compared, words, told: None, at: 0, ticked: BTreeSet::new() },
            Ask::Request(Request::Changes(run, since)),
        )
    }

    pub(super) fn tell(&mut self, compared: &Compared, changes: &Result<Changes, String>) -> bool {
        let is_it = self.compared == *compared;
        if is_it {
            self.told = Some(changes.clone());
            self.at = self.at.min(self.changes().map_or(0, |changes| changes.files.len()).saturating_sub(1));
        }
        is_it
    }

    fn changes(&self) -> Option<&Changes> {
        self.told.as_ref()?.as_ref().ok()
    }

    pub(super) fn key(&mut self, command: Option<Command>, lines: i32) -> Outcome {
        match command {
            Some(Command::Close) => return Outcome::Leaves,
            Some(Command::Choose) => {
                if let Some(told) = self.changes()
                    && let Some((diff, ask)) =
                        Diff::of(self.compared.clone(), told.top.clone(), told.files.clone(), self.at)
                {
                    return Outcome::Shows(Box::new(diff.of_timeline()), ask);
                }
            }
            Some(Command::Toggle) => {
                let path = self.changes().and_then(|told| told.files.get(self.at)).map(|file| file.path.clone());
                if let Some(path) = path.filter(|path| !self.ticked.remove(path)) {
                    self.ticked.insert(path);
                }
            }
            _ => {
                let last = self.changes().map_or(0, |told| told.files.len()).saturating_sub(1);
                self.at = self.at.saturating_add_signed(lines as isize).min(last);
            }
        }
        Outcome::Stays
    }

    pub(super) fn view(
        &self,
        (scope, words): (Scope, &str),
        model: &Model,
        theme: &Theme,
        room: Rect,
        buf: &mut Buffer,
    ) {
        let title = format!("Timeline · snapshot {}", self.words);
        let status = match self.changes() {
            Some(told) if told.total > told.files.len() => format!("{} of {} files", told.files.len(), told.total),
            Some(told) => amount::counted(told.total, "file"),
            None => String::new(),
        };
        let own = match self.ticked.len() {
            0 if self.changes().is_some_and(has_others) => OTHERS.to_owned(),
            0 => String::new(),
            n => format!("{} ticked: R restores only those.", amount::counted(n, "file")),
        };
        let is_empty = self.changes().is_none_or(|told| told.files.is_empty());
        let all = [Command::Choose, Command::Toggle, Command::Own("restore"), Command::Close];
        let keys = match scope {
            Scope::Confirm => &[Command::Yes, Command::No][..],
            _ if is_empty => &all[3..],
            _ => &all[..],
        };
        let words = if words.is_empty() { &own } else { words };
        let foot = Foot::of(words, hints(model, scope, keys), room.width.saturating_sub(4).into());
        let rows = self.changes().map_or(0, |told| told.files.len()).max(LEAST) as u16;
        let place = centred(room, room.width, rows + 2 + foot.height());
        let inside = Frame::dialog(&title, &status, model.glyphs).draw(theme, place, buf);
        let list = foot.draw(theme, inside, buf);
        let said = match &self.told {
            None => "Comparing …",
            Some(Err(why)) => why,
            Some(Ok(told)) if told.files.is_empty() => "No files differ.",
            Some(Ok(_)) => "",
        };
        for (place, line) in list.rows().zip(wrap(said, list.width.into())) {
            Row::new().left(Role::Dim, line).draw(theme, place, buf);
        }
        let Some(told) = self.changes().filter(|told| !told.files.is_empty()) else { return };
        let rows = told.files.iter().map(|file| {
            let row = Row::new().left(Role::Text, format!("{} ", model.glyphs.task(self.ticked.contains(&file.path))));
            let row = line(row, file, list.width.into());
            match told.others.get(&file.path) {
                Some(tickets) => row.left(Role::Warning, format!("  {}", listed(tickets.iter().map(String::as_str)))),
                None => row,
            }
        });
        let scrolled = Scrolled::default().showing(self.at, self.at, list.height.into());
        scrolled.list(rows, Some(self.at), theme, list, buf);
    }
}

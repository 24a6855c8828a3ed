//! The Changes pane: the files that differ, since a point that a key moves.

use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::changes::{ChangedFile, Changes, Hunk, Lines, Since};
use crate::domain::request::Request;
use crate::tui::changes::{Compared, NAME, Reach};
use crate::tui::command::{self, Command, Scope, c, lines, page, press, rows};
use crate::tui::layout;
use crate::tui::model::{Mode, Model};
use crate::tui::msg::{Ask, Key};
use crate::tui::pane::{Entry, Pane};
use crate::tui::panes::stream;
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The row of the table.
pub const PANE: Entry = Entry { name: NAME, keys: KEYS, new: || Box::<ChangesPane>::default() };

const KEYS: &[command::Row] = rows! {
    Choose "changes.diff" Scope::Pane(NAME), "changes", [press(Key::Enter)], Shown, has_files, |_| "diff",
        "in Changes: show the diff of the selected file";
    Own("reach") "changes.reach" Scope::Pane(NAME), "changes", [c('o')], Shown, can_reach, |model| model.reach().next().word(),
        "in Changes: since iteration, phase, ticket or branch began";
    Own("back") "changes.back" Scope::Pane(NAME), "changes", [press(Key::Esc)], HelpOnly, |_| true, |_| "back",
        "in Changes: back to Stream";
};

fn can_reach(model: &Model) -> bool {
    model.mode == Mode::Live && model.shows_run()
}

fn has_files(model: &Model) -> bool {
    !model.changed_files().is_empty()
}

#[derive(Default)]
struct ChangesPane(Scrolled);

impl Pane for ChangesPane {
    fn border(&self, model: &Model, _: u16) -> (String, String) {
        (format!(" · {}", model.compared_words()), String::new())
    }

    fn act(&mut self, model: &mut Model, command: Command, height: usize) -> Vec<Ask> {
        match command {
            Command::Own("reach") => model.changes.reach = Some(model.reach().next()),
            Command::Own("back") => model.focus = stream::NAME,
            command => {
                let by = lines(Some(command), page(height));
                let last = model.changed_files().len().saturating_sub(1);
                let at = model.chosen_change().saturating_add_signed(by as isize).min(last);
                model.changes.chosen = model.changed_files().get(at).map(|file| file.path.clone());
            }
        }
        Vec::new()
    }

    fn refusal(&self, model: &Model, command: Command) -> Option<String> {
        (command == Command::Choose && model.mode == Mode::Live).then(|| "no file has changed".to_owned())
    }

    fn prepare(&mut self, model: &mut Model, inside: Rect) {
        let at = model.chosen_change();
        self.0 = self.0.showing(at, at, usize::from(inside.height).saturating_sub(2));
    }

    fn view(&self, model: &Model, focused: bool, theme: &Theme, inside: Rect, buf: &mut Buffer) {
        let say = |words: &str, buf: &mut Buffer| {
            let rows = crate::tui::widgets::row::wrap(words, inside.width.into());
            for (place, line) in inside.rows().zip(rows) {
                Row::new().left(Role::Dim, line).draw(theme, place, buf);
            }
        };
        let changes = match model.told_changes() {
            _ if model.mode == Mode::Replay => return say("Not shown in a replay.", buf),
            _ if !model.shows_run() => return say("No run yet.", buf),
            None if model.compared().is_none() => return say("No snapshot yet.", buf),
            None => return say("Comparing …", buf),
            Some(Err(why)) => return say(why, buf),
            Some(Ok(changes)) if changes.files.is_empty() => return say(model.reach().nothing(), buf),
            Some(Ok(changes)) => changes,
        };
        let list = Rect { height: inside.height.saturating_sub(1), ..inside };
        let chosen = focused.then(|| model.chosen_change());
        let columns = usize::from(inside.width);
        let rows = changes.files.iter().map(|file| {
            let row = match model.tab().map_or(0, |tab| tab.state.reverts.of(&file.path)) {
                reverted if changes.at_end && reverted > 0 => {
                    Row::new().right(Role::Warning, format!("{reverted} reverted "))
                }
                _ => Row::new(),
            };
            line(row, file, columns)
        });
        self.0.list(rows, chosen, theme, list, buf);
        let files = match changes.total {
            1 => "1 file".to_owned(),
            total if total > changes.files.len() => format!("{} of {total} files", changes.files.len()),
            total => format!("{total} files"),
        };
        let sum = if changes.plain {
            Row::new().right(Role::Dim, "no git: lines not counted")
        } else {
            counted(Row::new(), changes.added, changes.removed)
        };
        sum.left(Role::Dim, files).draw(theme, crate::tui::widgets::frame::foot(inside), buf);
    }
}

/// Lines that came and went, at the right.
pub fn counted(row: Row, added: u64, removed: u64) -> Row {
    let row = if added > 0 { row.right(Role::DiffAdd, format!("+{added}")) } else { row };
    let gap = if added > 0 && removed > 0 { " " } else { "" };
    if removed > 0 { row.right(Role::DiffDel, format!("{gap}−{removed}")) } else { row }
}

/// A file at the end of a row.
pub fn line(row: Row, file: &ChangedFile, columns: usize) -> Row {
    let row = match file.lines {
        Lines::Counted { added, removed } => counted(row, added, removed),
        Lines::Binary => row.right(Role::Dim, "binary"),
        Lines::Submodule => row.right(Role::Dim, "submodule"),
        Lines::Unknown => row,
    };
    let letter = file.change.letter();
    let role = match letter {
        "A" => Role::DiffAdd,
        "D" => Role::DiffDel,
        _ => Role::Text,
    };
    let room = columns.saturating_sub(row.left_width() + row.right_width() + 4);
    row.left(role, format!("{letter} ")).left(Role::Text, end_of(&file.path, room))
}

/// A name that may lose its beginning, never its end, which tells it from others.
pub fn end_of(name: &str, columns: usize) -> String {
    let name = crate::base::text::clean_line(name, 1_000);
    if name.width() <= columns {
        return name;
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| {
        let width = c.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    let end: Vec<char> = name.chars().rev().take_while(fits).collect();
    std::iter::once('…').chain(end.into_iter().rev()).collect()
}

impl Model {
    /// How far back the changes go: while a run is at work its phase, once it has ended the whole ticket.
    pub fn reach(&self) -> Reach {
        let usual = if self.tab().is_some_and(Tab::is_over) { Reach::Ticket } else { Reach::Phase };
        self.changes.reach.unwrap_or(usual)
    }

    /// What would be compared now; `None`: there is no run, or it has no snapshot yet.
    pub fn compared(&self) -> Option<Compared> {
        let tab = self.tab()?;
        let iteration = tab.state.iteration.as_ref();
        let snapshot = iteration.and_then(|iteration| iteration.snapshot.clone());
        let snapshot = match self.reach() {
            Reach::Ticket => return Some((tab.run?, Since::Ticket)),
            Reach::Base => return Some((tab.run?, Since::Base)),
            Reach::Iteration => snapshot,
            Reach::Phase => {
                let phase = iteration.and_then(|iteration| tab.state.about(iteration.phase));
                phase.and_then(|phase| phase.baseline.clone()).or(snapshot)
            }
        };
        Some((tab.run?, Since::Snapshot(snapshot?)))
    }

    /// What is compared, in words: also where it ends.
    fn compared_words(&self) -> String {
        let told = self.told_changes().and_then(|told| told.as_ref().ok());
        let is_over = self.tab().is_some_and(Tab::is_over);
        match (self.reach(), told) {
            (Reach::Base, Some(Changes { base: Some(base), .. })) => clean_line(base, 70),
            (reach, Some(Changes { at_end: true, .. })) => format!("{}, at end", reach.word()),
            (reach, Some(_)) if is_over && reach != Reach::Base => format!("{}, with later changes", reach.word()),
            (reach, _) => reach.word().to_owned(),
        }
    }

    /// The person has reverted a hunk of the run's work.
    pub fn is_reverted(&self, run: RunId, path: &str, hunk: &Hunk) -> bool {
        let tab = self.tabs.iter().find(|tab| tab.run == Some(run));
        tab.is_some_and(|tab| tab.state.reverts.has(path, &hunk.digest()))
    }

    /// What is told of it.
    pub fn told_changes(&self) -> Option<&Result<Changes, String>> {
        self.changes.of(&self.compared()?)
    }

    pub fn changed_files(&self) -> &[ChangedFile] {
        self.told_changes().and_then(|told| told.as_ref().ok()).map_or(&[], |changes| &changes.files)
    }

    /// Where the cursor stands among them.
    pub fn chosen_change(&self) -> usize {
        let chosen = self.changes.chosen.as_ref();
        self.changed_files().iter().position(|file| Some(&file.path) == chosen).unwrap_or(0)
    }

    fn shows_changes(&self) -> bool {
        let on_card = || !self.is_home() && self.tab().is_some_and(Tab::is_over);
        self.mode == Mode::Live && (layout::solve(self.size, self).changes.is_some() || on_card())
    }

    /// When they are to be asked for again, as long as they are shown.
    pub fn changes_due(&self) -> Option<Timestamp> {
        self.changes.due_at().filter(|_| self.shows_changes())
    }

    /// Asks for what is shown and not known, or not any more.
    pub fn ask_for_changes(&mut self) -> Option<Ask> {
        let compared = self.compared().filter(|compared| !self.changes.is_known(compared, self.now))?;
        if !self.shows_changes() {
            return None;
        }
        self.changes.ask(compared.clone(), self.now);
        Some(Ask::Request(Request::Changes(compared.0, compared.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_end() {
        assert_eq!(end_of("src/http/stack.rs", 12), "…tp/stack.rs");
        assert_eq!(end_of("a\x1b[2Jb", 12), "ab");
        assert_eq!(end_of("日本語日本", 5), "…日本");
    }
}

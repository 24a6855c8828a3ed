//! The card of a changed validation list: what would be run from now on, whole and visible.
//!
//! The commands run on the person's machine and come from a file that Claude can write. So nothing
//! is hidden (invisible characters are spelt out), and a yes counts only once the end was seen.

use crate::domain::ticket::TicketKey;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, WIDEST, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use crate::tui::widgets::spelt::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The card of one ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub ticket: TicketKey,
    /// The list that it shows: an answer is for this one, whatever has come since.
    pub seen: Vec<String>,
    scrolled: Scrolled,
}

/// Lines of the card that are not commands: border, keys and air.
const REST: u16 = 5;

impl Question {
    /// The card from its beginning.
    pub fn new(ticket: TicketKey, seen: Vec<String>) -> Self {
        Self { ticket, seen, scrolled: Scrolled::default() }
    }

    /// Scrolls by lines, not beyond the end.
    pub fn scroll(&mut self, by: i32, model: &Model, room: Rect) {
        self.scrolled.scroll(by, self.lines(model, room).len(), self.height(model, room).into());
    }

    /// The end of the list is in sight: only now does a yes count.
    pub fn end_seen(&self, model: &Model, room: Rect) -> bool {
        self.scrolled.below(self.lines(model, room).len(), self.height(model, room).into()) == 0
    }

    fn width(room: Rect) -> u16 {
        room.width.min(WIDEST)
    }

    fn height(&self, model: &Model, room: Rect) -> u16 {
        let lines = u16::try_from(self.lines(model, room).len()).unwrap_or(u16::MAX);
        lines.min(room.height.saturating_sub(REST))
    }

    fn lines(&self, model: &Model, room: Rect) -> Vec<(Role, String)> {
        let Some(tab) = model.tab_of(&self.ticket) else { return Vec::new() };
        let old = &tab.state.validation;
        let new = &self.seen;
        let width = usize::from(Self::width(room)).saturating_sub(6);
        let mut out = Vec::new();
        let mut section = |title: &str, mark: &str, role: Role, commands: &[String]| {
            out.push((Role::Dim, title.to_owned()));
            if commands.is_empty() {
                out.push((Role::Dim, "  (none)".into()));
            }
            for command in commands {
                for (at, line) in wrap(&visible(command), width).into_iter().enumerate() {
                    let mark = if at == 0 { mark } else { " " };
                    out.push((role, format!("{mark} {line}")));
                }
            }
        };
        let taken: Vec<String> = old.iter().filter(|one| !new.contains(one)).cloned().collect();
        let added: Vec<String> = new.iter().filter(|one| !old.contains(one)).cloned().collect();
        let kept: Vec<String> = new.iter().filter(|one| old.contains(one)).cloned().collect();
        section("Added:", "+", Role::DiffAdd, &added);
        section("Removed:", "-", Role::DiffDel, &taken);
        section("Unchanged:", " ", Role::DiffContext, &kept);
        out
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let lines = self.lines(model, room);
        let height = self.height(model, room);
        let area = centred(room, Self::width(room), height + REST);
        let below = self.scrolled.below(lines.len(), height.into());
        let status = if below > 0 { format!("{below} more {}", model.glyphs.pick("↓", "v")) } else { String::new() };
        let title = format!("{} · validation commands changed", self.ticket);
        let frame = Frame { status_role: Role::Warning, ..Frame::dialog(&title, &status, model.glyphs) };
        let inside = frame.draw(theme, area, buf);
        let rows = lines.iter().map(|(role, line)| Row::new().left(*role, line));
        self.scrolled.list(rows, None, theme, Rect { y: inside.y + 1, height, ..inside }, buf);
        let mut keys = hints(model, Scope::Question, &[Command::Yes, Command::No, Command::Close]).into_iter();
        let (yes, words) = keys.next().unwrap_or_default();
        let (role, seen) = if below > 0 { (Role::Dim, "(scroll to the end first) ") } else { (Role::Key, "") };
        let row = Row::new().key(role, &yes, &format!("{seen}{words}"));
        keys.fold(row, |row, (key, hint)| row.key(Role::Key, &key, hint)).draw(theme, foot(inside), buf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;

    #[test]
    fn a_yes_counts_only_when_the_end_was_seen() {
        let mut model = sample::model();
        let mut tab = sample::running("tk-1");
        let change: Vec<String> = (0..50).map(|n| format!("step {n}")).collect();
        tab.state.validation_change = Some(change.clone());
        model.tabs.push(tab);
        let room = Rect::new(0, 0, 80, 20);
        let mut card = Question::new(sample::id("tk-1"), change);
        assert!(!card.end_seen(&model, room));
        card.scroll(1_000, &model, room);
        assert!(card.end_seen(&model, room));
    }
}

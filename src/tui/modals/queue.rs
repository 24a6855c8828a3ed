//! The queue: everything that waits for the person, one line each, the most urgent first.

use crate::base::time::human;
use crate::tui::attention::{Item, What};
use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, WIDEST, centred, foot};
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Lines around the list: border, air, keys.
const AROUND: u16 = 5;
/// Widest ticket id in columns.
const ID: usize = 24;

/// The list, and where its cursor stands.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// What it stands on; the first line when that is gone.
    cursor: Option<Item>,
}

impl Queue {
    fn at(&self, items: &[Item]) -> usize {
        let same =
            |item: &Item| self.cursor.as_ref().is_some_and(|at| at.ticket == item.ticket && at.what == item.what);
        items.iter().position(same).unwrap_or(0)
    }

    /// Moves the cursor by lines.
    pub fn step(&mut self, by: i32, model: &Model) {
        let items = model.attention();
        let to = self.at(&items).saturating_add_signed(by as isize).min(items.len().saturating_sub(1));
        self.cursor = items.into_iter().nth(to);
    }

    /// What the cursor stands on.
    pub fn chosen(&self, model: &Model) -> Option<Item> {
        let items = model.attention();
        let at = self.at(&items);
        items.into_iter().nth(at)
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let items = model.attention();
        let height = (items.len().max(1) as u16).min(room.height.saturating_sub(AROUND));
        let area = centred(room, room.width.min(WIDEST), height + AROUND);
        let title = match items.len() {
            0 => "Nothing is waiting for you".to_owned(),
            1 => "1 needs you".to_owned(),
            n => format!("{n} need you"),
        };
        let at = self.at(&items);
        let scrolled = Scrolled::default().showing(at, at, height.into());
        let below = scrolled.below(items.len(), height.into());
        let status = if below > 0 { format!("{below} more {}", model.glyphs.pick("↓", "v")) } else { String::new() };
        let frame = Frame::dialog(&title, &status, model.glyphs);
        let inside = frame.draw(theme, area, buf);
        let ids = items.iter().map(|item| item.ticket.as_str().width()).max().unwrap_or(0).min(ID);
        let list = Rect { y: inside.y + 1, height, ..inside };
        if items.is_empty() {
            let row = Row::new().left(Role::Dim, "Requests from Claude and decisions for you appear here.");
            row.draw(theme, list, buf);
        }
        scrolled.list(items.iter().map(|item| line(model, item, ids)), Some(at), theme, list, buf);
        let keys = [Command::Choose, Command::Down, Command::Close];
        let keys = if items.is_empty() { &keys[2..] } else { &keys[..] };
        Row::keys(hints(model, Scope::Queue, keys)).draw(theme, foot(inside), buf);
    }
}

fn line(model: &Model, item: &Item, ids: usize) -> Row {
    let waits = item.since.map(|since| human(model.now.since(since))).unwrap_or_default();
    let glyph = match item.what {
        What::Dispute(_) | What::Conflict(_) => model.glyphs.pick("≠", "="),
        _ => "!",
    };
    let id = crate::base::text::cut(item.ticket.as_str(), ids);
    let fill = " ".repeat(ids.saturating_sub(id.width()));
    Row::new()
        .left(Role::TabAttention, format!("{glyph} "))
        .left(Role::Accent, format!("{id}{fill}  "))
        .left(Role::Text, model.words_of(item))
        .right(Role::Dim, waits)
}

//! Every key, by group, from the one table.

use crate::tui::command::{Flag, Row as Command, TABLE, keys_text};
use crate::tui::marks::Glyphs;
use crate::tui::modals::WIDEST;
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, Weight, centred};
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// How far it is scrolled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Help {
    /// Lines above the first that is seen.
    pub offset: usize,
}

/// Columns for the keys.
const KEYS: usize = 12;

impl Help {
    /// Scrolls by lines, not beyond the end.
    pub fn scroll(&mut self, by: i32, room: Rect) {
        let most = rows().len().saturating_sub(height(room).into());
        self.offset = self.offset.saturating_add_signed(by as isize).min(most);
    }

    /// Draws it.
    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let rows = rows();
        let area = centred(room, WIDEST.min(84), height(room) + 2);
        let below = rows.len().saturating_sub(self.offset + usize::from(height(room)));
        let status =
            if below > 0 { format!("{below} more {}", model.glyphs.pick("↓", "v")) } else { "Esc closes".into() };
        let frame = Frame {
            title: "Keys",
            status: &status,
            status_role: Role::Dim,
            weight: Weight::Heavy,
            glyphs: model.glyphs,
        };
        let inside = frame.draw(theme, area, buf);
        for (place, row) in inside.rows().zip(rows.iter().skip(self.offset)) {
            row.draw(theme, place, buf);
        }
    }
}

fn height(room: Rect) -> u16 {
    (rows().len() as u16).min(room.height.saturating_sub(2))
}

fn rows() -> Vec<Row> {
    let mut groups: Vec<(&str, Vec<&Command>)> = Vec::new();
    for row in TABLE.iter().filter(|row| row.flag != Flag::Hidden) {
        match groups.iter_mut().find(|(group, _)| *group == row.group) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((row.group, vec![row])),
        }
    }
    let mut out = Vec::new();
    for (group, rows) in groups {
        if !out.is_empty() {
            out.push(Row::new());
        }
        out.push(Row::new().left(Role::Title, group));
        for row in rows {
            let keys = keys_text(row);
            let gap = " ".repeat(KEYS.saturating_sub(keys.width()).max(1));
            out.push(Row::new().left(Role::Key, format!("  {keys}{gap}")).left(Role::Text, row.doc));
        }
    }
    out.push(Row::new());
    out.push(Row::new().left(Role::Title, "marks"));
    out.extend(marks());
    out
}

fn marks() -> impl Iterator<Item = Row> {
    use crate::domain::outcome::DoneHow::{ClaimedUnchecked, Verified};
    use crate::orchestrator::state::Mark;
    let marks = [
        (Mark::Pending, "not begun"),
        (Mark::Running, "Claude works on it"),
        (Mark::Claimed, "Claude says it is done; being checked"),
        (Mark::Done(Verified), "done; the validation commands passed"),
        (Mark::Done(ClaimedUnchecked), "done; no command checked it"),
        (Mark::Disputed, "claimed, and it does not hold"),
        (Mark::Skipped, "left out by you"),
        (Mark::Blocked, "Claude is stuck"),
    ];
    marks.into_iter().map(|(mark, doc)| {
        let sign = Glyphs::Unicode.phase(mark);
        let ascii = Glyphs::Ascii.phase(mark).glyph;
        Row::new()
            .left(sign.role, format!("  {} {ascii} ", sign.glyph))
            .left(sign.role, format!("{:<12}", sign.word))
            .left(Role::Text, doc)
    })
}

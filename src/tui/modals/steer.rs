//! Words for Claude: a text area, and what became of the notes before.
//!
//! Enter sends, Alt-Enter begins a new line; Esc keeps the words for later.

use crate::base::text::clean_line;
use crate::domain::note::NoteStage;
use crate::domain::ticket::TicketKey;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::msg::Input;
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred, foot};
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;
use tui_textarea::{CursorMove, TextArea, WrapMode};

/// Notes that are shown above the text.
const NOTES: usize = 3;
/// Longest note in bytes.
const LONGEST: usize = 20_000;

/// The dialog of one ticket.
pub struct Steer {
    /// For whom.
    pub ticket: TicketKey,
    area: Box<TextArea<'static>>,
}

impl Steer {
    /// The dialog with the words that were kept.
    pub fn new(tab: &Tab) -> Self {
        let mut area = TextArea::new(tab.draft.clone());
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.set_cursor_line_style(Style::new());
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self { ticket: tab.id.clone(), area: Box::new(area) }
    }

    /// Takes a key as typing.
    pub fn typed(&mut self, input: Input) {
        if self.len() < LONGEST {
            self.area.input(input);
        } else {
            self.area.delete_char();
        }
    }

    pub fn pasted(&mut self, text: &str) {
        let clean = crate::base::text::Clean::new(text);
        if self.len() + clean.as_str().len() <= LONGEST {
            self.area.insert_str(clean.as_str());
        }
    }

    pub fn new_line(&mut self) {
        self.area.insert_newline();
    }

    /// The words, without blanks around them.
    pub fn text(&self) -> String {
        self.area.lines().join("\n").trim().to_owned()
    }

    /// The words as lines, to be kept.
    pub fn draft(&self) -> Vec<String> {
        self.area.lines().to_vec()
    }

    fn len(&self) -> usize {
        self.area.lines().iter().map(|line| line.len() + 1).sum()
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let Some(tab) = model.tab_of(&self.ticket) else { return };
        let notes = tab.state.notes.all();
        let notes = &notes[notes.len().saturating_sub(NOTES)..];
        let above = if notes.is_empty() { 0 } else { notes.len() as u16 + 1 };
        let area = centred(room, 84, 10 + above);
        let title = format!("Message to Claude · {}", self.ticket);
        let goes = if tab.is_active() { "sent in this turn" } else { "sent with the next prompt" };
        let frame = Frame::dialog(&title, goes, model.glyphs);
        let inside = frame.draw(theme, area, buf);
        for (place, note) in inside.rows().zip(notes) {
            let role = match note.stage {
                NoteStage::Read => Role::Success,
                NoteStage::Sent | NoteStage::InPrompt => Role::Info,
                NoteStage::Queued | NoteStage::Returned => Role::Dim,
            };
            Row::new()
                .left(Role::Dim, clean_line(&note.text, 200))
                .right(role, note.stage.word())
                .draw(theme, place, buf);
        }
        let text =
            Rect { y: inside.y + above.min(inside.height), height: inside.height.saturating_sub(above + 2), ..inside };
        if text.is_empty() {
            return;
        }
        // The widget carries its styles; they come from the theme of the moment.
        let mut shown = self.area.as_ref().clone();
        shown.set_style(theme.style(Role::Input));
        shown.set_cursor_style(theme.style(Role::Cursor));
        shown.set_placeholder_text("What should Claude know or do differently?");
        shown.set_placeholder_style(theme.style(Role::Dim));
        (&shown).render(text, buf);
        let keys = [Command::Send, Command::NewLine, Command::Close];
        Row::keys(hints(model, Scope::Steer, &keys)).draw(theme, foot(inside), buf);
    }
}

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
use crate::tui::widgets::field::Field;
use crate::tui::widgets::frame::{Frame, centred, foot};
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Notes that are shown above the text.
const NOTES: usize = 3;
/// Longest note in bytes.
const LONGEST: usize = 20_000;

/// The dialog of one ticket.
pub struct Steer {
    /// For whom.
    pub ticket: TicketKey,
    words: Field,
}

impl Steer {
    /// The dialog with the words that were kept.
    pub fn new(tab: &Tab) -> Self {
        Self { ticket: tab.id.clone(), words: Field::of_at_most(LONGEST, &tab.draft.join("\n")) }
    }

    /// Takes a key as typing.
    pub fn typed(&mut self, input: &Input) {
        self.words.typed(input);
    }

    /// Takes pasted text; `false` when there is no room for it.
    pub fn pasted(&mut self, text: &str) -> bool {
        self.words.pasted(text)
    }

    pub fn new_line(&mut self) {
        self.words.new_line();
    }

    /// The words, without blanks around them.
    pub fn text(&self) -> String {
        self.words.text().trim().to_owned()
    }

    /// The words as lines, to be kept.
    pub fn draft(&self) -> Vec<String> {
        self.words.text().split('\n').map(str::to_owned).collect()
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
        self.words.view_text("What should Claude know or do differently?", true, theme, text, buf);
        let keys = [Command::Send, Command::NewLine, Command::Close];
        Row::keys(hints(model, Scope::Steer, &keys)).draw(theme, foot(inside), buf);
    }
}

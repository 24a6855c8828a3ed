//! New phases, a phase's new text, or why it is accepted, typed by the person. What they typed stays in the dialog until it
//! is in the ticket.

use crate::base::text::clean_line;
use crate::domain::request::{PhasesEdit, Request};
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::revise::{PhasePlace, TicketEdit};
use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::field::Field;
use crate::tui::widgets::frame::{Frame, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::PathBuf;

/// What the words are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// New phases behind this one, or behind all.
    Add,
    Rename,
    Split,
    Accept,
}

/// The dialog.
pub struct PhaseForm {
    pub ticket: TicketKey,
    purpose: Purpose,
    phase: Option<PhasePlace>,
    /// What the edit means for what runs.
    remark: &'static str,
    words: Field,
    /// It is asked for and not answered yet.
    pub is_sent: bool,
    /// Why it was not done.
    trouble: String,
}

impl PhaseForm {
    pub fn new(purpose: Purpose, ticket: TicketKey, phase: Option<PhasePlace>, remark: &'static str) -> Self {
        let known = phase.as_ref().filter(|_| matches!(purpose, Purpose::Rename | Purpose::Split));
        let words = Field::of_at_most(20_000, known.map_or("", |phase| &phase.text));
        Self { ticket, purpose, phase, remark, words, is_sent: false, trouble: String::new() }
    }

    /// Takes a key; what is to be asked for. Whether it stays open.
    pub fn key(&mut self, command: Option<Command>, input: &Input) -> (bool, Option<Ask>) {
        match command {
            Some(Command::Close) => return (false, None),
            _ if self.is_sent => {}
            Some(Command::Send) => {
                (self.is_sent, self.trouble) = (true, String::new());
                let edit = Request::EditPhases(PathBuf::from(self.ticket.file()), self.edit());
                return (true, Some(Ask::Request(edit)));
            }
            Some(Command::NewLine) => self.words.new_line(),
            _ => self.words.typed(input),
        }
        (true, None)
    }

    /// Takes pasted text; `false` when there is no room for it.
    pub fn pasted(&mut self, text: &str) -> bool {
        self.is_sent || self.words.pasted(text)
    }

    /// It was not done, as these words say.
    pub fn refused(&mut self, why: &str) {
        (self.is_sent, self.trouble) = (false, clean_line(why, 400));
    }

    fn edit(&self) -> PhasesEdit {
        let text = self.words.text();
        let texts = || text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        match (self.purpose, self.phase.clone()) {
            (Purpose::Rename, Some(phase)) => {
                PhasesEdit::Text(TicketEdit::Rename { phase, text: text.trim().to_owned() })
            }
            (Purpose::Split, Some(phase)) => PhasesEdit::Text(TicketEdit::Split { phase, texts: texts() }),
            (Purpose::Accept, Some(phase)) => PhasesEdit::Accept(phase, text.trim().to_owned()),
            (_, after) => PhasesEdit::Text(TicketEdit::Add { texts: texts(), after }),
        }
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let phase = self.phase.as_ref().map(|phase| clean_line(&phase.text, 200));
        let of = phase.map_or_else(|| self.ticket.to_string(), |phase| format!("“{phase}”"));
        let (title, hint) = match self.purpose {
            Purpose::Add if self.phase.is_some() => (format!("Add phases after {of}"), "One phase per line"),
            Purpose::Add => (format!("Add phases to {of}"), "One phase per line"),
            Purpose::Rename => (format!("Rename {of}"), "The new text of the phase"),
            Purpose::Split => (format!("Split {of}"), "One phase per line"),
            Purpose::Accept => (format!("Accept {of}"), "Why does it count as done? Added to the ticket's Notes."),
        };
        let columns = room.width.min(84).saturating_sub(4).into();
        let said = if self.trouble.is_empty() { self.remark } else { &self.trouble };
        let role = if self.trouble.is_empty() { Role::Dim } else { Role::Warning };
        let said: Vec<String> = if said.is_empty() { Vec::new() } else { wrap(said, columns) };
        let area = centred(room, 84, 9 + said.len() as u16);
        let status = if self.is_sent { "saving …" } else { "" };
        let inside = Frame::dialog(&title, status, model.glyphs).draw(theme, area, buf);
        let below = said.len() as u16 + 2;
        let text = Rect { height: inside.height.saturating_sub(below), ..inside };
        self.words.view_text(hint, !self.is_sent, (theme, model.glyphs), text, buf);
        for (place, line) in inside.rows().skip(text.height.into()).zip(&said) {
            Row::new().left(role, line).draw(theme, place, buf);
        }
        let keys: &[Command] = match self.purpose {
            Purpose::Rename => &[Command::Send, Command::Close],
            _ => &[Command::Send, Command::NewLine, Command::Close],
        };
        Row::keys(hints(model, Scope::PhaseForm, keys)).draw(theme, foot(inside), buf);
    }
}

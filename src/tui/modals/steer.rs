//! Words for Claude: a text area, and what became of the notes before.
//!
//! Enter sends, Alt-Enter begins a new line; Esc keeps the words for later. Up and Down bring back earlier messages.

use crate::base::text::clean_line;
use crate::domain::approval::OF_ANSWER;
use crate::domain::chat::{SHOWN, summary};
use crate::domain::note::NoteStage;
use crate::domain::ticket::TicketKey;
use crate::orchestrator::state::Stage;
use crate::orchestrator::steps::takes_messages;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::msg::{Input, Key};
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
    /// What was sent before, oldest first, and behind it what is being written.
    sent: Vec<String>,
    /// Which of them is shown.
    at: usize,
}

impl Steer {
    /// The dialog with the message that was begun.
    pub fn new(tab: &Tab, begun: &str) -> Self {
        let own = tab.state.notes.all().iter().filter(|note| !note.id.starts_with(OF_ANSWER));
        let mut sent: Vec<String> = own.map(|note| note.text.clone()).collect();
        sent.push(begun.to_owned());
        let at = sent.len() - 1;
        Self { ticket: tab.id.clone(), words: Field::of_at_most(LONGEST, &sent[at]), sent, at }
    }

    /// Takes a key as typing.
    pub fn typed(&mut self, input: &Input) {
        let to = match input.key {
            Key::Up if self.words.is_at_end(true) => self.at.checked_sub(1),
            Key::Down if self.words.is_at_end(false) => Some(self.at + 1).filter(|to| *to < self.sent.len()),
            _ => return self.words.typed(input),
        };
        let Some(to) = to else { return };
        self.sent[self.at] = self.words.text();
        (self.words, self.at) = (Field::of_at_most(LONGEST, &self.sent[to]), to);
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

    /// What is to be kept: the words, or what was being written when an earlier message was brought back.
    pub fn draft(&self) -> String {
        let written = self.written();
        if written.trim().is_empty() { self.words.text() } else { written.to_owned() }
    }

    /// What is left to be kept once the words are sent.
    pub fn left(&self) -> String {
        if self.written().trim().is_empty() { String::new() } else { self.draft() }
    }

    /// What was being written when an earlier message was brought back.
    fn written(&self) -> &str {
        if self.at + 1 < self.sent.len() { self.sent.last().map_or("", String::as_str) } else { "" }
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let Some(tab) = model.tab_of(&self.ticket) else { return };
        let notes = tab.state.notes.all();
        let chat = tab.state.chat.as_deref();
        // Before the first message of a chat: the topics of the previous one.
        let earlier = chat.filter(|_| notes.is_empty()).map(|chat| summary(&chat.asked.earlier)).unwrap_or_default();
        let earlier = &earlier[..earlier.len().min(SHOWN)];
        let notes = &notes[notes.len().saturating_sub(NOTES)..];
        let above = match (notes.len(), earlier.len()) {
            (0, 0) => 0,
            (0, lines) => lines as u16 + 2,
            (lines, _) => lines as u16 + 1,
        };
        let area = centred(room, 84, 10 + above);
        let title = format!("Message to Claude · {}", self.ticket);
        let goes = match chat {
            Some(_) if tab.state.stage == Stage::Paused => "sent at once",
            Some(_) if !tab.is_at_work() || tab.state.stage == Stage::Parked => "queued until the chat continues",
            _ if matches!(tab.state.stage, Stage::Spawning | Stage::Running) && takes_messages(&tab.state) => {
                "sent in this turn"
            }
            _ => "sent with the next prompt",
        };
        let frame = Frame::dialog(&title, goes, model.glyphs);
        let inside = frame.draw(theme, area, buf);
        if !earlier.is_empty() {
            let lines =
                std::iter::once("The last chat in this directory was about:").chain(earlier.iter().map(String::as_str));
            for (place, line) in inside.rows().zip(lines) {
                Row::new().left(Role::Dim, clean_line(line, 200)).draw(theme, place, buf);
            }
        }
        for (place, note) in inside.rows().zip(notes) {
            let role = match note.stage {
                NoteStage::Read => Role::Success,
                NoteStage::Sent | NoteStage::InPrompt => Role::Info,
                NoteStage::Queued | NoteStage::Returned => Role::Dim,
                NoteStage::NotSent => Role::Danger,
            };
            Row::new()
                .left(Role::Dim, clean_line(&note.text, 200))
                .right(role, note.stage.word())
                .draw(theme, place, buf);
        }
        let text =
            Rect { y: inside.y + above.min(inside.height), height: inside.height.saturating_sub(above + 2), ..inside };
        let hint = if chat.is_some() { "Your message" } else { "What should Claude know or do differently?" };
        self.words.view_text(hint, true, (theme, model.glyphs), text, buf);
        let keys = [Command::Send, Command::NewLine, Command::Close];
        Row::keys(hints(model, Scope::Steer, &keys)).draw(theme, foot(inside), buf);
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::command::UserCommand;
    use crate::domain::note::Notes;
    use crate::domain::record::Record;
    use crate::domain::request::Request;
    use crate::tui::msg::{Ask, Msg};
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;

    fn begun(ui: &Ui) -> &str {
        ui.unsent.message(&ui.tabs[0].id)
    }

    #[test]
    fn what_is_being_written_is_kept_while_an_earlier_message_is_looked_at_or_sent_again() {
        let mut ui = sample::busy();
        let mut notes = Notes::default();
        notes.fold(&Record::NoteGiven { id: "n".into(), text: "again".into() });
        ui.tabs[0].state.notes = notes;
        let press = |ui: &mut Ui, keys: &str| -> Vec<Ask> {
            keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect()
        };
        press(&mut ui, "i n e w Up Esc");
        assert_eq!(begun(&ui), "new", "it was looked at");
        let asks = press(&mut ui, "i Up Enter");
        let [Ask::Request(Request::Command(_, UserCommand::Steer { text }))] = &asks[..] else { panic!("{asks:?}") };
        assert_eq!((text.as_str(), begun(&ui)), ("again", "new"));
        press(&mut ui, "i Enter");
        assert_eq!(begun(&ui), "", "it is sent");
        press(&mut ui, "i Up ! Esc");
        assert_eq!(begun(&ui), "again!", "nothing else was being written");
    }
}

//! Opening another ticket: the listed ones, narrowed by fuzzy typing, or any id or path as typed.

use crate::domain::ticket::{Ticket, TicketKey, TicketStatus};
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::prompt;
use crate::tui::model::Model;
use crate::tui::msg::Input;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred, foot};
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cmp::Reverse;

/// What was typed and which line is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Open {
    pub query: String,
    /// Line among the fitting tickets.
    pub cursor: usize,
    /// Why what was typed could not be opened.
    pub trouble: String,
}

impl Open {
    /// Takes a key as typing.
    pub fn typed(&mut self, input: &Input) -> bool {
        let typed = prompt::edit(&mut self.query, input);
        if typed {
            self.cursor = 0;
            self.trouble.clear();
        }
        typed
    }

    /// Moves the choice, not beyond the ends.
    pub fn step(&mut self, by: i32, model_fits: usize) {
        let last = model_fits.saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by as isize).min(last);
    }

    /// The tickets that fit, best first.
    pub fn fitting<'a>(&self, model: &'a Model) -> Vec<(&'a TicketKey, &'a Ticket)> {
        let listed = model.listed.iter().map(|(key, ticket)| (key, ticket.as_ref()));
        let listed = listed.filter(|(key, _)| model.tab_of(key).is_none());
        if self.query.is_empty() {
            return listed.filter(|(_, ticket)| ticket.status != Some(TicketStatus::Closed)).collect();
        }
        let pattern = Pattern::parse(&self.query, CaseMatching::Smart, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut buf = Vec::new();
        let mut found: Vec<(u32, (&TicketKey, &Ticket))> = listed
            .filter_map(|(key, ticket)| {
                let text = format!("{} {}", ticket.id, ticket.title);
                let score = pattern.score(Utf32Str::new(&text, &mut buf), &mut matcher)?;
                Some((score, (key, ticket)))
            })
            .collect();
        found.sort_by_key(|(score, (_, ticket))| (Reverse(*score), ticket.id.as_str().to_owned()));
        found.into_iter().map(|(_, ticket)| ticket).collect()
    }

    /// What to open: the chosen ticket, else the words as typed; `None` when there is neither.
    pub fn choice(&self, model: &Model) -> Option<String> {
        let typed = self.query.trim();
        let is_id = |id: &TicketKey| self.cursor == 0 && id.as_str() == typed;
        if typed.contains(['/', '\\']) || model.tabs.iter().map(|tab| &tab.id).chain(model.listed.keys()).any(is_id) {
            return Some(typed.to_owned());
        }
        match self.fitting(model).get(self.cursor) {
            Some((key, _)) => Some(key.file().to_owned()),
            None => (!typed.is_empty()).then(|| typed.to_owned()),
        }
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let fitting = self.fitting(model);
        let area = centred(room, 72, 16);
        let count = format!("{} of {}", fitting.len(), model.listed.len());
        let frame = Frame::dialog("Open a ticket", &count, model.glyphs);
        let inside = frame.draw(theme, area, buf);
        Row::new()
            .left(Role::Key, "id or path: ")
            .left(Role::Input, &self.query)
            .left(Role::Accent, model.glyphs.pick("█", "_"))
            .draw(theme, inside, buf);
        let list = Rect { y: inside.y.saturating_add(2), height: inside.height.saturating_sub(4), ..inside };
        if fitting.is_empty() {
            let words = if self.query.is_empty() {
                "No other tickets are listed. Type the path of a file."
            } else {
                "No match. Enter tries it as an id or a path."
            };
            Row::new().left(Role::Dim, words).draw(theme, list, buf);
        }
        let below = Rect { y: inside.y.saturating_add(1), height: inside.height.min(1), ..inside };
        Row::new().left(Role::Danger, &self.trouble).draw(theme, below, buf);
        let rows = fitting.iter().map(|(_, ticket)| {
            let done = ticket.phases.iter().filter(|phase| phase.done).count();
            Row::new()
                .left(Role::Text, format!("{:<14} ", ticket.id))
                .left(Role::Dim, &ticket.title)
                .right(Role::Dim, format!("{done}/{}", ticket.phases.len()))
        });
        let scrolled = Scrolled::default().showing(self.cursor, self.cursor, list.height.into());
        scrolled.list(rows, Some(self.cursor), theme, list, buf);
        let keys = [Command::Choose, Command::Down, Command::Close];
        Row::keys(hints(model, Scope::Open, &keys)).draw(theme, foot(inside), buf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;

    #[test]
    fn typing_narrows_and_a_path_is_taken_as_it_is() {
        let mut model = sample::model();
        for (id, title) in [("tk-1", "Login rate limiter"), ("tk-2", "Audit log"), ("tk-3", "Retention")] {
            let ticket = sample::ticket(id, title, &[]);
            model.listed.insert(sample::id(ticket.id.as_str()), ticket);
        }
        let choice = |query: &str| {
            let open = Open { query: query.into(), ..Open::default() };
            open.choice(&model)
        };
        assert_eq!(choice("audit").as_deref(), Some(sample::id("tk-2").file()));
        assert_eq!(choice("rtn").as_deref(), Some(sample::id("tk-3").file()));
        assert_eq!(choice("").as_deref(), Some(sample::id("tk-1").file()));
        assert_eq!(choice("docs/tk-1.md").as_deref(), Some("docs/tk-1.md"));
        assert_eq!(choice("zzz").as_deref(), Some("zzz"));
    }
}

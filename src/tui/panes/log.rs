//! The Log pane: the newest lines of the log, by weight, ticket and words.
//!
//! Does not own the lines (`tui::log_lines`).

use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::messages::Weight;
use crate::tui::command::{self, Command, Scope, always, c, lines, page, press, rows};
use crate::tui::log_lines::LogLine;
use crate::tui::modals::prompt::Prompt;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Key};
use crate::tui::pane::{Entry, Pane};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::fmt::Write as _;

/// Of which tickets lines are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Which {
    #[default]
    All,
    /// Of the one in front.
    Front,
}

/// The row of the table.
pub const PANE: Entry = Entry { name: NAME, keys: KEYS, new: || Box::<Log>::default() };
/// The pane's name.
pub const NAME: &str = "log";

const KEYS: &[command::Row] = rows! {
    Own("level") "log.level" Scope::Pane(NAME), "log", [c('l')], Shown, always, |_| "level",
        "in Log: raise the lowest level shown, or show everything";
    Own("ticket") "log.ticket" Scope::Pane(NAME), "log", [c('o')], Shown, always, |_| "all/this ticket",
        "in Log: all tickets, or this one";
    Prompt "log.filter" Scope::Pane(NAME), "log", [press(Key::Enter), c('/')], Shown, always, |_| "filter",
        "in Log: filter the lines by words";
};

/// The pane's own state.
struct Log {
    /// The lightest weight that is shown.
    least: Weight,
    /// Whose lines.
    which: Which,
    /// Only lines with these words, whatever their case.
    words: String,
    /// The last line that is shown; `None` follows the end.
    anchor: Option<u64>,
}

impl Default for Log {
    fn default() -> Self {
        Self { least: Weight::Info, which: Which::All, words: String::new(), anchor: None }
    }
}

impl Log {
    fn shown<'a>(&'a self, model: &'a Model) -> impl DoubleEndedIterator<Item = &'a LogLine> {
        let words = self.words.to_lowercase();
        let front = front(model);
        model.log.iter().filter(move |line| {
            line.weight >= self.least
                && (self.which == Which::All || front == Some(&line.ticket))
                && (words.is_empty() || line.text.to_lowercase().contains(&words))
        })
    }

    fn scroll(&mut self, model: &Model, by: i32, height: usize) {
        let ids: Vec<u64> = self.shown(model).map(|line| line.n).collect();
        let last = ids.len().saturating_sub(1);
        let first = height.saturating_sub(1).min(last);
        let at = self.anchor.map_or(last, |anchor| ids.partition_point(|id| *id <= anchor).saturating_sub(1));
        let to = at.saturating_add_signed(by as isize).clamp(first, last);
        self.anchor = (to < last).then(|| ids[to]);
    }
}

fn front(model: &Model) -> Option<&TicketId> {
    model.tab().map(|tab| &tab.id)
}

impl Pane for Log {
    fn act(&mut self, model: &mut Model, command: Command, height: usize) -> Vec<Ask> {
        match command {
            Command::Own("level") => {
                let next = Weight::ALL.iter().find(|weight| **weight > self.least);
                self.least = next.copied().unwrap_or(Weight::Call);
                self.anchor = None;
            }
            Command::Own("ticket") => {
                self.which = match self.which {
                    Which::All => Which::Front,
                    Which::Front => Which::All,
                };
                self.anchor = None;
            }
            command => match lines(Some(command), page(height)) {
                0 => {}
                by => self.scroll(model, by, height),
            },
        }
        Vec::new()
    }

    fn prompt(&self, _: &Model) -> Option<Prompt> {
        Some(Prompt { label: "log lines with: ", text: self.words.clone() })
    }

    fn typed(&mut self, _: &mut Model, text: &str) {
        text.clone_into(&mut self.words);
        self.anchor = None;
    }

    /// Whose lines, which weights, which words, and what came below.
    fn border(&self, model: &Model, _: u16) -> (String, String) {
        let whose = match (self.which, front(model)) {
            (Which::Front, Some(id)) => id.to_string(),
            _ => "all".into(),
        };
        let mut out = format!("{whose} · {}", self.least.word().trim().to_lowercase());
        if !self.words.is_empty() {
            let _ = write!(out, " · “{}”", clean_line(&self.words, 20));
        }
        if let Some(anchor) = self.anchor {
            let new = self.shown(model).rev().take_while(|line| line.n > anchor).count();
            let _ = write!(out, " · {new} new {}", model.glyphs.pick("↓", "v"));
        }
        (String::new(), out)
    }

    fn view(&self, model: &Model, _: bool, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let below = |line: &&LogLine| self.anchor.is_some_and(|anchor| line.n > anchor);
        let mut lines: Vec<_> = self.shown(model).rev().skip_while(below).take(area.height.into()).collect();
        lines.reverse();
        if lines.is_empty() {
            let widest = self.least == Weight::Call && self.which == Which::All;
            let words = match (model.log.is_empty(), widest) {
                (true, _) => "Nothing logged yet.",
                (false, true) => "No lines match the words; Enter edits them.",
                (false, false) => "No lines match the filter: l shows more, o all tickets, Enter edits it.",
            };
            Row::new().left(Role::Dim, words).draw(theme, area, buf);
        }
        for (place, line) in area.rows().zip(lines) {
            row(model, line).draw(theme, place, buf);
        }
    }

    fn view_line(&self, model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        if let Some(line) = self.shown(model).next_back() {
            row(model, line).draw(theme, inside, buf);
        }
    }
}

fn row(model: &Model, line: &LogLine) -> Row {
    let role = match line.weight {
        Weight::Info => Role::LogInfo,
        Weight::Call | Weight::Gate => Role::LogGate,
        Weight::Warn => Role::LogWarn,
        Weight::Error => Role::LogError,
    };
    let column = model.tabs.iter().map(|tab| tab.id.as_str().len()).max().unwrap_or(0).clamp(7, 16);
    let ticket = crate::base::text::cut(line.ticket.as_str(), column);
    let text = match line.weight {
        Weight::Call => Role::Dim,
        Weight::Info | Weight::Gate => Role::Text,
        Weight::Warn | Weight::Error => role,
    };
    Row::new()
        .left(Role::Dim, line.time.clock_time(&model.zone))
        .left(role, format!(" {} ", line.weight.word()))
        .left(Role::Dim, format!("{ticket:<column$}  "))
        .left(text, &line.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;
    use crate::tui::ui::Ui;

    fn full(lines: usize) -> (Log, Ui) {
        let mut ui = sample::model();
        for n in 0..lines {
            let weight = Weight::ALL[1 + n % 4];
            ui.log.push(sample::NOW, weight, sample::id("tk-1"), &format!("line {n}"));
        }
        (Log::default(), ui)
    }

    fn texts(log: &Log, model: &Model, height: u16) -> Vec<String> {
        let mut buf = Buffer::empty(Rect::new(0, 0, 60, height));
        log.view(model, false, &Theme::plain(), buf.area, &mut buf);
        buf.area
            .rows()
            .map(|row| row.columns().map(|cell| buf[cell.as_position()].symbol().to_owned()).collect::<String>())
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    #[test]
    fn a_scrolled_log_stays_where_it_is_and_counts() {
        let (mut log, mut ui) = full(20);
        for _ in 0..5 {
            log.act(&mut ui, Command::Up, 4);
        }
        let before = log.anchor;
        assert_eq!(before, Some(14));
        ui.log.push(sample::NOW, Weight::Info, sample::id("tk-1"), "more");
        assert_eq!(log.anchor, before);
        let (_, status) = log.border(&ui, 60);
        assert!(status.ends_with("6 new ↓"), "{status}");
        log.act(&mut ui, Command::End, 4);
        assert_eq!(log.anchor, None);
    }

    #[test]
    fn the_top_shows_a_full_pane() {
        let (mut log, mut ui) = full(20);
        for command in [Command::Top, Command::PageUp] {
            log.act(&mut ui, command, 4);
            assert_eq!(log.anchor, Some(3));
        }
    }

    #[test]
    fn levels_go_round() {
        let (mut log, mut ui) = full(8);
        let mut seen = vec![log.shown(&ui).count()];
        for _ in 0..4 {
            log.act(&mut ui, Command::Own("level"), 4);
            seen.push(log.shown(&ui).count());
        }
        assert_eq!(seen, [8, 6, 4, 2, 8]);
        log.typed(&mut ui, "LINE 3");
        assert_eq!(log.shown(&ui).count(), 1);
    }

    #[test]
    fn the_newest_line_is_the_last() {
        let (log, ui) = full(3);
        let lines = texts(&log, &ui, 2);
        assert!(lines[1].ends_with("line 2"), "{lines:?}");
    }
}

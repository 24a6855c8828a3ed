//! The Log pane: the records of all open runs in words, the newest last, within bounds.
//!
//! Does not own the sentences (`domain::words`).

use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::words::Weight;
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::fmt::Write as _;

/// Lines kept; the journal has them all.
const KEPT: usize = 5_000;

/// One line.
#[derive(Clone, Debug)]
pub struct LogLine {
    n: u64,
    time: Timestamp,
    weight: Weight,
    ticket: TicketId,
    text: String,
}

/// Of which tickets lines are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Which {
    /// Of all.
    #[default]
    All,
    /// Of the one in front.
    Front,
}

/// The pane's own state.
pub struct LogState {
    lines: VecDeque<LogLine>,
    next: u64,
    /// The lightest weight that is shown.
    pub least: Weight,
    /// Whose lines.
    pub which: Which,
    /// Only lines with these words, whatever their case.
    pub words: String,
    /// The last line that is shown; `None` follows the end.
    anchor: Option<u64>,
}

impl Default for LogState {
    fn default() -> Self {
        Self {
            lines: VecDeque::new(),
            next: 0,
            least: Weight::Info,
            which: Which::All,
            words: String::new(),
            anchor: None,
        }
    }
}

/// What the person does in the pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogMsg {
    /// By lines; up is negative.
    Scroll(i32),
    /// To the oldest line.
    Top,
    /// To the newest line, and follow.
    End,
    /// The next weight, and from the heaviest back to all.
    Level,
    /// All tickets, or the one in front.
    Ticket,
    /// Only lines with these words.
    Words(String),
}

impl LogState {
    /// Adds a line; forgets the oldest above the bound.
    pub fn push(&mut self, time: Timestamp, weight: Weight, ticket: TicketId, text: &str) {
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(LogLine { n: self.next, time, weight, ticket, text: clean_line(text, 400) });
        self.next += 1;
    }

    /// Forgets the lines of a ticket: its run is told anew.
    pub fn forget(&mut self, ticket: &TicketId) {
        self.lines.retain(|line| line.ticket != *ticket);
    }

    fn shown<'a>(&'a self, front: Option<&'a TicketId>) -> impl DoubleEndedIterator<Item = &'a LogLine> {
        let words = self.words.to_lowercase();
        self.lines.iter().filter(move |line| {
            line.weight >= self.least
                && (self.which == Which::All || front == Some(&line.ticket))
                && (words.is_empty() || line.text.to_lowercase().contains(&words))
        })
    }
}

fn front(model: &Model) -> Option<&TicketId> {
    model.tab().map(|tab| &tab.id)
}

/// Does what the person wants. `height`: lines inside the pane.
pub fn update(model: &mut Model, msg: LogMsg, height: usize) {
    let ids: Vec<u64> = model.log.shown(front(model)).map(|line| line.n).collect();
    let log = &mut model.log;
    let last = ids.len().saturating_sub(1);
    let first = height.saturating_sub(1).min(last);
    let at = log.anchor.map_or(last, |anchor| ids.partition_point(|id| *id <= anchor).saturating_sub(1));
    let to = match msg {
        LogMsg::Scroll(by) => at.saturating_add_signed(by as isize).clamp(first, last),
        LogMsg::Top => first,
        LogMsg::End => last,
        LogMsg::Level => {
            let next = Weight::ALL.iter().find(|weight| **weight > log.least);
            log.least = next.copied().unwrap_or(Weight::Call);
            log.anchor = None;
            return;
        }
        LogMsg::Ticket => {
            log.which = match log.which {
                Which::All => Which::Front,
                Which::Front => Which::All,
            };
            log.anchor = None;
            return;
        }
        LogMsg::Words(words) => {
            log.words = words;
            log.anchor = None;
            return;
        }
    };
    log.anchor = (to < last).then(|| ids[to]);
}

/// Words for the border: whose lines, which weights, which words, and what came below.
pub fn status(model: &Model) -> String {
    let log = &model.log;
    let whose = match (log.which, front(model)) {
        (Which::Front, Some(id)) => id.to_string(),
        _ => "all".into(),
    };
    let mut out = format!("{whose} · {}", log.least.word().trim().to_lowercase());
    if !log.words.is_empty() {
        let _ = write!(out, " · “{}”", clean_line(&log.words, 20));
    }
    if let Some(anchor) = log.anchor {
        let new = log.shown(front(model)).rev().take_while(|line| line.n > anchor).count();
        let _ = write!(out, " · {new} new {}", model.glyphs.pick("↓", "v"));
    }
    out
}

/// Draws the pane's inside.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let below = |line: &&LogLine| model.log.anchor.is_some_and(|anchor| line.n > anchor);
    let mut lines: Vec<_> = model.log.shown(front(model)).rev().skip_while(below).take(area.height.into()).collect();
    lines.reverse();
    if lines.is_empty() {
        let words = if model.log.lines.is_empty() {
            "Nothing happened yet."
        } else {
            "No line passes the filter: l shows more, a all tickets, Enter changes the words."
        };
        Row::new().left(Role::Dim, words).draw(theme, area, buf);
    }
    for (place, line) in area.rows().zip(lines) {
        row(model, line).draw(theme, place, buf);
    }
}

/// Draws the newest line alone.
pub fn view_line(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    if let Some(line) = model.log.shown(front(model)).next_back() {
        row(model, line).draw(theme, inside, buf);
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

    fn full(lines: usize) -> Model {
        let mut model = sample::model();
        for n in 0..lines {
            let weight = Weight::ALL[1 + n % 4];
            model.log.push(sample::NOW, weight, sample::id("tk-1"), &format!("line {n}"));
        }
        model
    }

    fn texts(model: &Model, height: u16) -> Vec<String> {
        let mut buf = Buffer::empty(Rect::new(0, 0, 60, height));
        view(model, &Theme::plain(), buf.area, &mut buf);
        buf.area
            .rows()
            .map(|row| row.columns().map(|cell| buf[cell.as_position()].symbol().to_owned()).collect::<String>())
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    #[test]
    fn a_scrolled_log_stays_where_it_is_and_counts() {
        let mut model = full(20);
        update(&mut model, LogMsg::Scroll(-5), 4);
        let before = model.log.anchor;
        assert_eq!(before, Some(14));
        model.log.push(sample::NOW, Weight::Info, sample::id("tk-1"), "more");
        assert_eq!(model.log.anchor, before);
        assert!(status(&model).ends_with("6 new ↓"), "{}", status(&model));
        update(&mut model, LogMsg::End, 4);
        assert_eq!(model.log.anchor, None);
    }

    #[test]
    fn the_top_shows_a_full_pane() {
        let mut model = full(20);
        update(&mut model, LogMsg::Top, 4);
        assert_eq!(model.log.anchor, Some(3));
        update(&mut model, LogMsg::Scroll(-9), 4);
        assert_eq!(model.log.anchor, Some(3));
    }

    #[test]
    fn it_has_a_bound() {
        let model = full(KEPT + 7);
        assert_eq!(model.log.lines.len(), KEPT);
        assert_eq!(model.log.lines[0].n, 7);
    }

    #[test]
    fn levels_go_round() {
        let mut model = full(8);
        let count = |model: &Model| model.log.shown(None).count();
        let mut seen = vec![count(&model)];
        for _ in 0..4 {
            update(&mut model, LogMsg::Level, 4);
            seen.push(count(&model));
        }
        assert_eq!(seen, [8, 6, 4, 2, 8]);
        update(&mut model, LogMsg::Words("LINE 3".into()), 4);
        assert_eq!(count(&model), 1);
    }

    #[test]
    fn the_newest_line_is_the_last() {
        let lines = texts(&full(3), 2);
        assert!(lines[1].ends_with("line 2"), "{lines:?}");
    }
}

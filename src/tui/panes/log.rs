//! The Log pane: the facts of the iteration under way and one line for each that has ended, or all lines by weight; by
//! ticket and words.
//!
//! Does not own the lines (`tui::log_lines`).

use crate::base::text::clean_line;
use crate::domain::messages::{IterationSummary, Weight};
use crate::domain::ticket::TicketKey;
use crate::tui::command::{self, Command, Scope, always, c, lines, page, press, rows};
use crate::tui::log_lines::LogLine;
use crate::tui::modals::prompt::Prompt;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Key};
use crate::tui::pane::{Entry, Pane};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, highlight};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashMap;
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
    Own("open") "log.open" Scope::Pane(NAME), "log", [press(Key::Enter)], Shown, always, |_| "lines",
        "in Log: unfold or fold the iteration under the cursor";
    Own("level") "log.level" Scope::Pane(NAME), "log", [c('l')], Shown, always, |_| "level",
        "in Log: one line per iteration, or all lines by level";
    Own("ticket") "log.ticket" Scope::Pane(NAME), "log", [c('o')], Shown, always, |_| "all/this ticket",
        "in Log: all tickets, or this one";
    Prompt "log.filter" Scope::Pane(NAME), "log", [c('/')], Shown, always, |_| "filter",
        "in Log: filter the lines by text";
    Own("select") "log.select" Scope::Pane(NAME), "log", [c('v')], HelpOnly, always, |_| "select",
        "in Log: select lines, to copy them";
    Own("copy") "log.copy" Scope::Pane(NAME), "log", [c('y')], HelpOnly, always, |_| "copy",
        "in Log: copy the line under the cursor";
};

/// The pane's own state.
#[derive(Default)]
struct Log {
    /// The lightest weight that is shown; `None`: one line per iteration, and what is unfolded.
    least: Option<Weight>,
    /// Whose lines.
    which: Which,
    /// Only lines with these words, whatever their case.
    words: String,
    /// The line under the cursor; `None` is the last one, and follows the end.
    cursor: Option<u64>,
    /// The last line that is seen; `None` is the end.
    bottom: Option<u64>,
    /// Lines are selected, from this one to the cursor.
    selected_from: Option<u64>,
    /// Iterations that the person has unfolded, and those they have folded; the one under way is unfolded else.
    turned: HashMap<(TicketKey, u32), bool>,
}

impl Log {
    fn shown<'a>(&'a self, model: &'a Model) -> impl DoubleEndedIterator<Item = &'a LogLine> {
        let words = self.words.to_lowercase();
        let front = front(model);
        model.log.iter().filter(move |line| {
            (self.which == Which::All || front == Some(&line.ticket))
                && if words.is_empty() {
                    self.is_level(model, line)
                } else {
                    let is_level = line.weight.word().trim_end().to_lowercase() == words;
                    is_level
                        || line.weight >= self.least.unwrap_or(Weight::Info)
                            && line.text.to_lowercase().contains(&words)
                }
        })
    }

    fn is_level(&self, model: &Model, line: &LogLine) -> bool {
        match (self.least, line.iteration) {
            (Some(least), _) => line.weight >= least,
            (None, Some(_)) => line.is_first || self.is_unfolded(model, line),
            (None, None) => line.weight >= Weight::Info,
        }
    }

    /// The iteration of the line shows its facts.
    fn is_unfolded(&self, model: &Model, line: &LogLine) -> bool {
        let of = line.iteration.and_then(|n| self.turned.get(&(line.ticket.clone(), n)).copied());
        of.unwrap_or_else(|| model.log.iteration(line).is_some_and(IterationSummary::is_under_way))
    }

    /// The line stands for its whole iteration.
    fn is_summary(&self, line: &LogLine) -> bool {
        self.least.is_none() && self.words.is_empty() && line.is_first
    }

    /// The place of a line among those shown; the last one without it, and the one before a line that is not shown.
    fn place(ids: &[u64], id: Option<u64>) -> usize {
        let last = ids.len().saturating_sub(1);
        id.map_or(last, |id| ids.partition_point(|other| *other <= id).saturating_sub(1))
    }

    fn ids(&self, model: &Model) -> Vec<u64> {
        self.shown(model).map(|line| line.n).collect()
    }

    /// The lines that are seen in `height` rows, by their places.
    fn window(&self, ids: &[u64], height: usize) -> std::ops::Range<usize> {
        let (cursor, bottom) = (Self::place(ids, self.cursor), Self::place(ids, self.bottom));
        let end = bottom.clamp(cursor, cursor + height.saturating_sub(1)).max(height.saturating_sub(1)) + 1;
        let end = end.min(ids.len());
        end.saturating_sub(height)..end
    }

    fn scroll(&mut self, model: &Model, by: i32, height: usize) {
        let ids = self.ids(model);
        let Some(last) = ids.len().checked_sub(1) else { return };
        let to = Self::place(&ids, self.cursor).saturating_add_signed(by as isize).min(last);
        let seen = self.window(&ids, height);
        self.cursor = (to < last).then(|| ids[to]);
        let end = seen.end.clamp((to + 1).max(height.min(ids.len())), (to + height).min(ids.len()));
        self.bottom = (end <= last).then(|| ids[end - 1]);
        if self.selected_from.is_some() {
            self.stay(&ids);
        }
    }

    /// Follows the end no longer.
    fn stay(&mut self, ids: &[u64]) {
        self.cursor = self.cursor.or_else(|| ids.last().copied());
        self.bottom = self.bottom.or_else(|| ids.last().copied());
    }

    /// The lines that are selected, by their places; else the one under the cursor.
    fn selected(&self, ids: &[u64]) -> std::ops::RangeInclusive<usize> {
        let to = Self::place(ids, self.cursor);
        let from = self.selected_from.map_or(to, |from| Self::place(ids, Some(from)));
        from.min(to)..=from.max(to)
    }

    /// Leaves the selection; its lines as they are shown.
    fn copy(&mut self, model: &Model) -> Vec<Ask> {
        let selected = self.selected(&self.ids(model));
        let count = selected.end() + 1 - selected.start();
        let lines: Vec<String> =
            self.shown(model).skip(*selected.start()).take(count).map(|line| self.row(model, line).text()).collect();
        self.selected_from = None;
        if lines.is_empty() { Vec::new() } else { vec![Ask::Copy(lines.join("\n"))] }
    }

    /// Unfolds or folds the iteration under the cursor, whose first line stays where it is seen.
    fn unfold(&mut self, model: &Model, height: usize) {
        let ids = self.ids(model);
        let Some(line) = self.shown(model).nth(Self::place(&ids, self.cursor)) else { return };
        let unfolded = self.is_unfolded(model, line);
        let (Some(n), None, true) = (line.iteration, self.least, self.words.is_empty()) else { return };
        let of = (line.ticket.clone(), n);
        let first =
            model.log.iter().find(|other| other.is_first && (&other.ticket, other.iteration) == (&of.0, Some(n)));
        let Some(first) = first.map(|first| first.n) else { return };
        let above = Self::place(&ids, Some(first)).saturating_sub(self.window(&ids, height).start);
        self.turned.insert(of, !unfolded);
        let ids = self.ids(model);
        let at = Self::place(&ids, Some(first));
        self.cursor = (at + 1 < ids.len()).then_some(first);
        let end = (at.saturating_sub(above) + height).min(ids.len());
        self.bottom = (end < ids.len()).then(|| ids[end - 1]);
    }

    fn follow_end(&mut self) {
        (self.cursor, self.bottom, self.selected_from) = (None, None, None);
    }
}

fn front(model: &Model) -> Option<&TicketKey> {
    model.tab().map(|tab| &tab.id)
}

impl Pane for Log {
    fn act(&mut self, model: &mut Model, command: Command, height: usize) -> Vec<Ask> {
        // It may have no place of its own.
        let height = height.max(1);
        match command {
            Command::Own("copy") => return self.copy(model),
            Command::Own("select") => {
                let ids = self.ids(model);
                self.stay(&ids);
                self.selected_from = self.cursor;
            }
            Command::Close => self.selected_from = None,
            Command::Own("open") => self.unfold(model, height),
            Command::Own("level") => {
                let next = |least: Weight| Weight::ALL.into_iter().find(|weight| *weight > least);
                self.least = self.least.map_or(Some(Weight::ALL[0]), next);
                self.follow_end();
            }
            Command::Own("ticket") => {
                self.which = match self.which {
                    Which::All => Which::Front,
                    Which::Front => Which::All,
                };
                self.follow_end();
            }
            command => match lines(Some(command), page(height)) {
                0 => {}
                by => self.scroll(model, by, height),
            },
        }
        Vec::new()
    }

    fn selects(&self, _: &Model) -> bool {
        self.selected_from.is_some()
    }

    fn prompt(&self, _: &Model) -> Option<Prompt> {
        Some(Prompt { label: "log lines with: ", text: self.words.clone() })
    }

    fn typed(&mut self, _: &mut Model, text: &str) {
        text.clone_into(&mut self.words);
        self.follow_end();
    }

    /// Whose lines, which of them, and what came below.
    fn border(&self, model: &Model, _: u16) -> (String, String) {
        let whose = match (self.which, front(model)) {
            (Which::Front, Some(id)) => id.to_string(),
            _ => "all tickets".into(),
        };
        let level = self
            .least
            .map_or_else(|| "one line per iteration".to_owned(), |least| format!("from {}", least.word().trim()));
        let mut out = format!("{whose} · {level}");
        if !self.words.is_empty() {
            let _ = write!(out, " · “{}”", clean_line(&self.words, 20));
        }
        if let Some(bottom) = self.bottom {
            let new = self.shown(model).rev().take_while(|line| line.n > bottom).count();
            if new > 0 {
                let _ = write!(out, " · {new} below {}", model.glyphs.pick("↓", "v"));
            }
        }
        if self.selected_from.is_some() {
            out.push_str(" · selecting lines");
        }
        (String::new(), out)
    }

    fn view(&self, model: &Model, focused: bool, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let ids = self.ids(model);
        if ids.is_empty() {
            let words = match (model.log.is_empty(), self.words.is_empty()) {
                (true, _) => "Nothing logged yet.",
                (false, true) => "No line of this level: l shows more, o all tickets.",
                (false, false) => "No line matches: / edits the filter, o shows all tickets.",
            };
            Row::new().left(Role::Dim, words).draw(theme, area, buf);
            return;
        }
        let seen = self.window(&ids, area.height.into());
        let selected = self.selected(&ids);
        for (place, (at, line)) in area.rows().zip(self.shown(model).enumerate().skip(seen.start)) {
            self.row(model, line).draw(theme, place, buf);
            if focused && selected.contains(&at) {
                highlight(theme.style(Role::Selection), place, buf);
            }
        }
    }

    fn view_line(&self, model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        // Of the ticket in front, where there is one: there is no room for what others do.
        let front = front(model);
        if let Some(line) = self.shown(model).rfind(|line| front.is_none_or(|id| line.ticket == *id)) {
            self.row(model, line).draw(theme, inside, buf);
        }
    }
}

impl Log {
    fn row(&self, model: &Model, line: &LogLine) -> Row {
        let summary = model.log.iteration(line).filter(|_| self.is_summary(line)).map(IterationSummary::line);
        let (fold, weight, text) = match &summary {
            Some(told) => {
                let fold = if self.is_unfolded(model, line) {
                    model.glyphs.pick("▾ ", "v ")
                } else {
                    model.glyphs.pick("▸ ", "> ")
                };
                (fold, told.level, told.text.as_str())
            }
            None if self.least.is_none() => {
                let indent = if line.iteration.is_some() { "    " } else { "  " };
                (indent, line.weight, line.text.as_str())
            }
            None => ("", line.weight, line.text.as_str()),
        };
        let role = match weight {
            Weight::Info => Role::LogInfo,
            Weight::Call | Weight::Gate => Role::LogGate,
            Weight::Warn => Role::LogWarn,
            Weight::Error => Role::LogError,
        };
        let column = model.tabs.iter().map(|tab| tab.id.as_str().len()).max().unwrap_or(0).clamp(7, 16);
        let ticket = crate::base::text::cut(line.ticket.as_str(), column);
        let told = match weight {
            Weight::Call => Role::Dim,
            Weight::Info | Weight::Gate => Role::Text,
            Weight::Warn | Weight::Error => role,
        };
        Row::new()
            .left(Role::Dim, line.time.clock_time(&model.zone))
            .left(role, format!(" {} ", weight.word()))
            .left(Role::Dim, format!("{ticket:<column$}  {fold}"))
            .left(told, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outcome::{DoneHow, IterationOutcome};
    use crate::domain::record::Record;
    use crate::tui::sample;
    use crate::tui::ui::Ui;

    /// So many lines that belong to no iteration.
    fn full(lines: usize) -> (Log, Ui) {
        let mut ui = sample::model();
        for n in 0..lines {
            let weight = Weight::ALL[1 + n % 4];
            ui.log.push(sample::NOW, weight, sample::id("tk-1"), None, &format!("line {n}"));
        }
        (Log::default(), ui)
    }

    #[test]
    fn one_line_is_of_the_ticket_in_front() {
        let (log, mut ui) = full(3);
        ui.tabs.push(sample::running("tk-1"));
        ui.log.push(sample::NOW, Weight::Error, sample::id("tk-2"), None, "what another did");
        let mut buf = Buffer::empty(Rect::new(0, 0, 90, 1));
        log.view_line(&ui, &Theme::plain(), buf.area, &mut buf);
        let line: String = buf.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert!(line.contains("line 2"), "{line}");
    }

    fn texts(log: &Log, model: &Model, height: u16) -> Vec<String> {
        let mut buf = Buffer::empty(Rect::new(0, 0, 90, height));
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
        for _ in 0..8 {
            log.act(&mut ui, Command::Up, 4);
        }
        let before = texts(&log, &ui, 4);
        assert!(before[0].ends_with("line 11") && before[3].ends_with("line 14"), "{before:?}");
        ui.log.push(sample::NOW, Weight::Info, sample::id("tk-1"), None, "more");
        assert_eq!(texts(&log, &ui, 4), before);
        let (_, status) = log.border(&ui, 60);
        assert!(status.ends_with("6 below ↓"), "{status}");
        log.act(&mut ui, Command::End, 4);
        assert!(texts(&log, &ui, 4)[3].ends_with("more"));
    }

    #[test]
    fn the_top_shows_a_full_pane() {
        let (mut log, mut ui) = full(20);
        for command in [Command::Top, Command::PageUp] {
            log.act(&mut ui, command, 4);
            let seen = texts(&log, &ui, 4);
            assert!(seen[0].ends_with("line 0") && seen[3].ends_with("line 3"), "{seen:?}");
        }
    }

    #[test]
    fn levels_go_round() {
        let (mut log, mut ui) = full(8);
        let mut seen = vec![log.shown(&ui).count()];
        for _ in 0..6 {
            log.act(&mut ui, Command::Own("level"), 4);
            seen.push(log.shown(&ui).count());
        }
        assert_eq!(seen, [8, 8, 8, 6, 4, 2, 8]);
        log.typed(&mut ui, "LINE 3");
        assert_eq!(log.shown(&ui).count(), 1);
    }

    #[test]
    fn the_newest_line_is_the_last() {
        let (log, ui) = full(3);
        let lines = texts(&log, &ui, 2);
        assert!(lines[1].ends_with("line 2"), "{lines:?}");
    }

    /// Three iterations of four lines each, the last one under way.
    fn iterations() -> (Log, Ui) {
        let mut ui = sample::model();
        let id = sample::id("tk-1");
        for n in 1..=3 {
            let phase = Some(format!("Phase {n}"));
            ui.log.hear(&id, &Record::IterationStarted { n, phase, session: None, id: None, role: <_>::default() });
            for line in 1..=4 {
                ui.log.push(sample::NOW, Weight::Info, id.clone(), Some(n), &format!("fact {n}.{line}"));
            }
            if n < 3 {
                end(&mut ui, n);
            }
        }
        (Log::default(), ui)
    }

    fn end(ui: &mut Ui, n: u32) {
        let outcome = IterationOutcome::Claimed;
        let ended = Record::IterationEnded { n, outcome, changed: true, fingerprint: None, ms: 1_000, reading: None };
        for record in [Record::PhaseDone { n, phase: None, how: DoneHow::Verified, id: None }, ended] {
            ui.log.hear(&sample::id("tk-1"), &record);
        }
    }

    /// What is shown behind the ticket's id.
    fn said(log: &Log, ui: &Ui) -> Vec<String> {
        texts(log, ui, 12).iter().filter_map(|line| Some(line.split_once("tk-1     ")?.1.to_owned())).collect()
    }

    #[test]
    fn an_iteration_shows_its_facts_while_it_is_under_way_and_then_folds_to_one_line() {
        let (log, mut ui) = iterations();
        let mut shown = vec![
            "▸ iteration 1 · “Phase 1” · verified · 1 s",
            "▸ iteration 2 · “Phase 2” · verified · 1 s",
            "▾ iteration 3 · “Phase 3” · in progress",
            "    fact 3.2",
            "    fact 3.3",
            "    fact 3.4",
        ];
        assert_eq!(said(&log, &ui), shown);
        end(&mut ui, 3);
        shown.truncate(2);
        shown.push("▸ iteration 3 · “Phase 3” · verified · 1 s");
        assert_eq!(said(&log, &ui), shown);
    }

    #[test]
    fn enter_unfolds_an_iteration_and_folds_it_again() {
        let (mut log, mut ui) = iterations();
        let before = said(&log, &ui);
        for _ in 0..4 {
            log.act(&mut ui, Command::Up, 12);
        }
        log.act(&mut ui, Command::Own("open"), 12);
        let unfolded = said(&log, &ui);
        assert_eq!(unfolded[1], "▾ iteration 2 · “Phase 2” · verified · 1 s");
        assert_eq!(unfolded[2..5], ["    fact 2.2", "    fact 2.3", "    fact 2.4"]);
        log.act(&mut ui, Command::Down, 12);
        log.act(&mut ui, Command::Own("open"), 12);
        assert_eq!(said(&log, &ui), before, "Enter on one of its lines folds it");
        assert_eq!(Log::place(&log.ids(&ui), log.cursor), 1, "and the cursor stays on it");
        log.act(&mut ui, Command::End, 12);
        log.act(&mut ui, Command::Own("open"), 12);
        assert_eq!(said(&log, &ui)[2..], ["▸ iteration 3 · “Phase 3” · in progress"], "the one under way folds, too");
    }
}

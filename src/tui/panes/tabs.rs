//! The first line: one tab a ticket with its state, how many wait for the person, and the time.

use crate::tui::model::Model;
use crate::tui::tab::{Tab, TabStatus};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;
use unicode_width::UnicodeWidthStr;

/// Columns from which on the program's name and words for states are shown.
const WORDY: u16 = 100;
/// Widest id in a tab.
const ID: usize = 16;
/// Columns for `+99!`.
const OVERFLOW: usize = 5;

/// Draws the line.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let wordy = area.width >= WORDY;
    let mut row = Row::new().left(Role::Text, " ");
    if wordy || model.tabs.is_empty() {
        row = row.left(Role::Title, "programmator").left(Role::Text, "  ");
    }
    if model.mode == crate::tui::model::Mode::Replay {
        row = row.left(Role::Warning, "replay").left(Role::Text, "  ");
    }
    row = with_clock(model, row);
    let labels: Vec<String> = (0..model.tabs.len()).map(|at| label(model, at, wordy)).collect();
    let room = usize::from(area.width).saturating_sub(row.left_width() + row.right_width() + 1);
    let widths: Vec<usize> = labels.iter().map(|label| label.width() + 2).collect();
    let shown = window(&widths, model.active, room);
    if shown.start > 0 {
        row = overflow(model, row, &model.tabs[..shown.start]);
    }
    for at in shown.clone() {
        let tab = &model.tabs[at];
        let (open, close) = if at == model.active {
            (model.glyphs.pick("▌", "["), model.glyphs.pick("▐", "]"))
        } else {
            (" ", " ")
        };
        let role = match (model.standing(tab), at == model.active) {
            (TabStatus::NeedsYou | TabStatus::Halted, _) => Role::TabAttention,
            (_, true) => Role::TabActive,
            (_, false) => Role::TabIdle,
        };
        row = row.left(Role::Accent, open).left(role, &labels[at]).left(Role::Accent, close);
    }
    if shown.end < model.tabs.len() {
        row = overflow(model, row, &model.tabs[shown.end..]);
    }
    row.draw(theme, area, buf);
}

/// `1 waiting` and the time. The time stands only while a clock runs: a clock that stands is a lie.
fn with_clock(model: &Model, row: Row) -> Row {
    let waiting = model.waiting();
    let row = if waiting > 0 { row.right(Role::TabAttention, format!("{waiting} waiting")) } else { row };
    let time = if model.anything_active() { model.now.clock_time(&model.zone)[..5].to_owned() } else { String::new() };
    row.right(Role::Dim, format!("  {time:>5} "))
}

fn overflow(model: &Model, row: Row, hidden: &[Tab]) -> Row {
    let any = |wanted: &[TabStatus]| hidden.iter().any(|tab| wanted.contains(&model.standing(tab)));
    let (role, mark) = if any(&[TabStatus::NeedsYou, TabStatus::Halted]) {
        (Role::TabAttention, "!")
    } else if any(&[TabStatus::Running, TabStatus::Checking, TabStatus::Pausing]) {
        (Role::PhaseRunning, TabStatus::Running.sign(model.glyphs).glyph)
    } else {
        (Role::Dim, "")
    };
    row.left(role, format!(" +{}{mark} ", hidden.len()))
}

fn label(model: &Model, at: usize, wordy: bool) -> String {
    let tab = &model.tabs[at];
    let standing = model.standing(tab);
    let sign = standing.sign(model.glyphs);
    let id = crate::base::text::cut(tab.id.as_str(), ID);
    let (done, all) = tab.progress();
    let running = matches!(standing, TabStatus::Running | TabStatus::Checking | TabStatus::Pausing);
    let number = if at < 9 { format!("{} ", at + 1) } else { String::new() };
    if all > 0 && running && (wordy || at == model.active) {
        format!("{number}{id} {} {done}/{all}", sign.glyph)
    } else if wordy {
        format!("{number}{id} {} {}", sign.glyph, sign.word)
    } else {
        format!("{number}{id} {}", sign.glyph)
    }
}

/// The longest run of tabs around `active` that fits into `room` columns, overflow marks counted.
fn window(widths: &[usize], active: usize, room: usize) -> Range<usize> {
    if widths.iter().sum::<usize>() <= room || widths.is_empty() {
        return 0..widths.len();
    }
    let active = active.min(widths.len() - 1);
    let room = room.saturating_sub(2 * OVERFLOW);
    let (mut start, mut end) = (active, active + 1);
    let mut used = widths[active];
    loop {
        if end < widths.len() && used + widths[end] <= room {
            used += widths[end];
            end += 1;
        } else if start > 0 && used + widths[start - 1] <= room {
            start -= 1;
            used += widths[start];
        } else {
            return start..end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_running_tab_is_seen_though_there_is_no_room_for_it() {
        let mut model = crate::tui::sample::model();
        model.tabs.push(crate::tui::sample::running("tk-0"));
        model.tabs.extend((1..9).map(|n| crate::tui::sample::finished(&format!("tk-long-name-{n}"))));
        model.active = 8;
        let drawn = crate::tui::sample::draw(&mut model, (80, 24));
        let tabs = drawn.lines().next().unwrap_or_default();
        assert!(!tabs.contains("tk-0") && tabs.contains("▶ "), "{tabs}");
    }

    #[test]
    fn all_tabs_when_they_fit() {
        assert_eq!(window(&[10, 10, 10], 0, 30), 0..3);
        assert_eq!(window(&[10, 10, 10, 10, 10], 0, 32), 0..2);
        assert_eq!(window(&[10, 10, 10, 10, 10], 4, 32), 3..5);
        assert_eq!(window(&[], 0, 32), 0..0);
    }

    proptest! {
        #[test]
        fn the_tab_in_front_is_always_seen(
            widths in prop::collection::vec(5usize..30, 1..40), active in 0usize..40, room in 0usize..300,
        ) {
            let active = active % widths.len();
            prop_assert!(window(&widths, active, room).contains(&active));
        }
    }
}

//! The first line: one tab a ticket with its state, how many wait for the person, and the time. Where there is no room
//! for all, the one in front, those that need the person and those at work stay, and the quiet ones fold to `+6 ○`.

use crate::base::text::cut;
use crate::tui::model::Model;
use crate::tui::tab::{Tab, TabStatus};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Columns from which on the program's name and words for states are shown.
const WORDY: u16 = 100;
/// Widest id in a tab.
const ID: usize = 16;
/// Columns for ` +99 ○`.
const OVERFLOW: usize = 6;

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
    if let Some(host) = &model.host {
        row = row.left(Role::Warning, format!("on {}", cut(host, ID))).left(Role::Text, "  ");
    }
    row = with_clock(model, row);
    let labels: Vec<String> = (0..model.tabs.len()).map(|at| label(model, at, wordy)).collect();
    let room = usize::from(area.width).saturating_sub(row.left_width() + row.right_width() + 1);
    let widths: Vec<usize> = labels.iter().map(|label| label.width() + 2).collect();
    let ranks: Vec<u8> = model.tabs.iter().map(|tab| rank(model.standing(tab))).collect();
    let shown = fitting(&widths, &ranks, model.active, room);
    for (at, tab) in model.tabs.iter().enumerate().filter(|(at, _)| shown[*at]) {
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
    let folded: Vec<&Tab> = model.tabs.iter().zip(&shown).filter(|(_, shown)| !**shown).map(|(tab, _)| tab).collect();
    if !folded.is_empty() {
        row = overflow(model, row, &folded);
    }
    row.draw(theme, area, buf);
}

/// `1 waiting` and the time. The time stands only while a clock runs: a clock that stands is a lie.
fn with_clock(model: &Model, row: Row) -> Row {
    let waiting = model.waiting();
    let row = if waiting > 0 { row.right(Role::TabAttention, format!("{waiting} waiting")) } else { row };
    let time = if model.is_timed() { model.now.clock_time(&model.zone)[..5].to_owned() } else { String::new() };
    row.right(Role::Dim, format!("  {time:>5} "))
}

/// How many tabs are folded, with the mark of what matters most among them.
fn overflow(model: &Model, row: Row, folded: &[&Tab]) -> Row {
    let (role, mark) = match folded.iter().map(|tab| rank(model.standing(tab))).min() {
        Some(NEEDY) => (Role::TabAttention, "!"),
        Some(AT_WORK) => (Role::PhaseRunning, TabStatus::Running.sign(model.glyphs).glyph),
        _ => (Role::Dim, model.glyphs.pick("○", "o")),
    };
    row.left(role, format!(" +{} {mark}", folded.len()))
}

const NEEDY: u8 = 0;
const AT_WORK: u8 = 1;
const QUIET: u8 = 2;

/// Which tabs keep their place longest when there is no room for all.
fn rank(standing: TabStatus) -> u8 {
    match standing {
        TabStatus::NeedsYou | TabStatus::Halted => NEEDY,
        TabStatus::Running | TabStatus::Checking | TabStatus::Pausing | TabStatus::Stopping => AT_WORK,
        _ => QUIET,
    }
}

fn label(model: &Model, at: usize, wordy: bool) -> String {
    let tab = &model.tabs[at];
    let standing = model.standing(tab);
    let sign = standing.sign(model.glyphs);
    let id = cut(tab.id.as_str(), ID);
    let (done, all) = tab.progress();
    let running =
        matches!(standing, TabStatus::Running | TabStatus::Checking | TabStatus::Pausing | TabStatus::Stopping);
    let number = if at < 9 { format!("{} ", at + 1) } else { String::new() };
    if all > 0 && running && (wordy || at == model.active) {
        format!("{number}{id} {} {done}/{all}", sign.glyph)
    } else if wordy {
        format!("{number}{id} {} {}", sign.glyph, sign.word)
    } else {
        format!("{number}{id} {}", sign.glyph)
    }
}

/// Which tabs fit into `room` columns, the mark of the folded ones counted: the one in front first, then by rank, then
/// those nearest to it.
fn fitting(widths: &[usize], ranks: &[u8], active: usize, room: usize) -> Vec<bool> {
    let all: usize = widths.iter().sum();
    if all <= room {
        return vec![true; widths.len()];
    }
    let mut order: Vec<usize> = (0..widths.len()).collect();
    order.sort_by_key(|at| (*at != active, ranks[*at], at.abs_diff(active)));
    let mut left = room.saturating_sub(OVERFLOW);
    let mut shown = vec![false; widths.len()];
    for at in order {
        if at == active || widths[at] <= left {
            shown[at] = true;
            left = left.saturating_sub(widths[at]);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first line of a screen with a tab at work and eight that are done.
    fn first_line(size: (u16, u16)) -> String {
        let mut model = crate::tui::sample::model();
        model.tabs.push(crate::tui::sample::running("tk-0"));
        model.tabs.extend((1..9).map(|n| crate::tui::sample::finished(&format!("tk-long-name-{n}"))));
        model.active = 8;
        crate::tui::sample::draw(&mut model, size).lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn what_runs_keeps_its_place_and_the_quiet_ones_fold() {
        let line = first_line((80, 24));
        assert!(line.contains("1 tk-0 ▶") && line.contains("▌9 tk-long-name-8"), "{line}");
        assert!(line.contains(" +6 ○"), "{line}");
    }

    #[test]
    fn a_run_of_another_machine_is_seen_as_such() {
        for size in [(80, 24), (200, 50)] {
            let mut model = crate::tui::sample::model();
            model.tabs.push(crate::tui::sample::running("tk-0"));
            model.host = Some("build".to_owned());
            let screen = crate::tui::sample::draw(&mut model, size);
            assert!(screen.lines().next().is_some_and(|line| line.contains("on build  ▌1 tk-0")), "{screen}");
        }
    }

    #[test]
    fn all_tabs_when_they_fit() {
        let quiet = [QUIET; 5];
        assert_eq!(fitting(&[10, 10, 10], &quiet[..3], 0, 30), [true; 3]);
        assert_eq!(fitting(&[10; 5], &quiet, 0, 32), [true, true, false, false, false]);
        assert_eq!(fitting(&[10; 5], &quiet, 4, 32), [false, false, false, true, true]);
        assert_eq!(fitting(&[10; 5], &[QUIET, NEEDY, QUIET, AT_WORK, QUIET], 4, 42), [false, true, false, true, true]);
        assert!(fitting(&[], &[], 0, 32).is_empty());
    }

    proptest! {
        #[test]
        fn the_tab_in_front_is_always_seen_and_no_quiet_one_takes_a_needy_ones_place(
            widths in prop::collection::vec(5usize..30, 1..40), active in 0usize..40, room in 0usize..300,
        ) {
            let active = active % widths.len();
            let ranks: Vec<u8> = (0..widths.len()).map(|at| (at % 3) as u8).collect();
            let shown = fitting(&widths, &ranks, active, room);
            prop_assert!(shown[active]);
            let used: usize = widths.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(width, _)| width).sum();
            prop_assert!(used <= room.max(widths[active]));
            for at in (0..widths.len()).filter(|at| !shown[*at]) {
                let quieter = (0..widths.len()).filter(|other| shown[*other] && ranks[*other] > ranks[at] && *other != active);
                prop_assert!(quieter.map(|other| widths[other]).all(|width| width < widths[at]));
            }
        }
    }
}

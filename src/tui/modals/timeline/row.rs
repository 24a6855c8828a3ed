//! The snapshots in lines, below one that says what their columns are.

use crate::base::text::clean_line;
use crate::domain::messages::outcome_words;
use crate::domain::timeline::{Moment, Origin};
use crate::tui::model::Model;
use crate::tui::panes::changes::counted;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The head of the first column.
const HEAD: &str = "Snapshot";
/// Columns for lines that came and went.
const LINES: usize = 12;
/// Inside so many columns there is room for what became of a phase in words.
const WIDE: usize = 90;

/// Draws the snapshots, of which one is chosen.
pub(super) fn snapshots(
    (moments, at): (&[Moment], usize),
    is_marked: &dyn Fn(&Moment) -> bool,
    model: &Model,
    theme: &Theme,
    area: Rect,
    buf: &mut Buffer,
) {
    if moments.is_empty() || area.height < 2 {
        return;
    }
    let columns = area.width.into();
    let picks = moments.iter().map(|moment| moment.pick.len()).max().unwrap_or(0).clamp(HEAD.len(), 24);
    heads(picks, columns).draw(theme, Rect { height: 1, ..area }, buf);
    let list = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let rows = moments.iter().map(|moment| row(moment, (is_marked(moment), picks), columns, model));
    Scrolled::default().showing(at, at, list.height.into()).list(rows, Some(at), theme, list, buf);
}

/// The heads of the columns. `picks`: columns of what a person calls the snapshots.
fn heads(picks: usize, columns: usize) -> Row {
    let result = if columns < WIDE { "   ".to_owned() } else { format!("    {:<14}", "Result") };
    Row::new()
        .left(Role::Dim, format!("  {HEAD:<picks$}  Iteration    Phase"))
        .right(Role::Dim, format!("{:<changed$}", "  Changed", changed = LINES + 11))
        .right(Role::Dim, format!("{result}  {:>6}", "Time"))
}

/// Whether it is marked, and how many columns the longest name takes.
fn row(moment: &Moment, (is_marked, longest): (bool, usize), columns: usize, model: &Model) -> Row {
    let mark = if is_marked { model.glyphs.pick("◆ ", "* ") } else { "  " };
    let pick = format!("{:<longest$}  ", clean_line(&moment.pick, longest));
    let row = Row::new().left(Role::Accent, mark).left(Role::Text, pick);
    let row = match &moment.origin {
        Origin::Start => row.left(Role::Dim, "start of the run"),
        Origin::Conflict => row.left(Role::Warning, "merged with its base: conflict markers"),
        Origin::Unknown => row.left(Role::Dim, "its records are not here"),
        Origin::Saved(before) => row.left(Role::Warning, before.words()),
        Origin::Iteration { n, step, phase, .. } => row
            .left(Role::Dim, format!("{n:<3} {:<8} ", clean_line(step.word(), 8)))
            .left(Role::Text, clean_line(phase.as_deref().unwrap_or("the whole ticket"), 400)),
    };
    let (role, glyph, words) = match &moment.origin {
        Origin::Iteration { mark: Some(mark), .. } => {
            let sign = model.glyphs.phase(*mark);
            (sign.role, sign.glyph, sign.word)
        }
        Origin::Iteration { outcome: Some(outcome), .. } => (Role::Dim, "-", outcome_words(*outcome)),
        _ => (Role::Dim, "", ""),
    };
    let became =
        if columns < WIDE { format!("  {glyph:<1}") } else { format!("  {glyph:<1} {:<14}", clean_line(words, 14)) };
    let is_recent = model.now.is_within_a_day_of(moment.time);
    let time = if is_recent { moment.time.minute(&model.zone) } else { moment.time.day(&model.zone) };
    let row = match moment.changed {
        Some(changed) => {
            let lines = counted(Row::new(), changed.added, changed.removed).right_width();
            let gap = " ".repeat(LINES.saturating_sub(lines));
            let word = if changed.files == 1 { "file" } else { "files" };
            let files = format!("{:>4} {word:<5} {gap}", changed.files);
            counted(row.right(Role::Dim, files), changed.added, changed.removed)
        }
        None => row.right(Role::Dim, " ".repeat(LINES + 11)),
    };
    row.right(role, became).right(Role::Dim, format!("  {time:>6}"))
}

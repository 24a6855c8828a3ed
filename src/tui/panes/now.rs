//! The line under the tabs: which phase the ticket in front is at, what Claude does in it right now, how the phases stand.

use crate::base::text::{clean_line, cut};
use crate::base::time::human;
use crate::domain::phase::Mark;
use crate::orchestrator::state::Stage;
use crate::tui::forecast;
use crate::tui::model::{Mode, Model};
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// Columns from which on it says how much time is left.
pub const ROOMY: usize = 100;
/// Marks of phases that are shown.
const MARKS: usize = 16;

/// The ticket in front is at work, so there is something to say.
pub fn has_words(model: &Model) -> bool {
    let goes_on = |tab: &Tab| tab.own.is_some() || tab.state.ended.is_none();
    let at_work = |tab: &Tab| tab.run.is_some() && tab.failure.is_none() && goes_on(tab);
    model.tab().is_some_and(|tab| at_work(tab) && !tab.is_interrupted())
}

/// Draws the line.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let Some(tab) = model.tab() else { return };
    let sign = model.standing(tab).sign(model.glyphs);
    let state = &tab.state;
    let at = tab.current_phase().and_then(|phase| state.phases.iter().position(|other| other.id == phase.id));
    let place = at.map_or_else(String::new, |at| format!("{}/{} ", at + 1, state.phases.len()));
    let phase = tab.current_phase().map_or_else(|| tab.title(), |phase| phase.text.as_str());
    let call = call(model, tab);
    let width = usize::from(area.width);
    let phase = cut(&clean_line(phase, 400), if call.is_empty() { width } else { width * 2 / 5 });
    let mut row = Row::new()
        .left(sign.role, format!(" {} ", sign.glyph))
        .left(Role::Title, place)
        .left(Role::Title, phase)
        .left(Role::Dim, format!("   {}", clean_line(&call, 400)));
    // Where the line has room for more than it must say.
    if let Some(left) = forecast::left(model, tab).filter(|_| width >= ROOMY) {
        row = row.right(Role::Dim, format!("  {} left", forecast::words(left)));
    }
    let marks: Vec<Mark> = state.phases.iter().map(|phase| phase.mark).collect();
    let from = at.unwrap_or(0).saturating_sub(MARKS / 2).min(marks.len().saturating_sub(MARKS));
    let shown = &marks[from..marks.len().min(from + MARKS)];
    if shown.len() > 1 {
        row = row.right(Role::Dim, "  ");
        for mark in shown {
            let sign = model.glyphs.phase(*mark);
            row = row.right(sign.role, sign.glyph);
        }
    }
    row.right(Role::Dim, " ").draw(theme, area, buf);
}

/// What happens right now: Claude's call and how long it has run, or what we do.
fn call(model: &Model, tab: &Tab) -> String {
    if let Some(own) = &tab.own {
        return if model.needs_you(tab) { "waiting for your answer".to_owned() } else { own.words() };
    }
    match (&tab.state.stage, &tab.call) {
        (Stage::Merging, _) => "merging into its base".to_owned(),
        (Stage::MakingWorktree, _) => "creating its worktree".to_owned(),
        (Stage::Validating, _) => "running the validation commands".to_owned(),
        (Stage::Running, _) if !tab.state.approvals.is_empty() => "waiting for your answer".to_owned(),
        (Stage::Running, Some((call, since))) => {
            let ran = model.now.since(*since);
            let long = model.mode == Mode::Live && ran >= Duration::from_secs(2);
            let ran = if long { format!(" · {}", human(ran)) } else { String::new() };
            format!("{call}{ran}")
        }
        _ if tab.state.awaits_message() => "waiting for your message".to_owned(),
        (Stage::Running, None) => "Claude is thinking".to_owned(),
        _ => String::new(),
    }
}

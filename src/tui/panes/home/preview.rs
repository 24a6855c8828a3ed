//! The chosen ticket beside the table: its phases, its checks, what it needs, what it has cost.

use super::rows::Entry;
use crate::base::text::clean_line;
use crate::domain::phase::Mark;
use crate::tui::model::Model;
use crate::tui::panes::ending::iterations;
use crate::tui::panes::stream;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Lines that the end of the stream is worth showing in.
const STREAM: u16 = 4;

/// The places of what is known of the ticket and, below it, of the end of its stream; that one is empty where there is
/// no stream or no room.
pub fn places(model: &Model, entry: &Entry<'_>, area: Rect) -> (Rect, Rect) {
    let facts = u16::try_from(lines(model, entry, area.width.into()).len()).unwrap_or(u16::MAX);
    let has_stream = entry.tab.is_some_and(|tab| tab.run.is_some());
    let most = if model.home.peeks { area.height / 3 } else { area.height.saturating_sub(STREAM + 1) };
    let height = facts.min(most) + 1;
    if !has_stream || area.height < height + STREAM {
        return (area, Rect { height: 0, ..area });
    }
    let facts = Rect { height, ..area };
    (facts, Rect { y: area.y + height, height: area.height - height, ..area })
}

/// Draws it.
pub fn view(model: &Model, entry: &Entry<'_>, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let (facts, end) = places(model, entry, area);
    for (place, line) in facts.rows().zip(lines(model, entry, area.width.into())) {
        line.draw(theme, place, buf);
    }
    if let Some(tab) = entry.tab.filter(|_| !end.is_empty()) {
        stream::view(&tab.stream, &model.syntax, theme, end, buf);
    }
}

fn lines(model: &Model, entry: &Entry<'_>, width: usize) -> Vec<Row> {
    let sign = entry.sign(model);
    let phases = phases(entry);
    let done = phases.iter().filter(|(mark, _)| matches!(mark, Mark::Done(_))).count();
    let is_chat = entry.is_chat();
    let count = if phases.is_empty() || is_chat { String::new() } else { format!("{done}/{} ", phases.len()) };
    let mut out = vec![
        Row::new()
            .left(Role::Title, entry.id.as_str())
            .right(sign.role, sign.word)
            .right(Role::Dim, format!("  {count}")),
        Row::new().left(Role::Text, entry.title()),
        Row::new(),
    ];
    let mut say = |role: Role, text: &str, lines: usize| {
        let text = clean_line(text, 800);
        out.extend(wrap(&text, width).into_iter().take(lines).map(|line| Row::new().left(role, line)));
    };
    let words = entry.words(model);
    if !words.is_empty() {
        // Of what went wrong all that helps is read here.
        let is_failure = entry.tab.is_some_and(|tab| tab.failure.is_some());
        say(Role::Text, &words, if is_failure { 10 } else { 4 });
        out.push(Row::new());
    }
    if let Some(branch) = entry.branch() {
        out.push(Row::new().left(Role::Dim, "branch ").left(Role::Text, branch));
        out.push(Row::new());
    }
    let back = entry.taken_back();
    for (at, (mark, text)) in phases.iter().enumerate() {
        let is_back = back.contains(&at);
        let sign = if is_back { model.glyphs.taken_back() } else { entry.standing.of_phase(*mark, model.glyphs) };
        let row = Row::new().left(sign.role, format!("{} ", sign.glyph)).left(Role::Text, text);
        out.push(row.right(Role::Dim, sign.word));
    }
    if phases.is_empty() && entry.marks().is_empty() && !is_chat {
        out.push(Row::new().left(Role::Dim, "No phases: Claude works on the ticket as a whole."));
    }
    out.push(Row::new());
    match entry.ticket.filter(|_| !is_chat).map(|ticket| &ticket.validation[..]) {
        Some([]) => {
            let words = "no validation commands: what Claude claims is not verified";
            out.extend(wrap(words, width).into_iter().map(|line| Row::new().left(Role::Warning, line)));
        }
        Some(commands) => {
            out.push(Row::new().left(Role::Dim, "checked by"));
            out.extend(commands.iter().map(|command| Row::new().left(Role::Text, format!("  {command}"))));
        }
        None => {}
    }
    let of_run = || entry.run.map(|run| (run.iterations, run.reviews()));
    let counts = entry.tab.map(|tab| (tab.state.counted_iterations(), tab.state.reviews)).or_else(of_run);
    if let Some((cost, (work, reviews))) = entry.cost().zip(counts) {
        let carried = entry.carried_usd() > 0.0;
        let (in_all, in_run) = if carried { (" in all", " in this run") } else { ("", "") };
        let iterations = if is_chat { String::new() } else { format!(" · {}{in_run}", iterations(work, reviews)) };
        out.push(Row::new());
        out.push(Row::new().left(Role::Dim, format!("${cost:.2}{in_all}{iterations}")));
    }
    out
}

/// The phases and where each stands: as the run knows them, else as the file has them.
fn phases<'a>(entry: &Entry<'a>) -> Vec<(Mark, &'a str)> {
    if let Some(tab) = entry.tab.filter(|tab| !tab.is_as_in_file()) {
        return tab.phases(false).into_iter().map(|phase| (phase.mark, phase.text)).collect();
    }
    let phases = entry.ticket.map_or(&[][..], |ticket| &ticket.phases[..]);
    entry.marks().into_iter().zip(phases).map(|(mark, phase)| (mark, phase.text.as_str())).collect()
}

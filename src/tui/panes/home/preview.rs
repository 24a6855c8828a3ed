//! The chosen ticket beside the table: its phases, its checks, what it needs, what it has cost.

use super::estimate::{IGNORED, is_unchecked, no_commands, without_commands};
use super::rows::Entry;
use crate::base::text::{clean_line, cut_words};
use crate::domain::messages::iterations_words;
use crate::domain::phase::Mark;
use crate::tui::model::Model;
use crate::tui::panes::stream;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Lines that the end of the stream is worth showing in.
const STREAM: u16 = 4;
/// Lines that the title, a phase or a command takes at most where there is room.
const EACH: usize = 3;

/// The places of what is known of the ticket and, below it, of the end of its stream; that one is empty where there is
/// no stream or no room.
pub fn places(model: &Model, entry: &Entry<'_>, area: Rect) -> (Rect, Rect) {
    let has_stream = entry.tab.is_some_and(|tab| tab.run.is_some());
    let facts = u16::try_from(lines(model, entry, area).len()).unwrap_or(u16::MAX);
    let height = facts.min(most(model, entry, area)) + 1;
    if !has_stream || area.height < height + STREAM {
        return (area, Rect { height: 0, ..area });
    }
    let facts = Rect { height, ..area };
    (facts, Rect { y: area.y + height, height: area.height - height, ..area })
}

/// Lines that the facts may take.
fn most(model: &Model, entry: &Entry<'_>, area: Rect) -> u16 {
    match entry.tab.is_some_and(|tab| tab.run.is_some()) {
        true if model.home.peeks => area.height / 3,
        true => area.height.saturating_sub(STREAM + 1),
        false => area.height,
    }
}

/// What is known of it: in whole sentences where they fit, else a line each.
fn lines(model: &Model, entry: &Entry<'_>, area: Rect) -> Vec<Row> {
    let whole = facts(model, entry, area.width.into(), EACH);
    let fits = whole.len() <= most(model, entry, area).into();
    if fits { whole } else { facts(model, entry, area.width.into(), 1) }
}

/// Draws it.
pub fn view(model: &Model, entry: &Entry<'_>, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let (facts, end) = places(model, entry, area);
    for (place, line) in facts.rows().zip(lines(model, entry, area)) {
        line.draw(theme, place, buf);
    }
    if let Some(tab) = entry.tab.filter(|_| !end.is_empty()) {
        stream::view(&tab.stream, &model.syntax, theme, end, buf);
    }
}

/// `each`: lines that the title, a phase or a command takes at most.
fn facts(model: &Model, entry: &Entry<'_>, width: usize, each: usize) -> Vec<Row> {
    let sign = entry.sign(model);
    let phases = phases(entry);
    let done = phases.iter().filter(|(mark, _)| matches!(mark, Mark::Done(_))).count();
    let is_chat = entry.is_chat() || entry.is_own_session();
    let count = if phases.is_empty() || is_chat { String::new() } else { format!("{done}/{} ", phases.len()) };
    let mut out = vec![
        Row::new()
            .left(Role::Title, entry.id.as_str())
            .right(sign.role, sign.word)
            .right(Role::Dim, format!("  {count}")),
    ];
    out.extend(hung(entry.title(), width, each).into_iter().map(|line| Row::new().left(Role::Text, line)));
    out.push(Row::new());
    let mut say = |role: Role, text: &str, lines: usize| {
        let text = clean_line(text, 800);
        out.extend(hung(&text, width, lines).into_iter().map(|line| Row::new().left(role, line)));
    };
    if let Some(own) = entry.own {
        say(Role::Dim, &format!("{} · {}", own.place, model.short_path(&own.folder)), 2);
    }
    let words = entry.words(model);
    if !words.is_empty() {
        // Of what went wrong, and of what is asked, all that helps is read here.
        let is_failure = entry.tab.is_some_and(|tab| tab.failure.is_some());
        say(Role::Text, &words, if is_failure { 10 } else { 3 * each });
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
        let columns = width.saturating_sub(2 + sign.word.width() + 2);
        for (at, line) in hung(text, columns, each).into_iter().enumerate() {
            let (mark, word) = if at == 0 { (sign.glyph, sign.word) } else { (" ", "") };
            out.push(Row::new().left(sign.role, format!("{mark} ")).left(Role::Text, line).right(Role::Dim, word));
        }
    }
    // A draft says which phases and commands there will be.
    let is_planned = entry.tab.is_some_and(|tab| tab.state.plan.is_some());
    if phases.is_empty() && entry.marks().is_empty() && !is_chat && !is_planned {
        let lines = hung("No phases: Claude works on the ticket as a whole.", width, each);
        out.extend(lines.into_iter().map(|line| Row::new().left(Role::Dim, line)));
    }
    out.push(Row::new());
    if let Some(ticket) = entry.ticket.filter(|_| !is_chat && !is_planned) {
        if is_unchecked(model, entry) {
            let words = format!("{}: {}", no_commands(model), without_commands(model));
            out.extend(wrap(&words, width).into_iter().map(|line| Row::new().left(Role::Warning, line)));
        } else {
            out.push(Row::new().left(Role::Dim, "checked by"));
            let own = &ticket.validation;
            let commands = own.iter().chain(model.checks.iter().filter(|check| !own.contains(check)));
            let lines = commands.flat_map(|command| hung(command, width.saturating_sub(2), each));
            out.extend(lines.map(|line| Row::new().left(Role::Text, format!("  {line}"))));
            let ignored = wrap(IGNORED, width).into_iter().filter(|_| model.home.ignores_checks);
            out.extend(ignored.map(|line| Row::new().left(Role::Warning, line)));
        }
    }
    let of_run = || entry.run.map(|run| (run.iterations, run.reviews()));
    let counts = entry.tab.map(|tab| (tab.state.counted_iterations(), tab.state.reviews)).or_else(of_run);
    if let Some((cost, (work, reviews))) = entry.cost().zip(counts) {
        let carried = entry.carried_usd() > 0.0;
        let (in_all, in_run) = if carried { (" in all", " in this run") } else { ("", "") };
        let iterations =
            if is_chat { String::new() } else { format!(" · {}{in_run}", iterations_words(work, reviews)) };
        out.push(Row::new());
        let words = format!("${cost:.2}{in_all}{iterations}");
        out.extend(hung(&words, width, each).into_iter().map(|line| Row::new().left(Role::Dim, line)));
    }
    out
}

/// The text in at most so many lines, of which the last says that more follows.
fn hung(text: &str, columns: usize, most: usize) -> Vec<String> {
    let text = clean_line(text, 800);
    let mut lines = wrap(&text, columns);
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(cut_words(&rest, columns));
    }
    lines
}

/// The phases and where each stands: as the run knows them, else as the file has them.
fn phases<'a>(entry: &Entry<'a>) -> Vec<(Mark, &'a str)> {
    if let Some(tab) = entry.tab.filter(|tab| !tab.is_as_in_file()) {
        return tab.phases(false).into_iter().map(|phase| (phase.mark, phase.text)).collect();
    }
    let phases = entry.ticket.map_or(&[][..], |ticket| &ticket.phases[..]);
    entry.marks().into_iter().zip(phases).map(|(mark, phase)| (mark, phase.text.as_str())).collect()
}

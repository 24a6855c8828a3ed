//! Draws the whole screen. Pure; call `Ui::prepare` first and hand its layout in.

use crate::tui::command::{Command, Scope};
use crate::tui::layout::{Layout, SMALLEST};
use crate::tui::marks::{Glyphs, ascii};
use crate::tui::modals;
use crate::tui::panes::{footer, home, now, tabs};
use crate::tui::tab::TabStatus;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::ui::Ui;
use crate::tui::widgets::frame::{Frame as Border, Weight};
use crate::tui::widgets::row::Row;
use ratatui::Frame;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

/// Draws everything.
pub fn view(ui: &Ui, layout: &Layout, theme: &Theme, frame: &mut Frame<'_>) {
    draw(ui, layout, theme, frame.buffer_mut());
}

/// Draws everything into a buffer of the screen's size.
pub fn draw(ui: &Ui, layout: &Layout, theme: &Theme, buf: &mut Buffer) {
    buf.set_style(buf.area, theme.style(Role::Text));
    if layout.too_small {
        too_small(ui, layout.screen, theme, buf);
        return;
    }
    if ui.is_home() {
        home::view_header(ui, theme, layout.tabs, buf);
    } else {
        tabs::view(ui, theme, layout.tabs, buf);
    }
    if let Some(place) = layout.now {
        now::view(ui, theme, place, buf);
    }
    for (name, pane) in &ui.panes {
        if let Some(place) = layout.of(name) {
            let focused = ui.focus == *name && ui.modals.is_empty();
            if !pane.is_framed() {
                pane.view(ui, focused, theme, place, buf);
                continue;
            }
            let (more, status) = pane.border(ui, place.width);
            let border = Border {
                title: &format!("{}{more}", capitalized(name)),
                status: &status,
                status_role: if status.ends_with(['↓', 'v']) { Role::Accent } else { Role::Dim },
                weight: if focused { Weight::Heavy } else { Weight::Light },
                glyphs: ui.glyphs,
            };
            let inside = border.draw(theme, place, buf);
            pane.view(ui, focused, theme, inside, buf);
        } else if let Some(line) = layout.line_of(name) {
            pane.view_line(ui, theme, line, buf);
        }
    }
    footer::view(ui, theme, layout.footer, buf);
    if ui.sheet.is_some() {
        // What is asked, and Claude's last words above it, are to be read now.
        let quiet = Style::reset().patch(theme.style(Role::Text)).patch(theme.style(Role::Dim));
        let words = layout.stream.or(layout.home).unwrap_or_default();
        for place in buf.area.positions().filter(|place| !words.contains(*place)) {
            buf[place].set_style(quiet);
        }
    }
    modals::view(ui, ui.modals.last(), theme, layout.screen, buf);
    end_lines_with_words(buf);
    if ui.glyphs == Glyphs::Ascii {
        for cell in &mut buf.content {
            if let Some(plain) = ascii(cell.symbol()) {
                cell.set_symbol(plain);
            }
        }
    }
}

/// Takes lines under and through text off the blanks around it: of a mark, a word and a number they would make one rule. Those
/// between two words stay.
fn end_lines_with_words(buf: &mut Buffer) {
    const LINES: Modifier = Modifier::UNDERLINED.union(Modifier::CROSSED_OUT);
    let width = usize::from(buf.area.width).max(1);
    for row in buf.content.chunks_mut(width) {
        let is_word = |cell: &Cell| !cell.symbol().trim().is_empty() && !matches!(cell.symbol(), "▎" | "│");
        for at in 0..row.len() {
            let lines = row[at].modifier & LINES;
            if lines.is_empty() || is_word(&row[at]) {
                continue;
            }
            let goes_on = |to: Option<&Cell>| to.is_some_and(|to| is_word(to) && to.modifier.contains(lines));
            let is_between = goes_on(at.checked_sub(1).and_then(|to| row.get(to))) && goes_on(row.get(at + 1));
            if !is_between {
                row[at].modifier.remove(LINES);
            }
        }
    }
}

fn capitalized(name: &str) -> String {
    let (first, rest) = name.split_at(name.len().min(1));
    first.to_uppercase() + rest
}

/// How all that is open stands: what needs the person before what runs.
fn stands(ui: &Ui) -> &'static str {
    let tabs = || ui.tabs.iter().map(|tab| ui.standing(tab));
    let first = [TabStatus::NeedsYou, TabStatus::Halted, TabStatus::Running];
    let first = first.into_iter().find(|wanted| tabs().any(|standing| standing == *wanted));
    first
        .or_else(|| ui.tab().map(|tab| ui.standing(tab)))
        .map_or("nothing runs", |standing| standing.sign(ui.glyphs).word)
}

fn too_small(ui: &Ui, screen: Rect, theme: &Theme, buf: &mut Buffer) {
    let (width, height) = SMALLEST;
    let say = [
        format!("too small: {} × {}", screen.width, screen.height),
        format!("needed: {width} × {height}"),
        format!("{}; {} quits", stands(ui), ui.keys.key_of(Scope::Global, Command::Quit)),
    ];
    let top = screen.height.saturating_sub(say.len() as u16) / 2;
    for (place, line) in screen.rows().skip(top.into()).zip(say) {
        let left = screen.width.saturating_sub(line.chars().count() as u16) / 2;
        let place = Rect { x: place.x + left, width: place.width - left, ..place };
        Row::new().left(Role::Warning, line).draw(theme, place, buf);
    }
}

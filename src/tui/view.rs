//! The whole screen from the model. Pure; call `Model::prepare` first and hand its layout in.

use crate::tui::layout::{Layout, SMALLEST};
use crate::tui::marks::{Glyphs, ascii};
use crate::tui::modals;
use crate::tui::model::Model;
use crate::tui::panes::stream::{FollowStatus, SearchStatus};
use crate::tui::panes::{Pane, footer, gauges, log, notice, stream, tabs, tickets};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame as Border, Weight};
use crate::tui::widgets::row::Row;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Draws everything.
pub fn view(model: &Model, layout: &Layout, theme: &Theme, frame: &mut Frame<'_>) {
    let buf = frame.buffer_mut();
    buf.set_style(buf.area, theme.style(Role::Text));
    if layout.too_small {
        too_small(layout.screen, theme, buf);
        return;
    }
    tabs::view(model, theme, layout.tabs, buf);
    if let Some(line) = layout.gauges_line {
        gauges::view_line(model, theme, line, buf);
    }
    for pane in Pane::ALL {
        if let Some(place) = layout.of(pane) {
            draw_pane(model, pane, theme, place, buf);
        }
    }
    if let Some(line) = layout.log_line {
        log::view_line(model, theme, line, buf);
    }
    footer::view(model, theme, layout.footer, buf);
    modals::view(model, theme, layout.screen, buf);
    if model.glyphs == Glyphs::Ascii {
        for cell in &mut buf.content {
            if let Some(plain) = ascii(cell.symbol()) {
                cell.set_symbol(plain);
            }
        }
    }
}

fn draw_pane(model: &Model, pane: Pane, theme: &Theme, place: Rect, buf: &mut Buffer) {
    let focused = model.focus == pane && model.modals.is_empty();
    let (title, status) = words(model, pane, place.width);
    let border = Border {
        title: &title,
        status: &status,
        status_role: if status.ends_with(['↓', 'v']) { Role::Accent } else { Role::Dim },
        weight: if focused { Weight::Heavy } else { Weight::Light },
        glyphs: model.glyphs,
    };
    let inside = border.draw(theme, place, buf);
    match pane {
        Pane::Tickets => tickets::view(model, theme, inside, buf),
        Pane::Gauges => gauges::view(model, theme, inside, buf),
        Pane::Log => log::view(model, theme, inside, buf),
        Pane::Stream => {
            if notice::view_empty(model, theme, inside, buf) {
                return;
            }
            let places = notice::place(model, inside);
            if let Some(tab) = model.tab() {
                stream::view(&tab.stream, theme, places.stream, buf);
            }
            notice::view_banner(model, theme, places.banner, buf);
        }
    }
}

/// Title and status of a pane's border.
fn words(model: &Model, pane: Pane, width: u16) -> (String, String) {
    let title = pane.title().to_owned();
    match pane {
        Pane::Tickets | Pane::Gauges => (title, String::new()),
        Pane::Log => (title, log::status(model)),
        Pane::Stream => {
            let Some(tab) = model.tab() else {
                return (title, String::new());
            };
            let status = match tab.stream.status() {
                _ if tab.run.is_none() => String::new(),
                _ if tab.stream.search().is_some() => searching(tab.stream.search()),
                FollowStatus::Following if tab.is_active() => "following".into(),
                FollowStatus::Following => String::new(),
                FollowStatus::Behind { new_lines: 0 } => format!("more {}", model.glyphs.pick("↓", "v")),
                FollowStatus::Behind { new_lines } => {
                    format!("{new_lines} new {}", model.glyphs.pick("↓", "v"))
                }
            };
            let room = usize::from(width).saturating_sub(status.width() + 20);
            let ticket = crate::base::text::clean_line(&format!("{} {}", tab.id, tab.title()), room);
            (format!("{title} · {ticket}"), status)
        }
    }
}

/// How the search goes; the words themselves are the person's.
fn searching(search: Option<SearchStatus>) -> String {
    let (query, how) = match search {
        Some(SearchStatus::Busy(query)) => (query, " · searching"),
        Some(SearchStatus::Missing(query)) => (query, " · not found"),
        Some(SearchStatus::Found(query)) => (query, ""),
        None => return String::new(),
    };
    format!("“{}”{how}", crate::base::text::clean_line(&query, 24))
}

fn too_small(screen: Rect, theme: &Theme, buf: &mut Buffer) {
    let (width, height) = SMALLEST;
    let say = [
        format!("too small: {} × {}", screen.width, screen.height),
        format!("needed: {width} × {height}"),
        "runs go on; q quits".into(),
    ];
    let top = screen.height.saturating_sub(say.len() as u16) / 2;
    for (place, line) in screen.rows().skip(top.into()).zip(say) {
        let left = screen.width.saturating_sub(line.chars().count() as u16) / 2;
        let place = Rect { x: place.x + left, width: place.width - left, ..place };
        Row::new().left(Role::Warning, line).draw(theme, place, buf);
    }
}

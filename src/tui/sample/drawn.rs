//! Keys by name, and the screen as text with its styles below.

use crate::tui::msg::{Input, Key};
use crate::tui::theme::Theme;
use crate::tui::ui::Ui;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::fmt::Write as _;

/// A key by its name: `p`, `Ctrl-c`, `Alt-Enter`, `BackTab`, `Esc`.
pub fn key(name: &str) -> Input {
    let (ctrl, name) = name.strip_prefix("Ctrl-").map_or((false, name), |rest| (true, rest));
    let (alt, name) = name.strip_prefix("Alt-").map_or((false, name), |rest| (true, rest));
    let key = match name {
        "Tab" | "BackTab" => Key::Tab,
        "Enter" => Key::Enter,
        "Esc" => Key::Esc,
        "Backspace" => Key::Backspace,
        "PgUp" => Key::PageUp,
        "PgDn" => Key::PageDown,
        "Left" => Key::Left,
        "Up" => Key::Up,
        "End" => Key::End,
        "Space" => Key::Char(' '),
        one => Key::Char(one.chars().next().unwrap()),
    };
    Input { key, ctrl, alt, shift: name == "BackTab" }
}

/// Before a yes the person has seen the card.
pub fn settle(ui: &mut Ui, key: &str) {
    if matches!(key, "y" | "t" | "T" | "A") {
        ui.now = ui.now.plus(crate::tui::modals::card::APPEARS);
    }
}

/// The screen as text, one line a row.
pub fn draw(model: &mut Ui, size: (u16, u16)) -> String {
    let screen = drawn(model, size, &Theme::plain());
    told(&screen, screen.area).0
}

pub fn drawn(model: &mut Ui, size: (u16, u16), theme: &Theme) -> Buffer {
    model.size = size;
    let layout = model.prepare();
    let backend = ratatui::backend::TestBackend::new(size.0, size.1);
    let mut terminal = ratatui::Terminal::new(backend).unwrap();
    terminal.draw(|frame| crate::tui::view::view(model, &layout, theme, frame)).unwrap();
    terminal.backend().buffer().clone()
}

/// A part of a screen as text, and its styles: per line the spans that are not plain.
pub fn told(screen: &Buffer, part: Rect) -> (String, String) {
    let (mut text, mut styles) = (String::new(), String::new());
    for y in part.rows().map(|row| row.y) {
        let mut line = String::new();
        let mut skip = 0;
        let mut spans: Vec<(u16, u16, String)> = Vec::new();
        for x in part.columns().map(|column| column.x) {
            let cell = &screen[(x, y)];
            if skip > 0 {
                skip -= 1;
                continue;
            }
            line.push_str(cell.symbol());
            let width = unicode_width::UnicodeWidthStr::width(cell.symbol()).max(1) as u16;
            skip = width - 1;
            let Some(style) = style_words(cell) else { continue };
            let from = x - part.x;
            // A blank has no style of its own: what stands around it goes on.
            match spans.last_mut() {
                Some(last) if last.2 == style => last.1 = from + width,
                _ => spans.push((from, from + width, style)),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
        let spans: Vec<String> = spans
            .into_iter()
            .filter(|(_, _, style)| !style.is_empty())
            .map(|(from, to, style)| format!("{from}–{} {style}", to - 1))
            .collect();
        if !spans.is_empty() {
            let _ = writeln!(styles, "{:>3}: {}", y - part.y, spans.join(", "));
        }
    }
    (text, styles)
}

/// The style of a cell in words; `None` for a blank on which nothing of it shows.
fn style_words(cell: &ratatui::buffer::Cell) -> Option<String> {
    use ratatui::style::{Color, Modifier};
    let shows = Modifier::REVERSED | Modifier::UNDERLINED | Modifier::CROSSED_OUT;
    if cell.symbol() == " " && cell.bg == Color::Reset && !cell.modifier.intersects(shows) {
        return None;
    }
    let mut words = Vec::new();
    if cell.fg != Color::Reset {
        words.push(cell.fg.to_string().to_lowercase());
    }
    if cell.bg != Color::Reset {
        words.push(format!("on {}", cell.bg).to_lowercase());
    }
    if !cell.modifier.is_empty() {
        words.push(format!("{:?}", cell.modifier).to_lowercase().replace(" | ", " "));
    }
    Some(words.join(" "))
}

//! A drawn screen as an SVG that looks like a terminal's window.

use crate::base::text::as_xml;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// A cell in pixels.
const CELL: (f32, f32) = (8.0, 17.0);
/// Space around the cells.
const MARGIN: f32 = 14.0;
/// Height of the window's title bar.
const BAR: f32 = 32.0;
const FONT: &str = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/// The window's own colours, where a cell has none.
struct Window {
    ink: String,
    paper: String,
}

impl Window {
    /// That of a theme; a theme without colours of its own stands on a dark window.
    fn of(theme: &Theme) -> Self {
        let text = theme.style(Role::Text);
        let own = |colour: Option<Color>, plain: &str| hex(colour.unwrap_or_default(), plain);
        Self { ink: own(text.fg, "#d5d9e0"), paper: own(text.bg, "#14171c") }
    }
}

/// The sixteen colours of a terminal, as the window shows them.
fn hex(colour: Color, plain: &str) -> String {
    match colour {
        Color::Black => "#20242b",
        Color::Red => "#ef6b73",
        Color::Green => "#8ccf7e",
        Color::Yellow => "#e5c76b",
        Color::Blue => "#6cb0f2",
        Color::Magenta => "#c792ea",
        Color::Cyan => "#5fd0cf",
        Color::Gray => "#b3b9c5",
        Color::DarkGray => "#737b8b",
        Color::LightRed => "#ff8b92",
        Color::LightGreen => "#a8e79b",
        Color::LightYellow => "#ffe08a",
        Color::LightBlue => "#8fc7ff",
        Color::LightMagenta => "#dcb0ff",
        Color::LightCyan => "#86e8e6",
        Color::White => "#f4f6fa",
        Color::Rgb(r, g, b) => return format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Reset | Color::Indexed(_) => plain,
    }
    .to_owned()
}

/// What is told apart by eye.
#[derive(Clone, PartialEq)]
struct Look {
    ink: String,
    paper: String,
    modifier: Modifier,
}

impl Look {
    fn of(cell: &Cell, window: &Window) -> Self {
        let (mut ink, mut paper) = (hex(cell.fg, &window.ink), hex(cell.bg, &window.paper));
        if cell.modifier.contains(Modifier::REVERSED) {
            std::mem::swap(&mut ink, &mut paper);
        }
        Self { ink, paper, modifier: cell.modifier }
    }

    fn attributes(&self) -> String {
        let mut out = format!("fill=\"{}\"", self.ink);
        for (modifier, words) in [
            (Modifier::BOLD, " font-weight=\"bold\""),
            (Modifier::ITALIC, " font-style=\"italic\""),
            (Modifier::DIM, " opacity=\"0.65\""),
            (Modifier::UNDERLINED, " text-decoration=\"underline\""),
            (Modifier::CROSSED_OUT, " text-decoration=\"line-through\""),
        ] {
            if self.modifier.contains(modifier) {
                out.push_str(words);
            }
        }
        out
    }
}

/// The buffer, drawn in `theme`, as an SVG file under a window's title.
pub fn svg(buffer: &Buffer, theme: &Theme, title: &str) -> String {
    let window = Window::of(theme);
    let (title, paper) = (as_xml(title), &window.paper);
    let (columns, rows) = (buffer.area.width, buffer.area.height);
    let width = f32::from(columns) * CELL.0 + 2.0 * MARGIN;
    let height = f32::from(rows) * CELL.1 + BAR + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"{FONT}\" font-size=\"13\">\n\
         <title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"9\" fill=\"{paper}\" stroke=\"#737b8b\" stroke-opacity=\"0.4\"/>\n"
    );
    for (n, colour) in ["#ef6b73", "#e5c76b", "#8ccf7e"].iter().enumerate() {
        let x = 18 + 18 * n;
        let _ = writeln!(out, "<circle cx=\"{x}\" cy=\"16\" r=\"5.5\" fill=\"{colour}\"/>");
    }
    let middle = width / 2.0;
    let _ = writeln!(out, "<text x=\"{middle}\" y=\"21\" text-anchor=\"middle\" fill=\"#737b8b\">{title}</text>");
    for y in 0..rows {
        row(buffer, &window, y, &mut out);
    }
    out + "</svg>\n"
}

/// One row: runs of one look each, lines and blocks drawn, letters set to the width of their cells.
fn row(buffer: &Buffer, window: &Window, y: u16, out: &mut String) {
    let top = BAR + f32::from(y) * CELL.1;
    let mut x = 0;
    while x < buffer.area.width {
        let start = x;
        let look = Look::of(&buffer[(x, y)], window);
        let mut text = String::new();
        while x < buffer.area.width && Look::of(&buffer[(x, y)], window) == look {
            let symbol = buffer[(x, y)].symbol();
            if let Some(shape) = shape(symbol, place(x), top) {
                let _ = writeln!(out, "<path d=\"{shape}\" {}/>", line_attributes(symbol, &look));
                text.push(' ');
            } else {
                text.push_str(symbol);
            }
            x += symbol.width().max(1) as u16;
        }
        if look.paper != window.paper {
            let wide = f32::from(x - start) * CELL.0;
            let (left, high) = (place(start), CELL.1);
            let _ = writeln!(
                out,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" fill=\"{}\"/>",
                look.paper
            );
        }
        // Words that stand apart are set apart, so that no font can shift them against one another.
        let mut at = f32::from(start);
        for piece in text.split_inclusive("  ") {
            let columns = piece.width() as f32;
            let word = piece.trim();
            if !word.is_empty() {
                let left = place(0) + (at + (piece.len() - piece.trim_start().len()) as f32) * CELL.0;
                let (base, wide) = (top + 12.5, word.width() as f32 * CELL.0);
                let word = as_xml(word);
                let look = look.attributes();
                let _ = writeln!(
                    out,
                    "<text x=\"{left}\" y=\"{base}\" textLength=\"{wide}\" lengthAdjust=\"spacingAndGlyphs\" {look}>{word}</text>"
                );
            }
            at += columns;
        }
    }
}

fn place(x: u16) -> f32 {
    MARGIN + f32::from(x) * CELL.0
}

fn is_block(symbol: &str) -> bool {
    matches!(symbol.chars().next(), Some('▁'..='█' | '▌' | '▐' | '▮' | '▯'))
}

fn line_attributes(symbol: &str, look: &Look) -> String {
    let opacity = if look.modifier.contains(Modifier::DIM) { " opacity=\"0.65\"" } else { "" };
    let ink = &look.ink;
    if symbol == "▯" {
        return format!("fill=\"none\" stroke=\"{ink}\"{opacity}");
    }
    if is_block(symbol) {
        return format!("fill=\"{ink}\"{opacity}");
    }
    let width = if matches!(symbol, "━" | "┃" | "┏" | "┓" | "┗" | "┛") { 2.0 } else { 1.0 };
    format!("fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\"{opacity}")
}

/// Frames and bars as paths: letters of a font would leave gaps between rows.
fn shape(symbol: &str, x: f32, y: f32) -> Option<String> {
    let (w, h) = CELL;
    let (cx, cy, right, low) = (x + w / 2.0, y + h / 2.0, x + w, y + h);
    let block = |left: f32, top: f32, right: f32, low: f32| format!("M{left} {top}H{right}V{low}H{left}Z");
    Some(match symbol {
        "─" | "━" => format!("M{x} {cy}H{right}"),
        "│" | "┃" => format!("M{cx} {y}V{low}"),
        "╭" => format!("M{cx} {low}Q{cx} {cy} {right} {cy}"),
        "╮" => format!("M{cx} {low}Q{cx} {cy} {x} {cy}"),
        "╰" => format!("M{cx} {y}Q{cx} {cy} {right} {cy}"),
        "╯" => format!("M{cx} {y}Q{cx} {cy} {x} {cy}"),
        "┏" | "┌" => format!("M{cx} {low}V{cy}H{right}"),
        "┓" | "┐" => format!("M{cx} {low}V{cy}H{x}"),
        "┗" | "└" => format!("M{cx} {y}V{cy}H{right}"),
        "┛" | "┘" => format!("M{cx} {y}V{cy}H{x}"),
        "├" => format!("M{cx} {y}V{low}M{cx} {cy}H{right}"),
        "┤" => format!("M{cx} {y}V{low}M{cx} {cy}H{x}"),
        "▌" => block(x, y, cx, low),
        "▐" => block(cx, y, right, low),
        "▮" | "▯" => block(x + 1.5, y + 4.0, right - 1.5, low - 4.0),
        _ => {
            let level = symbol.chars().next().filter(|c| ('▁'..='█').contains(c))? as u32 - '▁' as u32 + 1;
            block(x, low - 2.0 - (h - 4.0) * level as f32 / 8.0, right, low - 2.0)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn words_of_a_run_are_text_and_no_markup() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 2));
        buffer.set_string(0, 0, "<b>&</b>", Style::new().fg(Color::Rgb(1, 2, 3)));
        let drawn = svg(&buffer, &Theme::plain(), "a <title>");
        assert!(drawn.contains(">&lt;b&gt;&amp;&lt;/b&gt;</text>") && drawn.contains("fill=\"#010203\""), "{drawn}");
        assert!(drawn.contains("<title>a &lt;title&gt;</title>"), "{drawn}");
    }
}

//! Code in the pane: plain at first, in the colours of the theme once they are known.

use super::pane::{Pane, call, text};
use crate::SURFACE;
use programmator::tui::panes::stream::view;
use programmator::tui::syntax::Syntax;
use programmator::tui::theme::Theme;
use programmator::tui::theme::role::Role;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use serde_json::json;

/// The letters of a word of the pane and the style that they have.
fn style_of(pane: &mut Pane, syntax: &Syntax, word: &str) -> Style {
    let theme = Theme::load("dark", &[], SURFACE).0;
    let area = Rect::new(0, 0, pane.size.0, pane.size.1);
    let mut buffer = Buffer::empty(area);
    view(&pane.state, syntax, &theme, area, &mut buffer);
    let text: String = buffer.content().iter().map(Cell::symbol).collect();
    let at = text.find(word).unwrap_or_else(|| panic!("no {word} in {text}"));
    let at = text[..at].chars().count();
    let style = buffer.content()[at].style();
    let whole = buffer.content()[at..].iter().take(word.len()).all(|cell| cell.style() == style);
    assert!(whole, "{word} has more than one style");
    Style { fg: style.fg, add_modifier: style.add_modifier, ..Style::new() }
}

#[test]
fn code_is_plain_until_its_colours_come_and_then_has_those_of_the_theme() {
    let mut pane = Pane::new(60, 20);
    pane.start(1, "p", None);
    pane.push(1, &text("So:\n\n```rust\nfn one() -> u8 { 12 } // done\n```\n"));
    pane.push(1, &call("e", "Edit", json!({"file_path":"a.py","old_string":"x = 1","new_string":"return 34"})));
    pane.prepare();
    let mut syntax = Syntax::default();
    syntax.begin();
    syntax.see(pane.state.code());
    let theme = Theme::load("dark", &[], SURFACE).0;
    assert_eq!(style_of(&mut pane, &syntax, "fn one").fg, theme.style(Role::StreamTarget).fg);
    for snippet in syntax.ask().unwrap() {
        let spans = programmator::adapters::syntax::read(&snippet);
        assert!(syntax.tell(snippet, spans), "it was wanted");
    }
    for (word, role) in [
        ("fn", Role::SyntaxKeyword),
        ("one", Role::SyntaxFunction),
        ("12", Role::SyntaxNumber),
        ("// done", Role::SyntaxComment),
        ("return", Role::SyntaxKeyword),
        ("34", Role::SyntaxNumber),
        ("x = 1", Role::DiffDel),
    ] {
        assert_eq!(style_of(&mut pane, &syntax, word), theme.style(role), "{word}");
    }
    let cells = pane.screen();
    assert!(cells.iter().any(|row| row.contains("fn one() -> u8 { 12 } // done")), "{cells:?}");
}

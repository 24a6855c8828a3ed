//! Keys as they are pressed, written on the screen, and bound: without the commands that they mean.

use crate::tui::msg::{Input, Key};
use std::collections::BTreeMap;

/// `Shift` tells nothing about a letter that it has already changed.
pub fn same(key: &Input, input: &Input) -> bool {
    let shift_counts = !matches!(key.key, Key::Char(_));
    key.key == input.key
        && key.ctrl == input.ctrl
        && key.alt == input.alt
        && (!shift_counts || key.shift == input.shift)
}

/// One key as people read it.
pub fn key_text(input: &Input) -> String {
    let key = match input.key {
        Key::Char(' ') => "Space".into(),
        Key::Char(c) => c.to_string(),
        Key::Up => "↑".into(),
        Key::Down => "↓".into(),
        Key::Left => "←".into(),
        Key::Right => "→".into(),
        Key::PageUp => "PgUp".into(),
        Key::PageDown => "PgDn".into(),
        Key::F(n) => format!("F{n}"),
        other => format!("{other:?}"),
    };
    // A capital says so itself.
    let is_capital = matches!(input.key, Key::Char(c) if c.is_uppercase());
    let shift = if input.shift && !is_capital { "⇧" } else { "" };
    let ctrl = if input.ctrl { "^" } else { "" };
    let alt = if input.alt { "Alt-" } else { "" };
    let key = if input.ctrl { key.to_uppercase() } else { key };
    format!("{shift}{alt}{ctrl}{key}")
}

/// One key, or two pressed one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chord(pub Vec<Input>);

impl Chord {
    /// As people read it: `p`, `^C`, `g g`.
    pub fn text(&self) -> String {
        self.0.iter().map(key_text).collect::<Vec<_>>().join(" ")
    }

    /// These keys are its first.
    pub fn begins_with(&self, pressed: &[Input]) -> bool {
        pressed.len() <= self.0.len() && self.0.iter().zip(pressed).all(|(key, input)| same(key, input))
    }
}

/// The person's own keys by the id of their row; the others are those of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keymap(pub BTreeMap<&'static str, Vec<Chord>>);

/// Most times that a command is repeated.
const MOST: u32 = 999;

/// What was pressed and means nothing yet: a count, the first key of two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pressed {
    pub keys: Vec<Input>,
    /// How often the next command is repeated; `None`: once.
    pub count: Option<u32>,
}

impl Pressed {
    /// Takes a digit of a count.
    pub fn digit(&mut self, digit: u32) {
        self.count = Some((self.count.unwrap_or(0) * 10 + digit).min(MOST));
    }

    /// As the footer shows it; empty: nothing.
    pub fn text(&self) -> String {
        let count = self.count.map(|count| count.to_string());
        count.into_iter().chain(self.keys.iter().map(key_text)).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capital_is_named_as_the_help_names_it() {
        let named = |key, shift| key_text(&Input { key, shift, ..Input::default() });
        assert_eq!((named(Key::Char('R'), true), named(Key::Char('R'), false)), ("R".into(), "R".into()));
        assert_eq!(named(Key::Tab, true), "⇧Tab");
    }
}

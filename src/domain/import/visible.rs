//! Foreign text with what hides in it made visible.

use crate::base::text::{clean_line, is_unseen};
use std::fmt::Write as _;

/// Longest line, in columns.
pub(super) const LINE: usize = 200;

/// One line of foreign text: what hides in it is shown.
pub fn line(text: &str) -> String {
    clean_line(&shown(text), LINE)
}

/// The whole text, with the name of each character that shows nothing. What joins an emoji stays.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        let joins = matches!(c, '\u{200d}' | '\u{fe0f}') && !before.is_ascii() && !is_unseen(before);
        match c {
            '\n' => out.push(c),
            '\r' => {}
            _ if c.is_whitespace() => out.push(' '),
            _ if joins || !is_unseen(c) => out.push(c),
            // Writing to a string cannot fail.
            _ => drop(write!(out, "<U+{:04X}>", u32::from(c))),
        }
        before = c;
    }
    out
}

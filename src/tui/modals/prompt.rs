//! One line of text in the place of the footer: what to search for, which words to filter by.

use crate::tui::marks::Glyphs;
use crate::tui::msg::{Input, Key};
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use unicode_segmentation::UnicodeSegmentation;

/// The line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What for; it stands before the text.
    pub label: &'static str,
    pub text: String,
}

/// Longest text, in bytes.
const LONGEST: usize = 500;

impl Prompt {
    /// Takes a key as typing; `false` when it is none.
    pub fn typed(&mut self, input: &Input) -> bool {
        edit(&mut self.text, input)
    }

    /// The line as drawn, after what stands before it.
    pub fn line(&self, row: Row, glyphs: Glyphs) -> Row {
        row.left(Role::Key, self.label).left(Role::Input, &self.text).left(Role::Accent, glyphs.pick("█", "_"))
    }
}

/// Edits one line of text by a key; `false` when the key means nothing to it.
pub fn edit(text: &mut String, input: &Input) -> bool {
    match (input.key, input.ctrl, input.alt) {
        (Key::Char('u'), true, false) => text.clear(),
        (Key::Char('w'), true, false) => {
            let kept = text.trim_end().rfind(' ').map_or(0, |at| at + 1);
            text.truncate(kept);
        }
        (Key::Backspace, ..) => {
            let last = text.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
            text.truncate(last);
        }
        (Key::Char(c), false, false) => drop(insert(text, &c.to_string())),
        _ => return false,
    }
    true
}

/// Adds text, its line breaks and control characters left out; `false` when there is no room for it.
pub fn insert(text: &mut String, more: &str) -> bool {
    let more = crate::base::text::Clean::new(more).into_string().replace(['\n', '\t'], " ");
    let fits = text.len() + more.len() <= LONGEST;
    if fits {
        text.push_str(&more);
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_by_what_is_seen_as_a_letter() {
        let key = |key, ctrl| Input { key, ctrl, ..Input::default() };
        let mut text = "two wo\u{301}".to_owned();
        assert!(edit(&mut text, &key(Key::Backspace, false)));
        assert_eq!(text, "two w");
        assert!(edit(&mut text, &key(Key::Char('w'), true)));
        assert_eq!(text, "two ");
        assert!(edit(&mut text, &key(Key::Char('日'), false)));
        assert_eq!(text, "two 日");
        assert!(edit(&mut text, &key(Key::Char('u'), true)));
        assert_eq!(text, "");
        assert!(!edit(&mut text, &key(Key::PageUp, false)));
        insert(&mut text, "a\x1b[2J\nb");
        assert_eq!(text, "a b");
    }
}

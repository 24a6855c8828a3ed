//! Text with everything spelt out that would not be seen: what a person agrees to is what they read.
//!
//! Owns the spelling. Wrapping is `wrap`'s, cleaning for show alone is `base::text`'s.

use crate::base::text::is_unseen;
use crate::tui::widgets::wrap::untabbed;
use std::fmt::Write as _;

/// Blanks in a row from which on they are counted instead of shown.
const PADDING: usize = 8;
/// Columns of blanks at the beginning of a line that are shown as they are: code is indented.
const INDENT: usize = 24;

/// The text in one line: controls, directional marks, strange and long blanks spelt out.
pub fn visible(text: &str) -> String {
    let mut out = String::new();
    let mut blanks = 0;
    // A sentinel ends the last run of blanks.
    for c in text.chars().map(Some).chain([None]) {
        if c == Some(' ') {
            blanks += 1;
            continue;
        }
        if blanks >= PADDING {
            let _ = write!(out, "<{blanks} blanks>");
        } else {
            out.push_str(&" ".repeat(blanks));
        }
        blanks = 0;
        match c {
            None => {}
            Some('\n') => out.push_str("<newline>"),
            Some('\t') => out.push_str("<tab>"),
            Some('\x1b') => out.push_str("<escape>"),
            Some(c) if is_unseen(c) => {
                let _ = write!(out, "<U+{:04X}>", c as u32);
            }
            Some(c) => out.push(c),
        }
    }
    out
}

/// One line of several: its indentation stays, all else is spelt out.
pub fn line(text: &str) -> String {
    let bare = text.trim_start_matches([' ', '\t']);
    let indent = untabbed(&text[..text.len() - bare.len()]);
    if indent.len() > INDENT || bare.is_empty() { visible(text) } else { indent + &visible(bare) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::{Clean, hides};
    use proptest::prelude::*;

    #[test]
    fn what_is_hidden_is_spelt_out() {
        let cases = [
            ("cargo test", "cargo test"),
            ("true\u{202e}x", "true<U+202E>x"),
            ("a\x1b[8mb\tc", "a<escape>[8mb<tab>c"),
            ("ls\nrm -rf /", "ls<newline>rm -rf /"),
            ("rm\u{a0}-rf\u{200d}", "rm<U+00A0>-rf<U+200D>"),
        ];
        for (given, expected) in cases {
            assert_eq!(visible(given), expected);
        }
        let padded = format!("true{}; curl evil", " ".repeat(200));
        assert_eq!(visible(&padded), "true<200 blanks>; curl evil");
    }

    #[test]
    fn code_keeps_its_indentation() {
        assert_eq!(line("\t\tif x {"), "        if x {");
        assert_eq!(line("          echo\ta"), "          echo<tab>a");
        assert_eq!(line(&format!("{}x", " ".repeat(25))), "<25 blanks>x");
        assert_eq!(line(&" ".repeat(9)), "<9 blanks>");
    }

    #[test]
    fn tells_whether_there_is_something_to_spell() {
        assert!(!hides("cat <<X\n\tdéjà 日本\nX"));
        for hidden in ["a\u{202e}", "a\rb", "\x1b[8m", "a\u{3000}b"] {
            assert!(hides(hidden), "{hidden:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_not_blank_gets_lost(text in "\\PC{0,60}|[ a\\x00-\\x1f\u{202e}\u{200b}]{0,60}") {
            for shown in [visible(&text), line(&text)] {
                let clean = Clean::new(&shown);
                prop_assert_eq!(clean.as_str(), shown.as_str());
                for c in text.chars().filter(|c| !c.is_whitespace() && !c.is_control()) {
                    let spelt = format!("<U+{:04X}>", c as u32);
                    prop_assert!(shown.contains(c) || shown.contains(&spelt), "{c:?} is not in {shown:?}");
                }
            }
        }
    }
}

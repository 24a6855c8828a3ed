//! Text that is safe to show: the one sanitiser between untrusted bytes and a terminal,
//! a title, a notification or the clipboard.
//!
//! Owns [`Clean`], whose constructor is the only way in. Does not own wrapping or styling (`tui`).

use std::fmt;
use std::path::Path;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Most combining marks kept in one cell; more is a flood that breaks terminals.
const MAX_MARKS: usize = 8;

/// Text without anything a terminal would obey: no escape sequences (also unterminated and 8-bit
/// ones), no control characters but newline and tab, no bidirectional controls, no invisible characters.
#[derive(Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Clean(String);

impl Clean {
    /// Cleans `text`; lines are kept apart by `\n`, `\r\n` becomes `\n`, a lone `\r` is dropped.
    pub fn new(text: &str) -> Self {
        // The common case by far: printable ASCII and newlines need no work.
        if text.bytes().all(|b| b == b'\n' || b == b'\t' || (0x20..0x7f).contains(&b)) {
            return Self(text.to_owned());
        }
        let mut printer = Printer { out: String::with_capacity(text.len()), marks: 0 };
        let mut parser = vte::Parser::new();
        // `vte` takes 8-bit C1 as text when it comes as UTF-8; `Printer::print` drops it.
        parser.advance(&mut printer, text.as_bytes());
        Self(printer.out)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The safe text, taken.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Collects what may be printed and forgets every escape sequence.
struct Printer {
    out: String,
    marks: usize,
}

impl vte::Perform for Printer {
    fn print(&mut self, c: char) {
        if is_unsafe(c) {
            return;
        }
        if unicode_width::UnicodeWidthChar::width(c) == Some(0) {
            self.marks += 1;
            if self.marks > MAX_MARKS {
                return;
            }
        } else {
            self.marks = 0;
        }
        self.out.push(c);
    }

    fn execute(&mut self, byte: u8) {
        if byte == b'\n' || byte == b'\t' {
            self.out.push(char::from(byte));
            self.marks = 0;
        }
    }
}

/// Characters that change what a reader sees without being seen.
fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}'        // C0, DEL, C1
        | '\u{ad}' | '\u{34f}' | '\u{61c}'              // soft hyphen, grapheme joiner, Arabic mark
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
        | '\u{180b}'..='\u{180f}'                        // Mongolian selectors
        | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}' // zero width, directional marks
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' // separators, bidi controls, isolates
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}') // tags, variation flood
}

/// One line of clean text: newlines and tabs become blanks, at most `max` columns with `…` at the cut.
pub fn clean_line(text: &str, max: usize) -> String {
    let clean = Clean::new(text).into_string();
    let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&line, max)
}

/// A path in one line of clean text, of at most 400 columns.
pub fn clean_path(path: &Path) -> String {
    clean_line(&path.to_string_lossy(), 400)
}

/// Text as it stands in XML.
pub fn as_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Cuts `text` to at most `columns` cells, by grapheme, with `…` where something was left out.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let mut out = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        let width = grapheme.width();
        if used + width > columns - 1 {
            break;
        }
        used += width;
        out.push_str(grapheme);
    }
    out.push('…');
    out
}

/// The same for prose: at the end of a word, where that uses at least three quarters of the columns.
pub fn cut_words(text: &str, columns: usize) -> String {
    let cut = cut(text, columns);
    let Some(kept) = cut.strip_suffix('…').filter(|_| cut != text) else { return cut };
    // Wide scripts have no blanks: a line may end behind each letter.
    let is_wide = kept.graphemes(true).next_back().is_some_and(|last| last.width() > 1);
    let is_whole = is_wide || text[kept.len()..].starts_with(' ');
    let end = if is_whole { Some(kept.len()) } else { kept.rfind(' ') };
    let words = end.map_or("", |end| kept[..end].trim_end_matches([' ', '·', ',', ':', ';']));
    match words.width() {
        used if used * 4 < columns * 3 => cut,
        used if used + 2 > columns => format!("{words}…"),
        _ => format!("{words} …"),
    }
}

/// The same with what is left out in the middle: of a path or a branch both ends tell.
pub fn cut_middle(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let (mut end, mut used) = (Vec::new(), 0);
    for grapheme in text.graphemes(true).rev() {
        used += grapheme.width();
        if used > columns / 2 {
            break;
        }
        end.push(grapheme);
    }
    let end: String = end.into_iter().rev().collect();
    cut(text, columns.saturating_sub(end.width())) + &end
}

/// A word as a shell takes it: in quotes where it needs them.
pub fn shell_word(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "/._-+@=:,%".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// The beginning of a text, of at most so many bytes, cut at a character.
pub fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// The last `max` bytes of `text`, cut at a line start where there is one, else at a character.
pub fn tail(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut start = text.len() - max;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    match text[start..].find('\n') {
        Some(newline) if start + newline + 1 < text.len() => &text[start + newline + 1..],
        _ => &text[start..],
    }
}

/// Something in it would not be seen, or not as what it is. Newlines and tabs are no secret.
pub fn hides(text: &str) -> bool {
    text.chars().any(|c| !matches!(c, '\n' | '\t') && is_unseen(c))
}

/// A character that shows nothing, or looks like a blank and is none.
pub fn is_unseen(c: char) -> bool {
    let joins = matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{2800}');
    joins || (c != ' ' && c.is_whitespace()) || Clean::new(c.encode_utf8(&mut [0; 4])).as_str().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prose_is_cut_at_the_end_of_a_word() {
        assert_eq!(cut_words("asks: Which separator should it be", 24), "asks: Which separator …");
        assert_eq!(cut_words("asks: Which separator should", 22), "asks: Which separator…");
        assert_eq!(cut_words("verified · committed 0ac3", 22), "verified · committed …");
        assert_eq!(
            cut_words("Claude is blocked: no key", 17),
            "Claude is blocke…",
            "what fits of the next word tells more"
        );
        assert_eq!(cut_words("one two", 7), "one two");
        assert_eq!(cut_words("Count words, 日本語も数える", 20), "Count words, 日本語…");
        assert_eq!(cut_words("a.very.long.word and more", 10), "a.very.lo…", "most of the columns stay used");
        assert_eq!(cut_words("日本語の説明です", 7), "日本語…");
        assert_eq!(cut_words("one two", 0), "");
    }

    #[test]
    fn both_ends_of_a_long_name_stay() {
        for (columns, shown) in [(9, "fix/login"), (7, "fix…gin"), (4, "f…in"), (1, "…"), (0, "")] {
            assert_eq!(cut_middle("fix/login", columns), shown, "{columns}");
        }
        assert_eq!(cut_middle("日本語の名前", 7), "日本…前");
    }

    #[test]
    fn escape_sequences_leave_nothing_behind() {
        let cases = [
            ("\x1b[31mred\x1b[0m", "red"),
            ("a\x1b]52;c;Zm9v\x07b", "ab"),
            ("a\x1b]0;title\x1b\\b", "ab"),
            ("a\x1bP+q544e\x1b\\b", "ab"),
            ("a\x1b_apc\x1b\\b", "ab"),
            ("tail\x1b[", "tail"),
            ("a\u{9b}31mb", "a31mb"),
            ("\u{202e}abc\u{2066}", "abc"),
            ("x\u{e0041}y\u{200b}z", "xyz"),
            ("one\r\ntwo\rthree", "one\ntwothree"),
            ("日本\tok", "日本\tok"),
        ];
        for (given, expected) in cases {
            assert_eq!(Clean::new(given).as_str(), expected, "{given:?}");
        }
    }

    #[test]
    fn a_flood_of_marks_is_capped() {
        let flood = format!("e{}x", "\u{301}".repeat(500));
        assert_eq!(Clean::new(&flood).as_str().chars().count(), 1 + MAX_MARKS + 1);
    }

    #[test]
    fn cuts_by_cells_and_never_inside_a_grapheme() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn tail_starts_at_a_line() {
        assert_eq!(tail("one\ntwo\nthree", 8), "three");
        assert_eq!(tail("short", 80), "short");
    }

    proptest! {
        #[test]
        fn nothing_a_terminal_obeys_survives(text in "\\PC*|[\\x00-\\x1f\\x7f-\\u{9f}\\x1b\\[\\];a-z0-9]{0,60}") {
            let clean = Clean::new(&text);
            prop_assert!(clean.as_str().chars().all(|c| c == '\n' || c == '\t' || !is_unsafe(c)));
            prop_assert_eq!(Clean::new(clean.as_str()), clean.clone());
        }
    }
}

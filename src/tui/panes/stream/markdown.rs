//! Claude's markdown, lightly: weight for headings and `**bold**`, a role for code. Paired marks give way to what they
//! mean; every other character stays, code fences and all in them too. Nothing is interpreted that could hide text.

use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::{Break, Piece, untabbed, wrap};
use ratatui::style::Modifier;
use std::ops::Range;

/// Lays `text` (clean) out in `columns`; one inner list a row.
pub(in crate::tui) fn rows(text: &str, columns: usize) -> Vec<Vec<Piece>> {
    let mut out = Vec::new();
    let mut fenced = false;
    for line in text.trim_matches('\n').lines() {
        let line = untabbed(line.trim_end());
        let bare = line.trim_start();
        let fence = bare.starts_with("```") || bare.starts_with("~~~");
        if fence || fenced {
            let role = if fence { Role::Dim } else { Role::StreamTarget };
            out.extend(wrap(&[Piece::new(line.as_str(), role)], columns, 0, Break::Anywhere));
            fenced ^= fence;
            continue;
        }
        out.extend(wrap(&inline(&line), columns, hang(&line), Break::Words));
    }
    out
}

/// How far the second row of a list item is indented.
fn hang(line: &str) -> usize {
    let bare = line.trim_start();
    let indent = line.len() - bare.len();
    let mark = if ["- ", "* ", "+ ", "> "].iter().any(|mark| bare.starts_with(mark)) {
        2
    } else {
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let dotted = matches!(bare.as_bytes().get(digits..digits + 2), Some(b". " | b") "));
        if (1..=3).contains(&digits) && dotted { digits + 2 } else { 0 }
    };
    indent + mark
}

/// One line with its weights. Marks give way to the weight that they mean only where they are paired as marks are: `2**3`,
/// `**/*.rs` and a lone backtick stay what they are.
fn inline(line: &str) -> Vec<Piece> {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&hashes) && line.as_bytes().get(hashes) == Some(&b' ') {
        let mut out = vec![Piece::new(&line[..=hashes], Role::Dim)];
        out.extend(bold(weights(&line[hashes + 1..])));
        return out;
    }
    weights(line)
}

fn weights(line: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while let Some(found) = line[at..].find(['`', '*']) {
        let mark = at + found;
        let (inner, end) = match line.as_bytes()[mark] {
            b'`' => (code(line, mark), 1),
            _ => (strong(line, mark), 2),
        };
        let Some(inner) = inner else {
            // The whole run of marks: half of it is no mark.
            at = mark + line[mark..].bytes().take_while(|b| *b == line.as_bytes()[mark]).count();
            continue;
        };
        push(&mut out, &line[plain..mark]);
        if end == 1 {
            out.push(Piece::new(&line[inner.clone()], Role::StreamCode));
        } else {
            out.extend(bold(weights(&line[inner.clone()])));
        }
        (plain, at) = (inner.end + end, inner.end + end);
    }
    push(&mut out, &line[plain..]);
    out
}

/// What the backtick at `mark` encloses.
fn code(line: &str, mark: usize) -> Option<Range<usize>> {
    let from = mark + 1;
    let end = from + line[from..].find('`')?;
    let doubled = line[..mark].ends_with('`') || line[end + 1..].starts_with('`');
    (end > from && !doubled && !line[from..end].trim().is_empty()).then_some(from..end)
}

/// What the `**` at `mark` enclose: they touch words at their inner side only.
fn strong(line: &str, mark: usize) -> Option<Range<usize>> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '*' | '/' | '_');
    let from = mark + 2;
    if !line[mark..].starts_with("**") || line[..mark].ends_with(word) || line[from..].starts_with(['*', '/', ' ']) {
        return None;
    }
    let mut at = from;
    loop {
        let end = at + line[at..].find("**")?;
        if end > from && !line[..end].ends_with([' ', '*', '/']) && !line[end + 2..].starts_with(word) {
            return Some(from..end);
        }
        at = end + 2;
    }
}

fn bold(pieces: Vec<Piece>) -> impl Iterator<Item = Piece> {
    pieces.into_iter().map(|piece| Piece { modifier: piece.modifier | Modifier::BOLD, ..piece })
}

fn push(out: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        out.push(Piece::new(text, Role::StreamText));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(line: &str) -> Vec<(String, Role, bool)> {
        let bold = |p: &Piece| p.modifier.contains(Modifier::BOLD);
        inline(line).iter().map(|p| (p.text.clone(), p.role, bold(p))).collect()
    }

    fn text(line: &str) -> String {
        inline(line).iter().map(|p| p.text.as_str()).collect()
    }

    #[test]
    fn weight_and_code_are_seen() {
        let pieces = seen("a **b** `c` d*e `");
        assert_eq!(pieces[1], ("b".into(), Role::StreamText, true));
        assert_eq!(pieces[3], ("c".into(), Role::StreamCode, false));
        assert_eq!(pieces[4], (" d*e `".into(), Role::StreamText, false));
        assert_eq!(seen("**use `x`:**")[1], ("x".into(), Role::StreamCode, true));
        assert_eq!(seen("# Head")[1], ("Head".into(), Role::StreamText, true));
    }

    #[test]
    fn characters_that_matter_stay() {
        for line in [
            "2**3 and 4**5", "src/**/*.rs and **/*.toml", "``a`b``", "a ` b", "****", "** x **", "int **p, **q;", "`",
            "``", "f(**kw)",
        ] {
            assert_eq!(text(line), line);
        }
        assert_eq!(text("**bold**, `${1:-world}` and `**/*.rs`"), "bold, ${1:-world} and **/*.rs");
    }

    #[test]
    fn list_items_hang() {
        let text: Vec<String> =
            rows("- one two three", 8).iter().map(|row| row.iter().map(|p| p.text.as_str()).collect()).collect();
        assert_eq!(text, ["- one", "  two", "  three"]);
    }

    proptest! {
        #[test]
        fn nothing_but_paired_marks_is_eaten(line in "[a-z`*# é日/-]{0,60}") {
            let all = text(&line);
            let bare = |s: &str| s.replace(['`', '*'], "");
            prop_assert_eq!(bare(&all), bare(&line));
            prop_assert!((line.len() - all.len()).is_multiple_of(2));
        }
    }
}

//! Claude's markdown, lightly: weight for headings and `**bold**`, a role for code. Every character stays where it
//! is, the marks included in code fences; nothing is interpreted that could hide text.

use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::{Break, Piece, untabbed, wrap};
use ratatui::style::Modifier;

/// Lays `text` (clean) out in `columns`; one inner list a row.
pub(super) fn rows(text: &str, columns: usize) -> Vec<Vec<Piece>> {
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

/// One line with its weights. Code keeps its backticks off the screen only when they are paired.
fn inline(line: &str) -> Vec<Piece> {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&hashes) && line.as_bytes().get(hashes) == Some(&b' ') {
        return vec![Piece { modifier: Modifier::BOLD, ..Piece::new(line, Role::StreamText) }];
    }
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '*']) {
        let (mark, role, modifier) = if rest[at..].starts_with("**") {
            ("**", Role::StreamText, Modifier::BOLD)
        } else if rest[at..].starts_with('`') {
            ("`", Role::StreamTarget, Modifier::empty())
        } else {
            push(&mut out, &rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        let inner = &rest[at + mark.len()..];
        match inner.find(mark) {
            Some(end) if end > 0 && !inner.starts_with(' ') => {
                push(&mut out, &rest[..at]);
                let whole = &rest[at..at + end + 2 * mark.len()];
                out.push(Piece { modifier, ..Piece::new(whole, role) });
                rest = &inner[end + mark.len()..];
            }
            _ => {
                push(&mut out, &rest[..at + mark.len()]);
                rest = inner;
            }
        }
    }
    push(&mut out, rest);
    out
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

    #[test]
    fn weight_and_code_are_seen() {
        let pieces = inline("a **b** `c` d*e `");
        let seen: Vec<(&str, Role, bool)> =
            pieces.iter().map(|p| (p.text.as_str(), p.role, p.modifier.contains(Modifier::BOLD))).collect();
        assert_eq!(seen[1], ("**b**", Role::StreamText, true));
        assert_eq!(seen[3], ("`c`", Role::StreamTarget, false));
        assert!(inline("# Head")[0].modifier.contains(Modifier::BOLD));
    }

    #[test]
    fn list_items_hang() {
        let text: Vec<String> =
            rows("- one two three", 8).iter().map(|row| row.iter().map(|p| p.text.as_str()).collect()).collect();
        assert_eq!(text, ["- one", "  two", "  three"]);
    }

    proptest! {
        #[test]
        fn no_character_is_eaten(line in "[a-z`*# é日-]{0,60}") {
            let all: String = inline(&line).iter().map(|p| p.text.as_str()).collect();
            prop_assert_eq!(all, line);
        }
    }
}

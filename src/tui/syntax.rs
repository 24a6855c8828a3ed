//! The colours of code on the screen: what is known of it, and what a frame lacks. A snippet is plain until its parts are
//! told, and then drawn once more; who reads it is asked by the screen's loop.

use crate::domain::syntax::{Code, Kind, Snippet, Spans};
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::Piece;
use std::collections::HashMap;
use std::sync::Arc;

/// Snippets that are kept.
const KEPT: usize = 256;

/// See the file's head.
#[derive(Default)]
pub struct Syntax {
    /// With the frame in which it was on the screen last.
    known: HashMap<Arc<Snippet>, (Spans, u64)>,
    frame: u64,
    wanted: Vec<Arc<Snippet>>,
    /// What was asked for last.
    asked: Vec<Arc<Snippet>>,
}

impl Syntax {
    /// Another frame is being prepared.
    pub fn begin(&mut self) {
        self.frame += 1;
        self.wanted.clear();
    }

    /// Code is about to be drawn.
    pub fn see<'a>(&mut self, seen: impl Iterator<Item = &'a Code>) {
        for Code { snippet, .. } in seen {
            match self.known.get_mut(snippet) {
                Some((_, used)) => *used = self.frame,
                None if self.wanted.last() != Some(snippet) && !self.wanted.contains(snippet) => {
                    self.wanted.push(snippet.clone());
                }
                None => {}
            }
        }
    }

    /// What the frame lacks, if that is other than what was asked for last.
    pub fn ask(&mut self) -> Option<Vec<Arc<Snippet>>> {
        if self.wanted == self.asked {
            return None;
        }
        self.asked.clone_from(&self.wanted);
        Some(self.wanted.clone())
    }

    /// The parts of a snippet are known. `true`: the frame lacked it.
    pub fn tell(&mut self, snippet: Arc<Snippet>, spans: Spans) -> bool {
        if self.known.len() >= KEPT {
            let oldest = self.known.iter().min_by_key(|(_, (_, used))| *used).map(|(snippet, _)| snippet.clone());
            oldest.and_then(|oldest| self.known.remove(&oldest));
        }
        let lacked = self.wanted.contains(&snippet);
        self.known.insert(snippet, (spans, self.frame));
        lacked
    }

    /// The parts of a piece, each with the role that lies over that of the piece.
    pub fn parts<'a>(&self, piece: &'a Piece) -> Vec<(&'a str, Option<Role>)> {
        let whole = vec![(piece.text.as_str(), None)];
        let Some(code) = &piece.code else { return whole };
        let Some((spans, _)) = self.known.get(&code.snippet) else { return whole };
        let (text, from) = (piece.text.as_str(), code.at);
        let first = spans.partition_point(|span| span.range.end <= from);
        let (mut out, mut at) = (Vec::new(), 0);
        for span in spans[first..].iter().take_while(|span| span.range.start < from + text.len()) {
            let (start, end) = (span.range.start.saturating_sub(from), (span.range.end - from).min(text.len()));
            // The end of a line that was cut is an ellipsis, no longer the text of the snippet.
            let (Some(plain), Some(part)) = (text.get(at..start), text.get(start..end)) else { break };
            if !plain.is_empty() {
                out.push((plain, None));
            }
            out.push((part, Some(role(span.kind))));
            at = end;
        }
        if at < text.len() {
            out.push((&text[at..], None));
        }
        out
    }
}

fn role(kind: Kind) -> Role {
    match kind {
        Kind::Keyword => Role::SyntaxKeyword,
        Kind::String => Role::SyntaxString,
        Kind::Comment => Role::SyntaxComment,
        Kind::Number => Role::SyntaxNumber,
        Kind::Type => Role::SyntaxType,
        Kind::Function => Role::SyntaxFunction,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::syntax::{Span, together};

    fn snippet(text: &str) -> Arc<Snippet> {
        Snippet::new("rs", text.into()).unwrap()
    }

    fn spans(parts: &[(usize, usize, Kind)]) -> Spans {
        parts.iter().map(|(start, end, kind)| Span { range: *start..*end, kind: *kind }).collect()
    }

    fn piece(text: &str, at: usize, snippet: &Arc<Snippet>) -> Piece {
        Piece { code: Some(Code { snippet: snippet.clone(), at }), ..Piece::new(text, Role::StreamTarget) }
    }

    #[test]
    fn a_piece_is_plain_until_its_colours_are_known() {
        let snippet = snippet("fn a() {\n  \"é\"\n}");
        let mut syntax = Syntax::default();
        let line = piece("fn a() {", 0, &snippet);
        let rest = piece("  \"é\"", 9, &snippet);
        let cut = piece("  \"é…", 9, &snippet);
        syntax.see([&line, &rest].into_iter().filter_map(|piece| piece.code.as_ref()));
        assert_eq!(syntax.ask(), Some(vec![snippet.clone()]), "once");
        assert_eq!(syntax.ask(), None);
        assert_eq!(syntax.parts(&line), [("fn a() {", None)]);
        let known = spans(&[(0, 2, Kind::Keyword), (3, 4, Kind::Function), (11, 15, Kind::String)]);
        assert!(syntax.tell(snippet.clone(), known));
        let (keyword, function) = (Some(Role::SyntaxKeyword), Some(Role::SyntaxFunction));
        assert_eq!(syntax.parts(&line), [("fn", keyword), (" ", None), ("a", function), ("() {", None)]);
        assert_eq!(syntax.parts(&rest), [("  ", None), ("\"é\"", Some(Role::SyntaxString))]);
        // Cut in a part.
        assert_eq!(syntax.parts(&cut), [("  \"é…", None)]);
        syntax.begin();
        syntax.see(line.code.iter());
        assert_eq!(syntax.ask(), Some(vec![]), "whoever reads may stop");
    }

    #[test]
    fn the_oldest_colours_are_forgotten() {
        let mut syntax = Syntax::default();
        let kept = snippet("kept");
        syntax.tell(kept.clone(), Spans::default());
        for at in 0..2 * KEPT {
            syntax.begin();
            syntax.see(piece("kept", 0, &kept).code.iter());
            syntax.tell(snippet(&format!("x{at}")), Spans::default());
        }
        assert_eq!((syntax.known.len(), syntax.known.contains_key(&kept)), (KEPT, true));
    }

    #[test]
    fn every_part_of_a_long_line_is_where_it_was() {
        let line = "let long = \"日本語\"; ".repeat(9);
        let code = together("rs", &[&line]).remove(0);
        let whole = Piece { code, ..Piece::new(line.as_str(), Role::StreamTarget) };
        for row in crate::tui::widgets::wrap::wrap(&[whole], 13, 0, crate::tui::widgets::wrap::Break::Anywhere) {
            for piece in row {
                let at = piece.code.unwrap().at;
                assert_eq!(line[at..at + piece.text.len()], piece.text);
            }
        }
    }
}

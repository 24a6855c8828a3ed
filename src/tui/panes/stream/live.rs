//! What is being said now, with the cursor at its end. A block of it is read as markdown once, when it is complete; until
//! then it stands as it comes. Provisional: the record that follows replaces all of it.

use super::layout::{Body, Group};
use super::plain::plain;
use super::row::Row;
use crate::base::text::{Clean, clean_line, tail};
use crate::domain::scrollback::Live;
use crate::tui::theme::role::Role;
use crate::tui::widgets::markdown::{self, PROSE};
use crate::tui::widgets::wrap::{Piece, width};
use std::sync::Arc;

/// Bytes of a block or a thought that are shown while they grow: those are wrapped anew for each frame.
const OPEN: usize = 64 * 1024;

/// The live text, laid out.
#[derive(Default)]
pub(super) struct Speech {
    live: Live,
    columns: usize,
    /// Bytes of the text that are in the first rows of the body, which stay: the thought and what is complete.
    done: usize,
    kept: Kept,
    pub(super) body: Arc<Body>,
}

/// How far the rows of the body stay, and what they look like.
#[derive(Clone, Copy, Default)]
struct Kept {
    rows: usize,
    /// Pieces of the last one, without the cursor.
    pieces: usize,
    first: Group,
    last: Group,
}

impl Speech {
    /// Takes what is being said now.
    pub(super) fn hear(&mut self, live: Live, columns: usize) {
        if self.columns == columns && self.live == live {
            return;
        }
        let (text, status) = before_status(&live.text);
        // Nobody else has the body between two frames: it is changed where it is.
        let body = Arc::make_mut(&mut self.body);
        let same = self.columns == columns && self.live.thinking == live.thinking;
        if same && self.live.text.get(..self.done) == text.get(..self.done) {
            body.rows.truncate(self.kept.rows);
            if let Some(last) = body.rows.last_mut() {
                last.left.truncate(self.kept.pieces);
            }
            (body.first, body.last) = (self.kept.first, self.kept.last);
        } else {
            (self.done, self.columns) = (0, columns);
            *body = Body::default();
            if !live.thinking.trim().is_empty() {
                let thought = tail(&live.thinking, OPEN);
                let mut rows = plain(thought, columns.min(PROSE), Role::StreamThinking, "", usize::MAX);
                rows.drain(..rows.len().saturating_sub(3));
                body.add(Group::Words, rows);
            }
        }
        let whole = complete(&text[self.done..]);
        if whole > 0 {
            let text = Clean::new(text[self.done..self.done + whole].trim_matches('\n'));
            body.add(Group::Words, markdown::rows(text.as_str(), columns).into_iter().map(Row::from).collect());
            self.done += whole;
        }
        let pieces = body.rows.last().map_or(0, |row| row.left.len());
        self.kept = Kept { rows: body.rows.len(), pieces, first: body.first, last: body.last };
        let open = &text[self.done..];
        if !open.trim().is_empty() {
            body.add(Group::Words, plain(tail(open, OPEN), columns.min(PROSE), Role::StreamText, "", usize::MAX));
        }
        if status {
            body.add(Group::Words, vec![Row::of("◐ status … ", Role::StreamStatus)]);
        }
        if let Some(tool) = &live.tool {
            let text = format!("● {:<6} …", clean_line(tool, 40));
            body.add(Group::Tools, vec![Row::of(text, Role::StreamTool)]);
        }
        if let Some(row) = body.rows.last_mut().filter(|row| width(&row.left) < columns) {
            row.left.push(Piece::new("█", Role::Accent));
        }
        self.live = live;
    }
}

/// How much of `text` is complete: up to the block that is being written. A line that is set in may belong to what stands
/// above it.
fn complete(text: &str) -> usize {
    let (mut end, mut at) = (0, 0);
    let (mut fence, mut blank) = (None, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match fence {
            Some(_) if mark == fence => fence = None,
            Some(_) => {}
            None if bare.is_empty() => blank = true,
            None => {
                if blank && bare.len() == line.len() {
                    end = at;
                }
                (fence, blank) = (mark, false);
            }
        }
        at += line.len();
    }
    end
}

/// What is said before the status block that is being written, and whether one is: the block is shown when it is whole.
fn before_status(text: &str) -> (&str, bool) {
    const HEAD: &str = "PROGRAMMATOR_STATUS";
    let begins = |line: &str| {
        let bare = line.trim();
        bare.starts_with(HEAD) || (bare.len() > 3 && !line.ends_with('\n') && HEAD.starts_with(bare))
    };
    let mut from = None;
    let mut at = 0;
    // Where the line before begins, when it opens a fence.
    let mut fence = None;
    for line in text.split_inclusive('\n') {
        if begins(line) {
            from = Some(fence.unwrap_or(at));
        }
        fence = line.trim_start().starts_with("```").then_some(at);
        at += line.len();
    }
    from.map_or((text, false), |from| (&text[..from], true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(speech: &Speech) -> Vec<String> {
        speech.body.rows.iter().map(|row| row.left.iter().map(|piece| piece.text.as_str()).collect()).collect()
    }

    #[test]
    fn a_block_is_read_once_it_is_complete() {
        let mut speech = Speech::default();
        let said = "Some **bold**\n\n- one\n- two\n\nand `more`";
        let mut seen = Vec::new();
        for end in 1..=said.len() {
            speech.hear(Live { text: said[..end].to_owned(), ..Live::default() }, 40);
            seen.push(text(&speech));
        }
        assert_eq!(seen[12], ["Some **bold**█"]);
        assert_eq!(seen[15], ["Some bold", "", "-█"]);
        assert_eq!(seen[said.len() - 1], ["Some bold", "", "• one", "• two", "", "and `more`█"]);
        speech.hear(Live { text: "New".into(), ..Live::default() }, 40);
        assert_eq!(text(&speech), ["New█"], "an attempt that was lost");
    }

    #[test]
    fn what_may_go_on_is_not_complete() {
        for (text, end) in [("a\n\n", 0), ("a\n\nb", 3), ("- a\n\n  b", 0), ("```\na\n\nb", 0), ("```\n\n```\n\nb", 10)]
        {
            assert_eq!(complete(text), end, "{text:?}");
        }
    }

    #[test]
    fn a_status_block_that_is_being_written_is_one_line() {
        let cases = [
            ("All done.\n\n```yaml\nPROGRAMMATOR_STATUS:\n  status: DO", ("All done.\n\n", true)),
            ("All done.\n\nPROGRAM", ("All done.\n\n", true)),
            ("PROGRAMMATOR_STATUS:\n  x: y\n", ("", true)),
            ("The PROGRAMMATOR_STATUS block comes", ("The PROGRAMMATOR_STATUS block comes", false)),
            ("PRO", ("PRO", false)),
            ("```sh\nls\n", ("```sh\nls\n", false)),
        ];
        for (text, expected) in cases {
            assert_eq!(before_status(text), expected, "{text}");
        }
    }
}

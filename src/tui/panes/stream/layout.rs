//! One record of Claude's stream as rows. How many rows it takes depends on the record, the width and the
//! fold alone (and on where its call stands), never on what comes later: nothing on the screen jumps.

use super::edits;
use super::fold::Fold;
use super::markdown;
use super::row::{Later, Row};
use crate::base::text::{Clean, clean_line};
use crate::domain::record::Level;
use crate::domain::scrollback::Live;
use crate::domain::stream::show::{Block, Shown, Status, Tool, ToolResult, TurnEnd, seconds, size};
use crate::tui::theme::role::Role;
use crate::tui::widgets::spelt;
use crate::tui::widgets::wrap::{Break, Piece, untabbed, width, wrap};
use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr;

/// What neighbours look like: a blank row stands between different ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Group {
    /// Shows nothing.
    #[default]
    Hidden,
    Divider,
    /// Words: apart from everything, also from other words.
    Words,
    Tools,
    /// Notices and verdicts.
    Notes,
}

/// The rows of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) rows: Vec<Row>,
    /// What its first row looks like.
    pub(super) first: Group,
    /// What its last row looks like.
    pub(super) last: Group,
}

/// Where the call of a result stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Above,
    Earlier {
        call: String,
    },
    /// Too far away to be found.
    Unknown,
}

impl Body {
    pub(super) fn add(&mut self, group: Group, rows: Vec<Row>) {
        if rows.is_empty() {
            return;
        }
        if self.rows.is_empty() {
            self.first = group;
        } else if apart(self.last, group) {
            self.rows.push(Row::default());
        }
        self.last = group;
        self.rows.extend(rows);
    }
}

/// A blank row belongs between `above` and `below`.
pub(super) fn apart(above: Group, below: Group) -> bool {
    match (above, below) {
        (Group::Hidden, _) => false,
        (_, Group::Divider) | (Group::Words, Group::Words) => true,
        (Group::Divider, _) => false,
        (above, below) => above != below,
    }
}

/// Lays a record out.
pub(super) fn body(shown: &Shown, columns: usize, fold: Fold, origin: &mut dyn FnMut(&str) -> Origin) -> Body {
    let mut body = Body::default();
    if shown.parent.is_some() && fold == Fold::Brief {
        return body;
    }
    let indent = if shown.parent.is_some() { 2 } else { 0 };
    let columns = columns.saturating_sub(indent).max(1);
    for block in &shown.blocks {
        match block {
            Block::Text(text) => body.add(Group::Words, words(text, columns, fold)),
            Block::Status(status) => body.add(Group::Words, card(status, columns)),
            Block::Thinking(text) => {
                body.add(Group::Words, plain(text, columns, Role::StreamThinking, "", fold.cap(3)));
            }
            Block::Tool(tool) => body.add(Group::Tools, call(tool, columns, fold)),
            Block::ToolResult(result) => {
                let group = if body.last == Group::Hidden { Group::Tools } else { body.last };
                body.add(group, outcome(result, columns, fold, origin));
            }
            Block::Progress(_) => {}
            Block::Person(text) => body.add(Group::Words, told(text, columns, fold)),
            Block::TurnEnd(end) => body.add(Group::Notes, turn_end(end, columns, fold)),
            Block::Notice { level, text } => body.add(Group::Notes, notice(*level, text, columns)),
        }
    }
    if shown.missing > 0 && !body.rows.is_empty() {
        let text = format!("… {} more, in the log file", size(shown.missing));
        body.rows.push(Row::of(text, Role::Dim));
    }
    if indent > 0 {
        for row in &mut body.rows {
            row.left.insert(0, Piece::new(" ".repeat(indent), Role::Dim));
        }
    }
    body
}

/// What is being said now, with the cursor at its end.
pub(super) fn live(live: &Live, columns: usize) -> Body {
    let mut body = Body::default();
    if !live.thinking.trim().is_empty() {
        let mut rows = plain(tail(&live.thinking), columns, Role::StreamThinking, "", usize::MAX);
        rows.drain(..rows.len().saturating_sub(3));
        body.add(Group::Words, rows);
    }
    let (text, status) = before_status(tail(&live.text));
    if !text.trim().is_empty() {
        body.add(Group::Words, words(text, columns, Fold::Full));
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
    body
}

/// The end of a long live text: it is laid out again for each frame.
fn tail(text: &str) -> &str {
    crate::base::text::tail(text, 256 * 1024)
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

/// What Claude was told: the whole prompt is one row, a person's few words are shown.
fn told(text: &str, columns: usize, fold: Fold) -> Vec<Row> {
    let brief = 6;
    let mut rows = plain(text, columns, Role::StreamPerson, "› ", fold.cap(brief));
    if fold == Fold::Brief && rows.len() > brief {
        rows.truncate(1);
        let lines = text.lines().count();
        for row in &mut rows {
            row.left = vec![Piece::new(format!("› {}", clean_line(text.trim_start(), 200)), Role::StreamResult)];
            row.right = vec![Piece::new(format!("{lines} lines"), Role::StreamResult)];
        }
    }
    rows
}

fn words(text: &str, columns: usize, fold: Fold) -> Vec<Row> {
    let cap = fold.cap(400);
    let (text, beyond) = bounded(text, columns, cap);
    let rows = markdown::rows(Clean::new(text).as_str(), columns);
    let mut rows = capped(rows.into_iter().map(Row::from).collect(), cap);
    say_beyond(&mut rows, cap, beyond);
    rows
}

/// As much of `text` as `cap` rows can hold, and how many bytes that leaves out: what will not be shown is not wrapped.
fn bounded(text: &str, columns: usize, cap: usize) -> (&str, usize) {
    // A cell may take several bytes; empty lines take a row each, so this is plenty.
    let most = cap.saturating_add(2).saturating_mul(columns.max(20) * 4);
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], text.len() - end)
}

fn say_beyond(rows: &mut Vec<Row>, cap: usize, bytes: usize) {
    if bytes > 0 {
        // The row that counts rows gives way to the one that counts bytes.
        rows.truncate(cap);
        rows.push(Row::of(format!("… {} more", size(bytes as u64)), Role::Dim));
    }
}

/// Text as it stands, wrapped, in one role, with a mark before its first row.
pub(super) fn plain(text: &str, columns: usize, role: Role, mark: &str, cap: usize) -> Vec<Row> {
    let (text, beyond) = bounded(text.trim_end(), columns, cap);
    let clean = Clean::new(text);
    let hang = mark.width();
    let mut rows = Vec::new();
    let mut left_out = 0;
    for (at, line) in clean.as_str().trim_start_matches('\n').lines().enumerate() {
        // Beyond the cap lines are only counted.
        if rows.len() > cap {
            left_out += 1;
            continue;
        }
        let lead = if at == 0 { mark.to_owned() } else { " ".repeat(hang) };
        let pieces = [Piece::new(lead + &untabbed(line), role)];
        rows.extend(wrap(&pieces, columns, hang, Break::Words).into_iter().map(Row::from));
    }
    if left_out > 0 {
        let more = rows.len() - cap + left_out;
        rows.truncate(cap);
        let text = format!("{}… {more} more", " ".repeat(hang));
        rows.push(Row::of(text, Role::Dim));
    } else {
        rows = capped(rows, cap);
    }
    say_beyond(&mut rows, cap, beyond);
    rows
}

/// At most `cap` rows, the last of which says how many were left out.
fn capped(mut rows: Vec<Row>, cap: usize) -> Vec<Row> {
    // One row too many is shown: saying so would take it as well.
    if rows.len() > cap.saturating_add(1) {
        let more = rows.len() - cap;
        rows.truncate(cap);
        rows.push(Row::of(format!("… {more} more"), Role::Dim));
    }
    rows
}

fn card(status: &Status, columns: usize) -> Vec<Row> {
    let line = |text: &str| clean_line(text, 400);
    let phase =
        status.phase.as_deref().map_or_else(|| "no phase completed".to_owned(), |phase| format!("“{}”", line(phase)));
    let head = [
        Piece::new(format!("◐ {}", line(&status.status)), Role::StreamStatus),
        Piece::new(format!(" · {phase}"), Role::StreamStatus),
    ];
    let mut rows = wrap(&head, columns, 2, Break::Words);
    let mut say = |text: String, role| rows.extend(wrap(&[Piece::new(text, role)], columns, 2, Break::Words));
    if !status.summary.is_empty() {
        say(format!("  {}", line(&status.summary)), Role::StreamText);
    }
    if let Some(error) = &status.error {
        say(format!("  {}", line(error)), Role::StreamError);
    }
    if !status.files.is_empty() {
        say(format!("  {}", line(&status.files.join(", "))), Role::Dim);
    }
    rows.into_iter().map(Row::from).collect()
}

fn call(tool: &Tool, columns: usize, fold: Fold) -> Vec<Row> {
    let mark = if tool.subagent { "▸" } else { "●" };
    let name = clean_line(&tool.name, 32);
    let pad = " ".repeat(6_usize.saturating_sub(name.width()) + 1);
    let mut rows = vec![Row {
        left: vec![
            Piece::new(format!("{mark} "), Role::StreamTool),
            Piece { modifier: Modifier::BOLD, ..Piece::new(name, Role::StreamTool) },
            Piece::new(pad, Role::StreamTool),
            Piece::new(one_line(&tool.target), Role::StreamTarget),
        ],
        right: Vec::new(),
        later: Later::Call { id: tool.id.clone() },
    }];
    if fold == Fold::Full && !tool.detail.is_empty() {
        rows.extend(plain(&tool.detail, columns, Role::Dim, "    ", fold.cap(0)));
    }
    if let Some(edit) = &tool.edit {
        rows.extend(edits::rows(edit, &tool.id, columns, fold.cap(12), fold));
    }
    rows
}

/// A target on one line, spelt out where it hides something; its blanks stay, for they may matter in it.
pub(super) fn one_line(text: &str) -> String {
    let line = untabbed(&text.trim().replace('\n', " "));
    let line = if spelt::hides(&line) { spelt::visible(&line) } else { line };
    crate::base::text::cut(&line, 500)
}

fn outcome(result: &ToolResult, columns: usize, fold: Fold, origin: &mut dyn FnMut(&str) -> Origin) -> Vec<Row> {
    let role = if result.error { Role::StreamError } else { Role::StreamResult };
    let mut rows = Vec::new();
    let origin = origin(&result.id);
    let folded = !result.error && fold == Fold::Brief;
    let written = result.written.as_ref().map(|edit| edits::rows(edit, &result.id, columns, fold.cap(12), fold));
    let written = written.unwrap_or_default();
    match origin {
        Origin::Above => {}
        Origin::Earlier { .. } if folded && written.is_empty() => {}
        Origin::Earlier { call } => rows.push(Row::of(format!("  ↳ {call}"), Role::StreamTarget)),
        Origin::Unknown => rows.push(Row::of(format!("  ↳ {}", clean_line(&result.summary, 48)), role)),
    }
    rows.extend(written);
    if !folded {
        let text = match result.text.split_once('\n') {
            Some((first, rest)) if first.starts_with("Exit code ") => rest,
            _ => &result.text,
        };
        rows.extend(plain(text, columns, role, "    ", fold.cap(6)).into_iter().filter(|row| {
            // A result without any words has nothing to unfold.
            !result.text.trim().is_empty() || !row.left.is_empty()
        }));
    }
    rows
}

fn turn_end(end: &TurnEnd, columns: usize, fold: Fold) -> Vec<Row> {
    let how = clean_line(&end.how, 80);
    // The person's own doing: the pane says so itself.
    let interrupted = how.contains("aborted");
    if end.error && !interrupted {
        // An API error stands above as the last words of the turn.
        let message = if how.starts_with("API error") { "" } else { &clean_line(&end.message, 300) };
        let text = format!("turn ended: {how}{}{message}", if message.is_empty() { "" } else { " · " });
        return plain(&text, columns, Role::StreamError, "✗ ", fold.cap(3));
    }
    match fold {
        Fold::Brief => Vec::new(),
        Fold::Full => {
            let text = format!("turn ended: {how} · {} · ${:.2}", seconds(end.ms), end.cost_usd);
            plain(&text, columns, Role::Dim, "· ", 3)
        }
    }
}

/// A notice in the colour of its level.
pub(super) fn notice(level: Level, text: &str, columns: usize) -> Vec<Row> {
    let (mark, role) = match level {
        Level::Info => ("· ", Role::Dim),
        Level::Warn => ("! ", Role::Warning),
        Level::Error => ("✗ ", Role::StreamError),
    };
    plain(text, columns, role, mark, 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_hides_nothing() {
        assert_eq!(one_line(" rm -rf\u{202e} a\n  b\x1b[8m"), "rm -rf<U+202E> a   b<escape>[8m");
        assert_eq!(one_line("a          b"), "a          b");
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

    #[test]
    fn a_prompt_is_one_row_until_it_is_unfolded() {
        let prompt = "Work on this.\n".repeat(20);
        assert_eq!(told(&prompt, 60, Fold::Brief).len(), 1);
        assert_eq!(told(&prompt, 60, Fold::Full).len(), 20);
        assert_eq!(told("mind the\ncache", 60, Fold::Brief).len(), 2);
    }
}

//! One record of Claude's stream as rows. How many rows it takes depends on the record, the width and the
//! fold alone (and on where its call stands), never on what comes later: nothing on the screen jumps.

use super::card;
use super::edits;
use super::fold::Fold;
use super::plain::{bounded, capped, plain, say_beyond};
use super::row::{BRANCH, Later, Row};
use crate::base::amount::counted;
use crate::base::text::{Clean, clean_line};
use crate::domain::record::Level;
use crate::domain::stream::show::{Block, Shown, Tool, ToolResult, TurnEnd, seconds, size};
use crate::tui::theme::role::Role;
use crate::tui::widgets::markdown::{self, PROSE};
use crate::tui::widgets::spelt;
use crate::tui::widgets::wrap::{Piece, untabbed};
use ratatui::style::Modifier;
use regex::Regex;
use std::sync::LazyLock;
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
    /// It belongs to what stands above: the result of the call there.
    pub(super) continues: bool,
    /// It can be folded and unfolded.
    pub(super) folds: bool,
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

/// Lays a record out, `depth` subagents deep.
pub(super) fn body(
    shown: &Shown,
    columns: usize,
    depth: usize,
    fold: Fold,
    origin: &mut dyn FnMut(&str) -> Origin,
) -> Body {
    let mut body = Body::default();
    let columns = columns.saturating_sub(depth * BRANCH.width()).max(1);
    for block in &shown.blocks {
        match block {
            Block::Text(text) => body.add(Group::Words, words(text, columns, fold)),
            Block::Status(status) => {
                body.add(Group::Words, card::rows(status, columns));
                // What programmator says of it belongs to it.
                body.last = Group::Notes;
            }
            Block::Critique(critique) => {
                body.add(Group::Words, card::critique(critique, columns));
                body.last = Group::Notes;
            }
            Block::Evaluation(said) => {
                body.add(Group::Words, card::evaluation(said, columns));
                body.last = Group::Notes;
            }
            Block::Draft(draft) => {
                body.add(Group::Words, card::draft(draft, columns));
                body.last = Group::Notes;
            }
            Block::Thinking(text) => {
                body.add(Group::Words, thought(text, columns, fold));
            }
            Block::Tool(tool) => body.add(Group::Tools, call(tool, columns, fold)),
            Block::ToolResult(result) => {
                let group = if body.last == Group::Hidden { Group::Tools } else { body.last };
                let origin = origin(&result.id);
                body.continues |= body.rows.is_empty() && origin == Origin::Above;
                body.add(group, outcome(result, columns, fold, &origin));
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
    for row in &mut body.rows {
        row.depth = depth;
    }
    body.folds = shown
        .blocks
        .iter()
        .any(|block| matches!(block, Block::Tool(_) | Block::ToolResult(_) | Block::Thinking(_) | Block::Person(_)));
    body
}

/// What Claude was told: the whole prompt is one row, a person's few words are shown.
fn told(text: &str, columns: usize, fold: Fold) -> Vec<Row> {
    let brief = 6;
    let rows = plain(text, columns.min(PROSE), Role::StreamPerson, "› ", fold.cap(brief));
    if fold == Fold::Brief && rows.len() > brief {
        return vec![in_one_row("› ", text, Role::StreamResult)];
    }
    rows
}

/// A thought: one row until it is unfolded.
fn thought(text: &str, columns: usize, fold: Fold) -> Vec<Row> {
    let rows = plain(text, columns.min(PROSE), Role::StreamThinking, "  ", fold.cap(2));
    match fold {
        Fold::Brief if rows.len() > 1 => vec![in_one_row("… ", text, Role::StreamThinking)],
        _ => rows,
    }
}

/// How a long text begins, and how long it is.
fn in_one_row(mark: &str, text: &str, role: Role) -> Row {
    let lines = counted(text.trim().lines().count(), "line");
    Row {
        left: vec![Piece::new(format!("{mark}{}", clean_line(text.trim_start(), 200)), role)],
        right: vec![Piece::new(lines, Role::StreamResult)],
        ..Row::default()
    }
}

fn words(text: &str, columns: usize, fold: Fold) -> Vec<Row> {
    let cap = fold.cap(400);
    let (text, beyond) = bounded(text, columns, cap);
    let rows = markdown::rows(Clean::new(text).as_str(), columns);
    let mut rows = capped(rows.into_iter().map(Row::from).collect(), cap);
    say_beyond(&mut rows, cap, beyond);
    rows
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
        later: Later::Call { id: tool.id.clone() },
        ..Row::default()
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
    let line = if crate::base::text::hides(&line) { spelt::visible(&line) } else { line };
    crate::base::text::cut(&line, 500)
}

fn outcome(result: &ToolResult, columns: usize, fold: Fold, origin: &Origin) -> Vec<Row> {
    let role = if result.error { Role::StreamError } else { Role::StreamResult };
    let mut rows = Vec::new();
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
    if let Some(read) = result.read.as_ref().filter(|_| !folded) {
        rows.extend(edits::contents(read, columns, fold.cap(6)));
    } else if !folded && !result.text.trim().is_empty() {
        let (first, rest) = result.text.split_once('\n').unwrap_or((result.text.as_str(), ""));
        // The code of a command that failed is said beside the call.
        let is_code = |code: &str| !code.is_empty() && code.bytes().all(|digit| digit.is_ascii_digit());
        let told = result.error && first.strip_prefix("Exit code ").is_some_and(is_code);
        let text = if told { rest } else { result.text.as_str() };
        if !text.trim().is_empty() {
            rows.extend(output(text, result.error, columns, fold.cap(6)));
        }
    }
    rows
}

/// What a command or a tool printed. Of a failed one the lines that say what failed stand out, and come first.
pub(super) fn output(text: &str, failed: bool, columns: usize, cap: usize) -> Vec<Row> {
    let mut text = text.trim_end();
    let mut rows = Vec::new();
    if failed && text.trim().lines().count() == 1 {
        return plain(text, columns, Role::StreamError, "    ", cap);
    }
    let says = text.lines().position(says_failure).filter(|at| failed && *at > cap);
    if let Some(at) = says {
        rows.push(Row::of(format!("    … {at} above"), Role::Dim));
        let skipped = text.split_inclusive('\n').take(at).map(str::len).sum::<usize>();
        text = &text[skipped..];
    }
    let mut shown = plain(text, columns, Role::StreamResult, "    ", cap);
    if failed {
        for row in shown.iter_mut().filter(|row| row.left.iter().any(|piece| says_failure(&piece.text))) {
            row.left
                .iter_mut()
                .filter(|piece| piece.role == Role::StreamResult)
                .for_each(|piece| piece.role = Role::StreamError);
        }
    }
    rows.extend(shown);
    rows
}

/// The line says that something failed.
fn says_failure(line: &str) -> bool {
    const WORDS: [&str; 12] = [
        "error", "fail", "failed", "failure", "not ok", "panicked", "fatal", "exception", "traceback", "denied",
        "not found", "✗",
    ];
    static NONE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\b0 (?:errors?|fail(?:ed|ures?)?)\b|\bfail(?:ed|ures?)?:? 0\b").ok());
    let line = line.to_lowercase();
    let line = NONE.as_ref().map_or(line.as_str().into(), |none| none.replace_all(&line, ""));
    WORDS.iter().any(|word| {
        line.match_indices(word).any(|(at, _)| {
            let joined = |c: char| c.is_alphanumeric() || c == '_' || c == '/' || c == '.';
            !line[..at].ends_with(joined)
                && !line[at + word.len()..].starts_with(|c: char| c.is_alphabetic() && c != 's')
        })
    })
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
    fn only_lines_that_say_so_look_failed() {
        for (line, failed) in [
            ("error[E0308]: mismatched types", true),
            ("test burst ... FAILED", true),
            ("thread 'x' panicked at src/a.rs", true),
            ("2 errors", true),
            ("10 failed, 3 passed", true),
            ("FAIL  greet.sh -l tlh Ada: expected 'x'", true),
            ("not ok 3 - parses", true),
            ("# fail 0", false),
            ("Failures: 0", false),
            ("test result: ok. 3 passed; 0 failed", false),
            ("   Compiling thiserror v2.0", false),
            ("  --> src/error.rs:3", false),
            ("ok", false),
        ] {
            assert_eq!(says_failure(line), failed, "{line}");
        }
        let text = format!("{}error: x\n  at y\n", "ok\n".repeat(20));
        let rows = output(&text, true, 40, 6);
        let seen: Vec<(&str, Role)> = rows.iter().map(|row| (row.left[0].text.as_str(), row.left[0].role)).collect();
        assert_eq!(
            seen,
            [("    … 20 above", Role::Dim), ("    error: x", Role::StreamError), ("      at y", Role::StreamResult),]
        );
    }

    #[test]
    fn a_prompt_is_one_row_until_it_is_unfolded() {
        let prompt = "Work on this.\n".repeat(20);
        assert_eq!(told(&prompt, 60, Fold::Brief).len(), 1);
        assert_eq!(told(&prompt, 60, Fold::Full).len(), 20);
        assert_eq!(told("mind the\ncache", 60, Fold::Brief).len(), 2);
    }
}

//! The newest state of Claude's list of tasks, below the last call that changed it; an earlier one is a line, or nothing in
//! a row of such calls.

use super::super::layout::one_line;
use super::super::row::Row;
use super::{BRIEF, Book};
use crate::domain::scrollback::EntryKind;
use crate::domain::stream::show::{Block, Todo, TodoState, change};
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::Piece;
use memchr::memmem;

/// Records in which other calls about the list are looked for.
const NEAR: usize = 512;
/// Tasks that are shown.
const MOST: usize = 20;

impl Book {
    /// A record changes the list, or says how it stands.
    fn is_about_todos(&self, n: u32, i: usize, kind: EntryKind) -> bool {
        let words: &[&[u8]] = match kind {
            EntryKind::Assistant => &[b"\"TodoWrite\"", b"\"TaskCreate\"", b"\"TaskUpdate\""],
            EntryKind::User => &[b"\"task\"", b"\"tasks\""],
            _ => return false,
        };
        match self.bytes(n, i, BRIEF) {
            Some((_, Ok(bytes))) => words.iter().any(|word| memmem::find(&bytes, word).is_some()),
            _ => false,
        }
    }

    /// A later call in `range` changes the list.
    fn changes_later(&mut self, n: u32, range: std::ops::Range<usize>) -> bool {
        for (i, entry) in range.clone().zip(self.entries(n, range)) {
            if entry.kind == EntryKind::Assistant
                && self.is_about_todos(n, i, entry.kind)
                && self
                    .shown(n, i, BRIEF)
                    .blocks
                    .iter()
                    .any(|block| matches!(block, Block::Tool(tool) if tool.todo.is_some()))
            {
                return true;
            }
        }
        false
    }

    /// The lines of the list as record `i` leaves it; none where a later one changes it again.
    pub(super) fn checklist(&mut self, n: u32, i: usize) -> Vec<Row> {
        let len = self.journal.get(n).map_or(0, |segment| segment.len);
        let end = len.min(i + NEAR);
        if self.changes_later(n, i + 1..end) {
            return Vec::new();
        }
        self.newest.retain(|newest| (newest.0, newest.1) != (n, i));
        self.newest.push((n, i, end));
        lines(&self.tasks(n, i))
    }

    /// The list as record `i` leaves it.
    pub(super) fn tasks(&mut self, n: u32, i: usize) -> Vec<Todo> {
        let from = i.saturating_sub(NEAR);
        let mut list: Vec<Todo> = Vec::new();
        // The result of the last call tells its id: it is of no use yet.
        for (at, entry) in (from..=i).zip(self.entries(n, from..i + 1)) {
            if !self.is_about_todos(n, at, entry.kind) {
                continue;
            }
            for block in self.shown(n, at, BRIEF).blocks {
                if let Some(said) = block.todo() {
                    change(&mut list, said);
                }
            }
        }
        list
    }

    /// Folds a list away once a later call has changed it.
    pub(super) fn follow_todos(&mut self) {
        for (n, i, looked) in std::mem::take(&mut self.newest) {
            let end = self.journal.get(n).map_or(0, |segment| segment.len).min(i + NEAR);
            if self.changes_later(n, looked..end) {
                self.forget(n, i);
            } else if self.bodies.contains_key(&(n, i)) && end < i + NEAR {
                self.newest.push((n, i, end.max(looked)));
            }
        }
    }
}

fn lines(list: &[Todo]) -> Vec<Row> {
    // Of a long list the part around what is being done.
    let here = list.iter().position(|todo| todo.state != TodoState::Done).unwrap_or(list.len());
    let from = here.saturating_sub(MOST / 2).min(list.len().saturating_sub(MOST));
    let shown = &list[from..list.len().min(from + MOST)];
    let mut rows: Vec<Row> = shown
        .iter()
        .map(|todo| {
            let (mark, role, text) = match todo.state {
                TodoState::Done => ("✓", Role::PhaseDone, Role::StreamResult),
                TodoState::Running => ("▶", Role::PhaseRunning, Role::StreamText),
                TodoState::Open => ("○", Role::PhasePending, Role::StreamText),
            };
            Row::from(vec![Piece::new(format!("    {mark} "), role), Piece::new(one_line(&todo.text), text)])
        })
        .collect();
    if shown.len() < list.len() {
        let done = list.iter().filter(|todo| todo.state == TodoState::Done).count();
        rows.push(Row::of(format!("    … {done} of {} done", list.len()), Role::Dim));
    }
    rows
}

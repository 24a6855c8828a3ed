//! Calls in a row that are one line until it is unfolded: what is read and searched, and what changes the list of tasks.
//!
//! A later call of a row shows nothing of its own, so that nothing moves when it comes: the line of the first one counts
//! it. A call that failed says so itself, and ends the row.

use super::super::fold::Fold;
use super::super::layout::one_line;
use super::super::row::{Outcome, Row, TARGET};
use super::chain::{Class, Run, class};
use super::{BRIEF, Book};
use crate::domain::stream::show::{Block, Shown, Tool};
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::Piece;
use ratatui::style::Modifier;

/// Records in which the first call of a row is looked for, and that are counted for one frame.
const FAR: usize = 4_096;
const COUNTED: usize = 256;
/// Records in a row that show nothing, of subagents at work, behind which a row begins anew.
const SILENT: usize = 64;
/// Targets that the line names.
const NAMED: usize = 8;

/// What a record is to the rows of calls.
enum Link {
    Member(Class, Box<Tool>),
    /// It shows nothing.
    Nothing,
    Break,
}

impl Book {
    fn link(&mut self, n: u32, i: usize) -> Link {
        let shown = self.shown(n, i, BRIEF);
        if let Some((class, tool)) = class(&shown) {
            return Link::Member(class, Box::new(tool.clone()));
        }
        let silent = |block: &Block| match block {
            Block::ToolResult(result) => !result.error && result.written.is_none(),
            Block::Progress(_) => true,
            _ => false,
        };
        if shown.parent.is_some() || shown.blocks.iter().all(silent) { Link::Nothing } else { Link::Break }
    }

    /// Something is said between two records.
    fn is_parted(&self, n: u32, before: usize, after: usize) -> bool {
        let marks = self.journal.get(n).map_or(&[][..], |segment| &segment.marks);
        let next = marks.partition_point(|mark| mark.0 <= before);
        marks.get(next).is_some_and(|mark| mark.0 <= after)
    }

    /// The first call of the row that a record belongs to; `None`: it is no such call.
    pub(super) fn head(&mut self, n: u32, i: usize, shown: &Shown) -> Option<usize> {
        let (class, _) = class(shown)?;
        if let Some(head) = self.heads.get(&(n, i)) {
            return Some(*head);
        }
        let mut row = vec![i];
        let (mut head, mut silent) = (i, 0);
        for before in (i.saturating_sub(FAR)..i).rev() {
            match self.link(n, before) {
                Link::Member(other, _) if other == class && !self.is_parted(n, before, head) => {
                    head = before;
                    if let Some(known) = self.heads.get(&(n, before)) {
                        head = *known;
                        break;
                    }
                    row.push(before);
                    silent = 0;
                }
                Link::Nothing if silent < SILENT => silent += 1,
                _ => break,
            }
        }
        self.heads.extend(row.into_iter().map(|member| ((n, member), head)));
        Some(head)
    }

    /// The first call of the row of a call, where it was one of a row when it was laid out.
    pub(super) fn head_of(&mut self, n: u32, i: usize) -> usize {
        if let Some(head) = self.heads.get(&(n, i)) {
            return *head;
        }
        let shown = self.shown(n, i, BRIEF);
        self.head(n, i, &shown).unwrap_or(i)
    }

    /// Counts what has come since.
    fn follow(&mut self, n: u32, head: usize) -> Run {
        let mut run = self.runs.remove(&(n, head)).unwrap_or(Run { upto: head, ..Run::default() });
        let len = self.journal.get(n).map_or(0, |segment| segment.len);
        for i in run.upto..len.min(run.upto + COUNTED) {
            if run.closed {
                break;
            }
            match self.link(n, i) {
                Link::Member(class, tool) if self.head_of(n, i) == head => {
                    run.calls += 1;
                    run.is_plan = class == Class::Plan;
                    match tool.name.as_str() {
                        "Read" => _ = run.files.insert(tool.target.clone()),
                        _ => run.searches += 1,
                    }
                    let target = one_line(&tool.target);
                    if run.named.len() < NAMED && !run.named.contains(&target) {
                        run.named.push(target);
                    }
                    run.open.push((i, tool.id));
                }
                Link::Nothing => {}
                _ => run.closed = true,
            }
            run.upto = i + 1;
        }
        let open = std::mem::take(&mut run.open);
        for (i, id) in open {
            let known = self.known(n, i, &id);
            let is_denied = self.journal.refused(&id).is_some();
            run.denied += usize::from(known.ended && is_denied);
            run.failed += usize::from(known.ended && !is_denied && known.outcome != Outcome::Fine);
            if !known.ended {
                run.open.push((i, id));
            }
        }
        run
    }

    /// Writes what a row of calls is about into the line of its first one. `false`: there is one call, or it is unfolded.
    pub(super) fn tell_run(&mut self, n: u32, i: usize, row: &mut Row) -> bool {
        if self.heads.get(&(n, i)) != Some(&i) || self.fold_of((n, i)) == Fold::Full {
            return false;
        }
        let run = self.follow(n, i);
        let is_row = run.calls > 1;
        if is_row {
            let waits = run.open.iter().any(|(_, id)| self.journal.waiting.contains(id));
            let ended = self.journal.get(n).is_none_or(|segment| segment.ended);
            let words = if run.is_plan { "Todo".to_owned() } else { run.words() };
            let target = if run.is_plan { format!("{} updates", run.calls) } else { run.named.join(" · ") };
            if let Some([mark, name, pad, about]) = row.left.get_mut(..=TARGET) {
                "▸ ".clone_into(&mut mark.text);
                *name = Piece { modifier: Modifier::BOLD, ..Piece::new(words, Role::StreamTool) };
                "   ".clone_into(&mut pad.text);
                *about = Piece::new(target, Role::StreamResult);
            }
            row.right = if waits {
                vec![Piece::new("! needs you", Role::TabAttention)]
            } else if run.failed > 0 {
                vec![Piece::new(format!("{} failed", run.failed), Role::StreamError)]
            } else if run.denied > 0 {
                vec![Piece::new(format!("{} denied", run.denied), Role::Warning)]
            } else if !run.open.is_empty() && !ended {
                vec![Piece::new("▶", Role::StreamResult)]
            } else {
                Vec::new()
            };
        }
        self.runs.insert((n, i), run);
        is_row
    }
}

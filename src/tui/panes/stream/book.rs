//! Everything the pane can show, by place: reads the scrollback, decodes and lays out what is asked for, and
//! keeps a little of it. Nothing is kept per record; a place that is not looked at costs nothing.

mod calls;
mod chain;
mod folds;
mod glimpse;
mod parts;
mod runs;
mod todos;

pub use parts::Part;

use super::fold::Fold;
use super::journal::Journal;
use super::layout::{self, Body, Group, apart};
use super::live::Speech;
use super::marks;
use super::order::Place;
use super::row::{Known, Row};
use crate::base::text::clean_line;
use crate::domain::record::Level;
use crate::domain::scrollback::{Entry, Live, Scrollback};
use crate::domain::search::Found;
use crate::domain::stream::show::{self, Block, Shown, size};
use crate::tui::theme::role::Role;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Laid-out records kept, and rows of them: some screens full. Above that, only those of the last frames stay.
const BODIES: usize = 2_048;
const ROWS: usize = 2_000;
/// Bytes of a record that are read to show it in brief, and in full.
const BRIEF: usize = 1 << 20;
const FULL: usize = 1 << 24;
/// Subagents in subagents that are told apart.
const DEEPEST: usize = 4;
/// Calls and results kept.
const FACTS: usize = 8_192;

/// A laid-out record.
struct Kept {
    body: Arc<Body>,
    used: u64,
    /// The record with which it is folded: that of its call.
    with: usize,
}

/// A call that was decoded.
struct Call {
    n: u32,
    i: usize,
    words: String,
    /// The call of the subagent that made it.
    parent: Option<String>,
    /// It may be one of a row that is counted.
    counts: bool,
}

/// A place's rows, with the blank row above where there is one.
pub(super) struct Item {
    body: Arc<Body>,
    gap: bool,
}

impl Item {
    pub(super) fn height(&self) -> usize {
        self.body.rows.len() + usize::from(self.gap)
    }

    /// Blank rows above.
    pub(super) fn gap(&self) -> usize {
        usize::from(self.gap)
    }

    /// It belongs to the card above.
    pub(super) fn continues(&self) -> bool {
        self.body.continues || self.body.rows.is_empty()
    }

    /// The row, blank when it is the gap (or not there).
    pub(super) fn row(&self, at: usize) -> Row {
        let at = at.checked_sub(usize::from(self.gap));
        at.and_then(|at| self.body.rows.get(at)).cloned().unwrap_or_default()
    }
}

/// See the file's head.
#[derive(Default)]
pub(super) struct Book {
    pub(super) journal: Journal,
    scrollback: Option<Arc<dyn Scrollback>>,
    columns: usize,
    fold: Fold,
    /// Records that are folded other than the rest.
    turned: HashSet<(u32, usize)>,
    /// Those of them in which a search found something.
    found: Vec<(u32, usize)>,
    bodies: HashMap<(u32, usize), Kept>,
    rows: usize,
    /// Counts the frames; what was not used in the last ones goes first.
    frame: u64,
    /// Results and progress by call.
    known: HashMap<String, Known>,
    /// Calls by id.
    calls: HashMap<String, Call>,
    /// The records with status blocks, by the claims' marks and where those stood.
    statuses: HashMap<(u32, usize), (usize, Option<usize>)>,
    /// Up to which record a call's result was looked for.
    looked: HashMap<String, usize>,
    /// The first call of the row of each, and what is known of the rows.
    heads: HashMap<(u32, usize), usize>,
    runs: HashMap<(u32, usize), chain::Run>,
    /// The calls below which the list of tasks is shown, and up to where a later one was looked for.
    newest: Vec<(u32, usize, usize)>,
    glimpsed: glimpse::Glimpsed,
    speech: Speech,
    hidden: Arc<Body>,
}

impl Book {
    pub(super) fn attach(&mut self, scrollback: Arc<dyn Scrollback>) {
        *self = Self {
            journal: std::mem::take(&mut self.journal),
            scrollback: Some(scrollback),
            fold: self.fold,
            frame: self.frame,
            ..Self::default()
        };
        self.journal.unsettle();
    }

    /// Sees what is new, for a frame of this width. `true`: it is another width than before.
    pub(super) fn refresh(&mut self, columns: usize) -> bool {
        self.frame += 1;
        let other = std::mem::replace(&mut self.columns, columns) != columns;
        if other {
            self.forget_all();
        }
        let mut live = Live::default();
        if let Some(scrollback) = self.scrollback.clone() {
            for n in scrollback.iterations() {
                self.journal.segment(n).len = scrollback.len(n);
            }
            live = scrollback.live();
        }
        self.journal.settle();
        self.follow_todos();
        self.speech.hear(live, columns);
        if self.bodies.len() > BODIES || self.rows > ROWS {
            let frame = self.frame;
            self.bodies.retain(|_, kept| kept.used + 2 > frame);
            self.rows = self.bodies.values().map(|kept| kept.body.rows.len()).sum();
        }
        if self.known.len() > FACTS || self.calls.len() > FACTS || self.looked.len() > FACTS {
            self.known.clear();
            self.calls.clear();
            self.looked.clear();
        }
        if self.heads.len() > FACTS {
            (self.heads, self.runs) = Default::default();
            self.forget_all();
        }
        other
    }

    pub(super) fn live_rows(&self) -> usize {
        self.speech.body.rows.len()
    }

    /// Lays everything out anew.
    pub(super) fn forget_all(&mut self) {
        self.bodies.clear();
        self.rows = 0;
    }

    fn forget(&mut self, n: u32, i: usize) {
        if let Some(kept) = self.bodies.remove(&(n, i)) {
            self.rows -= kept.body.rows.len();
        }
    }

    fn fold_of(&self, with: (u32, usize)) -> Fold {
        if self.turned.contains(&with) { self.fold.other() } else { self.fold }
    }

    /// A row's text as far as the pane is wide.
    pub(super) fn drawn(&self, row: &Row) -> String {
        row.fit(self.columns).into_iter().map(|piece| piece.text).collect()
    }

    pub(super) fn item(&mut self, n: u32, place: Place) -> Item {
        let body = self.body(n, place);
        let gap = body.first != Group::Hidden && self.gap(n, place, body.first);
        Item { body, gap }
    }

    fn body(&mut self, n: u32, place: Place) -> Arc<Body> {
        let columns = self.columns;
        match place {
            Place::Entry(i) => self.entry_body(n, i),
            Place::Live => self.speech.body.clone(),
            Place::Head if n == 0 => Arc::default(),
            Place::Head => match self.journal.get(n) {
                Some(segment) => Arc::new(marks::divider(n, &segment.head, columns)),
                None => Arc::default(),
            },
            // The card of the status block tells of it.
            Place::Mark(k) if self.status_of(n, k).is_some() => Arc::default(),
            Place::Mark(k) => match self.journal.get(n).and_then(|s| s.marks.get(k)) {
                Some((_, mark)) => Arc::new(marks::body(mark, columns)),
                None => Arc::default(),
            },
        }
    }

    /// A blank row belongs above: depends on the nearest place above that shows something.
    fn gap(&mut self, n: u32, place: Place, first: Group) -> bool {
        let mut at = (n, place);
        for _ in 0..64 {
            match self.journal.prev(at.0, at.1) {
                None => return apart(Group::Hidden, first),
                Some(before) => at = before,
            }
            let last = self.body(at.0, at.1).last;
            if last != Group::Hidden {
                return apart(last, first);
            }
        }
        // Long silent stretches are subagents at work.
        apart(Group::Tools, first)
    }

    fn entry_body(&mut self, n: u32, i: usize) -> Arc<Body> {
        if let Some(kept) = self.bodies.get_mut(&(n, i)) {
            kept.used = self.frame;
            return kept.body.clone();
        }
        let mut shown = self.shown(n, i, BRIEF);
        let with = match shown.blocks.first() {
            Some(Block::ToolResult(result)) => match self.call_of(n, i, &result.id) {
                Some((at, _)) if self.calls.get(&result.id).is_some_and(|call| call.counts) => self.head_of(n, at),
                Some((at, _)) => at,
                None => i,
            },
            _ => self.head(n, i, &shown).unwrap_or(i),
        };
        let todo = matches!(&shown.blocks[..], [Block::Tool(tool)] if tool.todo.is_some() && shown.parent.is_none());
        let (columns, fold) = (self.columns, self.fold_of((n, with)));
        if fold == Fold::Full && shown.missing > 0 {
            shown = self.shown(n, i, FULL);
        }
        // Claude Code has refused it in the person's name, who has not answered yet: what became of it stands beside it.
        let is_kept = |id: &str| self.journal.kept.of(id).is_some();
        shown.blocks.retain(|block| !matches!(block, Block::ToolResult(result) if is_kept(&result.id)));
        if fold == Fold::Brief {
            // A note stands where it was given and says there that it was delivered.
            shown.blocks.retain(|block| !matches!(block, Block::Person(text) if self.journal.has_note(text)));
        }
        let denied = matches!(shown.blocks.first(), Some(Block::ToolResult(result)) if self.journal.refused(&result.id).is_some());
        let depth = self.depth(n, i, shown.parent.as_deref(), fold);
        // A later call of a row of them.
        let counted = fold == Fold::Brief && with != i && matches!(shown.blocks[..], [Block::Tool(_)]);
        let mut body = match depth {
            _ if counted => Body::default(),
            Some(depth) => layout::body(&shown, columns, depth, fold, &mut |id| self.origin(n, i, id)),
            None => Body::default(),
        };
        if denied {
            // It is no error: who denied it stands beside the call.
            let pieces = body.rows.iter_mut().flat_map(|row| &mut row.left);
            pieces.filter(|piece| piece.role == Role::StreamError).for_each(|piece| piece.role = Role::StreamResult);
        }
        if todo {
            body.continues = counted;
            body.add(Group::Tools, self.checklist(n, i));
            body.folds = !body.rows.is_empty();
        }
        let body = if body == Body::default() {
            // Most of what is hidden comes in long stretches: one body serves them all.
            self.hidden.clone()
        } else {
            Arc::new(body)
        };
        self.rows += body.rows.len();
        let kept = Kept { body: body.clone(), used: self.frame, with };
        self.bodies.insert((n, i), kept);
        body
    }

    /// How deep in subagents a record is; `None`: it is folded with the call of one.
    fn depth(&mut self, n: u32, i: usize, parent: Option<&str>, fold: Fold) -> Option<usize> {
        let Some(mut parent) = parent.map(str::to_owned) else { return Some(0) };
        // Unfolded itself, or everything is.
        let mut seen = fold == Fold::Full;
        if !seen && self.turned.is_empty() {
            return None;
        }
        for depth in 1..=DEEPEST {
            let Some((at, outer)) = self.call_of(n, i, &parent) else { return seen.then_some(depth) };
            seen |= self.fold_of((n, at)) == Fold::Full;
            match outer {
                Some(outer) => parent = outer,
                None => return seen.then_some(depth),
            }
        }
        seen.then_some(DEEPEST)
    }

    /// Decodes a record, and remembers what it says about calls.
    fn shown(&mut self, n: u32, i: usize, most: usize) -> Shown {
        let Some((entry, bytes)) = self.bytes(n, i, most) else { return Shown::default() };
        let shown = match bytes {
            Ok(bytes) => show::decode(&bytes, entry.len(), &self.journal.cwd),
            Err(why) => Shown {
                blocks: vec![Block::Notice {
                    level: Level::Error,
                    text: format!("this record cannot be read from the log file: {why}"),
                }],
                ..Shown::default()
            },
        };
        for block in &shown.blocks {
            match block {
                Block::Tool(tool) => {
                    let words = format!("{} {}", clean_line(&tool.name, 32), clean_line(&tool.target, 200));
                    let counts = chain::class(&shown).is_some();
                    let call = Call { n, i, words, parent: shown.parent.clone(), counts };
                    self.calls.insert(tool.id.clone(), call);
                }
                Block::ToolResult(result) => {
                    let mut known = Known::from(result);
                    if shown.missing > 0 {
                        known.summary = size(entry.len() as u64);
                    }
                    self.known.insert(result.id.clone(), known);
                }
                Block::Progress(progress) => {
                    let known = self.known.entry(progress.id.clone()).or_default();
                    if !known.ended {
                        known.summary = clean_line(&progress.summary, 48);
                    }
                }
                _ => {}
            }
        }
        shown
    }

    fn bytes(&self, n: u32, i: usize, most: usize) -> Option<(Entry, std::io::Result<Vec<u8>>)> {
        let entry = *self.entries(n, i..i + 1).first()?;
        Some((entry, self.scrollback.as_ref()?.read(n, entry, most)))
    }

    /// Where records lie.
    pub(super) fn entries(&self, n: u32, range: Range<usize>) -> Vec<Entry> {
        let mut out = Vec::new();
        if let Some(scrollback) = &self.scrollback {
            scrollback.entries(n, range, &mut out);
        }
        out
    }

    /// Has what is new looked at.
    pub(super) fn survey(&self, found: &Arc<Found>) {
        if let Some(scrollback) = &self.scrollback
            && found.extend(&**scrollback)
        {
            scrollback.survey(found.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::scrollback::{EntryKind, Survey};

    /// The same words, over and over.
    struct Endless(Vec<u8>);

    impl Scrollback for Endless {
        fn iterations(&self) -> Vec<u32> {
            vec![1]
        }

        fn len(&self, _: u32) -> usize {
            20_000
        }

        fn entries(&self, _: u32, range: Range<usize>, out: &mut Vec<Entry>) {
            out.extend(range.map(|_| Entry::new(&(0..self.0.len() as u64), EntryKind::Assistant)));
        }

        fn read(&self, _: u32, _: Entry, _: usize) -> std::io::Result<Vec<u8>> {
            Ok(self.0.clone())
        }

        fn live(&self) -> Live {
            Live::default()
        }

        fn survey(&self, _: Arc<dyn Survey>) {}
    }

    #[test]
    fn what_was_laid_out_and_is_no_longer_seen_is_forgotten() {
        const SEEN: usize = 50;
        let words = br#"{"type":"assistant","message":{"content":[{"type":"text","text":"one\n\ntwo"}]}}"#;
        let mut book = Book::default();
        book.attach(Arc::new(Endless(words.to_vec())));
        for first in (0..20_000).step_by(SEEN) {
            book.refresh(80);
            let rows: usize = (first..first + SEEN).map(|i| book.item(1, Place::Entry(i)).body.rows.len()).sum();
            assert_eq!(rows, 3 * SEEN);
            assert!(book.rows <= ROWS + rows && book.bodies.len() <= BODIES + 2 * SEEN, "{} rows", book.rows);
        }
    }
}

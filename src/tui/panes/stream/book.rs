//! Everything the pane can show, by place: reads the scrollback, decodes and lays out what is asked for, and
//! keeps a little of it. Nothing is kept per record; a place that is not looked at costs nothing.

use super::fold::Fold;
use super::journal::Journal;
use super::layout::{self, Body, Group, Origin, apart};
use super::marks;
use super::order::Place;
use super::row::{Known, Later, Outcome, Row};
use crate::base::text::clean_line;
use crate::domain::record::Level;
use crate::domain::scrollback::{Entry, EntryKind, Live, Scrollback};
use crate::domain::stream::show::{self, Block, Shown, seconds, size};
use memchr::memmem;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// How far apart (in records) a call and its result still find each other.
const WINDOW: usize = 256;
/// Laid-out records kept, and rows of them.
const BODIES: usize = 16_384;
const ROWS: usize = 20_000;
/// Calls and results kept.
const FACTS: usize = 8_192;

/// A laid-out record.
struct Kept {
    body: Arc<Body>,
    used: u64,
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
    /// Records that are shown in full although the rest is brief: a search found something in them.
    opened: HashSet<(u32, usize)>,
    bodies: HashMap<(u32, usize), Kept>,
    rows: usize,
    /// Counts the frames; what was not used in the last ones goes first.
    frame: u64,
    /// Results and progress by call.
    known: HashMap<String, Known>,
    /// Calls by id: where, and in words.
    calls: HashMap<String, (u32, usize, String)>,
    /// Up to which record a call's result was looked for.
    looked: HashMap<String, usize>,
    live: Live,
    live_body: Arc<Body>,
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

    /// Sees what is new, for a frame of this width.
    pub(super) fn refresh(&mut self, columns: usize, fold: Fold) {
        self.frame += 1;
        let relaid = self.columns != columns || self.fold != fold;
        if relaid {
            (self.columns, self.fold) = (columns, fold);
            self.bodies.clear();
            self.rows = 0;
        }
        let mut live = Live::default();
        if let Some(scrollback) = self.scrollback.clone() {
            for n in scrollback.iterations() {
                self.journal.segment(n).len = scrollback.len(n);
            }
            live = scrollback.live();
        }
        self.journal.settle();
        if relaid || live != self.live {
            self.live_body = Arc::new(layout::live(&live, columns));
            self.live = live;
        }
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
    }

    pub(super) fn live_rows(&self) -> usize {
        self.live_body.rows.len()
    }

    /// Shows one record in full. `false`: it is not a record, or in full already.
    pub(super) fn open(&mut self, n: u32, place: Place) -> bool {
        let Place::Entry(i) = place else { return false };
        let opens = self.fold_of(n, i) == Fold::Brief && self.opened.insert((n, i));
        if opens {
            self.forget(n, i);
        }
        opens
    }

    /// Takes [`Self::open`] back.
    pub(super) fn close(&mut self, n: u32, place: Place) {
        if let Place::Entry(i) = place
            && self.opened.remove(&(n, i))
        {
            self.forget(n, i);
        }
    }

    /// Takes every [`Self::open`] back.
    pub(super) fn close_all(&mut self) {
        for (n, i) in std::mem::take(&mut self.opened) {
            self.forget(n, i);
        }
    }

    fn forget(&mut self, n: u32, i: usize) {
        if let Some(kept) = self.bodies.remove(&(n, i)) {
            self.rows -= kept.body.rows.len();
        }
    }

    fn fold_of(&self, n: u32, i: usize) -> Fold {
        if self.opened.contains(&(n, i)) { Fold::Full } else { self.fold }
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
            Place::Live => self.live_body.clone(),
            Place::Head if n == 0 => Arc::default(),
            Place::Head => match self.journal.get(n) {
                Some(segment) => Arc::new(marks::divider(n, &segment.head, columns)),
                None => Arc::default(),
            },
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
        let mut shown = self.shown(n, i);
        let (columns, fold) = (self.columns, self.fold_of(n, i));
        if fold == Fold::Brief {
            // A note stands where it was given and says there that it was delivered.
            shown.blocks.retain(|block| !matches!(block, Block::Person(text) if self.journal.has_note(text)));
        }
        let body = layout::body(&shown, columns, fold, &mut |id| self.origin(n, i, id));
        let body = if body == Body::default() {
            // Most of what is hidden comes in long stretches: one body serves them all.
            self.hidden.clone()
        } else {
            Arc::new(body)
        };
        self.rows += body.rows.len();
        let kept = Kept { body: body.clone(), used: self.frame };
        self.bodies.insert((n, i), kept);
        body
    }

    /// Decodes a record, and remembers what it says about calls.
    fn shown(&mut self, n: u32, i: usize) -> Shown {
        let Some((entry, bytes)) = self.bytes(n, i) else { return Shown::default() };
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
                    self.calls.insert(tool.id.clone(), (n, i, words));
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

    fn bytes(&self, n: u32, i: usize) -> Option<(Entry, std::io::Result<Vec<u8>>)> {
        let entry = *self.entries(n, i..i + 1).first()?;
        let most = match self.fold_of(n, i) {
            Fold::Brief => 1 << 20,
            Fold::Full => 1 << 24,
        };
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

    /// The raw bytes of a stretch of the iteration's file.
    pub(super) fn stretch(&self, n: u32, range: &Range<u64>, most: usize) -> Vec<u8> {
        let Some(scrollback) = &self.scrollback else { return Vec::new() };
        let entry = Entry::new(range, EntryKind::Garbage);
        scrollback.read(n, entry, most).unwrap_or_default()
    }

    /// Where the call of the result in record `i` stands.
    fn origin(&mut self, n: u32, i: usize, id: &str) -> Origin {
        let least = i.saturating_sub(WINDOW);
        let known = |book: &Self| {
            let (there, at, words) = book.calls.get(id)?;
            (*there == n && (least..i).contains(at)).then(|| (*at, words.clone()))
        };
        let mut found = known(self);
        if found.is_none() && !id.is_empty() {
            for (before, entry) in (least..i).rev().zip(self.entries(n, least..i).into_iter().rev()) {
                if entry.kind == EntryKind::Assistant && self.mentions(n, before, id) {
                    self.shown(n, before);
                    found = known(self);
                    if found.is_some() {
                        break;
                    }
                }
            }
        }
        let Some((at, call)) = found else { return Origin::Unknown };
        let mut between = self.entries(n, at + 1..i).into_iter();
        if between.all(|entry| entry.kind == EntryKind::System) { Origin::Above } else { Origin::Earlier { call } }
    }

    fn mentions(&self, n: u32, i: usize, id: &str) -> bool {
        match self.bytes(n, i) {
            Some((_, Ok(bytes))) => memmem::find(&bytes, id.as_bytes()).is_some(),
            _ => false,
        }
    }

    /// What is known about the call `id` in record `i`; looks a little ahead for its result.
    fn known(&mut self, n: u32, i: usize, id: &str) -> Known {
        let ended = |book: &Self| book.known.get(id).is_some_and(|known| known.ended);
        let len = self.journal.get(n).map_or(0, |segment| segment.len);
        let end = len.min(i + WINDOW);
        if !ended(self) && !id.is_empty() {
            let from = self.looked.get(id).copied().unwrap_or(i + 1).min(end);
            for (after, entry) in (from..end).zip(self.entries(n, from..end)) {
                let answers = matches!(entry.kind, EntryKind::User | EntryKind::System);
                if answers && self.mentions(n, after, id) {
                    self.shown(n, after);
                    if ended(self) {
                        break;
                    }
                }
            }
            self.looked.insert(id.to_owned(), end);
        }
        self.known.get(id).cloned().unwrap_or_default()
    }

    /// Writes into a row what records after it say.
    pub(super) fn tell(&mut self, n: u32, place: Place, row: &mut Row) {
        let (Later::Call { id } | Later::Number { id, .. }) = &row.later else { return };
        let Place::Entry(i) = place else { return };
        let id = id.clone();
        let mut known = self.known(n, i, &id);
        if known.summary.starts_with("exit")
            && let Some(ms) = self.journal.took(&id)
        {
            known.summary = format!("{} · {}", known.summary, seconds(ms));
        }
        if known.outcome == Outcome::Failed
            && let Some(refused) = self.journal.refused(&id)
        {
            refused.word().clone_into(&mut known.summary);
            known.outcome = Outcome::Refused;
        }
        known.waits = self.journal.waiting.contains(&id);
        known.edited = self.journal.edited.get(&id).cloned();
        let over = self.journal.get(n).is_none_or(|segment| segment.ended)
            || self.journal.last().is_some_and(|(last, _)| last != n);
        if known.ended || known.first_change.is_some() || !over {
            row.tell(&known);
        }
    }
}

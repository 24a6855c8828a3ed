//! What belongs to a record and stands elsewhere: a call's result, a result's call, the verdict on a status block.

use super::super::fold::Fold;
use super::super::layout::Origin;
use super::super::marks::Mark;
use super::super::order::Place;
use super::super::row::{Known, Later, Outcome, Row};
use super::super::verdict::{Judged, Verdict};
use super::{BRIEF, Book};
use crate::domain::scrollback::EntryKind;
use crate::domain::stream::show::{Block, seconds};
use memchr::memmem;
use std::ops::Range;

/// How far apart (in records) a call and its result still find each other.
pub(super) const WINDOW: usize = 256;
/// Records between a status block and the verdict on it.
const NEAR: usize = 32;
/// Milliseconds from which on it is said how long a call took; of a command always.
const SLOW: f64 = 1_000.0;

impl Book {
    /// Where the call of the result in record `i` stands.
    pub(super) fn origin(&mut self, n: u32, i: usize, id: &str) -> Origin {
        let Some((at, _)) = self.call_of(n, i, id) else { return Origin::Unknown };
        let head = self.heads.get(&(n, at)).copied().unwrap_or(at);
        let is_counted = head != at && self.fold_of((n, head)) == Fold::Brief;
        let mut between = self.entries(n, at + 1..i).into_iter();
        if !is_counted && between.all(|entry| entry.kind == EntryKind::System) {
            return Origin::Above;
        }
        let call = self.calls.get(id).map(|call| call.words.clone()).unwrap_or_default();
        Origin::Earlier { call }
    }

    /// The record of a call that record `i` belongs to, and the subagent's call that it is in.
    pub(super) fn call_of(&mut self, n: u32, i: usize, id: &str) -> Option<(usize, Option<String>)> {
        let known = |book: &Self| {
            let call = book.calls.get(id)?;
            (call.n == n && call.i < i).then(|| (call.i, call.parent.clone()))
        };
        if id.is_empty() || known(self).is_some() {
            return known(self);
        }
        if let Some(at) = self.glimpse(n, &(i.saturating_sub(WINDOW)..i), id) {
            self.shown(n, at, BRIEF);
        }
        known(self)
    }

    /// The last record of a stretch that seems to make this call.
    fn glimpse(&mut self, n: u32, range: &Range<usize>, id: &str) -> Option<usize> {
        for new in self.glimpsed.extend(n, range) {
            for (i, entry) in new.clone().zip(self.entries(n, new)) {
                if entry.kind == EntryKind::Assistant
                    && let Some((_, Ok(bytes))) = self.bytes(n, i, BRIEF)
                {
                    self.glimpsed.saw(i, &bytes);
                }
            }
        }
        self.glimpsed.of(range, id)
    }

    pub(super) fn mentions(&self, n: u32, i: usize, id: &str) -> bool {
        match self.bytes(n, i, BRIEF) {
            Some((_, Ok(bytes))) => memmem::find(&bytes, id.as_bytes()).is_some(),
            _ => false,
        }
    }

    /// The record with the status block that a claim's mark is about.
    pub(super) fn status_of(&mut self, n: u32, k: usize) -> Option<usize> {
        let (place, mark) = self.journal.get(n)?.marks.get(k)?;
        let Mark::Claim { .. } = mark else { return None };
        let place = *place;
        if let Some((at, found)) = self.statuses.get(&(n, k)).filter(|(at, _)| *at == place) {
            return found.filter(|_| *at == place);
        }
        let least = place.saturating_sub(NEAR);
        let entries = self.entries(n, least..place);
        let found = (least..place).zip(entries).rev().find_map(|(i, entry)| {
            let shown = (entry.kind == EntryKind::Assistant).then(|| self.shown(n, i, BRIEF))?;
            let status = shown.blocks.iter().any(|block| matches!(block, Block::Status(_)));
            (status && shown.parent.is_none()).then_some(i)
        });
        self.statuses.insert((n, k), (place, found));
        found
    }

    /// How the claim in record `i` was judged.
    pub(super) fn verdict(&mut self, n: u32, i: usize) -> Option<Verdict> {
        let claims = (0..self.journal.get(n)?.marks.len()).rev();
        let k = claims.into_iter().find(|k| self.status_of(n, *k) == Some(i));
        let segment = self.journal.get(n)?;
        let mark = k.and_then(|k| segment.marks.get(k));
        let (checks, judged) = match mark {
            Some((_, Mark::Claim { checks, judged, .. })) => (checks.clone(), *judged),
            _ => (Vec::new(), Judged::NotYet),
        };
        Some(Verdict { judged, checks, spent: segment.head.ms.map(|ms| (segment.head.cost_usd, ms)) })
    }

    /// What is known about the call `id` in record `i`; looks a little ahead for its result.
    pub(super) fn known(&mut self, n: u32, i: usize, id: &str) -> Known {
        let ended = |book: &Self| book.known.get(id).is_some_and(|known| known.ended);
        let len = self.journal.get(n).map_or(0, |segment| segment.len);
        let end = len.min(i + WINDOW);
        if !ended(self) && !id.is_empty() {
            // Only ever behind the call: an id that comes again must not have all between the two read.
            let from = self.looked.get(id).copied().unwrap_or(0).max(i + 1).min(end);
            for (after, entry) in (from..end).zip(self.entries(n, from..end)) {
                let answers = matches!(entry.kind, EntryKind::User | EntryKind::System);
                if answers && self.mentions(n, after, id) {
                    self.shown(n, after, BRIEF);
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
    pub(in super::super) fn tell(&mut self, n: u32, place: Place, row: &mut Row) {
        let Place::Entry(i) = place else { return };
        let id = match &row.later {
            Later::Nothing => return,
            Later::Verdict(part) => {
                let part = *part;
                if let Some(verdict) = self.verdict(n, i) {
                    verdict.tell(part, &mut row.left, &mut row.right);
                }
                return;
            }
            Later::Call { id } | Later::Number { id, .. } => id.clone(),
        };
        if matches!(row.later, Later::Call { .. }) && self.tell_run(n, i, row) {
            return;
        }
        let mut known = self.known(n, i, &id);
        if let Some(ms) = self.journal.took(&id)
            && (ms >= SLOW || known.summary.starts_with("exit"))
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
        known.kept = self.journal.kept.of(&id);
        known.edited = self.journal.edited.get(&id).cloned();
        let over = self.journal.get(n).is_none_or(|segment| segment.ended)
            || self.journal.last().is_some_and(|(last, _)| last != n);
        if known.ended || known.kept.is_some() || known.first_change.is_some() || !over {
            row.tell(&known);
        }
    }
}

//! What Claude said last in a run, whichever program works on it.

use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::domain::scrollback::{Entry, EntryKind, Scrollback as _};
use crate::domain::stream::envelope::classify;
use crate::domain::stream::show::{Block, decode};

/// How many records are looked at, from the last one back.
const BACK: usize = 200;
/// Most bytes of one.
const MOST: usize = 64_000;

/// Claude's last words to the person in the run's last iteration, not a subagent's; `None`: there are none, or they cannot be read.
pub fn last_said(store: &Store, run: RunId) -> Option<String> {
    let scrollback = store.scrollback(run, classify).ok()?;
    let n = scrollback.iterations().into_iter().max()?;
    let count = scrollback.len(n);
    let mut entries: Vec<Entry> = Vec::new();
    scrollback.entries(n, count.saturating_sub(BACK)..count, &mut entries);
    let texts = entries.into_iter().rev().filter(|entry| entry.kind == EntryKind::Assistant).filter_map(|entry| {
        let shown = decode(&scrollback.read(n, entry, MOST).ok()?, entry.len(), "");
        let is_own = shown.parent.is_none();
        shown.blocks.into_iter().rev().filter(|_| is_own).find_map(|block| match block {
            Block::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => None,
        })
    });
    texts.into_iter().next()
}

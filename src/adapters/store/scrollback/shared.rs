//! What readers and the writer of a scrollback share.

use super::index::{self, Classify};
use crate::base::text::tail;
use crate::domain::scrollback::{Entry, Live, LiveChange};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// Bytes of text and of thinking that the live tail keeps at least; a quarter more at most.
const LIVE: usize = 64 << 10;

pub(super) struct Shared {
    pub(super) folder: PathBuf,
    pub(super) classify: Classify,
    pub(super) iterations: RwLock<BTreeMap<u32, Arc<Iteration>>>,
    /// The last iteration and its size, when it was looked at last.
    pub(super) seen: Mutex<Option<(u32, u64)>>,
    pub(super) live: Mutex<Live>,
    /// The file that was read last: a screen full of records is one open file, a hundred iterations are not
    /// a hundred.
    pub(super) open: Mutex<Option<(u32, Arc<File>)>>,
}

/// The index of one iteration, read when first asked for.
#[derive(Default)]
pub(super) struct Iteration {
    pub(super) entries: OnceLock<RwLock<Vec<Entry>>>,
}

impl Shared {
    pub(super) fn text(&self, n: u32) -> PathBuf {
        self.folder.join(format!("{n}.ndjson"))
    }

    pub(super) fn index(&self, n: u32) -> PathBuf {
        self.folder.join(format!("{n}.idx"))
    }

    pub(super) fn with_entries<T>(&self, n: u32, look: impl FnOnce(&[Entry]) -> T) -> Option<T> {
        let iteration = read(&self.iterations).get(&n).cloned()?;
        let entries = iteration.entries.get_or_init(|| {
            let loaded = index::load(&self.text(n), &self.index(n), self.classify);
            RwLock::new(loaded.unwrap_or_else(|error| {
                tracing::warn!(path = %self.text(n).display(), %error, "scrollback cannot be read");
                Vec::new()
            }))
        });
        Some(look(&read(entries)))
    }

    pub(super) fn file(&self, n: u32) -> io::Result<Arc<File>> {
        let mut open = lock(&self.open);
        if let Some((which, file)) = &*open
            && *which == n
        {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(File::open(self.text(n))?);
        *open = Some((n, Arc::clone(&file)));
        Ok(file)
    }

    pub(super) fn change_live(&self, change: LiveChange<'_>) {
        let mut live = lock(&self.live);
        match change {
            LiveChange::Text(more) => add(&mut live.text, more),
            LiveChange::Thinking(more) => add(&mut live.thinking, more),
            LiveChange::Tool(name) => live.tool = Some(name.to_owned()),
            LiveChange::Clear => *live = Live::default(),
        }
    }
}

/// Appends and, now and then, forgets the beginning.
fn add(text: &mut String, more: &str) {
    text.push_str(more);
    if text.len() > LIVE + LIVE / 4 {
        text.drain(..text.len() - tail_of(text).len());
    }
}

/// The last [`LIVE`] bytes, from a line's start where there is one.
pub(super) fn tail_of(text: &str) -> &str {
    tail(text, LIVE)
}

pub(super) fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

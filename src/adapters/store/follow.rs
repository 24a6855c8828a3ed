//! Following a run that another program writes, without polling.
//!
//! The writer rewrites one byte of `<state>/bell` after each commit, and followers watch that file. Watching
//! the write-ahead log would not do: its pages are written, and the watcher woken, before the commit can be seen.

use super::error::StoreError;
use super::read::Loaded;
use super::{Store, os};
use crate::base::id::RunId;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use tokio::sync::mpsc;

/// What the writer rings after each commit.
#[derive(Debug)]
pub(super) struct Bell(Option<File>);

impl Bell {
    pub(super) fn hang(path: &Path) -> Result<Self, StoreError> {
        os::private_file()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map(|file| Self(Some(file)))
            .map_err(StoreError::file("open", path))
    }

    /// Where nothing is ever written.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Not heard (disk full at the very first ring) means only that followers wait for the next one.
    pub(super) fn ring(&self) {
        let Some(mut file) = self.0.as_ref() else { return };
        let _ = file.rewind().and_then(|()| file.write_all(b"."));
    }
}

/// A reader of one run's records as they come. Dropping it ends the watch.
#[derive(Debug)]
pub struct Follower {
    store: Store,
    run: RunId,
    after: u64,
    rung: mpsc::Receiver<()>,
    /// Watches until dropped.
    _watch: RecommendedWatcher,
}

impl Store {
    /// Follows a run from behind position `after_seq` (0: from its start), whichever program writes it.
    pub fn follow(&self, run: RunId, after_seq: u64) -> Result<Follower, StoreError> {
        let (watch, rung) = hear(&self.inner.bell)?;
        Ok(Follower { store: self.clone(), run, after: after_seq, rung, _watch: watch })
    }
}

/// Hears a bell. One waiting ring stands for all: the next look finds everything.
pub(super) fn hear(bell: &Path) -> Result<(RecommendedWatcher, mpsc::Receiver<()>), StoreError> {
    let (waker, rung) = mpsc::channel(1);
    let watch = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if !matches!(event, Ok(notify::Event { kind: EventKind::Access(_), .. })) {
            let _ = waker.try_send(());
        }
    })
    .and_then(|mut watch| {
        watch.watch(bell, RecursiveMode::NonRecursive)?;
        Ok(watch)
    })
    .map_err(|error| StoreError::file("watch", bell)(std::io::Error::other(error)))?;
    Ok((watch, rung))
}

impl Follower {
    /// Waits for news and returns it: at least one record, read or skipped. Cancel-safe.
    pub async fn next(&mut self) -> Result<Loaded, StoreError> {
        loop {
            let news = self.store.load_after(self.run, self.after)?;
            let read = news.records.last().map_or(0, |last| last.seq);
            let skipped = news.skipped.last().map_or(0, |last| last.seq);
            if read.max(skipped) > self.after {
                self.after = read.max(skipped);
                return Ok(news);
            }
            self.rung.recv().await.ok_or(StoreError::Closed)?;
        }
    }
}

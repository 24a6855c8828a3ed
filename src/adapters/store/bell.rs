//! What the writer rings after each commit, and how it is heard.

use super::error::StoreError;
use super::os;
use crate::adapters::clock::fresh_id;
use crate::adapters::system_watch::SystemWatch;
use notify::EventKind;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use tokio::sync::mpsc;

/// What the writer rings after each commit.
#[derive(Debug)]
pub(super) struct Notifier(Option<File>);

impl Notifier {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
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
    pub(super) fn notify(&self) {
        let Some(mut file) = self.0.as_ref() else { return };
        // Where nobody reports changes, two rings are told apart by what is written.
        let ring = fresh_id();
        let _ = file.rewind().and_then(|()| file.write_all(ring.as_bytes()));
    }
}

/// Hears a bell. One waiting ring stands for all: the next look finds everything.
pub(super) fn hear(bell: &Path) -> Result<(SystemWatch, mpsc::Receiver<()>), StoreError> {
    let (waker, rung) = mpsc::channel(1);
    let watch = SystemWatch::of_file(bell, move |event: notify::Result<notify::Event>| {
        if !matches!(event, Ok(notify::Event { kind: EventKind::Access(_), .. })) {
            let _ = waker.try_send(());
        }
    });
    let watch = watch.map_err(|error| StoreError::file("watch", bell)(std::io::Error::other(error)))?;
    Ok((watch, rung))
}

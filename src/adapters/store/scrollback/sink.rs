//! The writing end of an iteration's file: verbatim lines, one write per burst, synced soon after and at the end. What
//! finds no room waits for it; of what waits too long the end is kept, behind a line that says what is missing.
//!
//! Order matters: lines, then their index, then readers see them. So readers never see an entry whose bytes
//! are not there, and an index on disk is never ahead of its lines unless the power went.

use super::index;
use super::shared::{Iteration, Shared, write};
use super::soon::{self, Soon};
use crate::adapters::room::Room;
use crate::adapters::store::os;
use crate::domain::scrollback::{Entry, EntryKind, LiveChange, Sink};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, RwLock};

/// A burst is written before its end when it grows beyond this many bytes.
const BURST: usize = 256 << 10;

/// A line of so many bytes is written by itself.
const LARGE: usize = 1 << 20;

/// While nothing can be written, this many bytes wait for room: the last ones.
const WAITING: usize = 8 << 20;

/// How much of an iteration is kept.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of the file at most.
    pub limit: u64,
    /// Free space that is left alone.
    pub reserve: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { limit: u64::MAX, reserve: 0 }
    }
}

/// Writes one iteration's scrollback. Finished when dropped, better by [`finish`](Self::finish), which
/// says whether it is durable.
pub struct RunSink {
    shared: Arc<Shared>,
    iteration: Arc<Iteration>,
    on_growth: Box<dyn Fn() + Send + Sync>,
    text: File,
    /// Makes the text durable while it grows.
    soon: Soon,
    /// `None` when it could not be written: found again from the lines at the next opening.
    index: Option<File>,
    /// Bytes of whole lines in the file.
    written: u64,
    buffer: Vec<u8>,
    /// Entries of the buffer, counted from its beginning.
    pending: Vec<Entry>,
    /// Bytes that waited in vain, before the buffer.
    lost: u64,
    limit: u64,
    room: Room,
    live_changed: bool,
    disk: Disk,
    finished: bool,
}

/// Whether the last write went well; an error is told once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Disk {
    Fine,
    Failing,
}

impl RunSink {
    pub(super) fn begin(
        shared: Arc<Shared>,
        n: u32,
        bounds: Bounds,
        on_growth: Box<dyn Fn() + Send + Sync>,
    ) -> io::Result<(Self, Arc<Iteration>)> {
        let (text_path, index_path) = (shared.text(n), shared.index(n));
        let append = |path| os::private_file().append(true).create(true).open(path);
        let mut text = append(&text_path)?;
        let mut written = text.metadata()?.len();
        let mut entries = Vec::new();
        if written > 0 {
            // Cut off in the middle of a line: end it, so that the next one stands alone.
            if !ends_in_newline(&File::open(&text_path)?, written) {
                text.write_all(b"\n")?;
                written += 1;
            }
            entries = index::load(&text_path, &index_path, shared.classify)?;
        }
        index::replace(&index_path, &entries)?;
        let index = append(&index_path)?;
        let iteration = Arc::new(Iteration { entries: RwLock::new(entries).into() });
        let room = Room { folder: shared.folder.clone(), reserve: bounds.reserve };
        let sink = Self {
            shared,
            iteration: Arc::clone(&iteration),
            on_growth,
            soon: Soon::new(text.try_clone()?),
            text,
            index: Some(index),
            written,
            buffer: Vec::new(),
            pending: Vec::new(),
            lost: 0,
            limit: bounds.limit,
            room,
            live_changed: false,
            disk: Disk::Fine,
            finished: false,
        };
        Ok((sink, iteration))
    }

    /// Writes what is left and makes everything durable. The live tail is cleared.
    pub fn finish(mut self) -> io::Result<()> {
        let written = self.close();
        self.text.sync_data()?;
        if let Some(index) = &self.index {
            index.sync_data()?;
        }
        os::sync_folder(&self.shared.folder)?;
        written
    }

    fn close(&mut self) -> io::Result<()> {
        self.finished = true;
        self.live(LiveChange::Clear);
        let written = self.burst_ended();
        if written.is_err() || self.disk == Disk::Failing {
            self.give_up_waiting();
        }
        written
    }

    /// Writes the buffer and shows it to readers. When that fails nothing of it is in the file, it waits for
    /// the next try, and only the first failure in a row is an error.
    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() && self.lost == 0 {
            return Ok(());
        }
        let buffer = std::mem::take(&mut self.buffer);
        let result = self.admits(buffer.len()).and_then(|()| self.mark()).and_then(|()| self.put(&buffer));
        self.buffer = buffer;
        if result.is_ok() {
            let start = self.written - self.buffer.len() as u64;
            self.buffer.clear();
            self.buffer.shrink_to(BURST);
            self.publish(start);
        }
        self.tell(result)
    }

    /// There is room for so many bytes more. What the bound leaves is for the end.
    fn admits(&self, bytes: usize) -> io::Result<()> {
        let end = if self.finished { 0 } else { WAITING as u64 };
        if self.written.saturating_add(bytes as u64) > self.limit.saturating_sub(end) {
            let why =
                format!("more than {} MiB (storage.stream); the beginning and the end are kept", self.limit >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        self.room.for_bytes(bytes as u64)
    }

    /// Says in the file, in a line like Claude's, what is missing there.
    fn mark(&mut self) -> io::Result<()> {
        if self.lost == 0 {
            return Ok(());
        }
        let said = format!("programmator: {} bytes of Claude's output are missing here", self.lost);
        let line =
            serde_json::json!({"type": "system", "subtype": "informational", "level": "warning", "content": said});
        let (line, start) = (format!("{line}\n"), self.written);
        self.put(line.as_bytes())?;
        self.lost = 0;
        let waiting =
            std::mem::replace(&mut self.pending, vec![Entry::new(&(0..line.len() as u64 - 1), EntryKind::System)]);
        self.publish(start);
        self.pending = waiting;
        Ok(())
    }

    /// Too much waits: the oldest lines are given up.
    fn shed(&mut self) {
        let least = self.buffer.len().saturating_sub(WAITING / 4 * 3);
        let cut = memchr::memchr(b'\n', &self.buffer[least..]).map_or(self.buffer.len(), |at| least + at + 1);
        self.buffer.drain(..cut);
        self.lost += cut as u64;
        let kept = self.pending.iter().filter(|entry| entry.offset >= cut as u64);
        self.pending = kept.map(|entry| moved(*entry, entry.offset - cut as u64)).collect();
    }

    /// Nothing waits beyond the end: what has no room is lost, and said to be.
    fn give_up_waiting(&mut self) {
        self.lost += self.buffer.len() as u64;
        self.buffer.clear();
        self.pending.clear();
        let _ = self.mark();
    }

    /// A line too large to be copied: past the buffer. It is lost when it cannot be written.
    fn put_large(&mut self, line: &[u8], kind: Option<EntryKind>) -> io::Result<()> {
        let result = self.admits(line.len()).and_then(|()| self.mark()).and_then(|()| {
            let start = self.written;
            self.put(line)?;
            self.put(b"\n").inspect_err(|_| {
                self.written = start;
                let _ = self.text.set_len(start);
            })
        });
        if result.is_ok() {
            let start = self.written - line.len() as u64 - 1;
            self.pending.extend(kind.map(|kind| Entry::new(&(0..line.len() as u64), kind)));
            self.publish(start);
        } else {
            self.lost += line.len() as u64 + 1;
        }
        self.tell(result)
    }

    /// All of `bytes` at the end of the file, or none of them.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.text.write_all(bytes).inspect_err(|_| {
            let _ = self.text.set_len(self.written);
        })?;
        self.written += bytes.len() as u64;
        self.soon.written();
        Ok(())
    }

    /// Shows what is pending to readers; it begins at `start` in the file.
    fn publish(&mut self, start: u64) {
        for entry in &mut self.pending {
            *entry = moved(*entry, start + entry.offset);
        }
        if let Some(index) = &mut self.index {
            let bytes: Vec<u8> = self.pending.iter().copied().flat_map(index::encode).collect();
            if index.write_all(&bytes).is_err() {
                // A gap would not show; an index that stops early does.
                self.index = None;
            }
        }
        if let Some(entries) = self.iteration.entries.get() {
            write(entries).append(&mut self.pending);
        }
        (self.on_growth)();
        self.live_changed = false;
    }

    fn tell(&mut self, result: io::Result<()>) -> io::Result<()> {
        let before = std::mem::replace(&mut self.disk, if result.is_ok() { Disk::Fine } else { Disk::Failing });
        if before == Disk::Failing { Ok(()) } else { result }
    }
}

impl Sink for RunSink {
    fn line(&mut self, line: &[u8], kind: Option<EntryKind>) -> io::Result<()> {
        if line.len() >= LARGE {
            self.flush()?;
            // Lines that still wait for room come first; this one has no place beside them.
            if self.buffer.is_empty() {
                return self.put_large(line, kind);
            }
            self.lost += line.len() as u64 + 1;
            return Ok(());
        }
        let start = self.buffer.len() as u64;
        self.buffer.extend_from_slice(line);
        self.buffer.push(b'\n');
        if let Some(kind) = kind.filter(|_| !line.is_empty()) {
            self.pending.push(Entry::new(&(start..start + line.len() as u64), kind));
        }
        if self.buffer.len() > WAITING {
            self.shed();
        }
        if self.buffer.len() >= BURST && self.disk == Disk::Fine {
            return self.flush();
        }
        Ok(())
    }

    fn live(&mut self, change: LiveChange<'_>) {
        self.shared.change_live(change);
        self.live_changed = true;
    }

    fn burst_ended(&mut self) -> io::Result<()> {
        let result = self.flush();
        if self.live_changed {
            self.live_changed = false;
            (self.on_growth)();
        }
        result
    }
}

impl Drop for RunSink {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        if let Err(error) = self.close() {
            tracing::warn!(folder = %self.shared.folder.display(), %error, "scrollback not written");
        }
        // Nobody waits for the disk: what was written in the last second may go with the power.
        let files = std::iter::once(&self.text).chain(&self.index).filter_map(|file| file.try_clone().ok());
        soon::sync_last(files.collect(), self.shared.folder.clone());
    }
}

/// The entry, elsewhere.
fn moved(entry: Entry, offset: u64) -> Entry {
    Entry::new(&(offset..offset + entry.len() as u64), entry.kind)
}

fn ends_in_newline(file: &File, size: u64) -> bool {
    let mut byte = [0];
    matches!(os::read_at(file, &mut byte, size - 1), Ok(1)) && byte == *b"\n"
}

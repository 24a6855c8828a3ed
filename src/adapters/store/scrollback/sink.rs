//! The writing end of an iteration's file: verbatim lines, one write per burst, nothing synced until the end.
//!
//! Order matters: lines, then their index, then readers see them. So readers never see an entry whose bytes
//! are not there, and an index on disk is never ahead of its lines unless the power went.

use super::{Iteration, Shared, index, write};
use crate::adapters::store::os;
use crate::domain::scrollback::{Entry, EntryKind, LiveChange, Sink};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, RwLock};

/// A burst is written before its end when it grows beyond this many bytes.
const BURST: usize = 1 << 20;

/// While nothing can be written, this many bytes wait for room; what comes beyond is lost.
const WAITING: usize = 8 << 20;

/// Writes one iteration's scrollback. Finished when dropped, better by [`finish`](Self::finish), which
/// says whether it is durable.
pub struct RunSink {
    shared: Arc<Shared>,
    iteration: Arc<Iteration>,
    on_growth: Box<dyn Fn() + Send + Sync>,
    text: File,
    /// `None` when it could not be written: found again from the lines at the next opening.
    index: Option<File>,
    /// Bytes of whole lines in the file.
    written: u64,
    buffer: Vec<u8>,
    pending: Vec<Entry>,
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
        let sink = Self {
            shared,
            iteration: Arc::clone(&iteration),
            on_growth,
            text,
            index: Some(index),
            written,
            buffer: Vec::new(),
            pending: Vec::new(),
            live_changed: false,
            disk: Disk::Fine,
            finished: false,
        };
        Ok((sink, iteration))
    }

    /// Writes what is left and makes everything durable. The live tail is cleared.
    pub fn finish(mut self) -> io::Result<()> {
        self.close()
    }

    fn close(&mut self) -> io::Result<()> {
        self.finished = true;
        self.live(LiveChange::Clear);
        let written = self.burst_ended();
        self.text.sync_data()?;
        if let Some(index) = &self.index {
            index.sync_data()?;
        }
        os::sync_folder(&self.shared.folder)?;
        written
    }

    /// Writes the buffer and shows it to readers. When that fails nothing of it is in the file, it waits for
    /// the next try, and only the first failure in a row is an error.
    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let buffer = std::mem::take(&mut self.buffer);
        let result = self.put(&buffer);
        self.buffer = buffer;
        if result.is_ok() || self.buffer.len() > WAITING {
            self.buffer.clear();
            self.buffer.shrink_to(BURST);
        }
        if result.is_ok() {
            self.publish();
        } else if self.buffer.is_empty() {
            self.pending.clear();
        }
        self.tell(result)
    }

    /// A line too large to be copied: past the buffer. It is lost when it cannot be written.
    fn put_large(&mut self, line: &[u8], kind: Option<EntryKind>) -> io::Result<()> {
        let start = self.written;
        let result = self.put(line).and_then(|()| {
            self.put(b"\n").inspect_err(|_| {
                self.written = start;
                let _ = self.text.set_len(start);
            })
        });
        if result.is_ok()
            && let Some(kind) = kind
        {
            self.pending.push(Entry::new(&(start..start + line.len() as u64), kind));
            self.publish();
        }
        self.tell(result)
    }

    /// All of `bytes` at the end of the file, or none of them.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.text.write_all(bytes).inspect_err(|_| {
            let _ = self.text.set_len(self.written);
        })?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn publish(&mut self) {
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
        if line.len() >= BURST {
            self.flush()?;
            // Lines that still wait for room come first; this one has no place beside them.
            return if self.buffer.is_empty() { self.put_large(line, kind) } else { Ok(()) };
        }
        let start = self.written + self.buffer.len() as u64;
        self.buffer.extend_from_slice(line);
        self.buffer.push(b'\n');
        if let Some(kind) = kind.filter(|_| !line.is_empty()) {
            self.pending.push(Entry::new(&(start..start + line.len() as u64), kind));
        }
        if self.buffer.len() >= BURST && self.disk == Disk::Fine || self.buffer.len() > WAITING {
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
        if !self.finished
            && let Err(error) = self.close()
        {
            tracing::warn!(folder = %self.shared.folder.display(), %error, "scrollback not durable");
        }
    }
}

fn ends_in_newline(file: &File, size: u64) -> bool {
    let mut byte = [0];
    matches!(os::read_at(file, &mut byte, size - 1), Ok(1)) && byte == *b"\n"
}

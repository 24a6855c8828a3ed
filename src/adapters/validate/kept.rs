//! What a command prints, into a file of bounded size: its beginning at once, its end when it is over.

use crate::adapters::room::Room;
use std::fs::File;
use std::io::{self, Write};

/// Most bytes of the end that are kept, in memory until the command is over.
const END: u64 = 1 << 20;

/// A file that takes the beginning and the end.
#[derive(Debug)]
pub(super) struct Kept {
    file: File,
    room: Room,
    /// Bytes that still go into the file.
    head: u64,
    tail: Vec<u8>,
    most: usize,
    left_out: u64,
    /// Why nothing goes into the file any more, though it is not full.
    failed: Option<io::Error>,
}

impl Kept {
    /// At most `limit` bytes of an output go into the file.
    pub(super) fn new(file: File, limit: u64, room: Room) -> Self {
        let tail = END.min(limit / 2);
        let most = usize::try_from(tail).unwrap_or(0);
        Self { file, room, head: limit - tail, tail: Vec::new(), most, left_out: 0, failed: None }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        let head = usize::try_from(self.head).unwrap_or(usize::MAX).min(bytes.len());
        let (now, later) = bytes.split_at(head);
        let rest = match self.write(now) {
            Ok(()) => later,
            Err(error) => {
                self.failed = Some(error);
                bytes
            }
        };
        // A file that has failed gets no more of the beginning: there would be a gap in it.
        self.head = if self.failed.is_some() { 0 } else { self.head - head as u64 };
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * self.most.max(1) {
            self.forget();
        }
    }

    /// Writes the end. What was left out, in words; `None`: nothing.
    pub(super) fn finish(&mut self) -> Option<String> {
        self.forget();
        let tail = std::mem::take(&mut self.tail);
        let mut words = (self.left_out > 0).then(|| format!("{} bytes of its output are missing", self.left_out));
        if let Some(words) = &words {
            // Where the gap is.
            let _ = writeln!(self.file, "\n[programmator: {words} here]");
        }
        if let Err(error) = self.write(&tail) {
            self.failed = Some(error);
        }
        if let Some(error) = &self.failed {
            words = Some(format!("its output could not be stored: {error}"));
        }
        self.tail = tail;
        words
    }

    /// The last bytes, where the file has not got them.
    pub(super) fn unwritten(&self) -> Option<&[u8]> {
        self.failed.is_some().then_some(&self.tail)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.room.for_bytes(bytes.len() as u64)?;
        self.file.write_all(bytes)
    }

    fn forget(&mut self) {
        let gone = self.tail.len().saturating_sub(self.most);
        self.tail.drain(..gone);
        self.left_out += gone as u64;
    }
}

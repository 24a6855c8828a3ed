//! What Claude printed in a run, as the screen sees it: an index of 16 bytes a record over verbatim
//! files. The files themselves are `adapters::store`'s.

use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Where one displayable record of the stream lies in its iteration's file.
///
/// Packed into 16 bytes: a run of a million records keeps 16 MB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Byte offset of the line in the iteration's file.
    pub offset: u64,
    /// Length of the line in bytes, without the newline (lines above 4 GiB are cut there).
    len: u32,
    pub kind: EntryKind,
}

impl Entry {
    /// An entry for the line `range` of the file.
    pub fn new(range: &Range<u64>, kind: EntryKind) -> Self {
        Self { offset: range.start, len: u32::try_from(range.end - range.start).unwrap_or(u32::MAX), kind }
    }

    /// Length of the line in bytes.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// No bytes at all; never so for an indexed record.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// What a stream record shows, found from the envelope alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EntryKind {
    /// `assistant`: a text, thinking or `tool_use` block.
    Assistant,
    /// `user`: tool results, or the person's words echoed.
    User,
    /// `result`: the end of a turn.
    Result,
    /// `system/…` that a person should see (`api_retry`, `compact_boundary`, `model_fallback`, `task_*` …).
    System,
    RateLimit,
    /// A line that is not JSON.
    Garbage,
}

/// The words that Claude is saying right now: deltas since the last whole record. Provisional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    pub text: String,
    pub thinking: String,
    /// A tool whose input is being written.
    pub tool: Option<String>,
}

impl Live {
    /// Nothing is being said.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.thinking.is_empty() && self.tool.is_none()
    }
}

/// The scrollback of one run. Implemented over files; read by the screen, from its own thread.
pub trait Scrollback: Send + Sync {
    /// The iterations that have a file, ascending.
    fn iterations(&self) -> Vec<u32>;

    /// How many displayable records the iteration has so far. Only grows.
    fn len(&self, iteration: u32) -> usize;

    /// Copies the entries in `range` (cut to what is there) to the end of `out`.
    fn entries(&self, iteration: u32, range: Range<usize>, out: &mut Vec<Entry>);

    /// The bytes of one record, at most `max` of them.
    fn read(&self, iteration: u32, entry: Entry, max: usize) -> io::Result<Vec<u8>>;

    /// What is being said now in the running iteration.
    fn live(&self) -> Live;

    /// Has a survey made, in the background where there is one, until it says that nothing is left.
    fn survey(&self, survey: Arc<dyn Survey>);
}

/// Something to be found out of all records, piece by piece.
pub trait Survey: Send + Sync {
    /// Does the next piece. `false`: nothing is left.
    fn step(&self, scrollback: &dyn Scrollback) -> bool;
}

/// Where the drain of Claude's stdout puts what it reads. Implemented by the store over a file.
pub trait Sink: Send {
    /// Keeps one line verbatim (without its newline). `kind` is `None` for records that show nothing.
    fn line(&mut self, line: &[u8], kind: Option<EntryKind>) -> io::Result<()>;

    /// Changes the live tail.
    fn live(&mut self, change: LiveChange<'_>);

    /// Nothing more is there to read right now: hand everything to readers and tell them.
    fn burst_ended(&mut self) -> io::Result<()>;
}

/// One change of the live tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveChange<'a> {
    Text(&'a str),
    Thinking(&'a str),
    Tool(&'a str),
    /// A whole record replaced what was said so far, or the attempt was lost.
    Clear,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_sixteen_bytes() {
        assert_eq!(size_of::<Entry>(), 16);
    }
}

//! What Claude Code writes down of a session: its transcript, read line by line, from near the end of the file on and as it grows.
//!
//! What is read at once is bounded: of what was written before only the last `BACK` bytes, of a long line its beginning. The file is
//! Claude Code's: it may be gone, replaced, cut short, end with half a line or hold anything.

mod call;

pub use self::call::{Call, last_said, last_words};

use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes before the end that are read at most.
pub(super) const BACK: u64 = 8 << 20;
/// Bytes that are read at once.
const CHUNK: usize = 256 << 10;
/// Longest line that is read whole; what a longer one is says its beginning.
pub(super) const LINE: usize = 4 << 20;

/// What has become of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Same,
    /// There is more of it.
    Grew,
    /// Another file has its name, or it was cut short: it is to be read anew.
    Replaced,
}

/// A line that has come to its end.
pub struct Line<'a> {
    /// Where it stands in the file, without its end.
    pub range: Range<u64>,
    /// Its bytes, of a long one the first.
    pub text: &'a [u8],
}

impl Line<'_> {
    /// Bytes of all of it.
    pub fn size(&self) -> usize {
        usize::try_from(self.range.end - self.range.start).unwrap_or(usize::MAX)
    }

    /// None of its bytes are left out.
    pub fn is_whole(&self) -> bool {
        self.text.len() == self.size()
    }
}

/// Who reads a transcript.
pub trait Reader {
    /// Lines are left out here: too much was written since the last look.
    fn skips(&mut self, _: &File) {}

    fn line(&mut self, line: &Line<'_>);
}

/// A transcript, as far as it was read.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    file: Option<Arc<File>>,
    /// Which file that is.
    identity: (u64, u64),
    at: u64,
    /// Where the line at hand begins, and its beginning; `None`: it began before what was read.
    pub(super) line: Option<(u64, Vec<u8>)>,
}

impl Transcript {
    /// Nothing is read yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, identity: (0, 0), at: 0, line: Some((0, Vec::new())) }
    }

    /// The file that is read, once it was there.
    pub fn file(&self) -> Option<Arc<File>> {
        self.file.clone()
    }

    /// Reads what is new. A file that is not there, or cannot be read, stays as it was read.
    pub fn look(&mut self, reader: &mut impl Reader) -> io::Result<Look> {
        let Some((found, data)) = open(&self.path)? else { return Ok(Look::Same) };
        let identity = (data.dev(), data.ino());
        let file = match &self.file {
            Some(_) if self.identity != identity || data.len() < self.at => return Ok(Look::Replaced),
            Some(file) => Arc::clone(file),
            None => {
                let file = Arc::new(found);
                (self.file, self.identity) = (Some(Arc::clone(&file)), identity);
                file
            }
        };
        let before = self.at;
        if data.len() - self.at > BACK {
            reader.skips(&file);
            (self.at, self.line) = (data.len() - BACK, None);
        }
        let mut chunk = vec![0; CHUNK];
        while self.at < data.len() {
            let room = (data.len() - self.at).min(CHUNK as u64) as usize;
            match file.read_at(&mut chunk[..room], self.at) {
                Ok(0) => break,
                Ok(more) => self.take(&chunk[..more], reader),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(if self.at == before { Look::Same } else { Look::Grew })
    }

    /// Takes the next bytes of the file.
    fn take(&mut self, mut bytes: &[u8], reader: &mut impl Reader) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            if let Some((start, mut text)) = self.line.take() {
                hold(&mut text, &bytes[..end]);
                reader.line(&Line { range: start..self.at + end as u64, text: &text });
            }
            self.at += end as u64 + 1;
            self.line = Some((self.at, Vec::new()));
            bytes = &bytes[end + 1..];
        }
        if let Some((_, text)) = &mut self.line {
            hold(text, bytes);
        }
        self.at += bytes.len() as u64;
    }
}

/// Keeps more of a line, as much as is read of one.
fn hold(line: &mut Vec<u8>, more: &[u8]) {
    line.extend_from_slice(&more[..more.len().min(LINE.saturating_sub(line.len()))]);
}

/// The file, which is never waited for; `None`: there is none, or it is no plain file.
fn open(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let data = file.metadata()?;
    Ok(data.is_file().then_some((file, data)))
}

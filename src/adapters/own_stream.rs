//! The transcript of a Claude session of the person's own as a scrollback, as far as [it is read](crate::adapters::transcript). What a
//! file was before it was replaced is another scrollback's.

use crate::adapters::transcript::{Line, Look, Reader, Transcript};
use crate::domain::own_seen::Gist;
use crate::domain::scrollback::{Entry, Live, Scrollback, Survey};
use crate::domain::stream::transcript::{as_stream, classify};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes at the beginning of the file in which the first words are looked for.
const FRONT: usize = 256 << 10;

/// A transcript. Clones share everything.
#[derive(Clone, Debug)]
pub struct OwnStream {
    path: PathBuf,
    /// The directory of the session: paths in it are shown relative to it.
    folder: String,
    read: Arc<Mutex<Read>>,
    /// Whoever looks holds it.
    transcript: Arc<Mutex<Transcript>>,
}

/// What was read of it.
#[derive(Debug, Default)]
struct Read {
    file: Option<Arc<File>>,
    entries: Vec<Entry>,
    gist: Gist,
}

/// What is read in one look.
struct Taken<'a> {
    /// The directory of the session.
    folder: &'a str,
    entries: Vec<Entry>,
    gist: Gist,
}

impl Reader for Taken<'_> {
    fn skips(&mut self, file: &File) {
        self.gist.cut(&first(file, self.folder));
    }

    fn line(&mut self, line: &Line<'_>) {
        if let Some(kind) = classify(line.text, line.size()) {
            self.entries.push(Entry::new(&line.range, kind));
        }
        if line.is_whole() {
            self.gist.fold(line.text, self.folder);
        }
    }
}

impl OwnStream {
    /// Nothing is read yet.
    pub fn new(path: &Path, folder: &str) -> Self {
        let transcript = Arc::new(Mutex::new(Transcript::new(path)));
        Self { path: path.to_owned(), folder: folder.to_owned(), read: Arc::default(), transcript }
    }

    /// Reads what is new. A file that is not there, or cannot be read, stays as it was read.
    pub fn look(&self) -> io::Result<Look> {
        let mut transcript = lock(&self.transcript);
        let mut taken = Taken { folder: &self.folder, entries: Vec::new(), gist: self.gist() };
        let look = transcript.look(&mut taken);
        let mut read = lock(&self.read);
        read.entries.append(&mut taken.entries);
        (read.file, read.gist) = (transcript.file(), taken.gist);
        look
    }

    /// What it says of the session so far.
    pub fn gist(&self) -> Gist {
        lock(&self.read).gist.clone()
    }

    /// The session is in this directory now.
    pub fn is_of(&self, path: &Path, folder: &str) -> bool {
        self.path == path && self.folder == folder
    }
}

/// What its beginning says.
fn first(file: &File, folder: &str) -> Gist {
    let mut front = vec![0; FRONT];
    // What cannot be read says nothing.
    let read = file.read_at(&mut front, 0).unwrap_or(0);
    let (mut gist, whole) = (Gist::default(), memchr::memrchr(b'\n', &front[..read]).unwrap_or(0));
    front[..whole].split(|byte| *byte == b'\n').for_each(|line| gist.fold(line, folder));
    gist
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All of it is before the first iteration: there is none.
impl Scrollback for OwnStream {
    fn iterations(&self) -> Vec<u32> {
        vec![0]
    }

    fn len(&self, iteration: u32) -> usize {
        if iteration == 0 { lock(&self.read).entries.len() } else { 0 }
    }

    fn entries(&self, iteration: u32, range: Range<usize>, out: &mut Vec<Entry>) {
        if iteration == 0 {
            let read = lock(&self.read);
            let end = range.end.min(read.entries.len());
            out.extend_from_slice(&read.entries[range.start.min(end)..end]);
        }
    }

    fn read(&self, _: u32, entry: Entry, max: usize) -> io::Result<Vec<u8>> {
        let file = lock(&self.read).file.clone().ok_or(io::ErrorKind::NotFound)?;
        let mut bytes = vec![0; entry.len().min(max)];
        file.read_exact_at(&mut bytes, entry.offset)?;
        Ok(as_stream(&bytes, entry.kind, entry.len(), max))
    }

    fn live(&self) -> Live {
        Live::default()
    }

    fn survey(&self, survey: Arc<dyn Survey>) {
        let all = self.clone();
        let walk = move || while survey.step(&all) {};
        // Without a thread it is not made, and seen to be unfinished.
        if let Err(error) = std::thread::Builder::new().name("survey".into()).spawn(walk) {
            tracing::warn!(%error, "no thread to search with");
        }
    }
}

/// Says nothing: of a session whose transcript is not known.
#[derive(Debug)]
pub struct Nothing;

impl Scrollback for Nothing {
    fn iterations(&self) -> Vec<u32> {
        Vec::new()
    }

    fn len(&self, _: u32) -> usize {
        0
    }

    fn entries(&self, _: u32, _: Range<usize>, _: &mut Vec<Entry>) {}

    fn read(&self, _: u32, _: Entry, _: usize) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn live(&self) -> Live {
        Live::default()
    }

    fn survey(&self, _: Arc<dyn Survey>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::transcript::{BACK, LINE};
    use crate::domain::own_seen::Stands;
    use crate::domain::scrollback::EntryKind;
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    fn user(text: &str) -> String {
        serde_json::json!({"type": "user", "message": {"role": "user", "content": text}}).to_string()
    }

    fn file(text: &str) -> (tempfile::TempDir, PathBuf, OwnStream) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        fs::write(&path, text).unwrap();
        let stream = OwnStream::new(&path, "/w");
        (folder, path, stream)
    }

    fn append(path: &Path, text: &[u8]) {
        OpenOptions::new().append(true).open(path).unwrap().write_all(text).unwrap();
    }

    fn all(stream: &OwnStream) -> Vec<String> {
        let mut entries = Vec::new();
        stream.entries(0, 0..usize::MAX, &mut entries);
        assert_eq!(entries.len(), stream.len(0));
        let read = |entry: Entry| String::from_utf8(stream.read(0, entry, 1 << 20).unwrap()).unwrap();
        entries.into_iter().map(read).collect()
    }

    #[test]
    fn it_is_followed_as_it_grows_line_by_line() {
        let (_folder, path, stream) = file(&format!("{}\n{{\"type\":\"mode\"}}\n{}", user("one"), &user("two")[..30]));
        assert_eq!((stream.look().unwrap(), stream.look().unwrap()), (Look::Grew, Look::Same));
        assert_eq!(all(&stream).len(), 1, "half a line says nothing yet");
        append(&path, format!("{}\n", &user("two")[30..]).as_bytes());
        append(&path, b"\xff\xfe{\n\n");
        assert_eq!(stream.look().unwrap(), Look::Grew);
        let shown = all(&stream);
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(shown[1].contains("\"two\"") && shown[1].starts_with(r#"{"type":"user","#), "{shown:?}");
        assert_eq!((stream.gist().title(), stream.gist().stands), ("one", Stands::Working));
        assert!(stream.read(0, Entry::new(&(1 << 40..(1 << 40) + 9), EntryKind::User), 99).is_err());
    }

    #[test]
    fn two_who_look_at_once_take_each_line_once() {
        let lines: String = (0..20_000).map(|n| user(&format!("line {n}")) + "\n").collect();
        let (_folder, _path, stream) = file(&lines);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| stream.look().unwrap());
            }
        });
        assert_eq!((stream.len(0), stream.gist().title()), (20_000, "line 0"));
    }

    #[test]
    fn what_is_no_file_is_not_waited_for_and_one_that_comes_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let stream = OwnStream::new(&path, "/w");
        let look = || stream.look().unwrap();
        assert_eq!((look(), stream.len(0)), (Look::Same, 0));
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert_eq!(look(), Look::Same);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(look(), Look::Same);
        fs::remove_dir(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        assert_eq!(look(), Look::Same);
        fs::remove_file(&path).unwrap();
        fs::write(&path, user("one") + "\n").unwrap();
        assert_eq!((look(), stream.len(0)), (Look::Grew, 1));
        fs::remove_file(&path).unwrap();
        assert_eq!((look(), all(&stream).len()), (Look::Same, 1), "what was read stays");
    }

    #[test]
    fn a_file_that_is_replaced_or_cut_short_is_to_be_read_anew() {
        let (folder, path, stream) = file(&format!("{}\n{}\n", user("one"), user("two")));
        assert_eq!(stream.look().unwrap(), Look::Grew);
        let other = folder.path().join("other");
        fs::write(&other, user("another") + "\n").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(stream.look().unwrap(), Look::Replaced);
        assert!(all(&stream)[1].contains("two"), "the file of before is still open");
        let stream = OwnStream::new(&path, "/w");
        assert_eq!((stream.look().unwrap(), stream.gist().title()), (Look::Grew, "another"));
        fs::write(&path, "").unwrap();
        assert_eq!(stream.look().unwrap(), Look::Replaced);
        let mut entries = Vec::new();
        stream.entries(0, 0..1, &mut entries);
        assert!(stream.read(0, entries[0], 99).is_err());
    }

    #[test]
    fn of_a_large_file_the_end_is_read_and_of_a_long_line_the_beginning() {
        let many = (user(&"x".repeat(1 << 10)) + "\n").repeat(20 << 10);
        let (_folder, path, stream) = file(&(user("the first words") + "\n" + &many + &user("the last") + "\n"));
        assert_eq!(stream.look().unwrap(), Look::Grew);
        let read = stream.len(0) as u64 * (1 << 10);
        assert!(read < BACK && read > BACK / 2, "{read}");
        assert_eq!((stream.gist().title(), stream.gist().is_cut), ("the first words", true));
        let before = stream.len(0);
        let text = "y".repeat(LINE * 3 / 2);
        append(&path, format!("{}\n{}\n", user(&text), user("behind it")).as_bytes());
        assert_eq!(stream.look().unwrap(), Look::Grew);
        assert_eq!(stream.len(0), before + 2);
        let shown = {
            let mut entries = Vec::new();
            stream.entries(0, before..before + 2, &mut entries);
            entries.iter().map(|entry| stream.read(0, *entry, 1 << 10).unwrap()).collect::<Vec<_>>()
        };
        assert!(shown[0].len() == 1 << 10 && shown[1].ends_with(b"}}"), "{shown:?}");
        // Much at once, and a line without an end.
        append(&path, (many.clone() + &"z".repeat(9 << 20)).as_bytes());
        assert_eq!(stream.look().unwrap(), Look::Grew);
        let held = lock(&stream.transcript).line.as_ref().map_or(0, |(_, text)| text.len());
        assert!(held <= LINE && stream.len(0) < 3 * before, "{held} {}", stream.len(0));
    }
}

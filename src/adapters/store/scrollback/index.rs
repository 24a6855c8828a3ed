//! The offset index beside an iteration's file: 16 bytes per displayable record. It may be missing, torn or
//! behind; the lines themselves are the truth, and what the index lacks is found from them again.
//!
//! ```text
//! 0..8  offset, little-endian     8..12  length without the newline, little-endian
//! 12    kind, from 1              13..16 zero
//! ```

use crate::adapters::store::os;
use crate::base::lines::Lines;
use crate::domain::scrollback::{Entry, EntryKind};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Says what a line of the stream shows; `None`: nothing. Used for lines whose index is lost.
pub type Classify = fn(&[u8]) -> Option<EntryKind>;

pub(super) const SIZE: usize = 16;

/// An index that lacks more than this many bytes of lines is written anew.
const WORTH_WRITING: u64 = 1 << 20;

/// The kinds by their code on disk, from 1: a block of zeros after a power cut is no entry.
const KINDS: [EntryKind; 6] = [
    EntryKind::Assistant,
    EntryKind::User,
    EntryKind::Result,
    EntryKind::System,
    EntryKind::RateLimit,
    EntryKind::Garbage,
];

pub(super) fn encode(entry: Entry) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[..8].copy_from_slice(&entry.offset.to_le_bytes());
    bytes[8..12].copy_from_slice(&(entry.len() as u32).to_le_bytes());
    bytes[12] = 1 + KINDS.iter().position(|kind| *kind == entry.kind).unwrap_or(KINDS.len()) as u8;
    bytes
}

fn decode(bytes: &[u8; SIZE]) -> Option<Entry> {
    let number = |range: &[u8]| range.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    let (offset, len) = (number(&bytes[..8]), number(&bytes[8..12]));
    let kind = *KINDS.get(usize::from(bytes[12]).checked_sub(1)?)?;
    Some(Entry::new(&(offset..offset.checked_add(len)?), kind))
}

/// The index of the lines in `text`: from the file `index` as far as that is sound, the rest from the lines.
/// A last line without its newline is not indexed.
pub(super) fn load(text: &Path, index: &Path, classify: Classify) -> io::Result<Vec<Entry>> {
    let file = File::open(text)?;
    let size = file.metadata()?.len();
    let mut entries = read(index, size);
    // The last one stands for the others: of another file, or written over, it would not fit between newlines.
    if let Some(last) = entries.last()
        && !is_line(&file, *last)
    {
        entries.clear();
    }
    let known = entries.len();
    let from = entries.last().map_or(0, |last| end(*last) + 1);
    scan(&file, from, classify, &mut entries)?;
    if size - from.min(size) > WORTH_WRITING && entries.len() > known {
        // A convenience for the next one: the lines still say everything if it fails.
        let _ = replace(index, &entries);
    }
    Ok(entries)
}

/// Writes the whole index anew, in one step.
pub(super) fn replace(index: &Path, entries: &[Entry]) -> io::Result<()> {
    let folder = index.parent().unwrap_or(Path::new("."));
    let mut fresh = io::BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    for entry in entries {
        fresh.write_all(&encode(*entry))?;
    }
    let fresh = fresh.into_inner().map_err(io::IntoInnerError::into_error)?;
    fresh.persist(index).map_err(|error| error.error)?;
    Ok(())
}

/// The entries up to the first that cannot be: zeros, a half one, out of order, beyond the file.
fn read(index: &Path, size: u64) -> Vec<Entry> {
    let mut entries = Vec::new();
    let Ok(file) = File::open(index) else { return entries };
    let count = file.metadata().map_or(0, |data| data.len() as usize / SIZE);
    entries.reserve_exact(count.min(size as usize));
    let mut file = BufReader::with_capacity(64 << 10, file);
    let mut bytes = [0; SIZE];
    let mut from = 0;
    while file.read_exact(&mut bytes).is_ok() {
        match decode(&bytes) {
            Some(entry) if entry.offset >= from && end(entry) < size && !entry.is_empty() => {
                from = end(entry) + 1;
                entries.push(entry);
            }
            _ => break,
        }
    }
    entries
}

fn end(entry: Entry) -> u64 {
    entry.offset + entry.len() as u64
}

/// The entry begins behind a newline and ends before one.
fn is_line(file: &File, entry: Entry) -> bool {
    let newline_at = |at| {
        let mut byte = [0];
        matches!(os::read_at(file, &mut byte, at), Ok(1)) && byte == *b"\n"
    };
    newline_at(end(entry)) && entry.offset.checked_sub(1).is_none_or(newline_at)
}

fn scan(mut file: &File, from: u64, classify: Classify, out: &mut Vec<Entry>) -> io::Result<()> {
    file.seek(SeekFrom::Start(from))?;
    let mut at = from;
    let mut lines = Lines::default();
    let mut buffer = vec![0; 256 << 10];
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        lines.feed(&buffer[..count], |line, _| {
            let range = at..at + line.len() as u64;
            at = range.end + 1;
            if !line.is_empty()
                && let Some(kind) = classify(line)
            {
                out.push(Entry::new(&range, kind));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    /// `a…` and `u…` are records, `-…` shows nothing.
    fn by_letter(line: &[u8]) -> Option<EntryKind> {
        match line.first() {
            Some(b'a') => Some(EntryKind::Assistant),
            Some(b'u') => Some(EntryKind::User),
            _ => None,
        }
    }

    const TEXT: &[u8] = b"-begin\na one\nu two\n\n-x\na three\n";

    /// What must be found in the first `size` bytes of [`TEXT`].
    fn expected(size: usize) -> Vec<Entry> {
        let all = [(7, 12, 'a'), (13, 18, 'u'), (23, 30, 'a')];
        all.iter()
            .filter(|(_, end, _)| *end < size)
            .map(|(start, end, kind)| {
                let kind = by_letter(&[*kind as u8]).unwrap();
                Entry::new(&(*start..*end as u64), kind)
            })
            .collect()
    }

    fn whole_index() -> Vec<u8> {
        expected(TEXT.len()).into_iter().flat_map(encode).collect()
    }

    fn loaded(text: &[u8], index: Option<&[u8]>) -> Vec<Entry> {
        let folder = tempfile::tempdir().unwrap();
        let (text_path, index_path) = (folder.path().join("1.ndjson"), folder.path().join("1.idx"));
        fs::write(&text_path, text).unwrap();
        if let Some(index) = index {
            fs::write(&index_path, index).unwrap();
        }
        load(&text_path, &index_path, by_letter).unwrap()
    }

    #[test]
    fn every_kind_survives_the_disk() {
        for kind in KINDS {
            let entry = Entry::new(&(1 << 40..(1 << 40) + 77), kind);
            assert_eq!(decode(&encode(entry)), Some(entry));
        }
        assert_eq!(decode(&[0; SIZE]), None);
    }

    #[test]
    fn torn_anywhere_the_whole_lines_are_found() {
        let index = whole_index();
        for size in 0..=TEXT.len() {
            for cut in 0..=index.len() {
                assert_eq!(
                    loaded(&TEXT[..size], Some(&index[..cut])),
                    expected(size),
                    "text cut at {size}, index at {cut}"
                );
            }
            assert_eq!(loaded(&TEXT[..size], None), expected(size), "text cut at {size}");
        }
    }

    #[test]
    fn an_index_of_zeros_or_of_another_file_is_not_believed() {
        let all = expected(TEXT.len());
        assert_eq!(loaded(TEXT, Some(&[0; 4 * SIZE])), all);
        let mut half = whole_index();
        half[SIZE..].fill(0);
        assert_eq!(loaded(TEXT, Some(&half)), all);
        let foreign = encode(Entry::new(&(3..9), EntryKind::Result));
        assert_eq!(loaded(TEXT, Some(&foreign)), all);
    }

    #[test]
    fn a_large_gap_is_written_down_for_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let (text, index) = (folder.path().join("1.ndjson"), folder.path().join("1.idx"));
        let line = format!("a{}\n", "x".repeat(999));
        fs::write(&text, line.repeat(1_100)).unwrap();
        let entries = load(&text, &index, by_letter).unwrap();
        assert_eq!(entries.len(), 1_100);
        assert_eq!(fs::read(&index).unwrap().len(), 1_100 * SIZE);
        // Now nothing needs to be classified.
        assert_eq!(load(&text, &index, |_| None).unwrap(), entries);
    }

    proptest! {
        #[test]
        fn no_index_makes_it_fail_or_leave_the_file(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            for entry in loaded(TEXT, Some(&bytes)) {
                prop_assert!(end(entry) < TEXT.len() as u64);
            }
        }
    }
}

//! Reads a backup into an empty folder. The file may be anything: nothing is written outside of the folder, nothing that a
//! backup does not have, and no more than there is room for.

use super::{DATABASE, FILES, FOLDERS, FORMAT, HEAD, Hashed, Head, SUMS};
use crate::adapters::room::Room;
use crate::base::hex::hex;
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use tar::{Archive, Entry, EntryType};

/// Most files that one may have, and bytes that tell of them.
const FILES_MOST: usize = 400_000;
const TEXT_MOST: u64 = 64 << 20;

/// A backup that was read, and is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked {
    pub head: Head,
    pub files: usize,
}

/// Unpacks it and checks every byte, until it is to stop. Words for the person where it is not what it should be.
pub fn unpack(from: &Path, into: &Path, room: &Room, stop: &AtomicBool) -> Result<Unpacked, String> {
    let file = File::open(from).map_err(|error| error.to_string())?;
    let mut archive = Archive::new(GzDecoder::new(Stopping { file, stop }));
    // Raw: what other programs write for long names is a kind of entry that no backup has.
    let entries = archive.entries().map_err(no_backup)?.raw(true);
    let (mut head, mut sums): (Option<Head>, BTreeMap<String, String>) = (None, BTreeMap::new());
    let mut named = None;
    for entry in entries {
        let mut entry = entry.map_err(no_backup)?;
        let name = match name(&entry) {
            Ok(name) => name,
            // The first one tells what wrote it.
            Err(_) if head.is_none() => return Err(no_backup("it does not begin like one")),
            Err(why) => return Err(why),
        };
        if named.is_some() {
            return Err(damaged("unexpected data after its end"));
        }
        if head.is_none() {
            if name != HEAD {
                return Err(no_backup("it does not begin like one"));
            }
            let text = text(&mut entry)?;
            head = Some(known_head(&text)?);
            sums.insert(name, hex(&Sha256::digest(&text)));
            continue;
        }
        if name == SUMS {
            named = Some(listed(&text(&mut entry)?)?);
            continue;
        }
        if sums.len() >= FILES_MOST {
            return Err(damaged("it has too many files"));
        }
        if sums.contains_key(&name) {
            return Err(damaged(format!("it contains {name} twice")));
        }
        let sum = put(&mut entry, &name, into, room)?;
        sums.insert(name, sum);
    }
    match (head, named) {
        (Some(head), Some(named)) if named == sums && sums.contains_key(DATABASE) => {
            Ok(Unpacked { head, files: sums.len() })
        }
        (Some(_), Some(named)) => {
            let differs = sums.iter().find(|(name, sum)| named.get(*name) != Some(sum)).map(|(name, _)| name);
            let differs = differs.or_else(|| named.keys().find(|name| !sums.contains_key(*name)));
            Err(damaged(format!("{} has the wrong checksum", differs.map_or(DATABASE, String::as_str))))
        }
        (Some(_), None) => Err(damaged("it is truncated")),
        (None, _) => Err(no_backup("it is empty")),
    }
}

/// A file that cannot be read any more once that is to stop.
struct Stopping<'a> {
    file: File,
    stop: &'a AtomicBool,
}

impl Read for Stopping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        self.file.read(buffer)
    }
}

fn no_backup(why: impl std::fmt::Display) -> String {
    format!("not a programmator backup ({why})")
}

fn damaged(why: impl std::fmt::Display) -> String {
    format!("it is damaged: {why}")
}

/// Refuses what is not plainly a file of a backup.
fn name<R: Read>(entry: &Entry<'_, R>) -> Result<String, String> {
    let kind = entry.header().entry_type();
    let bytes = entry.path_bytes();
    let name = std::str::from_utf8(&bytes).map_err(|_| damaged("it contains an invalid file name"))?;
    if kind != EntryType::Regular {
        return Err(damaged(format!("{name} is not a regular file")));
    }
    let (first, below) = name.split_once('/').map_or((name, None), |(first, below)| (first, Some(below)));
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    let is_known = match below {
        None => [HEAD, SUMS, DATABASE].contains(&first) || FILES.contains(&first),
        Some(below) => FOLDERS.contains(&first) && below.split('/').all(is_plain),
    };
    if is_known { Ok(name.to_owned()) } else { Err(damaged(format!("unexpected file {name}"))) }
}

fn text<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    entry.take(TEXT_MOST + 1).read_to_end(&mut text).map_err(damaged)?;
    if text.len() as u64 > TEXT_MOST { Err(damaged("a list in it is too long")) } else { Ok(text) }
}

fn known_head(text: &[u8]) -> Result<Head, String> {
    let read: serde_json::Value = serde_json::from_slice(text).map_err(no_backup)?;
    let version = read["version"].as_str().unwrap_or("an unknown version");
    match read["format"].as_u64() {
        Some(format) if format > u64::from(FORMAT) => Err(format!(
            "it was made by a newer programmator ({version}, format {format}; this one reads {FORMAT}): update programmator"
        )),
        Some(format) if format == u64::from(FORMAT) => serde_json::from_value(read).map_err(no_backup),
        _ => Err(no_backup("its format is unknown")),
    }
}

fn listed(text: &[u8]) -> Result<BTreeMap<String, String>, String> {
    let text = std::str::from_utf8(text).map_err(damaged)?;
    let line = |line: &str| line.split_once("  ").map(|(sum, name)| (name.to_owned(), sum.to_owned()));
    text.lines().map(line).collect::<Option<_>>().ok_or_else(|| damaged("its list of files cannot be read"))
}

/// Writes one file and gives its hash.
fn put<R: Read>(entry: &mut Entry<'_, R>, name: &str, into: &Path, room: &Room) -> Result<String, String> {
    let length = entry.size();
    room.for_bytes(length).map_err(|error| error.to_string())?;
    let path = into.join(name);
    let write = |entry: &mut Entry<'_, R>| -> io::Result<String> {
        let above = path.parent().unwrap_or(into);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(above)?;
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        let mut from = Hashed { from: entry, hash: Sha256::new(), left: length };
        let copied = io::copy(&mut from, &mut file)?;
        if copied != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(hex(&from.hash.finalize()))
    };
    write(entry).map_err(|error| format!("{name} cannot be unpacked: {error}"))
}

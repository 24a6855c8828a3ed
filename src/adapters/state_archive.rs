//! A backup of the state folder: one gzipped tar with the database, what was printed in the runs, and chats.
//!
//! ```text
//! backup.json      which format, which program, when
//! programmator.db, panes.json, runs/…, chats/…, own-sessions/…, sources/…
//! SHA256SUMS       of all of them, as `sha256sum -c` reads it
//! ```
//!
//! What belongs to this machine stays out: the phone's pairing, the lockout of the passphrase, trust, locks, sockets, logs.
//! Reading one is `unpacking`'s.

mod unpacking;

pub use unpacking::{Unpacked, unpack};

use crate::adapters::beside;
use crate::adapters::room::Room;
use crate::adapters::store::Store;
use crate::base::hex::hex;
use crate::base::time::Timestamp;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// The format that this program writes.
const FORMAT: u32 = 1;
const HEAD: &str = "backup.json";
const SUMS: &str = "SHA256SUMS";
const DATABASE: &str = "programmator.db";
/// What else of the state folder is in a backup.
const FILES: [&str; 1] = ["panes.json"];
const FOLDERS: [&str; 4] = ["runs", "chats", "own-sessions", "sources"];

/// What a backup says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub format: u32,
    /// The program that has written it.
    pub version: String,
    pub time: Timestamp,
}

impl Head {
    pub fn now(time: Timestamp) -> Self {
        Self { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), time }
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub files: usize,
    /// The size of the backup.
    pub bytes: u64,
    /// Links and the like, which are in no backup.
    pub left_out: Vec<PathBuf>,
}

/// Writes a backup to `to`: for its owner alone from its first byte on, and whole or not at all. `replaces`: a file that
/// stands there may go. Runs may be at work: of a file that grows it has the beginning. The caller keeps others from cleaning up.
pub fn write(store: &Store, head: &Head, to: &Path, replaces: bool, room: &Room) -> io::Result<Written> {
    // The copy of the database stands in the state folder for a while, where runs need room for their records.
    room.for_bytes(fs::metadata(store.folder().join(DATABASE))?.len())?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = beside::file(to)?;
    let room = Room { folder: folder.to_owned(), reserve: room.reserve };
    let (files, left_out) = fill(store, head, Bounded { file: file.as_file_mut(), room, unchecked: CHECKED })?;
    file.as_file().sync_all()?;
    let bytes = file.as_file().metadata()?.len();
    if replaces {
        file.persist(to)?;
    } else {
        file.persist_noclobber(to)?;
    }
    // It is there, whether or not the folder can be written to the disk at once.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(Written { files, bytes, left_out })
}

/// How many files it has, and what is left out.
fn fill(store: &Store, head: &Head, file: Bounded<'_>) -> io::Result<(usize, Vec<PathBuf>)> {
    let mut tar =
        Tar { builder: Builder::new(GzEncoder::new(file, Compression::default())), sums: String::new(), files: 0 };
    tar.add_bytes(HEAD, serde_json::to_string_pretty(head)?.as_bytes())?;
    // One that was killed has left it. Nobody else makes a backup now.
    let copy = store.folder().join("backup-copy");
    if fs::symlink_metadata(&copy).is_ok() {
        fs::remove_dir_all(&copy)?;
    }
    fs::DirBuilder::new().mode(0o700).create(&copy)?;
    let copy = Removed(copy);
    let database = copy.0.join(DATABASE);
    store.save_database(&database).map_err(io::Error::other)?;
    tar.add_file(DATABASE, &database)?;
    drop(copy);
    let mut left_out = Vec::new();
    for name in FILES {
        tar.add_found(name, &store.folder().join(name), &mut left_out)?;
    }
    for name in FOLDERS {
        tar.add_folder(name, &store.folder().join(name), &mut left_out)?;
    }
    let (sums, files) = (std::mem::take(&mut tar.sums), tar.files);
    tar.add_bytes(SUMS, sums.as_bytes())?;
    tar.builder.into_inner()?.finish()?;
    Ok((files, left_out))
}

/// Bytes after which it is looked again how much room there is.
const CHECKED: usize = 4 << 20;

/// A file that leaves the reserve of its disk alone.
struct Bounded<'a> {
    file: &'a mut File,
    room: Room,
    /// Bytes that were written since it was looked how much room there is.
    unchecked: usize,
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.unchecked >= CHECKED {
            self.room.for_bytes(CHECKED as u64)?;
            self.unchecked = 0;
        }
        let written = self.file.write(bytes)?;
        self.unchecked += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A folder that goes when it is dropped.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The archive as far as it is written.
struct Tar<W: Write> {
    builder: Builder<W>,
    sums: String,
    files: usize,
}

impl<W: Write> Tar<W> {
    fn add_bytes(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.add(name, bytes.len() as u64, bytes)
    }

    fn add_file(&mut self, name: &str, path: &Path) -> io::Result<()> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        self.add(name, length, file)
    }

    /// A file that may be gone by now, or a link.
    fn add_found(&mut self, name: &str, path: &Path, left_out: &mut Vec<PathBuf>) -> io::Result<()> {
        let added = match fs::symlink_metadata(path) {
            Ok(data) if data.is_file() => self.add_file(name, path),
            Ok(_) => {
                left_out.push(path.to_owned());
                Ok(())
            }
            Err(error) => Err(error),
        };
        match added {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
            added => added,
        }
    }

    fn add_folder(&mut self, name: &str, path: &Path, left_out: &mut Vec<PathBuf>) -> io::Result<()> {
        if !fs::symlink_metadata(path).is_ok_and(|data| data.is_dir()) {
            return self.add_found(name, path, left_out);
        }
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut entries: Vec<_> = match fs::read_dir(path) {
            // It is gone since it was seen.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.and_then(Iterator::collect).map_err(named)?,
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            match entry.file_name().to_str() {
                Some(below) => self.add_folder(&format!("{name}/{below}"), &path, left_out)?,
                None => left_out.push(path),
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &str, length: u64, from: impl Read) -> io::Result<()> {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_path(name)?;
        header.set_size(length);
        header.set_mode(0o600);
        header.set_cksum();
        let mut from = Hashed { from: from.take(length), hash: Sha256::new(), left: length };
        self.builder.append(&header, &mut from)?;
        if from.left > 0 {
            return Err(io::Error::other("it was truncated while being read; try again"));
        }
        if name != SUMS {
            let _ = writeln!(self.sums, "{}  {name}", hex(&from.hash.finalize()));
            self.files += 1;
        }
        Ok(())
    }
}

/// What passes through it is hashed.
struct Hashed<R> {
    from: R,
    hash: Sha256,
    left: u64,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.hash.update(&buffer[..read]);
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_leaves_the_reserve_of_its_disk_alone() {
        let mut file = tempfile::tempfile().unwrap();
        let mut with = |reserve| {
            let room = Room { folder: std::env::temp_dir(), reserve };
            Bounded { file: &mut file, room, unchecked: CHECKED }.write(b"x")
        };
        assert_eq!(with(0).unwrap(), 1);
        assert_eq!(with(u64::MAX).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}

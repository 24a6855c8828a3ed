//! Reads ticket files: regular files of a sane size only, and never a pipe or device.

use super::os;
use crate::base::text::clean_line;
use crate::domain::ticket::parse::parse;
use crate::domain::ticket::{Problem, Severity, Ticket};
use rustix::fs::{FileType, RawMode};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Largest ticket that is read, in bytes.
pub const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Bytes that tell text from other data, as git looks at.
const PROBED: u64 = 8_000;

/// Why a file cannot be read as a ticket. Messages name the file and the fix.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("no file {}", shown(path))]
    Gone { path: PathBuf },
    /// A folder, pipe, socket or device.
    #[error("{} is {what}, not a file: a ticket is a markdown file", shown(path))]
    NotAFile {
        path: PathBuf,
        /// `a folder`, `a pipe`, …
        what: &'static str,
    },
    /// Its name says that it is something else. Nothing is read from it, and nothing written to it.
    #[error("{} is not a ticket: tickets are markdown files (.md)", shown(path))]
    NotMarkdown { path: PathBuf },
    #[error("{} is not a ticket: it is not a text file", shown(path))]
    NotText { path: PathBuf },
    /// More than [`MAX_BYTES`].
    #[error("{}: {}", shown(path), too_large())]
    TooLarge { path: PathBuf },
    /// A link in the tickets folder that leads out of it.
    #[error("{} is a link out of the tickets folder: use the path of the file itself", shown(path))]
    LeadsOut { path: PathBuf },
    /// A link, or behind one. Links are followed once, when a person names the file.
    #[error("{} is now a link, or below one, and is not followed: restore the file itself", shown(path))]
    Link { path: PathBuf },
    #[error("{} cannot be read: {source}", shown(path))]
    Unreadable { path: PathBuf, source: io::Error },
}

pub(super) fn too_large() -> String {
    format!("larger than {} MiB, too large for a ticket", MAX_BYTES / 1024 / 1024)
}

pub(super) fn shown(path: &Path) -> String {
    clean_line(&path.to_string_lossy(), 300)
}

impl LoadError {
    /// Something else is in the ticket's place: waiting for it to come back does not help.
    pub fn is_lasting(&self) -> bool {
        !matches!(self, Self::Gone { .. } | Self::Unreadable { .. })
    }

    /// What the system's refusal of this path means.
    pub(super) fn of(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Gone { path },
            _ if os::is_link(&source) => Self::Link { path },
            _ => Self::Unreadable { path, source },
        }
    }
}

/// Opens a regular file that is reached without a link; anything else is refused without opening it.
pub(super) fn open_regular(path: &Path) -> Result<File, LoadError> {
    let folder = os::Folder::of(path).map_err(|error| LoadError::of(path, error))?;
    open_in(&folder, path)
}

/// The same of a text file: its beginning has no NUL.
pub(super) fn open_text(path: &Path) -> Result<(), LoadError> {
    let mut beginning = Vec::new();
    let file = open_regular(path)?;
    file.take(PROBED).read_to_end(&mut beginning).map_err(|error| LoadError::of(path, error))?;
    if beginning.contains(&0) { Err(LoadError::NotText { path: path.to_owned() }) } else { Ok(()) }
}

/// The same, in a folder that is open.
pub(super) fn open_in(folder: &os::Folder, path: &Path) -> Result<File, LoadError> {
    let failed = |error: io::Error| LoadError::of(path, error);
    let check = |kind: FileType| match kind {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(LoadError::Link { path: path.to_owned() }),
        other => Err(LoadError::NotAFile { path: path.to_owned(), what: kind_name(other) }),
    };
    check(folder.kind(path).map_err(failed)?)?;
    let file = folder.open(path).map_err(failed)?;
    // It may have become something else between the two calls.
    let about = file.metadata().map_err(failed)?;
    check(FileType::from_raw_mode(about.mode() as RawMode))?;
    if about.len() > MAX_BYTES {
        return Err(LoadError::TooLarge { path: path.to_owned() });
    }
    Ok(file)
}

fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a folder",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}

/// What stands in the ticket at `path`, in which no link may be.
pub fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    bytes_of(&open_regular(path)?, path)
}

fn bytes_of(file: &File, path: &Path) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| LoadError::of(path, error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(LoadError::TooLarge { path: path.to_owned() });
    }
    Ok(bytes)
}

/// Reads the ticket at `path`, in which no link may be. What is wrong inside it is in [`Ticket::problems`].
pub fn load(path: &Path) -> Result<Ticket, LoadError> {
    let folder = os::Folder::of(path).map_err(|error| LoadError::of(path, error))?;
    let file = open_in(&folder, path)?;
    let bytes = bytes_of(&file, path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut ticket = parse(&bytes, &name);
    let mut warn = |message: &str| {
        let (message, severity) = (message.to_owned(), Severity::Warning);
        ticket.problems.insert(0, Problem { line: 1, column: 1, message, severity });
    };
    if os::link_count(&file) > 1 {
        warn("this file has several hard links: boxes are only ticked in this one");
    }
    if !folder.is_writable(path).unwrap_or(true) {
        warn("this file is read-only: its boxes cannot be ticked");
    }
    Ok(ticket)
}

//! Reads ticket files: regular files of a sane size only, and never a pipe or device.

use super::{find, os};
use crate::base::text::clean_line;
use crate::domain::ticket::parse::parse;
use crate::domain::ticket::{Problem, Severity, Ticket};
use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Largest ticket that is read, in bytes.
pub const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Why a file cannot be read as a ticket. Messages name the file and the cure.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no file {}", shown(path))]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// A folder, pipe, socket or device.
    #[error("{} is {what}, not a file: a ticket is a markdown file", shown(path))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// `a folder`, `a pipe`, …
        what: &'static str,
    },
    /// More than [`MAX_BYTES`].
    #[error("{}: {}", shown(path), too_large())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// A link in the tickets folder that leads out of it.
    #[error("{} is a link that leads out of the tickets folder: give the path of the file itself", shown(path))]
    LeadsOut {
        /// The link.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("{} cannot be read: {source}", shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

pub(super) fn too_large() -> String {
    format!("larger than {} MiB, which is no ticket", MAX_BYTES / 1024 / 1024)
}

pub(super) fn shown(path: &Path) -> String {
    clean_line(&path.to_string_lossy(), 300)
}

/// Opens a regular file; anything else is refused without opening it.
pub(super) fn open_regular(path: &Path) -> Result<File, LoadError> {
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => LoadError::Gone { path: path.to_owned() },
        _ => LoadError::Unreadable { path: path.to_owned(), source },
    };
    let refuse = |kind: FileType| LoadError::NotAFile { path: path.to_owned(), what: kind_name(kind) };
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        return Err(refuse(about.file_type()));
    }
    let file = os::open(path).map_err(unreadable)?;
    // It may have become something else between the two calls.
    let about = file.metadata().map_err(unreadable)?;
    if !about.is_file() {
        return Err(refuse(about.file_type()));
    }
    if about.len() > MAX_BYTES {
        return Err(LoadError::TooLarge { path: path.to_owned() });
    }
    Ok(file)
}

fn kind_name(kind: FileType) -> &'static str {
    if kind.is_dir() {
        return "a folder";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a pipe";
        } else if kind.is_socket() {
            return "a socket";
        }
    }
    "a device"
}

/// Reads the ticket at `path`. What is wrong inside it is in [`Ticket::problems`].
pub fn load(path: &Path) -> Result<Ticket, LoadError> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    (&file)
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| LoadError::Unreadable { path: path.to_owned(), source })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(LoadError::TooLarge { path: path.to_owned() });
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut ticket = parse(&bytes, &name);
    if os::link_count(&file) > 1 {
        ticket.problems.insert(
            0,
            Problem {
                line: 1,
                column: 1,
                message: "this file has several names (hard links): only this one will see ticked boxes".to_owned(),
                severity: Severity::Warning,
            },
        );
    }
    Ok(ticket)
}

/// A file of the tickets folder.
#[derive(Debug)]
pub struct Listed {
    /// Absolute path, or as the folder was given.
    pub path: PathBuf,
    /// The ticket, or why it cannot be read.
    pub ticket: Result<Ticket, LoadError>,
}

/// All `*.md` files of a folder, by name; hidden ones left out. One that cannot be read does not keep the
/// others from being listed. No folder is an empty list.
pub fn list(dir: &Path) -> io::Result<Vec<Listed>> {
    let mut listed: Vec<Listed> = find::files_in(dir)?
        .into_iter()
        .map(|path| Listed { ticket: find::stays_in(dir, &path).and_then(|()| load(&path)), path })
        .collect();
    listed.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listed)
}

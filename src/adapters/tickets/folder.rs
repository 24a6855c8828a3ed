//! The files of the tickets folder, and the tickets in them.

use super::load::{LoadError, load};
use crate::domain::ticket::Ticket;
use std::io;
use std::path::{Path, PathBuf};

/// The `*.md` files of a folder, sorted, hidden ones left out; none when there is no folder.
pub(super) fn files_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.extension().is_some_and(|ending| ending == "md") && !hidden && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The file that `path` leads to, which lies in the tickets folder even if `path` is a link.
pub(super) fn stays_in(dir: &Path, path: &Path) -> Result<PathBuf, LoadError> {
    let file = real(path)?;
    if file.starts_with(real(dir)?) { Ok(file) } else { Err(LoadError::LeadsOut { path: path.to_owned() }) }
}

/// The path without links. This is the one place where a ticket's links are followed.
pub(super) fn real(path: &Path) -> Result<PathBuf, LoadError> {
    path.canonicalize().map_err(|error| LoadError::of(path, error))
}

/// A file of the tickets folder.
#[derive(Debug)]
pub struct Listed {
    /// The file, without links; as the folder was given where it cannot be reached.
    pub path: PathBuf,
    /// The ticket, or why it cannot be read.
    pub ticket: Result<Ticket, LoadError>,
}

/// All `*.md` files of a folder, by name; hidden ones left out. One that cannot be read does not keep the
/// others from being listed. No folder is an empty list.
pub fn list(dir: &Path) -> io::Result<Vec<Listed>> {
    let listed = files_in(dir)?.into_iter().map(|path| match stays_in(dir, &path) {
        Ok(real) => Listed { ticket: load(&real), path: real },
        Err(error) => Listed { ticket: Err(error), path },
    });
    let mut listed: Vec<Listed> = listed.collect();
    listed.sort_by(|a, b| a.path.cmp(&b.path));
    // Another name of a ticket is the same ticket.
    listed.dedup_by(|a, b| a.path == b.path);
    Ok(listed)
}

//! The files of the tickets folder, and the tickets in them.

use super::load::{LoadError, load, read};
use crate::domain::ticket::Ticket;
use crate::domain::ticket::card::Card;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// The `*.md` files of a folder, sorted, hidden ones left out; none when there is no folder.
pub fn files_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
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
pub fn stays_in(dir: &Path, path: &Path) -> Result<PathBuf, LoadError> {
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
    let mut listed = Vec::new();
    list_each(dir, |one| listed.push(one))?;
    listed.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listed)
}

/// The same, each as soon as it is read: ten thousand take their time.
pub fn list_each(dir: &Path, mut each: impl FnMut(Listed)) -> io::Result<()> {
    let files = files_in(dir)?;
    let folder = real(dir);
    let mut seen = HashSet::new();
    for path in files {
        let file = match (&folder, path.file_name()) {
            // What is no link lies where it is found; one that takes its place meanwhile is not followed.
            (Ok(folder), Some(name)) if !path.is_symlink() => Ok(folder.join(name)),
            _ => stays_in(dir, &path),
        };
        let listed = match file {
            Ok(file) if seen.contains(&file) => continue,
            Ok(file) => Listed { ticket: load(&file), path: file },
            Err(error) => Listed { ticket: Err(error), path },
        };
        // Another name of a ticket is the same ticket.
        seen.insert(listed.path.clone());
        each(listed);
    }
    Ok(())
}

/// A ticket of the folder as `tk` counts it: with an id in its front matter.
#[derive(Debug)]
pub struct Carded {
    /// The file, without links.
    pub path: PathBuf,
    pub card: Card,
}

/// The tickets of a folder by file name, and why others cannot be read. No folder is an empty list.
pub fn cards(dir: &Path) -> io::Result<(Vec<Carded>, Vec<LoadError>)> {
    let (mut cards, mut unread) = (Vec::new(), Vec::new());
    for path in files_in(dir)? {
        match stays_in(dir, &path).and_then(|path| Ok((read(&path)?, path))) {
            Ok((bytes, path)) => cards.extend(Card::read(&bytes).map(|card| Carded { path, card })),
            Err(error) => unread.push(error),
        }
    }
    Ok((cards, unread))
}

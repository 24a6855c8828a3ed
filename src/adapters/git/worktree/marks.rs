//! What is noted about a worktree in its git folder: that it has all it needs, and which ticket it belongs to. Git removes
//! the notes with the worktree.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Says that a worktree has all it needs.
const READY: &str = "programmator-ready";
/// Has the path of the ticket's file.
const TICKET: &str = "programmator-ticket";

/// Says that it has all it needs; on the disk when this returns.
pub fn mark_ready(top: &Path) -> Result<(), String> {
    let write = || {
        let file = fs::File::create(git_folder(top)?.join(READY))?;
        file.sync_all()
    };
    write().map_err(|error| format!("{}: {error}", top.display()))
}

pub(super) fn is_ready(top: &Path) -> bool {
    git_folder(top).is_ok_and(|git| git.join(READY).is_file())
}

/// Refuses a ticket whose id is that of the ticket which has the worktree. A file that is gone was moved: it has none.
pub fn is_free(top: &Path, ticket: &Path) -> Result<(), String> {
    match owner(top) {
        Some(owner) if owner != ticket && owner.is_file() => Err(format!(
            "{} has the same id and works in {}: give one of both another id, or remove that worktree first",
            owner.display(),
            top.display()
        )),
        _ => Ok(()),
    }
}

/// Notes which ticket it belongs to. Of several that do so at once, one does not get it.
pub(super) fn claim(top: &Path, ticket: &Path) -> Result<(), String> {
    is_free(top, ticket)?;
    if owner(top).as_deref() == Some(ticket) {
        return Ok(());
    }
    let trouble = |error: io::Error| format!("{}: {error}", top.display());
    let folder = git_folder(top).map_err(trouble)?;
    if owner(top).is_some() {
        fs::remove_file(folder.join(TICKET)).map_err(trouble)?;
    }
    let mut note = NamedTempFile::new_in(&folder).map_err(trouble)?;
    note.write_all(ticket.as_os_str().as_bytes()).map_err(trouble)?;
    match note.persist_noclobber(folder.join(TICKET)) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(trouble(error.error)),
        _ => is_free(top, ticket),
    }
}

fn owner(top: &Path) -> Option<PathBuf> {
    let bytes = fs::read(git_folder(top).ok()?.join(TICKET)).ok()?;
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

/// The git folder of a linked working tree.
fn git_folder(top: &Path) -> io::Result<PathBuf> {
    let text = fs::read_to_string(top.join(".git"))?;
    let link = text.strip_prefix("gitdir: ").ok_or_else(|| io::Error::other("it is no worktree"))?;
    Ok(top.join(link.trim_end()))
}

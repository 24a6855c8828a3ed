//! What is noted about a worktree in its git folder: that git's files are in it, that it has all it needs, and which ticket
//! it belongs to. Git removes the notes with the worktree.
//!
//! What a note says is on the disk before the note: after a power failure, files that are cut off are not taken for edits.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;

/// Says that a worktree has all it needs.
const READY: &str = "programmator-ready";
/// Says that git's files are in it.
const FILES: &str = "programmator-files";
/// Has the path of the ticket's file.
const TICKET: &str = "programmator-ticket";
/// Has the name of the branch that the work of a forked ticket goes into.
const BASE: &str = "programmator-base";

/// Says that it has all it needs.
pub async fn mark_ready(top: &Path) -> Result<(), String> {
    note(top, READY).await
}

pub(super) fn is_ready(top: &Path) -> bool {
    has(top, READY)
}

/// Says that the files that git has checked out are in it.
pub(super) async fn mark_files(top: &Path) -> Result<(), String> {
    note(top, FILES).await
}

pub(super) fn has_files(top: &Path) -> bool {
    has(top, FILES)
}

fn has(top: &Path, name: &str) -> bool {
    git_folder(top).is_ok_and(|git| git.join(name).is_file())
}

/// All that was written there is on the disk, and then the note is.
async fn note(top: &Path, name: &'static str) -> Result<(), String> {
    let (shown, top) = (top.display().to_string(), top.to_owned());
    let write = move || -> io::Result<()> {
        let git = git_folder(&top)?;
        flush(&top)?;
        flush(&git)?;
        fs::File::create(git.join(name))?.sync_all()?;
        fs::File::open(&git)?.sync_all()
    };
    let written = spawn_blocking(write).await.map_err(|error| error.to_string())?;
    written.map_err(|error| format!("{shown}: {error}"))
}

/// The whole file system that the folder is on: what git has written there is no list of files.
#[cfg(target_os = "linux")]
fn flush(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(fs::File::open(folder)?)?)
}

#[cfg(not(target_os = "linux"))]
fn flush(_: &Path) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// Refuses a ticket whose id is that of the ticket which has the worktree. A file that is gone was moved: it has none.
pub fn is_free(top: &Path, ticket: &Path) -> Result<(), String> {
    match owner(top) {
        Some(owner) if owner != ticket && owner.is_file() => Err(format!(
            "{} has the same id and uses {}: change one of the ids, or remove that worktree first",
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

/// Notes that it is of a forked ticket, which has not run yet: no journal knows of it.
pub(super) fn mark_forked(top: &Path, base: &str) -> Result<(), String> {
    let written = git_folder(top).and_then(|folder| fs::write(folder.join(BASE), base));
    written.map_err(|error| format!("{}: {error}", top.display()))
}

/// The worktree of a forked ticket that has not run yet.
#[derive(Debug, PartialEq, Eq)]
pub struct ForkOwn {
    /// The ticket's file.
    pub ticket: PathBuf,
    pub top: PathBuf,
    /// The branch that is checked out there; empty: none.
    pub branch: String,
    /// What its work goes into.
    pub base: String,
}

/// That of the forked ticket in this file; `None`: it has no such worktree.
pub fn forked(home_top: &Path, ticket: &Path) -> Option<ForkOwn> {
    all_forked(home_top).find(|own| own.ticket == ticket)
}

/// The working tree that others of the repository are linked to, of the one at `top`: itself, but where it is a linked one.
pub fn main_tree(top: &Path) -> PathBuf {
    let linked = || common_folder(top).filter(|common| common.ends_with(".git"))?.parent().map(Path::to_owned);
    if top.join(".git").is_dir() { top.to_owned() } else { linked().unwrap_or_else(|| top.to_owned()) }
}

/// The folder that git shares between the working trees of a repository. That of a submodule lies in the outer one's.
fn common_folder(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let own = std::fs::canonicalize(git_folder(top).ok()?).ok()?;
    let worktrees = own.parent().filter(|folder| folder.ends_with("worktrees"));
    Some(worktrees.and_then(Path::parent).map_or(own.clone(), Path::to_owned))
}

/// Those of the repository, in no order.
pub fn all_forked(home_top: &Path) -> impl Iterator<Item = ForkOwn> {
    let common = common_folder(home_top);
    let folders = common.and_then(|common| fs::read_dir(common.join("worktrees")).ok());
    folders.into_iter().flatten().flatten().filter_map(|entry| {
        let folder = entry.path();
        let base = fs::read_to_string(folder.join(BASE)).ok()?;
        let ticket = PathBuf::from(OsString::from_vec(fs::read(folder.join(TICKET)).ok()?));
        let link = fs::read_to_string(folder.join("gitdir")).ok()?;
        let top = Path::new(link.trim_end()).parent().filter(|top| top.is_dir())?.to_owned();
        let head = fs::read_to_string(folder.join("HEAD")).ok()?;
        let branch = head.trim_end().strip_prefix("ref: refs/heads/").unwrap_or_default().to_owned();
        Some(ForkOwn { ticket, top, branch, base })
    })
}

fn owner(top: &Path) -> Option<PathBuf> {
    let bytes = fs::read(git_folder(top).ok()?.join(TICKET)).ok()?;
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// The git folder of a linked working tree.
fn git_folder(top: &Path) -> io::Result<PathBuf> {
    let text = fs::read_to_string(top.join(".git"))?;
    let link = text.strip_prefix("gitdir: ").ok_or_else(|| io::Error::other("not a worktree"))?;
    Ok(top.join(link.trim_end()))
}

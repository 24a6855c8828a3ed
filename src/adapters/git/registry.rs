//! Git's own list of a repository's working trees.
//!
//! Git takes one that is just being made, or removed, for a broken one, and fails. So programs of ours read and change the
//! list one at a time, by a lock on a file in the git folder that all working trees share.

use super::command::{Git, git, line};
use super::error::words;
use super::paths;
use crate::base::text::clean_line;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Why git has locked a worktree that it is making.
pub(super) const INITIALIZING: &str = "initializing";
/// The file that is locked. It stays empty, and is never removed.
const LOCK: &str = "programmator-worktrees";
/// How long others may keep the list: several of them, one after the other, may check out a large tree.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// How often is looked whether the list is free.
const LOOK: Duration = Duration::from_millis(10);

/// What git knows of a working tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) path: PathBuf,
    pub(super) commit: String,
    /// The ref that is checked out.
    pub(super) branch: Option<String>,
    pub(super) locked: Option<String>,
}

/// Runs a call that reads or changes the list, when no other program of ours does; gives its stdout.
pub(super) async fn change(home_top: &Path, call: Git) -> Result<Vec<u8>, String> {
    let _turn = turn(home_top).await?;
    call.ok().await.map_err(words)
}

/// The same, and what has to be done before another program of ours looks.
pub(super) async fn change_and(
    home_top: &Path,
    call: Git,
    then: impl Future<Output = Result<(), String>>,
) -> Result<(), String> {
    let _turn = turn(home_top).await?;
    call.ok().await.map_err(words)?;
    then.await
}

async fn turn(home_top: &Path) -> Result<File, String> {
    let path = common(home_top).await?.join(LOCK);
    let trouble = |error| format!("{} cannot be locked: {error}", path.display());
    let file = File::options().append(true).create(true).open(&path).map_err(trouble)?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(trouble(error)),
            Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(LOOK).await,
            Err(TryLockError::WouldBlock) => {
                return Err(format!(
                    "the worktrees of {} have been locked by others for an hour: try again later",
                    home_top.display()
                ));
            }
        }
    }
}

/// The git folder that all working trees of the repository share.
pub async fn common(home_top: &Path) -> Result<PathBuf, String> {
    let said = git(home_top, "rev-parse").args(["--git-common-dir"]).ok().await.map_err(words)?;
    let folder = home_top.join(paths::path(&line(said)));
    fs::canonicalize(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

pub(super) async fn known(home_top: &Path, top: &Path) -> Result<Option<Known>, String> {
    Ok(all(home_top).await?.into_iter().find(|known| known.path == top))
}

/// Every working tree of the repository.
pub(super) async fn all(home_top: &Path) -> Result<Vec<Known>, String> {
    let listed = change(home_top, git(home_top, "worktree").args(["list", "--porcelain", "-z"])).await?;
    let mut all: Vec<Known> = Vec::new();
    for entry in listed.split(|&byte| byte == 0).filter(|entry| !entry.is_empty()) {
        let at = entry.iter().position(|&byte| byte == b' ').unwrap_or(entry.len());
        let (key, value) = (&entry[..at], entry.get(at + 1..).unwrap_or_default());
        if key == b"worktree" {
            all.push(Known { path: paths::path(value), ..Known::default() });
        }
        let Some(last) = all.last_mut() else { continue };
        match key {
            b"HEAD" => last.commit = paths::shown(value),
            b"branch" => last.branch = Some(paths::shown(value)),
            b"locked" => last.locked = Some(paths::shown(value)),
            _ => {}
        }
    }
    Ok(all)
}

/// Has git forget a worktree whose folder is gone. One that the person has locked is on a disk that is not there now.
pub(super) async fn forget(home_top: &Path, known: &Known) -> Result<(), String> {
    match known.locked.as_deref() {
        None => {}
        Some(INITIALIZING) => {
            let unlock = git(home_top, "worktree").args(["unlock"]).args([known.path.as_os_str()]);
            change(home_top, unlock).await?;
        }
        Some(why) => {
            return Err(format!("{} is missing and locked ({})", known.path.display(), clean_line(why, 100)));
        }
    }
    let remove = git(home_top, "worktree").args(["remove"]).args([known.path.as_os_str()]);
    change(home_top, remove).await.map(drop)
}

//! Worktrees of tickets: finds out how far one is made, makes it, says what work it holds that is nowhere else, and removes
//! it when that is nothing.
//!
//! What a killed git has left half checked out is moved aside, never deleted. Whether all that a worktree needs is in it
//! is noted (`marks`) in its git folder.

mod marks;
pub(super) mod sizes;

pub use marks::{is_free, mark_ready};

use super::command::{git, line};
use super::error::words;
use super::paths;
use super::registry::{self, INITIALIZING, all, forget, known};
use crate::adapters::room::Room;
use crate::base::text::clean_line;
use crate::domain::worktree::{Held, Worktree};
use sizes::has_room;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Half-made worktrees that are kept beside a good one, at most.
const ASIDE: usize = 100;

/// How far a worktree is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The commit that is checked out.
    pub commit: String,
    /// It has all it needs.
    pub is_ready: bool,
    /// What was done, for the person.
    pub notes: Vec<String>,
}

/// Finds the worktree of the ticket in this file, or makes it. Words for the person where it cannot be had.
pub async fn make(worktree: &Worktree, ticket: &Path, room: &Room) -> Result<Found, String> {
    let Worktree { top, home_top, branch, base, .. } = worktree;
    let known = known(home_top, top).await?;
    let mut notes = Vec::new();
    match (fs::symlink_metadata(top), &known) {
        (Err(error), _) if error.kind() != io::ErrorKind::NotFound => {
            return Err(format!("{}: {error}", top.display()));
        }
        (Err(_), None) => {}
        (Err(_), Some(known)) => forget(home_top, known).await?,
        (Ok(data), _) if !data.is_dir() => return Err(format!("{} is in the way: it is no folder", top.display())),
        // An empty folder that nobody misses.
        (Ok(_), None) => fs::remove_dir(top)
            .map_err(|_| format!("{} is in the way: it is no worktree of {}", top.display(), home_top.display()))?,
        (Ok(_), Some(known)) => {
            let is_ready = marks::is_ready(top);
            // Git keeps its lock until all files are there. What differs later, somebody has changed.
            if is_ready || known.locked.as_deref() != Some(INITIALIZING) {
                marks::claim(top, ticket)?;
                let wanted = format!("refs/heads/{branch}");
                return match &known.branch {
                    Some(there) if *there == wanted => Ok(Found { commit: known.commit.clone(), is_ready, notes }),
                    there => Err(format!(
                        "{} is on {}: switch it back to {branch}",
                        top.display(),
                        there.as_deref().map_or("no branch", |name| name.strip_prefix("refs/heads/").unwrap_or(name))
                    )),
                };
            }
            let aside = set_aside(top)?;
            notes.push(format!("what a killed program had begun there is kept in {}", aside.display()));
            forget(home_top, known).await?;
        }
    }
    let is_there = commit_at(home_top, &format!("refs/heads/{branch}")).await?;
    let commit = match &is_there {
        Some(commit) => commit.clone(),
        None => commit_at(home_top, base).await?.ok_or_else(|| format!("there is no commit at {base} to begin at"))?,
    };
    has_room(home_top, &commit, None, room).await?;
    let parent = top.parent().unwrap_or(top);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(parent)
        .map_err(|error| format!("the folder {} cannot be made: {error}", parent.display()))?;
    let call = git(home_top, "worktree").args(["add", "--quiet"]);
    let call = match is_there {
        Some(_) => call.args([top.as_os_str()]).args([branch]),
        None => call.args(["--no-track", "-b", branch]).args([top.as_os_str()]).args([&commit]),
    };
    registry::change(home_top, call.thorough()).await?;
    marks::claim(top, ticket)?;
    notes.insert(0, format!("made on branch {branch}"));
    Ok(Found { commit, is_ready: false, notes })
}

/// Whether git would not show a file or folder of this name, relative to the top.
pub async fn ignores(top: &Path, name: &str) -> Result<bool, String> {
    let said = git(top, "check-ignore").args(["--quiet", "--", name]).run().await.map_err(words)?;
    // A folder that is not there yet is ignored by what names folders alone.
    let as_folder = format!("{}/", name.trim_end_matches('/'));
    let or = git(top, "check-ignore").args(["--quiet", "--", &as_folder]).run().await.map_err(words)?;
    Ok(said.code == Some(0) || or.code == Some(0))
}

/// What of the work in it is nowhere else.
pub async fn held(worktree: &Worktree) -> Result<Held, String> {
    let Worktree { top, home_top, branch, base, .. } = worktree;
    let mut held = Held::default();
    let own = format!("refs/heads/{branch}");
    let mut tips: Vec<String> = commit_at(home_top, &own).await?.into_iter().collect();
    if top.is_dir() {
        (held.uncommitted, held.untracked) = changed(top).await?;
        tips.extend(commit_at(top, "HEAD").await?);
    }
    if tips.is_empty() {
        return Ok(held);
    }
    if let Some(base) = commit_at(home_top, base).await? {
        for tip in &tips {
            held.unmerged = held.unmerged.max(unmerged(home_top, &base, tip).await?);
        }
        return Ok(held);
    }
    // What it began at is gone: any other branch that has the commits will do.
    let call = git(home_top, "rev-list").args(["--count"]).args(&tips).args(["--not"]);
    let call = call.args([format!("--exclude={branch}"), "--branches".to_owned()]);
    held.unmerged = number(call.thorough().ok().await.map_err(words)?)?;
    Ok(held)
}

/// Commits of a branch that the base has neither as they are nor made anew.
pub(super) async fn unmerged(home_top: &Path, base: &str, tip: &str) -> Result<u32, String> {
    let range = format!("{base}...{tip}");
    let call = git(home_top, "rev-list").args(["--count", "--cherry-pick", "--right-only", &range]);
    let anew = number(call.thorough().ok().await.map_err(words)?)?;
    if anew > 0 {
        return Ok(anew);
    }
    let call = git(home_top, "rev-list").args(["--count", &format!("{base}..{tip}")]);
    let all = number(call.thorough().ok().await.map_err(words)?)?;
    if all == 0 {
        return Ok(0);
    }
    // To git, patches that differ in white space only are the same, and so are those that were taken back: only a merge
    // that would change nothing is believed.
    let call = git(home_top, "merge-tree").args(["--write-tree", base, tip]);
    let merged = call.thorough().run().await.map_err(words)?;
    let call = git(home_top, "rev-parse").args(["--verify", &format!("{base}^{{tree}}")]);
    let tree = call.ok().await.map_err(words)?;
    Ok(if merged.code == Some(0) && line(merged.stdout) == line(tree) { 0 } else { all })
}

fn number(said: Vec<u8>) -> Result<u32, String> {
    let count = paths::shown(&line(said));
    count.parse().map_err(|_| format!("git counts `{}` commits", clean_line(&count, 40)))
}

/// Removes it and its branch, where nothing is held: git itself looks once more. Words for the person where it stays.
pub async fn remove(worktree: &Worktree) -> Result<(), String> {
    let Worktree { top, home_top, branch, .. } = worktree;
    // First, so that a commit made meanwhile keeps the branch.
    let own = format!("refs/heads/{branch}");
    let tip = commit_at(home_top, &own).await?;
    let held = held(worktree).await?;
    if !held.is_nothing() {
        return Err(format!("{} holds {}: commit and merge it, or delete it yourself", top.display(), held.words()));
    }
    if known(home_top, top).await?.is_some() {
        let remove = git(home_top, "worktree").args(["remove"]).args([top.as_os_str()]);
        registry::change(home_top, remove.thorough()).await?;
    }
    if let Some(tip) = tip {
        // Unless it was moved or checked out elsewhere meanwhile.
        let elsewhere = all(home_top).await?.into_iter().any(|known| known.branch.as_ref() == Some(&own));
        if !elsewhere {
            git(home_top, "update-ref").args(["-d", &own, &tip]).ok().await.map_err(words)?;
        }
    }
    // Of the last one of a repository the folder above is left empty.
    if let Some(above) = top.parent() {
        let _ = fs::remove_dir(above);
    }
    Ok(())
}

/// The commit of a name; `None`: there is none.
pub(super) async fn commit_at(folder: &Path, name: &str) -> Result<Option<String>, String> {
    let name = format!("{name}^{{commit}}");
    let said = git(folder, "rev-parse").args(["--verify", "--quiet", "--end-of-options", &name]).run().await;
    let said = said.map_err(words)?;
    Ok((said.code == Some(0)).then(|| paths::shown(&line(said.stdout))))
}

/// Changed files that are tracked, and those that are not and are not ignored.
pub(super) async fn changed(top: &Path) -> Result<(Vec<String>, Vec<String>), String> {
    let status = git(top, "status").args(["--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"]);
    let said = status.thorough().ok().await.map_err(words)?;
    let entries = said.split(|&byte| byte == 0).filter(|entry| entry.len() > 3);
    let (untracked, uncommitted): (Vec<_>, Vec<_>) = entries.partition(|entry| entry.starts_with(b"?? "));
    let names = |all: Vec<&[u8]>| all.iter().map(|entry| paths::shown(&entry[3..])).collect();
    Ok((names(uncommitted), names(untracked)))
}

/// Moves a folder to a name beside its own that is free.
fn set_aside(top: &Path) -> Result<PathBuf, String> {
    let name = top.file_name().unwrap_or_default().to_string_lossy();
    let mut beside = (1..=ASIDE).map(|n| top.with_file_name(format!("{name}.unfinished-{n}")));
    let aside = beside.find(|aside| fs::symlink_metadata(aside).is_err());
    let aside = aside.ok_or_else(|| format!("too many unfinished worktrees beside {}", top.display()))?;
    fs::rename(top, &aside).map_err(|error| format!("{} cannot be moved aside: {error}", top.display()))?;
    Ok(aside)
}

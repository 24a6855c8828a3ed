//! Worktrees of tickets: finds out how far one is made, makes it, says what work it holds that is nowhere else, and removes
//! it when that is nothing.
//!
//! What a killed git has left half checked out is moved aside, never deleted. Whether all that a worktree needs is in it
//! is noted (`marks`) in its git folder.

mod marks;
pub(super) mod sizes;

pub use marks::{ForkOwn, all_forked, forked, is_free, main_tree, mark_ready};

use super::command::{git, line};
use super::error::words;
use super::forking::Beginning;
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
use std::sync::atomic::{AtomicBool, Ordering};

/// Half-made worktrees that are kept beside a good one, at most.
const ASIDE: usize = 100;

/// How far a worktree is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The commit that is checked out.
    pub commit: String,
    /// It has all it needs.
    pub is_ready: bool,
    /// Its branch was made for it.
    pub is_new_branch: bool,
    /// What was done, for the person.
    pub notes: Vec<String>,
}

/// The files that a worktree is made with.
pub struct Files<'a> {
    pub beginning: &'a Beginning,
    /// What of them is left out.
    pub exclude: Vec<PathBuf>,
    /// A folder of ours.
    pub keep: &'a Path,
}

/// Finds the worktree of the ticket in this file, or makes it. Words for the person where it cannot be had.
pub async fn make(worktree: &Worktree, ticket: &Path, room: &Room) -> Result<Found, String> {
    made(worktree, ticket, room, None).await
}

/// Makes one with the files of a snapshot, or finds what a program that was killed has made. Where it cannot be made, nothing
/// is left of it.
pub async fn make_with(worktree: &Worktree, ticket: &Path, room: &Room, files: &Files<'_>) -> Result<Found, String> {
    made(worktree, ticket, room, Some(files)).await
}

/// Removes what was just [made](make_with), in which nobody has worked, and the branch where that is new.
pub async fn unmake(worktree: &Worktree, beginning: &Beginning, is_new_branch: bool) -> Result<(), String> {
    let Worktree { top, home_top, branch, .. } = worktree;
    if known(home_top, top).await?.is_some() {
        let remove = git(home_top, "worktree").args(["remove", "--force"]).args([top.as_os_str()]);
        registry::change(home_top, remove.thorough()).await?;
    }
    let own = format!("refs/heads/{branch}");
    let elsewhere = all(home_top).await?.into_iter().any(|known| known.branch.as_ref() == Some(&own));
    if is_new_branch && !elsewhere && commit_at(home_top, &own).await?.as_deref() == Some(&beginning.base) {
        git(home_top, "update-ref").args(["-d", &own, &beginning.base]).ok().await.map_err(words)?;
    }
    Ok(())
}

/// As of a repository that was just made.
fn no_commit(base: &str) -> String {
    format!(
        "no commit at {base} to start a worktree from: make the first one (git add -A && git commit), or set git.base"
    )
}

async fn made(worktree: &Worktree, ticket: &Path, room: &Room, files: Option<&Files<'_>>) -> Result<Found, String> {
    let Worktree { top, home_top, branch, base, .. } = worktree;
    let known = known(home_top, top).await?;
    let mut notes = Vec::new();
    match (fs::symlink_metadata(top), &known) {
        (Err(error), _) if error.kind() != io::ErrorKind::NotFound => {
            return Err(format!("{}: {error}", top.display()));
        }
        (Err(_), None) => {}
        (Err(_), Some(known)) => forget(home_top, known).await?,
        (Ok(data), _) if !data.is_dir() => return Err(format!("{} is in the way: not a folder", top.display())),
        // An empty folder that nobody misses.
        (Ok(_), None) => fs::remove_dir(top)
            .map_err(|_| format!("{} is in the way: not a worktree of {}", top.display(), home_top.display()))?,
        (Ok(_), Some(known)) => {
            let is_ready = marks::is_ready(top);
            // Git keeps its lock until all files are there, and no note says so before they are on the disk. What differs
            // later, somebody has changed.
            let is_whole = is_ready || marks::has_files(top);
            if is_whole || known.locked.as_deref().is_some_and(|why| why != INITIALIZING) {
                if let Some(files) = files
                    && !files.beginning.is_of(top).await?
                {
                    return Err(format!("{} already exists with other work: choose another id", top.display()));
                }
                marks::claim(top, ticket)?;
                let wanted = format!("refs/heads/{branch}");
                return match &known.branch {
                    Some(there) if *there == wanted => {
                        Ok(Found { commit: known.commit.clone(), is_ready, is_new_branch: false, notes })
                    }
                    there => Err(format!(
                        "{} is on {}: switch it back to {branch}",
                        top.display(),
                        there.as_deref().map_or("no branch", |name| name.strip_prefix("refs/heads/").unwrap_or(name))
                    )),
                };
            }
            let aside = set_aside(top)?;
            notes.push(format!("an incomplete worktree was moved to {}", aside.display()));
            forget(home_top, known).await?;
        }
    }
    let is_there = commit_at(home_top, &format!("refs/heads/{branch}")).await?;
    let commit = match (&is_there, files) {
        (Some(there), Some(files)) if *there != files.beginning.base => {
            return Err(format!("the branch {branch} already exists: choose another id"));
        }
        (Some(commit), _) => commit.clone(),
        (None, Some(files)) => files.beginning.base.clone(),
        (None, None) => commit_at(home_top, base).await?.ok_or_else(|| no_commit(base))?,
    };
    has_room(home_top, &commit, None, room).await?;
    let parent = top.parent().unwrap_or(top);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(parent)
        .map_err(|error| format!("the folder {} cannot be created: {error}", parent.display()))?;
    let call = git(home_top, "worktree").args(["add", "--quiet"]);
    let is_new_branch = is_there.is_none();
    let call = match is_there {
        Some(_) => call.args([top.as_os_str()]).args([branch]),
        None => call.args(["--no-track", "-b", branch]).args([top.as_os_str()]).args([&commit]),
    };
    // What stands there otherwise, somebody else has made.
    let is_added = AtomicBool::new(false);
    let begin = async {
        is_added.store(true, Ordering::Relaxed);
        if let Some(Files { beginning, exclude, keep }) = files {
            beginning.fill(top, exclude, keep).await?;
            marks::mark_forked(top, base)?;
        }
        marks::mark_files(top).await
    };
    let added = registry::change_and(home_top, call.thorough(), begin).await;
    let claimed = added.and_then(|()| marks::claim(top, ticket));
    if let (Err(why), Some(files), true) = (&claimed, files, is_added.load(Ordering::Relaxed)) {
        let left = unmake(worktree, files.beginning, is_new_branch).await;
        return Err(left.map_or_else(|left| format!("{why}; {} remains: {left}", top.display()), |()| why.clone()));
    }
    claimed?;
    notes.insert(0, format!("created on branch {branch}"));
    Ok(Found { commit, is_ready: false, is_new_branch, notes })
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
        return Err(format!("{} has {}: commit and merge it, or delete it yourself", top.display(), held.words()));
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
pub async fn changed(top: &Path) -> Result<(Vec<String>, Vec<String>), String> {
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
    let aside = aside.ok_or_else(|| format!("too many unfinished worktrees next to {}", top.display()))?;
    fs::rename(top, &aside).map_err(|error| format!("{} cannot be moved aside: {error}", top.display()))?;
    Ok(aside)
}

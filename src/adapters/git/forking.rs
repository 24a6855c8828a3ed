//! The files of a snapshot in a worktree that was just made upon the commit that the snapshot was taken upon: what differs
//! from that commit is there as uncommitted work, and counts as the work of the worktree's ticket.
//!
//! What is in the worktree is named by a ref of its own, which git removes with it.

use super::WorkTree;
use super::begun::{REF, begun};
use super::command::{Git, git, line};
use super::error::words;
use super::history::{self, Difference};
use super::paths::{self, Excludes};
use super::restore;
use super::scratch::{self, Objects, Scratch};
use super::snapshot::{Snapshot, SnapshotId};
use crate::base::id::TicketId;
use std::path::{Path, PathBuf};

/// What a worktree begins with.
#[derive(Clone, Debug)]
pub struct Beginning {
    pub snapshot: Snapshot,
    /// A commit with its files, upon the commit that it was taken upon.
    commit: String,
    pub(super) base: String,
}

impl Beginning {
    /// The commit that the worktree's branch begins at.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Whether the worktree has begun with it.
    pub(super) async fn is_of(&self, top: &Path) -> Result<bool, String> {
        let Some(there) = begun(git(top, "rev-parse")).await.map_err(words)? else { return Ok(false) };
        // Of the end of a run each commit is another one.
        let of = async |commit: &str| {
            let call = git(top, "rev-parse").args([format!("{commit}^{{tree}}"), format!("{commit}^1")]);
            call.ok().await.map_err(words)
        };
        Ok(of(&there).await? == of(&self.commit).await?)
    }

    /// Brings its files into the worktree, but for `exclude`, and says so there. `keep`: a folder of ours.
    pub(super) async fn fill(&self, top: &Path, exclude: &[PathBuf], keep: &Path) -> Result<(), String> {
        let tree = WorkTree::open(top, keep).await.map_err(words)?;
        let WorkTree::Git(repository) = &tree else { return Err(super::NO_GIT.to_owned()) };
        let exclude = Excludes::new(&repository.top, &repository.folder, exclude);
        let present = scratch::stage(repository, &exclude, Objects::Passing).await.map_err(words)?;
        let (now, wanted) = (SnapshotId(present.tree.clone()), SnapshotId(self.commit.clone()));
        let differ = history::differences(&present.scratch, &now, &wanted.0, &exclude).await.map_err(words)?;
        // A repository in the repository is in no snapshot.
        let (gone, due): (Vec<&Difference>, Vec<&Difference>) =
            differ.iter().filter(|one| !one.submodule).partition(|one| one.status == b'D');
        restore::has_room_for(&present.scratch, top, &wanted, &due).await?;
        for one in gone {
            restore::remove(top, one).map_err(|why| format!("{}: {why}", paths::shown(&one.path)))?;
        }
        present.scratch.git("read-tree").args([&self.commit]).thorough().ok().await.map_err(words)?;
        restore::write(&present.scratch, top, &due).await.map_err(words)?;
        git(top, "update-ref").args([REF, &self.commit]).ok().await.map(drop).map_err(words)
    }
}

impl WorkTree {
    /// What a worktree with the files of a ticket's snapshot begins with; words for the person where none can.
    pub async fn beginning(&self, ticket: &TicketId, wanted: &str) -> Result<Beginning, String> {
        let Self::Git(repository) = self else { return Err(super::NO_GIT.to_owned()) };
        let all = self.list_snapshots(ticket).await.map_err(words)?;
        let snapshot = history::pick(&all, ticket, wanted).map_err(words)?.clone();
        // An end has no commit of its own.
        let is_before = |one: &&Snapshot| !one.is_end && (one.run, one.n) == (snapshot.run, snapshot.n);
        let before = if snapshot.is_end { all.iter().find(is_before) } else { Some(&snapshot) };
        let before = before.ok_or("the snapshot before that end is gone")?;
        let shown = &snapshot.pick;
        let parent = format!("{}^1", before.id.0);
        let id = |call: Git| async {
            let said = call.run().await.map_err(words)?;
            Ok::<_, String>((said.code == Some(0)).then(|| paths::shown(&line(said.stdout))))
        };
        let verify = |name: &str| repository.git("rev-parse").args(["--verify", "--quiet", name]);
        let none = || {
            format!(
                "snapshot {shown} was taken before the first commit, so no branch can start there: commit (git add -A && git commit), run the ticket, and fork a later snapshot"
            )
        };
        let base = id(verify(&parent)).await?.ok_or_else(none)?;
        let is_there = id(repository.git("cat-file").args(["-e", &format!("{base}^{{tree}}")])).await?.is_some();
        if !is_there {
            return Err(format!("the commit {} of snapshot {shown} is gone", base.get(..12).unwrap_or(&base)));
        }
        let commit = if snapshot.is_end {
            let scratch = Scratch::new(repository, Objects::Kept).await.map_err(words)?;
            let call = scratch.git("commit-tree").args([snapshot.tree.as_str(), "-p", &base, "-F", "-"]);
            let message = b"programmator: the work tree at the end of a run\n".to_vec();
            paths::shown(&line(call.input(message).ok().await.map_err(words)?))
        } else {
            snapshot.id.0.clone()
        };
        Ok(Beginning { snapshot, commit, base })
    }
}

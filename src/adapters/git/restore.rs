//! Bringing the working tree back to a snapshot: only the files that differ, after the present was saved.
//!
//! Nothing ignored is touched, nothing is written through a symbolic link, into a submodule or a nested
//! repository; the person's index, HEAD and stash stay as they are.

use super::error::EvidenceError;
use super::history::{self, Difference};
use super::kept::{Looks, looks};
use super::paths::{self, Excludes};
use super::repository::Repository;
use super::scratch::{self, Objects, Scratch, Staged, listing};
use super::snapshot::SnapshotId;
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::restore::{Kept, Plan, Restored, WantedFiles};
use std::fs;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

/// What that would do to the working tree as it is. Changes nothing.
pub(super) async fn plan(
    repository: &Arc<Repository>,
    ticket: &TicketId,
    wanted: &WantedFiles,
    exclude: &Excludes,
) -> Result<Plan, EvidenceError> {
    let known = history::list(repository, ticket).await?;
    let target = history::pick(&known, ticket, &wanted.snapshot)?;
    let present = scratch::stage(repository, exclude, Objects::Passing).await?;
    let now = SnapshotId(present.tree.clone());
    let differences = history::differences(&present.scratch, &now, &target.id.0, exclude).await?;
    let mut plan = Plan { tree: now.0, ..Plan::default() };
    for difference in differences {
        let path = paths::shown(&difference.path);
        if !wanted.covers(&path) {
            continue;
        }
        let (may, list) = if difference.status == b'D' {
            (may_remove(&repository.top, &difference), &mut plan.removes)
        } else {
            (may_write(&repository.top, &difference), &mut plan.writes)
        };
        match may {
            Ok(()) => list.push(path),
            Err(why) => plan.keeps.push(Kept { path, why }),
        }
    }
    Ok(plan)
}

/// Files that can be restored: the state before is saved, and nothing is written yet.
pub struct ReadyRestore {
    /// What a person calls the snapshot that is restored, and that of the state before.
    pub pick: String,
    pub saved: String,
    repository: Arc<Repository>,
    present: Staged,
    target: SnapshotId,
    /// What differs, and what the file looked like when it was saved.
    due: Vec<(Difference, Looks)>,
}

/// Looks what differs and saves the present. Words for the person where that cannot be.
pub(super) async fn prepare(
    repository: &Arc<Repository>,
    ticket: &TicketId,
    wanted: &WantedFiles,
    agreed: Option<&str>,
    exclude: &Excludes,
) -> Result<ReadyRestore, String> {
    let words = |error: EvidenceError| error.to_string();
    let known = history::list(repository, ticket).await.map_err(words)?;
    let target = history::pick(&known, ticket, &wanted.snapshot).map_err(words)?;
    let present = scratch::stage(repository, exclude, Objects::Kept).await.map_err(words)?;
    if agreed.is_some_and(|agreed| agreed != present.tree) {
        return Err(CHANGED.to_owned());
    }
    let (saved, saved_id) = save(repository, ticket, &present).await.map_err(words)?;
    let differences = history::differences(&present.scratch, &saved_id, &target.id.0, exclude).await.map_err(words)?;
    let meant = differences.into_iter().filter(|difference| wanted.covers(&paths::shown(&difference.path)));
    let looked = |difference: Difference| {
        let looks = looked_at(&repository.top, &difference);
        (difference, looks)
    };
    let due: Vec<_> = meant.map(looked).collect();
    // Whoever writes from here on is seen by how the file looks.
    let again = scratch::stage(repository, exclude, Objects::Passing).await.map_err(words)?;
    if again.tree != present.tree {
        return Err(CHANGED.to_owned());
    }
    let (pick, target) = (target.pick.clone(), target.id.clone());
    Ok(ReadyRestore { pick, saved, repository: Arc::clone(repository), present, target, due })
}

/// What the file looks like; nothing where it is a folder or cannot be reached, for that is judged when it is written.
fn looked_at(top: &Path, difference: &Difference) -> Looks {
    let relative = paths::path(&difference.path);
    reachable(top, &relative).ok()?;
    let file = top.join(relative);
    if file.is_symlink() || !file.is_dir() { looks(&file) } else { None }
}

const CHANGED: &str = "nothing was restored: the files have changed meanwhile; look again";

impl ReadyRestore {
    /// How many files it is about.
    pub fn files(&self) -> usize {
        self.due.len()
    }

    /// Writes and removes them, but those that have changed since they were saved.
    pub async fn write(self) -> Result<Restored, String> {
        let top = &self.repository.top;
        let mut report = Restored { saved: self.saved, ..Restored::default() };
        let (removals, writes): (Vec<_>, Vec<_>) = self.due.iter().partition(|(d, _)| d.status == b'D');
        let as_saved = |difference: &Difference, before: &Looks| {
            let is_same = looked_at(top, difference) == *before;
            if is_same { Ok(()) } else { Err("it was changed meanwhile".to_owned()) }
        };
        for (difference, before) in removals {
            match as_saved(difference, before).and_then(|()| remove(top, difference)) {
                Ok(()) => report.removed.push(paths::shown(&difference.path)),
                Err(why) => report.kept.push(kept(difference, why)),
            }
        }
        let mut due: Vec<&Difference> = Vec::new();
        for (difference, before) in writes {
            match may_write(top, difference).and_then(|()| as_saved(difference, before)) {
                Ok(()) => due.push(difference),
                Err(why) => report.kept.push(kept(difference, why)),
            }
        }
        let written = write(&self.present.scratch, &self.target, &due, &mut report).await;
        written.map_err(|error| format!("{error} (snapshot {} has the files as they were before)", report.saved))?;
        Ok(report)
    }
}

/// Keeps the state before something is written; what a person calls it, and its id.
pub(super) async fn save(
    repository: &Arc<Repository>,
    ticket: &TicketId,
    present: &Staged,
) -> Result<(String, SnapshotId), EvidenceError> {
    let known = history::list(repository, ticket).await?;
    let last = known.iter().filter(|snapshot| snapshot.run.is_none()).map(|snapshot| snapshot.n).max();
    let first = last.unwrap_or(0).saturating_add(1);
    // In another working tree of the repository it may just be taken, and a broken ref is not listed.
    for n in first..first.saturating_add(TRIES) {
        let name = format!("{}/{n}", history::RESTORE);
        let reference = format!("{}/{name}", history::folder(ticket));
        if let Some(id) = history::keep_new(repository, present, &reference).await? {
            return Ok((name, id));
        }
    }
    let path = repository.common_dir.join(history::folder(ticket)).join(history::RESTORE);
    Err(EvidenceError::Io {
        what: "finding a free number for a snapshot".into(),
        path,
        source: io::ErrorKind::AlreadyExists.into(),
    })
}

/// Numbers that are tried for a snapshot.
const TRIES: u32 = 100;

fn kept(difference: &Difference, why: String) -> Kept {
    Kept { path: paths::shown(&difference.path), why }
}

/// Has git write the files out of an index of the snapshot; git itself never follows a link here.
async fn write(
    scratch: &Scratch,
    target: &SnapshotId,
    due: &[&Difference],
    report: &mut Restored,
) -> Result<(), EvidenceError> {
    if due.is_empty() {
        return Ok(());
    }
    scratch.git("read-tree").args([&target.0]).thorough().ok().await?;
    let said = scratch
        .git("checkout-index")
        .args(["--force", "-z", "--stdin"])
        .input(listing(due.iter().map(|difference| difference.path.as_slice())))
        .thorough()
        .run()
        .await?;
    if said.code != Some(0) {
        report.kept.push(Kept { path: "some files".to_owned(), why: clean_line(&said.stderr, 600) });
    }
    report.written.extend(due.iter().map(|difference| paths::shown(&difference.path)));
    Ok(())
}

/// Whether the file can be removed without harm to what is no part of the snapshot.
fn may_remove(top: &Path, difference: &Difference) -> Result<(), String> {
    if difference.submodule {
        return Err("a submodule or nested repository".to_owned());
    }
    reachable(top, &paths::path(&difference.path))
}

/// Removes a file that the snapshot does not have, and the folders that this leaves empty.
fn remove(top: &Path, difference: &Difference) -> Result<(), String> {
    may_remove(top, difference)?;
    let relative = paths::path(&difference.path);
    match fs::remove_file(top.join(&relative)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.to_string()),
        _ => {}
    }
    for parent in relative.ancestors().skip(1) {
        // Stops at the first folder that still holds something.
        if parent.as_os_str().is_empty() || fs::remove_dir(top.join(parent)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Whether the snapshot's file can be put there without harm to what is no part of the snapshot.
fn may_write(top: &Path, difference: &Difference) -> Result<(), String> {
    if difference.submodule {
        return Err("a submodule or nested repository".to_owned());
    }
    let relative = paths::path(&difference.path);
    reachable(top, &relative)?;
    let Ok(there) = fs::symlink_metadata(top.join(&relative)) else { return Ok(()) };
    if there.is_dir() {
        return Err("a folder with ignored files is in its place".to_owned());
    }
    if difference.status == b'A' {
        return Err("the file in its place is ignored by git now".to_owned());
    }
    Ok(())
}

/// Every folder on the way is a real folder of this working tree.
pub(super) fn reachable(top: &Path, relative: &Path) -> Result<(), String> {
    if relative.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err("its name leaves the working tree".to_owned());
    }
    for parent in relative.ancestors().skip(1) {
        if parent.as_os_str().is_empty() {
            break;
        }
        let folder = top.join(parent);
        match fs::symlink_metadata(&folder) {
            Ok(data) if data.is_symlink() => return Err(format!("{} is a symbolic link now", parent.display())),
            Ok(data) if !data.is_dir() => return Err(format!("{} is no longer a folder", parent.display())),
            Ok(_) if folder.join(".git").exists() => {
                return Err(format!("{} is a repository of its own now", parent.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

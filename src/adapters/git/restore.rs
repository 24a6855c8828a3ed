//! Bringing the working tree back to a snapshot: only the files that differ, after the present was saved.
//!
//! Nothing ignored is touched, nothing is written through a symbolic link, into a submodule or a nested
//! repository; the person's index, HEAD and stash stay as they are.

use super::command::failed;
use super::error::EvidenceError;
use super::foretold::shown_as;
use super::history::{self, Difference};
use super::kept::{Looks, looks};
use super::paths::{self, Excludes};
use super::repository::Repository;
use super::scratch::{self, Objects, Scratch, Staged, listing};
use super::snapshot::{Snapshot, SnapshotId};
use crate::adapters::room;
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::restore::{Kept, OthersWork, Plan, Restored, Spared, WantedFiles};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

/// What that would do to the working tree as it is. Changes nothing.
pub(super) async fn plan(
    repository: &Arc<Repository>,
    ticket: &TicketId,
    wanted: &WantedFiles,
    others: &OthersWork,
    exclude: &Excludes,
) -> Result<Plan, EvidenceError> {
    let known = history::list(repository, ticket).await?;
    let target = history::pick(&known, ticket, &wanted.snapshot)?;
    let present = scratch::stage(repository, exclude, Objects::Passing).await?;
    let now = SnapshotId(present.tree.clone());
    let differences = history::differences(&present.scratch, &now, &target.id.0, exclude).await?;
    let tree = shown_as(now.0, &differences, wanted, others);
    let mut plan = Plan { tree, unknown: others.unknown.clone(), ..Plan::default() };
    for difference in differences {
        let path = paths::shown(&difference.path);
        if !wanted.covers(&path) {
            continue;
        }
        if let Some(spared) = others.keeps_back(wanted, &path) {
            plan.spares.push(spared);
            continue;
        }
        let (may, list) = if difference.status == b'D' {
            (may_remove(&repository.top, &difference), &mut plan.removes)
        } else {
            (may_write(&repository.top, &difference), &mut plan.writes)
        };
        match may {
            Ok(()) => {
                plan.others.extend(others.of(&path));
                list.push(path);
            }
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
    /// The snapshot.
    pub of: Snapshot,
    repository: Arc<Repository>,
    present: Staged,
    target: SnapshotId,
    exclude: Excludes,
    due: Vec<Due>,
    spared: Vec<Spared>,
    /// Files that are restored though the runs of other tickets have changed them.
    others: Vec<Spared>,
}

/// What is to be done.
pub enum Prepared {
    Ready(Box<ReadyRestore>),
    /// No file is to be written or removed, and nothing was saved.
    Nothing(Restored),
}

/// A file that differs.
struct Due {
    difference: Difference,
    /// What it looked like when it was saved.
    before: Looks,
    /// So many bytes more are on the disk when it is written.
    grows: u64,
}

/// Looks what differs and saves the present. Words for the person where that cannot be.
pub(super) async fn prepare(
    repository: &Arc<Repository>,
    ticket: &TicketId,
    wanted: &WantedFiles,
    agreed: Option<&str>,
    others: &OthersWork,
    exclude: &Excludes,
) -> Result<Prepared, String> {
    let words = |error: EvidenceError| error.to_string();
    let known = history::list(repository, ticket).await.map_err(words)?;
    let target = history::pick(&known, ticket, &wanted.snapshot).map_err(words)?;
    let present = scratch::stage(repository, exclude, Objects::Kept).await.map_err(words)?;
    let now = SnapshotId(present.tree.clone());
    let differences = history::differences(&present.scratch, &now, &target.id.0, exclude).await.map_err(words)?;
    let shown = shown_as(present.tree.clone(), &differences, wanted, others);
    if agreed.is_some_and(|agreed| agreed != shown) {
        return Err(CHANGED.to_owned());
    }
    let (mut spared, mut touched) = (Vec::new(), Vec::new());
    let is_meant = |difference: &Difference| {
        let path = paths::shown(&difference.path);
        let left = others.keeps_back(wanted, &path).filter(|_| wanted.covers(&path));
        let is_meant = left.is_none() && wanted.covers(&path);
        spared.extend(left);
        touched.extend(others.of(&path).filter(|_| is_meant));
        is_meant
    };
    let meant: Vec<Difference> = differences.into_iter().filter(is_meant).collect();
    if meant.is_empty() {
        return Ok(Prepared::Nothing(Restored { spared, ..Restored::default() }));
    }
    let (saved, _) = save(repository, ticket, &present).await.map_err(words)?;
    let sizes = sizes(&present.scratch, &target.id).await.map_err(words)?;
    let looked = |difference: Difference| {
        let before = looked_at(&repository.top, &difference);
        let size = sizes.get(&difference.path).copied().unwrap_or(0);
        Due { grows: size.saturating_sub(before.map_or(0, |(size, ..)| size)), difference, before }
    };
    let due: Vec<_> = meant.into_iter().map(looked).collect();
    has_room(&repository.top, &due).map_err(|why| format!("nothing was restored: {why}"))?;
    // Whoever writes from here on is seen by how the file looks.
    let again = scratch::stage(repository, exclude, Objects::Passing).await.map_err(words)?;
    if again.tree != present.tree {
        return Err(CHANGED.to_owned());
    }
    let (pick, of, target) = (target.pick.clone(), target.clone(), target.id.clone());
    let (repository, exclude) = (Arc::clone(repository), exclude.clone());
    let ready = ReadyRestore { pick, saved, of, repository, present, target, exclude, due, spared, others: touched };
    Ok(Prepared::Ready(Box::new(ready)))
}

/// How large the files of a snapshot are, as far as git can say.
async fn sizes(scratch: &Scratch, snapshot: &SnapshotId) -> Result<HashMap<Vec<u8>, u64>, EvidenceError> {
    let said = scratch.git("ls-tree").args(["-r", "-l", "-z", &snapshot.0]).thorough().run().await?;
    // `100644 blob <id>    1234\t<path>`
    let entry = |entry: &[u8]| {
        let tab = entry.iter().position(|&byte| byte == b'\t')?;
        let size = paths::shown(&entry[..tab]).split_whitespace().nth(3)?.parse::<u64>().ok()?;
        Some((entry[tab + 1..].to_vec(), size))
    };
    Ok(said.stdout.split(|&byte| byte == 0).filter_map(entry).collect())
}

/// Fails where the disk has no room for files of a snapshot that are not there yet.
pub(super) async fn has_room_for(
    scratch: &Scratch,
    top: &Path,
    snapshot: &SnapshotId,
    files: &[&Difference],
) -> Result<(), String> {
    let sizes = sizes(scratch, snapshot).await.map_err(|error| error.to_string())?;
    room::fits(top, files.iter().filter_map(|one| sizes.get(&one.path)).copied().fold(0, u64::saturating_add))
}

/// Fails where the disk has no room for them.
fn has_room(top: &Path, due: &[Due]) -> Result<(), String> {
    room::fits(top, due.iter().map(|due| due.grows).fold(0, u64::saturating_add))
}

/// What the file looks like; nothing where it is a folder or cannot be reached, for that is judged when it is written.
fn looked_at(top: &Path, difference: &Difference) -> Looks {
    let relative = paths::path(&difference.path);
    reachable(top, &relative).ok()?;
    let file = top.join(relative);
    if file.is_symlink() || !file.is_dir() { looks(&file) } else { None }
}

const CHANGED: &str =
    "nothing was restored: the files, or changes of other tickets, are no longer as shown; review them again";

impl ReadyRestore {
    /// How many files it is about.
    pub fn files(&self) -> usize {
        self.due.len()
    }

    /// The snapshot's git object.
    pub fn snapshot(&self) -> &str {
        &self.target.0
    }

    /// Writes and removes them, but those that have changed since they were saved: each is looked at shortly before its
    /// turn.
    pub async fn write(mut self) -> Result<Restored, String> {
        let mut others = std::mem::take(&mut self.others);
        let done = self.written().await?;
        others.retain(|one| done.written.contains(&one.path) || done.removed.contains(&one.path));
        Ok(Restored { others, ..done })
    }

    async fn written(self) -> Result<Restored, String> {
        let (top, scratch) = (&self.repository.top, &self.present.scratch);
        let mut report = Restored { saved: self.saved, spared: self.spared, ..Restored::default() };
        let words = |error: EvidenceError| format!("nothing was restored: {error}");
        scratch.git("read-tree").args([&self.target.0]).thorough().ok().await.map_err(words)?;
        let (removals, writes): (Vec<Due>, Vec<Due>) =
            self.due.into_iter().partition(|due| due.difference.status == b'D');
        let as_saved = |due: &Due| {
            let is_same = looked_at(top, &due.difference) == due.before;
            if is_same { Ok(()) } else { Err("it was changed in the meantime".to_owned()) }
        };
        for due in removals {
            match as_saved(&due).and_then(|()| remove(top, &due.difference)) {
                Ok(()) => report.removed.push(paths::shown(&due.difference.path)),
                Err(why) => report.kept.push(kept(&due.difference, why)),
            }
        }
        let mut tried: Vec<&Difference> = Vec::new();
        let mut trouble: Option<String> = None;
        for batch in writes.chunks(BATCH) {
            let room = has_room(top, batch);
            let mut due: Vec<&Difference> = Vec::new();
            for one in batch {
                match room.clone().and_then(|()| may_write(top, &one.difference)).and_then(|()| as_saved(one)) {
                    Ok(()) => due.push(&one.difference),
                    Err(why) => report.kept.push(kept(&one.difference, why)),
                }
            }
            if let Err(error) = write(scratch, top, &due).await {
                trouble.get_or_insert(error.to_string());
            }
            if let Err(why) = room {
                trouble.get_or_insert(why);
            }
            tried.extend(due);
        }
        let Some(why) = trouble else {
            report.written.extend(tried.iter().map(|difference| paths::shown(&difference.path)));
            return Ok(report);
        };
        // Git does not say which of them it has written, or how far.
        match differ_still(&self.repository, &self.target, &self.exclude).await {
            Ok(still) => {
                let (left, done): (Vec<_>, Vec<_>) = tried.into_iter().partition(|tried| still.contains(&tried.path));
                report.written.extend(done.into_iter().map(|difference| paths::shown(&difference.path)));
                report.kept.extend(left.into_iter().map(|difference| kept(difference, UNWRITTEN.to_owned())));
            }
            Err(error) => {
                let unseen = format!("cannot tell whether it was written: {error}");
                report.kept.extend(tried.into_iter().map(|difference| kept(difference, unseen.clone())));
            }
        }
        report.trouble = Some(format!("{} (previous files in snapshot {})", clean_line(&why, 600), report.saved));
        Ok(report)
    }
}

/// So many files are looked at, then written: what somebody writes meanwhile into one of them is not seen.
const BATCH: usize = 32;
const UNWRITTEN: &str = "git could not write it completely";

/// The files that differ from a snapshot.
async fn differ_still(
    repository: &Arc<Repository>,
    target: &SnapshotId,
    exclude: &Excludes,
) -> Result<HashSet<Vec<u8>>, EvidenceError> {
    let present = scratch::stage(repository, exclude, Objects::Passing).await?;
    let now = SnapshotId(present.tree.clone());
    let differences = history::differences(&present.scratch, &now, &target.0, exclude).await?;
    Ok(differences.into_iter().map(|difference| difference.path).collect())
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

/// Has git write the files out of its index, which has the snapshot; git itself never follows a link here.
pub(super) async fn write(scratch: &Scratch, top: &Path, due: &[&Difference]) -> Result<(), EvidenceError> {
    if due.is_empty() {
        return Ok(());
    }
    let said = scratch
        .git("checkout-index")
        .args(["--force", "-z", "--stdin"])
        .input(listing(due.iter().map(|difference| difference.path.as_slice())))
        .thorough()
        .run()
        .await?;
    if said.code == Some(0) { Ok(()) } else { Err(failed("checkout-index", top, &said)) }
}

/// Whether the file can be removed without harm to what is no part of the snapshot.
fn may_remove(top: &Path, difference: &Difference) -> Result<(), String> {
    if difference.submodule {
        return Err("a submodule or nested repository".to_owned());
    }
    reachable(top, &paths::path(&difference.path))
}

/// Removes a file that the snapshot does not have, and the folders that this leaves empty.
pub(super) fn remove(top: &Path, difference: &Difference) -> Result<(), String> {
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
        return Err("a folder with ignored files has replaced it".to_owned());
    }
    if difference.status == b'A' {
        return Err("it is now ignored by git".to_owned());
    }
    Ok(())
}

/// Every folder on the way is a real folder of this working tree.
pub(super) fn reachable(top: &Path, relative: &Path) -> Result<(), String> {
    if relative.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err("its path leaves the working tree".to_owned());
    }
    for parent in relative.ancestors().skip(1) {
        if parent.as_os_str().is_empty() {
            break;
        }
        let folder = top.join(parent);
        match fs::symlink_metadata(&folder) {
            Ok(data) if data.is_symlink() => return Err(format!("{} is now a symbolic link", parent.display())),
            Ok(data) if !data.is_dir() => return Err(format!("{} is no longer a folder", parent.display())),
            Ok(_) if folder.join(".git").exists() => {
                return Err(format!("{} is now a nested repository", parent.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

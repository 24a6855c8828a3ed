//! Whose a change is: the files that a ticket's runs have changed, and what stands against committing one.
//!
//! The runs have left snapshots: before each iteration all files as they were, and after it the files as they were found.
//! Between the two the run was at work; from there to the next snapshot, and to now, it was not. A file that was as
//! committed at some snapshot starts from there: what was before is in the history. And a file that is again as it was at
//! one of them, which is what a restore makes of it, is whose it was then.

use super::begun::begun;
use super::command::line;
use super::error::EvidenceError;
use super::history;
use super::paths::{self, Excludes};
use super::repository::Repository;
use super::scratch::{Scratch, Staged};
use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::commit::Why;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// Whose work is committed.
pub struct Work {
    /// The ticket's runs in this working tree, in their order, each with the id that the ticket had then.
    pub runs: Vec<(TicketId, RunId)>,
    /// Files that they have changed while there was no repository.
    pub before_git: Vec<String>,
    /// Hooks and settings that were changed since then are asked about.
    pub since: Timestamp,
    /// How long the person's hooks may take.
    pub patience: Duration,
}

/// What a tree has of a path: git's mode and the id of the content. Nothing: no such file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Side {
    mode: String,
    id: String,
}

impl Side {
    pub(super) fn new(mode: &str, id: &str) -> Self {
        let is_there = mode.bytes().any(|digit| digit != b'0');
        if is_there { Self { mode: mode.to_owned(), id: id.to_owned() } } else { Self::default() }
    }

    fn is_repository(&self) -> bool {
        self.mode == "160000"
    }

    /// The line that makes an index have it.
    pub(super) fn index_line(&self, path: &[u8], object_format: &str) -> Vec<u8> {
        let digits = if object_format == "sha256" { 64 } else { 40 };
        let mut line = match self.mode.as_str() {
            "" => format!("0 {}\t", "0".repeat(digits)).into_bytes(),
            mode => format!("{mode} {}\t", self.id).into_bytes(),
        };
        line.extend(path);
        line.push(0);
        line
    }
}

/// Path → what the one tree has and what the other.
pub(super) type Differing = HashMap<Vec<u8>, (Side, Side)>;

/// A file that the runs have changed.
pub(super) struct Judged {
    pub(super) path: Vec<u8>,
    pub(super) now: Side,
    /// What stands against it.
    pub(super) out: Option<Why>,
}

/// An iteration: what differs between its snapshot and the commit under it, what it has changed, and what was changed
/// from there to the next one.
struct Round {
    uncommitted: Differing,
    work: Differing,
    /// The trees before and after its work.
    between: (String, String),
    /// It was seen to its end; else all that came after it is one with its work.
    is_seen: bool,
    after: Differing,
}

impl Round {
    /// The file was as committed when it began.
    async fn is_clean(&self, same: &Same<'_>) -> Result<bool, EvidenceError> {
        match self.uncommitted.get(same.path) {
            None => Ok(true),
            Some((committed, on_disk)) => same.holds(committed, on_disk).await,
        }
    }
}

/// The files that the runs have changed and that differ from HEAD, each with what stands against it.
pub(super) async fn judge(
    repository: &Repository,
    staged: &Staged,
    work: &Work,
    head: Option<&str>,
    index: &HashMap<Vec<u8>, Side>,
    exclude: &Excludes,
    filters: bool,
) -> Result<Vec<Judged>, EvidenceError> {
    let scratch = &staged.scratch;
    let rounds = rounds(repository, staged, work).await?;
    let open = differing(scratch, &tree_of(scratch, head).await?, &staged.tree).await?;
    let touched: BTreeSet<&Vec<u8>> = rounds.iter().flat_map(|round| round.work.keys()).collect();
    let candidates: Vec<&Vec<u8>> = touched.into_iter().filter(|path| open.contains_key(*path)).collect();
    let paths = || candidates.iter().map(|path| path.as_slice());
    let converted = scratch.converted(paths(), &CONVERSIONS).await?;
    let filtered = scratch.converted(paths(), &["filter"]).await?;
    let forms = |path: &[u8]| {
        let (converts, has_filter) = (repository.autocrlf || converted.contains(path), filtered.contains(path));
        if has_filter { filters } else { converts }
    };
    let moved = moved(repository, scratch, &rounds, &forms).await?;
    let mut judged = Vec::new();
    for path in candidates {
        let (before, now) = &open[path];
        // Gone from the tree but not from the disk: ignored now. And what is excluded is nobody's work.
        let on_disk = || std::fs::symlink_metadata(repository.top.join(paths::path(path))).is_ok();
        if exclude.covers(path) || *now == Side::default() && on_disk() {
            continue;
        }
        let same = Same { repository, scratch, path, converted: forms(path) };
        if same.holds(before, now).await? {
            continue;
        }
        let staged = index.get(path).cloned().unwrap_or_default();
        let out = match against(&rounds, &same).await? {
            _ if before.is_repository() || now.is_repository() => Some(Why::Repository),
            None if staged != *before && !same.holds(&staged, now).await? => Some(Why::Staged),
            None if moved.contains(path) => Some(Why::Moved),
            out => out,
        };
        judged.push(Judged { path: path.clone(), now: now.clone(), out });
    }
    let before_git = |path: &[u8]| work.before_git.contains(&paths::shown(path));
    for file in judged.iter_mut().filter(|file| file.out == Some(Why::Before) && before_git(&file.path)) {
        file.out = Some(Why::NoGit);
    }
    let known: BTreeSet<Vec<u8>> = judged.iter().map(|file| file.path.clone()).collect();
    let is_left = |path: &[u8]| !known.contains(path) && before_git(path) && !exclude.covers(path);
    let left = open.iter().filter(|(path, (_, now))| *now != Side::default() && is_left(path));
    judged.extend(left.map(|(path, (_, now))| Judged { path: path.clone(), now: now.clone(), out: Some(Why::NoGit) }));
    judged.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(judged)
}

/// Where the content of files that stay out went: a path that the runs moved one of them to has the person's change.
async fn moved(
    repository: &Repository,
    scratch: &Scratch,
    rounds: &[Round],
    forms: &impl Fn(&[u8]) -> bool,
) -> Result<BTreeSet<Vec<u8>>, EvidenceError> {
    let mut moved: BTreeSet<Vec<u8>> = BTreeSet::new();
    for (at, round) in rounds.iter().enumerate() {
        for path in moved.clone() {
            // It was committed meanwhile.
            if round.is_clean(&Same { repository, scratch, path: &path, converted: forms(&path) }).await? {
                moved.remove(&path);
            }
        }
        let (from, to) = &round.between;
        let said = scratch
            .git("diff-tree")
            .args(["-r", "-z", "--name-status", "-M", "--diff-filter=R", "--no-ext-diff", "--no-textconv", from, to])
            .thorough()
            .ok()
            .await?;
        let words: Vec<&[u8]> = said.split(|&byte| byte == 0).collect();
        for pair in words.chunks_exact(3) {
            let (path, to) = (pair[1], pair[2]);
            let same = Same { repository, scratch, path, converted: forms(path) };
            if moved.contains(path) || against(&rounds[..=at], &same).await?.is_some() {
                moved.insert(to.to_vec());
            }
        }
    }
    Ok(moved)
}

/// Attributes that make a file's form on the disk another one than in a commit.
const CONVERSIONS: [&str; 4] = ["ident", "working-tree-encoding", "eol", "text"];

/// Compares what a commit has with what was on the disk.
struct Same<'a> {
    repository: &'a Repository,
    scratch: &'a Scratch,
    path: &'a [u8],
    /// The forms may differ.
    converted: bool,
}

impl Same<'_> {
    async fn holds(&self, committed: &Side, on_disk: &Side) -> Result<bool, EvidenceError> {
        if committed == on_disk || !self.converted || committed.mode != on_disk.mode {
            return Ok(committed == on_disk);
        }
        let bytes = self.scratch.git("cat-file").args(["blob", &on_disk.id]).thorough().ok().await?;
        let mut path = std::ffi::OsString::from("--path=");
        path.push(paths::path(self.path));
        let id = self.repository.git("hash-object").args([path]).args(["--stdin"]).input(bytes).thorough().ok().await?;
        Ok(paths::shown(&line(id)) == committed.id)
    }
}

/// What stands against the file, by the rounds in their order.
async fn against(rounds: &[Round], same: &Same<'_>) -> Result<Option<Why>, EvidenceError> {
    let (mut ours, mut why) = (false, None);
    // As it was at the snapshots and ends before, and whose it was then.
    let mut known: Vec<(&Side, bool, Option<Why>)> = Vec::new();
    for round in rounds {
        if round.is_clean(same).await? {
            (ours, why) = (false, None);
        } else if !ours && why.is_none() {
            why = Some(Why::Before);
        }
        let work = round.work.get(same.path);
        known.extend(work.map(|(before, _)| (before, ours, why)));
        ours |= work.is_some();
        if !round.is_seen && work.is_some() {
            why = why.or(Some(Why::Unseen));
        }
        known.extend(work.filter(|_| round.is_seen).map(|(_, done)| (done, ours, why)));
        if let Some((_, next)) = round.after.get(same.path) {
            match known.iter().rev().find(|(side, ..)| *side == next) {
                Some((_, was_ours, was)) => (ours, why) = (*was_ours, *was),
                None => why = why.or(Some(Why::Since)),
            }
        }
    }
    Ok(why)
}

async fn rounds(repository: &Repository, staged: &Staged, work: &Work) -> Result<Vec<Round>, EvidenceError> {
    let scratch = &staged.scratch;
    let points = history::points(repository, &work.runs).await?;
    let mut rounds = Vec::new();
    // A worktree that began with the files of a snapshot: they are work, too, also where no iteration followed.
    if let Some(begun) = begun(repository.git("rev-parse")).await? {
        let (from, to) = (tree_of(scratch, Some(&format!("{begun}^1"))).await?, tree_of(scratch, Some(&begun)).await?);
        let next = match points.first() {
            Some(first) => tree_of(scratch, Some(&first.before)).await?,
            None => staged.tree.clone(),
        };
        rounds.push(Round {
            uncommitted: Differing::new(),
            work: differing(scratch, &from, &to).await?,
            is_seen: true,
            after: differing(scratch, &to, &next).await?,
            between: (from, to),
        });
    }
    for (at, point) in points.iter().enumerate() {
        let before = tree_of(scratch, Some(&point.before)).await?;
        let next = match points.get(at + 1) {
            Some(next) => tree_of(scratch, Some(&next.before)).await?,
            None => staged.tree.clone(),
        };
        let under = format!("{}^1", point.before);
        let known = scratch.git("rev-parse").args(["--verify", "--quiet", &under]).run().await?;
        let under = tree_of(scratch, (known.code == Some(0)).then_some(under.as_str())).await?;
        let done = point.after.as_deref().unwrap_or(&next).to_owned();
        rounds.push(Round {
            uncommitted: differing(scratch, &under, &before).await?,
            work: differing(scratch, &before, &done).await?,
            between: (before, done),
            is_seen: point.after.is_some(),
            after: match &point.after {
                Some(after) => differing(scratch, after, &next).await?,
                None => Differing::new(),
            },
        });
    }
    Ok(rounds)
}

/// The tree of a commit; of none the empty one.
pub(super) async fn tree_of(scratch: &Scratch, commit: Option<&str>) -> Result<String, EvidenceError> {
    let id = match commit {
        Some(commit) => scratch.git("rev-parse").args(["--verify", &format!("{commit}^{{tree}}")]).ok().await?,
        None => scratch.git("mktree").ok().await?,
    };
    Ok(paths::shown(&line(id)))
}

/// What two trees have differently.
pub(super) async fn differing(scratch: &Scratch, from: &str, to: &str) -> Result<Differing, EvidenceError> {
    if from == to {
        return Ok(Differing::new());
    }
    let said = scratch
        .git("diff-tree")
        .args(["-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", from, to])
        .thorough()
        .ok()
        .await?;
    let words: Vec<&[u8]> = said.split(|&byte| byte == 0).collect();
    Ok(words
        .chunks_exact(2)
        .filter_map(|pair| {
            // `:100644 100755 <id> <id> M`
            let head = paths::shown(pair[0].strip_prefix(b":")?);
            let words: Vec<&str> = head.split(' ').collect();
            let [old_mode, new_mode, old, new, ..] = words[..] else { return None };
            Some((pair[1].to_vec(), (Side::new(old_mode, old), Side::new(new_mode, new))))
        })
        .collect())
}

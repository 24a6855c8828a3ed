//! The hidden refs: `refs/programmator/<ticket>/<run>/<n>`, one a snapshot.
//!
//! Owns their names, how a person picks one, and comparing two trees. Making the trees is `scratch`'s.

use super::command::{Git, line};
use super::error::EvidenceError;
use super::paths::{self, Excludes};
use super::refs;
use super::repository::Repository;
use super::scratch::{AUTHOR, MAIL, Scratch, Staged};
use super::snapshot::{Snapshot, SnapshotId, SnapshotName};
use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::timeline::Changed;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// Stands in the place of a run in the refs of what `restore` saved.
pub(super) const RESTORE: &str = "restore";

/// The folder of a ticket's refs.
pub(super) fn folder(ticket: &TicketId) -> String {
    // Git refuses refs whose parts end so; ticket ids may.
    let name = ticket.as_str();
    let lock = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("lock"));
    let escape = if lock || name.ends_with('.') { "-" } else { "" };
    format!("refs/programmator/{name}{escape}")
}

/// Keeps a tree as a commit (child of HEAD) under a ref.
async fn keep(repository: &Repository, staged: &Staged, reference: &str) -> Result<SnapshotId, EvidenceError> {
    let id = commit(repository, staged, reference).await?;
    refs::set(repository, reference, &id).await?;
    Ok(SnapshotId(id))
}

/// The same under a new ref; `None`: there is one of this name.
pub(super) async fn keep_new(
    repository: &Repository,
    staged: &Staged,
    reference: &str,
) -> Result<Option<SnapshotId>, EvidenceError> {
    let id = commit(repository, staged, reference).await?;
    Ok(refs::create(repository, reference, &id).await?.then_some(SnapshotId(id)))
}

/// A commit that is for this ref.
async fn commit(repository: &Repository, staged: &Staged, reference: &str) -> Result<String, EvidenceError> {
    let mut commit = staged.scratch.git("commit-tree").args([staged.tree.as_str()]);
    if let Some(head) = refs::head(repository).await? {
        commit = commit.args(["-p", &head]);
    }
    let message = format!("programmator: the work tree before {reference}\n");
    let id = line(commit.args(["-F", "-"]).input(message.into_bytes()).ok().await?);
    Ok(paths::shown(&id))
}

/// The same without git where that can be; the ref is set, and all of it on the disk, when that is
/// [settled](super::settling).
pub(super) async fn keep_early(
    repository: &Arc<Repository>,
    staged: &mut Staged,
    reference: &str,
) -> Result<SnapshotId, EvidenceError> {
    let Some(head) = repository.is_plain().then_some(refs::head(repository).await?) else {
        return keep(repository, staged, reference).await;
    };
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let parent = head.map_or_else(String::new, |head| format!("parent {head}\n"));
    let by = format!("{AUTHOR} <{MAIL}> {seconds} +0000");
    let body = format!(
        "tree {}\n{parent}author {by}\ncommitter {by}\n\nprogrammator: the work tree before {reference}\n",
        staged.tree
    );
    let objects = repository.objects();
    let id = objects.id("commit", body.as_bytes());
    let Ok(commit) = objects.put(&id, "commit", body.as_bytes()) else {
        return keep(repository, staged, reference).await;
    };
    staged.fresh.extend(commit);
    let reference = Ref { name: reference.to_owned(), id: id.to_string(), is_needed: true };
    settle(repository, std::mem::take(&mut staged.fresh), reference);
    Ok(SnapshotId(id.to_string()))
}

/// What a ref is to say, and whether it is needed.
struct Ref {
    name: String,
    id: String,
    is_needed: bool,
}

/// Syncs the objects, then sets the ref, beside the path: it never names what is not on the disk.
fn settle(repository: &Arc<Repository>, objects: Vec<File>, reference: Ref) {
    let of = Arc::clone(repository);
    repository.settling.begin(async move {
        let synced = tokio::task::spawn_blocking(move || objects.iter().try_for_each(File::sync_data)).await;
        let synced = synced.unwrap_or_else(|stopped| Err(io::Error::other(stopped)));
        let error =
            |source| EvidenceError::Io { what: "saving the files".to_owned(), path: of.common_dir.clone(), source };
        synced.map_err(|source| error(source).to_string())?;
        let set = refs::set(&of, &reference.name, &reference.id).await;
        if reference.is_needed { set.map_err(|error| error.to_string()) } else { Ok(()) }
    });
}

/// What the name of a tree at the end of an iteration ends with.
pub(super) const END: &str = "-end";
/// What a person calls the one at the end of a run's last iteration.
const LAST: &str = "end";

/// Keeps how the files were at the end of an iteration; the ref is set when that is [settled](super::settling). Without
/// it a commit only leaves out what this iteration has changed.
pub(super) fn keep_end(repository: &Arc<Repository>, staged: &mut Staged, name: &SnapshotName) {
    let reference = format!("{}/{}/{}{END}", folder(&name.ticket), name.run, name.n);
    let reference = Ref { name: reference, id: staged.tree.clone(), is_needed: false };
    settle(repository, std::mem::take(&mut staged.fresh), reference);
}

/// Lines that differ between the run's first snapshot and the end of this iteration, those of `exclude` left out; `None`:
/// one of them is not there.
pub(super) async fn lines(
    repository: &Repository,
    name: &SnapshotName,
    exclude: &Excludes,
) -> Result<Option<(u64, u64)>, EvidenceError> {
    let run = format!("{}/{}", folder(&name.ticket), name.run);
    let (from, to) = (format!("{run}/1^{{tree}}"), format!("{run}/{}{END}", name.n));
    let call =
        repository.git("diff-tree").args(["-r", "--numstat", "-z", "--no-ext-diff", "--no-textconv", &from, &to]);
    let said = call.thorough().run().await?;
    if said.code != Some(0) {
        return Ok(None);
    }
    // A file is `added TAB removed TAB path`, with `-` for the lines of a binary one (git-diff-tree(1), --numstat -z).
    let count = |column: &[u8]| str::from_utf8(column).ok().and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
    let lines = said.stdout.split(|byte| *byte == 0).filter_map(|file| {
        let mut columns = file.splitn(3, |byte| *byte == b'\t');
        let (added, removed) = (count(columns.next()?), count(columns.next()?));
        columns.next().filter(|path| !exclude.covers(path)).map(|_| (added, removed))
    });
    Ok(Some(lines.fold((0, 0), |sum, lines| (sum.0 + lines.0, sum.1 + lines.1))))
}

/// An iteration: its snapshot, and the files at its end where they were seen.
pub(super) struct Point {
    pub(super) run: RunId,
    pub(super) n: u32,
    pub(super) before: String,
    pub(super) after: Option<String>,
}

/// The iterations of these runs, in their order; a run's ticket is named as it was then.
pub(super) async fn points(repository: &Repository, runs: &[(TicketId, RunId)]) -> Result<Vec<Point>, EvidenceError> {
    let folders: Vec<String> = runs.iter().map(|(ticket, run)| format!("{}/{run}/", folder(ticket))).collect();
    let listed = repository.git("for-each-ref").args(["--format=%(refname) %(objectname)"]).args(&folders).thorough();
    let listed = if folders.is_empty() { String::new() } else { paths::shown(&listed.ok().await?) };
    let mut known = BTreeMap::new();
    for line in listed.lines() {
        let named = |(name, id): (&str, &str)| {
            let at = folders.iter().position(|folder| name.starts_with(folder))?;
            let n = &name[folders[at].len()..];
            let is_end = n.ends_with(END);
            Some(((at, n.strip_suffix(END).unwrap_or(n).parse::<u32>().ok()?), is_end, id.to_owned()))
        };
        let Some((at, is_end, id)) = line.split_once(' ').and_then(named) else { continue };
        let ids: &mut [Option<String>; 2] = known.entry(at).or_default();
        ids[usize::from(is_end)] = Some(id);
    }
    let point = |((at, n), [before, after]): ((usize, u32), [Option<String>; 2])| {
        Some(Point { run: runs[at].1, n, before: before?, after })
    };
    Ok(known.into_iter().filter_map(point).collect())
}

pub(super) async fn list(repository: &Repository, ticket: &TicketId) -> Result<Vec<Snapshot>, EvidenceError> {
    let folder = folder(ticket);
    let listed = repository
        .git("for-each-ref")
        .args(["--format=%(refname) %(objectname) %(committerdate:unix) %(tree)"])
        .args([format!("{folder}/")])
        .ok()
        .await?;
    let listed = paths::shown(&listed);
    let known = listed.lines().filter_map(|line| read(line, &folder));
    let (ends, mut snapshots): (Vec<Snapshot>, Vec<Snapshot>) = known.partition(|snapshot| snapshot.is_end);
    for end in ends {
        // Of an iteration that another one followed, that one's snapshot says how the files were.
        let last = snapshots.iter().filter(|snapshot| snapshot.run == end.run).max_by_key(|snapshot| snapshot.n);
        if let Some(time) = last.filter(|last| last.n == end.n && !last.is_end).map(|last| last.time) {
            snapshots.push(Snapshot { time, ..end });
        }
    }
    // Within a second what was saved for the person comes last.
    snapshots.sort_by_key(|one| (one.time, one.run.is_none(), one.run, one.n, one.is_end));
    let newest = snapshots.iter().filter_map(|snapshot| snapshot.run).max();
    for snapshot in &mut snapshots {
        let n = if snapshot.is_end { LAST.to_owned() } else { snapshot.n.to_string() };
        snapshot.pick = match snapshot.run {
            None => format!("{RESTORE}/{n}"),
            run if run == newest => n,
            Some(run) => format!("{}/{n}", run.short()),
        };
    }
    Ok(snapshots)
}

/// How much differs between each of these trees and the next one, as far as git can say.
pub(super) async fn counts(
    repository: &Repository,
    trees: &[&str],
    exclude: &Excludes,
) -> Result<Vec<Option<Changed>>, EvidenceError> {
    let pairs: Vec<String> = trees.windows(2).map(|two| two.join(" ")).collect();
    let mut counts = vec![None; trees.len().saturating_sub(1)];
    if pairs.is_empty() {
        return Ok(counts);
    }
    let call = repository
        .git("diff-tree")
        .args([
            "--stdin", "-r", "-z", "-M", "-l400", "--numstat", "--no-ext-diff", "--no-textconv",
            "--ignore-submodules=none",
        ])
        .input(pairs.iter().flat_map(|pair| [pair.as_str(), "\n"]).collect::<String>().into_bytes())
        .thorough();
    let said = call.run().await?;
    let (mut next, mut open, mut rest) = (0, None, &said.stdout[..]);
    while !rest.is_empty() {
        // Git leaves out the pair of a tree that somebody has thrown away.
        let begins = |at: &usize| rest.strip_prefix(pairs[*at].as_bytes()).and_then(|rest| rest.strip_prefix(b"\n"));
        if let Some(at) = (next..pairs.len()).find(|at| begins(at).is_some()) {
            (counts[at], next, open) = (Some(Changed::default()), at + 1, Some(at));
            rest = begins(&at).unwrap_or_default();
            continue;
        }
        // `1\t2\tpath\0`, of what was moved `1\t2\t\0before\0after\0`.
        let mut word = || {
            let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
            let word = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            word
        };
        let mut columns = word().splitn(3, |&byte| byte == b'\t');
        let mut number = || columns.next().and_then(|text| paths::shown(text).parse::<u64>().ok()).unwrap_or(0);
        let (added, removed) = (number(), number());
        let names = match columns.next() {
            Some(b"") => [word(), word()],
            name => [name.unwrap_or_default(); 2],
        };
        if let Some(changed) = open.and_then(|at: usize| counts[at].as_mut())
            && !names.iter().all(|name| exclude.covers(name))
        {
            (changed.files, changed.added, changed.removed) =
                (changed.files + 1, changed.added + added, changed.removed + removed);
        }
    }
    // It may have ended in the midst of one.
    if let Some(at) = open.filter(|_| said.code != Some(0)) {
        counts[at] = None;
    }
    Ok(counts)
}

fn read(line: &str, folder: &str) -> Option<Snapshot> {
    let mut words = line.split(' ');
    let (reference, id, seconds, tree) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let (run, n) = reference.strip_prefix(folder)?.strip_prefix('/')?.split_once('/')?;
    let run = if run == RESTORE { None } else { Some(RunId::parse(run)?) };
    let end = n.strip_suffix(END);
    // A tree has no time of its own.
    let seconds = if end.is_some() { 0 } else { seconds.parse::<i64>().ok()? };
    Some(Snapshot {
        run,
        n: end.unwrap_or(n).parse().ok()?,
        is_end: end.is_some(),
        id: SnapshotId(id.to_owned()),
        tree: if end.is_some() { id } else { tree }.to_owned(),
        time: Timestamp::from_millis(seconds.saturating_mul(1_000)),
        pick: String::new(),
    })
}

/// The snapshot that a person means: `3` or `end` of the newest run, `<run>/3` (the end of a run's id is enough),
/// `restore/1`, or its whole git object.
pub(super) fn pick<'a>(
    snapshots: &'a [Snapshot],
    ticket: &TicketId,
    wanted: &str,
) -> Result<&'a Snapshot, EvidenceError> {
    let named = |snapshot: &Snapshot| {
        snapshot.pick == wanted
            || snapshot.id.0 == wanted
            || wanted.split_once('/').is_some_and(|(run, n)| {
                run.len() >= 8
                    && (if snapshot.is_end { n == LAST } else { n == snapshot.n.to_string() })
                    && snapshot.run.is_some_and(|id| id.to_string().ends_with(run))
            })
    };
    snapshots.iter().find(|snapshot| named(snapshot)).ok_or_else(|| {
        let known: Vec<&str> = snapshots.iter().map(|snapshot| snapshot.pick.as_str()).collect();
        EvidenceError::NoSuchSnapshot {
            ticket: ticket.clone(),
            wanted: crate::base::text::clean_line(wanted, 60),
            known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
        }
    })
}

/// One path that two trees have differently.
pub(super) struct Difference {
    /// Git's letter: `A` only in the second, `D` only in the first, `M` and `T` in both.
    pub(super) status: u8,
    /// A submodule or nested repository, before or after.
    pub(super) submodule: bool,
    /// Relative to the top.
    pub(super) path: Vec<u8>,
}

/// What differs between two trees (or commits), but for the excluded.
pub(super) async fn differences(
    scratch: &Scratch,
    from: &SnapshotId,
    to: &str,
    exclude: &Excludes,
) -> Result<Vec<Difference>, EvidenceError> {
    let call = scratch
        .git("diff-tree")
        .args(["-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv"])
        .thorough();
    let (said, _) = differs(scratch, call, from, to, &[]).await?;
    let words: Vec<&[u8]> = said.split(|&byte| byte == 0).collect();
    Ok(words
        .chunks_exact(2)
        .filter(|pair| !exclude.covers(pair[1]))
        .map(|pair| Difference {
            // `:100644 100755 <id> <id> M`
            status: pair[0].last().copied().unwrap_or(b'M'),
            submodule: pair[0].starts_with(b":160000") || pair[0].get(8..14) == Some(b"160000"),
            path: pair[1].to_vec(),
        })
        .collect())
}

/// What a call of `diff-tree` says of a snapshot and a tree, and whether that was cut.
pub(super) async fn differs(
    scratch: &Scratch,
    call: Git,
    from: &SnapshotId,
    to: &str,
    names: &[&[u8]],
) -> Result<(Vec<u8>, bool), EvidenceError> {
    let unknown = || EvidenceError::UnknownSnapshot { id: crate::base::text::clean_line(&from.0, 80) };
    if !from.0.bytes().all(|byte| byte.is_ascii_hexdigit()) || from.0.len() < 40 {
        return Err(unknown());
    }
    let tree = format!("{}^{{tree}}", from.0);
    let call = call.args([&tree, to, "--"]).args(names.iter().map(|name| paths::path(name)));
    match call.some().await {
        Ok(said) => Ok(said),
        Err(error) => {
            // Why it failed is worth a call of its own only now.
            let known = scratch.git("rev-parse").args(["--verify", "--quiet", &tree]).run().await?;
            Err(if known.code == Some(0) { error } else { unknown() })
        }
    }
}

//! `programmator snapshots <ticket>` and `programmator restore <ticket> <snapshot>`: what they print.
//!
//! Opening the working tree and finding the ticket is the caller's; saving and restoring is `adapters::git`'s.

mod fork;
mod prune;

pub use fork::run_fork;
pub use prune::run_prune;

use super::agree::agree;
use super::error::CliError;
use super::session::Session;
use crate::adapters::git::{EvidenceError, Prepared, Snapshot, WorkTree};
use crate::adapters::store::{Holder, LockError};
use crate::adapters::tickets;
use crate::base::id::TicketId;
use crate::base::json;
use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::restore::{Kept, Plan, Restored, Spared, WantedFiles, listed, others_work};
use crate::domain::summary::RunSummary;
use crate::domain::workspace::Workspace;
use crate::runtime::commits::Commits;
use crate::runtime::offline::Offline;
use crate::runtime::reporter::Reporter;
use crate::runtime::restoring::{Place, had_worktree, here};
use crate::runtime::timeline::{Journals, journals, moments};
use color_eyre::eyre::{self, WrapErr};
use jiff::tz::TimeZone;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most file names that are printed of one kind.
const MAX_NAMES: usize = 200;

/// `programmator snapshots <ticket>`.
pub async fn run_list(out: &mut impl Write, session: &Session, ticket: &str, as_json: bool) -> Result<(), CliError> {
    // What only compares keeps nothing, and works where our own folder cannot be written.
    let keep = tempfile::tempdir()?;
    let Opened { place, ticket, run, .. } = open(session, ticket, keep.path()).await?;
    let (tree, exclude) = (&place.tree, &place.exclude);
    if !as_json {
        return Ok(list(out, tree, &ticket, exclude, &TimeZone::system()).await?);
    }
    let journals = match run {
        Some(run) => journals(&session.store_to_read()?, &run.ticket_path)?,
        None => Journals::default(),
    };
    let moments = moments((tree, exclude), &ticket, &journals).await.map_err(CliError::failure)?;
    Ok(writeln!(out, "{}", json::pretty(&moments)?)?)
}

/// How far the person has agreed to a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// They are shown what it would do, and asked.
    Ask,
    /// `--yes`.
    Given,
}

/// `programmator restore <ticket> <n> [<file>…]`.
pub async fn run_restore(
    out: &mut impl Write,
    session: &Session,
    (ticket, pick, files): (&str, &str, &[PathBuf]),
    consent: Consent,
    as_json: bool,
) -> Result<(), CliError> {
    let Opened { place, ticket, path, workspace, run, tickets } =
        open(session, ticket, &session.state.join("restore")).await?;
    let home = workspace.worktree().map(|worktree| worktree.home_top.as_path());
    let only = only((place.tree.top(), home), &session.folder, files)?;
    let of = (&ticket, path.as_str());
    // The journal of a run that worked elsewhere says nothing of this directory, and its locks keep nobody out of it.
    let run = run.filter(|run| run.workspace().directory() == workspace.directory());
    let wanted = WantedFiles { snapshot: pick.to_owned(), only };
    if let Err(error @ EvidenceError::NoSuchSnapshot { .. }) = place.tree.snapshot_of(&ticket, pick).await {
        return Err(CliError::usage(error.to_string()));
    }
    // Not while Claude works in the folder: both would undo what the other does.
    let holder = Holder { pid: std::process::id(), ticket: ticket.clone(), run: None, since: session.clock().now() };
    let store = session.store()?;
    let lock = store.lock_tree(&workspace, &holder).map_err(|error| match error {
        LockError::Held { holder } => {
            CliError::new(75, format!("{workspace} is in use by {holder}; stop that run first"))
        }
        LockError::Store(error) => CliError::from(error),
    })?;
    if let (Some(top), false) = (place.elsewhere(), as_json) {
        let top = clean_line(&top.display().to_string(), 200);
        writeln!(out, "The run's worktree is gone: files are restored into {top}.")?;
    }
    let agreed = match consent {
        Consent::Given => None,
        Consent::Ask => match agreed(out, &place, of, &wanted).await? {
            Some(tree) => Some(tree),
            None => return Ok(()),
        },
    };
    let done = match run {
        // The journal of its latest run says so.
        Some(run) => {
            drop(lock);
            let reporter = Reporter::new(store.clone());
            let offline = Offline { store, clock: session.clock(), reporter, turn: Arc::default() };
            let free = Commits::new(&offline, Arc::new(move |_: &Workspace| tickets.clone()))
                .free(run.run, None)
                .await
                .map_err(|why| CliError::new(75, why))?;
            free.restore(&place, wanted, agreed.as_deref(), Answerer::COMMAND_LINE).await
        }
        None => match place.prepare(of, &wanted, agreed.as_deref()).await {
            Ok(Prepared::Ready(ready)) => ready.write().await,
            Ok(Prepared::Nothing(restored)) => Ok(restored),
            Err(why) => Err(why),
        },
    };
    let done = done.map_err(CliError::failure)?;
    if as_json {
        writeln!(out, "{}", json::pretty(&done)?)?;
    } else {
        report(out, &ticket, pick, &done)?;
    }
    match done.trouble {
        Some(why) => Err(CliError::failure(format!("not fully restored: {why}"))),
        None => Ok(()),
    }
}

/// Files as the person names them, below the top of the working tree; none: all.
fn only(tops: (&Path, Option<&Path>), folder: &Path, files: &[PathBuf]) -> Result<BTreeSet<String>, CliError> {
    let named: BTreeSet<String> = files.iter().map(|file| below(tops, folder, file)).collect::<Result<_, _>>()?;
    // The top is all of it.
    Ok(if named.contains("") { BTreeSet::new() } else { named })
}

/// A file as the person names it, below the top of the working tree; where that is a worktree, they may name the file in
/// their own working tree as well.
fn below((top, home): (&Path, Option<&Path>), folder: &Path, file: &Path) -> Result<String, CliError> {
    let path = folder.join(file);
    // A link is meant itself, not what it points to; and what is meant may be gone.
    let real = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => std::fs::canonicalize(parent).map(|parent| parent.join(name)),
        _ => std::fs::canonicalize(&path),
    };
    let real = real.unwrap_or(path);
    let inside = real.strip_prefix(top).or_else(|error| real.strip_prefix(home.ok_or(error)?));
    let inside = inside.map_err(|_| {
        CliError::usage(format!("{} is not below {}", clean_line(&file.display().to_string(), 200), top.display()))
    })?;
    Ok(inside.display().to_string())
}

/// Shows what the restore would do and asks whether it may. The tree that was agreed to; `None`: there is nothing to do.
async fn agreed(
    out: &mut impl Write,
    place: &Place,
    of: (&TicketId, &str),
    wanted: &WantedFiles,
) -> Result<Option<String>, CliError> {
    let shown = place.plan(of, wanted).await.map_err(CliError::failure)?;
    if !foretell(out, &wanted.snapshot, &shown)? {
        return Ok(None);
    }
    agree(out, "Restore? The current state is saved as a snapshot first.", "restores")?;
    Ok(Some(shown.tree))
}

/// Prints what a restore would do. `false`: nothing.
fn foretell(out: &mut impl Write, pick: &str, plan: &Plan) -> std::io::Result<bool> {
    names(out, "would write", &plan.writes)?;
    names(out, "would remove", &plan.removes)?;
    kept(out, "would skip", &plan.keeps)?;
    spared(out, &plan.spares)?;
    for other in &plan.others {
        let (path, tickets) = (clean_line(&other.path, 200), Spared::tickets(std::slice::from_ref(other)));
        writeln!(out, "also reverts changes of {} in {path}", clean_line(&tickets, 200))?;
    }
    if !plan.others.is_empty() {
        writeln!(out, "This reverts {}.", clean_line(&others_work(&plan.others), 400))?;
    }
    if !plan.unknown.is_empty() {
        let tickets = listed(plan.unknown.iter().map(String::as_str));
        writeln!(out, "What {} changed since is unknown: check the files.", clean_line(&tickets, 400))?;
    }
    let (writes, removes) = (plan.writes.len(), plan.removes.len());
    if writes + removes == 0 {
        let differs = !plan.keeps.is_empty() || !plan.spares.is_empty();
        writeln!(out, "{}", if differs { "Nothing to do.".to_owned() } else { nothing_differs(pick) })?;
        return Ok(false);
    }
    writeln!(out, "{writes} to write, {removes} to remove; tickets and ignored files are not touched.")?;
    Ok(true)
}

/// Files that other tickets' runs have changed since, and that stay.
fn spared(out: &mut impl Write, all: &[Spared]) -> std::io::Result<()> {
    for one in all.iter().take(MAX_NAMES) {
        let (path, tickets) = (clean_line(&one.path, 200), Spared::tickets(std::slice::from_ref(one)));
        writeln!(out, "leaves {path}: {} changed it since (name it to restore it too)", clean_line(&tickets, 200))?;
    }
    match all.len().checked_sub(MAX_NAMES) {
        Some(more) if more > 0 => writeln!(out, "leaves {more} more"),
        _ => Ok(()),
    }
}

fn nothing_differs(pick: &str) -> String {
    format!("Nothing differs from snapshot {}.", clean_line(pick, 60))
}

fn kept(out: &mut impl Write, verb: &str, all: &[Kept]) -> std::io::Result<()> {
    for kept in all.iter().take(MAX_NAMES) {
        let (path, why) = (clean_line(&kept.path, 200), clean_line(&kept.why, 300));
        writeln!(out, "{verb}: {path} ({why})")?;
    }
    Ok(())
}

/// Where a ticket's snapshots are.
struct Opened {
    /// What is never touched: tickets, which are the person's, and our folder.
    place: Place,
    ticket: TicketId,
    /// Its file.
    path: String,
    /// The ticket's worktree, or the directory that we are in.
    workspace: Workspace,
    /// The ticket's latest run.
    run: Option<RunSummary>,
    /// The folder that new tickets are made in.
    tickets: PathBuf,
}

async fn open(session: &Session, name: &str, keep: &Path) -> Result<Opened, CliError> {
    let resolved = session.resolve(&session.folder)?;
    let places = session.places(&resolved);
    let path = tickets::find(name, &places)?;
    let ticket = tickets::load(&path).map_err(|error| CliError::usage(error.to_string()))?;
    // Where there is no store that can be read, no run has made a worktree.
    let store = session.store_to_read().ok();
    let latest = store.as_ref().and_then(|store| store.latest_for(&path.display().to_string()).ok()?);
    let had = store.as_ref().zip(latest.as_ref()).is_some_and(|(store, run)| had_worktree(store, run));
    let latest = latest.map(here);
    let own = latest.as_ref().map(RunSummary::workspace).filter(|own| own.worktree().is_some());
    let workspace = own.unwrap_or_else(|| Workspace::shared(&session.folder));
    let folder = workspace.directory();
    let tree = WorkTree::open(folder, keep).await.map_err(|error| CliError::failure(error.to_string()))?;
    let tickets = places.dir();
    let is_instead = had && workspace.worktree().is_none();
    let place = Place::at(tree, &workspace, &path, &tickets).instead(is_instead).knowing(store);
    Ok(Opened { place, ticket: ticket.id, path: path.display().to_string(), workspace, run: latest, tickets })
}

/// Prints one line a snapshot, oldest first: its name for `restore`, run, time, files that differ now.
pub async fn list(
    out: &mut impl Write,
    tree: &WorkTree,
    ticket: &TicketId,
    exclude: &[PathBuf],
    zone: &TimeZone,
) -> eyre::Result<()> {
    if let WorkTree::Plain(_) = tree {
        let error = EvidenceError::NotRestorable { folder: tree.top().to_owned() };
        return Ok(writeln!(out, "{}", clean_line(&error.to_string(), 600))?);
    }
    let snapshots = tree.list_snapshots(ticket).await?;
    if snapshots.is_empty() {
        writeln!(
            out,
            "{ticket} has no snapshots in {}. One is taken before each iteration of a run.",
            clean_line(&tree.top().display().to_string(), 200)
        )?;
        return Ok(());
    }
    let ids: Vec<_> = snapshots.iter().map(|snapshot| &snapshot.id).collect();
    let changed =
        tree.changed_since_each(&ids, exclude).await.wrap_err("comparing the working tree with the snapshots")?;
    writeln!(out, "{:<14} {:<10} {:<19} FILES CHANGED SINCE", "SNAPSHOT", "RUN", "TAKEN")?;
    for (snapshot, files) in snapshots.iter().zip(&changed) {
        writeln!(out, "{}", row(snapshot, files.len(), zone))?;
    }
    writeln!(out, "\nRestore with: programmator restore {ticket} <SNAPSHOT>")?;
    Ok(())
}

fn row(snapshot: &Snapshot, files: usize, zone: &TimeZone) -> String {
    let run = snapshot.run.map_or_else(|| "-".to_owned(), |run| run.short());
    let time = jiff::Timestamp::from_millisecond(snapshot.time.millis())
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .to_zoned(zone.clone())
        .strftime("%Y-%m-%d %H:%M:%S");
    let files = if files == 0 { "none".to_owned() } else { files.to_string() };
    // An end has the time of the snapshot before it, for it has none of its own.
    let time = if snapshot.is_end { "-".to_owned() } else { time.to_string() };
    format!("{:<14} {run:<10} {time:<19} {files}", snapshot.pick)
}

fn report(out: &mut impl Write, ticket: &TicketId, pick: &str, done: &Restored) -> std::io::Result<()> {
    names(out, "wrote", &done.written)?;
    names(out, "removed", &done.removed)?;
    kept(out, "skipped", &done.kept)?;
    spared(out, &done.spared)?;
    if done.saved.is_empty() {
        let words = if done.spared.is_empty() { nothing_differs(pick) } else { "Nothing was restored.".to_owned() };
        return writeln!(out, "{words}");
    }
    let untouched = done.written.is_empty() && done.removed.is_empty();
    if untouched && done.kept.is_empty() {
        writeln!(out, "{}", nothing_differs(pick))?;
    } else {
        writeln!(out, "{} written, {} removed, {} skipped.", done.written.len(), done.removed.len(), done.kept.len())?;
    }
    if !done.others.is_empty() {
        writeln!(out, "Reverted {}.", clean_line(&others_work(&done.others), 400))?;
    }
    if !done.taken_back.is_empty() {
        let phases =
            listed(done.taken_back.iter().map(|phase| if phase.is_empty() { "the whole ticket" } else { phase }));
        writeln!(out, "Done, but the work is no longer in the files: {}", clean_line(&phases, 600))?;
        writeln!(out, "Reopen it: programmator ticket untick {ticket} <PHASE>")?;
    }
    writeln!(out, "Undo (snapshot {}): programmator restore {ticket} {}", done.saved, done.saved)
}

fn names(out: &mut impl Write, verb: &str, paths: &[String]) -> std::io::Result<()> {
    for path in paths.iter().take(MAX_NAMES) {
        writeln!(out, "{verb} {}", clean_line(path, 200))?;
    }
    match paths.len().checked_sub(MAX_NAMES) {
        Some(more) if more > 0 => writeln!(out, "{verb} {more} more"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::git::SnapshotId;
    use crate::base::time::Timestamp;

    #[test]
    fn says_what_was_done_and_how_to_take_it_back() {
        let done = Restored {
            saved: "restore/2".to_owned(),
            written: vec!["a.txt".to_owned()],
            removed: vec!["evil\x1b[2J\nname".to_owned()],
            kept: vec![Kept { path: "sub".to_owned(), why: "a submodule or nested repository".to_owned() }],
            ..Restored::default()
        };
        let mut out = Vec::new();
        report(&mut out, &TicketId::parse("tk-1").unwrap(), "3", &done).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "wrote a.txt\n\
             removed evil name\n\
             skipped: sub (a submodule or nested repository)\n\
             1 written, 1 removed, 1 skipped.\n\
             Undo (snapshot restore/2): programmator restore tk-1 restore/2\n"
        );
    }

    #[test]
    fn the_top_is_all_files_and_a_link_is_meant_itself() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("sub")).unwrap();
        std::fs::write(top.join("target"), "").unwrap();
        std::os::unix::fs::symlink(top.join("target"), top.join("sub/link")).unwrap();
        let named = |folder: &str, files: &[&str]| {
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            only((&top, None), &top.join(folder), &files).map(Vec::from_iter).map_err(|error| error.message)
        };
        assert_eq!(named("", &["."]).unwrap(), Vec::<String>::new());
        assert_eq!(named("sub", &["..", "link"]).unwrap(), Vec::<String>::new());
        assert_eq!(named("sub", &["."]).unwrap(), ["sub"]);
        assert_eq!(named("", &["sub/link", "target", "gone"]).unwrap(), ["gone", "sub/link", "target"]);
        assert!(named("sub", &["../../elsewhere"]).unwrap_err().contains("is not below"));
    }

    #[test]
    fn the_end_of_a_run_has_no_time_of_its_own() {
        let snapshot = |is_end| Snapshot {
            run: None,
            n: 1,
            is_end,
            id: SnapshotId(String::new()),
            tree: String::new(),
            time: Timestamp::from_millis(0),
            pick: "1".to_owned(),
        };
        let row = |is_end| row(&snapshot(is_end), 0, &TimeZone::UTC);
        assert!(row(false).contains(" 1970-01-01 00:00:00 "), "{}", row(false));
        assert!(row(true).contains(" -  ") && !row(true).contains("1970"), "{}", row(true));
    }

    #[test]
    fn long_lists_are_cut_and_counted() {
        let mut out = Vec::new();
        names(&mut out, "wrote", &vec!["a".to_owned(); MAX_NAMES + 5]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), MAX_NAMES + 1);
        assert!(text.ends_with("wrote 5 more\n"));
    }
}

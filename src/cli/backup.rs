//! `programmator backup` and `restore-state`: the state folder as one file, and back.

use super::agree::agreed;
use super::away;
use super::error::CliError;
use super::help;
use super::session::Session;
use crate::adapters::private_file;
use crate::adapters::room::Room;
use crate::adapters::sole_process::{self, HOST};
use crate::adapters::state_archive::{self, Head, Unpacked, unpack};
use crate::adapters::state_swap::{carry_over, is_unplaced, swap};
use crate::adapters::store::{Store, StoreError, is_any_held};
use crate::base::amount::{counted, size};
use crate::base::text::{clean_line, clean_path};
use crate::base::time::Timestamp;
use crate::domain::request::HELD;
use crate::domain::summary::Owner;
use crate::runtime::shutdown::{ShutdownSignal, Signals};
use clap::Args;
use std::io::{self, Write, stderr};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::spawn_blocking;

/// Where a backup goes.
#[derive(Debug, Args)]
#[command(after_help = help::BACKUP)]
pub struct BackupArgs {
    /// File to write (mode 0600).
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Overwrite the file.
    #[arg(long)]
    force: bool,
}

/// Which backup.
#[derive(Debug, Args)]
#[command(after_help = help::RESTORE_STATE)]
pub struct RestoreStateArgs {
    /// A file written by `programmator backup`.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Restore without asking first.
    #[arg(long, short)]
    yes: bool,
}

/// What the folder is called, beside the state folder, in which a backup is unpacked.
const UNFINISHED: &str = ".programmator-restore-";
/// A file there that is locked while it is unpacked.
const LOCK: &str = "lock";
/// Behind the name of the state folder: one that had to make room.
const BEFORE: &str = ".before-restore-";
/// How long the reading of a backup may take to stop.
const STOPPING: Duration = Duration::from_secs(2);

/// `programmator backup FILE`.
pub fn backup(out: &mut dyn Write, session: &Session, args: &BackupArgs) -> Result<(), CliError> {
    let file = session.folder.join(&args.file);
    let shown = clean_path(&file);
    if file.is_dir() {
        return Err(CliError::usage(format!("{shown} is a folder: name a file in it")));
    }
    let exists = || CliError::usage(format!("{shown} already exists; --force overwrites it"));
    if !args.force && file.symlink_metadata().is_ok() {
        return Err(exists());
    }
    let store = session.store()?;
    // What is cleared away meanwhile would be missing.
    let Some(_lock) = store.lock_cleanup()? else {
        return Err(CliError::new(HELD, "another cleanup is running; try again"));
    };
    let head = Head::now(session.clock().now());
    let reserve = session.resolve(&session.folder).map_or(0, |resolved| resolved.config.storage.reserve);
    let room = Room { folder: session.state.clone(), reserve };
    let written =
        state_archive::write(&store, &head, &file, args.force, &room).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(),
            _ => CliError::failure(format!("no backup was written to {shown}: {error}")),
        })?;
    for path in &written.left_out {
        writeln!(out, "skipped: {} (a link, or not a regular file)", self::clean_path(path))?;
    }
    let (files, bytes) = (counted(written.files, "file"), size(written.bytes));
    Ok(writeln!(out, "Wrote {shown}: {files}, {bytes}.")?)
}

/// `programmator restore-state FILE`. A signal leaves everything as it was, until the one step in which the new state takes its
/// place.
pub async fn restore(out: &mut dyn Write, session: &Session, args: &RestoreStateArgs) -> Result<(), CliError> {
    let file = session.folder.join(&args.file);
    let (state, given) = (&session.state, clean_path(&file));
    let refused = |why: String| CliError::failure(format!("{given} was not restored: {why}"));
    nobody_works(state)?;
    let above = state.parent().ok_or_else(|| refused("the state folder has no parent folder".to_owned()))?;
    std::fs::create_dir_all(above)?;
    clear_unfinished(above, state);
    let mut signals = Signals::listen()?;
    // Beside the state folder: it takes its place in one step.
    let private = std::fs::Permissions::from_mode(0o700);
    let staging = tempfile::Builder::new().prefix(UNFINISHED).permissions(private).tempdir_in(above)?;
    let _at_work = private_file::lock(&staging.path().join(LOCK)).map_err(|error| refused(error.to_string()))?;
    let new = staging.path().join("state");
    std::fs::DirBuilder::new().mode(0o700).create(&new)?;
    let reserve = session.resolve(&session.folder).map_or(0, |resolved| resolved.config.storage.reserve);
    let room = Room { folder: above.to_owned(), reserve };
    let stop = Arc::new(AtomicBool::new(false));
    let (into, stopped) = (new.clone(), Arc::clone(&stop));
    let mut reading = spawn_blocking(move || -> Result<(Unpacked, usize), String> {
        let unpacked = unpack(&file, &into, &room, &stopped)?;
        Ok((unpacked, checked(&into).map_err(|error| error.message)?))
    });
    let read = tokio::select! {
        read = &mut reading => read,
        signal = signals.next() => {
            stop.store(true, Ordering::Relaxed);
            // A pipe that says nothing is not waited for.
            let _ = tokio::time::timeout(STOPPING, reading).await;
            return Err(stopped_by(signal));
        }
    };
    let (unpacked, runs) = read.map_err(|error| refused(error.to_string()))?.map_err(refused)?;
    let made = date(unpacked.head.time);
    let version = clean_line(&unpacked.head.version, 40);
    writeln!(out, "{given}: {}, made {made} UTC by programmator {version}.", counted(runs, "run"))?;
    if !args.yes {
        let question = format!("Replace {} with it? The current state is kept next to it.", clean_path(state));
        tokio::select! {
            agreed = agreed(out, &question, "restores") => agreed?,
            signal = signals.next() => return Err(stopped_by(signal)),
        }
    }
    // A run may have begun while the person was asked.
    nobody_works(state)?;
    carry_over(state, &new)?;
    let name = state.file_name().unwrap_or_default().to_string_lossy();
    let now = date(session.clock().now()).replace([' ', ':'], "-");
    let aside = above.join(format!("{name}{BEFORE}{now}"));
    if aside.symlink_metadata().is_ok() {
        return Err(refused(format!("{} is in the way; try again in a second", clean_path(&aside))));
    }
    let kept = swap(&new, state, &aside).map_err(|error| refused(error.to_string()))?;
    writeln!(out, "Restored.")?;
    if let Some(kept) = kept {
        let kept = clean_path(&kept);
        writeln!(out, "The previous state is in {kept}: delete it when you no longer need it.")?;
    }
    Ok(())
}

fn stopped_by(signal: ShutdownSignal) -> CliError {
    CliError::new(signal.exit_code(), "stopped; nothing was changed")
}

/// Removes what restoring has left where it was killed: what nobody unpacks any more, and a new state that did not get to its
/// place.
fn clear_unfinished(above: &Path, state: &Path) {
    let aside = format!("{}{BEFORE}", state.file_name().unwrap_or_default().to_string_lossy());
    for entry in std::fs::read_dir(above).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        let is_left = if name.starts_with(UNFINISHED) {
            // Who unpacks holds its lock; one that has none yet is new, or was killed in its first moment.
            if path.join(LOCK).exists() {
                matches!(private_file::lock_now(&path.join(LOCK)), Ok(Some(_)))
            } else {
                is_old(&path)
            }
        } else {
            name.starts_with(&aside) && is_unplaced(&path)
        };
        if is_left && let Err(error) = std::fs::remove_dir_all(&path) {
            tracing::warn!(%error, path = %path.display(), "what restoring left is still there");
        }
    }
}

fn is_old(path: &Path) -> bool {
    let changed = path.symlink_metadata().and_then(|about| about.modified()).ok();
    changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|age| age > Duration::from_secs(3_600))
}

/// Refuses while runs are at work, here or in another program.
pub(super) fn nobody_works(state: &Path) -> Result<(), CliError> {
    if away::is_on(state) {
        return Err(CliError::new(HELD, "the phone relay is running: run `programmator away off` first"));
    }
    if sole_process::is_held(state, HOST) {
        return Err(CliError::new(HELD, "the host is running: run `programmator host stop` first"));
    }
    if !Store::is_there(state) {
        return Ok(());
    }
    let store = match Store::open(state) {
        Ok(store) => store,
        // That it cannot be read may be why it is to go; a run that began before may still be at work.
        Err(error @ StoreError::Damaged { .. }) => {
            if is_any_held(state)? {
                return Err(CliError::new(
                    HELD,
                    format!("programmator is running with this state: stop it first. {error}"),
                ));
            }
            if let StoreError::Damaged { path, why } = error {
                writeln!(stderr(), "{} cannot be read: {}", clean_path(&path), clean_line(&why, 200)).ok();
            }
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    for run in store.runs()? {
        let run = store.as_seen(run)?;
        if run.owner() == Owner::Another {
            let (ticket, run) = (&run.ticket, run.run.short());
            return Err(CliError::new(
                HELD,
                format!("run {run} of {ticket} is active: stop it first (`programmator stop {ticket}`)"),
            ));
        }
    }
    Ok(())
}

/// How many runs the new state has; an error when it is not sound.
fn checked(new: &Path) -> Result<usize, CliError> {
    let store = Store::open(new)?;
    store.check_database()?;
    Ok(store.runs()?.len())
}

fn date(time: Timestamp) -> String {
    time.second()
}

//! Leftovers in the state folder: what Claude and commands have printed in finished runs, rotated logs, copies of other
//! machines' runs. No link is followed.

use super::{Cleanup, Cleared, Kind, Wanted, written_at};
use crate::adapters::chats;
use crate::adapters::copy_folder;
use crate::adapters::disk_use::bytes_of;
use crate::adapters::store::{Holder, LockError, StoreError, is_any_ticket_held};
use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::answerer::Answerer;
use crate::domain::leftovers::{Leftover, OutputCleared, outdated};
use crate::domain::outcome::ExitReason;
use crate::domain::record::Record;
use crate::domain::summary::{RunState, RunSummary};
use crate::runtime::ticket_runs::is_finished;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tokio::task::block_in_place;

/// What was written later is nobody's leftover.
const A_DAY: Duration = Duration::from_secs(86_400);

/// Something that takes room in the state folder.
enum What {
    Output(Box<RunSummary>),
    /// Of a run that the store does not know: it was lost, or another one was put in its place.
    Unknown(RunId),
    Log(PathBuf),
}

impl Cleanup {
    /// Clears away what is old there. It needs no room on the disk: it makes some.
    pub(super) async fn outputs(&self, wanted: &Wanted) -> Result<Vec<Cleared>, StoreError> {
        let (store, now) = (&self.offline.store, self.offline.clock.now());
        let mut all = self.copies(wanted);
        let (found, taken) = block_in_place(|| Ok::<_, StoreError>((self.found()?, bytes_of(store.folder()))))?;
        for Leftover { what, time, bytes } in outdated(found, taken, wanted.keep, now) {
            let (kind, name, gone) = match &what {
                What::Output(run) => {
                    let ended = time.second();
                    let ended = ended.split(' ').next().unwrap_or_default();
                    let name = format!("{} run {}, {ended}", run.ticket, run.run.short());
                    let gone = if wanted.is_tried { Ok(()) } else { self.clear(run, bytes, &wanted.by).await };
                    (Kind::Output, name, gone)
                }
                What::Unknown(run) => {
                    let gone = if wanted.is_tried { Ok(()) } else { self.clear_unknown(*run) };
                    (Kind::Output, format!("run {}, which the database does not know", run.short()), gone)
                }
                What::Log(path) => {
                    let gone = if wanted.is_tried { Ok(()) } else { fs::remove_file(path) };
                    (Kind::Log, path.display().to_string(), gone.map_err(|error| error.to_string()))
                }
            };
            all.push(Cleared { kind, what: name, bytes: Some(bytes), skipped: gone.err() });
        }
        Ok(all)
    }

    fn copies(&self, wanted: &Wanted) -> Vec<Cleared> {
        let left = block_in_place(|| copy_folder::clear_left(self.offline.store.folder(), wanted.is_tried));
        let left = left.unwrap_or_else(|error| {
            tracing::warn!(%error, "copies of other machines' runs are left");
            Vec::new()
        });
        let cleared = |(path, bytes): (PathBuf, u64)| {
            let still = !wanted.is_tried && path.exists();
            let skipped = still.then(|| "it cannot be removed; see programmator.log".to_owned());
            Cleared { kind: Kind::Copy, what: path.display().to_string(), bytes: Some(bytes), skipped }
        };
        left.into_iter().map(cleared).collect()
    }

    /// What is there and not needed.
    fn found(&self) -> Result<Vec<Leftover<What>>, StoreError> {
        let store = &self.offline.store;
        let mut all: Vec<Leftover<What>> = logs(store.folder()).collect();
        all.extend(self.unknown()?);
        let (mut newer, mut finished) = (BTreeSet::new(), BTreeMap::new());
        // Where the person keeps the outputs elsewhere, they are theirs.
        let is_own = is_folder(&store.folder().join("runs"));
        for run in store.runs()?.into_iter().take_while(|_| is_own) {
            let is_newest = newer.insert(self.line(&run));
            let folder = store.run_folder(run.run);
            if !is_folder(&folder) {
                continue;
            }
            let run = store.as_seen(run)?;
            let is_finished = *finished.entry(run.ticket_path.clone()).or_insert_with(|| is_finished(&run.ticket_path));
            if !self.is_needed(&run, is_newest, is_finished) {
                all.push(Leftover { time: run.updated, bytes: bytes_of(&folder), what: What::Output(Box::new(run)) });
            }
        }
        Ok(all)
    }

    /// Folders of runs that the store does not know, since they were last written to. None while a program works on a ticket: it
    /// may have begun with another database.
    fn unknown(&self) -> Result<Vec<Leftover<What>>, StoreError> {
        let (store, now) = (&self.offline.store, self.offline.clock.now());
        let folder = store.folder().join("runs");
        let is_looked_at = is_folder(&folder) && !is_any_ticket_held(store.folder()).unwrap_or(true);
        let entries = is_looked_at.then(|| fs::read_dir(&folder).ok()).flatten();
        let mut all = Vec::new();
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(run) = name.to_str().and_then(RunId::parse).filter(|run| *run.to_string() == *name) else {
                continue;
            };
            let path = entry.path();
            if !is_folder(&path) || store.run(run)?.is_some() {
                continue;
            }
            let time = last_written(&path);
            if now.since(time) > A_DAY {
                all.push(Leftover { time, bytes: bytes_of(&path), what: What::Unknown(run) });
            }
        }
        Ok(all)
    }

    fn clear_unknown(&self, run: RunId) -> Result<(), String> {
        let store = &self.offline.store;
        // Another program may have begun meanwhile.
        if is_any_ticket_held(store.folder()).unwrap_or(true) {
            return Err("a program is at work on a ticket now".to_owned());
        }
        block_in_place(|| fs::remove_dir_all(store.run_folder(run))).map_err(|error| error.to_string())
    }

    /// What only the newest run of is gone on with: a ticket, or the chats in a directory.
    fn line(&self, run: &RunSummary) -> String {
        if self.is_chat(run) { run.folder.clone() } else { run.ticket_path.clone() }
    }

    fn is_chat(&self, run: &RunSummary) -> bool {
        chats::is_chat(self.offline.store.folder(), Path::new(&run.ticket_path))
    }

    /// Somebody may go on with it, or must look at it.
    fn is_needed(&self, run: &RunSummary, is_newest: bool, is_finished: bool) -> bool {
        let is_over = match run.state {
            RunState::Ended => true,
            // Nothing goes on with these, or can.
            RunState::Interrupted => run.is_review() || run.is_own_session(),
            _ => false,
        };
        if !is_over || run.committing {
            return true;
        }
        if run.is_review() || run.is_own_session() {
            return false;
        }
        if self.is_chat(run) {
            return is_newest;
        }
        let is_resumable = run.reason.as_deref().and_then(ExitReason::from_word).is_some_and(ExitReason::is_resumable);
        !is_finished && (is_newest || is_resumable)
    }

    /// Removes what was printed in a run, which its journal says first.
    async fn clear(&self, run: &RunSummary, bytes: u64, by: &Answerer) -> Result<(), String> {
        let store = &self.offline.store;
        let path = Path::new(&run.ticket_path);
        let now = self.offline.clock.now();
        let holder = Holder { pid: std::process::id(), ticket: run.ticket.clone(), run: None, since: now };
        let _lock = block_in_place(|| store.lock_ticket(path, &holder)).map_err(|error| match error {
            LockError::Held { holder } => format!("in use by {holder}"),
            LockError::Store(error) => error.to_string(),
        })?;
        // Before the lock another program may have done anything.
        if block_in_place(|| self.is_needed_again(run.run)).map_err(|error| error.to_string())? {
            return Err("it has been resumed".to_owned());
        }
        let said = block_in_place(|| store.records_of(run.run, &["output_cleared"]));
        let is_said = said.is_ok_and(|said| !said.is_empty());
        let cleared = || Record::OutputCleared(OutputCleared { bytes, by: by.clone() });
        let _turn = self.offline.turn.lock().await;
        let mut noted = if is_said { Ok(()) } else { self.offline.note(run, cleared()).await };
        block_in_place(|| fs::remove_dir_all(store.run_folder(run.run))).map_err(|error| error.to_string())?;
        if noted.is_err() {
            // A disk that was full has room now.
            noted = self.offline.note(run, cleared()).await;
        }
        if let Err(error) = noted {
            tracing::warn!(run = %run.run, %error, "the journal does not say that what was printed in a run is removed");
        }
        Ok(())
    }

    /// Under the lock of its ticket: who is at work by the records is gone.
    fn is_needed_again(&self, run: RunId) -> Result<bool, StoreError> {
        let store = &self.offline.store;
        let Some((mut run, _)) = store.run(run)? else { return Ok(true) };
        if run.state != RunState::Ended {
            run.state = RunState::Interrupted;
        }
        let line = self.line(&run);
        let newest = store.runs()?.into_iter().find(|other| self.line(other) == line);
        let is_newest = newest.is_none_or(|newest| newest.run == run.run);
        Ok(self.is_needed(&run, is_newest, is_finished(&run.ticket_path)))
    }
}

/// Logs that nobody writes to any more, and what hooks were told.
fn logs(state: &Path) -> impl Iterator<Item = Leftover<What>> {
    let hooks = state.join("hooks");
    let captures = is_folder(&hooks).then(|| hooks.join("captures")).filter(|folder| is_folder(folder));
    let captures = captures.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let rotated = [
        state.join("programmator.log.1"),
        state.join("phone.log.old"),
        state.join("host.log.old"),
        hooks.join("hook.log.old"),
        hooks.join("policy.log.old"),
    ];
    rotated.into_iter().chain(captures.map(|entry| entry.path())).filter_map(|path| {
        let data = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let time = written_at(data.modified().ok()?);
        Some(Leftover { what: What::Log(path), time, bytes: data.len() })
    })
}

/// When something in the folder was written last; the present where that is not known.
fn last_written(folder: &Path) -> Timestamp {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let times =
        entries.chain([folder.to_owned()]).map(|path| fs::symlink_metadata(path).and_then(|data| data.modified()));
    times.map(|time| written_at(time.unwrap_or_else(|_| SystemTime::now()))).max().unwrap_or_default()
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| data.is_dir())
}

//! Reports when a file has changed: edited in place, saved by renaming, removed, created.
//!
//! Watches the folders, because a saved file is often another file. A thread sleeps
//! until [a change is heard of](crate::adapters::system_watch), waits a moment for the rest of it, reports, and sleeps again.

use crate::adapters::system_watch::SystemWatch;
use crate::base::text::clean_line;
use notify::event::ModifyKind;
use notify::{Event, EventKind};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// From the first sign of a change to the report: one save is several events.
const GATHER: Duration = Duration::from_millis(80);

/// A folder cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("cannot watch {}: {source}", clean_line(&.path.display().to_string(), 300))]
pub struct WatchError {
    /// The folder, or the file that was to be watched.
    path: PathBuf,
    /// What the system says (its limit of watches is reached, no such folder, …).
    source: notify::Error,
}

/// Watches files until it is dropped.
pub struct FileWatch {
    watcher: SystemWatch,
    files: Arc<Mutex<Watched>>,
    /// Folders that are watched, for the files in them or as a whole.
    folders: HashSet<PathBuf>,
}

/// Paths as events name them → paths as they were given.
type Watched = HashMap<PathBuf, PathBuf>;

impl FileWatch {
    /// Starts with no files; `on_change` gets the path of each changed file, as it was given to
    /// [`add`](Self::add), on a thread of the watch.
    pub fn new(on_change: impl FnMut(PathBuf) + Send + 'static) -> Result<Self, WatchError> {
        let files = Arc::new(Mutex::new(Watched::new()));
        let (changes, gathered) = channel();
        let known = Arc::clone(&files);
        let failed = |source| WatchError { path: PathBuf::from("."), source };
        let watcher = SystemWatch::new(move |event| note(event, &known, &changes)).map_err(failed)?;
        std::thread::Builder::new()
            .name("file-watch".to_owned())
            .spawn(move || report(&gathered, on_change))
            .map_err(|error| failed(notify::Error::io(error)))?;
        Ok(Self { watcher, files, folders: HashSet::new() })
    }

    /// Watches the file at `path` too, and the file it leads to. Neither it nor its folder need exist: the creation of
    /// a missing folder is reported as a change, and the file is to be added again then.
    pub fn add(&mut self, path: &Path) -> Result<(), WatchError> {
        // The folder is known by its true name: one more of its files costs no walk along the path.
        if path.parent().is_some_and(|folder| self.folders.contains(folder)) && !path.is_symlink() {
            self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), path.to_owned());
            return Ok(());
        }
        let mut names = vec![path.to_owned()];
        // Events carry the folder as it was watched; the folder's true name serves for all ways to it.
        names.extend(path.canonicalize());
        for name in names {
            let Some((folder, entry)) = nearest(&name).map_err(|error| failed(path, notify::Error::io(error)))? else {
                continue;
            };
            self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.join(entry), path.to_owned());
            self.follow(folder)?;
        }
        Ok(())
    }

    /// Reports the folder itself, too, when a file comes or goes there. No link may be in its path.
    pub fn add_folder(&mut self, folder: &Path) -> Result<(), WatchError> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned(), folder.to_owned());
        self.follow(folder.to_owned())
    }

    fn follow(&mut self, folder: PathBuf) -> Result<(), WatchError> {
        if !self.folders.contains(&folder) {
            self.watcher.watch(&folder).map_err(|source| failed(&folder, source))?;
            self.folders.insert(folder);
        }
        Ok(())
    }
}

/// The nearest folder above a file that is there, with links resolved, and the entry in it that leads to the file.
fn nearest(file: &Path) -> std::io::Result<Option<(PathBuf, OsString)>> {
    let mut at = file;
    while let Some(entry) = at.file_name() {
        let folder = at.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match folder.canonicalize() {
            Ok(folder) => return Ok(Some((folder, entry.to_owned()))),
            Err(error) if error.kind() == ErrorKind::NotFound && folder != Path::new(".") => at = folder,
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn failed(path: &Path, source: notify::Error) -> WatchError {
    WatchError { path: path.to_owned(), source }
}

/// Picks the watched files out of an event.
fn note(event: notify::Result<Event>, known: &Mutex<Watched>, changes: &Sender<PathBuf>) {
    let known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let send = |path: &PathBuf| {
        // Nobody listens any more: the watch is being dropped.
        let _ = changes.send(path.clone());
    };
    match event {
        // Our own reading is such an event too.
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
        Ok(event) if !event.need_rescan() => {
            let comes_or_goes = matches!(
                event.kind,
                EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
            );
            let folders = event.paths.iter().filter(|_| comes_or_goes).filter_map(|path| known.get(path.parent()?));
            event.paths.iter().filter_map(|path| known.get(path)).chain(folders).for_each(send);
        }
        // Events were lost: any file may have changed.
        _ => known.values().for_each(send),
    }
}

/// Reports each change once, [`GATHER`] after its first sign. Ends with the watch.
fn report(changes: &Receiver<PathBuf>, mut on_change: impl FnMut(PathBuf)) {
    while let Ok(first) = changes.recv() {
        let until = Instant::now() + GATHER;
        let mut paths = BTreeSet::from([first]);
        let ended = loop {
            match changes.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(path) => drop(paths.insert(path)),
                Err(RecvTimeoutError::Timeout) => break false,
                Err(RecvTimeoutError::Disconnected) => break true,
            }
        };
        if ended {
            return;
        }
        paths.into_iter().for_each(&mut on_change);
    }
}

//! What Claude printed in a run: one verbatim file per iteration and 16 bytes of memory per displayable
//! record. Reads for the screen while `sink` writes; `index` is the form on disk.
//!
//! The files of an iteration are first touched when somebody asks for it, so that a run with a million
//! records can show its end at once.

mod index;
mod shared;
mod sink;
mod soon;

pub use index::Classify;
pub use sink::{Bounds, RunSink};
pub use soon::drain;

use super::error::StoreError;
use super::os;
use crate::domain::scrollback::{Entry, Live, Scrollback, Survey};
use shared::{Shared, lock, read, tail_of, write};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, RwLock};

/// Threads that look through records at once.
const SURVEYORS: usize = 4;

/// The scrollback of one run, over files. Clones share everything.
#[derive(Clone)]
pub struct RunScrollback {
    shared: Arc<Shared>,
}

impl RunScrollback {
    /// Looks which iterations have files; a run without a folder has none.
    pub(super) fn open(folder: PathBuf, classify: Classify) -> Result<Self, StoreError> {
        let mut iterations = BTreeMap::new();
        match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::file("read", &folder)(error)),
            Ok(names) => {
                for name in names {
                    let name = name.map_err(StoreError::file("read", &folder))?.file_name();
                    let n = name.to_str().and_then(|name| name.strip_suffix(".ndjson"));
                    if let Some(Ok(n)) = n.map(str::parse) {
                        iterations.insert(n, Arc::default());
                    }
                }
            }
        }
        let last = iterations.keys().next_back().copied();
        let size = |n| fs::metadata(folder.join(format!("{n}.ndjson"))).map_or(0, |data| data.len());
        let seen = last.map(|n| (n, size(n)));
        Ok(Self {
            shared: Arc::new(Shared {
                folder,
                classify,
                iterations: RwLock::new(iterations),
                seen: Mutex::new(seen),
                live: Mutex::default(),
                open: Mutex::default(),
            }),
        })
    }

    /// Sees what another program has written since: new iterations, and more of the last one. Whether there was any.
    pub fn look_again(&self) -> Result<bool, StoreError> {
        let again = Self::open(self.shared.folder.clone(), self.shared.classify)?;
        let seen = *lock(&again.shared.seen);
        if std::mem::replace(&mut *lock(&self.shared.seen), seen) == seen {
            return Ok(false);
        }
        let mut known = write(&self.shared.iterations);
        let last = known.keys().next_back().copied();
        for (n, iteration) in std::mem::take(&mut *write(&again.shared.iterations)) {
            if Some(n) >= last {
                known.insert(n, iteration);
            }
        }
        Ok(true)
    }

    /// Begins (or resumes) the file of iteration `n`. `on_growth` is called, from the writing thread,
    /// after each burst that readers can see more of. One writer at a time: the ticket's lock sees to that.
    pub fn begin(&self, n: u32, bounds: Bounds, on_growth: Box<dyn Fn() + Send + Sync>) -> Result<RunSink, StoreError> {
        let folder = &self.shared.folder;
        os::create_folder(folder).map_err(StoreError::file("create", folder))?;
        let path = self.shared.text(n);
        let (sink, iteration) =
            RunSink::begin(Arc::clone(&self.shared), n, bounds, on_growth).map_err(StoreError::file("write", &path))?;
        write(&self.shared.iterations).insert(n, iteration);
        Ok(sink)
    }
}

impl Scrollback for RunScrollback {
    fn iterations(&self) -> Vec<u32> {
        read(&self.shared.iterations).keys().copied().collect()
    }

    fn len(&self, iteration: u32) -> usize {
        self.shared.with_entries(iteration, <[Entry]>::len).unwrap_or(0)
    }

    fn entries(&self, iteration: u32, range: Range<usize>, out: &mut Vec<Entry>) {
        self.shared.with_entries(iteration, |entries| {
            let end = range.end.min(entries.len());
            out.extend_from_slice(&entries[range.start.min(end)..end]);
        });
    }

    fn read(&self, iteration: u32, entry: Entry, max: usize) -> io::Result<Vec<u8>> {
        let file = self.shared.file(iteration)?;
        let mut bytes = vec![0; entry.len().min(max)];
        let mut filled = 0;
        while filled < bytes.len() {
            let at = entry.offset + filled as u64;
            match os::read_at(&file, &mut bytes[filled..], at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bytes)
    }

    fn live(&self) -> Live {
        let live = lock(&self.shared.live);
        Live {
            text: tail_of(&live.text).to_owned(),
            thinking: tail_of(&live.thinking).to_owned(),
            tool: live.tool.clone(),
        }
    }

    fn survey(&self, survey: Arc<dyn Survey>) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(SURVEYORS);
        for _ in 0..threads {
            let (scrollback, survey) = (self.clone(), Arc::clone(&survey));
            let walk = move || {
                os::yield_to_others();
                while survey.step(&scrollback) {}
            };
            // Without a thread it is not made, and seen to be unfinished.
            if let Err(error) = std::thread::Builder::new().name("survey".into()).spawn(walk) {
                tracing::warn!(%error, "no thread to search with");
            }
        }
    }
}

// A reader that panicked leaves nothing half-done behind in these.

//! What Claude printed in a run: one verbatim file per iteration and 16 bytes of memory per displayable
//! record. Reads for the screen while `sink` writes; `index` is the form on disk.
//!
//! The files of an iteration are first touched when somebody asks for it, so that a run with a million
//! records can show its end at once.

mod index;
mod sink;

pub use sink::{Bounds, RunSink};

use super::error::StoreError;
use super::os;
use crate::base::text::tail;
use crate::domain::scrollback::{Entry, EntryKind, Live, LiveChange, Scrollback};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// Says what a line of the stream shows; `None`: nothing. Used for lines whose index is lost.
pub type Classify = fn(&[u8]) -> Option<EntryKind>;

/// Bytes of text and of thinking that the live tail keeps at least; a quarter more at most.
const LIVE: usize = 64 << 10;

/// The scrollback of one run, over files. Clones share everything.
#[derive(Clone)]
pub struct RunScrollback {
    shared: Arc<Shared>,
}

struct Shared {
    folder: PathBuf,
    classify: Classify,
    iterations: RwLock<BTreeMap<u32, Arc<Iteration>>>,
    live: Mutex<Live>,
    /// The file that was read last: a screen full of records is one open file, a hundred iterations are not
    /// a hundred.
    open: Mutex<Option<(u32, Arc<File>)>>,
}

/// The index of one iteration, read when first asked for.
#[derive(Default)]
struct Iteration {
    entries: OnceLock<RwLock<Vec<Entry>>>,
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
        Ok(Self {
            shared: Arc::new(Shared {
                folder,
                classify,
                iterations: RwLock::new(iterations),
                live: Mutex::default(),
                open: Mutex::default(),
            }),
        })
    }

    /// Begins (or goes on with) the file of iteration `n`. `on_growth` is called, from the writing thread,
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
}

impl Shared {
    fn text(&self, n: u32) -> PathBuf {
        self.folder.join(format!("{n}.ndjson"))
    }

    fn index(&self, n: u32) -> PathBuf {
        self.folder.join(format!("{n}.idx"))
    }

    fn with_entries<T>(&self, n: u32, look: impl FnOnce(&[Entry]) -> T) -> Option<T> {
        let iteration = read(&self.iterations).get(&n).cloned()?;
        let entries = iteration.entries.get_or_init(|| {
            let loaded = index::load(&self.text(n), &self.index(n), self.classify);
            RwLock::new(loaded.unwrap_or_else(|error| {
                tracing::warn!(path = %self.text(n).display(), %error, "scrollback cannot be read");
                Vec::new()
            }))
        });
        Some(look(&read(entries)))
    }

    fn file(&self, n: u32) -> io::Result<Arc<File>> {
        let mut open = lock(&self.open);
        if let Some((which, file)) = &*open
            && *which == n
        {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(File::open(self.text(n))?);
        *open = Some((n, Arc::clone(&file)));
        Ok(file)
    }

    fn change_live(&self, change: LiveChange<'_>) {
        let mut live = lock(&self.live);
        match change {
            LiveChange::Text(more) => add(&mut live.text, more),
            LiveChange::Thinking(more) => add(&mut live.thinking, more),
            LiveChange::Tool(name) => live.tool = Some(name.to_owned()),
            LiveChange::Clear => *live = Live::default(),
        }
    }
}

/// Appends and, now and then, forgets the beginning.
fn add(text: &mut String, more: &str) {
    text.push_str(more);
    if text.len() > LIVE + LIVE / 4 {
        text.drain(..text.len() - tail_of(text).len());
    }
}

/// The last [`LIVE`] bytes, from a line's start where there is one.
fn tail_of(text: &str) -> &str {
    tail(text, LIVE)
}

// A reader that panicked leaves nothing half-done behind in these.
fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

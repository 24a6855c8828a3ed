//! What is kept of the last tree, and how it is told whether that is still what a fresh look would give.

use super::look::Image;
use super::paths::{self, Excludes};
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// A snapshot that comes so soon after the evidence may have its tree.
const SOON: Duration = Duration::from_secs(1);
/// So many files are looked at by two threads.
const SHARE: usize = 4_000;

/// The tree in memory.
#[derive(Debug, Default)]
pub(super) enum Imaged {
    #[default]
    Not,
    Coming(JoinHandle<Option<Image>>),
    Known(Arc<Image>),
}

impl Imaged {
    /// Waits for one that is being made.
    pub(super) async fn image(self) -> Option<Arc<Image>> {
        match self {
            Self::Not => None,
            Self::Coming(making) => making.await.ok().flatten().map(Arc::new),
            Self::Known(image) => Some(image),
        }
    }
}

/// What there is of the last tree.
#[derive(Debug)]
pub(super) struct Warm {
    pub(super) image: Imaged,
    pub(super) dir: TempDir,
    pub(super) exclude: Excludes,
    pub(super) known: Arc<Known>,
    /// Commands have run since it was read.
    pub(super) stirred: bool,
}

/// What the tree was made from.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) began: Began,
    /// What the scratch folder's index comes to. A look in memory leaves both as they are.
    pub(super) tree: String,
    /// All files of the tree, below the top.
    pub(super) files: Vec<PathBuf>,
    /// Their folders, the top as the empty path.
    pub(super) folders: BTreeSet<PathBuf>,
    /// What says which files count, in no folder of the tree.
    pub(super) outer: Vec<(PathBuf, Looks)>,
    /// And in these folders.
    pub(super) rules: Vec<(PathBuf, Looks)>,
    /// All paths of the person's index, which a fresh look starts from.
    pub(super) seed: Arc<[Vec<u8>]>,
    /// Those that are not in the tree: should they come back, only a fresh look sees those that are ignored as well.
    pub(super) gone: Vec<PathBuf>,
}

/// The moment before a reading.
#[derive(Debug)]
pub(super) struct Began {
    /// By the clock of the file system with this number.
    pub(super) time: (i64, i64),
    pub(super) device: u64,
    at: Instant,
    /// Of the folders that have something that is left out: what else was in them.
    pub(super) beside: HashMap<PathBuf, Vec<PathBuf>>,
}

/// What tells a file from a changed one; `None`: it is not there.
pub(super) type Looks = Option<(u64, u64, (i64, i64), (i64, i64))>;

impl Known {
    pub(super) fn rules_stand(&self) -> bool {
        self.outer_stand() && stand(&self.rules)
    }

    /// The rules that an image does not know.
    pub(super) fn outer_stand(&self) -> bool {
        stand(&self.outer)
    }

    /// Nothing that was gone has come back.
    pub(super) fn is_whole(&self, top: &Path) -> bool {
        self.gone.iter().all(|path| fs::symlink_metadata(top.join(path)).is_err())
    }

    /// Nothing that is known has changed since before it was read, and nothing has come beside it. What comes meanwhile
    /// in a folder that had nothing counts as what comes a moment later.
    pub(super) fn stands(&self, top: &Path, exclude: &Excludes) -> bool {
        if self.began.at.elapsed() > SOON {
            return false;
        }
        let is_old = |path: &Path| {
            let data = fs::symlink_metadata(top.join(path));
            data.is_ok_and(|data| data.dev() == self.began.device && changed(&data) < self.began.time)
        };
        let is_as_before = |folder: &PathBuf| {
            is_old(folder)
                || self
                    .began
                    .beside
                    .get(folder)
                    .is_some_and(|before| beside(top, folder, exclude).as_ref() == Some(before))
        };
        let are_old = |files: &[PathBuf]| files.iter().all(|file| is_old(file));
        let (first, second) = self.files.split_at(if self.files.len() < SHARE { 0 } else { self.files.len() / 2 });
        self.folders.iter().all(is_as_before)
            && std::thread::scope(|scope| {
                let beside = || std::thread::Builder::new().spawn_scoped(scope, || are_old(first));
                let beside = (!first.is_empty()).then(beside);
                are_old(second) && beside.is_none_or(|beside| beside.is_ok_and(|look| look.join().unwrap_or(false)))
            })
    }
}

fn stand(rules: &[(PathBuf, Looks)]) -> bool {
    rules.iter().all(|(path, before)| looks(path) == *before)
}

/// This moment and the file system by whose clock it is, by a file that is made now.
pub(super) fn moment(mark: &Path) -> Option<((i64, i64), u64)> {
    // One that is there is written to: its time changes only so.
    fs::write(mark, ".").ok()?;
    let data = fs::symlink_metadata(mark).ok()?;
    Some((changed(&data), data.dev()))
}

impl Began {
    /// `None`: no file can be made.
    pub(super) fn now(mark: &Path, top: &Path, exclude: &Excludes) -> Option<Self> {
        let (time, device) = moment(mark)?;
        let folders = exclude.iter().filter_map(|path| paths::path(path).parent().map(Path::to_owned));
        let beside = folders.filter_map(|folder| Some((folder.clone(), beside(top, &folder, exclude)?))).collect();
        Some(Self { time, device, at: Instant::now(), beside })
    }
}

fn changed(data: &Metadata) -> (i64, i64) {
    (data.ctime(), data.ctime_nsec())
}

pub(super) fn looks(path: &Path) -> Looks {
    let data = fs::symlink_metadata(path).ok()?;
    Some((data.size(), data.ino(), (data.mtime(), data.mtime_nsec()), changed(&data)))
}

/// What is in a folder, but for what is left out.
fn beside(top: &Path, folder: &Path, exclude: &Excludes) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(top.join(folder)).ok()?;
    let names = entries.map(|entry| Some(folder.join(entry.ok()?.file_name()))).collect::<Option<Vec<PathBuf>>>()?;
    let mut names: Vec<PathBuf> = names.into_iter().filter(|path| !exclude.covers(paths::bytes(path))).collect();
    names.sort();
    Some(names)
}

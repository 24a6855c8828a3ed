//! Evidence without git: what a folder holds, as a manifest of names and digests.
//!
//! Owns walking the folder (`.gitignore` honoured, links not followed), hashing, and the manifest's
//! file. A manifest says what changed; it holds no contents, so nothing can be restored from it.

use super::error::EvidenceError;
use super::paths::{self, Excludes};
use super::snapshot::{MANIFEST as ID, SnapshotId, Taken};
use crate::base::hex::hex;
use crate::base::text::clean_line;
use crate::domain::changes::{Change, ChangedFile, Changes, Lines};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A file touched so short a time before it was hashed may change again under the same time.
const RECENT: Duration = Duration::from_secs(2);
/// Reading a folder takes at most this long.
const LIMIT: Duration = Duration::from_secs(300);

/// Path → `<kind> <sha256>`; the kind is git's mode (`100644`, `100755`, `120000`).
type Manifest = BTreeMap<String, String>;

/// A folder that is in no git repository.
#[derive(Debug)]
pub struct Folder {
    pub(super) root: PathBuf,
    /// Where manifests are kept.
    pub(super) keep: PathBuf,
    seen: Mutex<HashMap<PathBuf, Seen>>,
}

/// What a file was when it was last hashed.
#[derive(Debug, Clone)]
struct Seen {
    stamp: Stamp,
    print: String,
}

/// Size, inode, modification and change time with nanoseconds: a file that keeps all of them is the same.
type Stamp = (u64, u64, (i64, i64), (i64, i64));

impl Folder {
    pub(super) fn new(root: &Path, keep: &Path) -> Self {
        Self { root: root.to_owned(), keep: keep.to_owned(), seen: Mutex::default() }
    }

    /// Writes the manifest of the present.
    pub(super) async fn snapshot(self: &Arc<Self>, exclude: Excludes) -> Result<Taken, EvidenceError> {
        let folder = Arc::clone(self);
        self.aside(move || {
            let (manifest, skipped) = folder.read(&exclude)?;
            let json = serde_json::to_vec(&manifest)?;
            let id = format!("{ID}{}", hex(&Sha256::digest(&json)));
            fs::create_dir_all(&folder.keep)?;
            let mut file = tempfile::NamedTempFile::new_in(&folder.keep)?;
            io::Write::write_all(&mut file, &json)?;
            file.as_file().sync_all()?;
            file.persist(folder.keep.join(format!("{id}.json"))).map_err(|failed| failed.error)?;
            Ok(Taken { id: SnapshotId(id), skipped })
        })
        .await
    }

    /// For each manifest: the files that differ from it now, in order of name.
    pub(super) async fn changed(
        self: &Arc<Self>,
        from: &[&SnapshotId],
        exclude: Excludes,
    ) -> Result<Vec<Vec<String>>, EvidenceError> {
        let before: Vec<Manifest> = from.iter().map(|id| self.load(id)).collect::<Result<_, _>>()?;
        let folder = Arc::clone(self);
        self.aside(move || {
            let (now, _) = folder.read(&exclude)?;
            Ok(before.iter().map(|before| differing(before, &now, &folder.root, &exclude)).collect())
        })
        .await
    }

    /// The files that differ from the manifest now. It holds no contents: nothing is known of their lines.
    pub(super) async fn changes(
        self: &Arc<Self>,
        from: &SnapshotId,
        exclude: Excludes,
    ) -> Result<Changes, EvidenceError> {
        let before = self.load(from)?;
        let names = self.changed(&[from], exclude).await?.concat();
        let file = |path: String| {
            let there = fs::symlink_metadata(self.root.join(&path)).is_ok_and(|data| !data.is_dir());
            let change = match before.contains_key(&path) {
                false => Change::Added,
                true if there => Change::Modified,
                true => Change::Deleted,
            };
            ChangedFile { path, change, lines: Lines::Unknown }
        };
        Ok(Changes::of(&self.root, names.into_iter().map(file).collect(), true))
    }

    fn load(&self, id: &SnapshotId) -> Result<Manifest, EvidenceError> {
        let unknown = || EvidenceError::UnknownSnapshot { id: clean_line(&id.0, 80) };
        let digest = id.0.strip_prefix(ID).ok_or_else(unknown)?;
        if !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let json = fs::read(self.keep.join(format!("{}.json", id.0))).map_err(|_| unknown())?;
        serde_json::from_slice(&json).map_err(|_| unknown())
    }

    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> Result<T, EvidenceError> {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|stopped| Err(io::Error::other(stopped))).map_err(|source| EvidenceError::Io {
            what: "reading the folder".to_owned(),
            path: self.root.clone(),
            source,
        })
    }

    /// The manifest of the present and what could not be read.
    fn read(&self, exclude: &Excludes) -> io::Result<(Manifest, Vec<String>)> {
        let begun = Instant::now();
        let mut before = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        let (mut manifest, mut skipped, mut seen) = (Manifest::new(), Vec::new(), HashMap::new());
        for entry in self.walk() {
            if begun.elapsed() > LIMIT {
                return Err(io::Error::other(format!(
                    "it did not finish within {} s: use a smaller directory, or add large files to .gitignore",
                    LIMIT.as_secs()
                )));
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    skipped.push(clean_line(&error.to_string(), 300));
                    continue;
                }
            };
            let path = entry.path();
            let relative = path.strip_prefix(&self.root).unwrap_or(path);
            let counts = entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink());
            if !counts || exclude.covers(paths::bytes(relative)) {
                continue;
            }
            match print(path, before.remove(path)) {
                Ok((print, known)) => {
                    manifest.insert(name(relative), print);
                    if let Some(known) = known {
                        seen.insert(path.to_owned(), known);
                    }
                }
                // Removed while we were reading: it is not there.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    skipped.push(clean_line(&format!("{}: {error}", relative.display()), 300));
                }
            }
        }
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen;
        Ok((manifest, skipped))
    }

    fn walk(&self) -> ignore::Walk {
        ignore::WalkBuilder::new(&self.root)
            .standard_filters(false)
            .git_ignore(true)
            .require_git(false)
            .follow_links(false)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build()
    }
}

fn differing(before: &Manifest, now: &Manifest, root: &Path, exclude: &Excludes) -> Vec<String> {
    let gone = before.keys().filter(|name| {
        // What is there but no longer listed is ignored or unreadable now: no work was done on it.
        !now.contains_key(*name) && fs::symlink_metadata(root.join(name)).map_or(true, |data| data.is_dir())
    });
    let new = now.iter().filter(|(name, print)| before.get(*name) != Some(print));
    let mut names: Vec<String> =
        gone.chain(new.map(|(name, _)| name)).filter(|name| !exclude.covers(name.as_bytes())).cloned().collect();
    names.sort();
    names
}

/// Kind and digest of a file, and what to remember of it.
fn print(path: &Path, before: Option<Seen>) -> io::Result<(String, Option<Seen>)> {
    let data = fs::symlink_metadata(path)?;
    if data.is_symlink() {
        let target = fs::read_link(path)?;
        return Ok((format!("120000 {}", hex(&Sha256::digest(paths::bytes(&target)))), None));
    }
    if let Some(before) = before.filter(|before| before.stamp == stamp(&data)) {
        return Ok((before.print.clone(), Some(before)));
    }
    let mut file = File::open(path)?;
    let data = file.metadata()?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    let mode = if data.mode() & 0o111 == 0 { "100644" } else { "100755" };
    let print = format!("{mode} {}", hex(&hasher.finalize()));
    let seen = settled(&data).then(|| Seen { stamp: stamp(&data), print: print.clone() });
    Ok((print, seen))
}

fn stamp(data: &Metadata) -> Stamp {
    (data.size(), data.ino(), (data.mtime(), data.mtime_nsec()), (data.ctime(), data.ctime_nsec()))
}

/// Old enough that a later change gets another time.
fn settled(data: &Metadata) -> bool {
    data.modified().is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > RECENT))
}

/// A name for the manifest; bytes that are no UTF-8 keep apart by their value.
fn name(path: &Path) -> String {
    match std::str::from_utf8(paths::bytes(path)) {
        Ok(text) => text.to_owned(),
        Err(_) => paths::bytes(path).escape_ascii().to_string(),
    }
}

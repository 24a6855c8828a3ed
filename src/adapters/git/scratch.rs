//! The working tree's content as a git tree, made beside the repository: a git folder and an index of our
//! own that share only the repository's objects.
//!
//! The repository's config is never read here and our `info/attributes` outranks every
//! `.gitattributes`, so no filter, text conversion, hook or monitor of the repository can run, and each
//! file is saved byte for byte. HEAD, index, stash and reflogs of the person's are not even named.

use super::command::{Git, failed, line};
use super::error::EvidenceError;
use super::kept::Known;
use super::look::Image;
use super::paths::{self, Excludes};
use super::repository::Repository;
use crate::base::text::clean_line;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::collections::HashSet;
use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Who makes our snapshots.
pub(super) const AUTHOR: &str = "programmator";
pub(super) const MAIL: &str = "programmator@localhost";

/// Begins the name of every scratch folder, before the id of the program that uses it.
const PREFIX: &str = "scratch-";
/// A scratch folder of this age was left by a program that was killed.
const STALE: Duration = Duration::from_secs(24 * 3_600);
/// Outranks all other attributes: no filter, no conversion of line ends, words or encoding. Whether a file is text
/// is told by its content.
const RAW: &str = "* -text -eol -filter -ident -working-tree-encoding !diff -merge\n";
/// What says that a file's form on the disk is not its form in the index.
const CONVERSIONS: [&str; 4] = ["filter", "ident", "working-tree-encoding", "eol"];

/// Where new objects go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objects {
    /// Into the repository: they are to last.
    Kept,
    /// Into the scratch folder: only to compare.
    Passing,
}

/// The tree as it is now.
pub(super) struct Staged {
    /// Our git folder, for further calls on the same objects.
    pub(super) scratch: Scratch,
    pub(super) tree: String,
    /// What git could not read, in its words.
    pub(super) skipped: Vec<String>,
    /// What it was made from, as far as that is known.
    pub(super) known: Option<Arc<Known>>,
    /// It, in memory.
    pub(super) image: Option<Arc<Image>>,
    /// Objects of it that may not be on the disk yet.
    pub(super) fresh: Vec<File>,
}

/// A git folder of our own; gone when dropped.
pub(super) struct Scratch {
    dir: TempDir,
    repository: Arc<Repository>,
    objects: Objects,
}

/// Reads the whole working tree but `exclude` into a tree.
pub(super) async fn stage(
    repository: &Arc<Repository>,
    exclude: &Excludes,
    objects: Objects,
) -> Result<Staged, EvidenceError> {
    stage_in(Scratch::new(repository, objects).await?, exclude).await
}

/// The same in a fresh git folder.
pub(super) async fn stage_in(scratch: Scratch, exclude: &Excludes) -> Result<Staged, EvidenceError> {
    let seed = scratch.seed().await?;
    scratch.unseed(&seed, exclude).await?;
    let skipped = scratch.add(&seed, exclude).await?;
    let tree = scratch.write_tree().await?;
    Ok(Staged { scratch, tree, skipped, known: None, image: None, fresh: Vec::new() })
}

/// An entry of the index that we start from.
pub(super) struct Entry {
    path: Vec<u8>,
    submodule: bool,
}

impl Scratch {
    /// A fresh git folder in the repository's keep.
    pub(super) async fn new(repository: &Arc<Repository>, objects: Objects) -> Result<Self, EvidenceError> {
        let from = Arc::clone(repository);
        let made = tokio::task::spawn_blocking(move || lay_out(&from, objects)).await;
        let dir = made.unwrap_or_else(|stopped| Err(io::Error::other(stopped))).map_err(|source| {
            match repository.lost() {
                Some(gone) => gone,
                None => EvidenceError::Io {
                    what: "making a folder to compare in".to_owned(),
                    path: repository.keep.clone(),
                    source,
                },
            }
        })?;
        Ok(Self { dir, repository: Arc::clone(repository), objects })
    }

    /// One whose folder was kept; it looks new again, so that nobody sweeps it away. `None`: somebody has.
    pub(super) fn of(repository: &Arc<Repository>, dir: TempDir) -> Option<Self> {
        let touched = File::open(dir.path()).and_then(|folder| folder.set_modified(SystemTime::now()));
        let is_there = touched.is_ok() && dir.path().join("git/HEAD").is_file();
        is_there.then(|| Self { dir, repository: Arc::clone(repository), objects: Objects::Kept })
    }

    /// Its folder, to be kept.
    pub(super) fn into_dir(self) -> TempDir {
        self.dir
    }

    /// Its index.
    pub(super) fn index(&self) -> PathBuf {
        self.dir.path().join("git/index")
    }

    pub(super) async fn write_tree(&self) -> Result<String, EvidenceError> {
        // A partial clone lacks blobs that nobody has touched.
        let tree = self.git("write-tree").args(["--missing-ok"]).thorough().ok().await?;
        Ok(paths::shown(&line(tree)))
    }

    /// A place for another file of ours.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A call in this git folder on the real working tree.
    pub(super) fn git(&self, verb: &'static str) -> Git {
        let root = self.dir.path();
        let objects = match self.objects {
            Objects::Kept => self.repository.common_dir.join("objects"),
            Objects::Passing => root.join("git/objects"),
        };
        git_in(root, &self.repository, &objects, verb)
    }

    /// What the copied index has. An index that cannot be read only costs time: all is hashed then.
    async fn seed(&self) -> Result<Vec<Entry>, EvidenceError> {
        let listed = self.git("ls-files").args(["-s", "-z"]).run().await?;
        if listed.code == Some(0) {
            return Ok(entries(&listed.stdout));
        }
        let index = self.index();
        fs::remove_file(&index).map_err(|source| EvidenceError::Io {
            what: "starting without an index".to_owned(),
            path: index,
            source,
        })?;
        Ok(Vec::new())
    }

    /// Takes out of the index what is excluded, and what it has in another form than the disk.
    async fn unseed(&self, seed: &[Entry], exclude: &Excludes) -> Result<(), EvidenceError> {
        let (excluded, kept): (Vec<_>, Vec<_>) = seed.iter().partition(|e| exclude.covers(&e.path));
        let converted = self.converted(kept.iter().map(|entry| entry.path.as_slice()), &CONVERSIONS).await?;
        let out: Vec<&[u8]> =
            excluded.iter().map(|entry| entry.path.as_slice()).chain(converted.iter().map(Vec::as_slice)).collect();
        if out.is_empty() {
            return Ok(());
        }
        self.git("update-index").args(["-z", "--force-remove", "--stdin"]).input(listing(out)).thorough().ok().await?;
        Ok(())
    }

    /// Those of the paths that these attributes convert between index and disk.
    pub(super) async fn converted<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a [u8]>,
        attributes: &[&str],
    ) -> Result<HashSet<Vec<u8>>, EvidenceError> {
        let input = listing(paths);
        if input.is_empty() {
            return Ok(HashSet::new());
        }
        let said = self
            .repository
            .git("check-attr")
            .args(["-z", "--stdin"])
            .args(attributes)
            .input(input)
            .thorough()
            .ok()
            .await?;
        let words: Vec<&[u8]> = said.split(|&byte| byte == 0).collect();
        Ok(words
            .chunks_exact(3)
            .filter(|word| match (word[1], word[2]) {
                (_, b"unspecified" | b"unset") => false,
                (b"eol", value) => value == b"crlf",
                _ => true,
            })
            .map(|word| word[0].to_vec())
            .collect())
    }

    /// Brings the index up to the disk. Gives what could not be read.
    pub(super) async fn add(&self, seed: &[Entry], exclude: &Excludes) -> Result<Vec<String>, EvidenceError> {
        let submodules: Vec<&[u8]> = seed
            .iter()
            .filter(|entry| entry.submodule && !exclude.covers(&entry.path))
            .map(|entry| entry.path.as_slice())
            .collect();
        if !submodules.is_empty() {
            // Their checked-out commit is noted; `git add` would run `git status` inside them.
            self.git("update-index")
                .args(["-z", "--add", "--remove", "--stdin"])
                .input(listing(submodules.iter().copied()))
                .ok()
                .await?;
        }
        let mut specs = b":(top)\0".to_vec();
        for path in exclude.iter().chain(submodules) {
            specs.extend(b":(top,exclude,literal)");
            specs.extend(path);
            specs.push(0);
        }
        for pattern in exclude.patterns() {
            specs.extend(b":(top,exclude,glob)");
            specs.extend(pattern);
            specs.push(0);
        }
        let said = self
            .git("add")
            .args(["--all", "--ignore-errors", "--no-warn-embedded-repo"])
            .args(["--pathspec-from-file=-", "--pathspec-file-nul"])
            .input(specs)
            .thorough()
            .run()
            .await?;
        // 1 says that some files were left out: unreadable, or repositories without a commit.
        if !matches!(said.code, Some(0 | 1)) {
            return Err(failed("add", &self.repository.top, &said));
        }
        Ok(said
            .stderr
            .lines()
            .filter_map(|said| said.strip_prefix("error: ").or(said.strip_prefix("warning: ")))
            .map(|said| clean_line(said, 300))
            .collect())
    }
}

/// A call in the git folder below `root` on the real working tree.
pub(super) fn git_in(root: &Path, repository: &Repository, objects: &Path, verb: &'static str) -> Git {
    Git::new(&repository.top, std::iter::empty::<&str>(), verb)
        .env("GIT_DIR", root.join("git"))
        .env("GIT_WORK_TREE", &repository.top)
        .env("GIT_INDEX_FILE", root.join("git/index"))
        .env("GIT_OBJECT_DIRECTORY", objects)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_COUNT", "0")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", AUTHOR)
        .env("GIT_AUTHOR_EMAIL", MAIL)
        .env("GIT_COMMITTER_NAME", AUTHOR)
        .env("GIT_COMMITTER_EMAIL", MAIL)
}

/// Paths, each ended by a NUL.
pub(super) fn listing<'a>(paths: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    for path in paths {
        out.extend(path);
        out.push(0);
    }
    out
}

/// Reads `mode object stage\tpath\0…`.
fn entries(listed: &[u8]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = listed
        .split(|&byte| byte == 0)
        .filter_map(|entry| {
            let tab = entry.iter().position(|&byte| byte == b'\t')?;
            Some(Entry { path: entry[tab + 1..].to_vec(), submodule: entry.starts_with(b"160000") })
        })
        .collect();
    // A path in a merge conflict stands there up to three times.
    entries.dedup_by(|a, b| a.path == b.path);
    entries
}

fn lay_out(repository: &Repository, objects: Objects) -> io::Result<TempDir> {
    fs::create_dir_all(&repository.keep)?;
    sweep(&repository.keep);
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let dir = tempfile::Builder::new().prefix(&prefix).tempdir_in(&repository.keep)?;
    let git = dir.path().join("git");
    for folder in ["refs", "info", "objects/info"] {
        fs::create_dir_all(git.join(folder))?;
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/none\n")?;
    fs::write(git.join("config"), config(repository, objects))?;
    fs::write(git.join("info/attributes"), RAW)?;
    if objects == Objects::Passing {
        let mut alternates = paths::quoted(&repository.common_dir.join("objects"));
        alternates.push(b'\n');
        fs::write(git.join("objects/info/alternates"), alternates)?;
    }
    let ignored = git.join("info/exclude");
    copy(&repository.common_dir.join("info/exclude"), &ignored)?;
    writeln!(File::options().create(true).append(true).open(ignored)?, "\n*{}", paths::STAGED)?;
    if !repository.converts_all {
        copy(&repository.git_dir.join("index"), &git.join("index"))?;
        for shared in fs::read_dir(&repository.git_dir)?.flatten() {
            if shared.file_name().to_string_lossy().starts_with("sharedindex.") {
                copy(&shared.path(), &git.join(shared.file_name()))?;
            }
        }
    }
    Ok(dir)
}

fn config(repository: &Repository, objects: Objects) -> Vec<u8> {
    let fsync = match objects {
        Objects::Kept => "fsync = committed,loose-object\n\tfsyncMethod = batch\n\tlooseCompression = 1",
        Objects::Passing => "fsync = none\n\tlooseCompression = 0",
    };
    let mut out = Vec::new();
    let mut put = |bytes: &[u8]| out.extend_from_slice(bytes);
    put(b"[core]\n\trepositoryFormatVersion = 1\n\tbare = false\n\tuntrackedCache = false\n\t");
    put(fsync.as_bytes());
    put(b"\n");
    for (key, value) in &repository.core {
        put(format!("\t{} = {value}\n", key.trim_start_matches("core.")).as_bytes());
    }
    if let Some(file) = &repository.excludes_file {
        put(b"\texcludesFile = ");
        put(&paths::quoted(file));
        put(b"\n");
    }
    if repository.object_format != "sha1" {
        put(format!("[extensions]\n\tobjectFormat = {}\n", repository.object_format).as_bytes());
    }
    out
}

/// Copies a file that may be missing, with its time: git takes an entry for unchanged only when the
/// index is younger than the file, so a copy that looks younger than it is would hide changes.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = match File::open(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let modified = source.metadata()?.modified()?;
    let mut target = File::create(to)?;
    io::copy(&mut source, &mut target)?;
    target.flush()?;
    target.set_times(FileTimes::new().set_modified(modified))
}

/// Removes what killed programs have left. Failing to is no reason not to work.
pub(super) fn sweep(keep: &Path) {
    for entry in fs::read_dir(keep).into_iter().flatten().flatten() {
        let stale = entry
            .metadata()
            .and_then(|data| data.modified())
            .is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > STALE));
        let name = entry.file_name();
        if name.to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(|name| stale || has_ended(name)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The program whose id the name of a scratch folder begins with runs no more.
fn has_ended(name: &str) -> bool {
    let id = name.split_once('-').and_then(|(id, _)| Pid::from_raw(id.parse().ok()?));
    id.is_some_and(|id| test_kill_process(id) == Err(Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_program_has_left_is_swept_and_no_other_thing() {
        let keep = tempfile::tempdir().unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let [dead, alive] = [ended.id(), std::process::id()].map(|id| format!("scratch-{id}-abc"));
        for name in [&dead, &alive, "scratch-abc", "manifest-1.json"] {
            fs::create_dir_all(keep.path().join(name).join("git")).unwrap();
        }
        sweep(keep.path());
        let mut left: Vec<_> =
            fs::read_dir(keep.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["manifest-1.json", &alive, "scratch-abc"]);
    }
}

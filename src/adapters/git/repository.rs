//! A git repository as programmator sees it: where its parts are and the few settings that say which
//! files exist. Read once; what is edited in `.git/config` later changes nothing for us.
//!
//! The content of the tree is `scratch`'s business, the hidden refs are `history`'s.

use super::command::{Git, failed, line};
use super::error::EvidenceError;
use super::kept::Warm;
use super::objects::Objects;
use super::paths;
use super::seen::Seen;
use super::settling::Settling;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;

/// An open repository with a working tree.
#[derive(Debug)]
pub struct Repository {
    /// Canonical path of the working tree's top level.
    pub(super) top: PathBuf,
    /// The folder the run works in, `top` or below it, canonical.
    pub(super) folder: PathBuf,
    /// The git folder of this working tree.
    pub(super) git_dir: PathBuf,
    /// The git folder that all working trees share.
    pub(super) common_dir: PathBuf,
    /// Where scratch folders are made.
    pub(super) keep: PathBuf,
    pub(super) object_format: String,
    /// `core.*` settings that say what is on the disk, as lines of a config file.
    pub(super) core: Vec<(String, String)>,
    /// `core.excludesFile`, when set.
    pub(super) excludes_file: Option<PathBuf>,
    /// Files may be in another form on the disk than in the index (line ends), for all of them.
    pub(super) converts_all: bool,
    /// Line ends of all text files are converted for a commit.
    pub(super) autocrlf: bool,
    /// Its refs are plain files, which nobody but their owner may write.
    pub(super) ref_files: bool,
    /// The last tree that was read for a run.
    pub(super) warm: Mutex<Option<Warm>>,
    /// How often in a row no image of the tree could be made.
    pub(super) blind: AtomicU32,
    /// Trees that are remembered.
    pub(super) seen: Mutex<Seen>,
    /// What goes to the disk beside the path.
    pub(super) settling: Settling,
}

/// Settings of the repository that describe its file system.
const DISK_SETTINGS: [&str; 4] = ["core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode"];

impl Repository {
    /// What of the repository is not at its place any more, as an error.
    pub(super) fn lost(&self) -> Option<EvidenceError> {
        let parts = [
            ("the working directory", &self.folder),
            ("the git directory", &self.git_dir),
            ("the git directory", &self.common_dir),
        ];
        let (what, path) = parts.into_iter().find(|(_, path)| !path.is_dir())?;
        Some(EvidenceError::Gone { what, path: path.clone() })
    }

    /// The repository that `folder` (canonical) is in; `None` when it is in none, or in one that
    /// ignores the whole folder: such a repository says nothing about it.
    pub(super) async fn find(folder: &Path, keep: &Path) -> Result<Option<Self>, EvidenceError> {
        if !folder.ancestors().any(|parent| parent.join(".git").exists()) {
            return Ok(None);
        }
        let bare = std::iter::empty::<&str>;
        let said = Git::new(folder, bare(), "rev-parse").args(["--show-toplevel"]).run().await?;
        if said.code != Some(0) {
            return if said.stderr.contains("not a git repository") {
                Ok(None)
            } else {
                Err(failed("rev-parse", folder, &said))
            };
        }
        let top = canonical(&paths::path(&line(said.stdout)))?;
        if folder != top {
            let ignored = Git::new(folder, bare(), "check-ignore").args(["-q", "."]).run().await?;
            if ignored.code == Some(0) {
                return Ok(None);
            }
        }
        let ask = async |what: &str| {
            let said = Git::new(&top, bare(), "rev-parse").args([what]).ok().await?;
            Ok::<_, EvidenceError>(line(said))
        };
        let git_dir = canonical(&top.join(paths::path(&ask("--absolute-git-dir").await?)))?;
        let common_dir = canonical(&top.join(paths::path(&ask("--git-common-dir").await?)))?;
        let object_format = paths::shown(&ask("--show-object-format").await?);
        let settings = settings(&Git::new(&top, bare(), "config").args(["--list", "-z"]).ok().await?);
        let excludes =
            Git::new(&top, bare(), "config").args(["--type=path", "-z", "--get", "core.excludesFile"]).run().await?;
        let set = |key: &str| settings.get(key).map(String::as_str);
        Ok(Some(Self {
            folder: folder.to_owned(),
            git_dir,
            common_dir,
            keep: keep.to_owned(),
            object_format,
            core: DISK_SETTINGS
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), flag(set(key)?)?.to_owned())))
                .collect(),
            excludes_file: (excludes.code == Some(0)).then(|| {
                let value = excludes.stdout.strip_suffix(b"\0").unwrap_or(&excludes.stdout);
                top.join(paths::path(value))
            }),
            converts_all: set("core.autocrlf").and_then(flag) == Some("true") || set("core.eol") == Some("crlf"),
            ref_files: set("extensions.refstorage").is_none_or(|kind| kind == "files")
                && set("core.sharedrepository").is_none(),
            warm: Mutex::default(),
            blind: AtomicU32::default(),
            seen: Mutex::default(),
            settling: Settling::default(),
            autocrlf: set("core.autocrlf").is_some_and(|value| value == "input" || flag(value) == Some("true")),
            top,
        }))
    }

    /// Where its objects are.
    pub(super) fn objects(&self) -> Objects {
        Objects::new(self.common_dir.join("objects"), self.object_format == "sha256")
    }

    /// A file on the disk is what git would make of it, and what is written here is as git would write it.
    pub(super) fn is_plain(&self) -> bool {
        let usual = |(key, value): &(String, String)| match key.as_str() {
            "core.filemode" | "core.symlinks" => value == "true",
            _ => value == "false",
        };
        self.ref_files && self.core.iter().all(usual)
    }

    /// A call on the real repository. Reads no content of the working tree but where a commit of it is being made.
    pub(super) fn git(&self, verb: &'static str) -> Git {
        let before = [option("--git-dir=", &self.git_dir), option("--work-tree=", &self.top)];
        Git::new(&self.top, before, verb)
    }

    /// The commit of HEAD; `None` when there is none yet.
    pub(super) async fn head(&self) -> Result<Option<String>, EvidenceError> {
        let said = self.git("rev-parse").args(["--verify", "--quiet", "HEAD^{commit}"]).run().await?;
        Ok((said.code == Some(0)).then(|| paths::shown(&line(said.stdout))))
    }
}

fn option(name: &str, value: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push(value);
    option
}

fn canonical(path: &Path) -> Result<PathBuf, EvidenceError> {
    std::fs::canonicalize(path).map_err(|source| EvidenceError::Io {
        what: "finding the repository".to_owned(),
        path: path.to_owned(),
        source,
    })
}

/// `key\nvalue\0…`, the last of a key counts.
fn settings(listed: &[u8]) -> HashMap<String, String> {
    String::from_utf8_lossy(listed)
        .split('\0')
        .filter_map(|entry| entry.split_once('\n'))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// Git's spellings of a boolean.
fn flag(value: &str) -> Option<&'static str> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some("true"),
        "false" | "no" | "off" | "0" | "" => Some("false"),
        _ => None,
    }
}

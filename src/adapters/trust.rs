//! Remembers which projects' files the person trusts, by the hash of the very bytes that were read.
//!
//! Lives in the user's state folder, outside every working tree. What an untrusted project may not do is said
//! in `config`.

use crate::adapters::private_file;
use crate::adapters::repository_files::Carried;
use crate::base::hex::hex;
use crate::config::{FileText, Files, Trust};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const FORMAT: u32 = 1;

/// Trust could not be read or stored.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} the trusted files in {}: {reason}", .path.display())]
pub struct TrustError {
    verb: &'static str,
    path: PathBuf,
    reason: String,
}

/// The file `trust.json` of a state folder.
#[derive(Clone, Debug)]
pub struct TrustStore {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    v: u32,
    /// Absolute path of the project → its trusted files and their SHA-256, in hex.
    folders: BTreeMap<String, BTreeMap<String, String>>,
    /// The same for what a repository brings along for Claude.
    #[serde(default)]
    carried: BTreeMap<String, BTreeMap<String, String>>,
    /// The same for `SOUL.md`, which only chats read.
    #[serde(default)]
    souls: BTreeMap<String, String>,
}

impl TrustStore {
    /// The store in a state folder; neither needs to exist.
    pub fn new(state_folder: &Path) -> Self {
        Self { path: state_folder.join("trust.json") }
    }

    /// Whether `files` of the project in `folder` are trusted, as they were read. An unreadable store is an
    /// error, never trust.
    pub fn trust_of(&self, folder: &Path, files: &Files) -> Result<Trust, TrustError> {
        let stored = self.load()?;
        Ok(match stored.folders.get(&key(folder)) {
            Some(trusted) if *trusted == hashes(files) => Trust::Trusted,
            Some(_) => Trust::Changed,
            None => Trust::Unknown,
        })
    }

    /// Trusts these very bytes, and no others of this project. Two programs that trust different projects at
    /// the same moment: the later one wins, the other project stays untrusted.
    pub fn trust(&self, folder: &Path, files: &Files) -> Result<(), TrustError> {
        let mut stored = self.load()?;
        stored.folders.insert(key(folder), hashes(files));
        self.store(&stored).map_err(|error| self.failed("store", &error))
    }

    /// Whether what the repository of `folder` brings along is trusted, as it was read. What cannot be read cannot.
    pub fn trust_of_carried(&self, folder: &Path, carried: &Carried) -> Result<Trust, TrustError> {
        let stored = self.load()?;
        Ok(match stored.carried.get(&key(folder)) {
            Some(trusted) if *trusted == carried_hashes(carried) && carried.unreadable.is_empty() => Trust::Trusted,
            Some(_) => Trust::Changed,
            None => Trust::Unknown,
        })
    }

    /// Trusts these very bytes of what the repository of `folder` brings along.
    pub fn trust_carried(&self, folder: &Path, carried: &Carried) -> Result<(), TrustError> {
        let mut stored = self.load()?;
        stored.carried.insert(key(folder), carried_hashes(carried));
        self.store(&stored).map_err(|error| self.failed("store", &error))
    }

    /// Whether the project's `SOUL.md` is trusted, as it was read.
    pub fn trust_of_soul(&self, folder: &Path, soul: &FileText) -> Result<Trust, TrustError> {
        Ok(match self.load()?.souls.get(&key(folder)) {
            Some(trusted) if *trusted == hash(soul) => Trust::Trusted,
            Some(_) => Trust::Changed,
            None => Trust::Unknown,
        })
    }

    /// Trusts these very bytes of it.
    pub fn trust_soul(&self, folder: &Path, soul: &FileText) -> Result<(), TrustError> {
        let mut stored = self.load()?;
        stored.souls.insert(key(folder), hash(soul));
        self.store(&stored).map_err(|error| self.failed("store", &error))
    }

    fn load(&self) -> Result<Stored, TrustError> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (folders, carried, souls) = Default::default();
                return Ok(Stored { v: FORMAT, folders, carried, souls });
            }
            Err(error) => return Err(self.failed("read", &error)),
        };
        let stored: Stored = serde_json::from_slice(&bytes)
            .map_err(|error| self.failed("read", &format!("{error}; remove the file and trust again")))?;
        if stored.v == FORMAT { Ok(stored) } else { Err(self.failed("read", &"written by a newer programmator")) }
    }

    /// Replaces the file whole: a crash leaves the old one or the new one.
    fn store(&self, stored: &Stored) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        private_file::create_private(folder)?;
        // `tempfile` makes files that only their owner can read.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, stored)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        fs::File::open(folder)?.sync_all()
    }

    fn failed(&self, verb: &'static str, reason: &dyn std::fmt::Display) -> TrustError {
        TrustError { verb, path: self.path.clone(), reason: reason.to_string() }
    }
}

/// The project's real path, so that links to it are the same project.
fn key(folder: &Path) -> String {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

/// The files by role and name, with their hashes.
fn hashes(files: &Files) -> BTreeMap<String, String> {
    let config = files.config.iter().map(|file| ("config.yaml".to_owned(), hash(file)));
    let prompts = files.prompts.iter().map(|file| (format!("prompts/{}", file.name()), hash(file)));
    let policy = files.policy.iter().map(|file| ("policy.yaml".to_owned(), hash(file)));
    config.chain(prompts).chain(policy).collect()
}

fn carried_hashes(carried: &Carried) -> BTreeMap<String, String> {
    carried.files.iter().map(|file| (file.path.clone(), hash(file))).collect()
}

/// SHA-256 of the text in hex.
pub fn hash(file: &FileText) -> String {
    hex(&Sha256::digest(file.text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(config: &str, prompts: &[(&str, &str)]) -> Files {
        let text = |path: &str, text: &str| FileText { path: format!("/p/{path}"), text: text.to_owned() };
        Files {
            config: Some(text("config.yaml", config)),
            prompts: prompts.iter().map(|(name, words)| text(name, words)).collect(),
            policy: None,
        }
    }

    #[test]
    fn trust_is_for_the_bytes_that_were_read() {
        let state = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let store = TrustStore::new(&state.path().join("deep/er"));
        let trusted = files("a: 1", &[("phased.md", "x")]);
        let of = |files: &Files| store.trust_of(project.path(), files).unwrap();
        assert_eq!(of(&trusted), Trust::Unknown);
        store.trust(project.path(), &trusted).unwrap();
        assert_eq!(of(&trusted), Trust::Trusted);
        for changed in [
            files("a: 2", &[("phased.md", "x")]),
            files("a: 1", &[("phased.md", "y")]),
            files("a: 1", &[]),
            files("a: 1", &[("phased.md", "x"), ("phaseless.md", "z")]),
        ] {
            assert_eq!(of(&changed), Trust::Changed, "{changed:?}");
        }
        assert_eq!(store.trust_of(other.path(), &trusted).unwrap(), Trust::Unknown);
        store.trust(other.path(), &trusted).unwrap();
        assert_eq!(of(&trusted), Trust::Trusted);
    }

    #[test]
    fn what_a_repository_brings_along_is_trusted_apart_and_by_its_bytes() {
        let (state, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = TrustStore::new(state.path());
        let carried = |text: &str| Carried {
            files: vec![FileText { path: "/p/.mcp.json".into(), text: text.into() }],
            unreadable: Vec::new(),
        };
        let of = |carried: &Carried| store.trust_of_carried(project.path(), carried).unwrap();
        store.trust(project.path(), &files("a: 1", &[])).unwrap();
        assert_eq!(of(&carried("{}")), Trust::Unknown);
        store.trust_carried(project.path(), &carried("{}")).unwrap();
        assert_eq!(of(&carried("{}")), Trust::Trusted);
        assert_eq!(store.trust_of(project.path(), &files("a: 1", &[])).unwrap(), Trust::Trusted);
        assert_eq!([of(&carried("{ }")), of(&Carried::default())], [Trust::Changed; 2]);
        let hidden = Carried { unreadable: vec!["x".into()], ..carried("{}") };
        assert_eq!(of(&hidden), Trust::Changed);
    }

    #[test]
    fn a_soul_is_trusted_apart_and_by_its_bytes() {
        let (state, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = TrustStore::new(state.path());
        let soul = |text: &str| FileText { path: "/p/SOUL.md".into(), text: text.into() };
        let of = |text: &str| store.trust_of_soul(project.path(), &soul(text)).unwrap();
        store.trust(project.path(), &files("a: 1", &[])).unwrap();
        assert_eq!(of("be kind"), Trust::Unknown);
        store.trust_soul(project.path(), &soul("be kind")).unwrap();
        assert_eq!([of("be kind"), of("be rude")], [Trust::Trusted, Trust::Changed]);
        assert_eq!(store.trust_of(project.path(), &files("a: 1", &[])).unwrap(), Trust::Trusted);
    }

    #[test]
    fn a_broken_store_is_an_error_and_is_left_alone() {
        let state = tempfile::tempdir().unwrap();
        let store = TrustStore::new(state.path());
        for text in ["", "{", "{\"v\":9,\"folders\":{}}"] {
            fs::write(state.path().join("trust.json"), text).unwrap();
            assert!(store.trust_of(state.path(), &Files::default()).is_err(), "{text:?}");
            assert!(store.trust(state.path(), &Files::default()).is_err(), "{text:?}");
            assert_eq!(fs::read_to_string(state.path().join("trust.json")).unwrap(), text);
        }
    }

    #[test]
    fn only_the_owner_can_read_it_and_nothing_else_is_left() {
        use std::os::unix::fs::PermissionsExt;
        let state = tempfile::tempdir().unwrap();
        TrustStore::new(state.path()).trust(state.path(), &files("a: 1", &[])).unwrap();
        let mode = fs::metadata(state.path().join("trust.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 1);
    }
}

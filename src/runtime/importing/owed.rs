//! What an import owes to earlier tickets while it writes new ones: a note in the state folder, locked while its program lives. Where
//! that was killed, the next import settles it.

use super::importer::{ImportError, Importer};
use super::write::{self, Link};
use crate::adapters::private_file;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The folder of the notes, in the state folder.
const FOLDER: &str = "imports";
/// Largest note that is read, in bytes.
const LARGEST: u64 = 16 << 20;

#[derive(Deserialize)]
struct Note {
    /// Where the tickets are.
    dir: PathBuf,
    links: Vec<Link>,
}

#[derive(Serialize)]
struct Owing<'a> {
    dir: &'a Path,
    links: &'a [Link],
}

/// A note of this program; nothing where nothing is owed.
#[must_use]
pub(super) struct Owed(Option<(PathBuf, File)>);

impl Owed {
    /// All of it is done.
    pub(super) fn settled(self) {
        if let Some((path, _lock)) = self.0 {
            // One that stays is settled once more, which changes nothing.
            let _ = fs::remove_file(path);
        }
    }
}

/// No other import is at work for as long as this is kept: two at once would make two tickets of one task.
pub(super) fn alone(importer: &Importer) -> Result<File, ImportError> {
    let path = importer.state.join(FOLDER).join("alone");
    let file = private_file::lock_now(&path).map_err(|error| ImportError::Failed(error.to_string()))?;
    file.ok_or_else(|| ImportError::Held("another import is running: try again when it has ended".to_owned()))
}

/// Notes what is owed as soon as tickets are written.
pub(super) fn note(importer: &Importer, dir: &Path, links: &[Link]) -> Result<Owed, ImportError> {
    if links.is_empty() {
        return Ok(Owed(None));
    }
    let path = importer.state.join(FOLDER).join(format!("{}.json", uuid::Uuid::now_v7()));
    let text = serde_json::to_string(&Owing { dir, links }).map_err(|error| ImportError::Failed(error.to_string()))?;
    let lock = private_file::write_locked(&path, &text).map_err(|error| ImportError::Failed(error.to_string()))?;
    Ok(Owed(Some((path, lock))))
}

/// Settles what programs that are gone still owed to tickets of the folder. What is to be said of it.
pub(super) fn settle(importer: &Importer, dir: &Path) -> Vec<String> {
    let files = fs::read_dir(importer.state.join(FOLDER)).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut said = Vec::new();
    for path in files.filter(|path| path.extension().is_some_and(|ending| ending == "json")) {
        let Ok(file) = File::open(&path) else { continue };
        // Another program is at it.
        if file.try_lock().is_err() {
            continue;
        }
        let is_small = file.metadata().is_ok_and(|about| about.is_file() && about.len() <= LARGEST);
        let note = if is_small { serde_json::from_reader::<_, Note>(&file).ok() } else { None };
        match note {
            Some(note) if note.dir != dir => continue,
            Some(note) => said.extend(write::link(importer, dir, &note.links)),
            // None of ours has ever been half written.
            None => {}
        }
        let _ = fs::remove_file(path);
    }
    said
}

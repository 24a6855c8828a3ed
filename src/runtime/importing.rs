//! Importing tasks as tickets, whoever asks for it: what a source has and how each task stands, and the tickets of those that are chosen.
//! The command line and the screen decide nothing of it.

mod found;
mod importer;
mod known;
mod owed;
mod page;
mod read;
pub mod sources;
mod write;

pub use found::Found;
pub use importer::{Form, ImportError, Importer, LIMIT, Wanted};

use crate::adapters::issue_tool::{self, GH};
use crate::domain::import::item::Source;
use crate::domain::import::visible;
use crate::domain::import::{Known, Standing, gone, standings};
use std::fs::File;
use std::path::PathBuf;

/// What a source has, and how it stands here.
pub struct Listed {
    pub wanted: Wanted,
    pub found: Found,
    pub standing: Vec<Standing>,
    /// The tickets that were imported before.
    pub known: Vec<Known>,
    /// So many of the tasks are shown and may be imported: the first of them.
    pub kept: usize,
    /// New tasks behind those.
    pub left_out: usize,
    /// Open tickets whose tasks are gone.
    pub gone: Vec<Known>,
}

/// What was imported.
#[derive(Debug, Default)]
pub struct Imported {
    /// The place of each task, and its ticket's file.
    pub written: Vec<(usize, PathBuf)>,
    /// What is to be said of it.
    pub notes: Vec<String>,
}

/// No other import is at work while this is kept.
pub struct Alone {
    _lock: File,
    /// What an import that was killed still owed, and was settled now.
    settled: Vec<String>,
}

impl Listed {
    /// The places of those that can be imported.
    pub fn new_ones(&self) -> Vec<usize> {
        (0..self.kept).filter(|n| self.standing[*n] == Standing::New).collect()
    }

    /// The ticket of a task that was imported is closed.
    pub fn is_closed(&self, n: usize) -> bool {
        let Some(id) = self.standing[n].ticket() else { return false };
        self.known.iter().any(|one| one.id == *id && one.is_closed)
    }

    /// Tickets that were made of the same documents in whatever form, open or closed.
    pub fn of_same_documents(&self) -> Vec<&Known> {
        let begins = |place: &String| {
            let document = format!("{}:{}", self.wanted.source.word(), visible::line(place));
            // Of one of its tasks, or of all of them.
            [format!("{document}#"), format!("{document} as ")]
        };
        let begins: Vec<String> = self.found.documents.iter().flat_map(begins).collect();
        self.known.iter().filter(|one| begins.iter().any(|begin| one.reference.starts_with(begin))).collect()
    }

    /// There are tasks beyond the limit.
    pub fn has_more(&self) -> bool {
        self.left_out > 0 || self.found.has_more
    }
}

impl Importer {
    /// Before anything is listed that is to be written.
    pub fn alone(&self) -> Result<Alone, ImportError> {
        let lock = owed::alone(self)?;
        // The person has agreed to it then.
        Ok(Alone { _lock: lock, settled: owed::settle(self, &self.dir) })
    }

    /// Reads a source.
    pub async fn list(&self, wanted: Wanted) -> Result<Listed, ImportError> {
        let known = known::known(&self.dir)?;
        let found = read::tasks(self, &wanted, known.len()).await?;
        let standing = standings(wanted.source, &found.items, &known);
        // What is known or done is shown, and takes no place.
        let mut new = (0..standing.len()).filter(|n| standing[*n] == Standing::New);
        let kept = if wanted.limit == 0 { None } else { new.nth(wanted.limit) }.unwrap_or(found.items.len());
        let left_out = standing[kept..].iter().filter(|one| **one == Standing::New).count();
        // Only what was read to its end tells what is missing.
        let places = if found.is_whole { &found.places[..] } else { &[] };
        let gone = gone(wanted.source, places, &found.items, &known).into_iter().cloned().collect();
        Ok(Listed { wanted, found, standing, known, kept, left_out, gone })
    }

    /// Writes the tickets of the chosen ones.
    pub fn import(&self, alone: &Alone, listed: &Listed, chosen: &[usize]) -> Result<Imported, ImportError> {
        let Listed { wanted: Wanted { source, taken, .. }, found, standing, known, .. } = listed;
        let names = write::names(self, &self.dir, (*source, &found.items), chosen, known)?;
        let links = write::links((*source, &found.items), standing, &names, known);
        let owed = owed::note(self, &self.dir, &links)?;
        let (written, mut notes) = write::tickets(self, &self.dir, (*source, *taken), &found.items, &names)?;
        notes.extend(write::link(self, &self.dir, &links));
        owed.settled();
        notes.splice(..0, alone.settled.iter().cloned());
        Ok(Imported { written, notes })
    }

    /// How many open tasks without a ticket a source has, by its documents; `None` where another program or machine would have to be
    /// asked, or where they cannot be read.
    pub fn new_tasks(&self, source: Source, file: Option<PathBuf>) -> Option<usize> {
        let files = match (source, file) {
            (Source::Github, _) => return None,
            (_, Some(file)) => vec![file],
            (Source::Beads, None) => sources::files(&self.folder, source).ok()?,
            (_, None) => Vec::new(),
        };
        let found = read::documents(self, &Wanted::of(source, files)).ok()?;
        let standing = standings(source, &found.items, &known::known(&self.dir).ok()?);
        Some(standing.iter().filter(|one| **one == Standing::New).count())
    }

    /// Whether a source can be read, as far as that can be known without asking another program or machine.
    pub fn readable(&self, source: Source, files: Vec<PathBuf>) -> Result<(), ImportError> {
        let has_file = || sources::files(&self.folder, source).is_ok_and(|files| !files.is_empty());
        let asked = match source {
            Source::Github if !files.is_empty() => return Err(read::takes_no_file()),
            Source::Github => GH.installed(),
            Source::Beads if files.is_empty() && !has_file() => issue_tool::beads().map(drop),
            Source::Beads if files.is_empty() => Ok(()),
            _ => return read::documents(self, &Wanted::of(source, files)).map(drop),
        };
        asked.map_err(|error| ImportError::Failed(error.to_string()))
    }
}

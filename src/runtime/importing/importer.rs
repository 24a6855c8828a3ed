//! Who imports, what is to be imported, and why it came to nothing.

use crate::base::time::Clock;
use crate::domain::import::foreign::Taken;
use crate::domain::import::item::Source;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Tasks that are shown and imported where nothing else is said.
pub const LIMIT: usize = 50;

/// Why nothing, or not all, was imported; for the person.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It was asked for wrongly.
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Failed(String),
    /// The source has no document here, and none was named.
    #[error("no {word} document found: pass one, as in `programmator import {word} FILE`", word = .0.word())]
    NoDocument(Source),
    /// Another program imports now.
    #[error("{0}")]
    Held(String),
}

/// Where tasks are imported to, and by whom.
#[derive(Clone)]
pub struct Importer {
    /// The project's.
    pub folder: PathBuf,
    /// The state folder.
    pub state: PathBuf,
    /// Where the tickets are.
    pub dir: PathBuf,
    /// Whom new tickets are for.
    pub user: Option<String>,
    pub clock: Arc<dyn Clock>,
}

impl Importer {
    /// Where documents are named from: the folder that the tickets are in, also where it is asked from one below it.
    pub fn home(&self) -> &Path {
        self.dir.parent().filter(|home| self.folder.starts_with(home)).unwrap_or(&self.folder)
    }
}

/// What of a document becomes a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each of its tasks.
    Tasks,
    /// All of them, as its phases.
    One,
    /// Its text, without phases.
    Whole,
}

/// What is to be imported.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub source: Source,
    /// Documents; empty: those that the folder has of the source.
    pub files: Vec<PathBuf>,
    /// At most so many tasks; 0: all of them.
    pub limit: usize,
    /// Of GitHub: only issues with this label.
    pub label: Option<String>,
    pub form: Form,
    pub taken: Taken,
}

impl Wanted {
    /// What a person wants who has named a source and nothing else.
    pub fn of(source: Source, files: Vec<PathBuf>) -> Self {
        Self { source, files, limit: LIMIT, label: None, form: Form::Tasks, taken: Taken::default() }
    }
}

//! Importing on the screen: the sources of a project, what one of them has, and what was chosen of it. All of it is safe to show, and
//! small: a source may have ten thousand tasks.

use super::Standing;
use super::item::Source;
use crate::base::id::TicketId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A place that tasks can be imported from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportPlace {
    pub source: Source,
    /// The document, where it has to be named.
    pub file: Option<PathBuf>,
    /// Open tasks that have no ticket yet; `None`: another program would have to be asked.
    pub new: Option<usize>,
}

/// A task, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportTask {
    pub key: String,
    /// Changes with what it says.
    pub digest: String,
    pub title: String,
    /// What else it has, in a few words.
    pub about: String,
    pub standing: Standing,
    /// The lines of the ticket that it would be, the first of them.
    pub becomes: Vec<String>,
}

/// What a source has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportPage {
    pub tasks: Vec<ImportTask>,
    pub notes: Vec<String>,
    /// There are tasks beyond the limit.
    pub has_more: bool,
}

/// A task that was chosen, as it was when it was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportChoice {
    pub key: String,
    pub digest: String,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportDone {
    /// The new tickets.
    pub tickets: Vec<TicketId>,
    pub notes: Vec<String>,
}

/// What a screen asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportAsk {
    /// Which sources there are.
    Places,
    /// What one of them has.
    Page(ImportPlace),
    /// Import these of it.
    Import(ImportPlace, Vec<ImportChoice>),
}

/// What it is answered; errors are words for the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImportTold {
    Places(Vec<ImportPlace>),
    Page(ImportPlace, Result<ImportPage, String>),
    Done(ImportPlace, Result<ImportDone, String>),
}

impl ImportTold {
    /// The source that it is about.
    pub fn place(&self) -> Option<&ImportPlace> {
        match self {
            Self::Places(_) => None,
            Self::Page(place, _) | Self::Done(place, _) => Some(place),
        }
    }
}

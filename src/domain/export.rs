//! A run as a file: what is wanted of it, for the screen and the command line.

use crate::base::id::RunId;
use serde::{Deserialize, Serialize};

/// The form of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// To be read.
    #[default]
    Markdown,
    /// One JSON object a line.
    Jsonl,
    /// A recording for `asciinema play`.
    Cast,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Markdown, Self::Jsonl, Self::Cast];

    pub fn word(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown",
            Self::Jsonl => "JSON lines",
            Self::Cast => "asciinema recording",
        }
    }

    /// How the file's name ends, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Jsonl => "jsonl",
            Self::Cast => "cast",
        }
    }
}

/// What is exported, and where to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    pub run: RunId,
    /// Only this one.
    pub iteration: Option<u32>,
    pub format: Format,
    /// A file that does not exist: absolute, relative to the directory of the service, or below `~`.
    pub path: String,
}

//! Why evidence cannot be had.

use crate::base::id::TicketId;
use crate::base::text::clean_line;
use std::path::PathBuf;

/// Why the working tree could not be saved, compared or restored.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    #[error("`git` was not found, but {} is in a git repository: install git or put it on PATH", folder.display())]
    GitMissing { folder: PathBuf },
    #[error("git {verb} failed in {}: {said}", folder.display())]
    Failed {
        verb: &'static str,
        folder: PathBuf,
        /// Git's own words, which name the fix where there is one.
        said: String,
    },
    #[error("git {verb} did not finish within {seconds} s in {}: add large untracked files to .gitignore, or use a smaller repository", folder.display())]
    TimedOut { verb: &'static str, folder: PathBuf, seconds: u64 },
    #[error("{what} {} was deleted or moved during the run: put it back, then `programmator resume`", path.display())]
    Gone { what: &'static str, path: PathBuf },
    #[error("{what} failed at {}: {source}", path.display())]
    Io { what: String, path: PathBuf, source: std::io::Error },
    #[error("snapshot {id} no longer exists: it was removed, or it belongs to another working tree")]
    UnknownSnapshot { id: String },
    #[error("{ticket} has no snapshot `{wanted}`; available: {known}")]
    NoSuchSnapshot { ticket: TicketId, wanted: String, known: String },
    #[error(
        "{} is not in a git repository: changes are detected, but nothing can be restored. Run `git init` there before the next run",
        folder.display()
    )]
    NotRestorable { folder: PathBuf },
}

/// What a person reads of it, in one line.
#[allow(clippy::needless_pass_by_value, reason = "as `map_err` hands it over")]
pub(super) fn words(error: EvidenceError) -> String {
    clean_line(&error.to_string(), 600)
}

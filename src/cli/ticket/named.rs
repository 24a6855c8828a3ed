//! Which ticket and which folder a command of `tk` means, and the words it fails with.

use crate::adapters::tickets::{self, FindError, Places};
use crate::base::text::clean_line;
use crate::cli::error::CliError;
use std::path::PathBuf;

/// What a command of `tk` fails with: the exit code is 1, and the words follow `Error: `.
pub(super) enum Fault {
    Words(String),
    /// Something of the program's own.
    Own(CliError),
}

impl<E: Into<CliError>> From<E> for Fault {
    fn from(error: E) -> Self {
        Self::Own(error.into())
    }
}

/// The tickets folder, which is there.
pub(super) fn folder(places: &Places) -> Result<PathBuf, Fault> {
    let dir = places.dir();
    if dir.is_dir() {
        return Ok(dir);
    }
    let shown = clean_line(&dir.to_string_lossy(), 300);
    Err(Fault::Words(match &places.tickets_dir {
        Some(named) if !named.as_os_str().is_empty() => format!("tickets directory '{shown}' does not exist"),
        _ => "no .tickets directory found (searched parent directories)\nRun 'programmator ticket create' to \
              initialize, or set TICKETS_DIR env var"
            .to_owned(),
    }))
}

/// The file of a ticket, by `tk`'s rules and ours.
pub(super) fn found(name: &str, places: &Places) -> Result<PathBuf, Fault> {
    tickets::find(name, places).map_err(|error| match error {
        FindError::Ambiguous { name, candidates } => {
            let candidates = candidates.join(", ");
            Fault::Words(format!("ambiguous ID '{name}' matches multiple tickets\n{candidates}: type more of the id"))
        }
        FindError::Missing { name, .. } => match folder(places) {
            Ok(_) => Fault::Words(format!("ticket '{name}' not found")),
            Err(fault) => fault,
        },
        other => Fault::Words(other.to_string()),
    })
}

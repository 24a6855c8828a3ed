//! The screen: opens it on tickets, carries out what the person asks for.

use super::error::CliError;
use super::session::Session;

/// What the screen opens on.
pub enum Open {
    /// These tickets; none: what is there.
    Tickets(Vec<String>),
    /// An interrupted run.
    Resume(Option<String>),
}

/// Shows the screen until the person leaves. Gives the program's exit code.
pub async fn screen(_session: &Session, _open: Open) -> Result<u8, CliError> {
    Err(CliError::failure("no screen yet"))
}

/// Shows a run of the past.
pub async fn replay(_session: &Session, _run: &str) -> Result<u8, CliError> {
    Err(CliError::failure("no screen yet"))
}

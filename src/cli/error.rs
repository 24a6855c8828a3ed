//! What ends the program early, and the exit code that says so.

use super::Cli;
use super::config::LoadError;
use crate::adapters::store::StoreError;
use crate::adapters::tickets::FindError;
use crate::runtime::supervisor::OpenError;

/// Exit code when the reader of our output has gone.
pub const NOBODY_READS: u8 = 141;

/// An error for the person, with the program's exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    /// What happened and what to do.
    pub message: String,
    /// 1: something failed; 2: usage or configuration; 75: held by another program; [`NOBODY_READS`].
    pub exit_code: u8,
}

impl CliError {
    /// Wrong usage or configuration.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code: 2 }
    }

    /// Something that should have worked.
    pub fn failure(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code: 1 }
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        Self { exit_code: error.exit_code(), message: error.to_string() }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::failure(error.to_string())
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        // What a shell says of `programmator … | head`; there is nothing to tell.
        let exit_code = if error.kind() == std::io::ErrorKind::BrokenPipe { NOBODY_READS } else { 1 };
        Self { message: error.to_string(), exit_code }
    }
}

impl From<LoadError> for CliError {
    fn from(error: LoadError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<FindError> for CliError {
    fn from(error: FindError) -> Self {
        let meant = match &error {
            FindError::Missing { name, .. } => Cli::command_like(name),
            _ => None,
        };
        let hint = meant.map(|command| format!("; if you meant the command: `programmator {command}`"));
        Self::usage(format!("{error}{}", hint.unwrap_or_default()))
    }
}

impl From<color_eyre::Report> for CliError {
    fn from(error: color_eyre::Report) -> Self {
        Self::failure(format!("{error:#}"))
    }
}

//! What ends the program early, and the exit code that says so.

use super::config::{LoadError, TrustFailure};
use crate::adapters::store::StoreError;
use crate::adapters::telegram::BotError;
use crate::adapters::tickets::FindError;
use crate::base::text::{Clean, clean_line};
use crate::domain::request::{Refused, Reply};
use crate::runtime::supervisor::OpenError;
use std::fmt;
use std::panic::PanicHookInfo;
use std::path::Path;

/// Exit code when the reader of our output has gone.
pub const NOBODY_READS: u8 = 141;

/// Exit code for what cannot be judged, as in sysexits.h.
pub const BAD_INPUT: u8 = 64;

/// Exit code of a command that Claude may not give: `EX_NOPERM` of sysexits.
pub const NOT_FOR_CLAUDE: u8 = 77;

/// An error for the person, with the program's exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CliError {
    /// What happened and what to do.
    pub message: String,
    /// 1: something failed; 2: usage or configuration; 75: held by another program; [`NOBODY_READS`].
    pub exit_code: u8,
    /// What was taken for the name of a ticket, and is none: it may have been meant as a command.
    pub no_ticket: Option<String>,
}

impl CliError {
    /// Wrong usage or configuration.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(2, message)
    }

    /// Something that cannot be judged.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::new(BAD_INPUT, message)
    }

    pub fn new(exit_code: u8, message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code, no_ticket: None }
    }

    /// The tickets of a folder cannot be listed.
    pub fn tickets_folder(dir: &Path, error: &std::io::Error) -> Self {
        let shown = clean_line(&dir.to_string_lossy(), 300);
        Self::failure(format!("the tickets folder {shown} cannot be read: {error}"))
    }

    /// Something that should have worked.
    pub fn failure(message: impl Into<String>) -> Self {
        Self::new(1, message)
    }
}

/// What a panic says, whatever text it is about.
pub struct PanicWords;

impl color_eyre::section::PanicMessage for PanicWords {
    fn display(&self, panic: &PanicHookInfo<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = panic.payload().downcast_ref::<&str>().copied();
        let words =
            words.or_else(|| panic.payload().downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        let place = panic.location().map(|place| format!(" ({place})")).unwrap_or_default();
        write!(f, "internal error: {}{place}", Clean::new(words))
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        Self::new(error.exit_code(), error.to_string())
    }
}

impl From<Refused> for CliError {
    fn from(refused: Refused) -> Self {
        Self::new(refused.exit_code, refused.message)
    }
}

/// A reply that is none to what was asked.
impl From<Reply> for CliError {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Refused(refused) => refused.into(),
            reply => Self::failure(format!("internal error: unexpected reply: {reply:?}")),
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::failure(error.to_string())
    }
}

impl From<BotError> for CliError {
    fn from(error: BotError) -> Self {
        Self::failure(error.to_string())
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        // What a shell says of `programmator … | head`; there is nothing to tell.
        let exit_code = if error.kind() == std::io::ErrorKind::BrokenPipe { NOBODY_READS } else { 1 };
        Self::new(exit_code, error.to_string())
    }
}

impl From<TrustFailure> for CliError {
    fn from(error: TrustFailure) -> Self {
        match error {
            TrustFailure::Output(error) => error.into(),
            error => Self::failure(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> Self {
        std::io::Error::from(error).into()
    }
}

impl From<LoadError> for CliError {
    fn from(error: LoadError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<FindError> for CliError {
    fn from(error: FindError) -> Self {
        let message = error.to_string();
        let FindError::Missing { name, .. } = error else { return Self::usage(message) };
        Self { no_ticket: Some(name), ..Self::usage(message) }
    }
}

impl From<color_eyre::Report> for CliError {
    fn from(error: color_eyre::Report) -> Self {
        let is_unread = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        };
        if error.chain().any(is_unread) {
            return Self::new(NOBODY_READS, error.to_string());
        }
        Self::failure(format!("{error:#}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_panic_is_told_in_clean_words() {
        struct Told<'a>(&'a PanicHookInfo<'a>);
        impl fmt::Display for Told<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                color_eyre::section::PanicMessage::display(&PanicWords, self.0, f)
            }
        }
        let told = Arc::new(Mutex::new(String::new()));
        let (theirs, before) = (told.clone(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |info| *theirs.lock().unwrap() = Told(info).to_string()));
        let ended = std::thread::spawn(|| std::panic::panic_any("a\u{1b}]0;owned\u{7}b\u{9d}c".to_owned())).join();
        std::panic::set_hook(before);
        assert!(ended.is_err());
        let told = told.lock().unwrap();
        assert!(told.starts_with("internal error: abc (src"), "{told:?}");
    }
}

//! What ends the program early, and the exit code that says so.

use super::config::{LoadError, TrustFailure};
use crate::adapters::store::StoreError;
use crate::adapters::telegram::BotError;
use crate::adapters::tickets::FindError;
use crate::base::text::{Clean, clean_line};
use crate::domain::request::{Refused, Reply};
use crate::runtime::supervisor::OpenError;
use std::fmt;
use std::io;
use std::panic::PanicHookInfo;
use std::path::Path;

/// Exit code when the reader of our output has gone.
pub const NOBODY_READS: u8 = 141;

/// Exit code for what cannot be judged, as in sysexits.h.
pub const BAD_INPUT: u8 = 64;

/// Exit code of a command that Claude may not give: `EX_NOPERM` of sysexits.
pub const NOT_FOR_CLAUDE: u8 = 77;

/// Where the number begins behind the words of an [`io::Error`].
const NUMBER: &str = " (os error ";

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

    /// A file that cannot be written, such as one of a folder that is not there.
    pub fn cannot_write(path: &Path, error: &io::Error) -> Self {
        let shown = |path: &Path| clean_line(&path.to_string_lossy(), 400);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let why = match folder {
            Some(folder) => format!("the folder {} does not exist: create it, or name another file", shown(folder)),
            None => error.to_string(),
        };
        Self::failure(format!("{} cannot be written: {why}", shown(path)))
    }

    /// The tickets of a folder cannot be listed.
    pub fn tickets_folder(dir: &Path, error: &io::Error) -> Self {
        let shown = clean_line(&dir.to_string_lossy(), 300);
        Self::failure(format!("the tickets folder {shown} cannot be read: {error}"))
    }

    /// Something that should have worked.
    pub fn failure(message: impl Into<String>) -> Self {
        Self::new(1, message)
    }
}

/// What is said to the person: without the numbers of the system's errors, which its words say already.
pub fn for_person(message: &str) -> Clean {
    let mut parts = message.split(NUMBER);
    let mut words = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<i32>().is_ok() => words.push_str(rest),
            _ => words.extend([NUMBER, part]),
        }
    }
    Clean::new(&words)
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

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        // What a shell says of `programmator … | head`; there is nothing to tell.
        let exit_code = if error.kind() == io::ErrorKind::BrokenPipe { NOBODY_READS } else { 1 };
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
        io::Error::from(error).into()
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
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
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
    fn a_person_reads_no_numbers_of_the_system() {
        let missing = io::Error::from_raw_os_error(2).to_string();
        assert!(missing.contains(NUMBER), "{missing}");
        let told = for_person(&format!("a/x: {missing}; create it. \u{1b}[2J{missing}"));
        assert_eq!(told.as_str(), "a/x: No such file or directory; create it. No such file or directory");
        for kept in ["a file (os error 2", "named (os error x) y", ""] {
            assert_eq!(for_person(kept).as_str(), kept);
        }
    }

    #[test]
    fn a_file_of_a_folder_that_is_not_there_names_the_folder() {
        let missing = io::Error::from(io::ErrorKind::NotFound);
        let told = CliError::cannot_write(Path::new("no such folder/x.png"), &missing).message;
        let why = "the folder no such folder does not exist: create it, or name another file";
        assert_eq!(told, format!("no such folder/x.png cannot be written: {why}"));
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let told = CliError::cannot_write(Path::new("/x.png"), &denied).message;
        assert_eq!(told, "/x.png cannot be written: permission denied");
    }

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

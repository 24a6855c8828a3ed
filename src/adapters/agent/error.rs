//! Why Claude cannot be used, in words for the person: what happened, to which program, and the fix.

use super::event::Exit;
use super::version::Version;
use crate::base::text::{clean_line, tail};
use std::io::ErrorKind;

/// Why Claude cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error(
        "`{program}` was not found. Install it with `npm install -g @anthropic-ai/claude-code`, or name it in `agent.command` or PROGRAMMATOR_CLAUDE. Searched PATH: {path}"
    )]
    NotFound { program: String, path: String },
    #[error("the working directory {0} does not exist or cannot be entered. Create it, or choose another with -C")]
    NoFolder(String),
    #[error("`{program}` could not be started: {source}. {}", cure(source))]
    NotStarted { program: String, source: std::io::Error },
    /// It does not know the session that it was to resume (another folder, another HOME, tidied away).
    #[error("Claude has no session {session} in this folder; start with a fresh one")]
    UnknownSession { session: String },
    #[error("`{program}` exited immediately ({how}){said}. Run `programmator doctor` to see what is wrong")]
    EndedEarly {
        program: String,
        /// `exit code 1`, `signal 9`.
        how: String,
        /// `: ` and its last words, or nothing.
        said: String,
    },
    #[error(
        "`{program}` does not speak the control protocol{said}. programmator needs Claude Code {floor} or newer: `npm install -g @anthropic-ai/claude-code@latest`, then `programmator doctor`"
    )]
    NoProtocol {
        program: String,
        /// `: ` and its last words, or nothing.
        said: String,
        floor: Version,
    },
    #[error("`{program}` cannot be used: {why}")]
    Settings { program: String, why: String },
    #[error(
        "`{program} --version` did not print a version{said}. programmator needs Claude Code {floor} or newer: `npm install -g @anthropic-ai/claude-code@latest`"
    )]
    NoVersion {
        program: String,
        /// `: ` and its words, or nothing.
        said: String,
        floor: Version,
    },
    #[error("`{program} --help` did not list its flags{said}. Try again; if it persists, reinstall Claude Code")]
    NoHelp {
        program: String,
        /// `: ` and its words, or nothing.
        said: String,
    },
    #[error("Claude has exited; nothing can be sent to it")]
    Gone,
}

/// The error for a process that ended before it answered.
pub(super) fn ended_early(program: String, exit: &Exit) -> AgentError {
    let how = match (exit.code, exit.signal) {
        (Some(127), _) => "exit code 127: a required program was not found".to_owned(),
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "it closed its output".to_owned(),
    };
    AgentError::EndedEarly { program, how, said: said(&exit.stderr_tail) }
}

/// The last words of a process, in one line.
pub(super) fn said(text: &str) -> String {
    let line = clean_line(tail(text, 400), 300);
    if line.is_empty() { line } else { format!(": {line}") }
}

/// What helps when the system starts no program, by what it says.
fn cure(error: &std::io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::OutOfMemory => "Out of memory: close other programs or raise the limit (`ulimit -v`)",
        ErrorKind::WouldBlock => "Process limit reached: close programs or raise the limits (`ulimit -u`, `ulimit -v`)",
        ErrorKind::InvalidInput => "A flag or an environment variable for Claude contains a NUL character; remove it",
        _ => "Check that it is an executable file for this machine",
    }
}

//! Commands that only a person may give: what they do is not for a process that a run has started, whatever the policy
//! let through.

use super::away::AwayCommand;
use super::circuit::CircuitCommand;
use super::command_line::Command;
use super::error::CliError;
use super::options::RunOptions;
use super::session::Session;
use super::sessions::SessionCommand;
use super::worktree::WorktreeCommand;

/// Refuses such a command inside a run, with exit code 77.
pub fn check(
    command: Option<&Command>,
    options: &RunOptions,
    here: impl Fn(&RunOptions) -> Result<Session, CliError>,
) -> Result<(), CliError> {
    let what = match command {
        // The screen starts and resumes runs, too.
        None | Some(Command::Run { .. }) => "start or resume a run",
        Some(Command::Plan(_)) => "plan a ticket",
        Some(Command::Chat(_)) => "start a chat",
        Some(Command::Stop { .. }) => "stop a run",
        Some(Command::Answer(_)) => "answer a question",
        Some(Command::Away { command }) if !matches!(command, AwayCommand::Status { .. }) => "change who is asked",
        Some(Command::Trust) => "trust a repository's settings",
        Some(Command::Circuit { command: CircuitCommand::Reset { .. } }) => "close a circuit breaker",
        Some(Command::Session { command: SessionCommand::Reset { .. } }) => "reset a session",
        Some(Command::Restore { .. }) => "restore a snapshot",
        Some(Command::Fork { .. }) => "fork a ticket",
        Some(Command::Worktree { command: WorktreeCommand::Remove { .. } }) => "remove a worktree",
        Some(Command::Phase { .. }) => "edit phases",
        Some(Command::Settings { .. }) => "change Claude's settings",
        Some(Command::Review(_)) => "start a review",
        Some(Command::Resume { .. }) => "resume a run",
        _ => return Ok(()),
    };
    here(options)?.not_for_claude(&format!(
        "not allowed inside a run: {what} in a shell of your own (this one was started by a run: \
        PROGRAMMATOR_RUN_ID is set)"
    ))
}

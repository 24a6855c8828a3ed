//! Commands that only a person may give: what they do is not for a process that a run has started, whatever the policy
//! let through.

use super::away::AwayCommand;
use super::circuit::CircuitCommand;
use super::command_line::Command;
use super::error::CliError;
use super::hooks::HooksCommand;
use super::queue::QueueArgs;
use super::session::not_for_claude;
use super::sessions::SessionCommand;
use super::status::StatusArgs;
use super::worktree::WorktreeCommand;

/// Refuses such a command inside a run, with exit code 77.
pub fn check(command: Option<&Command>) -> Result<(), CliError> {
    let what = match command {
        // The screen starts and resumes runs, too.
        None | Some(Command::Run { .. } | Command::Attach { .. }) => "start or resume a run",
        Some(Command::Plan(_)) => "plan a ticket",
        Some(Command::Chat(_)) => "start a chat",
        Some(Command::Stop { .. }) => "stop a run",
        Some(Command::Host(args)) if args.is_for_a_person() => "change what runs in the background",
        Some(Command::Serve { .. }) => "show runs to another machine",
        Some(
            Command::Hosts(_)
            | Command::Status(StatusArgs { on: Some(_), .. })
            | Command::Queue(QueueArgs { on: Some(_), .. }),
        ) => "contact another machine",
        // A file of anywhere.
        Some(Command::Status(StatusArgs { watch_file: Some(_), .. })) => "keep a status file",
        Some(Command::Answer(_)) => "answer a question",
        Some(Command::Away { command: AwayCommand::Log { .. } }) => "read the phone log",
        Some(Command::Away { command }) if !matches!(command, AwayCommand::Status { .. }) => "change who is asked",
        Some(Command::Notify { .. }) => "send notifications",
        Some(Command::Import(args)) if !args.dry_run => "import tickets",
        Some(Command::Pr(_)) => "open a pull request",
        Some(Command::Source(args)) if args.sends() => "update an issue",
        Some(Command::Init(_)) => "set up a project",
        Some(Command::Trust) => "trust a repository's settings",
        Some(Command::Circuit { command: CircuitCommand::Reset { .. } }) => "close a circuit breaker",
        Some(Command::Session { command: SessionCommand::Reset { .. } }) => "reset a session",
        Some(Command::Restore { .. }) => "restore a snapshot",
        Some(Command::Fork { .. }) => "fork a ticket",
        Some(Command::Worktree { command: WorktreeCommand::Remove { .. } }) => "remove a worktree",
        Some(Command::Ticket { command }) if command.changes() => "change tickets",
        Some(Command::Phase { .. }) => "edit phases",
        Some(Command::Settings { .. }) => "change Claude's settings",
        Some(Command::Hooks { command }) if !matches!(command, HooksCommand::Status) => "change Claude's hooks",
        Some(Command::Review(_)) => "start a review",
        Some(Command::Resume { .. }) => "resume a run",
        Some(Command::Upkeep(command)) => match command.is_for_a_person() {
            Some(what) => what,
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    not_for_claude(&format!(
        "not allowed inside a run: {what} in a shell of your own (this one was started by a run: \
        PROGRAMMATOR_RUN_ID is set)"
    ))
}

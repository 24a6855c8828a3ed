//! `programmator host`: a process that looks after what works in the background on this machine.

mod keep;
mod log;
mod replaced;
mod seen;
mod service;
mod status;
mod stop;

use super::error::CliError;
use super::help;
use super::session::Session;
use crate::adapters::sole_process::{self, HOST};
use crate::domain::finding::{Finding, Mark};
use clap::{Args, Subcommand};
use log::HostLog;
pub use service::{installed, uninstall};
use std::io::Write;

/// What is asked for.
#[derive(Debug, Args)]
#[command(after_help = help::HOST, args_conflicts_with_subcommands = true)]
pub struct HostArgs {
    #[command(subcommand)]
    command: Option<HostCommand>,
}

/// What can be done about the host, beside being it.
#[derive(Debug, Subcommand)]
enum HostCommand {
    /// Show the host and what is running in the background.
    #[command(after_help = help::HOST_STATUS)]
    Status {
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Stop all background runs, and the host; runs can be resumed.
    #[command(after_help = help::HOST_STOP)]
    Stop {
        /// Interrupt the running iterations instead of letting them finish.
        #[arg(long)]
        now: bool,
    },
    /// Print what the host has done, oldest first.
    #[command(after_help = help::HOST_LOGS)]
    Logs {
        /// How many lines.
        #[arg(long, value_name = "N", default_value_t = 50)]
        last: usize,
    },
    /// Start the host whenever you log in (systemd or launchd); the file is shown first.
    #[command(after_help = help::HOST_INSTALL)]
    Install {
        /// Write and start without asking first.
        #[arg(long, short)]
        yes: bool,
    },
    /// Stop starting the host when you log in.
    #[command(after_help = help::HOST_UNINSTALL)]
    Uninstall {
        /// Remove without asking first.
        #[arg(long, short)]
        yes: bool,
    },
}

impl HostArgs {
    /// Only a person may ask for it.
    pub fn is_for_a_person(&self) -> bool {
        !matches!(self.command, Some(HostCommand::Status { .. } | HostCommand::Logs { .. }))
    }
}

/// Does it.
pub async fn run(out: &mut dyn Write, session: &Session, args: HostArgs) -> Result<(), CliError> {
    match args.command {
        None => Box::pin(keep::keep(out, session)).await,
        Some(HostCommand::Status { json: false }) => status::show(out, session),
        Some(HostCommand::Status { json: true }) => status::json(out, session),
        Some(HostCommand::Stop { now }) => stop::stop(out, session, now).await,
        Some(HostCommand::Logs { last }) => HostLog::of(session).print(out, last),
        Some(HostCommand::Install { yes }) => service::install(out, session, yes).await,
        Some(HostCommand::Uninstall { yes }) => service::uninstall(out, session, yes).await,
    }
}

/// Whether something resumes what is interrupted.
pub fn check(session: &Session) -> Finding {
    let text = match sole_process::holder(&session.state, HOST) {
        Ok(Some(pid)) => format!("running (pid {pid}): resumes background runs that were interrupted"),
        Ok(None) if installed(session).is_some() => {
            return Finding::new(
                "host",
                Mark::Warn,
                "installed, but not running (`programmator host install` starts it)",
            );
        }
        Ok(None) => {
            "not running: background runs are not resumed after a crash or restart (`programmator host install`)"
                .to_owned()
        }
        Err(error) => return Finding::new("host", Mark::Warn, error.to_string()),
    };
    Finding::new("host", Mark::Ok, text)
}

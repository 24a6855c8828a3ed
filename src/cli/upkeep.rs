//! The commands that look after what programmator keeps on this machine, and which room answers each.

use super::backup::{self, BackupArgs, RestoreStateArgs};
use super::error::CliError;
use super::gc::{self, GcArgs};
use super::metrics::{self, MetricsArgs};
use super::session::Session;
use super::uninstall::{self, UninstallArgs};
use clap::Subcommand;
use std::io::Write;

/// What can be done with it.
#[derive(Debug, Subcommand)]
pub enum Upkeep {
    /// Remove what old runs have left: their output, old snapshots, worktrees of finished tickets, old logs.
    Gc(GcArgs),
    /// Write the state folder as one file: runs, their output, chats.
    Backup(BackupArgs),
    /// Put a backup in the place of the state folder; what is there now is kept beside it.
    RestoreState(RestoreStateArgs),
    /// Print the figures of all runs in the format of Prometheus.
    Metrics(MetricsArgs),
    /// Take programmator out of this machine: hooks, completions, and with --purge its state and configuration.
    Uninstall(UninstallArgs),
}

impl Upkeep {
    /// What it changes, where only a person may do that.
    pub fn is_for_a_person(&self) -> Option<&'static str> {
        match self {
            Self::Gc(args) => (!args.dry_run).then_some("remove what runs have left"),
            Self::Backup(_) => Some("back up the state"),
            Self::RestoreState(_) => Some("restore the state"),
            Self::Metrics(args) => args.file.as_ref().map(|_| "write figures to a file"),
            Self::Uninstall(_) => Some("uninstall programmator"),
        }
    }
}

/// Carries it out, and gives the exit code.
pub async fn run(out: &mut dyn Write, session: &Session, command: Upkeep) -> Result<u8, CliError> {
    match command {
        Upkeep::Gc(args) => gc::run(out, session, &args).await.map(|()| 0),
        Upkeep::Backup(args) => backup::backup(out, session, &args).map(|()| 0),
        Upkeep::RestoreState(args) => backup::restore(out, session, &args).await.map(|()| 0),
        Upkeep::Metrics(args) => metrics::run(out, session, &args).map(|()| 0),
        Upkeep::Uninstall(args) => uninstall::run(out, session, &args).map(|()| 0),
    }
}

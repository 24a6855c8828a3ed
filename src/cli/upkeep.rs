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
    /// Remove leftovers of old runs: output, snapshots, worktrees of finished tickets, logs.
    Gc(GcArgs),
    /// Back up the state folder to one file: runs, their output, chats.
    Backup(BackupArgs),
    /// Replace the state folder with a backup; the current one is kept next to it.
    RestoreState(RestoreStateArgs),
    /// Print metrics of all runs in Prometheus format.
    Metrics(MetricsArgs),
    /// Remove programmator from this machine: hooks, completions, and with --purge its state and configuration.
    Uninstall(UninstallArgs),
}

impl Upkeep {
    /// What it changes, where only a person may do that.
    pub fn is_for_a_person(&self) -> Option<&'static str> {
        match self {
            Self::Gc(args) => (!args.dry_run).then_some("remove leftovers of runs"),
            Self::Backup(_) => Some("back up the state"),
            Self::RestoreState(_) => Some("restore the state"),
            Self::Metrics(args) => args.file.as_ref().map(|_| "write metrics to a file"),
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
        Upkeep::Uninstall(args) => uninstall::run(out, session, &args).await.map(|()| 0),
    }
}

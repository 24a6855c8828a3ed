//! `programmator metrics`: the figures of all runs, for a monitoring system.

use super::error::CliError;
use super::help;
use super::session::Session;
use super::whole_file;
use crate::domain::metrics::exposition;
use crate::runtime::metrics::metrics;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Where they go.
#[derive(Debug, Args)]
#[command(after_help = help::METRICS)]
pub struct MetricsArgs {
    /// Replace this file atomically instead of printing.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Carries it out.
pub fn run(out: &mut dyn Write, session: &Session, args: &MetricsArgs) -> Result<(), CliError> {
    let text = exposition(&metrics(&session.store_to_read()?)?);
    match &args.file {
        None => Ok(write!(out, "{text}")?),
        // What collects figures runs as another user.
        Some(file) => whole_file::write(&session.folder.join(file), &text, 0o644),
    }
}

//! `programmator settings merge`: permission rules for people who also work with Claude interactively.

use super::agree::agree;
use super::error::CliError;
use super::help;
use super::session::Session;
use crate::adapters::{project_file, project_kind};
use crate::base::text::Clean;
use crate::domain::claude_settings::{baseline, merged};
use clap::Subcommand;
use similar::TextDiff;
use std::io::Write;

/// What can be done with Claude's settings.
#[derive(Debug, Subcommand)]
pub enum SettingsCommand {
    /// Add permission rules to `.claude/settings.local.json`: read-only tools and the project's checks.
    #[command(after_help = help::SETTINGS_MERGE)]
    Merge {
        /// Write without asking first.
        #[arg(long, short)]
        yes: bool,
    },
}

/// Carries the command out.
pub fn run(out: &mut dyn Write, session: &Session, command: &SettingsCommand) -> Result<(), CliError> {
    let SettingsCommand::Merge { yes } = command;
    let path = project_file::claude_settings(&session.folder);
    let failed = |error: project_file::ProjectFileError| CliError::failure(error.to_string());
    let old = project_file::read(&path).map_err(failed)?;
    let rules = baseline(&project_kind::checks(&session.folder));
    let new = merged(old.as_deref().unwrap_or_default(), &rules)
        .map_err(|why| CliError::usage(format!("{}: {why}; nothing was changed", path.display())))?;
    let Some(new) = new else {
        writeln!(out, "{} already has all of these rules.", path.display())?;
        return Ok(());
    };
    let text = old.as_deref().unwrap_or_default();
    let name = path.strip_prefix(&session.folder).unwrap_or(&path).display().to_string();
    show(out, &name, text, &new)?;
    if !yes {
        agree(out, &format!("Write this to {}?", path.display()), WRITES)?;
    }
    project_file::replace(&path, old.as_deref(), &new).map_err(failed)?;
    writeln!(out, "Written to {}.", path.display())?;
    trust_again(out)
}

/// A project's file counts as it was when it was trusted.
pub(super) fn trust_again(out: &mut dyn Write) -> Result<(), CliError> {
    Ok(writeln!(out, "Runs do not load it until you run `programmator trust`.")?)
}

/// What `--yes` does.
pub(super) const WRITES: &str = "writes";

/// Shows what becomes of a file.
pub(super) fn show(out: &mut dyn Write, name: &str, old: &str, new: &str) -> Result<(), CliError> {
    let diff = TextDiff::from_lines(old, new);
    let shown = diff.unified_diff().header(name, name).to_string();
    Ok(writeln!(out, "{}", Clean::new(shown.trim_end()))?)
}

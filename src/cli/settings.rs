//! `programmator settings merge`: permission rules for people who also work with Claude interactively.

use super::error::CliError;
use super::help;
use super::session::Session;
use crate::adapters::{checks, claude_settings};
use crate::base::text::Clean;
use crate::domain::claude_settings::{baseline, merged};
use clap::Subcommand;
use similar::TextDiff;
use std::io::{IsTerminal as _, Write, stdin};

/// Exit code when the person says no: they stopped it.
const DECLINED: u8 = 5;

/// What can be done with Claude's settings.
#[derive(Debug, Subcommand)]
pub enum SettingsCommand {
    /// Add permission rules to `.claude/settings.local.json`: tools that look, and the project's checks.
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
    let path = claude_settings::path(&session.folder);
    let failed = |error: claude_settings::SettingsError| CliError::failure(error.to_string());
    let old = claude_settings::read(&path).map_err(failed)?;
    let rules = baseline(&checks::usual(&session.folder));
    let new = merged(old.as_deref().unwrap_or_default(), &rules)
        .map_err(|why| CliError::usage(format!("{}: {why}; nothing was changed", path.display())))?;
    let Some(new) = new else {
        writeln!(out, "{} has all of these rules already.", path.display())?;
        return Ok(());
    };
    let text = old.as_deref().unwrap_or_default();
    let diff = TextDiff::from_lines(text, &new);
    let name = path.strip_prefix(&session.folder).unwrap_or(&path).display().to_string();
    let shown = diff.unified_diff().header(&name, &name).to_string();
    writeln!(out, "{}", Clean::new(shown.trim_end()))?;
    if !yes {
        if !stdin().is_terminal() {
            return Err(CliError::usage("nothing was changed: no terminal to ask on; --yes writes without asking"));
        }
        write!(out, "Write this to {}? [y/N] ", path.display())?;
        out.flush()?;
        let mut said = String::new();
        stdin().read_line(&mut said)?;
        if !matches!(said.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            return Err(CliError::new(DECLINED, "nothing was changed"));
        }
    }
    claude_settings::replace(&path, old.as_deref(), &new).map_err(failed)?;
    writeln!(out, "Written to {}. Runs do not load it until you run `programmator trust` again.", path.display())?;
    Ok(())
}

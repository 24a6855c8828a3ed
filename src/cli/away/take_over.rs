//! The settings of claude-afk, taken over into the person's configuration before a phone is paired. Of its state nothing is
//! believed: the account is paired anew.

use crate::adapters::config_files;
use crate::base::text::clean_line;
use crate::cli::agree::agree;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::config::afk;
use std::io::{IsTerminal as _, Write, stdin};
use std::path::{Path, PathBuf};

/// Below the person's home.
const FILE: &str = ".claude/claude-afk/config.json";

/// Shows what becomes of each of its settings, where there are any, and takes them over if the person says so; `yes`: they
/// have. What cannot be read or written is told, and keeps nobody from pairing.
pub fn offer(out: &mut dyn Write, session: &Session, config: &Path, yes: bool) -> Result<(), CliError> {
    let Some(path) = session.environment.get("HOME").map(|home| PathBuf::from(home).join(FILE)) else { return Ok(()) };
    let read = config_files::read_file(&path).map_err(|error| error.to_string());
    let fates = match read {
        Ok(None) if yes => return Err(CliError::usage(format!("there is no {}", path.display()))),
        Ok(None) => return Ok(()),
        Ok(Some(file)) => afk::read(&file.text).map_err(|why| format!("{}: {why}", path.display())),
        Err(why) => Err(why),
    };
    let fates = match fates {
        Ok(fates) => fates,
        Err(why) => return Ok(writeln!(out, "Nothing is imported from claude-afk: {}.\n", clean_line(&why, 300))?),
    };
    writeln!(out, "claude-afk's settings ({}), and their equivalents:\n", path.display())?;
    for fate in &fates {
        let becomes =
            fate.becomes.as_ref().map_or_else(|why| format!("not imported: {why}"), |line| format!("away.{line}"));
        writeln!(out, "  {}: {}\n      {}", fate.name, fate.value, clean_line(&becomes, 200))?;
    }
    writeln!(
        out,
        "\nIts state is not imported: pair your account again, and stop using the same bot with claude-afk."
    )?;
    let section = afk::section(&fates);
    if section.is_empty() {
        return Ok(writeln!(out)?);
    }
    if !yes && !stdin().is_terminal() {
        return Ok(writeln!(out, "Nothing changed; `--claude-afk` imports them without asking.\n")?);
    }
    if !yes && agree(out, "Import them?", "").is_err() {
        return Ok(writeln!(out, "Nothing was changed.\n")?);
    }
    match config_files::keep(config, |old| afk::with(old, &section)) {
        Ok(Some(path)) => writeln!(out, "Imported into {}.\n", path.display())?,
        Ok(None) => writeln!(
            out,
            "Your config.yaml already has an `away:` section or cannot be changed; add these lines yourself:\n\n{section}"
        )?,
        Err(why) => writeln!(out, "Nothing is imported from claude-afk: {}.\n", clean_line(&why, 300))?,
    }
    Ok(())
}

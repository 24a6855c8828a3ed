//! `programmator keys`: every key by its scope, as `keys.yaml` takes them.

use super::error::CliError;
use super::session::Session;
use crate::tui::command::keys_file;
use std::io::Write;

/// Prints the keys that count, those of `keys.yaml` among them. Fails where that file has errors.
pub fn run(out: &mut dyn Write, session: &Session) -> Result<(), CliError> {
    let keys = session.keys()?;
    match session.config_folder() {
        Some(folder) => writeln!(out, "# {}", folder.join(keys_file::NAME).display())?,
        None => writeln!(out, "# no config folder; set $HOME")?,
    }
    write!(out, "{}", keys_file::listed(&keys))?;
    Ok(())
}

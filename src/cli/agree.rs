//! A yes or a no of the person's, typed in their terminal.

use super::error::CliError;
use std::io::{IsTerminal as _, Write, stdin};

/// Exit code when the person says no: they stopped it.
pub const DECLINED: u8 = 5;

/// Asks; `yes` says what the option `--yes` does instead. An error: there is no terminal to ask on, or they have not said yes.
pub fn agree(out: &mut dyn Write, question: &str, yes: &str) -> Result<(), CliError> {
    if !stdin().is_terminal() {
        return Err(CliError::usage(format!("nothing changed: no terminal to ask on; --yes {yes} without asking")));
    }
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut said = String::new();
    stdin().read_line(&mut said)?;
    if !matches!(said.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Err(CliError::new(DECLINED, "nothing was changed"));
    }
    Ok(())
}

//! A yes or a no of the person's, typed in their terminal.

use super::error::CliError;
use std::io::{self, IsTerminal as _, Write, stdin};
use tokio::task::spawn_blocking;

/// Exit code when the person says no: they stopped it.
pub const DECLINED: u8 = 5;

/// Asks; `yes` says what the option `--yes` does instead. An error: there is no terminal to ask on, or they have not said yes.
pub fn agree(out: &mut dyn Write, question: &str, yes: &str) -> Result<(), CliError> {
    if !stdin().is_terminal() {
        return Err(nobody_there(yes));
    }
    ask(out, question)?;
    let mut said = String::new();
    stdin().read_line(&mut said)?;
    is_yes(&said)
}

/// The same, and the thread is free while the person thinks.
pub async fn agreed(out: &mut dyn Write, question: &str, yes: &str) -> Result<(), CliError> {
    if !stdin().is_terminal() {
        return Err(nobody_there(yes));
    }
    ask(out, question)?;
    let said = spawn_blocking(|| {
        let mut said = String::new();
        stdin().read_line(&mut said).map(|_| said)
    });
    is_yes(&said.await.map_err(io::Error::other)??)
}

fn nobody_there(yes: &str) -> CliError {
    CliError::usage(format!("nothing was changed: no terminal to ask on; --yes {yes} without asking"))
}

fn ask(out: &mut dyn Write, question: &str) -> io::Result<()> {
    write!(out, "{question} [y/N] ")?;
    out.flush()
}

fn is_yes(said: &str) -> Result<(), CliError> {
    if !matches!(said.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Err(CliError::new(DECLINED, "nothing was changed"));
    }
    Ok(())
}

//! A yes or a no of the person's, typed in their terminal; and how prompts look that ask for more.

use super::error::CliError;
use inquire::ui::{RenderConfig, Styled};
use std::io::{self, IsTerminal as _, Write, stdin};
use tokio::task::spawn_blocking;

/// Exit code when the person says no: they stopped it.
pub const DECLINED: u8 = 5;
/// What a no comes to.
const UNCHANGED: &str = "nothing was changed";

/// Prompts leave no mark where the person goes back or stops: what follows says what that means.
pub fn plain_prompts() {
    let look = RenderConfig::default().with_canceled_prompt_indicator(Styled::new(""));
    inquire::set_global_render_config(look);
}

/// Asks; `yes` says what the option `--yes` does instead. An error: there is no terminal to ask on, or they have not said yes.
pub fn agree(out: &mut dyn Write, question: &str, yes: &str) -> Result<(), CliError> {
    agree_or(out, question, yes, UNCHANGED)
}

/// The same, where an answer that is no yes has another outcome.
pub fn agree_or(out: &mut dyn Write, question: &str, yes: &str, otherwise: &str) -> Result<(), CliError> {
    if !stdin().is_terminal() {
        return Err(nobody_there(otherwise, yes));
    }
    ask(out, question)?;
    let mut said = String::new();
    stdin().read_line(&mut said)?;
    is_yes(&said, otherwise)
}

/// The same, and the thread is free while the person thinks.
pub async fn agreed(out: &mut dyn Write, question: &str, yes: &str) -> Result<(), CliError> {
    if !stdin().is_terminal() {
        return Err(nobody_there(UNCHANGED, yes));
    }
    ask(out, question)?;
    let said = spawn_blocking(|| {
        let mut said = String::new();
        stdin().read_line(&mut said).map(|_| said)
    });
    is_yes(&said.await.map_err(io::Error::other)??, UNCHANGED)
}

fn nobody_there(otherwise: &str, yes: &str) -> CliError {
    CliError::usage(format!("{otherwise}: no terminal to ask on; --yes {yes} without asking"))
}

fn ask(out: &mut dyn Write, question: &str) -> io::Result<()> {
    write!(out, "{question} [y/N] ")?;
    out.flush()
}

fn is_yes(said: &str, otherwise: &str) -> Result<(), CliError> {
    if !matches!(said.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Err(CliError::new(DECLINED, otherwise));
    }
    Ok(())
}

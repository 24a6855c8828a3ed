//! `programmator passphrase set`: the passphrase of rules that ask for one.

use super::error::CliError;
use super::help;
use super::session::Session;
use crate::adapters::passphrase::{PassphraseError, Passphrases, SHORTEST};
use crate::adapters::typed_secret::{Source, read};
use clap::Subcommand;
use std::io::Write;

/// What can be done with the passphrase.
#[derive(Debug, Subcommand)]
pub enum PassphraseCommand {
    /// Set a new passphrase: typed twice, never shown or logged.
    #[command(after_help = help::PASSPHRASE_SET)]
    Set {
        /// Read one line from stdin instead of asking in the terminal.
        #[arg(long)]
        stdin: bool,
    },
}

/// Sets it: typed twice in a terminal, or once from a pipe.
pub fn set(out: &mut impl Write, asks: &mut impl Write, session: &Session, source: Source) -> Result<(), CliError> {
    session.not_for_claude("not allowed inside a run: set the passphrase in a shell of your own")?;
    let passphrases = session.passphrases().ok_or_else(|| CliError::failure("there is no config folder: set HOME"))?;
    let secret = match source {
        Source::Pipe => read(source, || ()).map_err(|error| CliError::usage(error.to_string()))?,
        Source::Terminal => {
            let mut ask = |words: &str| {
                let prompt = || {
                    write!(asks, "{words}: ").ok();
                    asks.flush().ok();
                };
                let secret = read(source, prompt).map_err(|error| CliError::usage(error.to_string()));
                writeln!(asks).ok();
                secret
            };
            let first = ask(&format!("New passphrase (at least {SHORTEST} characters, not shown)"))?;
            if first != ask("Repeat the passphrase")? {
                return Err(CliError::usage("the passphrases differ; nothing was changed"));
            }
            first
        }
    };
    store(&passphrases, &secret)?;
    writeln!(out, "Passphrase set. Only the approval card of a call ever asks for it.")?;
    Ok(())
}

fn store(passphrases: &Passphrases, secret: &crate::base::secret::Secret) -> Result<(), CliError> {
    passphrases.set(secret).map_err(|error| match error {
        PassphraseError::Short(_) | PassphraseError::Published => CliError::usage(error.to_string()),
        other => CliError::failure(other.to_string()),
    })
}

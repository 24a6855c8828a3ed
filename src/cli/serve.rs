//! `programmator serve --stdio`: what the program on another machine talks to. It has no service of its own: it reads this
//! machine's store, passes on to the runs what the person says, and ends when its stdin does.

use super::attach;
use super::error::CliError;
use super::remote;
use super::session::Session;
use crate::adapters::own_program;
use crate::base::text::clean_line;
use crate::runtime::serving::{Serving, serve};
use tokio::io::BufReader;
use tokio::process::Command;

/// Answers until stdin ends.
pub async fn stdio(session: &Session) -> Result<u8, CliError> {
    let (finds, runs) = (session.clone(), session.clone());
    let serving = Serving {
        store: session.store()?,
        find: Box::new(move |name| attach::find(&finds, name).map_err(|error| error.message)),
        program: Box::new(move |directory, words| program(&runs, directory, words)),
    };
    serve(serving, BufReader::new(tokio::io::stdin()), tokio::io::stdout())
        .await
        .map(|()| 0)
        .map_err(|error| CliError::failure(format!("cannot read from the other machine: {error}")))
}

/// This program with these words. Only what `--on` takes is run: the other machine's person types no other.
fn program(session: &Session, directory: Option<&str>, words: &[String]) -> Result<Command, String> {
    let first = words.first().map(String::as_str).unwrap_or_default();
    if !remote::COMMANDS.contains(&first) {
        return Err(format!("`programmator {}` cannot be run for another machine", clean_line(first, 40)));
    }
    let mut command = Command::new(own_program::to_start().map_err(|error| error.to_string())?);
    command.arg("-C").arg(directory.map_or_else(|| session.folder.clone(), |folder| session.written(folder)));
    command.args(words);
    Ok(command)
}

//! `programmator stop`: ends the run that any program works on; it can be resumed.

use super::error::CliError;
use super::session::Session;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::orchestrator::apply::folded;
use crate::runtime::heard::say;
use crate::runtime::supervisor::Typed;
use std::io::Write;

/// Asks the run to stop: after its iteration, or `now`. Does not wait for its end.
pub async fn run(out: &mut dyn Write, session: &Session, run: &str, now: bool) -> Result<(), CliError> {
    let store = session.store()?;
    let found = session.find_run(&store, run, Typed::Part)?;
    let ticket = &found.ticket;
    let command = if now { UserCommand::Stop } else { UserCommand::FinishAndStop };
    say(&store, &found, command, Answerer::COMMAND_LINE).await.map_err(|why| CliError::failure(why.words()))?;
    // What is asked between two iterations holds up no stop.
    let is_between = folded(store.load(found.run)?.records).open_iteration().is_none();
    let when = match found.asks() {
        _ if now || is_between => "stops now",
        Some(_) => "stops after this iteration, which is waiting for you (`programmator queue`; --now stops at once)",
        None => "stops after this iteration",
    };
    let next =
        if found.is_chat() { "programmator chat --resume".to_owned() } else { format!("programmator resume {ticket}") };
    Ok(writeln!(out, "{ticket} {when}. Resume with `{next}`.")?)
}

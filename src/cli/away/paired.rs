//! The person's phone: with whom it is paired, and saying something there.

use super::sent::{Sender, SentLog};
use crate::adapters::telegram::BotError;
use crate::adapters::telegram::pairing::Pairing;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use std::path::PathBuf;

pub(super) fn folder(session: &Session) -> Result<PathBuf, CliError> {
    session.config_folder().ok_or_else(|| CliError::failure("there is no config folder: set HOME"))
}

pub(super) fn pairing(session: &Session) -> Result<Pairing, CliError> {
    let read = Pairing::read(&folder(session)?).map_err(|error| CliError::failure(error.to_string()))?;
    read.ok_or_else(|| CliError::failure("no phone is paired: run `programmator away setup`"))
}

/// A phone is paired; `None` where there is no place for its settings, or they cannot be read.
pub fn is_paired(session: &Session) -> Option<bool> {
    let folder = session.config_folder()?;
    Pairing::read(&folder).ok().map(|pairing| pairing.is_some())
}

pub(super) fn log(session: &Session) -> SentLog {
    SentLog::of(&session.state, session.clock())
}

pub(super) fn send(session: &Session, pairing: &Pairing, words: &str) -> Result<i64, BotError> {
    let (bot, log) = (pairing.bot(), log(session));
    Sender { bot: &bot, log: &log, ticket: None }.send(pairing.chat, words, &[], None)
}

/// Says it on the phone, where that is possible.
pub(super) fn tell(session: &Session, words: &str) {
    let sent = pairing(session).map(|pairing| send(session, &pairing, words));
    if let Ok(Err(error)) = sent {
        tracing::warn!(%error, "the message could not be sent to the phone");
    }
}

//! `programmator away mute|unmute|off`: of which tickets and sessions the phone is asked, changed by name, and the end of it.

use super::kept::Kept;
use super::scope::{self, Scope};
use crate::adapters::background::{self, Found};
use crate::adapters::private_file::PrivateFileError;
use crate::adapters::sole_process::{self, Off, RELAY};
use crate::base::text::clean_line;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::domain::background_work::Work;
use std::io::{Write, stderr};
use std::path::Path;
use std::time::Duration;

/// How long a relay may take to end once it is asked to, and how long it is tried at all.
const GRACE: Duration = Duration::from_secs(6);
const PATIENCE: Duration = Duration::from_secs(15);

/// Ends the relay. Only then is forgotten what it was asked of: until its end it keeps to that. Whatever else goes wrong, it is
/// ended.
pub(super) fn off(session: &Session) -> Result<Off, CliError> {
    let never_again = || {
        let found = background::all(&session.state);
        found.iter().filter(|found| found.process.work == Work::Relay).for_each(Found::forget);
    };
    // The host does not begin it again, nor one that was only just beginning.
    never_again();
    let was = sole_process::end(&session.state, RELAY, Some(GRACE), PATIENCE)
        .map_err(|error| CliError::failure(error.to_string()))?;
    never_again();
    if let Err(error) = forget(&session.state, was != Off::None) {
        let _ = writeln!(stderr(), "warning: {}", error.message);
    }
    Ok(was)
}

fn forget(state: &Path, was_on: bool) -> Result<(), CliError> {
    let failed = |error: PrivateFileError| CliError::failure(error.to_string());
    Scope::settle(state).map_err(failed)?;
    if was_on {
        // What ends from now on is not told when it is on again.
        let mut kept = Kept::read(state);
        kept.since = None;
        kept.write(state).map_err(failed)?;
    }
    if Scope::read(state).only.is_some() {
        Scope::change(state, |scope| scope.only = None).map_err(failed)?;
    }
    Ok(())
}

/// The phone is not asked of these any more. `true`: there is nothing else that it is asked of.
pub(super) fn is_last(out: &mut dyn Write, session: &Session, names: &[String]) -> Result<bool, CliError> {
    let tickets = scope::named(session, names)?;
    let left = Scope::change(&session.state, |scope| {
        let only = scope.only.as_mut()?;
        only.retain(|asked| !tickets.contains(asked));
        Some((only.is_empty(), scope.what()))
    });
    let (is_last, what) = left.map_err(|error| CliError::failure(error.to_string()))?.ok_or_else(|| {
        CliError::usage("the phone is not limited to some names: `programmator away mute NAME` mutes one")
    })?;
    if !is_last {
        writeln!(out, "The phone now gets {what}.")?;
    }
    Ok(is_last)
}

/// Leaves these out; says what is left out where none is named.
pub(super) fn mute(out: &mut dyn Write, session: &Session, names: &[String]) -> Result<(), CliError> {
    if names.is_empty() {
        return Ok(writeln!(out, "{}", Scope::read(&session.state).told())?);
    }
    for ticket in scope::named(session, names)? {
        let said = Scope::change(&session.state, |scope| scope.mute(&ticket));
        let said = said.map_err(|error| CliError::failure(error.to_string()))?;
        writeln!(out, "{said} Undo with `programmator away unmute {ticket}`.")?;
    }
    Ok(())
}

/// Takes that back.
pub(super) fn unmute(out: &mut dyn Write, session: &Session, names: &[String]) -> Result<(), CliError> {
    for name in names {
        // It need not be there any more.
        let gone = Scope::change(&session.state, |scope| {
            let ticket = scope::meant(&scope.muted, name).cloned();
            ticket.filter(|ticket| scope.unmute(ticket))
        });
        let words = match gone.map_err(|error| CliError::failure(error.to_string()))? {
            Some(ticket) => format!("{ticket} is unmuted."),
            None => format!("{} is not muted.", clean_line(name, 40)),
        };
        writeln!(out, "{words}")?;
    }
    Ok(())
}

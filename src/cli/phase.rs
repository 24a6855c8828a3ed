//! `programmator phase …`: the person edits a ticket's phases. Making the edit is the service's part.

use super::error::CliError;
use super::help;
use super::in_force;
use super::session::Session;
use super::tick::{find, whole};
use crate::adapters::tickets;
use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::request::{BoxOf, BoxOutcome, PhasesEdit, Reply, Request};
use crate::domain::ticket::Ticket;
use crate::domain::ticket::revise::{Direction, PhasePlace, TicketEdit};
use crate::runtime::app::App;
use clap::{Args, Subcommand, ValueEnum};
use std::io::Write;

/// A phase of a ticket.
#[derive(Debug, Args)]
pub struct Which {
    /// The ticket: id, unique part of an id, or path.
    ticket: String,
    /// The phase: its number in the file, or its text.
    phase: String,
}

/// What can be done with phases.
#[derive(Debug, Subcommand)]
pub enum PhaseCommand {
    /// Add phases, at the end or after another one.
    #[command(after_help = help::PHASE_ADD)]
    Add {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// Texts of the new phases.
        #[arg(required = true)]
        texts: Vec<String>,
        /// Insert after this phase: its number in the file, or its text.
        #[arg(long)]
        after: Option<String>,
    },
    /// Change the text of a phase.
    #[command(after_help = help::PHASE_RENAME)]
    Rename {
        #[command(flatten)]
        which: Which,
        /// Its new text.
        text: String,
    },
    /// Split a phase into several.
    #[command(after_help = help::PHASE_SPLIT)]
    Split {
        #[command(flatten)]
        which: Which,
        /// The new texts; the first one replaces the phase's.
        #[arg(required = true, num_args = 2..)]
        texts: Vec<String>,
    },
    /// Move a phase up or down by one place.
    #[command(after_help = help::PHASE_MOVE)]
    Move {
        #[command(flatten)]
        which: Which,
        /// Where to.
        to: To,
    },
    /// Skip a phase in this run, or the next one.
    #[command(after_help = help::PHASE_SKIP)]
    Skip(Which),
    /// Work on a done, disputed or skipped phase again.
    #[command(after_help = help::PHASE_REOPEN)]
    Reopen(Which),
    /// Accept a phase by hand; the reason is noted in the ticket.
    #[command(after_help = help::PHASE_ACCEPT)]
    Accept {
        #[command(flatten)]
        which: Which,
        /// Why it counts as done.
        reason: String,
        /// Match the phase by its full text only, not by a number or a part.
        #[arg(long)]
        exact: bool,
    },
}

/// Where a phase is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum To {
    Up,
    Down,
}

/// Carries out `programmator phase …`. Gives the exit code.
pub async fn run(out: &mut dyn Write, session: &Session, command: &PhaseCommand) -> Result<u8, CliError> {
    let resolved = session.resolve(&session.folder)?;
    let path = tickets::find(command.ticket(), &session.places(&resolved))?;
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let ticket = tickets::load(&path).map_err(|error| CliError::usage(error.to_string()))?;
    let (request, what) = match command.edit(&ticket)? {
        Wanted::Edit(edit, what) => (Request::EditPhases(path, edit), what),
        Wanted::Reopen(PhasePlace { text, nth }) => {
            let what = format!("reopened “{text}”");
            (Request::SetBox(path, BoxOf { text, nth, done: false }), what)
        }
    };
    let app = App::start(in_force::parts(session, &resolved)?);
    let outcome = match app.ask(request, Answerer::COMMAND_LINE).await {
        Reply::PhasesEdited(_, outcome, _) | Reply::BoxSet(outcome) => outcome,
        reply => return Err(reply.into()),
    };
    let (id, what) = (ticket.id.as_str(), clean_line(&what, 400));
    match outcome {
        BoxOutcome::Done => writeln!(out, "{id}: {what}.")?,
        BoxOutcome::Already => writeln!(out, "{id}: nothing to change.")?,
        BoxOutcome::Handed { holder } => writeln!(out, "{id}: {what}; {holder} has applied it.")?,
        BoxOutcome::Noted { holder } => writeln!(out, "{id}: sent to {holder}; its log shows the result.")?,
        BoxOutcome::NotTaken { holder } => {
            let message = format!("{holder} is running {id} and did not respond. Nothing was changed; try again");
            return Err(CliError::new(75, message));
        }
        BoxOutcome::Unknown { holder } => {
            let message = format!("{holder} is running {id} and has not seen the phase yet; try again in a moment");
            return Err(CliError::new(75, message));
        }
        BoxOutcome::NotWritten(why) => return Err(CliError::failure(format!("{id} was not edited: {why}"))),
    }
    Ok(0)
}

/// What is asked of the service, and what it does in words.
enum Wanted {
    Edit(PhasesEdit, String),
    Reopen(PhasePlace),
}

impl PhaseCommand {
    /// Takes the phase with this text for done.
    pub fn accept(ticket: &str, phase: String, reason: String) -> Self {
        Self::Accept { which: Which { ticket: ticket.to_owned(), phase }, reason, exact: true }
    }

    fn ticket(&self) -> &str {
        match self {
            Self::Add { ticket, .. } => ticket,
            Self::Rename { which, .. }
            | Self::Split { which, .. }
            | Self::Move { which, .. }
            | Self::Accept { which, .. }
            | Self::Skip(which)
            | Self::Reopen(which) => &which.ticket,
        }
    }

    fn edit(&self, ticket: &Ticket) -> Result<Wanted, CliError> {
        let place = |which: &Which| find(ticket, &which.phase);
        let text = match self {
            Self::Add { texts, after, .. } => {
                let after = after.as_ref().map(|after| find(ticket, after)).transpose()?;
                TicketEdit::Add { texts: texts.clone(), after }
            }
            Self::Rename { which, text } => TicketEdit::Rename { phase: place(which)?, text: text.clone() },
            Self::Split { which, texts } => TicketEdit::Split { phase: place(which)?, texts: texts.clone() },
            Self::Move { which, to } => {
                let to = if *to == To::Up { Direction::Up } else { Direction::Down };
                TicketEdit::Move { phase: place(which)?, to }
            }
            Self::Skip(which) => {
                let phase = place(which)?;
                let what = format!("skipped “{}”", phase.text);
                return Ok(Wanted::Edit(PhasesEdit::Skip(phase), what));
            }
            Self::Reopen(which) => return Ok(Wanted::Reopen(place(which)?)),
            Self::Accept { which, reason, exact } => {
                let phase = if *exact { whole(ticket, &which.phase)? } else { place(which)? };
                let what = format!("accepted “{}”", phase.text);
                return Ok(Wanted::Edit(PhasesEdit::Accept(phase, reason.clone()), what));
            }
        };
        let what = text.words();
        Ok(Wanted::Edit(PhasesEdit::Text(text), what))
    }
}

//! `programmator ticket`: which file carries out what is typed. The commands of `tk` are `cards` (those that
//! read) and `change`; ours are `read`, `new` and, with a run that may be at work, `cli::tick`.

mod cards;
mod change;
pub mod command;
mod lint;
mod named;
pub mod read;

use super::error::CliError;
use super::session::Session;
use crate::adapters::editor::Editor;
use crate::adapters::tickets::{self, CreateError, NewTicket};
use crate::base::text::Clean;
use crate::domain::ticket::draft::Draft;
use crate::domain::ticket::{TEMPLATE_PHASE, TicketStatus};
use change::Change;
use command::{DepCommand, TicketCommand};
use named::{Fault, found};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Carries out `programmator ticket …`. Gives the exit code: as with `tk` 1 when there is no such ticket.
pub async fn run(
    out: &mut dyn Write,
    err: &mut dyn Write,
    session: &Session,
    command: TicketCommand,
) -> Result<u8, CliError> {
    let resolved = session.resolve(&session.folder)?;
    let places = session.places(&resolved);
    let ticket = |ticket: &str| found(ticket, &places);
    let change = Change { session, places: &places };
    let done = match command {
        TicketCommand::List(args) if args.phases => {
            let dir = places.dir();
            match tickets::list(&dir) {
                Ok(listed) => read::list(out, &dir, &listed).map_err(Fault::from),
                Err(error) => Err(CliError::tickets_folder(&dir, &error).into()),
            }
        }
        TicketCommand::List(args) => cards::list(out, err, &places, args),
        TicketCommand::Ready(who) => cards::ready(out, err, &places, who),
        TicketCommand::Blocked(who) => cards::blocked(out, err, &places, who),
        TicketCommand::Closed { limit, who } => cards::closed(out, err, &places, who, limit),
        TicketCommand::Show { ticket: name, phases: false, json: false } => {
            ticket(&name).and_then(|path| cards::show(out, &places, &path))
        }
        TicketCommand::Show { ticket: name, json, .. } => ticket(&name).and_then(|path| {
            let ticket = tickets::load(&path).map_err(|error| CliError::failure(error.to_string()))?;
            Ok(read::show(out, &ticket, if json { read::Format::Json } else { read::Format::Text })?)
        }),
        TicketCommand::Query { json: true, .. } => cards::query_read(out, err, &places),
        TicketCommand::Query { filter, .. } => {
            let queried = cards::query(out, err, &places, filter.as_deref());
            return ended(err, queried);
        }
        TicketCommand::Tree { ticket: name, full } => cards::tree(out, err, &places, name.as_deref(), full),
        TicketCommand::Dep { command: Some(DepCommand::Tree { ticket: name, full }), .. } => {
            cards::tree(out, err, &places, Some(&name), full)
        }
        TicketCommand::Dep { command: Some(DepCommand::Cycle), .. } => cards::circles(out, err, &places),
        TicketCommand::Lint { tickets, json } => {
            let path = session.environment.get("PATH").map(String::as_str);
            return ended(err, lint::run(out, &places, path, &tickets, json));
        }
        TicketCommand::Create(args) => change.create(out, *args).await,
        TicketCommand::Edit { ticket: name } => ticket(&name).and_then(|path| edit(out, &path)),
        TicketCommand::Start { ticket: name } => change.status(out, &name, TicketStatus::InProgress.word()),
        TicketCommand::Close { ticket: name } => change.status(out, &name, TicketStatus::Closed.word()),
        TicketCommand::Reopen { ticket: name } => change.status(out, &name, TicketStatus::Open.word()),
        TicketCommand::Status { ticket: name, status } => change.status(out, &name, &status),
        TicketCommand::Dep { ticket: name, dep, .. } => {
            change.dep(out, &name.unwrap_or_default(), &dep.unwrap_or_default())
        }
        TicketCommand::Undep { ticket: name, dep } => return ended(err, change.undep(out, &name, &dep)),
        TicketCommand::Link { tickets } => change.link(out, &tickets),
        TicketCommand::Unlink { ticket: name, target } => return ended(err, change.unlink(out, &name, &target)),
        TicketCommand::AddNote { ticket: name, text } => change.note(out, &name, &text),
        // Carried out by `tick`, which waits.
        TicketCommand::Tick { .. } | TicketCommand::Untick { .. } => Ok(()),
        TicketCommand::New { title, no_edit } => {
            let assignee = session.environment.get("USER").map(String::as_str);
            let draft = Draft { title, phases: vec![TEMPLATE_PHASE.to_owned()], ..Draft::default() };
            let ticket = NewTicket {
                draft: &draft,
                project: &session.folder,
                assignee,
                now: session.clock().now(),
                origin: None,
                parent: None,
                deps: &[],
            };
            let path = new(out, &ticket, &places.dir()).map_err(|error| CliError::usage(error.to_string()))?;
            if !no_edit && is_attended() { edit(out, &path) } else { Ok(()) }
        }
    };
    ended(err, done.map(|()| 0))
}

/// Says what a command of `tk` fails with.
fn ended(err: &mut dyn Write, done: Result<u8, Fault>) -> Result<u8, CliError> {
    match done {
        Ok(code) => Ok(code),
        Err(Fault::Own(error)) => Err(error),
        Err(Fault::Words(words)) => {
            writeln!(err, "Error: {}", Clean::new(&words))?;
            Ok(1)
        }
    }
}

fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Has the person edit a file; where nobody can, they are told where it is.
fn edit(out: &mut dyn Write, path: &Path) -> Result<(), Fault> {
    if is_attended() {
        Editor::from_env().edit(path).map_err(|error| CliError::failure(error.to_string()))?;
    } else {
        writeln!(out, "Edit ticket file: {}", Clean::new(&path.to_string_lossy()))?;
    }
    Ok(())
}

/// Makes a ticket in `dir` and prints its path. The path.
pub fn new(out: &mut dyn Write, new: &NewTicket<'_>, dir: &Path) -> Result<PathBuf, CreateError> {
    let path = tickets::create(new, dir)?;
    // The ticket is there, whether or not anybody reads that.
    let _ = writeln!(out, "{}", Clean::new(&path.to_string_lossy()));
    Ok(path)
}

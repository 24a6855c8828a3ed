//! `programmator worktree list|path|remove`: the worktrees of tickets, as the journal knows them and git has them.

use super::error::CliError;
use super::help;
use super::nothing;
use super::session::Session;
use crate::adapters::git::worktree::{self, ForkOwn};
use crate::adapters::store::{Store, newest_of_each};
use crate::adapters::tickets;
use crate::base::id::TicketId;
use crate::base::json;
use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::request::HELD;
use crate::domain::summary::RunSummary;
use crate::domain::worktree::{Held, Worktree};
use crate::runtime::offline::Offline;
use crate::runtime::supervisor::Typed;
use crate::runtime::worktrees::{self, RemoveError};
use clap::Subcommand;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What can be done with worktrees.
#[derive(Debug, Subcommand)]
pub enum WorktreeCommand {
    /// List the tickets' worktrees, and unsaved work in each.
    #[command(after_help = help::WORKTREE_LIST)]
    List {
        /// Print a JSON array instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Print the path of a ticket's worktree.
    #[command(after_help = help::WORKTREE_PATH)]
    Path {
        /// A ticket, or a run id or its last characters.
        ticket: String,
    },
    /// Remove a ticket's worktree and its branch, if no work would be lost.
    #[command(after_help = help::WORKTREE_REMOVE)]
    Remove {
        /// A ticket, or a run id or its last characters.
        ticket: String,
    },
}

/// Carries it out.
pub async fn run(out: &mut dyn Write, session: &Session, command: WorktreeCommand) -> Result<(), CliError> {
    match command {
        WorktreeCommand::List { json } => list(out, session, json).await,
        WorktreeCommand::Path { ticket } => {
            let own = find(session, &session.store_to_read()?, &ticket)?;
            Ok(writeln!(out, "{}", clean_line(&own.worktree.directory.display().to_string(), 4_000))?)
        }
        WorktreeCommand::Remove { ticket } => remove(out, session, &ticket).await,
    }
}

/// A ticket's worktree.
struct Own {
    ticket: TicketId,
    /// The ticket's file.
    path: PathBuf,
    worktree: Worktree,
    /// A run has worked there.
    has_run: bool,
}

impl Own {
    /// That of the ticket's last run, while it is there.
    fn of(run: RunSummary) -> Option<Self> {
        let worktree = run.worktree.filter(|worktree| worktree.top.is_dir())?;
        Some(Self { ticket: run.ticket, path: run.ticket_path.into(), worktree, has_run: true })
    }
}

/// Those of forks of this repository that have not run yet, which no journal knows.
fn forks(session: &Session) -> Vec<Own> {
    let Some(here) = session.folder.ancestors().find(|folder| folder.join(".git").exists()) else {
        return Vec::new();
    };
    let (home_top, below) = (worktree::main_tree(here), session.folder.strip_prefix(here).unwrap_or(Path::new("")));
    let of_fork = |ForkOwn { ticket: path, top, branch, base }: ForkOwn| {
        let ticket = tickets::load(&path).ok()?.id;
        // As its first run will work there. What is joined with nothing ends in a slash.
        let directory = top.components().chain(below.components()).collect();
        Some(Own {
            ticket,
            path,
            worktree: Worktree { directory, top, home_top: home_top.clone(), branch, base },
            has_run: false,
        })
    };
    let mut forks: Vec<Own> = worktree::all_forked(&home_top).filter_map(of_fork).collect();
    forks.sort_by(|a, b| a.ticket.cmp(&b.ticket));
    forks
}

/// One worktree. `list --json`: add, never rename.
#[derive(Debug, Serialize)]
struct WorktreeRow {
    ticket: String,
    branch: String,
    base: String,
    path: PathBuf,
    repository: PathBuf,
    held: Held,
    /// Why that is not known.
    trouble: Option<String>,
}

async fn list(out: &mut dyn Write, session: &Session, as_json: bool) -> Result<(), CliError> {
    let mut rows = Vec::new();
    let mut all: Vec<Own> = newest_of_each(session.store_to_read()?.runs()?).into_iter().filter_map(Own::of).collect();
    let mut fresh = forks(session);
    fresh.retain(|fork| all.iter().all(|own| own.worktree.top != fork.worktree.top));
    all.extend(fresh);
    if all.is_empty() && !as_json {
        nothing::found();
    }
    for Own { ticket, worktree, .. } in all {
        let held = worktree::held(&worktree).await;
        let Worktree { top, home_top, branch, base, .. } = worktree;
        if as_json {
            let (ticket, trouble) = (ticket.to_string(), held.clone().err());
            let held = held.unwrap_or_default();
            rows.push(WorktreeRow { ticket, branch, base, path: top, repository: home_top, held, trouble });
            continue;
        }
        let words = held.map_or_else(|why| why, |held| held.words());
        let (branch, top) = (clean_line(&branch, 100), clean_line(&top.display().to_string(), 400));
        writeln!(out, "{ticket}  {branch}  {top}\n    {}", clean_line(&words, 400))?;
    }
    if as_json {
        writeln!(out, "{}", json::pretty(&rows)?)?;
    }
    Ok(())
}

/// The worktree of a ticket.
fn find(session: &Session, store: &Store, ticket: &str) -> Result<Own, CliError> {
    let run = session.find_run(store, ticket, Typed::Part);
    let (id, none) = match run {
        Ok(run) => {
            let none = CliError::usage(format!("{} has no worktree", run.ticket));
            let id = run.ticket.clone();
            if let Some(own) = Own::of(run) {
                return Ok(own);
            }
            (id.to_string(), none)
        }
        Err(none) => (ticket.to_owned(), none),
    };
    let is_it = |own: &Own| own.ticket.as_str() == id || own.path == Path::new(ticket);
    forks(session).into_iter().find(is_it).ok_or(none)
}

async fn remove(out: &mut dyn Write, session: &Session, ticket: &str) -> Result<(), CliError> {
    let store = session.store()?;
    let Own { ticket, path, worktree, has_run } = find(session, &store, ticket)?;
    let offline = Offline::of(store, session.clock());
    let own = worktrees::Own { ticket: &ticket, path: &path, worktree: &worktree, has_run };
    let unrecorded = worktrees::remove(&offline, own, Answerer::COMMAND_LINE).await.map_err(|error| match error {
        RemoveError::Held(holder) => CliError::new(HELD, format!("{ticket} is in use by {holder}")),
        RemoveError::Store(error) => CliError::from(error),
        RemoveError::Stays(why) => CliError::failure(why),
    })?;
    let (top, branch) = (worktree.top.display().to_string(), &worktree.branch);
    writeln!(out, "Removed {} and its branch {}.", clean_line(&top, 400), clean_line(branch, 100))?;
    if let Some(error) = unrecorded {
        writeln!(out, "This could not be recorded: {}", clean_line(&error, 400))?;
    }
    Ok(())
}

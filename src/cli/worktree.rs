//! `programmator worktree list|path|remove`: the worktrees of tickets, as the journal knows them and git has them.

use super::error::CliError;
use super::help;
use super::session::Session;
use crate::adapters::dependencies;
use crate::adapters::git::{merging, worktree};
use crate::adapters::store::{Holder, LockError, Store, newest_of_each};
use crate::base::json;
use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::record::Record;
use crate::domain::request::HELD;
use crate::domain::summary::RunSummary;
use crate::domain::worktree::{Held, Worktree, WorktreeRemoved};
use crate::runtime::offline::Offline;
use crate::runtime::reporter::Reporter;
use crate::runtime::supervisor::Typed;
use clap::Subcommand;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What can be done with worktrees.
#[derive(Debug, Subcommand)]
pub enum WorktreeCommand {
    /// List the tickets' worktrees, and what of the work in each is nowhere else.
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
        WorktreeCommand::List { json } => list(out, &session.store_to_read()?, json).await,
        WorktreeCommand::Path { ticket } => {
            let (_, worktree) = find(session, &session.store_to_read()?, &ticket)?;
            Ok(writeln!(out, "{}", clean_line(&worktree.directory.display().to_string(), 4_000))?)
        }
        WorktreeCommand::Remove { ticket } => remove(out, session, &ticket).await,
    }
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

async fn list(out: &mut dyn Write, store: &Store, as_json: bool) -> Result<(), CliError> {
    let mut rows = Vec::new();
    for run in newest_of_each(store.runs()?) {
        let Some(worktree) = run.worktree.filter(|worktree| worktree.top.is_dir()) else { continue };
        let held = worktree::held(&worktree).await;
        let Worktree { top, home_top, branch, base, .. } = worktree;
        if as_json {
            let (ticket, trouble) = (run.ticket.to_string(), held.clone().err());
            let held = held.unwrap_or_default();
            rows.push(WorktreeRow { ticket, branch, base, path: top, repository: home_top, held, trouble });
            continue;
        }
        let words = held.map_or_else(|why| why, |held| held.words());
        let (branch, top) = (clean_line(&branch, 100), clean_line(&top.display().to_string(), 400));
        writeln!(out, "{}  {branch}  {top}\n    {}", run.ticket, clean_line(&words, 400))?;
    }
    if as_json {
        writeln!(out, "{}", json::pretty(&rows)?)?;
    }
    Ok(())
}

/// The worktree of a ticket, and the run that it is known by.
fn find(session: &Session, store: &Store, ticket: &str) -> Result<(RunSummary, Worktree), CliError> {
    let run = session.find_run(store, ticket, Typed::Part)?;
    match run.worktree.clone().filter(|worktree| worktree.top.is_dir()) {
        Some(worktree) => Ok((run, worktree)),
        None => Err(CliError::usage(format!("{} has no worktree", run.ticket))),
    }
}

async fn remove(out: &mut dyn Write, session: &Session, ticket: &str) -> Result<(), CliError> {
    let store = session.store()?;
    let (run, worktree) = find(session, &store, ticket)?;
    let holder =
        Holder { pid: std::process::id(), ticket: run.ticket.clone(), run: None, since: session.clock().now() };
    let held = |error| match error {
        LockError::Held { holder } => CliError::new(HELD, format!("{} is in use by {holder}", run.ticket)),
        LockError::Store(error) => CliError::from(error),
    };
    let path = Path::new(&run.ticket_path);
    let ticket = store.lock_ticket(path, &holder).map_err(held)?;
    let tree = store.lock_tree(&run.workspace(), &holder).map_err(held)?;
    // What a killed program has left beside it. Nobody is at work on the ticket.
    merging::clear(&worktree).await.map_err(CliError::failure)?;
    dependencies::clear(&dependencies::partial(&worktree.top)).map_err(|error| CliError::failure(error.to_string()))?;
    worktree::remove(&worktree).await.map_err(CliError::failure)?;
    drop((tree, ticket));
    let removed = WorktreeRemoved { top: worktree.top.clone(), by: Answerer::COMMAND_LINE };
    let offline = Offline {
        store: store.clone(),
        clock: session.clock(),
        reporter: Reporter::new(store.clone()),
        turn: Arc::default(),
    };
    let recorded = offline.append(path, |_| vec![Record::WorktreeRemoved(removed)]).await;
    let (top, branch) = (worktree.top.display().to_string(), &worktree.branch);
    writeln!(out, "Removed {} and its branch {}.", clean_line(&top, 400), clean_line(branch, 100))?;
    if let Err(error) = recorded {
        writeln!(out, "The journal does not say so: {}", clean_line(&error.to_string(), 400))?;
    }
    Ok(())
}

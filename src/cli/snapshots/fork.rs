//! `programmator fork <ticket> <snapshot>`: what it prints.

use super::{Opened, open};
use crate::base::json;
use crate::base::text::clean_line;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::domain::fork::Forked;
use crate::domain::restore::listed;
use crate::runtime::forking::{Forking, Origin};
use std::io::Write;
use std::path::Path;

pub async fn run_fork(
    out: &mut impl Write,
    session: &Session,
    (ticket, pick, id): (&str, &str, &str),
    as_json: bool,
) -> Result<(), CliError> {
    let Opened { place, ticket, path, workspace, run, tickets } =
        open(session, ticket, &session.state.join("restore")).await?;
    let origin = Origin {
        ticket: &ticket,
        path: Path::new(&path),
        home: run.as_ref().map_or(workspace.home(), |run| Path::new(&run.folder)),
        tree: &place.tree,
        base: run.as_ref().and_then(|run| run.worktree.as_ref()).map(|worktree| worktree.base.clone()),
        tickets,
    };
    let forking = Forking { store: session.store()?, clock: session.clock(), rules: session.rules() };
    let forked = forking.fork(origin, pick, id).await.map_err(CliError::failure)?;
    if as_json {
        return Ok(writeln!(out, "{}", json::pretty(&forked)?)?);
    }
    let Forked { ticket: id, path, worktree, branch, base, of, snapshot, reopened } = forked;
    let shown = |path: &Path| clean_line(&path.display().to_string(), 4_000);
    writeln!(out, "Forked {of} from snapshot {} as {id}.", clean_line(&snapshot, 60))?;
    writeln!(out, "ticket    {}", shown(&path))?;
    writeln!(out, "worktree  {}", shown(&worktree))?;
    writeln!(out, "branch    {}, from {}", clean_line(&branch, 200), base.get(..12).unwrap_or(&base))?;
    match reopened {
        None => writeln!(out, "It is unknown which phases were done then: its boxes are as in {of}.")?,
        Some(phases) if phases.is_empty() => {}
        Some(phases) => {
            let phases = listed(phases.iter().map(String::as_str));
            writeln!(out, "reopened  {}", clean_line(&phases, 600))?;
        }
    }
    Ok(writeln!(out, "Start it: programmator {id}")?)
}

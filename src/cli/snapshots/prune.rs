//! `programmator snapshots prune`: what it prints.

use crate::base::amount::counted;
use crate::base::json;
use crate::base::text::clean_line;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::domain::answerer::Answerer;
use crate::domain::pruning::{Keep, freed};
use crate::domain::workspace::Workspace;
use crate::runtime::commits::{Commits, Prune, Pruned};
use crate::runtime::offline::Offline;
use crate::runtime::reporter::Reporter;
use std::io::Write;
use std::sync::Arc;

/// `programmator snapshots prune [--dry-run]`: of all tickets in the repository that the person is in.
pub async fn run_prune(out: &mut impl Write, session: &Session, is_tried: bool, as_json: bool) -> Result<(), CliError> {
    let resolved = session.resolve(&session.folder)?;
    let keep = resolved.config.keep_snapshots;
    let tickets = session.places(&resolved).dir();
    let store = session.store()?;
    let reporter = Reporter::new(store.clone());
    let offline = Offline { store, clock: session.clock(), reporter, turn: Arc::default() };
    let commits = Commits::new(&offline, Arc::new(move |_: &Workspace| tickets.clone()));
    let how = Prune { keep, is_tried, ended: None };
    let told = commits.prune(&session.folder, how, &Answerer::COMMAND_LINE).await.map_err(CliError::failure)?;
    if as_json {
        return Ok(writeln!(out, "{}", json::pretty(&told)?)?);
    }
    if keep == Keep::default() {
        return Ok(writeln!(out, "All snapshots are kept: set snapshots.keep_days or snapshots.keep_runs.")?);
    }
    if told.is_empty() {
        return Ok(writeln!(out, "No snapshot is old enough to be removed.")?);
    }
    for Pruned { ticket, snapshots, bytes, skipped } in told {
        let snapshots = counted(snapshots, "snapshot");
        match skipped {
            Some(why) => writeln!(out, "{ticket}: skipped: {}", clean_line(&why, 400))?,
            None if is_tried => writeln!(out, "{ticket}: would remove {snapshots}")?,
            None => writeln!(out, "{ticket}: removed {snapshots}{}", freed(bytes))?,
        }
    }
    Ok(())
}

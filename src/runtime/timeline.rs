//! The snapshots of a ticket in their order, from git, with what the journals of its runs say of each.

use crate::adapters::git::{NO_GIT, WorkTree};
use crate::adapters::store::{Store, StoreError};
use crate::base::id::{RunId, TicketId};
use crate::domain::timeline::{Before, Moment, Origin, Told};
use crate::runtime::ticket_runs::of_ticket;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What the journals of a ticket's runs say, by run.
pub type Journals = BTreeMap<RunId, Told>;

/// Reads those of all runs of the ticket in this file.
pub fn journals(store: &Store, ticket_path: &str) -> Result<Journals, StoreError> {
    let runs = of_ticket(store.runs()?, ticket_path);
    runs.into_iter().map(|run| Ok((run.run, Told::of(&store.load(run.run)?.records)))).collect()
}

/// The ticket's snapshots, oldest first, counted without `exclude`; words for the person where there can be none.
pub async fn moments(
    (tree, exclude): (&WorkTree, &[PathBuf]),
    ticket: &TicketId,
    journals: &Journals,
) -> Result<Vec<Moment>, String> {
    if let WorkTree::Plain(_) = tree {
        return Err(NO_GIT.to_owned());
    }
    let all = tree.timeline(ticket, exclude).await.map_err(|error| error.to_string())?;
    Ok(all
        .into_iter()
        .map(|(snapshot, changed)| {
            let (origin, seen) = match snapshot.run.map(|run| journals.get(&run)) {
                Some(Some(told)) => told.origin(snapshot.n, snapshot.is_end),
                Some(None) => (Origin::Unknown, None),
                None => {
                    let before = journals.values().find_map(|told| told.saved(&snapshot.pick));
                    (Origin::Saved(before.unwrap_or(Before::Unknown)), None)
                }
            };
            let time = seen.unwrap_or(snapshot.time);
            Moment { pick: snapshot.pick, id: snapshot.id.0, run: snapshot.run, time, origin, changed }
        })
        .collect())
}

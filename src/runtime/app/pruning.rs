//! At the end of a run, old snapshots in its repository are removed, and once a day what other old runs have left, beside the
//! service.

use super::Service;
use super::commit::Making;
use crate::domain::answerer::Answerer;
use crate::domain::pruning::Keep;
use crate::domain::ticket::TicketKey;
use crate::runtime::cleanup::{Cleanup, CleanupError, Cleared, Wanted, is_due, total};
use crate::runtime::commits::Prune;
use crate::runtime::restoring::here;
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

/// How long a program that ends waits for it: who is stopped in it has left nothing that the next one does not finish.
const HOLDS: Duration = Duration::from_secs(5);

impl Service {
    pub(super) fn prune_after(&self, ticket: &TicketKey) {
        let (commits, rules, store) = (self.commits.clone(), self.opener.rules.clone(), self.opener.store.clone());
        let cleanup = Cleanup { offline: self.offline.clone(), rules: rules.clone(), tickets: self.tickets.clone() };
        let Some(run) = self.reporter.run_of(ticket) else { return };
        // The program does not end meanwhile.
        let pruning = Making::begin(self.runs.clone());
        tokio::spawn(async move {
            let known = tokio::task::block_in_place(|| store.run(run));
            let Ok(Some((run, _))) = known else { return };
            let run = here(run);
            let workspace = run.workspace();
            let Ok((config, _)) = rules(&workspace) else { return };
            let keep = config.keep_snapshots;
            if keep != Keep::default() && workspace.directory().is_dir() {
                let how = Prune { keep, is_tried: false, ended: Some(Path::new(&run.ticket_path)) };
                if let Err(error) = commits.prune(workspace.directory(), how, &Answerer::CONFIGURATION).await {
                    tracing::warn!(error, "old snapshots are not removed");
                }
            }
            if is_due(store.folder(), cleanup.offline.clock.now()) {
                let wanted = Wanted { keep: config.storage.keep, is_tried: false, by: Answerer::CONFIGURATION };
                // A disk that does not answer holds up nobody who leaves.
                let held = tokio::spawn(async move {
                    sleep(HOLDS).await;
                    drop(pruning);
                });
                tell(cleanup.run(&wanted).await);
                held.abort();
            }
        });
    }
}

/// In our own log.
fn tell(done: Result<Vec<Cleared>, CleanupError>) {
    match done {
        Ok(all) => {
            for Cleared { what, skipped, .. } in &all {
                if let Some(why) = skipped {
                    tracing::warn!(what, why, "not removed: an old run has left it");
                } else {
                    tracing::warn!(what, "removed: an old run has left it");
                }
            }
            if !all.is_empty() {
                tracing::warn!(bytes = total(&all), "disk space freed");
            }
        }
        // It does the same.
        Err(CleanupError::Held) => {}
        Err(error) => tracing::warn!(%error, "what old runs have left is not removed"),
    }
}

//! At the end of a run, old snapshots in its repository are removed, beside the service.

use super::Service;
use super::commit::Making;
use crate::domain::answerer::Answerer;
use crate::domain::pruning::Keep;
use crate::domain::ticket::TicketKey;
use crate::runtime::commits::Prune;
use crate::runtime::restoring::here;
use std::path::Path;

impl Service {
    pub(super) fn prune_after(&self, ticket: &TicketKey) {
        let (commits, rules, store) = (self.commits.clone(), self.opener.rules.clone(), self.opener.store.clone());
        let Some(run) = self.reporter.run_of(ticket) else { return };
        // The program does not end meanwhile.
        let pruning = Making::begin(self.runs.clone());
        tokio::spawn(async move {
            let known = tokio::task::block_in_place(|| store.run(run));
            let Ok(Some((run, _))) = known else { return };
            let run = here(run);
            let workspace = run.workspace();
            let keep = rules(&workspace).map_or_else(|_| Keep::default(), |(config, _)| config.keep_snapshots);
            if keep != Keep::default() && workspace.directory().is_dir() {
                let how = Prune { keep, is_tried: false, ended: Some(Path::new(&run.ticket_path)) };
                if let Err(error) = commits.prune(workspace.directory(), how, &Answerer::CONFIGURATION).await {
                    tracing::warn!(error, "old snapshots are not removed");
                }
            }
            drop(pruning);
        });
    }
}

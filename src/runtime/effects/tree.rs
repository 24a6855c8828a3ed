//! Effects on the work folder: getting it, saving it, comparing it.

use super::Effects;
use crate::adapters::git::{SnapshotId, SnapshotName, Taken, WorkTree};
use crate::adapters::store::{Holder, LockError};
use crate::base::text::clean_line;
use crate::orchestrator::input::Input;
use std::path::PathBuf;

/// Longest file name in evidence, in columns.
const NAME: usize = 300;

impl Effects {
    /// One run at a time works in a folder, whichever program it belongs to.
    pub(super) fn acquire_tree(&mut self) {
        let (store, folder, inputs) = (self.store.clone(), self.folder.clone(), self.inputs.clone());
        let holder = Holder {
            pid: std::process::id(),
            ticket: self.ticket.clone(),
            run: Some(self.run),
            since: self.clock.now(),
        };
        let place = self.work.tree.clone();
        self.answer_with(async move {
            let lock = match store.lock_tree(&folder, &holder) {
                Ok(lock) => Ok(lock),
                Err(LockError::Held { holder: other }) => {
                    let _ = inputs.send(Input::TreeBusy { holder: other }).await;
                    store.wait_tree(&folder, &holder).await
                }
                Err(LockError::Store(error)) => Err(error),
            };
            match lock {
                Ok(lock) => {
                    *super::lock(&place) = Some(lock);
                    Input::TreeGranted
                }
                Err(error) => Input::Faulted { message: error.to_string() },
            }
        });
    }

    /// What is never evidence: the ticket's own file and our folder.
    fn excluded(&self) -> Vec<PathBuf> {
        vec![self.ticket_path.clone(), self.folder.join(".programmator")]
    }

    pub(super) fn take_snapshot(&mut self, n: u32) {
        let name = SnapshotName { ticket: self.ticket.clone(), run: self.run, n };
        let (folder, keep, excluded) = (self.folder.clone(), self.run_dir(), self.excluded());
        let inputs = self.inputs.clone();
        self.answer_with(async move {
            let taken = async { WorkTree::open(&folder, &keep).await?.snapshot(&name, &excluded).await };
            match taken.await {
                Ok(Taken { id: SnapshotId(id), skipped }) => {
                    if !skipped.is_empty() {
                        let text = format!("not in the snapshot, because unreadable: {}", skipped.join(", "));
                        let _ = inputs.send(Input::Warned { text: clean_line(&text, NAME) }).await;
                    }
                    Input::SnapshotTaken { n, id }
                }
                Err(error) => Input::SnapshotFailed { n, message: error.to_string() },
            }
        });
    }

    pub(super) fn gather_evidence(&mut self, n: u32, iteration_base: String, phase_base: String) {
        let (folder, keep, excluded) = (self.folder.clone(), self.run_dir(), self.excluded());
        self.answer_with(async move {
            let bases = [SnapshotId(iteration_base), SnapshotId(phase_base)];
            let compared = async {
                let tree = WorkTree::open(&folder, &keep).await?;
                tree.changed_since_each(&[&bases[0], &bases[1]], &excluded).await
            };
            let clean = |files: Vec<String>| files.iter().map(|file| clean_line(file, NAME)).collect();
            match compared.await {
                Ok(mut each) => {
                    let phase_files = clean(each.pop().unwrap_or_default());
                    let iteration_files = clean(each.pop().unwrap_or_default());
                    Input::EvidenceGathered { n, iteration_files, phase_files }
                }
                Err(error) => Input::EvidenceFailed { n, message: error.to_string() },
            }
        });
    }
}

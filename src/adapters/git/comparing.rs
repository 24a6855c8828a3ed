//! Which files differ between snapshots and the tree as it is, for evidence; what was found before is remembered.

use super::error::EvidenceError;
use super::history;
use super::paths::{self, Excludes};
use super::repository::Repository;
use super::scratch::Staged;
use super::seen::Seen;
use super::snapshot::SnapshotId;
use std::sync::{MutexGuard, PoisonError};

/// What is remembered of a repository's trees.
pub(super) fn seen(repository: &Repository) -> MutexGuard<'_, Seen> {
    repository.seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For each snapshot the files that differ between it and the tree as it is.
pub(super) async fn compare_each(
    repository: &Repository,
    staged: &Staged,
    from: &[&SnapshotId],
    exclude: &Excludes,
) -> Result<Vec<Vec<String>>, EvidenceError> {
    let mut each: Vec<Vec<String>> = Vec::with_capacity(from.len());
    for (i, id) in from.iter().enumerate() {
        // The first iteration of a phase begins at the same snapshot as the phase.
        if let Some(same) = from[..i].iter().position(|earlier| earlier == id) {
            each.push(each[same].clone());
            continue;
        }
        // Somebody may have thrown the snapshot away.
        let is_there = repository.objects().is_loose(&id.0);
        let known = is_there.then(|| seen(repository).differing(&id.0, &staged.tree, exclude)).flatten();
        let differences = if let Some(known) = known {
            known
        } else {
            let said = history::differences(&staged.scratch, id, &staged.tree, exclude).await?;
            said.into_iter().map(|difference| (difference.path, difference.status != b'D')).collect()
        };
        let counted = differences.iter().filter(|(path, is_there)| {
            // Gone from the tree but not from the disk: ignored or unreadable since. No work.
            let there = std::fs::symlink_metadata(repository.top.join(paths::path(path)));
            *is_there || there.map_or(true, |data| data.is_dir())
        });
        each.push(counted.map(|(path, _)| paths::shown(path)).collect());
    }
    Ok(each)
}

//! Worktrees in words.

use super::line::Weight;
use crate::domain::commit::short;
use crate::domain::merge::{MergeIntended, MergeSettled};
use crate::domain::record::Record;
use crate::domain::workspace::Workspace;
use crate::domain::worktree::{WorktreeMade, WorktreeRemoved};

/// Where the run works from this record on.
pub(super) fn follow(workspace: &mut Workspace, record: &Record) {
    match record {
        Record::RunStarted { folder, .. } => *workspace = Workspace::shared(folder),
        Record::WorktreeIntended(worktree) => {
            *workspace = std::mem::take(workspace).in_worktree(Some(worktree.clone()));
        }
        _ => {}
    }
}

pub(super) fn sentence(record: &Record) -> Option<(Weight, String)> {
    match record {
        Record::WorktreeIntended(worktree) => {
            let (top, branch, base) = (worktree.top.display(), &worktree.branch, &worktree.base);
            Some((Weight::Info, format!("working in the worktree {top} · branch {branch} from {base}")))
        }
        Record::WorktreeMade(WorktreeMade { commit, notes }) if !notes.is_empty() => {
            Some((Weight::Info, format!("worktree ready at {} · {}", short(commit), notes.join(" · "))))
        }
        Record::WorktreeRemoved(WorktreeRemoved { top, .. }) => {
            Some((Weight::Info, format!("worktree {} removed", top.display())))
        }
        Record::MergeIntended(MergeIntended { branch, base, .. }) => {
            Some((Weight::Info, format!("merging {branch} into {base}")))
        }
        Record::MergeSettled(MergeSettled { trouble: Some(why), .. }) => {
            Some((Weight::Warn, format!("not merged: {}", why.lines().next().unwrap_or_default())))
        }
        Record::MergeSettled(MergeSettled { commit, .. }) => {
            Some((Weight::Info, format!("merged as {}", short(commit.as_deref().unwrap_or_default()))))
        }
        _ => None,
    }
}

//! Worktrees in words.

use super::line::Weight;
use crate::domain::commit::short;
use crate::domain::record::Record;
use crate::domain::worktree::{WorktreeMade, WorktreeRemoved};

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
        _ => None,
    }
}

//! Worktrees in words.

use super::line::Weight;
use crate::base::amount::counted;
use crate::domain::commit::short;
use crate::domain::merge::{ConflictStage, ConflictStaged, MergeIntended, MergeSettled};
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
        Record::SwitchSettled(settled) => Some((Weight::Warn, settled.words())),
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
        Record::ConflictStaged(staged) => Some(conflict(staged)),
        _ => None,
    }
}

fn conflict(staged: &ConflictStaged) -> (Weight, String) {
    let ConflictStaged { stage, files, why, .. } = staged;
    let files = || counted(files.len(), "file");
    let words = match stage {
        ConflictStage::Asked => format!("Claude resolves the conflict · {}", files()),
        ConflictStage::Opening => "merging the base into the worktree".to_owned(),
        ConflictStage::Open => match why.first().and_then(|why| why.lines().next()) {
            Some(why) => return (Weight::Warn, format!("conflict not resolved: {why}")),
            None => format!("base merged into the worktree · conflicts in {}", files()),
        },
        ConflictStage::Claimed => "conflict resolved: claimed by Claude, validation commands passed".to_owned(),
        ConflictStage::Checking => "looking for conflict markers".to_owned(),
        ConflictStage::Checked => "no conflict markers left".to_owned(),
        ConflictStage::Approved => "the critic approved the resolved conflict".to_owned(),
        ConflictStage::Committing => "committing the resolved conflict".to_owned(),
        ConflictStage::Over => "conflict closed".to_owned(),
    };
    (Weight::Info, words)
}

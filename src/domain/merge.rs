//! Bringing a ticket's work from its worktree into the base that it began at. Plain data.

use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

worded! {
    /// How a ticket's work comes into its base.
    #[derive(Default)]
    pub enum MergeHow {
        /// Not at all: the person does it.
        #[default]
        Off = "off",
        /// Its commits are made anew on top of the base.
        Rebase = "rebase",
        /// By a merge commit.
        Merge = "merge",
    }
}

/// A ticket's work is about to be brought into its base.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeIntended {
    pub branch: String,
    pub base: String,
    /// The word of how.
    pub how: String,
}

/// It is there, or it is known that it is not and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeSettled {
    /// The commit that the base is at with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Files that both sides have changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Why the base does not have it; may have several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// That is because not all of the work is in a commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_uncommitted: bool,
}

/// Files of a conflict in a record, at most.
pub const FILES: usize = 200;

impl MergeSettled {
    pub fn refused(why: String) -> Self {
        Self { trouble: Some(why), ..Self::default() }
    }

    /// Both sides have changed these.
    pub fn conflict(base: &str, ticket: &str, mut files: Vec<String>) -> Self {
        let more = files.len().saturating_sub(3);
        let named = files.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let trouble = format!(
            "conflict with {base} in {named}{more}: let Claude resolve it (`M` on the screen, or `programmator run \
            --resolve {ticket}`), or merge {base} in the worktree, resolve it, commit, and start the ticket again"
        );
        files.truncate(FILES);
        Self { files, trouble: Some(trouble), ..Self::default() }
    }
}

worded! {
    /// How far the resolving of a conflict by Claude has come.
    #[derive(Default)]
    pub enum ConflictStage {
        /// The person wants it.
        #[default]
        Asked = "asked",
        /// The base is being merged into the worktree.
        Opening = "opening",
        /// It is, and the files hold markers, or what was done about them was rejected: Claude's turn.
        Open = "open",
        /// Claude is done, and the validation commands pass on the merged tree.
        Claimed = "claimed",
        /// Markers are looked for.
        Checking = "checking",
        /// There are none: a critic's turn.
        Checked = "checked",
        /// The critic has nothing against it.
        Approved = "approved",
        /// It is being committed.
        Committing = "committing",
        /// It is in the ticket's branch, or cannot be had.
        Over = "over",
    }
}

/// A conflict that Claude resolves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    pub stage: ConflictStage,
    /// Files that both sides have changed.
    pub files: Vec<String>,
    /// Why what was done last did not hold.
    pub why: Vec<String>,
    /// How often it did not.
    pub tries: u32,
    /// The tree with the markers, before Claude has changed it.
    pub snapshot: Option<String>,
}

/// The resolving of a conflict has come so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictStaged {
    pub stage: ConflictStage,
    /// The iteration that brought it there; 0: none.
    #[serde(default)]
    pub n: u32,
    /// Files that both sides have changed, where that has become known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Why what was done about it did not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// Who wanted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Answerer>,
}

impl ConflictStaged {
    /// Why what was done about it did not hold, a line each.
    pub fn told(&self) -> impl Iterator<Item = String> {
        let lines = self.why.iter().filter_map(|why| why.lines().next());
        lines.map(|line| format!("conflict not resolved: {}", clean_line(line, 400)))
    }

    pub fn at(stage: ConflictStage) -> Self {
        Self { stage, ..Self::default() }
    }
}

/// What git does about a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictWork {
    /// Merge the base into the worktree, without a commit.
    Open,
    /// Look for markers.
    Check,
    Commit,
}

//! Bringing a ticket's work from its worktree into the base that it began at. Plain data.

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
}

/// Files of a conflict in a record, at most.
pub const FILES: usize = 200;

impl MergeSettled {
    pub fn refused(why: String) -> Self {
        Self { trouble: Some(why), ..Self::default() }
    }

    /// Both sides have changed these.
    pub fn conflict(base: &str, mut files: Vec<String>) -> Self {
        let more = files.len().saturating_sub(3);
        let named = files.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let trouble = format!(
            "it conflicts with {base} in {named}{more}: merge {base} in the worktree, resolve the conflicts and commit, \
            then start the ticket again"
        );
        files.truncate(FILES);
        Self { files, trouble: Some(trouble), commit: None }
    }
}

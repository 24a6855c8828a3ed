//! A git worktree of a ticket: where its runs work apart from the person, on a branch of their own. Plain data.

use crate::domain::answerer::Answerer;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

worded! {
    /// What gets a worktree of its own.
    #[derive(Default)]
    pub enum WorktreeFor {
        /// Nothing: runs work where the person does.
        #[default]
        Off = "off",
        /// Each ticket.
        Ticket = "ticket",
    }
}

/// A ticket's worktree, whether it is there or about to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// Its top level.
    pub top: PathBuf,
    /// Where in it the run works: the place of the directory that the person was in.
    pub directory: PathBuf,
    /// The top level of the working tree that the person was in.
    pub home_top: PathBuf,
    pub branch: String,
    /// The branch, or another name of a commit, that it begins at.
    pub base: String,
}

/// A worktree is there, and what it needs is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeMade {
    /// The commit that its branch is at.
    pub commit: String,
    /// What was done for it, and what could not be; empty: it was there already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The person has removed a worktree. Behind a run's end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeRemoved {
    pub top: PathBuf,
    pub by: Answerer,
}

/// What of the work in a worktree is nowhere else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Held {
    /// Changed files that are tracked.
    pub uncommitted: Vec<String>,
    /// Files that git does not know and does not ignore.
    pub untracked: Vec<String>,
    /// Commits of its branch that the base does not have.
    pub unmerged: u32,
}

impl Held {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// In a few words.
    pub fn words(&self) -> String {
        let files = |all: &[String], what: &str| match all {
            [] => None,
            [one] => Some(format!("1 {what} file ({one})")),
            [one, ..] => Some(format!("{} {what} files ({one}, …)", all.len())),
        };
        let unmerged = match self.unmerged {
            0 => None,
            1 => Some("1 unmerged commit".to_owned()),
            many => Some(format!("{many} unmerged commits")),
        };
        let all = [files(&self.uncommitted, "uncommitted"), files(&self.untracked, "untracked"), unmerged];
        let all: Vec<String> = all.into_iter().flatten().collect();
        if all.is_empty() { "nothing to lose".to_owned() } else { all.join(", ") }
    }
}

/// Why git takes no branch of this name; `None`: it does.
pub fn bad_branch(name: &str) -> Option<String> {
    let refused = |c: char| c.is_control() || c == '\u{7f}' || " ~^:?*[\\".contains(c);
    let bad_part = |part: &str| part.is_empty() || part.starts_with('.') || part.strip_suffix(".lock").is_some();
    let is_bad = name.is_empty()
        || name.starts_with('-')
        || name.ends_with('.')
        || name == "HEAD"
        || name.contains("..")
        || name.contains("@{")
        || name == "@"
        || name.len() > 200
        || name.contains(refused)
        || name.split('/').any(bad_part);
    is_bad.then(|| format!("`{name}` is not a valid branch name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_git_takes_is_a_branch() {
        for good in ["programmator/tk-1", "a", "fix/login.page", "x@y"] {
            assert_eq!(bad_branch(good), None, "{good}");
        }
        for bad in [
            "", "-x", "a..b", "a b", "a/", "/a", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a@{1}", "@", "HEAD",
            "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a.", "a\u{7}b",
        ] {
            assert!(bad_branch(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn what_is_held_is_told_by_number_and_first_name() {
        let held = Held { uncommitted: vec!["a".into()], untracked: vec!["b".into(), "c".into()], unmerged: 2 };
        assert_eq!(held.words(), "1 uncommitted file (a), 2 untracked files (b, …), 2 unmerged commits");
        assert!(Held::default().is_nothing() && Held::default().words() == "nothing to lose");
    }
}

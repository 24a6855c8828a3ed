//! The branch of a ticket in the person's own directory, and the switch to it. Plain data.

use serde::{Deserialize, Serialize};

/// The directory is to be on another branch. At the commit that is checked out: no file changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchSwitch {
    /// What is checked out: a branch, or the beginning of a commit.
    pub from: String,
    pub to: String,
    /// The commit that both are at.
    pub commit: String,
    /// What the branch begins at, where it is to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

/// The directory is on it, or it is known that it is not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchSettled {
    #[serde(flatten)]
    pub switch: BranchSwitch,
    /// Why it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl SwitchSettled {
    /// In words.
    pub fn words(&self) -> String {
        let BranchSwitch { from, to, base, .. } = &self.switch;
        if let Some(why) = &self.trouble {
            return format!("not switched to {to}: {why}");
        }
        let new = match base {
            None => String::new(),
            Some(base) if base == from => "the new branch ".to_owned(),
            Some(base) => format!("a new branch from {base}, "),
        };
        format!(
            "switched the directory from {from} to {new}{to}; no files changed, and it stays there when the run ends"
        )
    }
}

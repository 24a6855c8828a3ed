//! Where a run works, apart from what it is about, its ticket and repository. The one place that says what of a workspace
//! is locked, judged, kept by sessions and shown: so far it is always the shared directory, where the person works too.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where a run works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    directory: PathBuf,
}

impl Workspace {
    /// The directory that the person works in, or one that a record names.
    pub fn shared(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Where Claude, validation commands and git are started.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What its lock is named by: one run at a time has it.
    pub fn lock_path(&self) -> &Path {
        &self.directory
    }

    /// Whether a run in one waits for a run in the other.
    pub fn collides_with(&self, other: &Self) -> bool {
        self.lock_path() == other.lock_path()
    }

    /// What sessions of Claude are bound to, as they keep it: Claude knows them there only.
    pub fn session_key(&self) -> String {
        self.to_string()
    }

    /// Whether somebody in this directory is in it.
    pub fn contains(&self, directory: &Path) -> bool {
        directory.starts_with(&self.directory)
    }

    /// The text with paths in it told from there on.
    pub fn shortened(&self, text: &str) -> String {
        match self.to_string().trim_end_matches('/') {
            "" => text.to_owned(),
            directory => text.replace(&format!("{directory}/"), ""),
        }
    }
}

/// As it is shown and recorded.
impl fmt::Display for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.directory.display().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_one_workspace_however_its_name_ends() {
        let [shop, slash, other] = ["/home/dev/shop", "/home/dev/shop/", "/home/dev/shopping"].map(Workspace::shared);
        assert!(shop.collides_with(&slash) && !shop.collides_with(&other));
        assert!(shop.contains(Path::new("/home/dev/shop/src")) && !shop.contains(other.directory()));
        for workspace in [shop, slash] {
            assert_eq!(workspace.shortened("cp /home/dev/shop/a /home/dev/shopping/b"), "cp a /home/dev/shopping/b");
        }
        assert_eq!(Workspace::shared("/").shortened("/etc/hosts"), "/etc/hosts", "no path is told from the root");
    }
}

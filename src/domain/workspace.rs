//! Where a run works, apart from what it is about, its ticket and repository. The one place that says what of a workspace
//! is locked, judged, kept by sessions and shown: it is the directory where the person works too, or a worktree of its
//! own.

use crate::domain::worktree::Worktree;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where a run works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    home: PathBuf,
    worktree: Option<Worktree>,
}

impl Workspace {
    /// The directory that the person works in, or one that a record names.
    pub fn shared(directory: impl Into<PathBuf>) -> Self {
        Self { home: directory.into(), worktree: None }
    }

    /// The same run in a worktree of its own; `None`: where the person works.
    #[must_use]
    pub fn in_worktree(self, worktree: Option<Worktree>) -> Self {
        Self { worktree, ..self }
    }

    /// The directory that the person was in: configuration, trust and the list of runs go by it.
    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn worktree(&self) -> Option<&Worktree> {
        self.worktree.as_ref()
    }

    /// Where Claude, validation commands and git are started.
    pub fn directory(&self) -> &Path {
        self.worktree.as_ref().map_or(&self.home, |worktree| &worktree.directory)
    }

    /// What its lock is named by: one run at a time has it.
    pub fn lock_path(&self) -> &Path {
        self.directory()
    }

    /// Whether a run in one waits for a run in the other.
    pub fn collides_with(&self, other: &Self) -> bool {
        self.lock_path() == other.lock_path()
    }

    /// What sessions of Claude are bound to, as they keep it: Claude knows them there only.
    pub fn session_key(&self) -> String {
        self.to_string()
    }

    /// Whether somebody in this directory is in it, or where the person was.
    pub fn contains(&self, directory: &Path) -> bool {
        directory.starts_with(&self.home) || directory.starts_with(self.directory())
    }

    /// The copy of a file of the person's that a worktree has.
    pub fn copy_of(&self, file: &Path) -> Option<PathBuf> {
        let worktree = self.worktree.as_ref()?;
        Some(worktree.top.join(file.strip_prefix(&worktree.home_top).ok()?))
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
        self.directory().display().fmt(f)
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

    #[test]
    fn a_worktree_is_worked_in_and_belongs_where_the_person_was() {
        let worktree = Worktree {
            top: "/trees/tk-1".into(),
            directory: "/trees/tk-1/web".into(),
            home_top: "/home/dev/shop".into(),
            ..Worktree::default()
        };
        let shared = Workspace::shared("/home/dev/shop/web");
        let own = shared.clone().in_worktree(Some(worktree));
        assert_eq!((own.home(), own.directory()), (shared.directory(), Path::new("/trees/tk-1/web")));
        assert!(!own.collides_with(&shared) && own.session_key() != shared.session_key());
        assert!(own.contains(shared.directory()) && own.contains(own.directory()));
        let ticket = Path::new("/home/dev/shop/.tickets/tk-1.md");
        assert_eq!(own.copy_of(ticket), Some("/trees/tk-1/.tickets/tk-1.md".into()));
        assert_eq!((own.copy_of(Path::new("/elsewhere/x")), shared.copy_of(ticket)), (None, None));
    }
}

//! Which branch is checked out, read from `HEAD` itself: no process is started for it.

use std::path::{Path, PathBuf};

/// The `HEAD` of the working tree that `folder` is in; where there is none yet, that of a repository made there.
pub fn file(folder: &Path) -> PathBuf {
    let of_tree = |top: &Path| {
        let dot_git = top.join(".git");
        if dot_git.is_dir() {
            return Some(dot_git.join("HEAD"));
        }
        // A linked working tree, or a submodule.
        let link = std::fs::read_to_string(dot_git).ok()?;
        Some(top.join(link.strip_prefix("gitdir: ")?.trim_end()).join("HEAD"))
    };
    folder.ancestors().find_map(of_tree).unwrap_or_else(|| folder.join(".git/HEAD"))
}

/// The branch's name, or the beginning of the commit that is checked out without one; empty where `HEAD` does not say.
/// `None`: no repository.
pub fn branch(folder: &Path) -> Option<String> {
    let head = std::fs::read_to_string(file(folder)).ok()?;
    match head.trim_end().strip_prefix("ref: refs/heads/") {
        // What a repository with another format of refs has there.
        Some(".invalid") => Some(String::new()),
        Some(name) => Some(name.to_owned()),
        None => Some(head.get(..7).unwrap_or_default().to_owned()),
    }
}

/// The name of the branch that is checked out; `None`: there is none, or it cannot be told without git.
pub fn on_branch(folder: &Path) -> Option<String> {
    let head = std::fs::read_to_string(file(folder)).ok()?;
    let name = head.trim_end().strip_prefix("ref: refs/heads/")?;
    (name != ".invalid").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_that_of_the_working_tree() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let of = |path: &str| branch(&folder.path().join(path));
        write("shop/src/a.rs", "");
        assert_eq!((of("shop/src"), file(&folder.path().join("shop"))), (None, folder.path().join("shop/.git/HEAD")));
        write("shop/.git/HEAD", "ref: refs/heads/fix/login\n");
        assert_eq!(of("shop/src").as_deref(), Some("fix/login"));
        write("shop/.git/HEAD", "0123456789012345678901234567890123456789\n");
        assert_eq!((of("shop").as_deref(), on_branch(&folder.path().join("shop"))), (Some("0123456"), None));
        write("shop/.git/HEAD", "ref: refs/heads/.invalid\n");
        assert_eq!(of("shop").as_deref(), Some(""));
        write("shop/.git/worktrees/other/HEAD", "ref: refs/heads/other\n");
        write("other/.git", "gitdir: ../shop/.git/worktrees/other\n");
        assert_eq!(of("other").as_deref(), Some("other"));
        assert_eq!(on_branch(&folder.path().join("other")).as_deref(), Some("other"));
    }
}

//! The gate's view of the real file system: it looks at names, links and kinds, and opens nothing.

use crate::policy::place::PathView;
use std::fs;
use std::path::{Path, PathBuf};

/// Most names of a folder that are looked at; a folder with more is not known.
const MAX_NAMES: usize = 10_000;

/// The file system as it is now.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealPaths;

impl PathView for RealPaths {
    fn link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(path).ok()
    }

    fn exists(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    /// A folder that is not there has no names; one that cannot be read has names that are not known.
    fn names(&self, folder: &Path) -> Option<Vec<String>> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(Vec::new()),
            Err(_) => return None,
        };
        let mut names = Vec::new();
        for entry in entries {
            names.push(entry.ok()?.file_name().into_string().ok()?);
            if names.len() > MAX_NAMES {
                return None;
            }
        }
        Some(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::place::Place;

    #[test]
    fn links_are_followed_where_they_stand() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("proj/src")).unwrap();
        fs::create_dir(root.join("keys")).unwrap();
        std::os::unix::fs::symlink("../keys", root.join("proj/link")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("proj/loop")).unwrap();
        let proj = root.join("proj");
        let place = Place { workspace: &proj, cwd: &proj, home: &root, user: "dev", view: &RealPaths };
        assert_eq!(place.resolve(&proj, "link/id"), Some(root.join("keys/id")));
        assert_eq!(place.resolve(&proj, "link/../x"), Some(root.join("x")), "`..` is counted behind the link");
        assert_eq!(place.resolve(&proj, "src/new.rs"), Some(proj.join("src/new.rs")));
        assert_eq!(place.resolve(&proj, "loop/x"), None);
        assert_eq!(RealPaths.names(&root.join("none")), Some(Vec::new()));
        assert_eq!(RealPaths.names(&proj.join("src")), Some(Vec::new()));
    }
}

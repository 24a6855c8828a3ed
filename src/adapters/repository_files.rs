//! What a repository brings along for Claude and for the shell: settings with hooks, MCP servers, an `.envrc`. Each can
//! run code of its maker's, so none is used before the person has looked at it (`trust`).

use crate::adapters::config_files::{ReadError, read_file};
use crate::config::FileText;
use std::path::{Path, PathBuf};

/// Where they are, from a folder of the repository.
const NAMES: [&str; 4] = [".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".envrc"];

/// The files that there are.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// Those that can be read, from the working directory up to the repository's top.
    pub files: Vec<FileText>,
    /// Those that cannot, and why: nobody can look at them, so nobody can trust them.
    pub unreadable: Vec<String>,
}

impl Carried {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.unreadable.is_empty()
    }

    /// Their paths, as seen from `folder`.
    pub fn names(&self, folder: &Path) -> Vec<String> {
        let near = |path: &str| Path::new(path).strip_prefix(folder).map(|path| path.display().to_string());
        let files = self.files.iter().map(|file| near(&file.path).unwrap_or_else(|_| file.path.clone()));
        files.chain(self.unreadable.iter().cloned()).collect()
    }

    /// The same, as they would be below another top.
    #[must_use]
    pub fn moved(&self, from: &Path, to: &Path) -> Self {
        let mut moved = self.clone();
        for file in &mut moved.files {
            if let Ok(below) = Path::new(&file.path).strip_prefix(from) {
                file.path = to.join(below).display().to_string();
            }
        }
        moved
    }

    pub fn servers(&self) -> Vec<PathBuf> {
        self.files.iter().filter(|file| file.name() == ".mcp.json").map(|file| file.path.clone().into()).collect()
    }
}

/// Looks for them in `folder` and above, up to the repository's top.
pub fn look(folder: &Path) -> Carried {
    let top = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder);
    let mut carried = Carried::default();
    for place in folder.ancestors().take_while(|place| place.starts_with(top)) {
        for path in NAMES.map(|name| place.join(name)) {
            match read_file(&path) {
                Ok(file) => carried.files.extend(file),
                Err(ReadError { path, reason }) => carried.unreadable.push(format!("{} ({reason})", path.display())),
            }
        }
    }
    carried
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn they_are_found_up_to_the_top_of_the_repository_and_no_further() {
        let tmp = tempfile::tempdir().unwrap();
        let (repo, inner) = (tmp.path().join("repo"), tmp.path().join("repo/a/b"));
        for folder in ["repo/.git", "repo/.claude", "repo/a/b/.claude/settings.local.json"] {
            fs::create_dir_all(tmp.path().join(folder)).unwrap();
        }
        for (name, text) in [(".envrc", "OUTSIDE"), ("repo/.mcp.json", "{}"), ("repo/.claude/settings.json", "{}")] {
            fs::write(tmp.path().join(name), text).unwrap();
        }
        let carried = look(&inner);
        let names = carried.names(&repo);
        assert_eq!(names[..2], [".claude/settings.json", ".mcp.json"], "{names:?}");
        assert_eq!(
            (names.len(), carried.unreadable.len()),
            (3, 1),
            "a folder in the place of a file is told: {names:?}"
        );
        assert_eq!(carried.servers(), [repo.join(".mcp.json")]);
        let moved = carried.moved(&repo, Path::new("/home/dev/shop"));
        assert_eq!(moved.servers(), [Path::new("/home/dev/shop/.mcp.json")]);
        assert!(look(tmp.path()).names(tmp.path()).contains(&".envrc".to_owned()));
        assert!(look(&tmp.path().join("repo/a/b/.claude")).files.iter().all(|file| !file.text.contains("OUTSIDE")));
    }
}

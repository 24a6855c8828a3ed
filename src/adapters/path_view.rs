//! The gate's view of the real file system: it looks at names, links and kinds, and opens nothing but files of
//! settings: git's, npm's, docker's.

use crate::adapters::environment::Variables;
use crate::adapters::{docker_daemon, tracked_files};
use crate::policy::place::{PathView, Reading};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Most names of a folder that are looked at; a folder with more is not known.
const MAX_NAMES: usize = 10_000;

/// Longest text that is read, in bytes.
const MAX_TEXT: u64 = 256 << 10;

/// The file system as it is now, for commands that get this environment.
#[derive(Clone, Debug, Default)]
pub struct RealPaths {
    variables: Variables,
}

impl RealPaths {
    /// For commands with these variables and no others.
    pub fn with(variables: Variables) -> Self {
        Self { variables }
    }
}

impl RealPaths {
    /// A variable of Claude's environment.
    fn variable(&self, name: &str) -> Option<String> {
        let set = self.variables.iter().find(|(set, _)| set == name);
        set.map(|(_, value)| value.to_string_lossy().into_owned())
    }
}

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
            Err(error) if error.kind() == ErrorKind::NotFound => return Some(Vec::new()),
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

    fn tracked(&self, path: &Path) -> Option<Vec<String>> {
        tracked_files::below(path)
    }

    fn has_own_daemon(&self, home: &Path) -> bool {
        docker_daemon::is_own(home, |name| self.variable(name))
    }

    fn asks_loopback_itself(&self) -> bool {
        asks_loopback_itself(|name| self.variable(name))
    }

    fn text(&self, path: &Path) -> Reading {
        match fs::metadata(path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Reading::Missing,
            Ok(found) if found.is_file() => read(path).unwrap_or(Reading::Unreadable),
            _ => Reading::Unreadable,
        }
    }
}

/// Whether no proxy is named, or none for this machine.
fn asks_loopback_itself(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
    let proxied = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].iter().any(set);
    let spared = variable("no_proxy").or_else(|| variable("NO_PROXY")).unwrap_or_default();
    let is_left_out = |host: &str| spared.split([',', ' ']).any(|name| name == host);
    !proxied || spared == "*" || (is_left_out("localhost") && is_left_out("127.0.0.1"))
}

fn read(path: &Path) -> std::io::Result<Reading> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_TEXT + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() as u64 <= MAX_TEXT;
    Ok(if whole { Reading::Text(String::from_utf8_lossy(&bytes).into_owned()) } else { Reading::Unreadable })
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
        let place = Place { workspace: &proj, cwd: &proj, home: &root, user: "dev", view: &RealPaths::default() };
        assert_eq!(place.resolve(&proj, "link/id"), Some(root.join("keys/id")));
        assert_eq!(place.resolve(&proj, "link/../x"), Some(root.join("x")), "`..` is counted behind the link");
        assert_eq!(place.resolve(&proj, "src/new.rs"), Some(proj.join("src/new.rs")));
        assert_eq!(place.resolve(&proj, "loop/x"), None);
        assert_eq!(RealPaths::default().names(&root.join("none")), Some(Vec::new()));
        assert_eq!(RealPaths::default().names(&proj.join("src")), Some(Vec::new()));
    }

    #[test]
    fn a_proxy_counts_where_it_is_not_left_out_for_this_machine() {
        for (set, itself) in [
            (&[][..], true),
            (&[("http_proxy", "")], true),
            (&[("http_proxy", "http://p:1")], false),
            (&[("ALL_PROXY", "socks5://p:1"), ("NO_PROXY", "x.test")], false),
            (&[("http_proxy", "http://p:1"), ("no_proxy", "localhost")], false),
            (&[("http_proxy", "http://p:1"), ("no_proxy", "localhost,127.0.0.1")], true),
            (&[("https_proxy", "http://p:1"), ("NO_PROXY", "*")], true),
        ] {
            let of = |name: &str| set.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(asks_loopback_itself(of), itself, "{set:?}");
        }
    }

    #[test]
    fn a_text_is_whole_or_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        assert_eq!(RealPaths::default().text(&path), Reading::Missing);
        assert_eq!(RealPaths::default().text(folder.path()), Reading::Unreadable);
        fs::write(&path, b"a \xff").unwrap();
        assert_eq!(RealPaths::default().text(&path), Reading::Text("a \u{fffd}".into()));
        assert_eq!(RealPaths::default().text(&path.join("below")), Reading::Missing);
        fs::write(&path, vec![b' '; 300_000]).unwrap();
        assert_eq!(RealPaths::default().text(&path), Reading::Unreadable);
    }
}

//! The CLAUDE.md files of the person and the project. Without setting sources Claude does not read
//! them itself, so they are handed over as one addition to its system prompt.
//!
//! `@imports` in them are not followed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The person's own memory, from their home.
const PERSONS: &str = ".claude/CLAUDE.md";

const MAX_FILE: usize = 64 << 10;

const MAX_ALL: usize = 256 << 10;

/// All memory for work in `folder`, each file headed by its path, the person's first, then from the
/// repository's root down; `None` when there is none. Unreadable files are left out.
pub fn collect(home: &Path, folder: &Path) -> Option<String> {
    gather(places(home, folder))
}

pub fn collect_persons(home: &Path) -> Option<String> {
    gather(vec![(home.join(PERSONS), None)])
}

fn gather(places: Vec<(PathBuf, Option<PathBuf>)>) -> Option<String> {
    let mut all = String::new();
    for (path, within) in places {
        let Some((text, cut)) = read(&path, within.as_deref()) else { continue };
        let entry = format!(
            "# {}\n\n{}\n{}\n",
            path.display(),
            text.trim(),
            if cut { "\n(cut here: the file is longer)\n" } else { "" }
        );
        if all.len() + entry.len() <= MAX_ALL {
            all.push_str(&entry);
        }
    }
    (!all.is_empty()).then_some(all)
}

/// Writes the collected memory where Claude can read it; the file is removed when the path is dropped.
pub fn to_file(text: &str) -> io::Result<tempfile::TempPath> {
    let mut file = tempfile::Builder::new().prefix("programmator-memory-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file.into_temp_path())
}

/// The files, and the folder that a file of a project may not lead out of.
fn places(home: &Path, folder: &Path) -> Vec<(PathBuf, Option<PathBuf>)> {
    let mut places = vec![(home.join(PERSONS), None)];
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder);
    let mut down: Vec<&Path> = folder.ancestors().take_while(|folder| folder.starts_with(root)).collect();
    down.reverse();
    for folder in down {
        for name in ["CLAUDE.md", "CLAUDE.local.md"] {
            places.push((folder.join(name), Some(root.to_owned())));
        }
    }
    places
}

/// The text of a plain file, and whether it was cut. A project's link to somewhere else (a key, a
/// device) is not followed.
fn read(path: &Path, within: Option<&Path>) -> Option<(String, bool)> {
    let real = path.canonicalize().ok()?;
    if let Some(root) = within
        && !real.starts_with(root.canonicalize().ok()?)
    {
        return None;
    }
    if !real.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(real).ok()?.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes).ok()?;
    let cut = bytes.len() > MAX_FILE;
    bytes.truncate(MAX_FILE);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.trim().is_empty()).then_some((text, cut))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn files_come_in_order_from_the_person_down_to_the_folder() {
        let tmp = tempfile::tempdir().unwrap();
        let (home, repo) = (tmp.path().join("home"), tmp.path().join("repo"));
        let inner = repo.join("a/b");
        fs::create_dir_all(repo.join(".git")).unwrap();
        fs::create_dir_all(&inner).unwrap();
        write(&tmp.path().join("CLAUDE.md"), "OUTSIDE");
        write(&home.join(".claude/CLAUDE.md"), "person\n");
        write(&repo.join("CLAUDE.md"), "root");
        write(&repo.join("CLAUDE.local.md"), "local");
        write(&inner.join("CLAUDE.md"), "inner");
        write(&repo.join("a/CLAUDE.md"), "  \n");

        let all = collect(&home, &inner).unwrap();
        let heads: Vec<&str> = all.lines().filter(|line| line.starts_with("# ")).collect();
        assert_eq!(heads.len(), 4, "{all}");
        let places: Vec<_> =
            ["person", "root", "local", "inner"].map(|word| all.find(&format!("\n{word}\n")).unwrap()).into();
        assert!(places.is_sorted(), "{all}");
        assert!(!all.contains("OUTSIDE"));
        assert_eq!(collect(&tmp.path().join("nobody"), &home), None);
    }

    #[test]
    fn a_link_out_of_the_project_a_pipe_and_a_giant_do_no_harm() {
        let tmp = tempfile::tempdir().unwrap();
        let repo = tmp.path().join("repo");
        fs::create_dir_all(repo.join(".git")).unwrap();
        write(&tmp.path().join("id_rsa"), "SECRET");
        std::os::unix::fs::symlink(tmp.path().join("id_rsa"), repo.join("CLAUDE.md")).unwrap();
        write(&repo.join("CLAUDE.local.md"), &"x".repeat(MAX_FILE * 3));
        let all = collect(tmp.path(), &repo).unwrap();
        assert!(!all.contains("SECRET"));
        assert!(all.len() < MAX_FILE + 500 && all.contains("cut here"));
    }

    #[test]
    fn the_file_is_private_and_goes_away() {
        use std::os::unix::fs::PermissionsExt;
        let path = to_file("memory").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "memory");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let place = path.to_path_buf();
        drop(path);
        assert!(!place.exists());
    }
}

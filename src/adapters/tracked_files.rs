//! Which files git tracks, read from the index of the repository: git itself might run what its configuration names.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Largest index that is read, in bytes.
const MAX_INDEX: u64 = 64 << 20;

/// Most files that are told of.
const MAX_NAMES: usize = 20_000;

/// The files at a path or below it that git tracks, from the path; `None` when they cannot be known, or are too many.
pub fn below(path: &Path) -> Option<Vec<String>> {
    let is_top = |top: &&Path| top.join(".git").symlink_metadata().is_ok();
    let Some(top) = path.ancestors().find(is_top) else { return Some(Vec::new()) };
    let inside = path.strip_prefix(top).ok()?;
    let git = git_folder(top)?;
    if !has_short_ids(&git)? {
        return None;
    }
    let mut bytes = Vec::new();
    match File::open(git.join("index")).and_then(|file| file.take(MAX_INDEX + 1).read_to_end(&mut bytes)) {
        Err(error) => (error.kind() == ErrorKind::NotFound).then(Vec::new),
        Ok(_) if bytes.len() as u64 > MAX_INDEX => None,
        Ok(_) => names(&bytes, inside.as_os_str().as_encoded_bytes()),
    }
}

/// The repository's own folder, which a working tree may only point to.
fn git_folder(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    Some(top.join(text.trim_end().strip_prefix("gitdir:")?.trim_start()))
}

/// Whether the repository's ids are SHA-1, as its configuration says; others are longer, in the index too.
fn has_short_ids(git: &Path) -> Option<bool> {
    let common = match fs::read_to_string(git.join("commondir")) {
        Ok(common) => git.join(common.trim_end()),
        Err(error) if error.kind() == ErrorKind::NotFound => git.to_owned(),
        Err(_) => return None,
    };
    let text = match fs::read(common.join("config")) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).to_lowercase(),
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(_) => return None,
    };
    let mut formats = text.lines().filter_map(|line| line.split_once("objectformat"));
    Some(formats.all(|(_, value)| value.trim_start().strip_prefix('=').is_some_and(|value| value.trim() == "sha1")))
}

/// The entries of an index at a path or below it. `None`: it is not understood.
fn names(index: &[u8], folder: &[u8]) -> Option<Vec<String>> {
    /// The id of an entry, and the sum at the end.
    const ID: usize = 20;
    /// Times, numbers and size, then the id.
    const FIXED: usize = 40 + ID;
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let (version, count) = (number(4)?, number(8)?);
    if index.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut found = Vec::new();
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let begin = at;
        let extended = index.get(at + FIXED)? & 0x40 != 0;
        at += FIXED + if extended { 4 } else { 2 };
        if version == 4 {
            let kept = name.len().checked_sub(varint(index, &mut at)?)?;
            name.truncate(kept);
        } else {
            name.clear();
        }
        let end = at + index.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&index[at..end]);
        at = if version == 4 { end + 1 } else { begin + ((end - begin) / 8 + 1) * 8 };
        if let Some(inside) = inside(&name, folder) {
            found.push(String::from_utf8_lossy(inside).into_owned());
        }
        if found.len() > MAX_NAMES {
            return None;
        }
    }
    // What another file of the index holds is not here.
    let mut extension = at;
    while let Some(size) = number(extension + 4).filter(|_| extension + ID < index.len()) {
        if index.get(extension..extension + 4)? == b"link" {
            return None;
        }
        extension += 8 + size as usize;
    }
    (extension + ID == index.len()).then_some(found)
}

/// What an entry is called from a path that it is at or below. A folder that is not checked out stands in the index as a
/// whole, with a slash at its end.
fn inside<'a>(name: &'a [u8], folder: &[u8]) -> Option<&'a [u8]> {
    if folder.is_empty() {
        return Some(name);
    }
    let rest = name.strip_prefix(folder);
    let below = rest.and_then(|rest| if rest.is_empty() { Some(rest) } else { rest.strip_prefix(b"/") });
    below.or((name.ends_with(b"/") && folder.starts_with(name)).then_some(name))
}

/// Git's number of seven bits a byte.
fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut next = || {
        let byte = *bytes.get(*at)?;
        *at += 1;
        Some(byte)
    };
    let mut byte = next()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = next()?;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, args: &[&str]) {
        let status = Command::new("git").args(args).current_dir(folder).status().unwrap();
        assert!(status.success(), "git {args:?}");
    }

    #[test]
    fn the_index_tells_what_is_tracked() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(below(&root.join("dist")), Some(vec![]), "no repository");
        git(root, &["init", "-q"]);
        assert_eq!(below(&root.join("dist")), Some(vec![]), "nothing is tracked yet");
        for path in ["dist/a.js", "distant.txt", "src/very/long/path/of/a/file.rs", "src/very/long/x", "target/debug/x"]
        {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), path).unwrap();
        }
        git(root, &["add", "dist", "distant.txt", "src"]);
        fs::write(root.join("-n x"), "").unwrap();
        git(root, &["add", "-N", "--", "-n x"]);
        fs::remove_file(root.join("-n x")).unwrap();
        for version in ["2", "4", "3"] {
            git(root, &["update-index", "--index-version", version]);
            for (path, expected) in [
                ("dist", &["a.js"][..]),
                ("src/very/long", &["path/of/a/file.rs", "x"]),
                ("target", &[]),
                ("dis", &[]),
                ("dist/a.js", &[""]),
                ("dist/a.jsx", &[]),
                ("", &["-n x", "dist/a.js", "distant.txt", "src/very/long/path/of/a/file.rs", "src/very/long/x"]),
            ] {
                let expected = Some(expected.iter().map(ToString::to_string).collect());
                assert_eq!(below(&root.join(path)), expected, "{path} in version {version}");
            }
        }
        git(root, &["update-index", "--split-index"]);
        assert_eq!(below(&root.join("target")), None, "a part of the index is elsewhere");
        fs::write(root.join(".git/index"), b"DIRC").unwrap();
        assert_eq!(below(&root.join("target")), None, "it is cut");
    }

    #[test]
    fn another_format_of_ids_is_not_known() {
        for format in ["sha1", "sha256"] {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            git(root, &["init", "-q", &format!("--object-format={format}")]);
            fs::create_dir(root.join("dist")).unwrap();
            for name in ["dist/a.js", "dist/b.js", "c"] {
                fs::write(root.join(name), name).unwrap();
            }
            git(root, &["add", "."]);
            let expected = (format == "sha1").then(|| vec!["a.js".to_owned(), "b.js".to_owned()]);
            assert_eq!(below(&root.join("dist")), expected, "{format}");
            git(root, &["config", "user.email", "a@b"]);
            git(root, &["config", "user.name", "a"]);
            git(root, &["commit", "-qm", "a"]);
            git(root, &["worktree", "add", "-q", "tree"]);
            assert_eq!(below(&root.join("tree/dist")), expected, "{format}, in a tree of its own");
        }
    }
}

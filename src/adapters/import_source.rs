//! Where imported tasks are read: documents. A document is a small regular file; one that was not named by the person stays in their
//! folder. What `gh` and the program of beads print is asked for in `issue_tool`.

use crate::adapters::inside;
use crate::base::text::clean_line;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Largest document that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// Tasks that could not be read: what happened, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(String);

fn failed(path: &Path, reason: &dyn std::fmt::Display) -> SourceError {
    SourceError(format!("{} cannot be imported: {reason}", clean_line(&path.display().to_string(), 300)))
}

/// The text of a document; what is not UTF-8 in it is replaced.
pub fn document(path: &Path) -> Result<String, SourceError> {
    // A pipe opens at once with this flag and is refused by its kind afterwards.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let file = File::options().read(true).custom_flags(flags).open(path);
    let file = file.map_err(|error| match error.kind() {
        ErrorKind::NotFound => failed(path, &"there is no such file"),
        _ => failed(path, &error),
    })?;
    let about = file.metadata().map_err(|error| failed(path, &error))?;
    if !about.is_file() {
        return Err(failed(path, &"not a file"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(failed(path, &format!("larger than {} MiB: split it", LARGEST >> 20)));
    }
    if bytes.contains(&0) {
        return Err(failed(path, &"not text"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first of these files of a folder that is there; an error where a link leads it elsewhere.
pub fn first(folder: &Path, names: &[&str]) -> Result<Option<PathBuf>, SourceError> {
    let there = names.iter().map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_ok());
    match there {
        Some(path) if !inside::stays_in(folder, &path) => {
            Err(failed(&path, &"a link out of the folder; pass the file itself"))
        }
        there => Ok(there),
    }
}

/// The markdown files of a folder, by name; links are left out.
pub fn documents_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let plain = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut files: Vec<PathBuf> = plain.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_small_texts_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.md"), b"caf\xc3\xa9 \xff").unwrap();
        assert!(document(&path("a.md")).unwrap().starts_with("café"));
        std::fs::write(path("nul"), "a\0b").unwrap();
        File::create(path("large")).unwrap().set_len(100 << 20).unwrap();
        let mkfifo = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
        assert!(mkfifo.success());
        for (name, why) in [
            ("nul", "not text"),
            ("large", "larger than 4 MiB"),
            ("pipe", "not a file"),
            ("gone", "there is no such file"),
        ] {
            let error = document(&path(name)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(document(folder.path()).is_err());
    }

    #[test]
    fn a_file_that_was_not_named_stays_in_the_folder() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        assert!(first(folder.path(), &["a", "b"]).unwrap().is_none());
        symlink(outside.path().join("secret"), folder.path().join("b")).unwrap();
        assert!(first(folder.path(), &["a", "b"]).unwrap_err().to_string().contains("a link out"));
        std::fs::write(folder.path().join("a"), "x").unwrap();
        assert_eq!(first(folder.path(), &["a", "b"]).unwrap(), Some(folder.path().join("a")));
    }
}

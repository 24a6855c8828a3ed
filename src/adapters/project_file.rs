//! A file of a project that the person and others write too, as Claude's settings: read with suspicion, replaced only while it says
//! what it said.

use super::beside;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Most that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The file could not be used; nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}; nothing was changed", path.display())]
pub struct ProjectFileError {
    path: PathBuf,
    reason: String,
}

impl ProjectFileError {
    /// What went wrong, for who has changed something else before.
    pub fn cause(&self) -> String {
        format!("{}: {}", self.path.display(), self.reason)
    }
}

fn failed(path: &Path, reason: &dyn std::fmt::Display) -> ProjectFileError {
    ProjectFileError { path: path.to_owned(), reason: reason.to_string() }
}

/// Claude's settings file for what only this person's Claude is to read.
pub fn claude_settings(folder: &Path) -> PathBuf {
    folder.join(".claude").join("settings.local.json")
}

/// Its text; `None`: there is no file. Refused: links, also of its folder (what they point to may be somebody else's),
/// what is no regular file, larger than 1 MiB or not UTF-8.
pub fn read(path: &Path) -> Result<Option<String>, ProjectFileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    for (place, is_right) in
        [(folder, fs::FileType::is_dir as fn(&fs::FileType) -> bool), (path, fs::FileType::is_file)]
    {
        match place.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(place, &error)),
            Ok(found) if found.is_symlink() => {
                return Err(failed(place, &"it is a link; edit its target yourself"));
            }
            Ok(found) if !is_right(&found.file_type()) => return Err(failed(place, &"not a regular file")),
            Ok(_) => {}
        }
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failed(path, &error))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(failed(path, &"larger than 1 MiB"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| failed(path, &"not UTF-8"))
}

/// Puts `new` in the place of `old`, which [`read`] gave. A file that says something else by now is left alone; who may
/// read it stays as it is.
pub fn replace(path: &Path, old: Option<&str>, new: &str) -> Result<(), ProjectFileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let changed = || failed(path, &"it was changed in the meantime; try again");
    let words = |error: io::Error| failed(path, &format!("it cannot be written: {error}"));
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(words(error)),
        _ => {}
    }
    let mut file = beside::file(path).map_err(words)?;
    file.write_all(new.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(words)?;
    if read(path)?.as_deref() != old {
        return Err(changed());
    }
    if old.is_none() {
        return file.persist_noclobber(path).map(drop).map_err(|failed| match failed.error.kind() {
            io::ErrorKind::AlreadyExists => changed(),
            _ => words(failed.error),
        });
    }
    let mode = fs::metadata(path).map_err(words)?.permissions();
    file.as_file().set_permissions(mode).map_err(words)?;
    file.persist(path).map(drop).map_err(|failed| words(failed.error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn it_is_replaced_only_while_it_says_what_it_said() {
        let temp = tempfile::tempdir().unwrap();
        let file = claude_settings(temp.path());
        assert_eq!(read(&file).unwrap(), None);
        replace(&file, None, "one").unwrap();
        let why = replace(&file, None, "two").unwrap_err().to_string();
        assert!(why.contains("in the meantime") && why.ends_with("nothing was changed"), "{why}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        replace(&file, Some("one"), "two").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        replace(&file, Some("one"), "three").unwrap_err();
        assert_eq!(read(&file).unwrap().as_deref(), Some("two"));
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn links_and_what_is_no_file_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let file = claude_settings(temp.path());
        fs::write(temp.path().join("elsewhere"), "{}").unwrap();
        fs::create_dir(temp.path().join(".claude")).unwrap();
        symlink(temp.path().join("elsewhere"), &file).unwrap();
        assert!(read(&file).unwrap_err().to_string().contains("it is a link"));
        replace(&file, Some("{}"), "x").unwrap_err();
        assert_eq!(fs::read_to_string(temp.path().join("elsewhere")).unwrap(), "{}");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        read(&file).unwrap_err();
        fs::remove_dir_all(temp.path().join(".claude")).unwrap();
        symlink(temp.path(), temp.path().join(".claude")).unwrap();
        assert!(read(&file).unwrap_err().to_string().contains("it is a link"));
    }
}

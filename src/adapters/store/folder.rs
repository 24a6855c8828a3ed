//! Where the state lives, and whether that place can be trusted. What lies in it is its siblings'.
//!
//! ```text
//! <state>/programmator.db          facts (0600; -wal and -shm beside it)
//! <state>/bell                     one byte, rewritten after each commit: what followers watch
//! <state>/locks/<kind>-<sha256>    never deleted
//! <state>/runs/<run>/<n>.ndjson    what Claude printed in iteration n, verbatim; <n>.idx beside it
//! ```

use super::error::StoreError;
use super::os;
use etcetera::BaseStrategy;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The state folder: `own` (`$PROGRAMMATOR_STATE_DIR`), else `xdg` (`$XDG_STATE_HOME`) with `programmator`
/// below it, else the platform's place. Empty values count as unset, and so does a relative `xdg` (its
/// specification says so). Nothing is created.
pub fn state_dir(own: Option<&OsStr>, xdg: Option<&OsStr>) -> Result<PathBuf, StoreError> {
    if let Some(own) = own.filter(|value| !value.is_empty()) {
        return std::path::absolute(own).map_err(StoreError::file("find", Path::new(own)));
    }
    if let Some(xdg) = xdg.map(Path::new).filter(|path| path.is_absolute()) {
        return Ok(xdg.join("programmator"));
    }
    let native = etcetera::base_strategy::choose_native_strategy().map_err(|_| StoreError::NoHome)?;
    let base = native.state_dir().unwrap_or_else(|| native.data_dir());
    Ok(base.join("programmator"))
}

/// Creates the folder if it is missing and refuses one that others control. Returns its real path.
pub(super) fn prepare(path: &Path) -> Result<PathBuf, StoreError> {
    let refuse = |why: &str, cure: String| StoreError::Folder { path: path.to_owned(), why: why.to_owned(), cure };
    let elsewhere = || "set PROGRAMMATOR_STATE_DIR to your own folder".to_owned();
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            os::create_folder(path).map_err(|error| refuse(&format!("cannot be created ({error})"), elsewhere()))?;
            fs::symlink_metadata(path)
        }
        found => found,
    }
    .map_err(|error| refuse(&error.to_string(), elsewhere()))?;

    if metadata.is_symlink() {
        let cure = match fs::canonicalize(path) {
            Ok(target) => format!("if it is yours, set PROGRAMMATOR_STATE_DIR to {}", target.display()),
            Err(_) => "remove the link".to_owned(),
        };
        return Err(refuse("it is a symbolic link", cure));
    }
    if !metadata.is_dir() {
        return Err(refuse("it is not a folder", elsewhere()));
    }
    if !os::is_ours(&metadata) {
        return Err(refuse("it belongs to another user", elsewhere()));
    }
    if os::others_may_write(&metadata) {
        return Err(refuse("other users can write to it", format!("run: chmod 700 '{}'", path.display())));
    }
    fs::canonicalize(path).map_err(StoreError::file("find", path))
}

/// The database as it was opened: a name may be given to another file, or to none.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pub path: PathBuf,
    identity: (u64, u64),
}

impl Database {
    /// The one that stands at `path` now.
    pub(super) fn at(path: PathBuf) -> Result<Self, StoreError> {
        let metadata = fs::metadata(&path).map_err(StoreError::file("open", &path))?;
        Ok(Self { path, identity: os::identity(&metadata) })
    }

    /// An error when it does not stand there any more: what is written then, nobody finds again.
    pub(super) fn is_in_place(&self) -> Result<(), StoreError> {
        match fs::metadata(&self.path) {
            Ok(metadata) if os::identity(&metadata) == self.identity => Ok(()),
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(StoreError::file("look at", &self.path)(error))
            }
            _ => Err(StoreError::Gone { path: self.path.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_setting_wins_and_bad_ones_are_passed_over() {
        let os = |text: &'static str| Some(OsStr::new(text));
        let at = |own, xdg| state_dir(own, xdg).unwrap();
        assert_eq!(at(os("/s"), os("/x")), Path::new("/s"));
        assert_eq!(at(os(""), os("/x")), Path::new("/x/programmator"));
        assert!(at(os("rel"), None).is_absolute());
        let native = at(None, None);
        assert!(native.is_absolute() && native.ends_with("programmator"));
        assert_eq!(at(None, os("relative")), native);
    }

    #[test]
    fn folders_that_others_control_are_refused_with_a_cure() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let temp = tempfile::tempdir().unwrap();
        let good = temp.path().join("a/b");
        prepare(&good).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&good), mode(&temp.path().join("a"))), (0o700, 0o700));

        let link = temp.path().join("link");
        symlink(&good, &link).unwrap();
        let said = prepare(&link).unwrap_err().to_string();
        assert!(said.contains("symbolic link") && said.contains("a/b"), "{said}");

        let open = temp.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let said = prepare(&open).unwrap_err().to_string();
        assert!(said.contains("chmod 700"), "{said}");

        let file = temp.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(prepare(&file).unwrap_err().to_string().contains("not a folder"));
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        // The root folder is root's; for root itself, give a folder away first.
        let temp = tempfile::tempdir().unwrap();
        let foreign = if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(temp.path(), Some(65_534), None).unwrap();
            temp.path()
        } else {
            Path::new("/")
        };
        let said = prepare(foreign).unwrap_err().to_string();
        assert!(said.contains("another user") && said.contains("PROGRAMMATOR_STATE_DIR"), "{said}");
    }
}

//! The scratch folder of a run: where Claude and the validation commands keep temporary files instead of in the system's
//! shared folder. Only the person can enter it; it is made when the run begins and removed when it ends.
//!
//! Its name follows from the run's id, which is random: what a program that died has left is found again by the next one,
//! unless that has another `TMPDIR`; then it stays until the system clears its folder of temporary files.

use crate::base::id::RunId;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Variables that tell programs where to put temporary files.
pub const VARIABLES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// Where the scratch folder of a run is, there or not, with links resolved.
pub fn path(run: RunId) -> io::Result<PathBuf> {
    Ok(std::env::temp_dir().canonicalize()?.join(format!("programmator-{run}")))
}

/// Makes the scratch folder of a run, empty. What an earlier process of this run has left is removed. An error says, for
/// people, where it cannot be and what to do.
pub fn make(run: RunId) -> Result<PathBuf, String> {
    let words = |place: &Path, error: io::Error| {
        format!("cannot create its scratch directory {}: {error}; set TMPDIR to a writable directory", place.display())
    };
    let path = path(run).map_err(|error| words(&std::env::temp_dir(), error))?;
    remove_at(&path);
    // Fails when anything is there, a link too.
    DirBuilder::new().mode(0o700).create(&path).map_err(|error| words(&path, error))?;
    Ok(path)
}

pub fn remove(run: RunId) {
    if let Ok(path) = path(run) {
        remove_at(&path);
    }
}

/// A link is removed, and what it points to stays.
fn remove_at(path: &Path) {
    if fs::remove_dir_all(path).is_err() && path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        // Some tools take the right to write from the folders of their caches.
        unlock(path);
        if let Err(error) = fs::remove_dir_all(path) {
            tracing::warn!(path = %path.display(), %error, "a scratch folder could not be removed");
        }
    }
}

fn unlock(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_private_empty_and_goes_with_all_that_is_in_it() {
        let run = RunId(uuid::Uuid::new_v4());
        let made = make(run).unwrap();
        assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        fs::create_dir_all(made.join("cache/deep")).unwrap();
        fs::write(made.join("cache/deep/file"), "x").unwrap();
        fs::set_permissions(made.join("cache/deep"), Permissions::from_mode(0o500)).unwrap();
        let again = make(run).unwrap();
        assert_eq!((again.clone(), fs::read_dir(&again).unwrap().count()), (made.clone(), 0));
        remove(run);
        assert!(!made.exists());
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let run = RunId(uuid::Uuid::new_v4());
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("kept"), "x").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), path(run).unwrap()).unwrap();
        let made = make(run).unwrap();
        assert!(made.symlink_metadata().unwrap().is_dir());
        remove(run);
        assert!(elsewhere.path().join("kept").exists());
    }
}

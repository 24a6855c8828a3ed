//! The folder that the copy of another machine's run is kept in while it is looked at: `<state>/hosts/<host>-…`, for the person
//! alone. It goes with who looks; one whose program was killed goes when the next is made.

use crate::adapters::disk_use::bytes_of;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What a program locks in its own folder for as long as it needs it.
const IN_USE: &str = "in-use";
/// What is locked while folders are made or taken away.
const MAKING: &str = "making";

/// Such a folder; taken away when dropped.
#[derive(Debug)]
pub struct CopyFolder {
    folder: TempDir,
    _in_use: File,
}

impl CopyFolder {
    /// A new one below the state folder. `host`: what the machine is called, which is part of a file's name.
    pub fn new(state: &Path, host: &str) -> io::Result<Self> {
        let hosts = state.join("hosts");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&hosts)?;
        let making = lock_file(&hosts.join(MAKING))?;
        making.lock()?;
        take_away(&left(state));
        let folder = tempfile::Builder::new()
            .prefix(&format!("{host}-"))
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(&hosts)?;
        let in_use = lock_file(&folder.path().join(IN_USE))?;
        in_use.lock()?;
        Ok(Self { folder, _in_use: in_use })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Folders below the state folder whose programs were killed.
fn left(state: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(state.join("hosts")).into_iter().flatten().flatten();
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let is_left = |folder: &PathBuf| match File::open(folder.join(IN_USE)) {
        Ok(in_use) => !matches!(in_use.try_lock(), Err(TryLockError::WouldBlock)),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    folders.map(|entry| entry.path()).filter(is_left).collect()
}

/// What cannot be taken away now is tried again by the next.
fn take_away(left: &[PathBuf]) {
    for folder in left {
        if let Err(error) = fs::remove_dir_all(folder) {
            tracing::warn!(folder = %folder.display(), %error, "the copy of another machine's run is left");
        }
    }
}

/// Those whose programs were killed, which are removed unless it is only `is_tried`. While others make or remove some: none.
pub fn clear_left(state: &Path, is_tried: bool) -> io::Result<Vec<(PathBuf, u64)>> {
    let hosts = state.join("hosts");
    if !fs::symlink_metadata(&hosts).is_ok_and(|data| data.is_dir()) {
        return Ok(Vec::new());
    }
    let making = lock_file(&hosts.join(MAKING))?;
    if making.try_lock().is_err() {
        return Ok(Vec::new());
    }
    let left = left(state);
    let sizes = left.iter().map(|folder| (folder.clone(), bytes_of(folder))).collect();
    if !is_tried {
        take_away(&left);
    }
    Ok(sizes)
}

fn lock_file(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn it_is_the_persons_alone_and_goes_with_its_program_or_with_the_next() {
        let state = tempfile::tempdir().unwrap();
        let (one, two) =
            (CopyFolder::new(state.path(), "build").unwrap(), CopyFolder::new(state.path(), "build").unwrap());
        assert_ne!(one.path(), two.path());
        assert_eq!(fs::metadata(one.path()).unwrap().permissions().mode() & 0o777, 0o700);
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists() && two.path().exists());

        // One whose program was killed; what a link in it leads to stays.
        let kept = state.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "mine").unwrap();
        let left = state.path().join("hosts/build-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(IN_USE), "").unwrap();
        symlink(&kept, left.join("link")).unwrap();
        symlink(&kept, state.path().join("hosts/link")).unwrap();
        drop(CopyFolder::new(state.path(), "other").unwrap());
        assert!(!left.exists() && two.path().exists());
        assert_eq!(fs::read(kept.join("file")).unwrap(), b"mine");
    }
}

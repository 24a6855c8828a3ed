//! Files of the person's config and state that only their owner may read: looked at with suspicion, replaced whole.
//!
//! Does not own what is in them.

use super::beside;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

/// Most that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// A private file was not as it must be, or could not be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct PrivateFileError {
    path: String,
    reason: String,
}

/// The file is not as it must be, for this reason.
pub fn failed(path: &Path, reason: &dyn std::fmt::Display) -> PrivateFileError {
    PrivateFileError { path: path.display().to_string(), reason: reason.to_string() }
}

/// The text of the file; `None` when there is none. Refused: what is no regular file, belongs to somebody else, can
/// be read or written by others, is larger than 1 MiB or not UTF-8.
pub fn read(path: &Path) -> Result<Option<String>, PrivateFileError> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, &error)),
    };
    check(path, &file.metadata().map_err(|error| failed(path, &error))?)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failed(path, &error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(failed(path, &"larger than 1 MiB; not a file that programmator wrote"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| failed(path, &"not UTF-8; not a file that programmator wrote"))
}

/// Replaces the file: a crash leaves the old one or the new one, readable by the owner alone.
pub fn write(path: &Path, text: &str) -> Result<(), PrivateFileError> {
    replace(path, text, true)
}

/// The same without waiting for the disk: of what is worth nothing after a power failure.
pub fn write_for_now(path: &Path, text: &str) -> Result<(), PrivateFileError> {
    replace(path, text, false)
}

fn replace(path: &Path, text: &str, is_for_good: bool) -> Result<(), PrivateFileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let replace = || -> io::Result<()> {
        create_private(folder)?;
        let mut file = beside::file(path)?;
        file.write_all(text.as_bytes())?;
        if is_for_good {
            file.as_file().sync_all()?;
        }
        file.persist(path)?;
        if is_for_good { File::open(folder)?.sync_all() } else { Ok(()) }
    };
    replace().map_err(|error| failed(path, &format!("cannot be written: {error}")))
}

/// Writes a new file that is locked from its first moment until what is given is dropped.
pub fn write_locked(path: &Path, text: &str) -> Result<File, PrivateFileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let make = || -> io::Result<File> {
        create_private(folder)?;
        let mut file = beside::file(path)?;
        file.as_file().lock()?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        let file = file.persist_noclobber(path)?;
        File::open(folder)?.sync_all()?;
        Ok(file)
    };
    make().map_err(|error| failed(path, &format!("cannot be written: {error}")))
}

/// Waits for the lock of this name and holds it until the file is dropped.
pub fn lock(path: &Path) -> Result<File, PrivateFileError> {
    let take = || -> io::Result<File> {
        let file = lock_file(path)?;
        file.lock()?;
        Ok(file)
    };
    take().map_err(|error| failed(path, &format!("cannot be locked: {error}")))
}

/// Takes the lock of this name; `None`: another program has it.
pub fn lock_now(path: &Path) -> Result<Option<File>, PrivateFileError> {
    let take = || -> io::Result<Option<File>> {
        let file = lock_file(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    };
    take().map_err(|error| failed(path, &format!("cannot be locked: {error}")))
}

fn lock_file(path: &Path) -> io::Result<File> {
    create_private(path.parent().unwrap_or(Path::new(".")))?;
    File::options().create(true).truncate(false).write(true).open(path)
}

fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // A pipe opens at once with this flag and is refused by its type afterwards.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    File::options().read(true).custom_flags(i32::try_from(flags.bits()).unwrap_or(0)).open(path)
}

fn check(path: &Path, metadata: &fs::Metadata) -> Result<(), PrivateFileError> {
    use std::os::unix::fs::MetadataExt;
    if !metadata.is_file() {
        return Err(failed(path, &"not a regular file; remove it"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(failed(path, &"belongs to somebody else; remove it"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(failed(path, &format!("others can use it: chmod 600 {}", path.display())));
    }
    Ok(())
}

/// Creates a folder that only its owner can use, and what is missing above it.
pub(super) fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_written_is_the_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/file");
        assert_eq!(read(&path).unwrap(), None);
        write(&path, "one").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("two"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_file_that_others_can_use_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "x").unwrap();
        for mode in [0o644, 0o620, 0o604] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains("chmod 600"), "{mode:o}");
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(read(&path).is_err());
    }
}

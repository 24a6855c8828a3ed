//! How much room a file system has, and whether it may be filled: some is kept for records, which matter more than
//! what Claude and commands print.

use std::io;
use std::path::{Path, PathBuf};

/// A place to write to, down to a reserve.
#[derive(Clone, Debug)]
pub struct Room {
    pub folder: PathBuf,
    pub reserve: u64,
}

impl Room {
    /// An error of the kind that a full disk gives when writing `bytes` would use the reserve.
    pub fn for_bytes(&self, bytes: u64) -> io::Result<()> {
        // Where nobody says how much is free, the writing itself finds out.
        let Some(free) = free(&self.folder) else { return Ok(()) };
        if free >= self.reserve.saturating_add(bytes) {
            return Ok(());
        }
        let why = format!("only {} MiB free, all of it kept for records (storage.reserve)", free >> 20);
        Err(io::Error::new(io::ErrorKind::StorageFull, why))
    }
}

/// Bytes that are free for us on the file system of `path`.
pub fn free(path: &Path) -> Option<u64> {
    let data = rustix::fs::statvfs(path).ok()?;
    Some(data.f_bavail.saturating_mul(data.f_frsize))
}

/// Fails where the disk has no room for so many bytes more.
pub fn fits(top: &Path, needed: u64) -> Result<(), String> {
    // Where nobody says how much is free, the writing itself finds out.
    match free(top) {
        Some(free) if free < needed => Err(format!(
            "its files need {} MiB more in {}, and only {} MiB are free",
            needed.div_ceil(1 << 20),
            top.display(),
            free >> 20
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_not_for_everybody() {
        let folder = std::env::temp_dir();
        let with = |reserve| Room { folder: folder.clone(), reserve }.for_bytes(1);
        with(0).unwrap();
        let error = with(u64::MAX).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().contains("storage.reserve"), "{error}");
        Room { folder: "/no/such/folder".into(), reserve: u64::MAX }.for_bytes(1).unwrap();
    }
}

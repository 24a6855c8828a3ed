//! Whether the program's file was replaced by another version since it was started, and becoming that one.

use crate::adapters::own_program::as_started;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

/// The file that this process was started from.
pub struct Program {
    path: PathBuf,
    identity: (u64, u64, i64),
}

impl Program {
    /// `None`: it cannot be seen, or is gone already.
    pub fn now() -> Option<Self> {
        let path = as_started().ok()?;
        let identity = identity(&fs::metadata(&path).ok()?);
        Some(Self { path, identity })
    }

    /// Another file stands in its place.
    pub fn is_replaced(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|data| data.is_file() && identity(&data) != self.identity)
    }

    /// Becomes that program, with the same process number; what is given is why not.
    pub fn become_new(&self) -> io::Error {
        Command::new(&self.path).args(std::env::args_os().skip(1)).exec()
    }
}

fn identity(data: &Metadata) -> (u64, u64, i64) {
    (data.dev(), data.ino(), data.mtime())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_replaced_once_another_file_stands_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        fs::write(&path, "one").unwrap();
        let program = Program { path: path.clone(), identity: identity(&fs::metadata(&path).unwrap()) };
        assert!(!program.is_replaced());
        // While it is being replaced there is none.
        fs::rename(&path, folder.path().join("old")).unwrap();
        assert!(!program.is_replaced());
        fs::write(&path, "two").unwrap();
        assert!(program.is_replaced());
    }
}

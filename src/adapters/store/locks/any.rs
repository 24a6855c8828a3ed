//! Whether somebody works with a state folder whose store cannot be opened.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// Whether a program holds a lock of this state folder, for a store that cannot be opened.
pub fn is_any_held(folder: &Path) -> io::Result<bool> {
    let entries = match fs::read_dir(folder.join("locks")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        // Those that say nothing of runs are held for a moment only.
        if entry.file_type()?.is_file() && matches!(File::open(entry.path())?.try_lock(), Err(TryLockError::WouldBlock))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

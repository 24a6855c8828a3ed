//! Whether somebody works with a state folder whose store cannot be opened.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// Whether a program holds a lock of this state folder, for a store that cannot be opened.
pub fn is_any_held(folder: &Path) -> io::Result<bool> {
    is_held(folder, |_| true)
}

/// Whether a program works on a ticket, this one too and whatever the store knows of its run.
pub fn is_any_ticket_held(folder: &Path) -> io::Result<bool> {
    is_held(folder, |name| name.starts_with("ticket-"))
}

fn is_held(folder: &Path, counts: impl Fn(&str) -> bool) -> io::Result<bool> {
    let entries = match fs::read_dir(folder.join("locks")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        // Those that say nothing of runs are held for a moment only.
        let counts = entry.file_type()?.is_file() && counts(&entry.file_name().to_string_lossy());
        if counts && matches!(File::open(entry.path())?.try_lock(), Err(TryLockError::WouldBlock)) {
            return Ok(true);
        }
    }
    Ok(false)
}

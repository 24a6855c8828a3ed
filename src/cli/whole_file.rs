//! A file for other programs to read, replaced in one step: they see the old text or the new one.

use super::error::CliError;
use crate::adapters::beside;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes it, for users of these permissions.
pub fn write(path: &Path, text: &str, mode: u32) -> Result<(), CliError> {
    let write = || -> io::Result<()> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let mut file = beside::file(path)?;
        file.write_all(text.as_bytes())?;
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| CliError::cannot_write(path, &error))
}

//! What differs between systems for the store: who may read a file, whose it is, reading at an offset.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Creates a folder and what is missing above it, for the person alone (0700).
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    builder.mode(0o700);
    builder.create(path)
}

/// Options that create a file for the person alone (0600).
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Opens a file for a lock on it, created when missing; a link is not followed, and a pipe does not hold us up.
pub(super) fn lock_file(path: &Path) -> io::Result<File> {
    let mut options = private_file();
    options.read(true).write(true).create(true).truncate(false);
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed());
    options.open(path)
}

/// Takes away what others may do with a file of ours.
pub(super) fn make_private(file: &File) -> io::Result<()> {
    if MetadataExt::mode(&file.metadata()?) & 0o077 != 0 {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    Ok(())
}

/// Opens a person's file for a lock on it; a pipe of that name does not hold us up.
pub(super) fn open_to_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    options.open(path)
}

/// The thread works when nobody else wants to. Where a thread has no priority of its own, nothing happens.
pub(super) fn yield_to_others() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(19);
}

/// Which file it is, whatever its name: equal for one file only, as long as it is open or has a name.
pub(super) fn identity(metadata: &Metadata) -> (u64, u64) {
    (MetadataExt::dev(metadata), MetadataExt::ino(metadata))
}

/// The file belongs to the user that runs this program.
pub(super) fn is_ours(metadata: &Metadata) -> bool {
    MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw()
}

pub(super) fn others_may_write(metadata: &Metadata) -> bool {
    MetadataExt::mode(metadata) & 0o022 != 0
}

/// Reads at most `buffer.len()` bytes at `offset`, without moving a cursor that others share.
pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// Makes names in a folder durable.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

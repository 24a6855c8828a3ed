//! The operating system's part in handling ticket files: swapping two files, opening without hanging,
//! copying what a file carries besides its bytes.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// How a new file came into its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swapped {
    /// The two files changed names in one step: the old one is now where the new one was.
    Exchanged,
    /// The new file took the place of the old one, which has no name any more: this file system cannot exchange.
    Replaced,
}

/// Puts `new` in the place of `target`, which must exist.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub fn swap(new: &Path, target: &Path) -> io::Result<Swapped> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(Swapped::Exchanged),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => replace(new, target),
        Err(error) => Err(error.into()),
    }
}

/// Puts `new` in the place of `target`, which must exist.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub fn swap(new: &Path, target: &Path) -> io::Result<Swapped> {
    replace(new, target)
}

fn replace(new: &Path, target: &Path) -> io::Result<Swapped> {
    // A deleted file is not brought back; between this look and the rename nothing better can be had here.
    std::fs::symlink_metadata(target)?;
    std::fs::rename(new, target)?;
    Ok(Swapped::Replaced)
}

/// Opens for reading; never waits for the other end of a pipe.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

/// Gives `new` the mode, owner and extended attributes of `old`, as far as we may.
pub fn copy_attributes(old: &File, new: &File) -> io::Result<()> {
    let from = old.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let to = new.metadata()?;
        if (from.uid(), from.gid()) != (to.uid(), to.gid()) {
            // Only a privileged process may give files away; the content matters more than the owner.
            let _ = fchown(new, Some(from.uid()), Some(from.gid())).or_else(|_| fchown(new, None, Some(from.gid())));
        }
    }
    // After the owner: changing that clears the set-id bits.
    new.set_permissions(from.permissions())?;
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    copy_extended(old, new);
    Ok(())
}

/// Access lists and labels; file systems without them are no error.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn copy_extended(old: &File, new: &File) {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
    let mut names = vec![0_u8; 64 * 1024];
    let Ok(length) = flistxattr(old, names.as_mut_slice()) else {
        return;
    };
    for name in names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; 64 * 1024];
        if let Ok(length) = fgetxattr(old, name, value.as_mut_slice()) {
            let _ = fsetxattr(new, name, &value[..length], XattrFlags::empty());
        }
    }
}

/// What tells one file from another, whatever its name: device and number.
#[cfg(unix)]
pub fn identity(file: &File) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let about = file.metadata()?;
    Ok((about.dev(), about.ino()))
}

/// Names that this file has.
pub fn link_count(file: &File) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        file.metadata().map_or(1, |about| about.nlink())
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        1
    }
}

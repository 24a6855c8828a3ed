//! The operating system's part in handling ticket files: files of one folder, reached without following a link,
//! swapped, opened without hanging, and what a file carries besides its bytes.

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::fs::{accessat, openat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

/// How a new file came into its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swapped {
    /// The two files changed names in one step: the old one is now where the new one was.
    Exchanged,
    /// The new file took the place of the old one, which has no name any more: this file system cannot exchange.
    Replaced,
}

/// A folder that is held open: its files are reached by their names in it, whatever becomes of the way to it.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// The folder of the file at `path`. A link anywhere on the way is not followed ([`is_link`]).
    pub fn of(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self(open_folder(folder)?))
    }

    /// What has this name; a link is a link.
    pub fn kind(&self, path: &Path) -> io::Result<FileType> {
        Ok(FileType::from_raw_mode(statat(&self.0, name(path)?, AtFlags::SYMLINK_NOFOLLOW)?.st_mode))
    }

    /// Opens for reading; never waits for the other end of a pipe, never follows a link.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(openat(&self.0, name(path)?, flags, Mode::empty())?.into())
    }

    /// Makes a file, which must not exist, for writing.
    pub fn create(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.0, name(path)?, flags, Mode::from_raw_mode(0o666))?.into())
    }

    /// The person means this file to be written: it has a write bit, and it holds for us.
    pub fn is_writable(&self, path: &Path) -> io::Result<bool> {
        let about = statat(&self.0, name(path)?, AtFlags::SYMLINK_NOFOLLOW)?;
        // The superuser may write anything; the bits still say what is meant.
        let meant = Mode::from_raw_mode(about.st_mode).intersects(Mode::WUSR | Mode::WGRP | Mode::WOTH);
        Ok(meant && accessat(&self.0, name(path)?, Access::WRITE_OK, AtFlags::EACCESS).is_ok())
    }

    /// Puts `new` in the place of `target`, which must exist.
    pub fn swap(&self, new: &Path, target: &Path) -> io::Result<Swapped> {
        let (new, target) = (name(new)?, name(target)?);
        match renameat_with(&self.0, new, &self.0, target, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(Swapped::Exchanged),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                // A deleted file is not brought back; between this look and the rename nothing better can be had here.
                statat(&self.0, target, AtFlags::SYMLINK_NOFOLLOW)?;
                renameat(&self.0, new, &self.0, target)?;
                Ok(Swapped::Replaced)
            }
            Err(error) => Err(error.into()),
        }
    }

    pub fn remove(&self, path: &Path) -> io::Result<()> {
        Ok(unlinkat(&self.0, name(path)?, AtFlags::empty())?)
    }

    /// Another hold on it.
    pub fn again(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Makes the names in it safe.
    pub fn sync(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        File::from(openat(&self.0, ".", flags, Mode::empty())?).sync_all()
    }
}

fn name(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// The error says that a link is on the way.
pub fn is_link(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::LOOP)
}

/// The system refuses every link on the way.
#[cfg(target_vendor = "apple")]
fn open_folder(path: &Path) -> rustix::io::Result<OwnedFd> {
    // `O_NOFOLLOW_ANY`, which rustix has no name for.
    let no_links = OFlags::from_bits_retain(0x2000_0000);
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | no_links, Mode::empty())
}

/// Steps down one folder after another; none of them may be a link.
#[cfg(not(target_vendor = "apple"))]
fn open_folder(path: &Path) -> rustix::io::Result<OwnedFd> {
    use std::path::Component;
    // Nothing is read from the folders, so they need not be readable.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let how = OFlags::PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let how = OFlags::RDONLY;
    let flags = how | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = openat(CWD, if path.is_absolute() { "/" } else { "." }, flags, Mode::empty())?;
    for step in path.components() {
        let name = match step {
            Component::Normal(name) => name,
            Component::ParentDir => OsStr::new(".."),
            _ => continue,
        };
        folder = openat(&folder, name, flags, Mode::empty()).map_err(|error| {
            let about = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|about| about.st_mode);
            let link = about.is_ok_and(|mode| FileType::from_raw_mode(mode).is_symlink());
            if link { Errno::LOOP } else { error }
        })?;
    }
    Ok(folder)
}

/// Gives `new` the mode, owner and extended attributes of `old`, as far as we may.
pub fn copy_attributes(old: &File, new: &File) -> io::Result<()> {
    let from = old.metadata()?;
    let to = new.metadata()?;
    if (from.uid(), from.gid()) != (to.uid(), to.gid()) {
        // Only a privileged process may give files away; the content matters more than the owner.
        let _ = fchown(new, Some(from.uid()), Some(from.gid())).or_else(|_| fchown(new, None, Some(from.gid())));
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
    let Ok(length) = flistxattr(old, names.as_mut_slice()) else { return };
    for name in names[..length].split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; 64 * 1024];
        if let Ok(length) = fgetxattr(old, name, value.as_mut_slice()) {
            let _ = fsetxattr(new, name, &value[..length], XattrFlags::empty());
        }
    }
}

/// What tells one file from another, whatever its name: device and number.
pub fn identity(file: &File) -> io::Result<(u64, u64)> {
    let about = file.metadata()?;
    Ok((about.dev(), about.ino()))
}

pub fn link_count(file: &File) -> u64 {
    file.metadata().map_or(1, |about| about.nlink())
}

//! What a new worktree gets beside its files: folders that builds have filled, as copies that share their contents on the
//! disk until one of both is written to, and files of the person's.
//!
//! Nothing is linked: what is written to a copy never changes the original. Where the file system cannot share contents, no
//! folder is copied. A folder has its name when it is whole.

use std::fs::{self, File, FileTimes};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use tempfile::TempPath;

/// Largest file of the person's that is copied.
const LARGEST: u64 = 10 << 20;

/// What became of a folder or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    Done,
    /// There is no such thing, or the worktree has one.
    Nothing,
    /// The file system does not share contents.
    Unshared,
}

/// Makes a file that shares its contents with another.
type Share<'a> = dyn Fn(&Path, &Path) -> io::Result<()> + 'a;

/// Copies a folder. `partial`: where it is made, on the same file system; what is there is removed.
pub fn folder(from: &Path, to: &Path, partial: &Path) -> io::Result<Copied> {
    folder_by(&share, from, to, partial)
}

fn folder_by(share: &Share<'_>, from: &Path, to: &Path, partial: &Path) -> io::Result<Copied> {
    let is_folder = fs::symlink_metadata(from).is_ok_and(|data| data.is_dir());
    if !is_folder || fs::symlink_metadata(to).is_ok() {
        return Ok(Copied::Nothing);
    }
    clear(partial)?;
    let mut shared = 0;
    match below(share, from, partial, 0, &mut shared) {
        Ok(()) => fs::rename(partial, to).map(|()| Copied::Done),
        Err(error) => {
            clear(partial)?;
            // The first file shows whether it can be done at all.
            if shared == 0 { Ok(Copied::Unshared) } else { Err(error) }
        }
    }
}

fn below(share: &Share<'_>, from: &Path, to: &Path, depth: usize, shared: &mut u64) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let (from, to) = (entry.path(), to.join(&name));
        if kind.is_dir() && name != ".venv" {
            below(share, &from, &to, depth + 1, shared)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&from)?;
            if stays_inside(&target, depth) {
                std::os::unix::fs::symlink(target, to)?;
            }
        } else if kind.is_file() {
            share(&from, &to)?;
            *shared += 1;
            like(&from, &to)?;
        }
    }
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}

/// Builds go by the times of files.
fn like(from: &Path, to: &Path) -> io::Result<()> {
    let data = fs::metadata(from)?;
    let file = File::options().write(true).open(to)?;
    file.set_times(FileTimes::new().set_modified(data.modified()?))?;
    file.set_permissions(data.permissions())
}

/// A link in a folder so deep leads to something that is copied with it.
fn stays_inside(target: &Path, depth: usize) -> bool {
    let mut at = Some(depth);
    for part in target.components() {
        at = match part {
            Component::Normal(_) => at.map(|at| at + 1),
            Component::CurDir => at,
            Component::ParentDir => at.and_then(|at| at.checked_sub(1)),
            Component::RootDir | Component::Prefix(_) => None,
        };
        if at.is_none() {
            return false;
        }
    }
    true
}

/// Where what is copied into a worktree is made until it is whole: beside it, where no commit takes it along.
pub fn partial(top: &Path) -> PathBuf {
    let name = top.file_name().unwrap_or_default().to_string_lossy();
    top.with_file_name(format!(".{name}.partial"))
}

/// Removes what a killed program has left there.
pub fn clear(partial: &Path) -> io::Result<()> {
    let is_folder = fs::symlink_metadata(partial).is_ok_and(|data| data.is_dir());
    match if is_folder { fs::remove_dir_all(partial) } else { fs::remove_file(partial) } {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies a file of the person's to the same place in a worktree, with its contents and permissions.
pub fn file(home_top: &Path, top: &Path, name: &Path) -> io::Result<Copied> {
    file_by(home_top, top, name, &|from, to| fs::copy(from, to).map(drop))
}

fn file_by(home_top: &Path, top: &Path, name: &Path, copy: &Share<'_>) -> io::Result<Copied> {
    let (from, to) = (home_top.join(name), top.join(name));
    let Ok(data) = fs::metadata(&from) else { return Ok(Copied::Nothing) };
    if fs::symlink_metadata(&to).is_ok() {
        return Ok(Copied::Nothing);
    }
    if !data.is_file() || data.len() > LARGEST {
        return Err(io::Error::other("larger than 10 MiB"));
    }
    let mut folder = top.to_owned();
    for part in name.parent().unwrap_or(Path::new("")).components() {
        folder.push(part);
        match fs::symlink_metadata(&folder) {
            Ok(data) if data.is_dir() => {}
            // A link of the repository's leads anywhere.
            Ok(_) => return Err(io::Error::other(format!("{} is not a folder", folder.display()))),
            Err(_) => fs::create_dir(&folder)?,
        }
    }
    let partial = partial(top);
    clear(&partial)?;
    let made = File::options().write(true).create_new(true).mode(0o600).open(&partial)?;
    let whole = TempPath::try_from_path(&partial)?;
    copy(&from, &partial)?;
    made.sync_all()?;
    whole.persist_noclobber(&to)?;
    Ok(Copied::Done)
}

#[cfg(target_os = "linux")]
fn share(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (File::open(from)?, File::create_new(to)?);
    Ok(rustix::fs::ioctl_ficlone(&to, &from)?)
}

#[cfg(target_os = "macos")]
fn share(from: &Path, to: &Path) -> io::Result<()> {
    let flags = rustix::fs::CloneFlags::NOFOLLOW;
    Ok(rustix::fs::fclonefileat(File::open(from)?, rustix::fs::CWD, to, flags)?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn share(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::{Duration, SystemTime};

    fn copying(from: &Path, to: &Path) -> io::Result<()> {
        fs::copy(from, to).map(drop)
    }

    #[test]
    fn a_folder_is_copied_whole_and_links_out_of_it_are_left_out() {
        let temp = tempfile::tempdir().unwrap();
        let (from, to, partial) = (temp.path().join("from"), temp.path().join("to"), temp.path().join("partial"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::create_dir_all(from.join(".venv/bin")).unwrap();
        fs::write(from.join("a/b/tool"), "tool").unwrap();
        fs::set_permissions(from.join("a/b/tool"), fs::Permissions::from_mode(0o755)).unwrap();
        let old = SystemTime::now() - Duration::from_secs(5_000);
        File::options().write(true).open(from.join("a/b/tool")).unwrap().set_modified(old).unwrap();
        for (target, name) in [("b/tool", "in"), ("../a/b", "up"), ("../../out", "out"), ("/etc", "root")] {
            symlink(target, from.join("a").join(name)).unwrap();
        }
        // A killed program's.
        fs::create_dir_all(partial.join("rest")).unwrap();
        assert_eq!(folder_by(&copying, &from, &to, &partial).unwrap(), Copied::Done);
        let data = fs::metadata(to.join("a/b/tool")).unwrap();
        assert_eq!((data.permissions().mode() & 0o777, data.modified().unwrap()), (0o755, old));
        let there = |name: &str| fs::symlink_metadata(to.join("a").join(name)).is_ok();
        assert_eq!(["in", "up", "out", "root"].map(there), [true, true, false, false]);
        assert!(!to.join("rest").exists() && !to.join(".venv").exists() && !partial.exists());
        assert_eq!(folder_by(&copying, &from, &to, &partial).unwrap(), Copied::Nothing, "one is there");
    }

    #[test]
    fn where_nothing_can_be_shared_nothing_is_copied_and_half_a_copy_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let (from, to, partial) = (temp.path().join("from"), temp.path().join("to"), temp.path().join("partial"));
        fs::create_dir(&from).unwrap();
        for name in ["1", "2", "3"] {
            fs::write(from.join(name), name).unwrap();
        }
        let never = |_: &Path, _: &Path| Err(io::ErrorKind::Unsupported.into());
        assert_eq!(folder_by(&never, &from, &to, &partial).unwrap(), Copied::Unshared);
        let once = std::cell::Cell::new(true);
        let full = |from: &Path, to: &Path| if once.replace(false) { copying(from, to) } else { never(from, to) };
        folder_by(&full, &from, &to, &partial).unwrap_err();
        assert!(!to.exists() && !partial.exists());
        assert_eq!(folder_by(&copying, &from.join("1"), &to, &partial).unwrap(), Copied::Nothing, "no folder");
    }

    #[test]
    fn a_file_of_the_persons_is_copied_with_its_permissions_and_through_no_link() {
        let temp = tempfile::tempdir().unwrap();
        let (home, top) = (temp.path().join("home"), temp.path().join("top"));
        fs::create_dir_all(home.join("deep/down")).unwrap();
        fs::create_dir_all(&top).unwrap();
        fs::write(home.join("deep/down/.env"), "KEY=1").unwrap();
        fs::set_permissions(home.join("deep/down/.env"), fs::Permissions::from_mode(0o600)).unwrap();
        let name = Path::new("deep/down/.env");
        // Killed, it leaves nothing in the worktree, and what it leaves beside it is not in the way.
        let never_ends = |from: &Path, to: &Path| {
            fs::copy(from, to)?;
            assert_eq!(fs::read_dir(top.join("deep/down"))?.count(), 0);
            assert_eq!(fs::metadata(to)?.permissions().mode() & 0o777, 0o600);
            Err(io::ErrorKind::StorageFull.into())
        };
        file_by(&home, &top, name, &never_ends).unwrap_err();
        assert!(!partial(&top).exists());
        fs::write(partial(&top), "KE").unwrap();
        assert_eq!(file(&home, &top, name).unwrap(), Copied::Done);
        let copy = top.join(name);
        assert_eq!(fs::read_to_string(&copy).unwrap(), "KEY=1");
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(file(&home, &top, name).unwrap(), Copied::Nothing);
        assert_eq!(file(&home, &top, Path::new("none")).unwrap(), Copied::Nothing);

        fs::create_dir(temp.path().join("out")).unwrap();
        fs::remove_dir_all(top.join("deep")).unwrap();
        symlink(temp.path().join("out"), top.join("deep")).unwrap();
        assert!(file(&home, &top, name).unwrap_err().to_string().contains("is not a folder"));
        assert!(!temp.path().join("out/down").exists());
    }
}

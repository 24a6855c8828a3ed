//! Puts another state folder in the place of the present one, which is kept beside it.

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// What is of this machine and no backup has: it goes on.
const OWN: [&str; 4] = ["lockout.json", "trust.json", "away.json", "away-scope.json"];

/// A file in a new state folder that is not in its place yet.
const UNPLACED: &str = "not-restored-yet";

/// It is a new state folder that did not get to its place.
pub fn is_unplaced(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(UNPLACED)).is_ok()
}

/// Folders of what has happened outside, which no backup takes back: what issues were told of, what an import still owes, which
/// Claude sessions of the person's own are at work, what the person has typed and not sent yet.
const HAPPENED: [&str; 4] = ["sources", "imports", "hooks", "unsent"];

/// Gives the new folder what is of this machine, and what has happened since the backup.
pub fn carry_over(from: &Path, to: &Path) -> io::Result<()> {
    OWN.iter().try_for_each(|name| copy_file(&from.join(name), &to.join(name)))?;
    HAPPENED.iter().try_for_each(|name| copy_files(&from.join(name), &to.join(name)))
}

/// Copies a plain file, if it is one.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(from).is_ok_and(|data| data.is_file()) { fs::copy(from, to).map(drop) } else { Ok(()) }
}

/// Copies the files of a folder and of those in it over what is there. Links are not followed.
fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(from).is_ok_and(|data| data.is_dir()) {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        copy_files(&entry, &to.join(&name))?;
        copy_file(&entry, &to.join(&name))?;
    }
    Ok(())
}

/// Has `new` stand where `present` stands, in one step where the system can; gives where that is now. `aside`: a name that is
/// free. Both are in one folder.
pub fn swap(new: &Path, present: &Path, aside: &Path) -> io::Result<Option<PathBuf>> {
    // Whatever was written there is on the disk before it counts.
    rustix::fs::sync();
    if fs::symlink_metadata(present).is_err() {
        fs::rename(new, present)?;
        return Ok(None);
    }
    // Of one that was killed right behind its step; where it stayed, the state would be taken for something unfinished.
    match fs::remove_file(present.join(UNPLACED)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // At no moment is the present one where it could be taken for something unfinished. Who is killed before it has made room
    // leaves the new one there, which says so.
    fs::write(new.join(UNPLACED), "")?;
    fs::rename(new, aside)?;
    match renameat_with(CWD, aside, CWD, present, RenameFlags::EXCHANGE) {
        Ok(()) => {
            // Where it is left it says nothing any more.
            let _ = fs::remove_file(present.join(UNPLACED));
            Ok(Some(aside.to_owned()))
        }
        Err(error) => {
            fs::rename(aside, new)?;
            if !matches!(error, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) {
                return Err(error.into());
            }
            fs::remove_file(new.join(UNPLACED))?;
            fs::rename(present, aside)?;
            if let Err(error) = fs::rename(new, present) {
                fs::rename(aside, present)
                    .map_err(|_| io::Error::other(format!("{error}; the previous state is in {}", aside.display())))?;
                return Err(error);
            }
            Ok(Some(aside.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_before_is_kept_and_what_is_of_this_machine_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("new")).unwrap();
        fs::write(at("new/file"), "new").unwrap();
        assert_eq!(swap(&at("new"), &at("state"), &at("aside")).unwrap(), None);
        fs::write(at("state/lockout.json"), "{}").unwrap();
        fs::write(at("state/away-scope.json"), "muted").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", at("state/trust.json")).unwrap();
        // Who was killed right behind its step has left its mark: the state is no less in its place.
        fs::write(at("state").join(UNPLACED), "").unwrap();
        fs::create_dir_all(at("state/sources")).unwrap();
        fs::write(at("state/sources/t.json"), "sent").unwrap();
        fs::create_dir_all(at("new/sources")).unwrap();
        fs::write(at("new/sources/t.json"), "not yet").unwrap();
        fs::write(at("new/sources/u.json"), "of the backup").unwrap();
        fs::create_dir(at("state/unsent")).unwrap();
        fs::write(at("state/unsent/a.json"), "typed").unwrap();
        carry_over(&at("state"), &at("new")).unwrap();
        assert_eq!(swap(&at("new"), &at("state"), &at("aside")).unwrap(), Some(at("aside")));
        assert_eq!(fs::read_to_string(at("aside/file")).unwrap(), "new");
        assert!(!is_unplaced(&at("state")) && !is_unplaced(&at("aside")));
        assert_eq!(fs::read_to_string(at("state/lockout.json")).unwrap(), "{}");
        assert_eq!(fs::read_to_string(at("state/away-scope.json")).unwrap(), "muted");
        assert_eq!(fs::read_to_string(at("state/sources/t.json")).unwrap(), "sent", "what was sent is not taken back");
        assert_eq!(fs::read_to_string(at("state/sources/u.json")).unwrap(), "of the backup");
        assert_eq!(fs::read_to_string(at("state/unsent/a.json")).unwrap(), "typed");
        assert!(!at("state/file").exists() && !at("state/trust.json").exists() && !at("new").exists());
    }

    #[test]
    fn a_state_that_would_be_taken_for_something_unfinished_is_not_swapped() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("new")).unwrap();
        // A folder cannot be removed as the mark is.
        fs::create_dir_all(at("state").join(UNPLACED)).unwrap();
        assert!(swap(&at("new"), &at("state"), &at("aside")).is_err());
        assert!(at("new").exists() && !at("aside").exists());
    }
}

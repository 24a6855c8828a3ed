//! Puts another state folder in the place of the present one, which is kept beside it.

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is of this machine and no backup has: it goes on.
const OWN: [&str; 4] = ["lockout.json", "trust.json", "away.json", "away-scope.json"];

/// Gives the new folder what is of this machine.
pub fn carry_over(from: &Path, to: &Path) -> io::Result<()> {
    for name in OWN {
        let file = from.join(name);
        if fs::symlink_metadata(&file).is_ok_and(|data| data.is_file()) {
            fs::copy(&file, to.join(name))?;
        }
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
    // At no moment is the present one where it could be taken for something unfinished.
    fs::rename(new, aside)?;
    match renameat_with(CWD, aside, CWD, present, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(Some(aside.to_owned())),
        Err(error) => {
            fs::rename(aside, new)?;
            if !matches!(error, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) {
                return Err(error.into());
            }
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
        fs::create_dir(at("new")).unwrap();
        carry_over(&at("state"), &at("new")).unwrap();
        assert_eq!(swap(&at("new"), &at("state"), &at("aside")).unwrap(), Some(at("aside")));
        assert_eq!(fs::read_to_string(at("aside/file")).unwrap(), "new");
        assert_eq!(fs::read_to_string(at("state/lockout.json")).unwrap(), "{}");
        assert_eq!(fs::read_to_string(at("state/away-scope.json")).unwrap(), "muted");
        assert!(!at("state/file").exists() && !at("state/trust.json").exists() && !at("new").exists());
    }
}

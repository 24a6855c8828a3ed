//! The file for the lock on a working directory that goes with the folder itself, whatever state folder a program has: in the
//! repository's git folder, else in the folder's `.programmator`. Nothing of either is evidence, and nobody else locks it.

use super::os;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Opens the file, created when missing. It stays empty, and is never removed.
pub(super) fn open(folder: &Path) -> io::Result<File> {
    let folder = fs::canonicalize(folder)?;
    let of_top = |top: &Path| Some((git_folder(top)?, name("programmator", folder.strip_prefix(top).ok()?)));
    if let Some((git, name)) = folder.ancestors().find_map(of_top) {
        return os::lock_file(&git.join(name));
    }
    let ours = folder.join(".programmator");
    os::create_folder(&ours)?;
    os::lock_file(&ours.join("lock"))
}

/// The git folder of the working tree whose top this is.
fn git_folder(top: &Path) -> Option<PathBuf> {
    let found = top.join(".git");
    let git = if found.is_file() {
        let mut text = String::new();
        File::open(&found).ok()?.take(4_096).read_to_string(&mut text).ok()?;
        top.join(text.strip_prefix("gitdir:")?.trim())
    } else {
        found
    };
    git.join("HEAD").symlink_metadata().is_ok().then_some(git)
}

pub(super) fn name(kind: &str, what: &Path) -> String {
    let mut name = format!("{kind}-");
    for byte in Sha256::digest(what.as_os_str().as_encoded_bytes()) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

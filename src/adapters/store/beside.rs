//! The file for the lock on a working directory that goes with the folder itself, whatever state folder a program has: in the
//! repository's git folder, else in the folder's `.programmator`. Nothing of either is evidence, and nobody else locks it.
//! Where the folder becomes a repository later, git is not to show the lock: a `.gitignore` beside it says so of these two
//! files alone, for what people put there is theirs to commit.

use super::os;
use crate::base::hex::hex;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

/// Opens the file, created when missing. It stays empty, and is never removed.
pub(super) fn open(folder: &Path) -> io::Result<File> {
    let folder = fs::canonicalize(folder)?;
    let of_top = |top: &Path| Some((git_folder(top)?, name("programmator", folder.strip_prefix(top).ok()?)));
    let ours = folder.join(".programmator");
    if let Some((git, name)) = folder.ancestors().find_map(of_top) {
        if ours.join(LOCK).exists() {
            hide(&ours);
        }
        return os::lock_file(&git.join(name));
    }
    os::create_folder(&ours)?;
    hide(&ours);
    os::lock_file(&ours.join(LOCK))
}

const LOCK: &str = "lock";

/// One that a person has written stays as it is.
fn hide(ours: &Path) {
    let file = File::create_new(ours.join(".gitignore"));
    let written = file.and_then(|mut file| file.write_all(format!("/.gitignore\n/{LOCK}\n").as_bytes()));
    if let Err(error) = written
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        tracing::warn!(%error, "git will show the lock of the folder");
    }
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
    format!("{kind}-{}", hex(&Sha256::digest(what.as_os_str().as_encoded_bytes())))
}

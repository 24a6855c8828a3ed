//! Refs that are read and written as the files that they are: no process is started for them. Where a repository keeps
//! them otherwise, or anything is unusual, git is asked.

use super::error::EvidenceError;
use super::repository::Repository;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// A lock of this age belongs to a program that was killed.
const STALE: Duration = Duration::from_secs(60);

/// The commit of HEAD; `None` when there is none yet.
pub(super) async fn head(repository: &Repository) -> Result<Option<String>, EvidenceError> {
    match repository.ref_files.then(|| read_head(repository)).flatten() {
        Some(known) => Ok(Some(known)),
        None => repository.head().await,
    }
}

/// Makes a ref of ours, below `refs/programmator`, say this.
pub(super) async fn set(repository: &Repository, reference: &str, id: &str) -> Result<(), EvidenceError> {
    if repository.ref_files {
        let (folder, name, text) = (repository.common_dir.clone(), reference.to_owned(), format!("{id}\n"));
        let written = tokio::task::spawn_blocking(move || write(&folder, &name, &text, false)).await;
        if matches!(written, Ok(Ok(()))) {
            return Ok(());
        }
    }
    repository.git("update-ref").args([reference, id]).ok().await.map(drop)
}

/// The same with one that must not be there yet; whether it was not.
pub(super) async fn create(repository: &Repository, reference: &str, id: &str) -> Result<bool, EvidenceError> {
    if repository.ref_files {
        let (folder, name, text) = (repository.common_dir.clone(), reference.to_owned(), format!("{id}\n"));
        match tokio::task::spawn_blocking(move || write(&folder, &name, &text, true)).await {
            Ok(Ok(())) => return Ok(true),
            Ok(Err(error)) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            _ => {}
        }
    }
    // Nothing for its value before: it has none.
    match repository.git("update-ref").args([reference, id, ""]).ok().await {
        Ok(_) => Ok(true),
        Err(error) => {
            let known = repository.git("rev-parse").args(["--verify", "--quiet", reference]).run().await?;
            if known.code == Some(0) { Ok(false) } else { Err(error) }
        }
    }
}

fn read_head(repository: &Repository) -> Option<String> {
    let id = |text: &str| {
        let digits = if repository.object_format == "sha256" { 64 } else { 40 };
        (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
    };
    let head = fs::read_to_string(repository.git_dir.join("HEAD")).ok()?;
    let Some(branch) = head.trim_end().strip_prefix("ref: ") else { return id(head.trim_end()) };
    // Others may be another working tree's own.
    let branch = branch.strip_prefix("refs/heads/").map(|_| branch)?;
    match fs::read_to_string(repository.common_dir.join(branch)) {
        Ok(text) => id(text.trim_end()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let packed = fs::read_to_string(repository.common_dir.join("packed-refs")).ok()?;
            packed.lines().find_map(|line| id(line.strip_suffix(branch)?.strip_suffix(' ')?))
        }
        Err(_) => None,
    }
}

/// A file beside the ref takes its name. It is not the lock that git would take: nobody else writes our refs, and a lock
/// that a killed program left would be in the way of all that came after. Git takes no name with a dot before it for a ref.
fn write(folder: &Path, reference: &str, text: &str, is_new: bool) -> io::Result<()> {
    let path = folder.join(reference);
    let beside = path.parent().unwrap_or(folder);
    fs::create_dir_all(beside)?;
    let mut file =
        tempfile::Builder::new().prefix(".new-").permissions(Permissions::from_mode(0o666)).tempfile_in(beside)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_data()?;
    if is_new {
        file.persist_noclobber(&path)?;
    } else {
        file.persist(&path)?;
    }
    // Earlier versions left it.
    let lock = folder.join(format!("{reference}.lock"));
    let age = fs::metadata(&lock).and_then(|data| data.modified()).map(|time| time.elapsed().unwrap_or_default());
    if age.is_ok_and(|age| age > STALE) {
        let _ = fs::remove_file(lock);
    }
    Ok(())
}

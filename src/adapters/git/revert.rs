//! Taking back one hunk of a changed file: only where it still stands as it was shown, and after the present was saved.

use super::changes::{Patch, hunks, patch};
use super::error::EvidenceError;
use super::folder::hex;
use super::paths::{self, Excludes};
use super::repository::Repository;
use super::restore;
use super::scratch::{self, Objects, Scratch};
use super::snapshot::SnapshotId;
use crate::base::id::TicketId;
use crate::domain::changes::{Hunk, RevertIntended};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A hunk that is to be taken back.
#[derive(Clone, Copy)]
pub struct Revert<'a> {
    pub ticket: &'a TicketId,
    pub from: &'a SnapshotId,
    /// `from` is a commit, and has the files as git stores them.
    pub is_commit: bool,
    pub path: &'a str,
    /// As it was shown.
    pub hunk: &'a Hunk,
}

/// A hunk that can be taken back: the state before is saved, and nothing is written yet.
pub struct Ready {
    pub file: PathBuf,
    /// What a person calls the snapshot of the state before.
    pub saved: String,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Ready {
    /// Of the file's content before and after.
    pub fn digests(&self) -> (String, String) {
        (digest(&self.before), digest(&self.after))
    }

    /// Takes the hunk back. Words for the person where nothing was written.
    pub fn write(self) -> Result<(), String> {
        if read(&self.file)? != self.before {
            return Err(CHANGED.to_owned());
        }
        write(&self.file, &self.after).map_err(|error| format!("the file cannot be written: {error}"))
    }
}

/// Whether a hunk was taken back, by whoever was ended while it did that; words for the person where it was not.
pub fn came_of(intended: &RevertIntended) -> Result<(), String> {
    let now = fs::read(&intended.file).map(|bytes| digest(&bytes)).unwrap_or_default();
    if now == intended.after {
        Ok(())
    } else if now == intended.before {
        Err("programmator ended before it was written; the file is as it was".to_owned())
    } else {
        let RevertIntended { saved, .. } = intended;
        Err(format!(
            "programmator ended meanwhile and the file has changed: look at it; snapshot {saved} has it from before"
        ))
    }
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Looks whether the hunk can be taken back, and saves the present. Words for the person where it cannot.
pub(super) async fn prepare(
    repository: &Arc<Repository>,
    wanted: &Revert<'_>,
    exclude: &Excludes,
) -> Result<Ready, String> {
    let Revert { ticket, from, is_commit, path, hunk } = *wanted;
    let words = |error: EvidenceError| error.to_string();
    let present = scratch::stage(repository, exclude, Objects::Kept).await.map_err(words)?;
    let Some(Patch { text, is_cut, file }) = patch(&present.scratch, from, &present.tree, path).await.map_err(words)?
    else {
        return Err(CHANGED.to_owned());
    };
    if !matches!(file.status, b'M' | b'R') {
        return Err("a file that is new, gone or another kind of file cannot be reverted by hunks".to_owned());
    }
    let shown = hunks(&text, is_cut, &file.path).hunks;
    let Some(at) = shown.iter().position(|now| now == hunk) else { return Err(CHANGED.to_owned()) };
    if is_cut && at + 1 == shown.len() {
        return Err("the diff is truncated there: revert it in the editor".to_owned());
    }
    let raw = raw(&text).into_iter().nth(at).ok_or(CHANGED)?;
    let relative = paths::path(&file.path);
    restore::reachable(&repository.top, &relative)?;
    let (name, file) = (file.path, repository.top.join(relative));
    let before = read(&file)?;
    if is_commit && let Some(by) = converted(repository, &present.scratch, &name, &before).await.map_err(words)? {
        return Err(format!("git stores this file in another form than the disk has ({by}): revert it in the editor"));
    }
    let after = raw.taken_back(&before).ok_or(CHANGED)?;
    let (saved, _) = restore::save(repository, ticket, &present).await.map_err(words)?;
    Ok(Ready { file, saved, before, after })
}

const CHANGED: &str = "the file has changed since this was shown: look at it again";

/// What makes git store this content of the file otherwise than it is on the disk.
async fn converted(
    repository: &Repository,
    scratch: &Scratch,
    path: &[u8],
    content: &[u8],
) -> Result<Option<&'static str>, EvidenceError> {
    for name in ["filter", "ident", "working-tree-encoding"] {
        if !scratch.converted([path], &[name]).await?.is_empty() {
            return Ok(Some(name));
        }
    }
    if !content.windows(2).any(|two| two == b"\r\n") {
        return Ok(None);
    }
    if repository.autocrlf || repository.converts_all {
        return Ok(Some("core.autocrlf or core.eol"));
    }
    let attributes = scratch.converted([path], &["text", "eol"]).await?;
    Ok((!attributes.is_empty()).then_some("line ends in .gitattributes"))
}

/// Of a plain file.
fn read(file: &Path) -> Result<Vec<u8>, String> {
    match fs::symlink_metadata(file) {
        Ok(data) if data.is_file() => fs::read(file).map_err(|error| format!("{}: {error}", file.display())),
        Ok(_) => Err("it is no plain file".to_owned()),
        Err(_) => Err(CHANGED.to_owned()),
    }
}

/// In place of the file, whole or not at all.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(bytes)?;
    new.as_file().set_permissions(fs::metadata(file)?.permissions())?;
    new.as_file().sync_all()?;
    new.persist(file).map(drop).map_err(|failed| failed.error)
}

/// A hunk byte for byte.
#[derive(Debug, Default, PartialEq, Eq)]
struct Raw {
    /// The number of its first line now, and how many there are.
    start: usize,
    count: usize,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Raw {
    /// The file without the hunk; `None`: it is not there.
    fn taken_back(&self, file: &[u8]) -> Option<Vec<u8>> {
        let lines: Vec<&[u8]> = file.split_inclusive(|&byte| byte == b'\n').collect();
        // Of no lines git names the line before.
        let first = if self.count == 0 { self.start } else { self.start.checked_sub(1)? };
        let here = lines.get(first..first.checked_add(self.count)?)?;
        if here.concat() != self.new {
            return None;
        }
        Some([&lines[..first].concat()[..], &self.old, &lines[first + self.count..].concat()].concat())
    }
}

/// The hunks of a patch of one file.
fn raw(patch: &[u8]) -> Vec<Raw> {
    let mut out: Vec<Raw> = Vec::new();
    let mut last = b' ';
    for line in patch.split_inclusive(|&byte| byte == b'\n') {
        match (line.first(), out.last_mut()) {
            (Some(b'@'), _) => {
                let head = String::from_utf8_lossy(line);
                let now = head.split(' ').find_map(|word| word.strip_prefix('+')).unwrap_or("0").to_owned();
                let (start, count) = now.split_once(',').unwrap_or((&now, "1"));
                let number = |text: &str| text.parse().unwrap_or(0);
                out.push(Raw { start: number(start), count: number(count), ..Raw::default() });
            }
            (Some(&side @ (b' ' | b'-' | b'+')), Some(hunk)) => {
                let text = &line[1..];
                if side != b'+' {
                    hunk.old.extend(text);
                }
                if side != b'-' {
                    hunk.new.extend(text);
                }
                last = side;
            }
            // The line before has no end.
            (Some(b'\\'), Some(hunk)) => {
                if last != b'+' {
                    hunk.old.pop();
                }
                if last != b'-' {
                    hunk.new.pop();
                }
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken_back(patch: &str, file: &str) -> Option<String> {
        raw(patch.as_bytes())[0].taken_back(file.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_hunk_is_taken_back_byte_for_byte_or_not_at_all() {
        let patch = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\r\n+B\n c\n\\ No newline at end of file\n";
        assert_eq!(taken_back(patch, "a\nB\nc").as_deref(), Some("a\nb\r\nc"));
        assert_eq!(taken_back(patch, "a\nB\nc\n"), None, "it ends otherwise");
        assert_eq!(taken_back(patch, "a\nB!\nc"), None);
        let gone = "@@ -2,1 +1,0 @@\n-b\n";
        assert_eq!(taken_back(gone, "a\nc\n").as_deref(), Some("a\nb\nc\n"));
        let ended = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
        assert_eq!(taken_back(ended, "a\n").as_deref(), Some("a"));
    }
}

//! Taking back one hunk of a changed file: only where it still stands as it was shown, and after the present was saved.

use super::changes::{Patch, hunks, patch};
use super::error::EvidenceError;
use super::paths::{self, Excludes};
use super::repository::Repository;
use super::restore;
use super::scratch::{self, Objects, Scratch, Staged};
use super::snapshot::SnapshotId;
use crate::adapters::tickets::copy_attributes;
use crate::base::hex::hex;
use crate::base::id::TicketId;
use crate::domain::changes::{Hunk, RevertIntended};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;

/// A hunk that is to be taken back.
#[derive(Clone, Copy)]
pub struct Revert<'a> {
    pub ticket: &'a TicketId,
    /// It was shown as changed since one of these.
    pub from: &'a [SnapshotId],
    /// `from` is a commit, and has the files as git stores them.
    pub is_commit: bool,
    /// It was shown as a run has left it.
    pub is_past: bool,
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

    /// Takes the hunk back. `id`: of its [`RevertIntended`], which is stored. `may` is asked when all is on the disk and
    /// only the name is missing. Words for the person where nothing was written.
    pub fn write(self, id: &str, may: May<'_>) -> Result<(), String> {
        let cannot = |error: io::Error| format!("the file cannot be written: {error}");
        let written = stage(&self.file, id, &self.after).map_err(cannot).and_then(|new| {
            may()?;
            if read(&self.file)? != self.before {
                return Err(CHANGED.to_owned());
            }
            new.persist(&self.file).map(drop).map_err(|failed| cannot(failed.error))
        });
        written.map_err(|why| self.refused(&why))
    }

    /// Why nothing was written, and what was saved before.
    pub fn refused(&self, why: &str) -> String {
        format!("{why} (previous files in snapshot {})", self.saved)
    }
}

/// Asks whether the file may be written now; words for the person where it may not.
pub type May<'a> = &'a (dyn Fn() -> Result<(), String> + Sync);

/// Whether a hunk was taken back, by whoever was ended while it did that; words for the person where it was not. Removes
/// what that left.
pub fn came_of(intended: &RevertIntended) -> Result<(), String> {
    let _ = fs::remove_file(intended.file.with_file_name(staged_name(&intended.id)));
    let now = fs::read(&intended.file).map(|bytes| digest(&bytes)).unwrap_or_default();
    if now == intended.after {
        Ok(())
    } else if now == intended.before {
        Err("programmator exited before writing; the file is unchanged".to_owned())
    } else {
        let RevertIntended { saved, .. } = intended;
        Err(format!("programmator exited and the file has changed: check it; previous version in snapshot {saved}"))
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
    may: May<'_>,
) -> Result<Ready, String> {
    let Revert { ticket, is_commit, .. } = *wanted;
    let words = |error: EvidenceError| error.to_string();
    let present = scratch::stage(repository, exclude, Objects::Kept).await.map_err(words)?;
    let (name, raw) = find(&present, wanted).await?;
    let relative = paths::path(&name);
    restore::reachable(&repository.top, &relative)?;
    let file = repository.top.join(relative);
    let before = read(&file)?;
    if is_commit && let Some(by) = converted(repository, &present.scratch, &name, &before).await.map_err(words)? {
        return Err(format!("git converts this file ({by}): revert it in the editor"));
    }
    let after = raw.taken_back(&before).ok_or(CHANGED)?;
    may()?;
    let (saved, _) = restore::save(repository, ticket, &present).await.map_err(words)?;
    Ok(Ready { file, saved, before, after })
}

const CHANGED: &str = "the file has changed since this was shown: review it again";
const CHANGED_SINCE: &str = "these lines have changed since the run: revert them in the editor";

/// The name of the file, and the hunk as it stands there. Other hunks may have been taken back since it was shown: it stands
/// where it stood before, and may have moved now.
async fn find(present: &Staged, wanted: &Revert<'_>) -> Result<(Vec<u8>, Raw), String> {
    let Revert { from, path, hunk, is_past, .. } = *wanted;
    let mut why = if is_past { CHANGED_SINCE } else { CHANGED };
    // A later run may have shown it too.
    for from in from.iter().rev() {
        let patch = patch(&present.scratch, from, &present.tree, path).await.map_err(|error| error.to_string())?;
        let Some(Patch { text, is_cut, file }) = patch else { continue };
        if !matches!(file.status, b'M' | b'R') {
            why = "a new, deleted or replaced file cannot be reverted by hunks";
            continue;
        }
        let there = hunks(&text, is_cut, &file.path).hunks;
        let is_it = |now: &Hunk| (now.old, &now.lines) == (hunk.old, &hunk.lines);
        let Some(at) = there.iter().position(is_it) else { continue };
        if is_cut && at + 1 == there.len() {
            return Err("the diff is truncated there: revert it in the editor".to_owned());
        }
        return Ok((file.path, raw(&text).into_iter().nth(at).ok_or(CHANGED)?));
    }
    Err(why.to_owned())
}

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
        Ok(_) => Err("not a regular file".to_owned()),
        Err(_) => Err(CHANGED.to_owned()),
    }
}

/// Where what is to take a file's place is written first.
fn staged_name(id: &str) -> String {
    format!(".{id}{}", paths::STAGED)
}

/// Writes these bytes beside the file, with its attributes, all on the disk.
fn stage(file: &Path, id: &str, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new().prefix(&staged_name(id)).rand_bytes(0).tempfile_in(folder)?;
    new.write_all(bytes)?;
    copy_attributes(&fs::File::open(file)?, new.as_file())?;
    new.as_file().sync_all()?;
    Ok(new)
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

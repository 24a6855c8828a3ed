//! What differs from a snapshot, for people: which files, how many lines, and one file line by line.
//!
//! Reading the tree is `scratch`'s, comparing it for evidence `history`'s. All that is answered has a bound.

use super::error::EvidenceError;
use super::history::differs;
use super::paths::{self, Excludes};
use super::repository::Repository;
use super::scratch::{Objects, Scratch, stage};
use super::snapshot::SnapshotId;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::changes::{Change, ChangedFile, Changes, Diff, Hunk, Lines, Side, WholeDiff};
use std::sync::Arc;

/// Most files that are told.
const FILES: usize = 1_000;
/// Most bytes of a diff that are read, and most of one line.
const DIFF: u64 = 1 << 20;
const LINE: usize = 2_000;
/// Most bytes of the diff that Claude is shown.
const WHOLE: usize = 200_000;
/// Most files that it names where it is too long.
const NAMED: usize = 200;
/// Larger files are not compared line by line.
const LARGE: &str = "4m";

impl Changes {
    /// The sum of these, of which the first are told.
    pub(super) fn of(top: &std::path::Path, mut files: Vec<ChangedFile>, plain: bool) -> Self {
        let count = |file: &ChangedFile| match file.lines {
            Lines::Counted { added, removed } => (added, removed),
            _ => (0, 0),
        };
        let (added, removed) = files.iter().map(count).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let total = files.len();
        files.truncate(FILES);
        Self { top: top.to_owned(), files, total, added, removed, plain, ..Changes::default() }
    }
}

/// What a snapshot is compared with: another one, or the files as they are.
async fn other(
    repository: &Arc<Repository>,
    to: Option<&SnapshotId>,
    exclude: &Excludes,
) -> Result<(Scratch, String), EvidenceError> {
    if let Some(SnapshotId(to)) = to {
        return Ok((Scratch::new(repository, Objects::Passing).await?, to.clone()));
    }
    let staged = stage(repository, exclude, Objects::Passing).await?;
    Ok((staged.scratch, staged.tree))
}

pub(super) async fn changes(
    repository: &Arc<Repository>,
    from: &SnapshotId,
    to: Option<&SnapshotId>,
    exclude: &Excludes,
) -> Result<Changes, EvidenceError> {
    let (scratch, tree) = other(repository, to, exclude).await?;
    let said = compare(&scratch, from, &tree, &["--raw", "--numstat", "-z"], &[]).await?;
    let files = read(&said.0).into_iter().filter(|file| {
        let there = || std::fs::symlink_metadata(repository.top.join(paths::path(&file.path)));
        // As in evidence: what is still on the disk was not deleted, only ignored.
        let is_gone = || file.status != b'D' || there().map_or(true, |data| data.is_dir());
        !exclude.covers(&file.path) && (to.is_some() || is_gone())
    });
    let changes = Changes::of(&repository.top, files.map(File::told).collect(), false);
    Ok(Changes { at_end: to.is_some(), ..changes })
}

/// What two trees have differently, for people.
pub(super) async fn told(scratch: &Scratch, from: &str, to: &str) -> Result<Changes, EvidenceError> {
    let from = SnapshotId(from.to_owned());
    let said = compare(scratch, &from, to, &["--raw", "--numstat", "-z"], &[]).await?;
    Ok(Changes::of(std::path::Path::new(""), read(&said.0).into_iter().map(File::told).collect(), false))
}

/// The file of this name, as it is told in [`changes`].
pub(super) async fn diff(
    repository: &Arc<Repository>,
    from: &SnapshotId,
    to: Option<&SnapshotId>,
    path: &str,
    exclude: &Excludes,
) -> Result<Diff, EvidenceError> {
    let (scratch, tree) = other(repository, to, exclude).await?;
    let Some(Patch { text, is_cut, file }) = patch(&scratch, from, &tree, path).await? else {
        return Ok(Diff::default());
    };
    Ok(hunks(&text, is_cut, &file.path))
}

/// What git says of one file.
pub(super) struct Patch {
    pub(super) text: Vec<u8>,
    /// There is more of it.
    pub(super) is_cut: bool,
    pub(super) file: File,
}

/// The patch of the file of this name; `None`: it does not differ.
pub(super) async fn patch(
    scratch: &Scratch,
    from: &SnapshotId,
    tree: &str,
    path: &str,
) -> Result<Option<Patch>, EvidenceError> {
    let said = compare(scratch, from, tree, &["--raw", "-z"], &[]).await?;
    let Some(file) = read(&said.0).into_iter().find(|file| paths::shown(&file.path) == path) else {
        return Ok(None);
    };
    let names: Vec<&[u8]> = std::iter::once(file.path.as_slice()).chain(file.from.as_deref()).collect();
    let (text, is_cut) = compare(scratch, from, tree, &["-p", "-U3", "--no-color"], &names).await?;
    Ok(Some(Patch { text, is_cut, file }))
}

/// All that differs between a snapshot and another one, or the files as they are, as text.
pub(super) async fn whole(
    repository: &Arc<Repository>,
    from: &SnapshotId,
    to: Option<&SnapshotId>,
    exclude: &Excludes,
) -> Result<WholeDiff, EvidenceError> {
    let (scratch, tree) = other(repository, to, exclude).await?;
    let (text, is_cut) = compare(&scratch, from, &tree, &["-p", "-U5", "--no-color"], &[]).await?;
    let end = text.len().min(WHOLE);
    let mut shown = String::from_utf8_lossy(&text[..end]).into_owned();
    if !is_cut && end == text.len() {
        return Ok(WholeDiff { text: shown, left_out: Vec::new() });
    }
    let said = compare(&scratch, from, &tree, &["--raw", "-z"], &[]).await?;
    let left_out = left_out(&text[..end], &read(&said.0));
    let names = left_out.iter().take(NAMED).map(|name| format!("\n- {}", clean_line(name, LINE)));
    let more = match left_out.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("\n- and {}", counted(more, "more file")),
    };
    shown.extend(
        std::iter::once("\n[the diff is too long to be shown in full; read these changed files yourself:]".to_owned())
            .chain(names)
            .chain([more, "\n".to_owned()]),
    );
    Ok(WholeDiff { text: shown, left_out })
}

/// The files that a cut patch does not show to their end. Their patches come in the order of the files; one that became
/// another kind of thing has two.
fn left_out(shown: &[u8], files: &[File]) -> Vec<String> {
    let heads = shown.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"diff --git ")).count();
    // The last one may be cut.
    let mut whole = heads.saturating_sub(1);
    let is_left_out = |file: &&File| {
        let patches = if file.status == b'T' { 2 } else { 1 };
        let is_whole = whole >= patches;
        whole = whole.saturating_sub(patches);
        !is_whole
    };
    files.iter().filter(is_left_out).map(|file| paths::shown(&file.path)).collect()
}

/// Compares a snapshot with a tree; with names only these files, and of that only the beginning.
async fn compare(
    scratch: &Scratch,
    from: &SnapshotId,
    to: &str,
    how: &[&str],
    names: &[&[u8]],
) -> Result<(Vec<u8>, bool), EvidenceError> {
    let call = scratch
        .git("diff-tree")
        .env("GIT_LITERAL_PATHSPECS", "1")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.bigFileThreshold")
        .env("GIT_CONFIG_VALUE_0", LARGE)
        .args(["-r", "-M", "-l400", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"])
        .args(how);
    let call = if how.contains(&"-p") { call.at_most(DIFF) } else { call };
    differs(scratch, call, from, to, names).await
}

/// One entry of `--raw --numstat -z`.
pub(super) struct File {
    /// Git's letter.
    pub(super) status: u8,
    submodule: bool,
    pub(super) path: Vec<u8>,
    from: Option<Vec<u8>>,
    lines: Lines,
}

impl File {
    fn told(self) -> ChangedFile {
        let change = match (self.status, self.from) {
            (b'A', _) => Change::Added,
            (b'D', _) => Change::Deleted,
            (_, Some(from)) => Change::Renamed(paths::shown(&from)),
            _ => Change::Modified,
        };
        let lines = if self.submodule { Lines::Submodule } else { self.lines };
        ChangedFile { path: paths::shown(&self.path), change, lines }
    }
}

/// Reads `:mode mode id id M\0path\0…`, then `added\tremoved\tpath\0…`; where it was renamed, both names stand in words
/// of their own.
fn read(said: &[u8]) -> Vec<File> {
    let mut words = said.split(|&byte| byte == 0).peekable();
    let mut files: Vec<File> = Vec::new();
    while let Some(head) = words.next_if(|word| word.starts_with(b":")) {
        let status = head.rsplit(|&byte| byte == b' ').next().and_then(|word| word.first()).copied().unwrap_or(b'M');
        let mut name = || words.next().unwrap_or_default().to_vec();
        let from = matches!(status, b'R' | b'C').then(&mut name);
        let submodule = head.starts_with(b":160000") || head.get(8..14) == Some(b"160000");
        files.push(File { status, submodule, path: name(), from, lines: Lines::Unknown });
    }
    // The same files in the same order.
    for file in &mut files {
        let Some(word) = words.next() else { break };
        let mut columns = word.splitn(3, |&byte| byte == b'\t');
        let mut number = || paths::shown(columns.next().unwrap_or_default()).parse().ok();
        file.lines = match (number(), number()) {
            (Some(added), Some(removed)) => Lines::Counted { added, removed },
            _ => Lines::Binary,
        };
        if file.from.is_some() {
            words.by_ref().take(2).for_each(drop);
        }
    }
    files
}

/// Reads the patches of one file: a file that became another kind of thing has two, and one that took the place of a
/// folder comes with those of the files that were in there, which are not meant.
pub(super) fn hunks(patch: &[u8], cut: bool, name: &[u8]) -> Diff {
    let mut diff = Diff { cut, ..Diff::default() };
    let below = [&b"diff --git a/"[..], name, b"/"].concat();
    let (mut in_head, mut is_meant) = (true, true);
    for line in patch.split(|&byte| byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            (in_head, is_meant) = (true, !line.starts_with(&below));
        }
        in_head &= !line.starts_with(b"@@");
        if in_head || !is_meant {
            continue;
        }
        let rest = || paths::shown(line[1..].get(..LINE).unwrap_or(&line[1..]));
        match (line.first(), diff.hunks.last_mut()) {
            (Some(b'@'), _) => {
                let text = rest();
                let mut starts = text.split([' ', ',']).filter(|word| word.starts_with(['-', '+']));
                let mut number = || starts.next().and_then(|word| word[1..].parse().ok()).unwrap_or(0);
                diff.hunks.push(Hunk { old: number(), new: number(), lines: Vec::new() });
            }
            (Some(b' '), Some(hunk)) => hunk.lines.push((Side::Both, rest())),
            (Some(b'-'), Some(hunk)) => hunk.lines.push((Side::Old, rest())),
            (Some(b'+'), Some(hunk)) => hunk.lines.push((Side::New, rest())),
            _ => {}
        }
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_took_the_place_of_another_kind_of_thing_is_told_without_the_heads_of_its_patches() {
        let patch =
            b"diff --git a/x/old b/x/old\ndeleted file mode 100644\n--- a/x/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-in a \
            folder\ndiff --git a/x b/x\ndeleted file mode 120000\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a link\n\
            diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a file\n";
        let diff = hunks(patch, false, b"x");
        let lines: Vec<&(Side, String)> = diff.hunks.iter().flat_map(|hunk| &hunk.lines).collect();
        assert_eq!(lines, [&(Side::Old, "a link".to_owned()), &(Side::New, "a file".to_owned())]);
    }

    #[test]
    fn the_files_that_a_cut_patch_does_not_show_whole_are_named() {
        let file = |status, name: &str| File {
            status,
            submodule: false,
            path: name.into(),
            from: None,
            lines: Lines::Unknown,
        };
        let files = [file(b'M', "a"), file(b'T', "b"), file(b'M', "c"), file(b'M', "d")];
        let shown = "diff --git a/a b/a\n@@ -1 +1 @@\n-diff --git a/x b/x\n+y\ndiff --git a/b b/b\n-x\ndiff --git a/b \
                     b/b\n+x\ndiff --git a/c b/c\n+z";
        assert_eq!(left_out(shown.as_bytes(), &files), ["c", "d"]);
        assert_eq!(left_out(b"diff --git a/a b/a\n", &files), ["a", "b", "c", "d"]);
    }
}

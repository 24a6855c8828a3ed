//! Conflict markers that are left in a worktree: looked for in all files that a merge, or who resolved it, has changed.
//!
//! A line that looks like one may be work (a heading, a test's file): no more of them are taken than both sides bring.

use crate::adapters::git::command::{git, line};
use crate::adapters::git::error::words;
use crate::adapters::git::paths;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// What git puts around the sides of a conflict.
const KINDS: [u8; 4] = *b"<|=>";
/// How many of it in a line, unless an attribute says otherwise.
const SIZE: usize = 7;
/// Most bytes of a line that are looked at.
const LINE: usize = 256;

/// Two commits that a merge brings together.
pub(super) struct Sides {
    pub(super) ours: String,
    pub(super) theirs: String,
}

/// Lines that look like markers, of each kind.
type Counts = [usize; 4];

/// The files, relative to the top, that hold more of them than the sides account for.
pub(super) async fn left(top: &Path, sides: &Sides) -> Result<Vec<Vec<u8>>, String> {
    let how = ["--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "-z"];
    let listed = git(top, "diff").args(how).args([&sides.ours, "--"]).thorough().ok().await.map_err(words)?;
    let mut names: BTreeSet<Vec<u8>> = untracked(top).await?.into_iter().collect();
    names.extend(listed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec));
    let names: Vec<Vec<u8>> = names.into_iter().collect();
    let sized = sizes(top, &names).await?;
    let folder = top.to_owned();
    let look = move || {
        let look = |(name, size): (Vec<u8>, usize)| match in_file(&folder.join(paths::path(&name)), size) {
            Ok(there) => (there != Counts::default()).then_some(Ok((name, size, there))),
            Err(error) => Some(Err(format!("{}: {error}", paths::shown(&name)))),
        };
        names.into_iter().zip(sized).filter_map(look).collect::<Result<Vec<_>, String>>()
    };
    let found = tokio::task::spawn_blocking(look).await.map_err(|error| error.to_string())??;
    let mut left = Vec::new();
    if found.is_empty() {
        return Ok(left);
    }
    let call = git(top, "merge-base").args([&sides.ours, &sides.theirs]);
    let before = paths::shown(&line(call.run().await.map_err(words)?.stdout));
    for (name, size, there) in found {
        let ours = at(top, &sides.ours, &name, size).await?;
        let theirs = at(top, &sides.theirs, &name, size).await?;
        let before = at(top, &before, &name, size).await?;
        if (0..KINDS.len()).any(|kind| there[kind] > (ours[kind] + theirs[kind]).saturating_sub(before[kind])) {
            left.push(name);
        }
    }
    Ok(left)
}

/// Files that git neither knows nor ignores.
pub(super) async fn untracked(top: &Path) -> Result<Vec<Vec<u8>>, String> {
    let call = git(top, "ls-files").args(["--others", "--exclude-standard", "-z"]);
    let listed = call.thorough().ok().await.map_err(words)?;
    Ok(listed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
}

/// How long markers are in each of the files, at least.
async fn sizes(top: &Path, names: &[Vec<u8>]) -> Result<Vec<usize>, String> {
    let call = git(top, "check-attr").args(["-z", "--stdin", "conflict-marker-size"]).input(names.join(&0));
    let said = call.thorough().ok().await.map_err(words)?;
    // Name, attribute, value.
    let values = said.split(|&byte| byte == 0).skip(2).step_by(3);
    let size = |value: &[u8]| paths::shown(value).parse().map_or(SIZE, |size: usize| size.clamp(1, SIZE));
    Ok(values.map(size).chain(std::iter::repeat(SIZE)).take(names.len()).collect())
}

/// Those of the file in this commit; none where it is not there.
async fn at(top: &Path, commit: &str, name: &[u8], size: usize) -> Result<Counts, String> {
    let mut object = format!("{commit}:").into_bytes();
    object.extend(name);
    let said = git(top, "cat-file").args(["blob".as_ref(), paths::path(&object).as_os_str()]);
    let said = said.thorough().run().await.map_err(words)?;
    if said.code != Some(0) {
        return Ok(Counts::default());
    }
    counts(said.stdout.as_slice(), size).map_err(|error| error.to_string())
}

/// One that is gone, or is no plain file, holds none.
fn in_file(path: &Path, size: usize) -> io::Result<Counts> {
    if !path.symlink_metadata().is_ok_and(|data| data.is_file()) {
        return Ok(Counts::default());
    }
    counts(BufReader::new(File::open(path)?), size)
}

/// Reads a line at a time, of which the beginning counts: a file may be one line of a gigabyte.
fn counts(mut text: impl BufRead, size: usize) -> io::Result<Counts> {
    let (mut begin, mut counts) = (Vec::new(), Counts::default());
    loop {
        let part = text.fill_buf()?;
        let end = part.iter().position(|&byte| byte == b'\n');
        let (taken, is_last) = (end.map_or(part.len(), |at| at + 1), part.is_empty());
        begin.extend(part[..taken].iter().take(LINE - begin.len()));
        text.consume(taken);
        if end.is_some() || is_last {
            if let Some(kind) = kind(&begin, size) {
                counts[kind] += 1;
            }
            begin.clear();
        }
        if is_last {
            return Ok(counts);
        }
    }
}

/// Which kind of marker a line is.
fn kind(line: &[u8], size: usize) -> Option<usize> {
    let first = line.first()?;
    let kind = KINDS.iter().position(|kind| kind == first)?;
    let rest = &line[line.iter().take_while(|byte| *byte == first).count()..];
    let is_alone = rest.trim_ascii().is_empty();
    let is_marker = is_alone || (*first != b'=' && rest.starts_with(b" "));
    (line.len() - rest.len() >= size && is_marker).then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_seven_or_more_followed_by_a_blank_or_nothing_are_counted_in_texts_of_any_size() {
        let count = |text: &str| counts(text.as_bytes(), SIZE).unwrap();
        assert_eq!(count("a\n<<<<<<< HEAD\nb\n||||||| x\n=======\r\nc\n>>>>>>>>>> main\n"), [1, 1, 1, 1]);
        assert_eq!(count(&format!("{}\n>>>>>>> main", "x".repeat(200_000))), [0, 0, 0, 1]);
        assert_eq!(count("`<<<<<<< HEAD`\n <<<<<<< HEAD\n<<<<<< HEAD\n======= a\n<<<<<<<HEAD\n"), [0; 4]);
        assert_eq!(count(&format!("{}<<<<<<< HEAD\n{}", "x".repeat(200_000), "=".repeat(200_000))), [0, 0, 1, 0]);
        assert_eq!(counts("<<< a\n".as_bytes(), 3).unwrap(), [1, 0, 0, 0]);
    }
}

//! The branch of a ticket in the person's own working tree: it is made, and switched to, only at the commit that is checked
//! out, so that no file changes. Anything else is the person's to switch.
//!
//! What a branch that was made so began at is noted in the git folder: the next ticket's branch begins there, too, and not at
//! the work of this one. (Not in git's configuration, which is not to change while a run works.)

use super::command::{git, line};
use super::error::words;
use super::head;
use super::paths;
use super::registry::common;
use super::worktree::commit_at;
use crate::base::text::clean_line;
use crate::domain::branching::BranchSwitch;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The file in the git folder that all working trees share.
const BASES: &str = "programmator-bases";

/// What it takes to be on the branch; `None`: nothing, or there is no repository. `base`: where a new branch has to begin. Words
/// for the person where it takes more than may be done.
pub async fn due(folder: &Path, branch: &str, base: Option<&str>) -> Result<Option<BranchSwitch>, String> {
    let Some(top) = top_of(folder).await?.filter(|_| head::on_branch(folder).as_deref() != Some(branch)) else {
        return Ok(None);
    };
    let from = head::branch(&top).unwrap_or_default();
    let now = commit_at(&top, "HEAD").await?.unwrap_or_default();
    let to = branch.to_owned();
    let refused = |to: &str, what: &str| {
        let top = top.display();
        format!(
            "{top} is on {from}, and the branch {branch} (git.branch) {what}: `git switch {to}` and start again, or use --worktree"
        )
    };
    if let Some(there) = commit_at(&top, &format!("refs/heads/{branch}")).await? {
        if there != now {
            return Err(refused(branch, "is at another commit"));
        }
        return Ok(Some(BranchSwitch { from, to, commit: now, base: None }));
    }
    let begins = match base {
        Some(base) => {
            let commit = commit_at(&top, base).await?.ok_or_else(|| format!("no commit at {base} (git.base)"))?;
            Some((base.to_owned(), commit, " (git.base)"))
        }
        None => begun_at(&top).await?.map(|(base, commit)| (base, commit, "")),
    };
    match begins {
        Some((base, commit, by)) if commit != now => Err(refused(&base, &format!("starts at {base}{by}"))),
        Some((base, ..)) => Ok(Some(BranchSwitch { from, to, commit: now, base: Some(base) })),
        None => Ok(Some(BranchSwitch { base: Some(from.clone()), from, to, commit: now })),
    }
}

/// Switches. Git ends what it has begun when this program ends.
pub async fn make(folder: &Path, switch: &BranchSwitch) -> Result<(), String> {
    let BranchSwitch { to, commit, base, .. } = switch;
    let top = top_of(folder).await?.ok_or("the repository is gone")?;
    if head::on_branch(&top).as_ref() == Some(to) {
        return Ok(());
    }
    if commit_at(&top, "HEAD").await?.unwrap_or_default() != *commit {
        return Err(format!("{} is now at another commit: start again", top.display()));
    }
    let call = git(&top, "switch").args(["--quiet", "--no-guess"]);
    let call = match base {
        Some(base) => {
            // First: a branch without the note is taken for the person's.
            note(&common(&top).await?.join(BASES), to, base)?;
            call.args(["--no-track", "-c", to])
        }
        None => call.args([to]),
    };
    let said = call.apart().ok().await;
    if head::on_branch(&top).as_ref() == Some(to) {
        return Ok(());
    }
    let why = said.err().map_or_else(|| "somebody has switched back".to_owned(), words);
    let why = clean_line(&why, 400);
    Err(format!("{} could not be switched to the branch {to} (git.branch): {why}", top.display()))
}

async fn top_of(folder: &Path) -> Result<Option<PathBuf>, String> {
    let said = git(folder, "rev-parse").args(["--show-toplevel"]).run().await.map_err(words)?;
    Ok((said.code == Some(0)).then(|| paths::path(&line(said.stdout))))
}

/// What the branch that is checked out began at, and its commit, where that branch was made for a ticket and what it began at
/// is still there.
async fn begun_at(top: &Path) -> Result<Option<(String, String)>, String> {
    let Some(branch) = head::on_branch(top) else { return Ok(None) };
    let Some(base) = noted(&common(top).await?.join(BASES), &branch)? else { return Ok(None) };
    Ok(commit_at(top, &base).await?.map(|commit| (base, commit)))
}

/// Notes it, a line each, in one piece and not behind half a line: the last one of a branch counts.
fn note(file: &Path, branch: &str, base: &str) -> Result<(), String> {
    let written = File::options().append(true).create(true).open(file);
    let written = written.and_then(|mut file| file.write_all(format!("\n{branch} {base}\n").as_bytes()));
    written.map_err(|error| format!("{}: {error}", file.display()))
}

fn noted(file: &Path, branch: &str) -> Result<Option<String>, String> {
    let text = match fs::read(file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", file.display())),
    };
    let mut all = text.lines().filter_map(|line| line.split_once(' '));
    Ok(all.rfind(|(name, _)| *name == branch).map(|(_, base)| base.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_branch_began_at_last_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(BASES);
        assert_eq!(noted(&file, "own"), Ok(None));
        fs::write(&file, b"own half a li\xc3").unwrap();
        for (branch, base) in [("own/2", "next"), ("own", "main"), ("own", "v1 of it")] {
            note(&file, branch, base).unwrap();
        }
        let of = |branch| noted(&file, branch).unwrap();
        assert_eq!((of("own").as_deref(), of("own/2").as_deref(), of("own/3")), (Some("v1 of it"), Some("next"), None));
    }
}

//! A conflict of a ticket's branch with its base, brought into the ticket's own worktree: begun with the markers in the
//! files, looked at, and ended by the merge commit. Each is done once, however often it is begun.

mod markers;

use super::command::{Git, git, line};
use super::error::words;
use super::head;
use super::merging::{base_of, conflicted};
use super::paths;
use super::registry::known;
use super::worktree::sizes::has_room;
use super::worktree::{changed, commit_at};
use crate::adapters::room::Room;
use crate::base::text::clean_line;
use crate::domain::merge::FILES;
use crate::domain::worktree::{Held, Worktree};
use markers::Sides;
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Filters of the person's may download what they check out.
const LONGEST: Duration = Duration::from_secs(3_600);
/// Asked to end, git leaves no lock behind.
const GRACE: Duration = Duration::from_secs(60);

/// The file in the worktree's git folder that says what is being merged there, and upon what.
const NOTE: &str = "programmator-resolving";

/// Merges the base into the worktree, without a commit. Gives the files that both sides have changed; none: git needs no
/// help. `ticket`: the copy of the ticket's file, relative to the top, which is no work; `made`: new files that Claude has made
/// for a merge that is open there.
pub async fn begin(
    worktree: &Worktree,
    made: &[String],
    ticket: Option<&Path>,
    room: &Room,
) -> Result<Vec<String>, String> {
    let Worktree { top, home_top, branch, base, .. } = worktree;
    let own = format!("refs/heads/{branch}");
    if known(home_top, top).await?.is_none_or(|known| known.branch.as_ref() != Some(&own)) {
        return Err(format!("{} is not on {branch}: switch it back", top.display()));
    }
    if is_begun(top).await? || is_taken_up(top).await? {
        // Nobody has worked there since the last try was given up, or the program was killed.
        let mut left = untracked(top, ticket).await?;
        left.retain(|name| !made.contains(&paths::shown(name)));
        if !left.is_empty() {
            return Err(refused(top, &left));
        }
        return conflicted(top).await;
    }
    let upon = base_of(worktree).await?;
    has_room(home_top, &upon, Some(branch), &Room { folder: top.clone(), ..room.clone() }).await?;
    let (mut uncommitted, mut untracked) = changed(top).await?;
    for names in [&mut uncommitted, &mut untracked] {
        names.retain(|name| ticket.is_none_or(|ticket| Path::new(name) != ticket));
    }
    let held = Held { uncommitted, untracked, unmerged: 0 };
    if !held.is_nothing() {
        return Err(format!("{} has {}: commit it first", top.display(), held.words()));
    }
    if let Some(head) = commit_at(top, "HEAD").await? {
        let note = git_file(top, NOTE).await?;
        fs::write(&note, format!("{head} {upon}")).map_err(|error| format!("{}: {error}", note.display()))?;
    }
    let call = unsigned(top, "merge").args(["--quiet", "--no-commit", "--no-ff", &format!("refs/heads/{base}")]);
    let said = lasting(call, b"").await;
    let files = conflicted(top).await?;
    match said {
        Err(said) if files.is_empty() => Err(format!("git cannot merge {base} into {branch}: {said}")),
        _ => Ok(files),
    }
}

/// The files that hold markers, of all that the merge or Claude has changed.
pub async fn marked(worktree: &Worktree) -> Result<Vec<String>, String> {
    let names = markers::left(&worktree.top, &sides(worktree).await?).await?;
    Ok(names.iter().map(|name| clean_line(&paths::shown(name), 300)).take(FILES).collect())
}

/// Commits the merge with all that is tracked in the worktree but the copy of the ticket's file, and with new files of these
/// names. Gives the files that still hold markers instead, if some do. Other new files are nobody's: they are refused.
pub async fn commit(
    worktree: &Worktree,
    made: &[String],
    ticket: Option<&Path>,
    message: &str,
) -> Result<Vec<String>, String> {
    let top = &worktree.top;
    let left = marked(worktree).await?;
    if !left.is_empty() {
        return Ok(left);
    }
    let (own, others): (Vec<_>, Vec<_>) =
        untracked(top, ticket).await?.into_iter().partition(|name| made.contains(&paths::shown(name)));
    if !others.is_empty() {
        return Err(refused(top, &others));
    }
    let call = git(top, "add").args(["--update", "--", "."]);
    let call = match ticket {
        Some(ticket) => call.args([format!(":(exclude,literal){}", ticket.display())]),
        None => call,
    };
    lasting(call, b"").await?;
    if !own.is_empty() {
        let call =
            Git::new(top, ["--literal-pathspecs"], "add").args(["--pathspec-from-file=-", "--pathspec-file-nul"]);
        lasting(call, &own.join(&0)).await?;
    }
    if is_begun(top).await? || !is_staged(top).await? {
        let call = unsigned(top, "commit").args(["--quiet", "--no-verify", "--cleanup=verbatim", "-m", message]);
        lasting(call, b"").await?;
    }
    let _ = fs::remove_file(git_file(top, NOTE).await?);
    // A base that has moved meanwhile, or a merge that Claude has taken back: merging the work will tell.
    Ok(Vec::new())
}

/// The commits whose work the open merge brings together, or the last one that was made of the ticket's branch and its base.
async fn sides(worktree: &Worktree) -> Result<Sides, String> {
    let Worktree { top, branch, base, .. } = worktree;
    if head::on_branch(top).as_deref() != Some(branch) {
        return Err(format!("{} is not on {branch}: switch it back", top.display()));
    }
    let base_name = format!("refs/heads/{base}");
    let ours = commit_at(top, "HEAD").await?.ok_or_else(|| format!("{branch} has no commit"))?;
    if let Some(theirs) = commit_at(top, "MERGE_HEAD").await? {
        let call = git(top, "merge-base").args(["--is-ancestor", &theirs, &base_name]);
        if call.run().await.map_err(words)?.code == Some(0) {
            return Ok(Sides { ours, theirs });
        }
        return Err(format!("the open merge in {} is not a merge of {base}", top.display()));
    }
    // Claude may have committed it.
    let call =
        git(top, "rev-list").args(["--first-parent", "--merges", "--parents", "-1", "HEAD", "--not", &base_name]);
    let said = paths::shown(&line(call.thorough().ok().await.map_err(words)?));
    let mut commits = said.split(' ').skip(1).map(str::to_owned);
    match (commits.next(), commits.next()) {
        (Some(ours), Some(theirs)) => Ok(Sides { ours, theirs }),
        _ => Ok(Sides { theirs: ours.clone(), ours }),
    }
}

/// A merge is under way there.
async fn is_begun(top: &Path) -> Result<bool, String> {
    Ok(commit_at(top, "MERGE_HEAD").await?.is_some())
}

/// Nothing is left to commit.
async fn is_staged(top: &Path) -> Result<bool, String> {
    let call = git(top, "diff").args(["--cached", "--quiet", "--no-ext-diff", "--no-textconv"]);
    Ok(call.run().await.map_err(words)?.code == Some(0))
}

/// Files that git neither knows nor ignores, but the copy of the ticket's.
async fn untracked(top: &Path, ticket: Option<&Path>) -> Result<Vec<Vec<u8>>, String> {
    let mut names = markers::untracked(top).await?;
    names.retain(|name| ticket.is_none_or(|ticket| paths::path(name) != ticket));
    Ok(names)
}

fn refused(top: &Path, names: &[Vec<u8>]) -> String {
    let untracked = names.iter().map(|name| clean_line(&paths::shown(name), 200)).collect();
    let held = Held { untracked, ..Held::default() }.words();
    format!("{} has {held}, which Claude did not create for the merge: remove it, or `git add` it there", top.display())
}

/// A file in the worktree's git folder.
async fn git_file(top: &Path, name: &str) -> Result<PathBuf, String> {
    let said = git(top, "rev-parse").args(["--git-path", name]).ok().await.map_err(words)?;
    Ok(top.join(paths::path(&line(said))))
}

/// A merge of ours that a power failure has ended before git noted it is open again. Its files are there: git writes the index
/// after them.
async fn is_taken_up(top: &Path) -> Result<bool, String> {
    let Ok(noted) = fs::read_to_string(git_file(top, NOTE).await?) else { return Ok(false) };
    let Some((head, upon)) = noted.split_once(' ') else { return Ok(false) };
    if commit_at(top, "HEAD").await?.as_deref() != Some(head) || conflicted(top).await?.is_empty() {
        return Ok(false);
    }
    // Git itself refuses to set it.
    let open = git_file(top, "MERGE_HEAD").await?;
    fs::write(&open, format!("{upon}\n")).map_err(|error| format!("{}: {error}", open.display()))?;
    Ok(true)
}

/// Runs a call that changes files of the worktree. Git goes on with it when this program, or the run, ends.
async fn lasting(call: Git, input: &[u8]) -> Result<(), String> {
    let prepared = || {
        let mut file = tempfile::tempfile()?;
        file.write_all(input)?;
        file.rewind()?;
        Ok::<_, io::Error>((file, tempfile::tempfile()?))
    };
    let (input, mut said) = prepared().map_err(|error| error.to_string())?;
    let call = call.within(LONGEST).grace(GRACE).apart();
    if call.run_in_files(input, &said, &|| {}).await.map_err(words)? == Some(0) {
        return Ok(());
    }
    let mut text = Vec::new();
    let _ = said.rewind().and_then(|()| said.read_to_end(&mut text));
    Err(clean_line(paths::shown(&text).trim(), 400))
}

/// A call that makes a commit. Nobody is there for a signing program to ask.
fn unsigned(folder: &Path, verb: &'static str) -> Git {
    let set = ["-c", "commit.gpgSign=false", "-c", "merge.conflictStyle=merge", "-c", "rerere.enabled=false"];
    Git::new(folder, set, verb).env("GIT_EDITOR", "true")
}

#[cfg(test)]
mod tests;

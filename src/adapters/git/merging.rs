//! Bringing a ticket's branch into its base: the merged tree is made in a scratch worktree, where it is validated, and only
//! then the base is moved, from the commit that it was made upon and no other.
//!
//! A scratch worktree holds nothing that is not in a commit: it is removed whatever is in it.

use super::command::{Git, git, line};
use super::error::words;
use super::paths;
use super::registry::{all, change, known};
use super::worktree::sizes::has_room;
use super::worktree::{changed, commit_at, unmerged};
use crate::adapters::dependencies;
use crate::adapters::room::Room;
use crate::base::text::clean_line;
use crate::domain::merge::{FILES, MergeHow};
use crate::domain::worktree::{Held, Worktree};
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Filters of the person's may download what they check out. Nobody ends git in the person's files before.
const FORWARD: Duration = Duration::from_secs(3_600);
/// Asked to end, git leaves no lock behind.
const GRACE: Duration = Duration::from_secs(60);

/// What came of making the merged tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// It is checked out in the scratch worktree.
    Ready(Candidate),
    /// The base has all of it; this is its commit.
    Already(String),
    /// Both sides have changed these files.
    Conflict(Vec<String>),
    /// Not all of the work is in a commit: words for the person.
    Uncommitted(String),
}

/// A commit that the base may move to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub commit: String,
    /// Where the base has to be still.
    pub upon: String,
}

/// Where the merged tree of a worktree's branch is made.
pub fn scratch(top: &Path) -> PathBuf {
    let name = top.file_name().unwrap_or_default().to_string_lossy();
    top.with_file_name(format!(".{name}.merge"))
}

/// The commit that the base is at. Words for the person where nothing can be merged into it, whatever the work will be.
pub async fn base_of(worktree: &Worktree) -> Result<String, String> {
    let Worktree { top, home_top, base, .. } = worktree;
    let again = if top.is_dir() { "  and remove this worktree, which started there" } else { "" };
    commit_at(home_top, &format!("refs/heads/{base}")).await?.ok_or_else(|| {
        format!("git.merge needs a local branch with a commit, which {base} is not: set git.base to one{again}")
    })
}

/// Makes the merged tree. `ticket`: the ticket's file, relative to the top, of which no copy is ever merged. Words for the
/// person where nothing can be merged as it is.
pub async fn prepare(
    worktree: &Worktree,
    how: MergeHow,
    message: &str,
    ticket: Option<&Path>,
    room: &Room,
) -> Result<Prepared, String> {
    let Worktree { top, home_top, branch, base, .. } = worktree;
    let upon = base_of(worktree).await?;
    let own = format!("refs/heads/{branch}");
    let tip = commit_at(home_top, &own).await?.ok_or_else(|| format!("the branch {branch} is gone"))?;
    if top.is_dir() {
        if known(home_top, top).await?.is_none_or(|known| known.branch.as_ref() != Some(&own)) {
            return Err(format!("{} is not on {branch}: switch it back", top.display()));
        }
        let conflicts = conflicted(top).await?;
        if !conflicts.is_empty() {
            return Ok(Prepared::Conflict(conflicts));
        }
        let (mut uncommitted, mut untracked) = changed(top).await?;
        // The copy of the ticket's file is never merged, whatever is in it.
        let is_work = |name: &String| ticket.is_none_or(|ticket| Path::new(name) != ticket);
        uncommitted.retain(is_work);
        untracked.retain(is_work);
        let held = Held { uncommitted, untracked, unmerged: 0 };
        if !held.is_nothing() {
            let (held, top) = (held.words(), top.display());
            let words = format!("not committed: {held}; commit it first, or set git.commit ({top})");
            return Ok(Prepared::Uncommitted(words));
        }
    }
    if unmerged(home_top, &upon, &tip).await? == 0 {
        return Ok(Prepared::Already(upon));
    }
    if let Some(ticket) = ticket {
        let range = format!("{upon}...{tip}");
        let call = git(home_top, "diff").args(["--quiet", "--no-ext-diff", "--no-textconv", &range, "--"]);
        let said = call.args([ticket.as_os_str()]).run().await.map_err(words)?;
        if said.code != Some(0) {
            return Err(format!("{branch} changes the ticket's own file {}: remove that change", ticket.display()));
        }
    }
    let scratch = scratch(top);
    clear(worktree).await?;
    let begin = if how == MergeHow::Rebase { &tip } else { &upon };
    let folder = scratch.parent().unwrap_or(&scratch).to_owned();
    has_room(home_top, begin, None, &Room { folder, ..room.clone() }).await?;
    let add = git(home_top, "worktree").args(["add", "--quiet", "--detach"]).args([scratch.as_os_str()]).args([begin]);
    change(home_top, add.thorough()).await?;
    let is_upon = how == MergeHow::Rebase && {
        let call = git(home_top, "merge-base").args(["--is-ancestor", &upon, &tip]);
        call.run().await.map_err(words)?.code == Some(0)
    };
    let call = match how {
        // Made anew, the merges by which conflicts were resolved would be lost.
        MergeHow::Rebase if is_upon => git(&scratch, "rev-parse").args(["--quiet", "--verify", "HEAD"]),
        MergeHow::Rebase => unsigned(&scratch, "rebase").args(["--quiet", "--no-autostash", &upon]),
        _ => unsigned(&scratch, "merge").args(["--quiet", "--no-ff", "--no-edit", "-m", message, &tip]),
    };
    let said = call.thorough().run().await.map_err(words)?;
    if said.code != Some(0) {
        let listed = git(&scratch, "diff").args(["--name-only", "--diff-filter=U", "-z"]).ok().await.map_err(words)?;
        let files = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        let files: Vec<String> = files.map(|name| clean_line(&paths::shown(name), 300)).collect();
        clear(worktree).await?;
        if files.is_empty() {
            let said = format!("{} {}", said.stderr, paths::shown(&said.stdout));
            return Err(format!("git cannot merge {branch} into {base}: {}", clean_line(said.trim(), 400)));
        }
        return Ok(Prepared::Conflict(files));
    }
    let commit = commit_at(&scratch, "HEAD").await?.ok_or("git made no commit")?;
    Ok(Prepared::Ready(Candidate { commit, upon }))
}

/// The working tree where the base is checked out, if it is.
pub async fn checked_out(worktree: &Worktree) -> Result<Option<PathBuf>, String> {
    let base = format!("refs/heads/{}", worktree.base);
    let all = all(&worktree.home_top).await?;
    // Who rebases a branch has it checked out, though git names none.
    for known in all.iter().filter(|known| known.branch.is_none() && known.path.is_dir()) {
        for state in ["rebase-merge/head-name", "rebase-apply/head-name"] {
            let said = git(&known.path, "rev-parse").args(["--git-path", state]).run().await.map_err(words)?;
            let file = known.path.join(paths::path(&line(said.stdout)));
            if fs::read_to_string(file).is_ok_and(|text| text.trim_end() == base) {
                return Err(format!("{} is being rebased in {}", worktree.base, known.path.display()));
            }
        }
    }
    Ok(all.into_iter().find(|known| known.branch.as_ref() == Some(&base)).map(|known| known.path))
}

/// Moves the base to a commit that was validated; `false`: it is not any more where that was made upon. A base that is
/// checked out goes forward with its files, where none of them is changed. `tickets`: where changes are no work.
pub async fn advance(worktree: &Worktree, to: &Candidate, tickets: &Path, room: &Room) -> Result<bool, String> {
    let Worktree { home_top, base, .. } = worktree;
    let name = format!("refs/heads/{base}");
    let is_at = async |commit: &str| Ok::<_, String>(commit_at(home_top, &name).await?.as_deref() == Some(commit));
    if !is_at(&to.upon).await? {
        return Ok(false);
    }
    // First, for it takes a while: the person may switch to another branch meanwhile.
    let mut place = checked_out(worktree).await?;
    if let Some(folder) = place.clone() {
        has_room(home_top, &to.commit, Some(&to.upon), &Room { folder, ..room.clone() }).await?;
        place = checked_out(worktree).await?;
    }
    let why = match place {
        None => {
            let moved = git(home_top, "update-ref").args(["-m", "programmator: merge", &name, &to.commit, &to.upon]);
            moved.ok().await.err().map(words)
        }
        Some(place) => {
            let (uncommitted, _) = changed(&place).await?;
            let is_work = |name: &&String| !place.join(name.as_str()).starts_with(tickets);
            let dirty: Vec<String> = uncommitted.iter().filter(is_work).cloned().collect();
            if !dirty.is_empty() {
                let held = Held { uncommitted: dirty, ..Held::default() };
                return Err(format!(
                    "{base} is checked out in {} with {}: commit or stash, then start the ticket again",
                    place.display(),
                    held.words()
                ));
            }
            let head = git(&place, "symbolic-ref").args(["--quiet", "HEAD"]).run().await.map_err(words)?;
            if paths::shown(&line(head.stdout)) != name {
                return Ok(false);
            }
            forward(&place, &to.commit, FORWARD).await.err()
        }
    };
    if is_at(&to.commit).await? {
        return Ok(true);
    }
    let Some(why) = why else { return Ok(false) };
    if is_at(&to.upon).await? { Err(format!("{base} could not be moved: {why}")) } else { Ok(false) }
}

/// Removes the scratch worktree, if there is one.
pub async fn clear(worktree: &Worktree) -> Result<(), String> {
    let scratch = scratch(&worktree.top);
    let partial = dependencies::partial(&scratch);
    dependencies::clear(&partial).map_err(|error| format!("{}: {error}", partial.display()))?;
    if known(&worktree.home_top, &scratch).await?.is_some() {
        // Twice: one that a killed git was making is locked.
        let remove = git(&worktree.home_top, "worktree").args(["remove", "--force", "--force"]);
        let _ = change(&worktree.home_top, remove.args([scratch.as_os_str()]).thorough()).await;
    }
    if let Err(error) = fs::remove_dir_all(&scratch)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(format!("{}: {error}", scratch.display()));
    }
    if known(&worktree.home_top, &scratch).await?.is_some() {
        let remove = git(&worktree.home_top, "worktree").args(["remove", "--force", "--force"]);
        change(&worktree.home_top, remove.args([scratch.as_os_str()])).await?;
    }
    Ok(())
}

/// Fast-forwards the files of the person. Git goes on with it when this program ends.
async fn forward(place: &Path, commit: &str, limit: Duration) -> Result<(), String> {
    let prepared = || Ok::<_, io::Error>((File::open("/dev/null")?, tempfile::tempfile()?));
    let (input, mut said) = prepared().map_err(|error| error.to_string())?;
    // Files that the person has git ignore are theirs as well.
    let how = ["--ff-only", "--quiet", "--no-autostash", "--no-overwrite-ignore", commit];
    let call = git(place, "merge").args(how).within(limit).grace(GRACE).apart();
    if call.run_in_files(input, &said, &|| {}).await.map_err(words)? == Some(0) {
        return Ok(());
    }
    let mut text = Vec::new();
    let _ = said.rewind().and_then(|()| said.read_to_end(&mut text));
    Err(clean_line(&paths::shown(&line(text)), 400))
}

/// The files with conflicts of a merge that is open in this working tree.
pub(super) async fn conflicted(top: &Path) -> Result<Vec<String>, String> {
    let listed = git(top, "diff").args(["--name-only", "--diff-filter=U", "-z"]).ok().await.map_err(words)?;
    let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(paths::shown).take(FILES).collect())
}

/// A call that makes commits. Nobody is there for a signing program to ask.
fn unsigned(folder: &Path, verb: &'static str) -> Git {
    // Other branches on the way are not moved along.
    let off = ["-c", "commit.gpgSign=false", "-c", "rebase.updateRefs=false"];
    Git::new(folder, off, verb).env("GIT_EDITOR", "true")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn call(top: &Path, args: &[&str]) -> String {
        let said = Command::new("git").arg("-C").arg(top).args(args).output().unwrap();
        assert!(said.status.success(), "{args:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).unwrap()
    }

    #[tokio::test]
    async fn a_git_that_takes_too_long_in_the_persons_files_is_asked_to_end_and_has_time_for_it() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path();
        call(top, &["init", "-q", "-b", "main"]);
        call(top, &["config", "user.name", "P"]);
        call(top, &["config", "user.email", "p@example.invalid"]);
        call(top, &["commit", "-q", "--allow-empty", "-m", "one"]);
        fs::write(top.join(".gitattributes"), "slow filter=slow\n").unwrap();
        fs::write(top.join("slow"), "x\n").unwrap();
        call(top, &["add", "-A"]);
        call(top, &["commit", "-q", "-m", "two"]);
        let two = call(top, &["rev-parse", "HEAD"]);
        call(top, &["reset", "-q", "--hard", "HEAD~1"]);
        let tidied = temp.path().join("tidied");
        let filter = format!("trap 'sleep 0.3; touch {}; exit 1' TERM; while :; do sleep 0.05; done", tidied.display());
        call(top, &["config", "filter.slow.smudge", &filter]);
        forward(top, two.trim(), Duration::from_secs(2)).await.unwrap_err();
        assert!(tidied.exists() && !top.join(".git/index.lock").exists());
    }
}

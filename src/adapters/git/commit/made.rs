//! Whether git has made our commit, however its call ended, and which commit that is. Nothing is moved back here.
//!
//! Others may commit on top before we look, hooks of ours too; a call may be killed after HEAD has moved. So ours is looked
//! for under HEAD: by the mark that git wrote beside it into the reflog, or by the tree that our index holds.

use crate::adapters::git::command::line;
use crate::adapters::git::error::EvidenceError;
use crate::adapters::git::paths;
use crate::adapters::git::repository::Repository;
use crate::base::text::Clean;
use std::collections::HashSet;
use std::path::PathBuf;

/// So many commits under HEAD are looked at.
const MOST: &str = "1000";
/// Lines of what git and hooks said that are told, the last ones.
const SAID: usize = 60;

/// A call of `git commit` that has ended.
pub(super) struct Attempt {
    /// HEAD, as it was agreed to.
    pub(super) before: Option<String>,
    /// The index that the commit was made from.
    pub(super) own: PathBuf,
    /// What git's reflog says of it, and of nothing before.
    pub(super) mark: String,
    /// How it ended: its exit code, `None` within for a signal; `None`: the program that called has not heard it.
    pub(super) ended: Option<Result<Option<i32>, EvidenceError>>,
}

/// Our commit.
pub(super) struct Made {
    pub(super) id: String,
    pub(super) parent: Option<String>,
}

/// Our commit, if it is made and HEAD has it.
pub(super) async fn find(repository: &Repository, attempt: &Attempt) -> Result<Option<Made>, EvidenceError> {
    let Some(head) = repository.head().await? else { return Ok(None) };
    if attempt.before.as_ref() == Some(&head) {
        return Ok(None);
    }
    // A hook of a call that failed may have committed under its mark.
    let may_be_marked = matches!(attempt.ended, None | Some(Ok(Some(0))));
    let marked = if may_be_marked { marked(repository, &attempt.mark).await? } else { HashSet::new() };
    let tree = repository.git("write-tree").env("GIT_INDEX_FILE", &attempt.own).thorough().run().await?;
    let tree = (tree.code == Some(0)).then(|| paths::shown(&line(tree.stdout)));
    let not_before = attempt.before.as_ref().map(|before| format!("^{before}"));
    let listed = repository
        .git("rev-list")
        .args(["--topo-order", "--format=%H %T %P", "-n", MOST, &head])
        .args(not_before)
        .thorough()
        .ok()
        .await?;
    let listed = paths::shown(&listed);
    // The oldest: what hooks of ours have committed upon it has the same mark.
    let made = listed.lines().rev().filter(|line| !line.starts_with("commit ")).find_map(|line| {
        let mut words = line.split(' ');
        let (id, its_tree) = (words.next()?, words.next()?);
        let parent = words.next().filter(|parent| !parent.is_empty()).map(str::to_owned);
        let is_ours = marked.contains(id) || tree.as_deref() == Some(its_tree) && parent == attempt.before;
        is_ours.then(|| Made { id: id.to_owned(), parent })
    });
    Ok(made)
}

/// What the reflog of HEAD has with this mark; nothing where there is no reflog.
async fn marked(repository: &Repository, mark: &str) -> Result<HashSet<String>, EvidenceError> {
    let said =
        repository.git("log").args(["-g", "--no-show-signature", "--format=%H %gs", "-n", MOST, "HEAD"]).run().await?;
    let said = paths::shown(&said.stdout);
    let entries = said.lines().filter_map(|line| line.split_once(' '));
    Ok(entries.filter(|(_, of)| of.starts_with(mark)).map(|(id, _)| id.to_owned()).collect())
}

/// Why there is no commit, in words; `said`: by git and its hooks.
pub(super) async fn nothing(repository: &Repository, attempt: &Attempt, said: &[u8]) -> String {
    let is_still = repository.head().await.is_ok_and(|head| head == attempt.before);
    let so = if is_still {
        "Nothing was committed."
    } else {
        "HEAD has moved and does not contain this commit; check `git reflog`."
    };
    let said = last_lines(said);
    match &attempt.ended {
        None => format!("programmator exited before git had committed. {so}\n{said}").trim_end().to_owned(),
        Some(Ok(Some(0))) => format!("git reported a commit, but HEAD does not contain it. {so}"),
        Some(Ok(_)) => {
            let so = if is_still { "nothing is lost" } else { so };
            format!("git did not commit; {so}\n{said}")
        }
        Some(Err(EvidenceError::TimedOut { seconds, .. })) => {
            format!("git, its hooks or the signing did not finish within {seconds} s. {so}")
        }
        Some(Err(error)) => format!("{error}. {so}"),
    }
}

/// The end of what a program said, safe to show.
fn last_lines(said: &[u8]) -> String {
    let said = Clean::new(&paths::shown(said)).into_string();
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SAID)..].join("\n")
}

//! Committing what a ticket's runs have done, by change and not by file: what the person had changed before, or changed
//! meanwhile, leaves that file out.
//!
//! The commit is made by the person's own git from an index of ours, so that their hooks and their signing run and what
//! they have staged stays staged. Their index follows for the committed files alone. Who changed what is
//! `attribution`'s question, which hooks are new `programs`'.

mod job;
mod made;

use self::job::Job;
use self::made::Attempt;
use super::attribution::{self, Side, Work};
use super::changes::told;
use super::command::{Git, line};
use super::error::EvidenceError;
use super::paths::{self, Excludes};
use super::programs;
use super::repository::Repository;
use super::scratch::{self as scratches, Objects, Scratch, Staged, listing};
use crate::base::text::shell_word;
use crate::domain::changes::{Change, Changes};
use crate::domain::commit::{Agreed, CommitPlan, Committed, LeftOut, Program, short};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Hooks and signing take as long as this at most.
pub const PATIENCE: Duration = Duration::from_secs(600);
/// What they get to end by themselves when that is over.
const GRACE: Duration = Duration::from_secs(10);
/// Another program that holds the index is waited for so often, so long.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// What git is in the middle of, by the file that says so.
const UNDER_WAY: [(&str, &str); 5] = [
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
];

/// A plan with the files as git knows them.
struct Ready {
    plan: CommitPlan,
    /// What goes in, as it is now.
    files: Vec<(Vec<u8>, Side)>,
    staged: Staged,
}

pub(super) async fn plan(repository: &Arc<Repository>, work: &Work, exclude: &Excludes) -> Result<CommitPlan, String> {
    Ok(ready(repository, work, exclude).await?.plan)
}

async fn ready(repository: &Arc<Repository>, work: &Work, exclude: &Excludes) -> Result<Ready, String> {
    if let Some((_, what)) = UNDER_WAY.iter().find(|(file, _)| repository.git_dir.join(file).exists()) {
        return Err(format!("git is in the middle of {what}: finish or abort it first"));
    }
    let index = index(repository).await.map_err(|error| error.to_string())?;
    let Some(index) = index else { return Err("the index has unresolved conflicts: resolve them first".to_owned()) };
    let programs = programs::changed(repository, work.since).await.map_err(|error| error.to_string())?;
    ready_from(repository, work, exclude, &index, programs).await.map_err(|error| error.to_string())
}

/// The branch that is checked out; `None`: none is.
async fn branch(repository: &Repository) -> Result<Option<String>, EvidenceError> {
    let branch = repository.git("symbolic-ref").args(["--short", "-q", "HEAD"]).run().await?;
    Ok((branch.code == Some(0)).then(|| paths::shown(&line(branch.stdout))))
}

async fn ready_from(
    repository: &Arc<Repository>,
    work: &Work,
    exclude: &Excludes,
    index: &HashMap<Vec<u8>, Side>,
    programs: Vec<Program>,
) -> Result<Ready, EvidenceError> {
    let head = repository.head().await?;
    let branch = branch(repository).await?;
    let staged = scratches::stage(repository, exclude, Objects::Passing).await?;
    // A filter is a program, too: none is run where the settings that name it were changed.
    let filters = programs.is_empty();
    let judged = attribution::judge(repository, &staged, work, head.as_deref(), index, exclude, filters).await?;
    let (mut left_out, mut chosen, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for file in judged {
        if let Some(why) = file.out {
            left_out.push(LeftOut { path: paths::shown(&file.path), why });
        } else {
            lines.extend(file.now.index_line(&file.path, &repository.object_format));
            chosen.push((file.path, file.now));
        }
    }
    let Changes { files, added, removed, .. } = preview(&staged.scratch, head.as_deref(), lines).await?;
    let tree = staged.tree.clone();
    let top = repository.top.clone();
    let plan = CommitPlan { top, head, branch, tree, files, added, removed, left_out, programs };
    Ok(Ready { plan, files: chosen, staged })
}

/// What HEAD with these lines in its index differs by from HEAD, for people.
async fn preview(scratch: &Scratch, head: Option<&str>, lines: Vec<u8>) -> Result<Changes, EvidenceError> {
    let index = scratch.beside("preview");
    let git = |verb| scratch.git(verb).env("GIT_INDEX_FILE", &index);
    let before = attribution::tree_of(scratch, head).await?;
    git("read-tree").args([&before]).thorough().ok().await?;
    git("update-index").args(["-z", "--index-info"]).input(lines).thorough().ok().await?;
    let after = paths::shown(&line(git("write-tree").args(["--missing-ok"]).thorough().ok().await?));
    told(scratch, &before, &after).await
}

/// The person's index: what it holds of each file; `None`: there are conflicts in it.
async fn index(repository: &Repository) -> Result<Option<HashMap<Vec<u8>, Side>>, EvidenceError> {
    let listed = repository.git("ls-files").args(["-s", "-z"]).thorough().ok().await?;
    let mut entries = HashMap::new();
    for entry in listed.split(|&byte| byte == 0).filter(|entry| !entry.is_empty()) {
        let Some(tab) = entry.iter().position(|&byte| byte == b'\t') else { continue };
        let head = paths::shown(&entry[..tab]);
        let mut words = head.split(' ');
        let (Some(mode), Some(id), Some(stage)) = (words.next(), words.next(), words.next()) else { continue };
        if stage != "0" {
            return Ok(None);
        }
        entries.insert(entry[tab + 1..].to_vec(), Side::new(mode, id));
    }
    Ok(Some(entries))
}

/// One try to commit.
pub struct Try<'a> {
    /// No other has it.
    pub id: &'a str,
    /// Told when git runs, which goes on without this program.
    pub called: &'a (dyn Fn() + Send + Sync),
}

/// Makes the commit that was agreed to; words for the person where it is not made.
pub(super) async fn commit(
    repository: &Arc<Repository>,
    work: &Work,
    agreed: &Agreed,
    attempt: &Try<'_>,
    exclude: &Excludes,
) -> Result<Committed, String> {
    if agreed.message.trim().is_empty() {
        return Err("a commit needs a message".to_owned());
    }
    let job = Job::at(&repository.keep);
    if job.runs() {
        return Err(RUNS.to_owned());
    }
    let Ready { plan, files: mut chosen, staged } = ready(repository, work, exclude).await?;
    if plan.head != agreed.head {
        return Err("HEAD has moved since this was shown: review it again".to_owned());
    }
    if plan.branch != agreed.branch {
        return Err("another branch was checked out since this was shown: review it again".to_owned());
    }
    if plan.tree != agreed.tree {
        return Err("files were changed since this was shown: review it again".to_owned());
    }
    if let Some(new) = plan.programs.iter().find(|program| !agreed.programs.contains(program)) {
        return Err(format!("{} was changed since this was shown: review it again", new.name));
    }
    let out = taken_out(&plan, &agreed.without);
    chosen.retain(|(path, _)| !out.contains(&paths::shown(path)));
    if chosen.is_empty() {
        return Err("nothing to commit".to_owned());
    }
    job.begin().map_err(|error| error.to_string())?;
    own_index(repository, &job.index(), &plan, &chosen).await.map_err(|error| error.to_string())?;
    // What is in our index now is what was shown, or the files have another content by now.
    let again = scratches::stage(repository, exclude, Objects::Passing).await.map_err(|error| error.to_string())?;
    if again.tree != plan.tree {
        return Err("files were changed while committing: nothing was committed".to_owned());
    }
    if repository.head().await.map_err(|error| error.to_string())? != plan.head {
        return Err("HEAD has moved while committing: nothing was committed".to_owned());
    }
    if branch(repository).await.map_err(|error| error.to_string())? != plan.branch {
        return Err("another branch was checked out while committing: nothing was committed".to_owned());
    }
    let programs = programs::changed(repository, work.since).await.map_err(|error| error.to_string())?;
    if programs != plan.programs {
        return Err("hooks or settings were changed while committing: nothing was committed".to_owned());
    }
    let mark = mark(attempt.id);
    let (input, output) = job.files(&agreed.message).map_err(|error| error.to_string())?;
    let ended = Git::as_person_apart(&repository.top, "commit")
        .args(["--cleanup=whitespace", "-F", "-"])
        .env("GIT_INDEX_FILE", job.index())
        .env("GIT_REFLOG_ACTION", &mark)
        .within(work.patience)
        .grace(GRACE)
        .run_in_files(input, &output, attempt.called)
        .await;
    let attempt = Attempt { before: plan.head.clone(), own: job.index(), mark, ended: Some(ended) };
    let made = finish(repository, &staged.scratch, &attempt, &job).await;
    job.remove();
    made
}

const RUNS: &str = "git is still making the last commit (hooks, signing)";

/// What git's reflog says of the commit with this id.
fn mark(id: &str) -> String {
    format!("commit (programmator {id})")
}

/// Finishes what a program that has ended has left of a commit: whether it was made, and the index then. `None`: git still
/// works on it.
pub(super) async fn recover(
    repository: &Arc<Repository>,
    head: Option<&str>,
    id: &str,
) -> Result<Option<Result<Committed, String>>, EvidenceError> {
    let job = Job::at(&repository.keep);
    if job.runs() {
        return Ok(None);
    }
    let scratch = Scratch::new(repository, Objects::Passing).await?;
    let attempt = Attempt { before: head.map(str::to_owned), own: job.index(), mark: mark(id), ended: None };
    let made = finish(repository, &scratch, &attempt, &job).await;
    job.remove();
    Ok(Some(made))
}

/// Whether the commit is made, now that git has ended; if so, the index follows.
async fn finish(repository: &Repository, scratch: &Scratch, attempt: &Attempt, job: &Job) -> Result<Committed, String> {
    let made = made::find(repository, attempt).await.map_err(|error| {
        format!("git was called, but the result is unknown: {error}. Check `git log` and `git reflog`")
    })?;
    let Some(made) = made else { return Err(made::nothing(repository, attempt, &job.said()).await) };
    let short = short(&made.id);
    if made.parent != attempt.before {
        return Err(format!(
            "HEAD moved while committing: {short} was made on top of a commit that it undoes. Nothing was reverted; check `git log`: `git reset --soft {short}^` returns to the other commit while {short} is the last one"
        ));
    }
    let step = async {
        let before = attribution::tree_of(scratch, attempt.before.as_deref()).await?;
        let ours = format!("{}^{{tree}}", made.id);
        let own = attribution::differing(scratch, &before, &ours).await?;
        let files = own.len();
        // What came upon it has the last word: a hook commits by the index that it is given, which is not the person's.
        let head = repository.head().await?.unwrap_or_else(|| made.id.clone());
        let mut since = attribution::differing(scratch, &ours, &format!("{head}^{{tree}}")).await?;
        let steps = own.into_iter().map(|(path, (old, ours))| {
            let now = since.remove(&path).map_or_else(|| ours.clone(), |(_, now)| now);
            (path, [old, ours, now])
        });
        let mut steps: Steps = steps.collect();
        steps.extend(since.into_iter().map(|(path, (old, now))| (path, [old.clone(), old, now])));
        let followed = follow(repository, &steps).await.map_err(|error| (error, steps));
        Ok::<_, EvidenceError>((files, followed))
    };
    let behind = |error: EvidenceError, files: String| {
        Some(format!("{short} was committed, but the index was not updated: {error}; run `git reset -- {files}`"))
    };
    let (files, trouble) = match step.await {
        Ok((files, Ok(()))) => (files, None),
        Ok((files, Err((error, steps)))) => {
            let mut names: Vec<String> = steps.keys().map(|path| shell_word(&paths::shown(path))).collect();
            names.sort();
            (files, behind(error, names.join(" ")))
        }
        Err(error) => (0, behind(error, ".".to_owned())),
    };
    Ok(Committed { id: made.id, files, trouble })
}

/// The names of what the person has taken out, as they are and as they were.
fn taken_out(plan: &CommitPlan, without: &[String]) -> HashSet<String> {
    let files = plan.files.iter().filter(|file| without.contains(&file.path));
    let names = files.flat_map(|file| {
        let before = if let Change::Renamed(from) = &file.change { Some(from.clone()) } else { None };
        [Some(file.path.clone()), before]
    });
    names.flatten().collect()
}

/// HEAD's files and the chosen ones as they are now, converted as the person's git does.
async fn own_index(
    repository: &Arc<Repository>,
    index: &Path,
    plan: &CommitPlan,
    files: &[(Vec<u8>, Side)],
) -> Result<(), EvidenceError> {
    // What the person's index knows of the files saves reading them all.
    let _ = scratches::copy(&repository.git_dir.join("index"), index);
    let git = |verb| repository.git(verb).env("GIT_INDEX_FILE", index);
    match &plan.head {
        Some(head) => git("read-tree").args(["--reset", head]).thorough().ok().await?,
        None => git("read-tree").args(["--empty"]).ok().await?,
    };
    // What is gone is named and not looked for: its folder may be a link by now.
    let (gone, there): (Vec<_>, Vec<_>) = files.iter().partition(|(_, now)| *now == Side::default());
    let lines = gone.iter().flat_map(|(path, now)| now.index_line(path, &repository.object_format)).collect();
    git("update-index").args(["-z", "--index-info"]).input(lines).thorough().ok().await?;
    git("update-index")
        .args(["-z", "--add", "--remove", "--replace", "--stdin"])
        .input(listing(there.iter().map(|(path, _)| path.as_slice())))
        .thorough()
        .ok()
        .await?;
    Ok(())
}

/// Path → what it was before the commit, in it, and in HEAD now.
type Steps = HashMap<Vec<u8>, [Side; 3]>;

/// Brings the person's index in step for the files that were committed; what else they have staged stays.
async fn follow(repository: &Repository, steps: &Steps) -> Result<(), EvidenceError> {
    let mut tries = 0;
    loop {
        tries += 1;
        // Read when nobody holds it: what whoever held it has staged is theirs.
        if tries < TRIES && repository.git_dir.join("index.lock").exists() {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let entries = index(repository).await?.unwrap_or_default();
        let mut lines = Vec::new();
        for (path, [old, ours, now]) in steps {
            let staged = entries.get(path).cloned().unwrap_or_default();
            // A file that a hook put in, and of which another version is staged, is the person's.
            if staged == *old || staged == *ours {
                lines.extend(now.index_line(path, &repository.object_format));
            }
        }
        match repository.git("update-index").args(["-z", "--index-info"]).input(lines).thorough().ok().await {
            Ok(_) => return Ok(()),
            Err(EvidenceError::Failed { said, .. }) if tries < TRIES && said.contains("index.lock") => {
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
}

//! The commit that a branch began at: its merge base with its upstream or the default branch.

use super::command::line;
use super::error::EvidenceError;
use super::paths;
use super::repository::Repository;
use super::snapshot::SnapshotId;
use crate::base::text::clean_line;

/// The merge base, and in words what it is; `None`: there is no such branch, or no commit in common.
pub(super) async fn base(repository: &Repository) -> Result<Option<(SnapshotId, String)>, EvidenceError> {
    let ask = async |verb, args: &[&str]| -> Result<Option<String>, EvidenceError> {
        let said = repository.git(verb).args(args).run().await?;
        let text = paths::shown(&line(said.stdout));
        Ok((said.code == Some(0) && !text.is_empty()).then_some(text))
    };
    let upstream = ask("rev-parse", &["--abbrev-ref", "--symbolic-full-name", "@{upstream}"]).await?;
    let default = ask("symbolic-ref", &["--short", "-q", "refs/remotes/origin/HEAD"]).await?;
    let named = ask("config", &["--get", "init.defaultBranch"]).await?;
    let here = ask("symbolic-ref", &["--short", "-q", "HEAD"]).await?;
    let usual = ["main", "master"].map(|name| Some(name.to_owned()));
    for branch in [upstream, default, named].into_iter().chain(usual).flatten() {
        let commit = format!("{branch}^{{commit}}");
        if !branch.starts_with('-')
            && let Some(other) = ask("rev-parse", &["--verify", "--quiet", &commit]).await?
            && let Some(base) = ask("merge-base", &["HEAD", &other]).await?
        {
            // The branch itself has no base.
            let words = if Some(&branch) == here.as_ref() {
                "since the last commit".to_owned()
            } else {
                format!("since branching from {branch}")
            };
            return Ok(Some((SnapshotId(base), words)));
        }
    }
    Ok(None)
}

/// The merge base with this branch or commit; words for the person where there is none.
pub(super) async fn with(repository: &Repository, base: &str) -> Result<SnapshotId, String> {
    let ask = async |verb, args: &[&str]| -> Result<Option<String>, String> {
        let said = repository.git(verb).args(args).run().await.map_err(|error| error.to_string())?;
        let text = paths::shown(&line(said.stdout));
        Ok((said.code == Some(0) && !text.is_empty()).then_some(text))
    };
    let mut named = None;
    // A branch is meant, also where a tag has its name.
    let places = [format!("refs/heads/{base}"), format!("refs/remotes/{base}"), base.to_owned()];
    for name in places.iter().filter(|_| !base.starts_with('-')) {
        named = ask("rev-parse", &["--verify", "--quiet", &format!("{name}^{{commit}}")]).await?;
        if named.is_some() {
            break;
        }
    }
    let shown = clean_line(base, 80);
    let other = named.ok_or_else(|| format!("no branch or commit `{shown}` here; choose another with --base"))?;
    let found = ask("merge-base", &["HEAD", &other]).await?;
    found
        .map(SnapshotId)
        .ok_or_else(|| format!("HEAD and `{shown}` have no commit in common; is this a shallow clone?"))
}

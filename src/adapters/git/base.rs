//! The commit that a branch began at: its merge base with its upstream or the default branch.

use super::command::line;
use super::error::EvidenceError;
use super::paths;
use super::repository::Repository;
use super::snapshot::SnapshotId;

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

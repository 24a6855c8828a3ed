//! The name that a worktree has for the snapshot whose files it was made with. Git removes it with the worktree.

use super::command::{Git, line};
use super::error::EvidenceError;
use super::paths;

pub(super) const REF: &str = "refs/worktree/programmator-fork";

/// A commit with those files, upon the one that the worktree's branch began at; `None`: it was made without. `call`: of
/// `git rev-parse` there.
pub(super) async fn begun(call: Git) -> Result<Option<String>, EvidenceError> {
    let said = call.args(["--verify", "--quiet", REF]).run().await?;
    Ok((said.code == Some(0)).then(|| paths::shown(&line(said.stdout))))
}

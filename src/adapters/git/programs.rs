//! What git would run for a commit and what was changed since a ticket began: hooks, what hook managers read, and the
//! settings that name programs.

use super::command::{Git, line};
use super::error::EvidenceError;
use super::paths;
use super::repository::Repository;
use crate::base::time::Timestamp;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files at the top by which hook managers know what to run.
const MANAGERS: [&str; 5] =
    [".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lintstagedrc"];

/// Those that were changed since, by their names; a time of change cannot be set back.
pub(super) async fn changed(repository: &Repository, since: Timestamp) -> Result<Vec<String>, EvidenceError> {
    let hooks = Git::as_person(&repository.top, "rev-parse").args(["--git-path", "hooks"]).ok().await?;
    let hooks = repository.top.join(paths::path(&line(hooks)));
    let mut files = vec![repository.common_dir.join("config"), repository.git_dir.join("config.worktree")];
    files.extend(settings(repository).await?);
    let managed = files_in(&hooks);
    if !managed.is_empty() {
        files.extend(MANAGERS.map(|name| repository.top.join(name)));
    }
    files.extend(managed);
    // Hooks in the working tree may call those of the folder above, as husky's do.
    if let Some(above) = hooks.parent().filter(|above| hooks.starts_with(&repository.top) && *above != repository.top)
        && !hooks.starts_with(&repository.common_dir)
    {
        files.extend(files_in(above));
    }
    let mut changed: Vec<String> = files
        .iter()
        .filter(|file| was_changed(file, since))
        .map(|file| file.strip_prefix(&repository.top).unwrap_or(file).to_string_lossy().into_owned())
        .collect();
    changed.sort();
    changed.dedup();
    Ok(changed)
}

/// The files that git's settings come from, those that others include too.
async fn settings(repository: &Repository) -> Result<Vec<PathBuf>, EvidenceError> {
    let listed = Git::as_person(&repository.top, "config").args(["--list", "--show-origin", "-z"]).ok().await?;
    let origins = listed.split(|&byte| byte == 0).step_by(2);
    let mut files: Vec<PathBuf> =
        origins.filter_map(|origin| Some(repository.top.join(paths::path(origin.strip_prefix(b"file:")?)))).collect();
    files.dedup();
    Ok(files)
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let counts = |path: &PathBuf| path.extension().is_none_or(|extension| extension != "sample") && !path.is_dir();
    entries.filter(counts).collect()
}

/// The file, or what the link leads to.
fn was_changed(file: &Path, since: Timestamp) -> bool {
    let after = |data: fs::Metadata| data.ctime() * 1_000 + data.ctime_nsec() / 1_000_000 >= since.millis();
    fs::symlink_metadata(file).is_ok_and(after) || fs::metadata(file).is_ok_and(after)
}

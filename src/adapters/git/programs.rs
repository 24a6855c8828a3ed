//! What git would run for a commit and what was changed since a ticket began: hooks, what hook managers read, and the
//! settings that name programs.

use super::command::{Git, line};
use super::error::EvidenceError;
use super::paths;
use super::repository::Repository;
use crate::base::time::Timestamp;
use crate::domain::commit::Program;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Most bytes of each that are shown.
const TEXT: u64 = 64 << 10;

/// Files at the top by which hook managers know what to run.
const MANAGERS: [&str; 5] =
    [".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lintstagedrc"];

/// Those that were changed since, by their names; a time of change cannot be set back.
pub(super) async fn changed(repository: &Repository, since: Timestamp) -> Result<Vec<Program>, EvidenceError> {
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
    let mut changed: Vec<Program> = files.iter().filter_map(|file| read(file, since, &repository.top)).collect();
    changed.sort_by(|one, other| one.name.cmp(&other.name));
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

/// The file, or what the link leads to, if it was changed since.
fn read(file: &Path, since: Timestamp, top: &Path) -> Option<Program> {
    let changed = |data: fs::Metadata| i128::from(data.ctime()) * 1_000_000_000 + i128::from(data.ctime_nsec());
    let times = [fs::symlink_metadata(file), fs::metadata(file)].into_iter().filter_map(|data| data.ok().map(changed));
    let changed = times.max().filter(|changed| changed / 1_000_000 >= i128::from(since.millis()))?;
    let mut text = Vec::new();
    if file.is_file() {
        let _ = fs::File::open(file).and_then(|file| file.take(TEXT).read_to_end(&mut text));
    }
    let name = file.strip_prefix(top).unwrap_or(file).to_string_lossy().into_owned();
    Some(Program { name, text: paths::shown(&text), changed })
}

//! Where a repository came from: the addresses of its remotes.

use super::command::{git, line};
use std::path::Path;

/// The address, as it is configured; `None`: there is none, or no repository.
pub async fn origin(folder: &Path) -> Option<String> {
    let said = git(folder, "config").args(["--get", "remote.origin.url"]).run().await.ok()?;
    let url = line(said.stdout);
    let url = String::from_utf8_lossy(&url).trim().to_owned();
    (said.code == Some(0) && !url.is_empty()).then_some(url)
}

/// The addresses of all remotes, as git would fetch from them; none where there is no repository.
pub async fn remotes(folder: &Path) -> Vec<String> {
    let said = git(folder, "remote").args(["--verbose"]).run().await;
    let Some(said) = said.ok().filter(|said| said.code == Some(0)) else { return Vec::new() };
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let fetched = text.lines().filter_map(|line| line.strip_suffix(" (fetch)"));
    fetched.filter_map(|line| Some(line.split_once('\t')?.1.to_owned())).collect()
}

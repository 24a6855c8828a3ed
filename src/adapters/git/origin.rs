//! Where a repository came from: the address of its remote `origin`.

use super::command::{git, line};
use std::path::Path;

/// The address, as it is configured; `None`: there is none, or no repository.
pub async fn origin(folder: &Path) -> Option<String> {
    let said = git(folder, "config").args(["--get", "remote.origin.url"]).run().await.ok()?;
    let url = line(said.stdout);
    let url = String::from_utf8_lossy(&url).trim().to_owned();
    (said.code == Some(0) && !url.is_empty()).then_some(url)
}

//! Who the person is to git.

use super::command::{Git, line};
use std::path::Path;

/// Who git says the person is, in this folder; `None` where it does not know.
pub async fn user_name(folder: &Path) -> Option<String> {
    let said = Git::as_person(folder, "config").args(["--get", "user.name"]).ok().await.ok()?;
    let name = String::from_utf8_lossy(&line(said)).into_owned();
    (!name.is_empty()).then_some(name)
}

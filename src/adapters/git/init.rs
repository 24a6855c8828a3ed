//! Making a folder a repository, where it is in none.

use super::command::Git;
use crate::base::text::clean_line;
use std::path::Path;

/// `git init`, as the person's own git does it: no file of the folder is changed. Words for the person where it fails.
pub async fn init(folder: &Path) -> Result<(), String> {
    if folder.ancestors().any(|above| above.join(".git").exists()) {
        return Err("this folder is already in a git repository".to_owned());
    }
    let made = Git::as_person(folder, "init").args(["-q"]).ok().await;
    made.map(drop).map_err(|error| clean_line(&error.to_string(), 400))
}

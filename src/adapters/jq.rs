//! Has `jq` choose among JSON lines.

use std::io::{self, Seek, Write};
use std::process::{Command, Output, Stdio};

/// Why nothing was chosen.
#[derive(Debug, thiserror::Error)]
pub enum JqError {
    #[error("a filter needs jq, which is not installed: install it, or omit the filter")]
    NotInstalled,
    #[error("jq could not be run: {0}")]
    Failed(#[from] io::Error),
}

/// The lines that `filter`, an expression of jq's, holds for, in ASCII alone; and on `stderr` what jq finds wrong with the filter, which
/// may quote anything of it.
pub fn select(lines: &str, filter: &str) -> Result<Output, JqError> {
    // A file, not a pipe: jq may read as late as it likes, or not at all.
    let mut file = tempfile::tempfile()?;
    file.write_all(lines.as_bytes())?;
    file.rewind()?;
    let mut jq = Command::new("jq");
    jq.arg("-ac").arg(format!("select({filter})")).stdin(file).stderr(Stdio::piped());
    jq.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => JqError::NotInstalled,
        _ => JqError::Failed(error),
    })
}

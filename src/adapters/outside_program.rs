//! A program of the person's that is asked for something and ends: `gh`, `bd`. It asks nobody, has a time limit, and what is wrong
//! is told in its own words, with what to do.

use crate::base::text::{Clean, clean_line};
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Most that it may print, in bytes.
const PRINTED: u64 = 32 << 20;
/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// What went wrong, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ProgramError(String);

/// Whether there is such a program in the PATH.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// What a program prints. `cures`: words of its errors, and what to do about them.
pub async fn printed(
    program: &str,
    args: &[&str],
    folder: &Path,
    cures: &[(&str, &str)],
) -> Result<String, ProgramError> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // It is read by a program, and asks nobody.
    command.env("NO_COLOR", "1").env("GH_PROMPT_DISABLED", "1").env("GH_NO_UPDATE_NOTIFIER", "1").kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ProgramError(format!("`{program}` is not installed or not on your PATH")),
        _ => ProgramError(format!("`{program}` cannot be started: {error}")),
    })?;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let read = async {
        let stdout = async {
            match stdout {
                Some(pipe) => pipe.take(PRINTED + 1).read_to_end(&mut out).await,
                None => Ok(0),
            }
        };
        let stderr = async {
            match stderr {
                Some(pipe) => pipe.take(64 << 10).read_to_end(&mut err).await,
                None => Ok(0),
            }
        };
        let (read, _) = tokio::join!(stdout, stderr);
        read.map(|read| read as u64 <= PRINTED)
    };
    let waited = tokio::time::timeout(PATIENCE, async {
        let is_whole = read.await?;
        // One that prints without end would wait for a reader.
        if !is_whole {
            child.start_kill()?;
        }
        Ok::<_, io::Error>((is_whole, child.wait().await?))
    });
    let (is_whole, status) = match waited.await {
        Err(_) => return Err(ProgramError(format!("`{program}` did not respond for {} s", PATIENCE.as_secs()))),
        Ok(ended) => ended.map_err(|error| ProgramError(format!("`{program}` cannot be read: {error}")))?,
    };
    if !is_whole {
        return Err(ProgramError(format!("`{program}` printed more than {} MiB", PRINTED >> 20)));
    }
    if !status.success() {
        let said = String::from_utf8_lossy(&err).into_owned();
        let cure = cures.iter().find(|(words, _)| said.contains(words)).map(|(_, cure)| format!("; {cure}"));
        let said = clean_line(Clean::new(&said).as_str(), 400);
        let said = if said.is_empty() { format!("it ended with {status}") } else { said };
        return Err(ProgramError(format!("`{program}` failed: {said}{}", cure.unwrap_or_default())));
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

//! A program of the person's that is asked for something and ends. It asks nobody, and what it may print and take has a limit. What its
//! failure means is told by who knows the program: `issue_tool`.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Most that it may print, in bytes.
pub const PRINTED: u64 = 32 << 20;
/// Most of its errors that is read, in bytes.
const SAID: u64 = 64 << 10;
/// How long it may take.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Why it printed nothing that counts.
#[derive(Debug)]
pub enum ProgramError {
    /// It is not in the PATH.
    Missing,
    NotStarted(io::Error),
    NotRead(io::Error),
    /// It took longer than `PATIENCE`.
    NoAnswer,
    /// It printed more than `PRINTED`.
    TooMuch,
    /// `said`: its stderr, as it is.
    Failed {
        status: ExitStatus,
        said: String,
    },
}

/// Whether there is such a program in the PATH.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// What a program prints.
pub async fn printed(program: &str, args: &[&str], folder: &Path) -> Result<String, ProgramError> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // It is read by a program, and asks nobody.
    command.env("NO_COLOR", "1").env("GH_PROMPT_DISABLED", "1").env("GH_NO_UPDATE_NOTIFIER", "1").kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ProgramError::Missing,
        _ => ProgramError::NotStarted(error),
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
                Some(pipe) => pipe.take(SAID).read_to_end(&mut err).await,
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
        Err(_) => return Err(ProgramError::NoAnswer),
        Ok(ended) => ended.map_err(ProgramError::NotRead)?,
    };
    if !is_whole {
        return Err(ProgramError::TooMuch);
    }
    if !status.success() {
        return Err(ProgramError::Failed { status, said: String::from_utf8_lossy(&err).into_owned() });
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

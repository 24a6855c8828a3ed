//! A program of the person's that is asked for something and ends. It has no terminal to ask on, it and what it started end when nobody
//! waits for its answer any more, and what it may print and take has a limit. What its failure means is told by who knows the program:
//! `issue_tool`.

use crate::adapters::own_session;
use crate::adapters::process_group::ProcessGroup;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, copy, sink};

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
    if !is_installed(program) {
        return Err(ProgramError::Missing);
    }
    let mut command = own_session::command(program);
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // It is read by a program, and asks nobody.
    command.env("NO_COLOR", "1").env("GH_PROMPT_DISABLED", "1").env("GH_NO_UPDATE_NOTIFIER", "1");
    command.env("GIT_TERMINAL_PROMPT", "0").kill_on_drop(true);
    let mut child = command.spawn().map_err(ProgramError::NotStarted)?;
    let group = ProcessGroup::of(&child);
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
                Some(mut pipe) => {
                    (&mut pipe).take(SAID).read_to_end(&mut err).await?;
                    // One that says more must not fail of it.
                    copy(&mut pipe, &mut sink()).await.map(|_| ())
                }
                None => Ok(()),
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
    group.leave();
    if !status.success() {
        return Err(ProgramError::Failed { status, said: String::from_utf8_lossy(&err).into_owned() });
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_it_started_ends_with_it_when_nobody_waits_and_much_that_it_says_harms_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let script = "sleep 600 & echo $! > child; wait";
        let args = ["-c", script];
        let asked = printed("sh", &args, folder.path());
        let child = async {
            loop {
                let text = std::fs::read_to_string(folder.path().join("child")).unwrap_or_default();
                if text.ends_with('\n') {
                    return text.trim().parse().unwrap();
                }
                tokio::task::yield_now().await;
            }
        };
        let child: i32 = tokio::select! {
            ended = asked => panic!("{ended:?}"),
            child = child => child,
        };
        let child = rustix::process::Pid::from_raw(child).unwrap();
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while rustix::process::test_kill_process(child).is_ok() && !is_zombie(child) {
            assert!(std::time::Instant::now() < deadline, "it is still there");
            tokio::task::yield_now().await;
        }

        let much = "head -c 300000 /dev/zero >&2; echo done";
        assert_eq!(printed("sh", &["-c", much], folder.path()).await.unwrap(), "done\n");
        assert!(matches!(printed("no-such-program", &[], folder.path()).await, Err(ProgramError::Missing)));
    }

    /// Nobody may be there to wait for it.
    fn is_zombie(pid: rustix::process::Pid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
    }
}

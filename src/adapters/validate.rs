//! Runs a ticket's validation commands and says how they ended.
//!
//! Each is one `bash -c` in the work tree (the shell that Claude's commands run in), in a process group of its own,
//! without a terminal. Its output goes straight into a file, so nobody's memory holds it. Does not own the list of commands (frozen in the journal)
//! nor what a failure means (`orchestrator::judge`).
//!
//! The environment is given ([`crate::adapters::environment`] makes it), with `NO_COLOR=1`, `TERM=dumb` and
//! `GIT_TERMINAL_PROMPT=0`: the tail goes into a prompt, and nobody can answer a question.

use crate::adapters::environment::Variables;
use crate::adapters::process_group::ProcessGroup;
use crate::adapters::shell::NoBash;
use crate::base::text::{Clean, tail};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::process::Command;

/// Most bytes of the tail.
pub const MAX_TAIL: usize = 4_000;
/// Bytes at the end of the output that the tail is made of: colours and the like fall away.
const TAIL_WINDOW: u64 = 4 * MAX_TAIL as u64;
/// A command that writes more is ended, before it fills the disk.
const MAX_LOG: u64 = 1 << 30;
/// How often the size is looked at while a command runs.
const LOOK: Duration = Duration::from_millis(250);
/// From TERM to KILL.
const GRACE: Duration = Duration::from_secs(2);

/// How one command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The command line.
    pub command: String,
    /// Exit code; `None` for a signal, the timeout, or a command that could not be started.
    pub exit: Option<i32>,
    /// It ran into the timeout.
    pub timed_out: bool,
    /// Milliseconds.
    pub ms: u64,
    /// The last of its output, clean, from the start of a line: at most [`MAX_TAIL`] bytes.
    pub tail: String,
    /// The whole output.
    pub log: PathBuf,
}

impl Outcome {
    /// Exit 0.
    pub fn passed(&self) -> bool {
        self.exit == Some(0)
    }
}

/// Where and how commands run.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// The work tree.
    pub folder: &'a Path,
    /// One command at most.
    pub timeout: Duration,
    /// Where the outputs go, as `validation-<n>.log`; made when missing.
    pub log_dir: &'a Path,
    /// The whole environment.
    pub env: &'a Variables,
    /// What runs them.
    pub shell: &'a Result<PathBuf, NoBash>,
}

/// Runs the commands one after another and stops at the first failure. Dropping the future ends the
/// running command with all it started.
pub async fn run(commands: &[String], place: &Place<'_>) -> Vec<Outcome> {
    let mut outcomes = Vec::with_capacity(commands.len());
    for (index, command) in commands.iter().enumerate() {
        let log = place.log_dir.join(format!("validation-{}.log", index + 1));
        let outcome = one(command, place, log).await;
        let passed = outcome.passed();
        outcomes.push(outcome);
        if !passed {
            break;
        }
    }
    outcomes
}

/// Why a command's run came to an end.
enum End {
    Exited(io::Result<ExitStatus>),
    OutOfTime,
    OutOfSpace,
}

async fn one(command: &str, place: &Place<'_>, log: PathBuf) -> Outcome {
    let begun = Instant::now();
    let mut outcome =
        Outcome { command: command.to_owned(), exit: None, timed_out: false, ms: 0, tail: String::new(), log };
    let remark = match attempt(command, place, &outcome.log).await {
        Ok(End::Exited(Ok(status))) => {
            outcome.exit = status.code();
            status.code().is_none().then(|| format!("ended by {status}"))
        }
        Ok(End::Exited(Err(error))) => Some(format!("lost sight of it: {error}")),
        Ok(End::OutOfTime) => {
            outcome.timed_out = true;
            Some(format!("ended: it ran longer than {} s", place.timeout.as_secs()))
        }
        Ok(End::OutOfSpace) => Some("ended: it wrote more than 1 GiB".to_owned()),
        Err(error) => Some(format!(
            "could not be started in {} with its output in {}: {error}",
            place.folder.display(),
            outcome.log.display()
        )),
    };
    outcome.ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    if let Some(remark) = &remark {
        // Into the file as well, so that the whole output tells the whole story. A full disk may refuse.
        let _ = append(&outcome.log).and_then(|mut file| writeln!(file, "\n[programmator: {remark}]"));
    }
    outcome.tail = match (end_of(&outcome.log), remark) {
        (Ok(text), _) => text,
        (Err(_), remark) => remark.unwrap_or_default(),
    };
    outcome
}

async fn attempt(command: &str, place: &Place<'_>, log: &Path) -> io::Result<End> {
    fs::create_dir_all(place.log_dir)?;
    // An earlier process may have run the same command of the same iteration.
    let output = append(log)?;
    output.set_len(0)?;
    let shell = place.shell.as_ref().map_err(|none| io::Error::other(none.clone()))?;
    let mut shell = Command::new(shell);
    shell
        .args(["-c", command])
        .current_dir(place.folder)
        .env_clear()
        .envs(place.env.iter().map(|(name, value)| (name, value)))
        .envs([("NO_COLOR", "1"), ("TERM", "dumb"), ("GIT_TERMINAL_PROMPT", "0")])
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?);
    ProcessGroup::prepare(&mut shell);
    let mut child = shell.spawn()?;
    let mut group = ProcessGroup::of(&child);
    let end = tokio::select! {
        status = child.wait() => End::Exited(status),
        () = tokio::time::sleep(place.timeout) => End::OutOfTime,
        () = overflow(&output) => End::OutOfSpace,
    };
    if !matches!(end, End::Exited(_)) {
        group.terminate();
        let _ = tokio::time::timeout(GRACE, child.wait()).await;
    }
    // Also what the command left in the background: the next one starts on a quiet tree.
    group.kill();
    if !matches!(end, End::Exited(_)) {
        let _ = child.wait().await;
    }
    Ok(end)
}

/// Comes back when the output has grown too long.
async fn overflow(output: &File) {
    loop {
        tokio::time::sleep(LOOK).await;
        if output.metadata().is_ok_and(|data| data.len() > MAX_LOG) {
            return;
        }
    }
}

fn append(log: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(log)
}

/// The end of the file as clean text.
fn end_of(log: &Path) -> io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_WINDOW)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_WINDOW).read_to_end(&mut bytes)?;
    let text = Clean::new(&String::from_utf8_lossy(&bytes)).into_string();
    Ok(tail(&text, MAX_TAIL).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn run_in(folder: &Path, seconds: f64, commands: &[&str]) -> Vec<Outcome> {
        let commands: Vec<String> = commands.iter().map(ToString::to_string).collect();
        let place = Place {
            folder,
            timeout: Duration::from_secs_f64(seconds),
            log_dir: &folder.join("logs"),
            env: &vec![
                ("PATH".into(), std::env::var_os("PATH").unwrap()),
                ("PROGRAMMATOR_RUN_ID".into(), "marker".into()),
            ],
            shell: &Ok("/bin/bash".into()),
        };
        run(&commands, &place).await
    }

    /// Waits until the process is gone or only its entry is left; fails after 10 s.
    fn wait_until_gone(pid: &str) {
        let id = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
        let begun = Instant::now();
        loop {
            // Where nobody reaps orphans, a dead one stays as a zombie.
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            if rustix::process::test_kill_process(id).is_err() || stat.contains(") Z ") {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "{pid} lives on: {stat}");
            std::thread::yield_now();
        }
    }

    #[tokio::test]
    async fn stops_at_the_first_failure_and_keeps_both_streams_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let outcomes =
            run_in(dir.path(), 20.0, &["echo one; echo two >&2; echo three", "echo why; exit 7", "echo never"]).await;
        assert_eq!(outcomes.len(), 2);
        assert_eq!((outcomes[0].exit, outcomes[0].tail.as_str()), (Some(0), "one\ntwo\nthree\n"));
        assert_eq!((outcomes[1].exit, outcomes[1].tail.as_str()), (Some(7), "why\n"));
        assert!(!outcomes[1].passed());
        assert_eq!(fs::read_to_string(&outcomes[0].log).unwrap(), "one\ntwo\nthree\n");
    }

    #[tokio::test]
    async fn has_just_the_environment_it_is_given_no_colours_and_no_stdin() {
        let dir = tempfile::tempdir().unwrap();
        let command = "echo $PROGRAMMATOR_RUN_ID $NO_COLOR [$HOME$CARGO_MANIFEST_DIR]; cat; [[ x ]] && printf \
                       '\\033[31mred\\033[0m'";
        let outcomes = run_in(dir.path(), 20.0, &[command]).await;
        assert_eq!(outcomes[0].tail, "marker 1 []\nred");
    }

    #[tokio::test]
    async fn a_flood_is_whole_on_disk_and_short_in_the_tail() {
        let dir = tempfile::tempdir().unwrap();
        let outcomes = run_in(dir.path(), 60.0, &["yes 0123456789 | head -c 110000000; exit 1"]).await;
        assert_eq!(fs::metadata(&outcomes[0].log).unwrap().len(), 110_000_000);
        assert!(outcomes[0].tail.len() <= MAX_TAIL && outcomes[0].tail.starts_with("0123456789\n"));
    }

    #[tokio::test]
    async fn the_timeout_ends_the_whole_group_also_what_ignores_term() {
        let dir = tempfile::tempdir().unwrap();
        let command = "trap '' TERM; (trap '' TERM; echo $$ $(sh -c 'echo $PPID'); while :; do sleep 1; done) & wait; while :; do sleep 1; done";
        let outcomes = run_in(dir.path(), 0.5, &[command]).await;
        assert!(outcomes[0].timed_out);
        assert_eq!(outcomes[0].exit, None);
        assert!(outcomes[0].tail.contains("ran longer than"), "{}", outcomes[0].tail);
        let output = fs::read_to_string(&outcomes[0].log).unwrap();
        let pids: Vec<&str> = output.lines().next().unwrap().split(' ').collect();
        assert_eq!(pids.len(), 2, "{output}");
        pids.into_iter().for_each(wait_until_gone);
    }

    #[tokio::test]
    async fn what_is_left_in_the_background_does_not_hold_the_run_up_and_ends() {
        let dir = tempfile::tempdir().unwrap();
        let begun = Instant::now();
        let outcomes = run_in(dir.path(), 60.0, &["sleep 50 & echo $!"]).await;
        assert_eq!(outcomes[0].exit, Some(0));
        assert!(begun.elapsed() < Duration::from_secs(40));
        wait_until_gone(outcomes[0].tail.trim());
    }

    #[tokio::test]
    async fn dropping_the_future_ends_the_command() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("logs/validation-1.log");
        let pid = async {
            loop {
                match fs::read_to_string(&log) {
                    Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                    _ => tokio::task::yield_now().await,
                }
            }
        };
        let pid = tokio::select! {
            _ = run_in(dir.path(), 60.0, &["sleep 50 & echo $!; wait"]) => unreachable!("it sleeps"),
            pid = pid => pid,
        };
        wait_until_gone(&pid);
    }

    #[tokio::test]
    async fn a_folder_that_is_gone_and_a_signal_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let gone = dir.path().join("gone");
        let place = Place {
            folder: &gone,
            timeout: Duration::from_secs(5),
            log_dir: dir.path(),
            env: &Variables::new(),
            shell: &Ok("/bin/bash".into()),
        };
        let outcomes = run(&["true".to_owned()], &place).await;
        assert_eq!(outcomes[0].exit, None);
        assert!(outcomes[0].tail.contains("could not be started in"), "{}", outcomes[0].tail);
        let none = Err(NoBash { path: "/nowhere".into() });
        let outcomes = run(&["true".to_owned()], &Place { folder: dir.path(), shell: &none, ..place }).await;
        assert!(outcomes[0].tail.contains("bash was not found") && !outcomes[0].passed(), "{}", outcomes[0].tail);
        let outcomes = run_in(dir.path(), 5.0, &["kill -9 $$"]).await;
        assert_eq!(outcomes[0].exit, None);
        assert!(outcomes[0].tail.contains("signal: 9"), "{}", outcomes[0].tail);
    }
}

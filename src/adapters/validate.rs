//! Runs a ticket's validation commands and says how they ended.
//!
//! Each is one `bash -c` in the working tree (the shell that Claude's commands run in), in a process group of its own,
//! without a terminal. Of its output the beginning and the end go into a file of bounded size. Does not own the list of
//! commands (frozen in the journal) nor what a failure means (`orchestrator::judge`).
//!
//! The environment is given ([`crate::adapters::environment`] makes it), with `NO_COLOR=1`, `TERM=dumb` and
//! `GIT_TERMINAL_PROMPT=0`: the tail goes into a prompt, and nobody can answer a question.

mod kept;

use crate::adapters::environment::Variables;
use crate::adapters::process_group::ProcessGroup;
use crate::adapters::room::Room;
use crate::adapters::shell::NoBash;
use crate::base::text::{Clean, tail};
use crate::domain::record::ValidationRan;
use kept::Kept;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio_util::task::AbortOnDropHandle;

pub const MAX_TAIL: usize = 4_000;
/// Bytes at the end of the output that the tail is made of: colours and the like fall away.
const TAIL_WINDOW: u64 = 4 * MAX_TAIL as u64;
/// After the end of a command others may hold its output; they have this long.
const LAST_OUTPUT: Duration = Duration::from_millis(500);
const GRACE: Duration = Duration::from_secs(2);

/// Where and how commands run.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    pub folder: &'a Path,
    /// One command at most.
    pub timeout: Duration,
    /// Where the outputs go, as `validation-<n>.log`; made when missing.
    pub log_dir: &'a Path,
    /// Bytes of one output that are kept at most.
    pub output: u64,
    /// Where they may be written to.
    pub room: Room,
    pub env: &'a Variables,
    pub shell: &'a Result<PathBuf, NoBash>,
}

/// Runs the commands one after another and stops at the first failure. Dropping the future ends the
/// running command with all it started.
pub async fn run(n: u32, commands: &[String], place: &Place<'_>) -> Vec<ValidationRan> {
    let mut outcomes = Vec::with_capacity(commands.len());
    for (index, command) in commands.iter().enumerate() {
        let log = place.log_dir.join(format!("validation-{}.log", index + 1));
        let outcome = one(n, command, place, &log).await;
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
}

async fn one(n: u32, command: &str, place: &Place<'_>, log: &Path) -> ValidationRan {
    let begun = Instant::now();
    let (command, log_path) = (command.to_owned(), log.display().to_string());
    let attempt = attempt(&command, place, log).await;
    let mut outcome =
        ValidationRan { n, command, exit: None, timed_out: false, ms: 0, tail: String::new(), log: log_path };
    let remark = match &attempt {
        Ok((End::Exited(Ok(status)), _)) => {
            outcome.exit = status.code();
            status.code().is_none().then(|| format!("killed by {status}"))
        }
        Ok((End::Exited(Err(error)), _)) => Some(format!("its exit status could not be read: {error}")),
        Ok((End::OutOfTime, _)) => {
            outcome.timed_out = true;
            Some(format!("timed out after {} s", place.timeout.as_secs()))
        }
        Err(error) => Some(error.clone()),
    };
    outcome.ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut kept = attempt.ok().map(|(_, kept)| kept);
    let left_out = kept.as_mut().and_then(|kept| lock(kept).finish());
    let remarks: Vec<String> = left_out.into_iter().chain(remark).collect();
    for remark in &remarks {
        // Into the file as well, so that the whole output tells the whole story. A full disk may refuse.
        let _ = append(log).and_then(|mut file| writeln!(file, "\n[programmator: {remark}]"));
    }
    let unwritten = kept.and_then(|kept| lock(&kept).unwritten().map(shown));
    outcome.tail = match (unwritten, end_of(log)) {
        (Some(text), _) => format!("{text}\n[programmator: {}]", remarks.join("; ")),
        (None, Ok(text)) => text,
        (None, Err(_)) => remarks.join("; "),
    };
    outcome
}

/// Runs it; an error says why it could not be started.
async fn attempt(command: &str, place: &Place<'_>, log: &Path) -> Result<(End, Arc<Mutex<Kept>>), String> {
    if !place.folder.is_dir() {
        return Err(format!("not started: the working directory {} is gone", place.folder.display()));
    }
    let not_kept = |error: io::Error| format!("not started: its output {} cannot be kept: {error}", log.display());
    fs::create_dir_all(place.log_dir).map_err(not_kept)?;
    // An earlier process may have run the same command of the same iteration.
    let output = append(log).map_err(not_kept)?;
    output.set_len(0).map_err(not_kept)?;
    let kept = Arc::new(Mutex::new(Kept::new(output, place.output, place.room.clone())));
    let end = run_into(command, place, &kept)
        .await
        .map_err(|error| format!("could not be started in {}: {error}", place.folder.display()))?;
    Ok((end, kept))
}

async fn run_into(command: &str, place: &Place<'_>, kept: &Arc<Mutex<Kept>>) -> io::Result<End> {
    let (reader, writer) = io::pipe()?;
    let reader = pipe::Receiver::from_owned_fd(reader.into())?;
    let shell = place.shell.as_ref().map_err(|none| io::Error::other(none.clone()))?;
    let mut shell = Command::new(shell);
    shell
        .args(["-c", command])
        .current_dir(place.folder)
        .env_clear()
        .envs(place.env.iter().map(|(name, value)| (name, value)))
        .envs([("NO_COLOR", "1"), ("TERM", "dumb"), ("GIT_TERMINAL_PROMPT", "0")])
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    ProcessGroup::prepare(&mut shell);
    let mut child = shell.spawn()?;
    // Our ends of the pipe, which would keep it open.
    drop(shell);
    let mut group = ProcessGroup::of(&child);
    let mut copying = AbortOnDropHandle::new(tokio::spawn(copy(reader, kept.clone())));
    let end = tokio::select! {
        status = child.wait() => End::Exited(status),
        () = tokio::time::sleep(place.timeout) => End::OutOfTime,
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
    let _ = tokio::time::timeout(LAST_OUTPUT, &mut copying).await;
    Ok(end)
}

/// Takes what is printed, to its end.
async fn copy(mut output: pipe::Receiver, kept: Arc<Mutex<Kept>>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        lock(&kept).take(&buffer[..count]);
    }
}

fn lock(kept: &Arc<Mutex<Kept>>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
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
    Ok(shown(&bytes))
}

/// The last of it, as clean text.
fn shown(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(TAIL_WINDOW as usize);
    let text = Clean::new(&String::from_utf8_lossy(&bytes[from..])).into_string();
    tail(&text, MAX_TAIL).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn run_in(folder: &Path, seconds: f64, commands: &[&str]) -> Vec<ValidationRan> {
        let commands: Vec<String> = commands.iter().map(ToString::to_string).collect();
        let place = Place {
            folder,
            timeout: Duration::from_secs_f64(seconds),
            log_dir: &folder.join("logs"),
            output: 3 << 20,
            room: Room { folder: folder.to_owned(), reserve: 0 },
            env: &vec![
                ("PATH".into(), std::env::var_os("PATH").unwrap()),
                ("PROGRAMMATOR_RUN_ID".into(), "marker".into()),
            ],
            shell: &Ok("/bin/bash".into()),
        };
        run(1, &commands, &place).await
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
    async fn of_a_flood_the_beginning_and_the_end_are_kept_and_the_gap_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let command = "echo the beginning; yes 0123456789 | head -c 110000000; echo; echo the end; exit 1";
        let outcomes = run_in(dir.path(), 60.0, &[command]).await;
        let log = fs::read_to_string(&outcomes[0].log).unwrap();
        assert!(log.len() < (3 << 20) + 500, "{}", log.len());
        assert!(log.starts_with("the beginning\n0123456789\n") && log.contains("\nthe end\n"));
        let gone = 110_000_000 + 23 - (3 << 20);
        assert_eq!(log.matches(&format!("[programmator: {gone} bytes of its output are missing here]")).count(), 1);
        let tail = &outcomes[0].tail;
        assert!(
            tail.len() <= MAX_TAIL && tail.contains("the end\n") && tail.contains("bytes of its output are missing]")
        );
        assert_eq!(outcomes[0].exit, Some(1));
    }

    #[tokio::test]
    async fn a_disk_that_is_full_ends_no_command_and_its_last_words_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place {
            folder: dir.path(),
            timeout: Duration::from_secs(60),
            log_dir: &dir.path().join("logs"),
            output: 3 << 20,
            room: Room { folder: dir.path().to_owned(), reserve: u64::MAX },
            env: &vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
            shell: &Ok("/bin/bash".into()),
        };
        let outcomes = run(1, &["seq 1000; exit 3".to_owned()], &place).await;
        assert_eq!(outcomes[0].exit, Some(3));
        assert!(outcomes[0].tail.contains("\n1000\n") && outcomes[0].tail.contains("could not be stored"));
    }

    #[tokio::test]
    async fn the_timeout_ends_the_whole_group_also_what_ignores_term() {
        let dir = tempfile::tempdir().unwrap();
        let command = "trap '' TERM; (trap '' TERM; echo $$ $(sh -c 'echo $PPID'); while :; do sleep 1; done) & wait; while :; do sleep 1; done";
        let outcomes = run_in(dir.path(), 0.5, &[command]).await;
        assert!(outcomes[0].timed_out);
        assert_eq!(outcomes[0].exit, None);
        assert!(outcomes[0].tail.contains("timed out after"), "{}", outcomes[0].tail);
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
            output: 1 << 20,
            room: Room { folder: dir.path().to_owned(), reserve: 0 },
            env: &Variables::new(),
            shell: &Ok("/bin/bash".into()),
        };
        let outcomes = run(1, &["true".to_owned()], &place).await;
        assert_eq!(outcomes[0].exit, None);
        assert!(outcomes[0].tail.contains("is gone") && !outcomes[0].tail.contains("output"), "{}", outcomes[0].tail);
        let none = Err(NoBash { path: "/nowhere".into() });
        let outcomes = run(1, &["true".to_owned()], &Place { folder: dir.path(), shell: &none, ..place }).await;
        assert!(outcomes[0].tail.contains("bash was not found") && !outcomes[0].passed(), "{}", outcomes[0].tail);
        let outcomes = run_in(dir.path(), 5.0, &["kill -9 $$"]).await;
        assert_eq!(outcomes[0].exit, None);
        assert!(outcomes[0].tail.contains("signal: 9"), "{}", outcomes[0].tail);
    }
}

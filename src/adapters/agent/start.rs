//! Starting Claude's process. Nothing is read or written here.
//!
//! All processes are started by one thread that lives as long as the program: the signal that tells
//! Claude of our death is sent when the *thread* that started it ends, and workers of a pool may end at any time.

use super::error::AgentError;
use super::held::Held;
#[cfg(target_os = "linux")]
use super::keeper::Order;
use super::launch::{Launch, arguments};
#[cfg(target_os = "linux")]
use super::marker::MARKER;
#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::io::{self, PipeReader};
#[cfg(target_os = "linux")]
use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::sync::OnceLock;
use tokio::process::{Child, ChildStdin, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Claude runs.
pub(super) struct Started {
    pub claude: Held,
    pub pid: u32,
    pub pipes: Pipes,
}

/// Claude's standard input and outputs.
#[derive(Debug)]
pub(super) struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: PipeReader,
    pub stderr: PipeReader,
}

/// A child that is Claude, or will be its keeper and call.
#[derive(Debug)]
struct Begun {
    child: Child,
    #[cfg(target_os = "linux")]
    keeper: Option<UnixListener>,
    pipes: Pipes,
}

/// A keeper that waits for the order to start Claude, ended when this is dropped.
#[derive(Debug)]
pub struct Ahead(Begun);

/// Starts a keeper for a Claude to come. `None`: there are no keepers here, or it could not be started now.
pub async fn ahead(marker: &str) -> Option<Ahead> {
    if cfg!(not(target_os = "linux")) {
        return None;
    }
    let marker = marker.to_owned();
    let begun = on_lasting_thread(move || keeper_here(&marker)).await;
    begun.inspect_err(|error| tracing::warn!(%error, "no keeper ahead of time")).ok().flatten().map(Ahead)
}

/// Starts the process in a group of its own, with only the environment it was given.
pub(super) async fn start(launch: &Launch, ahead: Option<Ahead>) -> Result<Started, AgentError> {
    if let Some(Ahead(begun)) = ahead {
        match begun.started(launch).await {
            // Somebody has ended it meanwhile.
            Err(error) if is_gone(&error) => {}
            started => return started.map_err(|error| explain(launch, error)),
        }
    }
    let wanted = launch.clone();
    let started = async {
        let begun = on_lasting_thread(move || match keeper_here(&wanted.marker)? {
            Some(begun) => Ok(begun),
            None => start_here(&wanted),
        });
        begun.await?.started(launch).await
    };
    started.await.map_err(|error| explain(launch, error))
}

/// It says that a keeper has ended, and not why Claude could not be started.
fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error().is_none() || matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

impl Begun {
    async fn started(self, launch: &Launch) -> io::Result<Started> {
        #[cfg(target_os = "linux")]
        if let Some(keeper) = self.keeper {
            let words = launch.command.iter().cloned().chain(arguments(launch)).map(OsString::from).collect();
            let order = Order { folder: launch.folder.clone(), command: words, env: launch.env.clone() };
            let (claude, pid) = Held::kept(self.child, keeper, &order).await?;
            return Ok(Started { claude, pid, pipes: self.pipes });
        }
        #[cfg(not(target_os = "linux"))]
        let _ = launch;
        let pid = self.child.id().ok_or_else(|| io::Error::other("the process exited during startup"))?;
        Ok(Started { claude: Held::alone(self.child), pid, pipes: self.pipes })
    }
}

/// Claude itself.
fn start_here(launch: &Launch) -> io::Result<Begun> {
    let (program, rest) = launch
        .command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "`agent.command` is empty"))?;
    let mut command = Command::new(program);
    command
        .args(rest)
        .args(arguments(launch))
        .env_clear()
        .envs(launch.env.iter().map(|(key, value)| (key, value)))
        .current_dir(&launch.folder)
        .kill_on_drop(true);
    #[cfg(target_os = "linux")]
    super::os_linux::die_with_parent(command.as_std_mut());
    let (child, pipes) = piped(command)?;
    Ok(Begun {
        child,
        #[cfg(target_os = "linux")]
        keeper: None,
        pipes,
    })
}

/// Claude's keeper, which is ended by its line and has no mark, so that it is not taken for one of those that it keeps.
#[cfg(target_os = "linux")]
fn keeper_here(marker: &str) -> io::Result<Option<Begun>> {
    let Some((mut command, listener)) = super::keeper::around(marker)? else { return Ok(None) };
    command.env_remove(MARKER).current_dir("/");
    let (child, pipes) = piped(command)?;
    Ok(Some(Begun { child, keeper: Some(listener), pipes }))
}

#[cfg(not(target_os = "linux"))]
fn keeper_here(_marker: &str) -> io::Result<Option<Begun>> {
    Ok(None)
}

fn piped(mut command: Command) -> io::Result<(Child, Pipes)> {
    // Pipes of our own: read by plain threads, and widened before the first byte.
    let (stdout, stdout_writer) = io::pipe()?;
    let (stderr, stderr_writer) = io::pipe()?;
    #[cfg(target_os = "linux")]
    super::os_linux::widen(&stdout);
    command.process_group(0).stdin(Stdio::piped()).stdout(stdout_writer).stderr(stderr_writer);
    let mut child = command.spawn()?;
    let stdin = child.stdin.take().ok_or_else(|| io::Error::other("its stdin could not be opened"))?;
    Ok((child, Pipes { stdin, stdout, stderr }))
}

/// What the lasting thread makes of it.
async fn on_lasting_thread<T: Send + 'static>(begin: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    let (answer, made) = oneshot::channel();
    let runtime = Handle::current();
    hand_over(Box::new(move || {
        let _runtime = runtime.enter();
        answer.send(begin()).ok();
    }));
    made.await.unwrap_or_else(|_| Err(io::Error::other("no thread could be started")))
}

/// Runs `job` on the lasting thread. Without such a thread the job is dropped, and its answer with it.
fn hand_over(job: Job) {
    static THREAD: OnceLock<std::sync::mpsc::Sender<Job>> = OnceLock::new();
    let jobs = THREAD.get_or_init(|| {
        let (jobs, todo) = std::sync::mpsc::channel::<Job>();
        // Should the system refuse a thread, `todo` is dropped and every send fails.
        std::thread::Builder::new().name("agent-start".into()).spawn(move || todo.iter().for_each(|job| job())).ok();
        jobs
    });
    jobs.send(job).ok();
}

/// Says why the program of `launch` could not be started.
pub(super) fn explain(launch: &Launch, source: io::Error) -> AgentError {
    let program = launch.program();
    if !launch.folder.is_dir() {
        return AgentError::NoFolder(launch.folder.display().to_string());
    }
    if source.kind() == io::ErrorKind::NotFound {
        let path = launch
            .env
            .iter()
            .find(|(key, _)| key == "PATH")
            .map_or_else(|| "not set".into(), |(_, path)| path.to_string_lossy().into_owned());
        return AgentError::NotFound { program, path };
    }
    AgentError::NotStarted { program, source }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::time::Duration;

    fn sleeper() -> Launch {
        Launch {
            command: ["/bin/sh", "-c", "exec sleep 60"].map(str::to_owned).into(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            folder: std::env::temp_dir(),
            ..Launch::default()
        }
    }

    #[tokio::test]
    async fn the_process_is_interrupted_when_the_thread_that_started_it_ends() {
        let runtime = Handle::current();
        let started = std::thread::spawn(move || {
            let _runtime = runtime.enter();
            start_here(&sleeper()).unwrap()
        });
        let mut started = started.join().unwrap();
        assert_eq!(started.child.wait().await.unwrap().signal(), Some(2));
    }

    #[tokio::test]
    async fn the_lasting_thread_outlives_the_one_that_asked() {
        let runtime = Handle::current();
        let asking = std::thread::spawn(move || runtime.block_on(start(&sleeper(), None)).unwrap());
        let mut started = asking.join().unwrap();
        let ended = tokio::time::timeout(Duration::from_millis(300), started.claude.ended()).await;
        assert!(ended.is_err(), "it was interrupted");
    }
}

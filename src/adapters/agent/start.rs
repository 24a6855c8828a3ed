//! Starting Claude's process. Nothing is read or written here.
//!
//! All processes are started by one thread that lives as long as the program: the signal that tells
//! Claude of our death is sent when the *thread* that started it ends, and workers of a pool may end at any time.

use super::error::AgentError;
use super::held::Held;
use super::launch::{Launch, arguments};
#[cfg(target_os = "linux")]
use super::marker::MARKER;
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
pub(super) struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: PipeReader,
    pub stderr: PipeReader,
}

/// A child that is Claude, or will be its keeper and call.
struct Begun {
    child: Child,
    #[cfg(target_os = "linux")]
    keeper: Option<UnixListener>,
    pipes: Pipes,
}

/// Starts the process in a group of its own, with only the environment it was given.
pub(super) async fn start(launch: &Launch) -> Result<Started, AgentError> {
    let (answer, begun) = oneshot::channel();
    let runtime = Handle::current();
    let wanted = launch.clone();
    on_lasting_thread(Box::new(move || {
        let _runtime = runtime.enter();
        answer.send(start_here(&wanted)).ok();
    }));
    let begun = begun.await.unwrap_or_else(|_| Err(io::Error::other("no thread could be started")));
    let started = async { begun?.started().await };
    started.await.map_err(|error| explain(launch, error))
}

impl Begun {
    async fn started(self) -> io::Result<Started> {
        #[cfg(target_os = "linux")]
        if let Some(keeper) = self.keeper {
            let (claude, pid) = Held::kept(self.child, keeper).await?;
            return Ok(Started { claude, pid, pipes: self.pipes });
        }
        let pid = self.child.id().ok_or_else(|| io::Error::other("the process exited during startup"))?;
        Ok(Started { claude: Held::alone(self.child), pid, pipes: self.pipes })
    }
}

fn start_here(launch: &Launch) -> io::Result<Begun> {
    let (program, rest) = launch
        .command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "`agent.command` is empty"))?;
    // Pipes of our own: read by plain threads, and widened before the first byte.
    let (stdout, stdout_writer) = io::pipe()?;
    let (stderr, stderr_writer) = io::pipe()?;
    #[cfg(target_os = "linux")]
    let (mut command, keeper) = match super::keeper::around(program, &launch.marker)? {
        Some((command, listener)) => (command, Some(listener)),
        None => (Command::new(program), None),
    };
    #[cfg(not(target_os = "linux"))]
    let mut command = Command::new(program);
    command
        .args(rest)
        .args(arguments(launch))
        .env_clear()
        .envs(launch.env.iter().map(|(key, value)| (key, value)))
        .current_dir(&launch.folder)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(stdout_writer)
        .stderr(stderr_writer);
    #[cfg(target_os = "linux")]
    {
        super::os_linux::widen(&stdout);
        if keeper.is_some() {
            // It is ended by its line, and must not be taken for one of those that it keeps.
            command.env_remove(MARKER);
        } else {
            command.kill_on_drop(true);
            super::os_linux::die_with_parent(command.as_std_mut());
        }
    }
    #[cfg(not(target_os = "linux"))]
    command.kill_on_drop(true);
    let mut child = command.spawn()?;
    let stdin = child.stdin.take().ok_or_else(|| io::Error::other("its stdin could not be opened"))?;
    let pipes = Pipes { stdin, stdout, stderr };
    Ok(Begun {
        child,
        #[cfg(target_os = "linux")]
        keeper,
        pipes,
    })
}

/// Runs `job` on the lasting thread. Without such a thread the job is dropped, and its answer with it.
fn on_lasting_thread(job: Job) {
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
        let asking = std::thread::spawn(move || runtime.block_on(start(&sleeper())).unwrap());
        let mut started = asking.join().unwrap();
        let ended = tokio::time::timeout(Duration::from_millis(300), started.claude.ended()).await;
        assert!(ended.is_err(), "it was interrupted");
    }
}

//! The socket of a program with runs, where the person's other programs say what they decide: on the command line, on another
//! screen.
//!
//! It lies in the state folder under the number of its process. What Claude has started runs as the same user, so that is
//! told by process: a tool of a run's is not heard.

use crate::adapters::agent::orphans;
use crate::adapters::local_socket;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use tokio::net::UnixListener;

/// What Claude Code gives everything that it starts.
pub const CHILD: &str = "CLAUDECODE";

/// Our end. Gone with this.
pub struct PersonSocket {
    path: PathBuf,
    listener: UnixListener,
}

impl PersonSocket {
    /// The socket of this process, below the state folder.
    pub fn open(state: &Path) -> io::Result<Self> {
        let path = path(state, std::process::id());
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        // Another process had our number before.
        let _ = fs::remove_file(&path);
        Ok(Self { listener: local_socket::bind(&path)?, path })
    }

    /// Answers the person's programs for as long as this is waited for. `not_below`: a Claude that has no run, and whose tools are
    /// not heard either.
    pub async fn serve<F>(&self, not_below: Option<u32>, answer: impl Fn(Vec<u8>) -> F + Clone + Send + 'static)
    where
        F: Future<Output = String> + Send + 'static,
    {
        local_socket::serve(&self.listener, |pid| is_heard(pid, not_below), answer).await;
    }
}

/// This process is none of Claude's, as far as that can be seen.
fn is_heard(pid: i32, not_below: Option<u32>) -> bool {
    // A tool that has left Claude's family has its variable still.
    let is_below = |claude| orphans::descends_from(pid, claude) || orphans::has_variable_from(Some(pid), CHILD);
    !not_below.is_some_and(is_below) && !orphans::comes_from_a_run(pid)
}

impl Drop for PersonSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Asks the program with this number. `None`: it may have heard the question, and did not answer. An error: it has heard
/// nothing; words for the person.
pub async fn ask(state: &Path, program: u32, question: &[u8]) -> Result<Option<String>, String> {
    let socket = path(state, program);
    match local_socket::ask(&socket, program, question).await {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !socket.exists() => {
            Err("it does not accept input from other processes; see its log, or it has an older version".to_owned())
        }
        asked => asked.map_err(|error| format!("it cannot be reached: {error}")),
    }
}

fn path(state: &Path, program: u32) -> PathBuf {
    state.join("sockets").join(program.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::agent::marker::MARKER;
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};

    #[tokio::test]
    async fn the_persons_programs_are_answered_until_it_is_gone() {
        let state = tempfile::tempdir().unwrap();
        let socket = PersonSocket::open(state.path()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(socket.path.parent().unwrap()), mode(&socket.path)), (0o700, 0o600));
        let own = std::process::id();
        let echo = |asked: Vec<u8>| async move { format!("heard {}", String::from_utf8(asked).unwrap()) };
        let answer = tokio::select! {
            () = socket.serve(None, echo) => None,
            answer = ask(state.path(), own, b"one") => Some(answer),
        };
        assert_eq!(answer, Some(Ok(Some("heard one".to_owned()))));
        drop(socket);
        assert!(ask(state.path(), own, b"one").await.unwrap_err().contains("does not accept input"));
    }

    /// Whether a process with these variables is heard, where a Claude is known that is not above it.
    fn hears(variables: &[(&str, &str)], not_below: Option<u32>) -> bool {
        let mut asks = Command::new("cat");
        asks.env_remove(MARKER).env_remove(CHILD).envs(variables.iter().copied());
        let mut asks = asks.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // Its variables are there to be looked at once it has done something.
        let mut said = [0; 1];
        asks.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        asks.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
        let heard = is_heard(i32::try_from(asks.id()).unwrap(), not_below);
        drop(asks.stdin.take());
        asks.wait().unwrap();
        heard
    }

    #[test]
    fn a_tool_of_claudes_is_not_heard() {
        let (marked, child, claude) = ([(MARKER, "r")], [(CHILD, "1")], Some(u32::MAX));
        assert!(hears(&[], None) && hears(&[], claude), "the person's program");
        assert!(!hears(&marked, None), "one of a run");
        assert!(hears(&child, None) && !hears(&child, claude), "one that has left the session's family");
        assert!(!hears(&[], Some(std::process::id())), "one that is below it");
    }
}

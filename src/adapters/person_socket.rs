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

    /// Answers the person's programs for as long as this is waited for.
    pub async fn serve<F>(&self, answer: impl Fn(Vec<u8>) -> F + Clone + Send + 'static)
    where
        F: Future<Output = String> + Send + 'static,
    {
        local_socket::serve(&self.listener, |pid| !orphans::comes_from_a_run(pid), answer).await;
    }
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
            Err("it takes nothing from other programs; its log says why, or it is of an older version".to_owned())
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
    use std::os::unix::fs::PermissionsExt;

    #[tokio::test]
    async fn the_persons_programs_are_answered_until_it_is_gone() {
        let state = tempfile::tempdir().unwrap();
        let socket = PersonSocket::open(state.path()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(socket.path.parent().unwrap()), mode(&socket.path)), (0o700, 0o600));
        let own = std::process::id();
        let echo = |asked: Vec<u8>| async move { format!("heard {}", String::from_utf8(asked).unwrap()) };
        let answer = tokio::select! {
            () = socket.serve(echo) => None,
            answer = ask(state.path(), own, b"one") => Some(answer),
        };
        assert_eq!(answer, Some(Ok(Some("heard one".to_owned()))));
        drop(socket);
        assert!(ask(state.path(), own, b"one").await.unwrap_err().contains("takes nothing"));
    }

    /// The state folder, for a process that this test starts to ask there.
    const STATE: &str = "PROGRAMMATOR_TEST_STATE";
    const ASKS: &str = "adapters::person_socket::tests::asks_its_parent";

    #[tokio::test]
    async fn a_tool_of_claudes_is_not_heard() {
        let state = tempfile::tempdir().unwrap();
        let socket = PersonSocket::open(state.path()).unwrap();
        let mut heard = Vec::new();
        for marker in [None, Some((MARKER, "r"))] {
            let mut asks = tokio::process::Command::new(std::env::current_exe().unwrap());
            asks.args(["--exact", ASKS, "--ignored"])
                .env(STATE, state.path())
                .env_remove(MARKER)
                .envs(marker)
                .env_remove("RUST_BACKTRACE");
            let echo = |_| async { "heard".to_owned() };
            heard.push(tokio::select! {
                () = socket.serve(echo) => panic!("it serves as long as it is waited for"),
                output = asks.output() => output.unwrap().status.success(),
            });
        }
        assert_eq!(heard, [true, false], "the person's program, and one with a run's marker");
    }

    #[tokio::test]
    #[ignore = "the test above starts it"]
    async fn asks_its_parent() {
        let state = PathBuf::from(std::env::var_os(STATE).expect("a state folder"));
        let answer = ask(&state, std::os::unix::process::parent_id(), b"one").await;
        assert_eq!(answer, Ok(Some("heard".to_owned())));
    }
}

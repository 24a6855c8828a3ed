//! The socket between a Claude that a person drives and the gate: a command hook of Claude's asks over it, one question
//! and one answer a connection.
//!
//! Owns who may ask and whom the hook believes. Everything here runs as the same user, so that is told by process: only
//! what descends from that Claude may ask, and the hook takes an answer only from the program that Claude was opened by.
//! What is answered is the caller's.

use crate::adapters::agent::orphans;
use crate::adapters::local_socket;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tokio::net::UnixListener;

/// The gate's end. Gone with this.
pub struct HookSocket {
    folder: tempfile::TempDir,
    listener: UnixListener,
}

impl HookSocket {
    /// Only the person's own processes can get there. An error: words for the person.
    pub fn open() -> Result<Self, String> {
        let open = || -> io::Result<Self> {
            let private = Permissions::from_mode(0o700);
            let folder = tempfile::Builder::new().prefix("programmator-hook-").permissions(private).tempdir()?;
            let listener = local_socket::bind(&folder.path().join("gate"))?;
            Ok(Self { folder, listener })
        };
        open().map_err(|error| format!("no socket can be opened in {}: {error}", std::env::temp_dir().display()))
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("gate")
    }

    /// Answers what descends from the process `claude`, for as long as this is waited for; others hear nothing: another run's
    /// Claude and its tools have other ancestors, whatever they put into their environment. Whoever hears nothing lets
    /// Claude ask.
    pub async fn serve<F>(&self, claude: u32, answer: impl Fn(Vec<u8>) -> F + Clone + Send + 'static)
    where
        F: Future<Output = String> + Send + 'static,
    {
        local_socket::serve(&self.listener, |pid| orphans::descends_from(pid, claude), answer).await;
    }
}

/// Asks the gate. `program`: the process that opened the socket; any other could have put its own in its place.
pub async fn ask(socket: &Path, program: u32, question: &[u8]) -> Result<String, String> {
    match local_socket::ask(socket, program, question).await {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err("the gate did not answer".to_owned()),
        Err(error) => Err(format!("the gate cannot be reached: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::local_socket::{AT_ONCE, TO_ASK};
    use std::fs;
    use tokio::net::UnixStream;

    #[tokio::test]
    async fn only_what_descends_from_claude_is_answered() {
        let socket = HookSocket::open().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(socket.folder.path()), mode(&socket.path())), (0o700, 0o600));
        let echo = |question: Vec<u8>| async move { format!("heard {}", String::from_utf8(question).unwrap()) };
        let (path, own, parent) = (socket.path(), std::process::id(), std::os::unix::process::parent_id());
        // We descend from our parent, and not from a process that is none of ours.
        let served = tokio::select! {
            () = socket.serve(parent, echo) => None,
            answer = ask(&path, own, b"one") => Some(answer),
        };
        assert_eq!(served, Some(Ok("heard one".to_owned())));
        let served = tokio::select! {
            () = socket.serve(u32::MAX, echo) => None,
            answer = ask(&path, own, b"one") => Some(answer),
        };
        assert!(served.is_some_and(|answer| answer.is_err()));
    }

    #[tokio::test]
    async fn who_holds_every_place_makes_no_call_wait() {
        let socket = HookSocket::open().unwrap();
        let (path, own, parent) = (socket.path(), std::process::id(), std::os::unix::process::parent_id());
        let allow = |_: Vec<u8>| async { "allow".to_owned() };
        let asked = async {
            let mut held = Vec::new();
            for _ in 0..AT_ONCE {
                held.push(UnixStream::connect(&path).await.unwrap());
            }
            let begun = tokio::time::Instant::now();
            let answer = ask(&path, own, b"one").await;
            (answer, begun.elapsed(), held)
        };
        let (answer, took, held) = tokio::select! {
            () = socket.serve(parent, allow) => panic!("it serves as long as it is waited for"),
            asked = asked => asked,
        };
        // Its call is asked about: no answer is no yes.
        assert!(answer.is_err() && took < TO_ASK, "{answer:?} after {took:?}");
        drop(held);
        let answer = tokio::select! {
            () = socket.serve(parent, allow) => None,
            answer = async {
                loop {
                    if let Ok(answer) = ask(&path, own, b"one").await {
                        break answer;
                    }
                }
            } => Some(answer),
        };
        assert_eq!(answer.as_deref(), Some("allow"), "places that are given up are free again");
    }

    #[tokio::test]
    async fn an_answer_of_another_program_or_of_none_is_not_taken() {
        let socket = HookSocket::open().unwrap();
        let (path, own, parent) = (socket.path(), std::process::id(), std::os::unix::process::parent_id());
        let allow = |_: Vec<u8>| async { "allow".to_owned() };
        let answer = tokio::select! {
            () = socket.serve(parent, allow) => None,
            answer = ask(&path, own + 1, b"one") => Some(answer),
        };
        assert!(answer.unwrap().unwrap_err().contains("another program"));
        drop(socket);
        assert!(ask(&path, own, b"one").await.unwrap_err().contains("cannot be reached"));
    }
}

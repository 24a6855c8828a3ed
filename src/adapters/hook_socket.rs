//! The socket between a Claude that a person drives and the gate: a command hook of Claude's asks over it, one question
//! and one answer a connection.
//!
//! Owns who may ask and whom the hook believes. Everything here runs as the same user, so that is told by process: only
//! what descends from that Claude may ask, and the hook takes an answer only from the program that Claude was opened by.
//! What is answered is the caller's.

use crate::adapters::agent::orphans;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Longest question, in bytes.
pub const QUESTION: u64 = 16 << 20;
/// Longest answer, in bytes.
const ANSWER: u64 = 64 << 10;
/// Questions that are answered at once. Whoever comes beyond that hears nothing, at once: its call is asked about.
const AT_ONCE: usize = 64;
/// How long a question and its answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the question may take to arrive: who connects and says nothing has no place for longer.
const TO_ASK: Duration = Duration::from_secs(5);

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
            let path = folder.path().join("gate");
            let listener = UnixListener::bind(&path)?;
            fs::set_permissions(&path, Permissions::from_mode(0o600))?;
            Ok(Self { folder, listener })
        };
        open().map_err(|error| format!("no socket can be opened in {}: {error}", std::env::temp_dir().display()))
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("gate")
    }

    /// Answers what descends from the process `claude`, for as long as this is waited for; others hear nothing.
    pub async fn serve<F>(&self, claude: u32, answer: impl Fn(Vec<u8>) -> F + Clone + Send + 'static)
    where
        F: Future<Output = String> + Send + 'static,
    {
        let room = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                // Too many open files: others may be closed soon.
                sleep(Duration::from_millis(100)).await;
                continue;
            };
            if !may_ask(&stream, claude) {
                continue;
            }
            // Not waited for: whoever holds all places would make each call wait as long as they like.
            let Ok(place) = room.clone().try_acquire_owned() else { continue };
            let answer = answer.clone();
            tokio::spawn(async move {
                // Whoever hears nothing lets Claude ask.
                let _ = timeout(PATIENCE, exchange(stream, answer)).await;
                drop(place);
            });
        }
    }
}

async fn exchange<F: Future<Output = String>>(mut stream: UnixStream, answer: impl Fn(Vec<u8>) -> F) -> io::Result<()> {
    let question = timeout(TO_ASK, whole(&mut stream, QUESTION)).await.map_err(|_| io::ErrorKind::TimedOut)??;
    stream.write_all(answer(question).await.as_bytes()).await
}

/// Everything that comes; an error where that is more than `most` bytes.
async fn whole(from: &mut (impl AsyncRead + Unpin), most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Another run's Claude and its tools have other ancestors, whatever they put into their environment.
fn may_ask(stream: &UnixStream, claude: u32) -> bool {
    let Ok(peer) = stream.peer_cred() else { return false };
    is_own(peer.uid()) && peer.pid().is_some_and(|pid| orphans::descends_from(pid, claude))
}

fn is_own(user: u32) -> bool {
    user == rustix::process::geteuid().as_raw()
}

/// Asks the gate. `program`: the process that opened the socket; any other could have put its own in its place.
pub async fn ask(socket: &Path, program: u32, question: &[u8]) -> Result<String, String> {
    let asked = async {
        let mut stream = UnixStream::connect(socket).await?;
        let peer = stream.peer_cred()?;
        if !is_own(peer.uid()) || peer.pid().and_then(|pid| u32::try_from(pid).ok()) != Some(program) {
            return Err(io::Error::other("another program answers there"));
        }
        stream.write_all(question).await?;
        stream.shutdown().await?;
        let answer = whole(&mut stream, ANSWER).await?;
        String::from_utf8(answer).map_err(io::Error::other)
    };
    let asked = timeout(PATIENCE, asked).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    match asked {
        Ok(answer) if !answer.is_empty() => Ok(answer),
        Ok(_) => Err("the gate did not answer".to_owned()),
        Err(error) => Err(format!("the gate cannot be reached: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

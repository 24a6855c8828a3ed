//! One question and one answer over a Unix socket that only the person's own processes reach. Who of them may ask, and what is
//! answered, is the caller's.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Longest question, in bytes.
pub const QUESTION: u64 = 16 << 20;
/// Longest answer, in bytes.
const ANSWER: u64 = 64 << 10;
/// Questions that are answered at once. Whoever comes beyond that hears nothing, at once.
pub(super) const AT_ONCE: usize = 64;
/// How long a question and its answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the question may take to arrive: who connects and says nothing has no place for longer.
pub(super) const TO_ASK: Duration = Duration::from_secs(5);

/// A socket at this path, which only the person can connect to.
pub(super) fn bind(path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Answers those of the person's processes that may ask, for as long as this is waited for; others hear nothing.
pub(super) async fn serve<F>(
    listener: &UnixListener,
    may_ask: impl Fn(i32) -> bool,
    answer: impl Fn(Vec<u8>) -> F + Clone + Send + 'static,
) where
    F: Future<Output = String> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files: others may be closed soon.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(peer) = stream.peer_cred() else { continue };
        if !is_own(peer.uid()) || !peer.pid().is_some_and(&may_ask) {
            continue;
        }
        // Not waited for: whoever holds all places would make each question wait as long as they like.
        let Ok(place) = room.clone().try_acquire_owned() else { continue };
        let answer = answer.clone();
        tokio::spawn(async move {
            let _ = timeout(PATIENCE, exchange(stream, answer)).await;
            drop(place);
        });
    }
}

async fn exchange<F: Future<Output = String>>(mut stream: UnixStream, answer: impl Fn(Vec<u8>) -> F) -> io::Result<()> {
    let question = timeout(TO_ASK, whole(&mut stream, QUESTION)).await.map_err(|_| io::ErrorKind::TimedOut)??;
    // Whoever has hung up waits no more, and may have decided otherwise. This process may have been halted since.
    if stream.ready(Interest::WRITABLE).await?.is_write_closed() {
        return Ok(());
    }
    stream.write_all(answer(question).await.as_bytes()).await
}

/// Everything that comes; an error where that is more than `most` bytes.
async fn whole(from: &mut (impl AsyncRead + Unpin), most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

fn is_own(user: u32) -> bool {
    user == rustix::process::geteuid().as_raw()
}

/// Asks who opened the socket. `program`: the process that did; any other could have put its own in its place. `None`: the
/// question was handed over and no answer came, so it may have been heard. An error: it was not.
pub(super) async fn ask(socket: &Path, program: u32, question: &[u8]) -> io::Result<Option<String>> {
    let handed_over = async {
        let mut stream = UnixStream::connect(socket).await?;
        let peer = stream.peer_cred()?;
        if !is_own(peer.uid()) || peer.pid().and_then(|pid| u32::try_from(pid).ok()) != Some(program) {
            return Err(io::Error::other("another program is listening there"));
        }
        stream.write_all(question).await?;
        stream.shutdown().await?;
        Ok(stream)
    };
    let end = Instant::now() + PATIENCE;
    let mut stream = timeout_at(end, handed_over).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
    let answer = timeout_at(end, whole(&mut stream, ANSWER)).await;
    let answer = answer.ok().and_then(Result::ok).and_then(|answer| String::from_utf8(answer).ok());
    Ok(answer.filter(|answer| !answer.is_empty()))
}

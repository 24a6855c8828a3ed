//! Finding out that the terminal went away while nothing is written to it.
//!
//! crossterm reads a terminal that was hung up over and over, without an end and at full speed. So it
//! is asked only while the terminal lives, and the loop is woken when it dies.

use std::io;

/// The terminal can still be talked to. One system call.
pub fn is_alive() -> bool {
    rustix::termios::tcgetwinsize(io::stdout()).is_ok()
}

/// Ends when the terminal goes away. Never ends where the system cannot tell; the next write does then.
pub async fn gone() -> io::Error {
    use std::os::fd::AsFd as _;
    use tokio::io::{Interest, unix::AsyncFd};
    #[allow(deprecated, reason = "the descriptor is ours and lives inside; the other way is unsafe")]
    let watched = io::stdout()
        .as_fd()
        .try_clone_to_owned()
        .and_then(|fd| Ok(AsyncFd::try_with_interest(fd, Interest::READABLE)?));
    if let Ok(watched) = watched {
        // Keys wake this too: they are not read here, only looked past.
        while let Ok(mut ready) = watched.readable().await {
            if !is_alive() {
                return io::ErrorKind::BrokenPipe.into();
            }
            ready.clear_ready();
        }
    }
    std::future::pending().await
}

//! Claude's process as programmator holds it: a child, or the child of a `keeper`, which then tells of it and is
//! told what to do over a line of its own.

use super::orders::Signal;
use rustix::process::{Pid, kill_process_group};
use std::io;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::process::Child;
use tokio::time::timeout;

#[cfg(target_os = "linux")]
use super::keeper::{KILL, Order, Said, TERMINATE};
#[cfg(target_os = "linux")]
use std::os::unix::{net::UnixListener, process::ExitStatusExt};
#[cfg(target_os = "linux")]
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
#[cfg(target_os = "linux")]
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
#[cfg(target_os = "linux")]
use tokio::time::{Instant, timeout_at};

/// A keeper has this long for what it does without waiting for anybody.
#[cfg(target_os = "linux")]
const PROMPTLY: Duration = Duration::from_secs(1);

/// And this long to end what nobody else has ended.
const AT_THE_END: Duration = Duration::from_secs(10);

/// Claude's process.
#[derive(Debug)]
pub(super) struct Held {
    child: Child,
    #[cfg(target_os = "linux")]
    line: Option<Line>,
}

/// The line to a keeper.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct Line {
    said: Lines<BufReader<OwnedReadHalf>>,
    orders: OwnedWriteHalf,
    killed: Option<Instant>,
}

impl Held {
    pub(super) fn alone(child: Child) -> Self {
        Self {
            child,
            #[cfg(target_os = "linux")]
            line: None,
        }
    }

    /// With the keeper `child`, which will call at `listener` for this order; gives Claude's process id too.
    #[cfg(target_os = "linux")]
    pub(super) async fn kept(mut child: Child, listener: UnixListener, order: &Order) -> io::Result<(Self, u32)> {
        let ended = || io::Error::other("its keeper ended");
        listener.set_nonblocking(true)?;
        let listener = tokio::net::UnixListener::from_std(listener)?;
        let keeper = child.id().and_then(|pid| i32::try_from(pid).ok());
        let stream = loop {
            let stream = tokio::select! {
                biased;
                called = listener.accept() => called?.0,
                _ = child.wait() => return Err(ended()),
            };
            // The name is not secret.
            if stream.peer_cred()?.pid() == keeper {
                break stream;
            }
        };
        let (said, mut orders) = stream.into_split();
        // Who has hung up says nothing either.
        orders.write_all(&order.encode()).await.ok();
        let mut line = Line { said: BufReader::new(said).lines(), orders, killed: None };
        match line.said.next_line().await?.as_deref().and_then(Said::parse) {
            Some(Said::Started(pid)) => Ok((Self { child, line: Some(line) }, pid)),
            Some(Said::Refused(error)) => Err(io::Error::from_raw_os_error(error)),
            _ => Err(ended()),
        }
    }

    /// The process from which all of Claude's descend, itself included.
    pub(super) fn root(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for Claude's end. May be dropped and called again.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        #[cfg(target_os = "linux")]
        if let Some(line) = &mut self.line {
            let said = match line.killed {
                None => line.said.next_line().await,
                // A keeper that somebody has halted is not waited for.
                Some(at) => timeout_at(at + PROMPTLY, line.said.next_line()).await.unwrap_or(Ok(None)),
            };
            if let Some(Said::Ended(status)) = said.ok().flatten().as_deref().and_then(Said::parse) {
                return Ok(ExitStatus::from_raw(status));
            }
            // It was killed, or is as good as that. Claude is then one of those who are left.
            self.child.start_kill().ok();
        }
        self.child.wait().await
    }

    pub(super) async fn signal(&mut self, signal: Signal) {
        #[cfg(target_os = "linux")]
        if let Some(line) = &mut self.line {
            let order = match signal {
                Signal::Terminate => TERMINATE,
                Signal::Kill => {
                    line.killed.get_or_insert_with(Instant::now);
                    KILL
                }
            };
            // An error means that the keeper is gone, which shows elsewhere.
            line.orders.write_all(format!("{order}\n").as_bytes()).await.ok();
            return;
        }
        let signal = match signal {
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        };
        if let Some(group) = self.child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw) {
            // An error means that the group is gone.
            kill_process_group(group, signal).ok();
        }
    }

    /// Claude has ended, and so has who was left: a keeper may go.
    pub(super) async fn release(&mut self) {
        #[cfg(target_os = "linux")]
        drop(self.line.take());
        if timeout(AT_THE_END, self.child.wait()).await.is_err() {
            self.child.kill().await.ok();
        }
    }
}

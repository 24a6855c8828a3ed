//! Signals that ask the program to end, as one stream.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A wish to end the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    Hangup,
}

impl Wish {
    /// 128 plus the signal's number, as shells say it.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Hangup => 129,
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Listens for the three signals. While this lives, none of them ends the process by itself.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Begins to listen.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The next signal.
    pub async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.interrupt.recv() => Wish::Interrupt,
            _ = self.terminate.recv() => Wish::Terminate,
            _ = self.hangup.recv() => Wish::Hangup,
        }
    }
}

//! Signals that ask the program to end, as one stream.

use crate::domain::answerer::Answerer;
use rustix::process::Signal as Number;
use std::future::poll_fn;
use std::io;
use std::task::Poll;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A wish to end the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownSignal {
    /// SIGHUP: the terminal is gone.
    Hangup,
    /// Any other signal, by its number: SIGINT, SIGTERM, and those that nobody sends on purpose.
    Signal(u8),
}

impl ShutdownSignal {
    /// Who stops the runs by it; `by`: who is asked otherwise.
    pub fn stopper(self, by: Answerer) -> Answerer {
        if self == Self::Hangup { Answerer::CLOSED_TERMINAL } else { by }
    }

    /// A machine that is shut down sends it, and a login session that ends: SIGTERM and SIGHUP, in either order.
    pub fn ends_everything(self) -> bool {
        self == Self::Hangup || self == Self::Signal(Number::TERM.as_raw() as u8)
    }

    /// 128 plus the signal's number, as shells say it.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Hangup => 129,
            Self::Signal(number) => 128 + number,
        }
    }
}

/// Every signal that ends a process that does nothing about it, but those that cannot be caught and those that say
/// that it cannot go on. A run that is ended by `SIGUSR1` must be stopped as well as one that is ended by `SIGTERM`.
const DEADLY: [Number; 14] = [
    Number::HUP,
    Number::INT,
    Number::TERM,
    Number::QUIT,
    Number::ABORT,
    Number::TRAP,
    Number::SYS,
    Number::USR1,
    Number::USR2,
    Number::ALARM,
    Number::VTALARM,
    Number::PROF,
    Number::XCPU,
    Number::XFSZ,
];

/// Deadly on Linux alone.
#[cfg(target_os = "linux")]
const ALSO: &[Number] = &[Number::IO, Number::POWER, Number::STKFLT];
#[cfg(not(target_os = "linux"))]
const ALSO: &[Number] = &[];

/// Listens for the signals. While this lives, none of them ends the process by itself.
pub struct Signals {
    listening: Vec<(Signal, ShutdownSignal)>,
}

impl Signals {
    pub fn listen() -> io::Result<Self> {
        let each = DEADLY.iter().chain(ALSO).map(|number| {
            let wish = match *number {
                Number::HUP => ShutdownSignal::Hangup,
                other => ShutdownSignal::Signal(u8::try_from(other.as_raw()).unwrap_or_default()),
            };
            Ok((signal(SignalKind::from_raw(number.as_raw()))?, wish))
        });
        Ok(Self { listening: each.collect::<io::Result<_>>()? })
    }

    pub async fn next(&mut self) -> ShutdownSignal {
        poll_fn(|context| {
            let come =
                |(signal, wish): &mut (Signal, ShutdownSignal)| signal.poll_recv(context).is_ready().then_some(*wish);
            self.listening.iter_mut().find_map(come).map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

//! Signals, as the real CLI takes them: INT aborts the turn and the process stays, TERM ends it with 143 and HUP
//! with 129, at once and leaving tool processes behind.

use super::event::Event;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use tokio::signal::unix::{SignalKind, signal};

/// What is heard; each only ever goes from `false` to `true`.
#[derive(Debug, Default)]
pub struct Ears {
    /// SIGTERM and SIGHUP have no effect.
    pub ignore_term: AtomicBool,
    /// Nothing has an effect: no signal, no interrupt, no end of stdin.
    pub deaf: AtomicBool,
}

impl Ears {
    /// Whether nothing is heard any more.
    pub fn are_deaf(&self) -> bool {
        self.deaf.load(Ordering::SeqCst)
    }
}

/// Listens on a thread of its own; returns when the handlers are in place.
pub fn watch(events: Sender<Event>, ears: Arc<Ears>) -> io::Result<()> {
    let (ready, installed) = channel();
    std::thread::spawn(move || {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(e) => return drop(ready.send(Err(e))),
        };
        runtime.block_on(async {
            let handlers = (|| {
                Ok((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?))
            })();
            let (mut int, mut term, mut hup) = match handlers {
                Ok(handlers) => handlers,
                Err(e) => return drop(ready.send(Err(e))),
            };
            let _ = ready.send(Ok(()));
            loop {
                let code = tokio::select! {
                    _ = int.recv() => None,
                    _ = term.recv() => Some(143),
                    _ = hup.recv() => Some(129),
                };
                match code {
                    _ if ears.are_deaf() => {}
                    None if events.send(Event::Interrupted).is_err() => return,
                    Some(code) if !ears.ignore_term.load(Ordering::SeqCst) => std::process::exit(code),
                    _ => {}
                }
            }
        });
    });
    installed.recv().unwrap_or_else(|_| Err(io::Error::other("the signal thread ended")))
}

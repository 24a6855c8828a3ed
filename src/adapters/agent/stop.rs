//! The ladder that ends Claude: each step is tried for its time, then the next.
//!
//! Only the first step lets Claude end its own tools, and its subagents in the background. Messages that it has not
//! begun with are taken back first: after an interrupt they would have their turn. `end_session` ends it where a closed
//! stdin alone would have it wait for commands in the background (measured: 2.1.197 and 2.1.330 know both requests; a
//! version that does not answers with an error). What survives all of them is swept by its marker, and as one of
//! Claude's family, before the exit is told ([`super::orphans`]).

use super::event::Exit;
use super::handle::Agent;
use super::messages;
use super::orders::{Signal, Write};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::timeout;

/// How long each step may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// The turn is interrupted; until its `result`.
    pub interrupt: Duration,
    /// The session is ended and stdin closed; until the process ends.
    pub close: Duration,
    /// SIGTERM; until the process ends. SIGKILL follows.
    pub terminate: Duration,
}

impl Ladder {
    /// The usual one: interrupt 3 s, close 1 s, TERM 2 s, KILL.
    pub const DEFAULT: Self =
        Self { interrupt: Duration::from_secs(3), close: Duration::from_secs(1), terminate: Duration::from_secs(2) };

    /// For one whose every further step does harm: KILL.
    pub const KILL: Self = Self { interrupt: Duration::ZERO, close: Duration::ZERO, terminate: Duration::ZERO };

    /// For a process that does not speak the protocol: TERM 1 s, KILL.
    pub(super) const HASTY: Self =
        Self { interrupt: Duration::ZERO, close: Duration::from_millis(200), terminate: Duration::from_secs(1) };
}

impl Agent {
    /// Ends the process and everything of its run; gives how it ended, which is also sent as
    /// [`Exited`](super::AgentEvent::Exited). Stopping a process that is gone is no error.
    pub async fn stop(&self, ladder: &Ladder) -> Exit {
        if !ladder.interrupt.is_zero() {
            let mut turns = self.turns.clone();
            turns.borrow_and_update();
            // Claude may be deaf: also the sending is within the time.
            timeout(ladder.interrupt, async {
                for uuid in self.pulse.pending.queued() {
                    self.write(messages::take_back(&uuid)).await.ok();
                }
                self.interrupt().await.ok();
                // Between two turns there is no `result` to wait for.
                if self.pulse.in_turn.load(Ordering::Relaxed) {
                    turns.changed().await.ok();
                }
            })
            .await
            .ok();
        }
        if !ladder.close.is_zero() {
            self.look().await;
            // Claude may be deaf.
            timeout(Duration::from_millis(50), async {
                self.write(messages::end_session()).await.ok();
                self.writer.send(Write::Close).await.ok();
            })
            .await
            .ok();
        }
        if let Some(exit) = self.exit_within(ladder.close).await {
            return exit;
        }
        for (signal, time) in [(Signal::Terminate, ladder.terminate), (Signal::Kill, Duration::from_secs(10))] {
            if time.is_zero() {
                continue;
            }
            self.signals.send(signal).await.ok();
            if let Some(exit) = self.exit_within(time).await {
                return exit;
            }
        }
        // A process that SIGKILL does not end hangs in the kernel; it is not ours to wait for.
        Exit::default()
    }

    /// How the process ended, or will have ended.
    pub async fn exited(&self) -> Exit {
        let mut exit = self.exit.clone();
        let ended = exit.wait_for(Option::is_some).await;
        ended.ok().and_then(|exit| exit.clone()).unwrap_or_default()
    }

    async fn exit_within(&self, time: Duration) -> Option<Exit> {
        timeout(time, self.exited()).await.ok()
    }
}

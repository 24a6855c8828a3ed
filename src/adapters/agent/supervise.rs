//! The tasks and threads around one process: who writes, who reads, who waits for its end. The ways
//! to use it are [`Agent`]'s.

use super::drain::{Drain, Out, Tail};
use super::error::AgentError;
use super::event::{AgentEvent, Exit};
use super::handle::{Agent, Pulse};
use super::held::Held;
use super::orders::{Signal, Write};
use super::orphans::{self, Family};
use super::start::{Pipes, Started};
use crate::base::time::Clock;
use crate::domain::scrollback::Sink;
use crate::domain::stream::background::Background;
use crate::domain::stream::turn::TurnReader;
use std::collections::HashSet;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

/// Messages that may wait for Claude to read them; a sender waits when there are more.
const WRITER_CAPACITY: usize = 64;

/// After the process's end its stdout may be held open by others; they have this long.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// Sets everything going around a started process.
pub(super) fn run(
    started: Started,
    marker: String,
    program: &str,
    pulse: Arc<Pulse>,
    clock: Arc<dyn Clock>,
    sink: Box<dyn Sink>,
    events: mpsc::Sender<AgentEvent>,
) -> Result<Agent, AgentError> {
    let (out, given) = mpsc::unbounded_channel();
    let (writer, to_write) = mpsc::channel(WRITER_CAPACITY);
    let (signals, to_signal) = mpsc::channel(4);
    let (turn_ended, turns) = watch::channel(0);
    let (exited, exit) = watch::channel(None);
    let (drain_ended, drained) = watch::channel(());
    let (stderr_ended, stderr_drained) = oneshot::channel();
    let Started { claude, pid, pipes: Pipes { stdin, stdout, stderr } } = started;
    let tail = Tail::default();
    let family = Arc::new(Family::of(claude.root().unwrap_or(pid), &marker));

    let drain = Drain {
        sink,
        out: out.clone(),
        clock,
        pulse: Arc::clone(&pulse),
        turns: turn_ended,
        turn: TurnReader::default(),
        background: Background::default(),
        foreign: false,
        called: HashSet::new(),
        sink_failed: false,
        left_out: 0,
        given: Vec::new(),
    };
    let on_thread = |name: &str, job: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new()
            .name(name.into())
            .spawn(job)
            .map_err(|source: io::Error| AgentError::NotStarted { program: program.to_owned(), source })
    };
    on_thread(
        "agent-stdout",
        Box::new(move || {
            // The end of the sender is the news.
            let _ended = drain_ended;
            drain.run(stdout);
        }),
    )?;
    let (stderr, stderr_tail) = (stderr, tail.clone());
    on_thread(
        "agent-stderr",
        Box::new(move || {
            stderr_tail.run(stderr);
            stderr_ended.send(()).ok();
        }),
    )?;

    out.send(vec![Out::Event(AgentEvent::Spawned { pid })]).ok();
    tokio::spawn(write(stdin, to_write));
    tokio::spawn(forward(given, events, writer.clone()));
    let watcher = Watcher { claude, marker, family: Arc::clone(&family), tail, pulse: Arc::clone(&pulse), out, exited };
    tokio::spawn(watcher.run(to_signal, drained, stderr_drained));

    let agent = Agent { pid, writer, signals, pulse, turns, exit, family };
    Ok(agent)
}

/// Writes until it is told to stop or nobody reads any more (a broken pipe is the process's end,
/// which is told by others).
async fn write(mut stdin: ChildStdin, mut lines: mpsc::Receiver<Write>) {
    while let Some(Write::Line(line)) = lines.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() {
            break;
        }
    }
}

/// Takes from the drain, which never waits, and gives to the owner, who may be slow.
async fn forward(
    mut given: mpsc::UnboundedReceiver<Vec<Out>>,
    events: mpsc::Sender<AgentEvent>,
    writer: mpsc::Sender<Write>,
) {
    while let Some(all) = given.recv().await {
        for out in all {
            // Errors: the owner or the process is gone, and nobody misses this.
            match out {
                Out::Event(event) => events.send(event).await.ok(),
                Out::Reply(line) => writer.send(Write::Line(line)).await.ok(),
            };
        }
    }
}

/// Waits for Claude's end and sends it signals.
struct Watcher {
    claude: Held,
    marker: String,
    family: Arc<Family>,
    tail: Tail,
    pulse: Arc<Pulse>,
    out: mpsc::UnboundedSender<Vec<Out>>,
    exited: watch::Sender<Option<Exit>>,
}

impl Watcher {
    async fn run(
        mut self,
        mut signals: mpsc::Receiver<Signal>,
        mut drained: watch::Receiver<()>,
        stderr_drained: oneshot::Receiver<()>,
    ) {
        let status = loop {
            tokio::select! {
                status = self.claude.ended() => break status,
                signal = signals.recv() => {
                    if let Some(signal) = signal {
                        self.signal(signal).await;
                    } else {
                        // The owner is gone without a word.
                        self.signal(Signal::Kill).await;
                        break self.claude.ended().await;
                    }
                }
            }
        };
        // Its children may hold the pipes: what they still say is read, then they are swept.
        timeout(LAST_OUTPUT, drained.changed()).await.ok();
        let (marker, family) = (vec![self.marker.clone()], Arc::clone(&self.family));
        let sweep = move || {
            let swept = orphans::end(&marker, &family);
            family.close();
            swept
        };
        let swept = tokio::task::spawn_blocking(sweep).await.unwrap_or(0);
        self.read_out(drained).await;
        timeout(LAST_OUTPUT, stderr_drained).await.ok();

        let status = status.unwrap_or_default();
        let exit = Exit { code: status.code(), signal: status.signal(), swept, stderr_tail: self.tail.text() };
        self.out.send(vec![Out::Event(AgentEvent::Exited(exit.clone()))]).ok();
        // A keeper has nobody left to keep; who waits for the end of everything waits for its end too.
        self.claude.release().await;
        self.exited.send_replace(Some(exit));
    }

    /// Waits until stdout is read to its end, or has been silent for a while: somebody with a
    /// cleared environment may hold it forever.
    async fn read_out(&self, mut drained: watch::Receiver<()>) {
        loop {
            let before = self.pulse.last_byte.load(Ordering::Relaxed);
            let ended = timeout(LAST_OUTPUT, drained.changed()).await.is_ok();
            if ended || before == self.pulse.last_byte.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    async fn signal(&mut self, signal: Signal) {
        // When Claude is gone it is too late.
        self.family.look();
        self.claude.signal(signal).await;
    }
}

//! A connection to the program on another machine: the person's own command, over whose input and output both speak
//! [`wire`](crate::domain::wire).
//!
//! Whatever else comes that way is foreign: what is read as words for the person is clean, what the command prints before the
//! first line of the program (a greeting of the machine) is passed over, and too long a line ends the connection.

use crate::adapters::frames::{self, Frames};
use crate::adapters::own_session;
use crate::adapters::process_group::ProcessGroup;
use crate::base::text::clean_line;
use crate::domain::wire::{Ask, Asked, Hello, Told, VERSION};
use std::collections::VecDeque;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

/// Lines of a greeting before the program's own first line.
const GREETING: usize = 200;
/// How long the program may take to say its first line where the person may be typing a password, and where they cannot.
const TYPED: Duration = Duration::from_secs(120);
const UNTYPED: Duration = Duration::from_secs(30);
/// How long a question may take to be handed over, and how long nothing may be heard of a connection that stands.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a command that has closed its output may take to end.
const ENDING: Duration = Duration::from_secs(2);
/// Most bytes of a line that the command prints for people.
const WORDS: u64 = 4_096;
/// How many such lines are kept.
const LINES: usize = 4;

/// Another machine, as the person has configured it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// What the person calls it: fit for a file's name.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
}

/// Whether the command may ask the person on our terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayAsk {
    Yes,
    /// A screen has the terminal.
    No,
}

/// A connection that stands. Dropped, its command ends.
pub struct OtherMachine {
    machine: Machine,
    child: Child,
    _group: Option<ProcessGroup>,
    to: ChildStdin,
    from: Heard<BufReader<ChildStdout>>,
    /// The last lines that the command has printed for people, and who keeps them.
    complaint: Arc<Mutex<VecDeque<String>>>,
    keeps: JoinHandle<()>,
    /// The last line that was passed over before the program's first.
    greeting: String,
    asked: u64,
}

/// What is heard of the program, and when something last was.
struct Heard<R> {
    from: Frames<R>,
    /// How many bytes had come then.
    bytes: u64,
    at: Instant,
    /// How long nothing may come.
    patience: Duration,
}

/// Nothing has come for as long as is waited.
struct Silence;

impl<R: AsyncBufRead + Unpin> Heard<R> {
    fn new(from: R, patience: Duration) -> Self {
        Self { from: Frames::new(from), bytes: 0, at: Instant::now(), patience }
    }

    /// The next line, while some of it comes now and then. Cancel-safe: what came while somebody waited before is heard, too.
    async fn line(&mut self) -> Result<io::Result<Option<Vec<u8>>>, Silence> {
        loop {
            if self.bytes != self.from.bytes() {
                (self.bytes, self.at) = (self.from.bytes(), Instant::now());
            }
            match timeout_at(self.at + self.patience, self.from.next()).await {
                Ok(line) => return Ok(line),
                Err(_) if self.bytes == self.from.bytes() => return Err(Silence),
                Err(_) => {}
            }
        }
    }
}

/// Why something was not asked; words for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unasked {
    /// It is too long, and nothing was said.
    TooLong(String),
    /// The connection is lost, and it is not known whether it was heard.
    Lost(String),
}

impl Unasked {
    pub fn words(self) -> String {
        let (Self::TooLong(words) | Self::Lost(words)) = self;
        words
    }
}

impl OtherMachine {
    /// Starts the command and waits for the program there. An error: words for the person.
    pub async fn connect(machine: &Machine, may_ask: MayAsk) -> Result<Self, String> {
        let Some((program, args)) = machine.command.split_first() else {
            return Err(format!("hosts.{}.command is empty", machine.name));
        };
        let mut command = match may_ask {
            MayAsk::Yes => Command::new(program),
            MayAsk::No => own_session::command(program),
        };
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| {
            let program = clean_line(program, 200);
            format!("`{program}` could not be started: {error}; check hosts.{}.command", machine.name)
        })?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(to), Some(from), Some(stderr)) = pipes else { return Err("a pipe is missing".to_owned()) };
        let complaint = Arc::default();
        let keeps = tokio::spawn(keep_last(stderr, Arc::clone(&complaint)));
        let group = (may_ask == MayAsk::No).then(|| ProcessGroup::of(&child));
        let from = Heard::new(BufReader::with_capacity(64 << 10, from), PATIENCE);
        let machine = machine.clone();
        let mut other =
            Self { machine, child, _group: group, to, from, complaint, keeps, greeting: String::new(), asked: 0 };
        let patience = if may_ask == MayAsk::Yes { TYPED } else { UNTYPED };
        if let Ok(greeted) = timeout(patience, other.greeted()).await {
            return greeted.map(|()| other);
        }
        let said = [other.said(), other.greeting.clone()].into_iter().find(|said| !said.is_empty());
        let said = said.map_or_else(String::new, |said| format!(": {said}"));
        Err(format!("no response from programmator for {} seconds{said}", patience.as_secs()))
    }

    async fn greeted(&mut self) -> Result<(), String> {
        for _ in 0..GREETING {
            // How long that may take is known to who waits for it.
            let line = self.from.from.next().await.map_err(|error| error.to_string())?;
            let Some(line) = line else {
                let why = self.ended().await;
                let is_silent = self.said().is_empty() && !self.greeting.is_empty();
                return Err(if is_silent { format!("{why}: {}", self.greeting) } else { why });
            };
            let Ok(hello) = serde_json::from_slice::<Hello>(&line) else {
                self.greeting = clean_line(&String::from_utf8_lossy(&line), 200);
                continue;
            };
            if hello.wire == VERSION {
                self.from.at = Instant::now();
                return Ok(());
            }
            let (theirs, ours) = (clean_line(&hello.programmator, 40), env!("CARGO_PKG_VERSION"));
            return Err(format!(
                "programmator is {theirs} there and {ours} here, with different protocols: install the same version on both"
            ));
        }
        let command = clean_line(&self.machine.command.join(" "), 200);
        Err(format!("`{command}` printed unexpected output: {}", self.greeting))
    }

    /// Asks something; gives the number that its answers have.
    pub async fn ask(&mut self, ask: Ask) -> Result<u64, Unasked> {
        self.asked += 1;
        match timeout(PATIENCE, frames::write(&mut self.to, &Asked { id: self.asked, ask })).await {
            Ok(Ok(())) => Ok(self.asked),
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidInput => {
                Err(Unasked::TooLong(format!("it is too long to be sent: {error}")))
            }
            Ok(Err(_)) => Err(Unasked::Lost(self.ended().await)),
            Err(_) => Err(Unasked::Lost("it no longer accepts input".to_owned())),
        }
    }

    /// The next thing that is told. An error: the connection is lost, in words for the person. Cancel-safe.
    pub async fn told(&mut self) -> Result<Told, String> {
        match self.from.line().await {
            Err(Silence) => Err(format!("no data for {} seconds", PATIENCE.as_secs())),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok(None)) => Err(self.ended().await),
            Ok(Ok(Some(line))) => {
                serde_json::from_slice(&line).map_err(|error| clean_line(&format!("invalid message: {error}"), 200))
            }
        }
    }

    /// Why the command has ended, as far as it says.
    async fn ended(&mut self) -> String {
        let ended = timeout(ENDING, self.child.wait()).await;
        let _ = timeout(ENDING, &mut self.keeps).await;
        let code = ended.ok().and_then(Result::ok).and_then(|status| status.code());
        match (self.said().as_str(), code) {
            ("", Some(code)) => format!("its command exited with code {code}"),
            ("", None) => "its command exited".to_owned(),
            // So ends a shell, and our own start, whose program is not there.
            (said, Some(127)) => format!("{said}; check hosts.{}.command", self.machine.name),
            (said, _) => said.to_owned(),
        }
    }

    /// The last lines that were printed for people.
    fn said(&self) -> String {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).make_contiguous().join(" · ")
    }
}

/// Keeps the last lines with something in them: of what is wrong most programs say several.
async fn keep_last(from: ChildStderr, last: Arc<Mutex<VecDeque<String>>>) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        match (&mut from).take(WORDS).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        keep(&last, &line);
    }
}

fn keep(last: &Mutex<VecDeque<String>>, line: &[u8]) {
    let line = clean_line(&String::from_utf8_lossy(line), 200);
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    if !line.is_empty() {
        last.push_back(line);
    }
    if last.len() > LINES {
        last.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;
    use tokio::time::{interval, sleep};

    /// The next line, by who looks at something else now and then, as the screen does.
    async fn beside_a_tick(
        heard: &mut Heard<impl AsyncBufRead + Unpin>,
    ) -> Result<io::Result<Option<Vec<u8>>>, Silence> {
        let mut tick = interval(Duration::from_millis(50));
        loop {
            tokio::select! {
                line = heard.line() => return line,
                _ = tick.tick() => {}
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_that_comes_slowly_is_no_silence_and_silence_is_heard_beside_a_tick() {
        let (mut said, from) = tokio::io::duplex(64);
        let mut heard = Heard::new(BufReader::new(from), Duration::from_secs(1));
        let slowly = async {
            for _ in 0..8 {
                sleep(Duration::from_millis(200)).await;
                said.write_all(b"x").await.unwrap();
            }
            said.write_all(b"\n").await.unwrap();
        };
        let (line, ()) = tokio::join!(beside_a_tick(&mut heard), slowly);
        assert!(matches!(line, Ok(Ok(Some(line))) if line == b"xxxxxxxx"));
        let since = Instant::now();
        assert!(beside_a_tick(&mut heard).await.is_err());
        assert!(since.elapsed() >= Duration::from_millis(900));
    }
}

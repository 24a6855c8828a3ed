//! Lines from stdin, each with the question that had been asked when it was typed: nobody agrees to what they have not seen.
//!
//! A thread reads the descriptor itself, under a lock, once there is something to read. Whoever asks takes the lock, reads what
//! was typed before, has the terminal forget the line that is being typed, and counts on.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};
use std::collections::VecDeque;
use std::io::{IsTerminal as _, stdin};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// Longest line that is taken, in bytes.
pub const LONGEST: usize = 100_000;
/// Lines of a pipe that are read ahead.
const AHEAD: usize = 64;

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    Line(String),
    /// A line of so many bytes, which is not kept.
    TooLong(usize),
}

/// A line, and when it was complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub text: Text,
    /// The number of the last question before it.
    pub question: u64,
    pub at: Instant,
}

/// The lines of stdin.
pub struct TypedLines(Arc<Shared>);

struct Shared {
    reader: Mutex<Reader>,
    /// A pipe is read on.
    room: Condvar,
    news: Notify,
    /// A person can be asked.
    asks: bool,
}

#[derive(Default)]
struct Reader {
    /// The line that is being read, and how much of it was too much.
    begun: Vec<u8>,
    surplus: usize,
    lines: VecDeque<Line>,
    question: u64,
    ended: bool,
}

impl TypedLines {
    /// Begins to read. The thread ends with stdin or the program.
    pub fn begin() -> Self {
        // Where a terminal cannot be waited for, what was typed before a question cannot be told from its answer.
        let asks = stdin().is_terminal() && is_ready(Some(&Timespec::default())).is_ok();
        let (reader, room, news) = Default::default();
        let shared = Arc::new(Shared { reader, room, news, asks });
        let theirs = shared.clone();
        std::thread::spawn(move || {
            while theirs.read() {
                theirs.news.notify_waiters();
            }
            theirs.news.notify_waiters();
        });
        Self(shared)
    }

    /// A person can be asked through it.
    pub fn asks(&self) -> bool {
        self.0.asks
    }

    /// The next line; with the number of a question the next one that was typed after it. `None`: there are no more.
    pub async fn next(&self, question: Option<u64>) -> Option<Line> {
        loop {
            let mut heard = std::pin::pin!(self.0.news.notified());
            heard.as_mut().enable();
            let (line, ended) = self.taken(question);
            if line.is_some() || ended {
                return line;
            }
            heard.await;
        }
    }

    /// The line, if it is there, and whether stdin has ended.
    fn taken(&self, question: Option<u64>) -> (Option<Line>, bool) {
        let mut reader = self.0.lock();
        let at = reader.lines.iter().position(|line| question.is_none_or(|question| line.question == question));
        let line = at.and_then(|at| reader.lines.remove(at));
        self.0.room.notify_one();
        (line, reader.ended)
    }

    /// Begins a question, and gives its number. What was typed before counts as typed before.
    pub fn ask(&self) -> u64 {
        let mut reader = self.0.lock();
        if self.0.asks {
            while !reader.ended && is_ready(Some(&Timespec::default())) == Ok(true) {
                reader.read();
            }
            (reader.begun, reader.surplus) = Default::default();
            let _ = tcflush(stdin(), QueueSelector::IFlush);
        }
        reader.question += 1;
        reader.question
    }

    /// Ends a question that needs no answer any more, and gives what was typed after it.
    pub fn withdraw(&self, question: u64) -> Vec<Line> {
        self.ask();
        let mut reader = self.0.lock();
        let (late, rest) = reader.lines.drain(..).partition(|line| line.question == question);
        reader.lines = rest;
        Vec::from(late)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something to read, and reads it. `false`: there is no more.
    fn read(&self) -> bool {
        let waited = if self.asks { is_ready(None) } else { Ok(true) };
        let mut reader = self.lock();
        if !self.asks {
            while reader.lines.len() >= AHEAD {
                reader = self.room.wait(reader).unwrap_or_else(PoisonError::into_inner);
            }
            drop(reader);
            return self.read_pipe();
        }
        match waited {
            Err(Errno::INTR) => {}
            Err(_) => reader.ended = true,
            // Somebody who asked may have read it.
            Ok(_) if is_ready(Some(&Timespec::default())) != Ok(true) => {}
            Ok(_) => reader.read(),
        }
        !reader.ended
    }

    /// Nobody is asked through a pipe, so that it is read without the lock.
    fn read_pipe(&self) -> bool {
        let mut bytes = [0; 4_096];
        // Whoever gave it to us may have made it one that does not wait. What cannot be waited for so waits in the read.
        let _ = is_ready(None);
        let read = rustix::io::read(stdin(), &mut bytes);
        let mut reader = self.lock();
        reader.take(read, &bytes);
        !reader.ended
    }
}

impl Reader {
    fn read(&mut self) {
        let mut bytes = [0; 4_096];
        let read = rustix::io::read(stdin(), &mut bytes);
        self.take(read, &bytes);
    }

    fn take(&mut self, read: Result<usize, Errno>, bytes: &[u8]) {
        match read {
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => {
                self.ended = true;
                if !self.begun.is_empty() || self.surplus > 0 {
                    self.line();
                }
            }
            Ok(len) => {
                for byte in &bytes[..len] {
                    match byte {
                        b'\n' => self.line(),
                        _ if self.begun.len() < LONGEST => self.begun.push(*byte),
                        _ => self.surplus += 1,
                    }
                }
            }
        }
    }

    fn line(&mut self) {
        let (begun, surplus) = (std::mem::take(&mut self.begun), std::mem::take(&mut self.surplus));
        let text = match surplus {
            0 => Text::Line(String::from_utf8_lossy(&begun).trim().to_owned()),
            surplus => Text::TooLong(begun.len() + surplus),
        };
        self.lines.push_back(Line { text, question: self.question, at: Instant::now() });
    }
}

/// Whether there is something to read, waiting for it at most so long.
fn is_ready(patience: Option<&Timespec>) -> Result<bool, Errno> {
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut fds, patience)?;
    let found = fds[0].revents();
    if found.contains(PollFlags::NVAL) { Err(Errno::BADF) } else { Ok(!found.is_empty()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(reader: &Reader) -> Vec<Text> {
        reader.lines.iter().map(|line| line.text.clone()).collect()
    }

    #[test]
    fn a_line_stays_whole_however_it_comes_and_one_that_is_too_long_is_left_out_whole() {
        let mut reader = Reader::default();
        reader.take(Ok(6), "one\ntw".as_bytes());
        reader.take(Err(Errno::INTR), b"");
        reader.take(Ok(2), b"o\n");
        for _ in 0..=LONGEST / 1_000 {
            reader.take(Ok(1_000), "é".repeat(500).as_bytes());
        }
        reader.take(Ok(5), b"\nlast");
        reader.take(Ok(0), b"");
        let line = |text: &str| Text::Line(text.to_owned());
        assert_eq!(texts(&reader), [line("one"), line("two"), Text::TooLong(LONGEST + 1_000), line("last")]);
        assert!(reader.ended);
    }

    #[test]
    fn each_line_knows_the_question_before_it() {
        let mut reader = Reader::default();
        reader.take(Ok(2), b"a\n");
        reader.question = 1;
        reader.take(Ok(2), b"y\n");
        assert_eq!(reader.lines.iter().map(|line| line.question).collect::<Vec<_>>(), [0, 1]);
    }
}

//! A real pseudo-terminal with the program in it: type keys, wait for words on the screen, look at cells.
//!
//! Waiting is by condition on what the terminal shows, never by sleeping; a deadline only bounds a failure.

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::num::{NonZeroU16, NonZeroU32};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a condition may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Terminal {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    shared: Arc<(Mutex<Seen>, Condvar)>,
    modes: String,
}

struct Seen {
    parser: vt100::Parser,
    raw: Vec<u8>,
    hung_up: bool,
    ended: bool,
}

impl Seen {
    /// A synchronized update has begun and has not ended (DEC private mode 2026).
    fn within_a_frame(&self) -> bool {
        const MARK: &[u8] = b"\x1b[?2026";
        let last = self.raw.windows(MARK.len() + 1).rfind(|bytes| bytes.starts_with(MARK));
        last.is_some_and(|mark| mark.ends_with(b"h"))
    }
}

pub struct Start<'a> {
    pub program: &'a Path,
    pub args: &'a [&'a str],
    /// Its whole environment.
    pub env: &'a [(String, String)],
    /// Where.
    pub folder: &'a Path,
    /// Columns and rows.
    pub size: (u16, u16),
}

fn pty_size((columns, rows): (u16, u16)) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn cells(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).expect("a terminal has cells")
}

impl Terminal {
    /// Starts the program in a terminal of its own.
    pub fn start(start: &Start<'_>) -> Self {
        Self::start_at(start, None)
    }

    /// The same in a terminal that takes so many bytes a second.
    pub fn start_slow(start: &Start<'_>, bytes_per_second: NonZeroU32) -> Self {
        Self::start_at(start, Some(bytes_per_second))
    }

    fn start_at(start: &Start<'_>, bytes_per_second: Option<NonZeroU32>) -> Self {
        let pair = native_pty_system().openpty(pty_size(start.size)).expect("a pty");
        let mut command = CommandBuilder::new(start.program);
        command.args(start.args);
        command.env_clear();
        for (key, value) in start.env {
            command.env(key, value);
        }
        command.cwd(start.folder);
        let modes = modes_of(pair.master.as_ref());
        let child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let (columns, rows) = start.size;
        let parser = vt100::Parser::new(cells(rows), cells(columns), 0);
        let seen = Seen { parser, raw: Vec::new(), hung_up: false, ended: false };
        let shared = Arc::new((Mutex::new(seen), Condvar::new()));
        let theirs = shared.clone();
        std::thread::spawn(move || {
            // A slow line brings a few bytes at a time.
            let mut buffer = vec![0; if bytes_per_second.is_some() { 64 } else { 64 * 1024 }];
            loop {
                let begun = Instant::now();
                let read = reader.read(&mut buffer).unwrap_or(0);
                let mut seen = lock(&theirs);
                seen.parser.process(&buffer[..read]);
                seen.raw.extend_from_slice(&buffer[..read]);
                seen.ended = read == 0 || seen.hung_up;
                theirs.1.notify_all();
                if seen.ended {
                    break;
                }
                drop(seen);
                if let Some(rate) = bytes_per_second {
                    let takes = Duration::from_secs(read as u64) / rate.get();
                    std::thread::sleep(takes.saturating_sub(begun.elapsed()));
                }
            }
        });
        Self { master: Some(pair.master), writer: Some(writer), child, shared, modes }
    }

    pub fn keys(&mut self, keys: &str) {
        let writer = self.writer.as_mut().expect("the terminal is open");
        writer.write_all(keys.as_bytes()).and_then(|()| writer.flush()).expect("the program reads its terminal");
    }

    /// Types, and waits for these words.
    pub fn keys_until(&mut self, keys: &str, words: &str) -> String {
        self.keys(keys);
        self.wait_for(words)
    }

    /// Gives the terminal a new size.
    pub fn resize(&self, size: (u16, u16)) {
        let mut seen = lock(&self.shared);
        seen.parser.screen_mut().set_size(cells(size.1), cells(size.0));
        drop(seen);
        self.master.as_ref().expect("the terminal is open").resize(pty_size(size)).expect("a new size");
    }

    /// Closes the terminal as a person closes a window: the program is hung up on.
    pub fn close(&mut self) {
        lock(&self.shared).hung_up = true;
        self.writer = None;
        if let Some(master) = self.master.take() {
            // The reader holds the terminal open too; it lets go with the next bytes, and a new size brings some.
            let size = master.get_size().expect("a size");
            master.resize(PtySize { cols: size.cols + 1, ..size }).expect("a new size");
        }
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).expect("a process id")).expect("a process");
        kill_process(pid, signal).expect("the program is there");
    }

    /// The terminal's modes (echo, line by line, …) are what they were before the program came.
    pub fn has_its_modes_back(&self) -> bool {
        self.master.as_deref().map(modes_of) == Some(self.modes.clone())
    }

    pub fn hides_cursor(&self) -> bool {
        lock(&self.shared).parser.screen().hide_cursor()
    }

    /// What the screen shows now.
    pub fn screen(&self) -> String {
        lock(&self.shared).parser.screen().contents()
    }

    /// Everything the program has printed.
    pub fn raw(&self) -> Vec<u8> {
        lock(&self.shared).raw.clone()
    }

    pub fn in_alternate_screen(&self) -> bool {
        lock(&self.shared).parser.screen().alternate_screen()
    }

    /// Waits until the screen satisfies `ask`; `what` names it in the failure.
    pub fn wait_until(&self, what: &str, ask: impl Fn(&str) -> bool) -> String {
        self.wait_seen(what, |seen| ask(&seen.parser.screen().contents()))
    }

    /// Half a frame is no screen: only whole frames are asked.
    fn wait_seen(&self, what: &str, ask: impl Fn(&Seen) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = lock(&self.shared);
        loop {
            let text = seen.parser.screen().contents();
            if (seen.ended || !seen.within_a_frame()) && ask(&seen) {
                return text;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !seen.ended, "the screen never showed {what}; it shows:\n{text}");
            seen = self.shared.1.wait_timeout(seen, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the bytes that were printed satisfy `ask`; the screen that they make.
    pub fn wait_raw(&self, what: &str, ask: impl Fn(&[u8]) -> bool) -> String {
        self.wait_seen(what, |seen| ask(&seen.raw))
    }

    pub fn wait_for(&self, words: &str) -> String {
        self.wait_until(&format!("“{words}”"), |screen| screen.contains(words))
    }

    /// Waits until the program has ended and everything it printed has been read.
    pub fn wait_end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = lock(&self.shared);
        while !seen.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            let text = seen.parser.screen().contents();
            assert!(!left.is_zero(), "the program did not end; its screen shows:\n{text}");
            seen = self.shared.1.wait_timeout(seen, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(seen);
        loop {
            if let Some(status) = self.child.try_wait().expect("an exit status") {
                return status;
            }
            assert!(Instant::now() < deadline, "the program closed its terminal and did not end");
            std::thread::yield_now();
        }
    }

    /// The program's process.
    pub fn pid(&self) -> u32 {
        self.child.process_id().expect("a process id")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A failed assertion must not hide behind the panic of the reader.
fn lock(shared: &(Mutex<Seen>, Condvar)) -> MutexGuard<'_, Seen> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

fn modes_of(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios().expect("a terminal has modes"))
}

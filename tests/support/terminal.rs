//! A real pseudo-terminal with the program in it: type keys, wait for words on the screen, look at cells.
//!
//! Waiting is by condition on what the terminal shows, never by sleeping; a deadline only bounds a failure.

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a condition may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program in a terminal.
pub struct Terminal {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    shared: Arc<(Mutex<Seen>, Condvar)>,
}

struct Seen {
    parser: vt100::Parser,
    raw: Vec<u8>,
    ended: bool,
}

/// What to start.
pub struct Start<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub args: &'a [&'a str],
    /// Its whole environment.
    pub env: &'a [(&'a str, &'a str)],
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
        let pair = native_pty_system().openpty(pty_size(start.size)).expect("a pty");
        let mut command = CommandBuilder::new(start.program);
        command.args(start.args);
        command.env_clear();
        for (key, value) in start.env {
            command.env(key, value);
        }
        command.cwd(start.folder);
        let child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let (columns, rows) = start.size;
        let seen = Seen { parser: vt100::Parser::new(cells(rows), cells(columns), 0), raw: Vec::new(), ended: false };
        let shared = Arc::new((Mutex::new(seen), Condvar::new()));
        let theirs = shared.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 64 * 1024];
            loop {
                let read = reader.read(&mut buffer).unwrap_or(0);
                let mut seen = theirs.0.lock().expect("not poisoned");
                if read == 0 {
                    seen.ended = true;
                } else {
                    seen.parser.process(&buffer[..read]);
                    seen.raw.extend_from_slice(&buffer[..read]);
                }
                theirs.1.notify_all();
                if read == 0 {
                    break;
                }
            }
        });
        Self { master: Some(pair.master), writer: Some(writer), child, shared }
    }

    /// Types.
    pub fn keys(&mut self, keys: &str) {
        let writer = self.writer.as_mut().expect("the terminal is open");
        writer.write_all(keys.as_bytes()).and_then(|()| writer.flush()).expect("the program reads its terminal");
    }

    /// Gives the terminal a new size.
    pub fn resize(&self, size: (u16, u16)) {
        let mut seen = self.shared.0.lock().expect("not poisoned");
        seen.parser.screen_mut().set_size(cells(size.1), cells(size.0));
        drop(seen);
        self.master.as_ref().expect("the terminal is open").resize(pty_size(size)).expect("a new size");
    }

    /// Closes the terminal as a person closes a window.
    pub fn close(&mut self) {
        self.writer = None;
        self.master = None;
    }

    /// What the screen shows now.
    pub fn screen(&self) -> String {
        self.shared.0.lock().expect("not poisoned").parser.screen().contents()
    }

    /// Everything the program has printed.
    pub fn raw(&self) -> Vec<u8> {
        self.shared.0.lock().expect("not poisoned").raw.clone()
    }

    /// The alternate screen is shown.
    pub fn in_alternate_screen(&self) -> bool {
        self.shared.0.lock().expect("not poisoned").parser.screen().alternate_screen()
    }

    /// Waits until the screen satisfies `ask`; `what` names it in the failure.
    pub fn wait_until(&self, what: &str, ask: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = self.shared.0.lock().expect("not poisoned");
        loop {
            let text = seen.parser.screen().contents();
            if ask(&text) {
                return text;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !seen.ended, "the screen never showed {what}; it shows:\n{text}");
            seen = self.shared.1.wait_timeout(seen, left).expect("not poisoned").0;
        }
    }

    /// Waits for words on the screen.
    pub fn wait_for(&self, words: &str) -> String {
        self.wait_until(&format!("“{words}”"), |screen| screen.contains(words))
    }

    /// Waits until the program has ended and everything it printed has been read.
    pub fn wait_end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = self.shared.0.lock().expect("not poisoned");
        while !seen.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            let text = seen.parser.screen().contents();
            assert!(!left.is_zero(), "the program did not end; its screen shows:\n{text}");
            seen = self.shared.1.wait_timeout(seen, left).expect("not poisoned").0;
        }
        drop(seen);
        self.child.wait().expect("an exit status")
    }

    /// The program's process.
    pub fn pid(&self) -> u32 {
        self.child.process_id().expect("a process id")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

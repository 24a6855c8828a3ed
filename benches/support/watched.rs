//! A real pseudo-terminal whose every chunk of bytes has its time: what is drawn of it is made out later, by whoever
//! waits, so that the program never waits for an emulator.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a condition may take before the bench fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is started, and where.
pub struct Start<'a> {
    pub program: &'a Path,
    pub args: &'a [&'a str],
    /// Its whole environment.
    pub env: &'a [(String, String)],
    pub folder: &'a Path,
    /// Columns and rows.
    pub size: (u16, u16),
}

/// The terminal, and the program in it until it is dropped.
pub struct Watched {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    chunks: Receiver<(Instant, Vec<u8>)>,
    parser: vt100::Parser,
    /// The end of what was printed: a mark may come in two chunks.
    tail: Vec<u8>,
    /// When the last chunk came.
    last: Instant,
    printed: usize,
}

fn pty_size((columns, rows): (u16, u16)) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

impl Watched {
    /// Starts the program.
    pub fn start(start: &Start<'_>) -> Self {
        let pair = native_pty_system().openpty(pty_size(start.size)).unwrap();
        let mut command = CommandBuilder::new(start.program);
        command.args(start.args);
        command.env_clear();
        start.env.iter().for_each(|(key, value)| command.env(key, value));
        command.cwd(start.folder);
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (chunk, chunks) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                if chunk.send((Instant::now(), buffer[..read].to_vec())).is_err() {
                    break;
                }
            }
        });
        let (columns, rows) = (start.size.0.try_into().unwrap(), start.size.1.try_into().unwrap());
        let writer = pair.master.take_writer().unwrap();
        let (parser, last) = (vt100::Parser::new(rows, columns, 0), Instant::now());
        Self { master: pair.master, writer, child, chunks, parser, tail: Vec::new(), last, printed: 0 }
    }

    /// Types. Gives when.
    pub fn keys(&mut self, keys: &str) -> Instant {
        let now = Instant::now();
        self.writer.write_all(keys.as_bytes()).and_then(|()| self.writer.flush()).unwrap();
        now
    }

    /// Gives the terminal a new size. Gives when.
    pub fn resize(&mut self, size: (u16, u16)) -> Instant {
        self.look();
        self.parser.screen_mut().set_size(size.1.try_into().unwrap(), size.0.try_into().unwrap());
        let now = Instant::now();
        self.master.resize(pty_size(size)).unwrap();
        now
    }

    /// Waits until a whole frame satisfies `ask`; `what` names it in the failure. Gives when it had come.
    pub fn wait_until(&mut self, what: &str, ask: impl Fn(&str) -> bool) -> Instant {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if !self.within_a_frame() && ask(&self.screen()) {
                return self.last;
            }
            self.next(deadline, what);
        }
    }

    pub fn wait_for(&mut self, words: &str) -> Instant {
        self.wait_until(&format!("“{words}”"), |screen| screen.contains(words))
    }

    /// Waits for the end of the first frame that came after `since`. Gives when it had come.
    pub fn wait_frame(&mut self, since: Instant) -> Instant {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.next(deadline, "another frame");
            if self.last > since && !self.within_a_frame() {
                return self.last;
            }
        }
    }

    /// Types, and waits for these words. Gives how many milliseconds that took.
    pub fn until(&mut self, keys: &str, words: &str) -> f64 {
        self.look();
        let typed = self.keys(keys);
        ms(typed, self.wait_for(words))
    }

    /// Bytes that the program has printed until now.
    pub fn printed(&mut self) -> usize {
        self.look();
        self.printed
    }

    /// The program's process.
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    /// Takes what has come.
    fn look(&mut self) {
        while let Ok((at, bytes)) = self.chunks.try_recv() {
            self.take(at, &bytes);
        }
    }

    fn next(&mut self, deadline: Instant, what: &str) {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok((at, bytes)) = self.chunks.recv_timeout(left) else {
            panic!("the screen never showed {what}; it shows:\n{}", self.screen());
        };
        self.take(at, &bytes);
    }

    fn take(&mut self, at: Instant, bytes: &[u8]) {
        self.parser.process(bytes);
        self.tail.extend_from_slice(bytes);
        (self.last, self.printed) = (at, self.printed + bytes.len());
        let most = 256 << 10;
        if self.tail.len() > most {
            self.tail.drain(..self.tail.len() - most / 2);
        }
    }

    /// A synchronized update has begun and has not ended (DEC private mode 2026).
    fn within_a_frame(&self) -> bool {
        let last = memchr::memmem::rfind(&self.tail, b"\x1b[?2026");
        last.is_some_and(|at| self.tail.get(at + 7) != Some(&b'l'))
    }
}

/// Milliseconds from one to the other.
pub fn ms(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_secs_f64() * 1e3
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

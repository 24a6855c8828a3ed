//! Records that come at a rate: Claude's double plays a pipe, and the bench writes into it by the clock.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long it may take until Claude's double reads.
const PATIENCE: Duration = Duration::from_secs(60);

/// The steps of a turn that prints what comes through the pipe, and then waits.
pub fn scenario(pipe: &Path) -> String {
    format!("turns: [{{times: 0, steps: [{{replay: {:?}}}, {{hang: {{}}}}]}}]\n", pipe.display().to_string())
}

/// Makes the pipe.
pub fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Writes the records over and over, each by a write of its own, until it is dropped.
pub struct Feed {
    ends: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Feed {
    /// `rate`: records a second into each of the pipes. Waits until each is read.
    pub fn start(pipes: &[PathBuf], records: Vec<Vec<u8>>, rate: u64) -> Self {
        let mut pipes: Vec<File> = pipes.iter().map(|pipe| open(pipe)).collect();
        let (ends, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (is_over, counter) = (ends.clone(), sent.clone());
        let thread = std::thread::spawn(move || {
            let began = Instant::now();
            let most = (rate * pipes.len() as u64).max(1);
            for n in 0_u64.. {
                let due = Duration::from_nanos(n * 1_000_000_000 / most);
                // Those of a millisecond come together: the bench is not to be busier than what it measures.
                while began.elapsed() < due {
                    let wait = due.saturating_sub(began.elapsed());
                    std::thread::sleep(wait.clamp(Duration::from_millis(1), Duration::from_millis(20)));
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                }
                let to = n as usize % pipes.len();
                let record = &records[(n as usize / pipes.len()) % records.len()];
                // Whoever reads has gone: the stage is being cleared.
                if is_over.load(Ordering::Relaxed) || pipes[to].write_all(record).is_err() {
                    return;
                }
                counter.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { ends, sent, thread: Some(thread) }
    }

    /// Records so far.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

/// The writing end, once somebody reads. It is opened once: a reader that sees a writer go takes it for the end.
fn open(pipe: &Path) -> File {
    use rustix::fs::{Mode, OFlags, fcntl_setfl, open};
    let began = Instant::now();
    loop {
        match open(pipe, OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()) {
            Ok(end) => {
                fcntl_setfl(&end, OFlags::empty()).unwrap();
                return end.into();
            }
            Err(error) => assert!(began.elapsed() < PATIENCE, "nobody reads {}: {error}", pipe.display()),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

//! Makes files durable while they grow: a power failure costs what was written in the last second.
//!
//! One thread for all files: a file that was written to waits there with the others, and is synced once however often it
//! was written to. The writer never waits for the disk. While nothing is written the thread sleeps.

use crate::adapters::store::os;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// From the first write to the sync; the sync itself takes time, too.
const WAIT: Duration = Duration::from_millis(700);

/// What can be made durable.
pub(super) trait Durable: Send + Sync {
    fn sync(&self) -> io::Result<()>;
}

impl Durable for File {
    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

struct Waiting<F> {
    file: F,
    /// It is in the queue.
    queued: AtomicBool,
}

/// A file that is synced soon after it was written to.
pub(super) struct Soon<F = File>(Arc<Waiting<F>>);

impl<F: Durable + 'static> Soon<F> {
    pub(super) fn new(file: F) -> Self {
        Self(Arc::new(Waiting { file, queued: AtomicBool::new(false) }))
    }

    /// Something was written.
    pub(super) fn written(&self) {
        if !self.0.queued.swap(true, Ordering::AcqRel) {
            queue().send(Arc::clone(&self.0) as Arc<dyn Job>).ok();
        }
    }
}

trait Job: Send + Sync {
    fn run(&self);

    /// Nothing more is gathered.
    fn hurries(&self) -> bool {
        false
    }
}

impl<F: Durable> Job for Waiting<F> {
    fn run(&self) {
        // First: what is written from here on has it synced again.
        self.queued.store(false, Ordering::Release);
        if let Err(error) = self.file.sync() {
            tracing::warn!(%error, "a power failure now could lose what Claude has printed last");
        }
    }
}

/// What a folder has got, whole.
struct Last {
    files: Vec<File>,
    folder: PathBuf,
}

impl Job for Last {
    fn run(&self) {
        let synced = self.files.iter().try_for_each(File::sync_data).and_then(|()| os::sync_folder(&self.folder));
        if let Err(error) = synced {
            tracing::warn!(folder = %self.folder.display(), %error, "a power failure now could lose what Claude has printed last");
        }
    }
}

/// Syncs files that get no more, and their names in the folder.
pub(super) fn sync_last(files: Vec<File>, folder: PathBuf) {
    let last = Arc::new(Last { files, folder });
    if queue().send(last.clone()).is_err() {
        last.run();
    }
}

/// Waits until what was written so far is synced, for so long at most: the program is about to end, and the thread with it.
pub fn drain(limit: Duration) {
    let Some(queue) = QUEUE.get() else { return };
    let (done, waits) = channel();
    if queue.send(Arc::new(Mark(done))).is_ok() {
        waits.recv_timeout(limit).ok();
    }
}

/// Says that all that was sent before it is done.
struct Mark(Sender<()>);

impl Job for Mark {
    fn run(&self) {
        self.0.send(()).ok();
    }

    fn hurries(&self) -> bool {
        true
    }
}

static QUEUE: OnceLock<Sender<Arc<dyn Job>>> = OnceLock::new();

fn queue() -> &'static Sender<Arc<dyn Job>> {
    QUEUE.get_or_init(|| {
        let (queue, jobs) = channel();
        // Should the system refuse a thread, every send fails, and files are durable at their end.
        std::thread::Builder::new().name("sync".into()).spawn(move || run(&jobs)).ok();
        queue
    })
}

fn run(jobs: &Receiver<Arc<dyn Job>>) {
    while let Ok(first) = jobs.recv() {
        let until = Instant::now() + WAIT;
        let mut gathered = vec![first];
        while gathered.last().is_some_and(|job| !job.hurries()) {
            let Ok(job) = jobs.recv_timeout(until.saturating_duration_since(Instant::now())) else { break };
            gathered.push(job);
        }
        for job in gathered {
            job.run();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Told(Sender<()>);

    impl Durable for Told {
        fn sync(&self) -> io::Result<()> {
            self.0.send(()).map_err(io::Error::other)
        }
    }

    #[test]
    fn what_is_written_is_synced_within_a_second_once_however_often_and_then_again() {
        let (told, synced) = channel();
        let soon = Soon::new(Told(told));
        for _ in 0..2 {
            (0..100).for_each(|_| soon.written());
            synced.recv_timeout(Duration::from_secs(30)).unwrap();
        }
        drop(soon);
        assert!(synced.recv_timeout(Duration::from_secs(30)).is_err(), "one sync for a hundred writes");
        assert!(WAIT < Duration::from_secs(1));
    }

    #[test]
    fn what_was_written_is_synced_before_the_program_ends() {
        let (told, synced) = channel();
        Soon::new(Told(told)).written();
        drain(Duration::from_secs(30));
        assert!(synced.try_recv().is_ok(), "no wait is left");
    }
}

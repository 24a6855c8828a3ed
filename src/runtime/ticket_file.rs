//! The ticket's file, as a run hears of it. A person, an editor or a sync tool may be at it in this very moment:
//! what is half written or gone for a blink is waited for, not acted upon.

use crate::adapters::file_watch::FileWatch;
use crate::adapters::store::TicketLock;
use crate::adapters::tickets::{self, TicketWriter};
use crate::domain::news::News;
use crate::domain::record::WriteOutcome;
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::{Severity, Ticket};
use crate::orchestrator::input::Input;
use crate::runtime::reporter::Reporter;
use crate::runtime::supervisor::OpenError;
use crate::runtime::{channels, translate};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};

/// How often and how long a file that is gone is looked for: renames of editors, syncs and `git stash` are shorter.
const LOOKS: u32 = 12;
const PAUSE: Duration = Duration::from_millis(250);

/// The file of one run's ticket.
pub struct TicketFile {
    pub path: PathBuf,
    pub ticket: TicketKey,
    /// The person's own validation commands, which count after the ticket's.
    pub validation: Vec<String>,
    pub reporter: Reporter,
    pub inputs: mpsc::Sender<Input>,
    /// The number of the last reading or write of a box. Held by whoever is at the file, so that the run hears of both in
    /// their order.
    pub last: Mutex<u64>,
    pub writer: Arc<std::sync::Mutex<TicketWriter>>,
    /// It could not be read when it was read last, which was told.
    pub broken: AtomicBool,
    /// A phase had settings of its own when it was read last.
    pub has_settings: AtomicBool,
}

impl TicketFile {
    /// Reads the file, and tells the run and front ends what it says now. Gives the number of the reading; 0: it could not be read.
    pub async fn read(&self) -> u64 {
        let mut looks = 0;
        loop {
            let mut last = self.last.lock().await;
            let mut settings = None;
            let (reading, input) = match load(&self.path) {
                Ok(ticket) => {
                    let has_settings = ticket.phases.iter().any(|phase| !phase.settings.is_empty());
                    let before = self.has_settings.swap(has_settings, Ordering::Relaxed);
                    settings = (has_settings || before).then(|| translate::phase_settings(&ticket));
                    *last += 1;
                    self.broken.store(false, Ordering::Relaxed);
                    let input = said(&ticket, *last, &self.validation);
                    self.reporter.tell(&News::TicketRead(self.ticket.clone(), Arc::new(ticket)));
                    (*last, input)
                }
                Err(OpenError::Broken { .. }) if self.broken.swap(true, Ordering::Relaxed) => return 0,
                Err(error @ OpenError::Broken { .. }) => {
                    (0, Input::Warned { text: format!("{error}; the last readable version still applies") })
                }
                Err(error) if looks >= LOOKS || matches!(&error, OpenError::Ticket(error) if error.is_lasting()) => {
                    self.reporter.tell(&News::TicketGone(self.ticket.clone()));
                    (0, Input::TicketLost { why: error.to_string() })
                }
                Err(_) => {
                    drop(last);
                    tokio::time::sleep(PAUSE).await;
                    looks += 1;
                    continue;
                }
            };
            for input in [Some(input), settings].into_iter().flatten() {
                let _ = self.inputs.send(input).await;
            }
            return reading;
        }
    }

    /// Writes a box, and tells the run what came of it, with the number of the first reading that could have it. A file that
    /// has not changed is read here: nobody hears of it else, and the run has passed over what it said meanwhile.
    pub async fn write(
        &self,
        write: impl FnOnce(&mut TicketWriter) -> WriteOutcome + Send + 'static,
        settled: impl FnOnce(WriteOutcome, u64) -> Input,
    ) {
        let mut last = self.last.lock().await;
        let outcome = self.write_aside(write).await;
        *last += 1;
        let is_changed = outcome == WriteOutcome::Written;
        let _ = self.inputs.send(settled(outcome, *last)).await;
        drop(last);
        if !is_changed {
            self.read().await;
        }
    }

    /// Writes, and has what was replaced looked at a little later.
    pub async fn write_aside(
        &self,
        write: impl FnOnce(&mut TicketWriter) -> WriteOutcome + Send + 'static,
    ) -> WriteOutcome {
        let writer = self.writer.clone();
        let written = tokio::task::spawn_blocking(move || write(&mut held(&writer))).await;
        let writer = self.writer.clone();
        tokio::spawn(look_back(writer));
        written.unwrap_or_else(|error| WriteOutcome::Failed(error.to_string()))
    }

    /// Waits until nothing is left to be looked at.
    pub async fn finish(&self) {
        while held(&self.writer).is_busy() {
            look_back(self.writer.clone()).await;
        }
    }

    /// Follows the file, for as long as what is returned lives: tells the run and front ends what it says now, and
    /// keeps the ticket's lock on it.
    pub fn follow(self: Arc<Self>, lock: Weak<TicketLock>) -> Option<FileWatch> {
        let (changes, mut seen) = mpsc::channel(channels::CHANGES);
        let first = changes.clone();
        let watch = FileWatch::new(move |_| {
            let _ = changes.try_send(());
        })
        .and_then(|mut watch| {
            watch.add(&self.path)?;
            Ok(watch)
        });
        // It may have changed between the first reading and the start of the watch.
        let _ = first.try_send(());
        drop(first);
        tokio::spawn(async move {
            while seen.recv().await.is_some() {
                // Whoever saves a file may put another one in its place.
                if let Some(Err(held)) = lock.upgrade().map(|lock| lock.follow(&self.path)) {
                    let message = format!("{} is in use by another program: {held}", self.ticket);
                    let _ = self.inputs.send(Input::Faulted { message }).await;
                    break;
                }
                self.read().await;
                if self.inputs.is_closed() {
                    break;
                }
            }
        });
        watch
            .inspect_err(|error| {
                tracing::warn!(%error, "the ticket's file cannot be watched; edits are seen at the end of an \
                iteration");
            })
            .ok()
    }
}

async fn look_back(writer: Arc<std::sync::Mutex<TicketWriter>>) {
    tokio::time::sleep(TicketWriter::PAUSE).await;
    let _ = tokio::task::spawn_blocking(move || held(&writer).look_back()).await;
}

/// A panic in a write leaves what is to be looked at as it was.
fn held(writer: &std::sync::Mutex<TicketWriter>) -> MutexGuard<'_, TicketWriter> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a ticket says, for the run. `own`: the person's validation commands.
pub fn said(ticket: &Ticket, reading: u64, own: &[String]) -> Input {
    Input::TicketRead {
        reading,
        title: ticket.title.clone(),
        phases: translate::phases(ticket),
        boxes: ticket.boxes,
        validation: commands(ticket, own),
    }
}

/// Reads a ticket that is to be run; one with broken front matter is an error.
pub fn load(path: &Path) -> Result<Ticket, OpenError> {
    let ticket = tickets::load(path)?;
    let broken = ticket.problems.iter().find(|problem| problem.severity == Severity::Error);
    match broken {
        Some(problem) => Err(OpenError::Broken {
            path: path.display().to_string(),
            line: problem.line,
            column: problem.column,
            message: problem.message.clone(),
        }),
        None => Ok(ticket),
    }
}

/// The commands that check a claim: the ticket's own first, then the person's.
pub fn commands(ticket: &Ticket, own: &[String]) -> Vec<String> {
    ticket.validation.iter().chain(own).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::store::Store;
    use crate::domain::record::OfPhase;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_box_that_needs_no_write_has_the_file_read_and_one_that_is_written_leaves_that_to_the_watch() {
        let folder = tempfile::tempdir().unwrap();
        let (file, mut heard) = file(folder.path(), "# T\n\n- [x] A\n- [ ] B\n");
        for (text, told) in [("A", true), ("B", false), ("C", true)] {
            let settled = |outcome, reading| Input::BoxSettled {
                phase: OfPhase { phase: String::new(), id: None },
                done: true,
                outcome,
                reading,
            };
            file.write(move |ticket| ticket.tick(text.to_owned(), 0), settled).await;
            let Ok(Input::BoxSettled { reading: written, .. }) = heard.try_recv() else { panic!("{text}") };
            match heard.try_recv() {
                Ok(Input::TicketRead { reading, .. }) => assert!(told && reading > written, "{text}"),
                other => assert!(!told && other.is_err(), "{text}: {other:?}"),
            }
        }
    }

    /// The file of a ticket with this text, and what its run hears.
    fn file(folder: &Path, text: &str) -> (Arc<TicketFile>, mpsc::Receiver<Input>) {
        let path = folder.join("tk-1.md");
        std::fs::write(&path, text).unwrap();
        let (inputs, heard) = mpsc::channel(8);
        let file = TicketFile {
            path: path.clone(),
            ticket: TicketKey::unknown("tk-1"),
            validation: Vec::new(),
            reporter: Reporter::new(Store::open(&folder.join("state")).unwrap()),
            inputs,
            last: Mutex::new(1),
            writer: Arc::new(std::sync::Mutex::new(TicketWriter::new(path, folder.join("locks")))),
            broken: AtomicBool::default(),
            has_settings: AtomicBool::default(),
        };
        (Arc::new(file), heard)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn it_is_read_once_more_when_it_is_followed_and_told_once_that_it_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        let (file, mut heard) = file(folder.path(), "# T\n\n- [ ] A\n");
        let path = file.path.clone();
        let watch = file.clone().follow(Weak::new());
        let first =
            tokio::time::timeout(Duration::from_secs(20), heard.recv()).await.expect("nothing has changed since");
        assert!(matches!(first, Some(Input::TicketRead { reading: 2, .. })), "{first:?}");
        drop(watch);
        let (good, broken) = ("# T\n\n- [x] A\n", "---\nvalidation: {\n---\n# T\n");
        for (text, reading, told) in [(broken, 0, true), (broken, 0, false), (good, 3, true), (broken, 0, true)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(file.read().await, reading, "{text}");
            assert_eq!(heard.try_recv().is_ok(), told, "{text}");
        }
    }
}

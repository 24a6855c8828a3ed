//! The one thread of a program that writes the database. It takes what has queued up into one transaction,
//! so that many appends cost one sync (group commit), and answers each when it is stored, and on the disk where it could not be found
//! again after a power failure.

use super::bell::Notifier;
use super::error::StoreError;
use super::folder::Database;
use super::tables::{self, Fault};
use crate::base::id::{RunId, TicketId};
use crate::base::time::Timestamp;
use crate::domain::record::{Record, Stored};
use crate::domain::summary::RunSummary;
use rusqlite::{Connection, TransactionBehavior};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Appends that may wait; beyond it callers wait before they are queued.
const QUEUE: usize = 256;

/// What one append writes: all of it, or nothing.
#[derive(Clone, Debug)]
pub struct Append {
    pub run: RunId,
    pub ticket: TicketId,
    /// When the core decided the records.
    pub time: Timestamp,
    /// The facts, in order. May be empty: then only the summary is written.
    pub records: Vec<Record>,
    /// The run as it stands after them.
    pub summary: RunSummary,
}

/// The answer to one append.
pub(super) type Reply = Result<Vec<Arc<Stored>>, StoreError>;

struct Job {
    append: Append,
    /// Who goes on because of it waits for the disk by itself.
    is_early: bool,
    reply: oneshot::Sender<Reply>,
}

/// How long the sync of a ticket's folder may take.
const SYNC: Duration = Duration::from_secs(10);

/// Syncs under way that come before records which tell of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Owed(Arc<Mutex<Vec<Receiver<()>>>>);

impl Owed {
    pub(super) fn add(&self, sync: Receiver<()>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sync);
    }

    /// Waits for all of them, but not without end: a folder may be on a disk that no longer answers, and other tickets
    /// must go on.
    pub(super) fn wait(&self) {
        let until = Instant::now() + SYNC;
        // Held meanwhile: who comes second waits as long.
        for sync in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // The sender is dropped at its end.
            if sync.recv_timeout(until.saturating_duration_since(Instant::now())) == Err(RecvTimeoutError::Timeout) {
                tracing::warn!(
                    "a ticket's folder is not on the disk after {SYNC:?}; a power failure now could undo a tick"
                );
            }
        }
    }
}

/// The queue to the thread. Dropping it lets the thread finish what is queued, and waits for that.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(db: Connection, database: Database, bell: Notifier, owed: Owed) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let named = database.path.clone();
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || write(db, jobs, &database, &bell, &owed))
            .map_err(StoreError::file("start the writer of", &named))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Queues an append; the answer comes when it is stored; what can be found out again is on the disk
    /// with a later append.
    pub(super) async fn append(&self, append: Append) -> Reply {
        self.queued(append, false).await
    }

    /// The same, where the answer does not wait for the disk.
    pub(super) async fn append_early(&self, append: Append) -> Reply {
        self.queued(append, true).await
    }

    async fn queued(&self, append: Append, is_early: bool) -> Reply {
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(Job { append, is_early, reply }).await.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// The same for threads outside the async runtime.
    pub(super) fn append_blocking(&self, append: Append) -> Reply {
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.blocking_send(Job { append, is_early: false, reply }).map_err(|_| StoreError::Closed)?;
        answer.blocking_recv().unwrap_or(Err(StoreError::Closed))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic there was already answered with `Closed`.
            let _ = thread.join();
        }
    }
}

fn write(mut db: Connection, mut jobs: mpsc::Receiver<Job>, database: &Database, bell: &Notifier, owed: &Owed) {
    while let Some(first) = jobs.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < QUEUE
            && let Ok(job) = jobs.try_recv()
        {
            batch.push(job);
        }
        match commit(&mut db, &batch, database, owed) {
            Ok(all) => {
                bell.notify();
                for (job, stored) in batch.into_iter().zip(all) {
                    // Nobody waits any more: stored all the same.
                    let _ = job.reply.send(Ok(stored));
                }
            }
            // One bad append, or one too big for the disk, must not fail its neighbours.
            Err(_) if batch.len() > 1 => {
                for job in batch {
                    let alone = commit(&mut db, std::slice::from_ref(&job), database, owed);
                    bell.notify();
                    let _ = job.reply.send(alone.map(|mut all| all.pop().unwrap_or_default()));
                }
            }
            Err(error) => {
                for job in batch {
                    let _ = job.reply.send(Err(error.clone()));
                }
            }
        }
    }
}

/// Whether the next commit waits for the disk. It need not where all of it is found again: nothing that cannot be done
/// twice is done because of it, and the next commit that waits takes it along. A power failure may cost the last of
/// these; a crash of the program costs none.
fn waits<'a>(mut records: impl Iterator<Item = &'a Record>) -> bool {
    !records.all(Record::is_found_again)
}

/// One transaction for all of them; on any error it is rolled back whole.
fn commit(
    db: &mut Connection,
    batch: &[Job],
    database: &Database,
    owed: &Owed,
) -> Result<Vec<Vec<Arc<Stored>>>, StoreError> {
    database.is_in_place()?;
    let sql = StoreError::sql(&database.path);
    let waits = waits(batch.iter().filter(|job| !job.is_early).flat_map(|job| &job.append.records));
    if waits {
        owed.wait();
    }
    db.pragma_update(None, "synchronous", if waits { "full" } else { "normal" }).map_err(&sql)?;
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&sql)?;
    let mut all = Vec::with_capacity(batch.len());
    for Job { append, .. } in batch {
        let stored = tables::append(&tx, append.run, &append.ticket, append.time, &append.records, &append.summary);
        all.push(stored.map_err(|fault| match fault {
            Fault::Sql(error) => sql(error),
            Fault::Json(error) => StoreError::Encode(Arc::new(error)),
            Fault::Withdrawn => StoreError::Withdrawn,
        })?);
    }
    tx.commit().map_err(&sql)?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_found_again_does_not_wait_for_the_disk() {
        let finished = Record::ToolFinished { n: 1, tool_use_id: "t".into(), is_error: false };
        let counted = Record::LinesCounted { added: 1, removed: 2 };
        for (records, waited) in [
            (vec![finished.clone(), counted], false),
            (vec![Record::Paused], true),
            (vec![finished.clone(), Record::Paused], true),
        ] {
            assert_eq!(waits(records.iter()), waited, "{records:?}");
        }
    }

    #[test]
    fn what_is_owed_is_waited_for_once() {
        let (owed, (sync, ends)) = (Owed::default(), std::sync::mpsc::channel());
        owed.add(ends);
        let waiting = std::thread::spawn({
            let owed = owed.clone();
            move || owed.wait()
        });
        assert!(!waiting.is_finished());
        drop(sync);
        waiting.join().unwrap();
        owed.wait();
    }
}

//! What goes to the disk beside the path. Whoever needs it there waits for it.

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writes under way, one after the other. An error stays: what comes after it counts on what it was about.
#[derive(Debug, Default)]
pub(super) struct Settling(Mutex<Option<Write>>);

type Write = Shared<BoxFuture<'static, Result<(), String>>>;

impl Settling {
    fn last(&self) -> MutexGuard<'_, Option<Write>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins at once, behind what was begun before.
    pub(super) fn begin(&self, work: impl Future<Output = Result<(), String>> + Send + 'static) {
        let mut last = self.last();
        let before = last.take();
        let work = async {
            if let Some(before) = before {
                before.await?;
            }
            work.await
        };
        let task = tokio::spawn(work).map(|ended| ended.unwrap_or_else(|stopped| Err(stopped.to_string())));
        *last = Some(task.boxed().shared());
    }

    /// Waits until all that was begun has ended, well or not: who counts on it asks [`settled`](Self::settled).
    pub(super) async fn ended(&self) {
        let last = self.last().clone();
        if let Some(last) = last {
            let _ = last.await;
        }
    }

    /// Waits until all that was begun is on the disk. An error is told once.
    pub(super) async fn settled(&self) -> Result<(), String> {
        let last = self.last().clone();
        let Some(last) = last else { return Ok(()) };
        let settled = last.clone().await;
        let mut now = self.last();
        // Nothing was begun meanwhile.
        if now.as_ref().is_some_and(|now| now.ptr_eq(&last)) {
            *now = None;
        }
        settled
    }
}

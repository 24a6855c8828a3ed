//! Work of git's in a working tree that is not to be left behind when the run ends: its locks are kept as long as that.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot::{self, error::TryRecvError};
use tokio::time::timeout;

/// How long it is waited for: hooks and filters of the person's may take for ever.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is under way.
#[derive(Clone, Default)]
pub(super) struct Lasting(Arc<Mutex<Vec<oneshot::Receiver<()>>>>);

impl Lasting {
    /// It is under way as long as what is given is kept.
    pub(super) fn begin(&self) -> oneshot::Sender<()> {
        let (begun, ended) = oneshot::channel();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain_mut(|one| one.try_recv() == Err(TryRecvError::Empty));
        all.push(ended);
        begun
    }

    /// Waits until none is.
    pub(super) async fn ended(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let each = async {
            for one in all {
                // Nothing is sent: it is dropped.
                let _: Result<(), _> = one.await;
            }
        };
        if timeout(PATIENCE, each).await.is_err() {
            tracing::warn!("git works on in the directory of a run that has ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_waited_for() {
        let lasting = Lasting::default();
        lasting.ended().await;
        let begun = lasting.begin();
        let waiting = tokio::spawn({
            let lasting = lasting.clone();
            async move { lasting.ended().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(begun);
        waiting.await.unwrap();
    }
}

//! Work that is done once at a time, and of what waits only what was asked for last.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// The turns of one kind of work.
#[derive(Clone, Default)]
pub(super) struct Turns {
    one: Arc<Mutex<()>>,
    last: Arc<AtomicU64>,
}

/// A place among those that wait.
pub(super) struct Turn {
    turns: Turns,
    n: u64,
}

impl Turns {
    /// Takes the last place.
    pub(super) fn last(&self) -> Turn {
        Turn { turns: self.clone(), n: self.last.fetch_add(1, Ordering::Relaxed) + 1 }
    }
}

impl Turn {
    /// Waits for its turn, which lasts until what is given is dropped; `None`: another one came later.
    pub(super) async fn come(self) -> Option<OwnedMutexGuard<()>> {
        let turn = self.turns.one.lock_owned().await;
        (self.turns.last.load(Ordering::Relaxed) == self.n).then_some(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn of_those_that_wait_only_the_last_has_a_turn() {
        let turns = Turns::default();
        let first = turns.last().come().await;
        let (second, third) = (turns.last(), turns.last());
        drop(first);
        assert!(second.come().await.is_none());
        assert!(third.come().await.is_some());
    }
}

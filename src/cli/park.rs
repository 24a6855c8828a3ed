//! Waiting on this thread alone: a future is polled here, and the thread sleeps until it is woken or the moment has come
//! that the future waits for. A timer of the runtime's would wake two threads, one of them several times.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

thread_local! {
    /// When the future that this thread waits for is to be polled again.
    static ALARM: Cell<Option<Instant>> = const { Cell::new(None) };
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls until it is ready.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        ALARM.set(None);
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        match ALARM.get() {
            Some(at) => thread::park_timeout(at.saturating_duration_since(Instant::now())),
            None => thread::park(),
        }
    }
}

/// Waits within [`block_on`].
pub async fn sleep_until(at: Instant) {
    poll_fn(|_| {
        if Instant::now() >= at {
            return Poll::Ready(());
        }
        ALARM.set(Some(ALARM.get().map_or(at, |alarm| alarm.min(at))));
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_earliest_moment_wakes_and_so_does_another_thread() {
        let began = Instant::now();
        let soon = began + Duration::from_millis(20);
        block_on(async {
            tokio::select! {
                () = sleep_until(began + Duration::from_secs(600)) => panic!("too late"),
                () = sleep_until(soon) => {}
            }
        });
        assert!(Instant::now() >= soon);
        let (send, told) = tokio::sync::oneshot::channel();
        let teller = thread::spawn(move || send.send(7));
        assert_eq!(block_on(told), Ok(7));
        teller.join().unwrap().unwrap();
    }
}

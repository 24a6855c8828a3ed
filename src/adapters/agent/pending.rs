//! What was sent to Claude and waits for a word of its: messages that it has not taken up, requests that it has not
//! answered. Shared by who sends and by the drain, which hears the word.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Claude's answer to a request: JSON text, or why it refuses.
pub(super) type Answer = Result<String, String>;

/// What waits.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// Messages of ours by uuid; `true` once Claude has taken them up.
    messages: HashMap<String, bool>,
    requests: HashMap<String, oneshot::Sender<Answer>>,
    /// Nothing is read any more.
    over: bool,
}

impl Pending {
    /// A message is about to be sent.
    pub(super) fn message(&self, uuid: &str) {
        self.lock().messages.insert(uuid.to_owned(), false);
    }

    /// Claude has begun with a message. `false`: it is none of ours.
    pub(super) fn taken(&self, uuid: &str) -> bool {
        self.lock().messages.get_mut(uuid).map(|taken| *taken = true).is_some()
    }

    /// Messages that Claude would still begin with.
    pub(super) fn queued(&self) -> Vec<String> {
        let waiting = self.lock();
        waiting.messages.iter().filter(|(_, taken)| !**taken).map(|(uuid, _)| uuid.clone()).collect()
    }

    /// A request is about to be sent; its answer comes here. The sender is dropped when none can come any more.
    pub(super) fn request(&self, id: &str) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.lock();
        if !waiting.over {
            waiting.requests.insert(id.to_owned(), sender);
        }
        receiver
    }

    pub(super) fn answered(&self, id: &str, answer: Answer) {
        let asked = self.lock().requests.remove(id);
        if let Some(asked) = asked {
            // An error: nobody waits any more.
            asked.send(answer).ok();
        }
    }

    /// Nothing is read any more.
    pub(super) fn over(&self) {
        let mut waiting = self.lock();
        waiting.over = true;
        waiting.requests.clear();
    }

    /// A poisoned lock holds what it held: its owners only put and take.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_waits_until_it_is_taken_and_only_ours_are_known() {
        let pending = Pending::default();
        pending.message("u1");
        pending.message("u2");
        assert!(pending.taken("u1") && !pending.taken("of somebody else"));
        assert_eq!(pending.queued(), ["u2"]);
    }

    #[test]
    fn an_answer_goes_to_who_asked_and_none_comes_after_the_end() {
        let pending = Pending::default();
        let (mut first, mut second) = (pending.request("r1"), pending.request("r2"));
        pending.answered("r1", Ok("{}".into()));
        pending.answered("of nobody", Ok("{}".into()));
        assert_eq!(first.try_recv(), Ok(Ok("{}".to_owned())));
        assert_eq!(second.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        pending.over();
        assert_eq!(second.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert_eq!(pending.request("r3").try_recv(), Err(oneshot::error::TryRecvError::Closed));
    }
}

//! Turns of what is done for the person beside everything else that the relay does: about one ticket one thing after the other, in
//! the order in which they have written it, however long the first takes.

use tokio_util::sync::{CancellationToken, DropGuard};

/// The turns that are not over: the file of the ticket that each is about, and what says that it is over.
#[derive(Default)]
pub(super) struct Turns(Vec<(Option<String>, CancellationToken)>);

/// A turn, over when dropped.
pub(super) struct Turn {
    before: Vec<CancellationToken>,
    _over: DropGuard,
}

impl Turns {
    /// The next turn. `None`: what it is about depends on what comes before it, so it is behind all that was written until now,
    /// and before all that is written then.
    pub(super) fn next(&mut self, ticket_path: Option<String>) -> Turn {
        self.0.retain(|(_, over)| !over.is_cancelled());
        let is_before = |other: &Option<String>| other.is_none() || ticket_path.is_none() || *other == ticket_path;
        let before = self.0.iter().filter(|(other, _)| is_before(other)).map(|(_, over)| over.clone()).collect();
        let over = CancellationToken::new();
        self.0.push((ticket_path, over.clone()));
        Turn { before, _over: over.drop_guard() }
    }
}

impl Turn {
    /// Waits until all turns before this one are over.
    pub(super) async fn come(&self) {
        for before in &self.before {
            before.cancelled().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn of_one_ticket_one_is_after_the_other_and_of_two_none_waits() {
        let mut turns = Turns::default();
        let mut next = |ticket: &str| turns.next(Some(ticket.to_owned()));
        let (first, other, second) = (next("a"), next("b"), next("a"));
        let has_come = |turn: &Turn| turn.come().now_or_never().is_some();
        assert_eq!([&first, &other, &second].map(has_come), [true, true, false]);
        let (any, last) = (turns.next(None), turns.next(Some("c".to_owned())));
        drop(first);
        assert_eq!([&second, &any, &last].map(has_come), [true, false, false]);
        drop((other, second));
        assert_eq!([&any, &last].map(has_come), [true, false]);
        drop(any);
        assert!(has_come(&last));
    }
}

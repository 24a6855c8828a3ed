//! Telling a front end the news without ever waiting for it.

use crate::adapters::store::Store;
use crate::base::id::{RunId, TicketId};
use crate::domain::news::{News, RunLeft};
use crate::domain::record::Stored;
use crate::domain::scrollback::Scrollback;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// What a run has printed, for those who show it.
type Scrollbacks = HashMap<RunId, (TicketId, Arc<dyn Scrollback>)>;

/// Sends news; what does not fit is made up for by sending the whole run again.
#[derive(Clone)]
pub struct Reporter {
    news: mpsc::Sender<News>,
    store: Store,
    stream: Stream,
    /// The open runs.
    runs: Arc<Mutex<Scrollbacks>>,
    /// Runs of which a record was dropped.
    lagging: Arc<Mutex<HashSet<RunId>>>,
}

/// Whether the growth of scrollbacks is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Told,
    Untold,
}

impl Reporter {
    /// A reporter into `news`, with `store` as the memory for what was dropped.
    pub fn new(news: mpsc::Sender<News>, store: Store) -> Self {
        Self { news, store, stream: Stream::Told, runs: Arc::default(), lagging: Arc::default() }
    }

    /// The same for a front end that shows nothing of what Claude prints.
    #[must_use]
    pub fn without_stream(self) -> Self {
        Self { stream: Stream::Untold, ..self }
    }

    /// Tells anything but records. Losing one of these is harmless: the next one says the same.
    pub fn tell(&self, news: News) {
        let _ = self.news.try_send(news);
    }

    /// Tells what somebody waits for and hears only once: where there is no room it follows as soon as there is.
    pub fn answer(&self, news: News) {
        let Err(TrySendError::Full(news)) = self.news.try_send(news) else { return };
        let channel = self.news.clone();
        tokio::spawn(async move { channel.send(news).await });
    }

    /// Tells a record, or everything about its run when records before it were dropped.
    pub fn recorded(&self, stored: Arc<Stored>) {
        let mut lagging = self.lagging.lock().unwrap_or_else(PoisonError::into_inner);
        let run = stored.run;
        if !lagging.contains(&run) && self.news.try_send(News::Recorded(stored)).is_ok() {
            return;
        }
        lagging.insert(run);
        // There must be room for the whole before it is read from the store.
        let Ok(room) = self.news.try_reserve() else {
            return;
        };
        if let Some(news) = self.whole(run) {
            room.send(news);
            lagging.remove(&run);
        }
    }

    /// Tells about trouble of ours that is being tried again.
    pub fn trouble(&self, ticket: &TicketId, message: &str) {
        self.tell(News::Trouble { ticket: ticket.clone(), message: message.to_owned() });
    }

    /// Tells that a run was left without a last record: nothing else will say so, so it is not dropped.
    pub fn left(&self, left: RunLeft) {
        self.answer(News::RunLeft(left));
    }

    /// Tells that a run is open, with all its records so far.
    pub fn opened(&self, run: RunId, ticket: &TicketId, scrollback: Arc<dyn Scrollback>) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.insert(run, (ticket.clone(), scrollback));
        drop(runs);
        if let Some(news) = self.whole(run)
            && self.news.try_send(news).is_err()
        {
            // Told with the next record.
            self.lagging.lock().unwrap_or_else(PoisonError::into_inner).insert(run);
        }
    }

    /// A callback for the drain: the scrollback of `run` grew.
    pub fn growth(&self, run: RunId) -> Box<dyn Fn() + Send + Sync> {
        if self.stream == Stream::Untold {
            return Box::new(|| ());
        }
        let news = self.news.clone();
        // A full channel means that the front end will draw anyway, and then sees the growth.
        Box::new(move || drop(news.try_send(News::StreamGrew(run))))
    }

    fn whole(&self, run: RunId) -> Option<News> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let (ticket, scrollback) = runs.get(&run)?.clone();
        let records = self.store.load(run).ok()?.records;
        Some(News::RunOpened { ticket, run, records, scrollback })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_somebody_waits_for_comes_also_when_there_was_no_room() {
        let folder = tempfile::tempdir().unwrap();
        let (news, mut told) = mpsc::channel(1);
        let reporter = Reporter::new(news, Store::open(folder.path()).unwrap());
        let ticket = TicketId::parse("tk-1").unwrap();
        let answer = |name: &str| News::RunFailed { ticket: ticket.clone(), message: name.into(), exit_code: 1 };
        reporter.trouble(&ticket, "the channel is full");
        for name in ["one", "two"] {
            reporter.answer(answer(name));
        }
        reporter.trouble(&ticket, "this is dropped");
        let mut heard = Vec::new();
        while heard.len() < 3 {
            heard.push(match told.recv().await.unwrap() {
                News::Trouble { message, .. } | News::RunFailed { message, .. } => message,
                _ => String::new(),
            });
        }
        heard.sort();
        assert_eq!(heard, ["one", "the channel is full", "two"]);
    }
}

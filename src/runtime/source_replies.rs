//! Replies to the issues of imported tickets once a run has completed them here, as the settings want it. What was tried once is left to
//! the person, and what nobody knows the end of is told at the start.

use crate::adapters::source_ledger;
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::base::time::Clock;
use crate::domain::approval::Presence;
use crate::domain::news::News;
use crate::domain::outcome::ExitReason;
use crate::domain::record::{Record, Stored};
use crate::domain::source_reply::{SourceReply, Upstream, upstream};
use crate::domain::summary::Owner;
use crate::domain::ticket::TicketKey;
use crate::runtime::app::App;
use crate::runtime::export::stored::Secrets;
use crate::runtime::source_reply::{By, Source, open_words};
use crate::runtime::ticket_runs::is_finished;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio_util::sync::CancellationToken;

/// How long the end of the program waits for replies that are being sent.
const PATIENCE: Duration = Duration::from_secs(60);

/// What replies are made with.
#[derive(Clone)]
pub struct Replier {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub secrets: Secrets,
    pub wanted: SourceReply,
}

/// The task that replies.
pub struct Replying {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// A run of this program.
struct Heard {
    ticket: TicketKey,
    /// The last record that was heard, or that was there before it was opened here.
    seq: u64,
}

impl Replying {
    /// Replies from now on; `None`: the settings want nothing sent.
    pub fn start(app: &App, replier: Replier) -> Option<Self> {
        if replier.wanted == SourceReply::default() {
            return None;
        }
        let stop = CancellationToken::new();
        let task = tokio::spawn(work(app.clone(), replier, stop.clone()));
        Some(Self { stop, task })
    }

    /// Waits for what is being sent, for a minute at most.
    pub async fn finish(self) {
        self.stop.cancel();
        let _ = self.task.await;
    }
}

async fn work(app: App, replier: Replier, stop: CancellationToken) {
    let mut told = app.subscribe(Presence::Nobody);
    let mut runs: BTreeMap<RunId, Heard> = BTreeMap::new();
    let mut sending: JoinSet<()> = JoinSet::new();
    let state = replier.store.folder().to_owned();
    for replies in spawn_blocking(move || source_ledger::unsettled(&state)).await.unwrap_or_default() {
        let ticket = TicketKey::new(replies.ticket.clone(), Path::new(&replies.path));
        let issue = upstream(&replies.reference).map_or(replies.reference.clone(), |issue| issue.to_string());
        for deed in replies.open() {
            let message = open_words(&issue, replies.ticket.as_str(), deed);
            app.tell(&News::Trouble { ticket: ticket.clone(), message });
        }
    }
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            news = told.next() => hear(&mut runs, news, |run, ticket| {
                sending.spawn(reply(app.clone(), replier.clone(), run, ticket));
            }),
            _ = sending.join_next(), if !sending.is_empty() => {}
        }
    }
    while let Some(news) = told.try_next() {
        hear(&mut runs, news, |run, ticket| {
            sending.spawn(reply(app.clone(), replier.clone(), run, ticket));
        });
    }
    let all = async { while sending.join_next().await.is_some() {} };
    if tokio::time::timeout(PATIENCE, all).await.is_err() {
        // Programs that were asked end with their tasks.
        sending.shutdown().await;
    }
}

/// Gives each run of this program that has completed its ticket since it was opened here.
fn hear(runs: &mut BTreeMap<RunId, Heard>, news: News, mut complete: impl FnMut(RunId, TicketKey)) {
    let mut record = |runs: &mut BTreeMap<RunId, Heard>, stored: &Stored| {
        let Some(heard) = runs.get_mut(&stored.run).filter(|heard| stored.seq > heard.seq) else { return };
        heard.seq = stored.seq;
        if matches!(&stored.record, Record::RunEnded { reason: ExitReason::Complete, .. }) {
            complete(stored.run, heard.ticket.clone());
        }
    };
    match news {
        News::RunOpened { ticket, run, earlier, records, owner: Owner::Here } => {
            runs.entry(run).or_insert(Heard { ticket, seq: earlier });
            for stored in &records {
                record(runs, stored);
            }
        }
        News::Recorded(stored) => record(runs, &stored),
        _ => {}
    }
}

/// Sends what is wanted for this ticket, and tells what came of it.
async fn reply(app: App, replier: Replier, run: RunId, ticket: TicketKey) {
    let Replier { store, clock, secrets, mut wanted } = replier;
    let path = PathBuf::from(ticket.file());
    let look = move || {
        let folder = store.runs().ok()?.into_iter().find(|one| one.run == run)?.folder;
        // A ticket without an issue is nobody's matter.
        let source = Source::of(&path, Path::new(&folder), store.folder()).ok()?;
        Some((source, is_finished(&path.display().to_string()), store))
    };
    let Ok(Some((source, is_finished, store))) = spawn_blocking(look).await else { return };
    wanted.close &= is_finished;
    wanted.comment &= !matches!(source.upstream, Upstream::Beads(_));
    let trouble = |message: String| {
        tracing::warn!(%ticket, message, "told to the person");
        app.tell(&News::Trouble { ticket: ticket.clone(), message });
    };
    let mut outgoing = match source.plan(wanted, By::Settings).await {
        Ok(outgoing) => outgoing,
        Err(why) => return trouble(format!("{}: {why}; {}", source.upstream, again(&source))),
    };
    for note in &outgoing.notes {
        trouble(note.clone());
    }
    if outgoing.deeds.is_empty() {
        return;
    }
    let id = outgoing.id.clone();
    let by_hand = again(&source);
    let now = clock.clone();
    let text = spawn_blocking(move || source.comment(Some(&store), &id, &*now, &secrets)).await;
    let text = match text.map_err(|error| error.to_string()).and_then(|text| text) {
        Ok(text) => text,
        Err(why) => return trouble(format!("{}: {why}; {by_hand}", outgoing.upstream)),
    };
    let (said, failed) = outgoing.send(&text, &*clock).await;
    for message in said {
        app.tell(&News::SourceReplied { ticket: ticket.clone(), message });
    }
    if let Some(why) = failed {
        trouble(format!("{why}; {by_hand}"));
    }
}

fn again(source: &Source) -> String {
    format!("`programmator source {}` shows what was sent and tries again", source.ticket.id)
}

//! Replies to the issues of imported tickets once a run has completed them here, as the settings want it. What was tried once is left to
//! the person, and what nobody knows the end of is told at the start.

use crate::adapters::private_file::PrivateFileError;
use crate::adapters::source_ledger;
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::base::text::shell_word;
use crate::base::time::Clock;
use crate::domain::approval::Presence;
use crate::domain::news::News;
use crate::domain::outcome::ExitReason;
use crate::domain::record::{Record, Stored};
use crate::domain::source_reply::{Replies, SourceReply, Upstream, open_words, upstream};
use crate::domain::summary::Owner;
use crate::domain::ticket::TicketKey;
use crate::runtime::app::App;
use crate::runtime::export::stored::Secrets;
use crate::runtime::source_reply::{By, Source, reference};
use crate::runtime::ticket_runs::is_finished;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet, block_in_place, spawn_blocking};
use tokio_util::sync::CancellationToken;

/// How long the end of the program waits for replies that are being sent.
const PATIENCE: Duration = Duration::from_secs(30);

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
    open: Open,
}

/// Tickets whose issues are being told.
type Open = Arc<Mutex<BTreeSet<TicketKey>>>;

/// A run of this program.
struct Heard {
    ticket: TicketKey,
    /// The last record that was heard, or that was there before it was opened here.
    seq: u64,
    /// Its issue when the run was opened: Claude can write into the file from then on.
    reference: Option<JoinHandle<Option<String>>>,
}

/// A run that has completed its ticket.
struct Completed {
    run: RunId,
    ticket: TicketKey,
    reference: Option<JoinHandle<Option<String>>>,
}

impl Replying {
    /// Replies from now on, or says how it is done where the settings want nothing sent.
    pub fn start(app: &App, replier: Replier) -> Self {
        let (stop, open) = (CancellationToken::new(), Open::default());
        let task = tokio::spawn(work(app.clone(), replier, stop.clone(), open.clone()));
        Self { stop, task, open }
    }

    /// Something is being sent.
    pub fn is_at_work(&self) -> bool {
        !lock(&self.open).is_empty()
    }

    /// Waits for what is being sent, for half a minute at most or until it is `given_up`. Gives what is to be said of the issues that
    /// were not told then.
    pub async fn finish(self, given_up: impl Future<Output = ()>) -> Vec<String> {
        self.stop.cancel();
        let mut task = self.task;
        tokio::select! {
            _ = &mut task => {}
            () = given_up => {
                // Programs that were asked end with their tasks.
                task.abort();
                let _ = task.await;
            }
        }
        let words = |ticket: &TicketKey| {
            let id = ticket.id();
            format!("{id}: no response about its issue yet; `programmator source {id}` shows what was sent")
        };
        lock(&self.open).iter().map(words).collect()
    }
}

fn lock(open: &Open) -> MutexGuard<'_, BTreeSet<TicketKey>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn work(app: App, replier: Replier, stop: CancellationToken, open: Open) {
    let mut told = app.subscribe(Presence::Nobody);
    let mut runs: BTreeMap<RunId, Heard> = BTreeMap::new();
    let mut sending: JoinSet<()> = JoinSet::new();
    let state = replier.store.folder().to_owned();
    for found in spawn_blocking(move || source_ledger::unsettled(&state)).await.unwrap_or_default() {
        tell_unsettled(found, |ticket, message| app.tell(&News::Trouble { ticket, message }));
    }
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            news = told.next() => hear(&mut runs, news, |completed| {
                sending.spawn(reply(app.clone(), replier.clone(), completed, open.clone()));
            }),
            _ = sending.join_next(), if !sending.is_empty() => {}
        }
    }
    while let Some(news) = told.try_next() {
        hear(&mut runs, news, |completed| {
            sending.spawn(reply(app.clone(), replier.clone(), completed, open.clone()));
        });
    }
    let all = async { while sending.join_next().await.is_some() {} };
    if tokio::time::timeout(PATIENCE, all).await.is_err() {
        // Programs that were asked end with their tasks.
        sending.shutdown().await;
    }
}

/// Tells what was begun and never settled, whichever directory the ticket is of: its file is named, and the directory with it.
fn tell_unsettled(found: Result<Replies, PrivateFileError>, mut tell: impl FnMut(TicketKey, String)) {
    let replies = match found {
        Ok(replies) => replies,
        Err(error) => {
            return tell(TicketKey::unknown("source"), format!("cannot tell what was sent to an issue: {error}"));
        }
    };
    let issue = upstream(&replies.reference).map_or(replies.reference.clone(), |issue| issue.to_string());
    for deed in replies.open() {
        let ticket = TicketKey::new(replies.ticket.clone(), Path::new(&replies.path));
        tell(ticket, open_words(&issue, &shell_word(&replies.path), deed));
    }
}

/// Gives each run of this program that has completed its ticket since it was opened here.
fn hear(runs: &mut BTreeMap<RunId, Heard>, news: News, mut complete: impl FnMut(Completed)) {
    let mut record = |runs: &mut BTreeMap<RunId, Heard>, stored: &Stored| {
        let Some(heard) = runs.get_mut(&stored.run).filter(|heard| stored.seq > heard.seq) else { return };
        heard.seq = stored.seq;
        if matches!(&stored.record, Record::RunEnded { reason: ExitReason::Complete, .. }) {
            let (run, ticket, reference) = (stored.run, heard.ticket.clone(), heard.reference.take());
            complete(Completed { run, ticket, reference });
        }
    };
    match news {
        News::RunOpened { ticket, run, earlier, records, owner: Owner::Here } => {
            runs.entry(run).or_insert_with(|| {
                let path = PathBuf::from(ticket.file());
                let reference = Some(spawn_blocking(move || reference(&path)));
                Heard { ticket, seq: earlier, reference }
            });
            for stored in &records {
                record(runs, stored);
            }
        }
        News::Recorded(stored) => record(runs, &stored),
        _ => {}
    }
}

/// Sends what is wanted for this ticket. It is open until what came of it is told.
async fn reply(app: App, replier: Replier, completed: Completed, open: Open) {
    let ticket = completed.ticket.clone();
    if replier.wanted == SourceReply::default() {
        return suggest(app, replier, ticket).await;
    }
    lock(&open).insert(ticket.clone());
    send(app, replier, completed).await;
    lock(&open).remove(&ticket);
}

/// Says how an issue is told that was told nothing yet.
async fn suggest(app: App, replier: Replier, ticket: TicketKey) {
    let (path, state) = (PathBuf::from(ticket.file()), replier.store.folder().to_owned());
    let look = move || {
        let source = Source::of(&path, path.parent()?, &state).ok()?;
        let sent = source_ledger::sent(&state, &source.ticket.id, &source.reference).ok()?;
        let comment = !matches!(source.upstream, Upstream::Beads(_));
        let wanted = SourceReply { comment, close: is_finished(&path.display().to_string()) };
        (sent.is_empty() && wanted != SourceReply::default()).then(|| {
            let (upstream, command) = (&source.upstream, by_hand(&source, wanted));
            format!("imported from {upstream}: {command} tells what was done")
        })
    };
    if let Ok(Some(message)) = spawn_blocking(look).await {
        app.tell(&News::SourceReplied { ticket, message });
    }
}

async fn send(app: App, replier: Replier, Completed { run, ticket, reference }: Completed) {
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
    let again = again(&source, wanted);
    let trouble = |message: String| {
        tracing::warn!(ticket = %ticket, %message);
        app.tell(&News::Trouble { ticket: ticket.clone(), message });
    };
    // Where nobody hears of it now, the ticket's report says it.
    let noted = |noted: Result<(), PrivateFileError>| {
        if let Err(error) = noted {
            trouble(format!("this could not be recorded: {error}"));
        }
    };
    let before = match reference {
        Some(read) => read.await.ok().flatten(),
        None => None,
    };
    if before.as_ref() != Some(&source.reference) {
        return trouble(format!(
            "{}: the ticket's external-ref changed during the run; nothing was sent. {again}",
            source.upstream
        ));
    }
    let mut outgoing = match source.plan(wanted, By::Settings).await {
        Ok(outgoing) => outgoing,
        Err(why) => {
            noted(block_in_place(|| source.note_untried(wanted, &why)));
            return trouble(format!("{}: {why}. {again}", source.upstream));
        }
    };
    for message in outgoing.notes.clone() {
        app.tell(&News::SourceReplied { ticket: ticket.clone(), message });
    }
    if outgoing.deeds.is_empty() {
        return;
    }
    let id = outgoing.id.clone();
    let now = clock.clone();
    let text = spawn_blocking(move || source.comment(Some(&store), &id, &*now, &secrets)).await;
    let text = match text.map_err(|error| error.to_string()).and_then(|text| text) {
        Ok(text) => text,
        Err(why) => {
            noted(block_in_place(|| outgoing.note_untried(&why)));
            return trouble(format!("{}: {why}. {again}", outgoing.upstream));
        }
    };
    let (said, failed) = outgoing.send(&text, &*clock).await;
    for message in said {
        app.tell(&News::SourceReplied { ticket: ticket.clone(), message });
    }
    if let Some(why) = failed {
        trouble(format!("{why}. {again}"));
    }
}

fn again(source: &Source, wanted: SourceReply) -> String {
    format!("{} sends it by hand", by_hand(source, wanted))
}

/// The command that sends this.
fn by_hand(source: &Source, wanted: SourceReply) -> String {
    let flags: String = wanted.deeds().iter().map(|deed| [" --", deed.word()].concat()).collect();
    format!("`programmator source {}{flags}`", source.ticket.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::private_file::failed;
    use crate::base::id::TicketId;
    use crate::base::time::Timestamp;
    use crate::domain::source_reply::{Deed, Sent};

    fn told(found: Result<Replies, PrivateFileError>) -> Vec<String> {
        let mut told = Vec::new();
        tell_unsettled(found, |ticket, message| told.push(format!("{ticket}: {message}")));
        told
    }

    #[test]
    fn what_is_unsettled_is_told_with_its_directory_and_what_cannot_be_read_too() {
        let begun = Sent { deed: Deed::Comment, id: "x".into(), begun: Timestamp::from_millis(1), end: None };
        let replies = Replies {
            ticket: TicketId::parse("tk-1").unwrap(),
            path: "/w/my shop/.tickets/tk-1.md".into(),
            reference: "github:a/b#7".into(),
            sent: vec![begun],
            untried: Vec::new(),
        };
        let [words] = &told(Ok(replies))[..] else { panic!("one") };
        assert!(words.starts_with("tk-1: a comment of a/b#7 was interrupted"), "{words}");
        assert!(words.contains("`programmator source '/w/my shop/.tickets/tk-1.md' --comment` checks"), "{words}");
        let unreadable = failed(Path::new("/s/sources/x.json"), &"not understood");
        let known = "source: cannot tell what was sent to an issue: ";
        assert!(told(Err(unreadable))[0].starts_with(known));
    }
}

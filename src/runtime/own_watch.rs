//! Which Claude sessions of the person's own there are and how each stands, told to front ends, and the transcripts of those
//! that somebody looks at. Both are read from what their hooks and Claude Code keep on disk; nothing is written.

use crate::adapters::file_watch::FileWatch;
use crate::adapters::known_sessions::{self, Known};
use crate::adapters::own_stream::{Nothing, OwnStream};
use crate::adapters::store::Store;
use crate::adapters::transcript::Look;
use crate::base::id::{RunId, TicketId};
use crate::domain::news::News;
use crate::domain::own_seen::{Gist, OwnSeen, Stands, tell_apart};
use crate::domain::own_session::title;
use crate::domain::scrollback::Scrollback;
use crate::domain::summary::Owner;
use crate::domain::ticket::TicketKey;
use crate::runtime::own_run::{key, run_id};
use crate::runtime::reporter::Reporter;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout};

/// How long one look stands before the next.
const PACE: Duration = Duration::from_millis(250);
/// How long after the last change they are looked at again: a Claude that is killed says nothing.
const ALIVE: Duration = Duration::from_secs(5);
/// The same while there is none, and while the system reports no changes.
const NONE: Duration = Duration::from_secs(60);
const BLIND: Duration = Duration::from_secs(2);

/// What is told of them.
pub struct OwnWatch {
    told: Arc<Told>,
    /// The one task that tells.
    telling: JoinSet<()>,
}

struct Told {
    store: Store,
    reporter: Reporter,
    sessions: Mutex<BTreeMap<TicketId, Own>>,
    /// What was told last.
    last: Mutex<Arc<BTreeMap<TicketKey, OwnSeen>>>,
    /// Somebody looks at one more.
    more: Notify,
}

/// A session.
#[derive(Clone)]
struct Own {
    known: Known,
    run: RunId,
    /// `None`: no transcript is known.
    stream: Option<OwnStream>,
    /// Somebody looks at it.
    is_shown: bool,
    has_ended: bool,
}

impl OwnWatch {
    /// Nothing is told yet.
    pub fn new(store: Store, reporter: Reporter) -> Self {
        let (sessions, last, more) = Default::default();
        Self { told: Arc::new(Told { store, reporter, sessions, last, more }), telling: JoinSet::new() }
    }

    /// Tells which there are, and from now on each change.
    pub fn follow(&mut self) {
        let told = self.told.clone();
        // A front end that comes later must be told, too.
        *lock(&told.last) = Arc::default();
        // One that panicked is begun again.
        while self.telling.try_join_next().is_some() {}
        if self.telling.is_empty() {
            self.telling.spawn(async move { told.follow().await });
        } else {
            told.more.notify_one();
        }
    }

    /// What the session of this run says, from now on with news of what it says more. `None`: there is no such session.
    pub fn scrollback(&mut self, run: RunId) -> Option<(TicketKey, Arc<dyn Scrollback>)> {
        let told = &self.told;
        let own = {
            let mut sessions = lock(&told.sessions);
            if !sessions.values().any(|own| own.run == run) {
                told.meet(&mut sessions);
            }
            let own = sessions.values_mut().find(|own| own.run == run)?;
            own.is_shown = true;
            own.clone()
        };
        told.more.notify_one();
        if self.telling.is_empty() {
            self.follow();
        }
        Some((key(&self.told.store, &own.known.session), own.scrollback()))
    }

    /// Shows the session of this run, which need not have begun. `false`: there is no such session.
    pub fn show(&mut self, run: RunId) -> bool {
        let Some((ticket, scrollback)) = self.scrollback(run) else { return false };
        self.told.reporter.shown(run, (ticket, Owner::Nobody), 0, scrollback);
        true
    }
}

impl Own {
    fn of(store: &Store, known: Known) -> Self {
        let stream = known.transcript.as_ref().map(|path| OwnStream::new(path, &known.folder));
        Self { run: run_id(store, &known.session), known, stream, is_shown: false, has_ended: false }
    }

    fn scrollback(&self) -> Arc<dyn Scrollback> {
        self.stream.clone().map_or_else(|| Arc::new(Nothing) as Arc<dyn Scrollback>, |stream| Arc::new(stream))
    }

    fn seen(&self) -> OwnSeen {
        let gist = self.stream.as_ref().map_or_else(Gist::default, OwnStream::gist);
        let named = gist.title();
        OwnSeen {
            run: self.run,
            folder: self.known.folder.clone(),
            place: self.known.terminal.place(),
            title: if named.is_empty() { title(&self.known.folder) } else { named.to_owned() },
            since: gist.since.unwrap_or(self.known.since),
            stands: if self.has_ended { Stands::Ended } else { gist.stands },
            is_cut: gist.is_cut,
        }
    }
}

/// The files whose changes are reported.
struct Watching {
    /// `None`: the system reports none.
    watch: Option<FileWatch>,
    files: BTreeSet<PathBuf>,
    change: mpsc::Sender<()>,
}

impl Watching {
    /// Changes of these files and folders are reported from now on, and of no others. `true`: of some of them they were not before,
    /// so that they may have changed unseen.
    fn only(&mut self, wanted: &BTreeSet<PathBuf>) -> bool {
        if self.watch.is_none() || !self.files.is_subset(wanted) {
            let change = self.change.clone();
            self.watch = FileWatch::new(move |_| _ = change.try_send(())).ok();
            self.files.clear();
        }
        let Some(watch) = &mut self.watch else { return false };
        let mut is_new = false;
        for file in wanted {
            if self.files.contains(file) {
                continue;
            }
            let is_folder = file.is_dir();
            let added = if is_folder { watch.add_folder(file) } else { watch.add(file) };
            if added.is_ok() && (is_folder || file.exists()) {
                is_new |= self.files.insert(file.clone());
            }
        }
        is_new
    }
}

impl Told {
    async fn follow(self: Arc<Self>) {
        let (change, mut changes) = mpsc::channel(1);
        let mut watching = Watching { watch: None, files: BTreeSet::new(), change };
        loop {
            let told = self.clone();
            let Ok((here, state)) = spawn_blocking(move || told.look()).await else { return };
            let is_any = !here.is_empty();
            // What has changed before it was watched is not reported.
            if !watching.only(&here.into_iter().flatten().chain([state]).collect()) {
                let patience = match (&watching.watch, is_any) {
                    (None, _) => BLIND,
                    (Some(_), true) => ALIVE,
                    (Some(_), false) => NONE,
                };
                tokio::select! {
                    _ = timeout(patience, changes.recv()) => {}
                    () = self.more.notified() => {}
                }
            }
            sleep(PACE).await;
        }
    }

    /// Takes the sessions that there are now. What has ended stays while somebody looks at it.
    fn meet(&self, sessions: &mut BTreeMap<TicketId, Own>) {
        let known = known_sessions::known(self.store.folder());
        sessions.retain(|session, own| {
            own.has_ended = !known.iter().any(|known| known.session == *session);
            own.is_shown || !own.has_ended
        });
        for known in known {
            match sessions.get_mut(&known.session) {
                // It may be in another directory, or another terminal.
                Some(own) if own.is_in(&known) => own.known = known,
                Some(own) => {
                    let is_shown = own.is_shown;
                    *own = Own { is_shown, ..Own::of(&self.store, known) };
                    self.show(own);
                }
                None => drop(sessions.insert(known.session.clone(), Own::of(&self.store, known))),
            }
        }
    }

    /// Looks at all of them, and tells what has changed. Gives the transcript of each that is there, and the folder in which
    /// sessions are kept.
    fn look(&self) -> (Vec<Option<PathBuf>>, PathBuf) {
        let all = self.met();
        self.read(&all);
        let here = all.iter().filter(|own| !own.has_ended).map(|own| own.known.transcript.clone()).collect();
        (here, real(&known_sessions::folder(self.store.folder())))
    }

    /// The sessions that there are now, told as far as they are known: their transcripts may be long.
    fn met(&self) -> Vec<Own> {
        let all = {
            let mut sessions = lock(&self.sessions);
            self.meet(&mut sessions);
            sessions.values().cloned().collect()
        };
        self.tell();
        all
    }

    /// Reads what is new in their transcripts, and tells of each what that has changed.
    fn read(&self, all: &[Own]) {
        for own in all {
            match own.stream.as_ref().map(OwnStream::look) {
                None | Some(Ok(Look::Same)) => continue,
                Some(Ok(Look::Grew)) if own.is_shown => self.reporter.tell(&News::StreamGrew(own.run)),
                Some(Ok(Look::Grew)) => {}
                Some(Ok(Look::Replaced)) => {
                    let anew = Own::of(&self.store, own.known.clone());
                    if let Some(stream) = &anew.stream {
                        note(&own.known, stream.look());
                    }
                    if let Some(own) = lock(&self.sessions).get_mut(&own.known.session) {
                        own.stream = anew.stream;
                        self.show(own);
                    }
                }
                Some(read) => note(&own.known, read),
            }
            self.tell();
        }
    }

    /// Tells how they stand, where that has changed.
    fn tell(&self) {
        let mut seen: BTreeMap<TicketKey, OwnSeen> = {
            let sessions = lock(&self.sessions);
            sessions.values().map(|own| (key(&self.store, &own.known.session), own.seen())).collect()
        };
        tell_apart(&mut seen);
        let mut last = lock(&self.last);
        if **last != seen {
            *last = Arc::new(seen);
            self.reporter.tell(&News::OwnSeen(last.clone()));
        }
    }

    /// Whoever looks at it has its stream anew.
    fn show(&self, own: &Own) {
        if !own.is_shown {
            return;
        }
        let run = self.store.run(own.run).ok().flatten();
        let run = run.and_then(|(run, seq)| Some((self.store.as_seen(run).ok()?.owner(), seq)));
        let (owner, seq) = run.unwrap_or((Owner::Nobody, 0));
        let ticket = key(&self.store, &own.known.session);
        self.reporter.shown(own.run, (ticket, owner), seq, own.scrollback());
    }
}

impl Own {
    /// Its stream is still that of this one.
    fn is_in(&self, known: &Known) -> bool {
        match (&self.stream, &known.transcript) {
            (Some(stream), Some(path)) => stream.is_of(path, &known.folder),
            (None, None) => true,
            _ => false,
        }
    }
}

/// What cannot be read now can be read again soon.
fn note(known: &Known, read: std::io::Result<Look>) {
    if let Err(error) = read {
        tracing::debug!(%error, session = %known.session, "its transcript cannot be read");
    }
}

/// Changes are reported by the name without links.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::known_sessions::Process;
    use crate::base::time::Timestamp;
    use crate::domain::approval::Presence;
    use crate::domain::own_session::run_of;
    use crate::domain::own_terminal::Terminal;
    use crate::runtime::reporter::Subscription;
    use std::fs;
    use std::io::Write as _;

    fn user(text: &str) -> String {
        serde_json::json!({"type": "user", "message": {"role": "user", "content": text}}).to_string() + "\n"
    }

    fn known(path: &Path) -> Known {
        Known {
            session: TicketId::parse("session-1a2b3c4d").unwrap(),
            folder: "/w/shop".into(),
            terminal: Terminal::find(|_| None, Some("pts/3"), 1),
            transcript: Some(path.to_owned()),
            process: Process::of(std::process::id()),
            since: Timestamp::from_millis(7),
        }
    }

    async fn seen(told: &mut Subscription, holds: impl Fn(&[&OwnSeen]) -> bool) {
        loop {
            if let News::OwnSeen(all) = told.next().await
                && holds(&all.values().collect::<Vec<_>>())
            {
                return;
            }
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_session_is_told_with_what_it_does_and_its_stream_is_shown_and_shown_anew() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let reporter = Reporter::new(store.clone());
        let mut told = reporter.subscribe(Presence::Nobody);
        let mut watch = OwnWatch::new(store.clone(), reporter.clone());
        watch.follow();
        let path = folder.path().join("t.jsonl");
        let known = known(&path);
        let run = run_of(&known.session);
        assert!(!watch.show(run), "there is none");
        known_sessions::keep(folder.path(), &known).unwrap();
        let title = "Your Claude session in shop";
        seen(&mut told, |all| matches!(all, [one] if one.stands == Stands::Unknown && one.title == title)).await;
        fs::write(&path, user("fix the build")).unwrap();
        seen(&mut told, |all| matches!(all, [one] if one.stands == Stands::Working && one.title == "fix the build"))
            .await;

        assert!(watch.show(run));
        let (ticket, shown, records) = loop {
            if let News::RunOpened { ticket, run, owner: Owner::Nobody, records, .. } = told.next().await {
                break (ticket, run, records);
            }
        };
        assert_eq!((ticket.as_str(), shown, records.len()), ("session-1a2b3c4d", run, 0));
        let scrollback = reporter.scrollback(run).unwrap();
        assert_eq!(scrollback.len(0), 1);
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(user("more").as_bytes()).unwrap();
        while told.next().await != News::StreamGrew(run) {}
        assert_eq!(scrollback.len(0), 2);

        fs::write(folder.path().join("new"), user("another")).unwrap();
        fs::rename(folder.path().join("new"), &path).unwrap();
        while !matches!(told.next().await, News::RunOpened { .. }) {}
        assert_eq!(reporter.scrollback(run).unwrap().len(0), 1);
        seen(&mut told, |all| matches!(all, [one] if one.title == "another")).await;

        known_sessions::forget(folder.path(), &known.session);
        seen(&mut told, |all| matches!(all, [one] if one.stands == Stands::Ended)).await;
        assert_eq!(reporter.scrollback(run).unwrap().len(0), 1, "what was read stays");
    }

    #[tokio::test]
    async fn sessions_are_told_before_their_transcripts_are_read_and_each_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let reporter = Reporter::new(store.clone());
        let mut told = reporter.subscribe(Presence::Nobody);
        // A process has one session.
        let pids = [std::process::id(), std::os::unix::process::parent_id()];
        for (session, pid) in ["session-00000001", "session-00000002"].into_iter().zip(pids) {
            let path = folder.path().join(session);
            fs::write(&path, user(session)).unwrap();
            let (session, process) = (TicketId::parse(session).unwrap(), Process::of(pid));
            let known = Known { session, process, ..known(&path) };
            known_sessions::keep(folder.path(), &known).unwrap();
        }
        let watch = OwnWatch::new(store, reporter);
        let all = watch.told.met();
        let stands = |news: Option<News>| match news {
            Some(News::OwnSeen(all)) => all.values().map(|own| own.stands.clone()).collect(),
            _ => Vec::new(),
        };
        assert_eq!(stands(told.try_next()), [Stands::Unknown, Stands::Unknown]);
        watch.told.read(&all[..1]);
        assert_eq!(stands(told.try_next()), [Stands::Working, Stands::Unknown]);
        watch.told.read(&all);
        assert_eq!(stands(told.try_next()), [Stands::Working, Stands::Working]);
    }

    #[test]
    fn what_has_ended_is_watched_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let (change, _changes) = mpsc::channel(1);
        let mut watching = Watching { watch: None, files: BTreeSet::new(), change };
        let [one, two] = ["one", "two"].map(|name| folder.path().canonicalize().unwrap().join(name));
        fs::write(&one, "").unwrap();
        let both = BTreeSet::from([one.clone(), two.clone()]);
        assert!(watching.only(&both) && !watching.only(&both), "only one of them is there");
        fs::write(&two, "").unwrap();
        assert!(watching.only(&both) && watching.files == both);
        let left = BTreeSet::from([two]);
        assert!(watching.only(&left), "it is watched anew");
        assert!(!watching.only(&left) && watching.files == left);
    }
}

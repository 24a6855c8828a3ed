//! Being the host: background work that was cut off goes on, again and again within bounds.

use super::log::HostLog;
use super::replaced::Program;
use crate::adapters::background::{self, Found};
use crate::adapters::clock::boot_time;
use crate::adapters::sole_process::{HOST, Lock};
use crate::adapters::store::{Store, StoreError};
use crate::base::time::{Clock, Timestamp};
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::cli::{away, detach};
use crate::domain::background_work::{Background, Next, Work, may_resume, names, next};
use crate::domain::summary::RunSummary;
use crate::orchestrator::apply::folded;
use crate::orchestrator::state::{Pace, Stage};
use crate::runtime::shutdown::Signals;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// How often it is looked whether something was cut off.
const LOOK: Duration = Duration::from_secs(2);

/// What could not be begun is tried again after this.
const AGAIN: Duration = Duration::from_secs(60);
/// So often, after the first time.
const TRIES: usize = 60;

/// The host.
struct Host<'a> {
    session: &'a Session,
    out: &'a mut dyn Write,
    log: HostLog,
    store: Store,
    clock: Arc<dyn Clock>,
    /// When the relay was begun again.
    relay: Vec<Timestamp>,
    /// When it was tried to begin the tickets of a process, by its number, and nothing came of it.
    failed: BTreeMap<u32, Vec<Timestamp>>,
    /// It was said that runs cannot be read.
    is_blind: bool,
}

/// Looks after background work until a signal ends it.
pub async fn keep(out: &mut dyn Write, session: &Session) -> Result<(), CliError> {
    let store = session.store()?;
    let role = Lock::take(&session.state, HOST)?;
    let _role = role.ok_or_else(|| CliError::failure("the host is already running: see `programmator host status`"))?;
    let mut signals = Signals::listen()?;
    let program = Program::now();
    let (log, clock) = (HostLog::of(session), session.clock());
    let (relay, failed) = (Vec::new(), BTreeMap::new());
    let mut host = Host { session, out, log, store, clock, relay, failed, is_blind: false };
    host.say("The host is running.");
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_told = false;
    while !is_told {
        tokio::select! {
            biased;
            _ = signals.next() => break,
            _ = looks.tick() => {}
        }
        is_told = host.look_through(&mut signals).await;
        if let Some(program) = program.as_ref().filter(|program| !is_told && program.is_replaced()) {
            host.say("The program was updated: the host restarts as the new version.");
            let error = program.become_new();
            host.say(&format!("The new version could not be started: {error}"));
            return Err(error.into());
        }
    }
    host.say("The host has ended; background runs are not resumed any more.");
    Ok(())
}

impl Host<'_> {
    fn say(&mut self, words: &str) {
        self.log.add(self.out, words);
    }

    /// Looks around, and gives whether it is told to end meanwhile: what is being begun is begun to its end, so that nobody
    /// begins it a second time.
    async fn look_through(&mut self, signals: &mut Signals) -> bool {
        let look = self.look();
        tokio::pin!(look);
        let mut is_told = false;
        loop {
            tokio::select! {
                () = &mut look => return is_told,
                _ = signals.next() => is_told = true,
            }
        }
    }

    /// Goes on with what was cut off.
    async fn look(&mut self) {
        for found in background::all(&self.session.state).iter().filter(|found| !found.is_alive()) {
            let now = self.clock.now();
            let booted = now.minus(boot_time().total);
            match next(found.told, booted, now) {
                Next::Wait => {}
                Next::Forget => {
                    self.say(&format!(
                        "{}: ended by a signal (pid {}), and not resumed.",
                        found.process.named(),
                        found.process.pid
                    ));
                    found.forget();
                }
                Next::Resume => self.resume(found, now).await,
            }
        }
    }

    async fn resume(&mut self, found: &Found, now: Timestamp) {
        let process = &found.process;
        let Work::Tickets { files, .. } = &process.work else {
            self.resume_relay(now);
            return found.forget();
        };
        // Its locks are given up one after the other.
        if files.iter().any(|file| self.still_has(process, file)) {
            return;
        }
        let left = match self.last_runs(files) {
            Ok(runs) => process.left(&runs, |run| self.is_held(run), now),
            Err(error) => {
                if !std::mem::replace(&mut self.is_blind, true) {
                    self.say(&format!("Runs cannot be read: {error}"));
                }
                return;
            }
        };
        self.is_blind = false;
        if left.is_empty() || self.go_on(process, &left, now).await {
            self.failed.remove(&process.pid);
            found.forget();
        }
    }

    fn resume_relay(&mut self, now: Timestamp) {
        if !may_resume(&self.relay, now) {
            return self.say(
                "The phone relay was cut off too often within an hour: it stays off until `programmator away on`.",
            );
        }
        self.relay.push(now);
        match away::begin_again(self.session) {
            Ok(()) => self.say("The phone relay was cut off, and is on again."),
            Err(why) => self.say(&format!("The phone relay was cut off and could not be started: {why}")),
        }
    }

    /// A process that is just ending has this ticket.
    fn still_has(&self, process: &Background, file: &str) -> bool {
        self.store.ticket_program(Path::new(file)).is_ok_and(|program| program == Some(process.pid))
    }

    /// The last run of each of these tickets, as its lock tells how it stands.
    fn last_runs(&self, files: &[String]) -> Result<Vec<RunSummary>, StoreError> {
        let last = files.iter().filter_map(|file| self.store.latest_for(file).transpose());
        last.map(|run| self.store.as_seen(run?)).collect()
    }

    /// The person has paused it, or asked it to stop after its iteration. One that cannot be read is theirs, too.
    fn is_held(&self, run: &RunSummary) -> bool {
        let state = self.store.load(run.run).map(|loaded| folded(loaded.records));
        state.map_or(true, |state| state.pace != Pace::Run || state.stage == Stage::Paused)
    }

    /// Whether nothing is left to be tried.
    async fn go_on(&mut self, process: &Background, files: &[&str], now: Timestamp) -> bool {
        let failed = self.failed.get(&process.pid).cloned().unwrap_or_default();
        if failed.last().is_some_and(|last| now.since(*last) < AGAIN) {
            return false;
        }
        let (names, pid) = (names(files), process.pid);
        if !may_resume(&process.resumed, now) {
            self.say(&format!(
                "{names}: cut off too often within an hour, so not resumed. Use `programmator resume --detach` with its name."
            ));
            return true;
        }
        let (mut said, mut trouble) = (Vec::new(), Vec::new());
        let begun = detach::resume((&mut said, &mut trouble), process, files, now).await;
        let first = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().to_owned();
        let why = match begun {
            Ok(0) => {
                self.say(&format!("{names}: the process (pid {pid}) was cut off. {}", first(&said)));
                return true;
            }
            Ok(code) => format!("{} (exit code {code})", first(&trouble)),
            Err(error) => error.message,
        };
        // It is told once, and tried for an hour.
        let is_last = failed.len() >= TRIES;
        if failed.is_empty() || is_last {
            let next = if is_last { "It is not tried any more." } else { "It is tried again every minute." };
            self.say(&format!("{names}: the process (pid {pid}) was cut off, and cannot be resumed: {why}. {next}"));
        }
        self.failed.entry(pid).or_default().push(now);
        is_last
    }
}

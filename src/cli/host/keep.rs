//! Being the host: background work that was interrupted goes on, again and again within bounds.

use super::log::HostLog;
use super::replaced::Program;
use super::seen::last_runs;
use crate::adapters::background::{self, Found};
use crate::adapters::clock::{boot_id, boot_time};
use crate::adapters::sole_process::{HOST, Lock};
use crate::adapters::store::Store;
use crate::base::time::{Clock, Timestamp};
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::cli::{away, detach};
use crate::domain::background_work::{Background, Boot, Next, Work, may_resume, names, next};
use crate::domain::summary::RunSummary;
use crate::orchestrator::apply::folded;
use crate::orchestrator::state::{Pace, Stage};
use crate::runtime::shutdown::Signals;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// How often it is looked whether something was interrupted.
const LOOK: Duration = Duration::from_secs(2);

/// What could not be begun is tried again after this.
const AGAIN: Duration = Duration::from_secs(60);
/// So often, after the first time.
const TRIES: usize = 60;

/// Why the person goes on with it.
const OLD: &str = "nothing was recorded for more than a week";

/// The host.
struct Host<'a> {
    session: &'a Session,
    out: &'a mut dyn Write,
    log: HostLog,
    store: Store,
    clock: Arc<dyn Clock>,
    /// When it was tried to begin the work of a process, by its entry, and nothing came of it.
    failed: BTreeMap<PathBuf, Vec<Timestamp>>,
    /// A relay is at work.
    is_relayed: bool,
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
    let mut host =
        Host { session, out, log, store, clock, failed: BTreeMap::new(), is_relayed: false, is_blind: false };
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
    /// begins it a second time, and nothing more is.
    async fn look_through(&mut self, signals: &mut Signals) -> bool {
        let is_told = Cell::new(false);
        let look = self.look(&is_told);
        tokio::pin!(look);
        loop {
            tokio::select! {
                () = &mut look => return is_told.get(),
                _ = signals.next() => is_told.set(true),
            }
        }
    }

    /// Goes on with what was interrupted, until it is told to end.
    async fn look(&mut self, is_told: &Cell<bool>) {
        let all = background::all(&self.session.state);
        self.is_relayed = all.iter().any(|found| found.is_alive() && found.process.work == Work::Relay);
        for found in all.iter().filter(|found| found.is_ours()) {
            if is_told.get() {
                return;
            }
            let now = self.clock.now();
            let boot = Boot { id: boot_id(), at: now.minus(boot_time().total) };
            let is_over = match next(found.told.as_ref(), &boot, now) {
                Next::Wait => false,
                Next::Forget => {
                    self.say(&format!("{}: ended by a signal, and not resumed.", named(&found.process)));
                    true
                }
                Next::Resume => self.resume(found, now).await,
            };
            if is_over {
                self.failed.remove(found.path());
                found.forget();
            }
        }
    }

    /// Whether nothing is left to be tried.
    async fn resume(&mut self, found: &Found, now: Timestamp) -> bool {
        let process = &found.process;
        let Work::Tickets { files, .. } = &process.work else { return self.go_on(found, &[], now).await };
        // Its locks are given up one after the other.
        if files.iter().any(|file| self.still_has(process, file)) {
            return false;
        }
        let runs = match last_runs(&self.store, files) {
            Ok(runs) => runs,
            Err(error) => {
                if !std::mem::replace(&mut self.is_blind, true) {
                    self.say(&format!("Runs cannot be read: {error}"));
                }
                return false;
            }
        };
        self.is_blind = false;
        let is_old = process.is_old(&runs, found.told.as_ref(), now);
        let held = |run: &RunSummary| if is_old { Some(OLD) } else { self.held(run) };
        let left = process.left(&runs, held);
        let unhindered: Vec<&str> =
            left.iter().filter(|(_, why)| why.is_none() && !is_old).map(|(file, _)| *file).collect();
        let is_over = unhindered.is_empty() || self.go_on(found, &unhindered, now).await;
        if is_over {
            for (file, why) in left.iter().filter(|(file, _)| !unhindered.contains(file)) {
                self.say(&format!(
                    "{} (pid {}): not resumed, because {}. Use `programmator run --detach` with its name.",
                    names(&[file]),
                    process.pid,
                    why.unwrap_or(OLD)
                ));
            }
        }
        is_over
    }

    /// A process that is just ending has this ticket.
    fn still_has(&self, process: &Background, file: &str) -> bool {
        self.store.ticket_program(Path::new(file)).is_ok_and(|program| program == Some(process.pid))
    }

    /// Why the person goes on with it, and not we.
    fn held(&self, run: &RunSummary) -> Option<&'static str> {
        let Ok(loaded) = self.store.load(run.run) else { return Some("its records cannot be read") };
        let state = folded(loaded.records);
        (state.pace != Pace::Run || state.stage == Stage::Paused).then_some("it was paused or asked to stop")
    }

    /// Goes on with its work, of tickets with these files. Whether nothing is left to be tried.
    async fn go_on(&mut self, found: &Found, files: &[&str], now: Timestamp) -> bool {
        let process = &found.process;
        let failed = self.failed.get(found.path()).cloned().unwrap_or_default();
        if failed.last().is_some_and(|last| now.since(*last) < AGAIN) {
            return false;
        }
        let (what, fix) = match &process.work {
            Work::Relay => (process.named(), "Use `programmator away on`."),
            Work::Tickets { .. } => (names(files), "Use `programmator run --detach` with its name."),
        };
        let name = format!("{what} (pid {})", process.pid);
        if !may_resume(&process.resumed, now) {
            self.say(&format!("{name}: interrupted too often within an hour, so not resumed. {fix}"));
            return true;
        }
        let begun = match &process.work {
            Work::Relay if self.is_relayed => Ok("Another relay is already running.".to_owned()),
            Work::Relay => away::begin_again(self.session, process, now),
            Work::Tickets { .. } => detach::resume(process, files, now).await,
        };
        let why = match begun {
            Ok(said) => {
                self.say(&format!("Interrupted: {name}. {said}"));
                return true;
            }
            Err(why) => why,
        };
        // It is told once, and tried for an hour.
        let is_last = failed.len() >= TRIES;
        if failed.is_empty() || is_last {
            let next = if is_last { "Giving up." } else { "Retrying every minute." };
            self.say(&format!("Interrupted: {name}. It cannot be resumed yet: {why}. {next}"));
        }
        self.failed.entry(found.path().to_owned()).or_default().push(now);
        is_last
    }
}

/// A process for the log.
fn named(process: &Background) -> String {
    format!("{} (pid {})", process.named(), process.pid)
}

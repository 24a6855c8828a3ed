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
use crate::domain::background_work::{Background, Next, Work, may_resume, next};
use crate::domain::summary::RunSummary;
use crate::runtime::shutdown::Signals;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// How often it is looked whether something was cut off.
const LOOK: Duration = Duration::from_secs(2);

/// The host.
struct Host<'a> {
    session: &'a Session,
    out: &'a mut dyn Write,
    log: HostLog,
    store: Store,
    clock: std::sync::Arc<dyn Clock>,
    /// When which work was begun again: that of tickets by its first one.
    begun: BTreeMap<String, Vec<Timestamp>>,
}

/// Looks after background work until a signal ends it.
pub async fn keep(out: &mut dyn Write, session: &Session) -> Result<(), CliError> {
    let store = session.store()?;
    let role = Lock::take(&session.state, HOST)?;
    let _role = role.ok_or_else(|| CliError::failure("the host is already running: see `programmator host status`"))?;
    let mut signals = Signals::listen()?;
    let program = Program::now();
    let (log, clock) = (HostLog::of(session), session.clock());
    let mut host = Host { session, out, log, store, clock, begun: BTreeMap::new() };
    host.say("The host is running.");
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let look = async {
            looks.tick().await;
            host.look().await;
        };
        // What is just being begun begins all the same.
        let ended = tokio::select! {
            biased;
            signal = signals.next() => Some(signal),
            () = look => None,
        };
        if ended.is_some() {
            host.say("The host has ended; background runs go on.");
            return Ok(());
        }
        if let Some(program) = program.as_ref().filter(|program| program.is_replaced()) {
            host.say("The program was updated: the host restarts as the new version.");
            let error = program.become_new();
            host.say(&format!("The new version could not be started: {error}"));
            return Err(error.into());
        }
    }
}

impl Host<'_> {
    fn say(&mut self, words: &str) {
        self.log.add(self.out, words);
    }

    /// Goes on with what was cut off.
    async fn look(&mut self) {
        for found in background::all(&self.session.state).iter().filter(|found| !found.is_alive()) {
            let now = self.clock.now();
            let booted = now.minus(boot_time().total);
            match next(found.told, booted, now) {
                Next::Wait => {}
                Next::Forget => found.forget(),
                Next::Resume => self.resume(found).await,
            }
        }
    }

    async fn resume(&mut self, found: &Found) {
        let process = &found.process;
        match &process.work {
            Work::Relay if !self.may_begin("the phone relay") => {
                self.say("The phone relay was cut off again and again: it stays off until `programmator away on`.");
            }
            Work::Relay => match away::begin_again(self.session) {
                Ok(()) => self.say("The phone relay was cut off, and is on again."),
                Err(why) => self.say(&format!("The phone relay was cut off and could not be started: {why}")),
            },
            // Its locks are given up one after the other.
            Work::Tickets { files, .. } if files.iter().any(|file| self.still_has(process, file)) => return,
            Work::Tickets { files, .. } => match self.last_runs(files) {
                Ok(runs) => self.go_on(process, &process.left(&runs)).await,
                // It is looked at again.
                Err(error) => return self.say(&format!("Runs cannot be read: {error}")),
            },
        }
        found.forget();
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

    async fn go_on(&mut self, process: &Background, files: &[&str]) {
        let Some(first) = files.first() else { return };
        let names: Vec<_> =
            files.iter().map(|file| Path::new(file).file_stem().unwrap_or_default().to_string_lossy()).collect();
        let (names, pid) = (names.join(", "), process.pid);
        if !self.may_begin(first) {
            let words = format!("{names}: cut off again and again, and not resumed: `programmator resume` does it");
            return self.say(&words);
        }
        let mut said = Vec::new();
        let begun = detach::resume(&mut said, process, files).await;
        let said = String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned();
        match begun {
            Ok(0) => self.say(&format!("{names}: its process (pid {pid}) was cut off. {said}")),
            Ok(code) => self.say(&format!(
                "{names}: its process (pid {pid}) was cut off, and resuming it failed (exit code {code})"
            )),
            Err(error) => self.say(&format!(
                "{names}: its process (pid {pid}) was cut off, and resuming it failed: {}",
                error.message
            )),
        }
    }

    /// It may be begun once more, and is.
    fn may_begin(&mut self, what: &str) -> bool {
        let now = self.clock.now();
        let begun = self.begun.entry(what.to_owned()).or_default();
        let may = may_resume(begun, now);
        if may {
            begun.push(now);
        }
        may
    }
}

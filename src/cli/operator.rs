//! Carries out what the person asks for on the screen: opens tickets, hands on commands, ends everything.

use super::error::CliError;
use super::in_force;
use super::session::Session;
use crate::adapters::clock::boot_time;
use crate::adapters::passphrase::{PassphraseError, Passphrases};
use crate::adapters::policy_file;
use crate::adapters::store::{Store, StoreError};
use crate::adapters::tickets::{self, Places};
use crate::base::id::TicketId;
use crate::config::Resolved;
use crate::domain::approval::{Presence, QuestionId};
use crate::domain::command::UserCommand;
use crate::domain::news::News;
use crate::domain::outcome::ExitReason;
use crate::domain::passphrase::{Checked, NOTICE_AT};
use crate::domain::phase::PhaseId;
use crate::domain::stream::envelope::classify;
use crate::runtime::attendance::Attendance;
use crate::runtime::behind::Reset;
use crate::runtime::circuit;
use crate::runtime::gate::Authority;
use crate::runtime::reporter::Reporter;
use crate::runtime::rulebook::Rulebooks;
use crate::runtime::shutdown::{Signals, Wish};
use crate::runtime::supervisor::{OpenError, Supervisor};
use crate::runtime::ticking;
use crate::tui::msg::{Ask, QuitMode};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What the screen opens on.
pub enum Open {
    /// These tickets; none: what is there.
    Tickets(Vec<String>),
    /// An interrupted run: the one named, else the latest.
    Resume(Option<String>),
}

/// Files of the tickets that are known, shared with the screen's host.
#[derive(Clone, Default)]
pub struct Paths(Arc<Mutex<BTreeMap<TicketId, PathBuf>>>);

impl Paths {
    /// The ticket's file.
    pub fn of(&self, ticket: &TicketId) -> Option<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(ticket).cloned()
    }

    /// The ticket that lives in the file.
    fn id_of(&self, path: &Path) -> Option<TicketId> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(_, known)| *known == path).map(|(id, _)| id.clone())
    }

    fn learn(&self, ticket: &TicketId, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(ticket.clone(), path.to_owned());
    }
}

/// What the operator works with.
pub struct Operator {
    /// Where we are.
    pub session: Session,
    /// The configuration of the folder we are in.
    pub resolved: Resolved,
    /// To the screen.
    pub news: mpsc::Sender<News>,
    /// From the screen.
    pub asked: mpsc::Receiver<Ask>,
    /// Files of tickets.
    pub paths: Paths,
    /// When the person last touched the screen.
    pub attendance: Attendance,
    /// Wishes to end the program.
    pub signals: Signals,
    /// Cancelled by the screen when it is left, by us when it must go.
    pub stop: CancellationToken,
}

/// Works until the screen is left and every run has ended. Gives the exit code that a signal asks for, and that of the
/// worst ticket, by how its last run here ended.
pub async fn work(operator: Operator, open: Open) -> Result<(Option<u8>, u8), CliError> {
    let Operator { session, resolved, news, mut asked, paths, attendance, mut signals, stop } = operator;
    // Whatever ends us, a fault of our own too, ends the screen: nobody would carry out its wishes.
    let _leave = stop.clone().drop_guard();
    let store = session.store()?;
    let (ended, mut endings) = mpsc::unbounded_channel();
    let reporter = Reporter::new(news, store.clone());
    let rulebooks = in_force::rulebooks(&session);
    let authority = Authority { gates: rulebooks.gates(), presence: Presence::Screen, attendance };
    let (clock, rules) = (session.clock(), session.rules());
    let supervisor = Supervisor::new(store.clone(), clock, reporter.clone(), rules, authority, ended);
    let places = session.places(&resolved);
    let (outcomes, started_again) = (BTreeMap::new(), BTreeSet::new());
    let mut desk = Desk { session, places, reporter, paths, supervisor, store, rulebooks, outcomes, started_again };
    desk.list();
    tokio::spawn(Supervisor::sweep_leftovers(desk.store.clone()));
    desk.begin(open)?;
    let mut by_signal = None;
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            signal = signals.next() => {
                by_signal = Some(signal.exit_code());
                desk.started_again.clear();
                desk.supervisor.command_all(&UserCommand::Stop).await;
                // A terminal that is gone shows nothing more; else the person sees how the runs end.
                if signal == Wish::Hangup || desk.supervisor.open_tickets().next().is_none() {
                    stop.cancel();
                }
            }
            Some((ticket, reason)) = endings.recv() => {
                desk.ended(&ticket, reason);
                if by_signal.is_some() && desk.supervisor.open_tickets().next().is_none() {
                    stop.cancel();
                }
            }
            Some(ask) = asked.recv() => desk.ask(ask).await,
        }
    }
    desk.started_again.clear();
    desk.supervisor.command_all(&UserCommand::Stop).await;
    while desk.supervisor.open_tickets().next().is_some() {
        let Some((ticket, reason)) = endings.recv().await else {
            break;
        };
        desk.ended(&ticket, reason);
    }
    Ok((by_signal, desk.outcomes.into_values().max().unwrap_or(0)))
}

struct Desk {
    session: Session,
    places: Places,
    reporter: Reporter,
    paths: Paths,
    supervisor: Supervisor,
    store: Store,
    rulebooks: Rulebooks,
    /// The exit code that each ticket's last run makes, or the try to begin one.
    outcomes: BTreeMap<TicketId, u8>,
    /// Tickets that were started again while their last run was being cleared away.
    started_again: BTreeSet<TicketId>,
}

impl Desk {
    fn ended(&mut self, ticket: &TicketId, reason: Option<ExitReason>) {
        self.supervisor.forget(ticket);
        self.outcomes.insert(ticket.clone(), reason.map_or(1, ExitReason::exit_code));
        if self.started_again.remove(ticket)
            && let Some(path) = self.paths.of(ticket)
        {
            self.opened(ticket, &path);
        }
    }

    /// Tells the screen about every ticket of the tickets folder.
    fn list(&self) {
        for listed in tickets::list(&self.places.dir()).unwrap_or_default() {
            if let Ok(ticket) = listed.ticket {
                self.paths.learn(&ticket.id, &listed.path);
                self.reporter.tell(News::TicketRead(Arc::new(ticket)));
            }
        }
    }

    /// Opens what the command line names. What is typed wrongly ends the program with a message.
    fn begin(&mut self, open: Open) -> Result<(), CliError> {
        match open {
            Open::Tickets(names) => {
                let found: Result<Vec<_>, _> = names.iter().map(|name| tickets::find(name, &self.places)).collect();
                let found = found?;
                for path in &found {
                    match self.open(path) {
                        Ok(_) => {}
                        // There is a run to look at, and a key that helps.
                        Err(error @ OpenError::CircuitOpen { .. }) => self.not_opened(path, &error),
                        // Alone there is nothing to show; beside others it must not end them.
                        Err(error) if found.len() == 1 => return Err(error.into()),
                        Err(error) => self.not_opened(path, &error),
                    }
                }
            }
            Open::Resume(run) => {
                let here = self.session.folder.clone();
                let ticket = self.supervisor.resume(run.as_deref(), &here)?;
                self.learn_run(&ticket)?;
            }
        }
        Ok(())
    }

    fn open(&mut self, path: &Path) -> Result<TicketId, OpenError> {
        let folder = self.session.folder.clone();
        let ticket = self.supervisor.open(path, &folder)?;
        self.paths.learn(&ticket, path);
        Ok(ticket)
    }

    /// Tells why a ticket cannot be worked on. Where its breaker is open, the run that opened it is shown: what it
    /// counted, and the key that closes it, are about that one.
    fn not_opened(&mut self, path: &Path, error: &OpenError) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let id = self.paths.id_of(path).unwrap_or_else(|| TicketId::from_file_name(&name));
        if let OpenError::CircuitOpen { ticket, .. } = error {
            self.paths.learn(ticket, path);
            if let Err(trouble) = self.show_latest(ticket, path) {
                self.reporter.trouble(ticket, &trouble.to_string());
            }
            self.outcomes.insert(ticket.clone(), error.exit_code());
            return self.failed(ticket, error.to_string(), error.exit_code());
        }
        self.failed(&id, error.to_string(), error.exit_code());
        self.outcomes.insert(id, error.exit_code());
    }

    fn show_latest(&self, ticket: &TicketId, path: &Path) -> Result<(), StoreError> {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let runs = self.store.runs()?;
        if let Some(latest) = runs.iter().find(|run| Path::new(&run.ticket_path) == path) {
            let scrollback = self.store.scrollback(latest.run, classify)?;
            self.reporter.opened(latest.run, ticket, Arc::new(scrollback));
        }
        Ok(())
    }

    /// A resumed run knows its ticket's file by itself.
    fn learn_run(&self, ticket: &TicketId) -> Result<(), CliError> {
        for summary in self.store.runs()? {
            if summary.ticket == *ticket {
                self.paths.learn(ticket, Path::new(&summary.ticket_path));
                break;
            }
        }
        Ok(())
    }

    async fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Command(ticket, command) => {
                let handed = self.supervisor.command(&ticket, command.clone()).await;
                match command {
                    _ if handed => {}
                    UserCommand::ResetBreaker => self.reset(&ticket).await,
                    UserCommand::TickPhase { phase } => self.tick(&ticket, phase).await,
                    _ => self.failed(&ticket, "the run has ended already".to_owned(), 0),
                }
            }
            Ask::Start(ticket) => match self.paths.of(&ticket) {
                Some(path) => self.opened(&ticket, &path),
                None => self.failed(&ticket, format!("the file of {ticket} is not known"), 1),
            },
            Ask::OpenTicket(name) => match tickets::find(&name, &self.places) {
                Ok(path) => {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    let id = self.paths.id_of(&path).unwrap_or_else(|| TicketId::from_file_name(&name));
                    self.opened(&id, &path);
                }
                Err(error) => self.failed(&TicketId::from_file_name(&name), error.to_string(), 2),
            },
            Ask::Quit(QuitMode::FinishIteration) => {
                self.supervisor.command_all(&UserCommand::FinishAndStop).await;
            }
            Ask::Quit(QuitMode::StopNow) => self.supervisor.command_all(&UserCommand::Stop).await,
            Ask::LookUpPassphrase { ticket, id } => {
                self.about_passphrase(ticket, id, |passphrases| passphrases.standing(boot_time()));
            }
            Ask::TryPassphrase { ticket, id, secret } => {
                let unlock = self.supervisor.unlocks(&ticket, id.clone());
                self.about_passphrase(ticket, id, move |passphrases| {
                    let checked = passphrases.check(&secret, boot_time())?;
                    if checked == Checked::Right
                        && let Some(unlock) = unlock
                    {
                        unlock();
                    }
                    Ok(checked)
                });
            }
            Ask::SaveRule { ticket, id, rules, before } => self.save_rule(ticket, id, rules, before),
            // Carried out by the screen's own loop.
            Ask::Edit(_) | Ask::Leave | Ask::Suspend | Ask::Redraw | Ask::Copy(_) => {}
        }
    }

    /// Asks the passphrase something on a thread of its own, and tells the card. Hashing takes its time.
    fn about_passphrase(
        &self,
        ticket: TicketId,
        id: QuestionId,
        ask: impl FnOnce(&Passphrases) -> Result<Checked, PassphraseError> + Send + 'static,
    ) {
        let (passphrases, reporter) = (self.session.passphrases(), self.reporter.clone());
        tokio::task::spawn_blocking(move || {
            let checked = match passphrases {
                Some(passphrases) => ask(&passphrases).unwrap_or_else(|error| Checked::Failed(error.to_string())),
                None => Checked::Failed("there is no config folder: set HOME".into()),
            };
            if let Checked::Wrong { failures, .. } | Checked::Locked { failures, .. } = &checked
                && *failures >= NOTICE_AT
            {
                reporter.trouble(&ticket, &format!("the passphrase was tried wrongly {failures} times in a row"));
            }
            reporter.answer(News::Passphrase { ticket, id, checked });
        });
    }

    fn save_rule(&self, ticket: TicketId, id: QuestionId, rules: String, before: String) {
        let (folder, reporter) = (self.session.config_folder(), self.reporter.clone());
        let (rulebooks, tell_run) = (self.rulebooks.clone(), self.supervisor.rule_saved(&ticket, id.clone()));
        tokio::task::spawn_blocking(move || {
            let saved = match folder {
                Some(folder) => policy_file::save(&folder, &rules, &before)
                    .map(|path| path.display().to_string())
                    .map_err(|error| format!("{error}. To edit the file yourself: programmator policy edit")),
                None => Err("there is no config folder: set HOME".into()),
            };
            if let Ok(path) = &saved {
                if let Some(tell_run) = tell_run {
                    tell_run(path.clone());
                }
                rulebooks.reload();
            }
            reporter.answer(News::RuleSaved { ticket, id, saved });
        });
    }

    /// Closes the breaker of a ticket whose run has ended.
    async fn reset(&self, ticket: &TicketId) {
        let Some(path) = self.paths.of(ticket) else {
            return self.failed(ticket, format!("the file of {ticket} is not known"), 1);
        };
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        match circuit::reset(&self.store, &*self.session.clock(), &path).await {
            Ok(Reset::Done(all)) => all.into_iter().for_each(|stored| self.reporter.recorded(stored)),
            Ok(Reset::AtRest | Reset::NoRun) => {}
            Err(error) => self.failed(ticket, error.to_string(), error.exit_code()),
        }
    }

    /// Ticks a phase of a ticket whose run has ended.
    async fn tick(&self, ticket: &TicketId, phase: PhaseId) {
        let Some(path) = self.paths.of(ticket) else {
            return self.failed(ticket, format!("the file of {ticket} is not known"), 1);
        };
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        match ticking::tick(&self.store, &*self.session.clock(), &path, phase).await {
            Ok(ticking::Outcome::Done(all)) => all.into_iter().for_each(|stored| self.reporter.recorded(stored)),
            Ok(ticking::Outcome::NotWritten(why)) => self.reporter.trouble(ticket, &why),
            Ok(ticking::Outcome::NotTaken { holder } | ticking::Outcome::Unknown { holder }) => {
                self.reporter.trouble(ticket, &format!("not ticked: {holder} is running it and did not respond"));
            }
            Ok(ticking::Outcome::Already | ticking::Outcome::Handed { .. }) => {}
            Err(error) => self.failed(ticket, error.to_string(), error.exit_code()),
        }
    }

    fn opened(&mut self, ticket: &TicketId, path: &Path) {
        if self.supervisor.is_ending(ticket) {
            self.started_again.insert(ticket.clone());
            return;
        }
        if self.supervisor.open_tickets().any(|open| open == ticket) {
            // Nothing failed: the run is at work in its tab.
            return self.reporter.trouble(ticket, "is open already; its tab is above");
        }
        match self.open(path) {
            Ok(_) => {}
            Err(error) => self.not_opened(path, &error),
        }
    }

    fn failed(&self, ticket: &TicketId, message: String, exit_code: u8) {
        self.reporter.answer(News::RunFailed { ticket: ticket.clone(), message, exit_code });
    }
}

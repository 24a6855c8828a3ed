//! `programmator run` and `resume` without a screen: opens runs, prints their facts, gives the exit code.

use super::attach;
use super::away;
use super::error::{CliError, NOBODY_READS};
use super::in_background;
use super::in_force;
use super::ready::{self, Chosen, Ready};
use super::session::Session;
use crate::adapters::store::Store;
use crate::adapters::tickets::{self, Places};
use crate::base::text::clean_line;
use crate::config::Resolved;
use crate::domain::answerer::Answerer;
use crate::domain::approval::Presence;
use crate::domain::messages::how_to_reopen;
use crate::domain::news::News;
use crate::domain::planning::PlanAsked;
use crate::domain::request::{Closing, Reply, Request};
use crate::domain::ticket::Ticket;
use crate::runtime::app::App;
use crate::runtime::headless::{Format, Printer};
use crate::runtime::heard;
use crate::runtime::shutdown::Signals;
use crate::runtime::source_replies::Replying;
use crate::runtime::supervisor::{Supervisor, Typed};
use crate::runtime::telling::{Shown, Telling};
use std::io::{Write, stderr, stdout};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often it is said how long parked runs still wait.
const COUNTDOWN: Duration = Duration::from_secs(60);

/// After so long the person may have been away.
const AWAY: Duration = Duration::from_secs(10 * 60);

/// Signals within this time of the first are one wish with it.
const ONE_WISH: Duration = Duration::from_millis(200);

/// What to work on.
pub enum Work {
    /// These tickets; interrupted runs are resumed.
    Tickets(Vec<String>),
    /// Every ticket that is ready, and those that become ready.
    Ready(Ready),
    /// An interrupted run: the one named, else the latest.
    Resume(Option<String>),
    /// The conflict that this ticket's last run ended with.
    Conflict(String),
    /// The plan of this ticket.
    Plan(String, Box<PlanAsked>),
}

impl Work {
    /// The tickets or the run that are meant; none: whatever there is.
    fn meant(&self, session: &Session) -> Vec<String> {
        match self {
            Self::Tickets(names) => names.clone(),
            Self::Resume(Some(name)) | Self::Conflict(name) | Self::Plan(name, _) => vec![name.clone()],
            Self::Ready(ready) => ready_names(session, ready),
            Self::Resume(None) => Vec::new(),
        }
    }
}

/// Those that would be worked on now.
fn ready_names(session: &Session, ready: &Ready) -> Vec<String> {
    let Ok(resolved) = session.resolve(&session.folder) else { return Vec::new() };
    ready::choose(&session.places(&resolved), ready.tag.as_deref()).map_or_else(|_| Vec::new(), |chosen| names(&chosen))
}

fn names(chosen: &Chosen) -> Vec<String> {
    chosen.files.iter().map(|file| file.to_string_lossy().into_owned()).collect()
}

/// What becomes of questions while nobody is at a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Questions {
    /// Nobody will answer.
    Denied,
    /// They are answered from elsewhere; nobody need read what is printed.
    Wait,
    /// They are answered on the phone.
    OnPhone,
}

/// Works without a screen until every run has ended. Where nobody would answer, the phone is asked if it is on. Gives the
/// program's exit code.
pub async fn run(session: &Session, work: Work, format: Format, questions: Questions) -> Result<u8, CliError> {
    let mut session = session.clone();
    let questions = match questions {
        Questions::Denied if away::is_on(&session.state) && away::is_asked_about(&session, &work.meant(&session)) => {
            session.is_away = true;
            Questions::OnPhone
        }
        questions => questions,
    };
    let session = &session;
    let printer = Printer::new(stdout().lock(), format, jiff::tz::TimeZone::system());
    run_by(session, work, printer, questions).await
}

/// The same, printing elsewhere.
pub async fn run_by<W: Write>(
    session: &Session,
    work: Work,
    mut printer: Printer<W>,
    questions: Questions,
) -> Result<u8, CliError> {
    let resolved = session.resolve(&session.folder)?;
    notices(&resolved);
    let mut parts = in_force::parts(session, &resolved)?;
    let mut work = work;
    if let Work::Ready(ready) = &work {
        parts.halts = ready.halts;
        parts.max_parallel = ready::parallel(&resolved.config);
        let chosen = ready::choose(&parts.places, ready.tag.as_deref())?;
        for why in &chosen.left {
            let _ = writeln!(stderr(), "{}", clean_line(why, 2_000));
        }
        if chosen.files.is_empty() {
            let _ = writeln!(stderr(), "No ticket is ready.");
            return Ok(0);
        }
        work = Work::Tickets(names(&chosen));
    }
    if let Work::Tickets(names) = work {
        let named = !names.is_empty();
        let left: Vec<String> =
            names.into_iter().filter(|name| !says_finished(attach::finished(session, name))).collect();
        if named && left.is_empty() {
            return Ok(0);
        }
        work = Work::Tickets(left);
    }
    let store = parts.store.clone();
    let replier = in_force::replier(&parts, &resolved);
    let places = session.places(&resolved);
    let about = files(session, &store, &places, &work);
    let mut entry = in_background::on_tickets(session, &about);
    let app = App::start(parts);
    let questions = match (heard::listen(&app, store.folder()), questions) {
        (Err(why), Questions::Wait) => {
            return Err(CliError::failure(why));
        }
        (Err(why), Questions::Denied | Questions::OnPhone) => {
            tracing::warn!(%why);
            Questions::Denied
        }
        (Ok(()), questions) => questions,
    };
    if questions == Questions::OnPhone {
        let _ = writeln!(stderr(), "Questions go to your phone.");
    }
    tokio::spawn(Supervisor::sweep_leftovers(store.clone()));
    let telling = Telling::start(&app, &resolved.config.notify, session.clock(), Shown::Nowhere);
    let replying = Replying::start(&app, replier);
    let mut told = app.subscribe(match questions {
        Questions::Denied => Presence::Nobody,
        Questions::Wait | Questions::OnPhone => Presence::Screen,
    });
    let mut signals = Signals::listen()?;
    let begun = begin(&app, places, work);
    tokio::pin!(begun);
    let mut beginning = true;
    let mut by_signal = None;
    let mut signalled: Option<Instant> = None;
    let clock = session.clock();
    let started = clock.now();
    let mut minute = tokio::time::interval(COUNTDOWN);
    minute.reset();
    let worst = loop {
        tokio::select! {
            biased;
            news = told.next() => {
                aside(&news);
                // Which run is the latest is known once it is there.
                if let (News::RunOpened { ticket, .. }, None) = (&news, &entry) {
                    entry = in_background::on_tickets(session, &[ticket.file().into()]);
                }
                let is_read = printer.print(&news, &store).is_ok() || questions == Questions::Wait;
                if !is_read && by_signal.is_none() {
                    // Nobody reads any more: what `yes | head` gets, but with the work kept.
                    by_signal = Some(NOBODY_READS);
                    beginning = false;
                    app.ask(Request::Close(Closing::Now), Answerer::COMMAND_LINE).await;
                }
            }
            begun = &mut begun, if beginning => {
                begun?;
                beginning = false;
            }
            _ = minute.tick() => {
                // That nobody reads any more is seen at the next record.
                let _ = printer.countdown(clock.now());
            }
            worst = app.all_ended(), if !beginning => break worst,
            signal = signals.next() => {
                // `timeout` sends its signal to the program and then to its group, which is one wish.
                if signalled.is_some_and(|first| first.elapsed() < ONE_WISH) {
                    continue;
                }
                signalled.get_or_insert_with(Instant::now);
                beginning = false;
                // Asked twice: at once, by force. The runs are found interrupted and can be resumed.
                let is_second = by_signal.replace(signal.exit_code()).is_some();
                let how = match &mut entry {
                    _ if is_second => Closing::Abandon,
                    // The host goes on with the runs once the machine has been started again.
                    Some(entry) if signal.ends_everything() => {
                        entry.told(clock.now());
                        Closing::HandOver
                    }
                    _ => Closing::Now,
                };
                app.ask(Request::Close(how), signal.stopper(Answerer::COMMAND_LINE)).await;
            }
        }
    };
    let signal = async { _ = signals.next().await };
    for words in replying.finish(signal).await {
        let _ = writeln!(stderr(), "{words}");
    }
    while let Some(news) = told.try_next() {
        aside(&news);
        let _ = printer.print(&news, &store);
    }
    let _ = printer.finish(&store);
    if let Some(words) = where_to_read(clock.now().since(started)) {
        let _ = writeln!(stderr(), "{words}");
    }
    if let Some(telling) = telling {
        telling.finish().await;
    }
    Ok(by_signal.unwrap_or(worst))
}

/// The tickets that this is about; what is not found is told when it is begun.
fn files(session: &Session, store: &Store, places: &Places, work: &Work) -> Vec<PathBuf> {
    let found = |name: &String| tickets::find(name, places).ok();
    match work {
        Work::Tickets(names) => names.iter().filter_map(found).collect(),
        Work::Conflict(name) => found(name).into_iter().collect(),
        Work::Resume(Some(run)) => {
            session.find_run(store, run, Typed::Part).into_iter().map(|run| run.ticket_path.into()).collect()
        }
        // The latest is found when it is opened; what is ready was chosen before, and a plan is read by a person.
        Work::Resume(None) | Work::Ready(_) | Work::Plan(..) => Vec::new(),
    }
}

/// Says of a finished ticket that nothing is left to do, and what to do about that: one more run would only hide the last.
pub(super) fn says_finished(ticket: Option<Ticket>) -> bool {
    let Some(ticket) = ticket else { return false };
    let _ = writeln!(stderr(), "{}", finished_words(&ticket));
    true
}

/// The same as words.
pub(super) fn finished_words(ticket: &Ticket) -> String {
    let id = clean_line(ticket.id.as_str(), 60);
    format!("{id} is complete: nothing is left to do. {}.", how_to_reopen(ticket))
}

/// How the person can read what came of it, where it took so long that they may have been away.
fn where_to_read(took: Duration) -> Option<String> {
    let hours = took.as_secs() / 3_600 + 1;
    (took >= AWAY).then(|| format!("`programmator report --since {hours}h` shows what was done."))
}

/// Opens what the command line names. What is typed wrongly is said before anything is begun.
async fn begin(app: &App, places: Places, work: Work) -> Result<(), CliError> {
    let one = match work {
        Work::Tickets(names) => return open(app, places, names).await,
        // Chosen before.
        Work::Ready(_) => return Ok(()),
        Work::Resume(run) => Request::Resume(run),
        Work::Conflict(ticket) => Request::ResolveNamed(ticket),
        Work::Plan(ticket, asked) => Request::Plan(ticket, *asked),
    };
    match app.ask(one, Answerer::COMMAND_LINE).await {
        Reply::Refused(refused) => Err(refused.into()),
        _ => Ok(()),
    }
}

async fn open(app: &App, places: Places, names: Vec<String>) -> Result<(), CliError> {
    for found in names.iter().map(|name| tickets::find(name, &places)).collect::<Vec<_>>() {
        found?;
    }
    let start = match <[String; 1]>::try_from(names) {
        Ok([name]) => Request::Open(name),
        Err(names) => Request::StartAll(names),
    };
    if let Reply::Refused(refused) = app.ask(start, Answerer::COMMAND_LINE).await {
        let _ = writeln!(stderr(), "{}", clean_line(&refused.message, 2_000));
    }
    Ok(())
}

/// Says on stderr what is wrong with our own work: who reads records from stdout looks there.
fn aside(news: &News) {
    let (ticket, message) = match news {
        News::NotStarted(refused) => {
            let _ = writeln!(stderr(), "{}", clean_line(&refused.message, 2_000));
            return;
        }
        News::Trouble { ticket, message } => (ticket.id(), message.clone()),
        News::StorageAwaited(waiting) => (&waiting.ticket, waiting.words(&jiff::tz::TimeZone::system())),
        News::RunLeft(left) => (&left.ticket, left.message.clone()),
        _ => return,
    };
    let _ = writeln!(stderr(), "{ticket}: {}", clean_line(&message, 2_000));
}

/// Says on stderr what the person should know about the configuration.
pub fn notices(resolved: &Resolved) {
    for notice in &resolved.notices {
        let _ = writeln!(stderr(), "{}", clean_line(&notice.text, 2_000));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_that_is_named_goes_back_to_the_beginning() {
        let named = |minutes: u64| where_to_read(Duration::from_secs(minutes * 60));
        assert_eq!(named(9), None);
        for (minutes, since) in [(10, "1h"), (59, "1h"), (60, "2h"), (600, "11h")] {
            assert_eq!(named(minutes).unwrap(), format!("`programmator report --since {since}` shows what was done."));
        }
    }
}

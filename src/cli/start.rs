//! The screen: opens it, and ends with the program's exit code.

pub(super) mod dress;

use self::dress::dressed;
use super::detach;
use super::error::CliError;
use super::farewell::{After, farewell, last_replies};
use super::in_force;
use super::park;
use super::past::Past;
use super::session::Session;
use super::terminal_host::{Behind, TerminalHost};
use super::threads;
use super::unsent;
use crate::adapters::tickets::{self, Places};
use crate::base::id::RunId;
use crate::config::hangup::OnHangup;
use crate::domain::answerer::Answerer;
use crate::domain::approval::Presence;
use crate::domain::chat::ChatWanted;
use crate::domain::outcome::ExitReason;
use crate::domain::planning::PlanAsked;
use crate::domain::request::{Closing, LATEST, Reply, Request};
use crate::domain::summary::{RunState, RunSummary};
use crate::domain::ticket::TicketKey;
use crate::runtime::app::App;
use crate::runtime::heard;
use crate::runtime::shutdown::{ShutdownSignal, Signals};
use crate::runtime::source_replies::Replying;
use crate::runtime::supervisor::{Supervisor, Typed};
use crate::runtime::telling::{self, Telling};
use crate::tui::home;
use crate::tui::model::Mode;
use crate::tui::panes::stream;
use crate::tui::screen_loop;
use crate::tui::tab::Tab;
use crate::tui::terminal::{Screen, ScreenError};
use crate::tui::theme::surface::Surface;
use crate::tui::ui::Ui;
use crate::tui::unsent::Unsent;
use std::io::{Write as _, sink, stdout};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Exit code when the terminal is gone: that of a hang-up.
const HUNG_UP: u8 = 129;

/// What the screen opens on.
pub enum Open {
    /// These tickets; none: what is there.
    Tickets(Named),
    /// An interrupted run: the one named, else the latest.
    Resume(Option<String>),
    /// The plan of this ticket.
    Plan(String, Box<PlanAsked>),
    /// A chat.
    Chat(ChatWanted),
}

/// The tickets of a command line.
#[derive(Default)]
pub struct Named {
    /// The runs of those that are shown as they are.
    pub show: Vec<Shown>,
    /// The names of those that are started.
    pub start: Vec<String>,
}

/// A ticket, and its run.
pub type Shown = (TicketKey, RunId);

/// Shows the screen until the person leaves, then says on the normal one what became of the runs. Gives the program's
/// exit code.
pub async fn screen(session: &Session, open: Open, after: After) -> Result<u8, CliError> {
    let resolved = session.resolve(&session.folder)?;
    let mut model = dressed(session, &resolved, Surface::of(&session.environment))?;
    model.outlives_screen = after == After::Kept;
    model.leaves_nothing = after == After::Removed;
    model.unsent = Unsent::new(unsent::read(&session.unsent_folder(None)));
    if matches!(&open, Open::Tickets(named) if named.show.is_empty() && named.start.is_empty()) {
        model.focus = home::NAME;
    }
    for notice in &resolved.notices {
        model.tell(notice.text.clone());
    }
    // Before the terminal is ours: none may end us without giving it back.
    let signals = Signals::listen()?;
    model.opening = match &open {
        Open::Tickets(named) => named.alone(),
        Open::Resume(run) => Some(run.clone().unwrap_or_else(|| LATEST.to_owned())),
        Open::Plan(ticket, _) => Some(ticket.clone()),
        Open::Chat(_) => Some(ChatWanted::NAME.to_owned()),
    };
    if let Open::Tickets(named) = &open {
        let tabs: Vec<usize> = named.show.iter().map(|(ticket, _)| model.open_tab(ticket)).collect();
        if let Some(first) = tabs.first() {
            model.show_tab(*first);
            model.focus = stream::NAME;
        }
    }
    let shown = match &open {
        Open::Tickets(Named { show, start }) if start.is_empty() => show.first().map(|(ticket, _)| ticket.id().clone()),
        _ => None,
    };
    let mut screen = Screen::open().map_err(|error| match (&error, shown) {
        (ScreenError::Unfit(why), Some(ticket)) => CliError::failure(format!(
            "this terminal cannot show the screen ({why}); `programmator logs -f {ticket}` follows the run without one"
        )),
        _ => unfit(&error),
    })?;
    // The first frame stands before anything is opened or read.
    screen_loop::draw(&mut screen, &mut model).map_err(|error| unfit(&error))?;
    threads::room(threads::WORK)?;
    let parts = in_force::parts(session, &resolved)?;
    let store = parts.store.clone();
    let replier = in_force::replier(&parts, &resolved);
    tokio::spawn(Supervisor::sweep_leftovers(store.clone()));
    let app = App::start(parts);
    if let Err(why) = heard::listen(&app, store.folder()) {
        tracing::warn!(%why);
    }
    let clock = session.clock();
    let telling = Telling::start(&app, &resolved.config.notify, clock.clone(), telling::Shown::Screen);
    let replying = Replying::start(&app, replier);
    let mut host = TerminalHost::new(
        Behind::Service(app.clone()),
        app.subscribe(Presence::Screen),
        clock.clone(),
        session.config_folder(),
    );
    host.notify = resolved.config.notify.clone();
    host.arrangement = Some(session.arrangement_file());
    host.unsent = Some(session.unsent_folder(None));
    let (stop, left) = (CancellationToken::new(), CancellationToken::new());
    let signal = Arc::new(OnceLock::new());
    let first = Beginning { open, places: session.places(&resolved), screen: host.reply.clone() };
    let detaches = after == After::Kept && resolved.config.on_hangup == OnHangup::Detach;
    let ends = Ends { detaches, signal: Arc::clone(&signal), screen: stop.clone(), left: left.clone() };
    let working = tokio::spawn(work(app.clone(), first, signals, ends));
    let shown = screen_loop::run(&mut screen, &mut model, &*clock, stop.clone(), &mut host);
    let shown = tokio::task::block_in_place(|| park::block_on(shown));
    screen_loop::keep_all_unsent(&mut model, &mut host);
    drop(screen);
    // A signal of another kind, or the person's own quit, has stopped the runs before.
    let is_lost = match signal.get() {
        None => matches!(shown, Err(ScreenError::Lost(_))),
        Some(signal) => *signal == ShutdownSignal::Hangup,
    };
    if is_lost {
        // Also where no signal came.
        let _ = signal.set(ShutdownSignal::Hangup);
    }
    if is_lost && detaches && model.quitting.is_none() {
        model.handed_over = model.unfinished();
    }
    if !model.handed_over.is_empty() {
        if !is_lost && model.tabs.iter().any(Tab::is_active) {
            let _ = writeln!(stdout(), "Moving to the background …");
        }
        app.ask(Request::Close(Closing::HandOver), Answerer::SCREEN).await;
    }
    // What still runs is ended by the ladder before the program goes.
    left.cancel();
    let (by_signal, worst) = match working.await {
        Ok(codes) => codes?,
        Err(error) => return Err(fault(&error.to_string())),
    };
    if let Some(telling) = telling {
        telling.finish().await;
    }
    forget_ended(session, &mut model);
    if !model.handed_over.is_empty() && is_lost {
        // There is nobody to tell.
        match detach::hand_over(&mut sink(), session, &model.handed_over).await {
            Ok(0) => {}
            Ok(code) => tracing::error!(code, "the runs of the closed terminal could not be continued"),
            Err(error) => {
                tracing::error!(error = %error.message, "the runs of the closed terminal could not be continued");
            }
        }
        last_replies(replying, &mut host.told).await;
        return Ok(HUNG_UP);
    }
    let code = match shown {
        Ok(()) if !model.handed_over.is_empty() => {
            let handed = detach::hand_over(&mut stdout(), session, &model.handed_over).await;
            if !matches!(handed, Ok(0)) {
                // How they are resumed is told of these, too.
                model.handed_over.clear();
            }
            farewell(session, &model, after)?;
            handed
        }
        Ok(()) => {
            farewell(session, &model, after)?;
            Ok(by_signal.unwrap_or(worst))
        }
        // The terminal is gone: there is nobody to tell.
        Err(ScreenError::Lost(_)) => Ok(by_signal.unwrap_or(HUNG_UP)),
        Err(error) => Err(unfit(&error)),
    };
    last_replies(replying, &mut host.told).await;
    code
}

/// What has ended in the very moment is not begun again by another program, nor what has no file any more.
fn forget_ended(session: &Session, model: &mut Ui) {
    let Ok(runs) = session.store().and_then(|store| Ok(store.runs()?)) else { return };
    // One that is queued begins a new run.
    let is_over = |tab: &&Tab| {
        let ends = |known: &RunSummary| Some(known.run) == tab.run && known.state == RunState::Ended;
        !model.queued.contains_key(&tab.id) && runs.iter().any(ends)
    };
    let over: Vec<TicketKey> = model.tabs.iter().filter(is_over).map(|tab| tab.id.clone()).collect();
    // One whose file is gone would keep the others from being begun.
    let is_gone = |ticket: &TicketKey| !Path::new(ticket.file()).exists();
    model.handed_over.retain(|ticket| !over.contains(ticket) && !is_gone(ticket));
}

impl Named {
    /// The one that is started, where nothing else is on the screen.
    fn alone(&self) -> Option<String> {
        self.start.first().filter(|_| self.show.is_empty() && self.start.len() == 1).cloned()
    }
}

/// How the screen and what works behind it come to their end.
struct Ends {
    /// Another program goes on with the runs when the terminal is closed.
    detaches: bool,
    /// The first signal that came.
    signal: Arc<OnceLock<ShutdownSignal>>,
    /// Ends the screen.
    screen: CancellationToken,
    /// The screen has ended, and said what becomes of the runs.
    left: CancellationToken,
}

/// What is done before the person can ask for anything.
struct Beginning {
    open: Open,
    places: Places,
    /// The screen, which shows the first and what was refused.
    screen: mpsc::UnboundedSender<Reply>,
}

/// Works until the screen is left and every run has ended. Gives the exit code that a signal asks for, and that of the
/// worst ticket, by how its last run here ended.
async fn work(app: App, first: Beginning, mut signals: Signals, ends: Ends) -> Result<(Option<u8>, u8), CliError> {
    // Whatever ends us, a fault of our own too, ends the screen: nobody would carry out its wishes.
    let _leave = ends.screen.clone().drop_guard();
    let begun = begin(&app, first);
    tokio::pin!(begun);
    let (mut beginning, mut by_signal) = (true, None);
    loop {
        tokio::select! {
            biased;
            () = ends.left.cancelled() => break,
            begun = &mut begun, if beginning => {
                begun?;
                beginning = false;
            }
            signal = signals.next() => {
                (beginning, by_signal) = (false, Some(signal.exit_code()));
                let first = *ends.signal.get_or_init(|| signal);
                app.ask(Request::LeaveCommits, Answerer::SCREEN).await;
                // Of a terminal that is gone the screen says what goes on elsewhere: it knows what was queued and what was stopped.
                if !(ends.detaches && signal == ShutdownSignal::Hangup && first == signal) {
                    app.ask(Request::Close(Closing::Now), signal.stopper(Answerer::SCREEN)).await;
                }
                // A terminal that is gone shows nothing more; else the person sees how the runs end.
                if signal == ShutdownSignal::Hangup {
                    ends.screen.cancel();
                }
            }
            _ = app.all_ended(), if by_signal.is_some() && !ends.screen.is_cancelled() => ends.screen.cancel(),
            () = app.gone() => return Err(fault("its supervisor task stopped; `programmator resume` continues the runs")),
        }
    }
    let by = ends.signal.get().map_or(Answerer::SCREEN, |signal| signal.stopper(Answerer::SCREEN));
    app.ask(Request::Close(Closing::Now), by).await;
    loop {
        tokio::select! {
            worst = app.all_ended() => return Ok((by_signal, worst)),
            // The screen is gone, and the person will not wait.
            signal = signals.next() => if signal != ShutdownSignal::Hangup {
                app.ask(Request::Close(Closing::Abandon), Answerer::SCREEN).await;
            },
        }
    }
}

/// Lists the tickets and opens what the command line names. What is typed wrongly ends the program with a message.
async fn begin(app: &App, first: Beginning) -> Result<(), CliError> {
    let listed = app.ask(Request::ListTickets, Answerer::SCREEN).await;
    let _ = first.screen.send(listed);
    let one = match first.open {
        Open::Tickets(named) => return begin_all(app, named, &first.places, &first.screen).await,
        Open::Resume(run) => Request::Resume(run),
        Open::Plan(ticket, asked) => Request::Plan(ticket, *asked),
        Open::Chat(wanted) => Request::Chat(wanted),
    };
    match app.ask(one, Answerer::SCREEN).await {
        Reply::Refused(refused) => Err(refused.into()),
        opened => {
            let _ = first.screen.send(opened);
            Ok(())
        }
    }
}

async fn begin_all(
    app: &App,
    named: Named,
    places: &Places,
    screen: &mpsc::UnboundedSender<Reply>,
) -> Result<(), CliError> {
    for found in named.start.iter().map(|name| tickets::find(name, places)).collect::<Vec<_>>() {
        found?;
    }
    let alone = named.alone();
    for (_, run) in named.show {
        if let Reply::Refused(refused) = app.ask(Request::Show(run), Answerer::SCREEN).await {
            return Err(refused.into());
        }
    }
    let reply = match alone {
        Some(name) => app.ask(Request::Open(name), Answerer::SCREEN).await,
        None => app.ask(Request::StartAll(named.start), Answerer::SCREEN).await,
    };
    match reply {
        // The person has quit meanwhile.
        Reply::Refused(refused) if refused.exit_code == 0 => {}
        // Alone there is nothing to show. Where a breaker is open there is a run to look at, and a key that helps.
        Reply::Refused(refused) if refused.exit_code != ExitReason::CircuitOpen.exit_code() => {
            return Err(refused.into());
        }
        reply => drop(screen.send(reply)),
    }
    Ok(())
}

/// Shows a run of the past.
pub fn replay(session: &Session, run: &str) -> Result<u8, CliError> {
    let (mut model, mut host) = stored(session, run, Surface::of(&session.environment))?;
    let mut signals = Signals::listen()?;
    let mut screen = Screen::open().map_err(|error| unfit(&error))?;
    let clock = session.clock();
    let stop = CancellationToken::new();
    let shown = async {
        tokio::select! {
            wish = signals.next() => Ok(wish.exit_code()),
            shown = screen_loop::run(&mut screen, &mut model, &*clock, stop, &mut host) => {
                shown.map(|()| 0).map_err(|error| unfit(&error))
            }
        }
    };
    tokio::task::block_in_place(|| park::block_on(shown))
}

/// The screen of a run of the past, and what is told there.
pub fn stored(session: &Session, run: &str, surface: Surface) -> Result<(Ui, TerminalHost), CliError> {
    let resolved = session.resolve(&session.folder)?;
    let mut model = dressed(session, &resolved, surface)?;
    model.mode = Mode::Replay;
    let store = session.store_to_read()?;
    let summary = session.find_run(&store, run, Typed::Part)?;
    let past = Past::new(store, &session.places(&resolved).dir());
    past.open(&summary).map_err(CliError::failure)?;
    let told = past.reporter().subscribe(Presence::Nobody);
    Ok((model, TerminalHost::new(Behind::Past(past), told, session.clock(), session.config_folder())))
}

fn unfit(error: &ScreenError) -> CliError {
    CliError::failure(error.to_string())
}

fn fault(what: &str) -> CliError {
    CliError::failure(format!("internal error: {what}"))
}

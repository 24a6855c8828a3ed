//! The screen: opens it, and ends with the program's exit code.

use super::error::CliError;
use super::host::TerminalHost;
use super::operator::{self, Operator, Paths};
use super::session::Session;
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::config::Resolved;
use crate::domain::news::News;
use crate::domain::outcome::ExitReason;
use crate::domain::stream::envelope::classify;
use crate::domain::summary::RunSummary;
use crate::domain::words::reason_words;
use crate::runtime::attendance::Attendance;
use crate::runtime::channels;
use crate::runtime::shutdown::Signals;
use crate::runtime::supervisor::find_run;
use crate::tui::marks::Glyphs;
use crate::tui::model::Mode;
use crate::tui::screen_loop::{self, Channels};
use crate::tui::terminal::{Screen, ScreenError};
use crate::tui::theme::Theme;
use crate::tui::ui::Ui;
use std::io::{Write as _, stdout};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use super::operator::Open;

/// Exit code when the terminal is gone: that of a hang-up.
const HUNG_UP: u8 = 129;

/// What is left of the runs when the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The store: they can be gone on with.
    Kept,
    /// Nothing.
    Removed,
}

/// Shows the screen until the person leaves, then says on the normal one what became of the runs. Gives the program's
/// exit code.
pub async fn screen(session: &Session, open: Open, after: After) -> Result<u8, CliError> {
    let resolved = session.resolve(&session.folder)?;
    let (mut model, theme) = dressed(session, &resolved)?;
    for notice in &resolved.notices {
        model.tell(notice.text.clone());
    }
    let (news, told) = mpsc::channel(channels::NEWS);
    let (asks, asked) = mpsc::channel(channels::ASKS);
    let stop = CancellationToken::new();
    let mut host = TerminalHost { paths: Paths::default(), attendance: Attendance::default(), clock: session.clock() };
    let (paths, attendance) = (host.paths.clone(), host.attendance.clone());
    // Before the terminal is ours: none may end us without giving it back.
    let signals = Signals::listen()?;
    let stopping = stop.clone();
    let operator =
        Operator { session: session.clone(), resolved, news, asked, paths, attendance, signals, stop: stopping };
    // The first frame stands before the operator reads a file.
    let mut screen = Screen::open().map_err(|error| unfit(&error))?;
    let working = tokio::spawn(operator::work(operator, open));
    let clock = session.clock();
    let channels = Channels { news: told, asks };
    let shown = screen_loop::run(&mut screen, &mut model, &theme, channels, &*clock, stop.clone(), &mut host).await;
    drop(screen);
    // What still runs is ended by the ladder before the program goes.
    stop.cancel();
    let (by_signal, worst) = match working.await {
        Ok(codes) => codes?,
        Err(error) => {
            return Err(CliError::failure(format!("a fault in programmator: {error}")));
        }
    };
    match shown {
        Ok(()) => {
            farewell(session, &model, after)?;
            Ok(by_signal.unwrap_or(worst))
        }
        // The terminal is gone: there is nobody to tell.
        Err(ScreenError::Lost(_)) => Ok(by_signal.unwrap_or(HUNG_UP)),
        Err(error) => Err(unfit(&error)),
    }
}

/// One line a run: how it ended, and how to go on with it.
fn farewell(session: &Session, model: &Ui, after: After) -> Result<(), CliError> {
    let shown: Vec<RunId> = model.tabs.iter().filter_map(|tab| tab.run).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let runs = session.store()?.runs()?;
    for run in shown.iter().filter_map(|run| runs.iter().find(|summary| summary.run == *run)) {
        // Nobody may be reading any more.
        let _ = writeln!(stdout(), "{}", last_line(run, after));
    }
    Ok(())
}

fn last_line(run: &RunSummary, after: After) -> String {
    let resume = format!("`programmator resume {}` goes on", run.ticket);
    let (how, next) = match run.reason.as_deref().and_then(ExitReason::from_word) {
        Some(ExitReason::Complete) => ("complete", None),
        Some(ExitReason::UserStopped) => ("stopped", Some(resume)),
        Some(reason) => (reason_words(reason), Some(format!("`programmator {}` starts again", run.ticket))),
        None => (run.state.word(), Some(resume)),
    };
    let phases = if run.phases == 0 { String::new() } else { format!(" · {}/{} phases", run.phases_done, run.phases) };
    let iterations = if run.iterations == 1 { "iteration" } else { "iterations" };
    let next = next.filter(|_| after == After::Kept).map_or_else(String::new, |next| format!("; {next}"));
    format!("{}  {how}{phases} · {} {iterations} · ${:.2}{next}", run.ticket, run.iterations, run.cost_usd)
}

/// Shows a run of the past.
pub async fn replay(session: &Session, run: &str) -> Result<u8, CliError> {
    let resolved = session.resolve(&session.folder)?;
    let store = session.store_to_read()?;
    let news = past(&store, run)?;
    let (mut model, theme) = dressed(session, &resolved)?;
    model.mode = Mode::Replay;
    let (tell, told) = mpsc::channel(channels::NEWS);
    tell.try_send(news).map_err(|_| CliError::failure("the run could not be shown"))?;
    let (asks, _asked) = mpsc::channel(channels::ASKS);
    let mut signals = Signals::listen()?;
    let mut screen = Screen::open().map_err(|error| unfit(&error))?;
    let mut host = TerminalHost { paths: Paths::default(), attendance: Attendance::default(), clock: session.clock() };
    let channels = Channels { news: told, asks };
    let stop = CancellationToken::new();
    let clock = session.clock();
    tokio::select! {
        wish = signals.next() => Ok(wish.exit_code()),
        shown = screen_loop::run(&mut screen, &mut model, &theme, channels, &*clock, stop, &mut host) => {
            shown.map(|()| 0).map_err(|error| unfit(&error))
        }
    }
}

fn past(store: &Store, text: &str) -> Result<News, CliError> {
    let summary = find_run(store, text)?;
    Ok(News::RunOpened {
        ticket: summary.ticket,
        run: summary.run,
        records: store.load(summary.run)?.records,
        scrollback: Arc::new(store.scrollback(summary.run, classify)?),
    })
}

fn dressed(session: &Session, resolved: &Resolved) -> Result<(Ui, Theme), CliError> {
    let mut model = Ui::new(session.clock().now(), jiff::tz::TimeZone::system());
    let screen = &resolved.config.screen;
    if screen.ascii {
        model.glyphs = Glyphs::Ascii;
    }
    let own = session.themes();
    let (theme, problems) = Theme::load(&screen.theme, &own, None);
    if let Some(problem) = problems.first() {
        return Err(CliError::usage(problem.to_string()));
    }
    Ok((model, theme))
}

fn unfit(error: &ScreenError) -> CliError {
    CliError::failure(error.to_string())
}

//! The loop that keeps the screen true: what happens goes into the model, and a frame follows.
//!
//! No ticker: it sleeps until a key, news, or the moment that the model names (the next second while a
//! clock shows). A burst is folded whole before one frame is drawn: what the runs tell is drawn 30 times a
//! second at most, less often where much of the screen changes each time, and not even looked at between; what the
//! person does is answered at once.
//! Signals are the caller's; so is everything that an [`Ask`] wants done outside of the terminal.

use crate::base::id::RunId;
use crate::base::time::{Clock, Timestamp};
use crate::domain::news::News;
use crate::domain::notification::Notification;
use crate::domain::request::Request;
use crate::domain::scrollback::Scrollback;
use crate::domain::syntax::Snippet;
use crate::domain::ticket::TicketKey;
use crate::domain::wheel::Wheel;
use crate::tui::arrangement::Arrangement;
use crate::tui::input::Keys;
use crate::tui::msg::{Ask, Msg};
use crate::tui::terminal::{Screen, ScreenError, hangup, lost};
use crate::tui::ui::Ui;
use crate::tui::unsent::Texts;
use crate::tui::update::unsent::keep_open;
use crate::tui::update::update;
use crate::tui::view::view;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Time between two frames of what the runs tell, at least.
const FRAME: Duration = Duration::from_millis(33);
/// The same after a large frame: as long as its bytes may take, but a stream must still be seen to move.
const SLOWEST: Duration = Duration::from_millis(100);
/// Bytes to the terminal in a millisecond, while the runs tell something and the person does nothing.
const PER_MS: usize = 50;
/// The same for answers to the person: a key that repeats, the wheel, a window that is being resized.
const ANSWER: Duration = Duration::from_millis(16);
/// Messages that are folded before a frame: as many as a front end is kept.
const BURST: usize = 1_024;

/// When the next frame may be drawn.
struct Pace {
    frame: Instant,
    /// One that answers the person.
    answer: Instant,
    /// The next one is an answer.
    answering: bool,
}

impl Pace {
    fn earliest(&self) -> Instant {
        if self.answering { self.answer } else { self.frame }
    }

    fn drawn(&mut self, now: Instant, bytes: usize) {
        if std::mem::take(&mut self.answering) {
            self.answer = now + ANSWER;
        }
        self.frame = now + Duration::from_millis((bytes / PER_MS) as u64).clamp(FRAME, SLOWEST);
    }
}

/// What the loop needs of the program around it, while the terminal is not ours.
pub trait Host {
    /// The next thing that is told, as long as it takes. Nothing is lost when it is not waited for to the end.
    fn heard(&mut self) -> impl Future<Output = Msg>;
    /// The same, if there is something.
    fn heard_already(&mut self) -> Option<Msg>;
    /// What Claude prints in a run that was told.
    fn scrollback(&self, run: RunId) -> Option<Arc<dyn Scrollback>>;
    /// Hands on a request; what comes of it is [heard](Self::heard). Gives back what cannot be taken now.
    fn ask(&mut self, request: Request) -> Result<(), Box<Request>>;
    /// Lets the person edit a ticket; returns when the editor has ended. The error is told to the person.
    fn edit(&mut self, ticket: &TicketKey) -> impl Future<Output = Result<(), String>>;
    /// The same of a file of the workspace, at a line.
    fn edit_file(&mut self, path: &Path, line: u64) -> impl Future<Output = Result<(), String>>;
    /// The same of a text; gives it as it is then.
    fn edit_text(&mut self, _text: &str) -> impl Future<Output = Result<String, String>> {
        std::future::ready(Err("no editor available here".to_owned()))
    }
    /// Opens Claude on the session of this run; returns when the person has given it back.
    fn take_wheel(&mut self, _run: RunId) -> impl Future<Output = Wheel> {
        std::future::ready(Wheel::Refused("Claude is not available here".to_owned()))
    }
    /// Runs the person's shell in this folder; returns when it has ended.
    fn shell(&mut self, _folder: &Path) -> impl Future<Output = Result<(), String>> {
        std::future::ready(Err("no shell available here".to_owned()))
    }
    /// Shows the run of this ticket on another machine; returns when the person has left it.
    fn attach(&mut self, _machine: &str, _ticket: &str, _run: &str) -> impl Future<Output = Result<(), String>> {
        std::future::ready(Err("other machines are not available here".to_owned()))
    }
    /// The person touched the screen: a key, the mouse, the window.
    fn touched(&mut self) {}
    /// Stops the process until it is continued (Ctrl-Z, then `fg`). Returns at once where that is unknown.
    fn suspend(&mut self);
    /// The person's themes, name and YAML; from now on a saved one is [heard](Self::heard).
    fn themes(&mut self) -> Vec<(String, String)>;
    /// Saves the theme in the person's configuration; what to tell them.
    fn keep_theme(&mut self, name: &str) -> Result<String, String>;
    /// Keeps how the panes are arranged.
    fn keep_arrangement(&mut self, _arrangement: &Arrangement) {}
    /// Keeps what was typed for this ticket's file, or in this directory, and was not sent; what to tell the person.
    fn keep_unsent(&mut self, _of: &str, _texts: &Texts) -> Result<(), String> {
        Ok(())
    }
    /// Tells the person, who does not look; gives whether the terminal is to ring, and to tell it too.
    fn notify(&mut self, notification: &Notification) -> (bool, bool);
    /// Has this code read, and what was asked for before no longer; its parts are [heard](Self::heard).
    fn colour(&mut self, _wanted: Vec<Arc<Snippet>>) {}
    /// Waits until this moment.
    fn sleep_until(at: Instant) -> impl Future<Output = ()> {
        tokio::time::sleep_until(at)
    }
    /// Puts clean text on the clipboard; what to tell the person.
    fn copy(&mut self, text: &str) -> Result<String, String>;
}

/// Shows the ui until the person leaves, `stop` is cancelled, or the terminal is gone. The first
/// frame is drawn before anything is read.
pub async fn run<H: Host>(
    screen: &mut Screen,
    ui: &mut Ui,
    clock: &dyn Clock,
    stop: CancellationToken,
    host: &mut H,
) -> Result<(), ScreenError> {
    ui.size = screen.size()?;
    ui.now = clock.now();
    draw(screen, ui)?;
    let mut pace = Pace { frame: Instant::now(), answer: Instant::now(), answering: false };
    let mut keys = Keys::listen();
    if ui.looks.asks() {
        screen.ask_background()?;
    }
    if ui.arrangement.mouse {
        screen.mouse(true)?;
    }
    let gone = hangup::gone();
    tokio::pin!(gone);
    loop {
        let due = due(ui, &pace, clock.now());
        let mut inbox = Vec::new();
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            error = &mut gone => return Err(lost(error)),
            msg = keys.next() => {
                let msg = msg.map_err(lost)?;
                if !matches!(msg, Msg::Background(_)) {
                    host.touched();
                }
                inbox.push(msg);
                pace.answering = true;
            }
            // While a frame is due anyway, more news need not wake us.
            first = host.heard(), if !ui.dirty => put(&mut inbox, first, host),
            () = sleep_until::<H>(due) => {}
        }
        while inbox.len() < BURST
            && let Some(more) = host.heard_already()
        {
            put(&mut inbox, more, host);
        }
        inbox.insert(0, Msg::Tick(clock.now()));
        for msg in inbox {
            for ask in update(ui, msg) {
                match ask {
                    Ask::Leave => return Ok(()),
                    Ask::Redraw => screen.forget()?,
                    Ask::ReadThemes => {
                        let own = host.themes();
                        update(ui, Msg::Themes(own));
                    }
                    Ask::KeepTheme(name) => {
                        let told = host.keep_theme(&name).unwrap_or_else(|error| error);
                        update(ui, Msg::Told(told));
                    }
                    Ask::Mouse(on) => screen.mouse(on)?,
                    Ask::KeepArrangement => host.keep_arrangement(&ui.arrangement),
                    Ask::Copy(text) => {
                        let told = host.copy(&text).unwrap_or_else(|error| error);
                        update(ui, Msg::Told(told));
                    }
                    Ask::Notify(notification) => {
                        let (rings, tells) = host.notify(&notification);
                        screen.notify(&notification, rings, tells)?;
                    }
                    edit @ (Ask::Edit(_)
                    | Ask::EditFile(..)
                    | Ask::EditText(_)
                    | Ask::TakeWheel(_)
                    | Ask::Shell(_)
                    | Ask::Attach { .. }) => {
                        // Dropped, not paused: two readers of one terminal steal each other's keys.
                        keys.end().await;
                        screen.leave();
                        let edited = match edit {
                            Ask::EditFile(path, line) => host.edit_file(&path, line).await,
                            Ask::Edit(ticket) => host.edit(&ticket).await,
                            Ask::Shell(folder) => host.shell(&folder).await,
                            Ask::Attach { machine, ticket, run } => host.attach(&machine, &ticket, &run).await,
                            Ask::EditText(text) => {
                                host.edit_text(&text).await.map(|text| drop(update(ui, Msg::Edited(text))))
                            }
                            // What came of it is in the records of the run, but where nothing was opened.
                            Ask::TakeWheel(run) => match host.take_wheel(run).await {
                                Wheel::Returned => Ok(()),
                                Wheel::Refused(why) | Wheel::Ungated(why) => Err(why),
                            },
                            _ => Ok(()),
                        };
                        back(screen, ui)?;
                        keys = Keys::listen();
                        if let Err(words) = edited {
                            update(ui, Msg::Told(words));
                        }
                    }
                    Ask::Suspend => {
                        keys.end().await;
                        screen.leave();
                        host.suspend();
                        back(screen, ui)?;
                        keys = Keys::listen();
                    }
                    Ask::Request(request) => {
                        // The runs are busy or gone. Never wait here.
                        if let Err(request) = host.ask(request) {
                            update(ui, Msg::NotAsked(request));
                        }
                    }
                }
            }
        }
        if let Err(words) = keep_unsent(ui, host) {
            update(ui, Msg::Told(words));
        }
        if ui.dirty && Instant::now() >= pace.earliest() {
            let bytes = draw(screen, ui)?;
            pace.drawn(Instant::now(), bytes);
            if let Some(wanted) = ui.syntax.ask() {
                host.colour(wanted);
            }
        }
    }
}

/// Folds everything that is there to be heard.
pub fn hear(ui: &mut Ui, host: &mut impl Host) {
    let mut inbox = Vec::new();
    while let Some(msg) = host.heard_already() {
        put(&mut inbox, msg, host);
    }
    for msg in inbox {
        update(ui, msg);
    }
}

/// Keeps what was typed and not sent, also in the dialogs that are open: the screen ends. What cannot be kept is left to be
/// told where there is still somebody.
pub fn keep_all_unsent(ui: &mut Ui, host: &mut impl Host) {
    keep_open(ui);
    ui.unsent.try_again();
    if let Err(why) = keep_unsent(ui, host) {
        tracing::error!(why);
    }
}

/// Keeps what has changed of it. The error is told to the person.
fn keep_unsent(ui: &mut Ui, host: &mut impl Host) -> Result<(), String> {
    let mut kept = Ok(());
    for (of, texts) in ui.unsent.take_changed() {
        if let Err(why) = host.keep_unsent(&of, &texts) {
            ui.unsent.not_kept(of);
            kept = Err(format!("what you typed is kept only until you quit: {why}"));
        }
    }
    kept
}

/// What is told of a run is followed by what Claude prints in it.
fn put(inbox: &mut Vec<Msg>, msg: Msg, host: &impl Host) {
    let opened = match &msg {
        Msg::News(News::RunOpened { run, .. }) => Some(*run),
        _ => None,
    };
    inbox.push(msg);
    inbox.extend(opened.and_then(|run| Some(Msg::Scrollback(run, host.scrollback(run)?))));
}

/// Draws a frame. Gives how many bytes that took.
pub fn draw(screen: &mut Screen, ui: &mut Ui) -> Result<usize, ScreenError> {
    let bytes = screen.draw(|frame| {
        // A resize may not have been told yet, and asked about once more the terminal could have another size again.
        ui.size = (frame.area().width, frame.area().height);
        let layout = ui.prepare();
        view(ui, &layout, &ui.looks.theme, frame);
    })?;
    screen.title(ui.title())?;
    screen.progress(ui.progress())?;
    // How far a search is, is seen frame by frame.
    ui.dirty = ui.searching();
    Ok(bytes)
}

/// The terminal is ours again, perhaps of another size.
fn back(screen: &mut Screen, ui: &mut Ui) -> Result<(), ScreenError> {
    screen.enter()?;
    ui.size = screen.size()?;
    ui.dirty = true;
    Ok(())
}

/// When to wake up without a reason from outside; `None` rests.
fn due(ui: &Ui, pace: &Pace, now: Timestamp) -> Option<Instant> {
    if ui.dirty {
        return Some(pace.earliest());
    }
    // A millisecond more, so that the second is over when we look.
    let wait = ui.wake_at()?.since(now) + Duration::from_millis(1);
    Some(Instant::now() + wait)
}

async fn sleep_until<H: Host>(due: Option<Instant>) {
    match due {
        Some(due) => H::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

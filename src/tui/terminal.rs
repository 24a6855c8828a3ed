//! The terminal as a full screen, and its return to what it was: on drop, on panic, before an editor
//! runs and before the program goes to the background.
//!
//! Does not own signals (`cli`) nor when to draw (`screen_loop`). A terminal that is gone (hung up,
//! its window closed) is found by a failed write and never written to again.

pub mod hangup;

use crate::base::text::clean_line;
use crate::domain::notification::Notification;
use crossterm::event::{DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    SetTitle, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::{Frame, Terminal};
use std::cell::Cell;
use std::io::{self, BufWriter, Write};
use std::mem::ManuallyDrop;
use std::panic::PanicHookInfo;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::{self, ThreadId};

/// Standard output, and the bytes that went there.
struct Counted(Rc<Cell<usize>>);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = io::stdout().write(bytes)?;
        self.0.set(self.0.get() + written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// Why the screen cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ScreenError {
    #[error("the terminal is gone ({0}); resume the runs from Home with `programmator`")]
    Lost(#[source] io::Error),
    #[error("this terminal cannot show the screen ({0}); `programmator run <ticket>` works without one")]
    Unfit(#[source] io::Error),
}

/// What the terminal is now. Process-wide, as the terminal is: the panic hook must see it.
static TERMINAL: AtomicU8 = AtomicU8::new(OURS_NOT);
const OURS_NOT: u8 = 0;
const OURS: u8 = 1;
const GONE: u8 = 2;
static DRAWS: Mutex<Option<ThreadId>> = Mutex::new(None);

/// The full screen. Dropping it gives the terminal back.
pub struct Screen {
    /// Never dropped: ratatui would write to a terminal that is gone, and panic over it.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<BufWriter<Counted>>>>,
    /// Bytes of the frame at hand.
    written: Rc<Cell<usize>>,
    /// What the window is called now.
    title: String,
    /// What its bar shows now.
    progress: Option<Progress>,
}

/// How far the runs are, for a terminal that shows it in its tab or in the task bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Phases done, in percent; `None` where there are no phases to count.
    pub percent: Option<u8>,
    /// The person is waited for.
    pub waits: bool,
}

impl Progress {
    /// As the terminal is told: `OSC 9;4;state;percent`, by Windows Terminal's documentation (1: so far, 3: no one knows how
    /// far, 4: held up).
    fn words(self) -> String {
        let state = match (self.waits, self.percent) {
            (true, _) => 4,
            (false, Some(_)) => 1,
            (false, None) => 3,
        };
        format!("\x1b]9;4;{state};{}\x07", self.percent.unwrap_or(0).min(100))
    }
}

/// The terminal shows a bar of ours.
static PROGRESS: AtomicBool = AtomicBool::new(false);
const NO_PROGRESS: &str = "\x1b]9;4;0;0\x07";

/// The mouse is reported to us.
static MOUSE: AtomicBool = AtomicBool::new(false);
/// Buttons, and moves while one is down, in numbers of any size. Not every move: an idle screen sleeps.
const MOUSE_ON: Print<&str> = Print("\x1b[?1000h\x1b[?1002h\x1b[?1006h");
const MOUSE_OFF: Print<&str> = Print("\x1b[?1006l\x1b[?1002l\x1b[?1000l");

/// The window's title is put aside, and brought back.
const SAVE_TITLE: Print<&str> = Print("\x1b[22;2t");
const RESTORE_TITLE: Print<&str> = Print("\x1b[23;2t");

impl Screen {
    /// Takes the terminal: raw mode, alternate screen, bracketed paste, no cursor. From here on a panic of this
    /// thread gives it back before it is told; one of another thread goes to our log, for the screen lives on.
    pub fn open() -> Result<Self, ScreenError> {
        restore_on_panic();
        enter().map_err(ScreenError::Unfit)?;
        let written = Rc::default();
        let backend = CrosstermBackend::new(BufWriter::with_capacity(64 << 10, Counted(Rc::clone(&written))));
        let terminal = Terminal::new(backend).map_err(|error| {
            restore();
            ScreenError::Unfit(error)
        })?;
        Ok(Self { terminal: ManuallyDrop::new(terminal), written, title: String::new(), progress: None })
    }

    /// Columns and lines.
    pub fn size(&self) -> Result<(u16, u16), ScreenError> {
        let size = self.terminal.size().map_err(lost)?;
        Ok((size.width, size.height))
    }

    /// Draws one frame, inside a synchronized update so that no half of it is seen. Gives how many bytes that took.
    pub fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> Result<usize, ScreenError> {
        if !hangup::is_alive() {
            return Err(lost(io::ErrorKind::BrokenPipe.into()));
        }
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate).map_err(lost)?;
        self.terminal.draw(view).map_err(lost)?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate).map_err(lost)?;
        Ok(self.written.take())
    }

    /// Names the terminal's window. `title`: clean.
    pub fn title(&mut self, title: String) -> Result<(), ScreenError> {
        if self.title != title {
            execute!(self.terminal.backend_mut(), SetTitle(&title)).map_err(lost)?;
            self.title = title;
        }
        Ok(())
    }

    /// Has the terminal show how far the runs are; `None`: nothing.
    pub fn progress(&mut self, progress: Option<Progress>) -> Result<(), ScreenError> {
        if self.progress == progress {
            return Ok(());
        }
        let out = self.terminal.backend_mut();
        let words = progress.map_or_else(|| NO_PROGRESS.to_owned(), Progress::words);
        execute!(out, Print(words)).map_err(lost)?;
        PROGRESS.store(progress.is_some(), Ordering::SeqCst);
        self.progress = progress;
        Ok(())
    }

    /// Has the terminal ring, and show a notification of its own (OSC 9, as iTerm2, kitty, `WezTerm`, Ghostty and Windows
    /// Terminal do; others ignore it).
    pub fn notify(&mut self, notification: &Notification, rings: bool, tells: bool) -> Result<(), ScreenError> {
        // A number at the beginning would be a progress report.
        let words = clean_line(&format!("programmator: {}: {}", notification.title, notification.text), 200);
        let told = if tells { format!("\x1b]9;{words}\x07") } else { String::new() };
        let bell = if rings { "\x07" } else { "" };
        let out = self.terminal.backend_mut();
        out.write_all(format!("{told}{bell}").as_bytes()).and_then(|()| io::Write::flush(out)).map_err(lost)
    }

    /// Has the terminal report the mouse, or leaves it to the terminal.
    pub fn mouse(&mut self, on: bool) -> Result<(), ScreenError> {
        MOUSE.store(on, Ordering::SeqCst);
        execute!(self.terminal.backend_mut(), if on { MOUSE_ON } else { MOUSE_OFF }).map_err(lost)
    }

    /// Asks the terminal for its background. The answer comes among the keys, or never; nothing waits for it.
    pub fn ask_background(&mut self) -> Result<(), ScreenError> {
        // Ended by BEL: the answer ends as the question did, and some terminals cannot end it otherwise.
        let out = self.terminal.backend_mut();
        out.write_all(b"\x1b]11;?\x07").and_then(|()| io::Write::flush(out)).map_err(lost)
    }

    /// Forgets what was drawn: the next frame writes every cell.
    pub fn forget(&mut self) -> Result<(), ScreenError> {
        // Not `Terminal::clear`: it asks the terminal for the cursor's place, and the answer comes as input.
        self.terminal.backend_mut().clear().map_err(lost)?;
        self.terminal.swap_buffers();
        Ok(())
    }

    /// Gives the terminal back for a while: to an editor, to the shell.
    pub fn leave(&mut self) {
        restore();
    }

    /// Takes it again after [`leave`](Self::leave).
    pub fn enter(&mut self) -> Result<(), ScreenError> {
        enter().map_err(lost)?;
        self.title.clear();
        self.progress = None;
        self.forget()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// The terminal is gone: not a byte more to it.
pub fn lost(error: io::Error) -> ScreenError {
    TERMINAL.store(GONE, Ordering::SeqCst);
    ScreenError::Lost(error)
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    *DRAWS.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current().id());
    TERMINAL.store(OURS, Ordering::SeqCst);
    // Whoever was killed left the alternate screen on, and what it had drawn there.
    let entered = execute!(
        io::stdout(),
        SAVE_TITLE,
        EnterAlternateScreen,
        Clear(ClearType::All),
        EnableBracketedPaste,
        EnableFocusChange,
        cursor::Hide
    );
    let entered =
        entered.and_then(|()| if MOUSE.load(Ordering::SeqCst) { execute!(io::stdout(), MOUSE_ON) } else { Ok(()) });
    if entered.is_err() {
        restore();
    }
    entered
}

/// Gives the terminal back, once; whatever fails, the rest is tried.
pub fn restore() {
    match TERMINAL.swap(OURS_NOT, Ordering::SeqCst) {
        OURS => {
            let mut out = io::stdout();
            if MOUSE.load(Ordering::SeqCst) {
                let _ = execute!(out, MOUSE_OFF);
            }
            if PROGRESS.swap(false, Ordering::SeqCst) {
                let _ = execute!(out, Print(NO_PROGRESS));
            }
            let _ = execute!(
                out,
                EndSynchronizedUpdate,
                DisableFocusChange,
                DisableBracketedPaste,
                LeaveAlternateScreen,
                RESTORE_TITLE,
                cursor::Show
            );
            let _ = out.flush();
            let _ = disable_raw_mode();
        }
        // Not a byte more to a dead terminal; its modes may still be another process's.
        GONE => {
            TERMINAL.store(GONE, Ordering::SeqCst);
            let _ = disable_raw_mode();
        }
        _ => {}
    }
}

/// A panic of the thread that draws gives the terminal back first, then tells what the hook before would have told.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if screen_survives(thread::current().id()) {
                log_panic(info);
            } else {
                restore();
                before(info);
            }
        }));
    });
}

/// The terminal is ours and it is not the thread that draws which goes down: not a word may be written over the screen.
fn screen_survives(panicking: ThreadId) -> bool {
    let draws = *DRAWS.lock().unwrap_or_else(PoisonError::into_inner);
    TERMINAL.load(Ordering::SeqCst) == OURS && draws.is_some_and(|draws| draws != panicking)
}

fn log_panic(info: &PanicHookInfo<'_>) {
    let words = info.payload().downcast_ref::<&str>().copied();
    let what = words.or_else(|| info.payload().downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, "a thread panicked: {what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_panic_of_the_thread_that_draws_gives_the_terminal_back() {
        // What `Screen::open` does, without a terminal.
        restore_on_panic();
        *DRAWS.lock().unwrap() = Some(thread::current().id());
        TERMINAL.store(OURS, Ordering::SeqCst);
        let ended = thread::spawn(|| std::panic::panic_any("a worker's fault")).join();
        let kept = TERMINAL.load(Ordering::SeqCst);
        let own_gives_back = !screen_survives(thread::current().id());
        TERMINAL.store(OURS_NOT, Ordering::SeqCst);
        assert!(ended.is_err());
        assert_eq!(kept, OURS, "the screen lives on");
        assert!(own_gives_back);
        assert!(!screen_survives(thread::spawn(|| ()).thread().id()), "without a screen every panic is told");
    }
}

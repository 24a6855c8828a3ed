//! What happens to the screen ([`Msg`]) and what the screen wants done ([`Ask`]).
//!
//! Neither names crossterm: keys are [`Input`]s, so that everything behind `tui::input` can be tested.

use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::news::News;
use crate::domain::notification::Notification;
use crate::domain::request::{Reply, Request};
use crate::domain::scrollback::Scrollback;
use crate::domain::syntax::{Snippet, Spans};
use crate::domain::ticket::TicketKey;
use crate::tui::theme::colour::Rgb;
use std::path::PathBuf;
use std::sync::Arc;

pub use tui_textarea::{Input, Key};

/// What the mouse did, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    pub gesture: Gesture,
    pub x: u16,
    pub y: u16,
}

/// What of the mouse means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    WheelUp,
    WheelDown,
    /// The left button goes down.
    Press,
    /// It is moved while the left button is down.
    Drag,
}

/// Something that happened to the screen.
pub enum Msg {
    Key(Input),
    Paste(String),
    Mouse(Mouse),
    /// The terminal has a new size, in cells.
    Resize(u16, u16),
    News(News),
    /// What Claude prints in this run can be read here.
    Scrollback(RunId, Arc<dyn Scrollback>),
    /// What came of a request.
    Replied(Reply),
    /// A request that could not be taken.
    NotAsked(Box<Request>),
    /// How the connection to the machine that the run is on stands, in words; `None`: it does.
    Connection(Option<String>),
    /// What time it is now; sent at every wake-up, never on its own account.
    Tick(Timestamp),
    /// The terminal's window has the focus, or has lost it.
    Focused(bool),
    /// The terminal told its background.
    Background(Rgb),
    /// The person's themes, name and YAML, as they are now.
    Themes(Vec<(String, String)>),
    /// The parts of code that was seen.
    Coloured(Arc<Snippet>, Spans),
    /// The text that the person was let edit.
    Edited(String),
    /// Words for the person from the edge: a command that could not be carried out.
    Told(String),
}

/// Something that the screen wants done by those who may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// By the service behind all front ends.
    Request(Request),
    /// Let the person edit the file of an open ticket in their editor.
    Edit(TicketKey),
    /// The same of a file of the workspace, at this line.
    EditFile(PathBuf, u64),
    /// Let the person edit this text in their editor; what it is then is heard.
    EditText(String),
    /// Let the person work in the session of this run.
    TakeWheel(RunId),
    /// Let the person work in a shell in this folder.
    Shell(PathBuf),
    /// Show the run of this ticket on another machine, in this terminal.
    Attach { machine: String, ticket: String, run: String },
    /// Leave: nothing runs.
    Leave,
    /// Go to the background (Ctrl-Z).
    Suspend,
    /// Draw every cell anew: something else wrote to the terminal.
    Redraw,
    /// Read the person's themes again.
    ReadThemes,
    /// Save the theme of this name in the person's configuration.
    KeepTheme(String),
    /// Keep how the panes are arranged for the next start.
    KeepArrangement,
    /// Tell the person, who is not looking.
    Notify(Notification),
    /// Have the terminal report the mouse, or not.
    Mouse(bool),
    /// Put text on the clipboard. Always clean, never with a final newline.
    Copy(String),
}

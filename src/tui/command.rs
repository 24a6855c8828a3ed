//! What a row of the table of keys is. Key map, footer, help screen and the documentation's table are all made of it.
//!
//! The rows are in `command::table`, those of a pane in its file.

use crate::tui::model::Model;
use crate::tui::msg::{Input, Key};

mod keymap;
pub mod keys_file;
mod table;
pub mod when;

pub use keymap::{Found, hints, hints_that_act, markdown_table, times};
pub use table::{row_of, table};
pub use when::can_command;

/// Everything a key can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    Pause,
    PauseNow,
    Skip,
    Retry,
    Steer,
    Stop,
    ResetBreaker,
    Commit,
    Export,
    Find,
    Import,
    Machines,
    Stats,
    Report,
    Limits,
    Undo,
    Background,
    NextReady,
    NextWaiting,
    Queue,
    QueuedTickets,
    Resolve,
    Shell,
    Edit,
    TakeWheel,
    Timeline,
    Chat,
    Home,
    Changes,
    Log,
    NewTicket,
    OpenTicket,
    FocusNext,
    FocusPrevious,
    GoToTab,
    TabPrevious,
    TabNext,
    Help,
    Palette,
    Mouse,
    Zoom,
    Hide,
    Smaller,
    Larger,
    Quit,
    Suspend,
    Redraw,
    Theme,
    Down,
    Up,
    PageDown,
    PageUp,
    Top,
    End,
    Choose,
    Prompt,
    Explain,
    Close,
    Yes,
    No,
    Send,
    NewLine,
    Allow,
    AllowTicket,
    AllowKind,
    AllowAlways,
    Deny,
    EditInput,
    Toggle,
    QuestionNext,
    QuestionPrevious,
    Seen,
    QuitFinish,
    QuitNow,
    QuitAway,
    /// A pane's own, by a word of the pane's.
    Own(&'static str),
}

/// Where a key counts. Dialogs hide everything below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    Global,
    /// While one pane has the whole screen, before the pane's own.
    Zoomed,
    /// In a run of the past, before the pane's own.
    Replay,
    /// While lines are selected in a pane or a diff, before its own.
    Visual,
    /// In the pane of this name, before the global keys.
    Pane(&'static str),
    /// Wherever a text in a dialog is scrolled.
    Scroll,
    Help,
    /// Every command by its name.
    Palette,
    Confirm,
    /// Words for Claude.
    Steer,
    Open,
    /// A new ticket.
    Draft,
    /// A changed file, line by line.
    Diff,
    /// A commit's message.
    Commit,
    /// The files of a commit.
    CommitFiles,
    /// A search through all runs and tickets.
    Find,
    /// What is at work on other machines.
    Machines,
    /// Where tasks can be imported from.
    Import,
    /// The tasks of one of those.
    ImportTasks,
    /// A run as a file.
    Export,
    /// What stands behind a phase.
    Evidence,
    /// The snapshots of a ticket.
    Timeline,
    /// The files that differ between two of them.
    TimelineFiles,
    /// A phase's text.
    PhaseForm,
    /// The limits of a run.
    Limits,
    /// A value of one of them.
    LimitValue,
    /// Leaving while something runs.
    Quit,
    Question,
    /// Phases that an evaluator proposes.
    MoreWork,
    /// The draft of a ticket's phases.
    Plan,
    Queue,
    /// A theme for the screen.
    Themes,
    /// A call of Claude's that waits.
    Card,
    /// Words on such a card.
    Words,
    /// The input of such a call, to be changed.
    EditInput,
    /// A lasting rule, before it is saved.
    Rule,
    Passphrase,
    /// Claude's question with its options.
    Choices,
    /// Something else that waits.
    Matter,
    /// One line of text at the bottom.
    Prompt,
}

/// How a row is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    Shown,
    /// In help only.
    HelpOnly,
    /// Asks before it acts; in footer and help.
    Destructive,
    /// Nowhere: a second way that needs no words.
    Hidden,
}

/// One row of the table.
pub struct Row {
    pub command: Command,
    /// Its name in `keys.yaml`, in the palette and in tests.
    pub id: &'static str,
    /// Where it counts.
    pub scope: Scope,
    /// Heading in the help screen.
    pub group: &'static str,
    /// A sentence for help and documentation.
    pub doc: &'static str,
    /// Its keys, or two pressed one after the other, unless the person has their own; the footer shows the first.
    pub keys: &'static [&'static [Input]],
    pub flag: Flag,
    /// Whether it can act now.
    pub enabled: fn(&Model) -> bool,
    /// The footer's word for it now.
    pub hint: fn(&Model) -> &'static str,
}

impl Row {
    /// What it does, for where its group is named already.
    pub fn doc_in_group(&self) -> &'static str {
        let names = |place: &str| {
            let words = place.split(' ').filter(|word| !["in", "the", "a", "dialog"].contains(word));
            words.collect::<Vec<_>>().join(" ").eq_ignore_ascii_case(self.group)
        };
        self.doc.split_once(": ").filter(|(place, _)| names(place)).map_or(self.doc, |(_, does)| does)
    }
}

/// Lines by which a command moves what is scrolled, in a window of `page` lines; 0 for what moves nothing.
pub fn lines(command: Option<Command>, page: usize) -> i32 {
    let page = i32::try_from(page).unwrap_or(i32::MAX);
    match command {
        Some(Command::Down) => 1,
        Some(Command::Up) => -1,
        Some(Command::PageDown) => page,
        Some(Command::PageUp) => -page,
        Some(Command::Top) => i32::MIN,
        Some(Command::End) => i32::MAX,
        _ => 0,
    }
}

/// Lines by which a page moves in a window of this height: one stays.
pub fn page(height: usize) -> usize {
    height.max(2) - 1
}

/// For a row that can always act.
pub fn always(_: &Model) -> bool {
    true
}

pub const fn press(key: Key) -> Input {
    Input { key, ctrl: false, alt: false, shift: false }
}

pub const fn c(letter: char) -> Input {
    press(Key::Char(letter))
}

pub const fn ctrl(letter: char) -> Input {
    Input { key: Key::Char(letter), ctrl: true, alt: false, shift: false }
}

pub const fn alt(letter: char) -> Input {
    Input { key: Key::Char(letter), ctrl: false, alt: true, shift: false }
}

/// Rows: command, id, scope, group, keys (`one`, or `one => another` after it), flag, when it acts, hint, doc.
macro_rules! rows {
    ($($command:ident $(($own:literal))? $id:literal $scope:expr, $group:literal, [$($key:expr $(=> $then:expr)?),+], $flag:ident, $enabled:expr, $hint:expr, $doc:literal;)+) => {
        &[$($crate::tui::command::Row {
            command: $crate::tui::command::Command::$command $(($own))?,
            id: $id,
            scope: $scope,
            group: $group,
            doc: $doc,
            keys: &[$(&[$key $(, $then)?]),+],
            flag: $crate::tui::command::Flag::$flag,
            enabled: $enabled,
            hint: $hint,
        }),+]
    };
}

pub(in crate::tui) use rows;

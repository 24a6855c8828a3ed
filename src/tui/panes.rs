//! The panes, each with its state, update and view in one file, and the strips above and below them.

pub mod footer;
pub mod gauges;
pub mod log;
pub mod notice;
pub mod stream;
pub mod tabs;
pub mod tickets;

/// A pane that can have the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// The tree of tickets and phases.
    Tickets,
    /// What Claude says and does.
    Stream,
    /// Numbers.
    Gauges,
    /// The records in words.
    Log,
}

impl Pane {
    /// Every pane, in the order that `Tab` goes.
    pub const ALL: [Self; 4] = [Self::Tickets, Self::Stream, Self::Gauges, Self::Log];

    /// The word in its border.
    pub fn title(self) -> &'static str {
        match self {
            Self::Tickets => "Tickets",
            Self::Stream => "Stream",
            Self::Gauges => "Gauges",
            Self::Log => "Log",
        }
    }
}

/// Where a list that may be longer than its place is scrolled to, so that `cursor` is seen.
pub fn scrolled_to(cursor: usize, offset: usize, height: usize) -> usize {
    if cursor < offset {
        cursor
    } else if height > 0 && cursor >= offset + height {
        cursor + 1 - height
    } else {
        offset
    }
}

//! Who speaks to a run for the person: which front end, and who there, where that is known.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A kind of front end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrontEnd {
    /// A screen, of whatever program.
    #[default]
    Screen,
    CommandLine,
    /// Their phone.
    Phone,
    /// Nobody spoke: the person's configuration says it.
    Configuration,
    /// Nobody spoke: plain lines cannot show what is asked, or take the answer.
    Lines,
    /// Nobody spoke: the terminal was closed.
    ClosedTerminal,
}

/// Who gives an answer or a command. Stored as the front end's word, or with the name beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Answerer {
    pub at: FrontEnd,
    /// Whose it is, where several can speak there. Said by who let them in, never by themselves.
    pub name: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Plain(FrontEnd),
    Named { at: FrontEnd, name: Option<String> },
}

impl Answerer {
    pub const SCREEN: Self = Self { at: FrontEnd::Screen, name: None };
    /// The person in a shell.
    pub const COMMAND_LINE: Self = Self { at: FrontEnd::CommandLine, name: None };

    /// The person on their phone.
    pub const PHONE: Self = Self { at: FrontEnd::Phone, name: None };

    /// Plain lines that cannot ask the person.
    pub const LINES: Self = Self { at: FrontEnd::Lines, name: None };

    /// A terminal that was closed.
    pub const CLOSED_TERMINAL: Self = Self { at: FrontEnd::ClosedTerminal, name: None };

    /// The person's configuration, once and for all.
    pub const CONFIGURATION: Self = Self { at: FrontEnd::Configuration, name: None };

    /// Nobody spoke: the terminal was closed.
    pub fn is_hangup(&self) -> bool {
        self.at == FrontEnd::ClosedTerminal
    }

    /// What old records mean, which say nothing of it.
    pub fn is_screen(&self) -> bool {
        *self == Self::SCREEN
    }
}

/// For the person: "you", else the name; and where, unless it was the screen.
impl fmt::Display for Answerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_deref().unwrap_or("you"))?;
        f.write_str(match self.at {
            FrontEnd::Screen => "",
            FrontEnd::CommandLine => " (command line)",
            FrontEnd::Phone => " (phone)",
            FrontEnd::Configuration => " (configuration)",
            FrontEnd::Lines => " (plain lines)",
            FrontEnd::ClosedTerminal => " (closed terminal)",
        })
    }
}

impl From<Stored> for Answerer {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Plain(at) => Self { at, name: None },
            Stored::Named { at, name } => Self { at, name },
        }
    }
}

impl From<Answerer> for Stored {
    fn from(Answerer { at, name }: Answerer) -> Self {
        if name.is_some() { Self::Named { at, name } } else { Self::Plain(at) }
    }
}

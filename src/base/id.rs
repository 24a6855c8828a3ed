//! Identifiers: of runs, of Claude's sessions, of tickets as the person names them.
//!
//! Making a fresh id needs randomness and a clock, so it happens at the edge (`adapters::clock`).

use serde::{Deserialize, Serialize};
use std::fmt;

/// One run of one ticket; a UUID version 7, so ids sort by the time they were made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub uuid::Uuid);

impl RunId {
    /// Reads the hyphenated form; `None` when it is not a UUID.
    pub fn parse(text: &str) -> Option<Self> {
        uuid::Uuid::parse_str(text).ok().map(Self)
    }

    /// The last eight hex digits: enough to tell runs of one person apart on a screen
    /// (the first digits of a version 7 UUID are the time and look alike).
    pub fn short(&self) -> String {
        let text = self.0.simple().to_string();
        text[text.len() - 8..].to_owned()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunId({self})")
    }
}

/// What a ticket is called everywhere: its id, or the file name of a plan (`docs.md`).
///
/// Unique within one program; used as the name of tabs, refs and log lines.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TicketId(String);

/// Why a text cannot name a ticket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` cannot name a ticket: use 1 to 64 of A-Z a-z 0-9 . _ - starting with a letter or digit")]
pub struct BadTicketId {
    text: String,
}

impl TicketId {
    /// Longest id in bytes.
    pub const MAX_LEN: usize = 64;

    /// Accepts `[A-Za-z0-9][A-Za-z0-9._-]{0,63}` without `..`, and no device name of Windows
    /// (such a file could not exist there).
    pub fn parse(text: &str) -> Result<Self, BadTicketId> {
        let bad = || BadTicketId { text: crate::base::text::clean_line(text, 80) };
        let mut bytes = text.bytes();
        let starts_well = bytes.next().is_some_and(|b| b.is_ascii_alphanumeric());
        let goes_on_well = bytes.all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        let stem = text.split('.').next().unwrap_or("").to_ascii_uppercase();
        let device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL")
            || (stem.len() == 4
                && (stem.starts_with("COM") || stem.starts_with("LPT"))
                && stem.ends_with(|c: char| c.is_ascii_digit()));
        if starts_well && goes_on_well && text.len() <= Self::MAX_LEN && !text.contains("..") && !device {
            Ok(Self(text.to_owned()))
        } else {
            Err(bad())
        }
    }

    /// An id made of any text, every byte that may not stand in one replaced by `-`.
    /// For plans, whose file names are free.
    pub fn from_file_name(name: &str) -> Self {
        let safe: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
            .take(Self::MAX_LEN)
            .collect();
        let safe = safe.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).replace("..", "-.");
        Self::parse(&safe).unwrap_or_else(|_| Self(format!("plan-{safe}")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_could_leave_the_folder() {
        for bad in ["", ".", "..", "../x", "a/b", "a\0b", "-x", "a..b", "CON", "nul.md", "com1", "%2e%2e", "ä"] {
            assert!(TicketId::parse(bad).is_err(), "{bad:?} was accepted");
        }
        assert!(TicketId::parse(&"a".repeat(65)).is_err());
        for good in ["tk-4f2a", "a", "A.b_c-9", "console"] {
            assert_eq!(TicketId::parse(good).unwrap().as_str(), good);
        }
    }

    #[test]
    fn any_file_name_becomes_an_id() {
        assert_eq!(TicketId::from_file_name("my plan.md").as_str(), "my-plan.md");
        assert!(TicketId::from_file_name("日本").as_str().starts_with("plan-"));
    }
}

//! What a check of the machine found.

use serde::{Deserialize, Serialize};

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    Ok,
    Warn,
    Fail,
}

impl Mark {
    /// Its word, in columns.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok  ",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// A check and its result, with the fix where one is needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What was checked.
    pub name: String,
    pub mark: Mark,
    pub text: String,
}

impl Finding {
    pub fn new(name: &str, mark: Mark, text: impl Into<String>) -> Self {
        Self { name: name.to_owned(), mark, text: text.into() }
    }
}

//! What the person wants done after a run has ended: part of the journal's schema.

use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

worded! {
    /// What is to be done.
    pub enum EndAnswer {
        /// Go on with the run, or begin it anew where it cannot be resumed.
        Resume = "resume",
        /// Have Claude resolve the conflict that its merge ended with.
        Resolve = "resolve",
        /// Merge its work again.
        Merge = "merge",
        /// Nothing: it waits for nobody.
        Leave = "leave",
        /// One more phase.
        Phase = "phase",
    }
}

/// The person has said what follows a run's end, or that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndAnswered {
    pub answer: EndAnswer,
    /// Their words: for Claude, or the phase's text; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
    #[serde(default)]
    pub by: Answerer,
    /// Why nothing came of it; `None`: it is being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl EndAnswered {
    /// The end waits for nobody any more, and nothing follows it.
    pub fn leaves(&self) -> bool {
        self.answer == EndAnswer::Leave && self.failed.is_none()
    }

    /// What is said behind the reason why nothing came of it: that the words were not passed on, and which.
    pub fn lost_words(&self) -> String {
        if self.words.is_empty() {
            return String::new();
        }
        format!("\nYour message was not delivered: “{}”. Send it again.", clean_line(&self.words, 500))
    }

    /// For whoever answers later, and for the log: what was answered, and by whom.
    pub fn told(&self) -> String {
        let what = match self.answer {
            EndAnswer::Resume => "resumed",
            EndAnswer::Resolve => "conflict given to Claude",
            EndAnswer::Merge => "merge retried",
            EndAnswer::Leave => "left as it is",
            EndAnswer::Phase => "continued with another phase",
        };
        let words = if self.words.is_empty() { String::new() } else { format!(": {}", clean_line(&self.words, 200)) };
        format!("{what} by {}{words}", self.by)
    }

    /// For the log.
    pub fn words(&self) -> String {
        match &self.failed {
            None => self.told(),
            Some(why) => {
                let words = match clean_line(&self.words, 200) {
                    words if words.is_empty() => words,
                    words => format!("  (with the message “{words}”)"),
                };
                format!("`{}`{words} failed: {}", self.answer.word(), clean_line(why, 300))
            }
        }
    }
}

//! A file whose text goes along in each prompt, because the configuration names it.

use serde::Serialize;

/// What becomes of one. Templates know the fields by these names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextFile {
    /// As it is configured: below the run's working directory.
    pub path: String,
    /// `None`: it is left out.
    pub text: Option<String>,
    /// Why it is left out, or how much of it goes along.
    pub note: Option<String>,
}

impl ContextFile {
    /// What a person should know of it.
    pub fn notice(&self) -> Option<String> {
        self.note.as_ref().map(|note| format!("prompt.context: {}: {note}", self.path))
    }
}

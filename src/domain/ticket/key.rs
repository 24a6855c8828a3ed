//! Which ticket is meant: the one in this file. Several files may have one id.

use crate::base::id::TicketId;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// A ticket's file, and what the ticket is called. Only the file counts when two are compared.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TicketKey {
    file: String,
    id: TicketId,
}

impl TicketKey {
    /// Of the file at this path, which has no links in it: as [`find`](fn@crate::adapters::tickets::find) gives it, and
    /// as runs record it.
    pub fn new(id: TicketId, file: &Path) -> Self {
        Self { file: file.display().to_string(), id }
    }

    /// Of a name for which no file is known: no ticket has it.
    pub fn unknown(name: &str) -> Self {
        Self { file: name.to_owned(), id: TicketId::from_file_name(name) }
    }

    pub fn file(&self) -> &str {
        &self.file
    }

    /// The folder of the file.
    pub fn folder(&self) -> &str {
        self.file.rsplit_once(std::path::MAIN_SEPARATOR).map_or("", |(folder, _)| folder)
    }

    pub fn id(&self) -> &TicketId {
        &self.id
    }

    /// The id, as it is shown.
    pub fn as_str(&self) -> &str {
        self.id.as_str()
    }
}

impl fmt::Display for TicketKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl PartialEq for TicketKey {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

impl Eq for TicketKey {}

impl PartialOrd for TicketKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TicketKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.file.cmp(&other.file)
    }
}

impl Hash for TicketKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.file.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_id_in_two_folders_is_two_tickets_and_a_file_stays_the_same_ticket_under_another_id() {
        let key = |id: &str, file: &str| TicketKey::new(TicketId::parse(id).unwrap(), Path::new(file));
        let here = key("tk-1", "/a/tk-1.md");
        assert_ne!(here, key("tk-1", "/b/tk-1.md"));
        assert_eq!(here, key("tk-2", "/a/tk-1.md"));
        assert_eq!((here.to_string(), here.folder()), ("tk-1".to_owned(), "/a"));
    }
}

//! Every ticket that was read, by its file, and by the id under which others depend on it.

use crate::domain::ticket::{Ticket, TicketKey};
use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::Arc;

/// The tickets.
#[derive(Default)]
pub struct Listed {
    files: BTreeMap<TicketKey, Arc<Ticket>>,
    /// Which files have an id: several may.
    ids: HashMap<String, Vec<TicketKey>>,
}

impl Deref for Listed {
    type Target = BTreeMap<TicketKey, Arc<Ticket>>;

    fn deref(&self) -> &Self::Target {
        &self.files
    }
}

impl Listed {
    /// Takes a ticket as it was read.
    pub fn insert(&mut self, key: TicketKey, ticket: Arc<Ticket>) {
        // Not the key that is there: it may have another id.
        self.remove(&key);
        self.ids.entry(ticket.id.to_string()).or_default().push(key.clone());
        self.files.insert(key, ticket);
    }

    pub fn remove(&mut self, key: &TicketKey) {
        if let Some(old) = self.files.remove(key)
            && let Some(same) = self.ids.get_mut(old.id.as_str())
        {
            same.retain(|other| other != key);
        }
    }

    /// The first open ticket that must be closed before this one. One with the same id in another folder is not meant.
    pub fn open_dependency(&self, key: &TicketKey, ticket: &Ticket) -> Option<&TicketKey> {
        let here = |other: &&TicketKey| other.folder() == key.folder();
        let meant = ticket.deps.iter().filter_map(|dep| self.ids.get(dep)?.iter().find(here));
        let is_open = |dep: &&TicketKey| self.files.get(dep).is_some_and(|dep| !dep.is_closed());
        meant.into_iter().find(is_open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;
    use std::path::Path;

    #[test]
    fn a_dependency_is_the_ticket_of_that_id_in_the_same_folder() {
        let mut listed = Listed::default();
        let key = |folder: &str, id: &str| {
            TicketKey::new(sample::id(id).id().clone(), Path::new(&format!("{folder}/{id}.md")))
        };
        let needs = Ticket { deps: vec!["tk-1".into()], ..sample::ticket("tk-2", "Two", &[]).as_ref().clone() };
        listed.insert(key("/b", "tk-1"), sample::ticket("tk-1", "Another", &[]));
        assert_eq!(listed.open_dependency(&key("/a", "tk-2"), &needs), None);
        listed.insert(key("/a", "tk-1"), sample::ticket("tk-1", "One", &[]));
        assert_eq!(listed.open_dependency(&key("/a", "tk-2"), &needs), Some(&key("/a", "tk-1")));
        listed.remove(&key("/a", "tk-1"));
        assert_eq!(listed.open_dependency(&key("/a", "tk-2"), &needs), None);
    }
}

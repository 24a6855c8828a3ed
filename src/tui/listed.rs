//! Every ticket that was read, by its file, and by the id under which others depend on it.

use crate::base::id::TicketId;
use crate::domain::queue::circle;
use crate::domain::ticket::{Ticket, TicketKey};
use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::Arc;

/// What comes before a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before<'a> {
    /// It is open.
    Ticket(&'a TicketKey),
    /// No ticket in its folder has this id.
    Missing(&'a str),
}

/// The tickets.
#[derive(Default)]
pub struct Listed {
    files: BTreeMap<TicketKey, Arc<Ticket>>,
    /// Which files have an id: several may.
    ids: HashMap<String, Vec<TicketKey>>,
    /// The folder all of whose tickets are among them.
    whole: Option<String>,
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

    /// The ticket with this id: of the folder all of whose tickets are read, where several have it.
    pub fn with_id(&self, id: &TicketId) -> Option<&TicketKey> {
        let same = self.ids.get(id.as_str())?;
        let is_of_whole = |key: &&TicketKey| self.whole.as_deref() == Some(key.folder());
        same.iter().find(is_of_whole).or_else(|| same.first())
    }

    /// All tickets of this folder have been read.
    pub fn has_all_of(&mut self, folder: String) {
        self.whole = Some(folder);
    }

    /// What must be closed or corrected before this ticket can be worked on. One with the same id in another folder is
    /// not meant.
    pub fn open_dependencies<'a>(&'a self, key: &TicketKey, ticket: &'a Ticket) -> impl Iterator<Item = Before<'a>> {
        let is_known = self.whole.as_deref() == Some(key.folder());
        let key = key.clone();
        ticket.deps.iter().filter_map(move |dep| match self.dep(&key, dep) {
            None => is_known.then_some(Before::Missing(dep)),
            Some(other) if self.is_open(other) => Some(Before::Ticket(other)),
            Some(_) => None,
        })
    }

    /// The way by which a ticket depends on itself, over tickets that are open.
    pub fn circle(&self, key: &TicketKey) -> Option<Vec<TicketKey>> {
        circle(key, |at| {
            let deps = self.files.get(at).map_or(&[][..], |ticket| &ticket.deps);
            deps.iter().filter_map(|dep| self.dep(at, dep)).filter(|dep| self.is_open(dep)).cloned().collect()
        })
    }

    /// The ticket of this id beside another one.
    fn dep(&self, key: &TicketKey, id: &str) -> Option<&TicketKey> {
        self.ids.get(id)?.iter().find(|other| other.folder() == key.folder())
    }

    fn is_open(&self, key: &TicketKey) -> bool {
        self.files.get(key).is_some_and(|ticket| !ticket.is_closed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ticket::TicketStatus;
    use crate::tui::sample;
    use std::path::Path;

    #[test]
    fn a_dependency_is_the_ticket_of_that_id_in_the_same_folder() {
        let mut listed = Listed::default();
        let key = |folder: &str, id: &str| {
            TicketKey::new(sample::id(id).id().clone(), Path::new(&format!("{folder}/{id}.md")))
        };
        let before = |listed: &Listed, needs: &Ticket| {
            let before = listed.open_dependencies(&key("/a", "tk-2"), needs).next();
            before.map(|before| match before {
                Before::Ticket(key) => key.file().to_owned(),
                Before::Missing(id) => format!("no {id}"),
            })
        };
        let needs = Ticket { deps: vec!["tk-1".into()], ..sample::ticket("tk-2", "Two", &[]).as_ref().clone() };
        listed.insert(key("/b", "tk-1"), sample::ticket("tk-1", "Another", &[]));
        assert_eq!(before(&listed, &needs), None, "its folder has not been read");
        listed.has_all_of("/a".to_owned());
        assert_eq!(before(&listed, &needs), Some("no tk-1".to_owned()));
        listed.insert(key("/a", "tk-1"), sample::ticket("tk-1", "One", &[]));
        assert_eq!(before(&listed, &needs), Some("/a/tk-1.md".to_owned()));
        listed.insert(key("/a", "tk-2"), needs.clone().into());
        assert_eq!(listed.circle(&key("/a", "tk-2")), None);
        let back = Ticket { deps: vec!["tk-2".into()], ..sample::ticket("tk-1", "One", &[]).as_ref().clone() };
        listed.insert(key("/a", "tk-1"), back.into());
        let way = ["tk-2", "tk-1", "tk-2"].map(|id| key("/a", id));
        assert_eq!(listed.circle(&key("/a", "tk-2")), Some(way.to_vec()));
        let closed = sample::ticket("tk-1", "One", &[]).as_ref().clone();
        let closed = Ticket { status: Some(TicketStatus::Closed), ..closed };
        listed.insert(key("/a", "tk-1"), closed.into());
        assert_eq!(before(&listed, &needs), None);
    }
}

//! Where the tickets are that this program knows.

use crate::base::id::TicketId;
use crate::domain::ticket::TicketKey;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The files of the known tickets.
#[derive(Clone, Default)]
pub(super) struct Files(Arc<Mutex<BTreeMap<TicketKey, PathBuf>>>);

impl Files {
    pub(super) fn of(&self, ticket: &TicketKey) -> Option<PathBuf> {
        self.known().get(ticket).cloned()
    }

    /// The ticket in the file, called as it is known, else as the file.
    pub(super) fn ticket(&self, path: &Path) -> TicketKey {
        let id = TicketId::from_file_name(&path.file_stem().unwrap_or_default().to_string_lossy());
        let key = TicketKey::new(id, path);
        self.known().get_key_value(&key).map_or(key.clone(), |(known, _)| known.clone())
    }

    /// The tickets whose files are in this folder, which is named without links.
    pub(super) fn in_folder(&self, folder: &Path) -> BTreeSet<TicketKey> {
        let known = self.known();
        known.iter().filter(|(_, path)| path.parent() == Some(folder)).map(|(ticket, _)| ticket.clone()).collect()
    }

    pub(super) fn learn(&self, ticket: &TicketKey, path: &Path) {
        self.known().insert(ticket.clone(), path.to_owned());
    }

    pub(super) fn forget(&self, ticket: &TicketKey) {
        self.known().remove(ticket);
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<TicketKey, PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Where the tickets are that this program knows.

use crate::base::id::TicketId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The file of each ticket.
#[derive(Clone, Default)]
pub(super) struct Files(Arc<Mutex<BTreeMap<TicketId, PathBuf>>>);

impl Files {
    pub(super) fn of(&self, ticket: &TicketId) -> Option<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(ticket).cloned()
    }

    /// The ticket that lives in the file, else the one that its name says.
    pub(super) fn ticket(&self, path: &Path) -> TicketId {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = known.iter().find(|(_, known)| *known == path).map(|(id, _)| id.clone());
        id.unwrap_or_else(|| TicketId::from_file_name(&path.file_stem().unwrap_or_default().to_string_lossy()))
    }

    /// The tickets whose files are in this folder.
    pub(super) fn in_folder(&self, folder: &Path) -> BTreeSet<TicketId> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().filter(|(_, path)| path.parent() == Some(folder)).map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn learn(&self, ticket: &TicketId, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(ticket.clone(), path.to_owned());
    }
}

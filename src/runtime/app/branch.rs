//! Which branch is checked out in the directory of this program, and from now on when that changes.

use crate::adapters::file_watch::FileWatch;
use crate::adapters::git::head;
use crate::domain::news::News;
use crate::runtime::reporter::Reporter;
use std::path::{Path, PathBuf};

/// The directory, and the watch of its `HEAD`.
pub(super) struct Branch {
    folder: PathBuf,
    watch: Option<FileWatch>,
}

impl Branch {
    pub(super) fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), watch: None }
    }

    /// Tells the branch now, and whenever another is checked out.
    pub(super) fn follow(&mut self, reporter: &Reporter) {
        reporter.tell(&News::BranchSeen(head::branch(&self.folder)));
        if self.watch.is_none() {
            let (folder, reporter) = (self.folder.clone(), reporter.clone());
            let watch = FileWatch::new(move |_| reporter.tell(&News::BranchSeen(head::branch(&folder))));
            self.watch = watch.inspect_err(|error| tracing::warn!(%error, "the branch is not watched")).ok();
        }
        if let Some(Err(error)) = self.watch.as_mut().map(|watch| watch.add(&head::file(&self.folder))) {
            tracing::warn!(%error, "the branch is not watched");
        }
    }
}

//! The stream of a Claude session that the person has started themselves.

use super::StreamState;

impl StreamState {
    /// Paths in it are shown relative to this directory.
    pub fn is_in(&mut self, folder: &str) {
        if self.book.journal.cwd != folder {
            folder.clone_into(&mut self.book.journal.cwd);
            self.book.forget_all();
        }
    }
}

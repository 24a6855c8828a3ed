//! Trees that are remembered in memory, by the snapshots that have them: two of them are compared without git.

use super::image::Folder;
use super::paths::Excludes;
use std::collections::VecDeque;
use std::sync::Arc;

/// So many trees and snapshots; of earlier ones git is asked. A tree of many files in one folder is as large as its list
/// of them.
const MOST: usize = 12;

#[derive(Debug, Default)]
pub(super) struct Seen {
    trees: VecDeque<(String, Arc<Folder>)>,
    snapshots: VecDeque<(String, String)>,
}

impl Seen {
    pub(super) fn tree(&mut self, id: &str, root: &Arc<Folder>) {
        self.trees.retain(|(known, _)| known != id);
        self.trees.push_back((id.to_owned(), Arc::clone(root)));
        self.trees.drain(..self.trees.len().saturating_sub(MOST));
    }

    pub(super) fn snapshot(&mut self, id: &str, tree: &str) {
        self.snapshots.push_back((id.to_owned(), tree.to_owned()));
        self.snapshots.drain(..self.snapshots.len().saturating_sub(MOST));
    }

    /// The paths that differ between a snapshot and a tree, and whether each is still in the tree; `None`: one of them is
    /// not remembered.
    pub(super) fn differing(&self, snapshot: &str, tree: &str, exclude: &Excludes) -> Option<Vec<(Vec<u8>, bool)>> {
        let root = |id: &str| self.trees.iter().find(|(known, _)| known == id).map(|(_, root)| root);
        let (_, before) = self.snapshots.iter().rev().find(|(known, _)| known == snapshot)?;
        let mut paths = root(before)?.differing(root(tree)?);
        paths.retain(|(path, _)| !exclude.covers(path));
        Some(paths)
    }
}

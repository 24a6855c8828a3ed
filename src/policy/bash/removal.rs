//! What `rm -r` deletes: each target of which something would be lost stands for itself, so that what a rule says of one
//! hides no other.

use super::walker::Walker;
use crate::policy::unit::{Class, Doubt, Target, Unit};
use std::path::Path;

/// Most targets that are told apart.
const MAX_TARGETS: usize = 100;

/// Folders that programs alone make, under names of their own.
const CACHES: [&str; 5] = ["node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"];

impl Walker<'_> {
    /// The same command for each target with something to lose, and for all others together.
    pub(super) fn removed(&self, unit: Unit) -> Vec<Unit> {
        let loses = |target: &Target| target.path().is_some_and(|path| self.loses(path));
        let (lost, rest): (Vec<Target>, Vec<Target>) = unit.writes.iter().cloned().partition(loses);
        if lost.len() > MAX_TARGETS {
            let mut all = unit;
            all.classes.insert(Class::History);
            let why = format!("deletes more than {MAX_TARGETS} files or folders that git tracks or does not ignore");
            all.doubts.push(Doubt::Words(why));
            return vec![all];
        }
        let mut units: Vec<Unit> = Vec::new();
        if !rest.is_empty() || lost.is_empty() {
            units.push(Unit { writes: rest, ..unit.clone() });
        }
        for target in lost {
            let mut one = Unit { writes: vec![target], ..unit.clone() };
            one.classes.insert(Class::History);
            units.push(one);
        }
        units
    }

    /// Whether something is there that no build makes again: git tracks it, or does not ignore it.
    fn loses(&self, path: &Path) -> bool {
        let view = self.place.view;
        let is_cache = |path: &Path| path.iter().any(|name| CACHES.iter().any(|cache| name == *cache));
        let is_empty = || view.is_folder(path) && view.names(path).is_some_and(|names| names.is_empty());
        let kept = path.strip_prefix(self.place.workspace).is_ok_and(|inside| !is_cache(inside))
            && view.exists(path)
            && !is_empty()
            && !self.is_ignored(path);
        kept || view.tracked(path).is_none_or(|files| !files.is_empty())
    }
}

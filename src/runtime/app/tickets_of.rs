//! The tickets folder of a run's project, which may be another one than that of this program.

use crate::adapters::tickets::Places;
use crate::runtime::restoring::TicketsOf;
use crate::runtime::supervisor::Rules;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// By the configuration of the directory that a run was started in; that of this program's by where it is.
pub(super) fn tickets_of(rules: &Rules, places: &Places) -> TicketsOf {
    let (rules, places) = (rules.clone(), places.clone());
    Arc::new(move |workspace| {
        if workspace.home() == places.folder {
            return places.dir();
        }
        let configured = rules(workspace).ok().and_then(|(config, _)| config.tickets_dir.clone());
        let home = places.home.clone();
        let written = |dir: String| match (dir.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(dir),
        };
        let tickets_dir = configured.map(written);
        Places { folder: Path::new(workspace.home()).to_owned(), tickets_dir, home: home.clone() }.dir()
    })
}

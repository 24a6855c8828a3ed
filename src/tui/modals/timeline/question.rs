//! What the timeline asks and says about a restore, in words.

use crate::base::amount;
use crate::base::text::clean_line;
use crate::domain::request::BoxOf;
use crate::domain::restore::{Plan, Spared, listed, others_work};

/// What is asked before files are restored. `lists`: the files are shown, so that they can be ticked.
pub(super) fn question(plan: &Plan, pick: &str, lists: bool) -> String {
    let counts = format!("Will write {}, remove {}", amount::counted(plan.writes.len(), "file"), plan.removes.len());
    let into = plan
        .into
        .as_ref()
        .map(|top| format!(" into {} (the worktree of the run is gone)", clean_line(&top.display().to_string(), 200)));
    let mut words =
        format!("Restore snapshot {pick}{}? {counts}. The current files are saved first.", into.unwrap_or_default());
    if !plan.spares.is_empty() {
        words = format!("{words} {}", spared(&plan.spares, lists));
    }
    if !plan.others.is_empty() {
        words = format!("{words} Reverts {}.", others_work(&plan.others));
    }
    if !plan.unknown.is_empty() {
        let tickets = listed(plan.unknown.iter().map(String::as_str));
        words = format!("{words} What {tickets} changed since is unknown: check the files first.");
    }
    words
}

/// Files that stay, because the runs of other tickets have changed them.
pub(super) fn spared(all: &[Spared], lists: bool) -> String {
    let (files, tickets) = (amount::counted(all.len(), "file"), Spared::tickets(all));
    let (stay, them) = if all.len() == 1 { ("stays", "it") } else { ("stay", "them") };
    let how = if lists { format!("tick {them}") } else { format!("n lists the files: tick {them} there") };
    format!("{files} {stay}: {tickets} changed {them} since ({how} to restore {them} too).")
}

/// A fork that is to be made, with the id as far as it is typed.
pub(super) struct Fork {
    pub(super) snapshot: String,
    pub(super) pick: String,
    pub(super) id: String,
}

impl Fork {
    pub(super) fn question(&self) -> String {
        let Self { pick, id, .. } = self;
        format!("Fork snapshot {pick} into a new ticket with its own worktree. ID (optional): {id}_")
    }
}

/// Phases by their names, each once.
pub(super) fn named(phases: &[BoxOf]) -> String {
    let mut names: Vec<String> = Vec::new();
    for phase in phases {
        let name = format!("“{}”", phase.text);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    clean_line(&listed(names.iter().map(String::as_str)), 300)
}

//! The tickets that a key of Home means, and what can be begun with them.

use super::rows::{Entry, entry};
use crate::domain::planning::PlanAsked;
use crate::domain::request::Request;
use crate::tui::model::Model;
use crate::tui::msg::Ask;

/// Why nothing is planned.
pub(super) const NO_PLAN: &str = "only a ticket without phases, which nobody works on, can be planned";

pub(super) fn chosen(model: &Model) -> Option<Entry<'_>> {
    model.home.cursor.as_ref().map(|id| entry(model, id))
}

/// Those that are selected, else the one under the cursor.
pub(super) fn meant(model: &Model) -> Vec<Entry<'_>> {
    if model.home.marked.is_empty() {
        return chosen(model).into_iter().collect();
    }
    model.home.marked.iter().map(|id| entry(model, id)).collect()
}

pub(super) fn is_startable(model: &Model, entry: &Entry<'_>) -> bool {
    (entry.ticket.is_some() || entry.run.is_some()) && entry.hindrance(model).is_none()
}

/// The one ticket that is meant has no phases, and Claude may draft some.
pub(super) fn can_plan(model: &Model) -> bool {
    let meant = meant(model);
    let [entry] = &meant[..] else { return false };
    let is_bare = entry.ticket.is_some_and(|ticket| ticket.phases.is_empty() && !ticket.is_broken());
    is_bare && is_startable(model, entry)
}

/// Asks for its plan.
pub(super) fn plan(model: &Model) -> Vec<Ask> {
    let meant = meant(model);
    let files = meant.iter().take(1).map(|entry| entry.id.file().to_owned());
    files.map(|file| Ask::Request(Request::Plan(file, PlanAsked::default()))).collect()
}

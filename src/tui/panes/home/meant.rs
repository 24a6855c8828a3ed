//! The tickets that a key of Home means, and what can be begun with them.

use super::filter::is_shown;
use super::rows::{Entry, entry};
use super::words::blocked_words;
use crate::domain::planning::PlanAsked;
use crate::domain::queue::circle_words;
use crate::domain::request::Request;
use crate::domain::summary::Owner;
use crate::domain::ticket::TicketKey;
use crate::tui::listed::Before;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::tab::Tab;

/// Why nothing is planned.
pub(super) const NO_PLAN: &str = "only an idle ticket without phases can be planned";

pub(super) fn chosen(model: &Model) -> Option<Entry<'_>> {
    model.home.cursor.as_ref().map(|id| entry(model, id))
}

/// Those that are selected and shown, else the one under the cursor.
pub(super) fn meant(model: &Model) -> Vec<Entry<'_>> {
    let marked: Vec<Entry<'_>> =
        model.home.marked.iter().map(|id| entry(model, id)).filter(|entry| is_shown(model, entry)).collect();
    if marked.is_empty() { chosen(model).into_iter().collect() } else { marked }
}

pub(super) fn is_startable(model: &Model, entry: &Entry<'_>) -> bool {
    (entry.ticket.is_some() || entry.run.is_some()) && hindrance(model, entry).is_none()
}

/// Why it cannot be started here now, with the others that are meant. The service looks once more.
pub(super) fn hindrance(model: &Model, meant: &Entry<'_>) -> Option<String> {
    let comes = |dep: &TicketKey| {
        let dep = entry(model, dep);
        let is_open =
            dep.tab.is_some_and(Tab::has_open_run) || dep.run.is_some_and(|run| run.owner() == Owner::Another);
        is_open || dep.queued(model).is_some() || model.home.marked.contains(dep.id)
    };
    let circle = || Some(format!("{}: {}", meant.id, circle_words(&model.listed.circle(meant.id)?)));
    let mut before = meant.open_dependencies(model);
    let alone = || {
        before.find_map(|before| match before {
            Before::Ticket(dep) if comes(dep) => None,
            Before::Ticket(dep) => Some(format!("{} depends on {dep}: select both (v), then start", meant.id)),
            missing @ Before::Missing(_) => Some(format!("{} {}", meant.id, blocked_words(model, meant.id, missing))),
        })
    };
    meant.hindrance(model).or_else(circle).or_else(alone)
}

/// The one ticket that is meant has no phases, and Claude may draft some.
pub(super) fn can_plan(model: &Model) -> bool {
    let meant = meant(model);
    let [entry] = &meant[..] else { return false };
    let is_bare = entry.ticket.is_some_and(|ticket| ticket.phases.is_empty() && !ticket.is_broken());
    is_bare && entry.hindrance(model).is_none()
}

/// Asks for its plan.
pub(super) fn plan(model: &Model) -> Vec<Ask> {
    let meant = meant(model);
    let files = meant.iter().take(1).map(|entry| entry.id.file().to_owned());
    files.map(|file| Ask::Request(Request::Plan(file, PlanAsked::default()))).collect()
}

/// Those of the meant tickets that wait to be started, where none of them can be started now.
pub(super) fn queued(model: &Model) -> Vec<TicketKey> {
    let meant = meant(model);
    if meant.iter().any(|entry| is_startable(model, entry)) {
        return Vec::new();
    }
    meant.iter().filter(|entry| entry.queued(model).is_some()).map(|entry| entry.id.clone()).collect()
}

pub(super) fn start_word(model: &Model) -> &'static str {
    if queued(model).is_empty() { "start" } else { "unqueue" }
}

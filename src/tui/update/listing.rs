//! Lists that the service makes, shown and told, and that a person is back who was away.

use crate::base::amount::counted;
use crate::domain::lines::Line;
use crate::domain::request::Request;
use crate::tui::home::Place;
use crate::tui::modals::Modal;
use crate::tui::modals::listing::{Listed, Listing};
use crate::tui::msg::Ask;
use crate::tui::ui::Ui;
use std::time::Duration;

/// From here on it was an absence.
const ABSENCE: Duration = Duration::from_secs(10 * 60);

/// How far back the report goes where nobody was away.
const USUAL: Duration = Duration::from_secs(8 * 3_600);

/// Asks for the statistics, and shows that.
pub(super) fn stats(ui: &mut Ui) -> Vec<Ask> {
    ui.modals.push(Modal::Listing(Listing::new(Listed::Stats)));
    vec![Ask::Request(Request::Stats)]
}

/// Asks for what the runs have come to since the person left.
pub(super) fn report(ui: &mut Ui) -> Vec<Ask> {
    ui.modals.push(Modal::Listing(Listing::new(Listed::Report)));
    vec![Ask::Request(Request::Report(ui.absence.unwrap_or(ui.now.minus(USUAL))))]
}

/// They are known, or why not. Closed, nobody waits for them.
pub(super) fn told(ui: &mut Ui, what: Listed, lines: Result<Vec<Line>, String>) {
    let shown = ui.modals.iter_mut().find_map(|modal| match modal {
        Modal::Listing(listing) if listing.what == what => Some(listing),
        _ => None,
    });
    if let Some(listing) = shown {
        listing.told(lines);
    }
}

/// Asks what a first run would fail for, where Home has no ticket to show; again while it names something: the person
/// may have set that right in another terminal.
pub(super) fn troubles(ui: &Ui) -> Vec<Ask> {
    let is_first = ui.is_home() && ui.listed.is_empty() && ui.tabs.is_empty();
    let is_open = match &ui.home.place {
        Place::Reading => false,
        Place::Listed => true,
        Place::Checked(troubles) => !troubles.is_empty(),
    };
    if is_first && is_open { vec![Ask::Request(Request::Diagnose)] } else { Vec::new() }
}

/// The person looks at the terminal, or does not any more.
pub(super) fn focused(ui: &mut Ui, is_there: bool) -> Vec<Ask> {
    let was_there = ui.focused.replace(is_there).unwrap_or(true);
    if !is_there {
        if was_there {
            ui.left = Some(ui.now);
        }
        return Vec::new();
    }
    ui.dirty = true;
    missed(ui);
    if was_there { Vec::new() } else { troubles(ui) }
}

/// Says what happened while the person was away.
fn missed(ui: &mut Ui) {
    let Some(left) = ui.left.take().filter(|left| ui.now.since(*left) >= ABSENCE) else { return };
    let (now, runs) = (ui.now, ui.runs.values());
    let happened = runs.filter(|run| run.updated > left && run.updated <= now).count();
    if happened > 0 {
        ui.absence = Some(left);
        ui.tell(format!("while you were away: {} made progress; R on Home shows a report", counted(happened, "run")));
    }
}

//! What the service has found out for a dialog or a pane: what differs, a file line by line, where a run was written to.

use crate::base::amount::counted;
use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::domain::changes::{Changes, Diff, Since};
use crate::domain::fork::Forked;
use crate::domain::phase::Mark;
use crate::domain::record::Record;
use crate::domain::request::{BoxOf, Request};
use crate::domain::restore::{Plan, Restored, Spared, WantedFiles, others_work};
use crate::domain::ticket::TicketKey;
use crate::domain::timeline::Moment;
use crate::tui::changes::Compared;
use crate::tui::modals::Modal;
use crate::tui::modals::timeline::Timeline;
use crate::tui::msg::Ask;
use crate::tui::tab::{PhaseLine, Tab};
use crate::tui::ui::Ui;

/// What differs: for the pane that asked, for the evidence of a phase, or both.
pub(super) fn changes(ui: &mut Ui, compared: Compared, told: Result<Changes, String>) {
    if !taken(ui, &compared, &told) || ui.changes.awaits(&compared) {
        let now = ui.now;
        ui.changes.tell(compared, told, now);
    }
}

/// It could not be asked for.
pub(super) fn no_changes(ui: &mut Ui, compared: Compared, why: &str) {
    taken(ui, &compared, &Err(why.to_owned()));
    if ui.changes.awaits(&compared) {
        ui.changes.not_asked(compared.0, compared.1, why);
    }
}

/// A dialog has waited for it.
fn taken(ui: &mut Ui, compared: &Compared, told: &Result<Changes, String>) -> bool {
    let dialogs = ui.modals.iter_mut().map(|modal| match modal {
        Modal::Evidence(evidence) => evidence.tell(compared, told),
        Modal::Timeline(timeline) => timeline.tell_files(compared, told),
        _ => false,
    });
    dialogs.fold(false, |taken, one| taken | one)
}

/// The snapshots of a ticket, where they are waited for.
pub(super) fn timeline(ui: &mut Ui, run: RunId, told: Result<Vec<Moment>, String>) -> Vec<Ask> {
    timeline_of(ui, run).and_then(|dialog| dialog.tell(told)).into_iter().collect()
}

/// A record of a ticket may mean that there is another snapshot, or that one came to something.
pub(super) fn recorded(ui: &mut Ui, ticket: &TicketKey, record: &Record) -> Option<Ask> {
    let is_meant = matches!(
        record,
        Record::SnapshotTaken { .. }
            | Record::SpawnRequested { .. }
            | Record::IterationEnded { .. }
            | Record::RunEnded { .. }
            | Record::RevertSettled(_)
            | Record::RestoreSettled(_)
            | Record::WheelTaken(_)
    );
    let mut dialogs = ui.modals.iter_mut().filter(|_| is_meant).filter_map(|modal| match modal {
        Modal::Timeline(open) if open.ticket == *ticket => Some(open),
        _ => None,
    });
    dialogs.next()?.renew()
}

fn timeline_of(ui: &mut Ui, run: RunId) -> Option<&mut Timeline> {
    let open = ui.modals.iter_mut().find_map(|modal| if let Modal::Timeline(open) = modal { Some(open) } else { None });
    open.map(|open| &mut **open).filter(|dialog| dialog.run == run)
}

/// What a restore would do.
pub(super) fn restore_planned(ui: &mut Ui, run: RunId, wanted: WantedFiles, plan: Result<Plan, String>) {
    if let Some(dialog) = timeline_of(ui, run) {
        dialog.planned(wanted, plan);
    }
}

/// A ticket was forked, or why not. It is on Home, too.
pub(super) fn forked(ui: &mut Ui, run: RunId, forked: Result<Box<Forked>, String>) -> Vec<Ask> {
    let (words, asks) = match forked {
        Ok(made) => {
            let (id, branch, top) = (&made.ticket, &made.branch, ui.short_path(&made.worktree.display().to_string()));
            let unknown =
                if made.reopened.is_none() { "  Check its boxes: it is unknown what was done then." } else { "" };
            let words = format!("Forked: {id}, on branch {branch} in {top}. Start it from Home (s).{unknown}");
            (words, vec![Ask::Request(Request::ListTickets)])
        }
        Err(why) => (format!("Not forked: {why}"), Vec::new()),
    };
    let words = clean_line(&words, 600);
    match timeline_of(ui, run) {
        Some(dialog) => dialog.forked(words),
        None => ui.tell(words),
    }
    asks
}

/// Files were restored, or why not.
pub(super) fn restored(ui: &mut Ui, run: RunId, restored: Result<Restored, String>) -> Vec<Ask> {
    ui.changes.outdated();
    let mut phases = Vec::new();
    let words = match restored {
        Ok(done) if done.saved.is_empty() && done.spared.is_empty() => {
            "Nothing to restore: the files are already like that.".to_owned()
        }
        Ok(done) if done.saved.is_empty() => {
            format!(
                "Nothing restored: {} changed by {}",
                counted(done.spared.len(), "file"),
                Spared::tickets(&done.spared)
            )
        }
        Ok(done) => {
            phases = done.taken_back;
            let kept = match done.kept.first() {
                Some(kept) => format!(" · {} skipped: {} ({})", done.kept.len(), kept.path, kept.why),
                None => String::new(),
            };
            let others = match &done.others[..] {
                [] => String::new(),
                some => format!("  · reverts {}", others_work(some)),
            };
            let (written, removed, saved) = (done.written.len(), done.removed.len(), done.saved);
            let restored = if done.trouble.is_some() { "Partly restored" } else { "Restored" };
            format!(
                "{restored}: {written} written, {removed} removed{kept}{others} · previous files in snapshot {saved}"
            )
        }
        Err(why) => format!("Not restored: {why}"),
    };
    let now = ui.now;
    let ticket = timeline_of(ui, run).map(|dialog| dialog.ticket.clone());
    let tab = ticket.and_then(|ticket| ui.tab_of(&ticket));
    let boxes = tab.map(|tab| boxes(tab, &phases)).unwrap_or_default();
    if let Some(dialog) = timeline_of(ui, run) {
        // There is no box for all of it.
        let whole = phases.iter().any(String::is_empty);
        let whole = if whole { "  · the ticket counts as done, but its work is no longer in the files" } else { "" };
        return dialog.restored(clean_line(&format!("{words}{whole}"), 600), boxes, now).into_iter().collect();
    }
    let back = match phases.len() {
        0 => String::new(),
        some => format!("  · done, but no longer in the files: {}; r in Tickets reopens", counted(some, "phase")),
    };
    ui.tell(clean_line(&format!("{words}{back}"), 600));
    Vec::new()
}

/// The phases with these texts that are ticked, to be unticked.
fn boxes(tab: &Tab, texts: &[String]) -> Vec<BoxOf> {
    let is_meant =
        |line: &PhaseLine<'_>| matches!(line.mark, Mark::Done(_)) && texts.iter().any(|text| text == line.text);
    let lines = tab.phases(false).into_iter().filter(is_meant);
    lines.map(|line| BoxOf { text: line.text.to_owned(), nth: line.nth, done: false }).collect()
}

pub(super) fn diff(ui: &mut Ui, run: RunId, since: &Since, path: &str, told: Result<Diff, String>) {
    if let Some(Modal::Diff(diff)) = ui.modals.iter_mut().find(|modal| matches!(modal, Modal::Diff(_))) {
        diff.tell(run, since, path, told);
    }
}

/// A run is written as a file, or why not; to be read in the dialog, or at the bottom where that is closed.
pub(super) fn exported(ui: &mut Ui, run: RunId, written: Result<String, String>) {
    match ui.modals.iter_mut().find_map(|modal| if let Modal::Export(open) = modal { Some(open) } else { None }) {
        Some(dialog) if dialog.run == run => dialog.told(written),
        _ => ui.tell(clean_line(
            &written.map_or_else(|why| format!("not exported: {why}"), |path| format!("exported to {path}")),
            600,
        )),
    }
}

/// A ticket has been planned: what can be started now, it or those that were split off it.
pub(super) fn planned(ui: &mut Ui, ticket: &TicketKey) {
    let key = if ui.is_home() { "s" } else { "r" };
    let plan = ui.tabs.iter().find(|tab| tab.id == *ticket).and_then(|tab| tab.state.plan.as_ref());
    let parts = plan.and_then(|plan| plan.draft.as_ref()).map_or(0, |draft| draft.parts.len());
    let where_they_are = if ui.is_home() { "" } else { "; h lists them" };
    ui.tell(match parts {
        0 => format!("{ticket} is planned; {key} starts it"),
        _ => format!("{ticket} is planned and waits for {}{where_they_are}", counted(parts, "new ticket")),
    });
}

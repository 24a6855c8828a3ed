//! What the service has found out for a dialog or a pane: what differs, a file line by line, where a run was written to.

use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::domain::changes::{Changes, Diff, Since};
use crate::domain::restore::{Plan, Restored, WantedFiles};
use crate::domain::timeline::Moment;
use crate::tui::changes::Compared;
use crate::tui::modals::Modal;
use crate::tui::modals::timeline::Timeline;
use crate::tui::msg::Ask;
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
pub(super) fn timeline(ui: &mut Ui, run: RunId, told: Result<Vec<Moment>, String>) {
    if let Some(dialog) = timeline_of(ui, run) {
        dialog.tell(told);
    }
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

/// Files were restored, or why not.
pub(super) fn restored(ui: &mut Ui, run: RunId, restored: Result<Restored, String>) -> Vec<Ask> {
    ui.changes.outdated();
    let words = match restored {
        Ok(done) => {
            let kept = match done.kept.first() {
                Some(kept) => format!(" · {} skipped: {} ({})", done.kept.len(), kept.path, kept.why),
                None => String::new(),
            };
            let (written, removed, saved) = (done.written.len(), done.removed.len(), done.saved);
            let restored = if done.trouble.is_some() { "Not all restored" } else { "Restored" };
            format!(
                "{restored}: {written} written, {removed} removed{kept} · snapshot {saved} has the files from before"
            )
        }
        Err(why) => format!("Not restored: {why}"),
    };
    if let Some(dialog) = timeline_of(ui, run) {
        return vec![dialog.restored(words)];
    }
    ui.tell(clean_line(&words, 600));
    Vec::new()
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

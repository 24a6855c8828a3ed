//! Commits, reverted hunks and restored files in words.

use super::line::Weight;
use crate::base::amount::counted;
use crate::domain::answerer::Answerer;
use crate::domain::changes::RevertSettled;
use crate::domain::commit::{CommitSettled, LeftOut, short};
use crate::domain::pruning::freed;
use crate::domain::record::Record;
use crate::domain::restore::{RestoreIntended, RestoreSettled, listed};

pub(super) fn sentence(record: &Record) -> Option<(Weight, String)> {
    match record {
        Record::CommitIntended(intended) => {
            let subject = intended.message.lines().next().unwrap_or_default();
            let going = format!("committing {}: {subject}", counted(intended.total, "file"));
            Some(match LeftOut::told(&intended.left_out) {
                Some(out) if intended.by == Answerer::CONFIGURATION => (Weight::Warn, format!("{going} · {out}")),
                _ => (Weight::Info, going),
            })
        }
        Record::CommitSettled(CommitSettled { commit: Some(commit), files, trouble, .. }) => {
            let made = format!("committed as {} · {}", short(commit), counted(*files, "file"));
            Some(match trouble {
                Some(trouble) => (Weight::Warn, format!("{made} · {trouble}")),
                None => (Weight::Info, made),
            })
        }
        Record::CommitSettled(CommitSettled { trouble: Some(why), .. }) => {
            Some((Weight::Warn, format!("not committed: {why}")))
        }
        Record::CommitSettled(_) => Some((Weight::Info, "nothing left to commit".to_owned())),
        Record::RevertIntended(intended) => Some((Weight::Info, format!("reverting a hunk of {}", intended.path))),
        Record::RevertSettled(RevertSettled { path, saved, trouble: None, .. }) => {
            Some((Weight::Info, format!("hunk of {path} reverted · previous files in snapshot {saved}")))
        }
        Record::RevertSettled(RevertSettled { path, trouble: Some(why), .. }) => {
            Some((Weight::Warn, format!("hunk of {path} not reverted: {why}")))
        }
        Record::RestoreIntended(RestoreIntended { pick, files, .. }) => {
            Some((Weight::Info, format!("restoring {} from snapshot {pick}", counted(*files, "file"))))
        }
        Record::RestoreSettled(settled @ RestoreSettled { pick, saved, trouble: None, .. }) => {
            let lost = settled.taken_back.as_deref().unwrap_or_default();
            let weight = if lost.is_empty() { Weight::Info } else { Weight::Warn };
            let (files, lost) = (files(settled), taken_back(lost));
            Some((weight, format!("snapshot {pick} restored{files}{lost} · previous files in snapshot {saved}")))
        }
        Record::RestoreSettled(settled @ RestoreSettled { pick, files: Some(_), trouble: Some(why), .. }) => {
            let lost = taken_back(settled.taken_back.as_deref().unwrap_or_default());
            Some((Weight::Warn, format!("snapshot {pick} partly restored{}: {why}{lost}", files(settled))))
        }
        Record::RestoreSettled(RestoreSettled { pick, trouble: Some(why), .. }) => {
            Some((Weight::Warn, format!("snapshot {pick} not restored: {why}")))
        }
        Record::SnapshotsPruned(pruned) => {
            let words = format!("{} removed", counted(pruned.removed, "old snapshot"));
            Some((Weight::Info, words + &freed(pruned.bytes)))
        }
        _ => None,
    }
}

/// How many files were written and removed, where that is known.
fn files(settled: &RestoreSettled) -> String {
    match (settled.files, settled.removed) {
        (Some(files), Some(removed)) => {
            format!(": {} written, {removed} removed", counted(files.saturating_sub(removed), "file"))
        }
        // Older versions did not tell the two apart.
        (Some(files), None) => format!(": {} written or removed", counted(files, "file")),
        (None, _) => String::new(),
    }
}

/// Phases that count as done without their work being there.
fn taken_back(phases: &[String]) -> String {
    if phases.is_empty() {
        return String::new();
    }
    let named = phases.iter().map(|phase| if phase.is_empty() { "the whole ticket" } else { phase.as_str() });
    format!("  · done, but no longer in the files: {}", listed(named))
}

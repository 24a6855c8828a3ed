//! The optional keys of a block, and what Hank's blocks say in other words than ours. A value that cannot be read
//! says nothing, with a word in the warnings: a sign is never guessed.

use super::super::{Claim, ClaimStatus, TestsStatus, WorkType};
use super::block::Entry;
use super::key::Field;
use super::value;

/// Puts the value of an optional key into the claim.
pub(super) fn read(field: Field, entry: &Entry, claim: &mut Claim, warnings: &mut Vec<String>) {
    let signals = &mut claim.signals;
    let Some(text) = value::text(entry, warnings).map(|text| value::unmarked(&text, warnings)) else { return };
    let readable = match field {
        Field::ExitSignal => set(&mut signals.exit_signal, truth(&text)),
        Field::WorkType => set(&mut signals.work_type, WorkType::said(&text)),
        Field::TestsStatus => set(&mut signals.tests_status, TestsStatus::from_word(&text.to_ascii_uppercase())),
        Field::TasksCompleted => set(&mut signals.tasks_completed, text.parse().ok()),
        Field::FilesModified => files_modified(entry, &text, claim, warnings),
        Field::Recommendation => set(&mut signals.recommendation, Some(text).filter(|text| !text.is_empty())),
        _ => true,
    };
    if !readable {
        warnings.push(format!("unreadable_key:{}", field.word()));
    }
}

fn set<T>(to: &mut Option<T>, value: Option<T>) -> bool {
    let readable = value.is_some();
    *to = value;
    readable
}

/// A number of files, or the files themselves.
fn files_modified(entry: &Entry, text: &str, claim: &mut Claim, warnings: &mut Vec<String>) -> bool {
    if let Ok(count) = text.parse() {
        claim.signals.files_modified = Some(count);
    } else {
        claim.files_changed = value::files(entry, warnings);
    }
    claim.signals.files_modified.is_some() || !claim.files_changed.is_empty()
}

fn truth(text: &str) -> Option<bool> {
    let is = |words: [&str; 2]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is(["true", "yes"]) { Some(true) } else { is(["false", "no"]).then_some(false) }
}

/// Hank's blocks have no summary and no error: what they recommend is both.
pub(super) fn as_hank_says_it(mut claim: Claim) -> Claim {
    let said = claim.signals.recommendation.clone().unwrap_or_default();
    if claim.summary.is_empty() {
        claim.summary.clone_from(&said);
    }
    if claim.status == ClaimStatus::Blocked && claim.error.is_none() {
        claim.error = Some(said).filter(|said| !said.is_empty());
    }
    claim
}

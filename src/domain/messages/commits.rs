//! Commits, reverted hunks and restored files in words.

use super::line::Weight;
use crate::base::amount::counted;
use crate::domain::answerer::Answerer;
use crate::domain::changes::RevertSettled;
use crate::domain::commit::{CommitSettled, LeftOut, short};
use crate::domain::record::Record;
use crate::domain::restore::{RestoreIntended, RestoreSettled};

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
        Record::CommitSettled(_) => Some((Weight::Info, "nothing is left to commit".to_owned())),
        Record::RevertIntended(intended) => Some((Weight::Info, format!("reverting a hunk of {}", intended.path))),
        Record::RevertSettled(RevertSettled { path, saved, trouble: None, .. }) => {
            Some((Weight::Info, format!("a hunk of {path} is reverted · snapshot {saved} has the files from before")))
        }
        Record::RevertSettled(RevertSettled { path, trouble: Some(why), .. }) => {
            Some((Weight::Warn, format!("a hunk of {path} is not reverted: {why}")))
        }
        Record::RestoreIntended(RestoreIntended { pick, files, .. }) => {
            Some((Weight::Info, format!("restoring {} from snapshot {pick}", counted(*files, "file"))))
        }
        Record::RestoreSettled(RestoreSettled { pick, saved, files, trouble: None, .. }) => {
            let files = files.map_or_else(|| "the files".to_owned(), |files| counted(files, "file"));
            let words = format!("{files} restored from snapshot {pick} · snapshot {saved} has the files from before");
            Some((Weight::Info, words))
        }
        Record::RestoreSettled(RestoreSettled { pick, files: Some(files), trouble: Some(why), .. }) => {
            let files = counted(*files, "file");
            Some((Weight::Warn, format!("{files} restored from snapshot {pick}, but not all: {why}")))
        }
        Record::RestoreSettled(RestoreSettled { pick, trouble: Some(why), .. }) => {
            Some((Weight::Warn, format!("snapshot {pick} is not restored: {why}")))
        }
        _ => None,
    }
}

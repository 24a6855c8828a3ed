//! What was sent to the issues that tickets came from: a private file for each ticket in the state folder, written before anything is
//! sent and after it. It is locked while its program lives, so that nothing is sent by two at once.

use crate::adapters::private_file::{self, PrivateFileError, failed};
use crate::base::hex::hex;
use crate::base::id::TicketId;
use crate::base::time::Timestamp;
use crate::domain::source_reply::{Deed, End, Replies, Sent, Untried};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of the files, in the state folder.
const FOLDER: &str = "sources";
/// How often a lock that another has is tried again, and how soon.
const TRIES: u32 = 10;
const MOMENT: Duration = Duration::from_millis(20);

/// What was sent for a ticket, while nobody else sends anything for it.
#[derive(Debug)]
pub struct SourceLedger {
    file: PathBuf,
    /// `None`: it is only looked at, and nothing is written.
    lock: Option<File>,
    replies: Replies,
}

impl SourceLedger {
    /// That of the ticket in this file, for the issue that it names; `None`: another program sends something for it.
    pub fn open(
        state: &Path,
        ticket: &TicketId,
        path: &Path,
        reference: &str,
    ) -> Result<Option<Self>, PrivateFileError> {
        let Some(lock) = lock(&file(state, ticket, reference).with_extension("lock"))? else { return Ok(None) };
        Ok(Some(Self { lock: Some(lock), ..Self::look(state, ticket, path, reference)? }))
    }

    /// The same, only to be looked at: nothing is written, whoever sends something now.
    pub fn look(state: &Path, ticket: &TicketId, path: &Path, reference: &str) -> Result<Self, PrivateFileError> {
        let (file, path) = (file(state, ticket, reference), path.display().to_string());
        let replies = match read(&file)? {
            Some(replies) => Replies { path, ..replies },
            None => Replies {
                ticket: ticket.clone(),
                path,
                reference: reference.to_owned(),
                sent: Vec::new(),
                untried: Vec::new(),
            },
        };
        Ok(Self { file, lock: None, replies })
    }

    pub fn replies(&self) -> &Replies {
        &self.replies
    }

    /// Something will be sent. It must not be where this fails.
    pub fn begin(&mut self, deed: Deed, id: &str, now: Timestamp) -> Result<(), PrivateFileError> {
        self.replies.untried.retain(|untried| untried.deed != deed);
        self.replies.sent.push(Sent { deed, id: id.to_owned(), begun: now, end: None });
        self.write().inspect_err(|_| drop(self.replies.sent.pop()))
    }

    /// Of these, what is not known to have been sent could not even be tried now.
    pub fn not_tried(&mut self, deeds: &[Deed], why: &str) -> Result<(), PrivateFileError> {
        let replies = &mut self.replies;
        replies.untried.retain(|untried| !deeds.contains(&untried.deed));
        let open = deeds.iter().filter(|deed| !replies.sent.iter().any(|sent| sent.deed == **deed));
        replies.untried.extend(open.map(|deed| Untried { deed: *deed, why: why.to_owned() }));
        self.write()
    }

    /// What came of the last of its kind.
    pub fn end(&mut self, deed: Deed, end: End) -> Result<(), PrivateFileError> {
        if let Some(sent) = self.replies.sent.iter_mut().rev().find(|sent| sent.deed == deed) {
            sent.end = Some(end);
        }
        self.write()
    }

    fn write(&self) -> Result<(), PrivateFileError> {
        if self.lock.is_none() {
            return Ok(());
        }
        let text = serde_json::to_string(&self.replies).map_err(|error| failed(&self.file, &error))?;
        private_file::write(&self.file, &text)
    }
}

/// What was sent for the ticket so far.
pub fn sent(state: &Path, ticket: &TicketId, reference: &str) -> Result<Vec<Sent>, PrivateFileError> {
    Ok(read(&file(state, ticket, reference))?.map(|replies| replies.sent).unwrap_or_default())
}

/// All that was sent, and can be read.
pub fn all(state: &Path) -> Vec<Replies> {
    files(state).filter_map(|path| read(&path).ok().flatten()).collect()
}

fn files(state: &Path) -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir(state.join(FOLDER)).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "json"))
}

/// Tickets of which something was begun whose end nobody knows, and which no program is at now; an error: of one that cannot be told.
pub fn unsettled(state: &Path) -> Vec<Result<Replies, PrivateFileError>> {
    let found = files(state).filter_map(|path| match lock(&path.with_extension("lock")) {
        Ok(Some(_free)) => read(&path).transpose(),
        Ok(None) => None,
        Err(error) => Some(Err(error)),
    });
    found
        .filter(|found| found.as_ref().is_ok_and(|replies| replies.open().next().is_some()) || found.is_err())
        .collect()
}

/// Tries it for a moment: who only looks, or a child that is just being started, has it for no longer.
fn lock(file: &Path) -> Result<Option<File>, PrivateFileError> {
    for _ in 0..TRIES {
        if let Some(lock) = private_file::lock_now(file)? {
            return Ok(Some(lock));
        }
        std::thread::sleep(MOMENT);
    }
    private_file::lock_now(file)
}

fn file(state: &Path, ticket: &TicketId, reference: &str) -> PathBuf {
    let both = format!("{}\n{reference}", ticket.as_str());
    let hash = Sha256::digest(both.as_bytes());
    let name = hex(&hash[..16]);
    state.join(FOLDER).join(format!("{name}.json"))
}

fn read(file: &Path) -> Result<Option<Replies>, PrivateFileError> {
    let text = private_file::read(file)?;
    let read = |text: String| {
        serde_json::from_str(&text).map_err(|error| {
            failed(file, &format!("invalid: {error}; check the issue, then remove the file to start over"))
        })
    };
    text.map(read).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_begun_is_known_to_the_next_program_and_two_do_not_send_at_once() {
        let state = tempfile::tempdir().unwrap();
        let (id, now) = (TicketId::parse("tk-1").unwrap(), Timestamp::from_millis(1));
        let open = || SourceLedger::open(state.path(), &id, Path::new("/w/tk-1.md"), "github:a/b#7").unwrap();
        let mut first = open().unwrap();
        first.begin(Deed::Comment, "x", now).unwrap();
        assert!(open().is_none(), "another is at it");
        assert!(unsettled(state.path()).is_empty(), "it is at it still");
        drop(first);
        let found = unsettled(state.path());
        assert_eq!(found[0].as_ref().unwrap().open().collect::<Vec<_>>(), [Deed::Comment]);
        let mut second = open().unwrap();
        assert_eq!(second.replies().last(Deed::Comment).unwrap().end, None);
        second.end(Deed::Comment, End::Done { url: "u".into() }).unwrap();
        drop(second);
        assert!(unsettled(state.path()).is_empty());
        let sent = sent(state.path(), &id, "github:a/b#7").unwrap();
        assert_eq!(sent[0].end, Some(End::Done { url: "u".into() }));
        assert!(super::sent(state.path(), &id, "github:a/b#8").unwrap().is_empty());
    }

    #[test]
    fn a_broken_file_is_told_and_nothing_can_be_begun_by_it() {
        let state = tempfile::tempdir().unwrap();
        let id = TicketId::parse("tk-1").unwrap();
        private_file::write(&file(state.path(), &id, "r"), "{\"ticket\":").unwrap();
        let error = SourceLedger::open(state.path(), &id, Path::new("x"), "r").unwrap_err().to_string();
        assert!(error.contains("invalid") && error.contains("remove the file"), "{error}");
        let found = unsettled(state.path());
        assert!(found[0].as_ref().unwrap_err().to_string().contains("invalid"), "{found:?}");
    }

    #[test]
    fn what_cannot_be_written_was_not_begun() {
        let state = tempfile::tempdir().unwrap();
        let id = TicketId::parse("tk-1").unwrap();
        let mut ledger = SourceLedger::open(state.path(), &id, Path::new("x"), "r").unwrap().unwrap();
        ledger.file = state.path().join("file").join("below");
        fs::write(state.path().join("file"), "").unwrap();
        assert!(ledger.begin(Deed::Close, "x", Timestamp::from_millis(1)).is_err());
        assert!(ledger.replies().sent.is_empty());
    }
}

//! A note of the person's for Claude, and how far it has come: the one fold of the records that tell it.

use crate::domain::record::Record;

/// Notes that Claude has read, or that are not sent, and that are kept to be shown.
const READ: usize = 20;

/// What a note begins with as Claude is sent it: said alone, one that begins with `/` would be a command of Claude's.
pub const SENT_AS: &str = "Message from the user:\n\n";

/// A note of the person's for Claude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub id: String,
    pub text: String,
    pub stage: NoteStage,
}

/// How far a note has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteStage {
    Queued,
    /// In the prompt of a Claude that has not begun.
    InPrompt,
    /// Handed to the running Claude, not yet echoed.
    Sent,
    Read,
    /// Handed over and never taken in: for the next prompt, as if it were queued.
    Returned,
    /// Sending it has failed twice, and the person has it back; or the run is over.
    NotSent,
}

impl NoteStage {
    /// Nothing more is done with it.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Read | Self::NotSent)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::InPrompt | Self::Sent => "sent",
            Self::Read => "read by Claude",
            Self::Returned => "not read, queued again",
            Self::NotSent => "not sent",
        }
    }
}

/// The notes of a run, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes(Vec<Note>);

impl Notes {
    pub fn all(&self) -> &[Note] {
        &self.0
    }

    pub fn at(&self, stage: NoteStage) -> impl Iterator<Item = &Note> {
        self.0.iter().filter(move |note| note.stage == stage)
    }

    /// Those that wait to be handed over: id and words.
    pub fn queued(&self) -> Vec<(String, String)> {
        let queued = self.0.iter().filter(|note| matches!(note.stage, NoteStage::Queued | NoteStage::Returned));
        queued.map(|note| (note.id.clone(), note.text.clone())).collect()
    }

    /// How far this one has come; `None` when it is not known, or forgotten.
    pub fn stage(&self, id: &str) -> Option<NoteStage> {
        self.0.iter().find(|note| note.id == id).map(|note| note.stage)
    }

    /// A note that Claude has not taken in.
    pub fn is_open(&self, id: &str) -> bool {
        self.0.iter().any(|note| note.id == id && !note.stage.is_over())
    }

    /// Claude has yet to take one in.
    pub fn any_open(&self) -> bool {
        self.0.iter().any(|note| !note.stage.is_over())
    }

    /// Adds a note, or moves it; other records are not its business. `true`: something has moved.
    pub fn fold(&mut self, record: &Record) -> bool {
        let (ids, to): (&[String], NoteStage) = match record {
            Record::NoteGiven { id, text } => {
                self.0.push(Note { id: id.clone(), text: text.clone(), stage: NoteStage::Queued });
                return true;
            }
            Record::SpawnRequested { notes, .. } => (notes, NoteStage::InPrompt),
            Record::NoteSent { id } => (std::slice::from_ref(id), NoteStage::Sent),
            Record::NoteDelivered { id } => (std::slice::from_ref(id), NoteStage::Read),
            Record::NoteReturned { id } => (std::slice::from_ref(id), NoteStage::Returned),
            Record::NoteNotSent { id } => (std::slice::from_ref(id), NoteStage::NotSent),
            // What Claude never echoed goes into the next prompt.
            Record::IterationEnded { .. } => {
                let sent = |note: &&mut Note| matches!(note.stage, NoteStage::InPrompt | NoteStage::Sent);
                return self.0.iter_mut().filter(sent).map(|note| note.stage = NoteStage::Returned).count() > 0;
            }
            // Nothing comes after it that could read them.
            Record::RunEnded { reason, .. } if !reason.is_resumable() => {
                let open = |note: &&mut Note| !note.stage.is_over();
                return self.0.iter_mut().filter(open).map(|note| note.stage = NoteStage::NotSent).count() > 0;
            }
            _ => return false,
        };
        let named = self.0.iter_mut().filter(|note| ids.contains(&note.id));
        let moved = named.map(|note| note.stage = to).count() > 0;
        let mut surplus = self.0.iter().filter(|note| note.stage.is_over()).count().saturating_sub(READ);
        self.0.retain(|note| {
            let goes = surplus > 0 && note.stage.is_over();
            surplus -= usize::from(goes);
            !goes
        });
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outcome::IterationOutcome;

    fn ended() -> Record {
        let outcome = IterationOutcome::Interrupted;
        Record::IterationEnded { n: 1, outcome, changed: false, fingerprint: None, ms: 0, reading: None }
    }

    #[test]
    fn what_claude_never_echoed_is_queued_again_and_says_so() {
        let id = || "n".to_owned();
        let mut notes = Notes::default();
        for (record, word) in [
            (Record::NoteGiven { id: id(), text: "mind the cache".into() }, "queued"),
            (ended(), "queued"),
            (Record::NoteSent { id: id() }, "sent"),
            (ended(), "not read, queued again"),
            (Record::SpawnRequested { n: 2, notes: vec![id()] }, "sent"),
            (Record::NoteReturned { id: id() }, "not read, queued again"),
            (Record::NoteSent { id: id() }, "sent"),
            (Record::NoteDelivered { id: id() }, "read by Claude"),
            (ended(), "read by Claude"),
            (Record::NoteNotSent { id: id() }, "not sent"),
        ] {
            notes.fold(&record);
            assert_eq!(notes.all()[0].stage.word(), word, "{record:?}");
        }
    }

    #[test]
    fn of_the_notes_that_were_read_the_last_are_kept_and_of_the_others_all() {
        let mut notes = Notes::default();
        for n in 0..READ + 5 {
            notes.fold(&Record::NoteGiven { id: n.to_string(), text: "t".into() });
        }
        for n in 1..READ + 5 {
            notes.fold(&Record::NoteDelivered { id: n.to_string() });
        }
        assert_eq!(notes.all().len(), READ + 1);
        assert!(notes.is_open("0") && !notes.is_open("24"));
    }
}

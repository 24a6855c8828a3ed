//! A person's edits of a ticket's phases, from outside the run: made at once, whoever works on the ticket. Planned on the
//! file as it is, and made only where it is still so.
//!
//! While a program works on the ticket, its run is left a wish and makes the edit itself. While none does, the records go
//! behind the journal of the latest run, where there is one, and the file is written here.

use super::ticking::{LOOK, PATIENCE, phase};
use crate::adapters::clock::fresh_id;
use crate::adapters::store::Wish;
use crate::adapters::tickets;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::news::News;
use crate::domain::phase::Mark;
use crate::domain::record::{Record, RevisionSettled, TicketRevised, WriteOutcome};
use crate::domain::request::{BoxOf, BoxOutcome, PhasesEdit};
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::revise::{NotRevised, PhasePlace, Revised, TicketEdit, revise};
use crate::orchestrator::state::{PhaseState, State};
use crate::runtime::offline::{Offline, state_of};
use crate::runtime::supervisor::OpenError;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::{block_in_place, spawn_blocking};

/// A skip is no matter of the file's.
const NOT_SKIPPED: &str = "nothing to skip: no run has worked on it yet, or it is done or skipped";
const IS_DONE: &str = "the phase is already done; reopen it first";

impl Offline {
    /// Edits the phases of the ticket in this file. What came of it, and what was to be changed in the text.
    pub async fn edit(
        &self,
        ticket: &TicketKey,
        path: &Path,
        edit: &PhasesEdit,
        by: Answerer,
    ) -> Result<(BoxOutcome, Option<TicketRevised>), OpenError> {
        let revised = match self.revised(path, edit, &by) {
            Ok(revised) => revised,
            Err(why) => return Ok((BoxOutcome::NotWritten(why), None)),
        };
        let outcome = self.carry_out(ticket, path, edit, revised.clone(), by).await?;
        Ok((outcome, revised))
    }

    async fn carry_out(
        &self,
        ticket: &TicketKey,
        path: &Path,
        edit: &PhasesEdit,
        revised: Option<TicketRevised>,
        by: Answerer,
    ) -> Result<BoxOutcome, OpenError> {
        let mut is_done = false;
        let choose = |state: &State| {
            is_done = accepts_done(state, edit);
            if is_done { Vec::new() } else { records(state, edit, revised.as_ref()) }
        };
        let stored = match self.append(path, choose).await {
            Ok(stored) => stored,
            Err(OpenError::Held { holder, .. }) => return self.have_edited(path, edit, revised, by, holder).await,
            Err(error) => return Err(error),
        };
        if is_done {
            return Ok(BoxOutcome::NotWritten(IS_DONE.to_owned()));
        }
        let mut outcome = match revised {
            Some(revised) => self.write(path, revised, stored).await,
            None if stored => BoxOutcome::Done,
            None => BoxOutcome::NotWritten(NOT_SKIPPED.to_owned()),
        };
        if let (PhasesEdit::Accept(phase, why), BoxOutcome::Done | BoxOutcome::Already) = (edit, &outcome) {
            let wanted = BoxOf { text: phase.text.clone(), nth: phase.nth, done: true };
            outcome = self.set_box_because(path, &wanted, by, Some(why.trim())).await?;
        }
        if let Ok(read) = tickets::load(path) {
            self.reporter.tell(&News::TicketRead(ticket.clone(), Arc::new(read)));
        }
        Ok(outcome)
    }

    /// What is to be changed in the file as it is; words for the person where it cannot be.
    fn revised(&self, path: &Path, edit: &PhasesEdit, by: &Answerer) -> Result<Option<TicketRevised>, String> {
        let bytes = tickets::read(path).map_err(|error| error.to_string())?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (text, what) = match edit {
            PhasesEdit::Skip(_) => return Ok(None),
            PhasesEdit::Undo(revised) => return Ok(Some(revised.as_ref().clone().taken_back(fresh_id(), by.clone()))),
            PhasesEdit::Text(text) => (text.clone(), text.words()),
            PhasesEdit::Accept(phase, why) if why.trim().is_empty() => {
                return Err(format!("say why “{}” is accepted", phase.text));
            }
            PhasesEdit::Accept(phase, why) => (
                TicketEdit::Note { text: format!("Accepted “{}” by hand: {}", phase.text, why.trim()) },
                format!("noted why “{}” was accepted", phase.text),
            ),
        };
        let revised = revise(&bytes, &name, &text, self.clock.now()).map_err(|why: NotRevised| why.to_string());
        let Revised { revision, renamed } = revised?;
        let accepts = if let PhasesEdit::Accept(phase, _) = edit { Some(phase.clone()) } else { None };
        Ok(Some(TicketRevised { id: fresh_id(), what, revision, accepts, renamed, undoes: None, by: by.clone() }))
    }

    /// Writes the file, and says behind the latest run what came of it.
    async fn write(&self, path: &Path, revised: TicketRevised, stored: bool) -> BoxOutcome {
        let (file, locks) = (path.to_owned(), self.store.folder().join("locks"));
        let revision = revised.revision.clone();
        let written = spawn_blocking(move || tickets::revise(&file, &revision, &locks)).await;
        let outcome = written.unwrap_or_else(|error| WriteOutcome::Failed(error.to_string()));
        let settled = Record::RevisionSettled(RevisionSettled { revised, outcome: outcome.clone() });
        if stored && let Err(error) = self.append(path, |_| vec![settled]).await {
            tracing::warn!(%error, "the journal does not say that the ticket was edited");
        }
        told(outcome)
    }

    /// Has the run that works on the ticket do it, and waits a moment for what comes of it.
    async fn have_edited(
        &self,
        path: &Path,
        edit: &PhasesEdit,
        revised: Option<TicketRevised>,
        by: Answerer,
        holder: String,
    ) -> Result<BoxOutcome, OpenError> {
        let Some(latest) = self.store.latest_for(&path.display().to_string())? else {
            return Ok(BoxOutcome::Unknown { holder });
        };
        let state = block_in_place(|| state_of(&self.store, latest.run))?;
        if accepts_done(&state, edit) {
            return Ok(BoxOutcome::NotWritten(IS_DONE.to_owned()));
        }
        if let PhasesEdit::Skip(place) = edit
            && known(&state, place).is_some_and(|phase| phase.mark.is_settled())
        {
            return Ok(BoxOutcome::NotWritten(NOT_SKIPPED.to_owned()));
        }
        let known = |place: &PhasePlace| known(&state, place).map(|phase| phase.id);
        let id = revised.as_ref().map(|revised| revised.id.clone());
        let command = match (edit, revised) {
            _ if state.ended.is_some() => None,
            (PhasesEdit::Text(_) | PhasesEdit::Undo(_), Some(revised)) => Some(UserCommand::Revise(Box::new(revised))),
            (PhasesEdit::Accept(place, why), Some(note)) => known(place).map(|phase| UserCommand::AcceptPhase {
                phase,
                why: why.trim().to_owned(),
                note: Box::new(note),
            }),
            (PhasesEdit::Skip(place), _) => known(place).map(|phase| UserCommand::SkipPhase { phase }),
            _ => None,
        };
        let Some(command) = command else { return Ok(BoxOutcome::Unknown { holder }) };
        if !self.wish(latest.run, &Wish { by, command }).await? {
            return Ok(BoxOutcome::NotTaken { holder });
        }
        let begun = Instant::now();
        while let Some(id) = &id
            && begun.elapsed() < PATIENCE
        {
            let settled = self.store.load(latest.run)?.records.iter().find_map(|stored| match &stored.record {
                Record::RevisionSettled(settled) if settled.revised.id == *id => Some(settled.outcome.clone()),
                _ => None,
            });
            if let Some(outcome) = settled {
                return Ok(match told(outcome) {
                    BoxOutcome::Done => BoxOutcome::Handed { holder },
                    other => other,
                });
            }
            tokio::time::sleep(LOOK).await;
        }
        // A skip needs nothing written.
        Ok(if id.is_some() { BoxOutcome::Noted { holder } } else { BoxOutcome::Handed { holder } })
    }
}

fn told(outcome: WriteOutcome) -> BoxOutcome {
    match outcome {
        WriteOutcome::AlreadySo => BoxOutcome::Already,
        outcome => outcome.revision_trouble().map_or(BoxOutcome::Done, BoxOutcome::NotWritten),
    }
}

fn known<'a>(state: &'a State, place: &PhasePlace) -> Option<&'a PhaseState> {
    phase(state, &place.text, place.nth)
}

/// A phase is to be accepted that is done.
fn accepts_done(state: &State, edit: &PhasesEdit) -> bool {
    let PhasesEdit::Accept(place, _) = edit else { return false };
    known(state, place).is_some_and(|phase| matches!(phase.stands(), Mark::Done(_)))
}

/// What the person decides about the ticket's latest run, which nobody works on.
fn records(state: &State, edit: &PhasesEdit, revised: Option<&TicketRevised>) -> Vec<Record> {
    let decided = match edit {
        // A phase is accepted once the ticket says why.
        PhasesEdit::Text(_) | PhasesEdit::Undo(_) | PhasesEdit::Accept(..) => None,
        PhasesEdit::Skip(place) => known(state, place)
            .filter(|phase| !matches!(phase.stands(), Mark::Done(_) | Mark::Skipped))
            .map(|phase| Record::PhaseSkipped(phase.named())),
    };
    decided.into_iter().chain(revised.cloned().map(Record::RevisionIntended)).collect()
}

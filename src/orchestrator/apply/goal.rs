//! Records about the ticket's goal, and about changes of its text that the run itself wants.

use crate::domain::evaluation::ProposalAnswer;
use crate::domain::record::{EditDue, Record, RevisionSettled, WriteOutcome};
use crate::domain::ticket::revise::TicketEdit;
use crate::orchestrator::state::{OwnEdit, State};

/// So often a change is planned again because the file was changed meanwhile.
const TRIES: u32 = 3;

pub(super) fn fold(state: &mut State, record: &Record) {
    match record {
        Record::GoalAchieved { .. } => state.goal.achieved = true,
        Record::TicketReviewed { .. } => (state.goal.reviewed, state.goal.found) = (true, Vec::new()),
        Record::TicketFaulted { issues, .. } => state.goal.found.clone_from(issues),
        Record::PhasesProposed(proposal) => state.goal.proposal = Some(proposal.clone()),
        Record::ProposalAnswered { answer: ProposalAnswer::Refuse { .. }, .. } => {
            state.goal.proposal = None;
            (state.goal.achieved, state.goal.declined) = (true, true);
        }
        Record::EditDue(EditDue { id, edit, by }) => {
            state.edits.push(OwnEdit { id: id.clone(), edit: edit.clone(), by: by.clone(), tries: 0 });
        }
        Record::EditDropped { id, .. } => state.edits.retain(|due| due.id != *id),
        // Also an answer that adds: the proposal stays until its phases are in the ticket.
        _ => {}
    }
}

/// What a critic or the review of the whole ticket has found is to be fixed.
pub(super) fn rejected(state: &mut State, by_review: bool) {
    state.goal.rejections += u32::from(by_review);
    state.goal.found = Vec::new();
}

/// A change of the ticket's text is made, or is not: what the run wanted is planned again where the file was another.
pub(super) fn edited(state: &mut State, settled: &RevisionSettled) {
    state.revisions.retain(|open| open.id != settled.revised.id);
    let Some(at) = state.edits.iter().position(|due| due.id == settled.revised.id) else { return };
    match &settled.outcome {
        WriteOutcome::Written | WriteOutcome::AlreadySo => {
            if let TicketEdit::Add { texts, .. } = state.edits.remove(at).edit {
                state.goal.added += u32::try_from(texts.len()).unwrap_or(u32::MAX);
                state.goal.proposal = None;
            }
        }
        WriteOutcome::NotThere if state.edits[at].tries + 1 < TRIES => state.edits[at].tries += 1,
        _ => drop(state.edits.remove(at)),
    }
}

//! The phases of a ticket as they are shown: those of the run while it goes by them, else those of the file, each with what
//! the run knows of it.

use crate::domain::outcome::DoneHow;
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::ticket::Ticket;
use crate::domain::ticket::revise::PhasePlace;
use crate::orchestrator::state::{PhaseState, State};
use crate::tui::marks::{Glyphs, Sign};

/// A phase.
#[derive(Clone, Debug)]
pub struct PhaseLine<'a> {
    /// Where no run has seen it: the number that the next one would give.
    pub id: PhaseId,
    pub text: &'a str,
    /// Of several with this text, which, from 0.
    pub nth: usize,
    pub mark: Mark,
    pub run: Option<&'a PhaseState>,
}

impl PhaseLine<'_> {
    pub fn place(&self) -> PhasePlace {
        PhasePlace { text: self.text.to_owned(), nth: self.nth }
    }

    /// It counts as done, and its work is not in the files.
    pub fn is_taken_back(&self) -> bool {
        matches!(self.mark, Mark::Done(_)) && self.run.is_some_and(PhaseState::is_taken_back)
    }

    /// As it is shown; `mark`: what its mark is shown as.
    pub fn sign(&self, mark: Sign, glyphs: Glyphs) -> Sign {
        if self.is_taken_back() { glyphs.taken_back() } else { mark }
    }
}

/// What they are told from.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub state: &'a State,
    pub ticket: Option<&'a Ticket>,
    /// Its phases are those of the file, whatever the run knows.
    pub as_in_file: bool,
    /// A run goes by them.
    pub at_work: bool,
    /// Nobody works on a phase, though no record says so.
    pub is_left: bool,
    /// As the records told them, whatever became of them since.
    pub is_past: bool,
}

/// They, in their order.
pub(super) fn lines(from: Source<'_>) -> Vec<PhaseLine<'_>> {
    let Source { state, ticket, as_in_file, at_work, is_left, is_past } = from;
    let shown = |mark| if is_left && matches!(mark, Mark::Running | Mark::Claimed) { Mark::Pending } else { mark };
    let in_file = ticket.map_or(&[][..], |ticket| &ticket.phases[..]);
    if !as_in_file && (is_past || at_work || in_file.is_empty()) {
        return numbered(state.phases.iter().map(|phase| {
            let mark = if is_past { phase.mark } else { phase.stands() };
            (phase.id, phase.text.as_str(), shown(mark), Some(phase))
        }));
    }
    let mut known: Vec<Option<&PhaseState>> = state.phases.iter().filter(|_| !as_in_file).map(Some).collect();
    let mut unseen = known.iter().flatten().map(|phase| phase.id.0).max().unwrap_or(0);
    numbered(in_file.iter().map(|phase| {
        let is_it = |state: Option<&PhaseState>| state.is_some_and(|state| state.text == phase.text);
        let state = known.iter().position(|state| is_it(*state)).and_then(|at| known[at].take());
        let id = state.map_or_else(
            || {
                unseen += 1;
                PhaseId(unseen)
            },
            |state| state.id,
        );
        let mark = match (phase.done, state.map(|state| (state.stands(), state.ticked))) {
            (true, Some((mark @ Mark::Done(_), _))) => mark,
            (true, _) => Mark::Done(DoneHow::TickedByPerson),
            // The tick was taken back in the file.
            (false, Some((Mark::Done(_), true)) | None) => Mark::Pending,
            (false, Some((mark, _))) => shown(mark),
        };
        (id, phase.text.as_str(), mark, state)
    }))
}

fn numbered<'a>(all: impl Iterator<Item = (PhaseId, &'a str, Mark, Option<&'a PhaseState>)>) -> Vec<PhaseLine<'a>> {
    let mut lines: Vec<PhaseLine<'a>> = Vec::new();
    for (id, text, mark, run) in all {
        let nth = lines.iter().filter(|line| line.text == text).count();
        lines.push(PhaseLine { id, text, nth, mark, run });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::summary::Owner;
    use crate::tui::sample;
    use crate::tui::tab::Tab;

    fn told(tab: &Tab) -> Vec<(u32, String, Mark)> {
        tab.phases(false).into_iter().map(|line| (line.id.0, line.text.to_owned(), line.mark)).collect()
    }

    #[test]
    fn once_a_run_is_over_the_file_says_which_phases_there_are_and_the_run_how_they_stand() {
        let mut tab = sample::guarded("tk-1");
        tab.state.phases[1].ticked = true;
        tab.state.phases[2].mark = Mark::Disputed;
        tab.ticket = Some(sample::ticket(
            "tk-1",
            "T",
            &[
                ("Token bucket", false, &[]),
                ("New", false, &[]),
                ("Wire into middleware", false, &[]),
                ("Metrics", true, &[]),
            ],
        ));
        let person = Mark::Done(DoneHow::TickedByPerson);
        let expected = [
            (2, "Token bucket", Mark::Pending),
            (7, "New", Mark::Pending),
            (3, "Wire into middleware", Mark::Disputed),
            (5, "Metrics", person),
        ];
        let expected = expected.map(|(id, text, mark)| (id, text.to_owned(), mark));
        assert_eq!(told(&tab), expected);
        tab.state.ended = None;
        assert_eq!(told(&tab).len(), 6, "an open run is told what the file says, and goes by that");
        tab.owner = Owner::Nobody;
        assert_eq!(told(&tab), expected);
    }
}

//! A person edits the ticket during a run: the phases of the file and those of the run become one list.
//!
//! Phases are known by their text. The person's list, order and ticks win; what the run knows of a phase
//! stays with it, also when the person rewrites its text in place.

use super::phase_from;
use crate::domain::outcome::DoneHow;
use crate::domain::record::PhaseSeed;
use crate::orchestrator::state::{Mark, PhaseState, State};

/// Takes the phases as they are in the file now.
pub(super) fn phases(state: &mut State, seeds: &[PhaseSeed]) {
    let mut before: Vec<Option<PhaseState>> = state.phases.drain(..).map(Some).collect();
    let renamed = renames(&before, seeds);
    let mut merged = Vec::with_capacity(seeds.len());
    for (at, seed) in seeds.iter().enumerate() {
        let same = |phase: &Option<PhaseState>| phase.as_ref().is_some_and(|phase| phase.text == seed.text);
        let from = before.iter().position(same).or(renamed[at]);
        let known = from.and_then(|from| before[from].take());
        merged.push(known.map_or_else(|| phase_from(seed), |phase| follow(phase, seed, claude_ticked(state))));
    }
    // The running iteration follows its phase to the new text.
    if let Some(iteration) = &mut state.iteration
        && let Some(text) = &iteration.phase
        && let Some(to) = (0..seeds.len()).find(|&at| {
            renamed[at].is_some()
                && !seeds.iter().any(|seed| seed.text == *text)
                && matches!(merged[at].mark, Mark::Running | Mark::Claimed)
        })
    {
        iteration.phase = Some(seeds[to].text.clone());
    }
    state.phases = merged;
}

/// For each seed the index of the phase it replaced: same place, both texts unknown to the other side.
fn renames(before: &[Option<PhaseState>], seeds: &[PhaseSeed]) -> Vec<Option<usize>> {
    let text_of = |at: usize| before.get(at).and_then(|phase| phase.as_ref()).map(|phase| phase.text.as_str());
    let known = |text: &str| (0..before.len()).any(|at| text_of(at) == Some(text));
    let kept = |text: &str| seeds.iter().any(|seed| seed.text == text);
    seeds
        .iter()
        .enumerate()
        .map(|(at, seed)| {
            // Only when the lists are of one length is the place a sign of identity.
            let old = text_of(at).filter(|_| before.len() == seeds.len())?;
            (!known(&seed.text) && !kept(old)).then_some(at)
        })
        .collect()
}

/// Ticks that appear now may be Claude's own: it has touched the ticket's file in this iteration.
fn claude_ticked(state: &State) -> TickedBy {
    match state.open_iteration() {
        Some(iteration) if iteration.ticket_touched => TickedBy::Claude,
        _ => TickedBy::Person,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum TickedBy {
    Person,
    Claude,
}

fn follow(mut phase: PhaseState, seed: &PhaseSeed, by: TickedBy) -> PhaseState {
    phase.text.clone_from(&seed.text);
    match (phase.ticked, seed.done) {
        // Claude's tick is a claim: the status block and the evidence decide.
        (false, true) if by == TickedBy::Person && !matches!(phase.mark, Mark::Done(_)) => {
            phase.mark = Mark::Done(DoneHow::TickedByPerson);
            phase.dispute = None;
        }
        // The box was taken back: there is more to do.
        (true, false) if matches!(phase.mark, Mark::Done(_)) => phase.mark = Mark::Pending,
        _ => {}
    }
    phase.ticked = seed.done;
    phase
}

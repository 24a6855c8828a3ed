//! What a run hands on to the next run of its ticket.

use super::{PhaseState, State};
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::{PhaseCarried, PhaseSeed, WorkCarried};
use crate::domain::workspace::Workspace;

impl State {
    /// What this run and those before it came to, for a run that begins with `seeds` in `workspace`.
    pub fn carried_into(&self, seeds: &[PhaseSeed], workspace: &Workspace) -> Option<WorkCarried> {
        // Another directory was never as it was there.
        let is_here = self.workspace.directory() == workspace.directory();
        let phases = self.again_in(seeds).map(|(id, seed, phase)| {
            let how = match phase.stands() {
                Mark::Done(how) if seed.done => Some(how),
                _ => None,
            };
            PhaseCarried {
                id,
                how,
                spent_ms: phase.spent_ms,
                taken_back: phase.is_taken_back(),
                skipped: phase.since == Some(Mark::Skipped),
            }
        });
        let whole = if let Mark::Done(how) = self.whole.mark { Some(how) } else { None };
        Some(WorkCarried {
            run: self.run?,
            cost_usd: self.ticket_usd(),
            lines: self.ticket_lines(),
            uncommitted: self.commits.due.clone(),
            commit: self.commits.of_work().map(str::to_owned),
            phases: phases.collect(),
            whole,
            since: self.since.clone().filter(|_| is_here),
            achieved: self.goal.achieved,
            reviewed: self.goal.reviewed,
        })
    }

    /// The phases that are in `seeds` too, by the numbers that they get in a run that begins with those.
    pub(super) fn again_in<'a>(
        &'a self,
        seeds: &'a [PhaseSeed],
    ) -> impl Iterator<Item = (PhaseId, &'a PhaseSeed, &'a PhaseState)> {
        (1..).zip(seeds).enumerate().filter_map(|(at, (id, seed))| {
            let nth = seeds[..at].iter().filter(|before| before.text == seed.text).count();
            let phase = self.phases.iter().filter(|phase| phase.text == seed.text).nth(nth)?;
            Some((PhaseId(id), seed, phase))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::RunId;

    #[test]
    fn in_another_directory_nothing_is_known_of_how_it_was_before_the_ticket() {
        let here = Workspace::shared("/w/a");
        let run = Some(RunId(uuid::Uuid::from_u128(1)));
        let state = State { run, since: Some("5a1".into()), workspace: here.clone(), ..State::default() };
        let since = |workspace: &Workspace| state.carried_into(&[], workspace).unwrap().since;
        assert_eq!((since(&here).as_deref(), since(&Workspace::shared("/w/b"))), (Some("5a1"), None));
    }
}

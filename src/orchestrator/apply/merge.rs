//! A person edits the ticket during a run: the phases of the file and those of the run become one list.
//!
//! The person's list and order win, and their ticks where nobody else can have made them. What the run knows of a phase,
//! its number first of all, stays with it, also when the person rewrites its text in place.

use crate::domain::outcome::DoneHow;
use crate::domain::phase::Mark;
use crate::domain::record::{PhaseSeed, SetPhase, TicketRevised, WorkCarried};
use crate::domain::ticket::PhaseSettings;
use crate::orchestrator::state::{PhaseState, State};

/// Takes the phases as a reading of the file has them; readings come in their order.
///
/// A tick that appears while Claude may have made it is a claim, whoever made it: nobody can tell whose it is. The
/// person's own counts at once when it is made through programmator, or while nothing else can have made it.
pub(super) fn phases(state: &mut State, seeds: &[PhaseSeed]) {
    let is_claim = state.iteration.as_ref().is_some_and(|last| last.ended.is_none() || last.unread);
    if let Some(last) = &mut state.iteration {
        last.unread = false;
    }
    let mut before: Vec<Option<PhaseState>> = state.phases.drain(..).map(Some).collect();
    let renamed = renames(&before, seeds, &state.revisions);
    let mut merged = Vec::with_capacity(seeds.len());
    for (at, seed) in seeds.iter().enumerate() {
        let same = |phase: &Option<PhaseState>| phase.as_ref().is_some_and(|phase| phase.text == seed.text);
        let from = before.iter().position(same).or(renamed[at]);
        let known = from.and_then(|from| before[from].take());
        // Seen for the first time: without a tick first, so that whose it is counts.
        let known = known.unwrap_or_else(|| state.new_phase(&PhaseSeed { done: false, ..seed.clone() }));
        merged.push(follow(known, seed, is_claim));
    }
    state.phases = merged;
}

/// Takes what the file says of the work on each phase; of several with one text each its own.
pub(super) fn settings(state: &mut State, read: &[SetPhase]) {
    let mut left: Vec<&SetPhase> = read.iter().collect();
    let is_open = state.open_iteration().is_some();
    for phase in &mut state.phases {
        let at = left.iter().position(|set| set.text == phase.text);
        let mut new = at.map_or_else(PhaseSettings::default, |at| left.remove(at).settings.clone());
        // Who is at work may have written it: no critic is sent away by that.
        if is_open && new.critique == Some(false) {
            new.critique = phase.settings.critique;
        }
        phase.settings = new;
    }
}

/// Takes what the ticket's earlier runs came to.
pub(super) fn carried(state: &mut State, carried: &WorkCarried) {
    (state.carried_usd, state.carried_lines) = (carried.cost_usd, carried.lines);
    state.since.clone_from(&carried.since);
    state.commits.earlier.clone_from(&carried.commit);
    (state.goal.achieved, state.goal.reviewed) = (carried.achieved, carried.reviewed);
    for earlier in &carried.phases {
        let Some(phase) = state.phase_by_mut(earlier.id) else { continue };
        (phase.spent_ms, phase.taken_back) = (earlier.spent_ms, earlier.taken_back);
        match (&mut phase.mark, earlier.how) {
            (Mark::Done(now), Some(how)) => *now = how,
            (mark @ Mark::Pending, _) if earlier.skipped => *mark = Mark::Skipped,
            _ => {}
        }
    }
}

/// A phase has another text now, which no reading of the file has told.
pub(super) fn renamed(state: &mut State, (from, to): &(String, String)) {
    let is_known = state.phases.iter().any(|phase| phase.text == *to);
    let mut named = state.phases.iter_mut().filter(|phase| phase.text == *from);
    if let (Some(phase), None, false) = (named.next(), named.next(), is_known) {
        phase.text.clone_from(to);
    }
}

/// For each seed the index of the phase it replaced: the one that is being renamed to it, else the one in the same place;
/// both texts unknown to the other side.
fn renames(before: &[Option<PhaseState>], seeds: &[PhaseSeed], revisions: &[TicketRevised]) -> Vec<Option<usize>> {
    let text_of = |at: usize| before.get(at).and_then(|phase| phase.as_ref()).map(|phase| phase.text.as_str());
    let known = |text: &str| (0..before.len()).any(|at| text_of(at) == Some(text));
    let kept = |text: &str| seeds.iter().any(|seed| seed.text == text);
    seeds
        .iter()
        .enumerate()
        .map(|(at, seed)| {
            if known(&seed.text) {
                return None;
            }
            let named = revisions.iter().filter_map(|revised| revised.renamed.as_ref());
            let from = named.filter(|(_, to)| *to == seed.text).map(|(from, _)| from).find(|from| !kept(from));
            if let Some(from) = from.and_then(|from| (0..before.len()).find(|at| text_of(*at) == Some(from))) {
                return Some(from);
            }
            // Only when the lists are of one length is the place a sign of identity.
            let old = text_of(at).filter(|_| before.len() == seeds.len())?;
            (!kept(old)).then_some(at)
        })
        .collect()
}

fn follow(mut phase: PhaseState, seed: &PhaseSeed, is_claim: bool) -> PhaseState {
    // A new text may be found where the old one was not.
    phase.untickable &= phase.text == seed.text;
    phase.text.clone_from(&seed.text);
    if phase.box_writes > 0 {
        // What it comes to is told when it is written.
        phase.unread |= is_claim;
        return phase;
    }
    let is_claim = std::mem::take(&mut phase.unread) || is_claim;
    match (phase.ticked, seed.done) {
        // The status block and the evidence decide.
        (false, true) if is_claim => phase.claimed_tick = true,
        (false, true) if !matches!(phase.mark, Mark::Done(_)) => {
            phase.mark = Mark::Done(DoneHow::TickedByPerson);
            phase.dispute = None;
        }
        // The box was taken back: there is more to do.
        (true, false) if matches!(phase.mark, Mark::Done(_)) => phase.mark = Mark::Pending,
        _ => {}
    }
    phase.claimed_tick &= seed.done;
    phase.ticked = seed.done;
    phase
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;
    use crate::domain::answerer::Answerer;
    use crate::domain::outcome::IterationOutcome;
    use crate::domain::phase::PhaseId;
    use crate::domain::record::{BoxSettled, PhaseByPerson, Record, WriteOutcome};
    use crate::domain::settings::Settings;
    use crate::domain::step::Role;
    use crate::orchestrator::apply::fold;

    fn seeds(list: &[(&str, bool)]) -> Vec<PhaseSeed> {
        list.iter().map(|(text, done)| PhaseSeed { text: (*text).to_owned(), done: *done }).collect()
    }

    /// A run whose iteration 1 works on the first of these phases.
    fn running(list: &[(&str, bool)]) -> State {
        let mut state = State::default();
        for record in [
            Record::RunStarted {
                folder: "/w".into(),
                ticket_path: "/w/t.md".into(),
                title: "T".into(),
                ticket_status: None,
                phases: seeds(list),
                unverified: vec![],
                unverified_ids: vec![],
                validation: vec![],
                settings: Settings::default(),
            },
            Record::IterationStarted {
                n: 1,
                phase: Some(list[0].0.into()),
                session: None,
                id: None,
                role: Role::default(),
            },
            Record::SnapshotTaken { n: 1, id: "base".into() },
        ] {
            fold(&mut state, &record, Timestamp::from_millis(1));
        }
        state
    }

    fn read(state: &mut State, list: &[(&str, bool)]) -> Vec<(String, Mark)> {
        let record = Record::TicketRead { title: "T".into(), phases: seeds(list), reading: None };
        fold(state, &record, Timestamp::from_millis(2));
        state.phases.iter().map(|phase| (phase.text.clone(), phase.mark)).collect()
    }

    fn marks(list: &[(&str, Mark)]) -> Vec<(String, Mark)> {
        list.iter().map(|(text, mark)| ((*text).to_owned(), *mark)).collect()
    }

    const PERSON: Mark = Mark::Done(DoneHow::TickedByPerson);

    type Boxes<'a> = &'a [(&'a str, bool)];

    #[test]
    fn the_persons_list_and_order_win() {
        let before = [("A", false), ("B", false), ("C", true)];
        let cases: [(Boxes<'_>, &[(&str, Mark)]); 6] = [
            // Reordered.
            (&[("C", true), ("B", false), ("A", false)], &[("C", PERSON), ("B", Mark::Pending), ("A", Mark::Running)]),
            // A new one in between.
            (
                &[("A", false), ("New", false), ("B", false), ("C", true)],
                &[("A", Mark::Running), ("New", Mark::Pending), ("B", Mark::Pending), ("C", PERSON)],
            ),
            // One removed.
            (&[("A", false), ("C", true)], &[("A", Mark::Running), ("C", PERSON)]),
            // The running one rewritten.
            (
                &[("A, but better", false), ("B", false), ("C", true)],
                &[("A, but better", Mark::Running), ("B", Mark::Pending), ("C", PERSON)],
            ),
            // Ticked while an iteration is open: a claim.
            (&[("A", true), ("B", true), ("C", true)], &[("A", Mark::Running), ("B", Mark::Pending), ("C", PERSON)]),
            // A tick taken back.
            (
                &[("A", false), ("B", false), ("C", false)],
                &[("A", Mark::Running), ("B", Mark::Pending), ("C", Mark::Pending)],
            ),
        ];
        for (after, expected) in cases {
            assert_eq!(read(&mut running(&before), after), marks(expected), "{after:?}");
        }
    }

    #[test]
    fn the_iteration_follows_its_phase_to_a_new_text() {
        let mut state = running(&[("A", false), ("B", false)]);
        read(&mut state, &[("A, but better", false), ("B", false)]);
        assert_eq!(state.own_text(), Some("A, but better"));
        assert_eq!(state.phases[0].baseline.as_deref(), Some("base"), "what is known of it stays");
    }

    fn end(state: &mut State, reading: Option<u64>) {
        let outcome = IterationOutcome::Interrupted;
        let record = Record::IterationEnded { n: 1, outcome, changed: false, fingerprint: None, ms: 0, reading };
        fold(state, &record, Timestamp::from_millis(5_000));
    }

    /// What becomes of a tick that is read now: it counts, or it is a claim.
    fn counts(state: &mut State) -> bool {
        let counts = read(state, &[("A", true)])[0].1 == PERSON;
        assert_eq!((state.claimed_ticks().next().is_none(), state.phases[0].claimed_tick), (counts, !counts));
        counts
    }

    #[test]
    fn a_tick_is_a_claim_until_the_file_was_read_behind_what_claude_did() {
        let called = Record::SpawnRequested { n: 1, notes: vec![] };
        let compared = Record::EvidenceGathered { n: 1, iteration_files: vec![], phase_files: vec![] };
        // Called, compared, ended.
        for (happened, reading, expected) in [
            ([true, false, false], None, false),
            ([true, true, false], None, false),
            ([true, true, true], Some(4), true),
            // In a hurry: nobody has read the file since Claude's last moment, or that of a command that it has written.
            ([true, false, true], Some(0), false),
            ([true, true, true], Some(0), false),
            ([false, false, true], Some(0), true),
            // Of an old journal.
            ([true, true, true], None, true),
            ([true, false, true], None, false),
        ] {
            let mut state = running(&[("A", false)]);
            for (record, _) in [&called, &compared].into_iter().zip(happened).filter(|(_, happened)| *happened) {
                fold(&mut state, record, Timestamp::from_millis(100));
            }
            if happened[2] {
                end(&mut state, reading);
            }
            assert_eq!(counts(&mut state), expected, "{happened:?}");
            // The next one is another's, once no iteration is open.
            read(&mut state, &[("A", false)]);
            assert_eq!(counts(&mut state), happened[2], "{happened:?}");
        }
    }

    #[test]
    fn a_tick_that_came_while_its_box_was_written_is_a_claim() {
        let mut state = running(&[("A", false), ("B", true)]);
        let reopened = PhaseByPerson { of: state.phases[1].named(), by: Answerer::SCREEN, why: None };
        let settled = BoxSettled { phase: reopened.of.clone(), outcome: WriteOutcome::Written, reading: None };
        fold(&mut state, &Record::PhaseReopened(reopened.clone()), Timestamp::from_millis(2));
        fold(&mut state, &Record::UntickIntended(reopened.of), Timestamp::from_millis(2));
        // Claude ticks it behind the write, which is heard of when the iteration is over.
        end(&mut state, Some(4));
        fold(&mut state, &Record::UntickSettled(settled), Timestamp::from_millis(5_001));
        assert_eq!(read(&mut state, &[("A", false), ("B", true)])[1].1, Mark::Pending);
        assert!(state.phases[1].claimed_tick);
        // Seen empty, the next tick is the person's.
        read(&mut state, &[("A", false), ("B", false)]);
        assert_eq!(read(&mut state, &[("A", false), ("B", true)])[1].1, PERSON);
    }

    #[test]
    fn a_box_that_was_not_found_is_tried_again_under_its_new_text() {
        let mut state = running(&[("A", false), ("B", false)]);
        let phase = state.phases[0].named();
        let settled = BoxSettled { phase, outcome: WriteOutcome::NotThere, reading: None };
        fold(&mut state, &Record::TickSettled(settled), Timestamp::from_millis(2));
        assert!(state.phases[0].untickable);
        read(&mut state, &[("A", false), ("B, but better", false)]);
        assert!(state.phases[0].untickable);
        read(&mut state, &[("A, but better", false), ("B, but better", false)]);
        assert!(!state.phases[0].untickable);
    }

    #[test]
    fn a_new_phase_that_comes_with_its_tick_is_a_claim_too() {
        let mut state = running(&[("A", false)]);
        read(&mut state, &[("A", false), ("New", true)]);
        assert_eq!((state.phases[1].mark, state.phases[1].ticked), (Mark::Pending, true));
    }

    #[test]
    fn a_phase_keeps_its_number_through_edits_and_no_number_is_given_twice() {
        let mut state = running(&[("A", false), ("B", false)]);
        read(&mut state, &[("B", false), ("A", false)]);
        read(&mut state, &[("B", false), ("A, but better", false)]);
        read(&mut state, &[("B", false)]);
        read(&mut state, &[("B", false), ("C", false)]);
        let ids: Vec<u32> = state.phases.iter().map(|phase| phase.id.0).collect();
        assert_eq!(ids, [2, 3]);
    }

    #[test]
    fn of_two_phases_of_one_name_the_claimed_one_stays_so_in_the_next_run() {
        let mut state = running(&[("Other", false), ("Test", true), ("Test", false)]);
        read(&mut state, &[("Other", false), ("Test", true), ("Test", true)]);
        assert_eq!(state.claimed_ticks_in(&seeds(&[("Test", true), ("New", true), ("Test", true)])), [PhaseId(3)]);
        assert_eq!(state.claimed_ticks_in(&seeds(&[("Test", true), ("Test", false)])), []);
    }

    #[test]
    fn phases_of_one_name_stay_apart() {
        let mut state = running(&[("Test", false), ("Test", false)]);
        assert_eq!(
            read(&mut state, &[("Test", true), ("Test", false)]),
            marks(&[("Test", Mark::Running), ("Test", Mark::Pending)])
        );
        assert_eq!(state.claimed_ticks().count(), 1);
    }
}

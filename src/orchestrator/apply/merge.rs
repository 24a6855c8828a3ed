//! A person edits the ticket during a run: the phases of the file and those of the run become one list.
//!
//! The person's list and order win, and their ticks where nobody else can have made them. What the run knows of a phase,
//! its number first of all, stays with it, also when the person rewrites its text in place.

use crate::base::time::Timestamp;
use crate::domain::outcome::DoneHow;
use crate::domain::record::PhaseSeed;
use crate::orchestrator::state::{Mark, PhaseState, State};

/// Takes the phases as they were in the file at `read_at`.
pub(super) fn phases(state: &mut State, seeds: &[PhaseSeed], read_at: Option<Timestamp>, now: Timestamp) {
    let reading = Reading { by: who_ticked(state, read_at, now), is_newest: is_newest(state, read_at, now) };
    state.ticket_read = Some(read_at.unwrap_or(now));
    let mut before: Vec<Option<PhaseState>> = state.phases.drain(..).map(Some).collect();
    let renamed = renames(&before, seeds);
    let mut merged = Vec::with_capacity(seeds.len());
    for (at, seed) in seeds.iter().enumerate() {
        let same = |phase: &Option<PhaseState>| phase.as_ref().is_some_and(|phase| phase.text == seed.text);
        let from = before.iter().position(same).or(renamed[at]);
        merged.push(match from.and_then(|from| before[from].take()) {
            // Its box is being written: what it was before says nothing. A tick may still be a new one of Claude's.
            Some(known) if known.box_writes > 0 || is_before_write(&known, read_at, now) => {
                let claims = seed.done && reading.by == TickedBy::Claude && known.is_open();
                let (ticked, doubted) = (known.ticked || claims, known.doubted || claims);
                PhaseState { text: seed.text.clone(), ticked, doubted, ..known }
            }
            Some(known) => follow(known, seed, reading),
            // Seen for the first time: without a tick first, so that whose it is counts.
            None => follow(state.new_phase(&PhaseSeed { done: false, ..seed.clone() }), seed, reading),
        });
    }
    state.phases = merged;
}

/// The reading is older than our last write of this box. A clock that was set back since tells nothing.
fn is_before_write(phase: &PhaseState, read_at: Option<Timestamp>, now: Timestamp) -> bool {
    phase.box_written.zip(read_at).is_some_and(|(written, read_at)| read_at < written && written <= now)
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

/// A tick that appears while an iteration is open is a claim, whoever made it: nobody can tell whose it is. The person's
/// own counts at once when it is made through programmator, or while nothing else can have made it.
fn who_ticked(state: &State, read_at: Option<Timestamp>, now: Timestamp) -> TickedBy {
    let Some(iteration) = &state.iteration else { return TickedBy::Person };
    let Some(ended) = iteration.ended else { return TickedBy::Claude };
    // Journals that do not say when the file was read come from a program that read it once more before each end.
    let Some(read_at) = read_at else { return TickedBy::Person };
    let late = is_late(ended, read_at, now);
    // Claude was called, and the file was not read once more before the end.
    let unread = iteration.prompted.is_some()
        && iteration.changed.is_none()
        && state.ticket_read.is_none_or(|read| read < ended);
    if late || unread { TickedBy::Claude } else { TickedBy::Person }
}

/// Read before the end, and heard of only now. A clock that was set back since tells nothing.
fn is_late(ended: Timestamp, read_at: Timestamp, now: Timestamp) -> bool {
    read_at < ended && ended <= now
}

/// Nothing newer is known, about the file or about the iteration.
fn is_newest(state: &State, read_at: Option<Timestamp>, now: Timestamp) -> bool {
    let ended = state.iteration.as_ref().and_then(|iteration| iteration.ended);
    read_at.is_some_and(|read_at| {
        // One from the future was taken before the clock was set back.
        read_at <= now
            && state.ticket_read.is_none_or(|known| known <= read_at)
            && ended.is_none_or(|ended| !is_late(ended, read_at, now))
    })
}

#[derive(Clone, Copy, PartialEq)]
enum TickedBy {
    Person,
    Claude,
}

/// How far what the file said is to be trusted.
#[derive(Clone, Copy)]
struct Reading {
    /// Whose a tick that appears in it is.
    by: TickedBy,
    /// An empty box in it is empty now.
    is_newest: bool,
}

fn follow(mut phase: PhaseState, seed: &PhaseSeed, reading: Reading) -> PhaseState {
    // A new text may be found where the old one was not.
    phase.untickable &= phase.text == seed.text;
    phase.text.clone_from(&seed.text);
    match (phase.ticked, seed.done) {
        // A claim: the status block and the evidence decide.
        (false, true) if reading.by == TickedBy::Claude => phase.doubted = true,
        (false, true) if !phase.doubted && !matches!(phase.mark, Mark::Done(_)) => {
            phase.mark = Mark::Done(DoneHow::TickedByPerson);
            phase.dispute = None;
        }
        // The box was taken back: there is more to do.
        (true, false) if matches!(phase.mark, Mark::Done(_)) => phase.mark = Mark::Pending,
        _ => {}
    }
    // The doubt is about this tick, not about the next one. An older reading, heard of behind a newer one, clears nobody.
    phase.doubted &= seed.done || !(reading.is_newest || reading.by == TickedBy::Person);
    phase.ticked = seed.done;
    phase
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outcome::IterationOutcome;
    use crate::domain::phase::PhaseId;
    use crate::domain::record::{BoxSettled, Record, WriteOutcome};
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
                doubted: vec![],
                doubted_ids: vec![],
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
        let record = Record::TicketRead { title: "T".into(), phases: seeds(list), read_at: None };
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

    fn ended(state: &mut State, at: i64) {
        let record = Record::IterationEnded {
            n: 1,
            outcome: IterationOutcome::Interrupted,
            changed: false,
            fingerprint: None,
            ms: 0,
        };
        fold(state, &record, Timestamp::from_millis(at));
    }

    /// What the file said at `read_at` is heard of at `now`: does the tick in it count?
    fn counts(state: &mut State, read_at: i64, now: i64) -> bool {
        let read_at = Some(Timestamp::from_millis(read_at));
        let record = Record::TicketRead { title: "T".into(), phases: seeds(&[("A", true)]), read_at };
        fold(state, &record, Timestamp::from_millis(now));
        let counts = state.phases[0].mark == PERSON;
        assert_eq!(state.doubted_ticks().next().is_none(), counts);
        counts
    }

    #[test]
    fn a_tick_while_an_iteration_is_open_is_a_claim_however_late_it_is_heard_of() {
        let called = Record::SpawnRequested { n: 1, notes: vec![] };
        let compared = Record::EvidenceGathered { n: 1, iteration_files: vec![], phase_files: vec![] };
        for (is_compared, end, read_at, now, expected) in [
            // Hours after anything that Claude did.
            (false, None, 9_000_000, 9_000_000, false),
            (true, Some(5_000), 6_000, 6_000, true),
            (true, Some(5_000), 4_999, 6_000, false),
            // Ended in a hurry: nobody has read the file since Claude's last moment.
            (false, Some(5_000), 6_000, 6_000, false),
            // The clock was set back behind the end.
            (true, Some(5_000), 3_000, 3_000, true),
        ] {
            let mut state = running(&[("A", false)]);
            fold(&mut state, &called, Timestamp::from_millis(100));
            if is_compared {
                fold(&mut state, &compared, Timestamp::from_millis(200));
            }
            if let Some(end) = end {
                ended(&mut state, end);
            }
            assert_eq!(counts(&mut state, read_at, now), expected, "{end:?} {read_at} {now}");
        }
    }

    #[test]
    fn an_iteration_that_never_called_claude_doubts_nobody() {
        let mut state = running(&[("A", false)]);
        ended(&mut state, 5_000);
        assert!(counts(&mut state, 6_000, 6_000));
    }

    fn heard(state: &mut State, done: bool, read_at: i64, now: i64) {
        let read_at = Some(Timestamp::from_millis(read_at));
        let record = Record::TicketRead { title: "T".into(), phases: seeds(&[("A", done)]), read_at };
        fold(state, &record, Timestamp::from_millis(now));
    }

    #[test]
    fn a_doubt_ends_with_its_tick_and_the_next_tick_between_iterations_is_the_persons() {
        for (is_compared, emptied) in [(true, 200), (false, 6_000)] {
            let mut state = running(&[("A", false)]);
            fold(&mut state, &Record::SpawnRequested { n: 1, notes: vec![] }, Timestamp::from_millis(10));
            heard(&mut state, true, 100, 100);
            if emptied < 5_000 {
                heard(&mut state, false, emptied, emptied);
            }
            if is_compared {
                let compared = Record::EvidenceGathered { n: 1, iteration_files: vec![], phase_files: vec![] };
                fold(&mut state, &compared, Timestamp::from_millis(300));
            }
            ended(&mut state, 5_000);
            if emptied > 5_000 {
                heard(&mut state, false, emptied, emptied);
            }
            assert!(counts(&mut state, 7_000, 7_000), "emptied at {emptied}");
        }
    }

    #[test]
    fn an_older_reading_of_the_empty_box_ends_no_doubt() {
        // The clock was set back, so that the older one is not dropped; the older one is heard of behind the end.
        for (older, now, end) in [(90, 95, None), (150, 5_001, Some(5_000))] {
            let mut state = running(&[("A", false)]);
            fold(&mut state, &Record::SpawnRequested { n: 1, notes: vec![] }, Timestamp::from_millis(10));
            heard(&mut state, true, 100, 100);
            if let Some(end) = end {
                ended(&mut state, end);
            }
            heard(&mut state, false, older, now);
            if end.is_none() {
                ended(&mut state, 5_000);
            }
            heard(&mut state, true, 6_000, 6_000);
            heard(&mut state, true, 7_000, 7_000);
            assert_eq!((state.phases[0].mark, state.phases[0].doubted), (Mark::Pending, true), "read at {older}");
        }
    }

    #[test]
    fn a_box_that_was_not_found_is_tried_again_under_its_new_text() {
        let mut state = running(&[("A", false), ("B", false)]);
        let phase = state.phases[0].named();
        let settled = BoxSettled { phase, outcome: WriteOutcome::NotThere };
        fold(&mut state, &Record::TickSettled(settled), Timestamp::from_millis(2));
        assert!(state.phases[0].untickable);
        read(&mut state, &[("A", false), ("B, but better", false)]);
        assert!(state.phases[0].untickable);
        read(&mut state, &[("A, but better", false), ("B, but better", false)]);
        assert!(!state.phases[0].untickable);
    }

    #[test]
    fn a_journal_that_does_not_say_when_the_file_was_read_has_no_doubts_after_an_iteration() {
        let mut state = running(&[("A", false)]);
        fold(&mut state, &Record::SpawnRequested { n: 1, notes: vec![] }, Timestamp::from_millis(1));
        ended(&mut state, 1);
        assert_eq!(read(&mut state, &[("A", true)]), marks(&[("A", PERSON)]));
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
    fn of_two_phases_of_one_name_the_doubted_one_is_doubted_in_the_next_run() {
        let mut state = running(&[("Other", false), ("Test", true), ("Test", false)]);
        read(&mut state, &[("Other", false), ("Test", true), ("Test", true)]);
        assert_eq!(state.doubted_in(&seeds(&[("Test", true), ("New", true), ("Test", true)])), [PhaseId(3)]);
        assert_eq!(state.doubted_in(&seeds(&[("Test", true), ("Test", false)])), []);
    }

    #[test]
    fn phases_of_one_name_stay_apart() {
        let mut state = running(&[("Test", false), ("Test", false)]);
        assert_eq!(
            read(&mut state, &[("Test", true), ("Test", false)]),
            marks(&[("Test", Mark::Running), ("Test", Mark::Pending)])
        );
        assert_eq!(state.doubted_ticks().count(), 1);
    }
}

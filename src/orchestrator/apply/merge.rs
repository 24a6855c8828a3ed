//! A person edits the ticket during a run: the phases of the file and those of the run become one list.
//!
//! Phases are known by their text. The person's list, order and ticks win; what the run knows of a phase
//! stays with it, also when the person rewrites its text in place.

use super::phase_from;
use crate::base::time::Timestamp;
use crate::domain::outcome::DoneHow;
use crate::domain::record::PhaseSeed;
use crate::orchestrator::state::{Mark, PhaseState, State};
use std::time::Duration;

/// Takes the phases as they are in the file now.
pub(super) fn phases(state: &mut State, seeds: &[PhaseSeed], time: Timestamp) {
    let by = who_ticked(state, time);
    let mut before: Vec<Option<PhaseState>> = state.phases.drain(..).map(Some).collect();
    let renamed = renames(&before, seeds);
    let mut merged = Vec::with_capacity(seeds.len());
    for (at, seed) in seeds.iter().enumerate() {
        let same = |phase: &Option<PhaseState>| phase.as_ref().is_some_and(|phase| phase.text == seed.text);
        let from = before.iter().position(same).or(renamed[at]);
        let known = from.and_then(|from| before[from].take());
        merged.push(known.map_or_else(|| phase_from(seed), |phase| follow(phase, seed, by)));
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

/// How long after a call that may write a change of the file can still be its doing: the watch waits for a pause
/// in the changes before it tells of them.
const WAKE: Duration = Duration::from_secs(2);

/// Ticks that appear now are Claude's own when one of its calls may just have made them, by whatever way. Taking a
/// person's for one costs an iteration; taking Claude's for a person's would believe it unchecked.
fn who_ticked(state: &State, time: Timestamp) -> TickedBy {
    // The file is read once more before an iteration is judged: what is new after its end is not Claude's.
    let Some(iteration) = state.open_iteration() else { return TickedBy::Person };
    let just_wrote = iteration.wrote.is_some_and(|wrote| time.since(wrote) <= WAKE);
    if just_wrote || !iteration.writers.is_empty() { TickedBy::Claude } else { TickedBy::Person }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::record::{Record, Verdict};
    use crate::domain::settings::Settings;
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
                validation: vec![],
                settings: Settings::default(),
            },
            Record::IterationStarted { n: 1, phase: Some(list[0].0.into()), session: None },
            Record::SnapshotTaken { n: 1, id: "base".into() },
        ] {
            fold(&mut state, &record, Timestamp::from_millis(1));
        }
        state
    }

    fn read(state: &mut State, list: &[(&str, bool)]) -> Vec<(String, Mark)> {
        let record = Record::TicketRead { title: "T".into(), phases: seeds(list) };
        fold(state, &record, Timestamp::from_millis(2));
        state.phases.iter().map(|phase| (phase.text.clone(), phase.mark)).collect()
    }

    fn marks(list: &[(&str, Mark)]) -> Vec<(String, Mark)> {
        list.iter().map(|(text, mark)| ((*text).to_owned(), *mark)).collect()
    }

    const PERSON: Mark = Mark::Done(DoneHow::TickedByPerson);

    type Boxes<'a> = &'a [(&'a str, bool)];

    #[test]
    fn the_persons_list_order_and_ticks_win() {
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
            // Ticked by the person.
            (&[("A", true), ("B", true), ("C", true)], &[("A", PERSON), ("B", PERSON), ("C", PERSON)]),
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
        assert_eq!(state.iteration.as_ref().unwrap().phase.as_deref(), Some("A, but better"));
        assert_eq!(state.phases[0].baseline.as_deref(), Some("base"), "what is known of it stays");
    }

    #[test]
    fn a_tick_is_claudes_claim_while_and_just_after_claude_may_have_written() {
        let judged = Record::ToolJudged {
            n: 1,
            tool_use_id: "t".into(),
            tool: "Bash".into(),
            target: "for f in *; do …".into(),
            verdict: Verdict::Allow,
            reason: "trusted".into(),
            writes: true,
            units: vec![],
        };
        let finished = Record::ToolFinished { n: 1, tool_use_id: "t".into(), is_error: false };
        let ticked = Record::TicketRead { title: "T".into(), phases: seeds(&[("A", true)]) };
        for (after, expected) in [(None, Mark::Running), (Some(1_999), Mark::Running), (Some(2_500), PERSON)] {
            let mut state = running(&[("A", false)]);
            fold(&mut state, &judged, Timestamp::from_millis(100));
            let mut at = 60_000;
            if let Some(after) = after {
                fold(&mut state, &finished, Timestamp::from_millis(50_000));
                at = 50_000 + after;
            }
            fold(&mut state, &ticked, Timestamp::from_millis(at));
            assert_eq!(state.phases[0].mark, expected, "{after:?}");
            assert_eq!(state.doubted_ticks().is_empty(), expected == PERSON);
        }
    }

    #[test]
    fn phases_of_one_name_stay_apart() {
        let mut state = running(&[("Test", false), ("Test", false)]);
        assert_eq!(
            read(&mut state, &[("Test", true), ("Test", false)]),
            marks(&[("Test", PERSON), ("Test", Mark::Pending)])
        );
        assert_eq!(state.next_phase().map(|phase| phase.ticked), Some(false));
    }
}

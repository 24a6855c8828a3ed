//! What of a ticket the person can take back, from the records of its run: a tick, a skip, an edit of its text, a phase that
//! was opened again, a changed limit. The last one first.

use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::{OfPhase, PhaseByPerson, Record, RevisionSettled, TicketRevised, WriteOutcome};
use crate::domain::settings::{Adjustable, Change, SettingsChanged};
use crate::orchestrator::state::{PhaseState, State};

/// Steps that can be taken back.
const KEPT: usize = 50;

/// Something that can be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A phase was ticked or skipped: it is worked on again.
    Phase(PhaseId, String),
    /// A phase was opened again that was done, or else was skipped.
    Reopened { phase: PhaseId, text: String, was_done: bool },
    /// The ticket's text was changed.
    Text(Box<TicketRevised>),
    /// A setting had this value.
    Setting(Adjustable, String),
}

impl Step {
    /// The command to an open run that takes it back; `None`: the file is to be edited.
    pub fn command(&self) -> Option<UserCommand> {
        Some(match self {
            Self::Phase(phase, _) => UserCommand::RetryPhase { phase: *phase },
            Self::Reopened { phase, was_done: true, .. } => UserCommand::TickPhase { phase: *phase },
            Self::Reopened { phase, .. } => UserCommand::SkipPhase { phase: *phase },
            Self::Setting(what, text) => UserCommand::ChangeSetting(Change::Set(*what, text.clone())),
            Self::Text(_) => return None,
        })
    }

    /// The record says that it was taken back.
    pub fn is_undone_by(&self, record: &Record) -> bool {
        match (self, record) {
            (Self::Phase(phase, _), Record::PhaseReopened(PhaseByPerson { of, .. }))
            | (
                Self::Reopened { phase, .. },
                Record::PhaseTicked(PhaseByPerson { of, .. }) | Record::PhaseSkipped(of),
            ) => of.id == Some(*phase),
            (Self::Text(revised), Record::RevisionSettled(settled)) => {
                settled.revised.undoes.as_ref() == Some(&revised.id) && is_made(settled)
            }
            (Self::Setting(what, text), Record::SettingsChanged(SettingsChanged { settings, .. })) => {
                what.text(settings) == *text
            }
            _ => false,
        }
    }

    /// What is so again.
    pub fn words(&self) -> String {
        match self {
            Self::Phase(_, text) => format!("“{text}” reopened"),
            Self::Reopened { text, was_done: true, .. } => format!("“{text}” ticked again"),
            Self::Reopened { text, .. } => format!("“{text}” skipped again"),
            Self::Text(revised) => format!("undid: {}", revised.what),
            Self::Setting(what, text) if text.is_empty() => format!("{}: unset again", what.word()),
            Self::Setting(what, text) => format!("{}: {text} again", what.word()),
        }
    }

    /// Both belong together: a phase was accepted, and the note in the ticket says why.
    pub fn goes_with(&self, other: &Self) -> bool {
        let (Self::Phase(_, text), Self::Text(note)) = (self, other) else {
            return matches!(self, Self::Text(_)) && matches!(other, Self::Phase(..)) && other.goes_with(self);
        };
        note.accepts.as_ref().is_some_and(|accepted| accepted.text == *text)
    }
}

fn is_made(settled: &RevisionSettled) -> bool {
    matches!(settled.outcome, WriteOutcome::Written | WriteOutcome::AlreadySo)
}

/// Takes a record of the run, before it is folded into `state`.
pub(super) fn fold(steps: &mut Vec<Step>, state: &State, record: &Record) {
    match record {
        Record::PhaseSkipped(of) | Record::PhaseTicked(PhaseByPerson { of, .. }) => {
            if let OfPhase { phase, id: Some(id) } = of {
                let is_back = forget(steps, *id, |step| matches!(step, Step::Reopened { .. }));
                if !is_back {
                    steps.push(Step::Phase(*id, phase.clone()));
                }
            }
        }
        Record::PhaseReopened(PhaseByPerson { of: OfPhase { id: Some(id), phase }, .. }) => {
            let is_back = forget(steps, *id, |step| matches!(step, Step::Phase(..)));
            let stands = state.phase_by(*id).map(PhaseState::stands);
            if let (false, Some(mark @ (Mark::Done(_) | Mark::Skipped))) = (is_back, stands) {
                let was_done = mark != Mark::Skipped;
                steps.push(Step::Reopened { phase: *id, text: phase.clone(), was_done });
            }
        }
        Record::RevisionSettled(settled) if is_made(settled) => match &settled.revised.undoes {
            Some(undone) => {
                steps.retain(|step| !matches!(step, Step::Text(revised) if revised.id == *undone));
            }
            // What the run itself wanted is not the person's to take back.
            None if settled.revised.by == Answerer::CONFIGURATION => {}
            None => steps.push(Step::Text(Box::new(settled.revised.clone()))),
        },
        Record::SettingsChanged(SettingsChanged { settings: after, .. }) => {
            let settings = &state.settings;
            let is_changed = |what: &Adjustable| what.text(settings) != what.text(after);
            let changed: Vec<Adjustable> = Adjustable::ALL.into_iter().filter(is_changed).collect();
            // Several at once: the configuration of another start.
            let [what] = changed[..] else { return };
            let back = Step::Setting(what, what.text(after));
            if steps.last() == Some(&back) {
                steps.pop();
            } else {
                steps.push(Step::Setting(what, what.text(settings)));
            }
        }
        Record::RunResumed { .. } | Record::RunEnded { .. } => steps.retain(|step| matches!(step, Step::Text(_))),
        _ => {}
    }
    let beyond = steps.len().saturating_sub(KEPT);
    steps.drain(..beyond);
}

/// What was done to the phase before is not taken back any more. Whether the last of it was of this kind.
fn forget(steps: &mut Vec<Step>, phase: PhaseId, is_kind: fn(&Step) -> bool) -> bool {
    let is_its = |step: &Step| matches!(step, Step::Phase(id, _) | Step::Reopened { phase: id, .. } if *id == phase);
    let last = steps.iter().rfind(|step| is_its(step)).is_some_and(is_kind);
    steps.retain(|step| !is_its(step));
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outcome::DoneHow;
    use crate::domain::settings::Settings;
    use crate::domain::ticket::revise::PhasePlace;
    use crate::orchestrator::state::PhaseState;

    #[test]
    fn what_is_taken_back_is_not_taken_back_again() {
        let (mut steps, mut state) = (Vec::new(), State::default());
        let mut change = |steps: &mut Vec<Step>, change: Change| {
            let after = state.settings.with(&change).unwrap();
            let what = state.settings.differences(&after);
            fold(steps, &state, &Record::SettingsChanged(SettingsChanged { settings: after.clone(), what }));
            state.settings = after;
        };
        change(&mut steps, Change::Step(Adjustable::Iterations, 1));
        change(&mut steps, Change::Step(Adjustable::NoProgress, 2));
        for expected in ["breaker: no progress: 3 again", "iterations: 50 again"] {
            let last = steps.last().unwrap();
            assert_eq!(last.words(), expected);
            let Some(UserCommand::ChangeSetting(back)) = last.command() else { panic!("a setting") };
            change(&mut steps, back);
        }
        assert_eq!(steps, []);
        assert_eq!(Settings::default(), state.settings);
    }

    fn of() -> OfPhase {
        OfPhase { phase: "One".into(), id: Some(PhaseId(1)) }
    }

    fn by_person(why: Option<&str>) -> PhaseByPerson {
        PhaseByPerson { of: of(), by: Answerer::SCREEN, why: why.map(str::to_owned) }
    }

    fn settled(id: &str, undoes: Option<&str>, outcome: WriteOutcome) -> Record {
        let revised = TicketRevised {
            id: id.into(),
            what: "added “X”".into(),
            revision: <_>::default(),
            accepts: Some(PhasePlace { text: "One".into(), nth: 0 }),
            renamed: None,
            undoes: undoes.map(str::to_owned),
            by: Answerer::SCREEN,
        };
        Record::RevisionSettled(RevisionSettled { revised, outcome })
    }

    #[test]
    fn a_phase_goes_back_and_forth() {
        let (mut steps, mut state) = (Vec::new(), State::default());
        state.phases =
            vec![PhaseState { id: PhaseId(1), mark: Mark::Done(DoneHow::Verified), ..PhaseState::default() }];
        fold(&mut steps, &state, &Record::PhaseReopened(by_person(None)));
        assert_eq!(steps[0].command(), Some(UserCommand::TickPhase { phase: PhaseId(1) }));
        assert!(steps[0].is_undone_by(&Record::PhaseTicked(by_person(None))));
        fold(&mut steps, &state, &Record::PhaseTicked(by_person(None)));
        assert_eq!(steps, []);
        fold(&mut steps, &state, &Record::PhaseSkipped(of()));
        assert_eq!(steps[0].command(), Some(UserCommand::RetryPhase { phase: PhaseId(1) }));
        fold(&mut steps, &state, &Record::PhaseReopened(by_person(None)));
        assert_eq!(steps, []);
    }

    #[test]
    fn an_edit_of_the_text_is_taken_back_once_it_is_made_and_survives_the_runs_end() {
        let (mut steps, state) = (Vec::new(), State::default());
        fold(&mut steps, &state, &settled("a", None, WriteOutcome::NotThere));
        assert_eq!(steps, []);
        fold(&mut steps, &state, &settled("a", None, WriteOutcome::Written));
        fold(&mut steps, &state, &Record::PhaseTicked(by_person(Some("seen"))));
        assert!(steps[0].goes_with(&steps[1]) && steps[1].goes_with(&steps[0]), "a phase and why it was accepted");
        fold(&mut steps, &state, &Record::RunResumed { pid: 1 });
        assert_eq!(steps.len(), 1);
        fold(&mut steps, &state, &settled("b", Some("a"), WriteOutcome::NotThere));
        assert_eq!(steps.len(), 1);
        fold(&mut steps, &state, &settled("b", Some("a"), WriteOutcome::Written));
        assert_eq!(steps, []);
        let Record::RevisionSettled(mut own) = settled("c", None, WriteOutcome::Written) else { panic!("an edit") };
        own.revised.by = Answerer::CONFIGURATION;
        fold(&mut steps, &state, &Record::RevisionSettled(own));
        assert_eq!(steps, [], "the run's own");
    }
}

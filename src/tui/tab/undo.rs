//! What of a run the person can take back, from its records: a tick, a skip, a changed limit. The last one first.

use crate::domain::command::UserCommand;
use crate::domain::phase::PhaseId;
use crate::domain::record::{OfPhase, PhaseByPerson, Record};
use crate::domain::settings::{Adjustable, Change, Settings, SettingsChanged};

/// Steps that can be taken back.
const KEPT: usize = 50;

/// Something that can be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A phase was ticked or skipped: it is worked on again.
    Phase(PhaseId, String),
    /// A setting had this value.
    Setting(Adjustable, String),
}

impl Step {
    /// The command that takes it back.
    pub fn command(&self) -> UserCommand {
        match self {
            Self::Phase(phase, _) => UserCommand::RetryPhase { phase: *phase },
            Self::Setting(what, text) => UserCommand::ChangeSetting(Change::Set(*what, text.clone())),
        }
    }

    /// The record says that it was taken back.
    pub fn is_undone_by(&self, record: &Record) -> bool {
        match (self, record) {
            (Self::Phase(phase, _), Record::PhaseReopened(PhaseByPerson { of, .. })) => of.id == Some(*phase),
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
            Self::Setting(what, text) if text.is_empty() => format!("{}: unset again", what.word()),
            Self::Setting(what, text) => format!("{}: {text} again", what.word()),
        }
    }
}

/// Takes a record of the run, before `settings` are changed by it.
pub(super) fn fold(steps: &mut Vec<Step>, settings: &Settings, record: &Record) {
    match record {
        Record::PhaseSkipped(of) | Record::PhaseTicked(PhaseByPerson { of, .. }) => {
            if let OfPhase { phase, id: Some(id) } = of {
                forget(steps, *id);
                steps.push(Step::Phase(*id, phase.clone()));
            }
        }
        Record::PhaseReopened(PhaseByPerson { of: OfPhase { id: Some(id), .. }, .. }) => forget(steps, *id),
        Record::SettingsChanged(SettingsChanged { settings: after, .. }) => {
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
        Record::RunResumed { .. } | Record::RunEnded { .. } => steps.clear(),
        _ => {}
    }
    let beyond = steps.len().saturating_sub(KEPT);
    steps.drain(..beyond);
}

fn forget(steps: &mut Vec<Step>, phase: PhaseId) {
    steps.retain(|step| !matches!(step, Step::Phase(id, _) if *id == phase));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_back_is_not_taken_back_again() {
        let (mut steps, mut settings) = (Vec::new(), Settings::default());
        let mut change = |steps: &mut Vec<Step>, change: Change| {
            let after = settings.with(&change).unwrap();
            let what = settings.differences(&after);
            fold(steps, &settings, &Record::SettingsChanged(SettingsChanged { settings: after.clone(), what }));
            settings = after;
        };
        change(&mut steps, Change::Step(Adjustable::Iterations, 1));
        change(&mut steps, Change::Step(Adjustable::NoProgress, 2));
        for expected in ["breaker: no progress: 3 again", "iterations: 50 again"] {
            let last = steps.last().unwrap();
            assert_eq!(last.words(), expected);
            let UserCommand::ChangeSetting(back) = last.command() else { panic!("a setting") };
            change(&mut steps, back);
        }
        assert_eq!(steps, []);
        let of = OfPhase { phase: "One".into(), id: Some(PhaseId(1)) };
        fold(&mut steps, &Settings::default(), &Record::PhaseSkipped(of.clone()));
        assert_eq!(steps[0].command(), UserCommand::RetryPhase { phase: PhaseId(1) });
        let by = crate::domain::answerer::Answerer::SCREEN;
        fold(&mut steps, &Settings::default(), &Record::PhaseReopened(PhaseByPerson { of, by, why: None }));
        assert_eq!(steps, []);
    }
}

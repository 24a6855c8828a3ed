//! Which call of Claude's a run would make next: its own decisions, with nothing done about them but that each effect
//! is taken to have succeeded. A claim that is still to be checked is taken to hold; limits are not looked up.

use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::approval::Presence;
use crate::domain::branching::SwitchSettled;
use crate::domain::limits::admission::{Facts, admit};
use crate::domain::record::{ValidationRan, WriteOutcome};
use crate::domain::ticket::edit;
use crate::domain::worktree::WorktreeMade;
use crate::orchestrator::decide::decide;
use crate::orchestrator::effect::{Effect, Spawn};
use crate::orchestrator::input::Input;
use crate::orchestrator::state::State;
use jiff::tz::TimeZone;
use std::collections::VecDeque;
use std::sync::Arc;

/// A run that goes on by its own decisions while nothing is done: whoever looks at it answers its effects.
pub struct Preview {
    run: RunId,
    now: Timestamp,
    /// As it is now.
    pub state: Arc<State>,
    inputs: VecDeque<Input>,
    effects: VecDeque<Effect>,
}

impl Preview {
    /// A run that goes on with these inputs at `now`.
    pub fn new(run: RunId, state: State, first: Vec<Input>, now: Timestamp) -> Self {
        Self { run, now, state: Arc::new(state), inputs: first.into(), effects: VecDeque::new() }
    }

    /// What it does next; `None`: nothing, until something else happens.
    pub fn effect(&mut self) -> Option<Effect> {
        while self.effects.is_empty() {
            let decision = decide(&self.state, self.inputs.pop_front()?, self.now);
            if let Some(next) = decision.next {
                self.state = next;
            }
            self.effects.extend(decision.effects);
        }
        self.effects.pop_front()
    }

    /// What came of the last effect.
    pub fn answer(&mut self, input: Input) {
        self.inputs.push_back(input);
    }

    /// The last effect is taken to have succeeded. `file`: the ticket's text, into which it may write.
    pub fn succeed(&mut self, effect: Effect, file: &mut Vec<u8>) {
        *file = written(&effect, &self.state, file).unwrap_or_else(|| std::mem::take(file));
        self.inputs.extend(succeeded(effect, self.run, &self.state, self.now));
    }

    /// Why it does nothing more, for people.
    pub fn rest(&self) -> String {
        let ended = self.state.ended.as_ref().map(|ended| ended.detail.clone());
        ended.unwrap_or_else(|| "the run would wait".to_owned())
    }
}

/// The next call of a run that goes on with these inputs. `file`: the ticket's text, with what the run has written into it
/// by then. An error says, for people, why there is no call.
pub fn next_call(
    run: RunId,
    state: State,
    first: Vec<Input>,
    file: &mut Vec<u8>,
    now: Timestamp,
) -> Result<Box<Spawn>, String> {
    let mut preview = Preview::new(run, state, first, now);
    while let Some(effect) = preview.effect() {
        match effect {
            Effect::Spawn(spawn) => return Ok(spawn),
            effect => preview.succeed(effect, file),
        }
    }
    Err(preview.rest())
}

fn written(effect: &Effect, state: &State, file: &[u8]) -> Option<Vec<u8>> {
    match effect {
        Effect::SetStatus { to } => edit::set_status(file, *to).ok(),
        Effect::SetBox { phase, done } => {
            let (text, nth) = state.place(phase.id?)?;
            if *done { edit::complete_phase(file, text, nth).ok() } else { edit::reopen_phase(file, text, nth).ok() }
        }
        _ => None,
    }
}

fn succeeded(effect: Effect, run: RunId, state: &State, now: Timestamp) -> Option<Input> {
    Some(match effect {
        Effect::MakeWorktree(_) => Input::WorktreeReady(WorktreeMade::default()),
        Effect::AcquireTree => Input::TreeGranted,
        Effect::SwitchBranch(switch) => Input::Switched(SwitchSettled { switch: *switch, trouble: None }),
        Effect::Admit(ask) => {
            let admission = Box::new(admit(&Facts::default(), &ask, run, now, &TimeZone::UTC));
            Input::Admitted { n: ask.n, purpose: ask.purpose, admission }
        }
        Effect::TakeSnapshot { n, .. } => Input::SnapshotTaken { n, id: String::new() },
        Effect::GatherEvidence { n, .. } => {
            let claim = state.open_iteration().and_then(|open| open.claim.as_ref());
            let files = claim.map(|claim| claim.files_changed.clone()).unwrap_or_default();
            Input::EvidenceGathered { n, iteration_files: files.clone(), phase_files: files, reading: state.reading }
        }
        Effect::RunValidation { n, commands } => {
            let passed = |command| ValidationRan {
                n,
                command,
                exit: Some(0),
                timed_out: false,
                ms: 0,
                tail: String::new(),
                log: String::new(),
            };
            Input::ValidationFinished { n, results: commands.into_iter().map(passed).collect(), reading: state.reading }
        }
        Effect::SetBox { phase, done } => {
            Input::BoxSettled { phase, done, outcome: WriteOutcome::Written, reading: state.reading + 1 }
        }
        Effect::SetStatus { to } => Input::StatusSettled { to, outcome: WriteOutcome::Written },
        Effect::SeekPerson => Input::PersonSought { presence: Presence::Nobody },
        _ => return None,
    })
}

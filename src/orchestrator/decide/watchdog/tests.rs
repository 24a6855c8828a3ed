//! Timers that run out between two steps, and under a clock that is set.

mod turns;

use super::super::decide;
use crate::base::time::Timestamp;
use crate::domain::answerer::Answerer;
use crate::domain::limits::admission::{Admission, Ledger, Purpose, Verdict};
use crate::domain::note::NoteStage;
use crate::domain::outcome::IterationOutcome;
use crate::domain::session::Told;
use crate::domain::turn::TurnResult;
use crate::domain::watchdog::Watch;
use crate::orchestrator::effect::{Effect, Timer};
use crate::orchestrator::input::Input;
use crate::orchestrator::state::{Stage, State};
use std::sync::Arc;
use std::time::Duration;

const BEGAN: Timestamp = Timestamp::from_millis(1_795_000_000_000);

/// A run that is folded from what the core decides.
struct Run {
    state: Arc<State>,
    now: Timestamp,
    /// Of the last decision.
    effects: Vec<Effect>,
}

impl Run {
    /// Claude is to be called.
    fn spawning() -> Self {
        let mut run = Self { state: Arc::default(), now: BEGAN, effects: vec![] };
        run.give(Input::Started(Box::default()));
        run.give(Input::TreeGranted);
        run.admitted(Purpose::Iteration);
        run.give(Input::SnapshotTaken { n: 1, id: "s".into() });
        assert_eq!(run.state.stage, Stage::Spawning);
        run
    }

    /// Claude has its prompt.
    fn prompted() -> Self {
        let mut run = Self::spawning();
        run.give(Input::AgentStarting { n: 1 });
        run.give(Input::AgentSpawned { n: 1, pid: 7 });
        let (session, model, version) = ("s".to_owned(), "m".to_owned(), "v".to_owned());
        run.give(Input::AgentReady { n: 1, session, model, version, told: Told::default() });
        run
    }

    /// Claude has answered without a status block; the call that asks for it is not admitted yet.
    fn asking() -> Self {
        let mut run = Self::prompted();
        run.answers();
        assert_eq!(run.state.stage, Stage::Closing);
        run
    }

    fn answers(&mut self) {
        let result = TurnResult { subtype: "success".into(), text: "Done.".into(), ..TurnResult::default() };
        self.give(Input::TurnFinished { n: 1, result: Box::new(result) });
    }

    fn admitted(&mut self, purpose: Purpose) {
        let admission = Admission { verdict: Verdict::Go { probes: vec![] }, ledger: Ledger::default() };
        self.give(Input::Admitted { n: 1, purpose, admission: Box::new(admission) });
    }

    fn fires(&mut self, timer: Timer) {
        self.give(Input::TimerFired { timer, last_byte: self.now });
    }

    fn give(&mut self, input: Input) {
        self.now = self.now.plus(Duration::from_millis(1));
        let decision = decide(&self.state, input, self.now);
        self.state = decision.next.unwrap_or_else(|| self.state.clone());
        self.effects = decision.effects;
    }

    fn arms(&self, wanted: Timer) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Arm { timer, .. } if *timer == wanted))
    }

    fn stops(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::StopAgent { .. }))
    }

    fn ran_out(&self) -> Option<Watch> {
        self.state.iteration.as_ref().and_then(|iteration| iteration.timer)
    }
}

#[test]
fn a_call_for_the_status_block_that_is_never_admitted_keeps_claude_no_longer_than_the_grace() {
    let mut run = Run::asking();
    assert!(run.arms(Timer::PostResult(1)));
    run.fires(Timer::PostResult(1));
    assert!(run.stops());
    run.admitted(Purpose::FollowUp);
    assert_eq!((run.effects.len(), &run.state.stage), (0, &Stage::Closing), "one that is being ended is not asked");
}

#[test]
fn an_idle_timer_that_ran_out_before_the_follow_up_is_set_again() {
    let mut run = Run::asking();
    run.fires(Timer::Idle(1));
    assert!(run.effects.is_empty());
    run.admitted(Purpose::FollowUp);
    assert!(run.arms(Timer::Idle(1)) && run.arms(Timer::FirstByte(1)));
}

#[test]
fn an_iteration_whose_time_is_over_before_the_follow_up_is_cut_off() {
    let mut run = Run::asking();
    run.fires(Timer::Iteration(1));
    assert!(run.stops());
    assert_eq!(run.ran_out(), Some(Watch::Total));
    assert_eq!(run.state.iteration.as_ref().unwrap().cut, Some(IterationOutcome::TimedOut));
    run.admitted(Purpose::FollowUp);
    assert!(run.effects.is_empty(), "no call is made in no time");
}

#[test]
fn the_grace_of_the_turn_before_takes_no_note_from_the_follow_up() {
    let mut run = Run::asking();
    run.admitted(Purpose::FollowUp);
    let note = crate::domain::command::UserCommand::Steer { text: "Mind the tests.".into() };
    run.give(Input::Commanded { by: Answerer::SCREEN, id: "a".into(), command: note });
    run.fires(Timer::PostResult(1));
    assert_eq!((&run.state.stage, run.state.notes.all()[0].stage), (&Stage::Running, NoteStage::Sent));
    // Once the turn is over, it is the note's.
    run.answers();
    run.fires(Timer::PostResult(1));
    assert_eq!((&run.state.stage, run.state.notes.all()[0].stage), (&Stage::Closing, NoteStage::Returned));
}

#[test]
fn a_clock_that_was_set_back_cuts_nobody_off() {
    let mut run = Run::prompted();
    let prompted = run.now;
    run.now = Timestamp::from_millis(prompted.millis() - 300_000);
    // Claude has answered since, by the clock of now.
    run.fires(Timer::FirstByte(1));
    assert_eq!(run.state.stage, Stage::Running);
    let mut silent = Run::prompted();
    let last_byte = BEGAN;
    silent.now = silent.now.plus(Duration::from_secs(181));
    silent.give(Input::TimerFired { timer: Timer::FirstByte(1), last_byte });
    assert_eq!(silent.state.stage, Stage::Stopping, "silence is silence");
}

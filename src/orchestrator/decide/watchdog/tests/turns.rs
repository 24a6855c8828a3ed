//! Iterations with work in the background, and with somebody else's words in them.

use super::Run;
use crate::domain::approval::{Presence, Ruling};
use crate::domain::background::{BackgroundTask, TaskKind};
use crate::domain::limits::admission::Purpose;
use crate::domain::outcome::IterationOutcome;
use crate::domain::session::Told;
use crate::domain::tool_call::{ControlRequest, ToolCall, Via};
use crate::domain::turn::{Origin, TurnResult};
use crate::domain::verdict::Verdict;
use crate::domain::watchdog::Watch;
use crate::orchestrator::effect::{Effect, Timer};
use crate::orchestrator::input::Input;
use crate::orchestrator::state::Stage;

const BLOCK: &str =
    "PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: DONE\n  files_changed: []\n  summary: s\n";

impl Run {
    fn ends_turn(&mut self, text: &str, origin: Origin) {
        let result = TurnResult { subtype: "success".into(), text: text.into(), origin, ..TurnResult::default() };
        self.give(Input::TurnFinished { n: 1, result: Box::new(result) });
    }

    fn background(&mut self, kinds: &[TaskKind]) {
        let task = |kind: &TaskKind| BackgroundTask { id: "b".into(), kind: *kind, what: String::new() };
        self.give(Input::BackgroundChanged { n: 1, tasks: kinds.iter().map(task).collect() });
    }

    fn begins_turn(&mut self) {
        let (session, model, version) = ("s".to_owned(), "m".to_owned(), "v".to_owned());
        self.give(Input::AgentReady { n: 1, session, model, version, told: Told::default() });
    }

    fn claim(&self) -> Option<&str> {
        self.state.iteration.as_ref()?.claim.as_ref().map(|claim| claim.summary.as_str())
    }

    fn closes(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::CloseInput { .. }))
    }
}

#[test]
fn a_claim_counts_once_no_subagent_works() {
    let mut run = Run::prompted();
    run.background(&[TaskKind::Agent]);
    run.ends_turn(&BLOCK.replace(": s", ": too early"), Origin::Ours);
    assert_eq!((run.claim(), &run.state.stage, run.effects.len()), (None, &Stage::Running, 0), "stdin stays open");
    run.background(&[]);
    assert!(run.arms(Timer::PostResult(1)), "the last turn may not come");
    run.begins_turn();
    run.fires(Timer::PostResult(1));
    assert_eq!(run.state.stage, Stage::Running, "but it did come");
    run.ends_turn(BLOCK, Origin::Task);
    assert_eq!((run.claim(), run.closes()), (Some("s"), true));
}

#[test]
fn what_is_said_while_a_subagent_works_is_not_weighed() {
    let mut run = Run::prompted();
    run.background(&[TaskKind::Agent]);
    run.ends_turn("error: not compiled yet. Should I wait for the agent, or do you want me to go on?", Origin::Ours);
    assert_eq!(run.state.iteration.as_ref().unwrap().analysis, None);
    run.background(&[]);
    run.begins_turn();
    run.ends_turn(BLOCK, Origin::Task);
    let iteration = run.state.iteration.as_ref().unwrap();
    let analysis = iteration.analysis.as_ref().unwrap();
    assert_eq!((analysis.errors.len(), iteration.asked_person), (0, false), "{analysis:?}");
}

#[test]
fn what_a_process_costs_is_counted_once_though_a_turn_comes_without_a_figure() {
    let mut run = Run::prompted();
    run.background(&[TaskKind::Agent]);
    for cost_usd in [0.5, 0.0, 0.75] {
        let result = TurnResult { subtype: "success".into(), cost_usd, ..TurnResult::default() };
        run.give(Input::TurnFinished { n: 1, result: Box::new(result) });
    }
    assert_eq!((run.state.cost_usd, run.state.iteration.as_ref().unwrap().cost_usd), (0.75, 0.75));
}

#[test]
fn the_time_to_begin_counts_from_the_start_of_the_process() {
    let mut run = Run::spawning();
    assert!(!run.arms(Timer::Start(1)), "which version it is is still being asked");
    run.give(Input::AgentStarting { n: 1 });
    assert!(run.arms(Timer::Start(1)));
    run.fires(Timer::Start(1));
    assert_eq!((run.stops(), run.ran_out()), (true, Some(Watch::Start)));
}

#[test]
fn subagents_that_end_without_another_turn_leave_a_question_for_the_block() {
    let mut run = Run::prompted();
    run.background(&[TaskKind::Agent]);
    run.ends_turn(BLOCK, Origin::Ours);
    run.fires(Timer::PostResult(1));
    assert_eq!(run.state.stage, Stage::Running, "one works");
    run.background(&[]);
    run.fires(Timer::PostResult(1));
    run.admitted(Purpose::FollowUp);
    run.ends_turn(BLOCK, Origin::Ours);
    assert_eq!((run.claim(), run.closes()), (Some("s"), true));
}

#[test]
fn a_subagent_that_is_stuck_is_ended_by_the_idle_timer() {
    let mut run = Run::prompted();
    run.background(&[TaskKind::Agent, TaskKind::Shell]);
    run.ends_turn("I wait.", Origin::Ours);
    let quiet = crate::base::time::Timestamp::from_millis(0);
    run.give(Input::TimerFired { timer: Timer::Idle(1), last_byte: quiet });
    assert!(run.stops());
    assert_eq!(run.ran_out(), Some(Watch::Idle));
    assert_eq!(run.state.iteration.as_ref().unwrap().cut, Some(IterationOutcome::Idle));
}

#[test]
fn a_claim_does_not_wait_for_a_command_and_a_silence_does_until_the_idle_timer() {
    let mut run = Run::prompted();
    run.background(&[TaskKind::Shell]);
    run.ends_turn(BLOCK, Origin::Ours);
    assert_eq!((run.claim(), run.closes()), (Some("s"), true), "it may be a server");

    let mut run = Run::prompted();
    run.background(&[TaskKind::Shell]);
    run.ends_turn("The tests run; I wait for them.", Origin::Ours);
    assert_eq!((&run.state.stage, run.effects.len()), (&Stage::Running, 0));
    let quiet = crate::base::time::Timestamp::from_millis(0);
    run.give(Input::TimerFired { timer: Timer::Idle(1), last_byte: quiet });
    assert_eq!((&run.state.stage, run.stops()), (&Stage::Closing, false), "it is asked, not cut off");
    run.admitted(Purpose::FollowUp);
    // Its end is told before the question is answered, and that turn is no answer.
    run.ends_turn("They passed.", Origin::Task);
    assert_eq!((&run.state.stage, run.closes()), (&Stage::Running, false));
    run.fires(Timer::PostResult(1));
    assert_eq!(run.state.stage, Stage::Running);
    run.ends_turn(BLOCK, Origin::Ours);
    assert_eq!((run.claim(), run.closes()), (Some("s"), true));
}

fn call() -> ToolCall {
    let request = ControlRequest { id: "r".into(), via: Via::Callback };
    let (tool, input) = ("Bash".to_owned(), "{}".to_owned());
    ToolCall { request, tool_use_id: "t1".into(), tool, input, agent: None, cwd: None }
}

fn allowed() -> Ruling {
    let (rule, reason, target) = Default::default();
    Ruling { verdict: Verdict::Allow, rule, reason, target, units: vec![], provable: false }
}

#[test]
fn a_turn_of_somebody_else_is_stopped_runs_nothing_and_claims_nothing() {
    let mut run = Run::prompted();
    run.background(&[TaskKind::Agent]);
    run.ends_turn("I wait.", Origin::Ours);
    run.give(Input::ForeignTurn { n: 1, wakes: false });
    assert_eq!(run.effects, [Effect::Interrupt { n: 1 }]);
    run.give(Input::Judged { n: 1, call: Box::new(call()), ruling: Box::new(allowed()), presence: Presence::Screen });
    assert!(matches!(run.effects[..], [Effect::Answer { verdict: Verdict::Block, .. }]), "{:?}", run.effects);
    run.background(&[]);
    run.ends_turn(BLOCK, Origin::Foreign);
    assert_eq!((run.claim(), run.closes()), (None, false));
    // Claude is asked how far it is, and that answer is its own.
    run.admitted(Purpose::FollowUp);
    run.give(Input::Judged { n: 1, call: Box::new(call()), ruling: Box::new(allowed()), presence: Presence::Screen });
    assert!(matches!(run.effects[..], [Effect::Answer { verdict: Verdict::Allow, .. }]), "{:?}", run.effects);
    run.ends_turn(BLOCK, Origin::Ours);
    assert_eq!((run.claim(), run.closes()), (Some("s"), true));
}

#[test]
fn a_call_that_the_interrupt_overtakes_is_no_call_that_ran() {
    for (is_error, killed) in [(true, false), (false, true)] {
        let mut run = Run::prompted();
        run.give(Input::ForeignTurn { n: 1, wakes: false });
        run.give(Input::ToolRan { n: 1, tool_use_id: "t9".into(), unasked: false });
        assert!(run.effects.is_empty(), "{:?}", run.effects);
        run.give(Input::ToolFinished { n: 1, tool_use_id: "t9".into(), is_error });
        assert_eq!(run.effects.contains(&Effect::KillAgent { n: 1 }), killed, "{:?}", run.effects);
    }
}

#[test]
fn a_turn_of_somebody_else_after_the_claim_ends_claude() {
    let mut run = Run::prompted();
    run.ends_turn(BLOCK, Origin::Ours);
    run.give(Input::ForeignTurn { n: 1, wakes: true });
    assert!(run.stops(), "its stdin is closed: it would hear no interrupt");
    run.ends_turn(&BLOCK.replace(": s", ": another"), Origin::Foreign);
    assert_eq!(run.claim(), Some("s"));
}

#[test]
fn a_call_that_configuration_let_run_goes_round_a_gate_that_did_not() {
    for (verdict, unasked, killed) in [
        (Verdict::Allow, true, false),
        (Verdict::Block, true, true),
        (Verdict::Ask, true, true),
        // What was refused comes back as an error, and who refused it is said.
        (Verdict::Block, false, false),
    ] {
        let mut run = Run::prompted();
        let ruling = Box::new(Ruling { verdict, ..allowed() });
        run.give(Input::Judged { n: 1, call: Box::new(call()), ruling, presence: Presence::Screen });
        run.give(Input::ToolRan { n: 1, tool_use_id: "t1".into(), unasked });
        assert_eq!(
            run.effects.contains(&Effect::KillAgent { n: 1 }),
            killed,
            "{verdict:?} {unasked}: {:?}",
            run.effects
        );
    }
}

#[test]
fn a_plan_that_says_nothing_is_not_put_to_the_person() {
    for (input, asked) in [(r#"{"plan":" \n"}"#, false), ("{}", false), (r##"{"plan":"# First this"}"##, true)] {
        let mut run = Run::prompted();
        let request = ControlRequest { id: "r".into(), via: Via::CanUseTool };
        let call = ToolCall { tool: "ExitPlanMode".into(), input: input.into(), request, ..call() };
        run.give(Input::Judged { n: 1, call: Box::new(call), ruling: Box::new(allowed()), presence: Presence::Screen });
        assert_eq!(run.state.approvals.len(), usize::from(asked), "{input}");
        let refused = run.effects.iter().any(
            |effect| matches!(effect, Effect::Answer { verdict: Verdict::Block, reason, .. } if reason.contains("no plan")),
        );
        assert_eq!(refused, !asked, "{input}: {:?}", run.effects);
    }
}

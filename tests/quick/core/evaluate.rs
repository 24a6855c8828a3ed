//! Once nothing is left to do, an evaluator says whether the goal is reached; what it proposes is added when the person,
//! or their configuration, says so.

use super::critique::{begun, says, seed, steps, until, world};
use super::world::World;
use programmator::domain::answerer::Answerer;
use programmator::domain::breaker::Breaker;
use programmator::domain::command::UserCommand;
use programmator::domain::evaluation::{AddPhases, ProposalAnswer};
use programmator::domain::outcome::ExitReason;
use programmator::domain::profile::Profile;
use programmator::domain::record::Record;
use programmator::domain::session::Sessions;
use programmator::domain::step::StepName;
use programmator::domain::workflow::Workflow;
use programmator::orchestrator::state::Stage;

fn more(phases: &str) -> String {
    format!("PROGRAMMATOR_STATUS:\n  verdict: MORE_WORK\n  new_phases: {phases}\n  summary: not all\n")
}

/// A run whose evaluator has just asked for these phases.
fn proposed(add: AddPhases, phases: &str) -> World {
    let mut world = world(seed(true, true), Workflow::Thorough);
    world.settings.workflow.add_phases = add;
    world.start(Breaker::default(), Sessions::default());
    assert!(until(&mut world, &StepName::EVALUATE));
    says(&mut world, &more(phases));
    world
}

fn reason(world: &World) -> (ExitReason, &str) {
    let ended = world.state.ended.as_ref().expect("the run has not ended");
    (ended.reason, &ended.detail)
}

/// Lives until the run waits for the person.
fn wait(world: &mut World) {
    while world.state.awaits_phases().is_none() {
        assert!(world.happen(), "{:?}", world.state.ended);
    }
}

fn answer(world: &mut World, answer: ProposalAnswer) {
    let n = world.state.goal.proposal.as_ref().unwrap().n;
    let command = UserCommand::AnswerProposal { n, answer };
    world.give(programmator::orchestrator::input::Input::Commanded { by: Answerer::SCREEN, id: "a".into(), command });
}

#[test]
fn the_goal_is_asked_about_once_after_the_last_phase() {
    for phases in [true, false] {
        let mut world = begun(seed(phases, true), Workflow::Thorough);
        world.live();
        let mut expected = ["code", "critique"].repeat(world.phases.len().max(1));
        expected.push("evaluate");
        assert_eq!((reason(&world).0, steps(&world)), (ExitReason::Complete, expected));
        let (_, call) = world.calls.last().unwrap();
        assert_eq!((call.profile, &call.session), (Some(Profile::ReadOnly), &None));
        let told = &call.prompt.context;
        assert_eq!(told.settled_phases.len(), world.phases.len());
        assert!(told.settled_phases.iter().all(|phase| phase.ends_with("(verified)")), "{:?}", told.settled_phases);
        assert!(told.validated[0].contains("exit code 0"), "{:?}", told.validated);
        assert_eq!(world.state.counted_iterations() as usize, world.phases.len().max(1));
        // The next run of the ticket has nothing to do, and asks nobody.
        world.start(Breaker::default(), Sessions::default());
        world.live();
        assert_eq!((reason(&world).0, world.state.iterations), (ExitReason::Complete, 0));
    }
}

#[test]
fn what_the_person_ticked_is_not_evaluated() {
    let mut world = world(seed(true, true), Workflow::Thorough);
    world.phases.iter_mut().for_each(|seed| seed.done = true);
    world.start(Breaker::default(), Sessions::default());
    world.live();
    assert_eq!((reason(&world).0, world.calls.len()), (ExitReason::Complete, 0));
}

#[test]
fn proposed_phases_are_added_and_worked_on_where_the_configuration_says_so() {
    let mut world = proposed(AddPhases::Auto, "[More, And more]");
    world.live();
    assert_eq!(reason(&world).0, ExitReason::Complete);
    let texts: Vec<&str> = world.phases.iter().rev().take(2).map(|seed| seed.text.as_str()).collect();
    assert_eq!(texts, ["And more", "More"]);
    assert!(world.phases.iter().all(|seed| seed.done));
    let tail = ["evaluate", "code", "critique", "code", "critique", "evaluate"];
    assert!(steps(&world).ends_with(&tail), "{:?}", steps(&world));
    assert_eq!(world.state.goal.added, 2);
}

#[test]
fn no_more_phases_are_added_than_a_run_may_have() {
    let mut world = proposed(AddPhases::Auto, "[a, b, c]");
    let mut rounds = 1;
    while until(&mut world, &StepName::EVALUATE) {
        rounds += 1;
        says(&mut world, &more("[d, e, f]"));
    }
    assert_eq!((rounds, world.state.goal.added, world.phases.len()), (3, 5, world.state.phases.len()));
    let (reason, detail) = reason(&world);
    assert_eq!(reason, ExitReason::ReviewFailed);
    assert!(detail.contains("not reached") && detail.contains("“d”, “e”, “f”"), "{detail}");
    let left_out = world.journal.iter().find_map(|stored| match &stored.record {
        Record::PhasesProposed(proposal) if proposal.left_out > 0 => Some((proposal.phases.len(), proposal.left_out)),
        _ => None,
    });
    assert_eq!(left_out, Some((2, 1)));
}

#[test]
fn without_anybody_to_ask_the_run_ends_and_names_the_phases() {
    for (add, attended) in [(AddPhases::Ask, false), (AddPhases::Never, true)] {
        let mut world = proposed(add, "[More]");
        world.attended = attended;
        let before = world.phases.len();
        world.live();
        let (reason, detail) = reason(&world);
        assert!(reason == ExitReason::ReviewFailed && detail.contains("“More”"), "{detail}");
        assert_eq!(world.phases.len(), before);
    }
}

#[test]
fn the_person_adds_changed_phases_or_does_without_them() {
    let mut world = proposed(AddPhases::Ask, "[More, And more]");
    wait(&mut world);
    answer(&mut world, ProposalAnswer::Add { phases: vec!["Mine".into()] });
    world.live();
    assert_eq!(reason(&world).0, ExitReason::Complete);
    assert_eq!(world.phases.last().map(|seed| (seed.text.as_str(), seed.done)), Some(("Mine", true)));

    let mut world = proposed(AddPhases::Ask, "[More]");
    wait(&mut world);
    answer(&mut world, ProposalAnswer::Refuse { words: "not now".into() });
    world.live();
    let (reason, detail) = reason(&world);
    assert!(reason == ExitReason::Complete && detail.contains("declined"), "{detail}");
    let noted = world.journal.iter().any(|stored| match &stored.record {
        Record::RevisionIntended(revised) => revised.what == "added a note",
        _ => false,
    });
    assert!(noted, "the reason goes into the ticket");
    assert_eq!(steps(&world).iter().filter(|step| **step == "evaluate").count(), 1, "nobody is asked again");
}

#[test]
fn a_proposal_outlives_its_process_and_gives_way_to_the_persons_own_phase() {
    let mut world = proposed(AddPhases::Ask, "[More]");
    wait(&mut world);
    assert!(world.kill());
    wait(&mut world);
    assert_eq!(steps(&world).iter().filter(|step| **step == "evaluate").count(), 1, "nobody is asked again");
    let own = programmator::domain::record::PhaseSeed { text: "Own".into(), done: false };
    world.phases.push(own);
    world.ticket_read();
    assert!(until(&mut world, &StepName::CODE), "{:?}", world.state.stage);
    assert_eq!((world.state.own_text(), &world.state.goal.proposal), (Some("Own"), &None));
}

#[test]
fn an_unreadable_answer_is_asked_for_once_more_and_never_taken_for_a_yes() {
    let mut world = begun(seed(true, true), Workflow::Thorough);
    assert!(until(&mut world, &StepName::EVALUATE));
    says(&mut world, "ACHIEVED, I would say.");
    while !world.state.open_iteration().unwrap().followed_up {
        assert!(world.happen());
    }
    says(&mut world, &more("[]"));
    world.live();
    let (reason, detail) = reason(&world);
    assert!(reason == ExitReason::ReviewFailed && detail.contains("readable"), "{detail}");
    assert!(world.kill());
    world.live();
    assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete, "the next evaluator is readable");
}

#[test]
fn an_evaluator_that_is_killed_is_called_again() {
    for seed in 0..20 {
        let mut world = begun(seed, Workflow::Thorough);
        assert!(until(&mut world, &StepName::EVALUATE), "seed {seed}");
        assert!(world.kill());
        world.live();
        assert_eq!(reason(&world).0, ExitReason::Complete, "seed {seed}");
        assert_eq!(steps(&world).iter().filter(|step| **step == "evaluate").count(), 2, "seed {seed}");
        assert_eq!(world.state.stage, Stage::Ended);
    }
}

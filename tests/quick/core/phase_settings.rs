//! What a ticket says of single phases: model and effort of the work, and whether a critic looks at what commands have checked.

use super::critique::{seed, steps, world};
use super::world::World;
use programmator::domain::breaker::Breaker;
use programmator::domain::record::SetPhase;
use programmator::domain::session::Sessions;
use programmator::domain::step::StepName;
use programmator::domain::ticket::PhaseSettings;
use programmator::domain::workflow::Workflow;
use programmator::orchestrator::input::Input;

/// A run whose first phase has these settings.
fn with(workflow: Workflow, commands: bool, settings: &PhaseSettings) -> World {
    let mut world = world(seed(true, commands), workflow);
    world.start(Breaker::default(), Sessions::default());
    let own = |(at, text): (usize, String)| SetPhase {
        text,
        settings: if at == 0 { settings.clone() } else { PhaseSettings::default() },
    };
    let phases: Vec<_> = world.phases.iter().map(|seed| seed.text.clone()).enumerate().map(own).collect();
    world.give(Input::PhaseSettingsRead { phases });
    world.live();
    world
}

#[test]
fn a_phase_is_worked_on_with_its_own_model_and_effort() {
    let settings = PhaseSettings { model: Some("opus".into()), effort: Some("high".into()), critique: None };
    let world = with(Workflow::Reviewed, true, &settings);
    let told: Vec<_> = world
        .calls
        .iter()
        .map(|(step, call)| (step.clone(), call.model.as_deref() == Some("opus"), call.effort.clone()))
        .collect();
    assert_eq!(told[0], (StepName::CODE, true, Some("high".to_owned())));
    assert_eq!(told[1], (StepName::CRITIQUE, false, None), "the critic has its own");
    assert!(!told[2].1 && told[2].2.is_none(), "the next phase has none: {told:?}");
    assert_eq!(world.asked[0].as_deref(), Some("opus"), "the ledger is asked for that model");
}

#[test]
fn without_a_critic_passes_only_what_commands_have_checked() {
    let critique = |on| PhaseSettings { critique: Some(on), ..PhaseSettings::default() };
    for (workflow, commands, settings, first) in [
        (Workflow::Reviewed, true, critique(false), "code"),
        (Workflow::Thorough, true, critique(false), "code"),
        (Workflow::Reviewed, false, critique(false), "critique"),
        (Workflow::Auto, false, critique(false), "critique"),
        (Workflow::Auto, true, critique(true), "critique"),
        (Workflow::Simple, true, critique(true), "critique"),
    ] {
        let world = with(workflow, commands, &settings);
        assert_eq!((steps(&world)[0], steps(&world)[1]), ("code", first), "{workflow:?} {commands} {settings:?}");
    }
}

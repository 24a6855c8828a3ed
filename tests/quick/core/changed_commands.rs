//! The ticket's validation commands are changed while its last phase is worked on, and nobody has said yet which count.

use super::world::{Weather, World};
use programmator::domain::answerer::Answerer;
use programmator::domain::breaker::Breaker;
use programmator::domain::command::UserCommand;
use programmator::domain::outcome::ExitReason;
use programmator::domain::phase::PhaseId;
use programmator::domain::record::{PhaseSeed, Record};
use programmator::domain::session::Sessions;
use programmator::orchestrator::input::Input;

const EARLIER: &str = "; validated with the old commands; the new ones were not applied";

/// The work is done, the old commands have passed, and the file has others.
fn changed(attended: bool) -> World {
    let mut world = World::new(1, Weather::Fair);
    world.phases = vec![PhaseSeed { text: "Alpha".into(), done: false }];
    world.validation = vec!["make check".into()];
    world.attended = attended;
    world.start(Breaker::default(), Sessions::default());
    while world.spawned == 0 {
        assert!(world.happen());
    }
    read(&mut world, "make all");
    while !world.coming.is_empty() {
        world.happen();
    }
    world
}

fn read(world: &mut World, command: &str) {
    world.validation = vec![command.into()];
    world.ticket_read();
}

fn answer(world: &mut World, accept: bool) {
    let seen = world.state.validation_change.clone().unwrap_or_default();
    let command = UserCommand::AnswerValidationChange { accept, seen };
    world.give(Input::Commanded { by: Answerer::SCREEN, id: "a".into(), command });
}

#[test]
fn another_list_than_the_one_that_was_seen_is_not_decided_about() {
    let mut world = changed(true);
    let seen = vec!["make something".to_owned()];
    let command = UserCommand::AnswerValidationChange { accept: true, seen };
    world.give(Input::Commanded { by: Answerer::SCREEN, id: "a".into(), command });
    assert_eq!(world.state.validation_change, Some(vec!["make all".to_owned()]), "it still waits");
    answer(&mut world, true);
    assert_eq!((&world.state.validation_change, &world.state.validation), (&None, &vec!["make all".to_owned()]));
}

/// How the run ended, with what its last iteration was checked.
fn end(mut world: World) -> (ExitReason, String, Vec<String>) {
    world.live();
    let ran = world.state.iteration.as_ref().unwrap().validated.iter().map(|ran| ran.command.clone()).collect();
    let ended = world.state.ended.unwrap();
    (ended.reason, ended.detail, ran)
}

#[test]
fn the_end_waits_for_the_person() {
    let mut world = changed(true);
    assert_eq!((world.state.ended.as_ref(), world.state.is_complete()), (None, true));
    assert!(world.state.needs_person());
    answer(&mut world, false);
    let (reason, detail, ran) = end(world);
    assert_eq!((reason, detail.as_str()), (ExitReason::Complete, "the phase is done"), "the person chose the old ones");
    assert_eq!(ran, ["make check"]);
}

#[test]
fn what_was_done_last_has_to_stand_the_new_commands() {
    let mut world = changed(true);
    answer(&mut world, true);
    let again = |world: &World| world.journal.iter().any(|stored| matches!(stored.record, Record::PhaseReopened(_)));
    assert!(again(&world));
    let (reason, detail, ran) = end(world);
    assert_eq!((reason, detail.as_str()), (ExitReason::Complete, "the phase is done"));
    assert_eq!(ran, ["make all"]);
}

#[test]
fn a_change_that_is_taken_back_or_a_box_that_is_emptied_ends_the_wait() {
    let mut world = changed(true);
    read(&mut world, "make check");
    assert_eq!(end(world).1, "the phase is done");
    let mut world = changed(true);
    world.phases[0].done = false;
    read(&mut world, "make all");
    while world.spawned < 2 {
        assert!(world.happen(), "nobody works on it");
    }
}

#[test]
fn a_stop_while_it_waits_leaves_the_question_open() {
    let mut world = changed(true);
    world.give(Input::Commanded { by: Answerer::SCREEN, id: "s".into(), command: UserCommand::FinishAndStop });
    assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::UserStopped);
    world.resume();
    while !world.coming.is_empty() {
        world.happen();
    }
    assert_eq!((world.state.ended.as_ref(), world.state.needs_person()), (None, true));
}

#[test]
fn where_nobody_is_there_the_end_says_with_what_it_was_checked() {
    let world = changed(false);
    let said = world.state.unapplied();
    assert_eq!(world.state.phase_by(PhaseId(1)).map(|phase| phase.ticked), Some(true));
    assert!(!world.state.needs_person(), "an ended run asks nothing");
    let (reason, detail, ran) = end(world);
    assert_eq!((reason, detail), (ExitReason::Complete, format!("the phase is done{EARLIER}")));
    assert_eq!((said.map(|said| format!("; {said}")).as_deref(), ran), (Some(EARLIER), vec!["make check".to_owned()]));
}

#[test]
fn a_guard_that_ends_the_run_meanwhile_says_what_is_undecided() {
    let mut world = World::new(1, Weather::Fair);
    world.phases =
        vec![PhaseSeed { text: "Alpha".into(), done: false }, PhaseSeed { text: "Beta".into(), done: false }];
    world.validation = vec!["make check".into()];
    world.settings.max_iterations = 1;
    world.attended = true;
    world.start(Breaker::default(), Sessions::default());
    while world.spawned == 0 {
        assert!(world.happen());
    }
    read(&mut world, "make all");
    let (reason, detail, _) = end(world);
    assert_eq!(reason, ExitReason::MaxIterations);
    assert!(detail.ends_with("; the changed validation commands are undecided"), "{detail}");
}

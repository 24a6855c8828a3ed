//! Once nothing is left to do, all that was changed for a ticket is looked at; what is found there is fixed.

use super::critique::{begun, says, seed, steps, until, world};
use super::world::World;
use programmator::domain::breaker::Breaker;
use programmator::domain::outcome::ExitReason;
use programmator::domain::phase::Mark;
use programmator::domain::profile::Profile;
use programmator::domain::record::Record;
use programmator::domain::session::Sessions;
use programmator::domain::step::StepName;
use programmator::domain::workflow::Workflow;

const FOUND: &str = "PROGRAMMATOR_STATUS:\n  verdict: NEEDS_FIXES\n  issues:\n    - severity: major\n      file: src/a.rs\n      line: 3\n      text: the total is divided by zero\n    - severity: minor\n      file: src/a.rs\n      line: 4\n      text: division of the total by zero\n  summary: s\n";
const HOLDS: &str =
    "PROGRAMMATOR_STATUS:\n  issues:\n    - issue: 1\n      verdict: confirmed\n      reason: seen\n  summary: s\n";
const REFUTED: &str = "PROGRAMMATOR_STATUS:\n  issues:\n    - issue: 1\n      verdict: dropped\n      reason: guarded above\n  summary: s\n";
const MINOR: &str = "PROGRAMMATOR_STATUS:\n  verdict: MINOR_ISSUES\n  issues:\n    - severity: minor\n      text: a name\n  summary: s\n";

/// A world whose work is reviewed at its end.
fn reviewed(seed: u64, workflow: Workflow) -> World {
    let mut world = world(seed, workflow);
    world.settings.workflow.review = vec!["bug-deep".into(), "comments".into()];
    world.start(Breaker::default(), Sessions::default());
    world
}

fn reason(world: &World) -> (ExitReason, &str) {
    let ended = world.state.ended.as_ref().expect("the run has not ended");
    (ended.reason, &ended.detail)
}

#[test]
fn all_that_was_changed_is_looked_at_once_before_the_goal() {
    for phases in [true, false] {
        let mut world = reviewed(seed(phases, true), Workflow::Thorough);
        world.live();
        let mut expected = ["code", "critique"].repeat(world.phases.len().max(1));
        expected.extend(["review", "evaluate"]);
        assert_eq!((reason(&world).0, steps(&world)), (ExitReason::Complete, expected));
        let (_, call) = world.calls.iter().find(|(step, _)| *step == StepName::REVIEW).unwrap();
        assert_eq!((call.profile, &call.session), (Some(Profile::ReadOnly), &None));
        assert_eq!(call.prompt.context.foci, ["bug-deep", "comments"]);
        assert_eq!(call.prompt.context.settled_phases.len(), world.phases.len());
        assert_eq!(world.state.counted_iterations() as usize, world.phases.len().max(1));
        // The next run of the ticket has nothing to do, and asks nobody.
        world.settings.workflow.name = Workflow::Reviewed;
        world.start(Breaker::default(), Sessions::default());
        world.live();
        assert_eq!((reason(&world).0, world.state.iterations), (ExitReason::Complete, 0));
    }
    let mut world = begun(seed(true, true), Workflow::Simple);
    world.live();
    assert!(!steps(&world).contains(&"review"), "nobody has asked for it");
}

#[test]
fn what_the_review_finds_is_fixed_checked_and_looked_at_again() {
    for phases in [true, false] {
        let mut world = reviewed(seed(phases, true), Workflow::Simple);
        assert!(until(&mut world, &StepName::REVIEW));
        let since = world.state.since.clone();
        assert!(world.state.parts().all(|part| matches!(part.mark, Mark::Done(_))));
        says(&mut world, FOUND);
        assert!(until(&mut world, &StepName::CHECK));
        says(&mut world, HOLDS);
        assert!(until(&mut world, &StepName::FIX));
        let (_, call) = world.calls.last().unwrap();
        let [issue] = &call.prompt.context.issues[..] else { panic!("{:?}", call.prompt.context.issues) };
        assert!(issue.contains("the total is divided by zero; also: division of the total by zero"), "{issue}");
        let own = world.state.own_phase().unwrap();
        assert_eq!(own.text, world.state.parts().last().unwrap().text, "the phase that was done last is fixed");
        assert_eq!(own.baseline, since, "it is judged by all that was changed");
        world.live();
        assert_eq!(reason(&world).0, ExitReason::Complete);
        assert!(steps(&world).ends_with(&["review", "check", "fix", "review"]), "{:?}", steps(&world));
        assert!(world.phases.iter().all(|seed| seed.done));
    }
}

#[test]
fn a_second_claude_may_refute_it_and_where_it_says_nothing_it_stays() {
    let mut world = reviewed(seed(true, true), Workflow::Simple);
    assert!(until(&mut world, &StepName::REVIEW));
    says(&mut world, FOUND);
    assert!(until(&mut world, &StepName::CHECK));
    let (_, call) = world.calls.last().unwrap();
    assert_eq!((call.profile, &call.session), (Some(Profile::ReadOnly), &None));
    assert!(call.prompt.context.issues[0].contains("divided by zero"), "{:?}", call.prompt.context.issues);
    says(&mut world, REFUTED);
    world.live();
    assert_eq!(reason(&world).0, ExitReason::Complete);
    assert!(steps(&world).ends_with(&["review", "check"]), "{:?}", steps(&world));

    let mut world = reviewed(seed(true, true), Workflow::Simple);
    assert!(until(&mut world, &StepName::REVIEW));
    says(&mut world, FOUND);
    assert!(until(&mut world, &StepName::CHECK));
    says(&mut world, "They may be right.");
    while !world.state.open_iteration().is_some_and(|open| open.followed_up) {
        assert!(world.happen());
    }
    assert!(world.calls.last().is_some_and(|(step, _)| *step == StepName::CHECK));
    says(&mut world, "I cannot say.");
    assert!(until(&mut world, &StepName::FIX), "nobody has refuted it");
}

#[test]
fn what_the_review_finds_again_and_again_is_for_the_person() {
    let mut world = reviewed(seed(true, true), Workflow::Simple);
    world.settings.workflow.fix_tries = 1;
    world.start(Breaker::default(), Sessions::default());
    for _ in 0..2 {
        assert!(until(&mut world, &StepName::REVIEW));
        says(&mut world, FOUND);
        assert!(until(&mut world, &StepName::CHECK));
        says(&mut world, HOLDS);
    }
    world.live();
    let (why, detail) = reason(&world);
    assert_eq!(why, ExitReason::ReviewFailed);
    assert!(detail.contains("still finds 1 issue in the ticket after 1 attempt"), "{detail}");
    assert!(world.state.needs_person() && world.state.is_resumable());
    // Resumed, it is tried again.
    world.resume();
    world.live();
    assert_eq!(reason(&world).0, ExitReason::Complete);
}

#[test]
fn minor_issues_of_the_review_are_noted_and_what_cannot_be_read_is_no_approval() {
    let mut world = reviewed(seed(true, true), Workflow::Simple);
    assert!(until(&mut world, &StepName::REVIEW));
    says(&mut world, MINOR);
    world.live();
    assert_eq!(reason(&world).0, ExitReason::Complete);
    let noted = |record: &Record| matches!(record, Record::EditDue(due) if serde_json::to_string(due).unwrap().contains("approved the ticket with 1 minor"));
    assert_eq!(world.journal.iter().filter(|stored| noted(&stored.record)).count(), 1);

    let mut world = reviewed(seed(true, true), Workflow::Simple);
    assert!(until(&mut world, &StepName::REVIEW));
    says(&mut world, "I like it.");
    while !world.state.open_iteration().is_some_and(|open| open.followed_up) {
        assert!(world.happen());
    }
    says(&mut world, "As I said.");
    world.live();
    let (why, detail) = reason(&world);
    assert_eq!(why, ExitReason::ReviewFailed);
    assert!(detail.contains("no readable verdict"), "{detail}");
}

//! A ticket without phases is planned: what Claude drafts waits for the person, and goes into the ticket once.

use crate::core::world::{Weather, World};
use programmator::domain::answerer::Answerer;
use programmator::domain::breaker::Breaker;
use programmator::domain::command::UserCommand;
use programmator::domain::outcome::ExitReason;
use programmator::domain::planning::{DraftAnswer, PlanAsked};
use programmator::domain::profile::Profile;
use programmator::domain::record::{Record, WriteOutcome};
use programmator::domain::session::Sessions;
use programmator::domain::step::StepName;
use programmator::domain::ticket::draft::Draft;
use programmator::domain::turn::TurnResult;
use programmator::orchestrator::apply::folded;
use programmator::orchestrator::input::Input;
use programmator::orchestrator::state::{PlanStage, Stage};

const DRAFT: &str = "PROGRAMMATOR_STATUS:\n  phases: [One, Two]\n  validation: [\"make test\"]\n  summary: s\n";

/// A world whose ticket has no phases, and is planned.
fn planning(asked: PlanAsked) -> World {
    let bare = |seed: &u64| World::new(*seed, Weather::Fair).phases.is_empty();
    let mut world = World::new((0..10_000).find(bare).unwrap(), Weather::Fair);
    world.settings.limits.calls = 1_000;
    world.attended = true;
    world.start(Breaker::default(), Sessions::default());
    world.give(Input::PlanAsked(asked));
    world
}

fn stage(world: &World) -> Option<PlanStage> {
    world.state.plan.as_ref().map(|plan| plan.stage)
}

/// Lives until the draft waits; `false`: the run ended before.
fn until_waiting(world: &mut World) -> bool {
    while world.state.waiting_draft().is_none() || world.state.stage != Stage::Idle {
        if world.state.ended.is_some() || !world.happen() {
            return false;
        }
    }
    true
}

fn until_running(world: &mut World) {
    while world.state.stage != Stage::Running {
        assert!(world.happen(), "Claude is never called");
    }
}

fn answer(world: &mut World, answer: DraftAnswer) {
    let seen = Box::new(world.state.waiting_draft().cloned().unwrap_or_default());
    let command = UserCommand::AnswerDraft { answer, seen };
    world.give(Input::Commanded { by: Answerer::SCREEN, id: "a".into(), command });
}

fn says(world: &mut World, text: &str) {
    world.coming.clear();
    let result = TurnResult { subtype: "success".into(), text: text.to_owned(), ..TurnResult::default() };
    world.give(Input::TurnFinished { n: world.state.iterations, result: Box::new(result) });
}

fn ended(world: &World) -> (ExitReason, &str) {
    let ended = world.state.ended.as_ref().unwrap();
    (ended.reason, &ended.detail)
}

fn count(world: &World, is_it: fn(&Record) -> bool) -> usize {
    world.journal.iter().filter(|stored| is_it(&stored.record)).count()
}

#[test]
fn an_accepted_draft_is_written_and_the_run_does_nothing_else() {
    let mut world = planning(PlanAsked::default());
    assert!(until_waiting(&mut world));
    assert!(world.state.needs_person());
    answer(&mut world, DraftAnswer::Accept);
    world.live();
    assert_eq!(ended(&world), (ExitReason::Planned, "the plan is in the ticket: 2 phases"));
    let texts: Vec<&str> = world.state.phases.iter().map(|phase| phase.text.as_str()).collect();
    assert_eq!((texts, world.state.iterations), (vec!["One", "Two"], 1));
    assert_eq!(world.state.validation_change, None, "the draft's commands were the person's choice");
    let (step, spawn) = &world.calls[0];
    assert_eq!((step, spawn.profile, spawn.plan_mode), (&StepName::PLAN, Some(Profile::ReadOnly), true));
    assert_eq!(world.state.counted_iterations(), 0, "planning is no iteration of the work");
    assert_eq!(count(&world, |record| matches!(record, Record::StatusIntended { .. })), 0, "nothing is begun yet");
    assert!(!world.state.is_resumable() && !world.state.needs_person());
    assert_eq!(world.state.since, None, "the evaluator's difference begins with the work, not with the plan");
    world.start(Breaker::default(), Sessions::default());
    world.live();
    assert!(world.state.since.is_some());
}

#[test]
fn words_about_a_draft_go_back_to_the_same_session() {
    let mut world = planning(PlanAsked::default());
    assert!(until_waiting(&mut world));
    let session = world.state.sessions.of(&StepName::PLAN).unwrap().id.clone();
    answer(&mut world, DraftAnswer::Revise { words: "  ".into() });
    assert_eq!(stage(&world), Some(PlanStage::Waiting), "no words are no answer");
    answer(&mut world, DraftAnswer::Revise { words: "Smaller steps.".into() });
    assert_eq!(stage(&world), Some(PlanStage::Due));
    until_running(&mut world);
    let (_, spawn) = world.calls.last().unwrap();
    assert_eq!(spawn.session, Some(session));
    assert_eq!(spawn.prompt.context.words.as_deref(), Some("Smaller steps."));
    assert!(spawn.prompt.context.draft.as_ref().unwrap().contains("- [ ] One"));
    says(&mut world, &DRAFT.replace("One, Two", "One, Two, Three"));
    assert!(until_waiting(&mut world));
    assert_eq!(world.state.waiting_draft().unwrap().phases.len(), 3);
    assert_eq!(world.state.plan.as_ref().unwrap().words, None, "they are worked in");
    // What the person has set for a phase is theirs: it stays where Claude drafts that phase again.
    let mut draft = world.state.waiting_draft().unwrap().clone();
    draft.phases[1] = "Two <!-- critique: off -->".into();
    answer(&mut world, DraftAnswer::Edit(draft));
    answer(&mut world, DraftAnswer::Revise { words: "Larger steps.".into() });
    until_running(&mut world);
    says(&mut world, &DRAFT.replace("One, Two", "\"One <!-- model: opus -->\", Two"));
    assert!(until_waiting(&mut world));
    assert_eq!(world.state.waiting_draft().unwrap().phases, ["One", "Two <!-- critique: off -->"]);
}

#[test]
fn what_is_no_draft_is_asked_for_once_more_and_then_it_is_said() {
    let mut world = planning(PlanAsked::default());
    until_running(&mut world);
    says(&mut world, &DRAFT.replace("One, Two", "One, One"));
    while !world.state.open_iteration().is_some_and(|open| open.followed_up) {
        assert!(world.happen());
    }
    says(&mut world, "Here is my plan: do it.");
    world.live();
    let (reason, why) = ended(&world);
    assert_eq!(reason, ExitReason::NotPlanned);
    assert!(why.contains("even when asked again: There is no status block"), "{why}");
    assert_eq!((world.calls.len(), world.state.phases.len()), (1, 0));
    assert!(world.state.needs_person());
    let why: Vec<&str> = world
        .journal
        .iter()
        .filter_map(|stored| match &stored.record {
            Record::ClaimMissing { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(why, ["same_phase_twice", "missing"]);
}

#[test]
fn a_refused_draft_ends_the_run_and_where_nobody_is_it_waits_for_the_next_time() {
    let mut world = planning(PlanAsked::default());
    assert!(until_waiting(&mut world));
    answer(&mut world, DraftAnswer::Refuse);
    assert_eq!(ended(&world).0, ExitReason::NotPlanned);
    assert_eq!((world.phases.len(), world.state.needs_person()), (0, false));

    let mut world = planning(PlanAsked::default());
    world.attended = false;
    world.live();
    let (reason, why) = ended(&world);
    assert_eq!(reason, ExitReason::Drafted);
    assert!(why.contains("`programmator plan t --save`"), "{why}");
    assert!(world.state.is_resumable() && world.state.needs_person());
    world.resume();
    let told = count(
        &world,
        |record| matches!(record, Record::Noticed { text, .. } if text.contains("still undecided") && text.contains("phase add")),
    );
    assert_eq!(told, 1, "whatever command resumes it, the person is told that it plans");
    world.give(Input::PlanAsked(PlanAsked { saves: true, ..PlanAsked::default() }));
    world.live();
    assert_eq!((ended(&world).0, world.calls.len()), (ExitReason::Planned, 1), "nothing is drafted twice");
}

#[test]
fn killed_at_any_record_it_goes_on_and_the_draft_is_written_once() {
    let mut whole = planning(PlanAsked { saves: true, ..PlanAsked::default() });
    whole.live();
    assert_eq!(ended(&whole).0, ExitReason::Planned);
    let asked = whole.journal.iter().position(|stored| matches!(stored.record, Record::PlanAsked(_))).unwrap();
    for kept in asked + 1..whole.journal.len() {
        let mut world = planning(PlanAsked { saves: true, ..PlanAsked::default() });
        while world.journal.len() < kept && world.happen() {}
        world.journal.truncate(kept);
        world.state = folded(&world.journal);
        world.coming.clear();
        world.timers.clear();
        world.resume();
        world.live();
        assert_eq!(ended(&world).0, ExitReason::Planned, "killed after {kept} records");
        let written = count(
            &world,
            |record| matches!(record, Record::RevisionSettled(settled) if settled.outcome == WriteOutcome::Written),
        );
        let intended = count(&world, |record| matches!(record, Record::RevisionIntended(_)));
        assert_eq!((written, intended, world.phases.len()), (1, 1, 2), "killed after {kept} records");
    }
}

#[test]
fn what_cannot_be_written_waits_again_and_an_edited_draft_is_checked() {
    let mut world = planning(PlanAsked::default());
    assert!(until_waiting(&mut world));
    let two = |phases: [&str; 2]| Draft { phases: phases.map(str::to_owned).to_vec(), ..Draft::default() };
    answer(&mut world, DraftAnswer::Edit(two(["Same", "Same"])));
    assert_eq!(world.state.waiting_draft().unwrap().phases, ["One", "Two"]);
    answer(&mut world, DraftAnswer::Edit(two(["First", "Second"])));
    assert_eq!(world.state.waiting_draft().unwrap().phases, ["First", "Second"]);
    answer(&mut world, DraftAnswer::Try);
    assert_eq!(world.state.plan.as_ref().map(|plan| plan.trying), Some(false), "it has no commands");
    answer(&mut world, DraftAnswer::Accept);
    world.coming.clear();
    world.give(Input::DraftPlaced(Err("the ticket already has phases".into())));
    assert_eq!(stage(&world), Some(PlanStage::Waiting));
    assert_eq!(count(&world, |record| matches!(record, Record::DraftNotWritten { .. })), 1);
    assert!(world.state.ended.is_none());
}

#[test]
fn commands_are_tried_only_on_wish_and_once_at_a_time() {
    let mut world = planning(PlanAsked::default());
    assert!(until_waiting(&mut world));
    assert_eq!(world.state.plan.as_ref().unwrap().tried.len(), 0);
    answer(&mut world, DraftAnswer::Try);
    answer(&mut world, DraftAnswer::Try);
    assert_eq!(world.coming.iter().filter(|input| matches!(input, Input::DraftTried(_))).count(), 1);
    while world.state.plan.as_ref().is_some_and(|plan| plan.trying) && world.happen() {}
    let plan = world.state.plan.clone().unwrap();
    assert_eq!((plan.tried.len(), plan.trying, plan.stage), (1, false, PlanStage::Waiting));
}

#[test]
fn a_ticket_that_gets_phases_meanwhile_is_not_worked_on() {
    let mut world = planning(PlanAsked::default());
    assert!(until_waiting(&mut world));
    world.phases = vec![programmator::domain::record::PhaseSeed { text: "Mine".into(), done: false }];
    let read = world.reading();
    world.give(read);
    answer(&mut world, DraftAnswer::Revise { words: "More.".into() });
    assert_eq!(ended(&world).0, ExitReason::NotPlanned);
    assert!(world.calls.iter().all(|(step, _)| *step == StepName::PLAN));
}

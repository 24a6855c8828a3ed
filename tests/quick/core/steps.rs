//! A second step, in one row: it reviews each phase that was found done, in a fresh session, and may only read. What the
//! core does with it is what it will do with any.

use crate::core::world::{Weather, World};
use programmator::domain::breaker::Breaker;
use programmator::domain::claim::parse::{Reading, parse};
use programmator::domain::outcome::{DoneHow, ExitReason};
use programmator::domain::phase::Claimed;
use programmator::domain::phase::Mark;
use programmator::domain::profile::Profile;
use programmator::domain::record::{Record, Stored};
use programmator::domain::session::Sessions;
use programmator::domain::step::{Counts, StepName};
use programmator::domain::turn::TurnResult;
use programmator::domain::workflow::WorkflowSettings;
use programmator::orchestrator::apply::folded;
use programmator::orchestrator::effect::Spawn;
use programmator::orchestrator::input::Input;
use programmator::orchestrator::judge::Checks;
use programmator::orchestrator::prompt::{Kind, Prompt, PromptContext};
use programmator::orchestrator::state::{Iteration, PhaseState, Stage, State};
use programmator::orchestrator::step::{Answer, Judged, Next, SessionUse, Step};
use programmator::orchestrator::steps::{STEPS, code};

const NAME: StepName = StepName::new("inspect");
const REVIEW: Kind = Kind { file: "review.md", builtin: "Review {{ phase }}." };

const fn review(next: fn(&State) -> Next, judge: fn(&State, Checks<'_>) -> Judged) -> Step {
    Step {
        name: NAME,
        counts: Counts::Nothing,
        takes_messages: false,
        session: SessionUse::Fresh,
        next,
        stands: |state| state.own_phase().is_some(),
        model: |_| Some("reviewer".to_owned()),
        effort: |_| Some("high".to_owned()),
        profile: |_| Some(Profile::Strict),
        prompts: &[REVIEW],
        prompt,
        follow_up: |state| prompt(state, Vec::new()),
        plan_mode: false,
        shows_changes: false,
        read,
        judge,
    }
}

fn read(_: &State, text: &str) -> Answer {
    let Reading { claim, warnings, .. } = parse(text);
    claim.map_or(Answer::Unreadable("missing"), |claim| Answer::Claim { claim, about: Claimed::Nothing, warnings })
}

static STEPS_WITH_REVIEW: [Step; 2] = [review(next, objects), code::STEP];

/// What was done last is reviewed, and what a review did not come to the end of.
fn next(state: &State) -> Next {
    let last = state.iteration.as_ref().filter(|last| last.role.step == StepName::CODE || last.cut.is_some());
    match last.and_then(|last| state.about(last.phase)).filter(|phase| is_done(phase)) {
        None => Next::Nothing,
        Some(_) if state.phases.is_empty() => Next::Ticket,
        Some(phase) => Next::Phase(phase.named()),
    }
}

fn prompt(state: &State, notes: Vec<String>) -> Prompt {
    let phase = state.own_text().map(str::to_owned);
    Prompt { kind: REVIEW, context: PromptContext { phase, notes, ..PromptContext::default() } }
}

/// Not every review is content.
fn objection(state: &State) -> Option<Record> {
    let claim = state.open_iteration()?.claim.as_ref()?;
    let phase = state.own_phase().filter(|phase| is_done(phase) && !state.phases.is_empty())?;
    claim.denies_exit().then(|| {
        let (of, by) = (phase.named(), programmator::domain::answerer::Answerer::SCREEN);
        Record::PhaseReopened(programmator::domain::record::PhaseByPerson { of, by, why: None })
    })
}

fn objects(state: &State, _: Checks<'_>) -> Judged {
    Judged::Facts(objection(state).into_iter().collect())
}

fn is_done(phase: &PhaseState) -> bool {
    matches!(phase.mark, Mark::Done(_))
}

/// A world where the least idleness would end a run.
fn reviewed(seed: u64, weather: Weather) -> World {
    let mut world = World::new(seed, weather);
    world.steps = &STEPS_WITH_REVIEW;
    world.settings.workflow = WorkflowSettings::default();
    if weather == Weather::Fair {
        (world.settings.stagnation_limit, world.settings.breaker.no_progress) = (1, 1);
        world.settings.max_iterations = world.phases.len().max(1) as u32 + 1;
        world.settings.limits.calls = 100;
    }
    world.start(Breaker::default(), Sessions::default());
    world
}

fn calls(world: &World, step: &StepName) -> Vec<Spawn> {
    world.calls.iter().filter(|(name, _)| name == step).map(|(_, spawn)| spawn.clone()).collect()
}

#[test]
fn a_new_step_is_a_row() {
    for seed in 0..100 {
        let mut world = reviewed(seed, Weather::Fair);
        world.live();
        let ended = world.state.ended.clone().unwrap();
        assert_eq!(ended.reason, ExitReason::Complete, "seed {seed}: {}", ended.detail);
        let (coded, reviews) = (calls(&world, &StepName::CODE), calls(&world, &NAME));
        assert_eq!(reviews.len(), world.phases.len().max(1), "seed {seed}: each phase is reviewed once");
        assert_eq!(world.state.counted_iterations() as usize, coded.len(), "seed {seed}: a review counts for nothing");
        assert_eq!((world.state.stagnation, world.state.breaker.no_progress), (0, 0), "seed {seed}");
        for review in &reviews {
            assert_eq!(review.session, None, "seed {seed}: a review goes on with no session");
            assert_eq!(review.model.as_deref(), Some("reviewer"));
            assert_eq!((review.effort.as_deref(), review.profile), (Some("high"), Some(Profile::Strict)));
            assert_eq!(review.prompt.kind, REVIEW);
        }
        for (at, code) in coded.iter().enumerate() {
            assert_eq!(code.session.is_some(), at > 0, "seed {seed}: the session outlives the reviews between");
            assert_eq!((&code.model, code.profile), (&Some("m".to_owned()).filter(|_| at > 0), None), "seed {seed}");
            assert_eq!(code.prompt.context.resumed, at > 0, "seed {seed}");
            assert_eq!(code.prompt.context.summaries.len(), at, "seed {seed}: what a review says is not work reported");
        }
        for (at, asked) in world.asked.iter().map(Option::as_deref).enumerate() {
            let expected = if at % 2 == 1 { Some("reviewer") } else { Some("m").filter(|_| at > 0) };
            assert_eq!(asked, expected, "seed {seed}: a call is admitted for the model of its step");
        }
        let steps: Vec<_> = world.state.limits.receipts.iter().map(|receipt| receipt.step.word()).collect();
        assert_eq!(steps, ["code", "inspect"].repeat(reviews.len()), "seed {seed}: a receipt names its step");
    }
}

/// It always has something to look at, and says nothing of it.
static ENDLESS: [Step; 2] = [review(anything_done, |_, _| Judged::Facts(Vec::new())), code::STEP];

fn anything_done(state: &State) -> Next {
    state.phases.iter().find(|phase| is_done(phase)).map_or(Next::Nothing, |phase| Next::Phase(phase.named()))
}

#[test]
fn a_step_that_counts_for_nothing_and_never_ends_is_stopped() {
    for seed in 0..20 {
        let mut world = reviewed(seed, Weather::Fair);
        world.steps = &ENDLESS;
        let phases = world.phases.len();
        world.live();
        let ended = world.state.ended.clone().unwrap();
        let reason = if phases > 0 { ExitReason::Stagnation } else { ExitReason::Complete };
        assert_eq!(ended.reason, reason, "seed {seed}: {}", ended.detail);
        assert!(calls(&world, &NAME).len() <= 20, "seed {seed}");
    }
}

#[test]
fn what_a_review_says_decides_what_follows() {
    for seed in 0..50 {
        let mut world = reviewed(seed, Weather::Fair);
        world.objections = 1;
        let phases = world.phases.len();
        world.live();
        assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete, "seed {seed}");
        let again = usize::from(phases > 0);
        assert_eq!(calls(&world, &StepName::CODE).len(), phases.max(1) + again, "seed {seed}");
        assert_eq!(calls(&world, &NAME).len(), phases.max(1) + again, "seed {seed}");
        let taken_back = |stored: &&Stored| matches!(stored.record, Record::UntickSettled(_));
        assert_eq!(
            world.journal.iter().filter(taken_back).count(),
            again,
            "seed {seed}: the box of what is open again"
        );
    }
}

/// Runs until a step's iteration is at work, and ends its turn with these words.
fn says(world: &mut World, step: &StepName, words: &str) {
    let is_at_work = |open: &Iteration| open.role.step == *step;
    while !(world.state.stage == Stage::Running && world.state.open_iteration().is_some_and(is_at_work)) {
        assert!(world.happen());
    }
    world.coming.clear();
    let n = world.state.iterations;
    let text = format!("PROGRAMMATOR_STATUS:\n  phase_completed: null\n  summary: s\n{words}");
    let result = TurnResult { subtype: "success".into(), text, ..TurnResult::default() };
    world.give(Input::TurnFinished { n, result: Box::new(result) });
}

#[test]
fn only_a_step_that_says_so_ends_the_run_when_it_is_blocked() {
    let mut world = reviewed(0, Weather::Fair);
    says(&mut world, &NAME, "  status: BLOCKED\n  error: no key\n");
    world.live();
    assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete);
    let mut world = reviewed(0, Weather::Fair);
    says(&mut world, &StepName::CODE, "  status: BLOCKED\n  error: no key\n");
    world.live();
    let ended = world.state.ended.unwrap();
    assert_eq!((ended.reason, ended.detail.as_str()), (ExitReason::Blocked, "Claude is blocked: no key"));
}

/// Each iteration of code is looked at, whatever it came to.
static EACH: [Step; 2] = [review(after_code, |_, _| Judged::Facts(Vec::new())), code::STEP];

fn after_code(state: &State) -> Next {
    let is_code = |last: &Iteration| last.role.step == StepName::CODE;
    if state.iteration.as_ref().is_some_and(is_code) { Next::Ticket } else { Next::Nothing }
}

#[test]
fn what_code_was_checked_with_counts_though_a_review_came_after_it() {
    let seed = (0..1_000).find(|seed| World::new(*seed, Weather::Fair).phases.is_empty()).unwrap();
    let mut world = World::new(seed, Weather::Fair);
    world.steps = &EACH;
    world.validation = vec!["make check".into()];
    world.boxes.open = 1;
    world.start(Breaker::default(), Sessions::default());
    says(&mut world, &StepName::CODE, "  status: CONTINUE\n  exit_signal: true\n  files_changed: [a]\n");
    while calls(&world, &NAME).is_empty() {
        assert!(world.happen());
    }
    (world.boxes.open, world.boxes.ticked) = (0, 1);
    world.ticket_read();
    world.live();
    assert_eq!(calls(&world, &StepName::CODE).len(), 1, "all is ticked, and was found true");
    assert_eq!(world.state.whole.mark, Mark::Done(DoneHow::Verified));
    world.state.validation = vec!["make all".into()];
    assert_eq!(world.state.unapplied(), Some("validated with the old commands; the new ones were not applied"));
}

#[test]
fn a_review_that_is_killed_is_made_again() {
    for seed in 0..50 {
        let mut world = reviewed(seed, Weather::Fair);
        let is_review = |open: &Iteration| open.role.step == NAME;
        while !(world.state.stage == Stage::Running && world.state.open_iteration().is_some_and(is_review)) {
            assert!(world.happen(), "seed {seed}: no review");
        }
        assert!(world.kill(), "seed {seed}");
        world.live();
        assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete, "seed {seed}");
        assert_eq!(calls(&world, &NAME).len(), world.phases.len().max(1) + 1, "seed {seed}");
        assert_eq!(world.state.counted_iterations() as usize, calls(&world, &StepName::CODE).len(), "seed {seed}");
        assert_eq!(folded(&world.journal), world.state, "seed {seed}");
    }
}

#[test]
fn every_invariant_holds_with_another_step() {
    let mut reviews = 0;
    for seed in 0..600 {
        let mut world = reviewed(seed, Weather::Rough);
        world.objections = world.dice.roll(3) as u32;
        world.live();
        reviews += calls(&world, &NAME).len();
    }
    assert!(reviews > 100, "too few to tell anything: {reviews}");
}

#[test]
fn a_run_that_another_program_gave_a_step_goes_on_without_it() {
    for seed in 0..50 {
        let mut world = reviewed(seed, Weather::Fair);
        while world.state.open_iteration().is_none_or(|open| open.role.step != NAME) {
            assert!(world.happen(), "seed {seed}: no review");
        }
        world.steps = &STEPS;
        world.kill();
        world.live();
        assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete, "seed {seed}");
    }
}

#[test]
fn names_of_steps_are_words_and_each_is_there_once() {
    let mut names: Vec<&str> = STEPS.iter().map(|step| step.name.word()).collect();
    assert!(names.iter().all(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase())));
    names.dedup();
    assert_eq!(names.len(), STEPS.len());
}

//! The core in a world of its own: seeded schedules of work, faults, people and kills, without any I/O.
//!
//! `core/world.rs` is that world, `core/invariants.rs` what holds in it, `core/simulation.rs` plays many schedules. Here
//! are the tests of single properties.

mod changed_commands;
mod chat;
mod critique;
mod dice;
mod evaluate;
mod invariants;
mod ledger;
mod person;
mod phase_settings;
mod planning;
mod players;
mod questions;
mod review;
mod simulation;
mod steps;
mod world;

use players::exited;
use programmator::base::id::TicketId;
use programmator::base::time::Timestamp;
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::{Answer, Presence, QuestionId, Scope};
use programmator::domain::background::{BackgroundTask, TaskKind};
use programmator::domain::breaker::{Breaker, Circuit};
use programmator::domain::command::UserCommand;
use programmator::domain::commit::CommitSettled;
use programmator::domain::outcome::{ExitReason, IterationOutcome};
use programmator::domain::phase::PhaseId;
use programmator::domain::record::{FORMAT, OfPhase, PhaseSeed, Record, Stored, WriteOutcome};
use programmator::domain::session::{Sessions, Told};
use programmator::domain::settings::BreakerSettings;
use programmator::domain::ticket::{Boxes, TicketStatus};
use programmator::domain::tool_call::Via;
use programmator::domain::turn::TurnResult;
use programmator::domain::verdict::Verdict;
use programmator::orchestrator::apply::{apply, folded};
use programmator::orchestrator::breaker;
use programmator::orchestrator::decide::decide;
use programmator::orchestrator::effect::Timer;
use programmator::orchestrator::input::Input;
use proptest::prelude::*;
use questions::{call, ruling};
use world::{Weather, World};

/// A run from its start until it has ended.
fn run(seed: u64, weather: Weather) -> World {
    let mut world = World::new(seed, weather);
    world.start(Breaker::default(), Sessions::default());
    world.live();
    world
}

/// What a limit refused counts for nothing.
#[test]
fn a_refused_iteration_counts_for_nothing() {
    let mut refused = 0;
    for seed in 0..300 {
        let world = run(seed, Weather::Rough);
        let mut state = programmator::orchestrator::state::State::default();
        for stored in &world.journal {
            let is_refused = matches!(stored.record, Record::IterationEnded { outcome: IterationOutcome::Parked, .. });
            let before = is_refused.then(|| state.clone());
            apply(&mut state, stored);
            let Some(before) = before else { continue };
            refused += 1;
            assert_eq!(state.stagnation, before.stagnation, "seed {seed}");
            assert_eq!(state.repeated, before.repeated, "seed {seed}");
            assert_eq!(state.breaker, before.breaker, "seed {seed}");
            let counts = before.open_iteration().is_some_and(|open| open.role.counts.is_progress());
            assert_eq!(
                state.counted_iterations() + u32::from(counts),
                before.counted_iterations(),
                "seed {seed}: a critique counts for nothing anyway"
            );
        }
    }
    assert!(refused > 10, "too few to tell anything: {refused}");
}

/// With its own thresholds a recorded run is told as it was; with others, the breaker opens earlier or later.
#[test]
fn what_a_breaker_would_have_done_is_what_it_did() {
    let (mut opened, mut spared) = (0, 0);
    for seed in 0..300 {
        let world = run(seed, Weather::Rough);
        let records: Vec<_> = world.journal.iter().cloned().map(std::sync::Arc::new).collect();
        let did: Vec<_> = world
            .journal
            .iter()
            .filter_map(|stored| match &stored.record {
                Record::BreakerMoved(moved) if moved.n > 0 => Some(moved.clone()),
                _ => None,
            })
            .collect();
        let limits = &world.state.settings.breaker;
        let predicted = breaker::what_if(&records, limits);
        assert_eq!(predicted, did[..predicted.len()], "seed {seed}");
        if predicted.last().is_some_and(|moved| moved.to == Circuit::Open) {
            opened += 1;
            let patient =
                BreakerSettings { no_progress: 999, same_error: 999, permission_denials: 999, ..limits.clone() };
            spared += usize::from(breaker::what_if(&records, &patient).iter().all(|moved| moved.to != Circuit::Open));
        } else {
            assert_eq!(predicted.len(), did.len(), "seed {seed}");
        }
    }
    assert!(opened > 10, "too few to tell anything: {opened}");
    assert_eq!(spared, opened);
}

#[test]
fn a_breaker_outlives_its_run_and_is_obeyed_by_the_next() {
    let (mut refused, mut let_through) = (0, 0);
    for seed in 0..600 {
        let first = run(seed, Weather::Rough);
        if first.state.breaker.state != Circuit::Open {
            continue;
        }
        let mut next = World::new(seed + 1, Weather::Fair);
        // From an hour earlier to an hour later.
        next.now = first.now + next.dice.signed(7_200_000) - 3_600_000;
        let opened = first.state.breaker.opened_at.unwrap();
        next.start(first.state.breaker.clone(), Sessions::default());
        let waited = Timestamp::from_millis(next.now).since(opened).as_secs();
        next.live();
        if waited >= next.settings.breaker.cooldown {
            let_through += 1;
            assert!(next.spawned > 0, "seed {seed}: one iteration is let through");
        } else {
            refused += 1;
            assert_eq!(next.spawned, 0, "seed {seed}: called after {waited} s");
            assert_eq!(next.state.ended.as_ref().unwrap().reason, ExitReason::CircuitOpen, "seed {seed}");
        }
    }
    assert!(refused > 5 && let_through > 2, "too few to tell anything: {refused} refused, {let_through} let through");
}

#[test]
fn fair_runs_complete_with_every_box_ticked_once() {
    for seed in 0..300 {
        let world = run(seed, Weather::Fair);
        assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete, "seed {seed}");
        assert!(world.phases.iter().all(|seed| seed.done), "seed {seed}");
        let done = world.journal.iter().filter_map(|stored| match &stored.record {
            Record::PhaseDone { phase, .. } => Some(phase.clone()),
            _ => None,
        });
        let mut done: Vec<_> = done.collect();
        assert_eq!(done.len(), world.phases.len().max(1), "seed {seed}");
        done.dedup();
        assert_eq!(done.len(), world.phases.len().max(1), "seed {seed}: a phase was done twice");
        assert_eq!(world.state.ticket_status, Some(TicketStatus::Closed), "seed {seed}");
    }
}

#[test]
fn each_of_many_phases_of_one_name_is_done_once() {
    for seed in 0..50 {
        let mut world = World::new(seed, Weather::Fair);
        world.phases = vec![PhaseSeed { text: "Tidy up".into(), done: false }; 3];
        world.start(Breaker::default(), Sessions::default());
        world.live();
        let told = |id: &dyn Fn(&Record) -> Option<PhaseId>| -> Vec<u32> {
            world.journal.iter().filter_map(|stored| id(&stored.record)).map(|id| id.0).collect()
        };
        let done = |record: &Record| if let Record::PhaseDone { id, .. } = record { *id } else { None };
        let ticked = |record: &Record| if let Record::TickSettled(settled) = record { settled.phase.id } else { None };
        let begun = |record: &Record| if let Record::IterationStarted { id, .. } = record { *id } else { None };
        assert_eq!([told(&done), told(&ticked), told(&begun)], [const { [1, 2, 3] }; 3], "seed {seed}");
        assert!(world.phases.iter().all(|seed| seed.done), "seed {seed}");
    }
}

#[test]
fn every_prefix_of_a_journal_folds_and_resumes() {
    for seed in 0..20 {
        let whole = run(seed, Weather::Rough);
        for cut in 1..whole.journal.len() {
            let state = folded(&whole.journal[..cut]);
            if !state.is_resumable() {
                continue;
            }
            let mut world = World::new(seed, Weather::Fair);
            world.phases.clone_from(&whole.phases);
            world.snapshots.clone_from(&whole.snapshots);
            (world.runs, world.tree) = (whole.runs, whole.tree);
            world.take_over(whole.journal[..cut].to_vec());
            // The file is as the whole run left it: what is ticked in it was ticked by somebody meanwhile.
            whole
                .phases
                .iter()
                .filter(|seed| seed.done)
                .for_each(|seed| world.rules.person_ticks(&world.state, &seed.text));
            world.resume();
            world.live();
            assert!(world.state.ended.is_some(), "seed {seed} cut at {cut}: stuck in {:?}", world.state.stage);
        }
    }
}

#[test]
fn a_ticket_is_read_also_when_the_clock_was_set_back_behind_our_own_change_of_it() {
    let seed = (0..1_000).find(|seed| World::new(*seed, Weather::Fair).phases.len() > 1).unwrap();
    let mut world = World::new(seed, Weather::Fair);
    world.start(Breaker::default(), Sessions::default());
    while world.state.reading == 0 {
        assert!(world.happen());
    }
    world.phases[1].done = true;
    world.rules.person_ticks(&world.state, &world.phases[1].text.clone());
    world.now -= 3_600_000;
    world.ticket_read();
    assert!(world.state.phases[1].ticked, "{:?}", world.state.phases);
}

/// So many tasks in the background: the first is a subagent, the others are commands.
fn background(tasks: usize) -> Vec<BackgroundTask> {
    let kinds = [TaskKind::Agent, TaskKind::Shell, TaskKind::Shell];
    kinds.into_iter().take(tasks).map(|kind| BackgroundTask { id: "b".into(), kind, what: "w".into() }).collect()
}

fn any_input() -> impl Strategy<Value = Input> {
    let n = 0..4_u32;
    let text = "[a-z ]{0,12}";
    prop_oneof![
        Just(Input::TreeGranted),
        text.prop_map(|holder| Input::TreeBusy { holder }),
        (n.clone(), text).prop_map(|(n, id)| Input::SnapshotTaken { n, id }),
        (n.clone(), text).prop_map(|(n, message)| Input::SnapshotFailed { n, message }),
        n.clone().prop_map(|n| Input::AgentStarting { n }),
        n.clone().prop_map(|n| Input::AgentSpawned { n, pid: 1 }),
        (n.clone(), text).prop_map(|(n, message)| Input::AgentFailed { n, message }),
        (n.clone(), text).prop_map(|(n, session)| Input::AgentReady {
            n,
            session,
            model: "m".into(),
            version: "v".into(),
            told: Told::default(),
        }),
        (n.clone(), any::<bool>(), text).prop_map(|(n, is_error, text)| Input::TurnFinished {
            n,
            result: Box::new(TurnResult { is_error, text, ..TurnResult::default() })
        }),
        n.clone().prop_map(exited),
        (n.clone(), any::<i64>())
            .prop_map(|(n, at)| Input::TimerFired { timer: Timer::Idle(n), last_byte: Timestamp::from_millis(at) }),
        n.clone().prop_map(|n| Input::TimerFired { timer: Timer::Iteration(n), last_byte: Timestamp::from_millis(0) }),
        n.clone().prop_map(|n| Input::TimerFired { timer: Timer::Start(n), last_byte: Timestamp::from_millis(0) }),
        n.clone().prop_map(|n| Input::TimerFired { timer: Timer::FirstByte(n), last_byte: Timestamp::from_millis(0) }),
        n.clone().prop_map(|n| Input::TimerFired { timer: Timer::PostResult(n), last_byte: Timestamp::from_millis(0) }),
        n.clone().prop_map(|n| Input::EvidenceGathered {
            n,
            iteration_files: vec![],
            phase_files: vec!["a".into()],
            reading: 9
        }),
        n.clone().prop_map(|n| Input::ValidationFinished { n, results: vec![], reading: 9 }),
        (text, any::<bool>()).prop_map(|(phase, done)| Input::BoxSettled {
            phase: OfPhase { phase, id: None },
            done,
            outcome: WriteOutcome::FileGone,
            reading: 9
        }),
        (n.clone(), text).prop_map(|(n, id)| Input::ToolAsked { n, call: Box::new(call(&id, Via::CanUseTool)) }),
        (n.clone(), "[ab]", 0..4_u8, any::<bool>()).prop_map(|(n, id, verdict, there)| {
            use Verdict::{Allow, Ask, Block, Passphrase};
            let verdict = [Allow, Ask, Passphrase, Block][usize::from(verdict)];
            let presence = if there { Presence::Screen } else { Presence::Nobody };
            let call = Box::new(call(&id, Via::CanUseTool));
            Input::Judged { n, call, ruling: Box::new(ruling(verdict)), presence }
        }),
        ("[ab]", any::<bool>()).prop_map(|(id, edited)| {
            let input = if edited { "{\"a\":1}" } else { "{}" }.to_owned();
            let answer = Answer::Allow { input, scope: Scope::Always };
            Input::Commanded {
                by: Answerer::SCREEN,
                id: "i".into(),
                command: UserCommand::AnswerApproval { id: QuestionId::first(id), answer },
            }
        }),
        "[ab]".prop_map(|id| Input::Unlocked { id: QuestionId::first(id), by: Answerer::SCREEN }),
        "[ab]".prop_map(|id| Input::EditJudged {
            by: Answerer::SCREEN,
            id: QuestionId::first(id),
            input: "{}".into(),
            ruling: Box::new(ruling(Verdict::Ask))
        }),
        Just(Input::RulesChanged { words: "w".into(), trouble: None }),
        Just(Input::RulesOpened { words: "w".into() }),
        ("[ab]", prop::sample::select(vec![Verdict::Allow, Verdict::Ask, Verdict::Passphrase, Verdict::Block]))
            .prop_map(|(id, verdict)| Input::Rejudged { id: QuestionId::first(id), ruling: Box::new(ruling(verdict)) }),
        (0..9_000_u64).prop_map(|ms| Input::StorageWorked { waited: std::time::Duration::from_millis(ms) }),
        "[ab]".prop_map(|id| Input::NotRejudged { id: QuestionId::first(id), why: "line 3".into() }),
        "[ab]".prop_map(|id| Input::RuleSaved { by: Answerer::SCREEN, id: QuestionId::first(id), path: "/p".into() }),
        (n.clone(), "[ab]").prop_map(|(n, tool_use_id)| Input::AskWithdrawn { n, tool_use_id }),
        (n.clone(), "[ab]", any::<bool>()).prop_map(|(n, tool_use_id, unasked)| Input::ToolRan {
            n,
            tool_use_id,
            unasked
        }),
        (n.clone(), 0..3_usize).prop_map(|(n, tasks)| Input::BackgroundChanged { n, tasks: background(tasks) }),
        (n.clone(), any::<bool>()).prop_map(|(n, wakes)| Input::ForeignTurn { n, wakes }),
        n.clone().prop_map(|n| Input::TimerFired { timer: Timer::Approval(n), last_byte: Timestamp::from_millis(0) }),
        ("[ab]", 0..3).prop_map(|(id, how)| Input::CommitPlanned {
            id,
            planned: match how {
                0 => Ok(Some(Box::default())),
                1 => Ok(None),
                _ => Err("protected".into()),
            },
        }),
        Just(Input::CommitUnknown { why: "git is gone".into() }),
        "[ab]".prop_map(|id| Input::CommitMade(CommitSettled { id, ..CommitSettled::default() })),
        Just(Input::StatusSettled { to: TicketStatus::Closed, outcome: WriteOutcome::NotThere }),
        text.prop_map(|message| Input::Faulted { message }),
        text.prop_map(|why| Input::TicketLost { why }),
        prop::collection::vec(("[ab]{1,2}", any::<bool>()), 0..4).prop_map(|phases| {
            Input::TicketRead {
                reading: u64::MAX,
                title: "t".into(),
                phases: phases.into_iter().map(|(text, done)| PhaseSeed { text, done }).collect(),
                boxes: Boxes::default(),
                validation: vec![],
            }
        }),
        Just(Input::Commanded { by: Answerer::SCREEN, id: "i".into(), command: UserCommand::PauseNow }),
        Just(Input::Commanded { by: Answerer::SCREEN, id: "i".into(), command: UserCommand::Resume }),
        Just(Input::Commanded { by: Answerer::SCREEN, id: "i".into(), command: UserCommand::Stop }),
        Just(Input::Commanded { by: Answerer::SCREEN, id: "i".into(), command: UserCommand::ResetBreaker }),
        (any::<u64>(), any::<bool>()).prop_map(|(reading, done)| Input::Resumed {
            pid: 1,
            reading,
            phases: vec![PhaseSeed { text: "a".into(), done }],
            settings: None
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_input_in_any_order_is_survived(inputs in prop::collection::vec(any_input(), 0..60), seed in 0..50_u64) {
        let mut world = World::new(seed, Weather::Fair);
        world.start(Breaker::default(), Sessions::default());
        for input in inputs {
            world.coming.clear();
            // Effects are performed by the world only when they cannot panic on made-up ids.
            let (run, time) = (world.state.run.unwrap(), Timestamp::from_millis(world.now));
            let decision = decide(&world.state, input, time);
            for record in decision.records {
                let seq = world.journal.len() as u64 + 1;
                world.journal.push(Stored { v: FORMAT, seq, time, run, ticket: TicketId::parse("t").unwrap(), record });
            }
            world.state = decision.next.map_or(world.state, |next| (*next).clone());
        }
        prop_assert_eq!(folded(&world.journal), world.state);
    }
}

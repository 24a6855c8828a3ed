//! What the person does at a certain moment of a run, and what must come of it.

use super::world::{Weather, World};
use programmator::base::time::Timestamp;
use programmator::domain::answerer::Answerer;
use programmator::domain::breaker::Breaker;
use programmator::domain::command::UserCommand;
use programmator::domain::limits::admission::Asker;
use programmator::domain::outcome::{DoneHow, ExitReason, IterationOutcome};
use programmator::domain::phase::Claimed;
use programmator::domain::phase::Mark;
use programmator::domain::record::{Record, RevisionSettled, Stored, TicketRevised, WishTaken, WriteOutcome};
use programmator::domain::session::Sessions;
use programmator::domain::settings::{Adjustable, Change, Settings};
use programmator::domain::ticket::{Revision, TicketStatus};
use programmator::domain::turn::TurnResult;
use programmator::orchestrator::decide::decide;
use programmator::orchestrator::effect::Effect;
use programmator::orchestrator::input::Input;
use programmator::orchestrator::state::{Stage, State};

/// A fair world with two phases at least, where the run has come to `stage`.
fn at(stage: &Stage) -> World {
    let seed = (0..1_000).find(|seed| World::new(*seed, Weather::Fair).phases.len() > 1).unwrap();
    let mut world = World::new(seed, Weather::Fair);
    world.start(Breaker::default(), Sessions::default());
    while world.state.stage != *stage {
        assert!(world.happen(), "the run never comes to {stage:?}");
    }
    world
}

fn command(world: &mut World, command: UserCommand) {
    world.give(Input::Commanded { by: Answerer::SCREEN, id: "c".into(), command });
}

fn outcomes(world: &World) -> Vec<IterationOutcome> {
    let outcome = |record: &Record| match record {
        Record::IterationEnded { outcome, .. } => Some(*outcome),
        _ => None,
    };
    world.journal.iter().filter_map(|stored| outcome(&stored.record)).collect()
}

#[test]
fn a_pause_during_the_snapshot_comes_before_the_call() {
    for wish in [UserCommand::Pause, UserCommand::PauseNow] {
        let mut world = at(&Stage::Snapshotting);
        command(&mut world, wish.clone());
        assert!(world.happen(), "the snapshot is taken");
        assert_eq!((world.spawned, &world.state.stage), (0, &Stage::Paused), "{wish:?}");
        command(&mut world, UserCommand::Resume);
        world.live();
        assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete);
        assert_eq!(outcomes(&world)[0], IterationOutcome::Interrupted);
    }
}

#[test]
fn a_stop_while_no_claude_runs_takes_effect_at_once() {
    for stage in [Stage::Snapshotting, Stage::Comparing] {
        let mut world = at(&stage);
        command(&mut world, UserCommand::Stop);
        assert_eq!(world.state.ended.as_ref().map(|ended| ended.reason), Some(ExitReason::UserStopped), "{stage:?}");
    }
}

#[test]
fn a_pause_that_is_taken_back_during_the_snapshot_costs_nothing() {
    let mut world = at(&Stage::Snapshotting);
    command(&mut world, UserCommand::PauseNow);
    command(&mut world, UserCommand::Resume);
    assert!(world.happen());
    assert_eq!((world.spawned, outcomes(&world).len()), (1, 0));
}

#[test]
fn a_phase_that_is_skipped_during_the_snapshot_is_not_called_for() {
    let mut world = at(&Stage::Snapshotting);
    let phase = world.state.phases[0].id;
    command(&mut world, UserCommand::SkipPhase { phase });
    assert!(world.happen());
    assert_eq!((world.spawned, outcomes(&world)), (0, vec![IterationOutcome::Interrupted]));
    world.live();
    assert_eq!(world.state.phases[0].mark, Mark::Skipped);
    assert_eq!(world.state.phases[0].iterations, 1, "it is not taken up again");
    assert!(detail(&world).contains(" phases are done, 1 skipped"), "{}", detail(&world));
    assert!(world.state.caveats().starts_with(", 1 skipped"));
}

#[test]
fn a_phase_that_is_gone_from_the_file_by_the_end_of_the_snapshot_is_not_called_for() {
    let mut world = at(&Stage::Snapshotting);
    world.phases.remove(0);
    world.ticket_read();
    assert!(world.happen());
    assert_eq!((world.spawned, outcomes(&world)), (0, vec![IterationOutcome::Interrupted]));
}

/// The screen is left, and a program in the background goes on: what Claude did until then is not lost, in time neither.
#[test]
fn what_is_handed_over_is_interrupted_by_the_person_with_the_time_that_it_took() {
    let mut world = at(&Stage::Running);
    let begun = world.state.open_iteration().unwrap().started.millis();
    world.now = begun + 16_000;
    world.give(Input::HandedOver);
    assert!(world.journal.iter().any(|stored| {
        matches!(&stored.record, Record::Noticed { text, .. } if text == "moving to the background")
    }));
    // The other program comes a while later.
    world.now += 60_000;
    assert!(world.kill());
    while outcomes(&world).is_empty() {
        assert!(world.happen());
    }
    let ended = world.journal.iter().find_map(|stored| match stored.record {
        Record::IterationEnded { outcome, ms, .. } => Some((outcome, ms)),
        _ => None,
    });
    let (outcome, ms) = ended.unwrap();
    assert_eq!(outcome, IterationOutcome::Interrupted);
    assert!((16_000..60_000).contains(&ms), "{ms}");
}

/// A comparison that failed says nothing; an iteration that was cut off before it claimed anything needs none.
#[test]
fn without_evidence_nothing_is_done() {
    for cut in [false, true] {
        let mut world = at(&Stage::Running);
        if cut {
            command(&mut world, UserCommand::PauseNow);
        }
        while world.state.stage != Stage::Comparing {
            assert!(world.happen());
        }
        world.coming.clear();
        let n = world.state.iterations;
        let stagnation = world.state.stagnation;
        world.give(Input::EvidenceFailed { n, message: "git failed".into() });
        assert_eq!(world.state.phases_done(), 0);
        assert_eq!(world.state.stagnation, stagnation, "a tree that was not compared is no sign of stagnation");
        if cut {
            assert_eq!(world.state.stage, Stage::Paused);
        } else {
            assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Error);
        }
    }
}

#[test]
fn a_tick_through_programmator_counts_at_once_and_cuts_the_iteration_off() {
    for stage in [Stage::Snapshotting, Stage::Running] {
        let mut world = at(&stage);
        let phase = world.state.phases[0].id;
        world.rules.person_wants(&world.state, &UserCommand::TickPhase { phase });
        world.give(Input::Wished { by: Answerer::COMMAND_LINE, wish: 7, command: UserCommand::TickPhase { phase } });
        assert_eq!(world.state.phases[0].mark, Mark::Done(DoneHow::TickedByPerson), "{stage:?}");
        assert!(world.phases[0].done, "the box is written");
        let taken =
            world.journal.iter().filter(|stored| stored.record == Record::WishTaken(WishTaken { wish: 7 })).count();
        assert_eq!(taken, 1);
        world.live();
        assert!(world.state.phases[0].ticked);
        assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete);
        assert_eq!(world.state.phases[0].iterations, 1, "it is not worked on again");
        assert_eq!(outcomes(&world)[0], IterationOutcome::Interrupted);
    }
}

#[test]
fn a_tick_in_the_file_while_an_iteration_is_open_is_told_and_worked_on_all_the_same() {
    let mut world = at(&Stage::Running);
    let last = world.phases.len() - 1;
    world.phases[last].done = true;
    world.now += 3_600_000;
    world.ticket_read();
    assert_eq!((world.state.phases[last].mark, world.state.phases[last].ticked), (Mark::Pending, true));
    let told = |record: &Record| matches!(record, Record::Noticed { text, .. } if text.contains("ticket tick"));
    assert!(world.journal.iter().any(|stored| told(&stored.record)));
    // The person makes it theirs.
    let phase = world.state.phases[last].id;
    command(&mut world, UserCommand::TickPhase { phase });
    assert_eq!(world.state.phases[last].mark, Mark::Done(DoneHow::TickedByPerson));
    world.live();
    assert_eq!(world.state.phases[last].iterations, 0);
}

/// The writes that are under way end, in their order.
fn boxes_settle(world: &mut World) {
    while let Some(at) = world.coming.iter().position(|input| matches!(input, Input::BoxSettled { .. })) {
        let settled = world.coming.remove(at);
        world.give(settled);
    }
}

#[test]
fn the_last_of_a_tick_and_an_untick_counts_however_soon_it_comes_and_whatever_is_read_between() {
    for ticks in [[true, false, true], [false, true, false]] {
        let mut world = at(&Stage::Running);
        let at = world.phases.len() - 1;
        let phase = world.state.phases[at].id;
        let say = |world: &mut World, done: bool| {
            let told = if done { UserCommand::TickPhase { phase } } else { UserCommand::RetryPhase { phase } };
            world.rules.person_wants(&world.state, &told);
            command(world, told);
        };
        if !ticks[0] {
            say(&mut world, true);
        }
        say(&mut world, ticks[0]);
        boxes_settle(&mut world);
        let mut between = Vec::new();
        for done in &ticks[1..] {
            say(&mut world, *done);
            assert_eq!(world.phases[at].done, *done, "the box is written");
            between.push(world.reading());
        }
        // Both writes are under way, and what the file said before each is heard of now.
        for reading in between {
            world.give(reading);
        }
        boxes_settle(&mut world);
        world.ticket_read();
        let last = &world.state.phases[at];
        let is_done = last.mark == Mark::Done(DoneHow::TickedByPerson);
        assert_eq!((is_done, last.ticked, last.claimed_tick), (ticks[2], ticks[2], false), "{ticks:?} {last:?}");
    }
}

/// What Claude's word that this phase is done is about.
fn claimed(world: &mut World, name: &str) -> Option<Claimed> {
    world.coming.clear();
    world.tree += 1;
    let text = format!("PROGRAMMATOR_STATUS:\n  phase_completed: \"{name}\"\n  status: CONTINUE\n  summary: s\n");
    let result = TurnResult { subtype: "success".into(), text, ..TurnResult::default() };
    world.give(Input::TurnFinished { n: world.state.iterations, result: Box::new(result) });
    world.state.open_iteration()?.claimed
}

#[test]
fn a_phase_with_a_new_text_is_claimed_by_about_the_name_that_claude_was_told() {
    let mut world = at(&Stage::Running);
    let (name, id) = (world.phases[0].text.to_uppercase(), world.state.phases[0].id);
    world.phases[0].text = "Something else by now".into();
    world.ticket_read();
    assert_eq!(claimed(&mut world, &name), Some(Claimed::Phase(id)));
}

#[test]
fn a_claim_is_about_the_phase_that_it_named_whatever_becomes_of_its_text() {
    let mut world = at(&Stage::Running);
    let (name, id) = (world.phases[1].text.clone(), world.state.phases[1].id);
    assert_eq!(claimed(&mut world, &name), Some(Claimed::Phase(id)));
    world.phases[1].text = "Something else by now".into();
    world.ticket_read();
    while world.state.phases_done() == 0 {
        assert!(world.happen());
    }
    assert!(matches!(world.state.phase_by(id).unwrap().mark, Mark::Done(_)), "{:?}", world.state.phases);
}

#[test]
fn a_name_that_the_file_has_only_since_the_claim_is_looked_for_once_more() {
    let mut world = at(&Stage::Running);
    let id = world.state.phases[0].id;
    assert_eq!(claimed(&mut world, "Something else"), Some(Claimed::Unknown));
    world.phases[0].text = "Something else".into();
    world.ticket_read();
    while world.state.phases_done() == 0 {
        assert!(world.happen());
    }
    let disputed = |stored: &Stored| matches!(stored.record, Record::PhaseDisputed { .. });
    assert!(world.state.phase_by(id).is_some_and(|phase| !phase.is_open()) && !world.journal.iter().any(disputed));
}

#[test]
fn a_tick_that_a_validation_command_may_have_made_is_a_claim_where_the_person_stops_it() {
    for taken_back in [false, true] {
        let mut world = at(&Stage::Validating);
        world.phases[1].done = true;
        command(&mut world, UserCommand::Stop);
        assert!(world.state.ended.is_none(), "the file is to be read behind the commands");
        if taken_back {
            command(&mut world, UserCommand::Resume);
            world.live();
            assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete);
            assert_eq!(world.state.phases[1].iterations, 1, "it was no tick of the person's");
            continue;
        }
        world.live();
        assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::UserStopped);
        assert_eq!(outcomes(&world), [IterationOutcome::Interrupted]);
        let ticked = &world.state.phases[1];
        assert!(ticked.claimed_tick && ticked.is_open(), "{ticked:?}");
        // Since then nobody but the person can tick one.
        world.phases[0].done = true;
        world.rules.person_ticks(&world.state, &world.phases[0].text);
        let (reading, phases) = (world.readings + 1, world.phases.clone());
        world.give(Input::Resumed { pid: 8, reading, phases, settings: None });
        assert_eq!(world.state.phases[0].mark, Mark::Done(DoneHow::TickedByPerson));
    }
}

#[test]
fn a_stop_waits_for_the_box_that_the_person_has_decided_about() {
    for stop in [UserCommand::Stop, UserCommand::FinishAndStop] {
        let mut world = at(&Stage::Running);
        command(&mut world, UserCommand::PauseNow);
        while world.state.stage != Stage::Paused {
            assert!(world.happen());
        }
        let phase = world.state.phases[0].id;
        // Not by way of the world, which writes boxes at once.
        let decided = |state: &State, command| {
            decide(
                state,
                Input::Commanded { by: Answerer::SCREEN, id: "c".into(), command },
                Timestamp::from_millis(world.now),
            )
        };
        let ticked = decided(&world.state, UserCommand::TickPhase { phase });
        let [Effect::SetBox { phase: named, done: true }] = &ticked.effects[..] else { panic!("{:?}", ticked.effects) };
        let stopped = decided(&ticked.next.unwrap(), stop).next.unwrap();
        assert!(stopped.ended.is_none(), "the box would skip");
        let settled =
            Input::BoxSettled { phase: named.clone(), done: true, outcome: WriteOutcome::Written, reading: 9 };
        let ended = decide(&stopped, settled, Timestamp::from_millis(world.now)).next.unwrap();
        assert_eq!(ended.ended.as_ref().map(|ended| ended.reason), Some(ExitReason::UserStopped));
    }
}

#[test]
fn a_stop_does_not_wait_for_the_box_of_a_phase_that_has_left_the_file() {
    let mut world = at(&Stage::Running);
    command(&mut world, UserCommand::PauseNow);
    while world.state.stage != Stage::Paused {
        assert!(world.happen());
    }
    let phase = world.state.phases[0].id;
    world.phases.remove(0);
    let (read, mut state) = (world.reading(), std::sync::Arc::new(world.state.clone()));
    let commanded = |command| Input::Commanded { id: "c".into(), command, by: Answerer::SCREEN };
    // Not by way of the world, which writes boxes at once.
    let named = world.state.phases[0].named();
    let settled = Input::BoxSettled { phase: named, done: true, outcome: WriteOutcome::NotThere, reading: 9 };
    let now = Timestamp::from_millis(world.now);
    for input in [commanded(UserCommand::TickPhase { phase }), commanded(UserCommand::Stop), read] {
        state = decide(&state, input, now).next.unwrap();
        assert!(state.ended.is_none());
    }
    let ended = decide(&state, settled, now).next.unwrap();
    assert_eq!(ended.ended.as_ref().map(|ended| ended.reason), Some(ExitReason::UserStopped));
}

#[test]
fn what_is_ticked_behind_the_first_reading_after_a_stop_is_the_persons() {
    let mut world = at(&Stage::Comparing);
    command(&mut world, UserCommand::Stop);
    assert!(world.state.ended.is_some());
    world.readings += 1;
    let (reading, phases) = (world.readings, world.phases.clone());
    world.give(Input::Resumed { pid: 8, reading, phases, settings: None });
    world.phases[1].done = true;
    world.rules.person_ticks(&world.state, &world.phases[1].text);
    world.ticket_read();
    let ticked = &world.state.phases[1];
    assert_eq!((ticked.mark, ticked.claimed_tick), (Mark::Done(DoneHow::TickedByPerson), false));
}

#[test]
fn a_queued_run_that_is_paused_leaves_the_folder_to_others_until_it_goes_on() {
    let mut world = at(&Stage::AwaitingTree { holder: None });
    command(&mut world, UserCommand::Pause);
    let asked = |record: &Record| matches!(record, Record::PauseAsked);
    assert!(!world.journal.iter().any(|stored| asked(&stored.record)), "there is no iteration to wait for");
    assert_eq!(world.state.stage, Stage::Paused);
    let got = decide(&world.state, Input::TreeGranted, Timestamp::from_millis(world.now));
    assert_eq!((got.records, got.effects), (vec![], vec![Effect::ReleaseTree]));
    while !world.coming.is_empty() {
        assert!(world.happen());
    }
    assert_eq!((&world.state.stage, world.state.has_tree), (&Stage::Paused, false));
    command(&mut world, UserCommand::Resume);
    assert_eq!(world.state.stage, Stage::AwaitingTree { holder: None });
    world.live();
    assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete);
}

#[test]
fn a_ticket_that_goes_while_its_queued_run_is_paused_ends_it() {
    let mut world = at(&Stage::AwaitingTree { holder: None });
    command(&mut world, UserCommand::Pause);
    world.coming.clear();
    world.give(Input::TicketLost { why: "the file is gone".into() });
    world.live();
    assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::TicketGone);
}

/// A ticket without phases and without validation commands.
fn whole() -> World {
    let mut world = World::new(1, Weather::Fair);
    (world.phases, world.validation) = (vec![], vec![]);
    world
}

fn detail(world: &World) -> &str {
    let ended = world.state.ended.as_ref().expect("it has ended");
    assert_eq!(ended.reason, ExitReason::Complete);
    &ended.detail
}

#[test]
fn a_ticket_that_a_run_closed_unverified_stays_unverified_in_later_runs() {
    let mut world = whole();
    for _ in 0..3 {
        world.start(Breaker::default(), Sessions::default());
        world.live();
        assert_eq!(world.status, TicketStatus::Closed);
        assert_eq!((detail(&world), world.spawned), ("the ticket is done, not verified", 1));
    }
    let mut closed = whole();
    closed.status = TicketStatus::Closed;
    closed.start(Breaker::default(), Sessions::default());
    closed.live();
    assert_eq!((detail(&closed), closed.spawned), ("the ticket is done", 0));
    assert_eq!(closed.state.whole.mark, Mark::Done(DoneHow::TickedByPerson));
    // An older program worked on such a ticket.
    let begun = programmator::orchestrator::apply::folded(&closed.journal[..1]);
    assert!(matches!(closed.journal[0].record, Record::RunStarted { .. }) && !begun.is_complete());
}

#[test]
fn a_changed_limit_is_in_the_journal_and_counts_from_the_next_iteration() {
    let mut world = at(&Stage::Running);
    let before = world.state.settings.clone();
    command(&mut world, UserCommand::ChangeSetting(Change::Set(Adjustable::Iterations, "1".into())));
    assert_eq!(world.state.settings, Settings { max_iterations: 1, ..before.clone() });
    assert_eq!(world.state.stage, Stage::Running, "what is under way goes on");
    // What means nothing changes nothing, and is said.
    command(&mut world, UserCommand::ChangeSetting(Change::Set(Adjustable::Iterations, "none".into())));
    assert!(
        matches!(&world.journal.last().unwrap().record, Record::Noticed { text, .. } if text.contains("not changed"))
    );
    let records = world.journal.len();
    command(&mut world, UserCommand::ChangeSetting(Change::Set(Adjustable::Iterations, "1".into())));
    assert_eq!(world.journal.len(), records, "nothing to change");
    world.live();
    assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::MaxIterations);
    assert_eq!(outcomes(&world).len(), 1);
}

#[test]
fn a_changed_limit_does_not_ask_the_provider_before_its_time() {
    let mut state = at(&Stage::Snapshotting).state.clone();
    state.stage = Stage::Parked;
    let asker = |command: UserCommand| {
        let commanded = Input::Commanded { by: Answerer::SCREEN, id: "c".into(), command };
        let effects = decide(&state, commanded, Timestamp::from_millis(0)).effects;
        effects.iter().find_map(|effect| if let Effect::Admit(ask) = effect { Some(ask.asker) } else { None })
    };
    let change = Change::Set(Adjustable::Iterations, "40".into());
    assert_eq!(asker(UserCommand::ChangeSetting(change)), Some(Asker::Program));
    assert_eq!(asker(UserCommand::RetryNow), Some(Asker::Person));
}

/// What is not settled when the program dies is made again, and nothing is begun or ended before it is.
#[test]
fn an_accepted_phase_is_done_at_once_and_its_note_is_waited_for() {
    let mut world = at(&Stage::Running);
    command(&mut world, UserCommand::PauseNow);
    while world.state.stage != Stage::Paused {
        assert!(world.happen());
    }
    let phase = world.state.phases[0].id;
    let note = TicketRevised {
        id: "r".into(),
        what: "noted".into(),
        revision: Revision::default(),
        accepts: None,
        renamed: None,
        undoes: None,
        by: Answerer::SCREEN,
    };
    let accept = UserCommand::AcceptPhase { phase, why: "seen".into(), note: Box::new(note.clone()) };
    let commanded = |command| Input::Commanded { id: "c".into(), command, by: Answerer::SCREEN };
    let now = Timestamp::from_millis(world.now);
    let accepted = decide(&world.state, commanded(accept), now);
    let why = accepted.records.iter().find_map(|record| match record {
        Record::PhaseTicked(ticked) => ticked.why.clone(),
        _ => None,
    });
    assert_eq!(why.as_deref(), Some("seen"));
    let again = Effect::Revise(Box::new(note.clone()));
    assert!(accepted.effects.contains(&again));
    let next = accepted.next.unwrap();
    let resumed = Input::Resumed { pid: 8, reading: 99, phases: world.phases.clone(), settings: None };
    let resumed = decide(&next, resumed, now);
    assert!(resumed.effects.contains(&again), "{:?}", resumed.effects);
    // The box is written, the note is not yet.
    let named = next.phases[0].named();
    let boxed = Input::BoxSettled { phase: named, done: true, outcome: WriteOutcome::Written, reading: 99 };
    let boxed = decide(&next, boxed, now).next.unwrap();
    let stopped = decide(&boxed, commanded(UserCommand::Stop), now).next.unwrap();
    assert!(stopped.ended.is_none(), "the note would be lost");
    let settled = Input::RevisionSettled(RevisionSettled { revised: note, outcome: WriteOutcome::Written });
    let ended = decide(&stopped, settled, now).next.unwrap();
    assert_eq!(ended.ended.as_ref().map(|ended| ended.reason), Some(ExitReason::UserStopped));
}

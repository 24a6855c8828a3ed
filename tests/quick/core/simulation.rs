//! Many seeded schedules, on all processors: each is a ticket with up to three runs, in which anything may go wrong.
//! `PROGRAMMATOR_SCHEDULES=<n>` says how many, `PROGRAMMATOR_SEED=<n>` plays one again and prints its journal.

use super::world::{Weather, World};
use programmator::domain::breaker::Breaker;
use programmator::orchestrator::state::Stage;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Schedules of a run by hand; more come from the environment.
const SCHEDULES: u64 = 3_000;
const RUNS: u32 = 3;

/// What happens in a rough world; less than once in so many schedules tells nothing.
const MET: [(&str, u64); 66] = [
    ("starts", 1),
    ("kills", 3),
    ("resumes", 3),
    ("clock jumps", 5),
    ("left paused", 200),
    ("complete", 5),
    ("blocked", 200),
    ("max_iterations", 20),
    ("stagnation", 1000),
    ("repeated_error", 60),
    ("timeout", 500),
    ("circuit_open", 20),
    ("permission_denied", 500),
    ("test_saturation", 1500),
    ("budget", 20),
    ("user_stopped", 60),
    ("ticket_gone", 500),
    ("error", 20),
    ("review_failed", 60),
    ("merge_failed", 60),
    ("approved by a critic", 20),
    ("rejected by a critic", 20),
    ("fixed", 20),
    ("rejected by the review", 300),
    ("found by the review", 300),
    ("reviewed", 300),
    ("goal reached", 200),
    ("phases proposed", 500),
    ("phases accepted", 1000),
    ("phases added", 1500),
    ("drafted by Claude", 60),
    ("draft sent back", 500),
    ("draft edited", 500),
    ("draft tried", 1000),
    ("draft not written", 1000),
    ("planned", 200),
    ("drafted", 500),
    ("not_planned", 500),
    ("breaker opened", 20),
    ("breaker half-open", 20),
    ("breaker closed", 30),
    ("breaker reset", 200),
    ("start", 20),
    ("first_byte", 60),
    ("idle", 500),
    ("total", 500),
    ("post_result", 20),
    ("session resumed", 3),
    ("session expired", 200),
    ("session lost", 20),
    ("refused by the provider", 10),
    ("parked", 5),
    ("parked, reset unknown", 60),
    ("over budget", 20),
    ("Claude ticks a box", 500),
    ("a tick at rest", 200),
    ("read, and heard of again", 20),
    ("asked", 5),
    ("asked again", 200),
    ("answered by the person", 12),
    ("answered for the person", 20),
    ("answered by other rules", 200),
    ("void", 20),
    ("kept", 100),
    ("answered when Claude was gone", 200),
    ("found open at a start", 100),
];

/// Whether records are printed as they are stored.
#[derive(Clone, Copy, PartialEq)]
pub enum Show {
    Nothing,
    Journal,
}

/// One schedule, to its end.
fn play(seed: u64, show: Show) -> BTreeMap<&'static str, u64> {
    let mut world = World::new(seed, Weather::Rough);
    world.show = show;
    world.start(Breaker::default(), programmator::domain::session::Sessions::default());
    for run in 1.. {
        world.live();
        if run >= RUNS || world.dice.one_in(2) {
            break;
        }
        // The next day, the next hour, at once, or before.
        world.now += world.dice.one_of(&[86_400_000, 7_200_000, 1_000, -1_800_000]);
        begin_again(&mut world);
    }
    world.tally
}

/// Another start on the ticket: a run that was left is resumed, after an ended one a fresh one begins.
fn begin_again(world: &mut World) {
    let again = world.state.ended.is_none() || world.dice.one_in(2);
    if again && world.kill() {
        return;
    }
    let mut breaker = std::mem::take(&mut world.state.breaker);
    if world.dice.one_in(4) {
        breaker = Breaker::default();
    }
    if breaker.opened_at.is_some() {
        world.note("found open at a start");
    }
    let sessions = std::mem::take(&mut world.state.sessions);
    world.start(breaker, sessions);
    assert_ne!(world.state.stage, Stage::Idle, "a start does nothing");
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not “{text}”")))
}

#[test]
fn simulation() {
    if let Some(seed) = number("PROGRAMMATOR_SEED") {
        let met = play(seed, Show::Journal);
        println!("seed {seed} holds every invariant: {met:?}");
        return;
    }
    let schedules = number("PROGRAMMATOR_SCHEDULES").unwrap_or(SCHEDULES);
    let begun = Instant::now();
    let (next, failed, all) = (AtomicU64::new(0), Mutex::new(None), Mutex::new(BTreeMap::<&str, u64>::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                let mut tally = BTreeMap::<&str, u64>::new();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= schedules {
                        break;
                    }
                    match catch_unwind(AssertUnwindSafe(|| play(seed, Show::Nothing))) {
                        Ok(met) => met.into_iter().for_each(|(what, times)| *tally.entry(what).or_default() += times),
                        Err(why) => {
                            next.store(schedules, Ordering::Relaxed);
                            failed.lock().unwrap().get_or_insert((seed, words(why.as_ref())));
                        }
                    }
                }
                let mut all = all.lock().unwrap();
                for (what, times) in tally {
                    *all.entry(what).or_default() += times;
                }
            });
        }
    });
    if let Some((seed, why)) = failed.into_inner().unwrap() {
        panic!("{why}\nto see its journal: PROGRAMMATOR_SEED={seed} cargo test --test quick simulation -- --nocapture");
    }
    let all = all.into_inner().unwrap();
    println!("{schedules} schedules in {:.1} s: {all:?}", begun.elapsed().as_secs_f64());
    for (what, at_least_one_in) in MET {
        let times = all.get(what).copied().unwrap_or(0);
        assert!(times >= schedules / at_least_one_in, "“{what}” only {times} times: too few to tell anything");
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words").to_owned()
}

//! The core in a world of its own: seeded schedules of work, faults, people and kills, without any I/O.
//!
//! A failing seed is printed by proptest and kept in `proptest-regressions`, so every failure can be replayed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use programmator::base::id::{RunId, TicketId};
use programmator::base::time::Timestamp;
use programmator::domain::breaker::{Breaker, Circuit, CounterMoved, StateMoved};
use programmator::domain::command::UserCommand;
use programmator::domain::limits::admission::{Admission, Ask, Facts, Hold, admit};
use programmator::domain::limits::reset_text::LimitText;
use programmator::domain::limits::{HourWindow, Limits, hour};
use programmator::domain::outcome::{ExitReason, IterationOutcome};
use programmator::domain::record::{FORMAT, PhaseSeed, Record, Stored, Verdict, WriteOutcome};
use programmator::domain::session::Sessions;
use programmator::domain::settings::Settings;
use programmator::domain::stream::control::Via;
use programmator::domain::ticket::{Boxes, TicketStatus};
use programmator::domain::turn::TurnResult;
use programmator::orchestrator::apply::apply;
use programmator::orchestrator::decide::decide;
use programmator::orchestrator::effect::{Effect, Request, Timer, ToolCall};
use programmator::orchestrator::input::{CommandResult, Input, Start};
use programmator::orchestrator::state::{Stage, State};
use proptest::prelude::*;
use std::collections::HashMap;

/// A small generator: the same seed gives the same schedule.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

/// How rough the world is.
#[derive(Clone, Copy, PartialEq)]
enum Weather {
    /// Claude works well and nobody interferes: every run completes.
    Fair,
    /// Everything goes wrong now and then.
    Rough,
}

struct World {
    dice: Dice,
    weather: Weather,
    now: i64,
    journal: Vec<Stored>,
    state: State,
    /// Things that will happen, in any order.
    coming: Vec<Input>,
    timers: HashMap<std::mem::Discriminant<Timer>, (Timer, Timestamp)>,
    /// The work tree is a number that grows with every change.
    tree: u64,
    snapshots: HashMap<String, u64>,
    boxes: Vec<PhaseSeed>,
    validated: bool,
    /// What the run before left.
    breaker: Breaker,
    limits: Limits,
    spawned: usize,
    answered: usize,
    killed: usize,
}

impl World {
    fn new(seed: u64, weather: Weather) -> Self {
        let mut dice = Dice(seed);
        let phases = dice.roll(5);
        let validated = dice.one_in(2);
        let window = if dice.one_in(2) { HourWindow::Sliding } else { HourWindow::Clock };
        let limits = Limits { calls: 1 + dice.roll(12) as u32, window, ..Limits::default() };
        let boxes = (0..phases)
            .map(|n| PhaseSeed {
                text: format!("Phase {}: part {}", n + 1, ["alpha", "beta", "gamma", "delta", "eps"][n as usize]),
                done: false,
            })
            .collect();
        Self {
            dice,
            weather,
            now: 1_795_000_000_000,
            journal: Vec::new(),
            state: State::default(),
            coming: Vec::new(),
            timers: HashMap::new(),
            tree: 1,
            snapshots: HashMap::new(),
            boxes,
            validated,
            breaker: Breaker::default(),
            limits,
            spawned: 0,
            answered: 0,
            killed: 0,
        }
    }

    fn start(&self) -> Input {
        Input::Started(Box::new(Start {
            folder: "/w".into(),
            ticket_path: "/w/t.md".into(),
            title: "T".into(),
            ticket_status: Some(TicketStatus::Open),
            phases: self.boxes.clone(),
            doubted: vec![],
            validation: if self.validated { vec!["make check".into()] } else { vec![] },
            settings: Settings { limits: Box::new(self.limits.clone()), ..Settings::default() },
            breaker: self.breaker.clone(),
            sessions: Sessions::default(),
        }))
    }

    fn give(&mut self, input: Input) {
        self.now += 1 + i64::try_from(self.dice.roll(2_000)).unwrap();
        if self.rough(300) {
            // The clock is set back, by up to an hour.
            self.now -= i64::try_from(self.dice.roll(3_600_000)).unwrap();
        }
        let now = Timestamp::from_millis(self.now);
        let decision = decide(&self.state, input, now);
        for record in decision.records {
            let seq = self.journal.len() as u64 + 1;
            let stored = Stored {
                v: FORMAT,
                seq,
                time: now,
                run: RunId(uuid::Uuid::nil()),
                ticket: TicketId::parse("t").unwrap(),
                record,
            };
            apply(&mut self.state, &stored);
            self.journal.push(stored);
        }
        for effect in decision.effects {
            self.perform(effect);
        }
    }

    /// The ledger of all programs: other tickets call too, and the provider refuses now and then.
    fn admit(&mut self, ask: &Ask) -> Admission {
        let now = Timestamp::from_millis(self.now);
        let run = RunId(uuid::Uuid::nil());
        let calls = self.journal.iter().filter(|stored| matches!(stored.record, Record::CallCounted(_)));
        let hold = self.journal.iter().rev().find_map(|stored| match &stored.record {
            Record::ClaimMade { .. } => Some(None),
            Record::LimitHit(hit) => Some(Some(hit.clone())),
            _ => None,
        });
        let hold = hold.flatten().map(|hit| Hold {
            scope: hit.scope.clone(),
            about: hit.about(),
            until: hit.until,
            reset: hit.reset,
            tries: hit.tries,
            probe: None,
        });
        let begins = hour::start(now, ask.limits.window, &jiff::tz::TimeZone::UTC);
        let facts = Facts {
            calls: calls.map(|stored| (stored.time, 1)).filter(|(time, _)| *time >= begins).collect(),
            holds: hold.into_iter().collect(),
            ..Facts::default()
        };
        admit(&facts, ask, run, now, &jiff::tz::TimeZone::UTC)
    }

    fn rough(&mut self, sides: u64) -> bool {
        self.weather == Weather::Rough && self.dice.one_in(sides)
    }

    fn perform(&mut self, effect: Effect) {
        let next = match effect {
            Effect::AcquireTree if self.rough(6) => {
                self.coming.push(Input::TreeBusy { holder: "other".into() });
                Input::TreeGranted
            }
            Effect::AcquireTree => Input::TreeGranted,
            Effect::Admit(ask) => {
                let (n, purpose) = (ask.n, ask.purpose);
                let admission = self.admit(&ask);
                Input::Admitted { n, purpose, admission: Box::new(admission) }
            }
            Effect::TakeSnapshot { n } if self.rough(40) => Input::SnapshotFailed { n, message: "no space".into() },
            Effect::TakeSnapshot { n } => {
                let id = format!("s{n}");
                self.snapshots.insert(id.clone(), self.tree);
                Input::SnapshotTaken { n, id }
            }
            Effect::Spawn(spawn) => {
                self.spawned += 1;
                let calls =
                    self.journal.iter().filter(|stored| matches!(stored.record, Record::CallCounted(_))).count();
                let lost =
                    self.journal.iter().filter(|stored| matches!(stored.record, Record::SessionLost { .. })).count();
                assert!(calls + lost >= self.spawned, "Claude was called before the call was counted");
                if self.rough(50) {
                    Input::AgentFailed { n: spawn.n, message: "claude not found".into() }
                } else {
                    return self.play_claude(spawn.n, spawn.session.is_some());
                }
            }
            Effect::SendFollowUp { n } => self.turn_end(n),
            Effect::SendNote { id, .. } => {
                if self.rough(3) {
                    return;
                }
                Input::NoteEchoed { id }
            }
            Effect::Judge(call) => Input::Judged {
                call,
                verdict: if self.rough(8) { Verdict::Block } else { Verdict::Allow },
                reason: "trusted".into(),
                target: "x".into(),
                writes: false,
            },
            Effect::Answer { .. } => {
                self.answered += 1;
                let judged =
                    self.journal.iter().filter(|stored| matches!(stored.record, Record::ToolJudged { .. })).count();
                assert!(judged >= self.answered, "a tool call was answered before its verdict was stored");
                return;
            }
            Effect::CloseInput { n } => {
                if self.rough(10) {
                    return; // It hangs after its result: the grace ends it.
                }
                exited(n)
            }
            Effect::StopAgent { n } => exited(n),
            Effect::Arm { timer, at } => {
                self.timers.insert(std::mem::discriminant(&timer), (timer, at));
                return;
            }
            Effect::GatherEvidence { n, .. } if self.rough(60) => {
                Input::EvidenceFailed { n, message: "git failed".into() }
            }
            Effect::GatherEvidence { n, iteration_base, phase_base } => {
                let since = |id: &str| {
                    if self.snapshots[id] == self.tree { vec![] } else { vec!["src/a.rs".to_owned()] }
                };
                Input::EvidenceGathered { n, iteration_files: since(&iteration_base), phase_files: since(&phase_base) }
            }
            Effect::RunValidation { n, commands } => {
                let exit = i32::from(self.rough(3));
                let results = commands
                    .into_iter()
                    .map(|command| CommandResult {
                        command,
                        exit: Some(exit),
                        timed_out: false,
                        ms: 1,
                        tail: "out".into(),
                        log: "l".into(),
                    })
                    .collect();
                Input::ValidationFinished { n, results }
            }
            Effect::TickPhase { phase } => {
                let outcome = match self.boxes.iter_mut().find(|seed| seed.text == phase) {
                    Some(seed) if seed.done => WriteOutcome::AlreadySo,
                    Some(seed) => {
                        seed.done = true;
                        WriteOutcome::Written
                    }
                    None => WriteOutcome::NotThere,
                };
                Input::TickSettled { phase, outcome }
            }
            Effect::UntickPhase { .. } => return,
            Effect::SetStatus { to } => Input::StatusSettled { to, outcome: WriteOutcome::Written },
            Effect::Finish => {
                self.timers.clear();
                return self.coming.clear();
            }
        };
        self.coming.push(next);
    }

    /// One process of Claude: what it will do is laid out at once; the order of tools and turn end is kept by
    /// pushing the end only when the tools are through.
    fn play_claude(&mut self, n: u32, resumed: bool) {
        self.give(Input::AgentSpawned { n, pid: 7 });
        if self.state.ended.is_some() {
            return;
        }
        if resumed && self.rough(12) {
            let result = TurnResult {
                subtype: "error_during_execution".into(),
                is_error: true,
                message: "No conversation found with session ID: x".into(),
                ..TurnResult::default()
            };
            return self.coming.push(Input::TurnFinished { n, result: Box::new(result) });
        }
        self.give(Input::AgentReady {
            n,
            session: format!("00000000-0000-4000-8000-{:012}", self.spawned),
            model: "m".into(),
            version: "2.1.197".into(),
        });
        for call in 0..self.dice.roll(3) {
            let tool_use_id = format!("tool-{n}-{call}");
            self.coming.push(Input::ToolAsked(Box::new(ToolCall {
                n,
                request: Request { id: tool_use_id.clone(), via: Via::Callback },
                tool_use_id: tool_use_id.clone(),
                tool: "Edit".into(),
                input: "{}".into(),
                agent: None,
            })));
            self.coming.push(Input::ToolFinished { n, tool_use_id, is_error: false });
        }
        if !self.rough(5) {
            self.tree += 1;
        }
        if self.rough(25) {
            return self.coming.push(Input::AgentExited {
                n,
                code: Some(1),
                signal: None,
                swept: 2,
                stderr: "boom".into(),
            });
        }
        if self.rough(25) {
            return; // Silence: the timers must end it.
        }
        let end = self.turn_end(n);
        self.coming.push(end);
    }

    fn turn_end(&mut self, n: u32) -> Input {
        let phase = self.state.iteration.as_ref().and_then(|iteration| iteration.phase.clone());
        let kind = if self.weather == Weather::Rough { self.dice.roll(12) } else { 11 };
        let mut result = TurnResult { subtype: "success".into(), cost_usd: 0.01, ..TurnResult::default() };
        result.usage.output = self.dice.roll(1_000);
        if self.rough(12) {
            result.denials = vec!["Bash".into(), "Write".into(), "Edit".into()];
        }
        let name = phase.as_deref().map_or("null".to_owned(), |phase| format!("\"{phase}\""));
        let status = if phase.is_none() { "DONE" } else { "CONTINUE" };
        result.text = match kind {
            0 => "I forgot the block.".to_owned(),
            1 => "PROGRAMMATOR_STATUS:\n  status: DO".to_owned(),
            2 => "PROGRAMMATOR_STATUS:\n  phase_completed: \"Something else entirely\"\n  status: CONTINUE\n  files_changed: []\n  summary: s\n".to_owned(),
            3 => "PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: CONTINUE\n  files_changed: [src/a.rs]\n  summary: s\n".to_owned(),
            4 => "PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: DONE\n  files_changed: []\n  summary: s\n".to_owned(),
            5 => {
                result.is_error = true;
                result.error_kind = Some("server_error".into());
                result.message = "API Error: 500".into();
                String::new()
            }
            6 => {
                result.is_error = true;
                result.api_error_status = Some(if self.dice.one_in(2) { 429 } else { 529 });
                result.message = "API Error: Request rejected".into();
                if self.dice.one_in(2) {
                    result.limit = Some(LimitText { told: None, family: None });
                    let ahead = i64::try_from(self.dice.roll(18_000_000)).unwrap();
                    result.resets_at = Some(Timestamp::from_millis(self.now + ahead - 60_000));
                }
                String::new()
            }
            _ => format!("PROGRAMMATOR_STATUS:\n  phase_completed: {name}\n  status: {status}\n  files_changed: [src/a.rs]\n  summary: s\n"),
        };
        Input::TurnFinished { n, result: Box::new(result) }
    }

    fn person(&mut self) {
        let phase = self.boxes.first().map(|seed| seed.text.clone()).unwrap_or_default();
        let command = match self.dice.roll(11) {
            9 => UserCommand::ResetBreaker,
            0 => UserCommand::Pause,
            1 => UserCommand::PauseNow,
            2 | 3 => UserCommand::Resume,
            4 => UserCommand::SkipPhase { phase },
            5 => UserCommand::RetryPhase { phase },
            10 => UserCommand::RetryNow,
            6 => UserCommand::Steer { text: "left".into() },
            7 if self.dice.one_in(4) => UserCommand::Stop,
            8 if self.dice.one_in(4) => UserCommand::FinishAndStop,
            _ => {
                if let Some(seed) = self.boxes.last_mut() {
                    seed.done = true;
                }
                let validation = if self.validated { vec!["make check".into()] } else { vec![] };
                let (title, phases) = ("T".into(), self.boxes.clone());
                return self.give(Input::TicketRead {
                    read_at: Timestamp::from_millis(self.now),
                    title,
                    phases,
                    boxes: Boxes::default(),
                    validation,
                });
            }
        };
        let id = format!("note-{}", self.journal.len());
        self.give(Input::Commanded { id, command });
    }

    /// kill -9: what was under way is lost; the journal, the tree and the ticket stay.
    fn kill(&mut self) {
        self.killed += 1;
        self.coming.clear();
        self.timers.clear();
        self.state = fold(&self.journal);
        if self.state.is_resumable() {
            self.give(Input::Resumed { pid: 8, phases: Some(self.boxes.clone()), settings: None });
        }
    }

    /// One thing happens. `false`: nothing is left that could.
    fn happen(&mut self) -> bool {
        if self.rough(60) {
            self.kill();
            return true;
        }
        if self.rough(15) {
            self.person();
            return true;
        }
        if self.state.stage == Stage::Paused {
            self.give(Input::Commanded { id: "r".into(), command: UserCommand::Resume });
            return true;
        }
        if !self.coming.is_empty() {
            // Mostly in order; in rough weather anything may overtake.
            let at = if self.rough(4) { usize::try_from(self.dice.roll(self.coming.len() as u64)).unwrap() } else { 0 };
            let input = self.coming.remove(at);
            self.give(input);
            return true;
        }
        let Some((key, (timer, at))) = self.timers.iter().min_by_key(|(_, (_, at))| *at).map(|(key, due)| (*key, *due))
        else {
            return false;
        };
        self.timers.remove(&key);
        self.now = self.now.max(at.millis());
        self.give(Input::TimerFired { timer, last_byte: Timestamp::from_millis(0) });
        true
    }
}

fn exited(n: u32) -> Input {
    Input::AgentExited { n, code: Some(0), signal: None, swept: 0, stderr: String::new() }
}

fn fold(journal: &[Stored]) -> State {
    let mut state = State::default();
    for stored in journal {
        apply(&mut state, stored);
    }
    state
}

/// Runs a schedule to its end and holds what must always hold.
fn run(seed: u64, weather: Weather) -> World {
    let mut world = World::new(seed, weather);
    let start = world.start();
    world.give(start);
    let mut steps = 0;
    while world.happen() {
        steps += 1;
        assert!(steps < 20_000, "seed {seed}: the run neither ends nor waits: {:?}", world.state.stage);
        assert!(world.state.counted_iterations() <= world.state.settings.max_iterations, "seed {seed}");
        if world.state.ended.is_some() && world.coming.is_empty() {
            break;
        }
    }
    assert_eq!(fold(&world.journal), world.state, "seed {seed}: the fold of the journal is not the state");
    assert!(
        world.state.ended.is_some(),
        "seed {seed}: nothing is left to happen in {:?}, and the run has not ended",
        world.state.stage
    );
    world
}

/// In no hour are there more calls than the limit, what the provider refused is not tried before its time unless the
/// person wants it, and a refused iteration counts for nothing.
fn check_limits(world: &World, seed: u64) -> usize {
    let mut state = State::default();
    let (mut calls, mut hold, mut forced): (Vec<(Timestamp, u64)>, Option<Timestamp>, bool) = (vec![], None, false);
    let mut refused = 0;
    for (at, stored) in world.journal.iter().enumerate() {
        let before = state.clone();
        apply(&mut state, stored);
        match &stored.record {
            Record::CallCounted(_) => {
                let limits = &state.settings.limits;
                let begins = hour::start(stored.time, limits.window, &jiff::tz::TimeZone::UTC);
                calls.push((stored.time, 1));
                let counting = calls.iter().filter(|(time, _)| *time >= begins).count();
                assert!(counting <= limits.calls as usize, "seed {seed}: call {counting} of {}", limits.calls);
                // The clock may have gone back since the ledger said yes.
                let asked = world.journal[at.saturating_sub(2)].time.max(stored.time);
                let due = hold.is_none_or(|until| asked >= until);
                assert!(due || forced, "seed {seed}: tried before {hold:?}, at {}", stored.time);
                forced = false;
            }
            Record::LimitHit(hit) => {
                assert!(hit.until > stored.time, "seed {seed}: no wait at all");
                hold = Some(hit.until);
            }
            Record::ClaimMade { .. } => hold = None,
            Record::Unparked => forced = true,
            Record::IterationEnded { outcome: IterationOutcome::Parked, .. } => {
                refused += 1;
                assert_eq!(state.stagnation, before.stagnation, "seed {seed}: record {at}");
                assert_eq!(state.repeated, before.repeated, "seed {seed}: record {at}");
                assert_eq!(state.breaker, before.breaker, "seed {seed}: record {at}");
                assert_eq!(state.counted_iterations() + 1, before.counted_iterations(), "seed {seed}: record {at}");
            }
            _ => {}
        }
    }
    refused
}

#[test]
fn limits_hold_in_any_weather() {
    let (mut refused, mut parked) = (0, 0);
    for seed in 0..1_500 {
        let world = run(seed, if seed % 5 == 0 { Weather::Fair } else { Weather::Rough });
        refused += check_limits(&world, seed);
        parked += world.journal.iter().filter(|stored| matches!(stored.record, Record::Parked(_))).count();
    }
    assert!(refused > 50 && parked > 50, "too few to tell anything: {refused} refused, {parked} parked");
}

/// The breaker moves only by its table, each movement is explained, and nothing is called while it is open.
/// Gives how often it opened.
fn check_breaker(world: &World, seed: u64) -> usize {
    use Circuit::{Closed, HalfOpen, Open};
    let mut state = State::default();
    let (mut opened, mut ended) = (0, None);
    for stored in &world.journal {
        let before = state.breaker.clone();
        apply(&mut state, stored);
        match &stored.record {
            Record::IterationEnded { n, outcome, .. } => ended = Some((*n, *outcome)),
            Record::BreakerCounted(CounterMoved { n, why, .. }) => {
                use IterationOutcome::{CutOff, Interrupted, Parked};
                let (last, outcome) = ended.unwrap();
                assert_eq!(*n, last, "seed {seed}: counted for another iteration");
                assert!(!matches!(outcome, Interrupted | CutOff | Parked), "seed {seed}: {outcome:?} was counted");
                assert!(!why.is_empty(), "seed {seed}: a movement without evidence");
            }
            Record::BreakerMoved(StateMoved { n, from, to, .. }) => {
                assert_eq!(*from, before.state, "seed {seed}");
                let by_iteration = matches!((from, to), (Closed, HalfOpen | Open) | (HalfOpen, Closed | Open));
                let by_start = (*from, *to) == (Open, HalfOpen);
                assert!(if *n > 0 { by_iteration } else { by_start }, "seed {seed}: {from:?} → {to:?} in {n}");
                if by_start {
                    let open = stored.time.since(before.opened_at.unwrap());
                    assert!(open.as_secs() >= state.settings.breaker.cooldown, "seed {seed}: closed early");
                }
                opened += usize::from(*to == Open);
            }
            Record::CallCounted(_) | Record::IterationStarted { .. } => {
                assert_ne!(before.state, Open, "seed {seed}: Claude is called while the breaker is open");
            }
            _ => {}
        }
        assert_eq!(state.breaker.opened_at.is_some(), state.breaker.state == Open, "seed {seed}");
    }
    if state.ended.as_ref().unwrap().reason == ExitReason::CircuitOpen {
        assert_eq!(state.breaker.state, Open, "seed {seed}");
    }
    opened
}

#[test]
fn a_breaker_outlives_its_run_and_is_obeyed_by_the_next() {
    let (mut refused, mut let_through) = (0, 0);
    for seed in 0..1_500 {
        let first = run(seed, Weather::Rough);
        if first.state.breaker.state != Circuit::Open {
            continue;
        }
        let mut next = World::new(seed + 1, Weather::Fair);
        next.breaker = first.state.breaker.clone();
        // From an hour earlier to an hour later.
        next.now = first.now + i64::try_from(next.dice.roll(7_200_000)).unwrap() - 3_600_000;
        let opened = next.breaker.opened_at.unwrap();
        let start = next.start();
        next.give(start);
        let waited = Timestamp::from_millis(next.now).since(opened).as_secs();
        while next.state.ended.is_none() && next.happen() {}
        check_breaker(&next, seed);
        if waited >= next.state.settings.breaker.cooldown {
            let_through += 1;
            assert!(next.spawned > 0, "seed {seed}: one iteration is let through");
        } else {
            refused += 1;
            assert_eq!(next.spawned, 0, "seed {seed}: called after {waited} s");
            assert_eq!(next.state.ended.as_ref().unwrap().reason, ExitReason::CircuitOpen, "seed {seed}");
        }
    }
    assert!(refused > 5 && let_through > 5, "too few to tell anything: {refused} refused, {let_through} let through");
}

fn done_by_us(world: &World) -> Vec<Option<String>> {
    let done = world.journal.iter().filter_map(|stored| match &stored.record {
        Record::PhaseDone { phase, .. } => Some(phase.clone()),
        _ => None,
    });
    done.collect()
}

#[test]
fn fair_runs_complete_with_every_box_ticked_once() {
    for seed in 0..300 {
        let world = run(seed, Weather::Fair);
        assert_eq!(world.state.ended.as_ref().unwrap().reason, ExitReason::Complete, "seed {seed}");
        assert!(world.boxes.iter().all(|seed| seed.done), "seed {seed}");
        let mut done = done_by_us(&world);
        assert_eq!(done.len(), world.boxes.len().max(1), "seed {seed}");
        done.dedup();
        assert_eq!(done.len(), world.boxes.len().max(1), "seed {seed}: a phase was done twice");
        assert_eq!(world.state.ticket_status, Some(TicketStatus::Closed), "seed {seed}");
    }
}

#[test]
fn rough_runs_always_end_and_never_lie() {
    let (mut complete, mut killed, mut opened) = (0, 0, 0);
    for seed in 0..3_000 {
        let world = run(seed, Weather::Rough);
        killed += world.killed;
        opened += check_breaker(&world, seed);
        let reason = world.state.ended.as_ref().unwrap().reason;
        if reason == ExitReason::Complete {
            complete += 1;
            assert!(world.state.is_complete(), "seed {seed}");
        }
        // A box is ticked by us only for a phase that was found done.
        let done = done_by_us(&world);
        for stored in &world.journal {
            if let Record::TickIntended { phase } = &stored.record {
                assert!(done.contains(&Some(phase.clone())), "seed {seed}: {phase} was ticked without being done");
            }
        }
    }
    assert!(complete > 300, "the world is too rough to tell anything: {complete} complete");
    assert!(opened > 30, "the breaker opened too rarely to tell anything: {opened}");
    assert!(killed > 300, "too few kills to tell anything: {killed}");
}

#[test]
fn every_prefix_of_a_journal_folds_and_resumes() {
    for seed in 0..60 {
        let whole = run(seed, Weather::Rough);
        for cut in 1..whole.journal.len() {
            let mut world = World::new(seed, Weather::Fair);
            world.boxes.clone_from(&whole.boxes);
            world.snapshots.clone_from(&whole.snapshots);
            world.spawned = 0;
            world.journal = whole.journal[..cut].to_vec();
            world.state = fold(&world.journal);
            world.tree = whole.tree;
            if !world.state.is_resumable() {
                continue;
            }
            world.give(Input::Resumed { pid: 9, phases: Some(whole.boxes.clone()), settings: None });
            let mut steps = 0;
            while world.state.ended.is_none() && world.happen() {
                steps += 1;
                assert!(steps < 5_000, "seed {seed} cut at {cut}: stuck in {:?}", world.state.stage);
            }
            assert!(world.state.ended.is_some(), "seed {seed} cut at {cut}: stuck in {:?}", world.state.stage);
        }
    }
}

fn any_input() -> impl Strategy<Value = Input> {
    let n = 0..4_u32;
    let text = "[a-z ]{0,12}";
    prop_oneof![
        Just(Input::TreeGranted),
        text.prop_map(|holder| Input::TreeBusy { holder }),
        (n.clone(), text).prop_map(|(n, id)| Input::SnapshotTaken { n, id }),
        (n.clone(), text).prop_map(|(n, message)| Input::SnapshotFailed { n, message }),
        n.clone().prop_map(|n| Input::AgentSpawned { n, pid: 1 }),
        (n.clone(), text).prop_map(|(n, message)| Input::AgentFailed { n, message }),
        (n.clone(), text).prop_map(|(n, session)| Input::AgentReady {
            n,
            session,
            model: "m".into(),
            version: "v".into()
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
        n.clone().prop_map(|n| Input::EvidenceGathered { n, iteration_files: vec![], phase_files: vec!["a".into()] }),
        n.clone().prop_map(|n| Input::ValidationFinished { n, results: vec![] }),
        text.prop_map(|phase| Input::TickSettled { phase, outcome: WriteOutcome::FileGone }),
        Just(Input::StatusSettled { to: TicketStatus::Closed, outcome: WriteOutcome::NotThere }),
        text.prop_map(|message| Input::Faulted { message }),
        text.prop_map(|why| Input::TicketLost { why }),
        prop::collection::vec(("[ab]{1,2}", any::<bool>()), 0..4).prop_map(|phases| {
            Input::TicketRead {
                read_at: Timestamp::from_millis(i64::MAX),
                title: "t".into(),
                phases: phases.into_iter().map(|(text, done)| PhaseSeed { text, done }).collect(),
                boxes: Boxes::default(),
                validation: vec![],
            }
        }),
        Just(Input::Commanded { id: "i".into(), command: UserCommand::PauseNow }),
        Just(Input::Commanded { id: "i".into(), command: UserCommand::Resume }),
        Just(Input::Commanded { id: "i".into(), command: UserCommand::Stop }),
        Just(Input::Commanded { id: "i".into(), command: UserCommand::ResetBreaker }),
        Just(Input::Resumed { pid: 1, phases: None, settings: None }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_input_in_any_order_is_survived(inputs in prop::collection::vec(any_input(), 0..60), seed in 0..50_u64) {
        let mut world = World::new(seed, Weather::Fair);
        let start = world.start();
        world.give(start);
        for input in inputs {
            world.coming.clear();
            // Effects are performed by the world only when they cannot panic on made-up ids.
            let decision = decide(&world.state, input, Timestamp::from_millis(world.now));
            for record in decision.records {
                let seq = world.journal.len() as u64 + 1;
                let stored = Stored { v: FORMAT, seq, time: Timestamp::from_millis(world.now), run: RunId(uuid::Uuid::nil()), ticket: TicketId::parse("t").unwrap(), record };
                apply(&mut world.state, &stored);
                world.journal.push(stored);
            }
        }
        prop_assert_eq!(fold(&world.journal), world.state);
    }
}

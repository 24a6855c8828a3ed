//! A world around the core, without any I/O: it stores, performs effects, lets things happen in seeded order, jumps
//! with the clock, kills and resumes. What Claude and the person do in it is in `players`.

use super::dice::Dice;
use super::invariants::Invariants;
use super::ledger::Ledger;
use super::players::exited;
use super::questions::Questions;
use super::simulation::Show;
use programmator::base::id::{RunId, TicketId};
use programmator::base::time::Timestamp;
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::Presence;
use programmator::domain::branching::{BranchSwitch, SwitchSettled};
use programmator::domain::breaker::Breaker;
use programmator::domain::command::UserCommand;
use programmator::domain::commit::{Agreed, CommitSettled, CommitWhen};
use programmator::domain::evaluation::ProposalAnswer;
use programmator::domain::limits::admission::{Ask, Verdict as Answer};
use programmator::domain::merge::{ConflictWork, MergeSettled};
use programmator::domain::messages::LogFormatter;
use programmator::domain::phase::PhaseId;
use programmator::domain::planning::{PlanAsked, Tried};
use programmator::domain::record::{
    FORMAT, PhaseSeed, Record, RevisionSettled, Stored, TicketRevised, ValidationRan, WriteOutcome,
};
use programmator::domain::session::Sessions;
use programmator::domain::settings::Settings;
use programmator::domain::step::StepName;
use programmator::domain::ticket::revise::TicketEdit;
use programmator::domain::ticket::{Boxes, Revision, TicketStatus};
use programmator::domain::turn::{Origin, TurnResult};
use programmator::domain::verdict::Verdict;
use programmator::domain::workspace::Workspace;
use programmator::domain::worktree::{Worktree, WorktreeMade};
use programmator::orchestrator::apply::{apply, folded};
use programmator::orchestrator::decide::decide_with;
use programmator::orchestrator::effect::{Effect, Spawn, Timer};
use programmator::orchestrator::input::{Input, Start};
use programmator::orchestrator::state::{Stage, State};
use programmator::orchestrator::step::Step;
use programmator::orchestrator::steps::STEPS;
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy, PartialEq)]
pub enum Weather {
    /// Claude works well and nobody interferes: every run completes.
    Fair,
    /// Everything goes wrong now and then.
    Rough,
}

/// A ticket, its runs one after another, and everything around them.
pub struct World {
    pub dice: Dice,
    pub weather: Weather,
    pub show: Show,
    /// The clock, in milliseconds.
    pub now: i64,
    /// The journal of the present run.
    pub journal: Vec<Stored>,
    pub state: State,
    /// Things that will happen, mostly in this order.
    pub coming: Vec<Input>,
    pub timers: Vec<(Timer, Timestamp)>,
    /// The working tree is a number that grows with every change.
    pub tree: u64,
    pub snapshots: HashMap<String, u64>,
    /// Readings of the ticket's file, and writes of boxes.
    pub readings: u64,
    /// The phases in the ticket's file.
    pub phases: Vec<PhaseSeed>,
    /// Its checkboxes, where they are no phases.
    pub boxes: Boxes,
    pub status: TicketStatus,
    pub validation: Vec<String>,
    pub settings: Settings,
    pub ledger: Ledger,
    pub rules: Invariants,
    pub questions: Questions,
    /// What happened how often, to see that a simulation meets everything.
    pub tally: BTreeMap<&'static str, u64>,
    pub spawned: u64,
    /// How Claude's turns mostly end here (see `turn_end`); 5 is a Claude that does nothing but test.
    pub bent: Option<u64>,
    /// Cost of Claude's present process in USD.
    pub process_cost: f64,
    pub runs: u128,
    /// What the runs are made of.
    pub steps: &'static [Step],
    /// Every call of Claude so far, with what it was for.
    pub calls: Vec<(StepName, Spawn)>,
    /// The models that calls were asked for.
    pub asked: Vec<Option<String>>,
    /// A person can be asked.
    pub attended: bool,
    /// Claude's process ends before it has read anything.
    pub fails: bool,
    /// So many reviews say that the work is not done.
    pub objections: u32,
    /// How often the directory was given back.
    pub releases: u32,
    /// What an accepted draft makes of the ticket.
    planned: Planned,
    formatter: LogFormatter,
}

#[derive(Clone, Default)]
struct Planned {
    phases: Vec<PhaseSeed>,
    validation: Vec<String>,
}

impl World {
    pub fn new(seed: u64, weather: Weather) -> Self {
        let mut dice = Dice(seed);
        let count = dice.roll(5) as usize;
        let names = ["alpha", "beta", "gamma", "delta"];
        let seed_of =
            |(n, name): (usize, &&str)| PhaseSeed { text: format!("Phase {}: part {name}", n + 1), done: false };
        let mut phases: Vec<PhaseSeed> = names.iter().enumerate().take(count).map(seed_of).collect();
        // Two of them are called the same.
        if count > 1 && seed % 8 == 5 && weather == Weather::Rough {
            phases[count - 1] = phases[0].clone();
        }
        let validation = if dice.one_in(2) { vec!["make check".to_owned()] } else { vec![] };
        let mut world = Self {
            settings: Settings::default(),
            weather,
            show: Show::Nothing,
            now: 1_795_000_000_000,
            journal: Vec::new(),
            state: State::default(),
            coming: Vec::new(),
            releases: 0,
            timers: Vec::new(),
            tree: 1,
            snapshots: HashMap::new(),
            readings: 0,
            phases,
            boxes: Boxes::default(),
            status: TicketStatus::Open,
            validation,
            ledger: Ledger::default(),
            rules: Invariants::default(),
            questions: Questions::default(),
            tally: BTreeMap::new(),
            spawned: 0,
            bent: None,
            process_cost: 0.0,
            runs: 0,
            steps: &STEPS,
            calls: Vec::new(),
            asked: Vec::new(),
            fails: false,
            attended: true,
            objections: 0,
            planned: Planned::default(),
            formatter: LogFormatter::default(),
            dice,
        };
        world.draw_settings();
        if world.rough(4) {
            world.bent = Some(world.dice.one_of(&[0, 4, 5, 5, 6, 7, 9, 11]));
        }
        if world.phases.is_empty() && world.rough(2) {
            world.boxes.open = 2 + world.dice.roll(3) as u32;
        }
        world
    }

    /// Begins a run, with what the one before it left.
    pub fn start(&mut self, breaker: Breaker, sessions: Sessions) {
        let start = Start {
            workspace: Workspace::shared("/w").in_worktree(self.worktree()),
            ticket_path: "/w/t.md".into(),
            title: "T".into(),
            ticket_status: Some(self.status),
            phases: self.phases.clone(),
            claimed_ticks: self.state.claimed_ticks_in(&self.phases),
            carried: self.state.carried_into(&self.phases, &self.state.workspace),
            validation: self.validation.clone(),
            settings: self.settings.clone(),
            breaker,
            sessions,
        };
        self.runs += 1;
        self.journal.clear();
        self.state = State::of(self.run(), TicketId::parse("t").unwrap());
        self.rules = Invariants::default();
        self.questions = Questions::default();
        self.ledger.grant_budget();
        self.note("starts");
        self.give(Input::Started(Box::new(start)));
        self.read_boxes();
        let can_plan = self.steps.iter().any(|step| step.name == StepName::PLAN);
        if can_plan && self.phases.is_empty() && self.bent.is_none() && self.rough(4) {
            let asked = PlanAsked { saves: self.dice.one_in(3), ..PlanAsked::default() };
            self.give(Input::PlanAsked(asked));
        }
    }

    /// The core hears of a thing: its records are stored, then its effects performed.
    pub fn give(&mut self, input: Input) {
        self.now += 1 + self.dice.signed(2_000);
        if self.rough(100) {
            self.clock_jumps();
        }
        let now = Timestamp::from_millis(self.now);
        if let Input::Commanded { command, .. } = &input {
            self.rules.person_wants(&self.state, command);
        }
        let decision = decide_with(self.steps, &self.state, input, now);
        assert_eq!(decision.records.is_empty(), decision.next.is_none());
        for record in decision.records {
            self.store(record, now);
        }
        // The program resumes what was decided, and folds no journal but at a start.
        assert!(decision.next.is_none_or(|next| *next == self.state), "the next state is not the fold of its records");
        self.rules.decided(&self.state, now);
        for effect in decision.effects {
            self.rules.performs(&self.state, &effect);
            self.perform(effect);
        }
    }

    /// Tickets that are committed as a whole have a worktree.
    fn worktree(&self) -> Option<Worktree> {
        (self.settings.git.commit == CommitWhen::Ticket).then(Worktree::default)
    }

    fn run(&self) -> RunId {
        RunId(uuid::Uuid::from_u128(self.runs))
    }

    fn store(&mut self, record: Record, time: Timestamp) {
        let (run, ticket) = (self.run(), TicketId::parse("t").unwrap());
        let stored = Stored { v: FORMAT, seq: self.journal.len() as u64 + 1, time, run, ticket, record };
        if self.show == Show::Journal {
            self.print(&stored);
        }
        self.tally_record(&stored.record);
        self.rules.stored(&self.state, &stored, |n, purpose| self.ledger.has_granted(run, n, purpose));
        if let Some(what) = self.questions.stored(&stored) {
            self.note(what);
        }
        let before = self.state.cost_usd;
        apply(&mut self.state, &stored);
        self.ledger.note(run, &stored.record, self.state.cost_usd - before, time);
        self.journal.push(stored);
    }

    fn print(&mut self, stored: &Stored) {
        let kind = serde_json::to_value(&stored.record).unwrap()["kind"].as_str().unwrap().to_owned();
        let words = self.formatter.line(&stored.record).map(|line| line.text).unwrap_or_default();
        println!("{:>3}.{:<4} {} {kind:<20} {words}", self.runs, stored.seq, stored.time);
    }

    pub fn note(&mut self, what: &'static str) {
        *self.tally.entry(what).or_default() += 1;
    }

    pub fn rough(&mut self, sides: u64) -> bool {
        self.weather == Weather::Rough && self.dice.one_in(sides)
    }

    /// The clock is set, or the machine slept.
    fn clock_jumps(&mut self) {
        self.now += match self.dice.roll(4) {
            0 => -self.dice.signed(3_600_000),
            1 => -self.dice.signed(3 * 86_400_000),
            2 => self.dice.signed(7_200_000),
            _ => self.dice.signed(3 * 86_400_000),
        };
        self.note("clock jumps");
    }

    fn admit(&mut self, ask: &Ask) -> Input {
        self.asked.push(ask.model.clone());
        let now = Timestamp::from_millis(self.now);
        if self.rough(8) {
            self.ledger.other_call(now);
        }
        let run = self.run();
        let admission = self.ledger.admit(ask, run, now);
        match &admission.verdict {
            Answer::Park(_) if self.ledger.is_held_without_reset() => self.note("parked, reset unknown"),
            Answer::Stop(_) => self.note("over budget"),
            _ => {}
        }
        Input::Admitted { n: ask.n, purpose: ask.purpose, admission: Box::new(admission) }
    }

    fn perform(&mut self, effect: Effect) {
        let next = match effect {
            Effect::MakeWorktree(_) if self.rough(10) => Input::WorktreeFailed { why: "the disk is full".into() },
            Effect::MakeWorktree(_) => Input::WorktreeReady(WorktreeMade::default()),
            Effect::MergeWork { .. } if self.rough(3) => {
                Input::MergeSettled(MergeSettled::conflict("main", "tk-1", vec!["a.rs".into()]))
            }
            Effect::Conflict { work, .. } if self.rough(6) => {
                Input::ConflictDone { work, done: Err("the base has moved".into()) }
            }
            Effect::Conflict { work, .. } if work == ConflictWork::Open || self.rough(4) => {
                Input::ConflictDone { work, done: Ok(vec!["a.rs".into()]) }
            }
            Effect::Conflict { work, .. } => Input::ConflictDone { work, done: Ok(Vec::new()) },
            Effect::MergeWork { .. } => Input::MergeSettled(MergeSettled::default()),
            Effect::AcquireTree if self.rough(6) => {
                self.coming.push(Input::TreeBusy { holder: "other".into() });
                Input::TreeGranted
            }
            Effect::AcquireTree if self.rough(12) => Input::SwitchDue(BranchSwitch::default()),
            Effect::AcquireTree => Input::TreeGranted,
            Effect::SwitchBranch(switch) => {
                let trouble = self.rough(6).then(|| "somebody has switched back".to_owned());
                Input::Switched(SwitchSettled { switch: *switch, trouble })
            }
            Effect::Admit(ask) => self.admit(&ask),
            Effect::TakeSnapshot { n, .. } if self.rough(60) => Input::SnapshotFailed { n, message: "no space".into() },
            Effect::TakeSnapshot { n, .. } => {
                let id = format!("s{}-{n}", self.runs);
                self.snapshots.insert(id.clone(), self.tree);
                Input::SnapshotTaken { n, id }
            }
            Effect::Spawn(spawn) => {
                let (n, resumed) = (spawn.n, spawn.session.is_some());
                let step = self.state.open_iteration().unwrap().role.step.clone();
                let model = spawn.model.clone().unwrap_or("m".into());
                self.calls.push((step, *spawn));
                return self.play_claude(n, resumed, model);
            }
            Effect::SendFollowUp { n, .. } => self.turn_end(n),
            Effect::SendNote { .. } if self.rough(3) => return,
            Effect::SendNote { id, .. } => Input::NoteEchoed { id },
            Effect::Judge { n, call } => return self.judge(n, call),
            Effect::JudgeEdit { asked, input, .. } => return self.judge_edit(asked.id.clone(), input),
            Effect::Rejudge { id, .. } => return self.judge_again(id),
            Effect::Answer { request, verdict, .. } => return self.heard(&request, verdict),
            Effect::ResolveApproval { id, answer } => return self.settled(&id, &answer),
            Effect::ReleaseTree => return self.releases += 1,
            Effect::Unlock { .. } => return,
            Effect::Interrupt { n } => {
                let result = TurnResult { is_error: true, origin: Origin::Foreign, ..TurnResult::default() };
                Input::TurnFinished { n, result: Box::new(result) }
            }
            // It hangs after its result: the grace ends it.
            Effect::CloseInput { .. } if self.rough(10) => return,
            Effect::CloseInput { n } | Effect::StopAgent { n } | Effect::KillAgent { n } => exited(n),
            Effect::Arm { timer, at } => {
                let kind = std::mem::discriminant(&timer);
                self.timers.retain(|(other, _)| std::mem::discriminant(other) != kind);
                return self.timers.push((timer, at));
            }
            Effect::GatherEvidence { n, .. } if self.rough(80) => {
                Input::EvidenceFailed { n, message: "git failed".into() }
            }
            Effect::GatherEvidence { n, iteration_base, phase_base } => {
                let reading = self.last_reading();
                let changed = |id: &str| self.snapshots[id] != self.tree;
                let file = if self.bent == Some(5) || self.dice.one_in(3) { "tests/a.rs" } else { "src/a.rs" };
                let since = |id: &str| if changed(id) { vec![file.to_owned()] } else { vec![] };
                Input::EvidenceGathered {
                    n,
                    iteration_files: since(&iteration_base),
                    phase_files: since(&phase_base),
                    reading,
                }
            }
            Effect::RunValidation { n, commands } => {
                let exit = i32::from(self.rough(3));
                let ran = |command| ValidationRan {
                    n,
                    command,
                    exit: Some(exit),
                    timed_out: false,
                    ms: 1,
                    tail: "out".into(),
                    log: "l".into(),
                };
                let results = commands.into_iter().map(ran).collect();
                Input::ValidationFinished { n, results, reading: self.last_reading() }
            }
            Effect::StopValidation => {
                let finished = |input: &Input| matches!(input, Input::ValidationFinished { .. });
                let Some(at) = self.coming.iter().position(finished) else { return };
                self.coming.remove(at);
                Input::ValidationStopped { n: self.state.iterations, reading: self.last_reading() }
            }
            Effect::PlanEdit { id, .. } if self.rough(8) => {
                Input::EditPlanned { id, planned: Err("the file is broken".into()) }
            }
            Effect::PlanEdit { id, edit } => Input::EditPlanned { id, planned: Ok(self.planned(&edit)) },
            Effect::Revise(revised) => {
                if revised.is_draft() {
                    let Planned { phases, validation } = self.planned.clone();
                    if self.phases.is_empty() {
                        self.phases = phases;
                        self.validation.extend(validation);
                    }
                    let read = self.reading();
                    self.coming.push(read);
                    Input::RevisionSettled(RevisionSettled { revised: *revised, outcome: WriteOutcome::Written })
                } else {
                    let outcome = self.revise(&revised);
                    Input::RevisionSettled(RevisionSettled { revised: *revised, outcome })
                }
            }
            Effect::PlaceDraft { plan } => {
                let revised = TicketRevised {
                    id: format!("{}{}", TicketRevised::DRAFT, self.journal.len()),
                    what: "planned".into(),
                    revision: Revision::default(),
                    accepts: None,
                    renamed: None,
                    undoes: None,
                    by: Answerer::SCREEN,
                };
                let phases = plan.draft.iter().flat_map(|draft| &draft.phases);
                let phases = phases.map(|text| PhaseSeed { text: text.clone(), done: false }).collect();
                let validation = plan.draft.iter().flat_map(|draft| draft.validation.clone()).collect();
                self.planned = Planned { phases, validation };
                Input::DraftPlaced(if self.rough(3) { Err("gone".into()) } else { Ok(Box::new(revised)) })
            }
            Effect::TryCommands { commands } => {
                let tried = |command| Tried {
                    command,
                    verdict: Verdict::Allow,
                    reason: String::new(),
                    exit: Some(0),
                    tail: String::new(),
                };
                Input::DraftTried(commands.into_iter().map(tried).collect())
            }
            Effect::SetBox { phase, done } => {
                let outcome = match self.box_of(phase.id.unwrap()) {
                    Some(seed) if seed.done == done => WriteOutcome::AlreadySo,
                    Some(seed) => {
                        seed.done = done;
                        WriteOutcome::Written
                    }
                    None => WriteOutcome::NotThere,
                };
                let outcome = if self.rough(60) { WriteOutcome::Failed("read-only".into()) } else { outcome };
                self.readings += 1;
                let is_changed = outcome == WriteOutcome::Written;
                self.coming.push(Input::BoxSettled { phase, done, outcome, reading: self.readings });
                // Nobody hears of a file that is as it was.
                if is_changed {
                    return;
                }
                self.reading()
            }
            Effect::SetStatus { to } => {
                self.status = to;
                Input::StatusSettled { to, outcome: WriteOutcome::Written }
            }
            Effect::PlanCommit(own) => {
                let id = format!("commit {}", self.journal.len());
                let agreed = Agreed { message: own.phase, files: vec!["a.txt".into()], ..Agreed::default() };
                let planned = match (self.rough(3), self.rough(3)) {
                    (true, _) => Err("main is protected".into()),
                    (false, true) => Ok(None),
                    (false, false) => Ok(Some(Box::new(agreed))),
                };
                Input::CommitPlanned { id, planned }
            }
            Effect::MakeCommit { id, .. } => Input::CommitMade(self.committed(id)),
            Effect::RecoverCommit(_) if self.rough(5) => Input::CommitUnknown { why: "git is gone".into() },
            Effect::RecoverCommit(open) => Input::CommitMade(self.committed(open.id)),
            Effect::SeekPerson => {
                let presence = if !self.attended || self.rough(3) { Presence::Nobody } else { Presence::Screen };
                self.note(if presence == Presence::Nobody { "held, nobody there" } else { "held for the person" });
                Input::PersonSought { presence }
            }
            Effect::Finish => {
                self.timers.clear();
                return self.coming.clear();
            }
        };
        self.coming.push(next);
    }

    /// An edit of the file, whose lines are its phases here. Of a note it says nothing.
    fn planned(&self, edit: &TicketEdit) -> Revision {
        let before = self.phases.iter().map(|seed| seed.text.clone()).collect::<Vec<_>>();
        let added = if let TicketEdit::Add { texts, .. } = edit { texts.clone() } else { Vec::new() };
        Revision { after: [before.clone(), added].concat(), before, ..Revision::default() }
    }

    /// It is made where the file is as it was planned on.
    fn revise(&mut self, revised: &TicketRevised) -> WriteOutcome {
        let Revision { before, after, .. } = &revised.revision;
        let now: Vec<String> = self.phases.iter().map(|seed| seed.text.clone()).collect();
        if self.rough(10) {
            return WriteOutcome::Failed("read-only".into());
        }
        if now == *after {
            return WriteOutcome::AlreadySo;
        }
        if now != *before || self.rough(10) {
            return WriteOutcome::NotThere;
        }
        self.note("phases added");
        let added = after[before.len()..].iter().map(|text| PhaseSeed { text: text.clone(), done: false });
        self.phases.extend(added.collect::<Vec<_>>());
        // The run hears of the file before it hears that it is written.
        let read = self.reading();
        self.coming.push(read);
        WriteOutcome::Written
    }

    fn committed(&mut self, id: String) -> CommitSettled {
        let commit = (!self.rough(3)).then(|| "abc".to_owned());
        CommitSettled { id, commit, ..CommitSettled::default() }
    }

    /// The phase in the file.
    fn box_of(&mut self, phase: PhaseId) -> Option<&mut PhaseSeed> {
        let (text, nth) = self.state.place(phase)?;
        self.phases.iter_mut().filter(|seed| seed.text == text).nth(nth)
    }

    /// kill -9: what was under way is lost; the journal, the tree and the ticket stay. Gives whether the run goes on.
    pub fn kill(&mut self) -> bool {
        self.note("kills");
        self.coming.clear();
        self.timers.clear();
        let folded = folded(&self.journal);
        assert_eq!(folded, self.state, "the fold of the journal is not the state");
        self.state = folded;
        let resumable = self.state.is_resumable();
        if resumable {
            self.resume();
        }
        resumable
    }

    /// Takes a journal over from another world: its records are stored once more, nothing is performed.
    pub fn take_over(&mut self, journal: Vec<Stored>) {
        for Stored { record, time, .. } in journal {
            if let Record::CallCounted(counted) = &record {
                self.ledger.believe(self.run(), counted.n, counted.purpose, time);
            }
            if let Record::PhaseTicked(ticked) = &record {
                self.rules.person_ticks(&self.state, &ticked.of.phase);
            }
            if let Record::TicketRead { phases, .. } = &record {
                let ticked = phases.iter().filter(|seed| seed.done);
                ticked.for_each(|seed| self.rules.person_ticks(&self.state, &seed.text));
            }
            self.rules.believe(&self.state);
            self.questions.believe(&self.state);
            self.now = time.millis();
            self.store(record, time);
        }
        self.rules.believe(&self.state);
    }

    /// Goes on with the run, as the program does at a start: the file and the limits are read anew.
    pub fn resume(&mut self) {
        self.note("resumes");
        if self.state.ended.as_ref().is_some_and(|ended| ended.reason.word() == "budget") {
            self.ledger.grant_budget();
        }
        let settings = self.dice.one_in(4).then(|| Box::new(self.settings.clone()));
        self.readings = self.state.reading + 1;
        self.give(Input::Resumed { pid: 8, reading: self.readings, phases: self.phases.clone(), settings });
        if self.rough(2) {
            self.give(Input::ResolveAsked { by: Answerer::SCREEN });
        }
        self.give(Input::LimitsRead(self.settings.limits.clone()));
        self.read_boxes();
    }

    /// One thing happens. `false`: nothing is left that could, or the run is left waiting for the person.
    pub fn happen(&mut self) -> bool {
        if self.rough(80) {
            self.kill();
            return true;
        }
        if self.rough(20) {
            self.person();
            return true;
        }
        if self.looks_at_the_queue() {
            return true;
        }
        if !self.coming.is_empty() {
            // In rough weather anything may overtake.
            let mut at = if self.rough(4) { self.dice.roll(self.coming.len() as u64) as usize } else { 0 };
            // What ends an iteration is told by the task that has read the file before.
            if let Input::EvidenceGathered { reading: last, .. } | Input::ValidationFinished { reading: last, .. } =
                self.coming[at]
            {
                let is_last = |input: &Input| matches!(input, Input::TicketRead { reading, .. } if *reading == last);
                at = self.coming.iter().position(is_last).unwrap_or(at);
            }
            // Boxes are written one after the other.
            if matches!(self.coming[at], Input::BoxSettled { .. }) {
                let first = self.coming.iter().position(|input| matches!(input, Input::BoxSettled { .. }));
                at = first.unwrap_or(at);
            }
            let input = self.coming.remove(at);
            if matches!(input, Input::TicketRead { .. }) && self.rough(3) {
                self.coming.push(input.clone());
                self.note("read, and heard of again");
            }
            self.give(input);
            return true;
        }
        if self.state.stage == Stage::Paused {
            if self.rough(8) {
                self.note("left paused");
                return false;
            }
            self.give(Input::Commanded { by: Answerer::SCREEN, id: "r".into(), command: UserCommand::Resume });
            return true;
        }
        if let Some(proposal) = self.state.awaits_phases().cloned() {
            let phases = proposal.phases.into_iter().take(1).collect();
            let answer = match self.dice.roll(3) {
                0 => ProposalAnswer::Refuse { words: "not needed".into() },
                _ => ProposalAnswer::Add { phases },
            };
            let command = UserCommand::AnswerProposal { n: proposal.n, answer };
            self.give(Input::Commanded { by: Answerer::SCREEN, id: "m".into(), command });
            return true;
        }
        let draft = self.state.waiting_draft().cloned().filter(|_| self.state.ended.is_none());
        if let Some(seen) = draft {
            let command = UserCommand::AnswerDraft { answer: self.draft_answer(), seen: Box::new(seen) };
            self.give(Input::Commanded { by: Answerer::SCREEN, id: "d".into(), command });
            return true;
        }
        let change = self.state.validation_change.clone();
        if let Some(seen) = change.filter(|_| self.state.is_complete() && self.state.ended.is_none()) {
            let command = UserCommand::AnswerValidationChange { accept: self.dice.one_in(2), seen };
            self.give(Input::Commanded { by: Answerer::SCREEN, id: "v".into(), command });
            return true;
        }
        let first = self.timers.iter().enumerate().min_by_key(|(_, (_, at))| *at).map(|(first, _)| first);
        let Some((timer, at)) = first.map(|first| self.timers.swap_remove(first)) else { return false };
        self.now = self.now.max(at.millis());
        // Nobody looks at a parked run twice a minute; a sleeping machine does not either.
        if let Some(parked) = self.state.limits.parked.as_ref().filter(|_| timer == Timer::Park && self.dice.one_in(2))
        {
            self.now = self.now.max(parked.until.millis());
        }
        let heard = if self.dice.one_in(4) { self.now - 1_000 } else { 0 };
        self.give(Input::TimerFired { timer, last_byte: Timestamp::from_millis(heard) });
        true
    }

    /// Lets things happen until the run has ended, or waits for the person. Anything else is a failure.
    pub fn live(&mut self) {
        let mut steps = 0;
        while !(self.state.ended.is_some() && self.coming.is_empty()) && self.happen() {
            steps += 1;
            assert!(steps < 20_000, "the run neither ends nor waits: {:?}", self.state.stage);
        }
        let waits = self.state.ended.is_some() || self.state.stage == Stage::Paused;
        assert!(waits, "nothing is left to happen in {:?}, and the run has not ended", self.state.stage);
    }
}

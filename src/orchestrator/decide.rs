//! What to do about a thing that happened. Total: any input in any state gives a decision.
//!
//! This file routes. `pace` chooses the next step of a run, `park` asks for calls and waits for limits, `agent` follows
//! Claude, `approval` asks the person, `kept` has the questions outlive Claude, `tripwire` sees what ran past the gate, `rules_changed` asks the rules again, `check` turns a claim into facts,
//! `chat` talks with the person, `circuit` moves the breaker, `commit` has done work committed, `merge` has it merged, `goal` has proposed phases decided,
//! `exit` weighs what else an output says, `person` obeys the person, `plan` sees to a draft, `ticket` follows the file,
//! `session` chooses Claude's session, `turns` knows the turns that no message of ours began, `watchdog` has the timers,
//! `worktree` has the run's own worktree made.

mod agent;
mod approval;
mod chat;
mod check;
mod circuit;
mod commit;
mod conflict;
mod exit;
mod goal;
mod kept;
mod merge;
mod pace;
mod park;
mod person;
mod plan;
mod rules_changed;
mod session;
mod ticket;
mod tripwire;
mod turns;
mod watchdog;
mod worktree;

use crate::base::time::Timestamp;
use crate::domain::limits::admission::Asker;
use crate::domain::outcome::ExitReason;
use crate::domain::record::{AgentReady, ApiRetried, Level, OfPhase, Record};
use crate::orchestrator::apply::fold;
use crate::orchestrator::effect::{Decision, Effect, Timer};
use crate::orchestrator::input::Input;
use crate::orchestrator::state::{Iteration, Stage, State};
use crate::orchestrator::step::{self, Step};
use crate::orchestrator::steps::STEPS;
use std::borrow::Cow;
use std::sync::Arc;

/// How a run ends whose terminal is closed.
const HUNG_UP: &str = "stopped: its terminal was closed";
/// How a run ends that the person stops.
const STOPPED: &str = "stopped by you";

/// Decides. The records are to be stored, in order, before any of the effects is performed.
pub fn decide(state: &State, input: Input, now: Timestamp) -> Decision {
    decide_with(&STEPS, state, input, now)
}

/// The same, for a run that is made of these steps.
pub fn decide_with(steps: &[Step], state: &State, input: Input, now: Timestamp) -> Decision {
    let mut draft =
        Draft { state: Cow::Borrowed(state), steps, now, reading: None, records: Vec::new(), effects: Vec::new() };
    let held = draft.is_held();
    draft.take(input);
    draft.end_parking_if_over();
    if held && !draft.is_held() {
        draft.advance();
    }
    let Draft { state, records, effects, .. } = draft;
    let next = match state {
        Cow::Owned(next) => Some(Arc::new(next)),
        Cow::Borrowed(_) => None,
    };
    Decision { records, effects, next }
}

/// A decision in the making: records are folded at once, so later lines see what earlier ones decided. The state is
/// copied for the first record: most of what happens needs none.
struct Draft<'a> {
    state: Cow<'a, State>,
    steps: &'a [Step],
    now: Timestamp,
    /// The reading of the ticket's file that an end of the iteration stands against.
    reading: Option<u64>,
    records: Vec<Record>,
    effects: Vec<Effect>,
}

impl<'a> Draft<'a> {
    /// The step whose turn it is, and its phase.
    fn next_step(&self) -> Option<(&'a Step, Option<OfPhase>)> {
        step::next(self.steps, &self.state)
    }

    fn step(&self) -> Option<&'a Step> {
        step::present(self.steps, &self.state)
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Started(start) => self.started(*start),
            Input::Resumed { pid, reading, phases, settings } => self.resumed(pid, reading, phases, settings),
            Input::WorktreeReady(made) => self.worktree_ready(made),
            Input::WorktreeFailed { why } => self.worktree_failed(&why),
            Input::TreeGranted => self.tree_granted(),
            Input::SwitchDue(switch) => self.switch_due(switch),
            Input::Switched(settled) => self.switched(settled),
            Input::TreeBusy { holder } => {
                if self.awaits_tree() {
                    self.record(Record::TreeAwaited { holder });
                }
            }
            Input::TicketRead { reading, title, phases, boxes, validation } => {
                if self.state.is_open() && reading >= self.state.reading {
                    self.boxes_read(boxes);
                    self.ticket_read(reading, title, phases, validation);
                }
            }
            Input::PhaseSettingsRead { phases } => self.phase_settings_read(phases),
            Input::TicketLost { why } => self.ticket_lost(why),
            Input::Commanded { id, by, command } => self.commanded(id, by, command),
            Input::HandedOver => self.handed_over(),
            Input::Wished { wish, by, command } => self.wished(wish, by, command),
            Input::DoneBeside { record, .. } => self.record(*record),
            Input::Judged { n, call, ruling, presence } => self.judged(n, *call, *ruling, presence),
            Input::EditJudged { id, by, input, ruling } => self.edit_judged(&id, by, input, *ruling),
            Input::Unlocked { id, by } => self.unlocked(&id, by),
            Input::PersonSought { presence } => self.person_sought(presence),
            Input::RulesOpened { words } => {
                if self.state.is_open() {
                    self.notice(Level::Info, words);
                }
            }
            Input::RulesChanged { words, trouble } => self.rules_changed(words, trouble),
            Input::RulesKnown { rules } => self.rules_known(rules),
            Input::Rejudged { id, ruling } => self.rejudged(&id, *ruling),
            Input::StorageWorked { waited } => self.storage_worked(waited),
            Input::NotRejudged { id, why } => self.not_rejudged(&id, &why),
            Input::RuleSaved { id, by, path } => self.rule_saved(&id, by, &path),
            Input::ToolAsked { n, call } => self.effect(Effect::Judge { n, call }),
            Input::BoxSettled { phase, done, outcome, reading } => self.box_settled(phase, done, outcome, reading),
            Input::PlanAsked(asked) => self.plan_asked(asked),
            Input::ChatAsked(asked) => self.chat_asked(asked),
            Input::DraftPlaced(placed) => self.draft_placed(placed),
            Input::DraftTried(tried) => self.draft_tried(tried),
            Input::RevisionSettled(settled) => self.revision_settled(&settled),
            Input::EditPlanned { id, planned } => self.edit_planned(id, planned),
            Input::StatusSettled { to, outcome } => self.status_settled(to, outcome),
            Input::CommitPlanned { id, planned } => self.commit_planned(id, planned),
            Input::CommitUnknown { why } => self.commit_unknown(&why),
            Input::CommitMade(settled) => self.commit_made(settled),
            Input::MergeSettled(settled) => self.merge_settled(settled),
            Input::ResolveAsked { by } => self.resolve_asked(by),
            Input::ConflictDone { work, done } => self.conflict_done(work, done),
            Input::Admitted { n, purpose, admission } => self.admitted(n, purpose, *admission),
            Input::LimitsRead(limits) => self.limits_read(limits),
            Input::TimerFired { timer: Timer::Park, .. } => self.look_again(Asker::Program),
            Input::TimerFired { timer, last_byte } => self.timer_fired(timer, last_byte),
            Input::NoteEchoed { id } => {
                if self.state.notes.is_open(&id) {
                    self.record(Record::NoteDelivered { id });
                }
            }
            Input::LinesCounted { added, removed } => {
                if self.state.is_open() && self.state.lines != (added, removed) {
                    self.record(Record::LinesCounted { added, removed });
                }
            }
            Input::Warned { text } => {
                if self.state.is_open() {
                    self.notice(Level::Warn, text);
                }
            }
            Input::Faulted { message } => self.faulted(ExitReason::Error, message),
            Input::StorageFailed { message } => self.faulted(ExitReason::StorageFailed, message),
            input => self.of_iteration(input),
        }
    }

    /// What belongs to one iteration; an answer that comes after its end is too late.
    fn of_iteration(&mut self, input: Input) {
        let n = match &input {
            Input::SnapshotTaken { n, .. }
            | Input::ChangesShown { n, .. }
            | Input::SnapshotFailed { n, .. }
            | Input::AgentStarting { n }
            | Input::AgentSpawned { n, .. }
            | Input::AgentFailed { n, .. }
            | Input::SessionUnknown { n }
            | Input::AgentReady { n, .. }
            | Input::ToolFinished { n, .. }
            | Input::ToolRan { n, .. }
            | Input::BackgroundChanged { n, .. }
            | Input::ForeignTurn { n, .. }
            | Input::AskWithdrawn { n, .. }
            | Input::ApiRetried(ApiRetried { n, .. })
            | Input::LimitSeen { n, .. }
            | Input::TurnFinished { n, .. }
            | Input::AgentExited { n, .. }
            | Input::EvidenceGathered { n, .. }
            | Input::EvidenceFailed { n, .. }
            | Input::ValidationFinished { n, .. }
            | Input::ValidationStopped { n, .. } => *n,
            _ => return,
        };
        if self.state.ended.is_some() || self.state.open_iteration().is_none_or(|open| open.n != n) {
            return;
        }
        match input {
            Input::SnapshotTaken { id, .. } => self.snapshot_taken(n, id),
            Input::ChangesShown { files, .. } => self.record(Record::ChangesShown { n, files }),
            Input::SnapshotFailed { message, .. } | Input::AgentFailed { message, .. } => {
                self.could_not_begin(n, message);
            }
            Input::SessionUnknown { .. } => self.session_unknown(n),
            Input::AgentStarting { .. } => self.agent_starting(n),
            Input::AgentSpawned { pid, .. } => self.agent_spawned(n, pid),
            Input::AgentReady { session, model, version, told, .. } => {
                self.agent_ready(AgentReady { n, session, model, version, told });
            }
            Input::ToolFinished { tool_use_id, is_error, .. } => self.tool_finished(n, tool_use_id, is_error),
            Input::ToolRan { tool_use_id, unasked, .. } => self.tool_ran(n, &tool_use_id, unasked),
            Input::BackgroundChanged { tasks, .. } => self.background_changed(n, tasks),
            Input::ForeignTurn { wakes, .. } => self.foreign_turn(n, wakes),
            Input::AskWithdrawn { tool_use_id, .. } => self.ask_withdrawn(&tool_use_id),
            Input::ApiRetried(retried) => self.api_retried(retried),
            Input::LimitSeen { window, .. } => self.limit_seen(window),
            Input::TurnFinished { result, .. } => self.turn_finished(n, &result),
            Input::AgentExited { code, signal, swept, stderr, .. } => {
                self.agent_exited(n, code, signal, swept, &stderr);
            }
            Input::EvidenceGathered { iteration_files, phase_files, reading, .. } => {
                self.reading = Some(reading);
                self.evidence_gathered(n, iteration_files, phase_files);
            }
            Input::EvidenceFailed { message, .. } => self.evidence_failed(n, message),
            Input::ValidationFinished { results, reading, .. } => {
                self.reading = Some(reading);
                self.validation_finished(n, &results);
            }
            Input::ValidationStopped { reading, .. } => {
                self.reading = Some(reading);
                self.validation_stopped();
            }
            _ => {}
        }
    }

    fn record(&mut self, record: Record) {
        fold(self.state.to_mut(), &record, self.now);
        self.records.push(record);
    }

    fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn notice(&mut self, level: Level, text: impl Into<String>) {
        self.record(Record::Noticed { level, text: text.into() });
    }

    fn open(&self, ask: impl FnOnce(&Iteration) -> bool) -> bool {
        self.state.open_iteration().is_some_and(ask)
    }

    fn awaits_tree(&self) -> bool {
        matches!(self.state.stage, Stage::AwaitingTree { .. })
    }
}

//! The fold: what each record makes of the state. Total; knows no clock and asks for nothing.
//!
//! Running, resuming, the screen, headless output and replay all go through here, so what they show
//! cannot differ.

mod agent;
mod goal;
mod merge;
mod restored;
mod resume;
mod session;
mod watch;
mod worktree;

use crate::base::time::Timestamp;
use crate::domain::claim::ClaimStatus;
use crate::domain::outcome::{DoneHow, IterationOutcome};
use crate::domain::phase::Mark;
use crate::domain::record::{BoxSettled, ChangeAnswered, OfPhase, PhaseByPerson, Record, Stored, WriteOutcome};
use crate::domain::workspace::Workspace;
use crate::orchestrator::state::{Ended, Iteration, Pace, PhaseState, Stage, State, chat, planning};
use crate::orchestrator::{breaker, exit, gate, limits};
use agent::fold_agent;
use std::borrow::Borrow;
use std::sync::Arc;

/// The state that the records of a journal tell of.
pub fn folded<S: Borrow<Stored>>(journal: impl IntoIterator<Item = S>) -> State {
    let mut state = State::default();
    journal.into_iter().for_each(|stored| apply(&mut state, stored.borrow()));
    state
}

/// The state after records that are to be stored at `time`.
pub fn after(state: &State, records: &[Record], time: Timestamp) -> State {
    let mut state = state.clone();
    for record in records {
        fold(&mut state, record, time);
    }
    state
}

/// Folds one stored record into the state of its run.
pub fn apply(state: &mut State, stored: &Stored) {
    state.run = Some(stored.run);
    state.ticket = Some(stored.ticket.clone());
    fold(state, &stored.record, stored.time);
    // Before it there may be some that this program cannot read.
    state.seq = stored.seq;
}

/// Folds the next record, which need not be stored yet.
pub(super) fn fold(state: &mut State, record: &Record, time: Timestamp) {
    state.seq += 1;
    state.started.get_or_insert(time);
    limits::fold(state, record, time);
    session::fold(state, record, time);
    gate::fold(state, record, time);
    state.touch(record, time);
    state.notes.fold(record);
    planning::fold(&mut state.plan, record);
    worktree::fold(state, record);
    chat::fold(state, record);
    match record {
        Record::RunStarted {
            folder,
            ticket_path,
            title,
            ticket_status,
            phases,
            unverified,
            unverified_ids,
            validation,
            settings,
        } => {
            state.workspace = Workspace::shared(folder);
            state.ticket_path.clone_from(ticket_path);
            state.title.clone_from(title);
            state.ticket_status = *ticket_status;
            state.phases = phases.iter().map(|seed| state.new_phase(seed)).collect();
            let is_unverified = |phase: &PhaseState| match unverified_ids.as_slice() {
                [] => unverified.contains(&phase.text),
                ids => ids.contains(&phase.id),
            };
            for phase in state.phases.iter_mut().filter(|phase| phase.ticked && is_unverified(phase)) {
                (phase.mark, phase.claimed_tick) = (Mark::Pending, true);
            }
            state.validation.clone_from(validation);
            state.settings = settings.clone();
            state.stage = Stage::AwaitingTree { holder: None };
        }
        Record::WorkCarried(carried) => merge::carried(state, carried),
        Record::RulesRead(read) => state.rules_trouble.clone_from(&read.trouble),
        Record::RunResumed { .. } => resume::fold(state),
        Record::TreeAwaited { holder } => {
            state.stage = Stage::AwaitingTree { holder: Some(holder.clone()) };
        }
        Record::TreeGranted => {
            // What an earlier process has begun to commit comes first.
            state.stage = if state.commits.open.is_some() { Stage::Committing } else { Stage::Idle };
            state.has_tree = true;
        }
        Record::TicketRead { title, phases, reading } => {
            state.title.clone_from(title);
            state.ticket_lost = None;
            know(state, *reading);
            merge::phases(state, phases);
        }
        Record::PhaseSettingsRead { phases } => merge::settings(state, phases),
        Record::BoxesRead(boxes) => state.boxes = *boxes,
        Record::TicketLost { why } => state.ticket_lost = Some(why.clone()),
        Record::ValidationChangeSeen { commands } => state.validation_change = Some(commands.clone()),
        Record::ValidationChangeAnswered(ChangeAnswered { commands, accepted }) => {
            let seen = state.validation_change.take();
            state.validation_declined = if *accepted { None } else { seen };
            state.validation.clone_from(commands);
        }
        Record::PauseAsked => state.pace = Pace::PauseNext,
        Record::Paused => state.stage = Stage::Paused,
        Record::Continued => {
            state.pace = Pace::Run;
            if state.stage == Stage::Paused {
                state.stage = if state.has_tree { Stage::Idle } else { Stage::AwaitingTree { holder: None } };
            }
        }
        Record::StopRequested { by } => (state.pace, state.is_hung_up) = (Pace::StopNext, by.is_hangup()),
        Record::NoteDelivered { .. } => {
            if let Some(iteration) = &mut state.iteration {
                iteration.answered = false;
            }
        }
        Record::BreakerCarried { .. }
        | Record::BreakerCounted(_)
        | Record::BreakerMoved(_)
        | Record::BreakerReset { .. } => {
            breaker::fold(&mut state.breaker, record, time);
        }
        Record::SettingsChanged(changed) => state.settings.clone_from(&changed.settings),
        Record::RunEnded { reason, detail, .. } => {
            state.ended = Some(Ended { reason: *reason, detail: detail.clone(), is_left: false });
            (state.stage, state.has_tree) = (Stage::Ended, false);
        }
        Record::TickIntended(OfPhase { phase, id }) | Record::UntickIntended(OfPhase { phase, id }) => {
            if let Some(phase) = state.about_mut(Some(phase), *id, owes_tick) {
                phase.box_writes += 1;
                // Of an old journal: a reading that came late had passed for the person's.
                if matches!((record, phase.mark), (Record::UntickIntended(_), Mark::Done(_))) {
                    phase.mark = Mark::Pending;
                }
            }
            // A person's tick waits for nothing else that is under way.
            if state.stage == Stage::Idle {
                state.stage = Stage::WritingBox;
            }
        }
        Record::TickSettled(settled) => settle_box(state, settled, true),
        Record::UntickSettled(settled) => settle_box(state, settled, false),
        Record::StatusIntended { .. } => state.stage = Stage::SettingStatus,
        Record::StatusSettled { to, outcome } => {
            if is_so(outcome) {
                state.ticket_status = Some(*to);
            } else {
                state.status_given_up = true;
            }
            state.stage = Stage::Idle;
        }
        Record::PhaseDone { n, phase, id, how } => {
            if let Some(iteration) = state.iteration.as_mut().filter(|open| open.ended.is_none()) {
                iteration.verified |= *how == DoneHow::Verified;
            }
            if *how == DoneHow::Approved {
                state.stagnation = 0;
            }
            if *n > 0 && !matches!(how, DoneHow::TickedByPerson | DoneHow::ClaimedNoChange) {
                state.commits.owe(phase.clone().unwrap_or_else(|| state.title.clone()));
            }
            if let Some(phase) = state.about_mut(phase.as_deref(), *id, PhaseState::is_open) {
                phase.done(*how);
            }
        }
        Record::PhaseChecked { phase, id, how, .. } => {
            if let Some(iteration) = state.iteration.as_mut().filter(|open| open.ended.is_none()) {
                iteration.verified |= *how == DoneHow::Verified;
            }
            if let Some(phase) = state.about_mut(phase.as_deref(), *id, PhaseState::is_open) {
                phase.mark = Mark::Checked(*how);
                phase.dispute = None;
                phase.review.is_open = false;
            }
        }
        Record::PhaseRejected { phase, id, issues, of_ticket, .. } => {
            let since = state.since.clone().filter(|_| *of_ticket);
            if let Some(phase) = state.about_mut(phase.as_deref(), *id, PhaseState::is_open) {
                phase.mark = Mark::Rejected;
                phase.review.is_open = true;
                phase.review.rejections += u32::from(!of_ticket);
                phase.review.issues.clone_from(issues);
                phase.baseline = since.or_else(|| phase.baseline.take());
            }
            goal::rejected(state, *of_ticket);
        }
        Record::PhaseDisputed { phase, id, why, .. } => {
            if let Some(iteration) = &mut state.iteration {
                iteration.dispute = Some(why.clone());
            }
            if let Some(phase) = state.about_mut(phase.as_deref(), *id, PhaseState::is_open) {
                phase.mark = Mark::Disputed;
                phase.dispute = Some(why.clone());
            }
        }
        Record::PhaseSkipped(of) if state.is_closed() => stands(state, of, Mark::Skipped),
        Record::PhaseSkipped(OfPhase { phase, id }) => {
            if let Some(phase) = state.about_mut(Some(phase), *id, PhaseState::is_open) {
                phase.mark = Mark::Skipped;
                phase.dispute = None;
            }
        }
        Record::PhaseTicked(PhaseByPerson { of, .. }) if state.is_closed() => {
            stands(state, of, Mark::Done(DoneHow::TickedByPerson));
        }
        Record::PhaseReopened(PhaseByPerson { of, .. }) if state.is_closed() => stands(state, of, Mark::Pending),
        Record::PhaseTicked(PhaseByPerson { of: OfPhase { phase, id }, .. }) => {
            if let Some(phase) = state.about_mut(Some(phase), *id, PhaseState::is_open) {
                phase.mark = Mark::Done(DoneHow::TickedByPerson);
                phase.dispute = None;
                phase.untickable = false;
            }
        }
        Record::PhaseReopened(PhaseByPerson { of: OfPhase { phase, id }, .. }) => {
            if let Some(phase) = state.about_mut(Some(phase), *id, |phase| phase.mark != Mark::Pending) {
                phase.reopen();
            }
        }
        Record::CommitDue => state.stage = Stage::Committing,
        Record::CommitIntended(intended) => state.commits.begin(intended),
        Record::CommitSettled(settled) => {
            state.commits.settle(settled);
            if state.stage == Stage::Committing {
                state.stage = Stage::Idle;
            }
        }
        Record::RevertIntended(intended) => state.reverts.begin(intended),
        Record::RevertSettled(settled) => state.reverts.settle(settled),
        Record::RestoreIntended(_) | Record::RestoreSettled(_) => restored::fold(state, record),
        Record::RevisionIntended(revised) => state.revisions.push(revised.clone()),
        Record::RevisionSettled(settled) => {
            if let Some(renamed) = settled.revised.renamed.as_ref().filter(|_| is_so(&settled.outcome)) {
                merge::renamed(state, renamed);
            }
            goal::edited(state, settled);
        }
        Record::EditDue(_)
        | Record::EditDropped { .. }
        | Record::GoalAchieved { .. }
        | Record::TicketReviewed { .. }
        | Record::TicketFaulted { .. }
        | Record::PhasesProposed(_)
        | Record::ProposalAnswered { .. } => goal::fold(state, record),
        Record::LinesCounted { added, removed } => state.lines = (*added, *removed),
        Record::IterationStarted { n, phase, session, id, role } => {
            state.iterations = *n;
            // They are of what was there before.
            (state.commits.last, state.commits.earlier, state.is_merged) = (None, None, false);
            let progress = role.counts.is_progress();
            state.aside += u32::from(!progress);
            state.reviews += u32::from(role.step.reviews());
            if progress {
                state.goal.reopen();
            }
            state.aside_in_a_row = if progress { 0 } else { state.aside_in_a_row + 1 };
            let own = state.about_mut(phase.as_deref(), *id, PhaseState::is_open).map(|own| {
                if progress {
                    own.mark = Mark::Running;
                    own.iterations += 1;
                }
                own.id
            });
            state.iteration = Some(Iteration {
                n: *n,
                told: phase.clone(),
                phase: phase.is_some().then(|| own.unwrap_or_default()),
                started: time,
                resumed: session.clone(),
                role: role.clone(),
                ..Iteration::default()
            });
            state.stage = Stage::Snapshotting;
        }
        Record::IterationEnded { outcome, changed, fingerprint, ms, reading, .. } => {
            know(state, *reading);
            end_iteration(state, *outcome, *changed, fingerprint.as_deref(), *ms, time);
            state.phases.iter_mut().for_each(|phase| phase.unread |= phase.box_writes > 0);
            if let Some(last) = &mut state.iteration {
                // Old journals do not say.
                let unread = reading.map_or(last.changed.is_none(), |reading| reading == 0);
                last.unread = last.prompted.is_some() && unread;
            }
        }
        _ => fold_agent(state, record, time),
    }
}

fn end_iteration(
    state: &mut State,
    outcome: IterationOutcome,
    changed: bool,
    fingerprint: Option<&str>,
    ms: u64,
    time: Timestamp,
) {
    state.stage = Stage::Idle;
    let Some(iteration) = &mut state.iteration else { return };
    iteration.ended = Some(time);
    let progress = iteration.role.counts.is_progress();
    if progress {
        exit::count(&mut state.signs, iteration, outcome);
    }
    // A sign that stood its check answers the dispute before it.
    let stood = iteration.dispute.is_none() && state.signs.indicators.last() == Some(&iteration.n);
    if stood && state.phases.is_empty() {
        state.whole.dispute = None;
    }
    if let Some(seen) = breaker::observe(iteration, outcome) {
        breaker::remember(&mut state.breaker, seen.output, state.settings.breaker.output_decline);
    }
    iteration.pid = None;
    iteration.tools.clear();
    let blocked = iteration.claim.as_ref().is_some_and(|claim| claim.status == ClaimStatus::Blocked);
    // What the person, a crash or a limit cut off says nothing about Claude's progress.
    if !matches!(outcome, IterationOutcome::Interrupted | IterationOutcome::CutOff | IterationOutcome::Parked) {
        // A phase that passed its validation is evidence too; a question neither raises nor resets, nor does a tree that
        // was never compared.
        let says_nothing = iteration.asked_person || iteration.changed.is_none();
        state.stagnation = match (changed || iteration.verified, says_nothing) {
            _ if !progress => state.stagnation,
            (true, _) => 0,
            (false, true) => state.stagnation,
            (false, false) => state.stagnation + 1,
        };
        // Any step can fail for ever; that one which only looks has gone well says nothing of the others.
        if progress || fingerprint.is_some() {
            state.repeated = fingerprint.map(|now| match &state.repeated {
                Some((before, times)) if before == now => (now.to_owned(), times + 1),
                _ => (now.to_owned(), 1),
            });
        }
    }
    for phase in state.phases.iter_mut().chain([&mut state.whole]) {
        if matches!(phase.mark, Mark::Running | Mark::Claimed) {
            phase.mark = if phase.review.is_open { Mark::Rejected } else { Mark::Pending };
        }
    }
    if let Some(phase) = state.own_phase_mut() {
        phase.spent_ms += ms;
        if blocked && progress {
            phase.mark = Mark::Blocked;
        }
    }
    if progress {
        state.last_work = state.iteration.clone().map(Arc::new);
    }
}

/// The person has decided about a phase after the run: that is the next run's.
fn stands(state: &mut State, of: &OfPhase, mark: Mark) {
    if let Some(phase) = state.about_mut(Some(&of.phase), of.id, |phase| phase.stands() != Mark::Pending) {
        phase.since = Some(mark);
    }
}

/// The box of a phase was changed in the file, or cannot be.
fn settle_box(state: &mut State, settled: &BoxSettled, done: bool) {
    let BoxSettled { phase: OfPhase { phase, id }, outcome, reading } = settled;
    know(state, *reading);
    if let Some(phase) = state.about_mut(Some(phase), *id, owes_tick) {
        phase.box_writes = phase.box_writes.saturating_sub(1);
        phase.untickable = !is_so(outcome);
        if is_so(outcome) {
            phase.ticked = done;
            phase.claimed_tick &= done;
        }
    }
    if state.stage == Stage::WritingBox && !state.is_writing_box() {
        state.stage = Stage::Idle;
    }
}

fn know(state: &mut State, reading: Option<u64>) {
    state.reading = state.reading.max(reading.unwrap_or_default());
}

/// It is done, and its box is to be ticked.
fn owes_tick(phase: &PhaseState) -> bool {
    matches!(phase.mark, Mark::Done(_)) && !phase.ticked && !phase.untickable
}

fn is_so(outcome: &WriteOutcome) -> bool {
    matches!(outcome, WriteOutcome::Written | WriteOutcome::AlreadySo)
}

//! The pace of a run: how it begins, what comes next, how it ends.

use super::{Draft, HUNG_UP, STOPPED};
use crate::domain::approval::Presence;
use crate::domain::breaker::Breaker;
use crate::domain::evaluation::Proposal;
use crate::domain::limits::admission::{Asker, Counted, Ledger, Purpose};
use crate::domain::outcome::{DoneHow, ExitReason, IterationOutcome};
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::record::{Level, OfPhase, PhaseSeed, Record};
use crate::domain::session::{COMPLETE, Sessions};
use crate::domain::settings::{Settings, SettingsChanged};
use crate::domain::step::Role;
use crate::domain::ticket::TicketStatus;
use crate::orchestrator::breaker;
use crate::orchestrator::effect::{Effect, Spawn};
use crate::orchestrator::exit;
use crate::orchestrator::guards;
use crate::orchestrator::input::Start;
use crate::orchestrator::limits;
use crate::orchestrator::state::{Pace, PhaseState, Stage};
use crate::orchestrator::step::Step;

/// What is left open where validation commands were changed and a guard ends the run before the person has decided.
const UNDECIDED: &str = "; the changed validation commands are undecided";

impl Draft<'_> {
    pub(super) fn started(&mut self, start: Start) {
        if self.state.started.is_some() {
            return;
        }
        let texts = (1..).zip(&start.phases).filter(|(id, _)| start.claimed_ticks.contains(&PhaseId(*id)));
        let is_closed = start.phases.is_empty() && start.ticket_status == Some(TicketStatus::Closed);
        let whole = start.carried.as_ref().and_then(|carried| carried.whole);
        self.record(Record::RunStarted {
            unverified: texts.map(|(_, seed)| seed.text.clone()).collect(),
            folder: start.workspace.home().display().to_string(),
            ticket_path: start.ticket_path,
            title: start.title,
            ticket_status: start.ticket_status,
            phases: start.phases,
            unverified_ids: start.claimed_ticks,
            validation: start.validation,
            settings: start.settings,
        });
        if let Some(worktree) = start.workspace.worktree() {
            self.record(Record::WorktreeIntended(worktree.clone()));
        }
        if let Some(carried) = start.carried {
            self.record(Record::WorkCarried(carried));
        }
        // Without phases, who closed the ticket said that it is done: an earlier run of ours, else the person.
        if is_closed {
            let how = whole.unwrap_or(DoneHow::TickedByPerson);
            self.record(Record::PhaseDone { n: 0, phase: None, how, id: None });
        }
        if start.sessions != Sessions::default() {
            self.record(Record::SessionsCarried(start.sessions));
        }
        if start.breaker != Breaker::default() {
            self.record(Record::BreakerCarried { breaker: start.breaker });
        }
        self.recover();
        self.take_place();
    }

    pub(super) fn resumed(&mut self, pid: u32, reading: u64, phases: Vec<PhaseSeed>, settings: Option<Box<Settings>>) {
        self.record(Record::RunResumed { pid });
        self.keep_over_restart();
        if let Some(settings) = settings {
            let what = self.state.settings.differences(&settings);
            if !what.is_empty() {
                self.record(Record::SettingsChanged(SettingsChanged { settings: *settings, what }));
            }
        }
        if self.says_something(&phases) {
            let title = self.state.title.clone();
            self.take_phases(reading, title, phases);
        }
        self.revise_again();
        self.recover();
        self.goes_on_planning();
        self.take_place();
    }

    /// Goes on from what is open.
    pub(super) fn take_up(&mut self) {
        let Some(open) = self.state.open_iteration() else { return self.advance() };
        let n = open.n;
        if open.snapshot.is_none() {
            // Nothing had begun yet.
            self.end_iteration(IterationOutcome::CutOff);
            return self.advance();
        }
        if !open.has_answered() && open.failure.is_none() && open.cut.is_none() {
            self.record(Record::StopAsked { n, outcome: IterationOutcome::CutOff });
        }
        self.compare(n);
    }

    /// Chooses the next step when nothing is under way: asks for the call of the next iteration, if there is to be one.
    pub(super) fn advance(&mut self) {
        if self.state.ended.is_none() && self.state.stage == Stage::Idle && self.is_due() {
            self.ask_for_call(Purpose::Iteration, Asker::Program);
        }
    }

    /// Does what comes before an iteration. `true`: nothing does.
    pub(super) fn is_due(&mut self) -> bool {
        let stop = self.state.pace == Pace::StopNext;
        if let Some(why) = self.state.ticket_lost.clone().filter(|_| !stop) {
            self.end(ExitReason::TicketGone, format!("the ticket's file can no longer be used: {why}"));
            return false;
        }
        // The file says what is done, and no more, before anything else, a stop included.
        if self.state.is_writing_ticket() {
            return false;
        }
        if let Some((phase, done)) = self.owed_box().filter(|_| self.state.ticket_lost.is_none()) {
            self.set_box(phase, done);
            return false;
        }
        if !stop && self.waits_for_answers() {
            return false;
        }
        if self.sees_to_plan() || self.waits_for_message() || self.ends_open_merge() {
            return false;
        }
        let counts = self.next_step().map(|(step, _)| step.counts);
        // What ends as complete is not taken up again.
        if (!stop || counts.is_none()) && self.owes_commit() {
            self.commit();
            return false;
        }
        if counts.is_none() && self.state.ticket_lost.is_none() {
            self.complete();
            return false;
        }
        if stop {
            self.end_stopped();
            return false;
        }
        // Every call would be blocked: Claude would be paid for finding that out.
        if let Some(why) = self.state.rules_trouble.clone() {
            self.end(ExitReason::Error, why);
            return false;
        }
        if let Some(rule) = exit::check(&self.state) {
            self.finish(rule);
            return false;
        }
        if let Some(stop) = guards::check(&self.state, counts.unwrap_or_default()) {
            let undecided = self.state.validation_change.as_ref().map_or("", |_| UNDECIDED);
            let detail = match self.halted() {
                // The guard says why it is over, the breaker what it takes to begin again.
                Some(why) => format!("{}{undecided}. Also, {why}", stop.detail),
                None => format!("{}{undecided}", stop.detail),
            };
            self.end(stop.reason, detail);
            return false;
        }
        if let Some(why) = self.halted() {
            self.end(ExitReason::CircuitOpen, why);
            return false;
        }
        if self.state.pace == Pace::PauseNext {
            self.record(Record::Paused);
            return false;
        }
        // Who only looks at a ticket does not begin it.
        if matches!(self.state.ticket_status, Some(TicketStatus::Open | TicketStatus::Closed))
            && counts.is_none_or(|counts| counts.is_progress())
            && !self.state.status_given_up
        {
            self.set_status(TicketStatus::InProgress);
            return false;
        }
        true
    }

    /// A phase whose box is not as it is to be, ticked or not: done and not ticked; or ticked and not found done.
    fn owed_box(&self) -> Option<(OfPhase, bool)> {
        let owed = |phase: &&PhaseState| match phase.mark {
            _ if phase.untickable => false,
            Mark::Done(_) => !phase.ticked,
            _ => phase.ticked && phase.claimed_tick,
        };
        self.state.phases.iter().find(owed).map(|phase| (phase.named(), !phase.ticked))
    }

    pub(super) fn set_box(&mut self, phase: OfPhase, done: bool) {
        let meant = phase.clone();
        self.record(if done { Record::TickIntended(meant) } else { Record::UntickIntended(meant) });
        self.effect(Effect::SetBox { phase, done });
    }

    /// Nothing is left to do. Proposed phases and changed validation commands that nobody has decided about hold the end.
    fn complete(&mut self) {
        if self.state.goal.proposal.is_some() {
            return self.decide_proposal();
        }
        match self.state.validation_change {
            None => self.merge_and_close(),
            Some(_) if self.state.pace == Pace::StopNext => self.end_stopped(),
            Some(_) => self.effect(Effect::SeekPerson),
        }
    }

    /// The run has nothing to do but to hear what the person says: about proposed phases or changed validation commands, or
    /// about what Claude asked before its process ended.
    pub(super) fn is_held(&self) -> bool {
        let at_rest = self.state.is_open() && self.state.stage == Stage::Idle && !self.state.is_writing_ticket();
        at_rest && (self.state.gate.kept || self.awaits_decision())
    }

    pub(super) fn awaits_decision(&self) -> bool {
        let is_open = self.state.validation_change.is_some() || self.state.goal.proposal.is_some();
        is_open && self.next_step().is_none()
    }

    /// Where nobody can decide, the run ends as it is, and says so.
    pub(super) fn person_sought(&mut self, presence: Presence) {
        self.person_sought_for_draft(presence);
        self.person_sought_for_chat(presence);
        if presence == Presence::Nobody && self.is_held() {
            if self.state.gate.kept {
                let ticket = self.state.ticket.as_ref().map_or("<ticket>", |ticket| ticket.as_str());
                let why = format!("headless mode cannot ask; open it on the screen with `programmator {ticket}`");
                return self.void_all(&why);
            }
            match self.state.goal.proposal.as_ref().map(Proposal::unreached) {
                Some(why) => self.end(ExitReason::ReviewFailed, why),
                None => self.merge_and_close(),
            }
        }
    }

    /// The ticket is closed when its work is where it belongs: others may wait for it.
    fn merge_and_close(&mut self) {
        if !self.sees_to_conflict() {
            if self.owes_merge() { self.merge() } else { self.close_ticket() }
        }
    }

    fn close_ticket(&mut self) {
        let skipped = self.state.phases_skipped();
        let open = self.state.ticket_status.is_some_and(|status| status != TicketStatus::Closed);
        if open && skipped == 0 && !self.state.status_given_up {
            return self.set_status(TicketStatus::Closed);
        }
        let detail = self.state.completed();
        self.reset_sessions(COMPLETE);
        self.end(ExitReason::Complete, detail);
    }

    fn set_status(&mut self, to: TicketStatus) {
        self.record(Record::StatusIntended { to });
        self.effect(Effect::SetStatus { to });
    }

    /// The model of a step's own: for work on a phase that of the phase, where it has one.
    pub(super) fn own_model(&self, step: &Step, phase: Option<PhaseId>) -> Option<String> {
        let phase = phase.and_then(|id| self.state.phase_by(id)).filter(|_| step.counts.is_progress());
        phase.and_then(|phase| phase.settings.model.clone()).or_else(|| (step.model)(&self.state.settings))
    }

    pub(super) fn begin_iteration(&mut self, ledger: Ledger) {
        let Some((step, phase)) = self.next_step() else { return };
        let n = self.state.iterations + 1;
        let (phase, id) = phase.map_or((None, None), |phase| (Some(phase.phase), phase.id));
        let session = self.choose_session(step);
        let role = Role { step: step.name.clone(), counts: step.counts, model: self.own_model(step, id) };
        self.record(Record::IterationStarted { n, phase, session, id, role });
        self.record(Record::CallCounted(Counted { n, purpose: Purpose::Iteration, ledger }));
        let conflict = self.state.conflict.as_ref().and_then(|conflict| conflict.snapshot.clone());
        let since = match self.state.iteration.as_ref().and_then(|iteration| iteration.phase) {
            None => conflict.or_else(|| self.state.since.clone()),
            Some(_) => self.state.own_phase().and_then(|phase| phase.baseline.clone()),
        };
        self.effect(Effect::TakeSnapshot { n, shown_since: step.shows_changes.then(|| since.unwrap_or_default()) });
    }

    pub(super) fn snapshot_taken(&mut self, n: u32, id: String) {
        if self.state.stage != Stage::Snapshotting {
            return;
        }
        self.record(Record::SnapshotTaken { n, id });
        self.spawn(n);
    }

    /// Calls Claude, unless the person has come before it: to pause or stop, with a phase that is skipped, ticked or gone,
    /// or with rules that cannot be used. Then nothing was spent.
    pub(super) fn spawn(&mut self, n: u32) {
        let is_free = self.state.pace == Pace::Run && self.state.rules_trouble.is_none();
        let Some(step) = self.step().filter(|step| is_free && (step.stands)(&self.state)) else {
            self.end_iteration(IterationOutcome::Interrupted);
            return self.advance();
        };
        let notes = self.notes_for(step);
        self.record(Record::SpawnRequested { n, notes: notes.iter().map(|(id, _)| id.clone()).collect() });
        let prompt = (step.prompt)(&self.state, notes.into_iter().map(|(_, text)| text).collect());
        let settings = &self.state.settings;
        let of_phase = self.state.own_phase().filter(|_| step.counts.is_progress());
        let effort = of_phase.and_then(|phase| phase.settings.effort.clone()).or_else(|| (step.effort)(settings));
        let profile = (step.profile)(settings);
        let iteration = self.state.iteration.as_ref();
        let session = iteration.and_then(|iteration| iteration.resumed.clone());
        let own = iteration.and_then(|iteration| iteration.role.model.clone());
        let model = own.or_else(|| settings.model.clone()).or_else(|| self.session_model(session.as_deref()?));
        let own_usd = settings.workflow.of(&step.name).micro_usd.map(|micros| micros as f64 / 1e6);
        let max_budget_usd = limits::left_usd(&self.state).into_iter().chain(own_usd).min_by(f64::total_cmp);
        let told = self.own_session().filter(|kept| Some(&kept.id) == session.as_ref()).map(|kept| kept.told.clone());
        self.effect(Effect::Spawn(Box::new(Spawn {
            n,
            session,
            told,
            model,
            max_budget_usd,
            effort,
            profile,
            plan_mode: step.plan_mode,
            prompt,
        })));
    }

    /// Ends the open iteration. `Claimed` and `Failed` give way to what really happened.
    pub(super) fn end_iteration(&mut self, outcome: IterationOutcome) {
        self.void_waiting("the iteration has ended");
        let Some(open) = self.state.open_iteration() else { return };
        let ms = u64::try_from(self.state.worked(self.now).as_millis()).unwrap_or(u64::MAX);
        let receipt = limits::receipt(open, self.state.own_text(), ms);
        let record = Record::IterationEnded {
            n: open.n,
            outcome,
            changed: open.changed.unwrap_or(false),
            fingerprint: crate::orchestrator::failure::fingerprint_of(open),
            ms,
            reading: Some(self.reading.unwrap_or(0)),
        };
        // As Claude Code's own Esc does, a pause or a skip keeps the session; a stop gives it up, but for a chat's.
        let stopped = open.cut == Some(IterationOutcome::Interrupted) && self.state.pace == Pace::StopNext;
        let stopped = stopped && self.state.chat.is_none();
        let n = open.n;
        // Counted before the fold forgets what the iteration is compared with.
        let judged = breaker::observe(open, outcome).map(|seen| {
            let counted = breaker::count(&self.state.breaker, &self.state.settings.breaker, open.n, &seen);
            (seen.progress, counted)
        });
        self.record(Record::Receipt(receipt));
        self.record(record);
        if let Some((progress, counted)) = judged {
            self.judge_breaker(n, progress, counted);
        }
        if stopped {
            self.reset_session(if self.state.is_hung_up { "the terminal was closed" } else { "stopped by you" });
        }
    }

    /// Ends the run that was stopped, by the person or with their terminal.
    pub(super) fn end_stopped(&mut self) {
        let (reason, words) = if self.state.is_hung_up {
            (ExitReason::TerminalClosed, HUNG_UP)
        } else {
            (ExitReason::UserStopped, STOPPED)
        };
        let ticket = self.state.ticket.as_ref().map_or_else(String::new, |ticket| format!(" {ticket}"));
        self.end(reason, format!("{words}; `programmator resume{ticket}` continues"));
    }

    pub(super) fn end(&mut self, reason: ExitReason, detail: impl Into<String>) {
        self.void_all("the run has ended");
        self.tell_unasked();
        self.tell_undelivered(reason);
        let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        self.record(Record::RunEnded {
            reason,
            detail: detail.into(),
            iterations: self.state.counted_iterations(),
            phases_done: count(self.state.phases_done()),
            phases: count(self.state.phases.len()),
            cost_usd: self.state.cost_usd,
        });
        self.effect(Effect::Finish);
    }

    pub(super) fn faulted(&mut self, reason: ExitReason, message: String) {
        if !self.state.is_open() {
            return;
        }
        self.notice(Level::Error, message.clone());
        if self.state.open_iteration().is_some() {
            self.end_iteration(IterationOutcome::CutOff);
        }
        self.end(reason, message);
    }
}

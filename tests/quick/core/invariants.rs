//! What holds in every schedule, checked at each record, effect and decision. The rules are written down here a second
//! time, from the papers and not from the core: the breaker's table, the table of claims, what must precede a call.

use programmator::base::time::Timestamp;
use programmator::domain::answerer::Answerer;
use programmator::domain::background::has_agent;
use programmator::domain::breaker::{Breaker, Circuit, StateMoved};
use programmator::domain::claim::ClaimStatus;
use programmator::domain::command::UserCommand;
use programmator::domain::commit::CommitWhen;
use programmator::domain::critique::CriticVerdict;
use programmator::domain::evaluation::{AddPhases, GoalVerdict};
use programmator::domain::limits::admission::Purpose;
use programmator::domain::merge::{ConflictStage, MergeHow};
use programmator::domain::outcome::{DoneHow, ExitReason, IterationOutcome};
use programmator::domain::phase::{Mark, PhaseId};
use programmator::domain::record::{OfPhase, PhaseSeed, Record, Stored};
use programmator::domain::settings::BreakerSettings;
use programmator::domain::step::StepName;
use programmator::domain::ticket::TicketStatus;
use programmator::domain::workflow::Workflow;
use programmator::orchestrator::effect::Effect;
use programmator::orchestrator::failure::fatal;
use programmator::orchestrator::state::{Iteration, PhaseState, PlanStage, Stage, State};
use std::collections::{BTreeSet, HashMap};

/// What is remembered of one run to judge what it does next.
#[derive(Default)]
pub struct Invariants {
    /// The breaker as the table moves it.
    breaker: Breaker,
    /// A run was begun or resumed: an open breaker may let it through.
    begins: bool,
    /// Calls that were counted, and how many processes were started for them.
    counted: HashMap<(u32, Purpose), u32>,
    lost_sessions: u32,
    /// What was found done, and on what ground.
    done: Vec<(Option<PhaseId>, DoneHow)>,
    /// Boxes that a person ticked, or that were ticked at the start.
    ticked: BTreeSet<String>,
    /// The commands that were to be run last.
    to_run: Vec<String>,
    /// The phase that was called as the last claim says.
    named: Option<PhaseId>,
    answers: u32,
    judged: u32,
    /// The person wants no call: paused or stopped, and not resumed.
    halted: bool,
    /// Phases that the person left out and did not take up again.
    skipped: BTreeSet<PhaseId>,
}

impl Invariants {
    pub fn person_ticks(&mut self, state: &State, phase: &str) {
        self.ticked.insert(phase.to_owned());
        // From here on the box says it, as with the key: taken back, the phase is open again.
        self.skipped.retain(|id| state.phase_by(*id).is_none_or(|one| one.text != phase));
    }

    /// The person wants something of a run that is alive.
    pub fn person_wants(&mut self, state: &State, command: &UserCommand) {
        if state.run.is_none() || state.ended.is_some() {
            return;
        }
        match command {
            UserCommand::Pause | UserCommand::PauseNow | UserCommand::Stop | UserCommand::FinishAndStop => {
                self.halted = true;
            }
            UserCommand::Resume => self.halted = false,
            // In a chat, words are what it waits for.
            UserCommand::Steer { .. } if state.chat.is_some() => self.halted = false,
            UserCommand::SkipPhase { phase } => {
                let wanted = state.phases.iter().find(|one| one.id == *phase && !one.mark.is_settled());
                self.skipped.extend(wanted.map(|one| one.id));
            }
            UserCommand::RetryPhase { phase } => {
                self.skipped.remove(phase);
            }
            UserCommand::TickPhase { phase } => {
                let wanted = state.phases.iter().find(|one| one.id == *phase);
                self.ticked.extend(wanted.map(|one| one.text.clone()));
                // From here on the box says it: a reading of it that comes late opens the phase again.
                self.skipped.remove(phase);
            }
            _ => {}
        }
    }

    /// A journal was taken over in the middle: what was held in its own world is believed.
    pub fn believe(&mut self, state: &State) {
        self.breaker.clone_from(&state.breaker);
        self.begins = false;
        let ran = state.open_iteration().map(|open| open.validated.iter().map(|ran| ran.command.clone()).collect());
        self.to_run = ran.unwrap_or_default();
        for phase in &state.phases {
            if let Mark::Done(how) = phase.mark {
                self.done.push((Some(phase.id), how));
            }
        }
    }

    /// A record is stored; `before`: the state without it. `granted`: the ledger has granted the call it counts.
    pub fn stored(&mut self, before: &State, stored: &Stored, granted: impl FnOnce(u32, Purpose) -> bool) {
        match &stored.record {
            Record::RunStarted { phases, unverified_ids, .. } => {
                let all = (1..).map(PhaseId).zip(phases);
                let done = all.filter(|(id, seed)| seed.done && !unverified_ids.contains(id));
                self.ticked = done.map(|(_, seed): (_, &PhaseSeed)| seed.text.clone()).collect();
                self.begins = true;
            }
            Record::WorkCarried(carried) => {
                let done = carried.phases.iter().filter_map(|phase| Some((phase.id, phase.how?)));
                self.done.extend(done.map(|(id, how)| (Some(id), how)));
            }
            Record::RunResumed { .. } => (self.begins, self.halted) = (true, false),
            Record::BreakerCarried { breaker } => self.breaker.clone_from(breaker),
            Record::BreakerReset { .. } => self.breaker = Breaker::default(),
            Record::BreakerCounted(moved) => assert!(!moved.why.is_empty(), "a movement without evidence"),
            Record::BreakerMoved(StateMoved { from, reason, .. }) => {
                assert_eq!(*from, before.breaker.state);
                assert!(!reason.is_empty(), "the breaker moved without a reason");
            }
            Record::IterationStarted { session, role, .. } => {
                let claimed =
                    before.phases.iter().any(|one| one.claimed_tick && one.ticked && !one.untickable && one.is_open());
                assert!(!claimed, "an iteration begins with a box that Claude has ticked by itself");
                assert!(before.commits.open.is_none(), "an iteration begins while a commit is being made");
                assert_ne!(before.breaker.state, Circuit::Open, "Claude is called while the breaker is open");
                let merging = match before.conflict_stage() {
                    None | Some(ConflictStage::Asked) => true,
                    Some(ConflictStage::Open | ConflictStage::Checked) => role.step != StepName::CODE,
                    Some(_) => false,
                };
                assert!(merging, "other work begins while a merge is open in the worktree");
                let left = before.counted_iterations() < before.settings.max_iterations;
                assert!(left || !role.counts.is_progress(), "an iteration too many");
                let plans = before.plan.as_deref().filter(|_| before.phases.is_empty());
                assert_eq!(
                    role.step == StepName::PLAN,
                    plans.is_some(),
                    "a run that plans does nothing else, and no other plans"
                );
                assert!(plans.is_none_or(|plan| plan.stage == PlanStage::Due), "Claude is to draft what is there");
                Self::check_session(before, &role.step, session.as_deref(), stored.time);
            }
            Record::CallCounted(counted) => {
                assert!(granted(counted.n, counted.purpose), "call {} was not granted by the ledger", counted.n);
                self.counted.entry((counted.n, counted.purpose)).or_default();
            }
            Record::ClaimMade { claim, .. } => {
                let named = before.phases.iter().find(|one| Some(&one.text) == claim.phase_completed.as_ref());
                self.named = named.map(|one| one.id);
                let open = before.open_iteration().expect("a claim is made in an iteration");
                assert!(!has_agent(&open.background), "a claim is taken while a subagent works");
            }
            Record::SessionLost(_) => self.lost_sessions += 1,
            Record::PhaseReopened(reopened) => self.done.retain(|(done, _)| *done != reopened.of.id),
            Record::ToolJudged { .. } | Record::ApprovalAnswered(_) => self.judged += 1,
            Record::PhaseDone { n, phase, how, id } => self.phase_done(before, *n, phase.as_deref(), *how, *id),
            Record::PhaseChecked { n, phase, how, id } => {
                assert!(before.wants_critique(*id, *how), "{phase:?} waits for a critic that nobody wants");
                self.phase_held(before, *n, phase.as_deref(), *how, *id);
            }
            Record::PhaseRejected { phase, id, of_ticket: true, .. } => {
                Self::reviewing(before);
                let tries = before.settings.workflow.fix_tries;
                assert!(before.goal.rejections <= tries, "what a review found is fixed once too often");
                let is_done = before.about(*id).is_some_and(PhaseState::is_done_by_claude);
                assert!(is_done, "the review of the ticket rejects {phase:?}, which Claude has not done");
                self.done.retain(|(done, _)| done != id);
            }
            Record::TicketReviewed { .. } | Record::TicketFaulted { .. } => Self::reviewing(before),
            Record::PhaseRejected { phase, id, .. } => {
                let open = before.open_iteration().expect("a phase is rejected outside of an iteration");
                assert_eq!(open.role.step, StepName::CRITIQUE);
                let verdict = open.critique.as_ref().map(|critique| critique.verdict);
                assert!(verdict.is_some_and(|verdict| verdict != CriticVerdict::Approved), "{phase:?}: {verdict:?}");
                let tries = before.settings.workflow.fix_tries;
                let rejections = before.about(*id).map(|phase| phase.review.rejections);
                assert!(rejections.is_some_and(|times| times <= tries), "{phase:?} is fixed once too often");
            }
            Record::GoalAchieved { n } => {
                let open = Self::evaluating(before, *n);
                assert_eq!(open.evaluation.as_ref().map(|said| said.verdict), Some(GoalVerdict::Achieved));
                assert!(before.is_complete(), "the goal is reached, with phases left");
            }
            Record::DraftMade { n, .. } => {
                let open = before.open_iteration().expect("a draft is made outside of an iteration");
                assert_eq!((&open.role.step, open.n), (&StepName::PLAN, *n));
            }
            Record::DraftAnswered(_) => {
                assert!(before.waiting_draft().is_some(), "something is decided about a draft that does not wait");
            }
            Record::RevisionIntended(revised) if revised.is_draft() => {
                let stage = before.plan.as_ref().map(|plan| plan.stage);
                assert_eq!(stage, Some(PlanStage::Accepted), "a draft is written that nobody has accepted");
                assert!(before.revisions.iter().all(|open| !open.is_draft()), "a draft is written twice at a time");
            }
            Record::PhasesProposed(proposal) => {
                let said = Self::evaluating(before, proposal.n).evaluation.as_ref().expect("proposed without a word");
                assert_eq!(said.verdict, GoalVerdict::MoreWork);
                assert!(said.phases.starts_with(&proposal.phases) && !proposal.phases.is_empty());
                let most = before.settings.workflow.max_added_phases;
                assert!(before.goal.added as usize + proposal.phases.len() <= most as usize, "too many phases added");
            }
            Record::ProposalAnswered { by, .. } => {
                assert!(before.goal.proposal.is_some() && before.edits.is_empty(), "nothing was asked");
                let auto = before.settings.workflow.add_phases == AddPhases::Auto;
                assert!(auto || *by != Answerer::CONFIGURATION, "phases are added and nobody wanted it");
            }
            Record::TickIntended(OfPhase { phase, .. }) => {
                let done = before.phases.iter().any(|one| one.text == *phase && matches!(one.mark, Mark::Done(_)));
                assert!(done, "{phase} is ticked without being done");
            }
            Record::IterationEnded { outcome, changed, fingerprint, .. } => {
                let open = before.open_iteration().expect("an iteration ends that is none");
                self.count(open, *outcome, *changed, fingerprint.as_deref(), &before.settings.breaker);
            }
            Record::RunEnded { reason, .. } => match reason {
                ExitReason::Complete => {
                    assert!(before.is_complete(), "complete, with phases left");
                    let thorough = before.settings.workflow.name == Workflow::Thorough;
                    let by_claude = before.parts().any(PhaseState::is_done_by_claude);
                    assert!(
                        !thorough || !by_claude || before.goal.achieved,
                        "complete, and nobody asked about the goal"
                    );
                    let reviews = !before.settings.workflow.review.is_empty();
                    let is_reviewed = before.goal.reviewed || before.goal.achieved;
                    assert!(!reviews || !by_claude || is_reviewed, "complete, and nobody has looked at all of it");
                    assert!(
                        before.goal.proposal.is_none(),
                        "complete, with proposed phases that nobody has decided about"
                    );
                    let (commits, mode) = (&before.commits, before.settings.git.commit);
                    let is_owed = mode != CommitWhen::Off && !commits.due.is_empty() && !commits.tried;
                    // With changed commands that nobody could decide about, all of it may still be opened again.
                    assert!(!is_owed || before.validation_change.is_some(), "complete, with work not committed");
                    let is_own = before.workspace.worktree().is_some() && before.settings.git.merge != MergeHow::Off;
                    assert!(before.is_merged || !is_own, "complete, with work not merged");
                    assert!(commits.open.is_none(), "complete, while a commit is being made");
                }
                ExitReason::CircuitOpen => assert_eq!(before.breaker.state, Circuit::Open),
                _ => {}
            },
            _ => {}
        }
    }

    /// A decision is stored: the state is whole again.
    pub fn decided(&mut self, state: &State, now: Timestamp) {
        if std::mem::take(&mut self.begins) {
            self.recover(&state.settings.breaker, now);
        }
        let (core, table) = (&state.breaker, &self.breaker);
        let counters = |b: &Breaker| (b.no_progress, b.same_error, b.permission_denials, b.output_decline);
        assert_eq!(
            (core.state, counters(core)),
            (table.state, counters(table)),
            "the breaker left its table: {core:?}"
        );
        assert_eq!(core.total_opens, table.total_opens, "{core:?}");
        assert_eq!(core.opened_at.is_some(), core.state == Circuit::Open, "{core:?}");
        self.breaker.opened_at = core.opened_at;
        let whole = (None, "the whole ticket", state.whole.mark);
        let phases = state.phases.iter().map(|phase| (Some(phase.id), phase.text.as_str(), phase.mark));
        for (id, text, mark) in phases.chain([whole]) {
            let Mark::Done(how) = mark else { continue };
            let by_claim = self.done.contains(&(id, how));
            let by_person = how == DoneHow::TickedByPerson && id.is_some() && self.ticked.contains(text);
            assert!(by_claim || by_person, "{text:?} is done ({how:?}), and nobody knows why");
        }
        if state.stage == Stage::Parked {
            assert!(state.limits.parked.is_some(), "parked for nothing");
        }
    }

    /// An effect is about to be performed: what must be stored before it is.
    pub fn performs(&mut self, state: &State, effect: &Effect) {
        match effect {
            Effect::Spawn(spawn) => {
                assert!(!self.halted, "Claude is called after the person has paused or stopped the run");
                let works = state.open_iteration().is_some_and(|open| open.role.counts.is_progress());
                if let Some(phase) = spawn.prompt.context.phase.as_ref().filter(|_| works) {
                    let own = state.own_phase().map(|own| own.id);
                    let is_skipped = own.is_some_and(|own| self.skipped.contains(&own));
                    assert!(!is_skipped, "Claude is called for {phase}, which was skipped");
                    let is_open = state.own_phase().is_some_and(programmator::orchestrator::state::PhaseState::is_open);
                    assert!(is_open, "Claude is called for {phase}, which is settled");
                }
                let processes = self.counted.get_mut(&(spawn.n, Purpose::Iteration));
                let processes = processes.expect("Claude is started before the call was counted");
                *processes += 1;
                assert!(*processes <= 1 + self.lost_sessions, "iteration {} calls Claude again", spawn.n);
            }
            Effect::SendFollowUp { n, .. } => {
                let asked = self.counted.get_mut(&(*n, Purpose::FollowUp));
                let asked = asked.expect("the status block is asked for before the call was counted");
                *asked += 1;
                assert_eq!(*asked, 1, "the status block is asked for again");
            }
            Effect::Answer { .. } => {
                self.answers += 1;
                assert!(self.judged >= self.answers, "a tool call was answered before its verdict was stored");
            }
            Effect::AcquireTree => {
                let is_there = state.workspace.worktree().is_none() || state.has_worktree;
                assert!(is_there, "a directory is worked in that is not made yet");
            }
            Effect::SwitchBranch(switch) => {
                assert_eq!(state.switching.as_ref(), Some(&**switch), "a branch is switched to, and no record says so");
            }
            Effect::RunValidation { commands, .. } => self.to_run.clone_from(commands),
            _ => {}
        }
    }

    /// The review of the whole ticket is under way, by somebody who has done nothing of it.
    fn reviewing(before: &State) {
        let open = before.open_iteration().expect("a ticket is reviewed outside of an iteration");
        assert_eq!(open.resumed, None);
        let has_found = !before.goal.found.is_empty();
        match &open.role.step {
            step if *step == StepName::REVIEW => assert!(open.critique.is_some() && !has_found, "no verdict, or two"),
            step => assert!(*step == StepName::CHECK && has_found, "{step} looks again, and nothing was found"),
        }
        assert!(before.is_complete(), "a ticket is reviewed with phases left");
    }

    /// The open iteration, which is an evaluator's in a session of its own.
    fn evaluating(before: &State, n: u32) -> &Iteration {
        let open = before.open_iteration().expect("the goal is judged outside of an iteration");
        assert_eq!((open.n, &open.role.step, open.resumed.as_ref()), (n, &StepName::EVALUATE, None));
        open
    }

    /// A session that is resumed is the one that is kept, of this folder, and not too old.
    fn check_session(before: &State, step: &StepName, session: Option<&str>, now: Timestamp) {
        let Some(session) = session else { return };
        let kept = before.sessions.of(step).expect("a session that nobody kept");
        assert_eq!(kept.id, session);
        let hours = now.since(kept.used).as_secs() / 3_600;
        assert!(hours < u64::from(before.settings.session_expiry_hours), "gone on with after {hours} h");
        // Without its session a chat would know nothing of what was said.
        assert!(
            before.settings.session_continuity || before.chat.is_some(),
            "a session is gone on with against the person's wish"
        );
    }

    /// Done by what was checked, where no critic is wanted; else by a critic's word about what was checked before.
    fn phase_done(&mut self, before: &State, n: u32, phase: Option<&str>, how: DoneHow, id: Option<PhaseId>) {
        self.done.push((id, how));
        if before.open_iteration().is_none_or(|open| open.role.step != StepName::CRITIQUE) {
            assert!(n == 0 || !before.wants_critique(id, how), "{phase:?} is done, and no critic has seen it");
            return self.phase_held(before, n, phase, how, id);
        }
        let open = before.open_iteration().unwrap();
        let checked = before.about(id).and_then(PhaseState::checked);
        assert_eq!(checked.map(DoneHow::approved), Some(how), "{phase:?} was not what it is approved for");
        let critique = open.critique.as_ref().expect("a phase is approved without a verdict");
        assert_ne!(critique.verdict, CriticVerdict::NeedsFixes, "{phase:?} is done, and the critic wants fixes");
        assert_eq!((open.n, open.resumed.as_ref()), (n, None), "a critic goes on in a session");
    }

    /// The table of claims, and the gates of a ticket without phases.
    fn phase_held(&mut self, before: &State, n: u32, phase: Option<&str>, how: DoneHow, id: Option<PhaseId>) {
        let Some(open) = before.open_iteration() else {
            assert!(phase.is_none() && before.phases.is_empty(), "{phase:?} is done outside of an iteration");
            // It was closed before the run began.
            let was_closed = n == 0 && before.iterations == 0 && before.ticket_status == Some(TicketStatus::Closed);
            assert!(
                was_closed || a_gate_is_open(before),
                "the ticket is left, and no gate is open: {:?}",
                before.signs
            );
            return;
        };
        assert_eq!(open.n, n);
        let claim = open.claim.as_ref().unwrap_or_else(|| panic!("{phase:?} is done without a claim"));
        assert_ne!(claim.status, ClaimStatus::Blocked, "{phase:?} is done, says who is blocked");
        match (phase, &claim.phase_completed) {
            (Some(phase), Some(name)) => {
                let told = open.told.as_ref() == Some(name) && before.own_text() == Some(phase);
                assert!(name == phase || told || self.named == id, "{phase} is done, and {name} was claimed");
            }
            (Some(phase), None) => {
                let own = before.own_text() == Some(phase) && claim.status == ClaimStatus::Done;
                assert!(own, "{phase} is done, and nothing was claimed");
            }
            (None, _) => {
                assert!(before.phases.is_empty(), "the whole ticket is done, with phases in it");
                assert!(
                    claim.status == ClaimStatus::Done && claim.source.is_ours() && !claim.denies_exit(),
                    "{claim:?}"
                );
            }
        }
        let changed = open.phase_changed.expect("a claim is believed before the tree was compared");
        // What a killed process had run is run again: the last time counts.
        let again = open.validated.len().saturating_sub(self.to_run.len());
        let passed = open.validated[again..].iter().map(|ran| (&ran.command, ran.exit));
        let grounds = match how {
            DoneHow::Verified => {
                !self.to_run.is_empty() && passed.eq(self.to_run.iter().map(|command| (command, Some(0))))
            }
            DoneHow::ClaimedUnchecked => open.validated.is_empty() && before.validation.is_empty() && changed,
            DoneHow::ClaimedNoChange => before.validation.is_empty() && !changed && claim.files_changed.is_empty(),
            DoneHow::TickedByPerson | DoneHow::Approved => false,
        };
        assert!(grounds, "{phase:?} is done ({how:?}) without grounds: {claim:?} {:?} {changed}", open.validated);
    }

    /// An open breaker when a run begins or goes on.
    fn recover(&mut self, limits: &BreakerSettings, now: Timestamp) {
        if self.breaker.state != Circuit::Open {
            return;
        }
        let opened = self.breaker.opened_at.expect("an open breaker knows since when");
        if limits.auto_reset {
            self.breaker = Breaker { total_opens: self.breaker.total_opens, ..Breaker::default() };
        } else if now >= opened && now.since(opened).as_secs() >= limits.cooldown {
            self.breaker.state = Circuit::HalfOpen;
        }
        if self.breaker.state != Circuit::Open {
            self.breaker.opened_at = None;
        }
    }

    /// Counts a finished iteration and moves the breaker by its table.
    fn count(
        &mut self,
        open: &Iteration,
        outcome: IterationOutcome,
        changed: bool,
        error: Option<&str>,
        limits: &BreakerSettings,
    ) {
        use Circuit::{Closed, HalfOpen, Open};
        let is_aside = !open.role.counts.is_progress();
        if is_aside || open.changed.is_none() || says_nothing(open, outcome, changed) {
            return;
        }
        let b = &mut self.breaker;
        // Validation that passes is evidence, as a changed tree is.
        let progress = changed || open.verified;
        b.no_progress = match (progress, open.asked_person) {
            (true, _) => 0,
            (false, true) => b.no_progress,
            (false, false) => b.no_progress + 1,
        };
        b.same_error = match error {
            None => 0,
            Some(error) if b.error.as_deref() == Some(error) => b.same_error + 1,
            Some(_) => 1,
        };
        b.error = error.map(str::to_owned);
        let denied = !open.refused.is_empty() || (!open.blocked.is_empty() && !progress);
        b.permission_denials = if denied { b.permission_denials + 1 } else { 0 };
        let fallen = match (b.output, open.output) {
            (Some(before), now) if now > 0 && before >= 1_000 => before.saturating_sub(now) * 100 / before,
            _ => 0,
        };
        let fell = fallen >= u64::from(limits.output_decline);
        b.output_decline = if fell && b.declined { fallen as u32 } else { 0 };
        if open.output > 0 {
            b.declined = fell && !b.declined;
            b.output = b.output.filter(|_| b.declined).or(Some(open.output));
        }
        let idle = b.no_progress >= limits.no_progress;
        let rows = [
            (b.state != Open && b.permission_denials >= limits.permission_denials, Open),
            (b.state == Closed && (idle || b.same_error >= limits.same_error), Open),
            (b.state == Closed && (b.no_progress >= 2 || b.output_decline > 0), HalfOpen),
            (b.state == HalfOpen && progress, Closed),
            (b.state == HalfOpen && idle, Open),
        ];
        if let Some((_, to)) = rows.into_iter().find(|(holds, _)| *holds) {
            b.state = to;
            b.total_opens += u32::from(to == Open);
        }
    }
}

/// What tells the breaker nothing: what was cut off from outside, what a limit refused, what no try could fix, and what
/// was ended while it got on.
fn says_nothing(open: &Iteration, outcome: IterationOutcome, changed: bool) -> bool {
    use IterationOutcome::{Claimed, CutOff, Failed, Idle, Interrupted, NoClaim, Parked, TimedOut};
    match outcome {
        Interrupted | CutOff | Parked => true,
        TimedOut | Idle => changed,
        Claimed => false,
        NoClaim | Failed => open.failure.as_ref().is_some_and(|failure| {
            let kind = failure.error.as_str();
            failure.status == Some(429) || kind == "rate_limit" || kind == "billing_error" || fatal(failure).is_some()
        }),
    }
}

fn a_gate_is_open(state: &State) -> bool {
    let signs = &state.signs;
    let wants = signs.indicators.len();
    let words = signs.done.len() >= 2 || wants >= 5 || (wants >= 2 && signs.exit_signal == Some(true));
    let plan = state.boxes.ticked > 0 && state.boxes.open == 0;
    signs.refused.is_empty() && signs.exit_signal != Some(false) && signs.test_only.len() < 3 && (words || plan)
}

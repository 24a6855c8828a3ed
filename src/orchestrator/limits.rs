//! What a run knows of limits, folded from its records, and what it asks the ledger.
//!
//! Whether a call may be made is decided in [`crate::domain::limits::admission`], in the store's transaction.

use crate::base::time::Timestamp;
use crate::domain::limits::Spent;
use crate::domain::limits::admission::{Ask, Asker, Known, Ledger, Place, Purpose};
use crate::domain::limits::provider::{self, ACCOUNT, Cause, Hit, WindowStatus, dice};
use crate::domain::limits::receipt::{self, Receipt};
use crate::domain::limits::reset_text::{Family, LimitText};
use crate::domain::outcome::IterationOutcome;
use crate::domain::phase::PhaseId;
use crate::domain::record::{Record, TurnEnded};
use crate::domain::step::StepName;
use crate::orchestrator::state::{Iteration, LimitState, Stage, State};
use std::time::Duration;

/// Receipts kept: as many as a run may have iterations.
const RECEIPTS: usize = 10_000;

/// What is granted to an iteration beyond its time: its start, and what is done behind its end.
const AROUND: Duration = Duration::from_secs(5 * 60);

pub(super) fn fold(state: &mut State, record: &Record, time: Timestamp) {
    match record {
        Record::CallCounted(counted) => {
            let before = state.limits.ledger.take();
            let mut ledger = counted.ledger.clone();
            // What the running iteration spends is added to what was spent before it.
            if let (Purpose::FollowUp, Some((before, _))) = (counted.purpose, before) {
                (ledger.ticket, ledger.day, ledger.granted_usd) = (before.ticket, before.day, before.granted_usd);
            }
            state.limits.ledger = Some((ledger, time));
        }
        Record::LimitsChanged(limits) => state.settings.limits.clone_from(limits),
        Record::LimitSeen(window) => {
            state.limits.see(window, time);
            if let Some(iteration) = &mut state.iteration {
                iteration.window = Some(window.clone());
            }
        }
        Record::LimitHit(hit) => {
            if let Some(iteration) = &mut state.iteration {
                iteration.limited = Some(hit.clone());
            }
        }
        Record::Parked(parking) => {
            state.limits.parked = Some(parking.clone());
            if let Some(known) = &parking.known {
                learn(&mut state.limits, known, time);
            }
            match state.open_iteration() {
                // The status block of a running iteration is not asked for.
                Some(_) => {
                    if let Some(iteration) = &mut state.iteration {
                        iteration.unasked = true;
                    }
                }
                None => state.stage = Stage::Parked,
            }
        }
        Record::Unparked => {
            state.limits.parked = None;
            if state.stage == Stage::Parked {
                state.stage = Stage::Idle;
            }
        }
        Record::RunResumed { .. } | Record::RunEnded { .. } => state.limits.parked = None,
        Record::ApiRetried { .. } => {
            if let Some(iteration) = &mut state.iteration {
                iteration.tries += 1;
            }
        }
        Record::TurnEnded(TurnEnded { usage, .. }) => {
            if let Some(iteration) = &mut state.iteration {
                iteration.usage.add(usage);
            }
        }
        Record::Receipt(receipt) => {
            state.limits.receipts.push(receipt.clone());
            let surplus = state.limits.receipts.len().saturating_sub(RECEIPTS);
            state.limits.receipts.drain(..surplus);
        }
        Record::IterationEnded { outcome: IterationOutcome::Parked, .. } => {
            let progress = state.iteration.as_ref().is_none_or(|iteration| iteration.role.counts.is_progress());
            state.limits.refused += u32::from(progress);
            if let Some(iteration) = &mut state.iteration {
                iteration.went_to_wait = false;
            }
            // It was written just before, when this was not known yet.
            if let Some(receipt) = state.limits.receipts.last_mut() {
                receipt.refused = true;
            }
            if let Some(phase) = state.own_phase_mut().filter(|_| progress) {
                phase.iterations = phase.iterations.saturating_sub(1);
            }
        }
        _ => {}
    }
}

/// What the ledger told of everybody when it refused a call. Money stays as it was at the last call, to which what the
/// iteration has spent since is added.
fn learn(limits: &mut LimitState, known: &Known, time: Timestamp) {
    let money = limits.ledger.take().map(|(ledger, _)| (ledger.ticket, ledger.day, ledger.granted_usd));
    let mut ledger = known.ledger.clone();
    if let Some(money) = money {
        (ledger.ticket, ledger.day, ledger.granted_usd) = money;
    }
    limits.ledger = Some((ledger, time));
    for window in &known.windows {
        limits.windows.entry(window.kind.clone()).or_insert_with(|| (window.clone(), time));
    }
}

/// The question for the next call: about this phase, and for this model where the step has one of its own.
pub fn ask(state: &State, purpose: Purpose, asker: Asker, phase: Option<PhaseId>, own_model: Option<String>) -> Ask {
    let (n, forecast) = match purpose {
        Purpose::Iteration => (state.iterations + 1, receipt::median(&worked(state))),
        Purpose::FollowUp => (state.iterations, Spent::default()),
    };
    let begun = state.about(phase).is_some_and(|phase| phase.iterations > 0);
    Ask {
        n,
        purpose,
        limits: (*state.settings.limits).clone(),
        spent: spent(state),
        forecast,
        model: model(state, own_model),
        place: if begun { Place::InPhase } else { Place::PhaseStart },
        asker,
        lasts: Duration::from_secs(state.settings.iteration_timeout).saturating_add(AROUND),
    }
}

/// The step's own model, else that of the run, when it is known.
fn model(state: &State, own: Option<String>) -> Option<String> {
    own.or_else(|| state.model.clone()).or_else(|| state.settings.model.clone())
}

/// Receipts of iterations in which Claude did something.
fn worked(state: &State) -> Vec<Receipt> {
    let done = |receipt: &&Receipt| receipt.cost_usd > 0.0 || receipt.usage.total() > 0;
    state.limits.receipts.iter().filter(done).cloned().collect()
}

pub fn spent(state: &State) -> Spent {
    Spent { usd: state.cost_usd, tokens: state.usage.total() }
}

/// What the iteration may spend in USD: what was reserved for it, at most what is left of the budgets; never nothing,
/// it was admitted. `None`: there is no budget.
pub(super) fn left_usd(state: &State) -> Option<f64> {
    let granted = state.limits.ledger.as_ref().and_then(|(ledger, _)| ledger.granted_usd);
    let left = budgets(state).into_iter().map(|(_, limit, spent)| limit - spent);
    let least = left.chain(granted).min_by(f64::total_cmp)?;
    Some(((least * 1e4).round() / 1e4).max(1e-4))
}

/// The budget that the iteration has used up: the least that it had to keep to when it began.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum UsedUp {
    /// Its part of what was left then: the run asks for the next.
    Part,
    /// What one call of its step may cost, in USD.
    OfStep(StepName, f64),
    /// The budget of this key.
    Budget(String),
}

/// Which budget the iteration has used up, now that Claude says that there is none left.
pub(super) fn used_up(state: &State) -> UsedUp {
    let cost = state.iteration.as_ref().map_or(0.0, |iteration| iteration.cost_usd);
    let left = budgets(state).into_iter().map(|(whose, limit, spent)| (limit - spent + cost, whose));
    let left = left.min_by(|one, other| one.0.total_cmp(&other.0));
    let granted = state.limits.ledger.as_ref().and_then(|(ledger, _)| ledger.granted_usd);
    let least = left.map(|(usd, _)| usd).into_iter().chain(granted).min_by(f64::total_cmp);
    let step = state.iteration.as_ref().map(|iteration| iteration.role.step.clone()).unwrap_or_default();
    let own = state.settings.workflow.of(&step).micro_usd.map(|micros| micros as f64 / 1e6);
    match (own, left) {
        (Some(own), _) if least.is_none_or(|least| own <= least) => UsedUp::OfStep(step, own),
        (_, Some((left, _))) if granted.is_some_and(|granted| granted + 1e-3 < left) => UsedUp::Part,
        (_, Some((_, whose))) => UsedUp::Budget(format!("budget.{whose}_usd")),
        (_, None) => UsedUp::Budget("--max-budget-usd in agent.flags".to_owned()),
    }
}

/// The budgets in USD that are set: whose (`run`, `ticket`, `day`), how much, what is spent of it.
pub fn budgets(state: &State) -> Vec<(&'static str, f64, f64)> {
    let limits = &state.settings.limits;
    let run = spent(state);
    // Since the last call only this run's part is known.
    let (ledger, at_call) = match &state.limits.ledger {
        Some((ledger, _)) => (ledger.clone(), state.iteration.as_ref().map_or(0.0, |iteration| iteration.cost_usd)),
        None => (Ledger::default(), run.usd),
    };
    let all = [
        ("run", limits.run.usd(), run.usd),
        ("ticket", limits.ticket.usd(), ledger.ticket.usd + at_call),
        ("day", limits.day.usd(), ledger.day.usd + at_call),
    ];
    all.into_iter().filter_map(|(whose, limit, spent)| Some((whose, limit?, spent))).collect()
}

/// The receipt of the open iteration, which ends now; `phase`: what it worked on.
pub fn receipt(open: &Iteration, phase: Option<&str>, ms: u64) -> Receipt {
    Receipt {
        n: open.n,
        phase: phase.map(str::to_owned),
        ms,
        usage: open.usage,
        cost_usd: open.cost_usd,
        tries: open.tries,
        refused: false,
        step: open.role.step.clone(),
    }
}

/// Whether the failure of the open iteration is a limit. The order is that of the provider's own signs: a window that it
/// says is closed; the kind or status of the error; the words of the CLI (`said`), and the reset and the models in them.
pub fn hit(state: &State, said: Option<&LimitText>, told: Option<Timestamp>, now: Timestamp) -> Option<Hit> {
    let open = state.open_iteration()?;
    let failure = open.failure.as_ref()?;
    let closed = open.window.as_ref().filter(|window| window.status == WindowStatus::Rejected);
    let of_error = provider::cause(&failure.error, failure.status);
    let cause = match (closed, of_error, said.is_some()) {
        (Some(_), ..) | (None, None, true) => Cause::Limit,
        (None, Some(cause), _) => cause,
        (None, None, false) => return None,
    };
    let reset = closed.and_then(|window| window.resets_at).or(told);
    let before = state.limits.ledger.as_ref().map_or(0, |(ledger, _)| ledger.tries);
    let tries = before.saturating_add(1);
    let run = state.run.map_or(0, |run| run.0.as_u128());
    let (until, reset) = provider::wait_until(reset, tries, now, dice(run, u64::from(open.n)));
    let family = said.and_then(|said| said.family).filter(|_| cause == Cause::Limit);
    // What refuses another model's call (a subagent's) must park this run too, or it would ask without a pause.
    let own = model(state, open.role.model.clone());
    let of_models = family.map(Family::window).filter(|window| provider::concerns(window, own.as_deref()));
    let named = closed.map(|window| window.kind.as_str()).or(of_models);
    let scope = named.unwrap_or(ACCOUNT).to_owned();
    Some(Hit { n: open.n, cause, scope, until, reset, tries })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::limits::Budget;
    use crate::domain::step::Role;
    use crate::domain::workflow::StepSettings;
    use crate::orchestrator::failure::over_budget;

    #[test]
    fn the_budget_that_is_used_up_is_named() {
        let budget = |usd: f64| Budget { micro_usd: Some((usd * 1e6) as u64), tokens: None };
        // A critic that has cost 0.51 of what is set: of its step, of the run, granted.
        let told = |own: Option<u64>, run: Option<f64>, granted: Option<f64>| {
            let mut state = State { cost_usd: 1.51, ..State::default() };
            let role = Role { step: StepName::CRITIQUE, ..Role::default() };
            state.iteration = Some(Iteration { n: 2, role, cost_usd: 0.51, ..Iteration::default() });
            let own = StepSettings { micro_usd: own, ..StepSettings::default() };
            state.settings.workflow.steps.insert("critique".into(), own);
            if let Some(run) = run {
                state.settings.limits.run = budget(run);
            }
            state.limits.ledger =
                granted.map(|usd| (Ledger { granted_usd: Some(usd), ..Ledger::default() }, Timestamp::from_millis(0)));
            over_budget(&used_up(&state))
        };
        let own = told(Some(500_000), Some(4.0), Some(0.8)).unwrap();
        assert!(own.contains("of the step `critique`") && own.contains("$0.50"), "{own}");
        assert!(own.contains("raise `critique` in `workflow.budgets_usd`"), "{own}");
        assert!(told(Some(500_000), None, None).unwrap().contains("workflow.budgets_usd"));
        let run = told(Some(900_000), Some(1.5), None).unwrap();
        assert!(run.contains("raise `budget.run_usd`"), "{run}");
        assert_eq!(told(Some(900_000), Some(4.0), Some(0.5)), None, "its part is no end of the run");
    }
}

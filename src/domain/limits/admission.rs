//! May a call be made now? Asked before each call, in the transaction that counts it, so that no two programs take
//! the same place.
//!
//! The order: budgets (the run stops), what the provider refused, calls, tokens, what the provider warns of (the run
//! is parked).

use super::hour;
use super::provider::{self, Reset, Window, WindowStatus};
use super::{Budget, Limits, OnWarning, Spent};
use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::worded::worded;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::time::Duration;

worded! {
    /// What a call is for.
    #[derive(Default)]
    pub enum Purpose {
        /// An iteration: it begins once the call is admitted.
        #[default]
        Iteration = "iteration",
        /// The status block is asked for in a running iteration.
        FollowUp = "follow_up",
    }
}

/// Where in the work a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It would be the first one for its phase.
    PhaseStart,
    /// The phase has been worked on.
    InPhase,
}

/// Who wants the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    Program,
    /// A person who does not want to wait for the provider's reset. Limits of ours stay.
    Person,
}

/// The question.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub n: u32,
    pub purpose: Purpose,
    pub limits: Limits,
    /// What the run has spent of its budget.
    pub spent: Spent,
    /// What the call is expected to cost.
    pub forecast: Spent,
    pub model: Option<String>,
    pub place: Place,
    pub asker: Asker,
    /// How long the call may last, with what belongs to it: so long others wait for its outcome.
    pub lasts: Duration,
}

/// What the provider refused to some ticket, as all tickets know it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// Whom it concerns (see [`provider::concerns`]).
    pub scope: String,
    /// What happened, for people.
    pub about: String,
    /// Nothing is tried before.
    pub until: Timestamp,
    /// Is that the true end?
    pub reset: Reset,
    /// How often in a row it was refused.
    pub tries: u32,
    /// The run that tries again, and until when it is waited for.
    pub probe: Option<(RunId, Timestamp)>,
}

/// What is known when the question is asked; the call is not counted yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Calls that count for the present hour, oldest first, each with weight 1.
    pub calls: Vec<(Timestamp, u64)>,
    /// Tokens likewise.
    pub tokens: Vec<(Timestamp, u64)>,
    /// What all runs of the ticket have spent.
    pub ticket: Spent,
    pub day: Spent,
    /// What iterations that run now may still spend.
    pub reserved: Reserved,
    pub holds: Vec<Hold>,
    pub windows: Vec<Window>,
}

/// What the iterations of other runs may still spend, and who else will want some.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reserved {
    pub ticket: Spent,
    pub day: Spent,
    /// When the last of them is given up for lost; `None`: nothing is reserved.
    pub until: Option<Timestamp>,
    /// Other runs of the ticket that are under way and have reserved nothing yet.
    pub ticket_others: u32,
    pub day_others: u32,
}

/// How the counters stand, for gauges and for the next decisions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// Calls in the present hour, all programs together, this one included.
    pub calls: u64,
    /// Tokens likewise.
    pub tokens: u64,
    /// When the first of them leaves the hour.
    pub frees: Option<Timestamp>,
    /// What all runs of the ticket have spent.
    pub ticket: Spent,
    pub day: Spent,
    /// How often in a row the provider has refused before this try.
    pub tries: u32,
    /// What the iteration may spend in USD, reserved for it; `None`: no budget in USD is set.
    pub granted_usd: Option<f64>,
}

/// A call that was counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    pub n: u32,
    #[serde(default)]
    pub purpose: Purpose,
    /// How the counters stood then, this call included.
    #[serde(default)]
    pub ledger: Ledger,
}

/// Why a run is parked, and until when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parking {
    pub why: Why,
    /// What happened, for people.
    pub about: String,
    pub until: Timestamp,
    /// Whether that is the true end.
    pub reset: Reset,
    /// What was known then: a program that just began has made no call to know it from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Box<Known>>,
}

/// What is known of limits when a run is parked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    pub ledger: Ledger,
    /// The provider's windows that last.
    pub windows: Vec<Window>,
}

/// A limit that parks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    Calls,
    Tokens,
    /// The rest of a budget is reserved for other iterations.
    Budget,
    Provider,
    /// The provider warns, and the person wants to wait then.
    Warning,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Admission {
    pub verdict: Verdict,
    /// How the counters stand; the call is counted if it may be made.
    pub ledger: Ledger,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The call is counted: make it. Of these scopes it is the one probe.
    Go {
        /// Scopes whose outcome everybody waits for.
        probes: Vec<String>,
    },
    Park(Parking),
    /// Stop: a budget is used up, in words for the person.
    Stop(String),
}

/// Decides. `now` may lie before what is known (the clock was set back): nothing opens early for it.
pub fn admit(facts: &Facts, ask: &Ask, run: RunId, now: Timestamp, zone: &TimeZone) -> Admission {
    let limits = &ask.limits;
    let sum = |rows: &[(Timestamp, u64)]| rows.iter().fold(0, |sum: u64, (_, weight)| sum.saturating_add(*weight));
    let concerned: Vec<&Hold> =
        facts.holds.iter().filter(|hold| provider::concerns(&hold.scope, ask.model.as_deref())).collect();
    let mut ledger = Ledger {
        calls: sum(&facts.calls),
        tokens: sum(&facts.tokens),
        frees: facts.calls.first().map(|(time, _)| hour::leaves(*time, limits.window, zone)),
        ticket: facts.ticket,
        day: facts.day,
        tries: concerned.iter().map(|hold| hold.tries).max().unwrap_or(0),
        granted_usd: None,
    };
    let refused = over_budget(facts, ask)
        .map(Verdict::Stop)
        .or_else(|| held(&concerned, ask.asker, run, now).map(Verdict::Park))
        .or_else(|| counted_out(facts, limits, zone).map(Verdict::Park))
        .or_else(|| warned(facts, ask, run, now).map(Verdict::Park))
        .or_else(|| reserved(facts, ask).map(Verdict::Park));
    let mut verdict = refused.unwrap_or_else(|| {
        ledger.calls += 1;
        ledger.granted_usd = grant(facts, ask);
        ledger.frees = ledger.frees.or_else(|| Some(hour::leaves(now, limits.window, zone)));
        Verdict::Go { probes: concerned.iter().map(|hold| hold.scope.clone()).collect() }
    });
    if let Verdict::Park(parking) = &mut verdict {
        let windows = facts.windows.iter().filter(|window| window.is_open_at(now)).cloned().collect();
        parking.known = Some(Box::new(Known { ledger: ledger.clone(), windows }));
    }
    Admission { verdict, ledger }
}

/// The first budget in which the call does not fit.
fn over_budget(facts: &Facts, ask: &Ask) -> Option<String> {
    let budgets = [
        ("run", "this run", &ask.limits.run, ask.spent),
        ("ticket", "this ticket", &ask.limits.ticket, facts.ticket),
        ("day", "today", &ask.limits.day, facts.day),
    ];
    budgets.into_iter().find_map(|(key, whose, budget, spent)| does_not_fit(key, whose, budget, spent, ask.forecast))
}

fn does_not_fit(key: &str, whose: &str, budget: &Budget, spent: Spent, next: Spent) -> Option<String> {
    if let Some(limit) = budget.usd() {
        let (spent, next) = (spent.usd, next.usd);
        // The last millionth may be lost in sums.
        if spent + 1e-6 >= limit {
            return Some(format!("${spent:.2} of ${limit:.2} for {whose} spent; raise `budget.{key}_usd` and resume"));
        }
        if spent + next > limit + 1e-6 {
            return Some(format!(
                "${spent:.2} of ${limit:.2} for {whose} spent, and an iteration costs about ${next:.2}; raise \
                 `budget.{key}_usd` and resume"
            ));
        }
    }
    let limit = budget.tokens?;
    let (spent, next) = (spent.tokens, next.tokens);
    (spent >= limit || spent.saturating_add(next) > limit).then(|| {
        format!(
            "{spent} of {limit} tokens for {whose} used, and an iteration takes about {next}; raise \
             `budget.{key}_tokens` and resume"
        )
    })
}

/// The budgets that runs share, with what is reserved of them and who else wants some of the rest.
fn shared<'a>(facts: &'a Facts, ask: &'a Ask) -> [(&'static str, &'a Budget, Spent, Spent, u32); 2] {
    let Reserved { ticket, day, ticket_others, day_others, .. } = facts.reserved;
    [
        ("this ticket", &ask.limits.ticket, facts.ticket, ticket, ticket_others),
        ("today", &ask.limits.day, facts.day, day, day_others),
    ]
}

/// The call would fit into what is spent, but not into what others may still spend: it waits for them to end.
fn reserved(facts: &Facts, ask: &Ask) -> Option<Parking> {
    let until = facts.reserved.until.filter(|_| ask.purpose == Purpose::Iteration)?;
    let full = shared(facts, ask).into_iter().find(|(_, budget, spent, reserved, _)| {
        let both = Spent { usd: spent.usd + reserved.usd, tokens: spent.tokens.saturating_add(reserved.tokens) };
        does_not_fit("", "", budget, both, ask.forecast).is_some()
    });
    let about = format!("the rest of the budget for {} is reserved for other iterations", full?.0);
    Some(Parking { why: Why::Budget, about, until, reset: Reset::Known, known: None })
}

/// What the iteration may spend in USD: what is left of the run's budget, and of the shared ones its part, so that
/// others that are under way find theirs; not less than two iterations cost, as far as that is left.
fn grant(facts: &Facts, ask: &Ask) -> Option<f64> {
    let run = ask.limits.run.usd().map(|limit| limit - ask.spent.usd);
    let parts = shared(facts, ask).into_iter().filter_map(|(_, budget, spent, reserved, others)| {
        let rest = budget.usd()? - spent.usd - reserved.usd;
        Some((rest / f64::from(others.saturating_add(1))).max(ask.forecast.usd * 2.0).min(rest))
    });
    run.into_iter().chain(parts).min_by(f64::total_cmp).map(|usd| usd.max(0.0))
}

/// The provider refuses: nothing is tried before its time, and then by one run only.
fn held(holds: &[&Hold], asker: Asker, run: RunId, now: Timestamp) -> Option<Parking> {
    let waits = holds.iter().filter_map(|hold| {
        let other = hold.probe.filter(|(by, until)| *by != run && *until > now);
        let (until, reset) = match other {
            Some((_, until)) => (until, Reset::Probe),
            None if asker == Asker::Program && hold.until > now => (hold.until, hold.reset),
            None => return None,
        };
        Some(Parking { why: Why::Provider, about: hold.about.clone(), until, reset, known: None })
    });
    waits.max_by_key(|parking| parking.until)
}

fn counted_out(facts: &Facts, limits: &Limits, zone: &TimeZone) -> Option<Parking> {
    let own = |why, about, until| Parking { why, about, until, reset: Reset::Known, known: None };
    let calls = hour::frees(&facts.calls, limits.calls.into(), limits.window, zone)
        .map(|until| own(Why::Calls, calls_words(limits.calls), until));
    let tokens = limits.tokens.and_then(|most| {
        let until = hour::frees(&facts.tokens, most, limits.window, zone)?;
        Some(own(Why::Tokens, format!("hourly limit of {most} tokens reached"), until))
    });
    calls.into_iter().chain(tokens).max_by_key(|parking| parking.until)
}

fn calls_words(most: u32) -> String {
    match most {
        1 => "hourly limit of 1 call reached".to_owned(),
        most => format!("hourly limit of {most} calls reached"),
    }
}

/// The provider warns: when the person wants so, nothing new is begun until the window opens anew.
fn warned(facts: &Facts, ask: &Ask, run: RunId, now: Timestamp) -> Option<Parking> {
    let asked = ask.limits.on_warning == OnWarning::Park && ask.place == Place::PhaseStart;
    if !asked || ask.asker == Asker::Person || ask.purpose != Purpose::Iteration {
        return None;
    }
    let model = ask.model.as_deref();
    let warning = |window: &&Window| {
        window.status != WindowStatus::Allowed && provider::concerns(&window.kind, model) && window.is_open_at(now)
    };
    let windows = facts.windows.iter().filter(warning);
    let (window, resets) = windows.filter_map(|w| Some((w, w.resets_at?))).max_by_key(|(_, resets)| *resets)?;
    let (until, reset) = provider::wait_until(Some(resets), 1, now, provider::dice(run.0.as_u128(), 0));
    let about = format!("the provider's {} is nearly reached", window.name());
    (reset == Reset::Known).then_some(Parking { why: Why::Warning, about, until, reset, known: None })
}

#[cfg(test)]
mod tests;

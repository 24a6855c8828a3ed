//! The circuit breaker: what an iteration says about it, how it moves, when it lets a run begin again.
//!
//! States, order and thresholds are those of ralph-claude-code 0.11.5 (Hank's present upstream), but for three
//! things: progress is a changed working tree and never a signal in Claude's text; an error counts when it is the
//! same masked one; output that declines, which Hank documents and never looks at, only leads to `HALF_OPEN`, and
//! only when it does so from a size that tells something and stays there for two iterations.
//!
//! `observe` reads an iteration, `recover` is asked when a run begins. Everything here is a function of the
//! [`Breaker`] and its thresholds; the breaker itself is a fold of records.

mod observe;
mod recover;
mod what_if;

pub use observe::{Observation, Progress, observe};
pub use recover::{Recovery, recover, refusal};
pub use what_if::what_if;

use crate::base::amount::counted;
use crate::base::time::Timestamp;
use crate::domain::breaker::{Breaker, Circuit, Counter, CounterMoved, StateMoved};
use crate::domain::outcome::DoneHow;
use crate::domain::record::{ByPerson, Record};
use crate::domain::settings::BreakerSettings;

/// Iterations without progress that make the breaker watchful. Fixed, as in Hank.
const WATCHFUL: u32 = 2;

/// Output in tokens from which on a decline tells something: a short iteration may be followed by a shorter one.
const TALKATIVE: u64 = 1_000;

/// The breaker is to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub to: Circuit,
    /// Why, in words.
    pub reason: String,
}

/// The counters that iteration `n` moves.
pub fn count(breaker: &Breaker, limits: &BreakerSettings, n: u32, seen: &Observation) -> Vec<CounterMoved> {
    let mut moved = Vec::new();
    let mut set = |counter, before: u32, value: u32, limit, why: String| {
        if before != value {
            let said = seen.said.clone().filter(|_| counter == Counter::SameError && value > 0);
            moved.push(CounterMoved { n, counter, value, limit, why, said });
        }
    };
    let (before, limit) = (breaker.no_progress, limits.no_progress);
    match seen.progress {
        Progress::Made { files } => set(Counter::NoProgress, before, 0, limit, changed(files)),
        Progress::Verified => set(Counter::NoProgress, before, 0, limit, "a phase passed its validation".into()),
        Progress::Asked => {}
        Progress::None => {
            set(Counter::NoProgress, before, before.saturating_add(1), limit, "the working tree did not change".into());
        }
    }
    let same = seen.error.is_some() && seen.error == breaker.error;
    match &seen.error {
        Some(error) if same => {
            set(Counter::SameError, 0, breaker.same_error.saturating_add(1), limits.same_error, error.clone());
        }
        // Another error counts anew, also where the number stays.
        Some(error) => set(Counter::SameError, 0, 1, limits.same_error, error.clone()),
        None => set(Counter::SameError, breaker.same_error, 0, limits.same_error, "no error".into()),
    }
    let before = breaker.permission_denials;
    let (value, why) = match &seen.denied {
        Some(what) => (before.saturating_add(1), what.clone()),
        None => (0, "no calls were denied".into()),
    };
    set(Counter::PermissionDenials, before, value, limits.permission_denials, why);
    let (value, why) = decline(breaker, seen.output, limits.output_decline);
    set(Counter::OutputDecline, breaker.output_decline, value, limits.output_decline, why);
    moved
}

fn changed(files: usize) -> String {
    format!("{} changed", counted(files, "file"))
}

/// By how many percent the output fell, if by as much as `limit` in two iterations in a row. An output that was not
/// measured tells nothing.
fn decline(breaker: &Breaker, now: Option<u64>, limit: u32) -> (u32, String) {
    let (Some(before), Some(now)) = (breaker.output, now) else { return (0, "not measured".into()) };
    let counts = if breaker.declined { fallen(before, now, limit) } else { None };
    (counts.unwrap_or(0), format!("{before} → {now} tokens of output"))
}

/// By how many percent an output fell, where that is worth a word.
fn fallen(before: u64, now: u64, limit: u32) -> Option<u32> {
    let fallen = u128::from(before.saturating_sub(now)) * 100 / u128::from(before.max(1));
    let fallen = u32::try_from(fallen).unwrap_or(100);
    (before >= TALKATIVE && fallen >= limit).then_some(fallen)
}

/// Remembers the output of an iteration that was judged: what the next one is compared with. After a first decline that
/// is still the output before it.
pub(super) fn remember(breaker: &mut Breaker, output: Option<u64>, limit: u32) {
    let Some(now) = output else { return };
    let fell = breaker.output.is_some_and(|before| fallen(before, now, limit).is_some());
    breaker.declined = fell && !breaker.declined;
    if !breaker.declined {
        breaker.output = Some(now);
    }
}

/// The table: where the breaker goes after an iteration. `breaker` has that iteration's counters.
pub fn next(breaker: &Breaker, limits: &BreakerSettings, progress: Progress) -> Option<Move> {
    use Circuit::{Closed, HalfOpen, Open};
    let Breaker { no_progress, same_error, permission_denials, output_decline, .. } = *breaker;
    let to = |to, reason: String| Some(Move { to, reason });
    let idle = || format!("{no_progress} iterations in a row changed nothing");
    let denied = || format!("calls were denied in {permission_denials} iterations in a row");
    match breaker.state {
        Closed | HalfOpen if permission_denials >= limits.permission_denials => to(Open, denied()),
        Closed if no_progress >= limits.no_progress => to(Open, idle()),
        Closed if same_error >= limits.same_error => {
            let error = breaker.said.as_deref().or(breaker.error.as_deref()).unwrap_or_default();
            to(Open, format!("{same_error} iterations in a row ended with: {error}"))
        }
        Closed if no_progress >= WATCHFUL => to(HalfOpen, idle()),
        Closed if output_decline >= limits.output_decline => {
            to(HalfOpen, format!("Claude's output fell by {output_decline} %"))
        }
        HalfOpen if matches!(progress, Progress::Made { .. }) => to(Closed, "the working tree changes again".into()),
        HalfOpen if progress == Progress::Verified => to(Closed, "a phase passed its validation".into()),
        HalfOpen if no_progress >= limits.no_progress => to(Open, idle()),
        Closed | HalfOpen | Open => None,
    }
}

/// Folds a record of the breaker in; others are not its business.
pub(super) fn fold(breaker: &mut Breaker, record: &Record, time: Timestamp) {
    match record {
        Record::BreakerCarried { breaker: earlier } => breaker.clone_from(earlier),
        Record::BreakerCounted(CounterMoved { counter, value, why, said, .. }) => match counter {
            Counter::NoProgress => breaker.no_progress = *value,
            Counter::SameError => {
                breaker.same_error = *value;
                breaker.error = (*value > 0).then(|| why.clone());
                breaker.said.clone_from(said);
            }
            Counter::PermissionDenials => breaker.permission_denials = *value,
            Counter::OutputDecline => breaker.output_decline = *value,
        },
        Record::BreakerMoved(StateMoved { from, to, reason, .. }) => {
            if (*from, *to) == (Circuit::Open, Circuit::Closed) {
                *breaker = Breaker { total_opens: breaker.total_opens, ..Breaker::default() };
            }
            breaker.state = *to;
            breaker.last_change = Some(time);
            breaker.opened_at = (*to == Circuit::Open).then_some(time);
            breaker.total_opens = breaker.total_opens.saturating_add(u32::from(*to == Circuit::Open));
            breaker.reason.clone_from(reason);
        }
        // A critic looks at the work after its iteration was counted.
        Record::PhaseDone { how: DoneHow::Approved, .. } => breaker.no_progress = 0,
        Record::BreakerReset(ByPerson { by }) => {
            let reason = format!("reset by {by}");
            *breaker = Breaker { last_change: Some(time), reason, ..Breaker::default() };
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;

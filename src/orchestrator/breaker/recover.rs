//! What becomes of an open breaker when a run is about to begin or to go on.

use super::Move;
use crate::base::time::{Timestamp, human};
use crate::domain::breaker::{Breaker, Circuit};
use crate::domain::settings::BreakerSettings;
use std::time::Duration;

/// What becomes of the breaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// It is not open: nothing.
    Untouched,
    /// It moves, and the run may begin.
    Moves(Move),
    /// It stays open: nothing may run for so long.
    Refused {
        /// Time left until one iteration is let through.
        left: Duration,
    },
}

/// Asks the breaker at `now`. A clock that has gone back behind the opening never closes it early, not even
/// without a cooldown; then `left` is the time until the clock has caught up, and the cooldown.
pub fn recover(breaker: &Breaker, limits: &BreakerSettings, now: Timestamp) -> Recovery {
    let moves = |to, reason: String| Recovery::Moves(Move { to, reason });
    if breaker.state != Circuit::Open {
        return Recovery::Untouched;
    }
    if limits.auto_reset {
        return moves(Circuit::Closed, "closed at the start (`breaker.auto_reset` is on)".into());
    }
    let cooldown = Duration::from_secs(limits.cooldown);
    let opened = breaker.opened_at.or(breaker.last_change).unwrap_or(now);
    let (elapsed, ahead) = (now.since(opened), opened.since(now));
    if ahead.is_zero() && elapsed >= cooldown {
        let open = human(elapsed);
        return moves(Circuit::HalfOpen, format!("open for {open}: one iteration is allowed"));
    }
    Recovery::Refused { left: cooldown.saturating_sub(elapsed).saturating_add(ahead) }
}

/// Why nothing runs while the breaker is open, and what to do; `ticket` is named in the command.
pub fn refusal(breaker: &Breaker, limits: &BreakerSettings, now: Timestamp, ticket: &str) -> Option<String> {
    let why = &breaker.reason;
    let left = match recover(breaker, limits, now) {
        Recovery::Untouched => return None,
        Recovery::Moves(_) => "the next start allows one iteration".to_owned(),
        Recovery::Refused { left } => {
            // Rounded up: a start at the end of the time that is shown must succeed.
            let left = human(Duration::from_secs(left.as_secs() + u64::from(left.subsec_nanos() > 0)));
            format!("one iteration is allowed in {left}")
        }
    };
    Some(format!(
        "the circuit breaker is open: {why}; fix the cause, then `programmator circuit reset {ticket}` (key b on \
         the screen) and start again, or wait: {left}"
    ))
}

//! What the breaker would have done on a recorded run with other thresholds. What Claude did is as it was; the breaker sees
//! each iteration as it saw it then.

use super::{Move, count, fold, next, observe, remember};
use crate::domain::breaker::{Breaker, Circuit, StateMoved};
use crate::domain::record::{Record, Stored};
use crate::domain::settings::BreakerSettings;
use crate::orchestrator::apply::apply;
use crate::orchestrator::state::State;
use std::sync::Arc;

/// How the breaker would have moved, in order. With the first move to [`Circuit::Open`] the run would have ended.
pub fn what_if(records: &[Arc<Stored>], limits: &BreakerSettings) -> Vec<StateMoved> {
    let (mut state, mut breaker, mut made) = (State::default(), Breaker::default(), Vec::new());
    for stored in records {
        let seen = match &stored.record {
            Record::IterationEnded { n, outcome, .. } => {
                state.open_iteration().and_then(|open| Some((*n, observe(open, *outcome)?)))
            }
            // How the run began, and what the person did.
            Record::BreakerCarried { .. } | Record::BreakerReset(_) | Record::BreakerMoved(StateMoved { n: 0, .. }) => {
                fold(&mut breaker, &stored.record, stored.time);
                None
            }
            _ => None,
        };
        apply(&mut state, stored);
        let Some((n, seen)) = seen else { continue };
        let counted = count(&breaker, limits, n, &seen);
        remember(&mut breaker, seen.output, limits.output_decline);
        for moved in counted {
            fold(&mut breaker, &Record::BreakerCounted(moved), stored.time);
        }
        if let Some(Move { to, reason }) = next(&breaker, limits, seen.progress) {
            let moved = StateMoved { n, from: breaker.state, to, reason };
            fold(&mut breaker, &Record::BreakerMoved(moved.clone()), stored.time);
            made.push(moved);
        }
        if breaker.state == Circuit::Open {
            break;
        }
    }
    made
}

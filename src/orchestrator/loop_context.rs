//! Where the loop stands, in a few lines for Claude: what a fresh or a resumed session cannot know by itself.
//! Hank's users rely on it, and on its bound.

use crate::domain::breaker::Circuit;
use crate::orchestrator::state::State;

/// Longest context in characters.
pub const LONGEST: usize = 500;

/// Characters taken of the last summary.
const SUMMARY: usize = 200;
/// Characters taken of the breaker's reason.
const REASON: usize = 120;

/// The context, at most [`LONGEST`] characters; the iteration that it is for has begun.
pub fn loop_context(state: &State) -> String {
    let mut lines =
        vec![format!("Iteration {} of at most {}.", state.counted_iterations(), state.settings.max_iterations)];
    if !state.phases.is_empty() {
        let open = state.phases.iter().filter(|phase| !phase.mark.is_settled()).count();
        lines.push(format!("Open phases: {open} of {}.", state.phases.len()));
    }
    let breaker = &state.breaker;
    if breaker.state != Circuit::Closed {
        lines.push(format!("Circuit breaker: {} ({}).", breaker.state.word(), one_line(&breaker.reason, REASON)));
    }
    if let Some(summary) = state.summaries.last().filter(|summary| !summary.trim().is_empty()) {
        lines.push(format!("Last report: {}", one_line(summary, SUMMARY)));
    }
    lines.join("\n").chars().take(LONGEST).collect()
}

/// The beginning of a text with its blanks and line breaks made one blank each; `…` where it was cut.
fn one_line(text: &str, longest: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= longest {
        return words;
    }
    words.chars().take(longest - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::phase::Mark;
    use crate::orchestrator::state::PhaseState;
    use proptest::prelude::*;

    fn state() -> State {
        let phase = |mark| PhaseState { text: "P".into(), mark, ..PhaseState::default() };
        let mut state = State { iterations: 3, ..State::default() };
        state.phases = vec![phase(Mark::Skipped), phase(Mark::Disputed), phase(Mark::Pending)];
        state
    }

    #[test]
    fn what_is_known_is_said_and_what_is_not_is_left_out() {
        let mut state = state();
        assert_eq!(loop_context(&state), "Iteration 3 of at most 50.\nOpen phases: 2 of 3.");
        state.summaries = vec!["old".into(), "Wrote the\n\n parser.".into()];
        state.breaker.state = Circuit::HalfOpen;
        state.breaker.reason = "2 iterations changed nothing".into();
        assert_eq!(
            loop_context(&state),
            "Iteration 3 of at most 50.\nOpen phases: 2 of 3.\nCircuit breaker: HALF_OPEN (2 iterations changed \
             nothing).\nLast report: Wrote the parser."
        );
        assert_eq!(loop_context(&State::default()), "Iteration 0 of at most 50.");
    }

    #[test]
    fn an_iteration_that_a_limit_refused_is_not_counted() {
        let mut state = state();
        state.limits.refused = 1;
        assert!(loop_context(&state).starts_with("Iteration 2 of at most 50."), "as the prompt's head says");
    }

    #[test]
    fn the_last_report_is_cut_at_its_end() {
        let mut state = state();
        state.summaries = vec!["語".repeat(900)];
        let text = loop_context(&state);
        assert_eq!(text.matches('語').count(), SUMMARY - 1);
        assert!(text.ends_with('…'), "{text}");
    }

    proptest! {
        #[test]
        fn it_never_grows_beyond_its_bound(
            summary in "\\PC{0,900}",
            reason in "[語\u{1F468}\u{200D}\u{1F469}\n é]{0,900}",
            iterations: u32,
        ) {
            let mut state = state();
            state.iterations = iterations;
            state.breaker.state = Circuit::Open;
            state.breaker.reason = reason;
            state.summaries = vec![summary];
            prop_assert!(loop_context(&state).chars().count() <= LONGEST);
        }
    }
}

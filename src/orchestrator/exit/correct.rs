//! What the next prompt corrects: questions that nobody can answer, test after test, the same errors again. For
//! tickets with and without phases alike.

use crate::orchestrator::state::State;

/// Iterations with nothing but tests before it is pointed out.
const TESTS: usize = 2;
/// Error lines that are shown.
const ERRORS: usize = 5;

/// The lines, each about one thing; none when there is nothing to correct.
pub fn corrections(state: &State) -> Vec<String> {
    let signs = &state.signs;
    let question = signs.last.question.as_ref().map(|phrase| {
        format!(
            "Your last message asked a question (“{phrase}”), and nobody is there to answer. Decide yourself: take the \
             simplest choice that fits the ticket, and name it in the summary. Where only a person can decide, report \
             BLOCKED with the one question."
        )
    });
    let tests = (signs.test_only.len() >= TESTS).then(|| {
        "The last iterations ran or wrote tests and did nothing else. Do the next thing that the ticket asks for; if \
         nothing is left, say so in the status block."
            .to_owned()
    });
    let stuck = signs.last.stuck.then(|| {
        let errors = signs.errors.last().map(|lines| lines.iter().take(ERRORS).cloned().collect::<Vec<_>>());
        let errors = errors.unwrap_or_default().join("\n");
        format!(
            "Your last outputs contain the same errors. What you tried does not work: find the cause first, then take a \
             different approach.\n{errors}"
        )
        .trim_end()
        .to_owned()
    });
    [question, tests, stuck].into_iter().flatten().collect()
}

//! What the steps tell Claude alike: how the ticket stands, and which difference is shown.

use crate::domain::phase::Mark;
use crate::orchestrator::exit;
use crate::orchestrator::loop_context::loop_context;
use crate::orchestrator::prompt::PromptContext;
use crate::orchestrator::state::{PhaseState, State};
use crate::orchestrator::step::Next;

/// The first phase, or the whole ticket where there are none, that this holds for.
pub(super) fn next_part(state: &State, is_due: impl Fn(&PhaseState) -> bool) -> Next {
    match state.parts().find(|part| is_due(part)) {
        None => Next::Nothing,
        Some(_) if state.phases.is_empty() => Next::Ticket,
        Some(phase) => Next::Phase(phase.named()),
    }
}

/// What every step knows of the run.
pub(super) fn context(state: &State, notes: Vec<String>) -> PromptContext {
    let texts = |keep: fn(Mark) -> bool| {
        let kept = state.phases.iter().filter(|phase| keep(phase.mark));
        kept.map(|phase| phase.text.clone()).collect()
    };
    PromptContext {
        ticket_id: state.ticket.as_ref().map(ToString::to_string).unwrap_or_default(),
        title: state.title.clone(),
        dispute: state.own_phase().and_then(|phase| phase.dispute.clone()),
        phase: state.own_text().map(str::to_owned),
        resumed: state.iteration.as_ref().is_some_and(|iteration| iteration.resumed.is_some()),
        ticket_changed: true,
        ticket_path: state.ticket_path.clone(),
        done_phases: texts(|mark| matches!(mark, Mark::Done(_))),
        open_phases: texts(|mark| !mark.is_settled()),
        summaries: state.summaries.clone(),
        notes,
        corrections: exit::corrections(state),
        open_boxes: if state.phases.is_empty() { state.boxes.open } else { 0 },
        validation: state.validation.clone(),
        validated: validated(state),
        loop_context: loop_context(state),
        iteration: state.counted_iterations(),
        max_iterations: state.settings.max_iterations,
        ..PromptContext::default()
    }
}

/// What the validation commands said last, a paragraph each.
fn validated(state: &State) -> Vec<String> {
    let Some(last) = &state.last_work else { return Vec::new() };
    let told = last.validated.iter().map(|ran| {
        let how = ran.exit.map_or_else(|| "was killed or timed out".to_owned(), |exit| format!("exit code {exit}"));
        format!("$ {}\n{how}\n{}", ran.command, ran.tail.trim_end())
    });
    told.collect()
}

//! What the phone is told of runs.

use crate::adapters::store::Store;
use crate::adapters::telegram::{Button, LONGEST};
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::cli::away::meaning::END;
use crate::cli::decision::Choice;
use crate::cli::ended::{Ended, still_open};
use crate::domain::chat;
use crate::domain::credentials::masked;
use crate::domain::end_answer::EndAnswer;
use crate::domain::messages::reason_words;
use crate::domain::outcome::ExitReason;
use crate::domain::summary::{RunState, RunSummary};
use crate::orchestrator::state::State;
use crate::runtime::offline::state_of;

/// That no program works on a run, and what goes on with it.
pub(super) fn gone(ticket: &TicketId) -> String {
    if chat::is_id(ticket) {
        format!("{ticket} is not running. Resume it on your machine with `programmator chat --resume`.")
    } else {
        format!("{ticket} is not running. /resume {ticket} resumes it, and asks again.")
    }
}

/// How a run has ended, and how far it came; `is_brief`: without Claude's words.
pub(super) fn ended(store: &Store, run: &RunSummary, is_brief: bool) -> String {
    let reason = run.reason.as_deref().and_then(ExitReason::from_word);
    let state = state_of(store, run.run).ok();
    let detail = state.as_ref().and_then(|state| state.ended.as_ref()).map_or("", |ended| ended.detail.as_str());
    let how = match reason {
        Some(ExitReason::Complete) => {
            format!("complete{}", state.as_ref().map_or_else(String::new, State::caveats))
        }
        Some(reason @ (ExitReason::UserStopped | ExitReason::TerminalClosed)) => {
            format!("{}; resume with /resume {}", reason_words(reason), run.ticket)
        }
        Some(reason) if detail.is_empty() || is_brief => reason_words(reason).to_owned(),
        _ => clean_line(detail, 200),
    };
    let open =
        if reason == Some(ExitReason::CircuitOpen) { format!("\n{}", still_open(&run.ticket)) } else { String::new() };
    format!("{}: {how}\n{} · {}{open}", run.ticket, clean_line(&run.title, 80), so_far(run))
}

/// A run in a line; `is_full`: with what waits for the person.
pub(super) fn line(run: &RunSummary, is_full: bool) -> String {
    let title = clean_line(&run.title, 80);
    let does = match (run.asks(), &run.phase) {
        (Some(needs), _) if is_full => format!("needs you ({})", clean_line(needs, 100)),
        (None, Some(phase)) if run.state == RunState::Running => format!("working on “{}”", clean_line(phase, 60)),
        _ => run.label().to_owned(),
    };
    format!("{} · {title}: {does}, {}", run.ticket, so_far(run))
}

/// The buttons under the end of a run with which there is more to do.
pub(super) fn go_on(end: Option<&Ended>) -> Vec<Vec<Button>> {
    // An open breaker refuses a start.
    let open = end.filter(|end| end.run.reason.as_deref() != Some(ExitReason::CircuitOpen.word()));
    let button = |choice: &Choice| {
        let words = match EndAnswer::from_word(choice.word)? {
            EndAnswer::Resume => "▶ Resume",
            EndAnswer::Resolve => "🔧 Let Claude resolve it",
            EndAnswer::Merge => "▶ Merge again",
            EndAnswer::Leave => "▪ Leave it",
            EndAnswer::Phase => return None,
        };
        Some(vec![(words.to_owned(), format!("{END}{}", choice.word))])
    };
    open.iter().flat_map(|end| &end.answers).filter_map(button).collect()
}

fn so_far(run: &RunSummary) -> String {
    format!("{}/{} phases, ${:.2}", run.phases_done, run.phases, run.ticket_usd())
}

/// As much of a text as a message may have, without what looks like a credential.
pub(super) fn fit(text: &str) -> String {
    let text = masked(text);
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 2).chain(" …".chars()).collect()
}

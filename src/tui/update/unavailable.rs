//! Why a key cannot act now, in words for the notice line: no key is silent.

use crate::orchestrator::state::Stage;
use crate::tui::command::when::comes_first;
use crate::tui::command::{Command, Scope};
use crate::tui::model::opening::opening;
use crate::tui::model::{Mode, Model};
use crate::tui::panes::home::{Group, blocked_words};
use crate::tui::replay::IN_REPLAY;
use crate::tui::tab::TabStatus;

/// Why the command of a key that was pressed does nothing.
pub(super) fn why(model: &Model, command: Command) -> String {
    match command {
        Command::NextWaiting if model.is_home() && model.home.counts[Group::NeedsYou as usize] > 0 => {
            return "no question is waiting; each row under Needs you says what it needs".to_owned();
        }
        Command::NextWaiting if model.is_home() => return "nothing here needs an answer".to_owned(),
        Command::NextWaiting => return "nothing is waiting for you".to_owned(),
        _ if model.is_home() && model.fronts_own_session() => {
            return "your own Claude session: Enter shows it, all else is typed in its terminal".to_owned();
        }
        Command::Commit | Command::Resolve | Command::Shell if model.is_home() && model.home.cursor.is_some() => {
            let does = match command {
                Command::Commit => "commits what its run changed",
                Command::Resolve => "lets Claude resolve its conflict",
                _ => "opens a shell in its worktree",
            };
            return format!(
                "open the ticket first (Enter); there {} {does}",
                model.keys.key_of(Scope::Global, command)
            );
        }
        Command::Resolve => return "its run did not end with a conflict".to_owned(),
        Command::Shell => return "its run did not end with a failed merge".to_owned(),
        Command::QueuedTickets => return "no ticket is queued".to_owned(),
        Command::GoToTab | Command::TabNext | Command::TabPrevious => return "only one ticket is open".to_owned(),
        Command::Own("next" | "previous" | "clear") => return "no search yet; / searches".to_owned(),
        Command::Hide if !model.is_home() => {
            return "the Stream cannot be hidden; Tab goes to another pane".to_owned();
        }
        Command::Own("undo") if model.is_home() => return "nothing was archived that could be undone".to_owned(),
        Command::Own("back") if model.is_home() => return "nothing to go back to; Enter opens a ticket".to_owned(),
        Command::End => return "already at the end".to_owned(),
        Command::Background => return "nothing is running here that could move to the background".to_owned(),
        _ if model.mode == Mode::Replay => return IN_REPLAY.to_owned(),
        Command::Prompt | Command::Explain | Command::Own(_) => return "no run yet".to_owned(),
        _ => {}
    }
    let Some(tab) = model.tab() else {
        if model.is_home() && model.opening.is_none() {
            let has_any = model.home.cursor.is_some();
            return if has_any { "s starts the ticket, Enter opens it" } else { "no ticket yet; n writes one" }
                .to_owned();
        }
        return model.opening.as_deref().map_or_else(|| "no ticket is open; t opens one".to_owned(), opening);
    };
    let id = &tab.id;
    if let Some(why) = model.is_elsewhere(tab) {
        return why;
    }
    if let (Some(why), Command::Pause | Command::Retry) = (model.queued_why(id), command) {
        return format!("{id} is queued: {why}; x removes it from the queue");
    }
    if let (Some(before), Command::Pause | Command::Retry) = (comes_first(model, tab), command) {
        return format!("{id} cannot start yet: {}", blocked_words(model, id, before));
    }
    match (command, tab.standing()) {
        (Command::Edit, _) | (_, TabStatus::Gone) => format!("the file of {id} is gone"),
        (Command::Commit, _) if tab.is_over() => "its work is committed, but not merged".to_owned(),
        (Command::Commit, _) => "a run can be committed once it has ended".to_owned(),
        (Command::NextReady, _) if tab.state.ended.is_none() => "n works once this run has ended".to_owned(),
        (Command::NextReady, _) => "no other ticket is ready".to_owned(),
        (Command::Undo, _) if tab.takes_commands() => "nothing to undo".to_owned(),
        (Command::ResetBreaker, _) => "the circuit breaker is closed and at zero".to_owned(),
        (_, TabStatus::Complete | TabStatus::Unverified) if tab.left_out() => {
            format!("{id} is complete; p runs the skipped phases")
        }
        (_, TabStatus::Complete | TabStatus::Unverified) => format!("{id} is complete; r runs it again"),
        (_, _) if tab.run.is_none() => format!("{id} has no run yet; p starts one"),
        (_, _) if model.is_barred(tab) => format!("the circuit breaker of {id} is open; b closes it"),
        (_, _) if !tab.takes_commands() => format!("the run of {id} has ended; p starts it again"),
        (Command::PauseNow, _) if tab.state.stage == Stage::Paused => "already paused".to_owned(),
        (Command::PauseNow, _) => "nothing is running".to_owned(),
        (Command::Skip, _) if model.phase_under_cursor().is_some() => "this phase is done or skipped".to_owned(),
        (Command::Skip, _) => "no open phase to skip".to_owned(),
        (Command::Retry, _) if model.is_parked() => "your own limit: it cannot be retried early".to_owned(),
        (Command::Retry, _) => "nothing to retry: select a phase that is done, disputed, blocked or skipped".to_owned(),
        (_, _) => "not available now".to_owned(),
    }
}

//! What became of a command that was sent to a run: decided there, or not.

use super::{Ui, attention};
use crate::domain::approval::Answer;
use crate::domain::command::UserCommand;
use crate::domain::summary::Owner;
use crate::domain::ticket::TicketKey;

/// The run has decided it; its records tell how.
pub(super) fn told(ui: &mut Ui, ticket: &TicketKey, command: &UserCommand) {
    is_over(ui, ticket, command);
    // What answers a call as it is closes its question, or is barred. Of another program's run that is read later.
    let is_here = ui.tab_of(ticket).is_some_and(|tab| tab.owner == Owner::Here);
    if is_here
        && let UserCommand::AnswerApproval { id, answer: Answer::Allow { input, .. } } = command
        && ui.approval(ticket, id).is_some_and(|asked| asked.input == *input)
    {
        attention::refused(ui, ticket, id, "Your answer was not applied; the log says why.");
    }
}

/// It did not reach the run, or the run is another program's, which has not taken it. Its card can be answered again, and says
/// why.
pub(super) fn not_decided(ui: &mut Ui, ticket: &TicketKey, command: &UserCommand, why: &str) {
    is_over(ui, ticket, command);
    match command {
        UserCommand::AnswerApproval { id, .. } | UserCommand::EditCall { id, .. } => {
            attention::refused(ui, ticket, id, why);
        }
        // What was typed is what the next message begins with, unless another one has been begun.
        UserCommand::Steer { text } => ui.unsent.return_message(ticket, text),
        _ => {}
    }
}

fn is_over(ui: &mut Ui, ticket: &TicketKey, command: &UserCommand) {
    if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.id == *ticket) {
        tab.unstored.decided(command);
        tab.undoing.take_if(|step| step.command().as_ref() == Some(command));
    }
}

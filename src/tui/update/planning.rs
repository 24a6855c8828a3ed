//! Planning a ticket: the question before it, and the answers to a draft.

use crate::domain::command::UserCommand;
use crate::domain::planning::{DraftAnswer, PlanAsked};
use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::draft::Draft;
use crate::tui::attention::What;
use crate::tui::command::{Command, Scope};
use crate::tui::modals::Modal;
use crate::tui::modals::confirm::Confirm;
use crate::tui::modals::plan::{Outcome, PlanReview};
use crate::tui::msg::{Ask, Input};
use crate::tui::panes::home;
use crate::tui::ui::Ui;
use crate::tui::update::attention;

/// Asks whether Claude is to draft phases, and says what that may cost. `made`: what the ticket's file was made of.
pub(super) fn ask_to_plan(ui: &mut Ui, ticket: &TicketKey, made: Option<Draft>) {
    let asked = PlanAsked { made, ..PlanAsked::default() };
    let asks = vec![Ask::Request(Request::Plan(ticket.file().to_owned(), asked))];
    ui.toast = None;
    ui.modals.push(Modal::Confirm(Confirm { title: "Plan", words: home::plan_words(ui, ticket), asks }));
}

/// A key for the dialog of a draft.
pub(super) fn key(ui: &mut Ui, mut review: Box<PlanReview>, command: Option<Command>, input: &Input) -> Vec<Ask> {
    if command == Some(Command::NextWaiting) && review.scope() == Scope::Plan {
        return attention::after(ui, &review.ticket, &What::Draft);
    }
    match review.key(&ui.model, command, input, ui.room()) {
        Outcome::Stays => ui.modals.push(Modal::Plan(review)),
        Outcome::Closes => {}
        Outcome::Asks(ask) => {
            ui.modals.push(Modal::Plan(review));
            return vec![ask];
        }
        Outcome::Answers(ask) => {
            answered(ui, &review.ticket, &ask);
            return vec![ask];
        }
    }
    Vec::new()
}

fn answered(ui: &mut Ui, ticket: &TicketKey, ask: &Ask) {
    let Ask::Request(Request::Command(_, UserCommand::AnswerDraft { answer, .. })) = ask else { return };
    match answer {
        DraftAnswer::Accept => ui.tell("saving the draft …"),
        DraftAnswer::Revise { .. } => ui.tell("sent back; the next draft will wait for you"),
        DraftAnswer::Refuse => {
            let plan = ui.tab_of(ticket).and_then(|tab| tab.state.plan.clone());
            // A file that was made for the plan alone may be in the way.
            if plan.is_some_and(|plan| plan.asked.made.is_some()) {
                let words = format!(
                    "The draft of {ticket} is discarded. Archive the ticket, too? Its file stays, with your text and without phases; A shows the archive."
                );
                let asks = vec![Ask::Request(Request::Archive(vec![ticket.clone()], true))];
                ui.modals.push(Modal::Confirm(Confirm { title: "Refused", words, asks }));
            }
        }
        DraftAnswer::Edit(_) | DraftAnswer::Try => {}
    }
}

/// The text comes back from the editor; `None`: no draft is being looked at.
pub(super) fn edited(ui: &mut Ui, text: &str) -> Option<Vec<Ask>> {
    let Some(Modal::Plan(review)) = ui.modals.last_mut() else { return None };
    Some(review.edited(&ui.model, text).into_iter().collect())
}

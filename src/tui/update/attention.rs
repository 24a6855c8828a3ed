//! The queue and its cards: opening one, obeying its keys, hearing what became of a wish.

use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::approval::{Answer, Approval, ApprovalKind};
use crate::domain::command::UserCommand;
use crate::domain::passphrase::Checked;
use crate::tui::attention::{Item, What, answer_words};
use crate::tui::command::Command;
use crate::tui::layout;
use crate::tui::modals::card::{Card, Outcome};
use crate::tui::modals::matter::Matter;
use crate::tui::modals::question::Question;
use crate::tui::modals::{self, Modal};
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input};
use crate::tui::panes::Pane;
use ratatui::layout::Rect;

/// `!`: to the next thing that waits, of the ticket in front first.
pub(super) fn next(model: &mut Model) -> Vec<Ask> {
    let queue = model.attention();
    let front = model.tab().map(|tab| tab.id.clone());
    // Without a card of its own the ticket in front has been seen.
    let of_front = |item: &&Item| Some(&item.ticket) == front.as_ref() && item.what != What::Ended;
    let elsewhere = |item: &&Item| Some(&item.ticket) != front.as_ref();
    let next = queue.iter().find(of_front).or_else(|| queue.iter().find(elsewhere)).or(queue.first());
    next.cloned().map_or_else(Vec::new, |item| show(model, &item))
}

/// From one thing to the one behind it, around.
fn after(model: &mut Model, ticket: &TicketId, what: &What) -> Vec<Ask> {
    let queue = model.attention();
    let at = queue.iter().position(|item| item.ticket == *ticket && item.what == *what);
    let next = at.map_or(0, |at| at + 1) % queue.len().max(1);
    queue.get(next).cloned().map_or_else(Vec::new, |item| show(model, &item))
}

/// Brings a thing to the front, with its dialog.
pub(super) fn show(model: &mut Model, item: &Item) -> Vec<Ask> {
    let Some(at) = model.tabs.iter().position(|tab| tab.id == item.ticket) else {
        return Vec::new();
    };
    model.show_tab(at);
    model.focus = Pane::Stream;
    match &item.what {
        What::Call(id) => {
            let Some(approval) = model.approval(&item.ticket, id) else {
                return Vec::new();
            };
            let mut card = Card::new(item.ticket.clone(), approval);
            card.lay_out(room(model), model.glyphs);
            let asks = match approval.kind {
                ApprovalKind::Passphrase => {
                    vec![Ask::LookUpPassphrase { ticket: item.ticket.clone(), id: id.clone() }]
                }
                ApprovalKind::Call | ApprovalKind::Question | ApprovalKind::Plan => Vec::new(),
            };
            model.modals.push(Modal::Card(Box::new(card)));
            return asks;
        }
        What::Validation => model.modals.push(Modal::Question(Question::new(item.ticket.clone()))),
        What::Dispute(_) | What::Conflict(_) => {
            model.modals.push(Modal::Matter(Matter { ticket: item.ticket.clone(), what: item.what.clone() }));
        }
        // Its banner says what happened and which key helps.
        What::Ended => model.modals.clear(),
    }
    Vec::new()
}

fn room(model: &Model) -> Rect {
    modals::room(Rect::new(0, 0, model.size.0, model.size.1))
}

/// A key for a card. `command`: its meaning there.
pub(super) fn key(model: &mut Model, mut card: Box<Card>, command: Option<Command>, input: &Input) -> Vec<Ask> {
    let (ticket, id) = (card.ticket.clone(), card.approval.id.clone());
    if command == Some(Command::NextWaiting) {
        return after(model, &ticket, &What::Call(id));
    }
    // What is not drawn was not read.
    if layout::solve(model.size, model).too_small && command != Some(Command::Close) {
        model.modals.push(Modal::Card(card));
        return Vec::new();
    }
    match card.key(command, input, model.now, room(model), model.glyphs) {
        Outcome::Stays => model.modals.push(Modal::Card(card)),
        Outcome::Leaves => {}
        Outcome::Answers(answer) => {
            let ask = answered(&mut card, answer);
            model.modals.push(Modal::Card(card));
            return vec![ask];
        }
        Outcome::Saves { rules, before } => {
            model.modals.push(Modal::Card(card));
            return vec![Ask::SaveRule { ticket, id, rules, before }];
        }
        Outcome::Tries { input, secret } => {
            model.modals.push(Modal::Card(card));
            return vec![Ask::TryPassphrase { ticket, id, input, secret }];
        }
    }
    Vec::new()
}

/// A key for what is no call.
pub(super) fn matter(model: &mut Model, matter: Matter, command: Option<Command>) -> Vec<Ask> {
    if let Some(ask) = matter.act(command) {
        return vec![ask];
    }
    match command {
        Some(Command::Close) => {}
        Some(Command::NextWaiting) => return after(model, &matter.ticket, &matter.what),
        Some(Command::Seen) if matches!(matter.what, What::Conflict(_)) => {
            model.seen.push((matter.ticket, matter.what));
        }
        _ => model.modals.push(Modal::Matter(matter)),
    }
    Vec::new()
}

/// Hands an answer on. It is told of when it is recorded: the run may refuse it, or have another one by then.
fn answered(card: &mut Card, answer: Answer) -> Ask {
    card.sent();
    let id = card.approval.id.clone();
    Ask::Command(card.ticket.clone(), UserCommand::AnswerApproval { id, answer })
}

/// The person's answer to this call is recorded.
pub(super) fn recorded(model: &mut Model, approval: &Approval, answer: &Answer) {
    let words = answer_words(approval, answer);
    drop_stale(model, &words);
    let rest = model.waiting();
    let rest = if rest > 0 { format!(" · {rest} more waiting, ! shows the next") } else { String::new() };
    model.tell(format!("{words}{rest}"));
}

/// The card of this call, taken off the dialogs; and where it was.
fn take_card(model: &mut Model, ticket: &TicketId, id: &str) -> Option<(usize, Box<Card>)> {
    let is_it = |modal: &Modal| matches!(modal, Modal::Card(card) if card.ticket == *ticket && card.approval.id == id);
    let at = model.modals.iter().position(is_it)?;
    match model.modals.remove(at) {
        Modal::Card(card) => Some((at, card)),
        _ => None,
    }
}

/// The run has noticed something: perhaps that a changed call may not run.
pub(super) fn noticed(model: &mut Model, ticket: &TicketId, text: &str) {
    let room = room(model);
    for modal in &mut model.modals {
        if let Modal::Card(card) = modal
            && card.ticket == *ticket
            && card.refused(text)
        {
            card.lay_out(room, model.glyphs);
        }
    }
}

/// How the passphrase stands, or what became of a try. A right one has been handed to the run already.
pub(super) fn checked(model: &mut Model, ticket: &TicketId, id: &str, checked: Checked) {
    let Some((at, mut card)) = take_card(model, ticket, id) else {
        return;
    };
    card.checked(checked, model.now);
    card.lay_out(room(model), model.glyphs);
    model.modals.insert(at, Modal::Card(card));
}

/// What became of a rule: its file, or why it was not saved.
pub(super) fn saved(model: &mut Model, ticket: &TicketId, id: &str, saved: &Result<String, String>) -> Vec<Ask> {
    if let Some((at, mut card)) = take_card(model, ticket, id) {
        let ask = card.saved(saved).map(|answer| answered(&mut card, answer));
        card.lay_out(room(model), model.glyphs);
        model.modals.insert(at, Modal::Card(card));
        if ask.is_some() {
            return ask.into_iter().collect();
        }
    }
    let words = match saved {
        Ok(path) => format!("saved in {path}"),
        Err(why) => why.clone(),
    };
    model.tell(clean_line(&words, 400));
    Vec::new()
}

/// Dialogs of what waits no more go, with a note.
pub(super) fn drop_stale(model: &mut Model, why: &str) {
    let why = clean_line(why, 300);
    let before = model.modals.len();
    let queue = model.attention();
    let waits = |ticket: &TicketId, what: &What| queue.iter().any(|item| item.ticket == *ticket && item.what == *what);
    for mut modal in std::mem::take(&mut model.modals) {
        let stale = match &modal {
            Modal::Card(card) => model.approval(&card.ticket, &card.approval.id) != Some(&card.approval),
            Modal::Question(question) => !waits(&question.ticket, &What::Validation),
            Modal::Matter(matter) => !waits(&matter.ticket, &matter.what),
            _ => false,
        };
        let stays = match &mut modal {
            // One that somebody types on stays: their keys go nowhere else.
            Modal::Card(card) if stale => {
                let typed_on = !card.withdrawn(&why);
                card.lay_out(room(model), model.glyphs);
                typed_on
            }
            _ => !stale,
        };
        if stays {
            model.modals.push(modal);
        }
    }
    if model.modals.len() < before {
        model.tell(why);
    }
}

#[cfg(test)]
mod tests;

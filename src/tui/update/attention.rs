//! The queue and its cards: opening one, obeying its keys, hearing what became of a wish.

use crate::base::text::clean_line;
use crate::domain::approval::{Answer, Approval, ApprovalKind, QuestionId};
use crate::domain::command::UserCommand;
use crate::domain::passphrase::Checked;
use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::tui::attention::{Item, What, answer_words};
use crate::tui::command::when::is_in_conflict;
use crate::tui::command::{Command, Scope};
use crate::tui::home;
use crate::tui::layout;
use crate::tui::modals::Modal;
use crate::tui::modals::card::{Card, Outcome};
use crate::tui::modals::matter::Matter;
use crate::tui::modals::more_work::MoreWork;
use crate::tui::modals::plan::PlanReview;
use crate::tui::modals::question::Question;
use crate::tui::msg::{Ask, Input};
use crate::tui::panes::stream;
use crate::tui::ui::Ui;
use crate::tui::update::{certain, phases};

/// `!`: to the next thing that waits, of the ticket in front first. What has ended waits for nobody: it comes last.
pub(super) fn next(ui: &mut Ui) -> Vec<Ask> {
    let queue = ui.attention();
    let front = ui.ticket_in_front().cloned();
    let next =
        queue.iter().min_by_key(|item| (item.what == What::Ended, Some(&item.ticket) != front.as_ref())).cloned();
    // On Home the cursor alone shows one that is not open: where it stands, that was seen.
    let is_seen =
        |item: &Item| ui.is_home() && Some(&item.ticket) == front.as_ref() && ui.tab_of(&item.ticket).is_none();
    match next {
        Some(item) if item.what == What::Ended && is_seen(&item) => after(ui, &item.ticket, &item.what),
        next => next.map_or_else(Vec::new, |item| show(ui, &item)),
    }
}

/// From one thing to the one behind it, around.
pub(super) fn after(ui: &mut Ui, ticket: &TicketKey, what: &What) -> Vec<Ask> {
    let queue = ui.attention();
    let at = queue.iter().position(|item| item.ticket == *ticket && item.what == *what);
    let next = at.map_or(0, |at| at + 1) % queue.len().max(1);
    queue.get(next).cloned().map_or_else(Vec::new, |item| show(ui, &item))
}

/// Brings a thing to the front, with its dialog.
pub(super) fn show(ui: &mut Ui, item: &Item) -> Vec<Ask> {
    let at = ui.tabs.iter().position(|tab| tab.id == item.ticket);
    if item.what == What::Interrupted {
        // Its card comes with the run.
        let resume = if at.is_some() && !ui.is_home() { Command::Pause } else { Command::Own("start") };
        let scope = if resume == Command::Pause { Scope::Global } else { Scope::Pane(home::NAME) };
        let (words, key) = (ui.words_of(item), ui.keys.key_of(scope, resume));
        if let Some(at) = at.filter(|_| !ui.is_home()) {
            ui.show_tab(at);
        } else {
            (ui.focus, ui.home.shown) = (home::NAME, ui.now);
            (ui.home.cursor, ui.home.is_chosen) = (Some(item.ticket.clone()), true);
        }
        ui.tell(format!("{words} · {key} resumes {}, then shows its card", item.ticket));
        return Vec::new();
    }
    if item.what == What::Elsewhere {
        // Its card needs its records.
        let Some(run) = ui.runs.get(&item.ticket).map(|run| run.run) else { return Vec::new() };
        let (at, key) = (ui.open_tab(&item.ticket), ui.keys.key_of(Scope::Global, Command::NextWaiting));
        ui.show_tab(at);
        ui.focus = stream::NAME;
        ui.tell(format!("{} is running in another process; {key} answers its questions", item.ticket));
        return vec![Ask::Request(Request::Show(run))];
    }
    if item.what == What::Ended && at.is_none() {
        if ui.is_home() {
            (ui.home.cursor, ui.home.is_chosen) = (Some(item.ticket.clone()), true);
            let key = ui.keys.key_of(Scope::Pane(home::NAME), Command::Choose);
            let words = format!("{key} opens {}: {}", item.ticket, ui.words_of(item));
            ui.tell(words);
            return Vec::new();
        }
        let Some(run) = ui.runs.get(&item.ticket).map(|run| run.run) else { return Vec::new() };
        let at = ui.open_tab(&item.ticket);
        ui.show_tab(at);
        ui.focus = stream::NAME;
        ui.modals.push(Modal::Matter(Matter { ticket: item.ticket.clone(), what: item.what.clone() }));
        return vec![Ask::Request(Request::Show(run))];
    }
    let Some(at) = at else { return Vec::new() };
    // From Home a question is answered there.
    if ui.is_home() {
        (ui.home.cursor, ui.home.is_chosen) = (Some(item.ticket.clone()), true);
    } else {
        ui.show_tab(at);
        ui.focus = stream::NAME;
    }
    match &item.what {
        What::Call(id) => {
            let Some(approval) = ui.approval(&item.ticket, id) else { return Vec::new() };
            let mut card = Card::new(item.ticket.clone(), approval, ui.now);
            card.lay_out(ui.sheet(), ui.glyphs);
            let asks = looks_up(&card);
            ui.modals.push(Modal::Card(Box::new(card)));
            return asks;
        }
        What::Draft => ui.modals.push(Modal::Plan(Box::new(PlanReview::new(item.ticket.clone())))),
        What::Validation => {
            let seen = ui.tab_of(&item.ticket).and_then(|tab| tab.state.validation_change.clone()).unwrap_or_default();
            ui.modals.push(Modal::Question(Question::new(item.ticket.clone(), seen)));
        }
        What::MoreWork => {
            let proposal = ui.tab_of(&item.ticket).and_then(|tab| tab.state.awaits_phases());
            let card = proposal.map(|proposal| MoreWork::new(item.ticket.clone(), proposal));
            ui.modals.extend(card.map(|card| Modal::MoreWork(Box::new(card))));
        }
        What::Interrupted | What::Elsewhere => {}
        What::Dispute(_) | What::Conflict(_) | What::Ended => {
            ui.modals.push(Modal::Matter(Matter { ticket: item.ticket.clone(), what: item.what.clone() }));
        }
    }
    Vec::new()
}

/// What a card needs to know when it comes.
fn looks_up(card: &Card) -> Vec<Ask> {
    let (ticket, id) = (card.ticket.clone(), card.approval.id.clone());
    let locked = card.approval.kind == ApprovalKind::Passphrase;
    locked.then_some(Ask::Request(Request::LookUpPassphrase { ticket, id })).into_iter().collect()
}

/// A call is asked about again: its card, where one is open, is that of the new question now.
pub(super) fn asked_again(ui: &mut Ui, ticket: &TicketKey, asked: &Approval) -> Vec<Ask> {
    let old = |modal: &Modal| {
        matches!(modal, Modal::Card(card) if card.ticket == *ticket && card.approval.id.call == asked.id.call
            && card.approval.id != asked.id)
    };
    let Some(at) = ui.modals.iter().position(old) else { return Vec::new() };
    let Modal::Card(card) = ui.modals.remove(at) else { return Vec::new() };
    let (mut card, renewed) = card.renewed(asked, ui.now);
    card.lay_out(ui.sheet(), ui.glyphs);
    let asks = if renewed { looks_up(&card) } else { Vec::new() };
    ui.modals.insert(at, Modal::Card(card));
    asks
}

/// A key for a card. `command`: its meaning there.
pub(super) fn key(ui: &mut Ui, mut card: Box<Card>, command: Option<Command>, input: &Input) -> Vec<Ask> {
    let (ticket, id) = (card.ticket.clone(), card.approval.id.clone());
    if command == Some(Command::NextWaiting) {
        return after(ui, &ticket, &What::Call(id));
    }
    // What is not drawn was not read.
    if layout::solve(ui.size, &ui.model).too_small && command != Some(Command::Close) {
        ui.modals.push(Modal::Card(card));
        return Vec::new();
    }
    match card.key(command, input, ui.now, ui.sheet(), ui.glyphs) {
        Outcome::Stays => ui.modals.push(Modal::Card(card)),
        // Of a question that was asked anew meanwhile, the new card follows.
        Outcome::Leaves if card.is_gone() => {
            let anew = ui.question_about(&ticket, &id.call).map(|asked| What::Call(asked.id.clone()));
            let asks = anew.map_or_else(Vec::new, |what| show(ui, &Item { ticket, what, since: None }));
            if let Some(Modal::Card(next)) = ui.modals.last_mut()
                && next.approval.id.call == id.call
            {
                next.typed_on(&mut card);
            }
            return asks;
        }
        Outcome::Leaves => {}
        Outcome::Answers(answer) => {
            let ask = answered(&mut card, answer);
            ui.modals.push(Modal::Card(card));
            return vec![ask];
        }
        Outcome::Edits(input) => {
            ui.modals.push(Modal::Card(card));
            return vec![Ask::Request(Request::Command(ticket, UserCommand::EditCall { id, input }))];
        }
        Outcome::Saves { rules, before } => {
            ui.modals.push(Modal::Card(card));
            return vec![Ask::Request(Request::SaveRule { ticket, id, rules, before })];
        }
        Outcome::Tries(secret) => {
            ui.modals.push(Modal::Card(card));
            return vec![Ask::Request(Request::TryPassphrase { ticket, id, secret })];
        }
    }
    Vec::new()
}

/// A key for what is no call.
pub(super) fn matter(ui: &mut Ui, matter: Matter, command: Option<Command>) -> Vec<Ask> {
    if let Some(ask) = matter.act(ui, command) {
        return vec![ask];
    }
    match command {
        Some(Command::Close) => {}
        Some(Command::Own("accept")) if matches!(matter.what, What::Dispute(_)) => {
            if let What::Dispute(phase) = matter.what {
                phases::accept(ui, &matter.ticket, phase);
            }
        }
        Some(Command::Resolve)
            if matter.what == What::Ended && ui.tab_of(&matter.ticket).is_some_and(|tab| is_in_conflict(ui, tab)) =>
        {
            certain::ask_to_resolve(ui, &matter.ticket);
        }
        Some(Command::NextWaiting) => return after(ui, &matter.ticket, &matter.what),
        Some(Command::Seen) if matches!(matter.what, What::Conflict(_)) => {
            ui.seen.push((matter.ticket, matter.what));
        }
        _ => ui.modals.push(Modal::Matter(matter)),
    }
    Vec::new()
}

/// Hands an answer on. It is told of when it is recorded: the run may refuse it, or have another one by then.
fn answered(card: &mut Card, answer: Answer) -> Ask {
    card.sent();
    let id = card.approval.id.clone();
    Ask::Request(Request::Command(card.ticket.clone(), UserCommand::AnswerApproval { id, answer }))
}

/// The person's answer to this call is recorded.
pub(super) fn recorded(ui: &mut Ui, approval: &Approval, answer: &Answer) {
    let words = answer_words(approval, answer);
    drop_stale(ui, &words);
    let rest = ui.waiting();
    let rest = if rest > 0 { format!(" · {rest} more waiting, ! shows the next") } else { String::new() };
    ui.tell(format!("{words}{rest}"));
}

/// The card of this question, taken off the dialogs; and where it was.
fn take_card(ui: &mut Ui, ticket: &TicketKey, id: &QuestionId) -> Option<(usize, Box<Card>)> {
    let is_it = |modal: &Modal| matches!(modal, Modal::Card(card) if card.ticket == *ticket && card.approval.id == *id);
    let at = ui.modals.iter().position(is_it)?;
    match ui.modals.remove(at) {
        Modal::Card(card) => Some((at, card)),
        _ => None,
    }
}

/// What the person sent came to nothing, and why.
pub(super) fn refused(ui: &mut Ui, ticket: &TicketKey, id: &QuestionId, why: &str) {
    if let Some((at, mut card)) = take_card(ui, ticket, id) {
        card.refused(why);
        card.lay_out(ui.sheet(), ui.glyphs);
        ui.modals.insert(at, Modal::Card(card));
    }
}

/// How the passphrase stands, or what became of a try. A right one has been handed to the run already.
pub(super) fn checked(ui: &mut Ui, ticket: &TicketKey, id: &QuestionId, checked: Checked) {
    let Some((at, mut card)) = take_card(ui, ticket, id) else { return };
    card.checked(checked, ui.now);
    card.lay_out(ui.sheet(), ui.glyphs);
    ui.modals.insert(at, Modal::Card(card));
}

/// What became of a rule: its file, or why it was not saved.
pub(super) fn saved(ui: &mut Ui, ticket: &TicketKey, id: &QuestionId, saved: &Result<String, String>) -> Vec<Ask> {
    if let Some((at, mut card)) = take_card(ui, ticket, id) {
        let ask = card.saved(saved).map(|answer| answered(&mut card, answer));
        card.lay_out(ui.sheet(), ui.glyphs);
        ui.modals.insert(at, Modal::Card(card));
        if ask.is_some() {
            return ask.into_iter().collect();
        }
    }
    let words = match saved {
        Ok(path) => format!("saved in {path}"),
        Err(why) => why.clone(),
    };
    ui.tell(clean_line(&words, 400));
    Vec::new()
}

/// A question about what has come to pass meanwhile closes, and it is said what that is.
pub(super) fn confirm_settled(ui: &mut Ui) {
    let Some(Modal::Confirm(confirm)) = ui.modals.last() else { return };
    let words = confirm.passed(ui);
    drop_stale(ui, words);
}

/// Dialogs of what no longer waits go, with a note.
pub(super) fn drop_stale(ui: &mut Ui, why: &str) {
    let why = clean_line(why, 300);
    let before = ui.modals.len();
    let queue = ui.attention();
    let waits = |ticket: &TicketKey, what: &What| queue.iter().any(|item| item.ticket == *ticket && item.what == *what);
    for mut modal in std::mem::take(&mut ui.modals) {
        let stale = match &modal {
            Modal::Card(card) => ui.approval(&card.ticket, &card.approval.id) != Some(&card.approval),
            Modal::Plan(plan) => !waits(&plan.ticket, &What::Draft),
            Modal::Question(question) => !waits(&question.ticket, &What::Validation),
            Modal::MoreWork(card) => {
                let proposal = ui.tab_of(&card.ticket).and_then(|tab| tab.state.awaits_phases());
                !proposal.is_some_and(|proposal| card.is_about(proposal))
            }
            Modal::Matter(matter) => !waits(&matter.ticket, &matter.what),
            Modal::Confirm(confirm) => confirm.is_stale(ui),
            _ => false,
        };
        let stays = match &mut modal {
            // One that somebody types on stays: their keys go nowhere else.
            Modal::Card(card) if stale => {
                let typed_on = !card.withdrawn(&why);
                card.lay_out(ui.sheet(), ui.glyphs);
                typed_on
            }
            _ => !stale,
        };
        if stays {
            ui.modals.push(modal);
        }
    }
    if ui.modals.len() < before {
        ui.tell(why);
    }
}

#[cfg(test)]
mod tests;

//! News of tickets and runs, folded into tabs, list and log.

use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::approval::{Answered, AnsweredBy, Approval};
use crate::domain::breaker::Circuit;
use crate::domain::news::News;
use crate::domain::outcome::ExitReason;
use crate::domain::record::{OfPhase, Record, Stored};
use crate::domain::words::Weight;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::tab::Tab;
use crate::tui::update::attention;

/// Folds one piece of news in; what the cards that it changes need to know.
pub fn fold(model: &mut Model, news: News) -> Vec<Ask> {
    let mut asks = Vec::new();
    match news {
        News::TicketRead(ticket) => {
            if let Some(tab) = model.tabs.iter_mut().find(|tab| tab.id == ticket.id) {
                tab.ticket = Some(ticket.clone());
                tab.gone = false;
            }
            model.listed.insert(ticket.id.clone(), ticket);
        }
        News::TicketGone(id) => {
            model.listed.remove(&id);
            if let Some(tab) = model.tabs.iter_mut().find(|tab| tab.id == id) {
                tab.gone = true;
                log(model, &id, Weight::Warn, "the ticket's file is gone");
            }
        }
        News::RunOpened { ticket, run, records, scrollback } => {
            let at = tab_for(model, &ticket);
            model.log.forget(&ticket);
            let draft = std::mem::take(&mut model.tabs[at].draft);
            let old = std::mem::replace(&mut model.tabs[at], crate::tui::tab::Tab::new(ticket));
            let tab = &mut model.tabs[at];
            tab.ticket = old.ticket;
            tab.gone = old.gone;
            tab.draft = draft;
            tab.run = Some(run);
            tab.stream.attach(scrollback);
            // What is read again is no news for the person.
            let toast = model.toast.take();
            for stored in records {
                asks.extend(recorded(model, at, &stored));
            }
            model.toast = toast;
        }
        News::Recorded(stored) => {
            let at = model.tabs.iter().position(|tab| tab.run == Some(stored.run));
            if let Some(at) = at {
                let missed = stored.seq.saturating_sub(model.tabs[at].state.seq + 1);
                if missed > 0 {
                    let words = format!("{missed} records did not reach the screen; the journal has them");
                    log(model, &stored.ticket, Weight::Warn, &words);
                }
                asks.extend(recorded(model, at, &stored));
            }
        }
        News::StreamGrew(run) => {
            let now = model.now;
            if let Some(tab) = model.tabs.iter_mut().find(|tab| tab.run == Some(run)) {
                tab.pulse.beat(now);
            }
        }
        // Heard by the card that they are for.
        News::Passphrase { .. } | News::RuleSaved { .. } => {}
        News::StorageAwaited(waiting) => {
            let words = waiting.words(&model.zone);
            log(model, &waiting.ticket, Weight::Error, &words);
            if let Some(tab) = model.tabs.iter_mut().find(|tab| tab.run == Some(waiting.run)) {
                tab.storage = Some(waiting);
            }
        }
        News::RunLeft(left) => {
            let mut message = left.message;
            if let Some(tab) = model.tabs.iter_mut().find(|tab| tab.run == Some(left.run)) {
                if let Some(lost) = tab.unstored_words() {
                    message = format!("{message} · not recorded: {lost}");
                }
                tab.storage = None;
                tab.failure = Some(clean_line(&message, 2_000));
                tab.stream.left();
                attention::drop_stale(model, "the run has ended; nothing was answered");
            }
            log(model, &left.ticket, Weight::Error, &message);
        }
        News::Trouble { ticket, message } => log(model, &ticket, Weight::Error, &message),
        // A name that was typed wrongly: no tab for what is not there.
        News::RunFailed { ticket, message, .. } if is_unknown(model, &ticket) => {
            model.opening = false;
            log(model, &ticket, Weight::Error, &message);
            model.tell(clean_line(&message, 400));
        }
        // The run in front says why, and which key helps; it stays as it is.
        News::RunFailed { ticket, message, exit_code } if is_refused_by_breaker(model, &ticket, exit_code) => {
            model.opening = false;
            log(model, &ticket, Weight::Error, &message);
            model.tell(format!("{ticket} is not started: its circuit breaker is OPEN"));
        }
        News::RunFailed { ticket, message, .. } => {
            let at = tab_for(model, &ticket);
            model.tabs[at].failure = Some(clean_line(&message, 2_000));
            log(model, &ticket, Weight::Error, &message);
        }
    }
    asks
}

fn is_unknown(model: &Model, ticket: &TicketId) -> bool {
    !model.listed.contains_key(ticket) && model.tabs.iter().all(|tab| tab.id != *ticket)
}

fn is_refused_by_breaker(model: &Model, ticket: &TicketId, exit_code: u8) -> bool {
    let opened = |tab: &Tab| tab.state.ended.is_some() && tab.state.breaker.state == Circuit::Open;
    exit_code == ExitReason::CircuitOpen.exit_code()
        && model.tabs.iter().any(|tab| tab.id == *ticket && tab.failure.is_none() && opened(tab))
}

/// The ticket's tab. A new one comes to the front when the person has just asked for one.
fn tab_for(model: &mut Model, ticket: &TicketId) -> usize {
    let known = model.tabs.len();
    let at = model.open_tab(ticket);
    if at == known && model.opening {
        model.opening = false;
        model.show_tab(at);
    }
    at
}

fn recorded(model: &mut Model, at: usize, stored: &Stored) -> Vec<Ask> {
    let asked = match &stored.record {
        Record::ApprovalAnswered(answered) => model.approval(&stored.ticket, &answered.id).cloned(),
        _ => None,
    };
    let tab = &mut model.tabs[at];
    let unstored = match &stored.record {
        Record::PhaseTicked(OfPhase { phase, id: Some(id) }) if tab.ticks(*id) => Some(phase.clone()),
        Record::ApprovalVoid(void) if tab.answers(&void.id) => Some(void.why.clone()),
        Record::RunEnded { reason: ExitReason::StorageFailed, .. } => tab.unstored_words(),
        _ => None,
    };
    if !tab.record(stored) {
        return Vec::new();
    }
    let mut asks = Vec::new();
    match (&stored.record, unstored) {
        (Record::PhaseTicked(_), Some(phase)) => model.tell(format!("ticked “{phase}”")),
        (Record::ApprovalVoid(_), Some(why)) => {
            let words = format!("your answer was not recorded: {why}");
            attention::drop_stale(model, &words);
            log(model, &stored.ticket, Weight::Warn, &words);
        }
        (Record::RunEnded { .. }, Some(lost)) => {
            let words = format!("not recorded: {lost}");
            attention::drop_stale(model, "the run has ended; nothing was answered");
            log(model, &stored.ticket, Weight::Error, &words);
            model.tell(words);
        }
        (record, _) => asks = cards(model, stored, record, asked.as_ref()),
    }
    if let Some(line) = model.tabs[at].teller.line(&stored.record) {
        model.log.push(stored.time, line.level, stored.ticket.clone(), &line.text);
    }
    asks
}

/// What the record means to the cards.
fn cards(model: &mut Model, stored: &Stored, record: &Record, asked: Option<&Approval>) -> Vec<Ask> {
    match record {
        Record::ApprovalAsked(approval) => return attention::asked_again(model, &stored.ticket, approval),
        Record::ApprovalVoid(void) => {
            attention::drop_stale(model, &format!("no answer is needed any more: {}", void.why));
        }
        Record::ApprovalAnswered(Answered { answer, by: AnsweredBy::Screen, .. }) if asked.is_some() => {
            if let Some(asked) = asked {
                attention::recorded(model, asked, answer);
            }
        }
        Record::EditRefused(refused) => attention::refused(model, &stored.ticket, refused),
        Record::ApprovalAnswered(answered) => {
            let why = match answered.by {
                AnsweredBy::Timeout => "nobody answered in time: it was denied",
                AnsweredBy::Ticket => "answered as you did before, for this ticket",
                AnsweredBy::Rules => "the rules were changed, and answered it",
                AnsweredBy::Screen | AnsweredBy::Nobody => "answered already",
            };
            attention::drop_stale(model, why);
        }
        Record::RunEnded { .. } => attention::drop_stale(model, "the run has ended; nothing was answered"),
        _ => {}
    }
    Vec::new()
}

fn log(model: &mut Model, ticket: &TicketId, weight: Weight, text: &str) {
    model.log.push(model.now, weight, ticket.clone(), text);
}

//! News of tickets and runs, folded into tabs, list and log.

use crate::base::id::{RunId, TicketId};
use crate::base::text::clean_line;
use crate::domain::approval::{Answer, Answered, AnsweredBy, Approval};
use crate::domain::breaker::Circuit;
use crate::domain::changes::{Diff, Since};
use crate::domain::command::UserCommand;
use crate::domain::messages::{LogFormatter, Weight};
use crate::domain::news::News;
use crate::domain::outcome::ExitReason;
use crate::domain::passphrase::Checked;
use crate::domain::record::{Record, Stored};
use crate::domain::request::{Refused, Reply, Request};
use crate::domain::ticket::draft::Draft;
use crate::tui::changes;
use crate::tui::modals::Modal;
use crate::tui::modals::draft::{Form, Then};
use crate::tui::modals::open::Open;
use crate::tui::model::starting;
use crate::tui::msg::Ask;
use crate::tui::notifications;
use crate::tui::tab::{Tab, Unstored};
use crate::tui::ui::Ui;
use crate::tui::update::{attention, spending};

/// Folds one piece of news in; what the cards that it changes need to know.
pub fn fold(ui: &mut Ui, news: News) -> Vec<Ask> {
    let mut asks = Vec::new();
    match news {
        News::TicketRead(ticket) => {
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.id == ticket.id) {
                tab.read(ticket.clone());
            }
            ui.listed.insert(ticket.id.clone(), ticket);
        }
        News::RunSeen(run) => ui.see_run(run),
        News::TicketGone(id) => {
            ui.listed.remove(&id);
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.id == id) {
                tab.gone = true;
                log(ui, &id, Weight::Warn, "the ticket's file is gone");
            }
        }
        News::RunOpened { ticket, run, records, ours, .. } => {
            let at = ui.open_tab(&ticket);
            if !ours && ui.tabs[at].run != Some(run) && ui.tabs[at].has_open_run() {
                // Nothing takes the place of a run that this program works on.
                ui.tell(format!("{ticket} is running here; the other run of that name is not shown"));
                return asks;
            }
            if ui.tabs[at].run == Some(run) && ui.tabs[at].has_open_run() {
                // Read again, since records did not get here: those are the news, and what the person has begun stays.
                return records.iter().flat_map(|stored| recorded(ui, at, stored)).collect();
            }
            ui.log.forget(&ticket);
            let draft = std::mem::take(&mut ui.tabs[at].draft);
            let formatter = LogFormatter::of(ui.zone.clone());
            let old = std::mem::replace(&mut ui.tabs[at], Tab::new(ticket));
            let tab = &mut ui.tabs[at];
            tab.ticket = old.ticket;
            tab.gone = old.gone;
            tab.draft = draft;
            (tab.run, tab.ours) = (Some(run), ours);
            tab.formatter = formatter;
            // What happened before is no news for the person, and its questions had other cards.
            let (toast, modals) = (ui.toast.take(), std::mem::take(&mut ui.modals));
            for stored in records {
                asks.extend(recorded(ui, at, &stored));
            }
            // That it is being started is over, too.
            let is_over = |words: &str| *words == starting(&ui.tabs[at].id);
            (ui.toast, ui.modals) = (toast.filter(|(words, _)| !is_over(words)), modals);
            attention::drop_stale(ui, "no answer needed: the run has ended");
        }
        News::Recorded(stored) => {
            let at = ui.tabs.iter().position(|tab| tab.run == Some(stored.run));
            if let Some(at) = at {
                let missed = stored.seq.saturating_sub(ui.tabs[at].state.seq + 1);
                if missed > 0 {
                    let words = format!("records missed by the screen: {missed}; all of them are stored");
                    log(ui, &stored.ticket, Weight::Warn, &words);
                }
                let known = stored.seq <= ui.tabs[at].state.seq;
                asks.extend(recorded(ui, at, &stored));
                if !known && !ui.is_looked_at() {
                    asks.extend(notifications::of(&ui.tabs[at], &stored.record).map(Ask::Notify));
                }
            }
        }
        News::StreamGrew(run) => {
            let now = ui.now;
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.run == Some(run)) {
                tab.pulse.beat(now);
            }
        }
        News::StorageAwaited(waiting) => {
            let words = waiting.words(&ui.zone);
            log(ui, &waiting.ticket, Weight::Error, &words);
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.run == Some(waiting.run)) {
                tab.unstored.awaited = Some(waiting);
            }
        }
        News::RunLeft(left) => {
            let mut message = left.message;
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.run == Some(left.run)) {
                message = [message]
                    .into_iter()
                    .chain(tab.unstored.all_missing(&tab.state, "not recorded"))
                    .collect::<Vec<_>>()
                    .join(" · ");
                tab.unstored = Unstored::default();
                tab.failure = Some(clean_line(&message, 2_000));
                tab.stream.left();
                attention::drop_stale(ui, "the run has ended; your answer was not sent");
            }
            log(ui, &left.ticket, Weight::Error, &message);
        }
        News::Trouble { ticket, message } => log(ui, &ticket, Weight::Error, &message),
    }
    asks
}

/// What came of a request.
pub fn replied(ui: &mut Ui, reply: Reply) -> Vec<Ask> {
    match reply {
        // What only a command line asks.
        Reply::Done | Reply::BoxSet(_) | Reply::Reset { .. } => {}
        Reply::Changes(run, since, told) => ui.changes.tell(run, since, told),
        Reply::Diff(run, since, path, told) => diff_told(ui, run, &since, &path, told),
        Reply::Opened { asked, ticket } => {
            let at = ui.tabs.iter().position(|tab| tab.id == ticket);
            if let Some(at) = at.filter(|_| ui.was_opening(&asked)) {
                ui.show_tab(at);
            }
        }
        Reply::Decided { ticket, command } => {
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.id == ticket) {
                tab.unstored.decided(&command);
            }
            // What answers a call as it is closes its question, or is barred.
            if let UserCommand::AnswerApproval { id, answer: Answer::Allow { input, .. } } = &command
                && ui.approval(&ticket, id).is_some_and(|asked| asked.input == *input)
            {
                attention::refused(ui, &ticket, id, "Your answer was not applied; the log says why.");
            }
        }
        Reply::Checks(commands) => {
            if let Some(form) = form(ui) {
                form.usual(commands);
            }
        }
        Reply::Created(Ok(ticket)) => return created(ui, ticket),
        Reply::Created(Err(why)) => {
            if let Some(form) = form(ui) {
                form.refused(why);
            }
        }
        Reply::Refused(why) => refused(ui, why),
        Reply::Passphrase { ticket, id, checked } => attention::checked(ui, &ticket, &id, checked),
        Reply::RuleSaved { ticket, id, saved } => return attention::saved(ui, &ticket, &id, &saved),
    }
    Vec::new()
}

fn diff_told(ui: &mut Ui, run: RunId, since: &Since, path: &str, told: Result<Diff, String>) {
    if let Some(Modal::Diff(diff)) = ui.modals.iter_mut().find(|modal| matches!(modal, Modal::Diff(_))) {
        diff.tell(run, since, path, told);
    }
}

fn form(ui: &mut Ui) -> Option<&mut Form> {
    ui.modals.iter_mut().find_map(|modal| match modal {
        Modal::Draft(form) => Some(&mut **form),
        _ => None,
    })
}

/// A new ticket is written: its form goes, and what the person wanted with it follows.
fn created(ui: &mut Ui, ticket: TicketId) -> Vec<Ask> {
    let then = form(ui).and_then(|form| form.sent);
    ui.modals.retain(|modal| !matches!(modal, Modal::Draft(_)));
    ui.home.draft = Draft::default();
    (ui.home.cursor, ui.home.is_chosen) = (Some(ticket.clone()), true);
    ui.tell(format!("created {ticket}"));
    match then {
        Some(Then::Start) => spending::ask_to_start(ui, vec![Ask::Request(Request::Start(ticket))]),
        Some(Then::Edit) => vec![Ask::Edit(ticket)],
        Some(Then::Nothing) | None => Vec::new(),
    }
}

/// The service has too much to do, or is gone: what was asked is not done.
pub fn not_asked(ui: &mut Ui, request: Request) -> Vec<Ask> {
    let why = "not sent: programmator is busy; try again in a moment";
    ui.tell(why);
    match request {
        Request::Command(ticket, command) => {
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.id == ticket) {
                tab.unstored.decided(&command);
            }
            if let UserCommand::AnswerApproval { id, .. } | UserCommand::EditCall { id, .. } = &command {
                attention::refused(ui, &ticket, id, "Your answer was not sent; try again in a moment.");
            }
        }
        Request::LookUpPassphrase { ticket, id } | Request::TryPassphrase { ticket, id, .. } => {
            attention::checked(ui, &ticket, &id, Checked::Failed(why.to_owned()));
        }
        Request::Changes(run, since) => ui.changes.not_asked(run, since, why),
        Request::Diff(run, since, path) => diff_told(ui, run, &since, &path, Err(why.to_owned())),
        Request::Create(_) => {
            if let Some(form) = form(ui) {
                form.refused(why.to_owned());
            }
        }
        Request::SaveRule { ticket, id, .. } => return attention::saved(ui, &ticket, &id, &Err(why.to_owned())),
        _ => {}
    }
    Vec::new()
}

/// Exit code for a ticket that another program works on.
const HELD: u8 = 75;

fn refused(ui: &mut Ui, why: Refused) {
    let Refused { ticket, message, exit_code, asked } = why;
    let asked = asked.filter(|asked| ui.was_opening(asked));
    log(ui, &ticket, Weight::Error, &message);
    if exit_code == 0 || exit_code == HELD && ui.is_home() {
        // Too late for what was wanted: nothing failed, and the run stands as it has ended.
        ui.tell(clean_line(&message, 400));
    } else if !ui.listed.contains_key(&ticket) && ui.tab_of(&ticket).is_none() {
        // A name that was typed wrongly: no tab for what is not there, and the name can be corrected.
        let trouble = clean_line(&message, 400);
        ui.tell(trouble.clone());
        if let Some(query) = asked.filter(|_| ui.modals.is_empty()) {
            ui.modals.push(Modal::Open(Open { query, trouble, ..Open::default() }));
        }
    } else if is_refused_by_breaker(ui, &ticket, exit_code) {
        // The run in front says why, and which key helps; it stays as it is.
        let at = ui.tabs.iter().position(|tab| tab.id == ticket);
        at.filter(|_| asked.is_some()).into_iter().for_each(|at| ui.show_tab(at));
        ui.tell(format!("{ticket} is not started: its circuit breaker is OPEN"));
    } else {
        let at = ui.open_tab(&ticket);
        if asked.is_some() {
            ui.show_tab(at);
        }
        ui.tabs[at].failure = Some(clean_line(&message, 2_000));
    }
}

fn is_refused_by_breaker(ui: &Ui, ticket: &TicketId, exit_code: u8) -> bool {
    let opened =
        |tab: &Tab| tab.failure.is_none() && tab.state.ended.is_some() && tab.state.breaker.state == Circuit::Open;
    exit_code == ExitReason::CircuitOpen.exit_code() && ui.tab_of(ticket).is_some_and(opened)
}

fn recorded(ui: &mut Ui, at: usize, stored: &Stored) -> Vec<Ask> {
    let asked = match &stored.record {
        Record::ApprovalAnswered(answered) => ui.approval(&stored.ticket, &answered.id).cloned(),
        _ => None,
    };
    let in_front = ui.tab().is_some_and(|tab| tab.run == Some(stored.run));
    let model = &mut ui.model;
    let tab = &mut model.tabs[at];
    if in_front {
        changes::recorded(&mut model.changes, tab, &stored.record);
    }
    let became = tab.unstored.became(&tab.state, &stored.record);
    if !tab.record(stored) {
        return Vec::new();
    }
    let asks = cards(ui, stored, asked.as_ref());
    if let Some((weight, words)) = became {
        if weight > Weight::Info {
            log(ui, &stored.ticket, weight, &words);
        }
        ui.tell(words);
    }
    if let Some(line) = ui.tabs[at].formatter.line(&stored.record) {
        ui.log.push(stored.time, line.level, stored.ticket.clone(), &line.text);
    }
    asks
}

/// What the record means to the cards.
fn cards(ui: &mut Ui, stored: &Stored, asked: Option<&Approval>) -> Vec<Ask> {
    match (&stored.record, asked) {
        (Record::ApprovalAsked(approval), _) => return attention::asked_again(ui, &stored.ticket, approval),
        (Record::ApprovalVoid(void), _) => {
            attention::drop_stale(ui, &format!("no answer needed: {}", void.why));
        }
        (Record::ApprovalAnswered(Answered { answer, by: AnsweredBy::Person(by), .. }), Some(asked))
            if by.is_screen() =>
        {
            attention::recorded(ui, asked, answer);
        }
        (Record::EditRefused(refused), _) => {
            attention::refused(ui, &stored.ticket, &refused.id, &format!("Edit rejected: {}", refused.why));
        }
        (Record::ApprovalAnswered(answered), _) => {
            let why = match &answered.by {
                AnsweredBy::Timeout => "denied: nobody answered in time".to_owned(),
                AnsweredBy::Ticket => "answered by your approval for this run".to_owned(),
                AnsweredBy::Rules => "decided by the changed rules".to_owned(),
                AnsweredBy::Person(by) => format!("answered by {by}"),
                AnsweredBy::Nobody => "already answered".to_owned(),
            };
            attention::drop_stale(ui, &why);
        }
        (Record::RunEnded { .. }, _) => attention::drop_stale(ui, "the run has ended; your answer was not sent"),
        _ if matches!(ui.modals.last(), Some(Modal::Confirm(_))) => {
            attention::drop_stale(ui, "nothing is left to confirm: it is so already");
        }
        _ => {}
    }
    Vec::new()
}

fn log(ui: &mut Ui, ticket: &TicketId, weight: Weight, text: &str) {
    let now = ui.now;
    ui.log.push(now, weight, ticket.clone(), text);
}

//! News of tickets and runs, folded into tabs, list and log.

use crate::base::text::clean_line;
use crate::domain::approval::{Answered, AnsweredBy, Approval};
use crate::domain::breaker::Circuit;
use crate::domain::messages::{LogFormatter, Weight, decided_words};
use crate::domain::news::News;
use crate::domain::notification::Notification;
use crate::domain::outcome::ExitReason;
use crate::domain::passphrase::Checked;
use crate::domain::record::{Record, Stored};
use crate::domain::request::{HELD, Refused, Reply, Request};
use crate::domain::summary::Owner;
use crate::domain::ticket::TicketKey;
use crate::tui::changes;
use crate::tui::home::Place;
use crate::tui::modals::Modal;
use crate::tui::modals::listing::Listed;
use crate::tui::modals::open::Open;
use crate::tui::model::Mode;
use crate::tui::model::opening::starting;
use crate::tui::msg::Ask;
use crate::tui::notifications;
use crate::tui::tab::{Tab, Unstored};
use crate::tui::ui::Ui;
use crate::tui::update::{
    attention, chat, commits, created, decided, find, importing, listing, machines, own, phases, spending, told,
};
use std::sync::Arc;

/// Folds one piece of news in; what the cards that it changes need to know.
pub fn fold(ui: &mut Ui, news: News) -> Vec<Ask> {
    let mut asks = Vec::new();
    match news {
        News::TicketRead(id, ticket) => {
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.id == id) {
                tab.read(ticket.clone());
            }
            ui.listed.insert(id, ticket);
        }
        News::RunSeen(run) => return ui.see_run(run),
        News::OwnSeen(own) => own::seen(ui, own),
        News::ArchivedSeen(archived) => ui.home.archived = archived,
        News::UnreadSeen(unread) => ui.home.unread = unread,
        News::BranchSeen(branch) => spending::branch_seen(ui, branch),
        News::SpentToday(spent) => ui.spent = Some(spent),
        News::TicketGone(id) => {
            ui.listed.remove(&id);
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.id == id) {
                tab.gone = true;
                log(ui, &id, Weight::Warn, "the ticket's file is gone");
            }
        }
        News::RunOpened { ticket, run, earlier, records, owner } => {
            ui.reopened.take_if(|reopened| *reopened == ticket);
            let at = ui.open_tab(&ticket);
            let old = &ui.tabs[at];
            if owner != Owner::Here && old.has_open_run() {
                // Nothing takes the place of a run that this program works on, nor does what was asked for before it did.
                if old.run != Some(run) {
                    ui.tell(format!("{ticket} is running here; its other run is not shown"));
                }
                return asks;
            }
            let goes_on = old.failure.is_none() && old.state.ended.is_none();
            if old.run == Some(run) && old.owner == owner && goes_on {
                // Read again, since records did not get here: those are the news, and what the person has begun stays.
                return news_of(ui, at, &records);
            }
            ui.log.forget(&ticket);
            ui.home.marked.remove(&ticket);
            let formatter = LogFormatter::of(ui.zone.clone());
            let old = std::mem::replace(&mut ui.tabs[at], Tab::new(ticket));
            let tab = &mut ui.tabs[at];
            tab.ticket = old.ticket;
            tab.gone = old.gone;
            tab.see_own(old.own.as_ref());
            (tab.run, tab.owner) = (Some(run), owner);
            tab.formatter = formatter;
            // What happened before is no news for the person, and its questions had other cards.
            let (toast, modals) = (ui.toast.take(), std::mem::take(&mut ui.modals));
            let (old, new) = records.split_at(records.partition_point(|stored| stored.seq <= earlier));
            for stored in old {
                asks.extend(recorded(ui, at, stored));
            }
            asks.extend(news_of(ui, at, new));
            ui.log.sort();
            // An end among them is not its last one where it goes on.
            if ui.tabs[at].state.ended.is_none() {
                ui.tabs[at].owner = owner;
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
                    let id = ui.tabs[at].id.clone();
                    log(ui, &id, Weight::Warn, &words);
                }
                asks.extend(news_of(ui, at, &[stored]));
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
            if let Some(at) = ui.tabs.iter().position(|tab| tab.run == Some(waiting.run)) {
                let id = ui.tabs[at].id.clone();
                log(ui, &id, Weight::Error, &words);
                asks.extend(notify(ui, Some(notifications::storage_awaited(&ui.tabs[at], &waiting))));
                ui.tabs[at].unstored.awaited = Some(waiting);
            }
        }
        News::RunLeft(left) => {
            if let Some(at) = ui.tabs.iter().position(|tab| tab.run == Some(left.run)) {
                let tab = &mut ui.tabs[at];
                let message = [left.message]
                    .into_iter()
                    .chain(tab.unstored.all_missing(&tab.state, "not recorded"))
                    .collect::<Vec<_>>()
                    .join(" · ");
                tab.unstored = Unstored::default();
                tab.failure = Some(clean_line(&message, 2_000));
                tab.stream.left();
                let id = tab.id.clone();
                attention::drop_stale(ui, "the run has ended; your answer was not sent");
                log(ui, &id, Weight::Error, &message);
                asks.extend(notify(ui, notifications::failed(&ui.tabs[at])));
            }
        }
        News::Queued(ticket, why) => queued(ui, &ticket, why),
        News::NotStarted(why) => asks.extend(refused(ui, why)),
        News::Trouble { ticket, message } => log(ui, &ticket, Weight::Error, &message),
        News::SourceReplied { ticket, message } => log(ui, &ticket, Weight::Info, &message),
    }
    asks
}

/// What came of a request.
pub fn replied(ui: &mut Ui, reply: Reply) -> Vec<Ask> {
    match reply {
        // What only a command line asks.
        Reply::Done | Reply::Wheel(_) | Reply::Reset { .. } => {}
        Reply::BoxSet(outcome) => phases::box_set(ui, outcome),
        Reply::PhasesEdited(ticket, outcome, revised) => phases::edited(ui, &ticket, outcome, revised.as_deref()),
        Reply::Listed(folder) => {
            ui.listed.has_all_of(folder);
            if ui.home.place == Place::Reading {
                ui.home.place = Place::Listed;
            }
            return listing::troubles(ui);
        }
        Reply::Diagnosed(troubles) => ui.home.place = Place::Checked(troubles),
        Reply::Changes(run, since, told) => told::changes(ui, (run, since), told),
        Reply::Diff(run, since, path, told) => told::diff(ui, run, &since, &path, told),
        Reply::Timeline(run, moments) => return told::timeline(ui, run, moments),
        Reply::RestorePlanned(run, wanted, plan) => told::restore_planned(ui, run, wanted, plan),
        Reply::Restored(run, restored) => return told::restored(ui, run, restored),
        Reply::Forked(run, forked) => return told::forked(ui, run, forked),
        Reply::Reverted(path, reverted) => return commits::reverted(ui, &path, reverted),
        Reply::Opened { asked, ticket } => {
            let at = ui.tabs.iter().position(|tab| tab.id == ticket);
            if let Some(at) = at.filter(|_| ui.was_opening(&asked)) {
                ui.show_tab(at);
                chat::opened(ui, &asked);
            }
        }
        Reply::Decided { ticket, command } => decided::told(ui, &ticket, &command),
        Reply::NotDecided { ticket, command, why } => {
            let why = clean_line(&why, 400);
            log(ui, &ticket, Weight::Error, &why);
            ui.tell(why.clone());
            decided::not_decided(ui, &ticket, &command, &format!("Not confirmed: {why}"));
        }
        Reply::Suggested { checks, templates } => {
            if let Some(form) = created::form(ui) {
                form.suggested(checks, templates);
            }
        }
        Reply::CommitPlanned(run, plan) => commits::planned(ui, run, plan),
        Reply::GitInitialised(made) => spending::git_made(ui, made),
        Reply::Exported(run, written) => told::exported(ui, run, written),
        Reply::Import(told) => return importing::told(ui, told),
        Reply::Machines(told) => machines::told(ui, told),
        Reply::Stats(lines) => listing::told(ui, Listed::Stats, lines),
        Reply::Report(lines) => listing::told(ui, Listed::Report, lines),
        Reply::Found(asked, batch) => return find::told(ui, &asked, batch),
        Reply::Committed(run, made) => return commits::made(ui, run, made),
        Reply::Reopened(ticket) => {
            ui.reopened = Some(ticket.clone());
            return vec![Ask::Request(Request::Start(ticket))];
        }
        Reply::Created(Ok(ticket)) => return created::follow(ui, ticket),
        Reply::Created(Err(why)) => {
            if let Some(form) = created::form(ui) {
                form.refused(why);
            }
        }
        Reply::Refused(why) => return refused(ui, why).into_iter().collect(),
        Reply::Passphrase { ticket, id, checked } => attention::checked(ui, &ticket, &id, checked),
        Reply::RuleSaved { ticket, id, saved } => return attention::saved(ui, &ticket, &id, &saved),
    }
    Vec::new()
}

/// The service has too much to do, or is gone: what was asked is not done.
pub fn not_asked(ui: &mut Ui, request: Request) -> Vec<Ask> {
    let why = match (&ui.host, &request) {
        (Some(host), Request::LookUpPassphrase { .. } | Request::TryPassphrase { .. }) => {
            format!("answer it on {host}: a passphrase is never sent to another machine")
        }
        (Some(host), request) if !matches!(request, Request::Command(..)) => {
            format!("not available here: do it on {host}")
        }
        _ => "not sent: programmator is busy; try again in a moment".to_owned(),
    };
    let why = why.as_str();
    ui.tell(why);
    match request {
        Request::Command(ticket, command) => {
            decided::not_decided(ui, &ticket, &command, "Your answer was not sent; try again in a moment.");
        }
        Request::LookUpPassphrase { ticket, id } | Request::TryPassphrase { ticket, id, .. } => {
            attention::checked(ui, &ticket, &id, Checked::Failed(why.to_owned()));
        }
        Request::Changes(run, since) => told::no_changes(ui, (run, since), why),
        Request::EditPhases(..) | Request::SetBox(..) => phases::not_asked(ui, why),
        Request::Diff(run, since, path) => told::diff(ui, run, &since, &path, Err(why.to_owned())),
        Request::Timeline(run) => return told::timeline(ui, run, Err(why.to_owned())),
        Request::PlanRestore(run, wanted) => told::restore_planned(ui, run, wanted, Err(why.to_owned())),
        Request::Fork(run, ..) => return told::forked(ui, run, Err(why.to_owned())),
        Request::Restore(run, ..) => return told::restored(ui, run, Err(why.to_owned())),
        Request::Revert(_, _, path, _) => return commits::reverted(ui, &path, Err(why.to_owned())),
        Request::Create(_) => created::form(ui).into_iter().for_each(|form| form.refused(why.to_owned())),
        Request::PlanCommit(run) => {
            if let Some(dialog) = commits::dialog(ui, run) {
                dialog.planned(Err(why.to_owned()));
            }
        }
        Request::Import(asked) => return importing::not_asked(ui, asked, why),
        Request::Machines => machines::told(ui, Err(why.to_owned())),
        Request::Stats => listing::told(ui, Listed::Stats, Err(why.to_owned())),
        Request::Report(_) => listing::told(ui, Listed::Report, Err(why.to_owned())),
        Request::Find(asked) => return find::told(ui, &asked, Err(why.to_owned())),
        Request::Export(wanted) => told::exported(ui, wanted.run, Err(why.to_owned())),
        Request::Commit(run, _) => return commits::made(ui, run, Err(why.to_owned())),
        Request::SaveRule { ticket, id, .. } => return attention::saved(ui, &ticket, &id, &Err(why.to_owned())),
        _ => {}
    }
    Vec::new()
}

fn queued(ui: &mut Ui, ticket: &TicketKey, why: Option<String>) {
    let Some(why) = why else { return drop(ui.queued.remove(ticket)) };
    log(ui, ticket, Weight::Info, &format!("queued: {why}"));
    ui.home.marked.remove(ticket);
    if ui.queued.insert(ticket.clone(), why.clone()).is_none() {
        ui.tell(format!("{ticket} waits: {why}"));
    }
}

fn refused(ui: &mut Ui, why: Refused) -> Option<Ask> {
    let Refused { ticket, mut message, exit_code, asked } = why;
    if ui.reopened.take_if(|reopened| *reopened == ticket).is_some() {
        message.push_str("  · its boxes are unticked: reopened");
    }
    let asked = asked.filter(|asked| ui.was_opening(asked));
    log(ui, &ticket, Weight::Error, &message);
    ui.tabs.iter_mut().filter(|tab| tab.id == ticket).for_each(|tab| tab.undoing = None);
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
        ui.tell(format!("{ticket} is not started: its circuit breaker is open"));
    } else {
        let at = ui.open_tab(&ticket);
        if asked.is_some() {
            ui.show_tab(at);
        }
        ui.tabs[at].failure = Some(clean_line(&message, 2_000));
        return notify(ui, notifications::failed(&ui.tabs[at]));
    }
    None
}

fn is_refused_by_breaker(ui: &Ui, ticket: &TicketKey, exit_code: u8) -> bool {
    let opened =
        |tab: &Tab| tab.failure.is_none() && tab.state.ended.is_some() && tab.state.breaker.state == Circuit::Open;
    exit_code == ExitReason::CircuitOpen.exit_code() && ui.tab_of(ticket).is_some_and(opened)
}

/// Records that have come: where the person does not look, they hear of what is so after the last of them.
fn news_of(ui: &mut Ui, at: usize, records: &[Arc<Stored>]) -> Vec<Ask> {
    let known = ui.tabs[at].state.seq;
    let mut asks: Vec<Ask> = records.iter().flat_map(|stored| recorded(ui, at, stored)).collect();
    for stored in records.iter().filter(|stored| stored.seq > known) {
        let told = notify(ui, notifications::of(ui, &ui.tabs[at], &stored.record));
        asks.extend(told.filter(|told| !asks.contains(told)));
    }
    asks
}

fn notify(ui: &Ui, what: Option<Notification>) -> Option<Ask> {
    what.filter(|_| ui.mode == Mode::Live && !ui.is_looked_at()).map(Ask::Notify)
}

fn recorded(ui: &mut Ui, at: usize, stored: &Stored) -> Vec<Ask> {
    let id = ui.tabs[at].id.clone();
    let asked = match &stored.record {
        Record::ApprovalAnswered(answered) => ui.approval(&id, &answered.id).cloned(),
        _ => None,
    };
    let in_front = ui.tab().is_some_and(|tab| tab.run == Some(stored.run));
    let model = &mut ui.model;
    let tab = &mut model.tabs[at];
    if in_front {
        changes::recorded(&mut model.changes, tab, &stored.record);
    }
    let undone = tab.undoing.take_if(|step| step.is_undone_by(&stored.record)).map(|step| (Weight::Info, step.words()));
    let became = tab.unstored.became(&tab.state, &stored.record).or(undone);
    if !tab.record(stored) {
        return Vec::new();
    }
    let mut asks = cards(ui, &id, &stored.record, asked.as_ref());
    asks.extend(told::recorded(ui, &id, &stored.record));
    if let Some((weight, words)) = became {
        if weight > Weight::Info {
            log(ui, &id, weight, &words);
        }
        ui.tell(words);
    }
    let iteration = ui.log.hear(&id, &stored.record);
    if let Some(line) = ui.tabs[at].formatter.line(&stored.record) {
        ui.log.push(stored.time, line.level, id, iteration, &line.text);
    }
    asks
}

/// What the record means to the cards.
fn cards(ui: &mut Ui, ticket: &TicketKey, record: &Record, asked: Option<&Approval>) -> Vec<Ask> {
    match (record, asked) {
        (Record::ApprovalAsked(approval), _) => return attention::asked_again(ui, ticket, approval),
        (Record::ApprovalVoid(void), _) => {
            attention::drop_stale(ui, &format!("no answer needed: {}", void.why));
        }
        (Record::ApprovalAnswered(Answered { answer, by: AnsweredBy::Person(by), .. }), Some(asked))
            if by.is_screen() =>
        {
            attention::recorded(ui, asked, answer);
        }
        (Record::EditRefused(refused), _) => {
            attention::refused(ui, ticket, &refused.id, &format!("Edit rejected: {}", refused.why));
        }
        (Record::ApprovalAnswered(answered), _) => {
            attention::drop_stale(ui, &decided_words(answered));
        }
        (Record::NoteNotSent { id }, _) => chat::not_sent(ui, ticket, id),
        (Record::AnswerTooLate(late), _) if matches!(&late.by, AnsweredBy::Person(by) if by.is_screen()) => {
            ui.tell("your answer came too late: another one was first");
        }
        (Record::DraftNotWritten { why }, _) => ui.tell(format!("the draft was not written: {}", clean_line(why, 300))),
        (Record::ValidationChangeAnswered(_), _) => {
            attention::drop_stale(ui, "the changed validation commands are already decided");
        }
        (Record::DraftAnswered(_), _) => attention::drop_stale(ui, "the draft is already decided"),
        (Record::RunEnded { reason: ExitReason::Planned, .. }, _) => {
            attention::drop_stale(ui, "draft saved");
            told::planned(ui, ticket);
        }
        (Record::RunEnded { .. }, _) => attention::drop_stale(ui, "the run has ended; your answer was not sent"),
        _ => attention::confirm_settled(ui),
    }
    Vec::new()
}

fn log(ui: &mut Ui, ticket: &TicketKey, weight: Weight, text: &str) {
    let (now, iteration) = (ui.now, ui.log.under_way(ticket));
    ui.log.push(now, weight, ticket.clone(), iteration, text);
}

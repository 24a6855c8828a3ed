//! What happens to the model, message by message. Pure: answers with what the edge should do.
//!
//! News of runs is folded in `update::news`; what keys mean stands in `tui::command`.

mod attention;
mod dialogs;
mod news;

use crate::domain::command::UserCommand;
use crate::domain::news::News;
use crate::orchestrator::state::{Pace, PhaseState, Stage};
use crate::tui::command::{self, Command, Scope};
use crate::tui::layout;
use crate::tui::modals::Modal;
use crate::tui::modals::confirm::Confirm;
use crate::tui::modals::explain::Explain;
use crate::tui::modals::help::Help;
use crate::tui::modals::open::Open;
use crate::tui::modals::prompt::{Prompt, Purpose};
use crate::tui::modals::queue::Queue;
use crate::tui::modals::steer::Steer;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input, Key, Msg};
use crate::tui::panes::Pane;
use crate::tui::panes::log::{self, LogMsg};
use crate::tui::panes::stream::StreamMsg;
use crate::tui::panes::tickets::{self, Thing, TicketsMsg};
use crate::tui::tab::Standing;
use zeroize::Zeroize as _;

/// Folds a message into the model; what the edge should do now, in order.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Ask> {
    let asks = take(model, msg);
    for ask in &asks {
        if let Ask::Command(ticket, command) = ask
            && let Some(tab) = model.tabs.iter_mut().find(|tab| tab.id == *ticket)
        {
            tab.handed(command);
        }
    }
    asks
}

fn take(model: &mut Model, msg: Msg) -> Vec<Ask> {
    match msg {
        Msg::Key(input) => {
            model.dirty = true;
            model.toast = None;
            key(model, input)
        }
        Msg::Paste(mut text) => {
            model.dirty = true;
            dialogs::pasted(model, &text);
            // It may have been the passphrase.
            text.zeroize();
            Vec::new()
        }
        Msg::Resize(width, height) => {
            model.size = (width, height);
            model.dirty = true;
            Vec::new()
        }
        Msg::News(News::Passphrase { ticket, id, checked }) => {
            model.dirty = true;
            attention::checked(model, &ticket, &id, checked);
            Vec::new()
        }
        Msg::News(News::RuleSaved { ticket, id, saved }) => {
            model.dirty = true;
            attention::saved(model, &ticket, &id, &saved)
        }
        Msg::News(news) => {
            model.dirty = true;
            let mut asks = news::fold(model, news);
            asks.extend(leave_if_quiet(model));
            asks
        }
        Msg::Tick(now) => {
            tick(model, now);
            Vec::new()
        }
        Msg::FocusGained => {
            model.dirty = true;
            Vec::new()
        }
        Msg::Told(words) => {
            model.dirty = true;
            model.tell(crate::base::text::clean_line(&words, 400));
            Vec::new()
        }
    }
}

fn tick(model: &mut Model, now: crate::base::time::Timestamp) {
    let due = model.wake_at().is_some_and(|at| at <= now);
    model.now = now;
    if due {
        model.dirty = true;
    }
    if model.toast.as_ref().is_some_and(|(_, until)| *until <= now) {
        model.toast = None;
    }
}

/// The person asked to leave, and nothing runs any more.
fn leave_if_quiet(model: &Model) -> Vec<Ask> {
    if model.quitting.is_some() && !model.anything_active() { vec![Ask::Leave] } else { Vec::new() }
}

fn key(model: &mut Model, input: Input) -> Vec<Ask> {
    if !model.modals.is_empty() {
        return dialogs::key(model, input);
    }
    let row = command::find(model.focus.into(), &input).or_else(|| command::find(Scope::Global, &input));
    match row {
        Some(row) if (row.enabled)(model) => {
            let asks = run(model, row.command, &input);
            // Whoever lets a run go on wants to stay.
            let goes_on = |ask: &Ask| matches!(ask, Ask::Start(_) | Ask::Command(_, UserCommand::Resume));
            if asks.iter().any(goes_on) {
                model.quitting = None;
            }
            asks
        }
        Some(row) if row.command == Command::NextWaiting => {
            model.tell("nothing waits for you");
            Vec::new()
        }
        Some(row) if row.command == Command::Tick => {
            model.tell(why_not_ticked(model));
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Why `d` ticks nothing where the cursor stands.
fn why_not_ticked(model: &Model) -> String {
    let (Some(Thing::Ticket(id) | Thing::Phase(id, _)), on_phase) =
        (model.under_cursor(), matches!(model.under_cursor(), Some(Thing::Phase(..))))
    else {
        return "no phase selected".to_owned();
    };
    match model.tabs.iter().position(|tab| tab.id == id && tab.run.is_some()) {
        None => format!("{id} has no run yet; use `programmator ticket tick {id} PHASE`"),
        Some(_) if !on_phase => "select a phase first".to_owned(),
        Some(at) if at != model.active => format!("switch to {id} first (tab {})", at + 1),
        Some(_) => "already ticked".to_owned(),
    }
}

/// Lines inside a pane, now.
fn inner_height(model: &Model, pane: Pane) -> usize {
    let place = layout::solve(model.size, model).of(pane);
    place.map_or(0, |place| usize::from(place.height.saturating_sub(2)))
}

fn run(model: &mut Model, command: Command, input: &Input) -> Vec<Ask> {
    match command {
        Command::Pause => return pace(model),
        Command::PauseNow => return to_run(model, UserCommand::PauseNow),
        Command::Retry if model.is_parked() => {
            model.tell("asked to try now");
            return to_run(model, UserCommand::RetryNow);
        }
        Command::Retry => {
            if let Some(PhaseState { id: phase, text, .. }) = model.retryable().cloned() {
                model.tell(format!("asked to work on “{text}” again"));
                return to_run(model, UserCommand::RetryPhase { phase });
            }
        }
        Command::Skip => ask_to_skip(model),
        Command::Tick => {
            // Told when it is recorded.
            if let Some(phase) = model.tickable().map(|phase| phase.id) {
                return to_run(model, UserCommand::TickPhase { phase });
            }
        }
        Command::Stop => ask_to_stop(model),
        Command::ResetBreaker => ask_to_reset_breaker(model),
        Command::Steer => {
            if let Some(tab) = model.tab() {
                let steer = Steer::new(tab);
                model.modals.push(Modal::Steer(steer));
            }
        }
        Command::NextWaiting => return attention::next(model),
        Command::Queue => model.modals.push(Modal::Queue(Queue::default())),
        Command::Edit => {
            return model.tab().map(|tab| Ask::Edit(tab.id.clone())).into_iter().collect();
        }
        Command::OpenTicket => model.modals.push(Modal::Open(Open::default())),
        Command::FocusNext => model.focus = model.next_focus(1),
        Command::FocusPrevious => model.focus = model.next_focus(Pane::ALL.len() - 1),
        Command::GoToTab => {
            if let Key::Char(digit) = input.key
                && let Some(n) = digit.to_digit(10)
            {
                model.show_tab((n as usize).wrapping_sub(1));
            }
        }
        Command::TabNext => model.show_tab((model.active + 1) % model.tabs.len().max(1)),
        Command::TabPrevious => {
            let tabs = model.tabs.len().max(1);
            model.show_tab((model.active + tabs - 1) % tabs);
        }
        Command::Help => model.modals.push(Modal::Help(Help::default())),
        Command::Quit => {
            if !model.anything_active() {
                return vec![Ask::Leave];
            }
            model.modals.push(Modal::Quit);
        }
        Command::Suspend => return vec![Ask::Suspend],
        Command::Redraw => return vec![Ask::Redraw],
        Command::Choose => return choose(model),
        Command::Fold => in_tickets(model, TicketsMsg::Fold),
        Command::Copy => {
            return model.line_under_cursor().map(Ask::Copy).into_iter().collect();
        }
        Command::Search => prompt(model, Purpose::Search, String::new()),
        Command::SearchNext => to_stream(model, StreamMsg::NextHit),
        Command::SearchPrevious => to_stream(model, StreamMsg::PrevHit),
        Command::ClearSearch => to_stream(model, StreamMsg::ClearSearch),
        Command::Details => to_stream(model, StreamMsg::ToggleFold),
        Command::LogLevel => in_log(model, LogMsg::Level),
        Command::LogTicket => in_log(model, LogMsg::Ticket),
        Command::LogFilter => {
            let words = model.log.words.clone();
            prompt(model, Purpose::LogFilter, words);
        }
        Command::Explain => model.modals.push(Modal::Explain(Explain::default())),
        Command::Down => scroll(model, Move::Lines(1)),
        Command::Up => scroll(model, Move::Lines(-1)),
        Command::PageDown => scroll(model, Move::Pages(1)),
        Command::PageUp => scroll(model, Move::Pages(-1)),
        Command::Top => scroll(model, Move::Top),
        Command::End => scroll(model, Move::End),
        // The rest belongs to dialogs.
        _ => {}
    }
    Vec::new()
}

/// `p`: start, pause, take the pause back, go on; by what is so now.
fn pace(model: &mut Model) -> Vec<Ask> {
    let Some(tab) = model.tab() else {
        return Vec::new();
    };
    let id = tab.id.clone();
    if !tab.has_open_run() {
        if tab.standing() == Standing::NotStarted && tab.ticket.as_ref().is_some_and(|t| t.is_broken()) {
            model.tell(format!("{id} cannot be read; e edits it"));
            return Vec::new();
        }
        if let Some(tab) = model.tab_mut() {
            tab.failure = None;
        }
        model.tell(format!("starting {id} …"));
        return vec![Ask::Start(id)];
    }
    let command = if tab.state.stage == Stage::Paused || tab.state.pace != Pace::Run {
        UserCommand::Resume
    } else {
        UserCommand::Pause
    };
    vec![Ask::Command(id, command)]
}

fn to_run(model: &Model, command: UserCommand) -> Vec<Ask> {
    model.tab().map(|tab| Ask::Command(tab.id.clone(), command)).into_iter().collect()
}

fn ask_to_skip(model: &mut Model) {
    let (Some(tab), Some(phase)) = (model.tab(), model.skippable()) else {
        return;
    };
    let running = tab.is_active() && tab.current_phase().is_some_and(|now| now.id == phase.id);
    let price = if running { " The running iteration is cut off; changes in the tree stay." } else { "" };
    let confirm = Confirm {
        title: "Skip a phase",
        words: format!("Leave “{}” undone and go on with the next?{price}", phase.text),
        ask: Ask::Command(tab.id.clone(), UserCommand::SkipPhase { phase: phase.id }),
    };
    model.modals.push(Modal::Confirm(confirm));
}

fn ask_to_stop(model: &mut Model) {
    let Some(tab) = model.tab() else { return };
    let confirm = Confirm {
        title: "Stop the run",
        words: format!(
            "Stop {} now? The running iteration is cut off; changes in the tree stay, and p resumes.",
            tab.id
        ),
        ask: Ask::Command(tab.id.clone(), UserCommand::Stop),
    };
    model.modals.push(Modal::Confirm(confirm));
}

fn ask_to_reset_breaker(model: &mut Model) {
    let Some(tab) = model.tab() else { return };
    let breaker = &tab.state.breaker;
    let why = if breaker.reason.is_empty() { String::new() } else { format!(" ({})", breaker.reason) };
    let words = format!(
        "The circuit breaker of {} is {}{why}. Close it and forget what it has counted?",
        tab.id,
        breaker.state.word()
    );
    let ask = Ask::Command(tab.id.clone(), UserCommand::ResetBreaker);
    model.modals.push(Modal::Confirm(Confirm { title: "Reset the circuit breaker", words, ask }));
}

/// Enter in the tree: an open ticket comes to the front or is folded, a listed one is opened.
fn choose(model: &mut Model) -> Vec<Ask> {
    match model.under_cursor() {
        Some(Thing::Ticket(id) | Thing::Phase(id, _)) => {
            match model.tabs.iter().position(|tab| tab.id == id) {
                Some(at) if at == model.active => in_tickets(model, TicketsMsg::Fold),
                Some(at) => model.show_tab(at),
                None => return open(model, id.to_string()),
            }
            Vec::new()
        }
        None => Vec::new(),
    }
}

fn open(model: &mut Model, name: String) -> Vec<Ask> {
    model.opening = true;
    model.tell(format!("opening {name} …"));
    vec![Ask::OpenTicket(name)]
}

enum Move {
    Lines(i32),
    Pages(i32),
    Top,
    End,
}

fn scroll(model: &mut Model, by: Move) {
    let page = i32::try_from(inner_height(model, model.focus).max(2) - 1).unwrap_or(1);
    match (model.focus, by) {
        (Pane::Tickets, Move::Lines(n)) => in_tickets(model, TicketsMsg::Move(n)),
        (Pane::Tickets, Move::Pages(n)) => in_tickets(model, TicketsMsg::Move(n * page)),
        (Pane::Tickets, Move::Top) => in_tickets(model, TicketsMsg::Top),
        (Pane::Tickets, Move::End) => in_tickets(model, TicketsMsg::End),
        (Pane::Log, Move::Lines(n)) => in_log(model, LogMsg::Scroll(n)),
        (Pane::Log, Move::Pages(n)) => in_log(model, LogMsg::Scroll(n * page)),
        (Pane::Log, Move::Top) => in_log(model, LogMsg::Top),
        (Pane::Log, Move::End) => in_log(model, LogMsg::End),
        (_, Move::Lines(n)) => to_stream(model, StreamMsg::Lines(n)),
        (_, Move::Pages(n)) => to_stream(model, StreamMsg::Page(n)),
        (_, Move::Top) => to_stream(model, StreamMsg::Top),
        (_, Move::End) => to_stream(model, StreamMsg::End),
    }
}

fn in_tickets(model: &mut Model, msg: TicketsMsg) {
    let height = inner_height(model, Pane::Tickets);
    tickets::update(model, msg, height);
}

fn in_log(model: &mut Model, msg: LogMsg) {
    let height = inner_height(model, Pane::Log);
    log::update(model, msg, height);
}

fn to_stream(model: &mut Model, msg: StreamMsg) {
    if let Some(tab) = model.tab_mut() {
        tab.stream.update(msg);
    }
}

fn prompt(model: &mut Model, purpose: Purpose, text: String) {
    model.modals.push(Modal::Prompt(Prompt { purpose, text }));
}

impl Model {
    /// The pane that has the focus `steps` further on. The gauges are only a stop where they have no
    /// pane of their own: there is nothing to do in them but look.
    pub fn next_focus(&self, steps: usize) -> Pane {
        let at = Pane::ALL.iter().position(|pane| *pane == self.focus).unwrap_or(0);
        Pane::ALL[(at + steps) % Pane::ALL.len()]
    }
}

#[cfg(test)]
mod tests;

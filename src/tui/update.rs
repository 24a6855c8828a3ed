//! What happens to the screen, message by message. Pure: answers with what the edge should do.
//!
//! News of runs is folded in `update::news`; what keys mean stands in `tui::command`.

mod attention;
mod dialogs;
mod news;
mod spending;
mod unavailable;

use crate::domain::command::UserCommand;
use crate::domain::request::Request;
use crate::orchestrator::state::{Pace, PhaseState, Stage};
use crate::tui::command::{self, Command, Scope};
use crate::tui::modals::Modal;
use crate::tui::modals::confirm::Confirm;
use crate::tui::modals::diff::Diff;
use crate::tui::modals::draft::Form;
use crate::tui::modals::explain::Explain;
use crate::tui::modals::help::Help;
use crate::tui::modals::open::Open;
use crate::tui::modals::queue::Queue;
use crate::tui::modals::steer::Steer;
use crate::tui::modals::themes::Themes;
use crate::tui::model::starting;
use crate::tui::msg::{Ask, Input, Key, Msg};
use crate::tui::panes::{self, after};
use crate::tui::tab::{Tab, TabStatus};
use crate::tui::ui::Ui;
use crate::tui::{changes, home};
use zeroize::Zeroize as _;

/// Folds a message into the screen; what the edge should do now, in order.
pub fn update(ui: &mut Ui, msg: Msg) -> Vec<Ask> {
    let focus = ui.focus;
    let mut asks = take(ui, msg);
    if ui.focus == changes::NAME && focus != changes::NAME {
        ui.changes.outdated();
    }
    asks.extend(ui.ask_for_changes());
    for ask in &asks {
        if let Ask::Request(Request::Command(ticket, command)) = ask
            && let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.id == *ticket)
        {
            tab.unstored.hand(&tab.state, command);
        }
    }
    asks
}

fn take(ui: &mut Ui, msg: Msg) -> Vec<Ask> {
    match msg {
        Msg::Key(input) => {
            ui.dirty = true;
            ui.toast = None;
            ui.touched = ui.now;
            key(ui, input)
        }
        Msg::Paste(mut text) => {
            ui.dirty = true;
            dialogs::pasted(ui, &text);
            // It may have been the passphrase.
            text.zeroize();
            Vec::new()
        }
        Msg::Resize(width, height) => {
            ui.size = (width, height);
            ui.dirty = true;
            Vec::new()
        }
        Msg::Scrollback(run, scrollback) => {
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.run == Some(run)) {
                tab.stream.attach(scrollback);
            }
            Vec::new()
        }
        Msg::Replied(reply) => {
            ui.dirty = true;
            let mut asks = news::replied(ui, reply);
            asks.extend(leave_if_quiet(ui));
            asks
        }
        Msg::NotAsked(request) => {
            ui.dirty = true;
            news::not_asked(ui, *request)
        }
        Msg::News(news) => {
            ui.dirty = true;
            let mut asks = news::fold(ui, news);
            asks.extend(leave_if_quiet(ui));
            asks
        }
        Msg::Tick(now) => {
            tick(ui, now);
            Vec::new()
        }
        Msg::Background(colour) => {
            ui.dirty = true;
            ui.looks.on(colour);
            Vec::new()
        }
        Msg::Themes(own) => {
            ui.dirty = true;
            if let Some(problem) = ui.looks.reload(own).first() {
                ui.tell(problem.to_string());
            }
            if let Some(Modal::Themes(themes)) = ui.modals.last_mut() {
                themes.refresh(&ui.looks);
            }
            Vec::new()
        }
        Msg::Focused(focused) => {
            ui.focused = Some(focused);
            ui.dirty |= focused;
            Vec::new()
        }
        Msg::Told(words) => {
            ui.dirty = true;
            ui.tell(crate::base::text::clean_line(&words, 400));
            Vec::new()
        }
    }
}

fn tick(ui: &mut Ui, now: crate::base::time::Timestamp) {
    let due = ui.wake_at().is_some_and(|at| at <= now);
    ui.now = now;
    if due {
        ui.dirty = true;
    }
    if ui.toast.as_ref().is_some_and(|(_, until)| *until <= now) {
        ui.toast = None;
    }
}

/// The person asked to leave, and nothing runs any more.
fn leave_if_quiet(ui: &Ui) -> Vec<Ask> {
    if ui.quitting.is_some() && !ui.anything_active() { vec![Ask::Leave] } else { Vec::new() }
}

fn key(ui: &mut Ui, input: Input) -> Vec<Ask> {
    if !ui.modals.is_empty() {
        return dialogs::key(ui, input);
    }
    // A key means the row that was seen.
    ui.home.is_chosen |= ui.home.cursor.is_some();
    let row = command::find(Scope::Pane(ui.focus), &input).or_else(|| command::find(Scope::Global, &input));
    match row {
        Some(row) if (row.enabled)(ui) => {
            let asks = run(ui, row.command, &input);
            // Whoever lets a run go on wants to stay.
            let goes_on =
                |ask: &Ask| matches!(ask, Ask::Request(Request::Start(_) | Request::Command(_, UserCommand::Resume)));
            if asks.iter().any(goes_on) {
                ui.quitting = None;
            }
            asks
        }
        Some(row) => {
            let why = ui.focused().and_then(|pane| pane.refusal(ui, row.command));
            let why = why.unwrap_or_else(|| unavailable::why(ui, row.command));
            ui.tell(why);
            Vec::new()
        }
        None => {
            if let Key::Char(_) = input.key {
                ui.tell(format!("{} does nothing here; ? lists the keys", command::key_text(&input)));
            }
            Vec::new()
        }
    }
}

fn run(ui: &mut Ui, command: Command, input: &Input) -> Vec<Ask> {
    match command {
        Command::Pause => {
            let asks = pace(ui);
            return if ui.is_home() { spending::ask_to_start(ui, asks) } else { asks };
        }
        Command::PauseNow => return ui.to_run(UserCommand::PauseNow),
        Command::Retry if ui.is_parked() => {
            ui.tell("retrying now …");
            return ui.to_run(UserCommand::RetryNow);
        }
        // A new run works on what the complete one left out.
        Command::Retry if ui.tab().is_some_and(Tab::left_out) => return pace(ui),
        Command::Retry => {
            if let Some(PhaseState { id: phase, .. }) = ui.retryable().cloned() {
                return ui.to_run(UserCommand::RetryPhase { phase });
            }
        }
        Command::Skip => ask_to_skip(ui),
        Command::Stop => ask_to_stop(ui),
        Command::ResetBreaker => ask_to_reset_breaker(ui),
        Command::Steer => {
            if let Some(tab) = ui.tab() {
                let steer = Steer::new(tab);
                ui.modals.push(Modal::Steer(steer));
            }
        }
        Command::NextWaiting => return attention::next(ui),
        Command::Queue => ui.modals.push(Modal::Queue(Queue::default())),
        Command::Edit => return ui.ticket_in_front().cloned().map(Ask::Edit).into_iter().collect(),
        Command::Home => {
            ui.home.cursor = ui.ticket_in_front().cloned();
            (ui.home.is_chosen, ui.home.shown) = (ui.home.cursor.is_some(), ui.now);
            ui.focus = home::NAME;
            return vec![Ask::Request(Request::ListTickets)];
        }
        Command::NewTicket => {
            ui.modals.push(Modal::Draft(Box::new(Form::new(&ui.model.home.draft))));
            return vec![Ask::Request(Request::SuggestChecks)];
        }
        Command::Changes if ui.focus == changes::NAME => ui.focus = panes::stream::NAME,
        Command::Changes => ui.focus = changes::NAME,
        Command::Choose if ui.focus == changes::NAME => {
            if let Some((diff, ask)) = Diff::open(ui) {
                ui.modals.push(Modal::Diff(Box::new(diff)));
                return vec![ask];
            }
        }
        Command::OpenTicket => ui.modals.push(Modal::Open(Open::default())),
        Command::FocusNext => ui.focus = after(ui.focus, true),
        Command::FocusPrevious => ui.focus = after(ui.focus, false),
        Command::GoToTab => {
            if let Key::Char(digit) = input.key
                && let Some(n) = digit.to_digit(10)
            {
                ui.show_tab((n as usize).wrapping_sub(1));
            }
        }
        Command::TabNext | Command::TabPrevious => {
            let tabs = ui.tabs.len().max(1);
            let step = if command == Command::TabNext { 1 } else { tabs - 1 };
            let to = (ui.active + step) % tabs;
            ui.show_tab(to);
        }
        Command::Help => ui.modals.push(Modal::Help(Help::default())),
        Command::Quit => {
            if !ui.anything_active() {
                return vec![Ask::Leave];
            }
            ui.modals.push(Modal::Quit);
        }
        Command::Suspend => return vec![Ask::Suspend],
        Command::Redraw => return vec![Ask::Redraw],
        Command::Theme => {
            ui.modals.push(Modal::Themes(Themes::new(&ui.looks)));
            return vec![Ask::ReadThemes];
        }
        Command::Prompt => {
            let prompt = ui.focused().and_then(|pane| pane.prompt(ui));
            ui.modals.extend(prompt.map(Modal::Prompt));
        }
        Command::Explain => ui.modals.push(Modal::Explain(Explain::default())),
        // A pane's own, or a movement in it.
        command => {
            let asks = ui.act(command);
            return if ui.is_home() { spending::ask_to_start(ui, asks) } else { ask_to_tick(ui, asks) };
        }
    }
    Vec::new()
}

/// A tick of the running phase is asked about: its iteration ends.
fn ask_to_tick(ui: &mut Ui, mut asks: Vec<Ask>) -> Vec<Ask> {
    let (Some(tab), [Ask::Request(Request::Command(_, UserCommand::TickPhase { phase }))]) = (ui.tab(), &asks[..])
    else {
        return asks;
    };
    let Some((phase, price)) = tab.state.phase_by(*phase).map(|phase| (phase, price(tab, phase))) else { return asks };
    if price.is_empty() {
        return asks;
    }
    let words = format!("Tick “{}” as done?{price}", phase.text);
    let confirm = asks.pop().map(|ask| Confirm { title: "Tick the running phase", words, ask });
    ui.modals.extend(confirm.map(Modal::Confirm));
    Vec::new()
}

/// What settling this phase costs: its iteration, while one is running.
fn price(tab: &Tab, phase: &PhaseState) -> &'static str {
    let running = tab.is_active() && tab.state.open_iteration().is_some_and(|open| open.phase == Some(phase.id));
    if running { INTERRUPTS } else { "" }
}

const INTERRUPTS: &str = " The running iteration is interrupted; its changes stay.";

/// `p`: start, pause, take the pause back, go on; by what is so now.
fn pace(ui: &mut Ui) -> Vec<Ask> {
    let Some(tab) = ui.tab() else { return Vec::new() };
    let id = tab.id.clone();
    if !tab.has_open_run() {
        if tab.standing() == TabStatus::NotStarted && tab.ticket.as_ref().is_some_and(|t| t.is_broken()) {
            ui.tell(format!("{id} cannot be read; e edits it"));
            return Vec::new();
        }
        if let Some(tab) = ui.tab_mut() {
            tab.failure = None;
        }
        ui.tell(starting(&id));
        return vec![Ask::Request(Request::Start(id))];
    }
    let command = if tab.state.stage == Stage::Paused || tab.state.pace != Pace::Run {
        UserCommand::Resume
    } else {
        UserCommand::Pause
    };
    vec![Ask::Request(Request::Command(id, command))]
}

fn ask_to_skip(ui: &mut Ui) {
    let (Some(tab), Some(phase)) = (ui.tab(), ui.skippable()) else { return };
    let price = price(tab, phase);
    let confirm = Confirm {
        title: "Skip a phase",
        words: format!("Leave “{}” undone and continue with the next?{price}", phase.text),
        ask: Ask::Request(Request::Command(tab.id.clone(), UserCommand::SkipPhase { phase: phase.id })),
    };
    ui.modals.push(Modal::Confirm(confirm));
}

fn ask_to_stop(ui: &mut Ui) {
    let Some(tab) = ui.tab() else { return };
    let interrupts = if tab.state.open_iteration().is_some() { INTERRUPTS } else { "" };
    let confirm = Confirm {
        title: "Stop the run",
        words: format!("Stop {} now?{interrupts} p resumes it.", tab.id),
        ask: Ask::Request(Request::Command(tab.id.clone(), UserCommand::Stop)),
    };
    ui.modals.push(Modal::Confirm(confirm));
}

fn ask_to_reset_breaker(ui: &mut Ui) {
    let Some(tab) = ui.tab() else { return };
    let breaker = &tab.state.breaker;
    let why = if breaker.reason.is_empty() { String::new() } else { format!(" ({})", breaker.reason) };
    let words =
        format!("The circuit breaker of {} is {}{why}. Close it and reset its counters?", tab.id, breaker.state.word());
    let ask = Ask::Request(Request::Command(tab.id.clone(), UserCommand::ResetBreaker));
    ui.modals.push(Modal::Confirm(Confirm { title: "Reset the circuit breaker", words, ask }));
}

#[cfg(test)]
mod tests;

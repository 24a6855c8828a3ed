//! What a key does: found in the tables of what is on top, then done, or told why not.
//!
//! The tables are `tui::command`'s; keys of a dialog end in `update::dialogs`.

use crate::domain::command::UserCommand;
use crate::domain::request::Request;
use crate::orchestrator::state::PhaseState;
use crate::tui::command::when::live;
use crate::tui::command::{self, Command, Found, Scope};
use crate::tui::keys::key_text;
use crate::tui::modals::Modal;
use crate::tui::modals::commit::Commit;
use crate::tui::modals::diff::Diff;
use crate::tui::modals::draft::Form;
use crate::tui::modals::explain::Explain;
use crate::tui::modals::export::Export;
use crate::tui::modals::help::Help;
use crate::tui::modals::limits::Limits;
use crate::tui::modals::open::Open;
use crate::tui::modals::palette::Palette;
use crate::tui::modals::queue::Queue;
use crate::tui::modals::steer::Steer;
use crate::tui::modals::themes::Themes;
use crate::tui::modals::timeline::Timeline;
use crate::tui::model::Mode;
use crate::tui::msg::{Ask, Input, Key};
use crate::tui::panes::{self, after};
use crate::tui::tab::Tab;
use crate::tui::ui::Ui;
use crate::tui::update::{
    arrange, attention, certain, chat, commits, dialogs, find, importing, listing, machines, phases, replay, spending,
    unavailable, wheel,
};
use crate::tui::{changes, home};

/// A key, or one more of those that mean something together.
pub fn key(ui: &mut Ui, input: &Input) -> Vec<Ask> {
    let mut pressed = std::mem::take(&mut ui.pressed);
    pressed.keys.push(input.clone());
    let (scopes, counts) = match ui.modals.last().map(Modal::scope) {
        Some(scope) => {
            (vec![scope], command::row_of(scope, Command::PageDown).is_some() && !command::keys_file::types(scope))
        }
        None if ui.mode == Mode::Replay && !ui.selects() => {
            let zoomed = ui.arrangement.is_zoomed.then_some(Scope::Zoomed);
            ([Scope::Replay].into_iter().chain(zoomed).chain([Scope::Pane(ui.focus), Scope::Global]).collect(), true)
        }
        None if ui.selects() => (vec![Scope::Visual, Scope::Global], true),
        None if ui.arrangement.is_zoomed && !ui.is_home() => {
            (vec![Scope::Zoomed, Scope::Pane(ui.focus), Scope::Global], true)
        }
        None => (vec![Scope::Pane(ui.focus), Scope::Global], true),
    };
    // A key of the pane's that cannot act gives way to one of the whole screen that can.
    let acts = |found: &&Found| match found {
        Found::Begun => true,
        Found::Row(row) => (row.enabled)(ui),
    };
    let found: Vec<Option<Found>> = scopes.into_iter().map(|scope| ui.keys.find(scope, &pressed.keys)).collect();
    let row = match found.iter().flatten().find(acts).or(found.iter().flatten().next()) {
        Some(Found::Begun) => {
            ui.pressed = pressed;
            return Vec::new();
        }
        Some(Found::Row(row)) => Some(*row),
        None => None,
    };
    let digit = match (&pressed.keys[..], input.key) {
        ([_], Key::Char(digit)) if counts && !input.ctrl && !input.alt => digit.to_digit(10),
        _ => None,
    };
    // A digit that is the key of something that can act is no count, unless one has begun.
    if let Some(digit) = digit
        && (pressed.count.is_some() || !row.is_some_and(|row| (row.enabled)(ui)))
    {
        pressed.keys.clear();
        pressed.digit(digit);
        ui.pressed = pressed;
        return Vec::new();
    }
    let was_begun = pressed.keys.len() > 1 || pressed.count.is_some();
    if was_begun && input.key == Key::Esc || row.is_none() && pressed.keys.len() > 1 {
        return Vec::new();
    }
    let times = row.map_or(1, |row| command::times(row.command, pressed.count));
    let mut asks = Vec::new();
    for _ in 0..times {
        asks.extend(match row {
            Some(row) if row.scope == Scope::Palette && row.command == Command::Choose => run_chosen(ui, input),
            _ if !ui.modals.is_empty() => dialogs::key(ui, row.map(|row| row.command), input),
            Some(row) => act(ui, row, input),
            None => unknown(ui, input),
        });
    }
    asks
}

/// Does what was chosen in the palette, which closes.
fn run_chosen(ui: &mut Ui, input: &Input) -> Vec<Ask> {
    let Some(Modal::Palette(palette)) = ui.modals.last() else { return Vec::new() };
    match palette.chosen(ui) {
        Ok(row) => {
            ui.modals.pop();
            act(ui, row, input)
        }
        Err(why) => {
            ui.tell(why);
            Vec::new()
        }
    }
}

/// Does what a row of the table says, or tells why not.
fn act(ui: &mut Ui, row: &command::Row, input: &Input) -> Vec<Ask> {
    // A key means the row that was seen.
    ui.home.is_chosen |= ui.home.cursor.is_some();
    if !(row.enabled)(ui) {
        let why = why_not(ui, row);
        ui.tell(why);
        return Vec::new();
    }
    let asks = run(ui, row.command, input);
    // Whoever lets a run go on wants to stay.
    let goes_on = |ask: &Ask| matches!(ask, Ask::Request(Request::Start(_) | Request::Command(_, UserCommand::Resume)));
    if asks.iter().any(goes_on) {
        ui.quitting = None;
    }
    asks
}

/// Why the command of a row cannot act now.
fn why_not(ui: &Ui, row: &command::Row) -> String {
    let why = ui.focused().and_then(|pane| pane.refusal(ui, row.command));
    why.unwrap_or_else(|| unavailable::why(ui, row.command))
}

fn unknown(ui: &mut Ui, input: &Input) -> Vec<Ask> {
    ui.home.is_chosen |= ui.home.cursor.is_some();
    if let Key::Char(_) = input.key {
        let help = ui.keys.key_of(Scope::Global, Command::Help);
        ui.tell(format!("{} does nothing here; {help} lists the keys", key_text(input)));
    }
    Vec::new()
}

fn run(ui: &mut Ui, command: Command, input: &Input) -> Vec<Ask> {
    match command {
        Command::Pause => {
            let asks = spending::pace(ui);
            return if ui.is_home() { spending::ask_to_start(ui, asks) } else { asks };
        }
        Command::PauseNow => return ui.to_run(UserCommand::PauseNow),
        Command::Retry if ui.is_parked() => {
            ui.tell("retrying now …");
            return ui.to_run(UserCommand::RetryNow);
        }
        Command::Retry if ui.tab().is_some_and(Tab::is_over) => return spending::run_again(ui),
        Command::NextReady => spending::go_on(ui),
        Command::Commit => {
            if let Some((dialog, ask)) = ui.tab().and_then(|tab| Commit::open(tab, ui.unsent.commit(&tab.id))) {
                ui.modals.push(Modal::Commit(Box::new(dialog)));
                return vec![ask];
            }
        }
        Command::Limits => {
            let limits = ui.tab().map(Limits::of);
            ui.modals.extend(limits.map(Modal::Limits));
        }
        Command::Undo => return phases::undo(ui),
        Command::Background => return dialogs::hand_over(ui),
        Command::Timeline => {
            if let Some((dialog, ask)) = ui.tab().and_then(Timeline::open) {
                ui.modals.push(Modal::Timeline(Box::new(dialog)));
                return vec![ask];
            }
        }
        Command::Export => {
            let export = ui.tab().and_then(Export::open);
            ui.modals.extend(export.map(|export| Modal::Export(Box::new(export))));
        }
        Command::Find => return find::show(ui),
        Command::Retry => {
            if let Some(PhaseState { id: phase, .. }) = ui.retryable().cloned() {
                return ui.to_run(UserCommand::RetryPhase { phase });
            }
        }
        Command::Skip => certain::ask_to_skip(ui),
        Command::Stop => {
            // What has not begun is no loss.
            let queued = ui.ticket_in_front().filter(|ticket| ui.queued_why(ticket).is_some()).cloned();
            if let Some(ticket) = queued {
                return vec![Ask::Request(Request::Unqueue(vec![ticket]))];
            }
            certain::ask_to_stop(ui);
        }
        Command::Resolve => {
            if let Some(ticket) = ui.tab().map(|tab| tab.id.clone()) {
                certain::ask_to_resolve(ui, &ticket);
            }
        }
        Command::Shell => {
            let worktree = ui.tab().and_then(|tab| tab.state.workspace.worktree());
            return worktree.map(|worktree| Ask::Shell(worktree.directory.clone())).into_iter().collect();
        }
        Command::ResetBreaker => certain::ask_to_reset_breaker(ui),
        Command::Steer => {
            if let Some(tab) = ui.tab() {
                let steer = Steer::new(tab, ui.unsent.message(&tab.id));
                ui.modals.push(Modal::Steer(steer));
            }
        }
        Command::NextWaiting => return attention::next(ui),
        Command::Queue => ui.modals.push(Modal::Queue(Queue::default())),
        Command::Edit => return ui.ticket_in_front().cloned().map(Ask::Edit).into_iter().collect(),
        Command::TakeWheel => return wheel::take(ui),
        Command::Chat => return chat::begin(ui),
        Command::Home | Command::QueuedTickets => {
            let first = ui.queued.keys().next().filter(|_| command == Command::QueuedTickets);
            ui.home.cursor = first.or(ui.ticket_in_front()).cloned();
            (ui.home.is_chosen, ui.home.shown) = (ui.home.cursor.is_some(), ui.now);
            ui.focus = home::NAME;
            return vec![Ask::Request(Request::ListTickets)];
        }
        Command::NewTicket if ui.host.is_some() => {
            let host = ui.host.as_deref().unwrap_or_default();
            let words = format!("not available here: do it on {host}");
            ui.tell(words);
        }
        Command::NewTicket => {
            ui.modals.push(Modal::Draft(Box::new(Form::new(&ui.unsent.ticket(&ui.folder)))));
            return vec![Ask::Request(Request::Suggest)];
        }
        Command::Changes if ui.focus == changes::NAME => ui.focus = panes::stream::NAME,
        Command::Changes => ui.focus = changes::NAME,
        Command::Log => {
            ui.is_log_open = ui.focus != panes::log::NAME || !ui.is_log_open;
            ui.focus = if ui.is_log_open { panes::log::NAME } else { panes::stream::NAME };
        }
        Command::Choose if ui.focus == changes::NAME => {
            if let Some((diff, ask)) = Diff::open(ui) {
                ui.modals.push(Modal::Diff(Box::new(diff)));
                return vec![ask];
            }
        }
        Command::Choose if ui.chosen_phase().is_some() => return phases::show(ui),
        Command::Own(word @ ("add" | "rename" | "split" | "up" | "down" | "accept" | "reopen"))
            if ui.focus == panes::tickets::NAME =>
        {
            return phases::run(ui, word);
        }
        Command::Own("tick") if ui.chosen_phase().is_some_and(|(_, line)| line.run.is_none()) => {
            return phases::run(ui, "done");
        }
        Command::OpenTicket => ui.modals.push(Modal::Open(Open::default())),
        Command::FocusNext => ui.focus = after(ui, true),
        Command::FocusPrevious => ui.focus = after(ui, false),
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
        Command::Zoom => ui.arrangement.is_zoomed = !ui.arrangement.is_zoomed,
        Command::Close if ui.selects() => return ui.act(command),
        Command::Close => ui.arrangement.is_zoomed = false,
        Command::Mouse => return arrange::mouse(ui),
        Command::Hide | Command::Larger | Command::Smaller => return arrange::run(ui, command),
        Command::Palette => {
            let palette = Palette::new(ui, |row| why_not(ui, row));
            ui.modals.push(Modal::Palette(palette));
        }
        Command::Quit => {
            if live(ui) && (ui.anything_active() || !ui.unfinished().is_empty() || !ui.queued.is_empty()) {
                ui.modals.push(Modal::Quit);
            } else {
                return commits::quit(ui);
            }
        }
        Command::Suspend => return vec![Ask::Suspend],
        Command::Redraw => return vec![Ask::Redraw],
        Command::Theme => {
            ui.modals.push(Modal::Themes(Themes::new(&ui.looks)));
            return vec![Ask::ReadThemes];
        }
        Command::Prompt => {
            if ui.focused().and_then(|pane| pane.prompt(ui)).is_none() {
                ui.focus = panes::stream::NAME;
            }
            let prompt = ui.focused().and_then(|pane| pane.prompt(ui));
            ui.modals.extend(prompt.map(Modal::Prompt));
        }
        Command::Import => return importing::open(ui),
        Command::Machines => return machines::open(ui),
        Command::Stats => return listing::stats(ui),
        Command::Report => return listing::report(ui),
        Command::Explain => ui.modals.push(Modal::Explain(Explain::default())),
        command if replay::is_key(command) => replay::run(ui, command),
        // A pane's own, or a movement in it.
        command => {
            let asks = ui.act(command);
            return if ui.is_home() { spending::ask_to_start(ui, asks) } else { certain::ask_to_tick(ui, asks) };
        }
    }
    Vec::new()
}

//! What is asked about before it is done: it interrupts, or cannot be taken back.

use crate::base::amount::counted;
use crate::domain::command::UserCommand;
use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::orchestrator::state::PhaseState;
use crate::tui::modals::Modal;
use crate::tui::modals::confirm::Confirm;
use crate::tui::msg::Ask;
use crate::tui::tab::Tab;
use crate::tui::ui::Ui;
use crate::tui::update::phases;

/// A tick of the running phase is asked about: its iteration ends.
pub(super) fn ask_to_tick(ui: &mut Ui, asks: Vec<Ask>) -> Vec<Ask> {
    let (Some(tab), [Ask::Request(Request::Command(_, UserCommand::TickPhase { phase }))]) = (ui.tab(), &asks[..])
    else {
        return asks;
    };
    let Some((phase, price)) = tab.state.phase_by(*phase).map(|phase| (phase, price(tab, phase))) else { return asks };
    if price.is_empty() {
        return asks;
    }
    let words = format!("Tick “{}” as done?{price}", phase.text);
    ui.modals.push(Modal::Confirm(Confirm { title: "Tick the running phase", words, asks }));
    Vec::new()
}

/// What settling this phase costs: its iteration, while one is running.
fn price(tab: &Tab, phase: &PhaseState) -> &'static str {
    let running = tab.is_at_work() && tab.state.open_iteration().is_some_and(|open| open.phase == Some(phase.id));
    if running { INTERRUPTS } else { "" }
}

const INTERRUPTS: &str = " The current iteration is interrupted; its changes are kept.";

pub(super) fn ask_to_skip(ui: &mut Ui) {
    let (Some(tab), Some(phase)) = (ui.tab(), ui.skippable()) else { return };
    let price = price(tab, phase);
    let confirm = if tab.takes_commands() {
        Confirm {
            title: "Skip a phase",
            words: format!("Leave “{}” undone and continue with the next?{price}", phase.text),
            asks: vec![Ask::Request(Request::Command(tab.id.clone(), UserCommand::SkipPhase { phase: phase.id }))],
        }
    } else {
        let nth = ui.chosen_phase().map_or(0, |(_, line)| line.nth);
        Confirm {
            title: "Skip a phase",
            words: format!("Leave “{}” out of the next run?", phase.text),
            asks: vec![phases::skip(&tab.id, &phase.text, nth)],
        }
    };
    ui.modals.push(Modal::Confirm(confirm));
}

pub(super) fn ask_to_stop(ui: &mut Ui) {
    let Some(tab) = ui.tab() else { return };
    let interrupts = match tab.state.chat {
        _ if tab.state.open_iteration().is_none() => "",
        Some(_) => "  Claude is interrupted; its changes are kept.",
        None => INTERRUPTS,
    };
    let (title, words) = match tab.state.chat {
        Some(_) => ("Close the chat", format!("Close this chat now?{interrupts} p resumes it.")),
        None => ("Stop the run", format!("Stop {} now?{interrupts} p resumes it.", tab.id)),
    };
    let confirm =
        Confirm { title, words, asks: vec![Ask::Request(Request::Command(tab.id.clone(), UserCommand::Stop))] };
    ui.modals.push(Modal::Confirm(confirm));
}

pub(super) fn ask_to_resolve(ui: &mut Ui, ticket: &TicketKey) {
    let Some(tab) = ui.tab_of(ticket) else { return };
    let base = tab.state.workspace.worktree().map_or("its base", |worktree| worktree.base.as_str());
    let files = tab.state.merge_failed.as_ref().map_or(0, |failed| failed.files.len());
    let words = format!(
        "Let Claude resolve the conflicts of {} with {base} in {}? It works in the ticket's worktree. {base} changes only if the validation commands pass and another session approves the result.",
        tab.id,
        counted(files, "file")
    );
    let asks = vec![Ask::Request(Request::Resolve(tab.id.clone()))];
    ui.modals.push(Modal::Confirm(Confirm { title: "Resolve the conflict", words, asks }));
}

pub(super) fn ask_to_reset_breaker(ui: &mut Ui) {
    let Some(tab) = ui.tab() else { return };
    let breaker = &tab.state.breaker;
    let why = if breaker.reason.is_empty() { String::new() } else { format!(" ({})", breaker.reason) };
    let words =
        format!("The circuit breaker of {} is {}{why}. Close it and reset its counters?", tab.id, breaker.state.told());
    let asks = vec![Ask::Request(Request::Command(tab.id.clone(), UserCommand::ResetBreaker))];
    ui.modals.push(Modal::Confirm(Confirm { title: "Reset the circuit breaker", words, asks }));
}

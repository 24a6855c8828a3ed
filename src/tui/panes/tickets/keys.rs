//! The keys of the Tickets pane, and when each can act.

use crate::domain::phase::Mark;
use crate::tui::command::{Row, Scope, always, c, press, rows};
use crate::tui::model::{Mode, Model};
use crate::tui::msg::Key;
use crate::tui::selection::Thing;
use crate::tui::tab::{PhaseLine, Tab};

/// The pane's name.
pub const NAME: &str = "tickets";

pub(super) const KEYS: &[Row] = rows! {
    Choose "tickets.choose" Scope::Pane(NAME), "ticket", [press(Key::Enter)], Shown, always, choose_word,
        "in Tickets: open or fold the ticket; a phase's evidence";
    Own("fold") "tickets.fold" Scope::Pane(NAME), "ticket", [c(' '), press(Key::Left), press(Key::Right)], HelpOnly, always, |_| "fold",
        "in Tickets: fold or unfold the selected ticket";
    Own("tick") "tickets.tick" Scope::Pane(NAME), "ticket", [c('d')], Shown, can_tick, |_| "tick",
        "in Tickets: tick the selected phase as done";
    Own("add") "tickets.add" Scope::Pane(NAME), "phase", [c('A')], HelpOnly, can_add, |_| "add",
        "in Tickets: add phases after the selected one";
    Own("rename") "tickets.rename" Scope::Pane(NAME), "phase", [c('R')], HelpOnly, can_edit, |_| "rename",
        "in Tickets: change the text of the selected phase";
    Own("split") "tickets.split" Scope::Pane(NAME), "phase", [c('S')], HelpOnly, can_edit, |_| "split",
        "in Tickets: split the selected phase";
    Own("up") "tickets.up" Scope::Pane(NAME), "phase", [c('K')], HelpOnly, can_edit, |_| "move up",
        "in Tickets: move the selected phase up";
    Own("down") "tickets.down" Scope::Pane(NAME), "phase", [c('J')], HelpOnly, can_edit, |_| "move down",
        "in Tickets: move the selected phase down";
    Own("accept") "tickets.accept" Scope::Pane(NAME), "phase", [c('Y')], Shown, can_accept, |_| "accept",
        "in Tickets: accept an open phase, with a reason";
    Own("reopen") "tickets.reopen" Scope::Pane(NAME), "phase", [c('r')], Shown, can_reopen, |_| "reopen",
        "in Tickets, run ended: reopen a done or skipped phase";
    Own("copy") "tickets.copy" Scope::Pane(NAME), "ticket", [c('y')], HelpOnly, always, |_| "copy",
        "in Tickets: copy the selected line";
};

/// What Enter does where the cursor is.
fn choose_word(model: &Model) -> &'static str {
    if model.chosen_phase().is_some() {
        return "evidence";
    }
    let Some(Thing::Ticket(id) | Thing::Phase(id, _)) = model.under_cursor() else { return "open" };
    match model.tabs.iter().position(|tab| tab.id == id) {
        Some(at) if at == model.active && model.selection.turned.contains(&id) => "unfold",
        Some(at) if at == model.active => "fold",
        Some(_) => "switch to it",
        None => "open",
    }
}

/// Phases of the ticket in front may be changed from here.
fn can_add(model: &Model) -> bool {
    let may = |tab: &Tab| !tab.gone && tab.ticket.is_some() && model.is_elsewhere(tab).is_none();
    model.mode == Mode::Live && is_in_front(model) && model.tab().is_some_and(may)
}

/// The cursor is on the ticket in front, or on a phase of it.
fn is_in_front(model: &Model) -> bool {
    match model.under_cursor() {
        Some(Thing::Ticket(id) | Thing::Phase(id, _)) => model.tab().is_some_and(|tab| tab.id == id),
        None => false,
    }
}

fn can_edit(model: &Model) -> bool {
    can_add(model) && model.chosen_phase().is_some()
}

fn can_accept(model: &Model) -> bool {
    can_edit(model) && model.chosen_phase().is_some_and(|(_, line)| !matches!(line.mark, Mark::Done(_)))
}

fn can_tick(model: &Model) -> bool {
    match model.chosen_phase() {
        Some((tab, PhaseLine { run: Some(_), .. })) if tab.run.is_some() => model.tickable().is_some(),
        Some((tab, line)) => !tab.has_open_run() && can_accept(model) && line.run.is_none(),
        None => false,
    }
}

/// It was chosen by hand: else `r` runs the ticket again.
fn can_reopen(model: &Model) -> bool {
    let is_chosen = |tab: &Tab, line: &PhaseLine<'_>| {
        !tab.has_open_run()
            && line.mark.is_settled()
            && model.selection.cursor == Some(Thing::Phase(tab.id.clone(), line.id))
    };
    can_edit(model) && model.chosen_phase().is_some_and(|(tab, line)| is_chosen(tab, &line))
}

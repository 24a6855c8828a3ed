//! Nothing is spent by accident: what a start may cost is said before it.

use crate::base::text::clean_line;
use crate::domain::command::UserCommand;
use crate::domain::outcome::ExitReason;
use crate::domain::request::Request;
use crate::orchestrator::state::{Pace, Stage};
use crate::tui::command::{Command, Scope};
use crate::tui::home::Place;
use crate::tui::modals::Modal;
use crate::tui::modals::confirm::Confirm;
use crate::tui::model::opening::starting;
use crate::tui::msg::Ask;
use crate::tui::panes::home;
use crate::tui::tab::TabStatus;
use crate::tui::ui::Ui;
use crate::tui::update::planning;

/// Starts from Home are asked about; anything else is done.
pub(super) fn ask_to_start(ui: &mut Ui, asks: Vec<Ask>) -> Vec<Ask> {
    if let [Ask::Request(Request::Plan(file, asked))] = &asks[..] {
        let (made, meant) = (asked.made.clone(), ui.listed.keys().find(|ticket| ticket.file() == file).cloned());
        if let Some(ticket) = meant {
            planning::ask_to_plan(ui, &ticket, made);
        }
        return Vec::new();
    }
    let mut confirm = Confirm { title: "Start", words: String::new(), asks };
    let Some(tickets) = confirm.tickets() else { return confirm.asks };
    ui.toast = None;
    confirm.words = home::start_words(ui, &tickets);
    ui.modals.push(Modal::Confirm(confirm));
    Vec::new()
}

/// Which branch there is was told: what is asked before a start may be otherwise.
pub(super) fn branch_seen(ui: &mut Ui, branch: Option<String>) {
    ui.branch = branch;
    for at in 0..ui.modals.len() {
        let Modal::Confirm(confirm) = &ui.modals[at] else { continue };
        let Some(words) = confirm.tickets().map(|tickets| home::start_words(ui, &tickets)) else { continue };
        if let Modal::Confirm(confirm) = &mut ui.modals[at] {
            confirm.words = words;
        }
    }
}

/// `git init` was made, or why not.
pub(super) fn git_made(ui: &mut Ui, made: Result<(), String>) {
    ui.tell(match made {
        Ok(()) => "git init done; worktrees and forks need a first commit (git add -A && git commit)".to_owned(),
        Err(why) => format!("no repository was created: {why}"),
    });
    let place = std::mem::replace(&mut ui.home.place, Place::Listed);
    ui.home.place = match place {
        Place::Checked(found) => Place::Checked(found.into_iter().filter(|one| one.name != "git").collect()),
        other => other,
    };
}

/// `p`: start, pause, take the pause back, go on; by what is so now.
pub(super) fn pace(ui: &mut Ui) -> Vec<Ask> {
    let Some(tab) = ui.tab() else { return Vec::new() };
    let id = tab.id.clone();
    if !tab.takes_commands() {
        let broken = tab.ticket.as_ref().filter(|ticket| tab.standing() == TabStatus::NotStarted && ticket.is_broken());
        if let Some(problem) = broken.map(|ticket| ticket.problems.first()) {
            let why = problem.map_or_else(String::new, |one| format!(": {}", clean_line(&one.message, 200)));
            ui.tell(format!("{id} cannot be run{why}; e edits it"));
            return Vec::new();
        }
        if let Some(tab) = ui.tab_mut() {
            tab.failure = None;
        }
        ui.tell(starting(&id));
        return vec![Ask::Request(Request::Start(id))];
    }
    let is_stopping = tab.is_stopping();
    let command = if tab.state.stage == Stage::Paused || tab.state.pace != Pace::Run {
        if is_stopping {
            ui.tell(format!("stop withdrawn: {id} keeps going"));
        }
        UserCommand::Resume
    } else {
        UserCommand::Pause
    };
    vec![Ask::Request(Request::Command(id, command))]
}

/// `n`: the next ticket that is ready comes to the front, and may be started.
pub(super) fn go_on(ui: &mut Ui) {
    let Some(id) = home::next_ready(ui).map(|entry| entry.id.clone()) else { return };
    let at = ui.open_tab(&id);
    ui.show_tab(at);
    ask_to_start(ui, vec![Ask::Request(Request::Start(id))]);
}

/// `r` once a run has ended: what is left is worked on; where nothing is, everything is, after a question.
pub(super) fn run_again(ui: &mut Ui) -> Vec<Ask> {
    let Some(tab) = ui.tab() else { return Vec::new() };
    let complete = tab.state.ended.as_ref().is_some_and(|ended| ended.reason == ExitReason::Complete);
    // What ran before was no work: its costs tell nothing of what begins.
    let was_plan = tab.state.plan.is_some();
    if !complete || tab.reopened || tab.left_out() || tab.state.phases.is_empty() {
        let asks = pace(ui);
        return if ui.is_home() || was_plan { ask_to_start(ui, asks) } else { asks };
    }
    let id = tab.id.clone();
    // Its boxes would be unticked for a start that is refused.
    if ui.breaker_left(tab).is_some_and(|left| !left.is_zero()) {
        let key = ui.keys.key_of(Scope::Global, Command::ResetBreaker);
        ui.tell(format!("the circuit breaker of {id} is open; {key} closes it"));
        return Vec::new();
    }
    let (words, asks) = (home::again_words(ui, &id), vec![Ask::Request(Request::Reopen(id))]);
    ui.modals.push(Modal::Confirm(Confirm { title: "Run again", words, asks }));
    Vec::new()
}

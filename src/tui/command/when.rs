//! When the keys of the whole screen can act, and the words for them that change.

use crate::domain::breaker::Circuit;
use crate::domain::limits::admission::Why;
use crate::domain::outcome::ExitReason;
use crate::domain::phase::Mark;
use crate::orchestrator::breaker::{Recovery, recover};
use crate::orchestrator::state::{Pace, PhaseState, Stage};
use crate::tui::listed::Before;
use crate::tui::model::{Mode, Model};
use crate::tui::panes::home::is_any_ready;
use crate::tui::panes::log;
use crate::tui::panes::stream::{self, FollowStatus};
use crate::tui::tab::{Step, Tab, TabStatus};
use std::time::Duration;

pub fn live(model: &Model) -> bool {
    model.mode == Mode::Live
}

fn live_tab(model: &Model, holds: fn(&Tab) -> bool) -> bool {
    live(model) && model.tab().is_some_and(holds)
}

/// Why the ticket in front waits to be started.
fn queued(model: &Model) -> Option<&str> {
    model.queued_why(model.ticket_in_front()?)
}

pub fn can_pause(model: &Model) -> bool {
    let over = [TabStatus::Complete, TabStatus::Unverified, TabStatus::Gone];
    live(model)
        && queued(model).is_none()
        && model.tab().is_some_and(|tab| tab.takes_commands() || model.is_elsewhere(tab).is_none())
        // A chat goes on with a message, and with nothing else.
        && model.tab().is_some_and(|tab| !(tab.takes_commands() && tab.state.awaits_message()))
        && model.tab().is_some_and(|tab| tab.left_out() || !over.contains(&tab.standing()) && !model.is_barred(tab))
}

pub fn can_pause_now(model: &Model) -> bool {
    live_tab(model, |tab| {
        tab.takes_commands() && !matches!(tab.state.stage, Stage::Paused | Stage::AwaitingTree { .. })
    })
}

pub fn can_command(model: &Model) -> bool {
    live_tab(model, Tab::takes_commands)
}

pub fn can_stop(model: &Model) -> bool {
    can_command(model) || live(model) && queued(model).is_some()
}

pub fn stop_word(model: &Model) -> &'static str {
    match model.tab() {
        _ if queued(model).is_some() => "unqueue",
        Some(tab) if tab.state.chat.is_some() => "close chat",
        _ => "stop",
    }
}

pub fn some_are_queued(model: &Model) -> bool {
    live(model) && !model.queued.is_empty()
}

pub fn can_take_wheel(model: &Model) -> bool {
    let over = |tab: &Tab| tab.is_over() && model.is_elsewhere(tab).is_none();
    live_tab(model, Tab::has_open_run) || live(model) && model.tab().is_some_and(over)
}

/// Something runs, or waits to, that may go on without this screen.
pub fn can_hand_over(model: &Model) -> bool {
    live(model) && model.outlives_screen && !model.unfinished().is_empty()
}

pub fn in_replay(model: &Model) -> bool {
    model.replay.is_some()
}

pub fn play_word(model: &Model) -> &'static str {
    if model.replay.as_ref().is_some_and(|replay| replay.is_playing) { "pause" } else { "play" }
}

pub fn can_undo(model: &Model) -> bool {
    let may = |tab: &Tab| !tab.undo.is_empty() && model.is_elsewhere(tab).is_none();
    live(model) && !model.is_home() && model.tab().is_some_and(may)
}

/// The last step was a changed limit.
pub fn can_undo_limit(model: &Model) -> bool {
    live_tab(model, |tab| tab.takes_commands() && matches!(tab.undo.last(), Some(Step::Setting(..))))
}

pub fn can_reset_breaker(model: &Model) -> bool {
    live_tab(model, |tab| tab.run.is_some() && !tab.state.breaker.is_at_rest())
}

pub fn can_skip(model: &Model) -> bool {
    // Of a run that has ended only the phase that is selected, for the next one.
    let may = |tab: &Tab| tab.takes_commands() || model.is_elsewhere(tab).is_none() && model.chosen_phase().is_some();
    live(model) && !model.is_home() && model.tab().is_some_and(may) && model.skippable().is_some()
}

pub fn can_retry(model: &Model) -> bool {
    let again = || model.retryable().is_some();
    can_run_again(model) || can_command(model) && if model.is_parked() { model.can_try_now() } else { again() }
}

/// The run in front has ended, and another one of its ticket could begin here.
fn can_run_again(model: &Model) -> bool {
    let may = |tab: &Tab| {
        !tab.gone && model.is_elsewhere(tab).is_none() && !model.is_barred(tab) && comes_first(model, tab).is_none()
    };
    live_tab(model, Tab::is_over) && queued(model).is_none() && model.tab().is_some_and(may)
}

/// What has to be done before a ticket that was only planned so far.
pub fn comes_first<'m>(model: &'m Model, tab: &Tab) -> Option<Before<'m>> {
    let ticket = model.listed.get(&tab.id).filter(|_| tab.standing() == TabStatus::NotStarted)?;
    model.listed.open_dependencies(&tab.id, ticket).next()
}

/// The run has ended with work that could not be merged, and nobody works on it.
pub fn is_unmerged(model: &Model, tab: &Tab) -> bool {
    live(model)
        && tab.is_over()
        && tab.state.merge_failed.is_some()
        && model.queued_why(&tab.id).is_none()
        && model.is_elsewhere(tab).is_none()
}

/// That is because both sides have changed the same files.
pub fn is_in_conflict(model: &Model, tab: &Tab) -> bool {
    let failed = tab.state.merge_failed.as_ref();
    is_unmerged(model, tab) && failed.is_some_and(|failed| !failed.files.is_empty())
}

/// The run in front has.
pub fn has_unmerged(model: &Model) -> bool {
    !model.is_home() && model.tab().is_some_and(|tab| is_unmerged(model, tab))
}

pub fn has_conflict(model: &Model) -> bool {
    !model.is_home() && model.tab().is_some_and(|tab| is_in_conflict(model, tab))
}

/// There is a run whose snapshots can be looked at.
pub fn has_timeline(model: &Model) -> bool {
    live(model) && !model.is_home() && model.shows_run() && !model.fronts_own_session()
}

/// There is work of the run in front that may be committed.
pub fn can_commit(model: &Model) -> bool {
    // What could not be merged is in commits, but where that was what was missing.
    let has_work = |tab: &Tab| tab.state.merge_failed.as_ref().is_none_or(|failed| failed.is_uncommitted);
    live_tab(model, Tab::is_over)
        && model.tab().is_some_and(has_work)
        && !model.is_home()
        && model.tab().is_some_and(|tab| model.is_elsewhere(tab).is_none())
}

/// In a replay nobody is there to write it; `programmator export` does.
pub fn can_export(model: &Model) -> bool {
    live(model) && model.shows_run() && !model.fronts_own_session()
}

pub fn retry_word(model: &Model) -> &'static str {
    let Some(tab) = model.tab().filter(|tab| tab.is_over()) else {
        return if model.is_parked() { "try now" } else { "retry" };
    };
    let (done, all) = tab.progress();
    let ended = |reason| tab.state.ended.as_ref().is_some_and(|ended| ended.reason == reason);
    match () {
        () if ended(ExitReason::MergeFailed) => "merge again",
        () if ended(ExitReason::Planned) => "start",
        () if !ended(ExitReason::Complete) && all > 0 && done == all => "close the ticket",
        () if tab.state.is_resumable() => "resume",
        () => "run again",
    }
}

/// The run in front has ended, and another ticket waits for one.
pub fn can_go_on(model: &Model) -> bool {
    let searching = |tab: &Tab| tab.stream.search().is_some();
    live_tab(model, Tab::is_over) && !model.is_home() && !model.tab().is_some_and(searching) && is_any_ready(model)
}

pub fn can_edit(model: &Model) -> bool {
    live(model)
        && model.ticket_in_front().is_some()
        && !model.fronts_own_session()
        && model.tab().is_none_or(|tab| !tab.gone)
}

pub fn can_go_home(model: &Model) -> bool {
    live(model) && !model.is_home()
}

pub fn beside_others(model: &Model) -> bool {
    !model.is_home()
}

/// What differs now says nothing of a run of the past, and nothing of a session in which the person works, too.
pub fn can_compare(model: &Model) -> bool {
    live(model) && beside_others(model) && !model.fronts_own_session()
}

pub fn can_search(model: &Model) -> bool {
    beside_others(model) && model.shows_run()
}

pub fn log_word(model: &Model) -> &'static str {
    if model.is_log_open && model.focus == log::NAME { "back" } else { "log" }
}

pub fn can_hide(model: &Model) -> bool {
    beside_others(model) && model.focus != stream::NAME
}

pub fn someone_waits(model: &Model) -> bool {
    !model.attention().is_empty()
}

pub fn several_tabs(model: &Model) -> bool {
    model.tabs.len() > usize::from(!model.is_home())
}

pub fn end_word(model: &Model) -> &'static str {
    if model.is_home() { "last" } else { "follow" }
}

pub fn can_go_to_end(model: &Model) -> bool {
    model.is_home() && model.home.cursor.is_some()
        || model.tab().is_some_and(|tab| !model.is_home() && tab.stream.status() != FollowStatus::Following)
}

/// The run may go on as it is, once the person says so.
fn stopped_at_a_limit(tab: &Tab) -> bool {
    let reason = tab.state.ended.as_ref().map(|ended| ended.reason);
    tab.failure.is_none() && matches!(reason, Some(ExitReason::Budget | ExitReason::RateLimited))
}

fn is_pausing(tab: &Tab) -> bool {
    tab.takes_commands() && tab.state.stage != Stage::Paused && tab.state.pace != Pace::Run
}

pub fn pause_word(model: &Model) -> &'static str {
    match model.tab().map(Tab::standing) {
        _ if model.tab().is_some_and(Tab::is_interrupted) => "resume",
        // Also while something of it needs the person.
        Some(_) if model.tab().is_some_and(Tab::is_stopping) => "keep going",
        Some(_) if model.tab().is_some_and(is_pausing) => "cancel pause",
        Some(TabStatus::NotStarted | TabStatus::Complete | TabStatus::Unverified) => "start",
        Some(TabStatus::Paused | TabStatus::YourTurn | TabStatus::Stopped) => "resume",
        Some(TabStatus::Halted) if model.tab().is_some_and(stopped_at_a_limit) => "resume",
        Some(TabStatus::Halted) => "try again",
        _ => "pause",
    }
}

impl Model {
    /// How long the open breaker of a ticket still refuses a start; `None`: it is not open.
    pub fn breaker_left(&self, tab: &Tab) -> Option<Duration> {
        let breaker = &tab.state.breaker;
        match recover(breaker, &tab.state.settings.breaker, self.now) {
            _ if breaker.state != Circuit::Open => None,
            Recovery::Refused { left } => Some(left),
            _ => Some(Duration::ZERO),
        }
    }

    /// Its next start would be refused by the breaker.
    pub fn is_barred(&self, tab: &Tab) -> bool {
        !tab.takes_commands() && !tab.state.has_all_done() && self.breaker_left(tab).is_some_and(|left| !left.is_zero())
    }

    /// The run in front waits for a limit.
    pub fn is_parked(&self) -> bool {
        self.tab().is_some_and(|tab| tab.state.stage == Stage::Parked && tab.state.ended.is_none())
    }

    /// The ticket in front waits for the provider, which the person may ask again. Our own limits are not asked: they
    /// say no until their time.
    pub fn can_try_now(&self) -> bool {
        let parking = self.tab().and_then(|tab| tab.state.limits.parked.as_ref());
        self.is_parked() && parking.is_none_or(|parking| matches!(parking.why, Why::Provider | Why::Warning))
    }

    /// The phase that `s` would leave out: the one under the tree's cursor, else the current one.
    pub fn skippable(&self) -> Option<&PhaseState> {
        let tab = self.tab()?;
        let phase = match self.phase_under_cursor() {
            Some(id) => tab.state.phase_by(id)?,
            None => tab.current_phase()?,
        };
        (!phase.stands().is_settled()).then_some(phase)
    }

    /// The phase that `r` would work on again: the one under the tree's cursor, else the first that
    /// is disputed, blocked or skipped.
    pub fn retryable(&self) -> Option<&PhaseState> {
        let tab = self.tab()?;
        let again = |mark| matches!(mark, Mark::Disputed | Mark::Blocked | Mark::Skipped | Mark::Done(_));
        if let Some(id) = self.phase_under_cursor() {
            tab.state.phase_by(id).filter(|phase| again(phase.mark))
        } else {
            let mut phases = tab.state.phases.iter();
            phases.find(|phase| again(phase.mark) && !matches!(phase.mark, Mark::Done(_)))
        }
    }
}

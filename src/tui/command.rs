//! The one table of keys: what each does, where, and when. Key map, footer, help screen and the
//! documentation's table are all made of it.
//!
//! Adding a key: one row here, one arm in `tui::update` (or in the dialog that it belongs to).

use crate::domain::limits::admission::Why;
use crate::domain::outcome::ExitReason;
use crate::orchestrator::state::{Mark, PhaseState, Stage};
use crate::tui::model::{Mode, Model};
use crate::tui::msg::{Input, Key};
use crate::tui::panes::Pane;
use crate::tui::panes::stream::{Fold, FollowStatus};
use crate::tui::tab::{Standing, Tab};
use std::fmt::Write as _;

mod table;

pub use table::TABLE;

/// Everything a key can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is described by its row in `TABLE`")]
pub enum Command {
    Pause,
    PauseNow,
    Skip,
    Retry,
    Steer,
    Stop,
    ResetBreaker,
    NextWaiting,
    Queue,
    Edit,
    OpenTicket,
    FocusNext,
    FocusPrevious,
    GoToTab,
    TabPrevious,
    TabNext,
    Help,
    Quit,
    Suspend,
    Redraw,
    Down,
    Up,
    PageDown,
    PageUp,
    Top,
    End,
    Choose,
    Fold,
    Tick,
    Copy,
    Search,
    SearchNext,
    SearchPrevious,
    ClearSearch,
    Details,
    LogLevel,
    LogTicket,
    LogFilter,
    Explain,
    Close,
    Yes,
    No,
    Send,
    NewLine,
    Allow,
    AllowTicket,
    AllowKind,
    AllowAlways,
    Deny,
    EditInput,
    Toggle,
    QuestionNext,
    QuestionPrevious,
    Seen,
    QuitFinish,
    QuitNow,
}

/// Where a key counts. Dialogs hide everything below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In every pane.
    Global,
    /// In one pane, before the global keys.
    Pane(PaneScope),
    /// The help screen.
    Help,
    /// “Really?”
    Confirm,
    /// Words for Claude.
    Steer,
    /// Opening a ticket.
    Open,
    /// Leaving while something runs.
    Quit,
    /// A question of a run.
    Question,
    /// Everything that waits.
    Queue,
    /// A call of Claude's that waits.
    Card,
    /// Words on such a card.
    Words,
    /// The input of such a call, to be changed.
    EditInput,
    /// A lasting rule, before it is saved.
    Rule,
    /// The masked field.
    Passphrase,
    /// Claude's question with its options.
    Choices,
    /// Something else that waits.
    Matter,
    /// One line of text at the bottom.
    Prompt,
}

/// [`Pane`], as part of a [`Scope`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the panes by their names")]
pub enum PaneScope {
    Tickets,
    Stream,
    Gauges,
    Log,
}

impl From<Pane> for Scope {
    fn from(pane: Pane) -> Self {
        Self::Pane(match pane {
            Pane::Tickets => PaneScope::Tickets,
            Pane::Stream => PaneScope::Stream,
            Pane::Gauges => PaneScope::Gauges,
            Pane::Log => PaneScope::Log,
        })
    }
}

/// How a row is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// In footer and help.
    Shown,
    /// In help only.
    HelpOnly,
    /// Asks before it acts; in footer and help.
    Destructive,
    /// Nowhere: a second way that needs no words.
    Hidden,
}

/// One row of the table.
pub struct Row {
    /// What it does.
    pub command: Command,
    /// Its name in a future key file, and in tests.
    pub id: &'static str,
    /// Where it counts.
    pub scope: Scope,
    /// Heading in the help screen.
    pub group: &'static str,
    /// A sentence for help and documentation.
    pub doc: &'static str,
    /// Its keys; the first is the one that the footer shows.
    pub keys: &'static [Input],
    /// How it is shown.
    pub flag: Flag,
    /// Whether it can act now.
    pub enabled: fn(&Model) -> bool,
    /// The footer's word for it now.
    pub hint: fn(&Model) -> &'static str,
}

/// The row for a key in a scope, whether it can act now or not.
pub fn find(scope: Scope, input: &Input) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.scope == scope && row.keys.iter().any(|key| same(key, input)))
}

/// Lines by which a command moves what is scrolled, in a window of `page` lines; 0 for what moves nothing.
pub fn lines(command: Option<Command>, page: usize) -> i32 {
    let page = i32::try_from(page).unwrap_or(i32::MAX);
    match command {
        Some(Command::Down) => 1,
        Some(Command::Up) => -1,
        Some(Command::PageDown) => page,
        Some(Command::PageUp) => -page,
        Some(Command::Top) => i32::MIN,
        Some(Command::End) => i32::MAX,
        _ => 0,
    }
}

/// `Shift` tells nothing about a letter that it has already changed.
fn same(key: &Input, input: &Input) -> bool {
    let shift_counts = !matches!(key.key, Key::Char(_));
    key.key == input.key
        && key.ctrl == input.ctrl
        && key.alt == input.alt
        && (!shift_counts || key.shift == input.shift)
}

/// The keys of a row as people read them: `p`, `⇧Tab`, `^C`, `1–9`.
pub fn keys_text(row: &Row) -> String {
    match row.keys {
        [first, .., last] if row.keys.len() > 4 => {
            format!("{}–{}", key_text(first), key_text(last))
        }
        keys => keys.iter().map(key_text).collect::<Vec<_>>().join(" "),
    }
}

/// One key as people read it.
pub fn key_text(input: &Input) -> String {
    let key = match input.key {
        Key::Char(' ') => "Space".into(),
        Key::Char(c) => c.to_string(),
        Key::Up => "↑".into(),
        Key::Down => "↓".into(),
        Key::Left => "←".into(),
        Key::Right => "→".into(),
        Key::PageUp => "PgUp".into(),
        Key::PageDown => "PgDn".into(),
        other => format!("{other:?}"),
    };
    let shift = if input.shift { "⇧" } else { "" };
    let ctrl = if input.ctrl { "^" } else { "" };
    let alt = if input.alt { "Alt-" } else { "" };
    let key = if input.ctrl { key.to_uppercase() } else { key };
    format!("{shift}{alt}{ctrl}{key}")
}

/// The keys as a Markdown table, for the documentation.
pub fn markdown_table() -> String {
    let mut out = String::from("| where | key | what |\n|---|---|---|\n");
    for row in TABLE.iter().filter(|row| row.flag != Flag::Hidden) {
        let keys = keys_text(row).replace('|', "\\|");
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {} | `{keys}` | {} |", row.group, row.doc);
    }
    out
}

// When rows can act. Named here, used by the table.

fn always(_: &Model) -> bool {
    true
}

fn live(model: &Model) -> bool {
    model.mode == Mode::Live
}

fn live_tab(model: &Model, holds: fn(&Tab) -> bool) -> bool {
    live(model) && model.tab().is_some_and(holds)
}

fn can_pause(model: &Model) -> bool {
    live_tab(model, |tab| tab.standing() != Standing::Complete && tab.standing() != Standing::Gone)
}

fn can_pause_now(model: &Model) -> bool {
    live_tab(model, Tab::is_active)
}

fn can_command(model: &Model) -> bool {
    live_tab(model, Tab::has_open_run)
}

fn can_reset_breaker(model: &Model) -> bool {
    live_tab(model, |tab| tab.run.is_some() && !tab.state.breaker.is_at_rest())
}

fn can_tick(model: &Model) -> bool {
    model.tickable().is_some()
}

fn can_skip(model: &Model) -> bool {
    can_command(model) && model.skippable().is_some()
}

fn can_retry(model: &Model) -> bool {
    can_command(model) && if model.is_parked() { model.can_try_now() } else { model.retryable().is_some() }
}

fn retry_word(model: &Model) -> &'static str {
    if model.is_parked() { "try now" } else { "retry" }
}

fn can_edit(model: &Model) -> bool {
    live_tab(model, |tab| !tab.gone)
}

fn someone_waits(model: &Model) -> bool {
    model.waiting() > 0
}

fn several_tabs(model: &Model) -> bool {
    model.tabs.len() > 1
}

fn stream_is_behind(model: &Model) -> bool {
    model.tab().is_some_and(|tab| tab.stream.status() != FollowStatus::Following)
}

fn has_stream(model: &Model) -> bool {
    model.tab().is_some_and(|tab| tab.run.is_some())
}

fn is_searching(model: &Model) -> bool {
    model.tab().is_some_and(|tab| tab.stream.search().is_some())
}

fn details_word(model: &Model) -> &'static str {
    match model.tab().map(|tab| tab.stream.fold()) {
        Some(Fold::Full) => "brief",
        _ => "details",
    }
}

/// The run may go on as it is, once the person says so.
fn stopped_at_a_limit(tab: &Tab) -> bool {
    let reason = tab.state.ended.as_ref().map(|ended| ended.reason);
    tab.failure.is_none() && matches!(reason, Some(ExitReason::Budget | ExitReason::RateLimited))
}

fn pause_word(model: &Model) -> &'static str {
    match model.tab().map(Tab::standing) {
        Some(Standing::NotStarted) => "start",
        Some(Standing::Pausing) => "go on",
        Some(Standing::Paused | Standing::Stopped) => "resume",
        Some(Standing::NeedsYou) if model.tab().is_some_and(stopped_at_a_limit) => "go on",
        Some(Standing::NeedsYou) if model.tab().is_some_and(|tab| !tab.is_active()) => "try again",
        _ => "pause",
    }
}

impl Model {
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
        (!phase.mark.is_settled()).then_some(phase)
    }

    /// The phase that `d` would tick: the one under the tree's cursor.
    pub fn tickable(&self) -> Option<&PhaseState> {
        let phase = self.tab()?.state.phase_by(self.phase_under_cursor()?)?;
        (!phase.ticked || !matches!(phase.mark, Mark::Done(_))).then_some(phase)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_key_means_two_things_in_one_scope() {
        for (at, row) in TABLE.iter().enumerate() {
            for other in &TABLE[at + 1..] {
                for key in row.keys {
                    assert!(
                        row.scope != other.scope || !other.keys.iter().any(|k| same(k, key)),
                        "`{}` is bound twice in {:?}: {} and {}",
                        key_text(key),
                        row.scope,
                        row.id,
                        other.id
                    );
                }
            }
        }
    }

    #[test]
    fn a_pane_hides_a_global_key_only_on_purpose() {
        for row in TABLE.iter().filter(|row| matches!(row.scope, Scope::Pane(_))) {
            for key in row.keys {
                let hidden = find(Scope::Global, key);
                assert!(hidden.is_none(), "{} hides {}", row.id, hidden.unwrap().id);
            }
        }
    }

    #[test]
    fn ids_are_unique_and_every_row_says_what_it_does() {
        let ids: HashSet<_> = TABLE.iter().map(|row| row.id).collect();
        assert_eq!(ids.len(), TABLE.len());
        for row in TABLE {
            assert!(!row.doc.is_empty() && !row.keys.is_empty(), "{}", row.id);
        }
    }

    #[test]
    fn shift_is_told_by_the_letter() {
        let big_p = Input { key: Key::Char('P'), shift: true, ..Input::default() };
        assert_eq!(find(Scope::Global, &big_p).unwrap().command, Command::PauseNow);
        let back_tab = Input { key: Key::Tab, shift: true, ..Input::default() };
        assert_eq!(find(Scope::Global, &back_tab).unwrap().command, Command::FocusPrevious);
    }

    #[test]
    fn the_table_for_the_readme_names_every_key_of_the_runs() {
        let table = markdown_table();
        for line in ["| run | `p` |", "| run | `P` |", "| run | `s` |", "| screen | `1–9` |"] {
            assert!(table.contains(line), "{line} is not in\n{table}");
        }
    }
}

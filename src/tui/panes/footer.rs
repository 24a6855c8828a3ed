//! The last line: the keys that apply now, or words for the person; how the ticket in front stands.

use crate::base::text::{Clean, cut_words};
use crate::base::time::human;
use crate::domain::request::Closing;
use crate::tui::attention::What;
use crate::tui::command::{Command, Flag, Row as Entry, Scope, hints, table};
use crate::tui::keys::{Pressed, key_text};
use crate::tui::model::{Mode, Model};
use crate::tui::panes::ending::may_commit;
use crate::tui::tab::{Tab, TabStatus};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::ui::Ui;
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Draws the line.
pub fn view(ui: &Ui, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let row = Row::new().left(Role::Text, " ");
    if let Some(prompt) = ui.prompt() {
        let row = prompt.line(row, ui.glyphs);
        let keys = hints(ui, Scope::Prompt, &[Command::Choose, Command::Close]);
        let row =
            keys.iter().fold(row, |row, (key, hint)| row.right(Role::Key, key).right(Role::Hint, format!(" {hint}  ")));
        row.draw(theme, area, buf);
        return;
    }
    let row = standing(ui, row, area.width);
    let row = match &ui.toast {
        _ if ui.pressed != Pressed::default() => begun(ui, row.left(Role::Key, format!("{} …  ", ui.pressed.text()))),
        Some((words, _)) => {
            let room = usize::from(area.width).saturating_sub(row.left_width() + row.right_width() + 1);
            row.left(Role::Toast, cut_words(&Clean::new(words).into_string().replace(['\n', '\t'], " "), room))
        }
        // A dialog tells its keys itself.
        _ if !ui.modals.is_empty() => row,
        _ => keys(ui, ui.selects(), row, area.width),
    };
    row.draw(theme, area, buf);
}

/// The keys that may follow the first one of two.
fn begun(ui: &Ui, row: Row) -> Row {
    let pressed = &ui.pressed.keys;
    let scopes = [Scope::Pane(ui.focus), Scope::Global];
    let fit = table().filter(|row| !pressed.is_empty() && scopes.contains(&row.scope) && ui.modals.is_empty());
    let chords = fit.flat_map(|row| ui.keys.keys(row).into_iter().map(move |chord| (chord, row)));
    let next = chords.filter(|(chord, row)| chord.begins_with(pressed) && (row.enabled)(ui));
    next.fold(row, |line, (chord, row)| {
        let key = chord.0.get(pressed.len()).map_or_else(String::new, key_text);
        line.left(Role::Key, key).left(Role::Hint, format!(" {}  ", (row.hint)(ui)))
    })
}

/// What waits for the person, the way back from a pane alone or larger, the keys of the pane with the focus, those of the
/// whole screen. What does not fit is left out; help and quit stay.
fn keys(model: &Model, selects: bool, row: Row, width: u16) -> Row {
    let zoomed = model.arrangement.is_zoomed && !model.is_home();
    let is_back = |row: &Entry| match row.scope {
        Scope::Zoomed => zoomed && row.command == Command::Close,
        _ => row.command == Command::Log && model.is_log_open && !model.is_home(),
    };
    let is_over = model.tab().is_some_and(Tab::is_over) && !model.is_home();
    let is_paused = model.tab().is_some_and(|tab| tab.standing() == TabStatus::Paused);
    let place = |row: &&Entry| match row.scope {
        _ if is_paused && row.command == Command::Pause => 1,
        // What goes on from an end.
        _ if is_back(row) || is_over && matches!(row.command, Command::Pause | Command::Retry | Command::Commit) => 1,
        _ if row.command == Command::NextWaiting => 0,
        Scope::Replay => 1,
        Scope::Pane(_) | Scope::Visual => 2,
        _ => 3,
    };
    let scopes = [if selects { Scope::Visual } else { Scope::Pane(model.focus) }, Scope::Global];
    let is_played = |row: &Entry| row.scope == Scope::Replay && model.mode == Mode::Replay && !selects;
    let is_shown = |row: &Entry| {
        (scopes.contains(&row.scope) || is_played(row)) && matches!(row.flag, Flag::Shown | Flag::Destructive)
    };
    let mut rows: Vec<&Entry> = table().filter(|row| (is_shown(row) || is_back(row)) && (row.enabled)(model)).collect();
    // One key a deed: what else starts is told by its own.
    let is = |wanted: fn(&Entry) -> bool| rows.iter().any(|row| wanted(row));
    let is_double = !model.tab().is_some_and(Tab::takes_commands)
        && (is(|row| row.command == Command::Retry) || is(|row| row.command == Command::Own("start")));
    rows.retain(|row| !(is_double && row.command == Command::Pause));
    rows.retain(|row| row.command != Command::Commit || may_commit(model));
    // In a pane its own keys are meant.
    let own: Vec<String> = rows.iter().filter(|row| row.scope == scopes[0]).map(|row| model.keys.first(row)).collect();
    rows.retain(|row| row.scope != Scope::Global || !own.contains(&model.keys.first(row)));
    rows.sort_by_key(place);
    let all = rows.into_iter().map(|row| (model.keys.first(row), (row.hint)(model)));
    let all: Vec<(String, &str)> = all.filter(|(key, _)| !key.is_empty()).collect();
    let cells = |hint: &(String, &str)| hint.0.width() + 1 + hint.1.width() + 2;
    let (first, last) = all.split_at(all.len().saturating_sub(2));
    let room = usize::from(width).saturating_sub(row.left_width() + row.right_width() + 1);
    let mut room = room.saturating_sub(last.iter().map(cells).sum::<usize>());
    let fitting = first.iter().take_while(|hint| {
        let fits = cells(hint) <= room;
        room = room.saturating_sub(cells(hint));
        fits
    });
    fitting.chain(last).fold(row, |row, (key, hint)| row.left(Role::Key, key).left(Role::Hint, format!(" {hint}  ")))
}

fn standing(model: &Model, row: Row, width: u16) -> Row {
    if model.quitting.is_some() && !model.anything_active() && !model.committing.is_empty() {
        let key = model.keys.key_of(Scope::Global, Command::Quit);
        return row.right(Role::Warning, format!("quits after the commit · {key} quits now "));
    }
    if let Some(mode) = model.quitting {
        return row.right(
            Role::Warning,
            match mode {
                Closing::AfterIteration => "quits after this iteration ",
                Closing::Now | Closing::HandOver | Closing::Abandon => "stopping, then quits ",
            },
        );
    }
    let Some(tab) = model.tab().filter(|tab| tab.run.is_some()) else { return row };
    if let Some(replay) = &model.replay {
        let glyph = if replay.is_playing { model.glyphs.pick("▶", ">") } else { model.glyphs.pick("‖", "=") };
        let times = model.glyphs.pick("×", "x");
        let place = format!(" {times}{} · {}/{} ", replay.speed(), replay.at, replay.records.len());
        return row.right(Role::Accent, glyph).right(Role::Dim, place);
    }
    let sign = model.standing(tab).sign(model.glyphs);
    let time = elapsed(model, tab);
    // Nobody counts what it costs.
    if tab.is_own_session() {
        let word = if width >= 100 { sign.word } else { sign.glyph };
        row.right(sign.role, word).right(Role::Dim, format!(" {time} "))
    } else if width >= 100 {
        row.right(sign.role, sign.word).right(Role::Dim, format!(" {time} · ${:.2} ", tab.state.ticket_usd()))
    } else {
        row.right(sign.role, sign.glyph).right(Role::Dim, format!(" {time} "))
    }
}

/// Time that the run has worked; while it needs the person, how long the oldest question waits; while it is queued, how long
/// that is.
fn elapsed(model: &Model, tab: &Tab) -> String {
    let waits = model.attention().into_iter();
    let waits = waits.filter(|item| item.ticket == tab.id && matches!(item.what, What::Call(_) | What::Draft));
    if let Some(since) = waits.filter_map(|item| item.since).min() {
        return human(model.now.since(since));
    }
    if let Some(own) = &tab.own {
        return human(model.now.since(own.since));
    }
    if let Some(since) = tab.state.queued.filter(|_| tab.standing() == TabStatus::Waiting) {
        return human(model.now.since(since));
    }
    let until = match (tab.is_at_work() && model.mode == Mode::Live, tab.state.updated) {
        (false, Some(updated)) => updated,
        _ => model.now,
    };
    human(tab.worked(until))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;
    use crate::orchestrator::state::Stage;
    use crate::tui::panes::PANES;
    use crate::tui::sample;

    #[test]
    fn one_key_a_deed_is_offered() {
        let mut ui = sample::model();
        ui.tabs.push(sample::guarded("tk-1"));
        let footer = |ui: &mut Ui| sample::draw(ui, (120, 40)).lines().last().unwrap().to_owned();
        let end = footer(&mut ui);
        assert!(end.contains("r run again") && !end.contains(" p "), "{end}");
        ui.tabs = vec![sample::running("tk-1")];
        assert!(footer(&mut ui).contains("p pause"), "{}", footer(&mut ui));
    }

    #[test]
    fn what_is_paused_is_resumed_from_home() {
        let mut ui = sample::model();
        ui.tabs.push(sample::paused("tk-1"));
        ui.focus = crate::tui::home::NAME;
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.lines().last().unwrap().contains("p resume"), "{screen}");
    }

    #[test]
    fn the_time_is_that_in_which_the_run_worked() {
        let mut model = sample::model();
        model.tabs.push(sample::running("tk-1"));
        let before = elapsed(&model, &model.tabs[0]);
        // It was stopped for a day before it was resumed.
        let started = model.tabs[0].state.started.unwrap();
        model.tabs[0].state.started = Some(Timestamp::from_millis(started.millis() - 86_400_000));
        assert_eq!(elapsed(&model, &model.tabs[0]), before);
    }

    #[test]
    fn beside_queued_stands_how_long_it_waits() {
        let mut model = sample::model();
        model.tabs.push(sample::running("tk-1"));
        model.tabs[0].state.stage = Stage::AwaitingTree { holder: Some("tk-2".into()) };
        model.tabs[0].state.queued = Some(Timestamp::from_millis(model.now.millis() - 13_000));
        assert_eq!(elapsed(&model, &model.tabs[0]), "13 s");
    }

    #[test]
    fn beside_needs_you_stands_how_long_the_oldest_question_waits() {
        let mut model = sample::model();
        model.tabs.push(sample::running("tk-1"));
        let run = elapsed(&model, &model.tabs[0]);
        for (id, seconds) in [("young", 5), ("old", 42)] {
            model.tabs[0].state.approvals.push(sample::asks(id, "Bash", "{}", seconds).into());
        }
        assert_ne!(run, "42 s");
        assert_eq!(elapsed(&model, &model.tabs[0]), "42 s");
    }

    #[test]
    fn the_keys_of_the_pane_and_the_way_back_are_there_at_80_columns() {
        let footer = |focus, is_log_open, is_zoomed| {
            let mut ui = sample::busy();
            (ui.focus, ui.is_log_open, ui.arrangement.is_zoomed) = (focus, is_log_open, is_zoomed);
            let screen = sample::draw(&mut ui, (80, 24));
            screen.lines().last().unwrap().to_owned()
        };
        for (focus, key) in [("log", "l level"), ("changes", "o since"), ("gauges", "Enter explain")] {
            let line = footer(focus, false, false);
            assert!(line.contains(key.trim_end_matches(" since")), "{focus}: {line}");
        }
        assert!(footer("log", true, false).contains("L back"), "{}", footer("log", true, false));
        assert!(footer("stream", false, true).contains("Esc all panes"));
    }

    #[test]
    fn what_was_done_is_told_as_far_as_there_is_room() {
        let mut ui = sample::model();
        ui.tabs.push(sample::running("tk-1"));
        let words = "answered: Which separator should the words have in a file that is counted?";
        ui.tell(words);
        let footer = |ui: &mut Ui, size| sample::draw(ui, size).lines().last().unwrap().to_owned();
        assert!(footer(&mut ui, (120, 40)).contains(words), "{}", footer(&mut ui, (120, 40)));
        for width in 60..75 {
            let small = footer(&mut ui, (width, 15));
            let (kept, _) = small.split_once('…').unwrap();
            assert!(words.starts_with(&format!("{} ", kept.trim())), "{small}");
        }
    }

    #[test]
    fn the_smallest_footer_says_that_something_waits() {
        for pane in PANES {
            let mut ui = sample::busy();
            ui.focus = pane.name;
            let screen = sample::draw(&mut ui, crate::tui::layout::SMALLEST);
            let footer = screen.lines().last().unwrap();
            assert!(footer.contains("! needs you") && footer.contains("q quit"), "{}: {footer}", pane.name);
        }
    }
}

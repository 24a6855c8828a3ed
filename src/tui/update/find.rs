//! The search through all runs and tickets: shown, told, and what of it is opened.

use crate::domain::find::{Batch, Find, Match, Spot};
use crate::domain::request::Request;
use crate::domain::search::Only;
use crate::tui::command::Command;
use crate::tui::modals::Modal;
use crate::tui::modals::find::{Finder, Outcome};
use crate::tui::model::Mode;
use crate::tui::msg::{Ask, Input};
use crate::tui::panes::log;
use crate::tui::panes::stream::{self, StreamMsg};
use crate::tui::tab::Tab;
use crate::tui::ui::{Landing, Ui};
use std::path::PathBuf;

/// Shows it as it was left.
pub(super) fn show(ui: &mut Ui) -> Vec<Ask> {
    let mut finder = std::mem::take(&mut ui.finder);
    let ask = finder.resume();
    ui.modals.push(Modal::Find(Box::new(finder)));
    ask.into_iter().collect()
}

/// A key while it is shown.
pub(super) fn key(ui: &mut Ui, mut finder: Finder, command: Option<Command>, input: &Input, lines: i32) -> Vec<Ask> {
    match finder.key(command, input, lines) {
        Outcome::Stays(ask) => {
            ui.modals.push(Modal::Find(Box::new(finder)));
            ask.into_iter().collect()
        }
        Outcome::Closes => {
            ui.finder = finder;
            Vec::new()
        }
        Outcome::Opens(found, only) => {
            let query = finder.query.trim().to_owned();
            open(ui, finder, &found, (query, only))
        }
    }
}

/// A piece of it, or why there is none.
pub(super) fn told(ui: &mut Ui, asked: &Find, batch: Result<Batch, String>) -> Vec<Ask> {
    let shown =
        ui.modals.iter_mut().find_map(|modal| if let Modal::Find(finder) = modal { Some(finder) } else { None });
    // Closed, it does not go on.
    shown.and_then(|finder| finder.told(asked, batch)).into_iter().collect()
}

/// Leaves the list where another run is opened.
fn open(ui: &mut Ui, finder: Finder, found: &Match, (query, only): (String, Option<Only>)) -> Vec<Ask> {
    let (run, to) = match found.spot {
        Spot::Ticket { line } => {
            ui.modals.push(Modal::Find(Box::new(finder)));
            return vec![Ask::EditFile(PathBuf::from(found.ticket.file()), line)];
        }
        Spot::Run { run, iteration: n, record } => (run, Some(StreamMsg::Land { n, record, query, only })),
        Spot::Log { run, .. } => {
            if let Some((_, pane)) = ui.panes.iter_mut().find(|(name, _)| *name == log::NAME) {
                pane.typed(&mut ui.model, &query);
            }
            (run, None)
        }
    };
    let is_live = ui.mode == Mode::Live;
    // A replay may not have come to the place: it is opened anew, at its end.
    let is_shown = is_live && ui.tab_of(&found.ticket).is_some_and(|tab| tab.run == Some(run));
    if is_live && !is_shown && ui.tab_of(&found.ticket).is_some_and(Tab::has_open_run) {
        ui.tell(format!("{} is running; `programmator replay {}` shows its older run", found.ticket, run.short()));
        ui.modals.push(Modal::Find(Box::new(finder)));
        return Vec::new();
    }
    ui.finder = finder;
    if is_live {
        let at = ui.open_tab(&found.ticket);
        ui.show_tab(at);
    }
    ui.is_log_open |= to.is_none();
    ui.focus = if to.is_some() { stream::NAME } else { log::NAME };
    if !is_shown {
        ui.landing = Some(Landing { run, to });
        return vec![Ask::Request(Request::Show(run))];
    }
    if let (Some(to), Some(tab)) = (to, ui.tabs.iter_mut().find(|tab| tab.run == Some(run))) {
        tab.stream.update(to);
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::find::{Cursor, InRun};
    use crate::domain::request::Reply;
    use crate::tui::msg::Msg;
    use crate::tui::sample;
    use crate::tui::update::update;

    fn press(ui: &mut Ui, keys: &str) -> Vec<Ask> {
        keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect()
    }

    fn asked(asks: &[Ask]) -> Find {
        match asks {
            [.., Ask::Request(Request::Find(find))] => find.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn found(ticket: &str, spot: Spot) -> Match {
        let (line, marked) = ("a needle here".to_owned(), 2..8);
        Match { ticket: sample::id(ticket), title: "T".into(), spot, time: Some(sample::NOW), line, marked }
    }

    fn told(ui: &mut Ui, find: &Find, matches: Vec<Match>, next: Option<Cursor>) -> Vec<Ask> {
        let batch = Batch { matches, next, looked: 1, runs: 2 };
        update(ui, Msg::Replied(Reply::Found(find.clone(), Ok(batch))))
    }

    fn next() -> Cursor {
        let (run, started) = (sample::run("tk-9"), sample::NOW);
        Cursor::Run(Some(InRun { run, started, iteration: 1, record: 0, found: 0 }))
    }

    const SPOT: Spot = Spot::Ticket { line: 3 };

    #[test]
    fn what_is_typed_is_looked_for_and_what_comes_too_late_is_left_out() {
        let mut ui = sample::model();
        assert_eq!(press(&mut ui, "F"), []);
        let first = asked(&press(&mut ui, "a"));
        let second = asked(&press(&mut ui, "b"));
        assert_eq!(second.query, "ab");
        assert_eq!(told(&mut ui, &first, vec![found("tk-1", SPOT)], Some(next())), []);
        assert!(sample::draw(&mut ui, (80, 24)).contains("Searching …"));
        let more = asked(&told(&mut ui, &second, vec![found("tk-1", SPOT)], Some(next())));
        assert_eq!(Some(more.from.clone()), Some(next()));
        let screen = sample::draw(&mut ui, (60, 15));
        assert!(screen.contains("1 match · 1 of 2 runs …") && screen.contains("a needle here"), "{screen}");
        // Closed, it does not go on; shown again, it does.
        press(&mut ui, "Esc");
        assert_eq!(told(&mut ui, &more, vec![found("tk-1", SPOT)], Some(next())), []);
        assert_eq!(asked(&press(&mut ui, "F")), more);
        assert_eq!(asked(&press(&mut ui, "Tab")).only, Some(Only::Tools));
        assert_eq!(asked(&press(&mut ui, "4 2")).query, "ab42", "no count");
        let asks = update(&mut ui, Msg::Paste("c\nd".into()));
        assert_eq!(asked(&asks).query, "ab42c d");
        let refused = asked(&asks);
        update(&mut ui, Msg::NotAsked(Box::new(Request::Find(refused))));
        assert!(sample::draw(&mut ui, (80, 24)).contains("programmator is busy"));
    }

    #[test]
    fn it_ends_when_there_is_enough() {
        let mut ui = sample::model();
        let mut find = asked(&press(&mut ui, "F a"));
        let mut pieces = 0;
        loop {
            pieces += 1;
            let asks = told(&mut ui, &find, vec![found("tk-1", SPOT); 90], Some(next()));
            if asks.is_empty() {
                break;
            }
            find = asked(&asks);
        }
        assert_eq!(pieces, 6);
        assert!(sample::draw(&mut ui, (80, 24)).contains("the first 500 matches · 1 of 2 runs"));
    }

    #[test]
    fn a_line_of_a_log_is_shown_among_those_like_it() {
        let mut ui = sample::model();
        ui.tabs.push(sample::finished("tk-1"));
        let spot = |run| Spot::Log { run, iteration: 2 };
        let older = sample::run("tk-9");
        let find = asked(&press(&mut ui, "F n"));
        let matches = vec![found("tk-1", spot(sample::run("tk-1"))), found("tk-1", spot(older))];
        told(&mut ui, &find, matches, None);
        assert!(sample::draw(&mut ui, (80, 24)).contains("  log    a needle here"));
        press(&mut ui, "Enter");
        assert!(ui.is_log_open && ui.focus == log::NAME && ui.landing.is_none());
        assert!(sample::draw(&mut ui, (120, 40)).contains("one line per iteration · “n”"));
        let asks = press(&mut ui, "F Ctrl-n Enter");
        assert_eq!(asks[..1], [Ask::Request(Request::Show(older))]);
        assert!(ui.landing.as_ref().is_some_and(|landing| landing.run == older && landing.to.is_none()));
    }

    #[test]
    fn what_is_found_is_opened_where_it_is() {
        let mut ui = sample::model();
        ui.tabs.push(sample::finished("tk-1"));
        ui.tabs.push(sample::running("tk-2"));
        let spot = |run| Spot::Run { run, iteration: 2, record: 7 };
        let older = sample::run("tk-9");
        let matches = vec![
            found("tk-1", Spot::Ticket { line: 3 }),
            found("tk-1", spot(older)),
            found("tk-1", spot(sample::run("tk-1"))),
            found("tk-2", spot(older)),
        ];
        let find = asked(&press(&mut ui, "F n"));
        told(&mut ui, &find, matches, None);
        let file = PathBuf::from(sample::id("tk-1").file());
        assert_eq!(press(&mut ui, "Enter"), [Ask::EditFile(file, 3)]);
        let asks = press(&mut ui, "Ctrl-n Enter");
        assert_eq!(asks[..1], [Ask::Request(Request::Show(older))]);
        assert!(ui.modals.is_empty() && ui.landing.as_ref().is_some_and(|landing| landing.run == older));
        let asks = press(&mut ui, "F Ctrl-n Enter");
        assert!(!asks.contains(&Ask::Request(Request::Show(sample::run("tk-1")))), "it is shown: {asks:?}");
        press(&mut ui, "F Ctrl-n Enter");
        assert!(ui.toast.as_ref().is_some_and(|(words, _)| words.contains("`programmator replay ")), "{:?}", ui.toast);
    }
}

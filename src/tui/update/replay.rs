//! A replay goes on, back, faster.

use crate::base::time::Timestamp;
use crate::domain::news::News;
use crate::domain::scrollback::Scrollback;
use crate::tui::command::{Command, Scope, table};
use crate::tui::model::Mode;
use crate::tui::replay::Replay;
use crate::tui::ui::Ui;
use crate::tui::update::news;
use std::sync::Arc;

/// News of a run of the past are kept, to be played.
pub(super) fn opened(ui: &mut Ui, what: &News) {
    if let (Mode::Replay, News::RunOpened { run, records, .. }) = (ui.mode, what) {
        let is_found = ui.landing.as_ref().is_some_and(|landing| landing.run == *run);
        if is_found {
            ui.tabs.clear();
            ui.active = 0;
        }
        if is_found || ui.replay.is_none() {
            ui.replay = Some(Replay::new(records.clone()));
        }
    }
}

/// What Claude printed in it.
pub(super) fn printed(ui: &mut Ui, scrollback: Arc<dyn Scrollback>) {
    if let Some(replay) = &mut ui.replay {
        replay.attach(scrollback);
    }
}

/// Time has passed.
pub(super) fn tick(ui: &mut Ui, now: Timestamp) {
    let passed = now.since(ui.now);
    let Some(replay) = ui.model.replay.as_mut().filter(|replay| replay.is_playing) else { return };
    let shown = replay.advance(passed);
    let records: Vec<_> = replay.records[shown].to_vec();
    for stored in records {
        news::fold(ui, News::Recorded(stored));
    }
    ui.dirty = true;
}

/// The key is one of a replay's.
pub(super) fn is_key(command: Command) -> bool {
    table().any(|row| row.scope == Scope::Replay && row.command == command)
}

/// Does what a key means.
pub(super) fn run(ui: &mut Ui, command: Command) {
    let Some(replay) = &mut ui.model.replay else { return };
    let to = match command {
        Command::Own("play") if replay.is_playing => {
            replay.is_playing = false;
            return;
        }
        Command::Own("play") if !replay.is_over() => {
            replay.is_playing = true;
            return;
        }
        // From the end, from the beginning on.
        Command::Own("play") => 1,
        Command::Own("speed") => return replay.faster(),
        Command::Own("record_next") => replay.at + 1,
        Command::Own("record_previous") => replay.at.saturating_sub(1).max(1),
        Command::Own("iteration_next") => replay.iteration(true),
        Command::Own("iteration_previous") => replay.iteration(false),
        _ => return,
    };
    let before = replay.at;
    replay.go(to);
    let (at, records) = (replay.at, replay.records.clone());
    if at > before {
        replay.print();
        for stored in &records[before..at] {
            news::fold(ui, News::Recorded(stored.clone()));
        }
    } else if at < before {
        again(ui, records[..at].to_vec());
    }
    if let (Command::Own("play"), Some(replay)) = (command, &mut ui.model.replay) {
        replay.is_playing = true;
    }
}

/// Shows the run as it was when it had these records only.
fn again(ui: &mut Ui, records: Vec<Arc<crate::domain::record::Stored>>) {
    let Some(tab) = ui.tabs.first() else { return };
    let (ticket, Some(run), owner, file) = (tab.id.clone(), tab.run, tab.owner, tab.ticket.clone()) else { return };
    ui.tabs.clear();
    let earlier = records.last().map_or(0, |stored| stored.seq);
    news::fold(ui, News::RunOpened { ticket, run, earlier, records, owner });
    let printed = ui.model.replay.as_mut().and_then(Replay::shown);
    if let Some(tab) = ui.tabs.first_mut() {
        tab.ticket = file;
        if let Some(printed) = printed {
            tab.stream.attach(printed);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::news::News;
    use crate::domain::record::{Record, Stored};
    use crate::domain::summary::Owner;
    use crate::tui::model::Mode;
    use crate::tui::msg::Msg;
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;
    use std::sync::Arc;
    use std::time::Duration;

    fn notice(seq: u64, seconds: u64, text: &str) -> Arc<Stored> {
        let record = Record::Noticed { level: crate::domain::record::Level::Info, text: text.into() };
        let time = sample::NOW.plus(Duration::from_secs(seconds));
        Arc::new(Stored { time, ..sample::stored("tk-1", seq, record) })
    }

    fn began(seq: u64, seconds: u64, n: u32) -> Arc<Stored> {
        let record = Record::IterationStarted {
            n,
            phase: None,
            session: None,
            id: None,
            role: crate::domain::step::Role::default(),
        };
        let time = sample::NOW.plus(Duration::from_secs(seconds));
        Arc::new(Stored { time, ..sample::stored("tk-1", seq, record) })
    }

    fn replay() -> Ui {
        let mut ui = sample::model();
        ui.mode = Mode::Replay;
        let records = vec![
            began(1, 0, 1),
            notice(2, 1, "one"),
            notice(3, 3_600, "hours later"),
            began(4, 3_601, 2),
            notice(5, 3_602, "two"),
        ];
        let (ticket, run) = (sample::id("tk-1"), sample::run("tk-1"));
        update(&mut ui, Msg::News(News::RunOpened { ticket, run, earlier: 5, records, owner: Owner::Nobody }));
        ui
    }

    fn press(ui: &mut Ui, keys: &str) -> (usize, u64) {
        for key in keys.split(' ') {
            assert_eq!(update(ui, Msg::Key(sample::key(key))), []);
        }
        (ui.replay.as_ref().unwrap().at, ui.tabs[0].state.seq)
    }

    fn pass(ui: &mut Ui, ms: u64) -> usize {
        let now = ui.now.plus(Duration::from_millis(ms));
        update(ui, Msg::Tick(now));
        ui.replay.as_ref().unwrap().at
    }

    #[test]
    fn records_and_iterations_are_stepped_through_both_ways() {
        let mut ui = replay();
        assert_eq!(press(&mut ui, "."), (5, 5), "it begins whole");
        assert_eq!(press(&mut ui, ","), (4, 4));
        assert_eq!(press(&mut ui, "("), (1, 1));
        assert_eq!(press(&mut ui, ", ("), (1, 1), "and not before the first");
        assert_eq!(press(&mut ui, ". ."), (3, 3));
        assert_eq!(press(&mut ui, ")"), (4, 4));
        assert_eq!(press(&mut ui, ")"), (5, 5));
    }

    #[test]
    fn a_run_that_was_found_takes_the_place_of_the_one_shown() {
        let mut ui = replay();
        press(&mut ui, ", ,");
        let (ticket, run) = (sample::id("tk-2"), sample::run("tk-2"));
        ui.landing = Some(crate::tui::ui::Landing { run, to: None });
        let records = vec![Arc::new(sample::stored("tk-2", 1, notice(1, 0, "other").record.clone()))];
        update(&mut ui, Msg::News(News::RunOpened { ticket, run, earlier: 1, records, owner: Owner::Nobody }));
        let shown: Vec<_> = ui.tabs.iter().map(|tab| tab.run).collect();
        assert_eq!((shown, ui.replay.as_ref().map(|replay| replay.records.len())), (vec![Some(run)], Some(1)));
    }

    #[test]
    fn it_plays_pauses_and_hurries_and_no_pause_is_long() {
        let mut ui = replay();
        assert_eq!(ui.wake_at(), None, "a replay that stands rests");
        press(&mut ui, "Space");
        assert!(ui.wake_at().is_some());
        assert_eq!([pass(&mut ui, 900), pass(&mut ui, 200)], [1, 2]);
        // An hour is two seconds.
        assert_eq!([pass(&mut ui, 1_000), pass(&mut ui, 1_000)], [2, 3]);
        press(&mut ui, "Space");
        assert_eq!(pass(&mut ui, 60_000), 3);
        press(&mut ui, "x Space");
        assert_eq!([pass(&mut ui, 200), pass(&mut ui, 100)], [3, 4], "four times as fast");
        let screen = sample::draw(&mut ui, (120, 40));
        assert!(screen.lines().last().unwrap().contains("×4 · 4/5"), "{screen}");
        assert_eq!(pass(&mut ui, 1_000), 5);
        assert_eq!(ui.wake_at(), None, "at the end it rests");
    }
}

//! A list of lines that the service makes: the statistics, or what the runs have come to.

use crate::base::text::clean_line;
use crate::domain::lines::Line;
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    Stats,
    Report,
}

/// The list; empty until the lines are known.
#[derive(Clone, Debug)]
pub struct Listing {
    pub what: Listed,
    told: Option<Result<Vec<Line>, String>>,
    scrolled: Scrolled,
}

impl Listing {
    pub fn new(what: Listed) -> Self {
        Self { what, told: None, scrolled: Scrolled::default() }
    }

    /// The lines, or why there are none.
    pub fn told(&mut self, lines: Result<Vec<Line>, String>) {
        self.told = Some(lines);
    }

    pub fn scroll(&mut self, by: i32, room: Rect) {
        self.scrolled.scroll(by, self.rows(room.width).len(), Scrolled::page(room));
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let title = match self.what {
            Listed::Stats => "Statistics · all directories",
            Listed::Report => "Report · all directories",
        };
        self.scrolled.view(title, &self.rows(room.width), model.glyphs, theme, room, buf);
    }

    fn rows(&self, columns: u16) -> Vec<Row> {
        let columns = usize::from(columns).saturating_sub(4);
        let rows = |line: &Line| match line {
            Line::Heading(words) => vec![Row::new().left(Role::Title, words.clone())],
            // A table is not broken: its numbers stand under each other.
            Line::Text(words) if self.what == Listed::Stats => vec![Row::new().left(Role::Text, words.clone())],
            Line::Text(words) => {
                wrap(words, columns).into_iter().map(|line| Row::new().left(Role::Text, line)).collect()
            }
            Line::Gap => vec![Row::new()],
        };
        match &self.told {
            None => vec![Row::new().left(Role::Dim, "Reading all runs …")],
            Some(Ok(lines)) => lines.iter().flat_map(rows).collect(),
            Some(Err(why)) => vec![Row::new().left(Role::Danger, clean_line(why, 200))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::news::News;
    use crate::domain::request::{Reply, Request};
    use crate::domain::summary::RunSummary;
    use crate::tui::msg::{Ask, Msg};
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn they_are_asked_for_shown_and_scrolled() {
        let mut ui = sample::model();
        ui.focus = crate::tui::home::NAME;
        assert_eq!(update(&mut ui, Msg::Key(sample::key("%"))), [Ask::Request(Request::Stats)]);
        assert!(sample::draw(&mut ui, (80, 24)).contains("Reading all runs"));
        let many = (0..40).map(|n| Line::Text(format!("line {n} of them")));
        let lines = [Line::Heading("a heading".into()), Line::Gap].into_iter().chain(many).collect();
        update(&mut ui, Msg::Replied(Reply::Stats(Ok(lines))));
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("a heading") && !screen.contains("line 39"), "{screen}");
        update(&mut ui, Msg::Key(sample::key("G")));
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("line 39 of them") && !screen.contains("a heading"), "{screen}");
        update(&mut ui, Msg::Replied(Reply::Stats(Err("the disk is gone".into()))));
        update(&mut ui, Msg::Key(sample::key("g")));
        assert!(sample::draw(&mut ui, (80, 24)).contains("the disk is gone"));
        update(&mut ui, Msg::Key(sample::key("Esc")));
        assert!(ui.modals.is_empty());
        // Too late: nobody waits for them.
        assert_eq!(update(&mut ui, Msg::Replied(Reply::Stats(Ok(Vec::new())))), []);
    }

    #[test]
    fn after_an_absence_the_report_begins_where_the_person_left() {
        let mut ui = sample::model();
        ui.focus = crate::tui::home::NAME;
        let eight_hours = Duration::from_secs(8 * 3_600);
        let asked = |ui: &mut Ui| match &update(ui, Msg::Key(sample::key("R")))[..] {
            [Ask::Request(Request::Report(since))] => *since,
            other => panic!("{other:?}"),
        };
        assert_eq!(ui.now.since(asked(&mut ui)), eight_hours, "nobody was away");
        update(&mut ui, Msg::Key(sample::key("Esc")));
        let left = ui.now;
        update(&mut ui, Msg::Focused(false));
        ui.now = left.plus(Duration::from_secs(60));
        update(&mut ui, Msg::Focused(true));
        assert!(ui.toast.is_none(), "a minute is no absence");
        update(&mut ui, Msg::Focused(false));
        let left = ui.now;
        ui.now = left.plus(Duration::from_secs(3_600));
        update(&mut ui, Msg::Focused(true));
        assert!(ui.toast.is_none(), "nothing has happened");
        let left = ui.now;
        update(&mut ui, Msg::Focused(false));
        ui.now = left.plus(Duration::from_secs(3_600));
        let run = RunSummary { updated: left.plus(Duration::from_secs(60)), ..sample::seen("tk-9", "/w") };
        update(&mut ui, Msg::News(News::RunSeen(Arc::new(run))));
        update(&mut ui, Msg::Focused(true));
        let words = ui.toast.clone().map(|(words, _)| words).unwrap_or_default();
        assert!(words.contains("1 run") && words.contains('R'), "{words}");
        assert_eq!(asked(&mut ui), left);
        update(&mut ui, Msg::Key(sample::key("Esc")));
        update(&mut ui, Msg::Focused(false));
        ui.now = ui.now.plus(Duration::from_secs(60));
        update(&mut ui, Msg::Focused(true));
        assert_eq!(asked(&mut ui), left, "a short look elsewhere does not make it forgotten");
        let lines = vec![Line::Heading("tk-9 Title".into()), Line::Text("- needs you: Bash make".into())];
        // What is told of the other list is not for this one.
        update(&mut ui, Msg::Replied(Reply::Stats(Ok(vec![Line::Text("figures".into())]))));
        update(&mut ui, Msg::Replied(Reply::Report(Ok(lines))));
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("Report · all directories") && screen.contains("- needs you: Bash make"), "{screen}");
    }
}

//! What came of all runs so far: a list of figures.

use crate::base::text::clean_line;
use crate::domain::stats::Line;
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The list; empty until the figures are known.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    told: Option<Result<Vec<Line>, String>>,
    scrolled: Scrolled,
}

impl Figures {
    /// The figures, or why there are none.
    pub fn told(&mut self, lines: Result<Vec<Line>, String>) {
        self.told = Some(lines);
    }

    pub fn scroll(&mut self, by: i32, room: Rect) {
        self.scrolled.scroll(by, self.rows().len(), Scrolled::page(room));
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        self.scrolled.view("Statistics · all directories", &self.rows(), model.glyphs, theme, room, buf);
    }

    fn rows(&self) -> Vec<Row> {
        let row = |line: &Line| match line {
            Line::Heading(words) => Row::new().left(Role::Title, words.clone()),
            Line::Text(words) => Row::new().left(Role::Text, words.clone()),
            Line::Gap => Row::new(),
        };
        match &self.told {
            None => vec![Row::new().left(Role::Dim, "Reading all runs …")],
            Some(Ok(lines)) => lines.iter().map(row).collect(),
            Some(Err(why)) => vec![Row::new().left(Role::Danger, clean_line(why, 200))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::request::{Reply, Request};
    use crate::tui::msg::{Ask, Msg};
    use crate::tui::sample;
    use crate::tui::update::update;

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
}

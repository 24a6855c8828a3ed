//! Every command that the pane in front and the whole screen have, by its name; the chosen one is run.

use crate::base::text::clean_line;
use crate::tui::command::{Command, Flag, Row as Entry, Scope, hints, table};
use crate::tui::modals::prompt;
use crate::tui::model::Model;
use crate::tui::msg::Input;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, WIDEST, centred, foot};
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cmp::Reverse;

/// Columns of a command's name.
const NAME: usize = 26;
/// Lines of the dialog with its frame.
const HEIGHT: u16 = 22;

/// What was typed and which command is chosen.
pub struct Palette {
    pub query: String,
    cursor: usize,
    /// The person has moved the choice themselves.
    is_moved: bool,
    /// The commands, and why one cannot act.
    commands: Vec<(&'static Entry, Option<String>)>,
}

impl Palette {
    /// The commands of the moment; `why`: why one cannot act.
    pub fn new(model: &Model, why: impl Fn(&Entry) -> String) -> Self {
        let scopes = [Scope::Pane(model.focus), Scope::Global];
        let commands = scopes.into_iter().flat_map(|scope| table().filter(move |row| row.scope == scope));
        // The limits belong to a pane, but are looked for from every one.
        let limits = |row: &&Entry| row.command == Command::Limits && row.scope != Scope::Pane(model.focus);
        let commands = commands.chain(table().filter(limits));
        // A tab by its number needs the number.
        let commands = commands
            .filter(|row| row.flag != Flag::Hidden && !matches!(row.command, Command::GoToTab | Command::Palette));
        let why = |row: &Entry| if (row.enabled)(model) { None } else { Some(why(row)) };
        Self {
            query: String::new(),
            cursor: 0,
            is_moved: false,
            commands: commands.map(|row| (row, why(row))).collect(),
        }
    }

    pub fn typed(&mut self, input: &Input) {
        if prompt::edit(&mut self.query, input) {
            (self.cursor, self.is_moved) = (0, false);
        }
    }

    /// Moves the choice, not beyond the ends.
    pub fn step(&mut self, by: i32, model: &Model) {
        let last = self.fitting(model).len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by as isize).min(last);
        self.is_moved = true;
    }

    /// The command that is run. One of which only scattered letters were typed must have been looked for in the list; an error says
    /// so.
    pub fn chosen(&self, model: &Model) -> Result<&'static Entry, String> {
        let chosen = self.fitting(model).get(self.cursor).map(|(row, _)| *row);
        let is_meant = |row: &&Entry| self.is_moved || self.literal(row, &named(row, model)) < SCATTERED;
        chosen.filter(is_meant).ok_or_else(|| {
            let list = if chosen.is_some() { "; ↓ and ↑ choose one of the list" } else { "" };
            format!("No command is called `{}`{list}", clean_line(&self.query, 40))
        })
    }

    /// How well the typed words fit; the worst counts.
    fn literal(&self, row: &Entry, name: &str) -> u8 {
        let query = self.query.to_lowercase();
        query.split_whitespace().map(|word| found_in(word, row, name)).max().unwrap_or_default()
    }

    /// The commands that fit, best first; of two that fit as well, the one that can act.
    fn fitting(&self, model: &Model) -> Vec<&(&'static Entry, Option<String>)> {
        let pattern = Pattern::parse(&self.query, CaseMatching::Ignore, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut buf = Vec::new();
        let mut found: Vec<_> = (self.commands.iter())
            .filter_map(|command| {
                let (row, why) = command;
                let name = named(row, model);
                let score = pattern.score(Utf32Str::new(&name, &mut buf), &mut matcher);
                let literal = self.literal(row, &name);
                // Letters of a sentence are anywhere; its words are not.
                (score.is_some() || literal < SCATTERED).then_some(((literal, Reverse(score), why.is_some()), command))
            })
            .collect();
        found.sort_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, command)| command).collect()
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let fitting = self.fitting(model);
        let area = centred(room, WIDEST, HEIGHT);
        let count = format!("{} of {}", fitting.len(), self.commands.len());
        let inside = Frame::dialog("Commands", &count, model.glyphs).draw(theme, area, buf);
        let line = prompt::Prompt { label: ": ", text: self.query.clone() };
        line.line(Row::new(), model.glyphs).draw(theme, inside, buf);
        let list = Rect { y: inside.y.saturating_add(2), height: inside.height.saturating_sub(4), ..inside };
        if fitting.is_empty() {
            Row::new().left(Role::Dim, "No command matches.").draw(theme, list, buf);
        }
        let rows = fitting.iter().map(|(command, why)| {
            let row = Row::new().right(Role::Key, model.keys.text(command));
            match why {
                None => row.left(Role::Text, format!("{:<NAME$}", command.id)).left(Role::Hint, command.doc_in_group()),
                Some(why) => row.left(Role::Dim, format!("{:<NAME$}{why}", command.id)),
            }
        });
        let scrolled = Scrolled::default().showing(self.cursor, self.cursor, list.height.into());
        scrolled.list(rows, Some(self.cursor), theme, list, buf);
        let keys = [Command::Choose, Command::Down, Command::Close];
        Row::keys(hints(model, Scope::Palette, &keys)).draw(theme, foot(inside), buf);
    }
}

fn named(row: &Entry, model: &Model) -> String {
    format!("{} {}", row.id, (row.hint)(model))
}

/// The letters of a word are found, but not beside each other.
const SCATTERED: u8 = 5;

/// How well a typed word fits a command: it is a word of its name, begins one, begins one of its hint, is in them, is in its
/// sentence.
fn found_in(word: &str, row: &Entry, name: &str) -> u8 {
    let (name, doc) = (name.to_lowercase(), row.doc.to_lowercase());
    let words = |text: &str, fits: &dyn Fn(&str) -> bool| text.split(['.', '_', ' ']).any(fits);
    let begins = |text: &str| words(text, &|part| part.starts_with(word)) || text.starts_with(word);
    match () {
        () if row.id == word || words(row.id, &|part| part == word) => 0,
        () if begins(row.id) => 1,
        () if begins(&name) => 2,
        () if name.contains(word) => 3,
        () if doc.contains(word) => 4,
        () => SCATTERED,
    }
}

#[cfg(test)]
mod tests {
    use crate::tui::modals::Modal;
    use crate::tui::msg::{Ask, Msg};
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;

    fn press(ui: &mut Ui, keys: &str) -> Vec<Ask> {
        keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect()
    }

    #[test]
    fn a_command_is_found_by_letters_of_its_name_and_run() {
        let mut ui = sample::busy();
        press(&mut ui, ": t h e m");
        let screen = sample::draw(&mut ui, (120, 40));
        assert!(screen.contains("screen.theme") && !screen.contains("run.pause "), "{screen}");
        assert_eq!(press(&mut ui, "Enter"), [Ask::ReadThemes]);
        assert!(sample::draw(&mut ui, (120, 40)).contains("nord"));
    }

    #[test]
    fn a_word_that_no_command_has_runs_none_unless_one_is_chosen() {
        let mut ui = sample::busy();
        let told = |ui: &Ui| ui.toast.as_ref().map(|(words, _)| words.clone()).unwrap_or_default();
        assert_eq!(press(&mut ui, ": s t a t s Enter"), []);
        assert!(told(&ui).contains("No command is called `stats`") && ui.modals.len() == 1, "{}", told(&ui));
        press(&mut ui, "x y z Enter");
        assert_eq!(told(&ui), "No command is called `statsxyz`");
        press(&mut ui, "Esc : t h m e Enter");
        assert!(told(&ui).contains("↓ and ↑ choose one of the list"), "{}", told(&ui));
        press(&mut ui, "Ctrl-n Ctrl-p Enter");
        let is_open = matches!(ui.modals.last(), Some(Modal::Palette(_)));
        assert!(!is_open, "{}", sample::draw(&mut ui, (120, 40)));
    }

    #[test]
    fn the_limits_are_found_from_every_pane() {
        let mut ui = sample::busy();
        press(&mut ui, ": l i m i t s Enter");
        assert!(sample::draw(&mut ui, (120, 40)).contains("from the next iteration on"));
    }

    #[test]
    fn one_that_cannot_act_says_why_and_does_nothing() {
        let mut ui = sample::model();
        press(&mut ui, "Ctrl-p s t o p Space r u n");
        let screen = sample::draw(&mut ui, (120, 40));
        let line = screen.lines().find(|line| line.contains("run.stop")).unwrap();
        assert!(line.contains("no ticket is open; t opens one"), "{line}");
        assert_eq!(press(&mut ui, "Enter"), []);
        assert!(ui.modals.is_empty());
        assert_eq!(ui.toast.as_ref().map(|(words, _)| words.as_str()), Some("no ticket is open; t opens one"));
    }

    #[test]
    fn a_name_that_begins_so_comes_before_scattered_letters_that_can_act() {
        let mut ui = sample::busy();
        for (keys, first) in [(": c o m m i", "run.commit"), (": p a u", "run.pause")] {
            ui.mode = crate::tui::model::Mode::Replay;
            press(&mut ui, keys);
            let screen = sample::draw(&mut ui, (120, 40));
            let line = screen.lines().skip_while(|line| !line.contains("Commands")).nth(3).unwrap();
            assert!(line.contains(first) && line.contains("not available in a replay"), "{screen}");
            assert_eq!(press(&mut ui, "Enter"), []);
            assert_eq!(ui.toast.as_ref().map(|(words, _)| words.as_str()), Some("not available in a replay"));
        }
    }

    #[test]
    fn those_of_the_pane_in_front_come_first() {
        let mut ui = sample::busy();
        ui.focus = crate::tui::home::NAME;
        sample::draw(&mut ui, (120, 40));
        press(&mut ui, ":");
        let screen = sample::draw(&mut ui, (120, 40));
        let first = screen.lines().skip_while(|line| !line.contains("Commands")).nth(3).unwrap();
        assert!(first.contains("home.open"), "{screen}");
    }
}

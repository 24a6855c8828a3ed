//! A run, or one iteration of it, as a file: what, in which form, and where to.

use crate::base::id::RunId;
use crate::domain::export::{Export as Wanted, Format};
use crate::domain::request::Request;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::prompt;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input};
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// What became of it.
enum State {
    Typing,
    Writing,
    /// The file.
    Written(String),
    Failed(String),
}

/// The dialog.
pub struct Export {
    pub run: RunId,
    /// The ticket and the end of the run's id.
    name: String,
    /// The iteration that is read.
    iteration: Option<u32>,
    only: bool,
    format: Format,
    path: String,
    /// The person has named the file.
    typed: bool,
    state: State,
}

impl Export {
    /// For the run of a tab.
    pub fn open(tab: &Tab) -> Option<Self> {
        let run = tab.run?;
        let name = format!("{}-{}", tab.id, run.short());
        let iteration = tab.stream.iteration();
        let mut export = Self {
            run,
            name,
            iteration,
            only: false,
            format: Format::default(),
            path: String::new(),
            typed: false,
            state: State::Typing,
        };
        export.propose();
        Some(export)
    }

    /// A name for the file, until the person gives one.
    fn propose(&mut self) {
        if !self.typed {
            let part = self.iteration.filter(|_| self.only).map_or_else(String::new, |n| format!("-iteration-{n}"));
            self.path = format!("~/{}{part}", self.name);
        }
        let stem = Format::ALL.iter().find_map(|format| self.path.strip_suffix(&format!(".{}", format.ending())));
        self.path = format!("{}.{}", stem.unwrap_or(&self.path), self.format.ending());
    }

    /// Does what a key means. `None`: it closes.
    pub fn key(mut self, command: Option<Command>, input: &Input) -> (Option<Self>, Option<Ask>) {
        match command {
            Some(Command::Close) => return (None, None),
            _ if matches!(self.state, State::Writing) => {}
            Some(Command::Send) if matches!(self.state, State::Written(_)) => return (None, None),
            Some(Command::Send) => {
                self.state = State::Writing;
                let iteration = self.iteration.filter(|_| self.only);
                let wanted =
                    Wanted { run: self.run, iteration, format: self.format, path: self.path.trim().to_owned() };
                return (Some(self), Some(Ask::Request(Request::Export(wanted))));
            }
            Some(Command::FocusNext) => {
                self.only = !self.only && self.iteration.is_some();
                self.propose();
                self.state = State::Typing;
            }
            Some(Command::Own("form")) => {
                let at = Format::ALL.iter().position(|format| *format == self.format).unwrap_or(0);
                self.format = Format::ALL[(at + 1) % Format::ALL.len()];
                self.propose();
                self.state = State::Typing;
            }
            _ => {
                if prompt::edit(&mut self.path, input) {
                    (self.typed, self.state) = (true, State::Typing);
                }
            }
        }
        (Some(self), None)
    }

    /// Takes pasted text; `false` when there is no room for it.
    pub fn pasted(&mut self, text: &str) -> bool {
        if matches!(self.state, State::Writing) {
            return true;
        }
        let fits = prompt::insert(&mut self.path, text);
        if fits {
            (self.typed, self.state) = (true, State::Typing);
        }
        fits
    }

    /// The file is written, or why not.
    pub fn told(&mut self, written: Result<String, String>) {
        self.state = written.map_or_else(State::Failed, State::Written);
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let area = centred(room, 76, 11);
        let inside = Frame::dialog(&format!("Export · {}", self.name), "", model.glyphs).draw(theme, area, buf);
        let choice = |row: Row, word: String, chosen: bool| {
            let mark = if chosen { model.glyphs.pick("◉ ", "(*) ") } else { model.glyphs.pick("○ ", "( ) ") };
            row.left(if chosen { Role::Accent } else { Role::Dim }, format!("{mark}{word}   "))
        };
        let what = Row::new().left(Role::Dim, "what    ");
        let mut what = choice(what, "the run".to_owned(), !self.only);
        if let Some(n) = self.iteration {
            what = choice(what, format!("iteration {n}"), self.only);
        }
        let form = Format::ALL.into_iter().fold(Row::new().left(Role::Dim, "format  "), |row, format| {
            choice(row, format.word().to_owned(), format == self.format)
        });
        let file = Row::new().left(Role::Dim, "file    ").left(Role::Input, &self.path);
        let file = file.left(Role::Accent, model.glyphs.pick("█", "_"));
        let (role, words) = match &self.state {
            State::Typing => (Role::Dim, "Secrets are masked.".to_owned()),
            State::Writing => (Role::Dim, "Writing …".to_owned()),
            State::Written(path) => (Role::Success, format!("Written: {}", model.short_path(path))),
            State::Failed(why) => (Role::Danger, format!("Not written: {why}")),
        };
        let words = wrap(&words, inside.width.into()).into_iter().map(|line| Row::new().left(role, line)).take(2);
        let rows = [what, form, file, Row::new()].into_iter().chain(words);
        for (place, row) in inside.rows().skip(1).zip(rows) {
            row.draw(theme, place, buf);
        }
        let keys = match self.state {
            State::Written(_) => vec![Command::Close],
            _ => vec![Command::Send, Command::FocusNext, Command::Own("form"), Command::Close],
        };
        Row::keys(hints(model, Scope::Export, &keys)).draw(theme, foot(inside), buf);
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::export::{Export as Wanted, Format};
    use crate::domain::request::{Reply, Request};
    use crate::tui::msg::{Ask, Msg};
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;

    fn press(ui: &mut Ui, keys: &str) -> Vec<Ask> {
        keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect()
    }

    #[test]
    fn the_file_is_named_until_the_person_names_it_and_its_place_is_told() {
        let mut ui = sample::busy();
        let run = ui.tabs[0].run.unwrap();
        let asked = |ui: &mut Ui, keys: &str| match press(ui, keys).pop() {
            Some(Ask::Request(Request::Export(Wanted { format, path, .. }))) => (format, path),
            other => panic!("{other:?}"),
        };
        let name = format!("~/tk-4f2a-{}", run.short());
        assert_eq!(asked(&mut ui, "E Enter"), (Format::Markdown, format!("{name}.md")));
        assert_eq!(press(&mut ui, "Enter x"), [], "once");
        update(&mut ui, Msg::Replied(Reply::Exported(run, Err("the file exists; choose another name".into()))));
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("Not written: the file exists"), "{screen}");
        assert_eq!(asked(&mut ui, "Ctrl-w a . m d Ctrl-t Enter"), (Format::Jsonl, "a.jsonl".into()));
        update(&mut ui, Msg::Replied(Reply::Exported(run, Ok("/home/ann/a.jsonl".into()))));
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("Written: ") && screen.contains("a.jsonl"), "{screen}");
        press(&mut ui, "Esc");
        assert!(ui.modals.is_empty());
    }

    #[test]
    fn a_name_can_be_pasted() {
        let mut ui = sample::busy();
        press(&mut ui, "E Ctrl-u");
        update(&mut ui, Msg::Paste("/tmp/a.md".into()));
        let asks = press(&mut ui, "Enter");
        assert!(
            matches!(&asks[..], [Ask::Request(Request::Export(Wanted { path, .. }))] if path == "/tmp/a.md"),
            "{asks:?}"
        );
        update(&mut ui, Msg::Paste("/tmp/b.md".into()));
        assert!(sample::draw(&mut ui, (80, 24)).contains("Writing …"), "it is under way");
        press(&mut ui, "Esc");
        press(&mut ui, "E");
        update(&mut ui, Msg::Paste("x".repeat(501)));
        assert!(ui.toast.as_ref().is_some_and(|(words, _)| words.contains("too long")), "{:?}", ui.toast);
    }
}

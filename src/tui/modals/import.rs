//! Importing tasks: the sources that the project has. Behind one of them are its tasks.

mod tasks;

pub use tasks::Outcome;

use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::domain::import::item::Source;
use crate::domain::import::page::{ImportDone, ImportPlace, ImportTold};
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::timeline::foot::Foot;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred};
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tasks::{Tasks, page};

/// Most tickets that are named once they are written.
const NAMED: usize = 6;

const NO_SOURCE: &str = "Nothing to import here: no list of Hank, autoclaude or ralph, no plans, no beads, no PRD.md or TODO.md, and no GitHub remote. `programmator import prd FILE` and `programmator import tasks FILE` import any document.";

/// The dialog.
#[derive(Default)]
pub struct Import {
    /// `None`: they are being looked for.
    places: Option<Vec<ImportPlace>>,
    /// Why they could not be looked for.
    refused: String,
    at: usize,
    /// The source that was opened.
    tasks: Option<Tasks>,
}

impl Import {
    /// Where its keys stand in the table.
    pub fn scope(&self) -> Scope {
        if self.tasks.is_some() { Scope::ImportTasks } else { Scope::Import }
    }

    /// A key in a room of so many `columns`, which moves by so many `lines`.
    pub fn key(&mut self, command: Option<Command>, lines: i32, columns: usize) -> Outcome {
        let Some(tasks) = &mut self.tasks else { return self.key_of_places(command, lines) };
        if command == Some(Command::Close) {
            self.tasks = None;
            return Outcome::Stays;
        }
        tasks.key(command, lines, columns)
    }

    fn key_of_places(&mut self, command: Option<Command>, lines: i32) -> Outcome {
        let places = self.places.as_deref().unwrap_or_default();
        match command {
            Some(Command::Close) => return Outcome::Leaves,
            Some(Command::Choose) => {
                let Some(place) = places.get(self.at) else { return Outcome::Stays };
                self.tasks = Some(Tasks::of(place.clone()));
                return Outcome::Asks(Box::new(page(place)));
            }
            _ => self.at = self.at.saturating_add_signed(lines as isize).min(places.len().saturating_sub(1)),
        }
        Outcome::Stays
    }

    /// The sources could not be looked for, and why.
    pub fn refuse(&mut self, why: &str) {
        (self.places, self.refused) = (Some(Vec::new()), why.to_owned());
    }

    /// The tasks of this source are shown.
    pub fn shows(&self, place: &ImportPlace) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| tasks.place == *place)
    }

    /// Takes what was told; gives what is to be asked next.
    pub fn told(&mut self, told: ImportTold) -> Option<Ask> {
        let told = match told {
            ImportTold::Places(places) => {
                self.at = self.at.min(places.len().saturating_sub(1));
                self.places = Some(places);
                return None;
            }
            told => told,
        };
        // Another source may be open by now.
        let tasks = self.tasks.as_mut().filter(|tasks| tasks.place == *told.place().unwrap_or(&tasks.place))?;
        match told {
            ImportTold::Page(_, page) => {
                tasks.page(page);
                None
            }
            // Some may have been written before it failed.
            ImportTold::Done(place, done) => {
                tasks.done(words(&done));
                Some(page(&place))
            }
            ImportTold::Places(_) => None,
        }
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        match &self.tasks {
            Some(tasks) => tasks.view(model, theme, room, buf),
            None => self.view_places(model, theme, room, buf),
        }
    }

    fn view_places(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let (places, said) = match &self.places {
            None => (&[][..], "Looking for tasks …"),
            Some(_) if !self.refused.is_empty() => (&[][..], self.refused.as_str()),
            Some(places) if places.is_empty() => (&[][..], NO_SOURCE),
            Some(places) => (&places[..], ""),
        };
        let keys: &[Command] =
            if places.is_empty() { &[Command::Close] } else { &[Command::Choose, Command::Down, Command::Close] };
        let foot = Foot::of(said, hints(model, Scope::Import, keys), room.width.saturating_sub(4).into());
        let area = centred(room, room.width, places.len().max(1) as u16 + 2 + foot.height());
        let inside = Frame::dialog("Import tasks", "", model.glyphs).draw(theme, area, buf);
        let list = foot.draw(theme, inside, buf);
        let rows = places.iter().map(|place| {
            let new = match place.new {
                Some(0) => "nothing new".to_owned(),
                Some(new) => counted(new, "new task"),
                None => "not counted".to_owned(),
            };
            let (name, about) = (place.source.word(), about(place));
            Row::new()
                .left(Role::Text, format!(" {name:<11}"))
                .left(Role::Dim, about)
                .right(Role::Dim, format!("{new} "))
        });
        let scrolled = Scrolled::default().showing(self.at, self.at, list.height.into());
        scrolled.list(rows, Some(self.at).filter(|_| !places.is_empty()), theme, list, buf);
    }
}

/// What a source is here.
fn about(place: &ImportPlace) -> String {
    match (&place.file, place.source) {
        (Some(file), _) => file.display().to_string(),
        (None, Source::Github) => "the repository's issues".to_owned(),
        (None, Source::Beads) => "beads issues".to_owned(),
        (None, Source::Ralphex) => "docs/plans".to_owned(),
        (None, _) => "its list".to_owned(),
    }
}

/// What came of an import, for the person.
pub fn words(done: &Result<ImportDone, String>) -> String {
    let done = match done {
        Ok(done) => done,
        Err(why) => return why.clone(),
    };
    let names: Vec<&str> = done.tickets.iter().take(NAMED).map(TicketId::as_str).collect();
    let more = if done.tickets.len() > NAMED { " …" } else { "" };
    let written = match &names[..] {
        [] => "No ticket was written".to_owned(),
        names => format!("{} written: {}{more}", counted(done.tickets.len(), "ticket"), names.join(", ")),
    };
    std::iter::once(&written).chain(&done.notes).cloned().collect::<Vec<_>>().join(". ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::import::Standing;
    use crate::domain::import::page::{ImportAsk, ImportChoice, ImportPage, ImportTask};
    use crate::domain::request::{Reply, Request};
    use crate::tui::msg::Msg;
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;

    fn press(ui: &mut Ui, keys: &str) -> Vec<Ask> {
        keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect()
    }

    fn tell(ui: &mut Ui, told: ImportTold) -> Vec<Ask> {
        update(ui, Msg::Replied(Reply::Import(told)))
    }

    fn task(title: &str, standing: Standing) -> ImportTask {
        let (key, digest, title) = (format!("k{title}"), format!("d{title}"), title.to_owned());
        let becomes = vec![format!("# {title}"), String::new(), "- [ ] a step".to_owned()];
        let about = "1 phase".to_owned();
        ImportTask { key, digest, title, about, standing, becomes }
    }

    fn place() -> ImportPlace {
        ImportPlace { source: Source::Prd, file: Some("docs/prd.md".into()), new: Some(2) }
    }

    fn opened(page: Result<ImportPage, String>) -> Ui {
        let mut ui = sample::model();
        ui.focus = crate::tui::home::NAME;
        assert_eq!(press(&mut ui, "N"), [Ask::Request(Request::Import(ImportAsk::Places))]);
        tell(&mut ui, ImportTold::Places(vec![place()]));
        assert_eq!(press(&mut ui, "Enter"), [Ask::Request(Request::Import(ImportAsk::Page(place())))]);
        tell(&mut ui, ImportTold::Page(place(), page));
        ui
    }

    fn two() -> ImportPage {
        let tasks = vec![task("One", Standing::New), task("測試測試", Standing::New), task("Old", Standing::Done)];
        ImportPage { tasks, notes: vec!["a note of it".into()], has_more: false }
    }

    #[test]
    fn what_is_ticked_is_imported_once_and_the_page_is_read_again() {
        let mut ui = opened(Ok(two()));
        let screen = sample::draw(&mut ui, (80, 24));
        for part in ["3 tasks, 2 ticked", "☑ One", "Old", "done", "! a note of it", "# One", "- [ ] a step"] {
            assert!(screen.contains(part), "{part} in\n{screen}");
        }
        press(&mut ui, "Space j");
        let ask = press(&mut ui, "Enter");
        let choice = ImportChoice { key: "k測試測試".into(), digest: "d測試測試".into() };
        assert_eq!(ask, [Ask::Request(Request::Import(ImportAsk::Import(place(), vec![choice])))]);
        assert_eq!(press(&mut ui, "Enter"), [], "not twice");
        let done = ImportDone { tickets: vec![sample::id("tk-1").id().clone()], notes: vec!["told".into()] };
        let again = tell(&mut ui, ImportTold::Done(place(), Ok(done)));
        assert_eq!(again, [Ask::Request(Request::Import(ImportAsk::Page(place())))]);
        tell(&mut ui, ImportTold::Page(place(), Ok(ImportPage { tasks: vec![task("One", Standing::New)], ..two() })));
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("1 ticket written: tk-1. told") && screen.contains("0 ticked"), "{screen}");
        assert_eq!(press(&mut ui, "Enter"), []);
        press(&mut ui, "a");
        assert!(sample::draw(&mut ui, (80, 24)).contains("1 ticked"));
        press(&mut ui, "Esc Esc");
        assert!(ui.modals.is_empty());
        tell(&mut ui, ImportTold::Done(place(), Err("the disk is full".into())));
        assert_eq!(ui.toast.take().map(|(words, _)| words).as_deref(), Some("the disk is full"));
    }

    #[test]
    fn what_failed_half_way_is_read_again() {
        let mut ui = opened(Ok(two()));
        press(&mut ui, "Enter");
        let again = tell(&mut ui, ImportTold::Done(place(), Err("the disk is full; 1 was written".into())));
        assert_eq!(again, [Ask::Request(Request::Import(ImportAsk::Page(place())))]);
        tell(&mut ui, ImportTold::Page(place(), Ok(two())));
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("the disk is full") && screen.contains("2 ticked"), "{screen}");
    }

    #[test]
    fn what_came_of_an_import_is_said_when_its_tasks_are_left() {
        for keys in ["Esc", "Esc Esc"] {
            let mut ui = opened(Ok(two()));
            press(&mut ui, "Enter");
            press(&mut ui, keys);
            tell(&mut ui, ImportTold::Done(place(), Err("the disk is full".into())));
            let screen = sample::draw(&mut ui, (80, 24));
            assert!(screen.contains("the disk is full"), "after {keys}:\n{screen}");
        }
    }

    #[test]
    fn a_task_that_has_a_ticket_leads_to_it() {
        let id = sample::id("tk-1");
        let known = task("Old", Standing::Imported(id.id().clone()));
        let page = ImportPage { tasks: vec![known, task("Done", Standing::Done)], ..ImportPage::default() };
        let mut ui = opened(Ok(page));
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("o open ticket") && screen.contains("It was imported as tk-1."), "{screen}");
        press(&mut ui, "j Enter");
        assert!(sample::draw(&mut ui, (80, 24)).contains("Nothing is ticked"), "it has no ticket");
        press(&mut ui, "k Enter");
        assert!(ui.toast.take().is_some_and(|(words, _)| words == "tk-1 has not been read yet"));
        let file = crate::domain::ticket::parse::parse(b"---\nid: tk-1\n---\n# Old\n", "tk-1.md");
        ui.listed.insert(id.clone(), std::sync::Arc::new(file));
        press(&mut ui, "Enter");
        assert!(ui.modals.is_empty());
        assert_eq!(ui.tab().map(|tab| tab.id.clone()), Some(id));
    }

    #[test]
    fn a_ticket_that_is_longer_than_its_place_is_scrolled() {
        let mut long = task("Long", Standing::New);
        long.becomes.extend((0..60).map(|n| format!("line {n}.")));
        let mut ui = opened(Ok(ImportPage { tasks: vec![long, task("Two", Standing::New)], ..ImportPage::default() }));
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(
            screen.contains("# Long") && screen.contains("more lines · J") && !screen.contains("line 59."),
            "{screen}"
        );
        press(&mut ui, "J J J J J J J J J J J J J J");
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("line 59.") && !screen.contains("more line"), "{screen}");
        press(&mut ui, "K");
        assert!(sample::draw(&mut ui, (80, 24)).contains("line 57."));
        press(&mut ui, "j");
        assert!(sample::draw(&mut ui, (80, 24)).contains("# Two"), "another ticket is seen from its beginning");
    }

    #[test]
    fn a_source_that_fails_says_why_and_is_tried_again() {
        let mut ui = opened(Err("`gh` is not installed or not on your PATH".into()));
        let screen = sample::draw(&mut ui, (60, 15));
        assert!(screen.contains("`gh` is not installed") && screen.contains("Enter retries"), "{screen}");
        assert_eq!(press(&mut ui, "Enter"), [Ask::Request(Request::Import(ImportAsk::Page(place())))]);
        let other = ImportPlace { source: Source::Tasks, ..place() };
        tell(&mut ui, ImportTold::Page(other, Ok(two())));
        assert!(sample::draw(&mut ui, (60, 15)).contains("Reading …"), "what another source has is not this one's");
        tell(&mut ui, ImportTold::Page(place(), Ok(two())));
        let screen = sample::draw(&mut ui, (60, 15));
        assert!(screen.contains("☑ 測試測試") && screen.contains("2 ticked"), "{screen}");
    }

    #[test]
    fn where_nothing_is_found_it_says_what_to_type() {
        let mut ui = sample::model();
        ui.focus = crate::tui::home::NAME;
        press(&mut ui, "N");
        assert!(sample::draw(&mut ui, (80, 24)).contains("Looking for tasks"));
        tell(&mut ui, ImportTold::Places(Vec::new()));
        let screen = sample::draw(&mut ui, (60, 15));
        assert!(screen.contains("Nothing to import here") && screen.contains("import tasks"), "{screen}");
        assert_eq!(press(&mut ui, "Enter j"), []);
    }
}

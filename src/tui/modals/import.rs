//! Importing tasks: the sources that the project has, the tasks of one of them with a box for each that is new, and the ticket that it
//! would be.

use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::domain::import::item::Source;
use crate::domain::import::page::{
    ImportAsk, ImportChoice, ImportDone, ImportPage, ImportPlace, ImportTask, ImportTold, Stands,
};
use crate::domain::request::Request;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::timeline::foot::Foot;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred};
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeSet;

/// Lines of the list at least, where the ticket is shown below it.
const LEAST: u16 = 4;
/// Most tickets that are named once they are written.
const NAMED: usize = 6;

const NO_SOURCE: &str = "Nothing to import here: no list of Hank, autoclaude or ralph, no plans, no beads, no PRD.md or TODO.md, and no GitHub remote. `programmator import prd FILE` and `programmator import tasks FILE` import any document.";

/// The dialog.
#[derive(Default)]
pub struct Import {
    /// `None`: they are being looked for.
    places: Option<Vec<ImportPlace>>,
    at: usize,
    /// The source that was opened.
    tasks: Option<Tasks>,
}

struct Tasks {
    place: ImportPlace,
    /// `None`: it is being read.
    told: Option<Result<ImportPage, String>>,
    at: usize,
    /// The keys of those that are to be imported.
    ticked: BTreeSet<String>,
    /// They are being imported.
    is_sending: bool,
    /// What came of it.
    said: String,
}

/// What a key comes to.
pub enum Outcome {
    Stays,
    Leaves,
    Asks(Box<Ask>),
}

impl Import {
    pub fn key(&mut self, command: Option<Command>, lines: i32) -> Outcome {
        let Some(tasks) = &mut self.tasks else { return self.key_of_places(command, lines) };
        if command == Some(Command::Close) {
            self.tasks = None;
            return Outcome::Stays;
        }
        tasks.key(command, lines)
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
            ImportTold::Page(_, page) => tasks.page(page),
            ImportTold::Done(place, done) => {
                tasks.is_sending = false;
                tasks.said = words(&done);
                if done.is_ok() {
                    return Some(page(&place));
                }
            }
            ImportTold::Places(_) => {}
        }
        None
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
            let open = match place.open {
                Some(open) => counted(open, "open task"),
                None => "not counted".to_owned(),
            };
            let (name, about) = (place.source.word(), about(place));
            Row::new()
                .left(Role::Text, format!(" {name:<11}"))
                .left(Role::Dim, about)
                .right(Role::Dim, format!("{open} "))
        });
        let scrolled = Scrolled::default().showing(self.at, self.at, list.height.into());
        scrolled.list(rows, Some(self.at).filter(|_| !places.is_empty()), theme, list, buf);
    }
}

/// Asks for what a source has.
fn page(place: &ImportPlace) -> Ask {
    Ask::Request(Request::Import(ImportAsk::Page(place.clone())))
}

/// What a source is here.
fn about(place: &ImportPlace) -> String {
    match (&place.file, place.source) {
        (Some(file), _) => file.display().to_string(),
        (None, Source::Github) => "the repository's issues".to_owned(),
        (None, Source::Beads) => "bd issues".to_owned(),
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

impl Tasks {
    fn of(place: ImportPlace) -> Self {
        let ticked = BTreeSet::new();
        Self { place, told: None, at: 0, ticked, is_sending: false, said: String::new() }
    }

    fn all(&self) -> &[ImportTask] {
        self.told.as_ref().and_then(|told| told.as_ref().ok()).map_or(&[], |page| &page.tasks)
    }

    fn notes(&self) -> &[String] {
        self.told.as_ref().and_then(|told| told.as_ref().ok()).map_or(&[], |page| &page.notes)
    }

    fn new_ones(&self) -> BTreeSet<String> {
        self.all().iter().filter(|task| task.stands == Stands::New).map(|task| task.key.clone()).collect()
    }

    /// At first all that is new is ticked, as the command line has it; behind an import nothing is.
    fn page(&mut self, page: Result<ImportPage, String>) {
        let is_first = self.told.is_none() && self.said.is_empty();
        self.told = Some(page);
        let new = self.new_ones();
        self.ticked = if is_first { new } else { self.ticked.intersection(&new).cloned().collect() };
        self.at = self.at.min((self.all().len() + self.notes().len()).saturating_sub(1));
    }

    fn key(&mut self, command: Option<Command>, lines: i32) -> Outcome {
        match command {
            Some(Command::Choose) => return self.choose(),
            Some(Command::Toggle) => {
                let new = self.all().get(self.at).filter(|task| task.stands == Stands::New);
                let key = new.map(|task| task.key.clone());
                if let Some(key) = key.filter(|key| !self.ticked.remove(key)) {
                    self.ticked.insert(key);
                }
            }
            Some(Command::Own("all")) => {
                let new = self.new_ones();
                self.ticked = if self.ticked == new { BTreeSet::new() } else { new };
            }
            _ => {
                let last = (self.all().len() + self.notes().len()).saturating_sub(1);
                self.at = self.at.saturating_add_signed(lines as isize).min(last);
            }
        }
        Outcome::Stays
    }

    fn choose(&mut self) -> Outcome {
        match &self.told {
            // It may be readable by now.
            Some(Err(_)) => {
                self.told = None;
                return Outcome::Asks(Box::new(page(&self.place)));
            }
            Some(Ok(_)) if !self.is_sending && !self.ticked.is_empty() => {}
            _ => return Outcome::Stays,
        }
        let chosen = self.all().iter().filter(|task| self.ticked.contains(&task.key));
        let chosen: Vec<ImportChoice> =
            chosen.map(|task| ImportChoice { key: task.key.clone(), digest: task.digest.clone() }).collect();
        self.is_sending = true;
        self.said = format!("Importing {} …", counted(chosen.len(), "task"));
        Outcome::Asks(Box::new(Ask::Request(Request::Import(ImportAsk::Import(self.place.clone(), chosen)))))
    }

    fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let title = format!("Import tasks · {}", self.place.source.word());
        let more = matches!(&self.told, Some(Ok(page)) if page.has_more);
        let status = match &self.told {
            Some(Ok(_)) => {
                let all = counted(self.all().len(), "task");
                format!("{all}{}, {} ticked", if more { " and more" } else { "" }, self.ticked.len())
            }
            _ => String::new(),
        };
        let file = self.place.file.as_ref().map_or_else(String::new, |file| format!(" {}", file.display()));
        let all = format!(
            "More not shown: import these first, or all with `programmator import {}{file} --limit 0`.",
            self.place.source.word()
        );
        let said = match &self.told {
            _ if !self.said.is_empty() => self.said.as_str(),
            None => "Reading …",
            Some(Err(_)) => "Enter retries.",
            Some(Ok(page)) if page.tasks.is_empty() => "No tasks.",
            Some(Ok(_)) if more => all.as_str(),
            Some(Ok(_)) => "",
        };
        let keys: &[Command] = match &self.told {
            Some(Ok(page)) if !page.tasks.is_empty() => {
                &[Command::Choose, Command::Toggle, Command::Own("all"), Command::Close]
            }
            Some(Err(_)) => &[Command::Choose, Command::Close],
            _ => &[Command::Close],
        };
        let foot = Foot::of(said, hints(model, Scope::Import, keys), room.width.saturating_sub(4).into());
        let inside = Frame::dialog(&title, &status, model.glyphs).draw(theme, room, buf);
        let inside = foot.draw(theme, inside, buf);
        if let Some(Err(why)) = &self.told {
            for (place, line) in inside.rows().zip(wrap(why, inside.width.into())) {
                Row::new().left(Role::Danger, line).draw(theme, place, buf);
            }
            return;
        }
        let entries = self.all().len() + self.notes().len();
        if entries == 0 {
            return;
        }
        let height = (entries as u16).clamp(1, (inside.height / 2).max(LEAST)).min(inside.height);
        let list = Rect { height, ..inside };
        let notes = self.notes().iter().map(|note| Row::new().left(Role::Warning, format!("! {note}")));
        let rows = self.all().iter().map(|task| self.row(task, model)).chain(notes);
        let scrolled = Scrolled::default().showing(self.at, self.at, height.into());
        scrolled.list(rows, Some(self.at), theme, list, buf);
        let below = Rect { y: inside.y + height + 1, height: inside.height.saturating_sub(height + 1), ..inside };
        for (place, row) in below.rows().zip(self.becomes(below.width.into())) {
            row.draw(theme, place, buf);
        }
    }

    fn row(&self, task: &ImportTask, model: &Model) -> Row {
        let state = match (&task.ticket, task.stands) {
            (_, Stands::New) => String::new(),
            (Some(id), stands) => format!("  {} {id} ", stands.word()),
            (None, stands) => format!("  {} ", stands.word()),
        };
        let (mark, role) = match task.stands {
            Stands::New => (model.glyphs.task(self.ticked.contains(&task.key)), Role::Text),
            _ => (" ", Role::Dim),
        };
        let row = Row::new().left(Role::Text, format!("{mark} ")).left(role, &task.title);
        let about = if task.about.is_empty() { String::new() } else { format!("  {}", task.about) };
        row.left(Role::Dim, about).right(Role::Dim, state)
    }

    /// What the one under the cursor would be, or is.
    fn becomes(&self, columns: usize) -> Vec<Row> {
        let say = |text: &str| wrap(text, columns).into_iter().map(|line| Row::new().left(Role::Dim, line)).collect();
        let Some(task) = self.all().get(self.at) else {
            return self.notes().get(self.at - self.all().len()).map_or_else(Vec::new, |note| say(note));
        };
        match task.stands {
            Stands::New => {
                let role = |line: &str| if line.starts_with('#') { Role::Title } else { Role::Text };
                let rows = |line: &String| match &wrap(line, columns)[..] {
                    [] => vec![Row::new()],
                    lines => lines.iter().map(|part| Row::new().left(role(line), part)).collect(),
                };
                task.becomes.iter().flat_map(rows).collect()
            }
            Stands::Done => say("Done at the source: not imported."),
            Stands::Imported => say("Already imported."),
            Stands::Changed => say("Changed at the source since it was imported. Your ticket stays as it is."),
            Stands::Gone => say("No longer at the source. Your ticket stays as it is."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::import::page::ImportDone;
    use crate::domain::request::Reply;
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

    fn task(title: &str, stands: Stands) -> ImportTask {
        let (key, digest, title) = (format!("k{title}"), format!("d{title}"), title.to_owned());
        let becomes = vec![format!("# {title}"), String::new(), "- [ ] a step".to_owned()];
        let about = "1 phase".to_owned();
        ImportTask { key, digest, title, about, stands, ticket: None, becomes }
    }

    fn place() -> ImportPlace {
        ImportPlace { source: Source::Prd, file: Some("docs/prd.md".into()), open: Some(2) }
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
        let tasks = vec![task("One", Stands::New), task("測試測試", Stands::New), task("Old", Stands::Done)];
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
        tell(&mut ui, ImportTold::Page(place(), Ok(ImportPage { tasks: vec![task("One", Stands::New)], ..two() })));
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

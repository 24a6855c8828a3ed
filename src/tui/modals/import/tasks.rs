//! The tasks of a source, with a box for each that is new, and the ticket that the one under the cursor would be.

use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::domain::import::Standing;
use crate::domain::import::page::{ImportAsk, ImportChoice, ImportPage, ImportPlace, ImportTask};
use crate::domain::request::Request;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::timeline::foot::Foot;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::Frame;
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};
use std::collections::BTreeSet;

/// Lines of the list at least, where the ticket is shown below it.
const LEAST: u16 = 4;
/// Lines by which the ticket is scrolled.
const STEP: usize = 5;

/// Keys where the cursor is on a task that is new, and where it has a ticket.
const OF_NEW: [Command; 5] =
    [Command::Choose, Command::Toggle, Command::Own("all"), Command::Own("below"), Command::Close];
const OF_KNOWN: [Command; 5] =
    [Command::Choose, Command::Own("open"), Command::Own("all"), Command::Own("below"), Command::Close];

/// What a key comes to.
pub enum Outcome {
    Stays,
    Leaves,
    Asks(Box<Ask>),
    /// The ticket of a task that was imported is to be opened.
    Opens(TicketId),
}

/// Asks for what a source has.
pub(super) fn page(place: &ImportPlace) -> Ask {
    Ask::Request(Request::Import(ImportAsk::Page(place.clone())))
}

pub(super) struct Tasks {
    pub(super) place: ImportPlace,
    /// `None`: it is being read.
    told: Option<Result<ImportPage, String>>,
    at: usize,
    /// Lines of the ticket above those that are seen.
    scrolled: usize,
    /// The keys of those that are to be imported.
    ticked: BTreeSet<String>,
    /// They are being imported.
    is_sending: bool,
    /// What came of it.
    said: String,
}

impl Tasks {
    pub(super) fn of(place: ImportPlace) -> Self {
        let ticked = BTreeSet::new();
        Self { place, told: None, at: 0, scrolled: 0, ticked, is_sending: false, said: String::new() }
    }

    fn all(&self) -> &[ImportTask] {
        self.told.as_ref().and_then(|told| told.as_ref().ok()).map_or(&[], |page| &page.tasks)
    }

    fn notes(&self) -> &[String] {
        self.told.as_ref().and_then(|told| told.as_ref().ok()).map_or(&[], |page| &page.notes)
    }

    fn new_ones(&self) -> BTreeSet<String> {
        self.all().iter().filter(|task| task.standing == Standing::New).map(|task| task.key.clone()).collect()
    }

    /// At first all that is new is ticked, as the command line has it; behind an import nothing is.
    pub(super) fn page(&mut self, page: Result<ImportPage, String>) {
        let is_first = self.told.is_none() && self.said.is_empty();
        (self.told, self.scrolled) = (Some(page), 0);
        let new = self.new_ones();
        self.ticked = if is_first { new } else { self.ticked.intersection(&new).cloned().collect() };
        self.at = self.at.min((self.all().len() + self.notes().len()).saturating_sub(1));
    }

    /// What came of an import.
    pub(super) fn done(&mut self, said: String) {
        (self.is_sending, self.said) = (false, said);
    }

    /// The task under the cursor.
    fn chosen(&self) -> Option<&ImportTask> {
        self.all().get(self.at)
    }

    pub(super) fn key(&mut self, command: Option<Command>, lines: i32, columns: usize) -> Outcome {
        match command {
            Some(Command::Choose) => return self.choose(),
            Some(Command::Own("open")) => {
                if let Some(id) = self.chosen().and_then(|task| task.standing.ticket()) {
                    return Outcome::Opens(id.clone());
                }
            }
            Some(Command::Own("below")) => {
                // The last line stays on the screen.
                let last = self.becomes(columns).len().saturating_sub(1);
                self.scrolled = self.scrolled.saturating_add(STEP).min(last);
            }
            Some(Command::Own("above")) => self.scrolled = self.scrolled.saturating_sub(STEP),
            Some(Command::Toggle) => {
                let new = self.chosen().filter(|task| task.standing == Standing::New);
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
                let at = self.at.saturating_add_signed(lines as isize).min(last);
                if at != self.at {
                    (self.at, self.scrolled) = (at, 0);
                }
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
            Some(Ok(_)) if self.is_sending => return Outcome::Stays,
            Some(Ok(_)) if !self.ticked.is_empty() => {}
            Some(Ok(_)) => {
                if let Some(id) = self.chosen().and_then(|task| task.standing.ticket()) {
                    return Outcome::Opens(id.clone());
                }
                "Nothing is ticked: tick the tasks to import first.".clone_into(&mut self.said);
                return Outcome::Stays;
            }
            None => return Outcome::Stays,
        }
        let chosen = self.all().iter().filter(|task| self.ticked.contains(&task.key));
        let chosen: Vec<ImportChoice> =
            chosen.map(|task| ImportChoice { key: task.key.clone(), digest: task.digest.clone() }).collect();
        self.is_sending = true;
        self.said = format!("Importing {} …", counted(chosen.len(), "task"));
        Outcome::Asks(Box::new(Ask::Request(Request::Import(ImportAsk::Import(self.place.clone(), chosen)))))
    }

    pub(super) fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
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
            "More are left out: import these first, or all with `programmator import {}{file} --limit 0`.",
            self.place.source.word()
        );
        let said = match &self.told {
            _ if !self.said.is_empty() => self.said.as_str(),
            None => "Reading …",
            Some(Err(_)) => "Enter retries.",
            Some(Ok(page)) if page.tasks.is_empty() => "It has no tasks.",
            Some(Ok(_)) if more => all.as_str(),
            Some(Ok(_)) => "",
        };
        let keys: &[Command] = match &self.told {
            Some(Ok(page)) if !page.tasks.is_empty() => {
                let has_ticket = self.chosen().is_some_and(|task| task.standing.ticket().is_some());
                if has_ticket { &OF_KNOWN } else { &OF_NEW }
            }
            _ => &[Command::Close],
        };
        let foot = Foot::of(said, hints(model, Scope::ImportTasks, keys), room.width.saturating_sub(4).into());
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
        let shown = self.becomes(below.width.into());
        let first = self.scrolled.min(shown.len().saturating_sub(1));
        let left = shown.len().saturating_sub(first + usize::from(below.height));
        for (place, row) in below.rows().zip(shown.into_iter().skip(first)) {
            row.draw(theme, place, buf);
        }
        if left > 0
            && below.height > 2
            && let Some(last) = below.rows().next_back()
        {
            let key = model.keys.key_of(Scope::ImportTasks, Command::Own("below"));
            let arrow = model.glyphs.pick("↓", "v");
            let words = format!("{arrow} {} · {key}", counted(left + 1, "more line"));
            Clear.render(last, buf);
            Row::new().left(Role::Dim, words).draw(theme, last, buf);
        }
    }

    fn row(&self, task: &ImportTask, model: &Model) -> Row {
        let state = match (&task.standing, task.standing.ticket()) {
            (Standing::New, _) => String::new(),
            (standing, Some(id)) => format!("  {} {id} ", standing.word()),
            (standing, None) => format!("  {} ", standing.word()),
        };
        let (mark, role) = match task.standing {
            Standing::New => (model.glyphs.task(self.ticked.contains(&task.key)), Role::Text),
            _ => (" ", Role::Dim),
        };
        let row = Row::new().left(Role::Text, format!("{mark} ")).left(role, &task.title);
        let about = if task.about.is_empty() { String::new() } else { format!("  {}", task.about) };
        row.left(Role::Dim, about).right(Role::Dim, state)
    }

    /// What the one under the cursor would be, or is.
    fn becomes(&self, columns: usize) -> Vec<Row> {
        let say = |text: &str| wrap(text, columns).into_iter().map(|line| Row::new().left(Role::Dim, line)).collect();
        let Some(task) = self.chosen() else {
            return self.notes().get(self.at - self.all().len()).map_or_else(Vec::new, |note| say(note));
        };
        match &task.standing {
            Standing::New => {
                let role = |line: &str| if line.starts_with('#') { Role::Title } else { Role::Text };
                let rows = |line: &String| match &wrap(line, columns)[..] {
                    [] => vec![Row::new()],
                    lines => lines.iter().map(|part| Row::new().left(role(line), part)).collect(),
                };
                task.becomes.iter().flat_map(rows).collect()
            }
            Standing::Done => say("It is done there, and is not imported."),
            Standing::Imported(id) => say(&format!("It was imported as {id}.")),
            Standing::Changed(id) => say(&format!(
                "It says something else than when it was imported. The ticket {id} is yours and stays as it is."
            )),
            Standing::Gone(id) => {
                say(&format!("It is not there any more. The ticket {id} is yours and stays as it is."))
            }
        }
    }
}

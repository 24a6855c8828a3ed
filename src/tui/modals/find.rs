//! A search through all runs and tickets: the words are typed, and what holds them comes in piece by piece, under the
//! ticket and the run that it is in.

use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::base::time::short;
use crate::domain::find::{Batch, Cursor, Find, Match, Spot};
use crate::domain::request::Request;
use crate::domain::search::Only;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::prompt;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, WIDEST, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthChar;

/// Found at most; whoever wants more types more words.
const MOST: usize = 500;
/// Lines of the dialog with its frame.
const HEIGHT: u16 = 40;

/// How the search stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing is looked for.
    #[default]
    Empty,
    /// This piece was asked for.
    Asked(Find),
    /// All was looked at.
    Whole,
    /// There may be more than is shown.
    Enough,
    /// It was not answered, and why.
    Stuck(String),
}

/// What was typed, and what was found so far.
#[derive(Clone, Debug, Default)]
pub struct Finder {
    pub query: String,
    only: Option<Only>,
    stage: Stage,
    matches: Vec<Match>,
    cursor: usize,
    looked: usize,
    runs: usize,
}

/// What a key comes to.
#[allow(clippy::large_enum_variant, reason = "it lives for one key")]
pub enum Outcome {
    /// The dialog stays; a piece may be wanted.
    Stays(Option<Ask>),
    Closes,
    /// The person goes to this one.
    Opens(Box<Match>, Option<Only>),
}

impl Finder {
    /// The dialog is shown again: what it had begun goes on.
    pub fn resume(&mut self) -> Option<Ask> {
        match &self.stage {
            Stage::Asked(find) => Some(Ask::Request(Request::Find(find.clone()))),
            Stage::Stuck(_) => self.begin(),
            _ => None,
        }
    }

    fn begin(&mut self) -> Option<Ask> {
        (self.matches, self.cursor, self.looked, self.runs) = (Vec::new(), 0, 0, 0);
        if self.query.trim().is_empty() && self.only.is_none() {
            self.stage = Stage::Empty;
            return None;
        }
        Some(self.ask(Cursor::default()))
    }

    fn ask(&mut self, from: Cursor) -> Ask {
        let find = Find { query: self.query.trim().to_owned(), only: self.only, from };
        self.stage = Stage::Asked(find.clone());
        Ask::Request(Request::Find(find))
    }

    pub fn key(&mut self, command: Option<Command>, input: &Input, lines: i32) -> Outcome {
        match command {
            Some(Command::Close) => return Outcome::Closes,
            Some(Command::Choose) => {
                let chosen = self.matches.get(self.cursor).cloned();
                return chosen.map_or(Outcome::Stays(None), |found| Outcome::Opens(Box::new(found), self.only));
            }
            Some(Command::Own("only")) => {
                self.only = match self.only {
                    None => Some(Only::Tools),
                    Some(Only::Tools) => Some(Only::Errors),
                    Some(Only::Errors) => Some(Only::Edits),
                    Some(Only::Edits) => None,
                };
                return Outcome::Stays(self.begin());
            }
            Some(Command::Down | Command::Up | Command::PageDown | Command::PageUp) => {
                let last = self.matches.len().saturating_sub(1);
                self.cursor = self.cursor.saturating_add_signed(lines as isize).min(last);
            }
            _ if prompt::edit(&mut self.query, input) => return Outcome::Stays(self.begin()),
            _ => {}
        }
        Outcome::Stays(None)
    }

    /// Pasted text; `None`: there is no room for it.
    pub fn pasted(&mut self, text: &str) -> Option<Option<Ask>> {
        prompt::insert(&mut self.query, text).then(|| self.begin())
    }

    /// A piece has come, or why not; one that is not waited for any more is left out. What is wanted next.
    pub fn told(&mut self, asked: &Find, batch: Result<Batch, String>) -> Option<Ask> {
        if self.stage != Stage::Asked(asked.clone()) {
            return None;
        }
        match batch {
            Err(why) => self.stage = Stage::Stuck(why),
            Ok(batch) => {
                (self.looked, self.runs) = (batch.looked, batch.runs);
                self.matches.extend(batch.matches);
                self.stage = if batch.next.is_none() { Stage::Whole } else { Stage::Enough };
                if self.matches.len() > MOST {
                    self.matches.truncate(MOST);
                    self.stage = Stage::Enough;
                } else if let Some(next) = batch.next {
                    return Some(self.ask(next));
                }
            }
        }
        None
    }

    fn status(&self) -> String {
        let found = counted(self.matches.len(), "match");
        let of = |n: usize| counted(n, "run");
        match &self.stage {
            Stage::Empty | Stage::Stuck(_) => String::new(),
            Stage::Asked(_) if self.runs == 0 => format!("{found} · tickets …"),
            Stage::Asked(_) => format!("{found} · {} of {} …", self.looked, of(self.runs)),
            Stage::Whole => format!("{found} · {}", of(self.runs)),
            Stage::Enough => format!("the first {found} · {} of {}", self.looked, of(self.runs)),
        }
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let area = centred(room, WIDEST, HEIGHT);
        let status = self.status();
        let inside = Frame::dialog("Find in all runs and tickets", &status, model.glyphs).draw(theme, area, buf);
        let only = self.only.map_or_else(String::new, |only| format!("{} only", only.word()));
        let line = prompt::Prompt { label: "find: ", text: self.query.clone() };
        line.line(Row::new().right(Role::Warning, only), model.glyphs).draw(theme, inside, buf);
        let list = Rect { y: inside.y.saturating_add(2), height: inside.height.saturating_sub(4), ..inside };
        let words = match &self.stage {
            Stage::Empty => {
                "Type to search the tickets here, the log of every run, and what Claude said, ran and changed; newest run first."
            }
            Stage::Stuck(why) => why,
            Stage::Asked(_) if self.matches.is_empty() => "Searching …",
            _ if self.matches.is_empty() => "Nothing found.",
            _ => "",
        };
        for (place, line) in list.rows().zip(wrap(&clean_line(words, 400), list.width.into())) {
            Row::new().left(Role::Dim, line).draw(theme, place, buf);
        }
        let (rows, chosen) = self.rows(model, list.width.into());
        // Its ticket is seen with it where that stands right above.
        let above = chosen.saturating_sub(usize::from(self.cursor == 0 || self.is_first(self.cursor)));
        let scrolled = Scrolled::default().showing(above, chosen, list.height.into());
        scrolled.list(rows.into_iter(), (!self.matches.is_empty()).then_some(chosen), theme, list, buf);
        let keys = [Command::Choose, Command::Down, Command::Own("only"), Command::Close];
        Row::keys_in(inside.width.into(), hints(model, Scope::Find, &keys)).draw(theme, foot(inside), buf);
    }

    /// A match begins another ticket or run.
    fn is_first(&self, at: usize) -> bool {
        let group = |found: &Match| (found.ticket.clone(), found.spot.run());
        at.checked_sub(1).is_none_or(|before| group(&self.matches[before]) != group(&self.matches[at]))
    }

    /// What is drawn, and which row is chosen.
    fn rows(&self, model: &Model, columns: usize) -> (Vec<Row>, usize) {
        let (mut rows, mut chosen) = (Vec::new(), 0);
        for (at, found) in self.matches.iter().enumerate() {
            if self.is_first(at) {
                rows.push(head(model, found));
            }
            if at == self.cursor {
                chosen = rows.len();
            }
            rows.push(row(found, columns));
        }
        (rows, chosen)
    }
}

fn head(model: &Model, found: &Match) -> Row {
    let place = match found.spot.run() {
        None => "ticket".to_owned(),
        Some(run) => {
            let age = found.time.map_or_else(String::new, |time| format!(" · {} ago", short(model.now.since(time))));
            format!("run {}{age}", run.short())
        }
    };
    Row::new()
        .right(Role::Dim, place)
        .left(Role::Accent, format!("{} ", found.ticket))
        .left(Role::Text, clean_line(&found.title, 200))
}

fn row(found: &Match, columns: usize) -> Row {
    let place = match found.spot {
        Spot::Ticket { line } => format!("  line {line:<4} "),
        Spot::Run { iteration, .. } => format!("  it {iteration:<3} "),
        Spot::Log { .. } => "  log    ".to_owned(),
    };
    let (before, marked) = (&found.line[..found.marked.start], &found.line[found.marked.clone()]);
    // The words are seen, and some of what stands before them.
    let mut room = columns.saturating_sub(place.len()) / 3;
    let begins = before.char_indices().rev().take_while(|(_, c)| {
        let fits = c.width().unwrap_or(0) <= room;
        room = room.saturating_sub(c.width().unwrap_or(0));
        fits
    });
    let from = begins.last().map_or(before.len(), |(at, _)| at);
    let cut = if from > 0 && found.marked.end * 2 > columns { (&before[from..], "…") } else { (before, "") };
    Row::new()
        .left(Role::Dim, place)
        .left(Role::Dim, cut.1)
        .left(Role::Text, cut.0)
        .left(Role::Warning, marked)
        .left(Role::Text, &found.line[found.marked.end..])
}

//! The draft of a ticket's phases, to be looked at: accepted, sent back with words, edited, tried or refused.
//!
//! The commands will run on the person's machine, outside the gate, and come from Claude: nothing of them is hidden, and a
//! yes counts only once the end was seen.

use crate::base::text::clean_line;
use crate::domain::command::UserCommand;
use crate::domain::messages::{AT_LAST, part_words};
use crate::domain::planning::{DraftAnswer, Tried, checked};
use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::draft::Draft;
use crate::domain::ticket::part::Part;
use crate::orchestrator::state::Planning;
use crate::tui::command::{self, Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::field::Field;
use crate::tui::widgets::frame::{Frame, WIDEST, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use crate::tui::widgets::spelt::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Lines of the dialog that are not the draft: border, keys, what went wrong, and air where there is room for all of the draft.
const REST: u16 = 5;
/// Lines of the field for words, with its heading; and where there is little room.
const WORDS: u16 = 6;
const FEW_WORDS: u16 = 4;
const ROOMY: u16 = 20;
/// The last lines of a failed command's output.
const TAIL: usize = 8;
/// Longest words, in bytes.
const LONGEST: usize = 20_000;

/// The dialog of one ticket.
pub struct PlanReview {
    pub ticket: TicketKey,
    scrolled: Scrolled,
    /// What Claude is to change, while it is typed.
    words: Option<Field>,
    /// What was typed and kept.
    kept: String,
    trouble: String,
    /// The draft of which the next `discard` counts: one key takes none away for good.
    sure: Option<Box<Draft>>,
}

/// What a key comes to.
pub enum Outcome {
    Stays,
    Closes,
    /// This is asked, and the dialog stays.
    Asks(Ask),
    /// This is asked, and the dialog closes.
    Answers(Ask),
}

impl PlanReview {
    pub fn new(ticket: TicketKey) -> Self {
        Self {
            ticket,
            scrolled: Scrolled::default(),
            words: None,
            kept: String::new(),
            trouble: String::new(),
            sure: None,
        }
    }

    pub fn scope(&self) -> Scope {
        if self.words.is_some() { Scope::Words } else { Scope::Plan }
    }

    /// What a key wants; typing is taken here.
    pub fn key(&mut self, model: &Model, command: Option<Command>, input: &Input, room: Rect) -> Outcome {
        self.trouble.clear();
        let sure = self.sure.take();
        if let Some(words) = &mut self.words {
            match command {
                Some(Command::Send) if words.text().trim().is_empty() => self.words = None,
                Some(Command::Send) => {
                    let words = words.text().trim().to_owned();
                    return Outcome::Answers(self.answer(model, DraftAnswer::Revise { words }));
                }
                Some(Command::Close) => {
                    self.kept = words.text();
                    self.words = None;
                }
                Some(Command::NewLine) => words.new_line(),
                _ => words.typed(input),
            }
            return Outcome::Stays;
        }
        let Some(plan) = planning(model, &self.ticket) else { return Outcome::Closes };
        match command {
            Some(Command::Yes) if self.below(model, room) > 0 => self.trouble = "Scroll to the end first.".into(),
            Some(Command::Yes) => return Outcome::Answers(self.answer(model, DraftAnswer::Accept)),
            Some(Command::Own("revise")) => self.words = Some(Field::of_at_most(LONGEST, &self.kept)),
            Some(Command::Own("editor")) => {
                return Outcome::Asks(Ask::EditText(plan.draft.as_ref().map(Draft::body).unwrap_or_default()));
            }
            Some(Command::Own("try")) if plan.trying => {}
            Some(Command::Own("try")) if plan.draft.as_ref().is_none_or(|draft| draft.validation.is_empty()) => {
                self.trouble = "No command to try.".into();
            }
            Some(Command::Own("try")) => return Outcome::Asks(self.answer(model, DraftAnswer::Try)),
            Some(Command::Own("refuse")) if sure.is_some() && sure.as_deref() == plan.draft.as_ref() => {
                return Outcome::Answers(self.answer(model, DraftAnswer::Refuse));
            }
            Some(Command::Own("refuse")) => {
                self.sure = plan.draft.clone().map(Box::new);
                let key = model.keys.key_of(Scope::Plan, Command::Own("refuse"));
                self.trouble = format!("{key} again discards the draft.");
            }
            Some(Command::Close) => return Outcome::Closes,
            command => {
                let (rows, page) = (self.lines(model, room).len(), self.height(model, room).into());
                self.scrolled.scroll(command::lines(command, page), rows, page);
            }
        }
        Outcome::Stays
    }

    /// What the person has made of it in their editor, or nothing and why.
    pub fn edited(&mut self, model: &Model, text: &str) -> Option<Ask> {
        let before = planning(model, &self.ticket).and_then(|plan| plan.draft.clone())?;
        let is_new = !before.title.is_empty();
        let Draft { title, text, phases, validation, parts, .. } = Draft::of_body(text);
        let (title, text) = if is_new { (title, text) } else { (String::new(), String::new()) };
        match checked(Draft { title, text, phases, validation, parts, ..before.clone() }) {
            Ok(draft) if draft == before => None,
            Ok(draft) => Some(self.answer(model, DraftAnswer::Edit(draft))),
            Err(fault) => {
                self.trouble = format!("The draft was not changed: {}", fault.sentence());
                None
            }
        }
    }

    /// Takes pasted text; `false` when there is no room for it.
    pub fn pasted(&mut self, text: &str) -> bool {
        self.words.as_mut().is_none_or(|words| words.pasted(text))
    }

    /// Of the draft as it is shown.
    fn answer(&self, model: &Model, answer: DraftAnswer) -> Ask {
        let seen = Box::new(planning(model, &self.ticket).and_then(|plan| plan.draft.clone()).unwrap_or_default());
        Ask::Request(Request::Command(self.ticket.clone(), UserCommand::AnswerDraft { answer, seen }))
    }

    fn width(room: Rect) -> u16 {
        room.width.min(WIDEST)
    }

    fn height(&self, model: &Model, room: Rect) -> u16 {
        let lines = u16::try_from(self.lines(model, room).len()).unwrap_or(u16::MAX);
        lines.min(room.height.saturating_sub(self.rest(lines, room)))
    }

    /// Lines of the dialog that are not so many `lines` of the draft.
    fn rest(&self, lines: u16, room: Rect) -> u16 {
        let words = self.words_height(room);
        let is_whole = lines.saturating_add(REST + words) <= room.height;
        if is_whole { REST + words } else { REST - 1 + words }
    }

    fn words_height(&self, room: Rect) -> u16 {
        match self.words {
            None => 0,
            Some(_) if room.height < ROOMY => FEW_WORDS,
            Some(_) => WORDS,
        }
    }

    fn below(&self, model: &Model, room: Rect) -> usize {
        self.scrolled.below(self.lines(model, room).len(), self.height(model, room).into())
    }

    fn lines(&self, model: &Model, room: Rect) -> Vec<(Role, String)> {
        let Some(plan) = planning(model, &self.ticket) else { return Vec::new() };
        let Some(draft) = &plan.draft else { return Vec::new() };
        let mut page = Page { columns: usize::from(Self::width(room)).saturating_sub(4), lines: Vec::new() };
        if !draft.title.is_empty() {
            page.hang("", Role::Title, &draft.title);
        }
        if !draft.text.is_empty() {
            page.gap();
            page.hang("", Role::Text, &draft.text);
        }
        for (n, part) in (1..).zip(&draft.parts) {
            page.head(&visible(&part_words(n, part)));
            page.part(part);
        }
        page.head(if draft.parts.is_empty() { "Phases" } else { AT_LAST });
        for (n, phase) in (1..).zip(&draft.phases) {
            page.hang(&format!("{n:>2}. "), Role::Text, &visible(phase));
        }
        page.head("Validation commands");
        if draft.validation.is_empty() {
            page.hang("  ", Role::Warning, "none: no command will check Claude's claims");
        }
        for command in &draft.validation {
            page.hang("  $ ", Role::StreamTarget, &visible(command));
            if let Some(tried) = plan.tried.iter().find(|tried| tried.command == *command) {
                page.tried(tried);
            }
        }
        if !draft.validation.is_empty() {
            page.gap();
            page.hang("", Role::Dim, "They run here, outside the gate, after each claim.");
        }
        page.lines
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let Some(plan) = planning(model, &self.ticket) else { return };
        let (lines, height) = (self.lines(model, room), self.height(model, room));
        let rest = self.rest(u16::try_from(lines.len()).unwrap_or(u16::MAX), room);
        let area = centred(room, Self::width(room), height + rest);
        let below = self.below(model, room);
        let status = match (plan.trying, below) {
            (true, _) => "running the commands …".to_owned(),
            (false, 0) => String::new(),
            (false, below) => format!("{below} more {}", model.glyphs.pick("↓", "v")),
        };
        let title = format!("Draft · {}", clean_line(self.ticket.as_str(), 40));
        let frame = Frame { status_role: Role::Warning, ..Frame::dialog(&title, &status, model.glyphs) };
        let inside = frame.draw(theme, area, buf);
        let rows = lines.iter().map(|(role, line)| Row::new().left(*role, line));
        self.scrolled.list(rows, None, theme, Rect { height, ..inside }, buf);
        if let Some(field) = &self.words {
            let place = Rect { y: inside.y + height + 1, height: self.words_height(room) - 2, ..inside };
            field.view(
                ("Changes", "what should Claude change?"),
                "",
                (theme, model.glyphs),
                place.intersection(inside),
                buf,
            );
            let keys = [Command::Send, Command::NewLine, Command::Close];
            return Row::keys(hints(model, Scope::Words, &keys)).draw(theme, foot(inside), buf);
        }
        let above = Rect { y: foot(inside).y.saturating_sub(1), height: 1, ..inside };
        Row::new().left(Role::Danger, clean_line(&self.trouble, 300)).draw(theme, above, buf);
        let own = ["revise", "editor", "try", "refuse"].map(Command::Own);
        let keys = [&[Command::Yes], &own[..], &[Command::Close]].concat();
        Row::keys(hints(model, Scope::Plan, &keys)).draw(theme, foot(inside), buf);
    }
}

fn planning<'a>(model: &'a Model, ticket: &TicketKey) -> Option<&'a Planning> {
    let state = &model.tab_of(ticket)?.state;
    state.waiting_draft()?;
    state.plan.as_deref()
}

/// Lines of the draft, wrapped.
struct Page {
    columns: usize,
    lines: Vec<(Role, String)>,
}

impl Page {
    fn gap(&mut self) {
        if !self.lines.is_empty() {
            self.lines.push((Role::Text, String::new()));
        }
    }

    fn head(&mut self, words: &str) {
        self.gap();
        self.lines.push((Role::Accent, words.to_owned()));
    }

    fn part(&mut self, part: &Part) {
        if !part.text.is_empty() {
            self.hang("", Role::Text, &part.text);
        }
        for (n, phase) in (1..).zip(&part.phases) {
            self.hang(&format!("{n:>2}. "), Role::Text, &visible(phase));
        }
    }

    /// The words behind their mark.
    fn hang(&mut self, mark: &str, role: Role, words: &str) {
        let indent = mark.chars().count();
        let lines = words.lines().flat_map(|line| match wrap(line, self.columns.saturating_sub(indent)) {
            none if none.is_empty() => vec![String::new()],
            some => some,
        });
        for (at, line) in lines.enumerate() {
            let before = if at == 0 { mark.to_owned() } else { " ".repeat(indent) };
            self.lines.push((role, format!("{before}{line}")));
        }
    }

    fn tried(&mut self, tried: &Tried) {
        let (role, words) = match (tried.reason.as_str(), tried.exit) {
            ("", Some(0)) => (Role::Success, "passed".to_owned()),
            ("", Some(code)) => (Role::Danger, format!("exit {code}")),
            ("", None) => (Role::Danger, "killed, or timed out".to_owned()),
            (why, _) => (Role::Warning, format!("not run: {why}")),
        };
        self.hang("    ", role, &words);
        if tried.reason.is_empty() && tried.exit != Some(0) {
            let tail: Vec<&str> = tried.tail.trim_end().lines().collect();
            for line in &tail[tail.len().saturating_sub(TAIL)..] {
                self.lines.push((Role::Dim, format!("      {}", clean_line(line, self.columns.saturating_sub(6)))));
            }
        }
    }
}

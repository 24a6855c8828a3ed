//! A new ticket: title, text, phases and the commands that check it, each in a field of its own.

use crate::domain::request::Request;
use crate::domain::ticket::draft::Draft;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::field::Field;
use crate::tui::widgets::frame::{Frame, WIDEST, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The fields in their order: name, what is meant, what stands in it while it is empty, lines at least and at most.
const FIELDS: [(&str, &str, &str, u16, u16); 4] = [
    ("Title", "", "What should be true when it is done", 1, 1),
    ("Text", "what Claude should know, in markdown", "", 1, 6),
    ("Phases", "one a line, in their order", "The first step that can be checked", 2, 9),
    ("Checks", "commands that must pass, one a line", "Without one, what Claude claims is not verified", 1, 4),
];

const CHECKS: usize = 3;

/// What becomes of the ticket when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Nothing,
    Start,
    /// It is opened in the person's editor.
    Edit,
}

/// The form.
pub struct Form {
    fields: [Field; 4],
    /// The field with the focus.
    at: usize,
    /// Commands that usually check what is here, and the next of them to be offered.
    usual: Vec<String>,
    next: usize,
    /// It is being written, and what follows.
    pub sent: Option<Then>,
    /// Why it could not be written.
    trouble: String,
}

impl Form {
    /// The form with what was typed before.
    pub fn new(draft: &Draft) -> Self {
        let fields = [
            Field::new(&draft.title),
            Field::new(&draft.text),
            Field::new(&draft.phases.join("\n")),
            Field::new(&draft.validation.join("\n")),
        ];
        Self { fields, at: 0, usual: Vec::new(), next: 0, sent: None, trouble: String::new() }
    }

    /// What is typed so far.
    pub fn draft(&self) -> Draft {
        let [title, text, phases, validation] = self.fields.each_ref().map(Field::text);
        let lines = |text: String| text.lines().map(str::to_owned).collect();
        Draft { title, text, phases: lines(phases), validation: lines(validation) }
    }

    /// Takes commands that usually check what is here.
    pub fn usual(&mut self, commands: Vec<String>) {
        self.usual = commands;
    }

    /// It could not be written.
    pub fn refused(&mut self, why: String) {
        self.sent = None;
        self.trouble = why;
    }

    /// What a key wants done; typing is taken here.
    pub fn key(&mut self, command: Option<Command>, input: &Input) -> Option<Ask> {
        let then = match command {
            Some(Command::Own("save")) => Then::Nothing,
            Some(Command::Own("start")) => Then::Start,
            Some(Command::Own("editor")) => Then::Edit,
            _ => {
                self.typed(command, input);
                return None;
            }
        };
        let draft = self.draft();
        if draft.title().is_empty() {
            (self.at, self.trouble) = (0, "A ticket needs a title.".into());
            return None;
        }
        self.sent = Some(then);
        Some(Ask::Request(Request::Create(draft)))
    }

    fn typed(&mut self, command: Option<Command>, input: &Input) {
        self.trouble.clear();
        let all = self.fields.len();
        match command {
            Some(Command::FocusNext) => self.at = (self.at + 1) % all,
            Some(Command::FocusPrevious) => self.at = (self.at + all - 1) % all,
            // The title has one line.
            Some(Command::NewLine) if self.at == 0 => self.at = 1,
            Some(Command::NewLine) => self.fields[self.at].new_line(),
            Some(Command::Own("suggest")) => self.suggest(),
            _ => self.fields[self.at].typed(input),
        }
    }

    /// The next usual command goes in; where it is one that was offered last, in its place.
    fn suggest(&mut self) {
        let Some(command) = self.usual.get(self.next % self.usual.len().max(1)) else { return };
        let text = self.fields[CHECKS].text();
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        if !lines.contains(&command.as_str()) {
            lines.push(command);
        }
        (self.fields[CHECKS], self.at) = (Field::new(&lines.join("\n")), CHECKS);
        self.next += 1;
    }

    /// Takes pasted text.
    pub fn pasted(&mut self, text: &str) {
        self.fields[self.at].pasted(if self.at == 0 { text.lines().next().unwrap_or_default() } else { text });
    }

    /// Draws it.
    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let wanted: u16 = FIELDS.iter().map(|(.., most)| most + 2).sum::<u16>() + 3;
        let area = centred(room, WIDEST - 10, wanted);
        let status = if self.sent.is_some() { "being written …" } else { "" };
        let inside = Frame::dialog("New ticket", status, model.glyphs).draw(theme, area, buf);
        let keys = ["save", "start", "editor", "suggest"].map(Command::Own);
        let keys = [&keys[..], &[Command::FocusNext, Command::Close]].concat();
        Row::keys(hints(model, Scope::Draft, &keys)).draw(theme, foot(inside), buf);
        let body = Rect { height: inside.height.saturating_sub(2), ..inside };
        for ((place, head), (at, field)) in self.places(body).into_iter().zip(self.fields.iter().enumerate()) {
            let (name, meant, hint, ..) = FIELDS[at];
            let focused = at == self.at;
            let mark = if focused { model.glyphs.pick("▸ ", "> ") } else { "  " };
            let more = match self.usual.get(self.next % self.usual.len().max(1)) {
                Some(next) if at == CHECKS => format!("  {meant}; next: {next}"),
                _ => format!("  {meant}"),
            };
            let role = if focused { Role::Title } else { Role::Dim };
            Row::new().left(Role::Accent, mark).left(role, name).left(Role::Dim, more).draw(theme, head, buf);
            field.view_text(hint, focused, theme, place, buf);
        }
        let above = Rect { y: foot(inside).y.saturating_sub(1), height: 1, ..inside };
        if let Some(line) = wrap(&self.trouble, above.width.into()).first() {
            Row::new().left(Role::Danger, line).draw(theme, above, buf);
        }
    }

    /// The text and the head of each field: each has its least, and the one with the focus the rest first.
    fn places(&self, body: Rect) -> Vec<(Rect, Rect)> {
        let air = u16::from(body.height >= 20);
        let mut heights = FIELDS.map(|(_, _, _, least, _)| least);
        let used: u16 = heights.iter().map(|height| height + 1 + air).sum();
        let mut left = body.height.saturating_sub(used);
        for at in [self.at, 2, 3, 1] {
            let more = (FIELDS[at].4 - heights[at].min(FIELDS[at].4)).min(left);
            heights[at] += more;
            left -= more;
        }
        let mut y = body.y;
        heights
            .iter()
            .map(|height| {
                let head = Rect { y, height: 1, ..body }.intersection(body);
                let text = Rect { x: body.x + 2, y: y + 1, width: body.width.saturating_sub(2), height: *height };
                y += height + 1 + air;
                (text.intersection(body), head)
            })
            .collect()
    }
}

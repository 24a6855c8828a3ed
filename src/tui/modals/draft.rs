//! A new ticket: title, text, phases and the commands that check it, each in a field of its own.

use crate::domain::request::Request;
use crate::domain::ticket::draft::Draft;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input};
use crate::tui::panes::home::estimate::{IGNORED, without_commands};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::field::Field;
use crate::tui::widgets::frame::{Frame, WIDEST, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The fields in their order: name, what is meant, what stands in it while it is empty, lines at least and at most.
const FIELDS: [(&str, &str, &str, u16, u16); 4] = [
    ("Title", "", "The goal, in a few words", 1, 1),
    ("Text", "what Claude should know, in markdown", "", 1, 6),
    ("Phases", "one per line, in order", "The first verifiable step", 1, 9),
    ("Checks", "commands that must pass, one per line", "", 1, 4),
];

const PHASES: usize = 2;
/// Rows that the title has before the other fields have more than their least.
const TITLE: u16 = 4;
/// Columns inside in which the keys that go without saying are named, too.
const ROOMY: u16 = 84;
const CHECKS: usize = 3;

/// What becomes of the ticket when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Nothing,
    Start,
    /// Claude drafts its phases.
    Plan,
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
    /// The person's templates by name, and the one that was chosen.
    templates: Vec<(String, Draft)>,
    template: Option<usize>,
    /// What is said of the ticket in no field.
    rest: Draft,
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
        let rest = Draft {
            kind: draft.kind.clone(),
            priority: draft.priority.clone(),
            tags: draft.tags.clone(),
            ..Draft::default()
        };
        let (usual, templates) = (Vec::new(), Vec::new());
        Self { fields, at: 0, usual, next: 0, templates, template: None, rest, sent: None, trouble: String::new() }
    }

    /// What is typed so far.
    pub fn draft(&self) -> Draft {
        let [title, text, phases, validation] = self.fields.each_ref().map(Field::text);
        let lines = |text: String| text.lines().map(str::to_owned).collect();
        Draft { title, text, phases: lines(phases), validation: lines(validation), ..self.rest.clone() }
    }

    /// Takes commands that usually check what is here, and the person's templates.
    pub fn suggested(&mut self, checks: Vec<String>, templates: Vec<(String, Draft)>) {
        (self.usual, self.templates) = (checks, templates);
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
            Some(Command::Own("plan")) if !self.fields[PHASES].text().trim().is_empty() => {
                self.trouble = "Claude drafts phases only if there are none: clear the field first.".into();
                return None;
            }
            Some(Command::Own("plan")) => Then::Plan,
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
            Some(Command::Own("template")) => self.next_template(),
            _ => self.fields[self.at].typed(input),
        }
    }

    /// The usual command that begins as the last line of the checks goes in its place; else the next one is added. The
    /// focus stays where it is.
    fn suggest(&mut self) {
        let text = self.fields[CHECKS].text();
        let is_new = |usual: &String| !text.lines().any(|line| line.trim() == usual);
        if !self.usual.iter().any(is_new) {
            let is_known = !text.trim().is_empty();
            let words = if is_known { "No other" } else { "No usual" };
            self.trouble = format!("{words} check is known for this directory: type a command.");
            return;
        }
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let is_begun =
            |last: &&str| self.usual.iter().find(|usual| usual.len() > last.len() && usual.starts_with(last.trim()));
        if let Some(whole) = lines.last().and_then(is_begun) {
            lines.pop();
            lines.push(whole);
        } else {
            let command = &self.usual[self.next % self.usual.len()];
            if !lines.contains(&command.as_str()) {
                lines.push(command);
            }
            self.next += 1;
        }
        self.fields[CHECKS] = Field::new(&lines.join("\n"));
    }

    /// The next template, and after the last none. What stands as the one before has put it there is replaced, what was
    /// typed stays.
    fn next_template(&mut self) {
        if self.templates.is_empty() {
            self.trouble = "No templates: put markdown files into `templates` in your configuration folder.".into();
            return;
        }
        let of = |at: Option<usize>| at.map_or_else(Draft::default, |at| self.templates[at].1.clone());
        let before = of(self.template);
        self.template = self.template.map_or(Some(0), |at| Some(at + 1)).filter(|at| *at < self.templates.len());
        let after = of(self.template);
        let texts = |draft: &Draft| {
            [draft.title.clone(), draft.text.clone(), draft.phases.join("\n"), draft.validation.join("\n")]
        };
        for (field, (old, new)) in self.fields.iter_mut().zip(texts(&before).into_iter().zip(texts(&after))) {
            if field.text().trim() == old {
                *field = Field::new(&new);
            }
        }
        self.rest = Draft { kind: after.kind, priority: after.priority, tags: after.tags, ..Draft::default() };
    }

    /// Takes pasted text; `false` when there is no room for it. What follows the title's line is put into the text.
    pub fn pasted(&mut self, text: &str) -> bool {
        if self.at > 0 {
            return self.fields[self.at].pasted(text);
        }
        let (title, rest) = text.trim_matches('\n').split_once('\n').unwrap_or((text.trim_matches('\n'), ""));
        let rest = rest.trim_start_matches('\n');
        self.fields[1].fits(rest) && self.fields[0].pasted(title) && (rest.is_empty() || self.fields[1].pasted(rest))
    }

    /// Draws it.
    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let columns = room.width.min(WIDEST - 10).saturating_sub(6);
        let needed = self.fields.each_ref().map(|field| field.rows(columns));
        let wanted = FIELDS
            .iter()
            .zip(needed)
            .fold(3, |sum: u16, ((.., most), needed)| sum.saturating_add(needed.max(*most)).saturating_add(2));
        let area = centred(room, WIDEST - 10, wanted);
        let template = self.template.and_then(|at| self.templates.get(at)).map(|(name, _)| format!("template {name}"));
        let status = if self.sent.is_some() { "saving …".to_owned() } else { template.unwrap_or_default() };
        let inside = Frame::dialog("New ticket", &status, model.glyphs).draw(theme, area, buf);
        let keys = ["save", "start", "plan", "editor", "suggest"].map(Command::Own);
        let rest = [Command::Own("template"), Command::FocusNext, Command::Close];
        let rest = rest.into_iter().filter(|key| *key != Command::FocusNext || inside.width >= ROOMY);
        let keys: Vec<Command> = keys.into_iter().chain(rest).collect();
        Row::keys_in(inside.width.into(), hints(model, Scope::Draft, &keys)).draw(theme, foot(inside), buf);
        let body = Rect { height: inside.height.saturating_sub(2), ..inside };
        for ((place, head), (at, field)) in self.places(body, needed).into_iter().zip(self.fields.iter().enumerate()) {
            let (name, meant, hint, ..) = FIELDS[at];
            let hint = if at == CHECKS { checks_hint(model) } else { hint.to_owned() };
            let focused = at == self.at;
            let mark = if focused { model.glyphs.pick("▸ ", "> ") } else { "  " };
            let more = match self.usual.get(self.next % self.usual.len().max(1)) {
                Some(next) if at == CHECKS => format!("  {meant}; next: {next}"),
                _ => format!("  {meant}"),
            };
            let role = if focused { Role::Title } else { Role::Dim };
            Row::new().left(Role::Accent, mark).left(role, name).left(Role::Dim, more).draw(theme, head, buf);
            field.view_text(&hint, focused, (theme, model.glyphs), place, buf);
        }
        let above = Rect { y: foot(inside).y.saturating_sub(1), height: 1, ..inside };
        if let Some(line) = wrap(&self.trouble, above.width.into()).first() {
            Row::new().left(Role::Danger, line).draw(theme, above, buf);
        }
    }

    /// The text and the head of each field: each has its least, the title the rows that it needs, the field with the
    /// focus the rest first; what is free then goes to what needs more than its most.
    fn places(&self, body: Rect, needed: [u16; 4]) -> Vec<(Rect, Rect)> {
        let air = u16::from(body.height >= 20);
        let mut heights = FIELDS.map(|(_, _, _, least, _)| least);
        let used: u16 = heights.iter().map(|height| height + 1 + air).sum();
        let mut left = body.height.saturating_sub(used);
        let usual = [self.at, PHASES, CHECKS, 1].map(|at| (at, FIELDS[at].4));
        let more = [self.at, 0, PHASES, CHECKS, 1].map(|at| (at, needed[at]));
        for (at, most) in [(0, needed[0].min(TITLE))].into_iter().chain(usual).chain(more) {
            let more = most.saturating_sub(heights[at]).min(left);
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

/// What checks a ticket that names no command itself.
fn checks_hint(model: &Model) -> String {
    match &model.checks[..] {
        [] if model.home.ignores_checks => format!("{IGNORED}; without one, {}", without_commands(model)),
        [] => format!("Without one, {}", without_commands(model)),
        [one] => format!("Every ticket is checked by {one}"),
        [first, more @ ..] => format!("Every ticket is checked by {first} and {} more", more.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_is_pasted_all_is_taken_or_nothing() {
        let mut form = Form::new(&Draft::default());
        assert!(form.pasted(&"t".repeat(150_000)));
        assert!(!form.pasted(&format!("{}\nwords", "t".repeat(100_000))), "the title is too long");
        assert_eq!(form.draft().text, "");
        assert!(!form.pasted(&format!("t\n{}", "w".repeat(250_000))), "the text is too long");
        assert_eq!(form.draft().title.len(), 150_000);
        assert!(form.pasted("t\nwords"));
        assert_eq!((form.draft().title.len(), form.draft().text), (150_001, "words".to_owned()));
    }

    #[test]
    fn a_title_of_several_rows_is_seen_whole_where_rows_are_free() {
        let title = "Count words in a file, and say so in a title that is far too long for any screen? ".repeat(2);
        for (at, size) in [(0, (120, 40)), (1, (120, 40)), (0, (80, 24)), (2, (80, 24))] {
            let mut form = Form::new(&Draft { title: title.trim().to_owned(), ..Draft::default() });
            form.at = at;
            let model = crate::tui::sample::model();
            let mut buf = Buffer::empty(Rect::new(0, 0, size.0, size.1));
            form.view(&model, &Theme::plain(), crate::tui::widgets::frame::room(buf.area), &mut buf);
            let screen: String = buf.content.iter().map(ratatui::buffer::Cell::symbol).collect();
            assert!(screen.contains("Count words in a file, and say") && screen.matches("screen?").count() == 2);
        }
    }

    #[test]
    fn a_narrow_form_says_how_it_is_left() {
        let mut ui = crate::tui::sample::model();
        ui.modals.push(crate::tui::modals::Modal::Draft(Box::new(Form::new(&Draft::default()))));
        let screen = crate::tui::sample::draw(&mut ui, (60, 15));
        assert!(screen.contains("^S save") && screen.contains("Esc close") && !screen.contains('…'), "{screen}");
    }
}

//! Claude's own questions (`AskUserQuestion`): options as a list, one or several, and words of the person's own.
//!
//! The input is `{questions: [{question, header, options: [{label, description, preview?}], multiSelect}]}`; the
//! answer is the same input with `answers`: question text → label, several joined by `, ` (Claude Code 2.1.197, the
//! schema of the tool).

use super::body::{Body, Line};
use super::call;
use crate::domain::approval::Approval;
use crate::tui::command::Command;
use crate::tui::marks::Glyphs;
use crate::tui::msg::{Input, Key};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::field::Field;
use crate::tui::widgets::spelt::visible;
use crate::tui::widgets::wrap::{Break, Piece, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde::Deserialize;
use std::collections::BTreeSet;

/// Questions, and what was chosen so far.
pub(super) struct Choices {
    questions: Vec<Asked>,
    given: Vec<Given>,
    /// The question in front; behind the last one all answers are shown once more.
    at: usize,
    /// The line of the list; behind the options it is the person's own words.
    cursor: usize,
    pub(super) typing: Option<Field>,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    #[serde(default)]
    header: String,
    options: Vec<Choice>,
    #[serde(default, rename = "multiSelect")]
    several: bool,
}

#[derive(Deserialize)]
struct Choice {
    label: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    preview: String,
}

/// The answer to one question.
#[derive(Clone, Debug, Default)]
struct Given {
    chosen: BTreeSet<usize>,
    own: String,
}

impl Given {
    fn is_empty(&self) -> bool {
        self.chosen.is_empty() && self.own.is_empty()
    }

    fn text(&self, asked: &Asked) -> String {
        let labels = self.chosen.iter().filter_map(|at| asked.options.get(*at)).map(|choice| choice.label.as_str());
        let own = Some(self.own.as_str()).filter(|own| !own.is_empty());
        labels.chain(own).collect::<Vec<_>>().join(", ")
    }
}

impl Choices {
    /// The questions of an input; `None` when there are none that could be shown as a list.
    pub(super) fn read(input: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Whole {
            questions: Vec<Asked>,
        }
        let questions = serde_json::from_str::<Whole>(input).ok()?.questions;
        let given = vec![Given::default(); questions.len()];
        (!questions.is_empty()).then_some(Self { questions, given, at: 0, cursor: 0, typing: None })
    }

    pub(super) fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    pub(super) fn pasted(&mut self, text: &str) -> bool {
        self.typing.as_mut().is_none_or(|field| field.pasted(text))
    }

    /// Does what a key means; the answers when they are to be sent, in the order of the questions.
    pub(super) fn key(&mut self, command: Option<Command>, input: &Input) -> Option<Vec<(String, String)>> {
        if let Some(field) = &mut self.typing {
            match command {
                Some(Command::Send) => {
                    let words = field.text().trim().to_owned();
                    self.typing = None;
                    return self.own(words);
                }
                Some(Command::NewLine) => field.new_line(),
                // The card closes the field.
                Some(Command::Close) => {}
                _ => field.typed(input),
            }
            return None;
        }
        let Some(asked) = self.questions.get(self.at) else {
            match command {
                Some(Command::Choose | Command::Yes) => return Some(self.answers()),
                Some(Command::QuestionPrevious) => self.turn_to(self.at - 1),
                _ => {}
            }
            return None;
        };
        let own = asked.options.len();
        if command == Some(Command::Choose) && self.lacks_choice() {
            return None;
        }
        match command {
            Some(Command::Top) => self.cursor = 0,
            Some(Command::End) => self.cursor = own,
            Some(Command::Down) => self.cursor = (self.cursor + 1).min(own),
            Some(Command::Up) => self.cursor = self.cursor.saturating_sub(1),
            Some(Command::QuestionNext) if !self.given[self.at].is_empty() => self.turn_to(self.at + 1),
            Some(Command::QuestionPrevious) => self.turn_to(self.at.saturating_sub(1)),
            Some(Command::Toggle) => self.toggle(self.cursor),
            Some(Command::Choose) if self.cursor == own => self.begin_typing(),
            Some(Command::Choose) => {
                if !asked.several {
                    self.toggle(self.cursor);
                }
                return self.go_on();
            }
            _ => {
                if let Key::Char(digit) = input.key
                    && let Some(n) = digit.to_digit(10)
                    && (1..=own).contains(&(n as usize))
                {
                    self.cursor = n as usize - 1;
                    self.toggle(self.cursor);
                }
            }
        }
        None
    }

    fn toggle(&mut self, at: usize) {
        let asked = &self.questions[self.at];
        let given = &mut self.given[self.at];
        if at == asked.options.len() {
            return self.begin_typing();
        }
        if !asked.several {
            *given = Given { chosen: BTreeSet::from([at]), own: String::new() };
        } else if !given.chosen.remove(&at) {
            given.chosen.insert(at);
        }
    }

    fn begin_typing(&mut self) {
        self.typing = Some(Field::new(&self.given[self.at].own));
    }

    fn own(&mut self, words: String) -> Option<Vec<(String, String)>> {
        let given = &mut self.given[self.at];
        if !self.questions[self.at].several && !words.is_empty() {
            given.chosen.clear();
        }
        given.own = words;
        if given.is_empty() { None } else { self.go_on() }
    }

    /// To the next question that has no answer; a single question is sent at once, several are shown once more.
    fn go_on(&mut self) -> Option<Vec<(String, String)>> {
        if self.questions.len() == 1 {
            return Some(self.answers());
        }
        let open = (self.at + 1..self.questions.len()).chain(0..self.at).find(|at| self.given[*at].is_empty());
        self.turn_to(open.unwrap_or(self.questions.len()));
        None
    }

    fn turn_to(&mut self, at: usize) {
        self.at = at.min(self.questions.len());
        self.cursor = 0;
    }

    fn answers(&self) -> Vec<(String, String)> {
        let pairs = self.questions.iter().zip(&self.given);
        pairs.map(|(asked, given)| (asked.question.clone(), given.text(asked))).collect()
    }

    /// What stands on the card.
    pub(super) fn body(&self, columns: usize, glyphs: Glyphs) -> Body {
        let mut body = Body::new(columns);
        let Some(asked) = self.questions.get(self.at) else {
            body.words(0, Role::Title, "Your answers");
            for (question, answer) in self.answers() {
                body.gap();
                body.words(0, Role::Dim, &question);
                body.words(2, Role::Text, &answer);
            }
            return body;
        };
        let of = if self.questions.len() > 1 {
            format!("   question {} of {}", self.at + 1, self.questions.len())
        } else {
            String::new()
        };
        let several = if asked.several { "   choose one or more" } else { "" };
        let head = [
            Piece::new(visible(&asked.header), Role::Accent),
            Piece::new(
                format!("{of}{several}").trim_start_matches(if asked.header.is_empty() { ' ' } else { '\0' }),
                Role::Dim,
            ),
        ];
        if head.iter().any(|piece| !piece.text.is_empty()) {
            body.lines.extend(wrap(&head, columns, 0, Break::Words).into_iter().map(Line::of));
        }
        body.words(0, Role::Title, &asked.question);
        body.gap();
        let given = &self.given[self.at];
        for (at, choice) in asked.options.iter().enumerate() {
            let mark = mark(glyphs, asked.several, given.chosen.contains(&at));
            let from = body.lines.len();
            let head = format!("{mark} {} {}", at + 1, visible(&choice.label));
            body.item(2, 4, Role::Text, &head);
            self.select(&mut body, at, from);
            if !choice.description.is_empty() && choice.description != choice.label {
                body.words(6, Role::Dim, &choice.description);
            }
            if at == self.cursor && !choice.preview.is_empty() {
                body.quote(8, &choice.preview);
            }
        }
        let from = body.lines.len();
        let own = if given.own.is_empty() {
            "something else…".to_owned()
        } else {
            format!("“{}”", visible(&given.own))
        };
        let mark = mark(glyphs, asked.several, !given.own.is_empty());
        body.item(2, 4, Role::Text, &format!("{mark}   {own}"));
        self.select(&mut body, asked.options.len(), from);
        body
    }

    fn select(&self, body: &mut Body, at: usize, from: usize) {
        if at == self.cursor && self.typing.is_none() {
            body.lines[from..].iter_mut().for_each(|line| line.selected = true);
        }
    }

    /// Draws the field for the person's own words, when it is open.
    pub(super) fn view_field(&self, dressed: (&Theme, Glyphs), area: Rect, buf: &mut Buffer) {
        if let Some(field) = &self.typing {
            field.view(("answer", "your own answer"), "Your answer?", dressed, area, buf);
        }
    }

    /// All questions are answered and shown once more.
    pub(super) fn is_review(&self) -> bool {
        self.at == self.questions.len()
    }

    /// Several options may be chosen and none is: Enter would answer what nobody chose.
    pub(super) fn lacks_choice(&self) -> bool {
        let on_option = self.questions.get(self.at).is_some_and(|asked| self.cursor < asked.options.len());
        on_option && self.takes_several() && self.given[self.at].is_empty() && !self.is_typing()
    }

    /// Options of the question in front.
    pub(super) fn options(&self) -> usize {
        self.questions.get(self.at).map_or(0, |asked| asked.options.len())
    }

    /// Several options may be chosen.
    pub(super) fn takes_several(&self) -> bool {
        self.questions.get(self.at).is_some_and(|asked| asked.several)
    }
}

fn mark(glyphs: Glyphs, several: bool, chosen: bool) -> &'static str {
    match (several, chosen) {
        (true, chosen) => glyphs.task(chosen),
        (false, true) => glyphs.pick("●", "*"),
        (false, false) => glyphs.pick("○", "."),
    }
}
/// What Claude asks, while it is told why it gets no answer.
pub(super) fn asked(approval: &Approval, columns: usize, glyphs: Glyphs) -> Vec<Line> {
    let Some(asked) = Choices::read(&approval.input) else { return call::call(approval, columns).lines };
    let mut lines = asked.body(columns, glyphs).lines;
    for line in &mut lines {
        line.selected = false;
    }
    lines
}

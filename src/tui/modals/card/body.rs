//! What stands on the card: the call, whole and spelt out; its parts and what the policy says of each.

use crate::base::text::Clean;
use crate::domain::approval::{Approval, ApprovalKind, runs_in_shell};
use crate::domain::syntax::{of_path, together};
use crate::tui::syntax::Syntax;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::diff::{self, Side};
use crate::tui::widgets::markdown;
use crate::tui::widgets::row::highlight;
use crate::tui::widgets::spelt;
use crate::tui::widgets::wrap::{Break, Piece, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

/// One line of a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) pieces: Vec<Piece>,
    /// The cursor stands on it.
    pub(super) selected: bool,
}

impl Line {
    pub(super) fn of(pieces: Vec<Piece>) -> Self {
        Self { pieces, selected: false }
    }

    pub(super) fn draw(&self, syntax: &Syntax, theme: &Theme, place: Rect, buf: &mut Buffer) {
        let mut x = place.x;
        for piece in &self.pieces {
            let style = Style::reset().patch(theme.style(Role::Text)).patch(piece.style(theme));
            for (text, over) in syntax.parts(piece) {
                let room = usize::from(place.right().saturating_sub(x));
                let text = Clean::new(text).into_string().replace(['\n', '\t'], " ");
                let style = over.map_or(style, |role| style.patch(theme.style(role)));
                buf.set_stringn(x, place.y, &text, room, style);
                x = x.saturating_add(text.width().min(room) as u16);
            }
        }
        if self.selected {
            highlight(theme.style(Role::Selection), place, buf);
        }
    }
}

/// Lines under construction, all of one width.
pub(super) struct Body {
    pub(super) lines: Vec<Line>,
    pub(super) columns: usize,
}

/// Columns by which content is set in.
pub(super) const INDENT: usize = 2;

/// The language of a command.
const SHELL: &str = "sh";

impl Body {
    pub(super) fn new(columns: usize) -> Self {
        Self { lines: Vec::new(), columns: columns.max(1) }
    }

    /// A blank line, unless there is one already.
    pub(super) fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.pieces.is_empty()) {
            self.lines.push(Line::default());
        }
    }

    /// Prose, set in by `indent`.
    pub(super) fn words(&mut self, indent: usize, role: Role, text: &str) {
        self.item(indent, 0, role, text);
    }

    /// Prose whose later rows stand behind its mark, `hang` columns further in.
    pub(super) fn item(&mut self, indent: usize, hang: usize, role: Role, text: &str) {
        let columns = self.columns.saturating_sub(indent).max(1);
        for line in text.split('\n') {
            let spelt = spelt::line(line);
            for row in wrap(&[Piece::new(spelt, role)], columns, hang, Break::Words) {
                self.lines.push(set_in(indent, row));
            }
        }
    }

    /// Something that must be read to the letter: no blank is lost, a continued line is marked, several are numbered.
    /// In a language, if it is code of one.
    pub(super) fn code(&mut self, text: &str, role: Role, language: &str) {
        let lines: Vec<String> = text.split('\n').map(spelt::line).collect();
        let digits = if lines.len() > 1 { lines.len().to_string().len() } else { 0 };
        for (at, (line, code)) in lines.iter().zip(together(language, &lines)).enumerate() {
            let number = if digits == 0 { String::new() } else { format!("{:>digits$} ", at + 1) };
            self.letters(&number, Role::Dim, Piece { code, ..Piece::new(line.as_str(), role) });
        }
    }

    /// One line of a shell behind a prompt.
    fn command(&mut self, line: &str) {
        let line = spelt::line(line);
        let code = together(SHELL, &[&line]).pop().flatten();
        self.letters("$ ", Role::Dim, Piece { code, ..Piece::new(line, Role::StreamTarget) });
    }

    /// One line of it, spelt out, behind a mark.
    fn letters(&mut self, mark: &str, mark_role: Role, line: Piece) {
        let before = INDENT + mark.width();
        let columns = self.columns.saturating_sub(before + 1).max(1);
        let rows = wrap(&[line], columns, 0, Break::Letters);
        let last = rows.len() - 1;
        for (at, row) in rows.into_iter().enumerate() {
            let mark = if at == 0 { mark.to_owned() } else { " ".repeat(mark.width()) };
            let mut pieces = vec![Piece::new(" ".repeat(INDENT), Role::Dim), Piece::new(mark, mark_role)];
            pieces.extend(row);
            if at < last {
                pieces.push(Piece::new("↩", Role::Dim));
            }
            self.lines.push(Line::of(pieces));
        }
    }

    /// A picture made of letters, set in.
    pub(super) fn quote(&mut self, indent: usize, text: &str) {
        let columns = self.columns.saturating_sub(indent).max(1);
        for line in text.split('\n') {
            let rows = wrap(&[Piece::new(spelt::line(line), Role::StreamTarget)], columns, 0, Break::Anywhere);
            self.lines.extend(rows.into_iter().map(|row| set_in(indent, row)));
        }
    }

    fn diff(&mut self, old: &str, new: &str, language: &str) {
        let mut lines = diff::lines(old, new);
        for line in &mut lines {
            line.text = spelt::line(&line.text);
        }
        let code = diff::code(language, lines.iter().map(|line| (line.side, &line.text)));
        for (line, code) in lines.iter().zip(code) {
            let (mark, role) = match line.side {
                Side::Context => ("  ", Role::DiffContext),
                Side::Removed => ("- ", Role::DiffDel),
                Side::Added => ("+ ", Role::DiffAdd),
                Side::Gap => {
                    self.words(INDENT, Role::Dim, "…");
                    continue;
                }
            };
            self.letters(mark, role, Piece { code, ..Piece::new(line.text.as_str(), role) });
        }
    }

    pub(super) fn field(&mut self, name: &str, value: &Value) {
        let text = match value {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        if text.contains('\n') {
            self.words(INDENT, Role::Dim, &format!("{name}:"));
            self.code(&text, Role::StreamTarget, "");
        } else {
            let text = Piece::new(spelt::line(&text), Role::StreamTarget);
            self.letters(&format!("{}: ", spelt::visible(name)), Role::Dim, text);
        }
    }
}

fn set_in(indent: usize, mut row: Vec<Piece>) -> Line {
    if indent > 0 {
        row.insert(0, Piece::new(" ".repeat(indent), Role::Dim));
    }
    Line::of(row)
}

/// What is called, and by whom; nothing where its command says it.
pub(super) fn title(approval: &Approval, columns: usize) -> Body {
    let mut body = Body::new(columns);
    if command_line(approval).is_some() && approval.agent.is_none() {
        return body;
    }
    let title = match approval.kind {
        ApprovalKind::Plan => "Claude's plan".to_owned(),
        _ => spelt::visible(&approval.tool),
    };
    let mut head = vec![Piece::new(title, Role::Title)];
    if let Some(agent) = &approval.agent {
        head.push(Piece::new(format!("   called by the subagent {}", spelt::visible(agent)), Role::Dim));
    }
    body.lines.extend(wrap(&head, body.columns, INDENT, Break::Words).into_iter().map(Line::of));
    body
}

/// The command that it runs, where that is one line.
fn command_line(approval: &Approval) -> Option<String> {
    command(approval).filter(|command| approval.tool == "Bash" && !command.contains('\n'))
}

/// What is said when the call no longer waits.
pub(super) fn gone(why: &str, columns: usize) -> Body {
    let mut body = Body::new(columns);
    body.words(0, Role::Warning, why);
    body.gap();
    body.words(0, Role::Text, "Your draft is no longer needed.");
    body
}

/// The input with its JSON escapes undone: what the tool gets.
pub(super) fn decoded(input: &str) -> String {
    fn texts(value: &Value, out: &mut String) {
        match value {
            Value::String(text) => out.push_str(text),
            Value::Array(values) => values.iter().for_each(|value| texts(value, out)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                out.push_str(name);
                texts(value, out);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut out = String::new();
    match serde_json::from_str(input) {
        Ok(value) => texts(&value, &mut out),
        Err(_) => out.push_str(input),
    }
    out
}

/// The main part of the input in its own form; the names of the fields that are in it.
pub(super) fn content(body: &mut Body, approval: &Approval, input: &Value) -> &'static [&'static str] {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    match (approval.kind, approval.tool.as_str()) {
        (ApprovalKind::Plan, _) => {
            let Some(plan) = text("plan") else { return &[] };
            body.gap();
            let columns = body.columns;
            let plan: Vec<String> = plan.split('\n').map(spelt::line).collect();
            body.lines.extend(markdown::rows(&plan.join("\n"), columns).into_iter().map(Line::of));
            &["plan"]
        }
        (_, tool) if runs_in_shell(tool) => {
            let Some(command) = text("command") else { return &[] };
            match command_line(approval) {
                Some(_) => body.command(command),
                None => body.code(command, Role::StreamTarget, SHELL),
            }
            if let Some(said) = text("description") {
                body.letters("Claude: ", Role::Dim, Piece::new(spelt::line(said), Role::Dim));
                return &["command", "description"];
            }
            &["command"]
        }
        (_, "Edit") => {
            let (Some(path), Some(old), Some(new)) = (text("file_path"), text("old_string"), text("new_string")) else {
                return &[];
            };
            body.code(path, Role::StreamTarget, "");
            body.gap();
            body.diff(old, new, of_path(path));
            &["file_path", "old_string", "new_string"]
        }
        (_, "MultiEdit") => {
            let (Some(path), Some(edits)) = (text("file_path"), input.get("edits").and_then(Value::as_array)) else {
                return &[];
            };
            let side = |edit: &Value, name: &str| edit.get(name).and_then(Value::as_str).map(str::to_owned);
            let sides: Option<Vec<_>> =
                edits.iter().map(|edit| Some((side(edit, "old_string")?, side(edit, "new_string")?))).collect();
            let Some(sides) = sides else { return &[] };
            body.code(path, Role::StreamTarget, "");
            for ((old, new), edit) in sides.iter().zip(edits) {
                body.gap();
                if edit.get("replace_all").and_then(Value::as_bool) == Some(true) {
                    body.words(INDENT, Role::Dim, "every occurrence of:");
                }
                body.diff(old, new, of_path(path));
            }
            &["file_path", "edits"]
        }
        (_, "Write") => {
            let (Some(path), Some(new)) = (text("file_path"), text("content")) else { return &[] };
            body.code(path, Role::StreamTarget, "");
            body.words(INDENT, Role::Dim, "the whole file would be:");
            body.gap();
            body.diff("", new, of_path(path));
            &["file_path", "content"]
        }
        _ => &[],
    }
}

/// A rule as it would be saved.
pub(super) fn rule(rules: &str, columns: usize) -> Body {
    let mut body = Body::new(columns);
    body.words(0, Role::Text, "This rule will be added to your policy file:");
    body.gap();
    body.code(rules.trim_end_matches('\n'), Role::StreamCode, "yaml");
    body
}

/// What a shell is to run, whole.
pub(super) fn command(approval: &Approval) -> Option<String> {
    let input: Value = serde_json::from_str(&approval.input).ok()?;
    input.get("command").and_then(Value::as_str).filter(|_| runs_in_shell(&approval.tool)).map(str::to_owned)
}

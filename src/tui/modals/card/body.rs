//! What stands on the card: the call, whole and spelt out; its parts and what the policy says of each.

use crate::domain::approval::{Again, Approval, ApprovalKind, UnitView, runs_in_shell};
use crate::domain::verdict::Verdict;
use crate::tui::panes::stream::markdown_rows;
use crate::tui::theme::role::Role;
use crate::tui::widgets::diff::{self, Side};
use crate::tui::widgets::spelt;
use crate::tui::widgets::wrap::{Break, Piece, wrap};
use serde_json::Value;
use std::collections::BTreeSet;
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
}

/// Lines under construction, all of one width.
pub(super) struct Body {
    pub(super) lines: Vec<Line>,
    columns: usize,
}

/// Rows that a part of a call takes at most: the whole call stands above.
const UNIT: usize = 4;
/// What stands before the name of a rule.
const RULE: &str = "rule ";
/// Columns by which content is set in.
const INDENT: usize = 2;
/// Rows of parts that look alike: `rm` has a part for each target.
const ALIKE: usize = 3;

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
    pub(super) fn code(&mut self, text: &str, role: Role) {
        let lines: Vec<&str> = text.split('\n').collect();
        let digits = if lines.len() > 1 { lines.len().to_string().len() } else { 0 };
        for (at, line) in lines.iter().enumerate() {
            let number = if digits == 0 { String::new() } else { format!("{:>digits$} ", at + 1) };
            self.letters(&number, Role::Dim, line, role);
        }
    }

    fn letters(&mut self, mark: &str, mark_role: Role, line: &str, role: Role) {
        let before = INDENT + mark.width();
        let columns = self.columns.saturating_sub(before + 1).max(1);
        let rows = wrap(&[Piece::new(spelt::line(line), role)], columns, 0, Break::Letters);
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

    fn diff(&mut self, old: &str, new: &str) {
        for line in diff::lines(old, new) {
            let (mark, role) = match line.side {
                Side::Context => ("  ", Role::DiffContext),
                Side::Removed => ("- ", Role::DiffDel),
                Side::Added => ("+ ", Role::DiffAdd),
                Side::Gap => {
                    self.words(INDENT, Role::Dim, "…");
                    continue;
                }
            };
            self.letters(mark, role, &line.text, role);
        }
    }

    fn field(&mut self, name: &str, value: &Value) {
        let text = match value {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        if text.contains('\n') {
            self.words(INDENT, Role::Dim, &format!("{name}:"));
            self.code(&text, Role::StreamTarget);
        } else {
            self.letters(&format!("{}: ", spelt::visible(name)), Role::Dim, &text, Role::StreamTarget);
        }
    }
}

fn set_in(indent: usize, mut row: Vec<Piece>) -> Line {
    if indent > 0 {
        row.insert(0, Piece::new(" ".repeat(indent), Role::Dim));
    }
    Line::of(row)
}

/// What is called, and by whom.
pub(super) fn title(approval: &Approval, columns: usize) -> Body {
    let mut body = Body::new(columns);
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

/// What is said when the call no longer waits.
pub(super) fn gone(why: &str, columns: usize) -> Body {
    let mut body = Body::new(columns);
    body.words(0, Role::Warning, why);
    body.gap();
    body.words(0, Role::Text, "Your draft is no longer needed.");
    body
}

/// The card of a call with the input that would run.
pub(super) fn call(approval: &Approval, columns: usize) -> Body {
    let input = approval.input.as_str();
    let mut body = title(approval, columns);
    match serde_json::from_str::<Value>(input) {
        Ok(Value::Object(fields)) => {
            let shown = content(&mut body, approval, &Value::Object(fields.clone()));
            for (name, value) in fields.iter().filter(|(name, _)| !shown.contains(&name.as_str())) {
                body.field(name, value);
            }
        }
        _ => body.code(input, Role::StreamTarget),
    }
    if spelt::hides(&decoded(input)) {
        body.gap();
        body.words(0, Role::Warning, "The call contains invisible characters, shown as <U+…>.");
    }
    if approval.edited_from.is_some() {
        body.gap();
        body.words(0, Role::Warning, "Edited by you: this is what would run, with its verdict.");
    }
    if approval.again == Some(Again::RulesUnusable) {
        body.gap();
        let why = &approval.reason;
        let words = format!(
            "Policy error: {why}. This call keeps waiting, can only be denied, and is judged again as soon as the \
             policy is fixed."
        );
        body.words(0, Role::Warning, &words);
    }
    units(&mut body, approval, &decoded(input));
    while body.lines.last().is_some_and(|line| line.pieces.iter().all(|piece| piece.text.trim().is_empty())) {
        body.lines.pop();
    }
    body
}

/// The input with its JSON escapes undone: what the tool gets.
fn decoded(input: &str) -> String {
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
fn content(body: &mut Body, approval: &Approval, input: &Value) -> &'static [&'static str] {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    match (approval.kind, approval.tool.as_str()) {
        (ApprovalKind::Plan, _) => {
            let Some(plan) = text("plan") else { return &[] };
            body.gap();
            let columns = body.columns;
            let plan: Vec<String> = plan.split('\n').map(spelt::line).collect();
            body.lines.extend(markdown_rows(&plan.join("\n"), columns).into_iter().map(Line::of));
            &["plan"]
        }
        (_, tool) if runs_in_shell(tool) => {
            let Some(command) = text("command") else { return &[] };
            body.code(command, Role::StreamTarget);
            if let Some(said) = text("description") {
                body.letters("Claude: ", Role::Dim, said, Role::Dim);
                return &["command", "description"];
            }
            &["command"]
        }
        (_, "Edit") => {
            let (Some(path), Some(old), Some(new)) = (text("file_path"), text("old_string"), text("new_string")) else {
                return &[];
            };
            body.code(path, Role::StreamTarget);
            body.gap();
            body.diff(old, new);
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
            body.code(path, Role::StreamTarget);
            for ((old, new), edit) in sides.iter().zip(edits) {
                body.gap();
                if edit.get("replace_all").and_then(Value::as_bool) == Some(true) {
                    body.words(INDENT, Role::Dim, "every occurrence of:");
                }
                body.diff(old, new);
            }
            &["file_path", "edits"]
        }
        (_, "Write") => {
            let (Some(path), Some(new)) = (text("file_path"), text("content")) else { return &[] };
            body.code(path, Role::StreamTarget);
            body.words(INDENT, Role::Dim, "the whole file would be:");
            body.gap();
            body.diff("", new);
            &["file_path", "content"]
        }
        _ => &[],
    }
}

/// What the policy took the call apart into, each with its verdict and rule. `above`: what stands on the card already.
fn units(body: &mut Body, approval: &Approval, above: &str) {
    // A plan is words; no rule judges it.
    if approval.kind == ApprovalKind::Plan {
        return;
    }
    body.gap();
    let most = body.columns / 3;
    let beside = |unit: &UnitView| unit.rule.width() + RULE.len() <= most;
    let verdicts = approval.units.iter().map(|unit| unit.verdict.word().width()).max().unwrap_or(0);
    let rules = approval.units.iter().filter(|unit| beside(unit)).map(|unit| unit.rule.width() + RULE.len() + 2);
    let rules = rules.max().unwrap_or(0);
    let numbers = approval.units.len().to_string().len();
    let before = INDENT + numbers + 2;
    let columns = body.columns.saturating_sub(before + 2 + verdicts + rules).max(16);
    let widest = approval.units.iter().map(|unit| spelt::visible(&unit.text).width()).max().unwrap_or(0);
    let columns = columns.min(widest);
    let mut told = BTreeSet::new();
    let shown = |unit: &UnitView| (unit.text.clone(), unit.verdict, unit.rule.clone(), unit.reason.clone());
    let like = |one: &UnitView, other: &UnitView| shown(one) == shown(other);
    let mut alike = 0;
    for (at, unit) in approval.units.iter().enumerate() {
        // The parts of one command that differ in nothing that is shown: the first few stand for all.
        alike = if at > 0 && like(unit, &approval.units[at - 1]) { alike + 1 } else { 0 };
        if alike >= ALIKE {
            if !approval.units.get(at + 1).is_some_and(|next| like(unit, next)) {
                body.words(before, Role::Dim, &format!("and {} more", alike + 1 - ALIKE));
            }
            continue;
        }
        for (row, mut pieces) in unit_rows(approval, unit, above, columns).into_iter().enumerate() {
            let number = if row == 0 { format!("{:>numbers$}", at + 1) } else { " ".repeat(numbers) };
            if row == 0 {
                let fill = columns.saturating_sub(crate::tui::widgets::wrap::width(&pieces)) + 2;
                pieces.push(Piece::new(" ".repeat(fill), Role::Dim));
                pieces.push(Piece::new(format!("{:verdicts$}", unit.verdict.word()), verdict_role(unit.verdict)));
                if beside(unit) {
                    pieces.push(Piece::new(format!("  {RULE}{}", spelt::visible(&unit.rule)), Role::Dim));
                }
            }
            pieces.insert(0, Piece::new(format!("{:INDENT$}{number}  ", ""), Role::Dim));
            body.lines.push(Line::of(pieces));
        }
        let rule = if beside(unit) { String::new() } else { format!("{RULE}{}", unit.rule) };
        let reason = if unit.verdict == Verdict::Allow { "" } else { &unit.reason };
        let colon = if rule.is_empty() || reason.is_empty() { "" } else { ": " };
        let why = format!("{rule}{colon}{reason}");
        // Told once: in a long script the same reason would drown the rest.
        if !why.is_empty() && told.insert((unit.rule.as_str(), unit.reason.as_str())) {
            body.words(before, Role::Dim, &why);
        }
    }
    let told = |unit: &UnitView| unit.rule == approval.rule && unit.reason == approval.reason;
    // Why the rules cannot be used is told above.
    let unusable = approval.again == Some(Again::RulesUnusable);
    if !unusable && !approval.units.iter().any(told) && !approval.rule.is_empty() {
        let colon = if approval.reason.is_empty() { "" } else { ": " };
        body.words(0, Role::Dim, &format!("asked by rule {}{colon}{}", approval.rule, approval.reason));
    }
}

/// The text of a part: one row of it where it stands on the card already.
fn unit_rows(approval: &Approval, unit: &UnitView, above: &str, columns: usize) -> Vec<Vec<Piece>> {
    let text = spelt::visible(&unit.text);
    let target = unit.text.strip_prefix(&approval.tool).map_or(unit.text.as_str(), str::trim_start);
    if above.contains(target) {
        return vec![vec![Piece::new(crate::base::text::cut(&text, columns), Role::Text)]];
    }
    let mut rows = wrap(&[Piece::new(text, Role::Text)], columns, 0, Break::Letters);
    if rows.len() > UNIT {
        rows.truncate(UNIT - 1);
        rows.push(vec![Piece::new("… see the whole call above", Role::Dim)]);
    }
    rows
}

fn verdict_role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Allow => Role::Success,
        Verdict::Ask | Verdict::Passphrase => Role::Warning,
        Verdict::Block => Role::Danger,
    }
}

/// A rule as it would be saved.
pub(super) fn rule(rules: &str, columns: usize) -> Body {
    let mut body = Body::new(columns);
    body.words(0, Role::Text, "This rule will be added to your policy file:");
    body.gap();
    body.code(rules.trim_end_matches('\n'), Role::StreamCode);
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::Clean;
    use crate::tui::sample;
    use proptest::prelude::*;

    fn text(body: &Body) -> Vec<String> {
        body.lines.iter().map(|line| line.pieces.iter().map(|piece| piece.text.as_str()).collect()).collect()
    }

    #[test]
    fn parts_that_look_alike_are_counted() {
        let mut approval = sample::push("c");
        let unit = approval.units[0].clone();
        approval.units = vec![unit.clone(); 60];
        approval.units.push(UnitView { text: "git status".into(), ..unit });
        let lines = text(&call(&approval, 80));
        let parts = lines.iter().filter(|line| line.contains("git push origin main") && !line.contains('↩')).count();
        assert!(lines.iter().any(|line| line.trim() == "and 57 more"), "{lines:#?}");
        assert!(parts <= 4 && lines.iter().any(|line| line.contains("61  git status")), "{lines:#?}");
    }

    #[test]
    fn nothing_of_an_input_is_left_out() {
        let input =
            r#"{"file_path":"/p/a.rs","old_string":"a\nb","new_string":"a\nc","replace_all":true,"odd":{"x":[1,"y"]}}"#;
        let approval = sample::asks("x", "Edit", input, 1);
        let lines = text(&call(&approval, 60)).join("\n");
        for part in ["/p/a.rs", "- b", "+ c", "replace_all: true", "odd:", "\"y\""] {
            assert!(lines.contains(part), "{part} is not in\n{lines}");
        }
        for broken in ["{\"a\":", "[1]", "{\"command\":7}", "\\ud800"] {
            let lines = text(&call(&sample::asks("x", "Bash", broken, 1), 60)).join("\n");
            assert!(lines.contains('7') || lines.contains(broken), "{lines}");
        }
    }

    #[test]
    fn a_continued_line_is_no_new_line() {
        let input = serde_json::json!({ "command": "abcdefghij\nrm -rf /" }).to_string();
        let approval = sample::asks("x", "Bash", &input, 1);
        let lines = text(&call(&approval, 12));
        assert_eq!(lines[1..5], ["  1 abcdefg↩", "    hij", "  2 rm -rf ↩", "    /"]);
    }

    #[test]
    fn a_plan_and_an_edit_spell_out_what_would_not_be_seen() {
        let evil = format!("- step\u{202e}x\u{200b}\x1b[8m\r{}end", " ".repeat(200));
        let plan = serde_json::json!({ "plan": format!("# P\n{evil}\n```\n{evil}\n```") }).to_string();
        let plan = Approval { kind: ApprovalKind::Plan, ..sample::asks("x", "ExitPlanMode", &plan, 1) };
        let edit = serde_json::json!({ "file_path": "a", "old_string": "a\r\nb", "new_string": evil }).to_string();
        for approval in [plan, sample::asks("x", "Edit", &edit, 1)] {
            let lines = text(&call(&approval, 120)).join("\n");
            for part in ["<U+202E>", "<U+200B>", "<escape>[8m", "<U+000D>", "<200 blanks>end"] {
                assert!(lines.contains(part), "{part} is not in\n{lines}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_command_is_there_to_its_last_letter(command in "[a-z ;|\\n\\t\u{202e}\x1b日]{0,200}", columns in 20usize..100) {
            let input = serde_json::json!({ "command": command }).to_string();
            let approval = Approval { rule: String::new(), ..sample::asks("x", "Bash", &input, 1) };
            let body = call(&approval, columns);
            let lines = text(&body);
            prop_assert!(lines.iter().all(|line| line.width() <= columns), "{lines:?}");
            let shown: String = lines.concat();
            let clean = Clean::new(&shown).into_string();
            prop_assert_eq!(&clean, &shown);
            let letters = |text: &str| text.chars().filter(|c| c.is_ascii_lowercase() || *c == '日').count();
            let spelt: usize = command.split('\n').map(|line| letters(&spelt::line(line))).sum();
            let head_and_note: usize = lines.iter().enumerate()
                .filter(|(at, line)| *at == 0 || !line.starts_with(' '))
                .map(|(_, line)| letters(line)).sum();
            prop_assert_eq!(letters(&shown) - head_and_note, spelt);
        }
    }
}

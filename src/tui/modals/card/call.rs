//! A call on its card: what it would do, whole, and below it what the policy took it apart into, with what it says of each.

use super::body::{Body, INDENT, Line, command, content, decoded, title};
use crate::domain::approval::{Again, Approval, ApprovalKind, UnitView};
use crate::domain::own_session;
use crate::domain::verdict::Verdict;
use crate::tui::theme::role::Role;
use crate::tui::widgets::spelt;
use crate::tui::widgets::wrap::{Break, Piece, wrap};
use serde_json::Value;
use std::collections::BTreeSet;
use unicode_width::UnicodeWidthStr;

/// Rows that a part of a call takes at most: the whole call stands above.
const UNIT: usize = 4;
/// What stands before the name of a rule.
const RULE: &str = "rule ";
/// Rows of parts that look alike: `rm` has a part for each target.
const ALIKE: usize = 3;

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
        _ => body.code(input, Role::StreamTarget, ""),
    }
    if crate::base::text::hides(&decoded(input)) {
        body.gap();
        body.words(0, Role::Warning, "The call contains invisible characters, shown as <U+…>.");
    }
    if approval.edited_from.is_some() {
        body.gap();
        body.words(0, Role::Warning, "Edited by you: this would run, with its verdict.");
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
    add(&mut body, approval, &decoded(input));
    while body.lines.last().is_some_and(|line| line.pieces.iter().all(|piece| piece.text.trim().is_empty())) {
        body.lines.pop();
    }
    body
}

/// What the policy took the call apart into, each with its verdict and rule. `above`: what stands on the card already.
fn add(body: &mut Body, approval: &Approval, above: &str) {
    // A plan is words; no rule judges it.
    if approval.kind == ApprovalKind::Plan {
        return;
    }
    // One part that is the whole call is not told twice.
    let told = |unit: &UnitView| unit.rule == approval.rule && unit.reason == approval.reason;
    if let [unit] = &approval.units[..]
        && told(unit)
        && above.contains(unit.text.strip_prefix(&approval.tool).map_or(unit.text.as_str(), str::trim_start))
        && command(approval).is_none_or(|command| command.trim() == unit.text.trim())
    {
        let colon = if unit.reason.is_empty() { "" } else { ": " };
        let role = verdict_role(unit.verdict);
        return body.item(
            INDENT,
            0,
            role,
            &format!("{}, {}{colon}{}", unit.verdict.word(), by(&unit.rule), unit.reason),
        );
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
    let mut reasons = BTreeSet::new();
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
                    pieces.push(Piece::new(format!("  {}", spelt::visible(&by(&unit.rule))), Role::Dim));
                }
            }
            pieces.insert(0, Piece::new(format!("{:INDENT$}{number}  ", ""), Role::Dim));
            body.lines.push(Line::of(pieces));
        }
        let rule = if beside(unit) { String::new() } else { by(&unit.rule) };
        let reason = if unit.verdict == Verdict::Allow { "" } else { &unit.reason };
        let colon = if rule.is_empty() || reason.is_empty() { "" } else { ": " };
        let why = format!("{rule}{colon}{reason}");
        // Told once: in a long script the same reason would drown the rest.
        if !why.is_empty() && reasons.insert((unit.rule.as_str(), unit.reason.as_str())) {
            body.words(before, Role::Dim, &why);
        }
    }
    // Why the rules cannot be used is told above.
    let unusable = approval.again == Some(Again::RulesUnusable);
    if !unusable && !approval.units.iter().any(told) && !approval.rule.is_empty() {
        let colon = if approval.reason.is_empty() { "" } else { ": " };
        let asked = if is_rule(&approval.rule) { "asked by " } else { "" };
        body.words(0, Role::Dim, &format!("{asked}{}{colon}{}", by(&approval.rule), approval.reason));
    }
}

/// In a session of the person's own no rule asks, but Claude Code itself.
fn is_rule(rule: &str) -> bool {
    rule != own_session::RULE
}

fn by(rule: &str) -> String {
    if is_rule(rule) { format!("{RULE}{rule}") } else { rule.to_owned() }
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
        rows.push(vec![Piece::new("… see the full call above", Role::Dim)]);
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
    fn commands_and_edits_are_read_as_code_of_their_language() {
        let of = |tool: &str, input: Value| {
            let body = call(&sample::asks("x", tool, &input.to_string(), 1), 40);
            let pieces = body.lines.into_iter().flat_map(|line| line.pieces);
            let code = pieces.filter_map(|piece| {
                let code = piece.code?;
                assert_eq!(code.snippet.text[code.at..][..piece.text.len()], piece.text, "it is where the letters are");
                Some((code.snippet.language.clone(), piece.text))
            });
            code.collect::<Vec<_>>()
        };
        let sh = |text: &str| ("sh".to_owned(), text.to_owned());
        assert_eq!(of("Bash", serde_json::json!({"command": "cd a\u{202e}; ls"})), [sh("cd a<U+202E>; ls")]);
        let long = serde_json::json!({"command": "for f in *; do\n  sh -n \"$f\" && echo a quite long line that is broken\ndone"});
        assert_eq!(
            of("Bash", long),
            [sh("for f in *; do"), sh("  sh -n \"$f\" && echo a quite long "), sh("line that is broken"), sh("done")]
        );
        let edit =
            serde_json::json!({"file_path": "a.rs", "old_string": "let a = 1;\nx", "new_string": "let b = 1;\nx"});
        let rs = |text: &str| ("rs".to_owned(), text.to_owned());
        assert_eq!(of("Edit", edit), [rs("let b = 1;"), rs("x")], "what goes has no colours but its own");
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
            let head_and_note: usize = lines.iter()
                .filter(|line| !line.starts_with(' '))
                .map(|line| letters(line)).sum();
            prop_assert_eq!(letters(&shown) - head_and_note, spelt);
        }
    }
}

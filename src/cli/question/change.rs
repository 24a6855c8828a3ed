//! What an edit of a file changes, in plain lines: what goes with `-`, what comes with `+`.

use crate::tui::widgets::diff::{self, Side};
use crate::tui::widgets::spelt;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Adds the changes that a call of this tool makes. Gives the names of the fields that are in them: none where a diff would not
/// show all of them.
pub(super) fn lines(out: &mut String, tool: &str, fields: &Map<String, Value>) -> &'static [&'static str] {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    match tool {
        "Edit" => {
            let (Some(old), Some(new)) = (text("old_string"), text("new_string")) else { return &[] };
            if !shows_all(old, new) {
                return &[];
            }
            out.push_str("  | change:\n");
            change(out, old, new);
            &["old_string", "new_string"]
        }
        "MultiEdit" => {
            let edits = fields.get("edits").and_then(Value::as_array);
            let Some(edits) = edits.and_then(|edits| edits.iter().map(edit).collect::<Option<Vec<_>>>()) else {
                return &[];
            };
            for (at, (old, new, each)) in edits.iter().enumerate() {
                let each = if *each { ", of each occurrence" } else { "" };
                let _ = writeln!(out, "  | change {} of {}{each}:", at + 1, edits.len());
                change(out, old, new);
            }
            &["edits"]
        }
        "Write" => added(out, "the whole file", text("content"), &["content"]),
        "NotebookEdit" => added(out, "new_source", text("new_source"), &["new_source"]),
        _ => &[],
    }
}

/// Old and new text of one of several edits, and whether each occurrence is meant.
fn edit(value: &Value) -> Option<(&str, &str, bool)> {
    let fields = value.as_object()?;
    let is_known = fields.keys().all(|name| ["old_string", "new_string", "replace_all"].contains(&name.as_str()));
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let each = fields.get("replace_all").map_or(Some(false), Value::as_bool)?;
    let (old, new) = (text("old_string")?, text("new_string")?);
    (is_known && shows_all(old, new)).then_some((old, new, each))
}

fn added(out: &mut String, title: &str, text: Option<&str>, names: &'static [&'static str]) -> &'static [&'static str] {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return &[] };
    let _ = writeln!(out, "  | {title}:");
    change(out, "", text);
    names
}

/// Some line goes or comes, unless the texts are the same.
fn shows_all(old: &str, new: &str) -> bool {
    diff::lines(old, new).iter().any(|line| matches!(line.side, Side::Added | Side::Removed))
}

fn change(out: &mut String, old: &str, new: &str) {
    for line in diff::lines(old, new) {
        let mark = match line.side {
            Side::Context => "  ",
            Side::Removed => "- ",
            Side::Added => "+ ",
            Side::Gap => {
                out.push_str("  |   …\n");
                continue;
            }
        };
        let _ = writeln!(out, "  |   {mark}{}", spelt::line(&line.text));
    }
    let ends = |text: &str| text.is_empty() || text.ends_with('\n');
    match (ends(old), ends(new)) {
        _ if old.is_empty() || new.is_empty() => {}
        (false, true) => out.push_str("  |   (a newline at the end is added)\n"),
        (true, false) => out.push_str("  |   (the newline at the end is removed)\n"),
        _ => {}
    }
}

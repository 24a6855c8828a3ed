//! The cases that the readers of claims and of error lines must get right, row by row.

use programmator::domain::claim::parse::{Reading, parse};
use programmator::domain::errors::{hank_literal, read};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    id: String,
    text: String,
    expect: Expected,
    why: String,
}

#[derive(Deserialize)]
struct Expected {
    found: bool,
    valid: bool,
    status: Option<String>,
    reason: Option<String>,
    phase_completed: Option<String>,
    #[serde(default)]
    files_changed: Vec<String>,
    #[serde(default)]
    summary: String,
    error: Option<String>,
    warnings: Option<Vec<String>>,
}

#[test]
fn status_blocks() {
    let rows: Vec<Row> = include_str!("../fixtures/cases/status_block.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(rows.len() >= 43);
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            difference(&parse(&row.text), &row.expect).map(|what| format!("{} ({}): {what}", row.id, row.why))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// What differs between what was read and what the row expects.
fn difference(reading: &Reading, expected: &Expected) -> Option<String> {
    let same = reading.found == expected.found
        && reading.claim.is_some() == expected.valid
        && expected.reason.as_deref().is_none_or(|word| reading.reason.is_some_and(|reason| reason.word() == word))
        && expected.warnings.as_ref().is_none_or(|warnings| *warnings == reading.warnings)
        && reading.claim.as_ref().is_none_or(|claim| {
            expected.status.as_deref() == Some(claim.status.word())
                && claim.phase_completed == expected.phase_completed
                && claim.files_changed == expected.files_changed
                && claim.summary == expected.summary
                && claim.error == expected.error
        });
    (!same).then(|| format!("{reading:?}"))
}

#[derive(Deserialize)]
struct ErrorRow {
    id: String,
    text: String,
    expect: Verdict,
    hank_literal: bool,
    why: String,
}

#[derive(Deserialize)]
struct Verdict {
    is_error: bool,
}

fn error_rows() -> Vec<ErrorRow> {
    let rows: Vec<ErrorRow> = include_str!("../fixtures/cases/error_lines.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(rows.len() >= 32);
    rows
}

/// The rows whose verdict is not the one expected.
fn misjudged(said: impl Fn(&ErrorRow) -> bool, expected: impl Fn(&ErrorRow) -> bool) -> Vec<String> {
    let rows = error_rows().into_iter().filter(|row| said(row) != expected(row));
    rows.map(|row| format!("{} ({})", row.id, row.why)).collect()
}

#[test]
fn error_lines() {
    let wrong = misjudged(|row| read(&row.text).is_error, |row| row.expect.is_error);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn error_lines_by_hanks_rule() {
    let wrong = misjudged(|row| hank_literal(&row.text), |row| row.hank_literal);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

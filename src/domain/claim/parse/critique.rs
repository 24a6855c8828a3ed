//! Reads a critic's answer: the status block with `verdict` and `issues`, or, where there is none, the verdict as a
//! line of its own with a list under it, as autoclaude asks for it (`APPROVED …`, `NEEDS_FIXES …`).
//!
//! The last block with a verdict decides. Two verdicts that differ, or one that its own issues contradict, are none:
//! a verdict is never guessed.

use super::block::{self, Block, Entry};
use super::key::{self, Field};
use super::lines::{self, Line, Role};
use super::value;
use crate::base::text::cut;
use crate::domain::critique::{CriticVerdict, Critique, Issue, Severity};
use serde::Deserialize;

/// Issues that are kept, and the bytes of each of their texts.
const MAX_ISSUES: usize = 100;
const MAX_TEXT: usize = 4 << 10;

/// Why there is no verdict, in a word.
pub type Unreadable = &'static str;

/// Reads the last verdict of `text`: the text blocks of the critic's last turn, joined.
///
/// # Errors
///
/// `missing`, `unknown_verdict`, `conflicting_verdict` (it says two things, or approves what it calls broken), or
/// `missing_issues`.
pub fn parse_critique(text: &str) -> Result<Critique, Unreadable> {
    let lines = lines::lines(text);
    let critique = match last_block(&lines, CriticVerdict::WORDS) {
        Some(block) => of_block(&block)?,
        None => of_words(&lines)?,
    };
    let is_grave = |issue: &Issue| issue.severity != Severity::Minor;
    let is_critical = |issue: &Issue| issue.severity == Severity::Critical;
    match critique.verdict {
        CriticVerdict::Approved if critique.issues.iter().any(is_grave) => Err("conflicting_verdict"),
        CriticVerdict::MinorIssues if critique.issues.iter().any(is_critical) => Err("conflicting_verdict"),
        CriticVerdict::NeedsFixes | CriticVerdict::MinorIssues if critique.issues.is_empty() => Err("missing_issues"),
        _ => Ok(critique),
    }
}

/// The last block with a verdict that is not just the choice of these words.
pub(super) fn last_block(lines: &[Line], words: &[&str]) -> Option<Block> {
    let (mut last, mut at) = (None, 0);
    while at < lines.len() {
        let Some((block, next)) = block::read(lines, at) else {
            at += 1;
            continue;
        };
        if of(&block, Field::Verdict).any(|entry| !is_choice(&entry.first, words)) {
            last = Some(block);
        }
        at = next.max(at + 1);
    }
    last
}

pub(super) fn of(block: &Block, field: Field) -> impl Iterator<Item = &Entry> {
    block.entries.iter().filter(move |entry| entry.field == Some(field))
}

/// The prompt's own template, echoed: `<APPROVED, MINOR_ISSUES or NEEDS_FIXES>`.
fn is_choice(text: &str, words: &[&str]) -> bool {
    words.iter().filter(|word| text.contains(**word)).count() > 1
}

fn of_block(block: &Block) -> Result<Critique, Unreadable> {
    let mut warnings = Vec::new();
    let mut verdicts = of(block, Field::Verdict).map(|entry| {
        let text = value::text(entry, &mut Vec::new()).unwrap_or_default();
        verdict(&value::unmarked(&text, &mut Vec::new())).map(|(verdict, _)| verdict)
    });
    let first = verdicts.next().flatten().ok_or("unknown_verdict")?;
    if verdicts.any(|other| other != Some(first)) {
        return Err("conflicting_verdict");
    }
    if is_cut(block) {
        return Err("truncated");
    }
    let usual = if first == CriticVerdict::NeedsFixes { Severity::Major } else { Severity::Minor };
    let issues = of(block, Field::Issues).flat_map(|entry| issues(entry, usual)).take(MAX_ISSUES).collect();
    let summary = of(block, Field::Summary).last().and_then(|entry| value::text(entry, &mut warnings));
    Ok(Critique { verdict: first, issues, summary: summary.unwrap_or_default() })
}

/// The text ended inside the block.
pub(super) fn is_cut(block: &Block) -> bool {
    block.cut || block.mid_line && block.fence_open
}

/// The verdict that a line begins with, and what follows it.
fn verdict(line: &str) -> Option<(CriticVerdict, &str)> {
    let marks = |c: char| "#*_`\"'✅✔❌⚠\u{fe0f}".contains(c) || c.is_whitespace();
    let bare = line.trim_start_matches(marks);
    let head = bare.get(.."verdict".len()).filter(|head| head.eq_ignore_ascii_case("verdict"));
    let bare = head.map_or(bare, |head| bare[head.len()..].trim_start_matches([':', '*', '_', '`', ' ']));
    let end = bare.find(|c: char| !(c.is_ascii_alphanumeric() || "_- ".contains(c))).unwrap_or(bare.len());
    // `NEEDS FIXES` and `needs-fixes` in a block are as good; in a sentence the words are followed by others.
    CriticVerdict::ALL.iter().find_map(|one| {
        let word = one.word();
        let head = bare[..end].get(..word.len())?;
        let is_it = head.to_ascii_uppercase().replace([' ', '-'], "_") == word;
        let rest = &bare[word.len()..];
        let ends = !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '?');
        (is_it && ends).then_some((*one, rest))
    })
}

/// autoclaude's form: capitals at the start of a line that is said and not shown, and the list that follows.
fn of_words(lines: &[Line]) -> Result<Critique, Unreadable> {
    let mut found: Option<(CriticVerdict, usize, &str)> = None;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.role == Role::Text) {
        let is_quote = line.text.trim_start().starts_with('>');
        let Some((verdict, rest)) =
            verdict(&line.text).filter(|_| !is_quote && !is_choice(&line.text, CriticVerdict::WORDS))
        else {
            continue;
        };
        if !line.text.contains(verdict.word()) {
            continue;
        }
        if found.is_some_and(|(before, ..)| before != verdict) {
            return Err("conflicting_verdict");
        }
        found = Some((verdict, at, rest));
    }
    let (verdict, at, rest) = found.ok_or("missing")?;
    let usual = if verdict == CriticVerdict::NeedsFixes { Severity::Major } else { Severity::Minor };
    let said = rest.trim_matches(|c: char| ":.-–—*_`".contains(c) || c.is_whitespace());
    let mut issues: Vec<Issue> = lines[at + 1..]
        .iter()
        .filter(|line| line.role == Role::Text)
        .filter_map(|line| bullet(line.text.trim()))
        .map(|text| of_line(text, usual))
        .take(MAX_ISSUES)
        .collect();
    if issues.is_empty() && verdict == CriticVerdict::NeedsFixes && !said.is_empty() {
        issues.push(of_line(said, usual));
    }
    Ok(Critique { verdict, issues, summary: cut(said, MAX_TEXT) })
}

/// What follows a bullet or a number.
fn bullet(text: &str) -> Option<&str> {
    let numbered = || {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < text.len()).then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")))?
    };
    key::bullet(text).or_else(numbered)
}

/// An issue as the YAML of the block has it.
#[derive(Deserialize)]
struct Raw {
    severity: Option<String>,
    #[serde(alias = "path")]
    file: Option<String>,
    line: Option<Lines>,
    #[serde(alias = "issue", alias = "description", alias = "message", alias = "problem")]
    text: Option<String>,
    evidence: Option<String>,
}

/// An issue with fields, or in one line.
#[derive(Deserialize)]
#[serde(untagged)]
enum Item {
    Fields(Raw),
    Text(String),
}

/// A line's number, or a range of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lines {
    Number(u32),
    Text(String),
}

/// The list of issues: as YAML where it is that, else item by item, salvaged.
fn issues(entry: &Entry, usual: Severity) -> Vec<Issue> {
    let source = format!("{}\n{}", entry.first, entry.more.join("\n"));
    if ["", "[]", "null", "~", "none", "None"].contains(&source.trim()) {
        return Vec::new();
    }
    if let Some(items) = value::yaml::<Vec<Item>>(&source) {
        let read = items.into_iter().filter_map(|item| match item {
            Item::Fields(raw) => of_raw(raw, usual),
            Item::Text(text) => Some(of_line(&text, usual)).filter(|issue| !issue.text.is_empty()),
        });
        return read.collect();
    }
    items(&source).iter().filter_map(|item| of_item(item, usual)).collect()
}

/// The items of a list that is no YAML: each begins with a bullet that stands as far left as the first one does.
fn items(source: &str) -> Vec<Vec<&str>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let first = source.lines().find(|line| bullet(line.trim()).is_some()).map(indent);
    let mut items: Vec<Vec<&str>> = Vec::new();
    for line in source.lines().filter(|line| !line.trim().is_empty()) {
        match bullet(line.trim()).filter(|_| Some(indent(line)) <= first) {
            Some(rest) => items.push(vec![rest]),
            None => match items.last_mut() {
                Some(item) => item.push(line.trim()),
                None => items.push(vec![line.trim()]),
            },
        }
    }
    items
}

fn of_raw(raw: Raw, usual: Severity) -> Option<Issue> {
    let text = raw.text.filter(|text| !text.trim().is_empty())?;
    let line = raw.line.and_then(|line| match line {
        Lines::Number(line) => Some(line),
        Lines::Text(text) => number(&text),
    });
    Some(Issue {
        severity: raw.severity.and_then(|word| severity(&word)).unwrap_or(usual),
        file: raw.file.filter(|file| !file.trim().is_empty()).map(|file| cut(file.trim(), MAX_TEXT)),
        line: line.filter(|line| *line > 0),
        text: cut(text.trim(), MAX_TEXT),
        evidence: raw.evidence.filter(|text| !text.trim().is_empty()).map(|text| cut(text.trim(), MAX_TEXT)),
        doubtful: false,
    })
}

fn of_item(item: &[&str], usual: Severity) -> Option<Issue> {
    let mut raw = Raw { severity: None, file: None, line: None, text: None, evidence: None };
    let mut words: Vec<&str> = Vec::new();
    for line in item {
        let (name, value) = line.split_once(':').unwrap_or(("", line));
        let value = || Some(value.trim().trim_matches(['"', '\'']).to_owned());
        match name.trim().trim_matches(['"', '*']).to_ascii_lowercase().as_str() {
            "severity" => raw.severity = value(),
            "file" | "path" => raw.file = value(),
            "line" | "lines" => raw.line = value().map(Lines::Text),
            "text" | "issue" | "description" | "message" | "problem" => raw.text = value(),
            "evidence" => raw.evidence = value(),
            _ => words.push(line),
        }
    }
    match &mut raw.text {
        Some(text) => {
            for more in words {
                text.push(' ');
                text.push_str(more);
            }
        }
        None if raw.file.is_none() => return Some(of_line(&words.join(" "), usual)).filter(|it| !it.text.is_empty()),
        none => *none = Some(words.join(" ")),
    }
    of_raw(raw, usual)
}

/// `major: src/a.rs:12: what is wrong`, with or without what stands before the words.
fn of_line(text: &str, usual: Severity) -> Issue {
    let text = text.trim();
    let (severity, text) = match text.split_once([':', ']']) {
        Some((head, rest)) => {
            severity(head).map_or((usual, text), |severity| (severity, rest.trim_start_matches([':', ' ', '*'])))
        }
        None => (usual, text),
    };
    let (head, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    let place = head.trim_matches(['`', '(', ')', '*', ':', ',']);
    let (file, line) = place.split_once(':').map_or((place, None), |(file, line)| (file, number(line)));
    let is_file = file.contains(['/', '.']) && !rest.trim().is_empty() && !file.ends_with('.');
    let text = if is_file { rest.trim_start_matches(['-', '–', '—', ':', ' ']) } else { text };
    Issue {
        severity,
        file: is_file.then(|| cut(file, MAX_TEXT)),
        line: line.filter(|_| is_file),
        text: cut(text.trim_matches(['*', ' ']), MAX_TEXT),
        ..Issue::default()
    }
}

fn severity(word: &str) -> Option<Severity> {
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
    match bare.as_str() {
        "critical" | "blocker" | "blocking" => Some(Severity::Critical),
        "major" | "high" | "medium" | "error" | "important" => Some(Severity::Major),
        "minor" | "low" | "nit" | "info" | "style" => Some(Severity::Minor),
        _ => None,
    }
}

/// The number that a text begins with.
fn number(text: &str) -> Option<u32> {
    let text = text.trim().trim_start_matches(['L', 'l']);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use CriticVerdict::{Approved, MinorIssues, NeedsFixes};
    use proptest::prelude::*;

    fn said(text: &str) -> Result<(CriticVerdict, Vec<String>), Unreadable> {
        let critique = parse_critique(text)?;
        Ok((critique.verdict, critique.issues.iter().map(Issue::words).collect()))
    }

    #[test]
    fn a_block_says_the_verdict_and_its_issues() {
        let text = "I looked.\n\n```yaml\nPROGRAMMATOR_STATUS:\n  verdict: NEEDS_FIXES\n  issues:\n    - severity: critical\n      file: src/a.rs\n      line: 12\n      text: \"divides by zero: always\"\n      evidence: \"n is 0\"\n    - severity: nit\n      file: src/b.rs\n      text: typo\n  summary: \"Two things.\"\n```\n";
        let critique = parse_critique(text).unwrap();
        assert_eq!((critique.verdict, critique.summary.as_str()), (NeedsFixes, "Two things."));
        assert_eq!(
            critique.issues.iter().map(Issue::words).collect::<Vec<_>>(),
            ["critical: src/a.rs:12: divides by zero: always (n is 0)", "minor: src/b.rs: typo"],
        );
        let text = "PROGRAMMATOR_STATUS:\n  verdict: NEEDS_FIXES\n  issues:\n    - \"src/a.rs:3: it is \\\"wrong\\\"\"\n    - no test\n";
        let expected = ["major: src/a.rs:3: it is \"wrong\"", "major: no test"];
        assert_eq!(said(text).map(|(_, issues)| issues), Ok(expected.map(str::to_owned).to_vec()));
        for empty in ["[]", "", "null"] {
            let text = format!("PROGRAMMATOR_STATUS:\n  verdict: APPROVED\n  issues: {empty}\n  summary: fine\n");
            assert_eq!(said(&text), Ok((Approved, Vec::new())), "{empty}");
        }
    }

    #[test]
    fn what_is_no_yaml_is_salvaged() {
        let text = "PROGRAMMATOR_STATUS:\n  verdict: NEEDS_FIXES\n  issues:\n    - severity: major\n      file: src/a.rs\n      line: 3-7\n      text: the loop: it never ends\n    - src/b.rs:9: no test for \"x\n  summary: x\n";
        let expected = ["major: src/a.rs:3: the loop: it never ends", "major: src/b.rs:9: no test for \"x"];
        assert_eq!(said(text).map(|(_, issues)| issues), Ok(expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn autoclaudes_words_are_read_anywhere() {
        let cases: [(&str, CriticVerdict, &[&str]); 7] = [
            ("All fine.\n\nAPPROVED\n", Approved, &[]),
            ("**APPROVED** - nothing to add", Approved, &[]),
            ("## Verdict: APPROVED\n", Approved, &[]),
            ("```\nAPPROVED\n```\n", Approved, &[]),
            (
                "NEEDS_FIXES\n- src/a.rs:4 panics on \"\"\n- [critical] no test\n",
                NeedsFixes,
                &["major: src/a.rs:4: panics on \"\"", "critical: no test"],
            ),
            ("NEEDS_FIXES: the file is missing", NeedsFixes, &["major: the file is missing"]),
            ("MINOR_ISSUES\n1. a name\n2) another\n", MinorIssues, &["minor: a name", "minor: another"]),
        ];
        for (text, verdict, issues) in cases {
            let issues = issues.iter().map(ToString::to_string).collect();
            assert_eq!(said(text), Ok((verdict, issues)), "{text}");
        }
    }

    #[test]
    fn a_verdict_is_never_guessed() {
        let block = |verdict: &str| format!("PROGRAMMATOR_STATUS:\n  verdict: {verdict}\n  issues: []\n  summary: x\n");
        let cases = [
            (String::new(), "missing"),
            ("The work is approved by me.".into(), "missing"),
            ("NOT APPROVED".into(), "missing"),
            ("APPROVED? No.".into(), "missing"),
            ("> APPROVED".into(), "missing"),
            ("```diff\n+APPROVED\n```\n".into(), "missing"),
            ("End with APPROVED, MINOR_ISSUES or NEEDS_FIXES".into(), "missing"),
            ("APPROVED | MINOR_ISSUES | NEEDS_FIXES".into(), "missing"),
            ("APPROVED\n\nNEEDS_FIXES\n- x\n".into(), "conflicting_verdict"),
            (block("GOOD"), "unknown_verdict"),
            (block("<APPROVED, MINOR_ISSUES or NEEDS_FIXES>"), "missing"),
            (block("NEEDS_FIXES"), "missing_issues"),
            (format!("{}  verdict: NEEDS_FIXES\n", block("APPROVED")), "conflicting_verdict"),
            (block("APPROVED").replace("[]", "\n    - severity: critical\n      text: broken"), "conflicting_verdict"),
            ("PROGRAMMATOR_STATUS:\n  status: DONE\n  summary: I am the coder\n".into(), "missing"),
        ];
        for (text, why) in cases {
            assert_eq!(said(&text), Err(why), "{text}");
        }
        let last = format!("{}\n{}", block("NEEDS_FIXES"), block("APPROVED"));
        assert_eq!(said(&last), Ok((Approved, Vec::new())), "the last block decides");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "([A-Z_]{0,12}[: \\-\\n\"\\[{]?|PROGRAMMATOR_STATUS:\\n  |verdict: |issues:\\n|APPROVED|NEEDS_FIXES|é){0,40}") {
            if let Ok(critique) = parse_critique(&text) {
                prop_assert!(critique.verdict != NeedsFixes || !critique.issues.is_empty());
            }
        }
    }
}

//! A review: what several reviewers found in one diff, each looking for one kind of thing, merged and validated. Pure;
//! how they are asked is the runtime's.

use crate::domain::critique::{Issue, Severity};
use crate::domain::worded::worded;
use serde::Serialize;
use std::collections::BTreeSet;

/// What reviewers can look for, each with a prompt of its own.
pub const FOCI: [&str; 9] = [
    "bug-shallow", "bug-deep", "architect", "simplification", "silent-failures", "claudemd", "type-design", "comments",
    "tests-and-linters",
];

/// What the runs of a review are listed under, below the directory: there is no such file.
pub const PLACE: &str = ".programmator/review";

/// Issues about one file that are this many lines apart may be the same.
const NEAR: u32 = 5;

worded! {
    /// What the second look at an issue came to.
    #[derive(Default)]
    pub enum Validation {
        Confirmed = "confirmed",
        /// It does not hold.
        Dropped = "dropped",
        /// The second look says nothing about it: it stays.
        #[default]
        Unvalidated = "unvalidated",
    }
}

/// An issue, whoever found it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Finding {
    #[serde(flatten)]
    pub issue: Issue,
    /// The reviewers that found it.
    pub foci: Vec<String>,
    /// What else was said about this place, where the issue has other words: none hides another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    pub validation: Validation,
    /// Why it was confirmed or dropped.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Finding {
    /// All that was said of it, for the second look.
    pub fn words(&self) -> String {
        let also = self.also.iter().map(|text| format!("\nalso reported here: {text}"));
        format!("{}{}", self.issue.words(), also.collect::<String>())
    }

    /// One opinion is not enough to drop it: it is critical, or several reviewers found it.
    pub fn is_weighty(&self) -> bool {
        self.issue.severity == Severity::Critical || self.foci.len() > 1
    }
}

/// What the second look says of one issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its number in the list that was shown, from 1.
    pub issue: usize,
    pub holds: bool,
    pub reason: String,
}

/// What all reviewers found, each issue once, the gravest first.
pub fn merge(found: impl IntoIterator<Item = (String, Vec<Issue>)>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (focus, issues) in found {
        for issue in issues {
            match findings.iter_mut().find(|known| is_same(&known.issue, &issue)) {
                Some(known) => add(known, &focus, issue),
                None => findings.push(Finding { issue, foci: vec![focus.clone()], ..Finding::default() }),
            }
        }
    }
    findings.sort_by(|a, b| place(&a.issue).cmp(&place(&b.issue)));
    findings
}

fn place(issue: &Issue) -> (usize, &str, u32) {
    (rank(issue.severity), issue.file.as_deref().unwrap_or_default(), issue.line.unwrap_or(0))
}

fn rank(severity: Severity) -> usize {
    Severity::ALL.iter().position(|one| *one == severity).unwrap_or(0)
}

/// The graver words come first; the others are kept beside them.
fn add(known: &mut Finding, focus: &str, issue: Issue) {
    if !known.foci.iter().any(|one| one == focus) {
        known.foci.push(focus.to_owned());
    }
    let doubtful = known.issue.doubtful && issue.doubtful;
    let (grave, other) = if rank(issue.severity) < rank(known.issue.severity) {
        let other = std::mem::replace(&mut known.issue, issue);
        (&mut known.issue, other)
    } else {
        (&mut known.issue, issue)
    };
    grave.doubtful = doubtful;
    grave.line = grave.line.or(other.line);
    grave.evidence = grave.evidence.take().or(other.evidence);
    if !other.text.trim().eq_ignore_ascii_case(grave.text.trim()) && !known.also.contains(&other.text) {
        known.also.push(other.text);
    }
}

/// The same file, near lines, similar words.
fn is_same(a: &Issue, b: &Issue) -> bool {
    let file = |issue: &Issue| issue.file.as_deref().map(|file| file.trim_start_matches("./").to_owned());
    // One without a line could be about anything in the file.
    let is_near = match (a.line, b.line) {
        (Some(a), Some(b)) => a.abs_diff(b) <= NEAR,
        (a, b) => a == b,
    };
    file(a) == file(b) && is_near && are_similar(&a.text, &b.text)
}

/// They share at least half of the words of the shorter text, and two of them; or they are equal.
fn are_similar(a: &str, b: &str) -> bool {
    let (a_words, b_words) = (words(a), words(b));
    let shared = a_words.intersection(&b_words).count();
    let shorter = a_words.len().min(b_words.len());
    a.trim().eq_ignore_ascii_case(b.trim()) || (shared >= 2 && shared * 2 >= shorter)
}

/// The words that say something, each by its first four letters: `divides` and `division` count as one.
fn words(text: &str) -> BTreeSet<String> {
    const SAY_NOTHING: [&str; 16] = [
        "the", "and", "for", "that", "this", "with", "not", "are", "but", "when", "from", "has", "have", "its", "can",
        "there",
    ];
    let split = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase);
    let say = split.filter(|word| word.chars().count() >= 3 && !SAY_NOTHING.contains(&word.as_str()));
    say.map(|word| word.chars().take(4).collect()).collect()
}

/// The findings that stay and those that are dropped. Where nothing was said of one, it stays.
pub fn validated(findings: Vec<Finding>, checks: &[Check]) -> (Vec<Finding>, Vec<Finding>) {
    let checked =
        (1..).zip(findings).map(|(n, finding): (usize, Finding)| match checks.iter().rfind(|check| check.issue == n) {
            None => finding,
            Some(check) => {
                let validation = if check.holds { Validation::Confirmed } else { Validation::Dropped };
                Finding { validation, reason: check.reason.clone(), ..finding }
            }
        });
    checked.partition(|finding| finding.validation != Validation::Dropped)
}

/// How one reviewer fared.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reviewer {
    pub focus: String,
    /// Its run: `programmator logs` has all of it.
    pub run: String,
    /// How many issues it named; `None`: it failed.
    pub issues: Option<usize>,
    pub summary: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub ms: u64,
    pub cost_usd: f64,
}

/// `review --json`: add, never rename.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// What was compared with, as it was named.
    pub base: String,
    /// The commit that is meant by it: the merge base.
    pub commit: String,
    pub folder: String,
    /// The files that differ.
    pub files: Vec<String>,
    /// Files that the diff did not have room for, or not for all of: reviewers were told only their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    pub reviewers: Vec<Reviewer>,
    /// The second look; `None`: there was nothing to look at.
    pub validator: Option<Reviewer>,
    pub issues: Vec<Finding>,
    /// What the second look found not to hold.
    pub dropped: Vec<Finding>,
    pub cost_usd: f64,
}

impl Report {
    /// Dropped issues that are not dropped on the word of one Claude alone.
    pub fn disputed(&self) -> usize {
        self.dropped.iter().filter(|finding| finding.is_weighty()).count()
    }

    /// 3: there are findings, or weighty ones were dropped. 1: there are none, but not everybody could look, or not at all.
    pub fn exit_code(&self) -> u8 {
        match (
            self.issues.is_empty() && self.disputed() == 0,
            self.reviewers.iter().any(|reviewer| reviewer.error.is_some()) || !self.left_out.is_empty(),
        ) {
            (false, _) => 3,
            (true, true) => 1,
            (true, false) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(severity: Severity, file: &str, line: Option<u32>, text: &str) -> Issue {
        Issue { severity, file: Some(file.into()), line, text: text.into(), ..Issue::default() }
    }

    #[test]
    fn what_several_found_is_one_issue_with_the_graver_words() {
        let found = [
            ("bug-shallow", vec![issue(Severity::Minor, "./src/a.rs", Some(12), "the loop divides by zero")]),
            (
                "bug-deep",
                vec![
                    issue(Severity::Critical, "src/a.rs", Some(14), "Division by zero for an empty list"),
                    issue(Severity::Major, "src/a.rs", Some(90), "Division by zero for an empty list"),
                ],
            ),
            ("comments", vec![issue(Severity::Minor, "src/a.rs", Some(13), "the comment names the wrong unit")]),
            ("architect", vec![issue(Severity::Major, "src/b.rs", None, "Division by zero for an empty list")]),
        ];
        let merged = merge(found.map(|(focus, issues)| (focus.to_owned(), issues)));
        let told: Vec<_> = merged
            .iter()
            .map(|one| (one.issue.severity.word(), one.issue.place().unwrap(), one.foci.join(" ")))
            .collect();
        let expected = [
            ("critical", "src/a.rs:14", "bug-shallow bug-deep"),
            ("major", "src/a.rs:90", "bug-deep"),
            ("major", "src/b.rs", "architect"),
            ("minor", "src/a.rs:13", "comments"),
        ];
        assert_eq!(told, expected.map(|(severity, place, foci)| (severity, place.to_owned(), foci.to_owned())));
        assert_eq!(merged[0].issue.text, "Division by zero for an empty list");
        assert_eq!(merged[0].also, ["the loop divides by zero"], "neither text hides the other");
        assert!(merged[0].words().ends_with("\nalso reported here: the loop divides by zero"));
        assert_eq!(merged[1].also, [""; 0]);
    }

    #[test]
    fn what_one_of_two_says_more_is_kept() {
        let with = Issue {
            evidence: Some("n is 0".into()),
            doubtful: true,
            ..issue(Severity::Minor, "a", Some(3), "never closes the file handle")
        };
        let without = issue(Severity::Major, "a", Some(3), "the file handle is never closed");
        for found in [[&with, &without], [&without, &with]] {
            let merged = merge(found.map(|issue| ("x".to_owned(), vec![issue.clone()])));
            let [one] = &merged[..] else { panic!("{merged:?}") };
            assert_eq!((one.issue.severity, one.issue.line, one.issue.doubtful), (Severity::Major, Some(3), false));
            assert_eq!((one.issue.evidence.as_deref(), one.foci.len()), (Some("n is 0"), 1));
        }
    }

    #[test]
    fn a_check_drops_only_what_it_names() {
        let findings =
            merge([("x".to_owned(), ["a", "b", "c"].map(|file| issue(Severity::Major, file, None, "t")).into())]);
        let check = |issue, holds, reason: &str| Check { issue, holds, reason: reason.into() };
        let (stay, dropped) = validated(
            findings.clone(),
            &[check(1, true, "seen"), check(2, false, "guarded above"), check(9, false, "?")],
        );
        let told: Vec<_> = stay.iter().map(|one| (one.validation, one.reason.as_str())).collect();
        assert_eq!(told, [(Validation::Confirmed, "seen"), (Validation::Unvalidated, "")]);
        assert_eq!((dropped.len(), dropped[0].reason.as_str()), (1, "guarded above"));
        assert_eq!(validated(findings, &[]).0.len(), 3, "without an answer everything stays");
    }

    #[test]
    fn findings_weigh_more_than_a_reviewer_that_failed() {
        let failed = Reviewer { error: Some("it died".into()), ..Reviewer::default() };
        let report = Report { reviewers: vec![Reviewer::default()], ..Report::default() };
        assert_eq!(report.exit_code(), 0);
        let report = Report { reviewers: vec![failed], ..report };
        assert_eq!(report.exit_code(), 1);
        assert_eq!(Report { issues: vec![Finding::default()], ..report }.exit_code(), 3);
    }

    #[test]
    fn one_claude_alone_does_not_drop_what_is_critical_or_was_found_twice() {
        let found = |severity, foci: &[&str]| Finding {
            issue: issue(severity, "a", Some(1), "t"),
            foci: foci.iter().map(ToString::to_string).collect(),
            ..Finding::default()
        };
        for (finding, code) in [
            (found(Severity::Major, &["x"]), 0),
            (found(Severity::Critical, &["x"]), 3),
            (found(Severity::Minor, &["x", "y"]), 3),
        ] {
            assert_eq!(Report { dropped: vec![finding], ..Report::default() }.exit_code(), code);
        }
    }
}

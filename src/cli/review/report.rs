//! The report of a review, as text and as Markdown. What Claude said is cleaned here.

use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::review::{Finding, Report, Reviewer, Validation};
use std::fmt::Write as _;

/// Longest words of Claude's on a line.
const WORDS: usize = 2_000;

fn clean(text: &str) -> String {
    clean_line(text, WORDS)
}

/// What came of it, in a line.
fn head(report: &Report) -> String {
    let found = match report.issues.len() {
        0 => "No issues".to_owned(),
        many => counted(many, "issue"),
    };
    let files = counted(report.files.len(), "changed file");
    let commit: String = report.commit.chars().take(10).collect();
    format!("{found} in {files} since {} ({commit})", clean(&report.base))
}

fn place(finding: &Finding) -> String {
    finding.issue.place().map_or_else(|| "no file named".to_owned(), |place| clean(&place))
}

/// Who found it, and what the second look says.
fn standing(finding: &Finding) -> String {
    let mut words = format!("found by {}", finding.foci.join(", "));
    match finding.validation {
        Validation::Confirmed => words.push_str(" · confirmed"),
        Validation::Dropped => words.push_str(" · dropped"),
        Validation::Unvalidated => words.push_str(" · not validated"),
    }
    if !finding.reason.is_empty() {
        let _ = write!(words, ": {}", clean(&finding.reason));
    }
    if finding.issue.doubtful {
        words.push_str(" · names no changed file");
    }
    words
}

/// Files named in a line.
const NAMED: usize = 10;

/// Which files the reviewers were not shown.
pub(super) fn left_out(files: &[String]) -> String {
    let names: Vec<String> = files.iter().take(NAMED).map(|name| clean(name)).collect();
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "The diff is longer than 200 kB. The reviewers only saw the names of these files: {}{more}",
        names.join(", ")
    )
}

/// What was dropped although it weighs; `None`: nothing.
fn disputed(report: &Report) -> Option<String> {
    let many = report.disputed();
    (many > 0).then(|| {
        let (issues, was) = (counted(many, "dropped issue"), if many == 1 { "was" } else { "were" });
        format!("{issues} {was} critical or found by several reviewers: check for yourself. The exit code is 3")
    })
}

/// A dropped issue in a line, and why it was dropped.
fn dropped(finding: &Finding, clean: fn(&str) -> String) -> String {
    let weight = if finding.is_weighty() {
        format!("{}, found by {}: ", finding.issue.severity.word(), finding.foci.join(", "))
    } else {
        String::new()
    };
    let texts: Vec<String> =
        std::iter::once(&finding.issue.text).chain(&finding.also).map(|text| clean(text)).collect();
    let why = if finding.reason.is_empty() { "no reason given".to_owned() } else { clean(&finding.reason) };
    format!("{weight}{} ({why})", texts.join("; also: "))
}

fn failures(report: &Report) -> Vec<&Reviewer> {
    report.reviewers.iter().chain(&report.validator).filter(|reviewer| reviewer.error.is_some()).collect()
}

pub(super) fn text(report: &Report) -> String {
    let mut out = format!("{}\n", head(report));
    for finding in &report.issues {
        let _ = write!(out, "\n{:<8}  {}\n", finding.issue.severity.word(), place(finding));
        let evidence = finding.issue.evidence.as_deref();
        for words in [Some(finding.issue.text.as_str()), evidence].into_iter().flatten() {
            let _ = writeln!(out, "          {}", clean(words));
        }
        for words in &finding.also {
            let _ = writeln!(out, "          also: {}", clean(words));
        }
        let _ = writeln!(out, "          {}", standing(finding));
    }
    if !report.dropped.is_empty() {
        let _ = writeln!(out, "\nDropped by the final reviewer:");
    }
    for finding in &report.dropped {
        let _ = writeln!(out, "  {}  {}", place(finding), dropped(finding, clean));
    }
    if let Some(words) = disputed(report) {
        let _ = writeln!(out, "{words}.");
    }
    if !report.left_out.is_empty() {
        let _ = writeln!(out, "\n{}.", left_out(&report.left_out));
    }
    for reviewer in failures(report) {
        let _ = writeln!(out, "\nfailed: {}: {}", reviewer.focus, clean(reviewer.error.as_deref().unwrap_or_default()));
    }
    if !report.reviewers.is_empty() {
        let _ = writeln!(out, "\n{}, ${:.2}", counted(report.reviewers.len(), "reviewer"), report.cost_usd);
    }
    out
}

/// Words as Markdown shows them: no tags, nobody is mentioned.
fn plain(text: &str) -> String {
    clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('@', "&#64;")
}

pub(super) fn markdown(report: &Report) -> String {
    let mut out = format!("# Review\n\n{}.\n", plain(&head(report)));
    for finding in &report.issues {
        let place = place(finding).replace('`', "'");
        let _ = write!(out, "\n## {}: `{place}`\n\n{}\n", finding.issue.severity.word(), plain(&finding.issue.text));
        if let Some(evidence) = &finding.issue.evidence {
            let _ = write!(out, "\n> {}\n", plain(evidence));
        }
        for words in &finding.also {
            let _ = write!(out, "\nAlso: {}\n", plain(words));
        }
        let _ = write!(out, "\n*{}*\n", plain(&standing(finding)));
    }
    if !report.dropped.is_empty() {
        let _ = write!(out, "\n## Dropped by the final reviewer\n\n");
    }
    for finding in &report.dropped {
        let _ = writeln!(out, "- `{}`: {}", place(finding).replace('`', "'"), dropped(finding, plain));
    }
    if let Some(words) = disputed(report) {
        let _ = write!(out, "\n{words}.\n");
    }
    if !report.left_out.is_empty() {
        let _ = write!(out, "\n## Not shown\n\n{}.\n", plain(&left_out(&report.left_out)));
    }
    if !report.reviewers.is_empty() {
        let _ = write!(out, "\n## Reviewers\n\n");
    }
    for reviewer in report.reviewers.iter().chain(&report.validator) {
        let came = match (&reviewer.error, reviewer.issues) {
            (Some(why), _) => format!("failed: {}", plain(why)),
            (None, issues) => counted(issues.unwrap_or(0), "issue"),
        };
        let _ = writeln!(out, "- {}: {came}, ${:.2} (run {})", reviewer.focus, reviewer.cost_usd, reviewer.run);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::critique::{Issue, Severity};

    fn report() -> Report {
        let finding = |text: &str, validation, reason: &str| Finding {
            issue: Issue {
                severity: Severity::Critical,
                file: Some("src/a.rs".into()),
                line: Some(12),
                text: text.into(),
                evidence: Some("n is 0\x1b[2J".into()),
                doubtful: false,
            },
            foci: vec!["bug-deep".into(), "bug-shallow".into()],
            also: vec!["n may\x07 be 0".into()],
            validation,
            reason: reason.into(),
        };
        let reviewer = |focus: &str, issues, error: Option<&str>| Reviewer {
            focus: focus.into(),
            run: "0192aaaa".into(),
            issues,
            error: error.map(str::to_owned),
            cost_usd: 0.5,
            ..Reviewer::default()
        };
        Report {
            base: "main".into(),
            commit: "1a2b3c4d5e6f7a8b".into(),
            folder: "/w".into(),
            files: vec!["src/a.rs".into()],
            left_out: (0..12).map(|n| format!("lib/{n}\x1b[1m.rs")).collect(),
            reviewers: vec![reviewer("bug-deep", Some(2), None), reviewer("comments", None, Some("it died"))],
            validator: None,
            issues: vec![finding("divides by <zero> @ann", Validation::Confirmed, "seen")],
            dropped: vec![finding("never closed", Validation::Dropped, "closed by drop")],
            cost_usd: 1.0,
        }
    }

    #[test]
    fn a_person_reads_where_what_and_who() {
        let expected = "\
1 issue in 1 changed file since main (1a2b3c4d5e)

critical  src/a.rs:12
          divides by <zero> @ann
          n is 0
          also: n may be 0
          found by bug-deep, bug-shallow · confirmed: seen

Dropped by the final reviewer:
  src/a.rs:12  critical, found by bug-deep, bug-shallow: never closed; also: n may be 0 (closed by drop)
1 dropped issue was critical or found by several reviewers: check for yourself. The exit code is 3.

The diff is longer than 200 kB. The reviewers only saw the names of these files: lib/0.rs, lib/1.rs, lib/2.rs, \
lib/3.rs, lib/4.rs, lib/5.rs, lib/6.rs, lib/7.rs, lib/8.rs, lib/9.rs and 2 more.

failed: comments: it died

2 reviewers, $1.00
";
        let text = text(&report());
        assert!(!text.contains('\x1b'), "{text:?}");
        assert_eq!(text, expected);
        assert_eq!(
            super::text(&Report { base: "main".into(), ..Report::default() }),
            "No issues in 0 changed files since main ()\n"
        );
    }

    #[test]
    fn markdown_mentions_nobody_and_has_no_tags() {
        let page = markdown(&report());
        for part in [
            "# Review\n",
            "## critical: `src/a.rs:12`\n\ndivides by &lt;zero> &#64;ann\n",
            "> n is 0",
            "- comments: failed: it died",
            "\nAlso: n may be 0\n",
            "The exit code is 3.\n",
            "## Not shown\n",
        ] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        assert!(!page.contains("@ann") && !page.contains('\x1b'), "{page}");
    }
}

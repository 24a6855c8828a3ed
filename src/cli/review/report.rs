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
        let _ = writeln!(out, "          {}", standing(finding));
    }
    if !report.dropped.is_empty() {
        let _ = writeln!(out, "\nDropped by the second look:");
    }
    for finding in &report.dropped {
        let _ = writeln!(out, "  {}  {} ({})", place(finding), clean(&finding.issue.text), clean(&finding.reason));
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
        let _ = write!(out, "\n*{}*\n", plain(&standing(finding)));
    }
    if !report.dropped.is_empty() {
        let _ = write!(out, "\n## Dropped by the second look\n\n");
    }
    for finding in &report.dropped {
        let (place, text) = (place(finding).replace('`', "'"), plain(&finding.issue.text));
        let _ = writeln!(out, "- `{place}`: {text} ({})", plain(&finding.reason));
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
          found by bug-deep, bug-shallow · confirmed: seen

Dropped by the second look:
  src/a.rs:12  never closed (closed by drop)

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
        ] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        assert!(!page.contains("@ann") && !page.contains('\x1b'), "{page}");
    }
}

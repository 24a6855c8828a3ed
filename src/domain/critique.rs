//! What a critic says about finished work: a verdict, and the issues behind it. Its words, read from its last message;
//! what becomes of the phase is the core's to say.

use crate::domain::worded::worded;
use serde::{Deserialize, Serialize};

worded! {
    /// What the critic comes to.
    pub enum CriticVerdict {
        Approved = "APPROVED",
        /// Nothing that has to be changed before the phase is done.
        MinorIssues = "MINOR_ISSUES",
        NeedsFixes = "NEEDS_FIXES",
    }
}

worded! {
    /// How much an issue hurts.
    #[derive(Default)]
    pub enum Severity {
        Critical = "critical",
        #[default]
        Major = "major",
        Minor = "minor",
    }
}

/// One thing that the critic found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Issue {
    pub severity: Severity,
    /// The file that it names: untrusted text, compared with changed files and never opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first line that it names, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub text: String,
    /// What it goes by, in its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// It is about a file that the phase has not changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub doubtful: bool,
}

impl Issue {
    /// Where it is, as people write it: `src/a.rs:12`.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(self.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")))
    }

    /// The whole issue in a paragraph.
    pub fn words(&self) -> String {
        let place = self.place().map(|place| format!("{place}: ")).unwrap_or_default();
        let evidence = self.evidence.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        format!("{}: {place}{}{evidence}", self.severity.word(), self.text)
    }
}

/// A readable answer of a critic's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Critique {
    pub verdict: CriticVerdict,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<Issue>,
    #[serde(default)]
    pub summary: String,
}

impl Critique {
    /// The same with those issues marked as doubtful that name a file which is none of `changed`.
    #[must_use]
    pub fn compared_with(mut self, changed: &[String]) -> Self {
        for issue in &mut self.issues {
            let named = issue.file.as_deref().map(|file| file.trim_start_matches("./"));
            let is_changed = |file: &str| changed.iter().any(|one| one == file || file.ends_with(&format!("/{one}")));
            issue.doubtful = named.is_some_and(|file| !is_changed(file));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_about_a_file_that_is_as_it_was_is_doubtful() {
        let of = |file: Option<&str>| Issue { file: file.map(str::to_owned), text: "x".into(), ..Issue::default() };
        let named = [None, Some("src/a.rs"), Some("./src/a.rs"), Some("/home/ann/p/src/a.rs"), Some("a.rs"), Some("b")];
        let issues = named.map(of).to_vec();
        let critique = Critique { verdict: CriticVerdict::NeedsFixes, issues, summary: String::new() };
        let compared = critique.compared_with(&["src/a.rs".to_owned()]);
        let doubtful: Vec<bool> = compared.issues.iter().map(|issue| issue.doubtful).collect();
        assert_eq!(doubtful, [false, false, false, false, true, true]);
    }

    #[test]
    fn an_issue_is_told_with_its_place() {
        let issue = Issue {
            severity: Severity::Critical,
            file: Some("src/a.rs".into()),
            line: Some(12),
            text: "divides by zero".into(),
            evidence: Some("n is 0 for an empty list".into()),
            doubtful: false,
        };
        assert_eq!(issue.words(), "critical: src/a.rs:12: divides by zero (n is 0 for an empty list)");
        assert_eq!(Issue { text: "no test".into(), ..Issue::default() }.words(), "major: no test");
    }
}

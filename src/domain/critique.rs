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
    /// It is about a place that the phase has not changed.
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

/// What a critic was shown of a changed file: the first line of each hunk as the file is now, and how many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownFile {
    pub path: String,
    pub hunks: Vec<(u32, u32)>,
}

/// Files and hunks of each that are kept: of what is beyond, nothing is known.
const MAX_SHOWN: usize = 200;

/// The hunks of a diff as git writes it. A file with a name that git quotes, or with more hunks, is left out: of its lines
/// nothing is known.
pub fn shown_hunks(diff: &str) -> Vec<ShownFile> {
    let mut files: Vec<ShownFile> = Vec::new();
    let mut is_known = false;
    // Lines of the hunk that are still to come: before, and now.
    let (mut old, mut new) = (0_u32, 0_u32);
    for line in diff.lines() {
        if old > 0 || new > 0 {
            match line.as_bytes().first() {
                Some(b'\\') => {}
                Some(b'+') => new = new.saturating_sub(1),
                Some(b'-') => old = old.saturating_sub(1),
                Some(b' ') => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
                // It is cut.
                _ => break,
            }
        } else if let Some(path) = line.strip_prefix("+++ b/") {
            is_known = true;
            files.push(ShownFile { path: path.trim_end_matches('\t').to_owned(), hunks: Vec::new() });
        } else if line.starts_with("diff --git ") {
            is_known = false;
        } else if let Some((before, first, now)) = hunk(line) {
            (old, new) = (before, now);
            if let Some(file) = files.last_mut().filter(|_| is_known) {
                file.hunks.push((first, now));
            }
        }
    }
    // The last one may be cut.
    if old > 0 || new > 0 {
        files.pop();
    }
    files.retain(|file| file.hunks.len() <= MAX_SHOWN);
    files.truncate(MAX_SHOWN);
    files
}

/// `@@ -3,4 +5,6 @@`: lines before, the first line now, lines now.
fn hunk(line: &str) -> Option<(u32, u32, u32)> {
    let (before, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (now, _) = rest.split_once(" @@")?;
    let read = |range: &str| match range.split_once(',') {
        Some((first, lines)) => Some((first.parse().ok()?, lines.parse().ok()?)),
        None => Some((range.parse::<u32>().ok()?, 1)),
    };
    let ((_, before), (first, now)) = (read(before)?, read(now)?);
    Some((before, first, now))
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
    /// The same with those issues marked as doubtful that name a file which is none of `changed`, or a line of it that
    /// the critic was not shown as changed, or beside a change.
    #[must_use]
    pub fn compared_with(mut self, changed: &[String], shown: &[ShownFile]) -> Self {
        for issue in &mut self.issues {
            let Some(file) = issue.file.as_deref().map(|file| file.trim_start_matches("./")) else { continue };
            let is_it = |one: &str| one == file || file.ends_with(&format!("/{one}"));
            let is_changed = changed.iter().any(|one| is_it(one));
            let hunks = shown.iter().find(|shown| is_it(&shown.path)).map(|shown| &shown.hunks);
            let is_beside = issue.line.zip(hunks).is_some_and(|(line, hunks)| {
                !hunks.iter().any(|(first, lines)| (*first..first.saturating_add(*lines)).contains(&line))
            });
            issue.doubtful = !is_changed || is_beside;
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
        let compared = critique.compared_with(&["src/a.rs".to_owned()], &[]);
        let doubtful: Vec<bool> = compared.issues.iter().map(|issue| issue.doubtful).collect();
        assert_eq!(doubtful, [false, false, false, false, true, true]);
    }

    const DIFF: &str = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -3,2 +3,3 @@ fn a\n x\n+++ b/evil.rs\n y\n@@ -40 +41 @@\n-z\n+w\ndiff --git a/b c b/b c\n--- /dev/null\n+++ b/b c\t\n@@ -0,0 +1,2 @@\n+1\n+2\n\\ No newline at end of file\ndiff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";

    #[test]
    fn the_hunks_of_a_diff_are_found_and_nothing_in_them_is_taken_for_one() {
        let file = |path: &str, hunks: &[(u32, u32)]| ShownFile { path: path.into(), hunks: hunks.to_vec() };
        let all = [file("src/a.rs", &[(3, 3), (41, 1)]), file("b c", &[(1, 2)])];
        assert_eq!(shown_hunks(DIFF), all);
        let cut = &DIFF[..DIFF.find("+2").unwrap()];
        assert_eq!(
            shown_hunks(&format!("{cut}\n[the diff goes on]\n")),
            all[..1],
            "of a file that is cut nothing is known"
        );
    }

    #[test]
    fn an_issue_about_a_line_that_is_as_it_was_is_doubtful() {
        let lines = [Some(2), Some(3), Some(5), Some(6), Some(41), None];
        let of = |line| Issue { file: Some("src/a.rs".into()), line, text: "x".into(), ..Issue::default() };
        let critique =
            Critique { verdict: CriticVerdict::NeedsFixes, issues: lines.map(of).to_vec(), summary: String::new() };
        let doubtful = |shown: &[ShownFile]| {
            let compared = critique.clone().compared_with(&["src/a.rs".to_owned()], shown);
            compared.issues.iter().map(|issue| issue.doubtful).collect::<Vec<_>>()
        };
        assert_eq!(doubtful(&shown_hunks(DIFF)), [true, false, false, true, false, false]);
        assert_eq!(doubtful(&[]), [false; 6], "what was not shown whole is not doubted");
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

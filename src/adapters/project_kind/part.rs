//! A part of a repository and what its files show; and how those files are read: small regular ones, never a link.

use serde::Serialize;
use std::fs;
use std::path::Path;

/// A folder of the repository that is built for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Relative to the top; empty for the top itself.
    pub folder: String,
    pub findings: Vec<Finding>,
}

/// Something that a file shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: Kind,
    /// `Rust`, `pnpm`, `Vue`; of a check its command, for bash in the part's folder.
    pub name: String,
    /// The file, relative to the part's folder.
    pub evidence: String,
    /// Of a check: the repository's own files ask for it, or it runs the tests. Others are only usual in such a project.
    #[serde(skip)]
    pub is_own: bool,
}

/// What is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Language,
    Framework,
    /// A package manager or a build.
    Tool,
    Check,
}

/// Scripts of a `package.json`, targets of a `Makefile` and recipes of a `justfile` that check something.
pub(super) const CHECKING: [&str; 6] = ["test", "check", "lint", "typecheck", "type-check", "ci"];

/// Largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

impl Part {
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |one| one.kind == kind)
    }

    /// A check as it runs from the top folder.
    pub fn command(&self, check: &Finding) -> String {
        if self.folder.is_empty() { check.name.clone() } else { format!("cd {} && {}", self.folder, check.name) }
    }

    /// The file that shows it, from the top folder.
    pub fn evidence(&self, finding: &Finding) -> String {
        if self.folder.is_empty() { finding.evidence.clone() } else { format!("{}/{}", self.folder, finding.evidence) }
    }
}

impl Finding {
    pub(super) fn new(kind: Kind, name: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self { kind, name: name.into(), evidence: evidence.into(), is_own: true }
    }
}

/// The text of a small regular file; `None` for anything else, a link too.
pub(super) fn read(path: &Path) -> Option<String> {
    let about = path.symlink_metadata().ok()?;
    let bytes = (about.is_file() && about.len() <= LARGEST).then(|| fs::read(path).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.is_file())
}

/// The first of these files that is there.
pub(super) fn first<'a>(folder: &Path, names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| is_file(&folder.join(name)))
}

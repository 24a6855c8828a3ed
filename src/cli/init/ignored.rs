//! What git is not to see in a repository that `programmator init` makes: what builds and package managers write. In one that was there
//! before, that is the person's.

use super::setup::{Choices, Setup};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Languages and tools as they are detected, and what they write.
const WRITTEN: [(&[&str], &[&str]); 10] = [
    (&["cargo", "maven"], &["target/"]),
    (&["JavaScript", "TypeScript"], &["node_modules/"]),
    (&["Python"], &["__pycache__/", ".venv/"]),
    (&["gradle"], &[".gradle/", "build/"]),
    (&["dotnet"], &["bin/", "obj/"]),
    (&["mix"], &["_build/", "deps/"]),
    (&["composer"], &["vendor/"]),
    (&["cmake", "meson"], &["build/"]),
    (&["swift"], &[".build/"]),
    (&["bundler"], &[".bundle/"]),
];

/// The `.gitignore` of a new repository, where there is none. Without it, what a build writes would be a change of Claude's, and be in
/// every snapshot.
pub(super) fn gitignore(setup: &Setup, choices: &Choices) -> Option<(PathBuf, String)> {
    let path = setup.folder.join(".gitignore");
    if !choices.git || path.symlink_metadata().is_ok() {
        return None;
    }
    let found: BTreeSet<&str> =
        setup.parts.iter().flat_map(|part| &part.findings).map(|one| one.name.as_str()).collect();
    let wrote = WRITTEN.iter().filter(|(by, _)| by.iter().any(|name| found.contains(name)));
    let lines: BTreeSet<&str> = wrote.flat_map(|(_, what)| *what).copied().collect();
    let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
    (!text.is_empty()).then_some((path, text))
}

//! Where a project keeps tasks, by the files that are there.

use crate::adapters::git::origin;
use crate::adapters::import_source::{self, SourceError};
use crate::domain::import::item::Source;
use std::path::{Path, PathBuf};

/// Where a source keeps its tasks, best first.
const FILES: [(Source, &[&str]); 4] = [
    (Source::Hank, &[".hank/fix_plan.md", ".ralph/fix_plan.md", "fix_plan.md", "@fix_plan.md"]),
    (Source::Autoclaude, &[".autoclaude/TODO.md"]),
    (Source::Ralph, &["prd.json", ".ralph-tui/prd.json", "scripts/ralph/prd.json", "tasks/prd.json"]),
    (Source::Beads, &[".beads/issues.jsonl"]),
];
/// Documents that are looked for, but only read when they are named.
const DOCUMENTS: [(Source, &[&str]); 2] = [
    (
        Source::Prd,
        &["PRD.md", "prd.md", "docs/PRD.md", "docs/prd.md", "docs/requirements.md", "REQUIREMENTS.md", "SPEC.md"],
    ),
    (Source::Tasks, &["TODO.md", "todo.md", "docs/TODO.md", "TASKS.md"]),
];
const PLANS: &str = "docs/plans";
/// What the address of a remote has in it where `gh` finds issues without more settings.
const GITHUB: &str = "github.com";

/// The file of a source that is there, or for ralphex its open plans.
pub(super) fn files(folder: &Path, source: Source) -> Result<Vec<PathBuf>, SourceError> {
    if source == Source::Ralphex {
        let plans = import_source::first(folder, &[PLANS])?;
        return Ok(plans.map(|plans| import_source::documents_in(&plans)).unwrap_or_default());
    }
    let names = FILES.iter().find(|(of, _)| *of == source).map_or(&[][..], |(_, names)| names);
    Ok(import_source::first(folder, names)?.into_iter().collect())
}

/// Sources that the folder shows, each with the file to name to `programmator import`, if it has to be named. What cannot be read shows nothing.
pub async fn shown(folder: &Path) -> Vec<(Source, Option<PathBuf>)> {
    let mut found: Vec<(Source, Option<PathBuf>)> = Vec::new();
    for source in [Source::Hank, Source::Autoclaude, Source::Ralph, Source::Ralphex, Source::Beads] {
        if files(folder, source).is_ok_and(|files| !files.is_empty()) {
            found.push((source, None));
        }
    }
    for (source, names) in DOCUMENTS {
        let there = names.iter().find(|name| folder.join(name).symlink_metadata().is_ok_and(|about| about.is_file()));
        found.extend(there.map(|name| (source, Some(PathBuf::from(name)))));
    }
    if origin::remotes(folder).await.iter().any(|address| address.contains(GITHUB)) {
        found.push((Source::Github, None));
    }
    found
}

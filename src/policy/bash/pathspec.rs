//! Pathspecs of git. A literal one is a path; a pattern or magic finds whatever is in the tree. What is added to the
//! index can be shown from there, so adding counts as reading.

use super::walker::Walker;
use crate::policy::commands::args::Parsed;
use crate::policy::commands::grammar::Role;
use crate::policy::floor::Floor;
use crate::policy::glob::name_matches;
use crate::policy::place::{Reading, Step, Walked};
use crate::policy::unit::{Class, Doubt, Field, Target, Unit};
use std::path::{Path, PathBuf};

/// How far a tree is looked through for what would be added, in names.
const MAX_NAMES: usize = 20_000;

impl Walker<'_> {
    /// A file is put into the index or into a commit.
    pub(super) fn added(&self, field: &Field, unit: &mut Unit) {
        let texts = field.texts().unwrap_or(&field.might);
        let anywhere = |text: &str| self.shell.seen().iter().filter_map(|at| self.place.resolve(at, text)).collect();
        let named = texts.iter().flat_map(|text| self.targets(text).unwrap_or_else(|| anywhere(text)));
        unit.given.extend(named.map(Target::Path));
        if field.texts().is_none() {
            unit.doubts.push(Doubt::Words("cannot tell which file is added".to_owned()));
        }
    }

    /// What patterns and magic among the operands find.
    pub(super) fn pathspecs(&self, parsed: &Parsed, unit: &mut Unit) {
        let named = parsed.values.iter().filter(|(role, _)| matches!(role, Role::Rev | Role::Spec));
        let named = named.filter(|(_, field)| parsed.operands.contains(field));
        let texts: Vec<&String> = named.flat_map(|(_, field)| field.texts().unwrap_or_default()).collect();
        let finders: Vec<&String> = texts.iter().copied().filter(|text| finds(text)).collect();
        if let Some(text) = finders.iter().find(|text| Floor::of_built_in().is_sought(text.trim_end_matches(')'))) {
            unit.floor.get_or_insert(format!("{text} may match secret files"));
        }
        let top = |text: &str| {
            if text.starts_with(':') { Some(vec![self.place.workspace.to_owned()]) } else { self.targets(".") }
        };
        if unit.classes.contains(&Class::Commit) {
            let all = parsed.flags.contains("all") && parsed.operands.is_empty() && !parsed.flags.contains("message");
            let whole = Some(self.place.workspace.to_owned()).filter(|_| all);
            let found = finders.iter().filter_map(|text| top(text)).flatten();
            let folders = texts.iter().filter_map(|text| self.targets(text)).flatten();
            let roots: Vec<PathBuf> = whole.into_iter().chain(found).chain(folders).collect();
            return unit.doubts.extend(roots.iter().find_map(|root| self.adds_secret(root)).map(Doubt::Words));
        }
        if finders.is_empty() {
            return;
        }
        let kinds: Option<Vec<String>> = finders.iter().map(|text| kind(text)).collect();
        unit.only = kinds.filter(|_| !unit.tree || finders.len() == texts.len()).unwrap_or_default();
        unit.tree = true;
        match finders.iter().map(|text| top(text)).collect::<Option<Vec<_>>>() {
            Some(roots) => unit.reads.extend(roots.into_iter().flatten().map(Target::Path)),
            None => unit.doubts.push(Doubt::Words("cannot tell where git looks for files".to_owned())),
        }
    }

    /// Why a folder should not be added as it is: there is a secret in it that git does not ignore.
    fn adds_secret(&self, folder: &Path) -> Option<String> {
        let mut found = None;
        let walked = self.place.walk(folder, MAX_NAMES, &mut |path| {
            let made =
                matches!(path.file_name().and_then(|name| name.to_str()), Some(".git" | "node_modules" | "target"));
            let at_top = path.parent() == Some(self.place.workspace) && self.place.view.is_folder(path);
            if made || self.place.view.link(path).is_some() || (at_top && self.is_ignored(path)) {
                return Step::Past;
            }
            if Floor::of_built_in().is_secret(path, &self.place) && !self.is_ignored(path) {
                found = Some(path.to_owned());
                return Step::Stop;
            }
            Step::Down
        });
        match (found, walked) {
            (Some(path), _) => Some(format!("adds {}, which is secret and not ignored", path.display())),
            (None, Walked::TooMuch) => Some(format!("{} has too many files to check what is added", folder.display())),
            (None, Walked::Whole | Walked::Stopped) => None,
        }
    }

    /// Whether a line of a `.gitignore` above the file surely keeps git from it, or one that it has itself keeps all of
    /// it from git.
    pub(super) fn is_ignored(&self, path: &Path) -> bool {
        let own = self.place.view.text(&path.join(".gitignore"));
        let is_silent = |line: &str| line.is_empty() || line.starts_with('#');
        let of_all = |text: &str| {
            text.lines().any(|line| line == "*") && text.lines().all(|line| line == "*" || is_silent(line))
        };
        if matches!(own, Reading::Text(text) if of_all(&text)) {
            return true;
        }
        let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(self.place.workspace));
        let files = above.map(|folder| folder.join(".gitignore"));
        let texts: Vec<String> = files
            .filter_map(|file| match self.place.view.text(&file) {
                Reading::Text(text) => Some(text),
                Reading::Missing | Reading::Unreadable => None,
            })
            .collect();
        let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).map(str::trim_end).collect();
        let inside = path.strip_prefix(self.place.workspace).unwrap_or(path);
        let names: Vec<String> = inside.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        let is_about = |line: &str| {
            let line = line.trim_end_matches('/');
            let line = line.strip_prefix("**/").unwrap_or(line);
            !line.is_empty() && names.iter().any(|name| name_matches(line, name))
        };
        let kept = lines.iter().filter_map(|line| line.strip_prefix('!')).any(|line| {
            let name = line.trim_end_matches('/').rsplit('/').next().unwrap_or(line);
            name.contains(['*', '?', '[', '\\']) || names.iter().any(|part| part == name)
        });
        // From the folder of the file alone: `/tmp/*`, `packages/*/dist`.
        let leads_to = |line: &str| {
            let parts: Vec<&str> = line.trim_end_matches('/').trim_start_matches('/').split('/').collect();
            (line.starts_with('/') || parts.len() > 1)
                && !line.contains("**")
                && parts.len() <= names.len()
                && parts.iter().zip(&names).all(|(part, name)| !part.is_empty() && name_matches(part, name))
        };
        let at_top = match self.place.view.text(&self.place.workspace.join(".gitignore")) {
            Reading::Text(text) => text,
            Reading::Missing | Reading::Unreadable => String::new(),
        };
        !kept && (lines.iter().any(|line| is_about(line)) || at_top.lines().any(|line| leads_to(line.trim_end())))
    }
}

/// Whether git looks for files by it: a pattern or magic. A backslash counts, for git takes it away.
fn finds(text: &str) -> bool {
    text == ":"
        || [":(", ":/", ":!", ":^"].iter().any(|magic| text.starts_with(magic))
        || text.contains(['*', '?', '[', '\\'])
}

/// The names that a pattern can find, where it is so plain that they are sure: `*.rs`. A `*` of git's goes through
/// folders, so that only what follows the last one says something about the name.
fn kind(text: &str) -> Option<String> {
    let name = text.rsplit('/').next()?.to_lowercase();
    let end = name.strip_prefix('*')?;
    let plain = !text.starts_with(':') && end.chars().all(|char| char.is_ascii_alphanumeric() || ".-_+".contains(char));
    (plain && !end.is_empty()).then_some(name)
}

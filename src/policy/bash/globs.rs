//! Patterns in words: the files that they stand for, by the names that are there now.

use super::walker::Walker;
use crate::policy::commands::args::Parsed;
use crate::policy::floor::Floor;
use crate::policy::glob::name_matches;
use crate::policy::unit::{Field, Unit};
use std::path::PathBuf;

/// More files than these are as good as any.
const MAX_FILES: usize = 1024;

impl Walker<'_> {
    /// Files that `rg -g` opens although their names begin with a dot: what it is told to look into counts more than that.
    pub(super) fn unhidden(&self, parsed: &Parsed, unit: &mut Unit) {
        let globs = parsed.options.iter().filter(|(name, _)| matches!(name.as_str(), "glob" | "iglob"));
        for (_, glob) in globs {
            let Some(text) = glob.text() else {
                unit.tree = true;
                continue;
            };
            let name = text.rsplit('/').next().unwrap_or(text);
            let any = name.chars().all(|char| char == '*') || name.contains(['{', '\\']);
            if !text.starts_with('!') && (any || Floor::of_built_in().is_sought(name)) {
                let fixed = text.split(['*', '?', '[', '{', '\\']).next().unwrap_or("");
                let folder = fixed.rsplit_once('/').map_or(".", |(folder, _)| folder).trim_start_matches('/');
                unit.tree = true;
                unit.reads.retain(|_| folder == "." || !parsed.operands.is_empty());
                self.reads(&Field::known(if folder.is_empty() { "." } else { folder }), unit);
            }
        }
    }

    /// Whether a word may name a folder.
    pub(super) fn may_be_folder(&self, field: &Field) -> bool {
        let folder = |text: &String| {
            let targets = self.targets(text);
            targets.is_none_or(|targets| targets.iter().any(|path| self.place.view.is_folder(path)))
        };
        field.texts().is_none_or(|texts| texts.iter().any(folder))
    }

    /// The words that a pattern becomes. Without a match it stays what it is, as bash leaves it.
    pub(super) fn matches(&mut self, pattern: &str) -> Vec<Field> {
        let fixed = pattern.split(['*', '?', '[']).next().unwrap_or("").replace('\\', "");
        // `--include=*.rs`: whatever it becomes, it is that option.
        if fixed.starts_with("--") && fixed.contains('=') {
            return vec![Field::opaque(fixed)];
        }
        let listed = fixed.is_empty() || fixed.starts_with('-');
        let base =
            if pattern.starts_with('/') { Some(PathBuf::from("/")) } else { self.shell.folder().map(Into::into) };
        let Some(base) = base else { return vec![Field::opaque(fixed)] };
        // What such a set stands for depends on the language, and on what is quoted in it.
        if pattern.contains('[') && (pattern.contains('\\') || ["[:", "[.", "[="].iter().any(|it| pattern.contains(it)))
        {
            return vec![Field { listed, ..Field::opaque(fixed) }];
        }
        match self.find(pattern, &base) {
            Some(texts) if !texts.is_empty() => {
                let field = |text: String| Field { listed, ..Field::known(text) };
                texts.into_iter().map(field).collect()
            }
            // Nothing is there, and nothing that the person keeps elsewhere can come to be in its place.
            Some(_) if self.place.is_ours(&base.join(&fixed)) && !pattern.contains("..") && !hides(pattern) => {
                vec![Field { listed, ..Field::known(pattern.replace('\\', "")) }]
            }
            Some(_) | None => vec![Field::opaque(fixed)],
        }
    }

    /// Every path that matches; `None` when the names in some folder are not known, or are too many.
    fn find(&self, pattern: &str, base: &std::path::Path) -> Option<Vec<String>> {
        let mut found: Vec<(String, PathBuf)> = vec![(String::new(), base.to_owned())];
        for (nth, part) in pattern.split('/').enumerate() {
            let mut next = Vec::new();
            for (text, path) in found {
                let head = if nth == 0 { String::new() } else { format!("{text}/") };
                if !part.contains(['*', '?', '[']) {
                    let name = part.replace('\\', "");
                    next.push((format!("{head}{name}"), path.join(name)));
                    continue;
                }
                let folder = self.place.resolve(&path, ".").unwrap_or(path);
                for name in self.place.view.names(&folder)? {
                    // A wildcard does not stand for a dot at the beginning.
                    let hidden = name.starts_with('.') && !part.starts_with('.');
                    if !hidden && name_matches(part, &name) {
                        next.push((format!("{head}{name}"), folder.join(&name)));
                    }
                }
            }
            found = next;
            if found.len() > MAX_FILES {
                return None;
            }
        }
        // A link counts, wherever it leads.
        let is_there = |path: &PathBuf| match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => {
                self.place.resolve(folder, ".").is_some_and(|folder| self.place.view.exists(&folder.join(name)))
            }
            _ => self.place.resolve(path, ".").is_some_and(|path| self.place.view.exists(&path)),
        };
        Some(found.into_iter().filter(|(_, path)| is_there(path)).map(|(text, _)| text).collect())
    }
}

/// Whether a pattern is after what is hidden: that is where secrets are kept.
fn hides(pattern: &str) -> bool {
    pattern.split('/').any(|part| part.starts_with('.') && part.contains(['*', '?', '[']))
}

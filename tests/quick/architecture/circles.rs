//! Circles between files: files that cannot be read, or moved, one without the other.
//!
//! The rule: a file points at every file that owns a name it takes, outside its inline tests. Declaring a module
//! (`mod x;`), importing a module and re-exporting a name (`pub use`) point nowhere: a re-exported name points at its
//! owner. Files that reach each other by these arrows form a circle.

use super::source::Source;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Of each file: the files that it points at, and the names that it takes from them.
pub type Arrows = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// What every file takes from which other.
pub fn arrows(sources: &[Source]) -> Arrows {
    let files: BTreeMap<String, &Source> = sources.iter().map(|source| (name(source), source)).collect();
    let imports: BTreeMap<&str, BTreeMap<String, String>> =
        files.iter().map(|(name, source)| (name.as_str(), source.imports())).collect();
    let mut arrows = Arrows::new();
    for (name, source) in &files {
        let taken = arrows.entry(source.path.clone()).or_default();
        for path in taken_by(source, &imports[name.as_str()]) {
            let Some((owner, item)) = owner(path, &files, &imports) else { continue };
            if owner != *name {
                taken.entry(files[&owner].path.clone()).or_default().insert(item);
            }
        }
    }
    arrows
}

/// The full paths of what a file takes: its imports and the paths in its code, but for what it only re-exports.
fn taken_by(source: &Source, imports: &BTreeMap<String, String>) -> Vec<String> {
    static RE_EXPORT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bpub(\([^)]*\))? use [^;]*;").unwrap());
    let code = RE_EXPORT.replace_all(&source.code, "");
    let without = Source { path: source.path.clone(), text: String::new(), code: code.into_owned() };
    let paths = without.paths().into_iter().map(|(_, path)| path);
    paths
        .map(|path| {
            let (first, rest) = path.split_once("::").unwrap_or((&path, ""));
            match imports.get(first) {
                Some(full) => format!("{full}::{rest}"),
                None => path,
            }
        })
        .collect()
}

/// The module that owns what a path names, and the item's name; re-exports are followed.
fn owner(
    mut path: String,
    files: &BTreeMap<String, &Source>,
    imports: &BTreeMap<&str, BTreeMap<String, String>>,
) -> Option<(String, String)> {
    for _ in 0..8 {
        let words: Vec<&str> = path.split("::").filter(|word| !word.is_empty() && *word != "self").collect();
        let module = (2..=words.len()).rev().find(|end| files.contains_key(&words[..*end].join("::")))?;
        let item = *words.get(module)?;
        let owner = words[..module].join("::");
        match imports[owner.as_str()].get(item) {
            Some(full) if full.starts_with("crate::") => {
                path = [full.as_str()]
                    .into_iter()
                    .chain(words[module + 1..].iter().copied())
                    .collect::<Vec<_>>()
                    .join("::");
            }
            Some(_) => return None,
            None => return Some((owner, item.to_owned())),
        }
    }
    None
}

fn name(source: &Source) -> String {
    format!("crate::{}", source.module().join("::"))
}

/// The circles: sets of files of which each reaches every other.
pub fn circles(arrows: &Arrows) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|from| (from.as_str(), reach(from, arrows))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (from, to) in &reached {
        let circle: BTreeSet<String> =
            to.iter().filter(|other| reached[**other].contains(from)).map(|other| (*other).to_owned()).collect();
        if !circle.is_empty() && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

fn reach<'a>(from: &str, arrows: &'a Arrows) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&str> = vec![from];
    while let Some(at) = next.pop() {
        for to in arrows[at].keys() {
            if seen.insert(to.as_str()) {
                next.push(to);
            }
        }
    }
    seen
}

/// A circle in words: each arrow in it and the names that make it.
pub fn told(circle: &BTreeSet<String>, arrows: &Arrows) -> String {
    let mut lines = vec![format!("\ncircle of {} files:", circle.len())];
    for from in circle {
        for (to, names) in arrows[from].iter().filter(|(to, _)| circle.contains(*to)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            lines.push(format!("  {from} takes {} from {to}", names.join(", ")));
        }
    }
    lines.join("\n")
}

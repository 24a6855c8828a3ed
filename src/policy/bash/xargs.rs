//! `xargs`: the command that it runs, with the names that come through the pipe as its last words or in place of a mark.

use super::walker::Walker;
use crate::policy::commands::args::Parsed;
use crate::policy::glob::is_of_kind;
use crate::policy::place::{Step, Walked};
use crate::policy::unit::{Doubt, Field, Names, Target};
use std::path::Path;
use std::sync::Arc;

/// Most names that are looked at for blanks.
const MAX_NAMES: usize = 20_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Blanks and lines; quotes and backslashes mean something.
    Blanks,
    Lines,
    Zeros,
}

impl Walker<'_> {
    pub(super) fn xargs(&mut self, inner: &[Field], parsed: &Parsed, text: &str) {
        let ends = ends(parsed);
        let fits = |names: &&Arc<Names>| ends.is_some_and(|ends| names.zero == (ends == Ends::Zeros));
        // A list of its own is not what comes through the pipe.
        let names = self.feed.as_ref().filter(fits).filter(|_| !parsed.flags.contains("arg-file")).cloned();
        let mut words: Vec<Field> = inner.to_vec();
        if words.is_empty() {
            words.push(Field::known("echo"));
        }
        let marked = ["I", "replace"].iter().any(|name| parsed.flags.contains(*name));
        if marked {
            let handed = names.as_ref().map_or(Field::opaque(""), |names| Field::names(names.clone(), true));
            let mark = mark(parsed);
            for word in &mut words {
                *word = replaced(word, mark.as_deref(), &handed);
            }
        } else {
            let deletes = words.first().and_then(Field::text) == Some("rm");
            let exact = names.as_ref().filter(|_| deletes).and_then(|names| exactly(names));
            words.push(match (exact, &names) {
                (Some(exact), _) => exact,
                (None, Some(names)) => Field::names(names.clone(), false),
                (None, None) => Field::many(),
            });
        }
        let before = self.units.len();
        self.apart(|walker| walker.run(&words, text));
        let Some(names) = names else {
            let why = "the input of the pipe is unknown";
            self.units[before..].iter_mut().for_each(|unit| unit.doubts.push(Doubt::Words(why.to_owned())));
            return;
        };
        if ends == Some(Ends::Zeros) {
            return;
        }
        let quotes = ends == Some(Ends::Blanks);
        let blanks = names.roots.iter().any(|root| self.has_blanks(root, &names.only, quotes));
        for unit in &mut self.units[before..] {
            unit.listed = true;
            if blanks {
                let why = "xargs splits names at blanks: use -print0 and -0";
                unit.doubts.push(Doubt::Words(why.to_owned()));
            }
        }
    }

    /// Whether the path of a file of such a name below may be several words, or is not known.
    fn has_blanks(&self, root: &Target, only: &[String], quotes: bool) -> bool {
        let Target::Path(root) = root else { return true };
        let splits = |char: char| match char {
            '\n' => true,
            '\'' | '"' | '\\' => quotes,
            _ => quotes && char.is_whitespace(),
        };
        let blank = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().contains(splits);
        let mut step = |path: &Path| match path {
            _ if blank(path) && (self.place.view.is_folder(path) || is_of_kind(path, only)) => Step::Stop,
            _ if path.ends_with(".git") || self.place.view.link(path).is_some() => Step::Past,
            _ => Step::Down,
        };
        blank(root) || self.place.walk(root, MAX_NAMES, &mut step) != Walked::Whole
    }
}

/// Paths that stand for all of these names, where each is one and the same below known folders: at any depth.
fn exactly(names: &Names) -> Option<Field> {
    let [name] = names.only.as_slice() else { return None };
    let roots: Option<Vec<_>> = names.roots.iter().map(Target::path).collect();
    let below = |root: &Path| ["", "_/_/_/_"].map(|between| root.join(between).join(name).display().to_string());
    let texts: Vec<String> = roots?.iter().flat_map(|root| below(root)).collect();
    let plain = !name.contains(['*', '?', '[', '\\']) && !name.starts_with('-') && !texts.is_empty();
    plain.then(|| Field::one_of(texts))
}

/// What ends a name; `None` when that is not known, or within names.
fn ends(parsed: &Parsed) -> Option<Ends> {
    match (parsed.flags.contains("null"), parsed.option("delimiter")) {
        (true, None) => Some(Ends::Zeros),
        (false, None) => Some(Ends::Blanks),
        (false, Some(delimiter)) if matches!(delimiter.text(), Some("\\n" | "\n" | "\\\n")) => Some(Ends::Lines),
        (_, Some(_)) => None,
    }
}

/// The mark that names stand in for; `None` when it is not known.
fn mark(parsed: &Parsed) -> Option<String> {
    let said = parsed.option("I").or_else(|| parsed.option("replace"));
    said.map_or(Some("{}".to_owned()), |mark| mark.text().map(str::to_owned))
}

/// A word with a name in place of the mark.
fn replaced(word: &Field, mark: Option<&str>, handed: &Field) -> Field {
    match (mark, word.text()) {
        (Some(mark), Some(text)) if text == mark => handed.clone(),
        (Some(mark), Some(text)) => match text.find(mark) {
            Some(at) => Field::opaque(&text[..at]),
            None => word.clone(),
        },
        (None, _) | (_, None) => Field::opaque(""),
    }
}

//! Commands that print names of files, and what is known of those names: where they are and of which kind.
//!
//! What is done with the names behind a pipe is found in `wrappers`.

use super::walk::Walker;
use crate::policy::commands::args::Parsed;
use crate::policy::commands::grammar::Role;
use crate::policy::commands::{Entry, Lists};
use crate::policy::unit::Field;
use std::path::PathBuf;

impl Walker<'_> {
    /// The folders that a lister goes through; none when they are not known.
    pub(super) fn roots(&self, parsed: &Parsed) -> Vec<PathBuf> {
        let named = parsed.values.iter().filter(|(role, _)| matches!(role, Role::Name | Role::Read));
        let fields: Vec<&Field> = named.map(|(_, field)| field).collect();
        let here = Field::known(".");
        let fields = if fields.is_empty() { vec![&here] } else { fields };
        let texts: Option<Vec<&[String]>> = fields.into_iter().map(Field::texts).collect();
        let paths =
            texts.and_then(|texts| texts.concat().iter().map(|text| self.targets(text)).collect::<Option<Vec<_>>>());
        paths.map(|paths| paths.concat()).unwrap_or_default()
    }
}

/// What a command hands on through a pipe, when it prints nothing but names.
pub(super) fn lister(entry: &Entry, parsed: &Parsed) -> Option<Lists> {
    const MORE: [&str; 9] =
        ["printf", "ls", "count", "only-matching", "json", "stats", "output", "list-details", "stage"];
    let set = |name: &str| parsed.flags.contains(name);
    let named = parsed.operands.iter().all(|field| !field.may_be_option());
    match entry.lists? {
        _ if MORE.iter().any(|name| set(name)) => None,
        // `grep -l` prints the names of what it was given, and of what it found below.
        Lists::Lines if set("files-with-matches") && named => Some(Lists::Operands),
        Lists::Lines if set("files-with-matches") => None,
        Lists::Operands if !named => None,
        lists => Some(lists),
    }
}

/// The names of the files that a command is about alone: `find -name '*.rs'`, `grep --include='*.rs'`. None when it may
/// be about any.
pub(super) fn kinds(name: &str, args: &[Field], parsed: &Parsed) -> Vec<String> {
    let Some(texts) = args.iter().map(Field::text).collect::<Option<Vec<&str>>>() else { return Vec::new() };
    match name {
        // With nothing but conjunctions each test holds for every name that is printed behind it.
        "find" if !texts.iter().any(|text| matches!(*text, "-o" | "-or" | "," | "(")) => {
            let acts = |text: &&str| {
                ["-print", "-ls", "-exec", "-ok", "-fprint", "-fls"].iter().any(|act| text.starts_with(act))
            };
            let before_acts = &texts[..texts.iter().position(acts).unwrap_or(texts.len())];
            let is_name = |words: &[&str]| matches!(words[1], "-name" | "-iname") && !matches!(words[0], "-not" | "!");
            before_acts.windows(3).filter(|words| is_name(words)).map(|words| words[2].to_lowercase()).take(1).collect()
        }
        // Every one of them must be known: together they say what is read.
        "grep" | "egrep" | "fgrep" if texts.iter().all(|text| !text.starts_with("--inc") || text.contains('=')) => {
            parsed.flags.iter().filter_map(|flag| flag.strip_prefix("include=")).map(str::to_lowercase).collect()
        }
        _ => Vec::new(),
    }
}

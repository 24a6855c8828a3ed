//! Commands that print names of files, and what is known of those names: where they are and of which kind.
//!
//! What is done with the names behind a pipe is found in `xargs`.

use super::walker::Walker;
use crate::policy::commands::args::Parsed;
use crate::policy::commands::grammar::Role;
use crate::policy::commands::{Entry, Lists};
use crate::policy::unit::{Field, Value};
use std::path::PathBuf;

/// What a command hands on through a pipe, when that is nothing but names: by the options that are known to leave it so.
pub(super) fn lister(entry: &Entry, parsed: &Parsed) -> Option<Lists> {
    let any = |names: &str| names.split_whitespace().any(|name| parsed.flags.contains(name));
    let all = |names: &str| {
        let known = |flag: &String| names.split_whitespace().any(|name| flag.split('=').next() == Some(name));
        parsed.flags.iter().all(known)
    };
    if let Some(lists) = entry.lists
        && (entry.lists_with.is_empty() || any(&entry.lists_with))
    {
        // `-print` and `-print0` in turn.
        let mixed = parsed.flags.contains("print") && parsed.flags.contains("print0");
        return Some(lists).filter(|_| all(&entry.plain) && !mixed);
    }
    let files = parsed.values.iter().any(|(role, _)| !matches!(role, Role::Data | Role::Program));
    entry.passes.as_ref().filter(|passes| all(passes) && !files).map(|_| Lists::Lines)
}

impl Walker<'_> {
    /// Whether a name that is printed from the present folder may begin with a dash, or with what stands before a list of
    /// words: one of a file there, or one that git tracks and that is not there any more.
    pub(super) fn may_list_dashes(&self, name: &str, parsed: &Parsed) -> bool {
        // A pattern of git's is about names from the present folder.
        let pattern =
            |field: &Field| name == "git" && field.text().is_some_and(|text| !text.starts_with([':', '.', '/']));
        let here = |(role, field): &(Role, Field)| matches!(role, Role::Data | Role::Program) || pattern(field);
        let here = parsed.values.iter().all(here);
        let dashed =
            |names: Option<Vec<String>>| names.is_none_or(|names| names.iter().any(|it| it.starts_with(['-', '@'])));
        let in_folder = |folder: &PathBuf| {
            dashed(self.place.view.names(folder)) || (name == "git" && dashed(self.place.view.tracked(folder)))
        };
        let folders = self.shell.folders().unwrap_or_default();
        !here || folders.is_empty() || folders.iter().any(in_folder)
    }

    /// Whether git tracks a file, there or not, whose name is several words to xargs.
    pub(super) fn tracks_odd_names(&self) -> bool {
        let odd = |char: char| char.is_whitespace() || matches!(char, '\'' | '"' | '\\');
        let folders = self.shell.folders().unwrap_or_default().iter().map(PathBuf::as_path);
        let mut tracked = folders.chain([self.place.workspace]).map(|folder| self.place.view.tracked(folder));
        tracked.any(|names| names.is_none_or(|names| names.iter().any(|name| name.contains(odd))))
    }
}

/// How the names begin that a command prints.
pub(super) fn begins(entry: &Entry, parsed: &Parsed) -> Vec<String> {
    let named = parsed
        .values
        .iter()
        .filter(|(role, field)| matches!(role, Role::Name | Role::Read) && parsed.operands.contains(field));
    let named: Vec<&Field> = named.map(|(_, field)| field).collect();
    if entry.lists != Some(Lists::Operands) {
        return vec![String::new()];
    }
    if named.is_empty() {
        return vec![entry.begins.clone()];
    }
    let of = |field: &&Field| match &field.value {
        Value::OneOf(texts) => texts.clone(),
        Value::Opaque { prefix } => vec![prefix.clone()],
        Value::Names { names, .. } => names.begins.clone(),
        Value::Many => vec![String::new()],
    };
    named.iter().flat_map(of).collect()
}

/// The names of files and of folders that grep leaves out: where only that is said, and each name is a part of its word.
pub(super) fn left_out(name: &str, args: &[Field], parsed: &Parsed) -> (Vec<String>, Vec<String>) {
    let nothing = (Vec::new(), Vec::new());
    let Some(texts) = args.iter().map(Field::text).collect::<Option<Vec<&str>>>() else { return nothing };
    // An abbreviation may be any of them.
    let other = |text: &&str| {
        text.starts_with("--inc")
            || text.starts_with("--ex") && !["--exclude=", "--exclude-dir="].iter().any(|head| text.starts_with(head))
    };
    if !matches!(name, "grep" | "egrep" | "fgrep") || texts.iter().any(other) || texts.contains(&"--") {
        return nothing;
    }
    let plain = |text: &&str| text.chars().all(|char| char.is_ascii_alphanumeric() || "*._-".contains(char));
    let of = |head: &str| {
        let patterns = parsed.flags.iter().filter_map(|flag| flag.strip_prefix(head));
        patterns.filter(plain).map(str::to_owned).collect()
    };
    (of("exclude="), of("exclude-dir="))
}

/// The names of the files that a command is about alone: `find -name '*.rs'`, `grep --include='*.rs'`. None when it may
/// be about any.
pub(super) fn kinds(entry: &Entry, name: &str, args: &[Field], parsed: &Parsed) -> Vec<String> {
    let Some(texts) = args.iter().map(Field::text).collect::<Option<Vec<&str>>>() else { return Vec::new() };
    let begins = |text: &&str, heads: &[&str]| heads.iter().any(|head| text.starts_with(head));
    let kinds: Vec<String> = match name {
        // With nothing but conjunctions each test holds for every name that is printed behind it.
        "find" if !texts.iter().any(|text| matches!(*text, "-o" | "-or" | "," | "(")) => {
            let acts = |text: &&str| begins(text, &["-print", "-ls", "-exec", "-ok", "-fprint", "-fls"]);
            let before_acts = &texts[..texts.iter().position(acts).unwrap_or(texts.len())];
            let is_name = |words: &[&str]| matches!(words[1], "-name" | "-iname") && !matches!(words[0], "-not" | "!");
            let names = before_acts.windows(3).filter(|words| is_name(words));
            // In letters of any size it is no one name.
            let any = |words: &[&str]| if words[1] == "-iname" { "*" } else { "" };
            names.map(|words| words[2].to_lowercase() + any(words)).take(1).collect()
        }
        // What is excluded first includes all the rest; an option whose value is a word of its own is not looked at.
        "grep" | "egrep" | "fgrep"
            if !texts.iter().any(|text| {
                begins(text, &["--inc"]) && !text.contains('=')
                    || begins(text, &["--ex"]) && !begins(text, &["--exclude-dir"])
            }) =>
        {
            parsed.flags.iter().filter_map(|flag| flag.strip_prefix("include=")).map(str::to_lowercase).collect()
        }
        // Without a folder such a pattern is about names.
        "git"
            if entry.lists == Some(Lists::Anything)
                && parsed.operands.iter().all(|field| field.text().is_some_and(|text| text.starts_with("*."))) =>
        {
            parsed.operands.iter().filter_map(Field::text).map(str::to_lowercase).collect()
        }
        _ => Vec::new(),
    };
    // What else a pattern may hold each program reads in its own way.
    let plain = |kind: &String| {
        !kind.starts_with('-') && kind.chars().all(|char| char.is_ascii_alphanumeric() || "*?._-+".contains(char))
    };
    if kinds.iter().all(plain) { kinds } else { Vec::new() }
}

//! Source files as the rules read them: code without comments and literals, and the paths it names.

use regex::Regex;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// One file, by its path in the project (`src/tui/layout.rs`).
pub struct Source {
    pub path: String,
    pub text: String,
    /// The code before the inline tests: comments and literals are blanks, lines stay where they were.
    pub code: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let code = blank(text);
        let end = tests_begin(&code);
        Self { path: path.to_owned(), text: text.to_owned(), code: code[..end].to_owned() }
    }

    /// `src/tui/layout.rs` → `["tui", "layout"]`; `main` and `lib` are rooms of their own.
    pub fn module(&self) -> Vec<&str> {
        let path = self.path.strip_prefix("src/").unwrap_or(&self.path);
        path.trim_end_matches(".rs").split('/').collect()
    }

    /// The top-level room.
    pub fn room(&self) -> &str {
        self.module()[0]
    }

    /// Every path that the code names, with its line, groups taken apart: `use std::{fs, io}` gives
    /// `std::fs` and `std::io`. Paths that begin with `super` or `self` are resolved.
    pub fn paths(&self) -> Vec<(usize, String)> {
        static PATH: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(?:[A-Za-z_]\w*\s*::\s*)+(?:[A-Za-z_]\w*|\{)|\buse\s+[A-Za-z_]\w*\s*;").unwrap()
        });
        let mut found = Vec::new();
        for hit in PATH.find_iter(&self.code) {
            let line = self.code[..hit.start()].matches('\n').count() + 1;
            let words = hit.as_str().trim_start_matches("use ").trim_end_matches(';');
            let path: String = words.chars().filter(|c| !c.is_whitespace()).collect();
            match path.strip_suffix('{') {
                Some(before) => {
                    for leaf in group(&self.code[hit.end()..]) {
                        let leaf = leaf.split(" as ").next().unwrap_or_default();
                        found.push((line, self.resolved(&format!("{before}{leaf}"))));
                    }
                }
                None => found.push((line, self.resolved(&path))),
            }
        }
        found
    }

    /// What the file's imports and module declarations call a path: `use crate::base::id as ids` gives `ids` for
    /// `crate::base::id`.
    pub fn imports(&self) -> BTreeMap<String, String> {
        static USE: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"(?m)^(?:pub(?:\([^)]*\))? )?use ([^;]*);").unwrap());
        static MOD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^(?:pub(?:\([^)]*\))? )?mod (\w+);").unwrap());
        let modules =
            MOD.captures_iter(&self.code).map(|hit| (hit[1].to_owned(), self.resolved(&format!("self::{}", &hit[1]))));
        let mut found: BTreeMap<String, String> = modules.collect();
        for hit in USE.captures_iter(&self.code) {
            for leaf in group(&format!("{}}}", &hit[1])) {
                let (path, alias) = leaf.split_once(" as ").unwrap_or((&leaf, ""));
                let path = path.trim_end_matches("::self");
                let last = path.rsplit("::").next().unwrap_or(path);
                let full = self.resolved(path);
                let full = match full.split_once("::") {
                    Some((first, rest)) if let Some(module) = found.get(first) => format!("{module}::{rest}"),
                    _ => full,
                };
                found.insert(if alias.is_empty() { last } else { alias }.to_owned(), full);
            }
        }
        found
    }

    fn resolved(&self, path: &str) -> String {
        let mut at: Vec<&str> = self.module();
        let mut words = path.split("::").peekable();
        match words.peek() {
            Some(&"self") => {
                words.next();
            }
            Some(&"super") => {
                while words.next_if_eq(&"super").is_some() {
                    at.pop();
                }
            }
            _ => return path.to_owned(),
        }
        std::iter::once("crate").chain(at).chain(words).collect::<Vec<_>>().join("::")
    }
}

/// The leaves of a `use` group whose `{` was just read: `a, b::{c, d}}` gives `a`, `b::c`, `b::d`.
fn group(text: &str) -> Vec<String> {
    let mut leaves = Vec::new();
    let mut prefixes = vec![String::new()];
    let mut word = String::new();
    for c in text.chars() {
        match c {
            '{' => {
                let prefix = format!("{}{word}", prefixes[prefixes.len() - 1]);
                prefixes.push(prefix);
                word.clear();
            }
            ',' | '}' => {
                let name = word.trim();
                if !name.is_empty() {
                    leaves.push(format!("{}{name}", prefixes[prefixes.len() - 1]));
                }
                word.clear();
                if c == '}' {
                    prefixes.pop();
                    if prefixes.is_empty() {
                        break;
                    }
                }
            }
            '\n' => {}
            ' ' if word.is_empty() => {}
            c => word.push(c),
        }
    }
    leaves
}

/// Where `#[cfg(test)] mod … {` begins, else the end.
fn tests_begin(code: &str) -> usize {
    static TESTS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^#\[cfg\(test\)\]\s*(?:#\[[^\n]*\]\s*)*mod \w+ \{").unwrap());
    TESTS.find(code).map_or(code.len(), |hit| hit.start())
}

/// Comments, strings and characters become blanks of the same length.
fn blank(text: &str) -> String {
    static SKIPPED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?s)//[^\n]*",
            r"|/\*.*?\*/",
            r####"|\bb?r###".*?"###|\bb?r##".*?"##|\bb?r#".*?"#|\bb?r".*?""####,
            r#"|"(?:[^"\\]|\\.)*""#,
            r"|'(?:[^'\\\n]|\\(?:[^u\n]|u\{[0-9a-fA-F_]+\}|x[0-9a-fA-F]{2}))'",
        ))
        .unwrap()
    });
    SKIPPED
        .replace_all(text, |hit: &regex::Captures| {
            hit[0]
                .chars()
                .map(|c| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) })
                .collect::<String>()
        })
        .into_owned()
}

/// All files below a folder of the project with one of the endings; an empty list takes all.
pub fn read(folder: &str, endings: &[&str]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if !endings.is_empty() && !endings.iter().any(|ending| name.ends_with(ending)) {
                continue;
            }
            if let Ok(text) = fs::read_to_string(&path) {
                found.push(Source::new(&name, &text));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

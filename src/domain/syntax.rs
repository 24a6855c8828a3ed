//! Code to be coloured: a snippet of a language, and which parts of it are what. Who reads the language is
//! `adapters::syntax`; which colours there are is the theme's.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a snippet, and of one line of it: what is longer stays plain.
const MOST: usize = 256 << 10;
const LONGEST: usize = 2_000;
/// Letters of a language's name.
const NAME: usize = 32;

/// What a part of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Keyword,
    String,
    Comment,
    /// And other constants.
    Number,
    Type,
    Function,
}

/// A part of a snippet's text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub range: Range<usize>,
    pub kind: Kind,
}

/// The parts of a snippet that are more than plain text: ascending, none overlaps another.
pub type Spans = Arc<[Span]>;

/// Code that is read as a whole. Two with the same content are the same.
#[derive(Debug)]
pub struct Snippet {
    /// What follows a fence, the extension of a file, or its name: `rust`, `rs`, `Makefile`.
    pub language: String,
    /// As it is shown, lines separated by `\n`.
    pub text: String,
    digest: u64,
}

impl Snippet {
    /// `None`: it names no language, or is too large to be worth it.
    pub fn new(language: &str, text: String) -> Option<Arc<Self>> {
        let fits = text.len() <= MOST && text.split('\n').all(|line| line.len() <= LONGEST);
        if language.is_empty() || language.len() > NAME || text.trim().is_empty() || !fits {
            return None;
        }
        let language = language.to_lowercase();
        let mut hasher = DefaultHasher::new();
        (&language, &text).hash(&mut hasher);
        Some(Arc::new(Self { digest: hasher.finish(), language, text }))
    }
}

impl PartialEq for Snippet {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest && self.language == other.language && self.text == other.text
    }
}

impl Eq for Snippet {}

impl Hash for Snippet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

/// Where in a snippet some text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    pub snippet: Arc<Snippet>,
    /// In bytes.
    pub at: usize,
}

/// Where each of these lines stands in the snippet that they are together; `None` for all where they stay plain.
pub fn together<S: AsRef<str>>(language: &str, lines: &[S]) -> Vec<Option<Code>> {
    let small = lines.iter().map(|line| line.as_ref().len() + 1).sum::<usize>() <= MOST;
    let text = || lines.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join("\n");
    let Some(snippet) = small.then(text).and_then(|text| Snippet::new(language, text)) else {
        return vec![None; lines.len()];
    };
    let mut next = 0;
    let place = |line: &S| {
        let at = next;
        next += line.as_ref().len() + 1;
        Some(Code { snippet: snippet.clone(), at })
    };
    lines.iter().map(place).collect()
}

/// The language of a file by its name: the extension, or all of a name without one.
pub fn of_path(path: &str) -> &str {
    let path = Path::new(path);
    path.extension().or(path.file_name()).and_then(|name| name.to_str()).unwrap_or_default()
}

/// The language of a code block, by what follows its fence: `rust,ignore`, `{.python}`.
pub fn of_fence(info: &str) -> &str {
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}');
    info.split(ends).find(|word| !word.is_empty()).unwrap_or_default().trim_start_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_named_by_a_fence_or_a_file() {
        for (info, language) in
            [("rust", "rust"), ("rust,ignore", "rust"), ("{.python}", "python"), ("sh -x", "sh"), ("", ""), ("{}", "")]
        {
            assert_eq!(of_fence(info), language, "{info}");
        }
        for (path, language) in
            [("src/a.rs", "rs"), ("Makefile", "Makefile"), (".envrc", ".envrc"), ("a/", "a"), ("", "")]
        {
            assert_eq!(of_path(path), language, "{path}");
        }
    }

    #[test]
    fn lines_stand_one_after_another_in_their_snippet() {
        let places = together("Rust", &["fn é() {", "", "}"]);
        let at: Vec<usize> = places.iter().flatten().map(|code| code.at).collect();
        assert_eq!(at, [0, 10, 11]);
        let snippet = &places[0].as_ref().unwrap().snippet;
        assert_eq!((snippet.language.as_str(), &snippet.text[10..]), ("rust", "\n}"));
        assert_eq!(Some(snippet), Snippet::new("rust", "fn é() {\n\n}".into()).as_ref(), "the same content");
    }

    #[test]
    fn what_is_too_large_stays_plain() {
        assert_eq!(together("rs", &["x".repeat(LONGEST + 1)]), [None]);
        assert_eq!(together("rs", &vec!["x".repeat(1_000); 300]), vec![None; 300]);
        assert!(together("rs", &vec!["x".repeat(1_000); 200]).iter().all(Option::is_some));
        assert_eq!(together("", &["x"]), [None]);
        assert_eq!(together("rs", &["", " "]), [None, None]);
    }
}

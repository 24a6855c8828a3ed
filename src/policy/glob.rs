//! Patterns with `*`, `?`, `[…]` and `**`: of paths in rules and of words in bash. Compares components, never
//! strings, so that `/home/dev/proj2` is not in `/home/dev/proj`.

use std::path::Path;

/// A pattern of paths, made ready: `**` stands for any number of components, none included; `~` for the home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    pub text: String,
    from_home: bool,
    parts: Vec<String>,
}

impl PathPattern {
    pub fn new(text: &str) -> Self {
        let from_home = text.starts_with("~/");
        let rest = if from_home { &text[2..] } else { text };
        Self { text: text.to_owned(), from_home, parts: Parts::of(Path::new(rest)).0 }
    }

    /// The text of a pattern of a path and all below it, whatever its name is made of.
    pub fn all_of(path: &Path) -> String {
        let path = path.to_string_lossy();
        let literal = path.chars().fold(String::new(), |mut text, char| {
            if "*?[\\".contains(char) {
                text.push('\\');
            }
            text.push(char);
            text
        });
        format!("{}/**", literal.trim_end_matches('/'))
    }

    /// Whether it matches a path, ignoring case.
    pub fn matches(&self, home: &Parts, path: &Parts) -> bool {
        let path = if self.from_home { path.0.strip_prefix(home.0.as_slice()) } else { Some(path.0.as_slice()) };
        path.is_some_and(|path| components_match(&self.parts, path))
    }

    /// Whether something below a folder may match.
    pub fn may_be_below(&self, home: &Parts, folder: &Parts) -> bool {
        let head = home.0.iter().filter(|_| self.from_home);
        for (pattern, name) in head.chain(&self.parts).zip(&folder.0) {
            if pattern == "**" {
                return true;
            }
            if pattern != name && !name_matches(pattern, name) {
                return false;
            }
        }
        let own = self.parts.len() + if self.from_home { home.0.len() } else { 0 };
        folder.0.len() < own
    }

    /// The name in a pattern like `**/.env`, in lower case.
    pub fn name_anywhere(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [any, name, ..] if any == "**" => Some(name),
            _ => None,
        }
    }
}

/// The components of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts(Vec<String>);

impl Parts {
    /// Those of a path in lower case.
    pub fn of(path: &Path) -> Self {
        Self::split(&path.to_string_lossy().to_lowercase())
    }

    /// Those of a path as they are.
    pub fn exactly(path: &Path) -> Self {
        Self::split(&path.to_string_lossy())
    }

    fn split(path: &str) -> Self {
        Self(path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect())
    }
}

/// Whether a file's name is one of these kinds, in lower case; without any it may be of any.
pub fn is_of_kind(path: &Path, kinds: &[String]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    kinds.is_empty() || kinds.iter().any(|kind| name_matches(kind, &name))
}

/// Whether the case of letters counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// It does: what is allowed is meant exactly.
    Counts,
    /// It does not: on some systems it makes no difference.
    Ignored,
}

/// Whether `path` matches `pattern`: `**` stands for any number of components, none included.
pub fn path_matches(pattern: &str, path: &Path, case: Case) -> bool {
    let parts = |path: &Path| match case {
        Case::Ignored => Parts::of(path),
        Case::Counts => Parts::exactly(path),
    };
    components_match(&parts(Path::new(pattern)).0, &parts(path).0)
}

fn components_match(pattern: &[String], path: &[String]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any == "**" => {
            components_match(rest, path)
                || path.split_first().is_some_and(|(_, below)| components_match(pattern, below))
        }
        (Some((first, rest)), Some((name, below))) => {
            let same = if first.contains(['*', '?', '[', '\\']) { name_matches(first, name) } else { first == name };
            same && components_match(rest, below)
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Whether one name matches a pattern of `*`, `?` and `[…]`, with `\` before what is meant literally.
pub fn name_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    chars_match(&pattern, &name)
}

/// Linear: only the last `*` is ever gone back to.
fn chars_match(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some('?') => Some(p + 1),
            Some('[') => match set_matches(&pattern[p..], name[n]) {
                Some((hit, len)) => hit.then_some(p + len),
                None => (name[n] == '[').then_some(p + 1),
            },
            Some('\\') if p + 1 < pattern.len() => (pattern[p + 1] == name[n]).then_some(p + 2),
            Some(char) => (*char == name[n]).then_some(p + 1),
            None => None,
        };
        match (step, star) {
            (Some(next), _) => {
                p = next;
                n += 1;
            }
            (None, Some((after, from))) => {
                star = Some((after, from + 1));
                p = after;
                n = from + 1;
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|char| *char == '*')
}

/// Whether `char` is in the set that `pattern` begins with, and the set's length. A set without an end is no set.
fn set_matches(pattern: &[char], char: char) -> Option<(bool, usize)> {
    let negated = matches!(pattern.get(1), Some('!' | '^'));
    let start = if negated { 2 } else { 1 };
    let end = (start + 1..pattern.len()).find(|at| pattern[*at] == ']')?;
    let set = &pattern[start..end];
    let mut hit = false;
    let mut at = 0;
    while at < set.len() {
        if set.len() > at + 2 && set[at + 1] == '-' {
            hit |= (set[at]..=set[at + 2]).contains(&char);
            at += 3;
        } else {
            hit |= set[at] == char;
            at += 1;
        }
    }
    Some((hit != negated, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_by_component() {
        for (pattern, path, expected) in [
            ("/home/dev/proj/**", "/home/dev/proj/src/a.rs", true),
            ("/home/dev/proj/**", "/home/dev/proj", true),
            ("/home/dev/proj/**", "/home/dev/proj2/a", false),
            ("**/.env", "/a/b/.env", true),
            ("**/.env.*", "/a/.env.local", true),
            ("**/.git/**", "/a/.GIT/hooks/x", true),
            ("/proc/*/environ", "/proc/self/environ", true),
            ("/proc/*/environ", "/proc/self/task/1/environ", false),
        ] {
            assert_eq!(path_matches(pattern, Path::new(path), Case::Ignored), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn case_counts_where_it_is_meant_exactly() {
        assert!(!path_matches("/p/target/**", Path::new("/p/TARGET/x"), Case::Counts));
        assert!(path_matches("/p/target/**", Path::new("/p/target/x"), Case::Counts));
    }

    #[test]
    fn names_match_as_in_bash() {
        for (pattern, name, expected) in [
            ("*.rs", "a.rs", true),
            ("a*b*c", "aXbXbc", true),
            ("[a-c]?", "bz", true),
            ("[!a-c]?", "bz", false),
            ("[", "[", true),
            ("[a", "[a", true),
            ("\\*", "x", false),
            ("\\*", "*", true),
            ("[]a]", "]", true),
        ] {
            assert_eq!(name_matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}

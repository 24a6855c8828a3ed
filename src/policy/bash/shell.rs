//! What is known of the shell while a script is walked: its folder and the variables that can have only known
//! values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More folders than these are as good as any.
const MAX_FOLDERS: usize = 4;

/// Folders that are remembered for what may be.
const MAX_SEEN: usize = 64;

/// Values that are remembered for what a variable may hold.
const MAX_GUESSES: usize = 16;

/// The state of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    variables: BTreeMap<String, Vec<String>>,
    /// What variables may have been set to, among others.
    guesses: BTreeMap<String, Vec<String>>,
    /// Variables that hold numbers, which ones is not known.
    numbers: BTreeSet<String>,
    /// Variables that the script has surely set, so that nothing in them is inherited.
    assigned: BTreeSet<String>,
    /// The folders it may be in; `None` when it may be anywhere.
    folders: Option<Vec<PathBuf>>,
    /// Every folder that it has been in: when it may be anywhere, it may be there.
    seen: Arc<Vec<PathBuf>>,
    /// What it is if the last command, a `cd`, has failed.
    stayed: Option<Box<Shell>>,
    /// It has come about by a `cd` that failed although the folder was there.
    unlikely: bool,
}

impl Shell {
    /// A shell that starts in a folder.
    pub fn new(cwd: &Path) -> Self {
        Self {
            variables: BTreeMap::new(),
            guesses: BTreeMap::new(),
            numbers: BTreeSet::new(),
            assigned: BTreeSet::new(),
            folders: Some(vec![cwd.to_owned()]),
            seen: Arc::new(vec![cwd.to_owned()]),
            stayed: None,
            unlikely: false,
        }
    }

    /// The same folder in a shell that knows none of these variables.
    #[must_use]
    pub fn without_variables(mut self) -> Self {
        self.variables.clear();
        self.guesses.clear();
        self.numbers.clear();
        self.assigned.clear();
        self
    }

    /// The values that a variable may have.
    pub fn get(&self, name: &str) -> Option<&[String]> {
        self.variables.get(name).map(Vec::as_slice)
    }

    /// Sets a variable to one of these values, or to what is not known.
    pub fn set(&mut self, name: &str, values: Option<Vec<String>>) {
        match values {
            Some(values) if !values.is_empty() => self.variables.insert(name.to_owned(), values),
            _ => self.variables.remove(name),
        };
        self.assigned.insert(name.to_owned());
    }

    /// Whether the script has set a variable before, whatever to.
    pub fn is_assigned(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }

    /// The variable may hold what it held outside of the script.
    pub fn forget(&mut self, name: &str) {
        self.variables.remove(name);
        self.assigned.remove(name);
    }

    /// What a variable may hold, among others.
    pub fn guesses(&self, name: &str) -> &[String] {
        self.guesses.get(name).map_or(&[], Vec::as_slice)
    }

    /// A variable may hold one of these, too.
    pub fn guess(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        let guesses = self.guesses.entry(name.to_owned()).or_default();
        for value in values {
            if guesses.len() < MAX_GUESSES && !guesses.contains(&value) {
                guesses.push(value);
            }
        }
    }

    /// The variable holds a number from here on, wherever the script sets it.
    pub fn count(&mut self, name: &str) {
        self.numbers.insert(name.to_owned());
    }

    /// Whether a variable is known to hold a number.
    pub fn is_number(&self, name: &str) -> bool {
        let digits = |text: &String| !text.is_empty() && text.chars().all(|char| char.is_ascii_digit());
        self.numbers.contains(name) || self.get(name).is_some_and(|values| values.iter().all(digits))
    }

    pub fn folders(&self) -> Option<&[PathBuf]> {
        self.folders.as_deref()
    }

    /// The folders that it has been in.
    pub fn seen(&self) -> &[PathBuf] {
        &self.seen
    }

    /// It may be anywhere, and so many folders are remembered that no more will be.
    pub fn is_lost(&self) -> bool {
        self.folders.is_none() && self.seen.len() >= MAX_SEEN
    }

    pub fn folder(&self) -> Option<&Path> {
        match self.folders() {
            Some([only]) => Some(only),
            _ => None,
        }
    }

    /// It may be anywhere from now on.
    pub fn lose_folder(&mut self) {
        self.folders = None;
    }

    /// It goes to one of these folders. When it is not sure that they are there, it may as well have stayed.
    pub fn go(&mut self, to: Vec<PathBuf>, sure: bool) {
        self.see(&to);
        let stayed = Self { unlikely: sure, stayed: None, ..self.clone() };
        self.folders = few(to).filter(|_| self.folders.is_some());
        self.stayed = Some(Box::new(stayed));
    }

    /// It may have been in these folders, too.
    fn see(&mut self, folders: &[PathBuf]) {
        for folder in folders {
            // As text: comparing two paths part by part takes far longer.
            if self.seen.len() < MAX_SEEN && !self.seen.iter().any(|seen| seen.as_os_str() == folder.as_os_str()) {
                Arc::make_mut(&mut self.seen).push(folder.clone());
            }
        }
    }

    /// What it is when its last command has succeeded, and when it has failed.
    pub fn outcomes(mut self) -> (Self, Self) {
        let failed = self.stayed.take().map(|stayed| *stayed);
        let failed = failed.unwrap_or_else(|| self.clone());
        (self, failed)
    }

    /// What it is after either outcome.
    #[must_use]
    pub fn settled(succeeded: Self, failed: &Self) -> Self {
        Self { unlikely: false, ..succeeded.join(failed) }
    }

    /// What is known after one of two ways was taken.
    #[must_use]
    pub fn join(mut self, other: &Self) -> Self {
        match (self.unlikely, other.unlikely) {
            (true, false) => return other.clone(),
            (false, true) => return self,
            (true, true) | (false, false) => {}
        }
        if !Arc::ptr_eq(&self.seen, &other.seen) {
            self.see(&other.seen);
        }
        for (name, values) in &other.guesses {
            self.guess(name, values.iter().cloned());
        }
        // What a variable is on one way only it may be afterwards.
        let differs =
            |(name, values): &(&String, &Vec<String>), there: &Self| there.variables.get(*name) != Some(*values);
        let own: Vec<(String, Vec<String>)> =
            self.variables.iter().filter(|one| differs(one, other)).map(owned).collect();
        let others = other.variables.iter().filter(|one| differs(one, &self)).map(owned).collect::<Vec<_>>();
        for (name, values) in own.into_iter().chain(others) {
            self.guess(&name, values);
        }
        self.variables.retain(|name, values| other.variables.get(name) == Some(values));
        self.numbers.retain(|name| other.numbers.contains(name));
        self.assigned.retain(|name| other.assigned.contains(name));
        self.folders = match (self.folders, &other.folders) {
            (Some(one), Some(two)) => few(one.into_iter().chain(two.iter().cloned()).collect()),
            _ => None,
        };
        self
    }
}

fn owned((name, values): (&String, &Vec<String>)) -> (String, Vec<String>) {
    (name.clone(), values.clone())
}

/// These folders once each; `None` for too many.
fn few(mut folders: Vec<PathBuf>) -> Option<Vec<PathBuf>> {
    folders.sort();
    folders.dedup();
    (folders.len() <= MAX_FOLDERS).then_some(folders)
}

/// Whether a variable is set at one place only: its name stands once in the text without a `$` before it. Then
/// what it is set to is what it is wherever it is known.
pub fn is_set_once(text: &str, name: &str) -> bool {
    said(text, name) == 1
}

/// Whether a variable's name stands in the text without a `$` before it.
pub fn is_named(text: &str, name: &str) -> bool {
    said(text, name) > 0
}

fn said(text: &str, name: &str) -> usize {
    let is_letter = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let bare = text.match_indices(name).filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        let whole = !before.is_some_and(is_letter) && !after.is_some_and(is_letter);
        let used = text[..*at].ends_with('$') || text[..*at].ends_with("${");
        // `head -n`.
        let option = text[..*at].strip_suffix('-').is_some_and(|before| before.ends_with([' ', '\t']));
        // `day-0`, `day.md`: a dash or a dot with a letter behind it sets nothing.
        let rest = text[at + name.len()..].strip_prefix(['-', '.']);
        let other = rest.is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_alphanumeric()));
        whole && !used && !option && !other
    });
    bare.count()
}

/// Whether a variable is only ever set to numbers: `n=0`, `n=$((…))`, `n+=1`, `n++`, or where only arithmetic can stand.
/// A text that names it in any other way may set it to anything.
pub fn holds_numbers(text: &str, name: &str) -> bool {
    let is_letter = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let ends = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', ')']);
    let sets_number = |rest: &str| {
        let after = rest.trim_start_matches(|char: char| char.is_ascii_digit());
        after.len() < rest.len() && ends(after) || after_arithmetic(rest).is_some_and(ends)
    };
    text.match_indices(name).all(|(at, _)| {
        let (before, rest) = (&text[..at], &text[at + name.len()..]);
        if before.ends_with(is_letter) || rest.starts_with(is_letter) {
            return true;
        }
        if before.ends_with("${") {
            return rest.starts_with('}');
        }
        let is_set = rest.starts_with('=') || rest.starts_with("+=");
        let of_arithmetic =
            before.ends_with(['+', '*', '%', '=']) || before.trim_end_matches(' ').ends_with(['(', ';']);
        // No builtin takes a name with such a sign next to it, and behind these no word is its operand.
        before.ends_with('$')
            || (of_arithmetic && !is_set)
            || rest.starts_with("++")
            || rest.starts_with("--")
            || (rest.starts_with(['+', '*', '%']) && !is_set)
            || rest.strip_prefix('=').is_some_and(sets_number)
            || rest.strip_prefix("+=").is_some_and(sets_number)
    })
}

/// What stands behind `$((…))`.
fn after_arithmetic(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("$((")?;
    let mut open = 2;
    let end = inside.find(|char| {
        open += match char {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        open == 0
    })?;
    inside.get(end + 1..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_numbers_is_only_set_to_numbers() {
        for text in [
            "n=0; n=$((n+1)); echo $n ${n}", "for ((n=0; n<3; n++)); do :; done", "((sum+=n))", "n=10\n((n++))",
            "n=1; n+=1", "m=x",
        ] {
            assert!(holds_numbers(text, "n"), "{text}");
        }
        let set = [
            "n=a", "n=1a", "n=$((1))a", "n=$(ls)", "n=", "read n", "for n in a; do :; done", "printf -v n x",
            ": ${n:=a}",
        ];
        for text in set.into_iter().chain([
            "read m n", "n=1 n=\"$m\"", "read 'n'", "n=$((1)", "read n<f", "read {m,n}", "n+=a", "(n=a)", "; n=a",
            "m=1;n=a",
        ]) {
            assert!(!holds_numbers(text, "n"), "{text}");
        }
    }

    #[test]
    fn a_variable_is_set_once_when_its_name_stands_once() {
        assert!(is_set_once("x=5; echo $x ${x} \"$x\"", "x"));
        assert!(is_set_once("for i in 1 2; do echo $i; done", "i"));
        assert!(is_set_once("for d in 1 2; do cat log/d-0$d.md d.md; done", "d"));
        for text in ["x=5; x=6", "x=5; read x", "x=1; ((x++))", "x=1; ((x-=1))", "x=1; ((x--))", "f=a; cat $f -f f"] {
            let name = &text[..1];
            assert!(!is_set_once(text, name), "{text}");
        }
    }
}

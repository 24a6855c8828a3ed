//! The project's own commands: which build, test, lint and format commands a workspace has, by the files of its
//! languages. They run whatever the repository says; a rule that allows them says so.

use crate::policy::place::Place;
use crate::policy::unit::Field;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Language {
    when: Vec<String>,
    #[serde(default)]
    not: Vec<String>,
    /// Options with the path of a file, which must lie in the workspace.
    #[serde(default)]
    within: Vec<String>,
    commands: Vec<String>,
}

static LANGUAGES: LazyLock<Vec<Language>> =
    LazyLock::new(|| serde_yaml::from_str(include_str!("project.yaml")).unwrap_or_default());

/// A language, and the words of one of its commands behind the name.
type Own = (&'static Language, Vec<&'static str>);

/// The words behind each command by its name, with the language that they are of.
static OWN: LazyLock<BTreeMap<&str, Vec<Own>>> = LazyLock::new(|| {
    let mut own: BTreeMap<&str, Vec<Own>> = BTreeMap::new();
    for language in LANGUAGES.iter() {
        for command in &language.commands {
            let mut words = command.split(' ');
            own.entry(words.next().unwrap_or("")).or_default().push((language, words.collect()));
        }
    }
    own
});

/// Whether a command of known words is one of the project's own. Words beyond it must be known, too: one of them
/// could be an option that makes it run what stands elsewhere.
pub fn is_own(command: &str, words: &[Field], place: &Place<'_>) -> bool {
    let Some(own) = OWN.get(command) else { return false };
    let Some(words) = words.iter().map(Field::text).collect::<Option<Vec<_>>>() else { return false };
    own.iter().any(|(language, own)| {
        let here = || language.when.iter().any(|file| place.view.exists(&place.workspace.join(file)));
        let named = if command == "make" { language.makes(&words) } else { begins(&words, own) };
        named && !language.leads_elsewhere(&words) && here()
    })
}

impl Language {
    /// Every target of make is one of the project's own: `make deploy` is not `make`.
    fn makes(&self, words: &[&str]) -> bool {
        let targets = words.iter().filter(|word| !word.starts_with('-') && !word.contains('='));
        let own = |target: &&str| self.commands.iter().any(|own| own.strip_prefix("make ") == Some(target));
        let shell = words.iter().any(|word| word.contains("SHELL"));
        !shell && self.commands.iter().any(|own| own == "make") && targets.into_iter().all(own)
    }

    fn leads_elsewhere(&self, words: &[&str]) -> bool {
        words.iter().enumerate().any(|(at, word)| {
            let leaves = |option: &String| match given(word, option) {
                Given::Not => false,
                Given::Attached(path) => leaves(path),
                Given::Next => words.get(at + 1).is_none_or(|path| leaves(path)),
            };
            self.not.iter().any(|option| given(word, option) != Given::Not) || self.within.iter().any(leaves)
        })
    }
}

/// Whether the words begin with those of `own`; `test:*` is any word that begins so.
fn begins(words: &[&str], own: &[&str]) -> bool {
    let mut words = words.iter();
    own.iter().all(|own| {
        words.next().is_some_and(|word| match own.strip_suffix('*') {
            Some(head) => word.starts_with(head),
            None => word == own,
        })
    })
}

/// Whether a path may lead out of the folder that it starts in.
fn leaves(path: &str) -> bool {
    path.starts_with(['/', '~', '-']) || path.contains(':') || path.split('/').any(|part| part == "..")
}

/// Where the value of an option stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given<'a> {
    /// The word is not this option.
    Not,
    /// In the word itself.
    Attached(&'a str),
    /// It is the next word.
    Next,
}

fn given<'a>(word: &'a str, option: &str) -> Given<'a> {
    let Some(rest) = word.strip_prefix(option) else { return Given::Not };
    // `-C../other`: an option of one letter with its value attached.
    let short = option.len() == 2 && !word.starts_with("--");
    match rest.strip_prefix('=') {
        Some(value) => Given::Attached(value),
        None if rest.is_empty() => Given::Next,
        None if short => Given::Attached(rest),
        None => Given::Not,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::place::MadeUp;
    use std::path::Path;

    #[test]
    fn a_projects_commands_are_its_own_where_its_files_are() {
        let root = Path::new("/home/dev/proj");
        let view = MadeUp::new(root, [], ["Cargo.toml", "Makefile", "package.json"]);
        let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
        for (line, own) in [
            ("cargo test --workspace", true),
            ("cargo test -- --nocapture", true),
            ("cargo run", false),
            ("cargo publish", false),
            ("cargo test --config x.toml", false),
            ("cargo test --manifest-path=../x/Cargo.toml", false),
            ("cargo build -Zunstable", false),
            ("make", true),
            ("make -j4 test", true),
            ("make lint test", true),
            ("make test deploy", false),
            ("make SHELL=/tmp/sh test", false),
            ("cargo test --manifest-path crates/x/Cargo.toml", true),
            ("cargo test --manifest-path=crates/x/Cargo.toml", true),
            ("cargo test --manifest-path /x/Cargo.toml", false),
            ("cargo test --manifest-path", false),
            ("npm run test:unit", true),
            ("npm run deploy", false),
            ("make deploy", false),
            ("make test deploy", false),
            ("make -f other.mk test", false),
            ("npm test", true),
            ("pytest", false),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let fields: Vec<Field> = words[1..].iter().map(|word| Field::known(*word)).collect();
            assert_eq!(is_own(words[0], &fields, &place), own, "{line}");
        }
    }
}

//! The project's own commands: which build, test, lint and format commands a workspace has, by the files of its
//! languages. They run whatever the repository says; a rule that allows them says so.

use crate::policy::place::Place;
use crate::policy::unit::Field;
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Language {
    when: Vec<String>,
    #[serde(default)]
    not: Vec<String>,
    commands: Vec<String>,
}

static LANGUAGES: LazyLock<Vec<Language>> =
    LazyLock::new(|| serde_yaml::from_str(include_str!("project.yaml")).unwrap_or_default());

/// Whether a command of known words is one of the project's own. Words beyond it must be known, too: one of them
/// could be an option that makes it run what stands elsewhere.
pub fn is_own(command: &str, words: &[Field], place: &Place<'_>) -> bool {
    let Some(words) = words.iter().map(Field::text).collect::<Option<Vec<_>>>() else { return false };
    LANGUAGES.iter().any(|language| {
        let here = || language.when.iter().any(|file| place.view.exists(&place.workspace.join(file)));
        let named = language.commands.iter().any(|own| begins(own, command, &words));
        let elsewhere = words.iter().any(|word| language.not.iter().any(|option| is_option(word, option)));
        named && !elsewhere && here()
    })
}

/// Whether `command words…` begins with the words of `own`. Without a further word in `own`, an operand that
/// could be a subcommand is none of it: `make deploy` is not `make`.
fn begins(own: &str, command: &str, words: &[&str]) -> bool {
    let mut own = own.split(' ');
    if own.next() != Some(command) {
        return false;
    }
    let own: Vec<&str> = own.collect();
    let target = |word: &&&str| !word.starts_with('-') && !word.contains('=');
    match (command, own.first()) {
        ("make", None) => !words.iter().any(|word| target(&word)),
        ("make", Some(_)) => {
            let targets: Vec<&&str> = words.iter().filter(target).collect();
            targets.len() == 1 && own.first() == targets.first().copied() && !words.iter().any(|w| w.contains("SHELL"))
        }
        _ => words.starts_with(&own),
    }
}

fn is_option(word: &str, option: &str) -> bool {
    let long = option.starts_with("--") || option.len() > 2;
    word == option
        || word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
        // `-C../other`: an option of one letter with its value attached.
        || (!long && word.starts_with(option) && !word.starts_with("--"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::place::MadeUp;
    use std::path::Path;

    #[test]
    fn a_projects_commands_are_its_own_where_its_files_are() {
        let root = Path::new("/home/dev/proj");
        let view = MadeUp::new(root, [], ["Cargo.toml", "Makefile"]);
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
            ("make deploy", false),
            ("make test deploy", false),
            ("make -f other.mk test", false),
            ("npm test", false),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let fields: Vec<Field> = words[1..].iter().map(|word| Field::known(*word)).collect();
            assert_eq!(is_own(words[0], &fields, &place), own, "{line}");
        }
    }
}

//! The project's own commands: which build, test, lint and format commands a workspace has, by the files of its
//! languages. They run whatever the repository says; a rule that allows them says so.

use crate::policy::floor::Floor;
use crate::policy::place::Place;
use crate::policy::unit::Field;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Language {
    when: Vec<String>,
    #[serde(default)]
    not: Vec<String>,
    /// Further plain words are more things to do: `mvn test deploy`.
    #[serde(default)]
    goals: bool,
    /// Options are words with one dash: `-count=1` is no cluster.
    #[serde(default)]
    words: bool,
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

/// Whether a command of known words is one of the project's own. Words beyond it must be known, too, and stay in the
/// workspace: one of them could be an option that makes it run, read or write what stands elsewhere.
pub fn is_own(command: &str, words: &[Field], place: &Place<'_>) -> bool {
    let Some(own) = OWN.get(command) else { return false };
    let Some(words) = words.iter().map(Field::text).collect::<Option<Vec<_>>>() else { return false };
    own.iter().any(|(language, own)| {
        let here = || language.when.iter().any(|file| place.view.exists(&place.workspace.join(file)));
        let (named, more) = match command {
            "make" => (language.makes(&words), &words[..]),
            _ => (language.begins(&words, own), words.get(own.len()..).unwrap_or_default()),
        };
        named && !language.leads_elsewhere(more) && here() && stays(&words, place)
    })
}

impl Language {
    /// Every target of make is one of the project's own: `make deploy` is not `make`.
    fn makes(&self, words: &[&str]) -> bool {
        let (settings, words): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.contains('='));
        let mut targets = words.into_iter().filter(|word| !word.starts_with('-'));
        let own = |target: &str| self.commands.iter().any(|own| own.strip_prefix("make ") == Some(target));
        settings.iter().all(|setting| is_plain(setting)) && targets.all(own)
    }

    /// Whether the words begin with those of `own`; `test:*` is any word that begins so.
    fn begins(&self, words: &[&str], own: &[&str]) -> bool {
        let (Some(first), Some(more)) = (words.get(..own.len()), words.get(own.len()..)) else { return false };
        let is = |(word, own): (&&str, &&str)| match own.strip_suffix('*') {
            Some(head) => word.starts_with(head),
            None => word == own,
        };
        first.iter().zip(own).all(is) && !(self.goals && more.iter().any(|word| !word.starts_with('-')))
    }

    fn leads_elsewhere(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.not.iter().any(|option| is_option(word, option, self)))
    }
}

/// Whether it runs in the workspace, and every path in its words is in the workspace, too, and none of the floor's.
fn stays(words: &[&str], place: &Place<'_>) -> bool {
    let floor = Floor::of_built_in();
    let inside = |path: &str| place.resolve(place.cwd, path).filter(|path| path.starts_with(place.workspace));
    let stays = |path: &str| {
        let free = |path: PathBuf| !floor.is_secret(&path, place) && floor.protects(&path, place).is_none();
        !path.starts_with('~') && inside(path).is_some_and(free)
    };
    // In a text of JSON a backslash may be any letter.
    let escaped = |word: &&str| word.contains('"') && word.contains('\\');
    inside(".").is_some() && !words.iter().any(escaped) && words.iter().flat_map(|word| paths(word)).all(stays)
}

/// What may be a path in a word: its parts between signs, and what follows an option's letter.
pub fn paths(word: &str) -> impl Iterator<Item = &str> {
    let parts = word.split(['=', ':', ',', ';', ' ', '@', '"']).map(|part| part.trim_start_matches('-'));
    let attached = word.strip_prefix('-').and_then(|rest| rest.get(1..));
    parts.chain(attached).filter(|part| !part.is_empty())
}

/// `V=1`: a setting of make that names no program.
fn is_plain(setting: &str) -> bool {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    let number = !value.is_empty() && value.chars().all(|char| char.is_ascii_digit() || char == '.');
    number && !name.starts_with("MAKE") && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

fn is_option(word: &str, option: &str, language: &Language) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    let bare = |word: &str| word.trim_start_matches('-').to_lowercase();
    if !option.starts_with('-') || option.starts_with("--") || option.len() > 2 {
        // Some programs take `--pref` for `--prefix`, some `-exec` for `--exec`, some `--outdir` for `--outDir`.
        let short = name.starts_with("--") && name.len() > 2 && bare(option).starts_with(&bare(name));
        return short || bare(name) == bare(option);
    }
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or("");
    word.starts_with(option) || (!language.words && letters.contains(&option[1..]))
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
            ("npm run test:unit", true),
            ("npm run deploy", false),
            ("make deploy", false),
            ("make test deploy", false),
            ("make -f other.mk test", false),
            ("make V=1 test", true),
            ("make CC=x test", false),
            ("make -sf x.mk test", false),
            ("make --ev=x test", false),
            ("cargo test --conf x", false),
            ("rustfmt src/a.rs", true),
            ("rustfmt ../a.rs", false),
            ("rustfmt --config-path=/etc a.rs", false),
            ("npm test", true),
            ("pytest", false),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let fields: Vec<Field> = words[1..].iter().map(|word| Field::known(*word)).collect();
            assert_eq!(is_own(words[0], &fields, &place), own, "{line}");
        }
    }
}

//! The project's own commands: which build, test, lint and format commands a workspace has, by the files of its
//! languages. They run whatever the repository says; a rule that allows them says so.

mod values;

use super::targets::checks;
use crate::policy::built_in::BuiltIn;
use crate::policy::commands::grammar::{Grammar, Role, Takes};
use crate::policy::commands::{args, programs};
use crate::policy::glob::name_matches;
use crate::policy::place::Place;
use crate::policy::unit::Field;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use values::{holds_code, is_foreign, is_name, is_output, is_own_file, is_own_package, is_setting, strays};

pub use values::{is_own_module, paths};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tables {
    /// What stands before commands of a kind and runs them: `npx`, `uv run`.
    runners: BTreeMap<String, Vec<Runner>>,
    commands: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Runner {
    /// Its words; one that ends in `/` is the folder of the command.
    before: Vec<String>,
    /// Instead of the command's own.
    #[serde(default)]
    when: Vec<String>,
}

/// Commands that are read in one way.
#[expect(clippy::struct_excessive_bools, reason = "columns of a table")]
#[derive(Debug, Deserialize)]
struct Entry {
    /// Any of these files makes them the project's own.
    when: Vec<String>,
    /// The kind of the runners that they may stand behind.
    #[serde(default)]
    by: String,
    commands: Vec<String>,
    #[serde(flatten)]
    grammar: Grammar,
    /// The options that may stand before its words and its target.
    #[serde(default)]
    leads: Option<Grammar>,
    /// How the words behind `--` are read; without it, as operands.
    #[serde(default)]
    behind: Option<Grammar>,
    /// An option that must be there.
    #[serde(default)]
    needs: String,
    /// What it may be told to do besides what is called a build, a test or a check.
    #[serde(default)]
    targets: String,
    /// It may be told nothing else.
    #[serde(default)]
    only: bool,
    /// It may not be told this.
    #[serde(default)]
    never: String,
    /// Its operands are packages, and those that stand elsewhere would be fetched.
    #[serde(default)]
    packages: bool,
    /// It may not read its input, which may be code that names any file.
    #[serde(default)]
    no_input: bool,
    /// `V=1` is a setting.
    #[serde(default)]
    settings: bool,
}

static TABLES: LazyLock<BuiltIn<Tables>> =
    LazyLock::new(|| BuiltIn::read("project.yaml", include_str!("project.yaml")));

/// Why the table cannot be used.
pub(super) fn fault() -> Option<&'static str> {
    TABLES.fault.as_deref()
}

/// An entry, the words of one of its commands behind the first, and the files that make it the project's own.
struct Own {
    entry: &'static Entry,
    words: Vec<String>,
    when: &'static [String],
    /// What `npx` and its like would fetch if it were not there.
    program: Option<String>,
}

/// The commands by their first word.
static OWN: LazyLock<BTreeMap<String, Vec<Own>>> = LazyLock::new(|| {
    let mut own: BTreeMap<String, Vec<Own>> = BTreeMap::new();
    let mut add = |line: String, entry, when| {
        let program = fetched(&line);
        let mut words = line.split(' ').map(str::to_owned);
        let first = words.next().unwrap_or_default();
        own.entry(first).or_default().push(Own { entry, words: words.collect(), when, program });
    };
    for entry in &TABLES.commands {
        for command in &entry.commands {
            add(command.clone(), entry, &entry.when);
            for runner in TABLES.runners.get(&entry.by).into_iter().flatten() {
                let when = if runner.when.is_empty() { &entry.when } else { &runner.when };
                for before in &runner.before {
                    let between = if before.ends_with('/') { "" } else { " " };
                    add(format!("{before}{between}{command}"), entry, when);
                }
            }
        }
    }
    own
});

/// The file of the program behind a runner that fetches what is not there.
fn fetched(line: &str) -> Option<String> {
    let behind = ["npx ", "bunx ", "bun x ", "npm exec -- "].iter().find_map(|runner| line.strip_prefix(runner))?;
    let program = behind.split(' ').next().filter(|program| !program.starts_with('-'))?;
    Some(format!("node_modules/.bin/{program}"))
}

/// Whether a command of known words is one of the project's own. Words beyond it must be known, too, and stay in the
/// workspace: one of them could be an option that makes it run, read or write what stands elsewhere. The error is why a
/// command of the tables is not.
pub fn own(command: &str, words: &[Field], place: &Place<'_>) -> Result<(), Option<String>> {
    let own = OWN.get(command).ok_or(None)?;
    let texts = words.iter().map(Field::text).collect::<Option<Vec<_>>>();
    let texts = texts.ok_or_else(|| Some("an argument has an unknown value".to_owned()))?;
    // The nearest says most.
    let mut near: Option<(usize, String)> = None;
    for entry in own {
        let Some(rest) = entry.behind_name(&texts, place) else { continue };
        let (near_by, why) = match entry.missing(place) {
            Some(why) => (2 * entry.words.len(), why),
            None => match entry.told(&rest, own, place) {
                Ok(_) if is_foreign(place.cwd, place) => {
                    return Err(Some("runs in a directory of third-party code".into()));
                }
                Ok(files) => {
                    return strays(&labels(command, &texts), &files, place).map_or(Ok(()), |why| Err(Some(why)));
                }
                Err(why) => (2 * entry.words.len() + 1, why),
            },
        };
        if near.as_ref().is_none_or(|(other, _)| near_by > *other) {
            near = Some((near_by, why));
        }
    }
    Err(near.map(|(_, why)| why))
}

/// What bazel's labels name: `//a` is from the root of the workspace.
fn labels<'a>(command: &str, words: &[&'a str]) -> Vec<&'a str> {
    let label = |word: &&'a str| word.strip_prefix("//").unwrap_or(word);
    if command.starts_with("bazel") { words.iter().map(label).collect() } else { words.to_vec() }
}

/// Whether a file, or one of such a name, stands in the folder of the call or in one further up in the workspace.
fn is_here(file: &str, place: &Place<'_>) -> bool {
    let inside = place.cwd.ancestors().take_while(|folder| folder.starts_with(place.workspace));
    let mut folders = inside.chain(std::iter::once(place.workspace));
    let named = |folder: &Path| {
        let names = place.view.names(folder).unwrap_or_default();
        names.iter().any(|name| name_matches(file, name))
    };
    folders.any(|folder| if file.contains('*') { named(folder) } else { place.view.exists(&folder.join(file)) })
}

impl Own {
    /// The words beyond those of the command, whose own options may stand before them.
    fn behind_name<'a>(&self, words: &[&'a str], place: &Place<'_>) -> Option<Vec<&'a str>> {
        let leads = self.entry.leads.as_ref();
        let (before, words) = words.split_at(led(leads, words));
        let (first, words) = (words.get(..self.words.len())?, words.get(self.words.len()..)?);
        if first.iter().zip(&self.words).any(|(word, own)| word != own) {
            return None;
        }
        let (between, words) = words.split_at(led(leads, words));
        // What an option takes for its value may be the target to the program.
        let to_do = self.entry.grammar.operands.first.contains(&Role::Target) && leads.is_some();
        if to_do && words.first().is_none_or(|word| word.starts_with('-')) {
            return None;
        }
        let fields: Vec<Field> = [before, between].concat().into_iter().map(Field::known).collect();
        let parsed = leads.map(|leads| args::parse(leads, &fields)).unwrap_or_default();
        self.entry.fits(&parsed, place).is_ok().then(|| words.to_vec())
    }

    /// Which of its files is not there, in words.
    fn missing(&self, place: &Place<'_>) -> Option<String> {
        if let Some(program) = self.program.iter().find(|file| !is_here(file, place)) {
            let name = program.rsplit('/').next().unwrap_or(program);
            return Some(format!("{name} is not installed in the project, and would be downloaded"));
        }
        let here = self.when.iter().any(|file| is_here(file, place));
        let names = self.when.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", no ");
        (!here).then(|| format!("there is no {names} in the working directory"))
    }

    /// The files that the words behind the command name, each with its role; the error is why they tell it what is not
    /// known. Among all of its first word another may be meant.
    fn told(&self, words: &[&str], all: &[Self], place: &Place<'_>) -> Result<Vec<(Role, String)>, String> {
        let entry = self.entry;
        let end = words.iter().position(|word| *word == "--");
        let (before, behind) = words.split_at(end.unwrap_or(words.len()));
        let fields = |words: &[&str]| -> Vec<Field> {
            let set = |word: &&&str| entry.settings && is_setting(word);
            words.iter().filter(|word| !set(word)).map(|word| Field::known(*word)).collect()
        };
        let parsed = args::parse(&entry.grammar, &fields(before));
        let further = behind.split_first().map_or(&[][..], |(_, behind)| behind);
        let further = match &entry.behind {
            Some(grammar) => args::parse(grammar, &fields(further)),
            None => match further.iter().find(|word| word.starts_with('-')) {
                Some(word) => return Err(format!("unrecognized option {word} after --")),
                None => args::parse(&entry.grammar, &fields(further)),
            },
        };
        if let Some(other) = all.iter().find(|other| self.is_narrowed_to(other, &parsed.operands, place)) {
            return Err(format!("`{}` is a separate command: its options come after it", other.words.join(" ")));
        }
        entry.fits(&parsed, place)?;
        entry.fits(&further, place)?;
        let needs = &entry.needs;
        let has = needs.is_empty() || parsed.flags.contains(needs);
        let is_path = |role: Role| matches!(role, Role::Name | Role::Read | Role::Write);
        let files = parsed.values.into_iter().chain(further.values).filter(|(role, _)| is_path(*role));
        let files = files.filter_map(|(role, field)| Some((role, field.text()?.to_owned()))).collect();
        has.then_some(files).ok_or_else(|| format!("without --{needs} it does something else"))
    }
}

impl Own {
    /// Whether the operands begin with the further words of another command, to which that is then left: `vite build` is
    /// not `vite` with a folder, wherever its options stand.
    fn is_narrowed_to(&self, other: &Self, operands: &[Field], place: &Place<'_>) -> bool {
        let Some(more) = other.words.strip_prefix(self.words.as_slice()) else { return false };
        !more.is_empty()
            && !std::ptr::eq(self.entry, other.entry)
            && operands.len() >= more.len()
            && more.iter().zip(operands).all(|(word, operand)| operand.text() == Some(word))
            && other.missing(place).is_none()
    }
}

/// How many words are options that may lead.
fn led(leads: Option<&Grammar>, words: &[&str]) -> usize {
    let Some(leads) = leads else { return 0 };
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-') && **word != "--") {
        let Some(flag) = leads.flag(word.split('=').next().unwrap_or(word)) else { break };
        at += if matches!(flag.takes, Takes::Value(_)) && !word.contains('=') { 2 } else { 1 };
    }
    at.min(words.len())
}

impl Entry {
    /// Why words say something that is not known.
    fn fits(&self, parsed: &args::Parsed, place: &Place<'_>) -> Result<(), String> {
        let spares = |field: &Field| {
            let mut named = parsed.options.iter().filter(|(_, value)| value == field);
            named.any(|(name, _)| name.contains("ignore") || name.contains("exclude"))
        };
        if let Some(doubt) = parsed.doubts.first() {
            return Err(doubt.why().to_owned());
        }
        for (role, field) in &parsed.values {
            self.allows(*role, field, place)?;
            let text = field.beginning();
            let path = place.resolve(place.cwd, text);
            match role {
                Role::Write if path.as_ref().is_some_and(|path| !is_output(path, place)) => {
                    return Err(format!("{text} already exists and is not build output"));
                }
                Role::Name | Role::Read
                    if !spares(field) && path.as_ref().is_some_and(|path| is_foreign(path, place)) =>
                {
                    return Err(format!("{text} is not the project's own"));
                }
                _ => {}
            }
        }
        if self.no_input && parsed.operands.iter().any(|word| word.text() == Some("-")) {
            return Err("its input may be code that uses any file".to_owned());
        }
        let foreign = parsed.operands.iter().map(Field::beginning).find(|name| self.packages && !is_own_package(name));
        foreign.map_or(Ok(()), |name| Err(format!("{name} is not a package of this project")))
    }

    /// Why a value is not what its place in the line may hold.
    fn allows(&self, role: Role, field: &Field, place: &Place<'_>) -> Result<(), String> {
        let text = field.text().ok_or("an argument has an unknown value")?;
        let fits = match role {
            Role::Target => {
                let other = text.split(',').find(|target| !self.is_target(target));
                return other.map_or(Ok(()), |target| Err(format!("`{target}` is not a build, test or lint target")));
            }
            Role::Data | Role::Program => !holds_code(text),
            Role::Warning => programs::is_warning(text),
            Role::Module => {
                let file = place
                    .resolve(place.cwd, text)
                    .filter(|_| text.contains('/') || Path::new(text).extension().is_some_and(|ending| ending == "py"));
                let own = is_own_module(text, place) || file.is_some_and(|file| is_own_file(&file, place));
                return own.then_some(()).ok_or_else(|| format!("{text} is not a module of this project"));
            }
            Role::Name | Role::Read | Role::Write | Role::Rev | Role::Spec => !holds_code(text) && is_name(text),
            Role::Command => false,
        };
        fits.then_some(()).ok_or_else(|| format!("`{text}` may be code, a program or an address"))
    }

    fn is_target(&self, target: &str) -> bool {
        let plain = |char: char| char.is_ascii_alphanumeric() || ":_-./".contains(char);
        let named = self.targets.split(' ').any(|pattern| name_matches(pattern, target));
        let never = self.never.split(' ').any(|never| never == target);
        !never && target.chars().all(plain) && (named || (!self.only && checks(target)))
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
            ("npm run test:unit", true),
            ("npm run deploy", false),
            ("make deploy", false),
            ("make test deploy", false),
            ("make -f other.mk test", false),
            ("make V=1 test", true),
            ("make CC=x test", false),
            ("make -sf x.mk test", false),
            ("make SHELL=1 test", false),
            ("make -j 4 test-unit", true),
            ("make -C sub test", true),
            ("npm run -p deploy build", false),
            ("npm -p x run build", false),
            ("npm --prefix web run build", true),
            ("npm run test:deploy", false),
            ("npm ci", false),
            ("npm test -- --import=data:text/javascript,1", false),
            ("npm test -- data:text/javascript,1", false),
            ("npm test -- -t name --coverage", true),
            ("yarn -p x build", false),
            ("cargo llvm-cov run", false),
            ("cargo test -- --nocapture -q", true),
            ("cargo --config x test", false),
            ("cargo -q test", true),
            ("cargo clippy -- -C linker=x", false),
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
            assert_eq!(super::own(words[0], &fields, &place).is_ok(), own, "{line}");
        }
    }

    /// Of two entries for the same words the laxer would win.
    #[test]
    fn entries_of_the_same_command_read_an_option_in_the_same_way() {
        let mut differ = Vec::new();
        for (first, all) in &*OWN {
            for (at, one) in all.iter().enumerate() {
                let same = |other: &&Own| other.words == one.words && !std::ptr::eq(other.entry, one.entry);
                for other in all[at + 1..].iter().filter(same) {
                    let (flags, others) = (&one.entry.grammar.flags, &other.entry.grammar.flags);
                    let read = |flag: &crate::policy::commands::grammar::Flag| (flag.takes, flag.among.clone());
                    let unlike =
                        flags.iter().filter(|(name, flag)| others.get(name).is_some_and(|it| read(it) != read(flag)));
                    differ.extend(unlike.map(|(name, _)| format!("{first} {} {name}", one.words.join(" "))));
                }
            }
        }
        assert!(differ.is_empty(), "{differ:#?}");
    }
}

//! How the project's own programs are run: the table `programs.yaml`, and which words say what runs. Where a program
//! stands is looked at by `bash::programs`.

use crate::policy::built_in::BuiltIn;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What runs a file: `python x.py`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Interpreter {
    /// Options, and what takes a value.
    #[serde(flatten)]
    pub line: Line,
    /// Options that load a module by name; only those of `LOADERS` are known.
    loaders: String,
    /// Options whose value is code.
    code: String,
    /// The option before a module's name.
    pub module: Option<String>,
    /// The option before the program; the operands are its input.
    file: Option<String>,
    /// With this option it needs no operand.
    bare: Option<String>,
    /// The first operand has an ending, or it is no file.
    files: bool,
    /// First operands that are commands of its own, which run code from its input.
    verbs: String,
    /// The first operand may be a class of the class path.
    classes: bool,
    /// It is the project's own when any of these files is there.
    pub when: Vec<String>,
}

/// Options in front of what runs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Line {
    options: String,
    values: String,
    /// Options whose value says which warnings count.
    warnings: String,
    /// How options begin whose value is a part of the word.
    prefixes: String,
}

/// What builds the program and runs it, or runs the command behind it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Builder {
    commands: Vec<String>,
    #[serde(flatten)]
    pub line: Line,
    /// It is known where any of these files is there.
    pub when: Vec<String>,
    /// The first operand is a package or a file of the project: `./cmd/x`.
    pub packages: bool,
}

/// The scripts of a package.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scripts {
    /// They are known where any of these files is there.
    pub when: Vec<String>,
    run: Vec<String>,
    direct: Vec<String>,
    names: Vec<String>,
    /// Options whose value is where a server listens.
    hosts: String,
    /// What may be handed to a script whose program is not known.
    #[serde(flatten)]
    pub line: Line,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    interpreters: BTreeMap<String, Interpreter>,
    builders: Vec<Builder>,
    scripts: Scripts,
    wrappers: Vec<Builder>,
    stems: Vec<String>,
    before: Vec<String>,
    words: Vec<String>,
    hands: Vec<String>,
    puts: Vec<String>,
    foreign: Vec<String>,
    tools: Vec<String>,
    modules: Vec<String>,
}

static TABLE: LazyLock<BuiltIn<Table>> =
    LazyLock::new(|| BuiltIn::read("programs.yaml", include_str!("programs.yaml")));

/// Why the table cannot be used.
pub(super) fn fault() -> Option<&'static str> {
    TABLE.fault.as_deref()
}

/// Modules that a loader option may name: they compile the program, and come with the project's packages.
const LOADERS: [&str; 7] = [
    "tsx", "tsx/esm", "ts-node/register", "ts-node/esm", "esbuild-register", "source-map-support/register",
    "bundler/setup",
];

/// What the words behind an interpreter run.
#[derive(Debug, PartialEq, Eq)]
pub enum Runs {
    File(usize),
    Module(usize),
    /// Files that it finds itself.
    Found,
    Itself,
}

/// An interpreter by its name: `python3.11` is `python`.
pub fn interpreter(name: &str) -> Option<&'static Interpreter> {
    let plain = name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    TABLE.interpreters.get(name).or_else(|| TABLE.interpreters.get(plain))
}

/// What builds and runs a program, and how many words name it.
pub fn builder(words: &[&str]) -> Option<(&'static Builder, usize)> {
    named(&TABLE.builders, words)
}

/// What runs the command behind it in the project's environment, and how many words name it.
pub fn wrapper(words: &[&str]) -> Option<(&'static Builder, usize)> {
    named(&TABLE.wrappers, words)
}

/// The longest of the commands that the words begin with.
fn named(builders: &'static [Builder], words: &[&str]) -> Option<(&'static Builder, usize)> {
    let lengths = |builder: &'static Builder| {
        let fits = builder.commands.iter().filter(|command| begins(words, command));
        fits.map(move |command| (builder, command.split(' ').count()))
    };
    builders.iter().flat_map(lengths).max_by_key(|(_, length)| *length)
}

fn begins(words: &[&str], command: &str) -> bool {
    let mut words = words.iter();
    command.split(' ').all(|own| words.next() == Some(&own))
}

/// The script of `package.json` that words run: where its name stands, and where what it is handed begins.
pub fn script(words: &[&str]) -> Option<(&'static Scripts, usize, usize)> {
    let scripts = &TABLE.scripts;
    if let Some(command) = scripts.run.iter().find(|command| begins(words, command)) {
        let at = command.split(' ').count();
        // `bun run src/index.ts` is no script.
        if words.get(at).is_some_and(|name| is_file_name(name)) {
            return None;
        }
        return (words.len() > at).then_some((scripts, at, at + 1));
    }
    let command = scripts.direct.iter().find(|command| begins(words, command))?;
    let at = if command.contains(' ') { 1 } else { command.split(' ').count() };
    let name = words.get(at)?;
    scripts.knows(name).then_some((scripts, at, at + 1))
}

/// The word in a text that says that a call reaches beyond the workspace or changes data.
pub fn reaching(text: &str) -> Option<String> {
    let table = &**TABLE;
    if text.starts_with("db:") && !text.ends_with(":status") {
        return Some("db".to_owned());
    }
    parts(text).into_iter().find(|word| reaches(word) || table.hands.contains(word))
}

/// The word in the name of a build target that says so.
pub fn reaching_target(name: &str) -> Option<String> {
    let puts = |word: &str| TABLE.puts.iter().any(|stem| word.starts_with(stem));
    parts(name).into_iter().find(|word| reaches(word) || puts(word))
}

fn reaches(word: &str) -> bool {
    let table = &**TABLE;
    let stemmed = |word: &str| table.stems.iter().any(|stem| word.starts_with(stem));
    // `redeploy`, `npmpublish`.
    let again = table.before.iter().any(|before| word.strip_prefix(before.as_str()).is_some_and(stemmed));
    table.words.iter().any(|known| known == word) || stemmed(word) || again
}

/// Whether a folder or a file of such a name is not a program of the project.
pub fn is_foreign(part: &str) -> bool {
    TABLE.foreign.iter().any(|foreign| foreign == part)
}

/// Whether a program is a tool that the repository brings along, with commands of its own.
pub fn is_tool(base: &str) -> bool {
    let stem = base.split('.').next().unwrap_or(base);
    TABLE.tools.iter().any(|tool| tool == stem)
}

/// Whether a module of such a name comes with python.
pub fn is_module(name: &str) -> bool {
    TABLE.modules.iter().any(|module| module == name)
}

/// The words of a name in lower case: `dbMigrate`, `db:migrate` and `db-migrate` have the same.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for char in text.chars() {
        let begins = char.is_ascii_uppercase() && before.is_ascii_lowercase();
        if begins || !char.is_ascii_alphabetic() {
            parts.push(String::new());
        }
        if char.is_ascii_alphabetic()
            && let Some(part) = parts.last_mut()
        {
            part.push(char.to_ascii_lowercase());
        }
        before = char;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn lists(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// Whether a text says which warnings of python count, and loads nothing: `action:message:category:module:line`.
pub fn is_warning(text: &str) -> bool {
    let category = text.split(':').nth(2).unwrap_or("");
    category.trim().chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

impl Line {
    /// How many words an option takes that says which warnings count; none when it is another option.
    fn warns(&self, word: &str, next: Option<&str>) -> Result<Option<usize>, String> {
        let Some(option) = self.warnings.split_whitespace().find(|option| word.starts_with(*option)) else {
            return Ok(None);
        };
        let attached = &word[option.len()..];
        let (value, takes) = if attached.is_empty() { (next.unwrap_or("."), 2) } else { (attached, 1) };
        if is_warning(value) { Ok(Some(takes)) } else { Err(format!("{option} {value} loads a module")) }
    }

    /// How many words an option takes, itself included; none when it is not known.
    pub fn takes(&self, word: &str) -> Option<usize> {
        if lists(&self.options, word) {
            return Some(1);
        }
        if lists(&self.values, word) {
            return Some(2);
        }
        if self.prefixes.split_whitespace().any(|prefix| word.len() > prefix.len() && word.starts_with(prefix)) {
            return Some(1);
        }
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let long = name.starts_with("--") || name.len() > 2;
        if long && !value.is_empty() && lists(&self.values, name) {
            return Some(1);
        }
        // `-Wignore`, `-Itest`.
        let short = word.get(..2).filter(|head| !word.starts_with("--") && word.len() > 2 && lists(&self.values, head));
        short.map(|_| 1)
    }
}

impl Scripts {
    /// Whether a script of such a name is one that packages have.
    pub fn knows(&self, name: &str) -> bool {
        let head = name.split(':').next().unwrap_or(name);
        self.names.iter().any(|known| known == head)
    }

    /// How many words an option takes that says where a server listens: on this machine. None for another option.
    pub fn listens(&self, word: &str, next: Option<&str>) -> Result<Option<usize>, String> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if !lists(&self.hosts, name) {
            return Ok(None);
        }
        let here = value.or(next).is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "::1" | "[::1]"));
        let takes = if value.is_some() { 1 } else { 2 };
        here.then_some(Some(takes)).ok_or_else(|| format!("{name} lets other machines connect"))
    }
}

impl Interpreter {
    /// What the words behind its name run. The error is why that is not known.
    pub fn runs(&self, words: &[Option<&str>]) -> Result<Runs, String> {
        let mut at = 0;
        let mut bare = false;
        while let Some(word) = words.get(at) {
            let Some(word) = *word else { return Err("cannot tell which program runs: write its name".to_owned()) };
            if matches!(word, "--version" | "-version" | "-V" | "-v" | "--help" | "-h") && words.len() == 1 {
                return Ok(Runs::Itself);
            }
            if self.module.as_deref() == Some(word) {
                return if at + 1 < words.len() { Ok(Runs::Module(at + 1)) } else { Err(Self::nothing()) };
            }
            if self.file.as_deref().is_some_and(|option| lists(option, word)) {
                return if at + 1 < words.len() { Ok(Runs::File(at + 1)) } else { Err(Self::nothing()) };
            }
            if let Some(name) = self.cluster(word) {
                return Ok(Runs::File(at + name));
            }
            bare |= self.bare.as_deref() == Some(word);
            if let Some(takes) = self.line.warns(word, words.get(at + 1).copied().flatten())? {
                at += takes;
                continue;
            }
            if let Some(takes) = self.line.takes(word) {
                at += takes;
                continue;
            }
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            if lists(&self.loaders, name) {
                let named = if value.is_empty() { words.get(at + 1).copied().flatten() } else { Some(value) };
                if !named.is_some_and(|named| LOADERS.contains(&named)) {
                    return Err(format!("{name} loads a module first"));
                }
                at += if value.is_empty() { 2 } else { 1 };
                continue;
            }
            let dashed = word.starts_with('-');
            if word == "-" {
                return Err(Self::nothing());
            }
            if dashed && lists(&self.code, name) {
                return Err("runs code from the command line".to_owned());
            }
            if dashed {
                return Err(format!("unrecognized option {word}"));
            }
            if self.file.is_some() || (self.files && !is_file_name(word)) {
                return Ok(Runs::Itself);
            }
            if lists(&self.verbs, word) {
                return Err(Self::nothing());
            }
            if self.classes && word.starts_with('@') {
                return Err(format!("{word} names a file with more arguments"));
            }
            // What java takes for a file: an archive, a source, or a path.
            let named = word.contains('/') || matches!(word.rsplit_once('.'), Some((_, "jar" | "java")));
            if self.classes && !(named && is_file_name(word)) {
                const SYSTEM: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];
                let own = !SYSTEM.iter().any(|head| word.starts_with(head));
                return if own { Ok(Runs::Found) } else { Err(format!("{word} is not a class of the project")) };
            }
            return Ok(Runs::File(at));
        }
        if bare { Ok(Runs::Found) } else { Err(Self::nothing()) }
    }

    /// Whether the program comes with an option, so that the operands are what it reads.
    pub fn takes_file(&self) -> bool {
        self.file.is_some()
    }

    fn nothing() -> String {
        "runs code from its input".to_owned()
    }

    /// `jq -rf x.jq`: the option before the program at the end of a cluster of known letters.
    fn cluster(&self, word: &str) -> Option<usize> {
        let letters = word.strip_prefix('-').filter(|letters| letters.len() > 1 && !letters.starts_with('-'))?;
        let file = self.file.as_deref()?;
        let (last, before) = (letters.chars().next_back()?, &letters[..letters.len() - 1]);
        let known = before.chars().all(|letter| lists(&self.line.options, &format!("-{letter}")));
        (known && lists(file, &format!("-{last}"))).then_some(1)
    }
}

/// `src/index.ts`: a name with an ending, or a path.
fn is_file_name(word: &str) -> bool {
    word.starts_with(['.', '/']) || word.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(line: &str) -> Result<Runs, String> {
        let mut words = line.split(' ');
        let interpreter = interpreter(words.next().unwrap()).unwrap();
        interpreter.runs(&words.map(Some).collect::<Vec<_>>())
    }

    #[test]
    fn an_interpreter_runs_a_file_a_module_or_nothing_that_is_known() {
        assert!(!TABLE.interpreters.is_empty(), "the table is read");
        for (line, expected) in [
            ("python x.py", Runs::File(0)),
            ("python3.11 -u -W ignore x.py -c y", Runs::File(3)),
            ("python -m pkg -c x", Runs::Module(1)),
            ("node --import=tsx x.ts", Runs::File(1)),
            ("node --test", Runs::Found),
            ("node --test a.js", Runs::File(1)),
            ("jq -rf a.jq b.json", Runs::File(1)),
            ("jq .x b.json", Runs::Itself),
            ("ruby -Itest a_test.rb", Runs::File(1)),
            ("bun run src/index.ts", Runs::File(1)),
            ("bun install", Runs::Itself),
            ("java -Xmx1g -jar target/x.jar", Runs::File(2)),
            ("java -cp out com.x.Main", Runs::Found),
        ] {
            assert_eq!(runs(line), Ok(expected), "{line}");
        }
        for line in [
            "python -c x", "python -cx", "python -", "python -X pycache_prefix=/tmp x.py", "node -e x",
            "node --eval=x", "node -r ./x y.js", "node --import=data:text/javascript,1 y.js",
            "node --env-file=.env x.js", "ruby -e x", "perl -ne x y", "php -r x", "java -javaagent:x.jar -jar y.jar",
            "java -XX:OnOutOfMemoryError=id -jar y.jar", "java jdk.x.Main",
        ] {
            assert!(runs(line).is_err(), "{line}");
        }
    }

    #[test]
    fn names_say_what_reaches_out() {
        for text in ["deploy.sh", "dbMigrate", "db:seed", "npm-publish", "release", "drop_tables.py", "pushAll"] {
            assert!(reaching(text).is_some(), "{text}");
        }
        for text in ["dropdown.py", "build:docs", "seedling", "test", "pusher", "main"] {
            assert_eq!(reaching(text), None, "{text}");
        }
    }
}

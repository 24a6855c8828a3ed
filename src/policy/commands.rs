//! The tables of what commands do: data files in `commands/`, read once. An option that is not in a table is
//! not proven, and a command that is in none is not known.

pub mod args;
pub mod awk;
pub mod grammar;
mod lists;
pub mod programs;
pub mod project;
pub mod sed;
pub mod sqlite;
pub mod targets;

pub use lists::Lists;

use crate::policy::built_in::BuiltIn;
use crate::policy::unit::Class;
use grammar::Grammar;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What is known of a command.
#[expect(clippy::struct_excessive_bools, reason = "columns of a table")]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// What it does, whatever its options; reading when nothing is said.
    pub does: Vec<Class>,
    /// What it does in words, where its class does not say it.
    pub says: String,
    #[serde(flatten)]
    pub grammar: Grammar,
    /// Options with which it goes down into folders; `always` for one that does without.
    pub tree: String,
    /// Options with which it goes through links in those folders.
    pub follows: String,
    /// It acts on the present folder when no path is given.
    pub here: bool,
    /// It writes, and what it writes may be a link.
    pub carries: bool,
    /// It puts what it reads into its last operand: under its own name, when that is a folder.
    pub places: bool,
    /// The next words are a command of their own.
    pub wraps: bool,
    /// A program of its own that needs a reader: awk, sed, jq, find, test, …
    pub program: Option<Language>,
    /// Options of which one must be there: without it does something else, which is not proven.
    pub needs: String,
    /// Without options and operands it does something else, which is not proven.
    pub never_bare: bool,
    /// Files with which the repository may say what runs under its name, each with the word in it that says so.
    pub pinned: Vec<String>,
    /// Prints names of files, one in a line: may feed `xargs`.
    pub lists: Option<Lists>,
    /// It does so only with one of these options.
    pub lists_with: String,
    /// The options with which it still prints nothing but names.
    pub plain: String,
    /// The options with which it hands on whole lines of what it is fed, and nothing else. None: it does not.
    pub passes: Option<String>,
    /// How names begin when no operand says it.
    pub begins: String,
    /// Options with which a zero byte ends a name.
    pub zero: String,
    /// Options with which it prints names of hidden files, too; `always` for one that does without.
    pub hidden: String,
}

impl Entry {
    /// Whether nothing is known of its words.
    pub fn is_bare(&self) -> bool {
        self.grammar.flags.is_empty() && self.grammar.operands.is_empty()
    }
}

/// Small languages in the arguments of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Awk,
    Sed,
    Jq,
    /// The expression of test and `[`.
    Test,
    /// The `VAR=value` of env.
    Env,
    /// The command of find's `-exec`.
    Find,
    /// A duration that is waited for.
    Sleep,
    Date,
    Dd,
    /// What sqlite3 is told: statements and commands that only look.
    Sqlite,
    /// The letters of ps, one of which shows the environment.
    Ps,
    /// The format of printf, which can set a variable.
    Printf,
    /// Numbers that are counted up to.
    Seq,
    /// The rights that a file is given.
    Mode,
    /// The name of an archive, which may be on another machine.
    Archive,
    /// Operands of which one that begins with `@` is a file of further words.
    Responses,
}

type Entries = BTreeMap<String, Entry>;

static FILES: LazyLock<[BuiltIn<Entries>; 6]> = LazyLock::new(|| {
    [
        BuiltIn::read("readers.yaml", include_str!("commands/readers.yaml")),
        BuiltIn::read("writers.yaml", include_str!("commands/writers.yaml")),
        BuiltIn::read("wrappers.yaml", include_str!("commands/wrappers.yaml")),
        BuiltIn::read("git.yaml", include_str!("commands/git.yaml")),
        BuiltIn::read("network.yaml", include_str!("commands/network.yaml")),
        BuiltIn::read("services.yaml", include_str!("commands/services.yaml")),
    ]
});

/// Commands of which only what they do in words is known, and that they talk to other machines.
static INSTALLS: LazyLock<BuiltIn<BTreeMap<String, Vec<String>>>> =
    LazyLock::new(|| BuiltIn::read("installs.yaml", include_str!("commands/installs.yaml")));

/// What is known of those, and their names.
static INSTALLED: LazyLock<Vec<(Entry, &[String])>> = LazyLock::new(|| {
    let entry = |says: &String| Entry { does: vec![Class::Network], says: says.clone(), ..Entry::default() };
    INSTALLS.iter().map(|(says, names)| (entry(says), names.as_slice())).collect()
});

/// All of them by their names.
static TABLE: LazyLock<BTreeMap<&str, &Entry>> = LazyLock::new(|| {
    let installs = INSTALLED.iter().flat_map(|(entry, names)| names.iter().map(move |name| (name.as_str(), entry)));
    let files = FILES.iter().flat_map(|file| file.iter().map(|(name, entry)| (name.as_str(), entry)));
    files.chain(installs).collect()
});

/// Why one of the tables cannot be used.
pub fn fault() -> Option<&'static str> {
    let own = FILES.iter().find_map(|file| file.fault.as_deref()).or(INSTALLS.fault.as_deref());
    own.or_else(project::fault).or_else(programs::fault)
}

/// What is known of a command, by its name; of a subcommand by both (`git log`).
pub fn entry(name: &str) -> Option<&'static Entry> {
    TABLE.get(name).copied()
}

/// Whether a subcommand of git has parts of its own (`git stash pop`) that are known.
pub fn has_parts(subcommand: &str) -> bool {
    let parts = format!("git {subcommand} ");
    let table: &BTreeMap<&str, &Entry> = &TABLE;
    table.range(parts.as_str()..).next().is_some_and(|(name, _)| name.starts_with(&parts))
}

/// Builtins and programs that run, rebind or hide text that was not checked. They could do anything.
pub fn runs_text(name: &str) -> Option<&'static str> {
    const RUNNERS: [(&str, &[&str]); 7] = [
        ("runs text as a command", &["eval", "source", ".", "exec", "trap", "coproc", "fc", "bind", "let"]),
        ("shows or changes the shell's history", &["history"]),
        (
            "changes the meaning of later commands",
            &["alias", "unalias", "enable", "hash", "builtin", "shopt", "popd", "pushd", "dirs"],
        ),
        (
            "runs or expands its operands",
            &["compgen", "complete", "compopt", "mapfile", "readarray", "getopts", "select"],
        ),
        ("declares variables that may change what commands do", &["declare", "typeset", "local", "readonly"]),
        ("runs as another user", &["sudo", "doas", "su", "runuser", "pkexec", "chroot", "nsenter", "unshare"]),
        (
            "runs any program under another name",
            &["busybox", "toybox", "ld.so", "ld-linux-x86-64.so.2", "ld-linux.so.2"],
        ),
    ];
    RUNNERS.iter().find(|(_, names)| names.contains(&name)).map(|(why, _)| *why)
}

/// What is said of a command that is in no table.
pub fn unlisted(name: &str) -> String {
    let does = match name {
        "kill" | "pkill" | "killall" | "fuser" => "signals processes, perhaps not its own",
        "systemctl" | "service" | "launchctl" => "controls system services",
        "crontab" | "at" | "batch" => "schedules commands for later",
        "mount" | "umount" => "changes what is mounted",
        "shutdown" | "reboot" | "halt" | "poweroff" => "stops the machine",
        _ => return format!("unknown command {name}"),
    };
    does.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_in_two_tables() {
        let names = FILES.iter().flat_map(|file| file.keys()).chain(INSTALLS.values().flatten());
        let mut seen = std::collections::BTreeSet::new();
        let twice: Vec<&String> = names.filter(|name| !seen.insert(name.as_str())).collect();
        assert!(twice.is_empty() && TABLE.len() > 120, "{twice:?}");
    }
}

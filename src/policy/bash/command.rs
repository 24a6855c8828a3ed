//! A simple command: its words expanded, its name looked up, what it does found by the tables.

use super::assign::Stands;
use super::listers::{kinds, lister};
use super::walk::{MAX_DEPTH, Walker};
use crate::policy::commands::args::{self, Parsed};
use crate::policy::commands::grammar::Role;
use crate::policy::commands::{self, Entry, Language, Lists, awk, project, sed};
use crate::policy::git_programs;
use crate::policy::unit::{Class, Doubt, Field, Program, Target, Unit};
use brush_parser::ast::{Assignment, AssignmentValue, CommandPrefixOrSuffixItem, IoRedirect, SimpleCommand};

/// Where the system keeps its programs: there a path is as good as a name.
const SYSTEM: [&str; 7] =
    ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];
/// Longest wait in seconds.
const MAX_SLEEP: f64 = 300.0;

impl Walker<'_> {
    pub(super) fn simple(&mut self, SimpleCommand { prefix, word_or_name, suffix }: &SimpleCommand) {
        let mut redirects: Vec<&IoRedirect> = Vec::new();
        let mut assignments: Vec<&Assignment> = Vec::new();
        let mut words: Vec<Field> = Vec::new();
        let mut spelled: Vec<&str> = Vec::new();
        for item in prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect),
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => assignments.push(assignment),
                CommandPrefixOrSuffixItem::Word(word) => self.refuse(&word.value, "a word stands before the command"),
                CommandPrefixOrSuffixItem::ProcessSubstitution(..) => drop(self.process(item)),
            }
        }
        if let Some(word) = word_or_name {
            words.extend(self.expand(&word.value));
            spelled.push(&word.value);
        }
        for item in suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect),
                CommandPrefixOrSuffixItem::Word(word) => {
                    words.extend(self.expand(&word.value));
                    spelled.push(&word.value);
                }
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    if matches!(assignment.value, AssignmentValue::Array(_)) {
                        self.unseen(&word.value, "an array is declared");
                    }
                    words.extend(self.expand(&word.value));
                    spelled.push(&word.value);
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                    words.extend(self.process(item));
                    spelled.push("<(…)");
                }
            }
        }
        let name = words.first().and_then(Field::text).unwrap_or("").to_owned();
        let stands = if words.is_empty() { Stands::Alone } else { Stands::Before(&name) };
        for assignment in assignments {
            self.assign(assignment, stands);
        }
        if !words.is_empty() {
            self.run(&words, &spelled.join(" "));
        }
        for redirect in redirects {
            self.redirect(redirect);
        }
    }

    /// Judges a command by its words, the first of which is its name.
    pub(super) fn run(&mut self, words: &[Field], text: &str) {
        self.depth += 1;
        if self.depth > 2 * MAX_DEPTH {
            self.refuse(text, "its commands run each other too deep");
        } else {
            self.run_here(words, text);
        }
        self.depth -= 1;
    }

    fn run_here(&mut self, words: &[Field], text: &str) {
        let Some((first, args)) = words.split_first() else { return };
        let Some(name) = first.text() else {
            return self.opaque(args, text, "which command runs is not known");
        };
        if name.is_empty() || !name.chars().all(|char| char.is_ascii_graphic()) {
            return self.opaque(args, text, "the command's name is no plain word");
        }
        if first.listed {
            return self.opaque(args, text, "the command's name is a pattern");
        }
        let name = match name.rsplit_once('/') {
            None => name,
            Some((folder, base)) if SYSTEM.contains(&folder) => base,
            Some(_) => return self.by_path(name, args, text),
        };
        if let Some(why) = commands::runs_text(name) {
            return match name {
                "source" | "." => self.script_file(name, args, text),
                _ => self.opaque(args, text, why),
            };
        }
        if self.builtin(name, args, text) || self.wrapper(name, args, text) {
            return;
        }
        let both = args.first().and_then(Field::text).and_then(|sub| commands::entry(&format!("{name} {sub}")));
        if both.is_none() && self.is_own(name, args) {
            return self.units.push(named(name, args, text).does(Class::Build));
        }
        let unit = match (both, commands::entry(name)) {
            _ if name == "git" => self.git_here(args, text),
            (Some(entry), _) => self.known(entry, name, &args[1..], text),
            (None, Some(entry)) => self.known(entry, name, args, text),
            (None, None) => named(name, args, text).unknown(format!("{name} is not known to be harmless")),
        };
        self.units.push(unit);
        self.launched(args, text);
    }

    /// A command that could be any.
    fn opaque(&mut self, args: &[Field], text: &str, why: &str) {
        let mut unit = Unit::new("Bash", Program::Opaque, text).unclear(why);
        unit.args = args.to_vec();
        unit.more_flags = true;
        self.units.push(unit);
    }

    fn by_path(&mut self, name: &str, args: &[Field], text: &str) {
        let mut unit = Unit::new("Bash", Program::Path(name.to_owned()), text);
        unit.args = args.to_vec();
        let own = self.is_own(name, args);
        self.units.push(if own { unit.does(Class::Build) } else { unit.unknown("a program is run by its path") });
    }

    /// Whether it is one of the project's own commands, run in the project.
    fn is_own(&self, name: &str, args: &[Field]) -> bool {
        let inside = |folder: &std::path::PathBuf| {
            self.place.resolve(folder, ".").is_some_and(|folder| folder.starts_with(self.place.workspace))
        };
        project::is_own(name, args, &self.place)
            && self.shell.folders().is_some_and(|folders| folders.iter().all(inside))
    }

    /// A script in a file that is known: a program by its path, in this shell or in one of its own.
    pub(super) fn script_file(&mut self, name: &str, args: &[Field], text: &str) {
        let is_file = |path: &&str| {
            !path.starts_with(['-', '/']) || path.starts_with(&self.place.workspace.display().to_string())
        };
        match args.first().and_then(Field::text).filter(is_file) {
            Some(_) if self.is_own(name, args) => self.units.push(named(name, args, text).does(Class::Build)),
            Some(path) => {
                let mut unit = Unit::new("Bash", Program::Path(path.to_owned()), text).unclear("a script is run");
                unit.args = args[1..].to_vec();
                self.units.push(unit);
            }
            None => self.opaque(args, text, "it runs text that is not known"),
        }
    }

    /// An unknown command may run its operands: what they would do counts, too.
    fn launched(&mut self, args: &[Field], text: &str) {
        if self.units.last().is_some_and(Unit::proven) {
            return;
        }
        let acts = |name: &str| {
            let entry = commands::entry(name).is_some_and(|entry| !entry.does.is_empty() && !name.contains(' '));
            entry || commands::runs_text(name).is_some_and(|_| name != "history")
        };
        let at = args.iter().position(|field| {
            let base = field.text().map(|text| text.rsplit('/').next().unwrap_or(text));
            base.is_some_and(|name| name.len() > 1 && acts(name))
        });
        if let Some(at) = at {
            self.run(&args[at..], text);
        }
    }

    /// A command that is in the tables.
    pub(super) fn known(&mut self, entry: &Entry, name: &str, args: &[Field], text: &str) -> Unit {
        let parsed = args::parse(&entry.grammar, args);
        let mut unit = named(name, args, text);
        unit.classes.extend(entry.does.iter().copied());
        if entry.does.is_empty() {
            unit.classes.insert(Class::Read);
        }
        unit.flags.clone_from(&parsed.flags);
        unit.more_flags = parsed.more_flags;
        if let [only] = args
            && matches!(only.text(), Some("--help" | "--version"))
            && entry.does.is_empty()
        {
            return unit;
        }
        if entry.does.iter().all(|class| !matches!(class, Class::Network | Class::History)) {
            unit.doubts.extend(parsed.doubts.iter().cloned());
        }
        if entry.never_bare && args.is_empty() {
            unit.doubts.push(Doubt::Meaning(format!("{name} alone does more than look")));
        }
        let set = |names: &str| names.split_whitespace().any(|name| parsed.flags.contains(name));
        unit.tree = entry.tree == "always" || set(&entry.tree);
        let may_carry = match name {
            "cp" => unit.tree || set("no-dereference d preserve"),
            _ => !self.moves_plain_files(&parsed.operands),
        };
        unit.carries = entry.carries && may_carry;
        unit.lists = lister(entry, &parsed);
        unit.only = kinds(name, args, &parsed);
        if unit.lists == Some(Lists::Operands) {
            unit.roots = self.roots(&parsed);
        }
        for (role, field) in &parsed.values {
            match role {
                Role::Read => self.reads(field, &mut unit),
                Role::Write => self.writes(field, &mut unit),
                Role::Rev => self.revision(field, &mut unit),
                Role::Data | Role::Name | Role::Program | Role::Command => {}
            }
        }
        // An option that is not known may name another target.
        if !parsed.doubts.is_empty() && entry.does.iter().any(|class| matches!(class, Class::Write | Class::Delete)) {
            unit.writes.push(Target::Unknown);
        }
        // `tee` without a file, or with `/dev/null`, only hands on.
        if name == "tee" && unit.writes.is_empty() && !args.iter().any(Field::is_many) {
            unit.classes = [Class::Read].into();
        }
        let reads_here = unit.tree && entry.does.is_empty() && unit.reads.is_empty();
        if reads_here || (entry.here && unit.reads.is_empty()) {
            self.reads(&Field::known("."), &mut unit);
        }
        if let Some(language) = entry.program {
            self.language(language, &parsed, args, &mut unit);
        }
        unit
    }

    /// The small language in a command's arguments.
    fn language(&mut self, language: Language, parsed: &Parsed, args: &[Field], unit: &mut Unit) {
        let mut check = |check: &dyn Fn(&str) -> Result<(), String>| {
            for (_, program) in parsed.values.iter().filter(|(role, _)| *role == Role::Program) {
                let checked = program.text().map_or(Err("the program is not known".to_owned()), check);
                unit.doubts.extend(checked.err().map(Doubt::Words));
            }
        };
        match language {
            Language::Awk => check(&awk::check),
            Language::Sed => {
                check(&sed::check);
                if parsed.flags.contains("in-place") {
                    self.edited(parsed, unit);
                }
            }
            Language::Jq => check(&jq),
            Language::Test => super::conditions::test_command(args, unit),
            Language::Sleep => {
                let seconds = parsed.operands.first().and_then(Field::text).and_then(|text| text.parse::<f64>().ok());
                if !seconds.is_some_and(|seconds| (0.0..=MAX_SLEEP).contains(&seconds)) {
                    unit.doubts
                        .push(Doubt::Words(format!("a wait of more than {MAX_SLEEP} seconds, or of no known time")));
                }
            }
            Language::Date => {
                if parsed.operands.iter().any(|field| !field.text().is_some_and(|text| text.starts_with('+'))) {
                    unit.doubts.push(Doubt::Words("without a + date sets the clock".to_owned()));
                }
            }
            Language::Dd => self.dd(&parsed.operands, unit),
            Language::Find => self.find_runs(args),
            Language::Ps => {
                let shown =
                    |field: &Field| field.text().is_some_and(|text| text.chars().all(|char| "auxfw".contains(char)));
                if !parsed.operands.iter().all(shown) {
                    unit.doubts.push(Doubt::Words("ps may show the environment of programs".to_owned()));
                }
            }
            Language::Env => {}
        }
    }

    /// The files that `sed -i` edits, and what it keeps of them as they were.
    fn edited(&self, parsed: &Parsed, unit: &mut Unit) {
        let suffix = parsed.flags.iter().find_map(|flag| flag.strip_prefix("in-place=")).unwrap_or("");
        let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-' | '~');
        if !suffix.chars().all(plain) {
            unit.doubts.push(Doubt::Words("where sed keeps the file as it was is not known".to_owned()));
        }
        // Elsewhere than on Linux the next word is the suffix, and the file the script.
        if suffix.is_empty() && cfg!(not(target_os = "linux")) {
            unit.doubts.push(Doubt::Words("whether sed -i takes a suffix is not known: give one, -i.bak".to_owned()));
        }
        for (_, file) in parsed.values.iter().filter(|(role, _)| *role == Role::Read) {
            self.writes(file, unit);
            for kept in file.texts().unwrap_or_default().iter().filter(|_| !suffix.is_empty()) {
                self.writes(&Field::known(format!("{kept}{suffix}")), unit);
            }
        }
    }

    fn dd(&mut self, operands: &[Field], unit: &mut Unit) {
        for field in operands {
            match super::assign::setting(field) {
                Some((name, value)) if name == "if" => self.reads(&value, unit),
                Some((name, value)) if name == "of" => self.writes(&value, unit),
                Some((name, _))
                    if ["bs", "ibs", "obs", "cbs", "count", "skip", "seek", "status", "conv"].contains(&&*name) => {}
                _ => unit.doubts.push(Doubt::Words("an operand of dd is not known".to_owned())),
            }
        }
    }

    /// What `-exec` and its like run, with the files that are found as words that are not known.
    fn find_runs(&mut self, args: &[Field]) {
        let runs = |field: &Field| matches!(field.text(), Some("-exec" | "-execdir" | "-ok" | "-okdir"));
        let mut rest = args;
        while let Some(at) = rest.iter().position(runs) {
            rest = &rest[at + 1..];
            let end = rest.iter().position(|field| matches!(field.text(), Some(";" | "+"))).unwrap_or(rest.len());
            let found = |field: &Field| match field.text() {
                Some(text) if text.contains("{}") => Field::opaque(""),
                _ => field.clone(),
            };
            let inner: Vec<Field> = rest[..end].iter().map(found).collect();
            self.run(&inner, "find -exec …");
            rest = &rest[end..];
        }
    }

    /// Git, which does what its command says and what the configuration of the repository says.
    fn git_here(&mut self, args: &[Field], text: &str) -> Unit {
        let mut unit = self.git(args, text);
        let folders = self.shell.folders().unwrap_or_default();
        let programs = folders.iter().find_map(|folder| git_programs::named(self.place.view, folder));
        unit.doubts.extend(programs.map(Doubt::Words));
        unit
    }

    fn git(&mut self, args: &[Field], text: &str) -> Unit {
        let Some(entry) = commands::entry("git") else { return named("git", args, text).unknown("git") };
        let parsed = args::parse(&entry.grammar, args);
        let Some(at) = parsed.command_at else {
            let mut unit = named("git", args, text).does(Class::Read);
            unit.flags.clone_from(&parsed.flags);
            unit.doubts = parsed.doubts;
            return unit;
        };
        let rest = &args[at..];
        let mut names = rest.iter().map_while(Field::text).take(2);
        let (first, second) = (names.next().unwrap_or(""), names.next().unwrap_or(""));
        let lists = |field: &Field| {
            let text = field.text().unwrap_or("");
            ["-l", "--list", "--merged", "--no-merged", "--contains", "--no-contains", "--points-at"].contains(&text)
        };
        let (entry, skip) = if matches!(first, "branch" | "tag") && rest.iter().any(lists) {
            (commands::entry(&format!("git {first} --list")), 1)
        } else {
            match commands::entry(&format!("git {first} {second}")) {
                Some(entry) => (Some(entry), 2),
                None => (commands::entry(&format!("git {first}")), 1),
            }
        };
        let mut unit = match entry {
            Some(entry) => self.known(entry, "git", &rest[skip..], text),
            None => named("git", args, text).unknown(format!("git {first} is not known to be harmless")),
        };
        unit.args = rest.to_vec();
        unit.doubts.extend(parsed.doubts);
        unit
    }
}

/// A command by its name, of which nothing more is known yet.
fn named(name: &str, args: &[Field], text: &str) -> Unit {
    let mut unit = Unit::new("Bash", Program::Named(name.to_owned()), text);
    unit.args = args.to_vec();
    unit.listed = args.iter().any(|field| field.listed);
    unit
}

/// A filter of jq that only looks at its input.
fn jq(filter: &str) -> Result<(), String> {
    const POWERS: [&str; 7] = ["env", "ENV", "import", "include", "modulemeta", "get_search_list", "input_filename"];
    let mut words = filter.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    match words.find(|word| POWERS.contains(word)) {
        Some(word) => Err(format!("{word} of jq reads more than its input")),
        None => Ok(()),
    }
}

//! A simple command: its words expanded, its name looked up, what it does found by the tables.

use super::assign::{SYSTEM, Stands};
use super::listers::{begins, kinds, left_out, lister};
use super::walk::MAX_DEPTH;
use super::walker::Walker;
use crate::policy::commands::args;
use crate::policy::commands::grammar::Role;
use crate::policy::commands::{self, Entry, project};
use crate::policy::place::{Place, Reading};
use crate::policy::unit::{Class, Doubt, Field, Program, Target, Unit};
use brush_parser::ast::{
    Assignment, AssignmentValue, CommandPrefixOrSuffixItem, CommandSuffix, IoRedirect, SimpleCommand, Word,
};
use std::path::Path;

impl Walker<'_> {
    pub(super) fn simple(&mut self, SimpleCommand { prefix, word_or_name, suffix }: &SimpleCommand) {
        let more = prefix.as_ref().map_or(0, |prefix| prefix.0.len());
        let redirected = suffix.iter().flat_map(|suffix| &suffix.0);
        let more = more + redirected.filter(|item| matches!(item, CommandPrefixOrSuffixItem::IoRedirect(_))).count();
        if self.is_too_much(1 + more, word_or_name.as_ref().map_or("", |word| &word.value)) {
            return;
        }
        let mut redirects: Vec<&IoRedirect> = Vec::new();
        let mut assignments: Vec<&Assignment> = Vec::new();
        let mut words: Vec<Field> = Vec::new();
        let mut spelled: Vec<&str> = Vec::new();
        let before = self.units.len();
        for item in prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect),
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => assignments.push(assignment),
                CommandPrefixOrSuffixItem::Word(word) => {
                    self.refuse(&word.value, "an unknown word comes before the command");
                }
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
        if let Some(variable) = opened(word_or_name.as_ref(), suffix.as_ref()) {
            self.unseen(variable, "a redirection sets the variable");
        }
        let name = words.first().and_then(Field::text).unwrap_or("").to_owned();
        let stands = if words.is_empty() { Stands::Alone } else { Stands::Before(&name) };
        for assignment in assignments {
            self.assign(assignment, stands);
        }
        // What runs in the words may have read a part of what comes through the pipe.
        self.feed = self.feed.take().filter(|_| self.units.len() == before);
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
            self.refuse(text, "commands are nested too deeply");
        } else {
            self.run_here(words, text);
        }
        self.depth -= 1;
    }

    fn run_here(&mut self, words: &[Field], text: &str) {
        let Some((first, args)) = words.split_first() else { return };
        let Some(name) = first.text() else {
            self.opaque(args, text, "cannot tell which program runs: write its name");
            return self.guessed(&first.might, args, text);
        };
        if name.is_empty() || !name.chars().all(|char| char.is_ascii_graphic()) {
            return self.opaque(args, text, "cannot tell which program runs: its name is not a plain word");
        }
        if first.listed {
            return self.opaque(args, text, "cannot tell which program runs: its name is a pattern");
        }
        let path = super::builtin::normal(Path::new(name)).display().to_string();
        let name = match path.rsplit_once('/') {
            None if !name.contains('/') => name,
            Some((folder, base)) if name.starts_with('/') && SYSTEM.contains(&folder) => base,
            _ => return self.by_path(name, args, text),
        };
        if let Some(why) = commands::runs_text(name) {
            return match name {
                "source" | "." => self.script_file(name, args, text),
                _ => self.runs_text(name, args, text, why),
            };
        }
        if self.builtin(name, args, text) || self.wrapper(name, args, text) {
            return;
        }
        let (both, skip) = of_subcommand(name, args);
        let own = if both.is_none() { self.own(name, args) } else { Err(None) };
        if own.is_ok() {
            return self.units.push(named(name, args, text).does(Class::Build));
        }
        if both.is_none() && self.program(name, args, text) {
            return;
        }
        let mut unit = match (both, commands::entry(name)) {
            _ if name == "git" => self.git_here(args, text),
            _ if name == "find" => self.found(args, text),
            (Some(entry), _) => self.known(entry, name, &args[skip..], text),
            (None, Some(entry)) => self.known(entry, name, args, text),
            (None, None) => named(name, args, text).unknown(commands::unlisted(name)),
        };
        if let (Err(Some(why)), Some(doubt)) = (own, unit.doubts.iter_mut().find(|doubt| is_meaning(doubt))) {
            *doubt = Doubt::Meaning(why);
        }
        let unknown = unit.doubts.iter().any(is_meaning);
        let reaches = unit.classes.iter().any(|class| matches!(class, Class::Network | Class::History));
        if reaches || unknown {
            unit.given.extend(self.given(args));
        }
        if name == "rm" && unit.tree {
            self.units.extend(self.removed(unit));
        } else {
            self.units.push(unit);
        }
        if !reaches {
            self.launched(args, text);
        }
    }

    /// Whether it is a command of the project's own, from a folder of the project's own. The error is why it is not, where
    /// it is a command that a project may have.
    pub(super) fn own(&self, name: &str, args: &[Field]) -> Result<(), Option<String>> {
        let folders = self.shell.folders().ok_or(None)?;
        folders.iter().try_for_each(|folder| project::own(name, args, &Place { cwd: folder, ..self.place }))
    }

    /// A program that may be one of these among others: what each would do counts, too, but not as if it had been done.
    fn guessed(&mut self, names: &[String], args: &[Field], text: &str) {
        for name in names {
            // Each may run the next word, which may be one of as many.
            if self.is_too_much(1, text) {
                return;
            }
            let shell = self.shell.clone();
            self.run(&[&[Field::one_of(vec![name.clone()])], args].concat(), text);
            self.shell = shell;
        }
    }

    pub(super) fn opaque(&mut self, args: &[Field], text: &str, why: &str) {
        let mut unit = Unit::new("Bash", Program::Opaque, text).unclear(why);
        unit.args = args.to_vec();
        unit.more_flags = true;
        unit.given = self.given(args);
        self.units.push(unit);
    }

    /// A command that runs its words, or changes what later words mean: what they would do counts, too.
    fn runs_text(&mut self, name: &str, args: &[Field], text: &str, why: &str) {
        self.opaque(args, text, why);
        let texts = args.iter().filter_map(Field::text);
        let script = match name {
            "eval" => texts.collect::<Vec<_>>().join(" "),
            "trap" => texts.take(1).collect(),
            "alias" => {
                texts.filter_map(|text| text.split_once('=')).map(|(_, text)| text).collect::<Vec<_>>().join("\n")
            }
            _ => return self.launched(args, text),
        };
        if !script.trim().is_empty() && args.iter().all(|field| field.text().is_some()) {
            match super::refused(&script) {
                Some(why) => self.refuse(&script, &why),
                None => self.subscript(&script, super::parse::Grammar::Bash),
            }
        }
    }

    /// An unknown command may run its operands: what they would do counts, too.
    pub(super) fn launched(&mut self, args: &[Field], text: &str) {
        if self.units.last().is_some_and(Unit::proven) {
            return;
        }
        let acts = |name: &str| {
            let acts = |entry: &Entry| (!entry.does.is_empty() || entry.wraps) && !name.contains(' ');
            let entry = commands::entry(name).is_some_and(acts);
            entry
                || matches!(name, "bash" | "sh" | "dash")
                || commands::runs_text(name).is_some_and(|_| name != "history")
        };
        let at = args.iter().position(|field| {
            let base = field.text().map(|text| text.rsplit('/').next().unwrap_or(text));
            base.is_some_and(|name| name.len() > 1 && acts(name))
        });
        if let Some(at) = at {
            self.run(&args[at..], text);
        }
    }

    pub(super) fn known(&mut self, entry: &Entry, name: &str, args: &[Field], text: &str) -> Unit {
        let parsed = args::parse(&entry.grammar, args);
        let mut unit = named(name, args, text);
        unit.classes.extend(entry.does.iter().copied());
        if entry.does.is_empty() {
            unit.classes.insert(Class::Read);
        }
        if self.is_pinned(entry) {
            unit.classes = [Class::Build].into();
        }
        unit.flags.clone_from(&parsed.flags);
        unit.more_flags = parsed.more_flags;
        if let [only] = args
            && matches!(only.text(), Some("--help" | "--version"))
            && entry.does.is_empty()
            && name != "git"
        {
            return unit;
        }
        // Of a command that only talks to other machines nothing else is known, and that is said once.
        if !(entry.is_bare() && entry.does.contains(&Class::Network)) {
            unit.doubts.extend(parsed.doubts.iter().cloned());
        }
        if entry.never_bare && args.is_empty() {
            unit.doubts.push(Doubt::Meaning(format!("{name} without arguments may change something")));
        }
        if !entry.needs.is_empty() && !entry.needs.split_whitespace().any(|name| parsed.flags.contains(name)) {
            unit.doubts.push(Doubt::Meaning(format!("{name} with these arguments may change something")));
        }
        let set = |names: &str| names == "always" || names.split_whitespace().any(|name| parsed.flags.contains(name));
        unit.tree = set(&entry.tree);
        // Of two folders it compares the files, those in them at least.
        unit.tree |= name == "diff" && parsed.operands.iter().any(|field| self.may_be_folder(field));
        unit.follows = set(&entry.follows);
        let may_carry = match name {
            "cp" => unit.tree || set("no-dereference d preserve"),
            _ => !self.moves_plain_files(&parsed),
        };
        unit.carries = entry.carries && may_carry;
        if unit.classes.contains(&Class::Local) && !self.place.view.has_own_daemon(self.place.home) {
            unit.classes = [Class::Network].into();
            unit.doubts
                .push(Doubt::Meaning(format!("{name} connects to another machine, by its context or DOCKER_HOST")));
        }
        unit.lists = lister(entry, &parsed);
        unit.only = kinds(entry, name, args, &parsed);
        (unit.except, unit.past) = left_out(name, args, &parsed);
        for (role, field) in &parsed.values {
            match role {
                Role::Read => self.reads(field, &mut unit),
                Role::Write => self.writes(field, &mut unit),
                Role::Rev => self.revision(field, &mut unit),
                Role::Spec => self.added(field, &mut unit),
                Role::Name if entry.lists.is_some() => self.shows(field, &mut unit),
                Role::Data
                | Role::Name
                | Role::Program
                | Role::Command
                | Role::Target
                | Role::Module
                | Role::Warning => {}
            }
        }
        if name == "git" {
            self.pathspecs(&parsed, &mut unit);
        }
        if entry.does.contains(&Class::Network) {
            self.reaches_out(entry, name, &parsed, &mut unit);
        }
        // An option that is not known may name another target.
        if !parsed.doubts.is_empty() && entry.does.iter().any(|class| matches!(class, Class::Write | Class::Delete)) {
            unit.writes.push(Target::Unknown);
        }
        // `tee` without a file, or with `/dev/null`, only hands on.
        if name == "tee" && unit.writes.is_empty() && !args.iter().any(Field::is_many) {
            unit.classes = [Class::Read].into();
        }
        if entry.places {
            self.places(&parsed, &mut unit);
        }
        if unit.moves.iter().filter_map(Target::path).any(|path| path.starts_with(self.place.workspace))
            && unit.writes.iter().filter_map(Target::path).any(|path| self.place.is_scratch(path))
        {
            let why = "moves files to the scratch folder, which is deleted at the end of the run: copy them instead";
            unit.doubts.push(Doubt::Meaning(why.to_owned()));
        }
        let reads_here = unit.tree && entry.does.is_empty() && unit.reads.is_empty();
        if reads_here || (entry.here && unit.reads.is_empty()) {
            self.reads(&Field::known("."), &mut unit);
        }
        if name == "rg" {
            self.unhidden(&parsed, &mut unit);
        }
        unit.names.zero = set(&entry.zero);
        if entry.lists.is_some() {
            unit.names.hidden |= set(&entry.hidden);
            unit.names.begins = begins(entry, &parsed);
            if unit.names.begins == [""] && !self.may_list_dashes(name, &parsed) {
                unit.names.begins = vec!["./".to_owned()];
            }
            if name == "git" && !unit.names.zero && self.tracks_odd_names() {
                unit.lists = None;
            }
            if unit.names.roots.is_empty() {
                unit.names.roots.clone_from(&unit.reads);
            }
            // `ls src` prints names without their folder.
            if unit.names.roots.is_empty() || entry.grammar.harmless {
                self.shows(&Field::known("."), &mut unit);
            }
        }
        if let Some(language) = entry.program {
            self.language(language, &parsed, args, &mut unit);
        }
        unit
    }
}

impl Walker<'_> {
    /// Whether a file here says what runs under the command's name.
    fn is_pinned(&self, entry: &Entry) -> bool {
        let said = |folder: &Path, pin: &String| {
            let (file, word) = pin.split_once(' ').unwrap_or((pin, ""));
            match self.place.view.text(&folder.join(file)) {
                Reading::Missing => false,
                Reading::Unreadable => true,
                Reading::Text(text) => text.contains(word),
            }
        };
        !entry.pinned.is_empty()
            && self.shell.folders().is_none_or(|folders| {
                let mut all = folders.iter().flat_map(|folder| folder.ancestors());
                all.any(|folder| entry.pinned.iter().any(|pin| said(folder, pin)))
            })
    }
}

fn is_meaning(doubt: &Doubt) -> bool {
    matches!(doubt, Doubt::Meaning(_))
}

/// What is known of a command by its name and the word or two behind it, and how many those are.
fn of_subcommand(name: &str, args: &[Field]) -> (Option<&'static Entry>, usize) {
    let words: Vec<&str> = args.iter().map_while(Field::text).take(2).collect();
    let named = |count: usize| commands::entry(&format!("{name} {}", words.get(..count)?.join(" ")));
    match (named(2), named(1)) {
        (Some(entry), _) => (Some(entry), 2),
        (None, found) => (found, 1),
    }
}

/// The word `{name}` before a redirection: bash sets that variable to the number of the opened file.
fn opened<'a>(first: Option<&'a Word>, suffix: Option<&'a CommandSuffix>) -> Option<&'a str> {
    let mut before = first;
    for item in suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            CommandPrefixOrSuffixItem::Word(word) => before = Some(word),
            CommandPrefixOrSuffixItem::IoRedirect(_) => {
                let name = before.take().and_then(|word| word.value.strip_prefix('{')?.strip_suffix('}'));
                if let Some(name) = name.filter(|name| !name.is_empty() && !name.contains(',')) {
                    return Some(name);
                }
            }
            CommandPrefixOrSuffixItem::AssignmentWord(..) | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                before = None;
            }
        }
    }
    None
}

/// A command by its name, of which nothing more is known yet.
pub(super) fn named(name: &str, args: &[Field], text: &str) -> Unit {
    let mut unit = Unit::new("Bash", Program::Named(name.to_owned()), text);
    unit.args = args.to_vec();
    unit.listed = args.iter().any(|field| field.listed);
    unit
}

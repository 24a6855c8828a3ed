//! Commands that run another one: `env`, `timeout`, `xargs`, `bash -c`, … What they run is judged.

use super::assign::setting;
use super::parse::Grammar;
use super::walk::{Dashes, Feed, Walker};
use crate::policy::commands::{self, args};
use crate::policy::glob::is_of_kind;
use crate::policy::place::{Step, Walked};
use crate::policy::unit::{Class, Doubt, Field, Program, Target, Unit};
use std::path::Path;

/// Most names that are looked at for blanks.
const MAX_NAMES: usize = 20_000;

impl Walker<'_> {
    /// Whether `name` runs another command; then both have been judged.
    pub(super) fn wrapper(&mut self, name: &str, args: &[Field], text: &str) -> bool {
        match name {
            "bash" | "sh" | "dash" => self.shell_command(name, args, text),
            "zsh" | "ksh" | "mksh" | "fish" | "csh" | "tcsh" | "rbash" | "pwsh" => {
                self.unseen(text, "another shell reads it in its own way");
            }
            "command" if args.first().and_then(Field::text).is_some_and(|first| matches!(first, "-v" | "-V")) => {
                self.units.push(Unit::new("Bash", Program::Named(name.to_owned()), text).does(Class::Read));
            }
            _ => match commands::entry(name).filter(|entry| entry.wraps) {
                Some(entry) => self.wrapped(name, entry, args, text),
                None => return false,
            },
        }
        true
    }

    fn wrapped(&mut self, name: &str, entry: &commands::Entry, args: &[Field], text: &str) {
        let parsed = args::parse(&entry.grammar, args);
        let mut unit = Unit::new("Bash", Program::Named(name.to_owned()), text).does(Class::Read);
        unit.args = args.to_vec();
        unit.doubts = parsed.doubts;
        if name == "env"
            && unit.args.iter().any(|arg| arg.text().is_none_or(|arg| arg.starts_with("-S") || arg.starts_with("--s")))
        {
            unit.program = Program::Opaque;
        }
        let mut inner = parsed.command_at.map_or(&[][..], |at| &args[at..]);
        while name == "env" && inner.first().and_then(setting).is_some() {
            if let Some((name, value)) = inner.first().and_then(setting) {
                self.exported(&name, &value);
            }
            inner = &inner[1..];
        }
        if inner.is_empty() && name == "env" {
            unit.doubts.push(Doubt::Words("it shows the environment, which holds secrets".to_owned()));
        }
        if !unit.doubts.is_empty() || inner.is_empty() {
            self.units.push(unit);
        }
        match name {
            "xargs" => self.xargs(inner, args, text),
            _ if inner.is_empty() => {}
            // `command` runs a builtin in this very shell; the others are programs, and start a process.
            "command" => self.run(inner, text),
            _ => self.apart(|walker| walker.run(inner, text)),
        }
    }

    /// The command of `xargs`, with what comes through the pipe as its last words.
    fn xargs(&mut self, inner: &[Field], args: &[Field], text: &str) {
        let handed = match &self.feed {
            Feed::Paths { dashes: Dashes::Never, .. } => Field::known("./_"),
            Feed::Paths { dashes: Dashes::Perhaps, .. } => Field::one_of(vec!["./_".into(), "-_".into()]),
            Feed::Unknown => Field::many(),
        };
        let replaces = args.iter().filter_map(Field::text).find_map(|arg| arg.strip_prefix("-I"));
        let mut words: Vec<Field> = inner.to_vec();
        if words.is_empty() {
            words.push(Field::known("echo"));
        }
        match replaces {
            Some(mark) => {
                let mark = if mark.is_empty() { "{}" } else { mark };
                for word in words.iter_mut().skip(1) {
                    match word.text() {
                        Some(text) if text == mark => *word = handed.clone(),
                        Some(text) if text.contains(mark) => *word = Field::opaque(""),
                        _ => {}
                    }
                }
            }
            None => words.push(handed),
        }
        let before = self.units.len();
        self.apart(|walker| walker.run(&words, text));
        let split = !args.iter().any(|arg| arg.text().is_some_and(|arg| arg == "-0" || arg == "--null"));
        let blanks = match &self.feed {
            Feed::Paths { roots, only, .. } => split && roots.iter().any(|root| self.has_blanks(root, only)),
            Feed::Unknown => false,
        };
        for unit in &mut self.units[before..] {
            let Feed::Paths { roots, hidden, only, .. } = &self.feed else {
                unit.doubts.push(Doubt::Words("what comes through the pipe is not known".to_owned()));
                continue;
            };
            if blanks {
                let why = "a name with a blank in it is several words to xargs: hand them on with -print0 and -0";
                unit.doubts.push(Doubt::Words(why.to_owned()));
            }
            if unit.classes.contains(&Class::Delete) {
                unit.doubts.push(Doubt::Words("which files are deleted is not known".to_owned()));
            }
            if !unit.writes.is_empty() {
                unit.writes.extend(roots.iter().cloned());
                unit.tree = true;
            }
            if !unit.reads.is_empty() {
                unit.only.clone_from(only);
                unit.reads.extend(roots.iter().cloned());
                unit.tree |= hidden;
                unit.follows |= hidden;
            }
        }
    }

    /// Whether the path of a file of such a name below may be several words, or is not known.
    fn has_blanks(&self, root: &Target, only: &[String]) -> bool {
        let Target::Path(root) = root else { return true };
        let blank = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.contains(|char: char| char.is_whitespace() || matches!(char, '\'' | '"' | '\\'))
        };
        let mut step = |path: &Path| match path {
            _ if blank(path) && (self.place.view.is_folder(path) || is_of_kind(path, only)) => Step::Stop,
            _ if path.ends_with(".git") || self.place.view.link(path).is_some() => Step::Past,
            _ => Step::Down,
        };
        blank(root) || self.place.walk(root, MAX_NAMES, &mut step) != Walked::Whole
    }

    /// `bash -c SCRIPT`: the script is walked. `sh` may read it in its own way, so both ways count.
    fn shell_command(&mut self, name: &str, args: &[Field], text: &str) {
        let harmless = |text: &str| {
            matches!(text, "--norc" | "--noprofile" | "--posix" | "-e" | "-u" | "-eu" | "-x" | "-ex" | "-n")
        };
        let script = args.iter().position(|field| field.text().is_none_or(|text| !harmless(text)));
        let flag = script.and_then(|at| args[at].text()).unwrap_or("");
        let runs =
            flag.starts_with('-') && flag.ends_with('c') && flag[1..].chars().all(|c| matches!(c, 'e' | 'u' | 'c'));
        if let Some(at) = script.filter(|_| !flag.is_empty() && !flag.starts_with(['-', '+'])) {
            return self.script_file(name, &args[at..], text);
        }
        let script = script.filter(|_| runs).and_then(|at| args.get(at + 1)).and_then(Field::text);
        let Some(script) = script.filter(|script| !script.starts_with('-')) else {
            return self.unseen(text, "what the shell runs is not known");
        };
        // Another door, so what is kept out at the first is kept out here, too.
        if let Some(why) = super::refused(script) {
            return self.refuse(script, &why);
        }
        let script = script.to_owned();
        self.other_shell(&script, Grammar::Bash);
        if name != "bash" {
            self.other_shell(&script, Grammar::Sh);
        }
    }
}

//! Commands that run another one: `env`, `timeout`, `xargs`, `bash -c`, … What they run is judged.

use super::assign::setting;
use super::parse::Grammar;
use super::walk::{Feed, Walker};
use crate::policy::commands::{self, args};
use crate::policy::unit::{Class, Doubt, Field, Program, Target, Unit};

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
            _ => self.run(inner, text),
        }
    }

    /// The command of `xargs`, with what comes through the pipe as its last words.
    fn xargs(&mut self, inner: &[Field], args: &[Field], text: &str) {
        let handed = match self.feed {
            Feed::Paths => Field::known("./_"),
            // One of them may begin with a dash.
            Feed::AnyPaths => {
                Field { value: crate::policy::unit::Value::OneOf(vec!["./_".into(), "-_".into()]), listed: false }
            }
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
        self.run(&words, text);
        let (roots, only) = &self.fed;
        let everywhere = [self.place.workspace.to_owned()];
        let roots = if self.feed == Feed::Paths && !roots.is_empty() { roots.as_slice() } else { &everywhere };
        let below = || roots.iter().cloned().map(Target::Path);
        for unit in &mut self.units[before..] {
            match self.feed {
                Feed::Unknown => unit.doubts.push(Doubt::Words("what comes through the pipe is not known".to_owned())),
                Feed::Paths | Feed::AnyPaths => {
                    if !unit.writes.is_empty() {
                        unit.writes.extend(below());
                        unit.tree = true;
                    }
                    if unit.classes.contains(&Class::Delete) {
                        unit.doubts.push(Doubt::Words("which files are deleted is not known".to_owned()));
                    }
                }
            }
            // `find` finds what is hidden, too.
            if self.feed == Feed::Paths && !unit.reads.is_empty() {
                unit.reads.extend(below());
                unit.tree = true;
                unit.only.clone_from(only);
            }
        }
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
        let Some(script) = script else {
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

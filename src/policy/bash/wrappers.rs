//! Commands that run another one: `env`, `timeout`, `bash -c`, … What they run is judged. `xargs` is found in `xargs`.

use super::assign::setting;
use super::parse::Grammar;
use super::walker::Walker;
use crate::policy::commands::{self, args};
use crate::policy::unit::{Class, Doubt, Field, Program, Unit};

impl Walker<'_> {
    /// Whether `name` runs another command; then both have been judged.
    pub(super) fn wrapper(&mut self, name: &str, args: &[Field], text: &str) -> bool {
        match name {
            "bash" | "sh" | "dash" => self.shell_command(name, args, text),
            "zsh" | "ksh" | "mksh" | "fish" | "csh" | "tcsh" | "rbash" | "pwsh" => {
                self.unseen(text, "cannot read a script of another shell");
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
        unit.doubts.clone_from(&parsed.doubts);
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
            unit.doubts.push(Doubt::Words("prints the environment, which may hold secrets".to_owned()));
        }
        if !unit.doubts.is_empty() || inner.is_empty() {
            self.units.push(unit);
        }
        match name {
            "xargs" => {
                let before = self.units.len();
                self.xargs(inner, &parsed, text);
                // Which program of the project runs with what is not known.
                for unit in self.units[before..].iter_mut().filter(|unit| unit.classes.contains(&Class::Run)) {
                    unit.doubts.push(Doubt::Words("cannot tell which files it runs on".to_owned()));
                }
            }
            _ if inner.is_empty() => {}
            // `command` runs a builtin in this very shell; the others are programs, and start a process.
            "command" => self.run(inner, text),
            _ => self.apart(|walker| walker.run(inner, text)),
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
        let Some(script) = script.filter(|script| !script.starts_with('-')) else {
            return self.unseen(text, "runs unknown code");
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

//! Builtins that change the shell itself: its folder, its options, its variables.

use super::assign::{puts_system_first, setting};
use super::variables::is_own_name;
use super::walker::Walker;
use crate::policy::unit::{Class, Field, Program, Unit};
use std::path::{Component, Path, PathBuf};

/// Deepest folder that is gone on from: what is looked up of a path takes longer the longer it is.
const MAX_DEPTH: usize = 100;

impl Walker<'_> {
    /// Whether `name` is such a builtin; then it has been judged.
    pub(super) fn builtin(&mut self, name: &str, args: &[Field], text: &str) -> bool {
        let mut unit = Unit::new("Bash", Program::Named(name.to_owned()), text).does(Class::Read);
        unit.args = args.to_vec();
        let why = match name {
            "cd" => self.cd(args),
            "set" => (!is_harmless_set(args)).then_some("set shows or changes shell options"),
            "export" => self.export(args, text),
            "unset" => self.unset(args),
            "read" => self.read(args),
            "kill" if self.ends_own_jobs(text) => None,
            _ => return false,
        };
        self.units.push(match why {
            Some(why) => unit.unclear(why),
            None => unit,
        });
        true
    }

    fn cd(&mut self, args: &[Field]) -> Option<&'static str> {
        let operands: Vec<&Field> =
            args.iter().filter(|field| !matches!(field.text(), Some("-P" | "-L" | "--"))).collect();
        let to = match operands.as_slice() {
            [] => vec![self.place.home.display().to_string()],
            [field] if !field.may_be_option() => field.texts().map(<[String]>::to_vec).unwrap_or_default(),
            _ => Vec::new(),
        };
        if to.is_empty() {
            self.shell.lose_folder();
            return Some("cannot tell which folder it changes to");
        }
        self.moves = true;
        if self.shell.is_lost() {
            return None;
        }
        // When it may be anywhere, it still may be where it has been.
        let from = self.shell.folders().unwrap_or(self.shell.seen()).to_vec();
        let physical =
            args.iter().any(|field| field.text().is_some_and(|text| text.starts_with('-') && text.contains('P')));
        let there = |from: &PathBuf, to: &String| {
            if physical { self.place.resolve(from, to) } else { Some(normal(&from.join(to))) }
        };
        if from.iter().any(|from| from.components().count() > MAX_DEPTH) {
            self.shell.lose_folder();
            return Some("the path is too deep");
        }
        let folders: Vec<PathBuf> = from.iter().flat_map(|from| to.iter().filter_map(|to| there(from, to))).collect();
        let is_there =
            |path: &PathBuf| self.place.resolve(path, ".").is_some_and(|path| self.place.view.is_folder(&path));
        let sure = self.steady && folders.len() == from.len() * to.len() && folders.iter().all(is_there);
        self.shell.go(folders, sure);
        None
    }

    fn export(&mut self, args: &[Field], text: &str) -> Option<&'static str> {
        for (name, value) in args.iter().filter_map(setting) {
            if name == "PATH" && exports_system_path(text) {
                continue;
            }
            self.exported(&name, &value);
        }
        let all_set = args.iter().all(|field| setting(field).is_some());
        (args.is_empty() || !all_set).then_some("prints the environment or exports a variable")
    }

    fn unset(&mut self, args: &[Field]) -> Option<&'static str> {
        for field in args {
            match field.text() {
                Some(name) if is_own_name(name) => self.shell.forget(name),
                _ => return Some("cannot tell which variable is removed"),
            }
        }
        None
    }

    /// Whether `kill`, as it is spelled, is about nothing but what this very script has put into the background: `%1`,
    /// `$!`, `$PID` after `PID=$!`.
    fn ends_own_jobs(&self, text: &str) -> bool {
        const SIGNALS: [&str; 9] = ["-0", "-1", "-2", "-9", "-15", "-INT", "-TERM", "-KILL", "-HUP"];
        let is_job = |word: &str| {
            let word = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word);
            let number = word.strip_prefix('%').is_some_and(|job| job.parse::<u16>().is_ok());
            let saved = word
                .strip_prefix('$')
                .is_some_and(|name| is_own_name(name) && self.is_constant(name) && holds_job(self.text, name));
            number || saved || matches!(word, "$!" | "%%" | "%+" | "%-")
        };
        let mut words = text.split_whitespace();
        let jobs: Vec<&str> = words.by_ref().skip_while(|word| *word == "kill" || SIGNALS.contains(word)).collect();
        text.starts_with("kill ") && !jobs.is_empty() && jobs.into_iter().all(is_job)
    }

    /// Variables that it fills are not known from there on, nor in the rounds of a loop before it.
    fn read(&mut self, args: &[Field]) -> Option<&'static str> {
        let mut args = args.iter();
        while let Some(field) = args.next() {
            match field.text() {
                Some(name) if name.starts_with(|char: char| char.is_ascii_uppercase()) && is_own_name(name) => {
                    self.shell.set(name, None);
                }
                Some("-r" | "-s" | "-rs" | "-er" | "-e") => {}
                Some("-d" | "-n" | "-N" | "-t" | "-p" | "-rp" | "-rd" | "-rn") => drop(args.next()),
                Some(name) if is_own_name(name) && self.shell.get(name).is_none() && !self.shell.is_number(name) => {}
                _ => return Some("cannot tell which variable it sets"),
            }
        }
        None
    }
}

/// Whether the script says `NAME=$!`, whole.
fn holds_job(text: &str, name: &str) -> bool {
    let said = format!("{name}=$!");
    text.match_indices(&said).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + said.len()..].chars().next();
        before.is_none_or(|char| char.is_whitespace() || char == ';' || char == '&')
            && after.is_none_or(|char| char.is_whitespace() || char == ';')
    })
}

/// `export PATH="/opt/homebrew/bin:$PATH"`, as it is spelled. What stands beside it is plain, so that no quote or brace
/// hides another value.
fn exports_system_path(text: &str) -> bool {
    let plain = |word: &str| word.chars().all(|char| char.is_ascii_alphanumeric() || "_=./:-".contains(char));
    let (path, others): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(|word| word.starts_with("PATH="));
    path.len() == 1 && path[0].strip_prefix("PATH=").is_some_and(puts_system_first) && others.into_iter().all(plain)
}

/// `set -e`, `set -euo pipefail` and their like.
fn is_harmless_set(args: &[Field]) -> bool {
    let letters = |text: &str| text.len() > 1 && text[1..].chars().all(|char| matches!(char, 'e' | 'u' | 'o'));
    let harmless = |field: &Field| {
        field.text().is_some_and(|text| text == "pipefail" || (text.starts_with(['-', '+']) && letters(text)))
    };
    !args.is_empty() && args.iter().all(harmless) && args.last().and_then(Field::text) != Some("-o")
}

/// A path without `.` and `..`, as `cd` counts them: by name, without looking at links.
pub(super) fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => path.push(part),
        }
        path
    })
}

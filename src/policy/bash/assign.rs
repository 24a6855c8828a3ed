//! Assignments, alone or before a command.

use super::settings::{is_harmless_setting, is_of_lints};
use super::variables::is_own_name;
use super::walker::Walker;
use crate::policy::commands::project;
use crate::policy::place::Place;
use crate::policy::unit::{Class, Field, Program, Unit, Value};
use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue};
use std::path::PathBuf;

/// Where the system keeps its programs: there a path is as good as a name.
pub(super) const SYSTEM: [&str; 7] =
    ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// Where an assignment stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stands<'a> {
    /// Alone: it sets a variable of the shell.
    Alone,
    /// Before this command: it sets the command's environment.
    Before(&'a str),
}

impl Walker<'_> {
    pub(super) fn assign(&mut self, assignment: &Assignment, stands: Stands<'_>) {
        let Assignment { name, value, append, loc: _ } = assignment;
        let text = assignment.to_string();
        let name = match name {
            AssignmentName::VariableName(name) => name,
            AssignmentName::ArrayElementName(_, index) => {
                self.arithmetic(index);
                self.unseen(&text, "bash runs code in an array index");
                return;
            }
        };
        let value = match value {
            AssignmentValue::Scalar(word) if name == "PATH" && !append && puts_system_first(&word.value) => {
                return self.units.push(Unit::new("Bash", Program::Assignment, text).does(Class::Read));
            }
            AssignmentValue::Scalar(word) => self.single(&word.value),
            AssignmentValue::Array(elements) => {
                for (index, element) in elements {
                    if let Some(index) = index {
                        self.arithmetic(&index.value);
                    }
                    self.expand(&element.value);
                }
                Field::opaque("")
            }
        };
        self.set(&text, name, &value, *append, stands);
    }

    fn set(&mut self, text: &str, name: &str, value: &Field, append: bool, stands: Stands<'_>) {
        let unit = Unit::new("Bash", Program::Assignment, text).does(Class::Read);
        let own = is_own_name(name) && stands == Stands::Alone;
        let split = name == "IFS" && stands == Stands::Before("read");
        if is_harmless_setting(name, value) || split {
            self.units.push(unit);
        } else if self.is_build_setting(name, value) {
            let unit = Unit::new("Bash", Program::Assignment, text).does(Class::Build);
            self.units.push(unit);
        } else if own {
            let heads = if append { self.shell.guesses(name).to_vec() } else { vec![String::new()] };
            let tails = value.texts().unwrap_or(&value.might);
            let guesses = heads.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head}{tail}")));
            self.shell.guess(name, guesses.filter(|text| !text.is_empty()));
            let texts = value.texts().filter(|_| !append && self.is_constant(name)).map(<[String]>::to_vec);
            self.shell.set(name, texts);
            if self.is_counter(name) {
                self.shell.count(name);
            }
            self.units.push(unit);
        } else {
            self.units.push(unit.unclear(format!("the variable {name} may change what commands do")));
        }
    }

    /// Whether a variable tells a build where in the project its code stands, or which warnings count: what it runs so
    /// is the project's own.
    fn is_build_setting(&self, name: &str, value: &Field) -> bool {
        let inside = |path: &str| {
            let folders = self.targets(if path.is_empty() { "." } else { path }).filter(|_| !path.starts_with('~'));
            let own = |folder: &PathBuf| folder.starts_with(self.place.workspace) && !self.is_foreign(folder);
            folders.is_some_and(|folders| folders.iter().all(own))
        };
        match (name, value.text()) {
            ("PYTHONPATH", Some(value)) => value.split(':').all(inside),
            ("RUSTFLAGS" | "RUSTDOCFLAGS", Some(value)) => is_of_lints(value),
            ("DJANGO_SETTINGS_MODULE", Some(value)) => self.shell.folders().is_some_and(|folders| {
                folders.iter().all(|folder| project::is_own_module(value, &Place { cwd: folder, ..self.place }))
            }),
            _ => false,
        }
    }

    /// `NAME=value` as a word of `env` or `export`.
    pub(super) fn exported(&mut self, name: &str, value: &Field) {
        let unit = Unit::new("Bash", Program::Assignment, format!("{name}=…")).does(Class::Read);
        let unit = if is_harmless_setting(name, value) {
            unit
        } else if self.is_build_setting(name, value) {
            Unit { classes: [Class::Build].into(), ..unit }
        } else {
            unit.unclear(format!("the variable {name} may change what commands do"))
        };
        self.units.push(unit);
    }
}

/// Whether a value of `PATH`, as it is spelled, only puts folders of the system before or behind what it was: where the
/// system keeps its programs a name is as good as a path.
pub fn puts_system_first(value: &str) -> bool {
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    let is_same = |part: &str| matches!(part, "$PATH" | "${PATH}");
    inner.split(':').all(|part| is_same(part) || SYSTEM.contains(&part))
        && inner.split(':').filter(|part| is_same(part)).count() == 1
}

/// The name and value of a word like `NAME=value`.
pub fn setting(field: &Field) -> Option<(String, Field)> {
    let (text, known) = match &field.value {
        Value::OneOf(texts) if texts.len() == 1 => (texts.first()?, true),
        Value::Opaque { prefix } => (prefix, false),
        Value::OneOf(_) | Value::Many | Value::Names { .. } => return None,
    };
    let (name, value) = text.split_once('=')?;
    let is_name = !name.is_empty()
        && !name.starts_with(|char: char| char.is_ascii_digit())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    is_name.then(|| (name.to_owned(), if known { Field::known(value) } else { Field::opaque(value) }))
}

//! The small languages in the arguments of commands: what each reader of `commands` says, and those that are one
//! line long.

use super::walker::Walker;
use crate::policy::commands::args::Parsed;
use crate::policy::commands::grammar::Role;
use crate::policy::commands::{Language, awk, sed, sqlite};
use crate::policy::unit::{Doubt, Field, Unit, Value};

/// Longest wait in seconds.
const MAX_SLEEP: f64 = 300.0;
/// Farthest count of `seq`.
const MAX_COUNT: f64 = 1e7;

impl Walker<'_> {
    /// The small language in a command's arguments.
    pub(super) fn language(&mut self, language: Language, parsed: &Parsed, args: &[Field], unit: &mut Unit) {
        let mut check = |check: &dyn Fn(&str) -> Result<(), String>| {
            for (_, program) in parsed.values.iter().filter(|(role, _)| *role == Role::Program) {
                let checked = program.text().map_or(Err("cannot tell which program runs".to_owned()), check);
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
                        .push(Doubt::Words(format!("a wait of more than {MAX_SLEEP} seconds, or of unknown length")));
                }
            }
            Language::Date => {
                if parsed.operands.iter().any(|field| !field.text().is_some_and(|text| text.starts_with('+'))) {
                    unit.doubts.push(Doubt::Words("date without +FORMAT may set the clock".to_owned()));
                }
            }
            Language::Dd => self.dd(&parsed.operands, unit),
            Language::Ps => {
                let letters =
                    |field: &Field| field.text().is_some_and(|text| text.chars().all(|char| "auxfw".contains(char)));
                // `-o environ`.
                let columns = |field: &Field| field.text().is_some_and(|text| !text.contains("env"));
                if !parsed.operands.iter().all(letters) || !args.iter().all(columns) {
                    unit.doubts.push(Doubt::Words("ps may show the environment of processes".to_owned()));
                }
            }
            Language::Printf => {
                // Without a word to name the variable, `%n` sets none.
                let format = parsed.operands.first().and_then(Field::texts);
                let sets = format.is_none_or(|formats| formats.iter().any(|format| sets_variable(format)));
                if sets && parsed.operands.len() > 1 {
                    unit.doubts.push(Doubt::Words("%n of printf sets a variable".to_owned()));
                }
            }
            Language::Seq => {
                let small = |number: f64| number.abs() <= MAX_COUNT;
                let counts = |field: &Field| field.text().and_then(|text| text.parse().ok()).is_some_and(small);
                if !parsed.operands.iter().all(counts) {
                    unit.doubts.push(Doubt::Words("seq may print too many numbers".to_owned()));
                }
            }
            Language::Sqlite => {
                check(&sqlite::check);
                if parsed.operands.len() < 2 {
                    unit.doubts.push(Doubt::Words("sqlite3 runs commands from its input".to_owned()));
                }
                // A database that is not there is made.
                let makes = |field: &&Field| {
                    let there = |path: &String| path == ":memory:" || self.is_written_or_there(path);
                    !parsed.flags.contains("readonly") && !field.texts().is_some_and(|texts| texts.iter().all(there))
                };
                if let Some(database) = parsed.operands.first().filter(makes) {
                    self.writes(database, unit);
                }
            }
            Language::Mode => check(&mode),
            Language::Archive => {
                let files = parsed.values.iter().filter(|(role, _)| *role == Role::Read);
                if files.filter_map(|(_, file)| file.texts()).flatten().any(|file| file.contains(':')) {
                    unit.doubts.push(Doubt::Words("the archive may be on another machine".to_owned()));
                }
            }
            Language::Responses => {
                let listed = |field: &Field| match &field.value {
                    Value::OneOf(texts) => texts.iter().any(|text| text.starts_with('@')),
                    Value::Names { names, .. } => names.begins.iter().any(|begin| begin.starts_with('@')),
                    Value::Opaque { prefix } => prefix.is_empty() || prefix.starts_with('@'),
                    Value::Many => true,
                };
                if parsed.operands.iter().any(listed) {
                    unit.doubts.push(Doubt::Words(
                        "an argument that begins with @ names a file with more arguments".to_owned(),
                    ));
                }
            }
            // What find runs is judged in `find`.
            Language::Env | Language::Find => {}
        }
    }

    /// The files that `sed -i` edits, and what it keeps of them as they were.
    fn edited(&self, parsed: &Parsed, unit: &mut Unit) {
        let suffix = parsed.flags.iter().find_map(|flag| flag.strip_prefix("in-place=")).unwrap_or("");
        let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-' | '~');
        if !suffix.chars().all(plain) {
            unit.doubts.push(Doubt::Words("cannot tell where sed keeps its backup".to_owned()));
        }
        // Elsewhere than on Linux the next word is the suffix, and the file the script.
        if suffix.is_empty() && cfg!(not(target_os = "linux")) {
            unit.doubts.push(Doubt::Words("sed -i needs a suffix to be clear: write -i.bak".to_owned()));
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
                _ => unit.doubts.push(Doubt::Words("dd has an unrecognized operand".to_owned())),
            }
        }
    }
}

/// Rights that a file is given: who may read, write and run it, and never as whom it runs.
fn mode(mode: &str) -> Result<(), String> {
    let octal = |text: &str| {
        let digits = text.strip_prefix('0').unwrap_or(text);
        digits.len() <= 3 && !text.is_empty() && digits.chars().all(|char| char.is_digit(8))
    };
    let clause = |clause: &str| {
        let rights = clause.trim_start_matches(['u', 'g', 'o', 'a']);
        rights.starts_with(['+', '-', '=']) && rights.chars().all(|char| "+-=rwxXugo".contains(char))
    };
    if octal(mode) || mode.split(',').all(clause) {
        return Ok(());
    }
    Err(format!("the mode {mode} may set whose rights a program runs with"))
}

/// Whether a format of printf has a `%n`.
fn sets_variable(format: &str) -> bool {
    // `%%` is a sign; what stands between `%` and its letter are flags, numbers and sizes.
    let text = format.replace("%%", "");
    text.split('%').skip(1).any(|rest| {
        let inner = |char: char| char.is_ascii_digit() || "-+ #'*.hlLqjzt".contains(char);
        rest.trim_start_matches(inner).starts_with('n')
    })
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

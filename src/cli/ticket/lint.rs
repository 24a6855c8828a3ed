//! `programmator ticket lint`: what is odd about tickets, one line each, in the form that editors and CI read.

use super::named::{Fault, folder, found};
use crate::adapters::tickets::{self, Places};
use crate::base::json;
use crate::base::text::clean_line;
use crate::domain::ticket::card::Card;
use crate::domain::ticket::{Problem, Severity, lint, parse::parse};
use rustix::fs::{Access, access};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Words that a shell knows without a program of that name.
const BUILT_IN: [&str; 33] = [
    ".", "builtin", "case", "cd", "command", "declare", "eval", "exec", "exit", "export", "for", "if", "let", "local",
    "popd", "pushd", "read", "select", "set", "shift", "shopt", "source", "time", "trap", "type", "typeset", "ulimit",
    "umask", "unset", "until", "wait", "while", "function",
];

/// `lint --json`: add, never rename.
#[derive(Serialize)]
struct Row {
    file: String,
    #[serde(flatten)]
    problem: Problem,
}

/// Looks at the tickets named, else at all of the folder. Gives the exit code: 1 when something was found.
pub(super) fn run(
    out: &mut dyn Write,
    places: &Places,
    path: Option<&str>,
    names: &[String],
    as_json: bool,
) -> Result<u8, Fault> {
    let wanted = names.iter().map(|name| found(name, places)).collect::<Result<Vec<_>, _>>()?;
    let (mut cards, mut files) = (Vec::new(), Vec::new());
    let mut rows: Vec<(PathBuf, Problem)> = Vec::new();
    let all = if wanted.is_empty() {
        tickets::files_in(&folder(places)?)?
    } else {
        // The others are looked at for ids alone.
        tickets::files_in(&places.dir()).unwrap_or_default()
    };
    let dir = places.dir();
    let all = all.into_iter().filter_map(|path| match tickets::stays_in(&dir, &path) {
        Ok(path) => Some(path),
        Err(error) => {
            if wanted.is_empty() {
                rows.push((path, unread(&error)));
            }
            None
        }
    });
    let mut paths: Vec<PathBuf> = all.collect();
    paths.extend(wanted.iter().cloned());
    paths.sort();
    paths.dedup();
    let is_wanted = |path: &PathBuf| wanted.is_empty() || wanted.contains(path);
    for file in paths {
        let bytes = match tickets::read(&file) {
            Ok(bytes) => bytes,
            Err(error) => {
                if is_wanted(&file) {
                    rows.push((file, unread(&error)));
                }
                continue;
            }
        };
        if is_wanted(&file) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            rows.extend(lint::file(&bytes, &name).into_iter().map(|problem| (file.clone(), problem)));
            let missing = missing(&bytes, &name, &places.folder, path);
            rows.extend(missing.into_iter().map(|problem| (file.clone(), problem)));
        }
        if let Some(card) = Card::read(&bytes) {
            cards.push(card);
            files.push(file);
        }
    }
    let stem = |file: &PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let together = lint::folder(&cards, &files.iter().map(stem).collect::<Vec<_>>());
    let together = together.into_iter().map(|(at, problem)| (files[at].clone(), problem));
    rows.extend(together.filter(|(file, _)| is_wanted(file)));
    rows.sort_by(|(a, one), (b, other)| (a, one.line, one.column).cmp(&(b, other.line, other.column)));
    let shown = |file: &Path| {
        let file = file.strip_prefix(&places.folder).unwrap_or(file);
        clean_line(&file.to_string_lossy(), 1_000)
    };
    let code = u8::from(!rows.is_empty());
    if as_json {
        let rows: Vec<Row> = rows.into_iter().map(|(file, problem)| Row { file: shown(&file), problem }).collect();
        writeln!(out, "{}", json::pretty(&rows)?)?;
        return Ok(code);
    }
    for (file, problem) in &rows {
        let message = clean_line(&problem.message, 400);
        writeln!(out, "{}:{}:{}: {message}", shown(file), problem.line, problem.column)?;
    }
    Ok(code)
}

fn unread(error: &tickets::LoadError) -> Problem {
    Problem { line: 1, column: 1, message: error.to_string(), severity: Severity::Error }
}

/// Validation commands whose program is nowhere to be found.
fn missing(bytes: &[u8], name: &str, folder: &Path, path: Option<&str>) -> Vec<Problem> {
    let ticket = parse(bytes, name);
    let text = String::from_utf8_lossy(bytes);
    let line_of = |command: &str| text.lines().position(|line| line.contains(command)).map_or(1, |at| at + 1);
    let gone = ticket.validation.iter().filter_map(|command| Some((command, lint::program(command)?)));
    gone.filter(|(_, program)| !is_there(program, folder, path))
        .map(|(command, program)| Problem {
            line: line_of(command.lines().next().unwrap_or_default()),
            column: 1,
            message: format!("command `{program}` not found: install it, or fix the validation command"),
            severity: Severity::Warning,
        })
        .collect()
}

fn is_there(program: &str, folder: &Path, path: Option<&str>) -> bool {
    let runs = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return runs(&folder.join(program));
    }
    let folders = std::env::split_paths(path.unwrap_or_default()).map(|one| folder.join(one));
    BUILT_IN.contains(&program) || folders.into_iter().any(|one| runs(&one.join(program)))
}

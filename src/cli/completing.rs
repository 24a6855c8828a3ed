//! Completions: what a shell asks for while a command is typed, with the ids of tickets and runs and the keys of the
//! configuration. Nothing is written by it.

use super::command_line::Cli;
use super::error::CliError;
use super::options::RunOptions;
use super::session::Session;
use crate::adapters::known_sessions;
use crate::adapters::store::{Store, newest_of_each};
use crate::adapters::tickets;
use crate::base::text::clean_line;
use crate::config::key::KEYS;
use clap::{Command, CommandFactory};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::shells::Shell;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// What the script of a shell sets when it asks.
const ASKED: &str = "PROGRAMMATOR_COMPLETE";
/// Runs that are offered.
const RUNS: usize = 50;

/// Answers a shell that asks; `false`: none does.
pub fn answer(args: &[OsString]) -> bool {
    if std::env::var_os(ASKED).is_none() {
        return false;
    }
    let here = std::env::current_dir().ok();
    // Words that make no sense give no completion; the shell shows nothing else either.
    CompleteEnv::with_factory(command).var(ASKED).try_complete(args, here.as_deref()).unwrap_or(true)
}

/// Prints the script that makes a shell ask.
pub fn script(out: &mut dyn Write, shell: Shell) -> Result<(), CliError> {
    let (shells, mut script) = (Shells::builtins(), Vec::new());
    if let Some(shell) = shells.completer(&shell.to_string()) {
        shell.write_registration(ASKED, "programmator", "programmator", "programmator", &mut script)?;
    }
    Ok(out.write_all(&script)?)
}

/// The command line, whose arguments know what there is.
fn command() -> Command {
    known(Cli::command())
}

fn known(command: Command) -> Command {
    let command = command.mut_args(|arg| match arg.get_id().as_str() {
        "ticket" | "tickets" | "id" if arg.get_long().is_none() => arg.add(ArgValueCandidates::new(ticket_ids)),
        "asked" if arg.get_long().is_none() => arg.add(ArgValueCandidates::new(asked_ids)),
        "run" if arg.get_long().is_none() => arg.add(ArgValueCandidates::new(run_ids)),
        "keys" if arg.get_long().is_none() => arg.add(ArgValueCandidates::new(config_keys)),
        _ => arg,
    });
    command.mut_subcommands(known)
}

/// Where the person is, or where they say with -C.
fn session() -> Option<Session> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    Session::new(directory(words).as_deref(), &RunOptions::default()).ok()
}

/// The folder that the words name last, in each of the forms that the command line takes.
fn directory(mut words: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    let mut folder = None;
    while let Some(word) = words.next() {
        let named =
            |flag: &str| word.as_encoded_bytes().strip_prefix(flag.as_bytes()).filter(|value| !value.is_empty());
        if word == "-C" || word == "--directory" {
            folder = words.next().map(PathBuf::from);
        } else if let Some(value) = named("--directory=").or_else(|| named("-C=")).or_else(|| named("-C")) {
            folder = Some(PathBuf::from(OsStr::from_bytes(value)));
        }
    }
    folder
}

fn candidate(value: String, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(clean_line(help, 60).into()))
}

/// Who may be asked of on the phone.
fn asked_ids() -> Vec<CompletionCandidate> {
    let sessions = session().map(|session| known_sessions::known(&session.state)).unwrap_or_default();
    let sessions = sessions.iter().map(|known| candidate(known.session.to_string(), &known.folder));
    ticket_ids().into_iter().chain(sessions).collect()
}

fn ticket_ids() -> Vec<CompletionCandidate> {
    let Some(session) = session() else { return Vec::new() };
    let Ok(resolved) = session.resolve(&session.folder) else { return Vec::new() };
    let listed = tickets::list(&session.places(&resolved).dir()).unwrap_or_default();
    let open = listed.into_iter().filter_map(|one| one.ticket.ok()).filter(|ticket| !ticket.is_closed());
    open.map(|ticket| candidate(ticket.id.to_string(), &ticket.title)).collect()
}

/// Runs by the last characters of their ids, and their tickets.
fn run_ids() -> Vec<CompletionCandidate> {
    let Some(session) = session().filter(|session| Store::is_there(&session.state)) else { return Vec::new() };
    let runs = session.store_to_read().ok().and_then(|store| store.runs().ok()).unwrap_or_default();
    let mut newest = newest_of_each(runs.clone());
    newest.retain(|run| run.folder == session.folder.display().to_string());
    let tickets = newest.iter().map(|run| candidate(run.ticket.to_string(), &run.title));
    let ids = runs.iter().take(RUNS).map(|run| candidate(run.run.short(), &format!("{}: {}", run.ticket, run.title)));
    tickets.chain(ids).collect()
}

fn config_keys() -> Vec<CompletionCandidate> {
    KEYS.iter().map(|row| candidate(row.name.to_owned(), row.doc)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_in_each_form_that_the_command_line_takes() {
        for words in ["-C /a run", "-C/a run", "-C=/a run", "--directory /a run", "--directory=/a run", "-C /b -C /a"] {
            assert_eq!(directory(words.split(' ').map(OsString::from)), Some("/a".into()), "{words}");
        }
        assert_eq!(directory(["run", "--", "tk-1"].map(OsString::from).into_iter()), None);
    }
}

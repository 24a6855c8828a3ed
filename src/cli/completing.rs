//! Completions: what a shell asks for while a command is typed, with the ids of tickets and runs and the keys of the
//! configuration. Nothing is written by it.

use super::command_line::Cli;
use super::error::CliError;
use super::options::RunOptions;
use super::session::Session;
use super::{ended, queue};
use crate::adapters::known_sessions;
use crate::adapters::store::{Store, newest_of_each};
use crate::adapters::tickets;
use crate::base::text::clean_line;
use crate::config::key::KEYS;
use crate::domain::import::item::Source;
use crate::domain::outcome::ExitReason;
use crate::domain::summary::{Owner, RunSummary};
use crate::domain::ticket::{Ticket, TicketStatus};
use crate::domain::workflow::Workflow;
use crate::tui::theme::load as theme;
use clap::{Arg, Command, CommandFactory};
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
    known("", Cli::command())
}

/// The command of these words before it, and all below it.
fn known(before: &str, command: Command) -> Command {
    let words = format!("{before} {}", command.get_name());
    let command = command.mut_args(|arg| match candidates(&words, &arg) {
        Some(candidates) => arg.add(ArgValueCandidates::new(candidates)),
        None => arg,
    });
    command.mut_subcommands(|below| known(&words, below))
}

/// What an argument of a command can be; `None`: the shell knows as much.
fn candidates(command: &str, arg: &Arg) -> Option<fn() -> Vec<CompletionCandidate>> {
    let command = command.trim().strip_prefix("programmator").unwrap_or(command).trim();
    Some(match (command, arg.get_id().as_str(), arg.get_long()) {
        ("answer" | "queue", "id", None) => question_names,
        ("ticket reopen", "ticket", None) => closed_ids,
        ("ticket status", "status", None) | ("ticket list", "status", Some(_)) => statuses,
        ("stop" | "attach", "run", None) => at_work,
        ("resume", "run", None) => resumable,
        ("init", "from", Some(_)) => sources,
        (_, "workflow", Some(_)) => workflows,
        (_, "theme", Some(_)) => themes,
        (_, "ticket" | "tickets", None) => ticket_ids,
        (_, "asked", None) => asked_ids,
        (_, "run", None) => run_ids,
        (_, "keys", None) => config_keys,
        _ => return None,
    })
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
    ids_of(|ticket| !ticket.is_closed())
}

fn closed_ids() -> Vec<CompletionCandidate> {
    ids_of(Ticket::is_closed)
}

fn ids_of(wanted: fn(&Ticket) -> bool) -> Vec<CompletionCandidate> {
    let Some(session) = session() else { return Vec::new() };
    let Ok(resolved) = session.resolve(&session.folder) else { return Vec::new() };
    let listed = tickets::list(&session.places(&resolved).dir()).unwrap_or_default();
    let wanted = listed.into_iter().filter_map(|one| one.ticket.ok()).filter(wanted);
    wanted.map(|ticket| candidate(ticket.id.to_string(), &ticket.title)).collect()
}

/// The store, where there is one: none is made.
fn store() -> Option<(Session, Store)> {
    let session = session().filter(|session| Store::is_there(&session.state))?;
    let store = session.store_to_read().ok()?;
    Some((session, store))
}

/// Runs by the last characters of their ids, and their tickets.
fn run_ids() -> Vec<CompletionCandidate> {
    let Some((session, store)) = store() else { return Vec::new() };
    let runs = store.runs().unwrap_or_default();
    let mut newest = newest_of_each(runs.clone());
    newest.retain(|run| run.folder == session.folder.display().to_string());
    let tickets = newest.iter().map(|run| candidate(run.ticket.to_string(), &run.title));
    let ids = runs.iter().take(RUNS).map(|run| candidate(run.run.short(), &format!("{}: {}", run.ticket, run.title)));
    tickets.chain(ids).collect()
}

/// The tickets of runs that some program works on.
fn at_work() -> Vec<CompletionCandidate> {
    tickets_of(|run| run.owner() != Owner::Nobody)
}

/// The tickets of runs that nobody works on and that can be resumed.
fn resumable() -> Vec<CompletionCandidate> {
    let may = |reason: &Option<String>| {
        reason.as_deref().and_then(ExitReason::from_word).is_none_or(ExitReason::is_resumable)
    };
    tickets_of(|run| run.owner() == Owner::Nobody && !run.is_review() && may(&run.reason))
}

fn tickets_of(wanted: impl Fn(&RunSummary) -> bool) -> Vec<CompletionCandidate> {
    let Some((_, store)) = store() else { return Vec::new() };
    let newest = newest_of_each(store.runs().unwrap_or_default()).into_iter().filter_map(|run| store.as_seen(run).ok());
    let wanted = newest.filter(|run| !run.is_own_session() && wanted(run)).take(RUNS);
    wanted.map(|run| candidate(run.ticket.to_string(), &run.title)).collect()
}

/// What waits for the person, by name.
fn question_names() -> Vec<CompletionCandidate> {
    let Some((session, store)) = store() else { return Vec::new() };
    let waiting = queue::waiting(&store).unwrap_or_default();
    let asked = waiting.iter().map(|one| candidate(one.name.clone(), &format!("{}: {}", one.ticket, one.words)));
    let ended = ended::left(&store, &session.folder).unwrap_or_default();
    let ended = ended.iter().map(|end| candidate(end.name.clone(), &format!("{}: {}", end.run.ticket, end.words())));
    asked.chain(ended).collect()
}

fn words(words: &[&str]) -> Vec<CompletionCandidate> {
    words.iter().map(|word| CompletionCandidate::new(*word)).collect()
}

fn statuses() -> Vec<CompletionCandidate> {
    words(TicketStatus::WORDS)
}

fn workflows() -> Vec<CompletionCandidate> {
    words(Workflow::WORDS)
}

fn sources() -> Vec<CompletionCandidate> {
    words(Source::WORDS)
}

fn themes() -> Vec<CompletionCandidate> {
    let own = session().map(|session| session.themes()).unwrap_or_default();
    theme::names(&own).into_iter().map(CompletionCandidate::new).collect()
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

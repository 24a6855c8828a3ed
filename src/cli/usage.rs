//! Command lines that cannot be understood: what is printed, and the exit code. clap's own words stay; behind them stands how to
//! find what is missing.

use super::command_line::Cli;
use super::error;
use crate::adapters::config_files::{self, PROJECT_FOLDER};
use crate::base::text::{Clean, clean_line};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use std::collections::BTreeMap;
use std::io::{Write, stderr};

/// How to find what an argument names, by its name in the usage line.
const HOW_TO_FIND: [(&str, &str); 5] = [
    ("RUN", "`programmator status` lists the runs; a ticket names its latest one"),
    ("TICKET", "`programmator ticket ready` lists the tickets that can be worked on, `programmator ticket list` all"),
    ("PHASE", "`programmator ticket show TICKET` shows the phases of a ticket"),
    ("SNAPSHOT", "`programmator snapshots TICKET` lists the snapshots of a ticket"),
    (
        "NAME",
        "`programmator queue` lists the questions that wait for you, `programmator queue NAME` shows the answers to one",
    ),
];

/// The command line as it was typed; ends the program when it cannot be understood. For `policy check` 2 means that a
/// command is blocked and for `init` that there is nothing to do, so what cannot be understood is 64 there.
pub fn arguments() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let typed: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        if typed.iter().all(|word| Clean::new(word).as_str() == word) {
            error.print().ok();
        } else {
            // It repeats what was typed; in its colours the two could not be told apart.
            write!(stderr(), "{}", Clean::new(&error.render().to_string())).ok();
        }
        for hint in hints(&error, &typed) {
            writeln!(stderr(), "\n{hint}").ok();
        }
        let known = Cli::command();
        let command = typed.iter().find(|word| known.find_subcommand(word).is_some());
        let checks = ["policy", "check"].iter().all(|word| typed.iter().any(|typed| typed == word));
        let has_own_two = checks || command.is_some_and(|command| command == "init");
        let code = if has_own_two && error.use_stderr() { i32::from(error::BAD_INPUT) } else { error.exit_code() };
        std::process::exit(code)
    })
}

/// What the person needs to type it, one sentence each. `typed`: the whole command line.
fn hints(error: &clap::Error, typed: &[String]) -> Vec<String> {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(missing))) => {
            let is_missing = |name: &str| missing.iter().any(|one| names(one).any(|one| one == name));
            let found = HOW_TO_FIND.iter().filter(|(name, _)| is_missing(name));
            found.map(|(_, how)| (*how).to_owned()).collect()
        }
        (ErrorKind::InvalidSubcommand, _) if typed.iter().any(|word| word == "config") => vec![settings_files()],
        _ => Vec::new(),
    }
}

/// The arguments of a usage such as `<TICKET|--ready>...`.
fn names(usage: &str) -> impl Iterator<Item = &str> {
    usage.split(['<', '>', '|', '.', ' ']).filter(|name| !name.is_empty())
}

/// Where settings are changed.
fn settings_files() -> String {
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let own = config_files::user_folder(&environment).map_or_else(
        || "config.yaml of the config folder".to_owned(),
        |folder| clean_line(&folder.join("config.yaml").to_string_lossy(), 400),
    );
    format!(
        "Settings are edited in files: {own} (yours), {PROJECT_FOLDER}/config.yaml (of a project). \
         `programmator config show KEY` shows a value and where it comes from"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints_of(typed: &[&str]) -> Vec<String> {
        let all: Vec<String> = ["programmator"].iter().chain(typed).map(|word| (*word).to_owned()).collect();
        hints(&Cli::try_parse_from(&all).unwrap_err(), &all)
    }

    #[test]
    fn what_names_something_is_found_with_a_command() {
        for (typed, command) in [
            (&["stop"][..], "programmator status"),
            (&["logs"], "programmator status"),
            (&["export"], "programmator status"),
            (&["answer"], "programmator queue"),
            (&["run", "--detach"], "programmator ticket ready"),
            (&["phase", "skip"], "programmator ticket ready"),
            (&["phase", "skip", "tk-1"], "programmator ticket show"),
            (&["config", "set", "x", "y"], "config.yaml"),
            (&["config", "get", "x"], "config.yaml"),
        ] {
            let hints = hints_of(typed);
            assert!(hints.iter().any(|hint| hint.contains(command)), "{typed:?}: {hints:?}");
        }
        assert_eq!(hints_of(&["nope", "--nope"]), Vec::<String>::new());
        assert_eq!(hints_of(&["ticket", "nope"]), Vec::<String>::new());
    }
}

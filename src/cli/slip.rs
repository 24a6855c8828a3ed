//! Words that are no ticket and look like a command: slips of the keyboard.

use super::command_line::Cli;
use clap::CommandFactory as _;

/// The command that a word looks like, when it may be a slip of the keyboard: two letters off at most.
pub(super) fn command_like(word: &str) -> Option<String> {
    let command = Cli::command();
    let names = command.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name);
    near(word, names)
}

/// The same of what `programmator snapshots` takes instead of a ticket.
pub(super) fn snapshots_like(word: &str) -> Option<String> {
    near(word, [PRUNE].into_iter()).map(|word| format!("snapshots {word}"))
}

/// What `programmator snapshots` takes instead of a ticket.
pub(super) const PRUNE: &str = "prune";

fn near<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let near = names.map(|name| (strsim::damerau_levenshtein(name, word), name));
    near.filter(|(off, name)| *off <= 2.min(name.len() / 2)).min().map(|(_, name)| name.to_owned())
}

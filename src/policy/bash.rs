//! A bash command made into units: parsed by a real grammar, walked node by node, each word expanded as far as it
//! is known. What cannot be parsed, or hides something, is one unit that is refused.
//!
//! Nothing outside of this folder knows the parser (`brush-parser`, pinned exactly: its tree is not stable).

mod assign;
mod belongs;
mod brackets;
mod builtin;
mod command;
mod conditions;
mod effects;
mod fetched;
mod find;
mod git;
mod globs;
mod languages;
mod listers;
mod network;
mod parse;
mod paths;
mod pathspec;
mod pieces;
mod programs;
mod quotes;
mod redirect;
mod removal;
mod settings;
mod shell;
mod variables;
mod walk;
mod walker;
mod words;
mod wrappers;
mod xargs;

use crate::policy::chars;
use crate::policy::place::Place;
use crate::policy::unit::Unit;
use std::thread;
use walk::hidden;
use walker::Walker;

pub const MAX_BYTES: usize = 32 << 10;
/// Most words and signs that open something.
const MAX_OPENERS: usize = 200;
/// Deepest nesting of substitutions. The parser's work doubles with each level inside of quotes.
const MAX_SUBSTITUTIONS: usize = 8;
/// The parser goes down by recursion; what is within the limits above needs far less.
const STACK: usize = 64 << 20;

/// The units of a command. Never empty.
pub fn units(command: &str, place: &Place<'_>) -> Vec<Unit> {
    if let Some(why) = refused(command) {
        return vec![hidden(command, why)];
    }
    // A panic of the parser ends the thread, and the command is refused.
    let walked = thread::scope(|scope| {
        let walk = || Walker::new(command, *place).walk();
        let thread = thread::Builder::new().name("policy".to_owned()).stack_size(STACK).spawn_scoped(scope, walk);
        thread.ok().and_then(|thread| thread.join().ok())
    });
    match walked {
        Some(units) if !units.is_empty() => units,
        Some(_) => vec![hidden(command, "it contains no command")],
        None => vec![hidden(command, "it could not be parsed")],
    }
}

/// Why a text is not even parsed.
fn refused(command: &str) -> Option<String> {
    if command.trim().is_empty() {
        return Some("the command is empty".to_owned());
    }
    if command.len() > MAX_BYTES {
        return Some(format!("the command is longer than {MAX_BYTES} bytes"));
    }
    chars::refused(command).or_else(|| parse::refused(command, MAX_OPENERS, MAX_SUBSTITUTIONS))
}

#[cfg(test)]
mod tests;

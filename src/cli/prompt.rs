//! `programmator prompt show`: what Claude would be sent next for a ticket. Nothing is begun by it.

use super::error::CliError;
use super::help;
use super::in_force::policy_engines;
use super::options::RunOptions;
use super::session::Session;
use crate::adapters::tickets;
use crate::base::amount::grouped;
use crate::base::json;
use crate::base::text::{Clean, clean_line};
use crate::domain::approval::Presence;
use crate::orchestrator::preview::next_call;
use crate::runtime::headless::Format;
use crate::runtime::prompts::Source;
use crate::runtime::supervisor::{Opener, Plan};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::io::Write;

/// What can be done with prompts.
#[derive(Debug, Subcommand)]
pub enum PromptCommand {
    /// Print the next prompt for a ticket, and its estimated size. Starts nothing.
    #[command(after_help = help::PROMPT_SHOW)]
    Show(Show),
}

/// Whose prompt, and how it is printed.
#[derive(Debug, Args)]
pub struct Show {
    /// The ticket: id, unique part of an id, or path.
    ticket: String,
    /// The prompt of a headless run, where nobody can be asked.
    #[arg(long)]
    headless: bool,
    /// Print a JSON object instead of text.
    #[arg(long)]
    json: bool,
    /// Options of runs.
    #[command(flatten)]
    pub run: RunOptions,
}

/// `show --json`: add, never rename.
#[derive(Serialize)]
struct Shown<'a> {
    ticket: &'a str,
    iteration: u32,
    phase: Option<&'a str>,
    /// The session of Claude's that goes on; `null`: a fresh one.
    session: Option<&'a str>,
    model: Option<&'a str>,
    prompt: &'a str,
    tokens: usize,
}

pub fn show(out: &mut dyn Write, session: &Session, show: &Show) -> Result<(), CliError> {
    let resolved = session.resolve(&session.folder)?;
    let path = tickets::find(&show.ticket, &session.places(&resolved))?;
    let (store, clock) = (session.store_to_read()?, session.clock());
    let gates = policy_engines(session).gates();
    let opener =
        Opener { store, clock: clock.clone(), rules: session.rules(), gates, config_folder: session.config_folder() };
    let plan = opener.look(&path, &session.folder)?;
    let gate = opener.gate(&plan)?;
    let Plan { run, ticket, path, workspace, config, templates, state, first } = plan;
    let mut file = tickets::load::read(&path).map_err(|error| CliError::usage(error.to_string()))?;
    let spawn = next_call(run, state, first, &mut file, clock.now())
        .map_err(|why| CliError::failure(format!("{}: nothing would be sent: {}", ticket.id, clean_line(&why, 400))))?;
    let presence = if show.headless { Presence::Nobody } else { Presence::Screen };
    let source = Source {
        templates: &templates,
        gate: &*gate,
        run,
        workspace: &workspace,
        ticket: &path,
        presence,
        diff: String::new(),
        config: &config,
    };
    let made = source.prompt(&spawn, &file).map_err(CliError::failure)?;
    let shown = Shown {
        ticket: ticket.id.as_str(),
        iteration: spawn.n,
        phase: spawn.prompt.context.phase.as_deref(),
        session: spawn.session.as_deref(),
        model: spawn.model.as_deref(),
        prompt: &made.text,
        tokens: made.tokens(),
    };
    match if show.json { Format::Json } else { Format::Text } {
        Format::Json => writeln!(out, "{}", json::pretty(&shown)?)?,
        Format::Text => {
            let session = match shown.session {
                Some(id) => format!("resumes session {}", clean_line(id, 80)),
                None => "starts a fresh session".to_owned(),
            };
            let Shown { ticket, iteration, tokens, .. } = shown;
            writeln!(out, "{}\n", Clean::new(&made.text).as_str().trim_end())?;
            writeln!(out, "-- {ticket}, iteration {iteration}: about {} tokens; {session}", grouped(tokens as u64))?;
        }
    }
    Ok(())
}

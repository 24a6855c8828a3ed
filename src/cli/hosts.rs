//! `programmator hosts`: what is at work on all machines of the person's configuration, and here.

use super::error::CliError;
use super::help;
use super::session::Session;
use super::status;
use crate::base::json;
use crate::base::text::clean_line;
use crate::domain::machine::Machine;
use crate::domain::summary::RunSummary;
use crate::runtime::machines;
use clap::Args;
use serde::Serialize;
use std::io::Write;
use unicode_width::UnicodeWidthStr;

/// What is asked for.
#[derive(Debug, Args)]
#[command(after_help = help::HOSTS)]
pub struct HostsArgs {
    /// Print a JSON array instead of text.
    #[arg(long)]
    json: bool,
}

/// `--json`: add, never rename.
#[derive(Serialize)]
struct Seen {
    /// As the configuration names it; `null`: this machine.
    host: Option<String>,
    /// Why nothing is known of it.
    error: Option<String>,
    /// All its runs, newest first, as `programmator status --json` has them.
    runs: Vec<RunSummary>,
}

/// Asks all machines at the same time. Exit code 1 when one did not answer.
pub async fn run(out: &mut dyn Write, session: &Session, args: &HostsArgs) -> Result<u8, CliError> {
    let hosts = session.resolve(&session.folder)?.config.hosts;
    let others = machines::ask_all(&hosts).await;
    let here = status::runs(session).map_err(|error| error.message);
    let all = std::iter::once((None, here)).chain(others.into_iter().map(|(name, runs)| (Some(name), runs)));
    let all: Vec<_> = all.collect();
    let code = u8::from(all.iter().any(|(_, runs)| runs.is_err()));
    if args.json {
        let seen: Vec<Seen> = all.into_iter().map(|(host, runs)| known(host, runs)).collect();
        writeln!(out, "{}", json::pretty(&seen)?)?;
    } else {
        show(out, &all.iter().map(|(host, runs)| Machine::of(host.clone(), runs)).collect::<Vec<_>>())?;
    }
    Ok(code)
}

fn known(host: Option<String>, runs: Result<Vec<RunSummary>, String>) -> Seen {
    let (error, runs) = runs.map_or_else(|why| (Some(clean_line(&why, 400)), Vec::new()), |runs| (None, runs));
    Seen { host, error, runs }
}

/// A line for each machine, and below it one for each run at work there.
fn show(out: &mut dyn Write, machines: &[Machine]) -> Result<(), CliError> {
    let width = machines.iter().map(|machine| machine.called().width()).max().unwrap_or(0);
    for machine in machines {
        writeln!(out, "{:<width$}  {}", machine.called(), machine.words)?;
        for run in &machine.at_work {
            let line = format!("{:width$}  {}  {}", "", run.columns, run.about);
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    if machines.len() == 1 {
        writeln!(out, "No other machine is configured. Add `hosts` to your own config.yaml.")?;
    } else if machines.iter().any(|machine| machine.name.is_some() && !machine.at_work.is_empty()) {
        writeln!(out, "Watch, answer or stop one with `programmator attach --on HOST TICKET`.")?;
    }
    Ok(())
}

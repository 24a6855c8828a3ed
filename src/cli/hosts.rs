//! `programmator hosts`: what is at work on all machines of the person's configuration, and here.

use super::error::CliError;
use super::help;
use super::remote::connect_silently;
use super::session::Session;
use super::status;
use crate::adapters::other_machine::{OtherMachine, Unasked};
use crate::base::amount::counted;
use crate::base::json;
use crate::base::text::{clean_line, cut, cut_words};
use crate::config::hosts::HostConfig;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::domain::wire::{Ask, Tell};
use crate::runtime::mirror::copy::is_plain;
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use unicode_width::UnicodeWidthStr;

/// What is asked for.
#[derive(Debug, Args)]
#[command(after_help = help::HOSTS)]
pub struct HostsArgs {
    /// Print a JSON array instead of text.
    #[arg(long)]
    json: bool,
}

/// How long a machine may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Largest list of runs that a machine may send, in bytes.
const LONGEST: usize = 64 << 20;

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
    let mut asked = JoinSet::new();
    for (name, host) in hosts.clone() {
        asked.spawn(async move {
            let runs = timeout(PATIENCE, runs_on(&name, &host)).await;
            (
                name,
                runs.unwrap_or_else(|_| Err(format!("it has not told of its runs for {} seconds", PATIENCE.as_secs()))),
            )
        });
    }
    let here = status::runs(session).map_err(|error| error.message);
    let mut seen = vec![known(None, here)];
    while let Some(joined) = asked.join_next().await {
        let (name, runs) = joined.map_err(|error| CliError::failure(error.to_string()))?;
        seen.push(known(Some(name), runs));
    }
    seen.sort_by(|one, other| one.host.cmp(&other.host));
    if args.json {
        writeln!(out, "{}", json::pretty(&seen)?)?;
    } else {
        show(out, &seen)?;
    }
    Ok(u8::from(seen.iter().any(|one| one.error.is_some())))
}

fn known(host: Option<String>, runs: Result<Vec<RunSummary>, String>) -> Seen {
    let (error, runs) = runs.map_or_else(|why| (Some(clean_line(&why, 400)), Vec::new()), |runs| (None, runs));
    Seen { host, error, runs }
}

async fn runs_on(name: &str, host: &HostConfig) -> Result<Vec<RunSummary>, String> {
    let mut other = connect_silently(name, host).await?;
    let words = vec!["status".to_owned(), "--json".to_owned()];
    let asked = other.ask(Ask::Run { directory: host.directory.clone(), words }).await.map_err(Unasked::words)?;
    let text = printed(&mut other, asked).await?;
    let runs: Vec<RunSummary> =
        serde_json::from_str(&text).map_err(|error| format!("its list of runs is not understood: {error}"))?;
    runs.iter().try_for_each(is_plain)?;
    Ok(runs)
}

/// All that a command prints there, if it does not fail.
async fn printed(other: &mut OtherMachine, asked: u64) -> Result<String, String> {
    let (mut text, mut complaint) = (String::new(), String::new());
    loop {
        let told = other.told().await?;
        match told.tell {
            _ if told.id != asked => {}
            Tell::Line { text: line, is_error: true, .. } => complaint = line,
            Tell::Line { text: line, goes_on, .. } => {
                if text.len() + line.len() > LONGEST {
                    return Err(format!("it sends more than {} MiB of runs", LONGEST >> 20));
                }
                text.push_str(&line);
                if !goes_on {
                    text.push('\n');
                }
            }
            Tell::Ended(0) => return Ok(text),
            Tell::Ended(code) if complaint.is_empty() => {
                return Err(format!("`status` has ended there with exit code {code}"));
            }
            Tell::Ended(_) => return Err(complaint),
            Tell::Refused(why) | Tell::Unanswered(why) => return Err(why),
            _ => {}
        }
    }
}

/// A line for each machine, and below it one for each run at work there.
fn show(out: &mut dyn Write, seen: &[Seen]) -> Result<(), CliError> {
    let name = |one: &Seen| one.host.clone().unwrap_or_else(|| "here".to_owned());
    let width = seen.iter().map(|one| name(one).width()).max().unwrap_or(0);
    for one in seen {
        let how = match &one.error {
            None => words(&one.runs),
            Some(why) if one.host.is_none() => format!("its runs cannot be read: {why}"),
            Some(why) => format!("unreachable: {why}"),
        };
        writeln!(out, "{:<width$}  {how}", name(one))?;
        for run in one.runs.iter().filter(|run| run.owner() == Owner::Another) {
            let about = run.asks().or(run.phase.as_deref()).unwrap_or_default();
            let phases = if run.phases == 0 { "–".to_owned() } else { format!("{}/{}", run.phases_done, run.phases) };
            let line = format!(
                "{:width$}  {:<16}  {:<10}  {phases:>5}  {:>8}  {}",
                "",
                cut(run.ticket.as_str(), 16),
                run.label(),
                format!("${:.2}", run.cost_usd),
                cut_words(&clean_line(about, 400), 80),
            );
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    if seen.len() == 1 {
        writeln!(out, "No other machine is configured: `hosts` in your own config.yaml names them.")?;
    } else if seen.iter().any(|one| one.host.is_some() && one.runs.iter().any(|run| run.owner() == Owner::Another)) {
        writeln!(out, "`programmator attach --on HOST TICKET` shows one, answers and stops it.")?;
    }
    Ok(())
}

/// How many of them are at work, wait for the person, or can be resumed.
fn words(runs: &[RunSummary]) -> String {
    let at_work: Vec<&RunSummary> = runs.iter().filter(|run| run.owner() == Owner::Another).collect();
    let waiting = at_work.iter().filter(|run| run.asks().is_some()).count();
    let interrupted = runs.iter().filter(|run| run.state == RunState::Interrupted).count();
    let mut words = vec![match (at_work.len(), runs.len()) {
        (_, 0) => "no runs".to_owned(),
        (0, all) => format!("nothing at work, {}", counted(all, "run")),
        (some, _) => format!("{some} at work"),
    }];
    if waiting > 0 {
        words.push(format!("{waiting} of them {} you", if waiting == 1 { "needs" } else { "need" }));
    }
    if interrupted > 0 {
        words.push(format!("{interrupted} interrupted"));
    }
    words.join(", ")
}

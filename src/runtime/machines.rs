//! Asks the person's other machines which runs they have.

use crate::adapters::other_machine::{self, MayAsk, OtherMachine, Unasked};
use crate::config::hosts::HostConfig;
use crate::domain::summary::RunSummary;
use crate::domain::wire::{Ask, Tell};
use crate::runtime::mirror::copy::is_plain;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long a machine may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Largest list of runs that a machine may send, in bytes.
const LONGEST: usize = 64 << 20;

/// All runs of each machine, newest first, or why they are not known; words. All are asked at the same time, and none of
/// them may ask the person anything.
pub async fn ask_all(hosts: &BTreeMap<String, HostConfig>) -> BTreeMap<String, Result<Vec<RunSummary>, String>> {
    let mut asked = JoinSet::new();
    for (name, host) in hosts.clone() {
        asked.spawn(async move {
            let runs = timeout(PATIENCE, runs_on(&name, &host)).await;
            let late = |_| Err(format!("no response for {} seconds", PATIENCE.as_secs()));
            (name, runs.unwrap_or_else(late))
        });
    }
    asked.join_all().await.into_iter().collect()
}

async fn runs_on(name: &str, host: &HostConfig) -> Result<Vec<RunSummary>, String> {
    let machine = other_machine::Machine { name: name.to_owned(), command: host.command.clone() };
    let mut other = OtherMachine::connect(&machine, MayAsk::No).await?;
    let words = vec!["status".to_owned(), "--json".to_owned()];
    let asked = other.ask(Ask::Run { directory: host.directory.clone(), words }).await.map_err(Unasked::words)?;
    let text = printed(&mut other, asked).await?;
    let runs: Vec<RunSummary> =
        serde_json::from_str(&text).map_err(|error| format!("invalid list of runs: {error}"))?;
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
                return Err(format!("`status` failed there with exit code {code}"));
            }
            Tell::Ended(_) => return Err(complaint),
            Tell::Refused(why) | Tell::Unanswered(why) => return Err(why),
            _ => {}
        }
    }
}

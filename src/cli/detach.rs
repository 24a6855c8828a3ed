//! `programmator run --detach`: the same run in the background, in a session of its own, where closing the terminal does not
//! reach it.

use super::error::CliError;
use crate::adapters::own_session;
use crate::base::text::clean_line;
use serde::Deserialize;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write, pipe, stderr};
use std::process::Stdio;
use tokio::task::spawn_blocking;

/// What the other program says first of a run.
#[derive(Deserialize)]
struct Begun {
    ticket: String,
    #[serde(rename = "run")]
    _run: String,
}

/// Starts what was typed again, without `--detach`, and waits until its first run has begun. Gives its exit code where none
/// has.
pub async fn start(out: &mut dyn Write) -> Result<u8, CliError> {
    let exe = std::env::current_exe()?;
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let args = in_background(&typed);
    let (heard, said) = pipe()?;
    let mut command = own_session::command(&exe.to_string_lossy());
    command.args(args).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
    let mut child = command.spawn()?;
    let pid = child.id();
    // It has the only other ends of the pipe.
    drop(command);
    let begun =
        spawn_blocking(move || first_of(heard)).await.map_err(|error| CliError::failure(error.to_string()))??;
    let Some(ticket) = begun else {
        let status = child.wait().await?;
        return Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
    };
    let pid = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
    writeln!(out, "{ticket} is being worked on in the background{pid}.")?;
    writeln!(out, "`programmator` shows it, `programmator queue` what it asks, `programmator stop {ticket}` ends it.")?;
    Ok(0)
}

/// What was typed, as the other program is given it; what stands behind `--` are tickets.
fn in_background(typed: &[OsString]) -> Vec<OsString> {
    let end = typed.iter().position(|word| word == "--").unwrap_or(typed.len());
    let (options, tickets) = typed.split_at(end);
    let is_own = |word: &&OsString| ["--detach", "--json", "--away"].iter().any(|own| *word == own);
    let options = options.iter().filter(|word| !is_own(word)).cloned();
    options.chain(["--away".into(), "--json".into()]).chain(tickets.iter().cloned()).collect()
}

/// The first ticket of which a run has begun; `None`: the program has ended. What it says of trouble is passed on.
fn first_of(heard: impl std::io::Read) -> std::io::Result<Option<String>> {
    for line in BufReader::new(heard).lines() {
        let line = line?;
        match serde_json::from_str::<Begun>(&line) {
            Ok(begun) => return Ok(Some(begun.ticket)),
            Err(_) if line.starts_with('{') => {}
            Err(_) => writeln!(stderr(), "{}", clean_line(&line, 2_000))?,
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_typed_again_for_the_background() {
        let given = |typed: &str| {
            let words = in_background(&typed.split(' ').map(OsString::from).collect::<Vec<_>>());
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(given("-C /w run --detach tk-1 -n 3"), "-C /w run tk-1 -n 3 --away --json");
        assert_eq!(given("run --detach -- --detach"), "run --away --json -- --detach");
    }

    #[test]
    fn a_run_has_begun_with_its_first_record() {
        let said =
            "a warning\n{\"ticket\":\"tk-2\",\"why\":\"waits\"}\n{\"v\":1,\"run\":\"r\",\"ticket\":\"tk-1\"}\nmore\n";
        assert_eq!(first_of(said.as_bytes()).unwrap().as_deref(), Some("tk-1"));
        assert_eq!(first_of("programmator: no such ticket\n".as_bytes()).unwrap(), None);
    }
}

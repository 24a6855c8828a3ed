//! `programmator run --detach`: the same run in the background, in a session of its own, where closing the terminal does not
//! reach it.

use super::error::CliError;
use super::session::Session;
use crate::adapters::{own_program, own_session};
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::config::key::Key;
use crate::domain::background_work::{Background, Work, times};
use crate::domain::ticket::TicketKey;
use serde::Deserialize;
use std::ffi::OsString;
use std::io::{self, Write, pipe, stderr};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, timeout_at};

/// How long a run may take to begin once a ticket is known to wait for something: it may be another of those that were typed.
const PATIENCE: Duration = Duration::from_secs(5);
/// Tells a process that it is in the background, and when its work was begun again before: milliseconds, with commas.
const DETACHED: &str = "PROGRAMMATOR_DETACHED";
/// How long nothing may be heard: who waits here wants their terminal back.
const SILENCE: Duration = Duration::from_secs(60);

/// What the other program says of a ticket.
#[derive(Deserialize)]
struct Said {
    ticket: String,
    #[serde(default)]
    kind: String,
    /// Its run, with the first record.
    run: Option<String>,
    /// What it waits for.
    why: Option<String>,
    /// Whose the working directory is that the run waits for.
    holder: Option<String>,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    Begun(String),
    Waits(String, String),
    /// It has said nothing yet.
    Silent,
}

/// Starts what was typed again, without `--detach`, and waits until its first run has begun, or nothing but waits. Gives its
/// exit code where it has ended before that. `tickets`: how many it is about.
pub async fn start(out: &mut dyn Write, tickets: usize) -> Result<u8, CliError> {
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    begin((out, &mut stderr()), in_background(&typed), Before::default(), tickets).await
}

/// Has another program go on with these tickets, whose runs this one has left as they are, under the options that were typed
/// here.
pub async fn hand_over(out: &mut dyn Write, session: &Session, tickets: &[TicketKey]) -> Result<u8, CliError> {
    let args = on_tickets(&session.folder, options(session), tickets.iter().map(TicketKey::file));
    begin((out, &mut stderr()), args, Before::default(), tickets.len()).await
}

/// Goes on now with these tickets of a process that was interrupted, as it would have. Gives what came of it; an error: why
/// nothing did; words for the person.
pub async fn resume(process: &Background, files: &[&str], now: Timestamp) -> Result<String, String> {
    let Work::Tickets { options, .. } = &process.work else { return Err("it has no tickets".to_owned()) };
    let options = options.iter().map(OsString::from).collect();
    let args = on_tickets(Path::new(&process.folder), options, files.iter().copied());
    let before = Before { path: process.path.as_deref(), resumed: process.begun_again(now) };
    let (mut said, mut trouble) = (Vec::new(), Vec::new());
    let first = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().to_owned();
    match begin((&mut said, &mut trouble), args, before, files.len()).await {
        Ok(0) => Ok(first(&said)),
        Ok(code) => Err(format!("{} (exit code {code})", first(&trouble))),
        Err(error) => Err(error.message),
    }
}

/// When the work of this process was begun again before. `None`: it is not in the background.
pub(super) fn resumed(session: &Session) -> Option<Vec<Timestamp>> {
    session.environment.get(DETACHED).map(|told| times(told))
}

/// What a process is told of the one whose work it goes on with.
#[derive(Default)]
struct Before<'a> {
    /// Where that one found programs.
    path: Option<&'a str>,
    /// When it was begun again: milliseconds, with commas.
    resumed: String,
}

/// The options that were typed here, for the same run in the background.
pub(super) fn options(session: &Session) -> Vec<OsString> {
    let mut options: Vec<OsString> = Vec::new();
    for (_, flag, value) in session.flags.iter().filter(|(key, ..)| !matches!(key, Key::Theme | Key::Ascii)) {
        let is_switch = matches!(*flag, "--worktree" | "--no-continue");
        options.push(if is_switch { (*flag).into() } else { format!("{flag}={value}").into() });
    }
    if let Some(prompt) = &session.prompt {
        options.extend(["--prompt".into(), prompt.clone().into()]);
    }
    options
}

fn on_tickets<'a>(folder: &Path, options: Vec<OsString>, files: impl Iterator<Item = &'a str>) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["-C".into(), folder.into(), "run".into()];
    args.extend(options);
    args.extend(["--away", "--json", "--"].map(OsString::from));
    args.extend(files.map(OsString::from));
    args
}

async fn begin(
    (out, trouble): (&mut dyn Write, &mut dyn Write),
    args: Vec<OsString>,
    before: Before<'_>,
    tickets: usize,
) -> Result<u8, CliError> {
    let (heard, said) = pipe()?;
    let mut command = own_session::command(&own_program::to_start()?.to_string_lossy());
    command.args(args).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
    command.env(DETACHED, before.resumed);
    before.path.map(|path| command.env("PATH", path));
    let mut child = command.spawn()?;
    let pid = child.id();
    // It has the only other ends of the pipe.
    drop(command);
    let heard = Receiver::from_owned_fd(OwnedFd::from(heard))?;
    let Some(came) = first_of(trouble, BufReader::new(heard), PATIENCE).await? else {
        let status = child.wait().await?;
        return Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
    };
    let others = match tickets {
        0 | 1 => String::new(),
        2 => ", and 1 more ticket".to_owned(),
        _ => format!(", and {} more tickets", tickets - 1),
    };
    let pid = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
    // It works, whoever reads this.
    match came {
        Came::Begun(ticket) => {
            let _ = writeln!(out, "{ticket} is running in the background{pid}{others}.");
            let _ = writeln!(
                out,
                "Watch: `programmator attach {ticket}`. Questions: `programmator queue`. Stop: `programmator stop {ticket}`."
            );
        }
        Came::Silent => {
            let _ = writeln!(out, "The background process{pid} has not reported yet: see `programmator status`.");
        }
        Came::Waits(ticket, why) => {
            let _ = writeln!(out, "{ticket} is waiting in the background{pid}{others}: {why}.");
            let _ = writeln!(out, "`programmator status` shows its run once it has started.");
        }
    }
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

/// The first ticket of which a run has begun and has its working directory, else the first that waits; `None`: the program has
/// ended. What it says of trouble is passed on.
async fn first_of(
    trouble: &mut dyn Write,
    heard: impl AsyncBufRead + Unpin,
    patience: Duration,
) -> io::Result<Option<Came>> {
    let mut lines = heard.lines();
    let mut waits: Option<Came> = None;
    let mut until = Instant::now() + SILENCE;
    loop {
        let Ok(next) = timeout_at(until, lines.next_line()).await else {
            return Ok(Some(waits.unwrap_or(Came::Silent)));
        };
        let Some(line) = next? else { return Ok(None) };
        let waited = waits.is_some();
        match serde_json::from_str::<Said>(&line) {
            Ok(Said { ticket, run: Some(_), kind, .. }) if ["tree_granted", "run_ended"].contains(&kind.as_str()) => {
                return Ok(Some(Came::Begun(ticket)));
            }
            Ok(Said { ticket, holder: Some(holder), kind, .. }) if kind == "tree_awaited" => {
                let why = format!("the working directory is in use by {}", clean_line(&holder, 300));
                waits.get_or_insert(Came::Waits(ticket, why));
            }
            Ok(Said { ticket, why: Some(why), .. }) => {
                waits.get_or_insert(Came::Waits(ticket, clean_line(&why, 1_000)));
            }
            _ if line.starts_with('{') => {}
            // Nobody may be reading any more.
            _ => drop(writeln!(trouble, "{}", clean_line(&line, 2_000))),
        }
        if waits.is_some() && !waited {
            until = Instant::now() + patience;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::sink;

    #[test]
    fn what_was_typed_is_typed_again_for_the_background() {
        let given = |typed: &str| {
            let words = in_background(&typed.split(' ').map(OsString::from).collect::<Vec<_>>());
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(given("-C /w run --detach tk-1 -n 3"), "-C /w run tk-1 -n 3 --away --json");
        assert_eq!(given("run --detach -- --detach"), "run --away --json -- --detach");
    }

    #[tokio::test]
    async fn a_run_has_begun_with_its_first_record_and_what_only_waits_is_told() {
        let waits = "a warning\n{\"kind\":\"queued\",\"ticket\":\"tk-2\",\"why\":\"it depends on tk-1\"}\n";
        let of_run = |more: &str| format!("{{\"v\":1,\"run\":\"r\",\"ticket\":\"tk-1\",{more}}}\n");
        let (starts, granted) = (of_run("\"kind\":\"run_started\""), of_run("\"kind\":\"tree_granted\""));
        let begun = format!("{waits}{starts}{granted}more\n");
        assert_eq!(first_of(&mut sink(), begun.as_bytes(), PATIENCE).await.unwrap(), Some(Came::Begun("tk-1".into())));
        let rules = of_run("\"kind\":\"rules_read\"");
        let in_use = of_run("\"kind\":\"tree_awaited\",\"holder\":\"tk-3 (pid 7)\"");
        let (mut said, heard) = tokio::io::duplex(1_000);
        tokio::io::AsyncWriteExt::write_all(&mut said, format!("{starts}{rules}{in_use}{rules}").as_bytes())
            .await
            .unwrap();
        let why = "the working directory is in use by tk-3 (pid 7)".to_owned();
        let came = first_of(&mut sink(), BufReader::new(heard), Duration::ZERO).await.unwrap();
        assert_eq!(came, Some(Came::Waits("tk-1".into(), why)));
        assert_eq!(first_of(&mut sink(), "programmator: no such ticket\n".as_bytes(), PATIENCE).await.unwrap(), None);
        assert_eq!(first_of(&mut sink(), waits.as_bytes(), PATIENCE).await.unwrap(), None, "it has ended");
        let (mut said, heard) = tokio::io::duplex(1_000);
        tokio::io::AsyncWriteExt::write_all(&mut said, waits.as_bytes()).await.unwrap();
        let came = first_of(&mut sink(), BufReader::new(heard), Duration::ZERO).await.unwrap();
        assert_eq!(came, Some(Came::Waits("tk-2".into(), "it depends on tk-1".into())));
    }
}

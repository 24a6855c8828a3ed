//! `programmator away`: questions of runs on the person's phone, by a Telegram bot of their own.

mod kept;
mod lock;
mod meaning;
mod message;
mod pair;
mod relay;

use self::kept::Kept;
use self::lock::Lock;
use super::error::CliError;
use super::help;
use super::report::{self, ReportArgs};
use super::session::Session;
use crate::adapters::own_session;
use crate::adapters::telegram::BotError;
use crate::adapters::telegram::pairing::{Detail, Pairing, forget, path};
use crate::domain::finding::{Finding, Mark};
use clap::Subcommand;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Write, pipe};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;

/// What the relay says first when it works.
const READY: &str = "ready";
/// How long a relay may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// What can be done about the phone.
#[derive(Debug, Clone, Subcommand)]
pub enum AwayCommand {
    /// Pair a Telegram bot of your own with your account, and say what it may tell.
    #[command(after_help = help::AWAY_SETUP)]
    Setup {
        /// A Bot API server of your own; https, or http on this machine.
        #[arg(long, value_name = "URL")]
        api: Option<String>,
        /// Tell only which ticket asks to use which tool: no command, no file's content, no words of Claude's.
        #[arg(long)]
        brief: bool,
    },
    /// Ask on the phone what runs ask, in the background, until `away off`.
    #[command(after_help = help::AWAY)]
    On,
    /// Ask no more on the phone.
    #[command(after_help = help::AWAY)]
    Off,
    /// Tell whether a phone is paired, and what it was asked.
    #[command(after_help = help::AWAY)]
    Status {
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Send a message to the phone.
    #[command(after_help = help::AWAY)]
    Test,
    /// Ask no more on the phone, and forget the bot and your account.
    #[command(after_help = help::AWAY)]
    Unpair,
    /// Ask on the phone in the foreground: for a service manager.
    #[command(after_help = help::AWAY)]
    Relay,
}

/// Does it. Gives the exit code.
pub async fn run(
    out: &mut dyn Write,
    asks: &mut dyn Write,
    session: &Session,
    what: AwayCommand,
) -> Result<u8, CliError> {
    match what {
        AwayCommand::Setup { api, brief } => {
            let detail = if brief { Detail::Brief } else { Detail::Full };
            pair::pair(out, asks, session, &folder(session)?, (api, detail))?;
        }
        AwayCommand::On => return on(out, session),
        AwayCommand::Off => {
            let was_on = off(session)?;
            writeln!(out, "{}", if was_on { "The phone is asked no more." } else { "The phone was not asked." })?;
        }
        AwayCommand::Status { json } => status(out, session, json)?,
        AwayCommand::Test => {
            let pairing = pairing(session)?;
            let sent = pairing.bot().send(pairing.chat, "programmator can reach you here.", &[], None);
            sent.map_err(|error| CliError::failure(error.to_string()))?;
            writeln!(out, "Sent by @{} to {}.", pairing.bot, pairing.name)?;
        }
        AwayCommand::Unpair => {
            off(session)?;
            let was_paired = forget(&folder(session)?)?;
            let words = if was_paired {
                "Forgotten. @BotFather can also revoke the bot's token."
            } else {
                "No phone was paired."
            };
            writeln!(out, "{words}")?;
        }
        AwayCommand::Relay => relay(out, session).await?,
    }
    Ok(0)
}

fn folder(session: &Session) -> Result<PathBuf, CliError> {
    session.config_folder().ok_or_else(|| CliError::failure("there is no config folder: set HOME"))
}

fn pairing(session: &Session) -> Result<Pairing, CliError> {
    let read = Pairing::read(&folder(session)?).map_err(|error| CliError::failure(error.to_string()))?;
    read.ok_or_else(|| CliError::failure("no phone is paired: `programmator away setup` pairs one"))
}

/// Starts the relay in a session of its own, and waits until it works or says why it does not.
fn on(out: &mut dyn Write, session: &Session) -> Result<u8, CliError> {
    let pairing = pairing(session)?;
    if let Some(pid) = lock::holder(&session.state)? {
        writeln!(out, "{} is already asked by @{} (pid {pid}).", pairing.name, pairing.bot)?;
        return Ok(0);
    }
    let (heard, said) = pipe()?;
    let mut command = own_session::command(&super::detach::ourselves()?.to_string_lossy()).into_std();
    command.args(["away", "relay"]).current_dir(&session.folder);
    command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
    let mut child = command.spawn()?;
    // It has the only other ends of the pipe.
    drop(command);
    for line in BufReader::new(heard).lines() {
        let line = line?;
        if line == READY {
            writeln!(out, "{} is asked by @{} what runs ask (pid {}).", pairing.name, pairing.bot, child.id())?;
            writeln!(
                out,
                "`programmator away off` ends that. Runs go on without a terminal by `programmator run --detach`."
            )?;
            return Ok(0);
        }
        writeln!(std::io::stderr(), "{line}")?;
    }
    Ok(child.wait()?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Ends the relay; `false`: there was none.
fn off(session: &Session) -> Result<bool, CliError> {
    let Some(pid) = lock::holder(&session.state)? else { return Ok(false) };
    let process = Pid::from_raw(pid).ok_or_else(|| CliError::failure("the relay's number cannot be read"))?;
    let begun = Instant::now();
    // It has nothing to put away: each thing that it has sent is kept at once.
    let _ = kill_process(process, Signal::TERM);
    while lock::holder(&session.state)?.is_some() {
        if begun.elapsed() > PATIENCE {
            return Err(CliError::failure(format!("the relay does not end: kill -9 {pid}")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(true)
}

fn status(out: &mut dyn Write, session: &Session, json: bool) -> Result<(), CliError> {
    let config = folder(session)?;
    let pairing = Pairing::read(&config).map_err(|error| CliError::failure(error.to_string()))?;
    let relay = lock::holder(&session.state)?;
    let kept = Kept::read(&session.state).map_err(|error| CliError::failure(error.to_string()))?;
    let open = kept.open().count();
    if json {
        let told = serde_json::json!({
            "paired": pairing.as_ref().map(|pairing| serde_json::json!({
                "bot": pairing.bot, "name": pairing.name, "detail": pairing.detail, "api": pairing.api,
            })),
            "relay": relay,
            "open": open,
        });
        return Ok(writeln!(out, "{}", crate::base::json::pretty(&told)?)?);
    }
    let Some(pairing) = pairing else {
        return Ok(writeln!(out, "No phone is paired: `programmator away setup` pairs one.")?);
    };
    writeln!(out, "{} is paired by @{} ({}).", pairing.name, pairing.bot, path(&config).display())?;
    match relay {
        Some(pid) => writeln!(out, "The phone is asked (pid {pid}); {open} of its questions wait.")?,
        None => writeln!(out, "The phone is not asked: `programmator away on` begins that.")?,
    }
    Ok(())
}

/// Whether the phone can be asked, where one is paired: its bot is asked who it is.
pub async fn check(session: &Session) -> Option<Finding> {
    let finding = |mark, text: String| Some(Finding::new("phone", mark, text));
    let pairing = match Pairing::read(&session.config_folder()?) {
        Ok(pairing) => pairing?,
        Err(error) => return finding(Mark::Fail, error.to_string()),
    };
    let (bot, is_asked) = (pairing.bot(), lock::holder(&session.state).is_ok_and(|holder| holder.is_some()));
    match spawn_blocking(move || bot.me()).await {
        Ok(Ok(me)) if is_asked => finding(Mark::Ok, format!("{} is asked by @{}", pairing.name, me.username)),
        Ok(Ok(me)) => finding(
            Mark::Ok,
            format!(
                "{} is paired by @{}, and not asked: `programmator away on` begins that",
                pairing.name, me.username
            ),
        ),
        Ok(Err(error @ BotError::Unauthorized)) => finding(Mark::Fail, error.to_string()),
        Ok(Err(error)) => finding(Mark::Warn, error.to_string()),
        Err(error) => finding(Mark::Warn, error.to_string()),
    }
}

async fn relay(out: &mut dyn Write, session: &Session) -> Result<(), CliError> {
    let pairing = pairing(session)?;
    let _lock = Lock::take(&session.state)?;
    let me = pairing.bot().me()?;
    tracing::info!(bot = %me.username, "the phone is asked");
    let for_report = session.clone();
    let report = Box::new(move || {
        let mut text = Vec::new();
        report::print(&mut text, &for_report, &ReportArgs { run: None, since: None, json: false })?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    });
    let relay = relay::Relay::new(pairing, session.store()?, session.clock(), report)?;
    writeln!(out, "{READY}")?;
    out.flush()?;
    relay.run().await
}

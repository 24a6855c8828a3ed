//! `programmator away`: questions of runs on the person's phone, by a Telegram bot of their own.

mod kept;
mod lock;
mod meaning;
mod message;
mod muting;
mod pair;
mod relay;
mod scope;
mod sent;
mod sessions;
mod take_over;

use self::kept::Kept;
use self::lock::Lock;
use self::muting::{is_last, mute, off, unmute};
use self::scope::Scope;
use self::sent::{Sender, SentLog};
use super::error::CliError;
use super::help;
use super::queue::waiting;
use super::report::{self, ReportArgs};
use super::session::Session;
use crate::adapters::own_session;
use crate::adapters::person_socket::CHILD;
use crate::adapters::telegram::BotError;
use crate::adapters::telegram::pairing::{Detail, Pairing, forget, path};
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::finding::{Finding, Mark};
use clap::Subcommand;
use std::io::{BufRead as _, BufReader, Write, pipe};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;

/// What the relay says first when it works.
const READY: &str = "ready";
/// How long a relay is waited for that begins beside something else.
const BEGINNING: Duration = Duration::from_secs(2);

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
        /// Take over the settings of claude-afk without asking first.
        #[arg(long)]
        claude_afk: bool,
    },
    /// Ask on the phone what runs ask, in the background, until `away off`.
    #[command(after_help = help::AWAY)]
    On {
        /// Tickets, or Claude sessions of your own such as `session-1a2b3c4d`: ask of these alone.
        #[arg(value_name = "NAME")]
        asked: Vec<String>,
    },
    /// Ask no more on the phone.
    #[command(after_help = help::AWAY)]
    Off {
        /// No more of these, where only some are asked of.
        #[arg(value_name = "NAME")]
        asked: Vec<String>,
    },
    /// Leave a ticket or a Claude session of your own out: it asks on the machine only. Without a name: list what is left out.
    #[command(after_help = help::AWAY_MUTE)]
    Mute {
        /// Tickets, or sessions such as `session-1a2b3c4d`.
        #[arg(value_name = "NAME")]
        asked: Vec<String>,
    },
    /// Ask of it on the phone again.
    #[command(after_help = help::AWAY_UNMUTE)]
    Unmute {
        /// What was left out.
        #[arg(value_name = "NAME", required = true)]
        asked: Vec<String>,
    },
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
    /// Print what was sent to the phone, and what came back, the oldest first.
    #[command(after_help = help::AWAY_LOG)]
    Log {
        /// How many entries.
        #[arg(long, value_name = "N", default_value_t = 50)]
        last: usize,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
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
        AwayCommand::Setup { api, brief, claude_afk } => {
            take_over::offer(out, session, &folder(session)?, claude_afk)?;
            let detail = if brief { Detail::Brief } else { Detail::Full };
            pair::pair(out, asks, session, &folder(session)?, (api, detail))?;
        }
        AwayCommand::On { asked } => return on(out, session, &asked),
        AwayCommand::Off { asked } if !asked.is_empty() && !is_last(out, session, &asked)? => {}
        AwayCommand::Off { .. } => {
            let (was_on, stays) = (off(session)?, is_kept_on(session));
            if was_on {
                tell(session, "Phone notifications are off (`away off`). Open questions wait on the machine.");
            }
            let already = if was_on { "" } else { " already" };
            writeln!(out, "Phone notifications are{already} off.")?;
            if stays {
                writeln!(
                    out,
                    "Your configuration keeps it on (away.always_on): the next run in the background, or the next question of a \
                     Claude session of your own, begins it again."
                )?;
            }
        }
        AwayCommand::Mute { asked } => mute(out, session, &asked)?,
        AwayCommand::Unmute { asked } => unmute(out, session, &asked)?,
        AwayCommand::Status { json } => status(out, session, json)?,
        AwayCommand::Test => {
            let pairing = pairing(session)?;
            let sent = send(session, &pairing, "programmator can reach you here.");
            sent.map_err(|error| CliError::failure(error.to_string()))?;
            writeln!(out, "Sent by @{} to {}.", pairing.bot, pairing.name)?;
        }
        AwayCommand::Log { last, json } => log(session).print(out, last, json)?,
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
        AwayCommand::Relay => Box::pin(relay(out, session)).await?,
    }
    Ok(0)
}

/// The phone is asked.
pub fn is_on(state: &Path) -> bool {
    lock::is_held(state)
}

/// The phone is asked, and of this one.
pub fn is_asked(state: &Path, of: &TicketId) -> bool {
    is_on(state) && is_in_scope(state, of)
}

/// The phone is asked of this one, where it is asked.
pub fn is_in_scope(state: &Path, of: &TicketId) -> bool {
    Scope::read(state).has(of)
}

fn folder(session: &Session) -> Result<PathBuf, CliError> {
    session.config_folder().ok_or_else(|| CliError::failure("there is no config folder: set HOME"))
}

fn pairing(session: &Session) -> Result<Pairing, CliError> {
    let read = Pairing::read(&folder(session)?).map_err(|error| CliError::failure(error.to_string()))?;
    read.ok_or_else(|| CliError::failure("no phone is paired: `programmator away setup` pairs one"))
}

/// A phone is paired; `None` where there is no place for its settings, or they cannot be read.
pub fn is_paired(session: &Session) -> Option<bool> {
    let folder = session.config_folder()?;
    Pairing::read(&folder).ok().map(|pairing| pairing.is_some())
}

fn log(session: &Session) -> SentLog {
    SentLog::of(&session.state, session.clock())
}

fn send(session: &Session, pairing: &Pairing, words: &str) -> Result<i64, BotError> {
    let (bot, log) = (pairing.bot(), log(session));
    Sender { bot: &bot, log: &log, ticket: None }.send(pairing.chat, words, &[], None)
}

/// Says it on the phone, where that is possible.
fn tell(session: &Session, words: &str) {
    let sent = pairing(session).map(|pairing| send(session, &pairing, words));
    if let Ok(Err(error)) = sent {
        tracing::warn!(%error, "the phone could not be told");
    }
}

/// The relay, in a session of its own.
fn relay_command(session: &Session) -> std::io::Result<Command> {
    let mut command = own_session::command(&super::detach::ourselves()?.to_string_lossy()).into_std();
    command.args(["away", "relay"]).current_dir(&session.folder);
    // It is the person's, also where they have begun it from inside Claude: else their own sessions would not hear it.
    command.env_remove(CHILD).stdin(Stdio::null());
    Ok(command)
}

/// The person's configuration wants the phone asked always.
fn is_kept_on(session: &Session) -> bool {
    session.resolve(&session.folder).is_ok_and(|resolved| resolved.config.away.always_on)
}

/// Begins to ask on the phone where the person's configuration wants that, a phone is paired, and nobody does it yet. What goes
/// wrong is in the log: nothing waits for a phone. A relay that has stopped by itself needs the person first.
pub fn keep_on(session: &Session) {
    let is_wanted = !is_on(&session.state) && is_kept_on(session);
    if !is_wanted || is_paired(session) != Some(true) || Kept::read(&session.state).stopped.is_some() {
        return;
    }
    let begun = Instant::now();
    let started = relay_apart(session).and_then(|mut command| command.status());
    match started {
        // Whoever asks goes on once it has its lock; one that does not begin holds up nothing for long.
        Ok(_) => {
            while !is_on(&session.state) && begun.elapsed() < BEGINNING {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Err(error) => tracing::warn!(%error, "the phone cannot be asked"),
    }
}

/// The relay without us above it, once this command is done: what comes from a hook of Claude's may not answer for the person.
fn relay_apart(session: &Session) -> std::io::Result<Command> {
    let program = std::fs::canonicalize(super::detach::ourselves()?)?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "\"$0\" \"$@\" &"]).arg(&program).arg(own_session::WORD).arg(&program);
    command.args(["away", "relay"]).current_dir(&session.folder).env_remove(CHILD);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// Starts the relay in a session of its own, and waits until it works or says why it does not.
fn on(out: &mut dyn Write, session: &Session, names: &[String]) -> Result<u8, CliError> {
    let pairing = pairing(session)?;
    let (tickets, relay) = (scope::named(session, names)?, lock::holder(&session.state)?);
    let what = Scope::change(&session.state, |scope| {
        scope.open(tickets, relay.is_some());
        scope.what()
    });
    let what = what.map_err(|error| CliError::failure(error.to_string()))?;
    if let Some(pid) = relay {
        writeln!(out, "{} is already asked by @{} (pid {pid}): {what}.", pairing.name, pairing.bot)?;
        return Ok(0);
    }
    let (heard, said) = pipe()?;
    let mut command = relay_command(session)?;
    command.stdout(said.try_clone()?).stderr(said);
    let mut child = command.spawn()?;
    // It has the only other ends of the pipe.
    drop(command);
    for line in BufReader::new(heard).lines() {
        let line = line?;
        if line == READY {
            tell(session, "From now on runs ask you here. /help says what is understood.");
            writeln!(out, "{} is asked by @{} {what} (pid {}).", pairing.name, pairing.bot, child.id())?;
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

fn status(out: &mut dyn Write, session: &Session, json: bool) -> Result<(), CliError> {
    let config = folder(session)?;
    let pairing = Pairing::read(&config).map_err(|error| CliError::failure(error.to_string()))?;
    let relay = lock::holder(&session.state)?;
    let kept = Kept::read(&session.state);
    let open = kept.open().count();
    let own = waiting(&session.store_to_read()?)?;
    let own = own.iter().filter(|one| one.summary.is_own_session()).count();
    let scope = Scope::read(&session.state);
    if json {
        let told = serde_json::json!({
            "paired": pairing.as_ref().map(|pairing| serde_json::json!({
                "bot": pairing.bot, "name": pairing.name, "detail": pairing.detail, "api": pairing.api,
            })),
            "relay": relay,
            "open": open,
            "own_sessions": own,
            "scope_error": scope.unreadable,
            "sessions": sessions::as_json(session),
        });
        return Ok(writeln!(out, "{}", crate::base::json::pretty(&told)?)?);
    }
    let Some(pairing) = pairing else {
        writeln!(out, "No phone is paired: `programmator away setup` pairs one.")?;
        return sessions::list(out, session);
    };
    let brief = if pairing.detail == Detail::Brief {
        "; it is told no commands and no words of Claude's (--brief)"
    } else {
        ""
    };
    writeln!(out, "{} is paired by @{} ({}){brief}.", pairing.name, pairing.bot, path(&config).display())?;
    if scope.unreadable.is_some() {
        writeln!(out, "{}", scope.told())?;
    }
    if let Some(pid) = relay {
        writeln!(
            out,
            "The phone is asked (pid {pid}); {} there{}.",
            if open == 1 { "1 question waits".to_owned() } else { format!("{open} questions wait") },
            if own == 0 { String::new() } else { format!(" ({own} of Claude sessions of your own)") }
        )?;
    } else {
        if let Some(why) = &kept.stopped {
            writeln!(out, "The relay has stopped: {}.", clean_line(why, 300))?;
        }
        let more =
            if is_kept_on(session) { ", and so does the next run in the background (away.always_on)" } else { "" };
        writeln!(out, "The phone is not asked: `programmator away on` begins that{more}.")?;
    }
    sessions::list(out, session)
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
    Scope::settle(&session.state).map_err(|error| CliError::failure(error.to_string()))?;
    let me = pairing.bot().me()?;
    tracing::info!(bot = %me.username, "the phone is asked");
    let for_report = session.clone();
    let report = Box::new(move || {
        let mut text = Vec::new();
        report::print(&mut text, &for_report, &ReportArgs { run: None, since: None, json: false })?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    });
    let settings = session.resolve(&session.folder)?.config.away;
    let relay = relay::Relay::new(pairing, settings, session.store()?, session.clock(), report);
    writeln!(out, "{READY}")?;
    out.flush()?;
    relay.run().await
}

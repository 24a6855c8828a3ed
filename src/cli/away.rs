//! `programmator away`: questions of runs on the person's phone, by a Telegram bot of their own.

mod begin;
mod kept;
mod meaning;
mod message;
mod muting;
mod pair;
mod paired;
mod relay;
mod scope;
mod sent;
mod sessions;
mod take_over;

pub use self::begin::{Beginning, begin_again, keep_on, keep_on_aloud};
use self::begin::{READY, begins_by_itself, on};
use self::kept::Kept;
use self::muting::{is_last, mute, off, unmute};
pub use self::paired::is_paired;
use self::paired::{folder, log, pairing, send, tell};
use self::scope::Scope;
use super::error::CliError;
use super::help;
use super::in_background;
use super::queue::waiting;
use super::report::{self, ReportArgs};
use super::session::Session;
use crate::adapters::sole_process::{self, Off, RELAY};
use crate::adapters::telegram::BotError;
use crate::adapters::telegram::pairing::{Detail, Pairing, forget, path};
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::background_work::times;
use crate::domain::finding::{Finding, Mark};
use clap::Subcommand;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// What can be done about the phone.
#[derive(Debug, Clone, Subcommand)]
pub enum AwayCommand {
    /// Pair your own Telegram bot with your account, and choose what it may send.
    #[command(after_help = help::AWAY_SETUP)]
    Setup {
        /// Your own Bot API server; https, or http on this machine.
        #[arg(long, value_name = "URL")]
        api: Option<String>,
        /// Send only ticket and tool name: no commands, file contents or Claude output.
        #[arg(long)]
        brief: bool,
        /// Import the settings of claude-afk without asking first.
        #[arg(long)]
        claude_afk: bool,
    },
    /// Send questions to your phone, in the background, until `away off`.
    #[command(after_help = help::AWAY)]
    On {
        /// Only questions of these tickets, or of your own Claude sessions, such as `session-1a2b3c4d`.
        #[arg(value_name = "NAME")]
        asked: Vec<String>,
    },
    /// Stop sending questions to your phone.
    #[command(after_help = help::AWAY)]
    Off {
        /// Remove these from the selection.
        #[arg(value_name = "NAME")]
        asked: Vec<String>,
    },
    /// Mute a ticket or your own Claude session: its questions stay on this machine. Without a name: list muted ones.
    #[command(after_help = help::AWAY_MUTE)]
    Mute {
        /// Tickets, or sessions such as `session-1a2b3c4d`.
        #[arg(value_name = "NAME")]
        asked: Vec<String>,
    },
    /// Unmute a ticket or session.
    #[command(after_help = help::AWAY_UNMUTE)]
    Unmute {
        /// Muted tickets or sessions.
        #[arg(value_name = "NAME", required = true)]
        asked: Vec<String>,
    },
    /// Show whether a phone is paired, and the questions sent to it.
    #[command(after_help = help::AWAY)]
    Status {
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Send a test message to the phone.
    #[command(after_help = help::AWAY)]
    Test,
    /// Print the messages to and from the phone, oldest first.
    #[command(after_help = help::AWAY_LOG)]
    Log {
        /// How many entries.
        #[arg(long, value_name = "N", default_value_t = 50)]
        last: usize,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Turn the phone off, and forget the bot and your account.
    #[command(after_help = help::AWAY)]
    Unpair,
    /// Run the phone relay in the foreground: for a service manager.
    #[command(after_help = help::AWAY)]
    Relay {
        /// When the host has begun it again before: milliseconds since 1970, with commas.
        #[arg(long, hide = true, default_value = "")]
        resumed: String,
    },
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
        AwayCommand::Off { .. } => turn_off(out, session)?,
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
            let ended = off(session);
            // Without its token it sends nothing more, whether it has ended or not.
            let was_paired = forget(&folder(session)?)?;
            tell_killed(out, ended?)?;
            let words = if was_paired {
                "Forgotten. @BotFather can also revoke the bot's token."
            } else {
                "No phone is paired."
            };
            writeln!(out, "{words}")?;
        }
        AwayCommand::Relay { resumed } => Box::pin(relay(out, session, &resumed)).await?,
    }
    Ok(0)
}

/// Ends the relay, and says whether it stays off.
fn turn_off(out: &mut dyn Write, session: &Session) -> Result<(), CliError> {
    let was = off(session)?;
    // Of one that stopped by itself it is known only now that it will not begin by itself.
    let begins = begins_by_itself(session);
    if was != Off::None {
        let again = if begins { "  The next background run turns them on again (away.always_on)." } else { "" };
        let words = "Phone notifications are off (`away off`). Open questions wait on your machine.";
        tell(session, &format!("{words}{again}"));
    }
    let already = if was == Off::None { " already" } else { "" };
    writeln!(out, "Phone notifications are{already} off.")?;
    tell_killed(out, was)?;
    if begins {
        writeln!(
            out,
            "away.always_on is set: the next background run, or the next question of one of your own Claude sessions, turns it on again. Set `away.always_on: false` in your config.yaml to keep it off."
        )?;
    }
    Ok(())
}

fn tell_killed(out: &mut dyn Write, was: Off) -> Result<(), CliError> {
    if was == Off::Killed {
        writeln!(out, "The relay did not exit in time and was killed. Its last message may be sent twice.")?;
    }
    Ok(())
}

/// The phone is asked.
pub fn is_on(state: &Path) -> bool {
    sole_process::is_held(state, RELAY)
}

/// The phone is asked, and of this one.
pub fn is_asked(state: &Path, of: &TicketId) -> bool {
    is_on(state) && is_in_scope(state, of)
}

/// The phone is asked, and of all of these: tickets or runs as they are typed; where none is, of whatever there is.
pub fn is_asked_about(session: &Session, typed: &[String]) -> bool {
    is_on(&session.state) && Scope::read(&session.state).covers(session, typed)
}

/// The phone is asked of this one, where it is asked.
pub fn is_in_scope(state: &Path, of: &TicketId) -> bool {
    Scope::read(state).has(of)
}

fn status(out: &mut dyn Write, session: &Session, json: bool) -> Result<(), CliError> {
    let config = folder(session)?;
    let pairing = Pairing::read(&config).map_err(|error| CliError::failure(error.to_string()))?;
    let relay = sole_process::holder(&session.state, RELAY)?;
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
        writeln!(out, "No phone is paired: run `programmator away setup`.")?;
        return sessions::list(out, session);
    };
    let brief = if pairing.detail == Detail::Brief { "; no commands or Claude output are sent (--brief)" } else { "" };
    writeln!(out, "{} is paired with @{} ({}){brief}.", pairing.name, pairing.bot, path(&config).display())?;
    if scope.unreadable.is_some() {
        writeln!(out, "{}", scope.told())?;
    }
    if let Some(pid) = relay {
        writeln!(
            out,
            "The phone is on (pid {pid}); {} there{}.",
            if open == 1 { "1 question waits".to_owned() } else { format!("{open} questions wait") },
            if own == 0 { String::new() } else { format!("  ({own} from your own Claude sessions)") }
        )?;
    } else {
        if let Some(why) = &kept.stopped {
            writeln!(out, "The relay has stopped: {}.", clean_line(why, 300))?;
        }
        let more =
            if begins_by_itself(session) { ", and so does the next background run (away.always_on)" } else { "" };
        writeln!(out, "The phone is off: `programmator away on` turns it on{more}.")?;
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
    let (bot, is_asked) =
        (pairing.bot(), sole_process::holder(&session.state, RELAY).is_ok_and(|holder| holder.is_some()));
    match spawn_blocking(move || bot.me()).await {
        Ok(Ok(me)) if is_asked => finding(Mark::Ok, format!("{} gets questions from @{}", pairing.name, me.username)),
        Ok(Ok(me)) => finding(
            Mark::Ok,
            format!("{} is paired with @{}, but off: `programmator away on` turns it on", pairing.name, me.username),
        ),
        Ok(Err(error @ BotError::Unauthorized)) => finding(Mark::Fail, error.to_string()),
        Ok(Err(error)) => finding(Mark::Warn, error.to_string()),
        Err(error) => finding(Mark::Warn, error.to_string()),
    }
}

async fn relay(out: &mut dyn Write, session: &Session, resumed: &str) -> Result<(), CliError> {
    let pairing = pairing(session)?;
    let lock = sole_process::Lock::take(&session.state, RELAY)?;
    let _lock =
        lock.ok_or_else(|| CliError::failure("the phone relay is already running: see `programmator away status`"))?;
    Scope::settle(&session.state).map_err(|error| CliError::failure(error.to_string()))?;
    let me = pairing.bot().me()?;
    tracing::info!(bot = %me.username, "the phone is on");
    let for_report = session.clone();
    let report = Arc::new(move || {
        let mut text = Vec::new();
        report::print(&mut text, &for_report, &ReportArgs { run: None, since: None, json: false })?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    });
    let settings = session.resolve(&session.folder)?.config.away;
    let relay = relay::Relay::new(pairing, settings, session.store()?, session.clock(), report);
    // Before it is known to be there: what turns it off from then on has it forgotten.
    let mut entry = in_background::on_phone(session, times(resumed));
    // Who has begun it may be gone by now.
    let _ = writeln!(out, "{READY}").and_then(|()| out.flush());
    relay.run().await?;
    // Told to end, as by a machine that is shut down; `away off` has had it forgotten before.
    if let Some(entry) = &mut entry {
        entry.told(session.clock().now());
    }
    Ok(())
}

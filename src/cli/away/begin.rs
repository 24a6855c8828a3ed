//! Beginning to ask on the phone: the relay is started in a session of its own, and heard until it works or says why it does not.

use super::kept::Kept;
use super::paired::{is_paired, pairing, tell};
use super::scope::{self, Scope};
use crate::adapters::own_program;
use crate::adapters::person_socket::CHILD;
use crate::adapters::sole_process::{self, RELAY};
use crate::adapters::{environment, own_session};
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::domain::background_work::Background;
use std::io::{BufRead as _, BufReader, PipeReader, Write, pipe, stderr};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What the relay says first when it works.
pub(super) const READY: &str = "ready";
/// How long a relay may take to begin beside something else.
const BEGINNING: Duration = Duration::from_secs(2);
/// How long a hook of Claude's waits for it: one that cannot begin has mostly said so by then.
const MOMENT: Duration = Duration::from_millis(30);
/// Characters of why it does not begin.
const WORDS: usize = 400;

/// The relay, in a session of its own.
fn relay_command(session: &Session) -> std::io::Result<Command> {
    let mut command = own_session::command(&own_program::to_start()?.to_string_lossy()).into_std();
    command.args(["away", "relay"]).current_dir(&session.folder).stdin(Stdio::null());
    as_the_persons(&mut command);
    Ok(command)
}

/// The relay without us above it, once this command is done: what comes from a hook of Claude's may not answer for the person.
fn relay_apart(session: &Session, options: &[&str]) -> std::io::Result<Command> {
    let program = own_program::to_start_later()?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "\"$0\" \"$@\" &"]).arg(&program).arg(own_session::WORD).arg(&program);
    command.args(["away", "relay"]).args(options).current_dir(&session.folder).stdin(Stdio::null());
    as_the_persons(&mut command);
    Ok(command)
}

/// It is the person's, also where they have begun it from inside Claude: else their own sessions would not hear it, and the runs
/// that it begins would have that session's settings and login.
fn as_the_persons(command: &mut Command) {
    command.env_remove(CHILD);
    for name in environment::of_claude_session(&std::env::vars_os().collect()) {
        command.env_remove(name);
    }
}

/// The phone is asked again without a word of the person's, as their configuration wants: a phone is paired, and the relay has not
/// stopped by itself, which needs the person first.
pub(super) fn begins_by_itself(session: &Session) -> bool {
    let is_kept_on = session.resolve(&session.folder).is_ok_and(|resolved| resolved.config.away.always_on);
    is_kept_on && is_paired(session) == Some(true) && Kept::read(&session.state).stopped.is_none()
}

/// Begins to ask on the phone where the person's configuration wants that, a phone is paired, and nobody does it yet. Says why it is
/// not asked though it should be, on stderr and in the log.
pub fn keep_on_aloud(session: &Session) {
    if sole_process::is_held(&session.state, RELAY) || !begins_by_itself(session) {
        return;
    }
    let came = Beginning::of(session, &[])
        .map_or_else(|error| Some(Err(error.to_string())), |mut begun| begun.hear(BEGINNING));
    let why = match came {
        Some(Ok(())) => return,
        Some(Err(why)) => why,
        None => "not started yet: check `programmator away status`".to_owned(),
    };
    // Another one was faster.
    if !sole_process::is_held(&session.state, RELAY) {
        warn(&why);
        let _ = writeln!(stderr(), "warning: phone notifications are not on (away.always_on): {why}");
    }
}

/// The same for a hook of Claude's, which waits for a moment only. `None`: no relay begins.
pub fn keep_on(session: &Session) -> Option<Beginning> {
    if sole_process::is_held(&session.state, RELAY) || !begins_by_itself(session) {
        return None;
    }
    let mut begun = Beginning::of(session, &[]).inspect_err(|error| warn(&error.to_string())).ok()?;
    match begun.hear(MOMENT) {
        Some(Err(why)) => {
            warn(&why);
            None
        }
        Some(Ok(())) | None => Some(begun),
    }
}

/// Begins to ask on the phone again after this relay was interrupted. Gives what came of it; an error: why nothing did yet; words
/// for the person.
pub fn begin_again(session: &Session, relay: &Background, now: Timestamp) -> Result<String, String> {
    // It may still fail.
    if sole_process::is_held(&session.state, RELAY) {
        return Err("another relay is just starting".to_owned());
    }
    match is_paired(session) {
        Some(true) => {}
        Some(false) => return Ok("No phone is paired any more.".to_owned()),
        None => return Err("the pairing cannot be read".to_owned()),
    }
    let resumed = format!("--resumed={}", relay.begun_again(now));
    let mut begun = Beginning::of(session, &[&resumed]).map_err(|error| error.to_string())?;
    // One that comes later is found by the next try.
    begun.hear(BEGINNING).unwrap_or_else(|| Err("it has not answered yet".to_owned()))?;
    Ok("It is on again.".to_owned())
}

fn warn(why: &str) {
    tracing::warn!(why, "the phone cannot be asked");
}

/// A relay that begins beside something else.
pub struct Beginning {
    since: Instant,
    /// Each line that it says, until it is gone.
    said: Receiver<String>,
    /// What it has said so far.
    words: String,
}

impl Beginning {
    fn of(session: &Session, options: &[&str]) -> std::io::Result<Self> {
        let since = Instant::now();
        let (heard, said) = pipe()?;
        let mut command = relay_apart(session, options)?;
        command.stdout(said.try_clone()?).stderr(said);
        command.status()?;
        // The relay has the only other ends of the pipe.
        drop(command);
        Ok(Self { since, said: lines(heard)?, words: String::new() })
    }

    /// It may not have its lock yet, and is not known to have failed.
    pub fn may_come(&mut self) -> bool {
        self.since.elapsed() < BEGINNING && !matches!(self.hear(Duration::ZERO), Some(Err(_)))
    }

    /// Hears it for so long. An error: what it has said before it ended. `None`: it has neither ended nor said that it works.
    fn hear(&mut self, patience: Duration) -> Option<Result<(), String>> {
        let begun = Instant::now();
        loop {
            match self.said.recv_timeout(patience.saturating_sub(begun.elapsed())) {
                Ok(line) if line == READY => return Some(Ok(())),
                Ok(line) => self.words = format!("{} {line}", self.words),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let words = clean_line(self.words.trim(), WORDS);
        Some(Err(if words.is_empty() { "the relay exited without a message".to_owned() } else { words }))
    }
}

/// Each line that is said, until nobody is there to say more.
fn lines(heard: PipeReader) -> std::io::Result<Receiver<String>> {
    let (say, said) = channel();
    std::thread::Builder::new().name("relay".to_owned()).spawn(move || {
        for line in BufReader::new(heard).lines().map_while(Result::ok) {
            // Read to its end while this program lives, whoever listens.
            let _ = say.send(line);
        }
    })?;
    Ok(said)
}

/// Starts the relay in a session of its own, and waits until it works or says why it does not.
pub(super) fn on(out: &mut dyn Write, session: &Session, names: &[String]) -> Result<u8, CliError> {
    let pairing = pairing(session)?;
    let (tickets, relay) = (scope::named(session, names)?, sole_process::holder(&session.state, RELAY)?);
    let what = Scope::change(&session.state, |scope| {
        scope.open(tickets, relay.is_some());
        scope.what()
    });
    let what = what.map_err(|error| CliError::failure(error.to_string()))?;
    if let Some(pid) = relay {
        writeln!(out, "{} already gets {what} from @{} (pid {pid}).", pairing.name, pairing.bot)?;
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
            tell(session, "Runs now send their questions here. /help lists the commands.");
            writeln!(out, "{} now gets {what} from @{} (pid {}).", pairing.name, pairing.bot, child.id())?;
            writeln!(
                out,
                "Turn it off with `programmator away off`. `programmator run --detach` runs without a terminal."
            )?;
            return Ok(0);
        }
        writeln!(stderr(), "{line}")?;
    }
    Ok(child.wait()?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_ends_at_once_is_noticed_at_once_with_its_reason() {
        let (say, said) = channel();
        let mut begun = Beginning { since: Instant::now(), said, words: String::new() };
        say.send("programmator: the bot's token".to_owned()).unwrap();
        assert!(begun.hear(Duration::ZERO).is_none() && begun.may_come());
        say.send("is not taken any more".to_owned()).unwrap();
        drop(say);
        let why = "programmator: the bot's token is not taken any more";
        assert_eq!(begun.hear(Duration::from_secs(600)), Some(Err(why.to_owned())));
        assert!(begun.since.elapsed() < Duration::from_secs(60) && !begun.may_come());
        let (say, said) = channel();
        let mut begun = Beginning { since: Instant::now(), said, words: String::new() };
        say.send(READY.to_owned()).unwrap();
        assert_eq!(begun.hear(Duration::from_secs(600)), Some(Ok(())));
        // It says nothing, and is there.
        assert!(begun.may_come());
        begun.since -= BEGINNING;
        assert!(!begun.may_come(), "it has had its time");
    }
}

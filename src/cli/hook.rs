//! `programmator hook`: what Claude runs by itself. It writes what has happened to stdin, and reads the decision from stdout.
//!
//! Before each tool call of a session that the person has opened from the screen the gate is asked. Whatever goes wrong, the
//! decision is "ask": Claude asks the person, who sits in front of it. In sessions that they have started themselves
//! (`hook session`) they are asked elsewhere while they are away; whatever goes wrong, nothing is decided.

mod before;

use super::away;
use super::error::CliError;
use super::options::RunOptions;
use super::session::Session;
use crate::adapters::agent::marker::MARKER;
use crate::adapters::clock::SystemClock;
use crate::adapters::hook_log::HookLog;
use crate::adapters::hook_socket::ask;
use crate::adapters::inside::stays_in;
use crate::adapters::known_sessions::{self, Known, Process};
use crate::adapters::local_socket::QUESTION;
use crate::adapters::own_claude::OwnClaude;
use crate::adapters::own_notices;
use crate::adapters::store::{Store, state_dir};
use crate::adapters::transcript;
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::base::time::Clock as _;
use crate::domain::approval::Answer;
use crate::domain::own_notice::{self, Notice};
use crate::domain::own_session::{self, Begun, Event, Heard};
use crate::domain::own_terminal::Terminal;
use crate::runtime::own_session::{Asking, Claude, over};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{Read, Write, stdin};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;

/// Time for an answer: less than what Claude is told to wait for this hook.
const PATIENCE: Duration = Duration::from_secs(WAIT - 60);
/// Seconds that Claude is told to wait for it.
pub const WAIT: u64 = 3_600;

/// Which hook.
#[derive(Debug, Args)]
#[command(subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
pub struct Hook {
    #[command(subcommand)]
    pub command: Option<HookCommand>,
    /// Where the gate is.
    #[command(flatten)]
    pub gate: Option<Gate>,
}

/// Other hooks than that of the gate.
#[derive(Debug, Subcommand)]
pub enum HookCommand {
    /// Of a session that the person has started.
    Session,
}

/// Where the gate is.
#[derive(Debug, Args)]
pub struct Gate {
    /// The socket that it listens on.
    #[arg(long, value_name = "FILE")]
    pub socket: PathBuf,
    /// The process that has opened the socket.
    #[arg(long, value_name = "PID")]
    pub program: u32,
}

/// Prints one JSON document at most, and nothing else. The exit code is always 0: 2 would be a no to Claude.
pub async fn run(out: &mut (dyn Write + Send), wanted: &Hook) -> Result<u8, CliError> {
    let question = spawn_blocking(|| {
        let mut question = Vec::new();
        stdin().lock().take(QUESTION + 1).read_to_end(&mut question).map(|_| question)
    });
    let question = question.await.ok().and_then(Result::ok).unwrap_or_default();
    match &wanted.gate {
        Some(gate) => judge(out, gate, &question).await?,
        None => own_session(out, &question).await,
    }
    Ok(0)
}

async fn judge(out: &mut dyn Write, gate: &Gate, question: &[u8]) -> Result<(), CliError> {
    let is_start =
        serde_json::from_slice::<Value>(question).is_ok_and(|question| question["hook_event_name"] == "SessionStart");
    let answer = if question.len() as u64 > QUESTION {
        Err("the call is too long".to_owned())
    } else {
        ask(&gate.socket, gate.program, question).await
    };
    let answer = answer.and_then(|answer| match serde_json::from_str::<Value>(&answer) {
        Ok(Value::Object(answer)) => Ok(Value::Object(answer)),
        _ => Err("the gate's answer cannot be read".to_owned()),
    });
    let printed = match answer {
        Ok(answer) => answer,
        Err(_) if is_start => json!({}),
        Err(why) => {
            let reason = format!("programmator: {}; decide yourself", clean_line(&why, 300));
            json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": reason,
            }})
        }
    };
    Ok(writeln!(out, "{printed}")?)
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Does what Claude's event is for, and logs it where the person wants to see that.
async fn own_session(out: &mut (dyn Write + Send), told: &[u8]) {
    let state = state_dir(variable("PROGRAMMATOR_STATE_DIR").as_deref(), variable("XDG_STATE_HOME").as_deref());
    let Ok(state) = state else { return };
    let begun = Instant::now();
    let came = session(out, told, &state).await;
    if let Some(log) = HookLog::of(&state, |name| variable(name).is_some()) {
        log.add(told, came, SystemClock.now(), begun.elapsed());
    }
}

/// Asks the person elsewhere, while they are away and nothing is in the way of that. Gives what came of it, in words.
async fn session(out: &mut (dyn Write + Send), told: &[u8], state: &Path) -> &'static str {
    // A run of ours has its own gate, and what has no terminal is waited for by a script.
    if variable(MARKER).is_some() {
        return "nothing: it belongs to a run";
    }
    if variable("CLAUDE_CODE_ENTRYPOINT").is_none_or(|from| from != "cli") {
        return "nothing: the session has no terminal";
    }
    if let Some(coming) = own_session::coming(told) {
        // Claude may have gone elsewhere since it was started.
        let project = variable("CLAUDE_PROJECT_DIR").map_or_else(|| PathBuf::from(&coming.folder), PathBuf::from);
        return before::judge(out, &coming, &project, SystemClock.now());
    }
    if let Some(begun) = own_session::begun(told) {
        let above = OwnClaude::look();
        return match &above {
            above if above.is_headless() => "nothing: it was started for one answer",
            above if is_kept(state, &begun, above) => "the session and its terminal are known",
            _ => "nothing: no Claude process found, or the session cannot be stored",
        };
    }
    if let Some(ended) = own_session::ended(told) {
        known_sessions::forget(state, &ended);
        // Of a session that has asked nothing there is no run, and perhaps no store.
        if Store::is_there(state)
            && let Ok(store) = Store::open(state)
        {
            over(&store, &ended, &SystemClock).await;
        }
        return "the session has ended";
    }
    let heard = own_session::read(told);
    let mut relay = Relay { state, begun: None };
    // Only what is then asked there has the phone asked: not what is left out, and not what a script waits for.
    if let Some(heard) = &heard
        && !away::is_on(state)
        && away::is_in_scope(state, &heard.session)
        && OwnClaude::look().is_attended()
        && let Ok(session) = Session::new(None, &RunOptions::default())
    {
        relay.begun = away::keep_on(&session);
    }
    if !away::is_on(state) && relay.begun.is_none() {
        return "nothing: the phone is off (`programmator away on`)";
    }
    if let Some(notice) = own_notice::read(told, SystemClock.now()) {
        return leave(state, &notice, told);
    }
    let Some(mut heard) = heard else { return "nothing: not a question for elsewhere" };
    if !relay.asks(&heard.session) {
        return "nothing: the phone is off for this session";
    }
    let above = OwnClaude::look();
    // Of one that cannot be seen its own tools could answer.
    if !above.is_attended() {
        return "nothing: no Claude process found, or it was started for one answer";
    }
    // It may have begun before it had a hook for that.
    if known_sessions::find(state, &heard.session).is_none() {
        let (session, folder) = (heard.session.clone(), heard.folder.clone());
        is_kept(state, &Begun { session, folder, transcript: own_session::transcript(told) }, &above);
    }
    let transcript = heard.transcript.clone();
    let call = match (&mut heard.event, transcript) {
        (Event::Call { tool, input, .. }, Some(path)) => Some(transcript::Call::new(&path, tool, input)),
        (Event::Finished { words: words @ None }, Some(path)) => {
            *words = transcript::last_words(&path);
            None
        }
        _ => None,
    };
    heard.is_inside = heard.file().is_some_and(|file| stays_in(Path::new(&heard.folder), file));
    let Ok(store) = Store::open(state) else { return "nothing: nothing can be stored" };
    let asking = Asking { store: &store, clock: &SystemClock, patience: PATIENCE, claude: above.process() };
    let mut claude = AtHook { out, above, call, relay, heard: &heard, is_told: false };
    match asking.ask(&heard, &mut claude).await {
        Ok(()) if claude.is_told => "answered from elsewhere",
        Ok(()) => "asked, but not answered from elsewhere",
        // Nobody would read why.
        Err(_) => "nothing: it could not be asked",
    }
}

/// Leaves for the phone what Claude tells.
fn leave(state: &Path, notice: &Notice, told: &[u8]) -> &'static str {
    let above = OwnClaude::look();
    if !away::is_asked(state, &notice.session) || !above.is_attended() {
        return "nothing: the phone is off for this session";
    }
    if known_sessions::find(state, &notice.session).is_none() {
        let (session, folder) = (notice.session.clone(), notice.folder.clone());
        is_kept(state, &Begun { session, folder, transcript: own_session::transcript(told) }, &above);
    }
    match own_notices::leave(state, notice) {
        Ok(()) => "left for the phone",
        Err(_) => "nothing: it cannot be left for the phone",
    }
}

/// Keeps in which terminal the session sits. `false`: that could not be done.
fn is_kept(state: &Path, begun: &Begun, above: &OwnClaude) -> bool {
    let Some(pid) = above.process() else { return false };
    let named = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
    let known = Known {
        session: begun.session.clone(),
        folder: begun.folder.clone(),
        transcript: begun.transcript.clone(),
        terminal: Terminal::find(named, above.tty().as_deref(), pid),
        process: Process::of(pid),
        since: SystemClock.now(),
    };
    known_sessions::keep(state, &known).is_ok()
}

/// Whether the phone is asked.
struct Relay<'a> {
    state: &'a Path,
    /// The relay that this hook has begun.
    begun: Option<away::Beginning>,
}

impl Relay<'_> {
    /// It is asked of this session, or will be in a moment.
    fn asks(&mut self, session: &TicketId) -> bool {
        away::is_in_scope(self.state, session)
            && (away::is_on(self.state) || self.begun.as_mut().is_some_and(away::Beginning::may_come))
    }
}

/// Claude, as it waits for this hook.
struct AtHook<'a> {
    out: &'a mut (dyn Write + Send),
    above: OwnClaude,
    call: Option<transcript::Call>,
    relay: Relay<'a>,
    heard: &'a Heard,
    /// An answer was given.
    is_told: bool,
}

impl Claude for AtHook<'_> {
    fn gone(&mut self) -> Option<&'static str> {
        if !self.above.waits() {
            return Some("the session has ended, or is no longer waiting");
        }
        if self.call.as_mut().is_some_and(transcript::Call::is_settled) {
            return Some("answered in its terminal");
        }
        (!self.relay.asks(&self.heard.session)).then_some("withdrawn here: Claude asks in its terminal")
    }

    fn tell(&mut self, answer: &Answer) -> std::io::Result<()> {
        writeln!(self.out, "{}", self.heard.told(answer))?;
        self.out.flush()?;
        self.is_told = true;
        Ok(())
    }
}

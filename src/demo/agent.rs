//! The scripted agent: a double of the Claude Code CLI that keeps the real contract, that of 2.1.197 or, where a scenario
//! says so, that of 2.1.330.
//!
//! It speaks the recorded protocol over stdio, asks before every tool call, does real work on real files and
//! runs Bash in a session of its own, as the real one does. What it says comes from a [`scenario`]; the
//! unpleasant parts are steps of that format. Does not know programmator: what it learns, it learns from flags,
//! environment and stdin, like Claude.
//!
//! Rooms: [`flags`] (command line), [`host`] and [`control`] (stdin and signals), [`dialect`] (the two ways to speak),
//! [`gate`] (asking), [`subagents`], [`tools`] and [`shell`] (doing), [`records`] and [`tally`] (what is printed),
//! [`driven`] (by a person), [`turn`], [`steps`], [`speech`] and [`calls`] (the order of it all), [`sessions`] (what is remembered between
//! processes), [`prompt`] (what is asked of it), [`settings`] (which it was started with).

pub mod calls;
pub mod control;
pub mod dialect;
pub mod driven;
pub mod event;
pub mod flags;
pub mod gate;
pub mod host;
pub mod line;
pub mod prompt;
pub mod records;
pub mod scenario;
pub mod session;
pub mod sessions;
pub mod settings;
pub mod shell;
pub mod signals;
pub mod speech;
pub mod steps;
pub mod subagents;
pub mod tally;
pub mod tools;
pub mod turn;

use dialect::Dialect;
use flags::{Flags, Parsed};
use host::Host;
use records::Book;
use scenario::Scenario;
use sessions::Memory;
use settings::Settings;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Runs the agent on the process's own stdin and stdout until stdin ends. `args` are the words behind
/// `scripted-agent`. Exit codes as the real CLI's: 0 and 1 by the last turn's `is_error`, 1 for a refused
/// command line, 129 and 143 by signal.
pub fn main(args: &[String]) -> ExitCode {
    let ended = match flags::parse(args) {
        Parsed::Version(file) => about(file.as_deref(), |cli| format!("{} (Claude Code)\n", cli.version())),
        Parsed::Help(file) => about(file.as_deref(), flags::help),
        Parsed::Login(file) => login(file.as_deref()),
        Parsed::Refused(why) => Err(why),
        Parsed::Run(flags) => run(&flags),
        Parsed::Driven(flags) => drive(&flags),
    };
    ended.unwrap_or_else(|why| refuse(&why))
}

/// Prints what the CLI of a scenario says of itself.
fn about(scenario: Option<&Path>, text: impl FnOnce(Dialect) -> String) -> Result<ExitCode, String> {
    let cli = Scenario::load(scenario)?.cli;
    let _ = std::io::stdout().write_all(text(cli).as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// Says whether the CLI of a scenario is logged in, as `claude auth status` does.
fn login(scenario: Option<&Path>) -> Result<ExitCode, String> {
    let is_in = !Scenario::load(scenario)?.logged_out;
    let method = if is_in { "api_key" } else { "none" };
    let status = serde_json::json!({"loggedIn": is_in, "authMethod": method, "apiProvider": "firstParty"});
    let _ = writeln!(std::io::stdout(), "{status:#}");
    Ok(if is_in { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Without `-p` a person drives it.
fn drive(flags: &Flags) -> Result<ExitCode, String> {
    let cwd = std::env::current_dir().map_err(|e| format!("Error: no working directory: {e}"))?;
    let (settings, memory) = (Settings::read(flags.settings.as_deref())?, Memory::open(flags, &cwd));
    match &flags.resume {
        Some(id) if memory.knows(id) => driven::drive(id, &settings, &cwd).map_err(|e| format!("Error: {e}")),
        id => Err(format!("No conversation found with session ID: {}", id.as_deref().unwrap_or_default())),
    }
}

fn run(flags: &Flags) -> Result<ExitCode, String> {
    let cwd = std::env::current_dir().map_err(|e| format!("Error: no working directory: {e}"))?;
    let scenario = Scenario::load(flags.scenario.as_deref())?;
    if let Some(flag) = flags.newer.as_ref().filter(|_| !scenario.cli.is_newer()) {
        return Err(format!("error: unknown option '{flag}'"));
    }
    let settings = Settings::read(flags.settings.as_deref())?;
    let memory = Memory::open(flags, &cwd);
    let session = match &flags.resume {
        Some(id) if uuid::Uuid::parse_str(id).is_err() => {
            let why = format!(
                "Error: --resume requires a valid session ID or session title when used with --print. \
                 Usage: claude -p --resume <session-id|title>. Provided value \"{id}\" is not a UUID and does \
                 not match any session title."
            );
            return Ok(no_conversation(id, &why));
        }
        Some(id) if !memory.knows(id) => {
            let why = format!("No conversation found with session ID: {id}");
            return Ok(no_conversation(id, &why));
        }
        Some(id) => id.clone(),
        None => match &flags.session_id {
            Some(id) if memory.knows(id) => return Err(format!("Error: Session ID {id} is already in use.")),
            Some(id) => id.clone(),
            None => uuid::Uuid::new_v4().to_string(),
        },
    };
    let host = Host::start(flags, &session, scenario.cli, settings).map_err(|e| format!("Error: no signals: {e}"))?;
    let book = Book::new(&session, &cwd, &memory);
    Ok(session::Session::new(host, book, memory, scenario, flags).serve())
}

/// The recorded end of a resume that cannot be: a result, no `init`, the reason on stderr too, exit 1.
fn no_conversation(id: &str, why: &str) -> ExitCode {
    let _ = writeln!(std::io::stdout(), "{}", records::unknown_session(id, why));
    refuse(why)
}

fn refuse(why: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{why}");
    ExitCode::FAILURE
}

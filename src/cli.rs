//! The command line: what can be typed, and which room answers it. One file for each command in `cli/`;
//! each only wires rooms together.

pub mod circuit;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod error;
pub mod headless;
mod help;
pub mod host;
pub mod logs;
pub mod operator;
pub mod options;
pub mod parse;
pub mod passphrase;
mod person_only;
pub mod policy;
pub mod session;
pub mod sessions;
pub mod snapshots;
pub mod start;
pub mod status;
mod threads;
mod tick;
pub mod ticket;

use crate::adapters::logging;
use crate::adapters::store::state_dir;
use crate::adapters::typed_secret::Source;
use crate::base::text::Clean;
use crate::runtime::headless::Format;
use circuit::CircuitCommand;
use clap::{CommandFactory, Parser, Subcommand};
use config::ConfigCommand;
use demo::Show;
use error::CliError;
use headless::Work;
use logs::Follow;
use options::{LookOptions, RunOptions};
use parse::ParseCommand;
use passphrase::PassphraseCommand;
use policy::PolicyCommand;
use session::Session;
use sessions::SessionCommand;
use snapshots::Consent;
use start::{After, Open};
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use tick::Tick;
use ticket::TicketCommand;

/// Supervises Claude Code while it works through tickets.
///
/// Give it tickets and it drives the real `claude` through their phases, one iteration at a time: it shows
/// everything live, checks every claim itself, ticks the boxes, and goes on where it was after a crash. Without
/// tickets it opens the screen on what is there; without a terminal it prints lines, as `programmator run` does.
#[derive(Debug, Parser)]
#[command(
    name = "programmator",
    bin_name = "programmator",
    version,
    override_usage = "programmator [OPTIONS] [TICKET]...\n       programmator [-C <DIR>] <COMMAND>",
    after_help = help::TOP,
    after_long_help = help::TOP_LONG
)]
pub struct Cli {
    /// What to do instead of opening the screen.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Tickets to work on, each in a tab of its own: ids, unique parts of ids, or paths.
    #[arg(value_name = "TICKET")]
    pub tickets: Vec<String>,
    /// Work in this folder instead of the present one.
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Options of runs.
    #[command(flatten)]
    pub run: RunOptions,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Work through tickets without a screen: for pipes and CI.
    #[command(after_help = help::RUN)]
    Run {
        /// Tickets to work on: ids, unique parts of ids, or paths.
        #[arg(value_name = "TICKET", required = true)]
        tickets: Vec<String>,
        /// Print one JSON record a line instead of words.
        #[arg(long)]
        json: bool,
        /// Options of runs.
        #[command(flatten)]
        run: RunOptions,
    },
    /// Go on with an interrupted run: the latest, or the one named.
    #[command(after_help = help::RESUME)]
    Resume {
        /// A run's id (or its end), or its ticket.
        run: Option<String>,
        /// Print one JSON record a line instead of opening the screen.
        #[arg(long)]
        json: bool,
        /// Options of runs.
        #[command(flatten)]
        options: RunOptions,
    },
    /// List the runs there have been, or show one with its limits and what it cost.
    #[command(after_help = help::STATUS)]
    Status {
        /// A run's id (or its end), or its ticket; without it all runs.
        run: Option<String>,
        /// Print JSON instead of words.
        #[arg(long)]
        json: bool,
    },
    /// Print the records of a run.
    #[command(after_help = help::LOGS)]
    Logs {
        /// A run's id (or its end), or its ticket.
        run: String,
        /// Wait for more, until the run ends.
        #[arg(short, long)]
        follow: bool,
        /// Print one JSON record a line instead of words.
        #[arg(long)]
        json: bool,
    },
    /// Show a run of the past on the screen.
    #[command(after_help = help::REPLAY)]
    Replay {
        /// A run's id (or its end), or its ticket.
        run: String,
        /// How the screen looks.
        #[command(flatten)]
        look: LookOptions,
    },
    /// List, show and make tickets.
    Ticket {
        /// What to do with tickets.
        #[command(subcommand)]
        command: TicketCommand,
    },
    /// List what was saved of the work folder before each iteration.
    #[command(after_help = help::SNAPSHOTS)]
    Snapshots {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
    },
    /// Bring the work folder back to a snapshot; the present is saved first.
    #[command(after_help = help::RESTORE)]
    Restore {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// The snapshot, as `programmator snapshots` lists it.
        #[arg(value_name = "SNAPSHOT")]
        n: String,
        /// Do not show what it will do and ask first.
        #[arg(long, short)]
        yes: bool,
    },
    /// Show the tickets' circuit breakers, or close one by hand.
    Circuit {
        /// What to do with them.
        #[command(subcommand)]
        command: CircuitCommand,
    },
    /// Show it all at work: a small repository and a scripted agent, no account needed.
    #[command(after_help = help::DEMO)]
    Demo {
        /// Print lines instead of opening the screen, at full speed.
        #[arg(long)]
        headless: bool,
        /// How the screen looks.
        #[command(flatten)]
        look: LookOptions,
    },
    /// Check what programmator needs: claude, git, folders, terminal.
    #[command(after_help = help::DOCTOR)]
    Doctor,
    /// Show the configuration.
    Config {
        /// What to do with it.
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Show how a text is read: its status block, its error lines.
    #[command(after_help = help::PARSE)]
    Parse {
        /// What to read it for.
        #[command(subcommand)]
        command: ParseCommand,
    },
    /// Set the passphrase that rules of the policy can ask for.
    Passphrase {
        /// What to do with it.
        #[command(subcommand)]
        command: PassphraseCommand,
    },
    /// Show Claude's sessions of the tickets, or give one up.
    Session {
        /// What to do with them.
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Ask the gate what it would decide, and why.
    Policy {
        /// What to ask.
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Trust this folder's `.programmator` files as they are now.
    #[command(after_help = help::TRUST)]
    Trust,
    /// Print shell completions.
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

impl Cli {
    /// The command that a word looks like, when it may be a slip of the keyboard: two letters off at most.
    fn command_like(word: &str) -> Option<String> {
        let command = Self::command();
        let names = command.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name);
        let near = names.map(|name| (strsim::damerau_levenshtein(name, word), name));
        near.filter(|(off, name)| *off <= 2.min(name.len() / 2)).min().map(|(_, name)| name.to_owned())
    }
}

/// The command line as it was typed; ends the program when it cannot be understood. For `policy check` 2 means that a
/// command is blocked, so what cannot be understood is 64 there.
pub fn arguments() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let typed: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        if typed.iter().all(|word| Clean::new(word).as_str() == word) {
            error.print().ok();
        } else {
            // It repeats what was typed; in its colours the two could not be told apart.
            write!(stderr(), "{}", Clean::new(&error.render().to_string())).ok();
        }
        let checks = ["policy", "check"].iter().all(|word| typed.iter().any(|typed| typed == word));
        let code = if checks && error.use_stderr() { i32::from(policy::BAD_INPUT) } else { error.exit_code() };
        std::process::exit(code)
    })
}

/// Carries out the command line. Errors are printed here; the code is the program's.
pub fn run(cli: Cli) -> ExitCode {
    let state =
        state_dir(std::env::var_os("PROGRAMMATOR_STATE_DIR").as_deref(), std::env::var_os("XDG_STATE_HOME").as_deref());
    // The demo and what only reads leave nothing behind, not even a log.
    if let Ok(state) = state
        && !matches!(cli.command, Some(Command::Demo { .. } | Command::Parse { .. } | Command::Policy { .. }))
    {
        logging::start(&state);
    }
    let code = threads::room().and_then(|()| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let code = runtime.block_on(dispatch(cli));
        // A blocked thread (a lock that is waited for) must not keep the program alive.
        runtime.shutdown_background();
        code
    });
    ExitCode::from(code.unwrap_or_else(|error| {
        if error.exit_code != error::NOBODY_READS {
            writeln!(stderr(), "programmator: {}", Clean::new(&error.message)).ok();
        }
        error.exit_code
    }))
}

async fn dispatch(cli: Cli) -> Result<u8, CliError> {
    let format = |json| if json { Format::Json } else { Format::Text };
    // What would count for nothing is refused: the person meant something by it.
    if cli.command.is_some() && cli.run != RunOptions::default() {
        return Err(CliError::usage(
            "options of runs stand behind the command: `programmator run --model … tk-…`; only -C may stand before it",
        ));
    }
    let here = |options: &RunOptions| Session::new(cli.directory.as_deref(), options);
    person_only::check(cli.command.as_ref(), &cli.run, here)?;
    let out = &mut stdout();
    match cli.command {
        None if stdout().is_terminal() => {
            start::screen(&here(&cli.run)?, Open::Tickets(cli.tickets), After::Kept).await
        }
        None if cli.tickets.is_empty() => {
            Err(CliError::usage("no terminal to draw on, and no ticket to run: see `programmator --help`"))
        }
        None => headless::run(&here(&cli.run)?, Work::Tickets(cli.tickets), Format::Text).await,
        Some(Command::Run { tickets, json, run }) => {
            headless::run(&here(&run)?, Work::Tickets(tickets), format(json)).await
        }
        Some(Command::Resume { run, json, options }) => {
            let session = here(&options)?;
            if stdout().is_terminal() && !json {
                start::screen(&session, Open::Resume(run), After::Kept).await
            } else {
                headless::run(&session, Work::Resume(run), format(json)).await
            }
        }
        Some(Command::Demo { headless, look }) => {
            let show = if headless || !stdout().is_terminal() { Show::Lines } else { Show::Screen };
            demo::run(here(&look.into())?, show).await
        }
        Some(Command::Replay { run, look }) => start::replay(&here(&look.into())?, &run).await,
        Some(Command::Logs { run, follow, json }) => {
            let follow = if follow { Follow::Yes } else { Follow::No };
            logs::print(out, &here(&cli.run)?, &run, format(json), follow).await.map(|()| 0)
        }
        Some(Command::Status { run: Some(run), json }) => {
            status::one::print(out, &here(&cli.run)?, &run, format(json)).map(|()| 0)
        }
        Some(Command::Status { run: None, json: false }) => status::list(out, &here(&cli.run)?).map(|()| 0),
        Some(Command::Status { run: None, json: true }) => status::json(out, &here(&cli.run)?).map(|()| 0),
        Some(Command::Ticket { command: TicketCommand::Tick { ticket, phase } }) => {
            tick::run(out, &here(&cli.run)?, &ticket, &phase, Tick::On).await
        }
        Some(Command::Ticket { command: TicketCommand::Untick { ticket, phase } }) => {
            tick::run(out, &here(&cli.run)?, &ticket, &phase, Tick::Off).await
        }
        Some(Command::Ticket { command }) => ticket::run(out, &here(&cli.run)?, command).map(|()| 0),
        Some(Command::Snapshots { ticket }) => snapshots::run_list(out, &here(&cli.run)?, &ticket).await.map(|()| 0),
        Some(Command::Restore { ticket, n, yes }) => {
            let consent = if yes { Consent::Given } else { Consent::Ask };
            snapshots::run_restore(out, &here(&cli.run)?, &ticket, &n, consent).await.map(|()| 0)
        }
        Some(Command::Session { command }) => sessions::run(out, &here(&cli.run)?, command).await,
        Some(Command::Circuit { command }) => {
            let session = here(&cli.run)?;
            match command {
                CircuitCommand::Status { json: false } => circuit::list(out, &session).map(|()| 0),
                CircuitCommand::Status { json: true } => circuit::json(out, &session).map(|()| 0),
                CircuitCommand::Reset { ticket } => circuit::reset(out, &session, ticket.as_deref()).await,
            }
        }
        Some(Command::Doctor) => doctor::run(out, &here(&cli.run)?).await,
        Some(Command::Config { command: ConfigCommand::Show }) => {
            let session = here(&cli.run)?;
            config::show(out, &session.resolve(&session.folder)?)?;
            Ok(0)
        }
        Some(Command::Parse { command }) => parse::run(out, &command).map(|()| 0),
        Some(Command::Passphrase { command: PassphraseCommand::Set { stdin } }) => {
            let source = if stdin { Source::Pipe } else { Source::Terminal };
            passphrase::set(out, &mut stderr(), &here(&cli.run)?, source).map(|()| 0)
        }
        Some(Command::Policy { command }) => policy::run(out, &here(&cli.run)?, &command),
        Some(Command::Trust) => {
            let session = here(&cli.run)?;
            config::trust(out, &session.folder, &session.state)
                .map_err(|error| CliError::failure(error.to_string()))?;
            Ok(0)
        }
        Some(Command::Completions { shell }) => {
            // Into memory first: `generate` panics when nobody reads on.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "programmator", &mut script);
            out.write_all(&script)?;
            Ok(0)
        }
    }
}

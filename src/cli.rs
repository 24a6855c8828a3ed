//! The command line: what can be typed, and which room answers it. One file for each command in `cli/`;
//! each only wires rooms together.

pub mod config;
pub mod demo;
pub mod doctor;
pub mod error;
pub mod headless;
pub mod host;
pub mod logs;
pub mod operator;
pub mod session;
pub mod snapshots;
pub mod start;
pub mod status;
pub mod ticket;

use crate::adapters::logging;
use crate::adapters::store::state_dir;
use crate::base::text::Clean;
use crate::runtime::headless::Format;
use clap::{Args, CommandFactory, Parser, Subcommand};
use demo::Show;
use error::CliError;
use headless::Work;
use logs::Follow;
use session::Session;
use start::Open;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

/// Supervises Claude Code while it works through tickets.
///
/// Give it tickets (ids, unique parts of ids, or markdown files) and it drives the real `claude` through
/// their phases, checks every claim and shows it live. Without tickets it opens the screen on what is there.
#[derive(Debug, Parser)]
#[command(name = "programmator", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do instead of opening the screen.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Tickets to work on, each in a tab of its own.
    #[arg(value_name = "TICKET")]
    pub tickets: Vec<String>,
    /// Options of runs.
    #[command(flatten)]
    pub run: RunOptions,
}

/// Options of everything that starts runs.
#[derive(Debug, Clone, Default, Args)]
pub struct RunOptions {
    /// Work in this folder instead of the present one.
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Iterations of one run at most.
    #[arg(short = 'n', long, value_name = "N")]
    pub max_iterations: Option<String>,
    /// Iterations in a row without any change at most.
    #[arg(long, value_name = "N")]
    pub stagnation_limit: Option<String>,
    /// Seconds for one iteration at most.
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<String>,
    /// The model that Claude uses.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The screen's theme.
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Marks and borders in ASCII.
    #[arg(long)]
    pub ascii: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Work through tickets without a screen: for pipes and CI.
    Run {
        /// Tickets to work on.
        #[arg(value_name = "TICKET", required = true)]
        tickets: Vec<String>,
        /// One JSON record a line.
        #[arg(long)]
        json: bool,
        /// Options of runs.
        #[command(flatten)]
        run: RunOptions,
    },
    /// Go on with an interrupted run: the latest, or the one named.
    Resume {
        /// A run's id (or its end), or its ticket.
        run: Option<String>,
        /// One JSON record a line; also without a terminal.
        #[arg(long)]
        json: bool,
        /// Options of runs.
        #[command(flatten)]
        options: RunOptions,
    },
    /// List runs.
    Status {
        /// An array of runs as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the records of a run.
    Logs {
        /// A run's id (or its end), or its ticket.
        run: String,
        /// Wait for more.
        #[arg(short, long)]
        follow: bool,
        /// One JSON record a line.
        #[arg(long)]
        json: bool,
    },
    /// Show a run of the past on the screen.
    Replay {
        /// A run's id (or its end), or its ticket.
        run: String,
    },
    /// List, show and make tickets.
    Ticket {
        /// What to do with tickets.
        #[command(subcommand)]
        command: TicketCommand,
    },
    /// List what was saved of the work tree before each iteration.
    Snapshots {
        /// The ticket.
        ticket: String,
    },
    /// Bring the work tree back to what it was before an iteration; the present is saved first.
    Restore {
        /// The ticket.
        ticket: String,
        /// The snapshot's number, as `snapshots` lists it.
        n: String,
    },
    /// Show it all at work: a small repository and a scripted agent, no account needed.
    Demo {
        /// Print instead of opening the screen.
        #[arg(long)]
        headless: bool,
    },
    /// Check what programmator needs: claude, git, folders, terminal.
    Doctor,
    /// Show the configuration.
    Config {
        /// What to do with it.
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Trust this folder's `.programmator` files as they are now.
    Trust,
    /// Print shell completions.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

/// What can be done with tickets.
#[derive(Debug, Subcommand)]
pub enum TicketCommand {
    /// List the tickets of the tickets folder.
    List,
    /// Show one ticket as it is read.
    Show {
        /// Id, unique part of an id, or path.
        ticket: String,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make a new ticket.
    New {
        /// Its title.
        title: String,
    },
}

/// What can be done with the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show each value and where it came from.
    Show,
}

/// Carries out the command line. Errors are printed here; the code is the program's.
pub fn run(cli: Cli) -> color_eyre::Result<ExitCode> {
    let state =
        state_dir(std::env::var_os("PROGRAMMATOR_STATE_DIR").as_deref(), std::env::var_os("XDG_STATE_HOME").as_deref());
    // The demo leaves nothing behind, not even a log.
    if let Ok(state) = state
        && !matches!(cli.command, Some(Command::Demo { .. }))
    {
        logging::start(&state);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = match runtime.block_on(dispatch(cli)) {
        Ok(code) => code,
        Err(error) => {
            let message = Clean::new(&error.message);
            writeln!(stderr(), "programmator: {message}").ok();
            error.exit_code
        }
    };
    // A blocked thread (a lock that is waited for) must not keep the program alive.
    runtime.shutdown_background();
    Ok(ExitCode::from(code))
}

async fn dispatch(cli: Cli) -> Result<u8, CliError> {
    let format = |json| if json { Format::Json } else { Format::Text };
    let here = |options: &RunOptions| Session::new(options);
    let out = &mut stdout();
    match cli.command {
        None if stdout().is_terminal() => start::screen(&here(&cli.run)?, Open::Tickets(cli.tickets)).await,
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
                start::screen(&session, Open::Resume(run)).await
            } else {
                headless::run(&session, Work::Resume(run), format(json)).await
            }
        }
        Some(Command::Demo { headless }) => {
            let show = if headless || !stdout().is_terminal() { Show::Lines } else { Show::Screen };
            demo::run(here(&cli.run)?, show).await
        }
        Some(Command::Replay { run }) => start::replay(&here(&cli.run)?, &run).await,
        Some(Command::Logs { run, follow, json }) => {
            let follow = if follow { Follow::Yes } else { Follow::No };
            logs::print(out, &here(&cli.run)?, &run, format(json), follow).await.map(|()| 0)
        }
        Some(Command::Status { json: false }) => status::list(out, &here(&cli.run)?).map(|()| 0),
        Some(Command::Status { json: true }) => status::json(out, &here(&cli.run)?).map(|()| 0),
        Some(Command::Ticket { command }) => ticket::run(out, &here(&cli.run)?, command).map(|()| 0),
        Some(Command::Snapshots { ticket }) => snapshots::run_list(out, &here(&cli.run)?, &ticket).await.map(|()| 0),
        Some(Command::Restore { ticket, n }) => {
            snapshots::run_restore(out, &here(&cli.run)?, &ticket, &n).await.map(|()| 0)
        }
        Some(Command::Doctor) => doctor::run(out, &here(&cli.run)?).await,
        Some(Command::Config { command: ConfigCommand::Show }) => {
            let session = here(&cli.run)?;
            config::show(out, &session.resolve(&session.folder)?)?;
            Ok(0)
        }
        Some(Command::Trust) => {
            let session = here(&cli.run)?;
            config::trust(out, &session.folder, &session.state)
                .map_err(|error| CliError::failure(error.to_string()))?;
            Ok(0)
        }
        Some(Command::Completions { shell }) => {
            clap_complete::generate(shell, &mut Cli::command(), "programmator", out);
            Ok(0)
        }
    }
}

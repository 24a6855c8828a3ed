//! The command line: what can be typed, and which room answers it. One file for each command in `cli/`;
//! each only wires rooms together.

pub mod config;
pub mod demo;
pub mod doctor;
pub mod error;
pub mod headless;
pub mod logs;
pub mod session;
pub mod snapshots;
pub mod start;
pub mod status;

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

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
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
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
    /// Play Claude from a script, over the real protocol.
    #[command(hide = true, disable_help_flag = true, disable_version_flag = true)]
    ScriptedAgent {
        /// What the real CLI would be given.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
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

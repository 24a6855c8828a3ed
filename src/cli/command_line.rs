//! What can be typed.

use super::answer::AnswerArgs;
use super::away::AwayCommand;
use super::chat::ChatArgs;
use super::circuit::CircuitCommand;
use super::config::ConfigCommand;
use super::export::ExportArgs;
use super::help;
use super::hook::Hook;
use super::hooks::HooksCommand;
use super::host::HostArgs;
use super::hosts::HostsArgs;
use super::import::args::ImportArgs;
use super::init::InitArgs;
use super::job::JobArgs;
use super::notify::NotifyCommand;
use super::options::{LookOptions, RunOptions};
use super::parse::ParseCommand;
use super::passphrase::PassphraseCommand;
use super::phase::PhaseCommand;
use super::picture::PictureOptions;
use super::plan::PlanArgs;
use super::policy::PolicyCommand;
use super::pr::PrArgs;
use super::prompt::PromptCommand;
use super::queue::QueueArgs;
use super::ready::ReadyArgs;
use super::report::ReportArgs;
use super::review::ReviewArgs;
use super::search::SearchArgs;
use super::sessions::SessionCommand;
use super::settings::SettingsCommand;
use super::source::SourceArgs;
use super::status::StatusArgs;
use super::ticket::command::TicketCommand;
use super::unattended::Away;
use super::upkeep::Upkeep;
use super::worktree::WorktreeCommand;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Supervises Claude Code while it works through tickets.
///
/// Give it tickets and it drives the real `claude` through their phases, one iteration at a time: it shows everything live, verifies every claim, ticks the boxes, and resumes after a crash.
/// Without tickets it opens Home, the list of all tickets and runs; without a terminal it prints lines, like `programmator run`.
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
    /// Tickets to work on, each in its own tab: ids, unique parts of ids, or paths.
    #[arg(value_name = "TICKET")]
    pub tickets: Vec<String>,
    /// Work in this folder instead of the current one.
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Options of runs.
    #[command(flatten)]
    pub run: RunOptions,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Work through tickets in headless mode: for pipes and CI.
    #[command(after_help = help::RUN)]
    Run {
        /// Tickets to work on: ids, unique parts of ids, or paths.
        #[arg(value_name = "TICKET", required_unless_present = "ready")]
        tickets: Vec<String>,
        /// Which tickets, where none are named.
        #[command(flatten)]
        ready: ReadyArgs,
        /// Let Claude resolve a ticket's merge conflict.
        #[arg(long)]
        resolve: bool,
        /// Show what a run would do first, and what would prevent it from starting; starts and writes nothing.
        #[arg(long, conflicts_with_all = ["resolve", "on", "detach"])]
        dry_run: bool,
        /// Run in the background on this machine from your configuration (`hosts`).
        #[arg(long, value_name = "HOST", conflicts_with = "json")]
        on: Option<String>,
        /// Print one JSON record per line instead of text.
        #[arg(long)]
        json: bool,
        /// Without you at a screen.
        #[command(flatten)]
        away: Away,
        /// Options of runs.
        #[command(flatten)]
        run: RunOptions,
    },
    /// Show a run that is active in the background or in another terminal: the latest, or the one named.
    #[command(after_help = help::ATTACH)]
    Attach {
        /// A run id or its last characters, or a ticket.
        run: Option<String>,
        /// Use this machine from your configuration (`hosts`) instead of the local one.
        #[arg(long, value_name = "HOST")]
        on: Option<String>,
        /// Screen options.
        #[command(flatten)]
        look: LookOptions,
    },
    /// Serve this machine's runs to programmator on another machine, over stdin and stdout.
    #[command(after_help = help::SERVE)]
    Serve {
        /// Use stdin and stdout (required).
        #[arg(long, required = true)]
        stdio: bool,
    },
    /// Stop the run of a ticket, wherever it is running; it can be resumed.
    #[command(after_help = help::STOP)]
    Stop {
        /// A run id or its last characters, or a ticket.
        run: String,
        /// Stop now instead of at the end of the iteration.
        #[arg(long)]
        now: bool,
    },
    /// Have Claude draft the phases of a ticket: a new one for an idea, or one without phases.
    #[command(after_help = super::plan::HELP)]
    Plan(PlanArgs),
    /// Talk with Claude without a ticket; your policy judges its tool calls.
    #[command(after_help = super::chat::HELP)]
    Chat(ChatArgs),
    /// Resume an interrupted run: the latest, or the one named.
    #[command(after_help = help::RESUME)]
    Resume {
        /// A run id or its last characters, or a ticket.
        run: Option<String>,
        /// Print one JSON record per line instead of opening the screen.
        #[arg(long)]
        json: bool,
        /// Without you at a screen.
        #[command(flatten)]
        away: Away,
        /// Options of runs.
        #[command(flatten)]
        options: RunOptions,
    },
    /// List all runs, or show one with its limits and cost.
    #[command(after_help = help::STATUS)]
    Status(StatusArgs),
    /// Show totals of all runs: phases, reviews, cost and time.
    #[command(after_help = help::STATS)]
    Stats {
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Summarize recent runs: phases, files, cost, and what needs you.
    #[command(after_help = help::REPORT)]
    Report(ReportArgs),
    /// List the questions that are waiting for you in all runs, or show one.
    #[command(after_help = help::QUEUE)]
    Queue(QueueArgs),
    /// Answer a question of a run, wherever it is running.
    #[command(after_help = help::ANSWER)]
    Answer(AnswerArgs),
    /// Answer questions of runs on your phone, through your own Telegram bot.
    Away {
        #[command(subcommand)]
        command: AwayCommand,
    },
    /// Test your notification channels: webhooks, desktop, your own command.
    Notify {
        #[command(subcommand)]
        command: NotifyCommand,
    },
    /// Print the records of a run.
    #[command(after_help = help::LOGS)]
    Logs {
        /// A run id or its last characters, or a ticket.
        run: String,
        /// Follow: wait for more until the run ends.
        #[arg(short, long)]
        follow: bool,
        /// Print one JSON record per line instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Review the changes since a branch, with several reviewers in parallel: for CI, and before a merge.
    #[command(after_help = help::REVIEW)]
    Review(ReviewArgs),
    /// Search the tickets here, and the log and Claude's output of every run.
    #[command(after_help = help::SEARCH)]
    Search(SearchArgs),
    /// Show a past run on the screen.
    #[command(after_help = help::REPLAY)]
    Replay {
        /// A run id or its last characters, or a ticket.
        run: String,
        /// Screen options.
        #[command(flatten)]
        look: LookOptions,
    },
    /// Draw a screen of a stored run as an SVG or PNG.
    #[command(after_help = help::PICTURE)]
    Picture {
        /// What to draw.
        #[command(flatten)]
        options: PictureOptions,
        /// Screen options.
        #[command(flatten)]
        look: LookOptions,
    },
    /// Write a run, or one iteration of it, as Markdown, JSONL or a recording.
    #[command(after_help = help::EXPORT)]
    Export(ExportArgs),
    /// Manage tickets: a minimal ticket system of markdown files with dependencies and phases; compatible with `tk`.
    Ticket {
        /// What to do with tickets.
        #[command(subcommand)]
        command: TicketCommand,
    },
    /// Add, rename, split, move, skip, reopen or accept the phases of a ticket; also during a run.
    Phase {
        /// What to do with phases.
        #[command(subcommand)]
        command: PhaseCommand,
    },
    /// Show the next prompt for a ticket.
    Prompt {
        /// What to do with prompts.
        #[command(subcommand)]
        command: PromptCommand,
    },
    /// List the snapshots taken before each iteration.
    #[command(after_help = help::SNAPSHOTS)]
    Snapshots {
        /// The ticket: id, unique part of an id, or path; `prune` removes old snapshots of all tickets.
        ticket: String,
        /// Print a JSON array instead of text.
        #[arg(long)]
        json: bool,
        /// With `prune`: only list what would be removed.
        #[arg(long)]
        dry_run: bool,
    },
    /// Restore the working directory from a snapshot; the current state is saved first.
    #[command(after_help = help::RESTORE)]
    Restore {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// The snapshot, as `programmator snapshots` lists it.
        #[arg(value_name = "SNAPSHOT")]
        n: String,
        /// Restore only these files and folders.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print what was restored as JSON; needs --yes.
        #[arg(long, requires = "yes")]
        json: bool,
        /// Restore without asking first.
        #[arg(long, short)]
        yes: bool,
    },
    /// Fork a ticket from a snapshot: a new ticket, in a worktree with the snapshot's files.
    #[command(after_help = help::FORK)]
    Fork {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// The snapshot, as `programmator snapshots` lists it.
        #[arg(value_name = "SNAPSHOT")]
        n: String,
        /// The id of the new ticket [default: generated].
        #[arg(long)]
        id: Option<String>,
        /// Print the new ticket as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List, find and remove the worktrees of tickets.
    Worktree {
        /// What to do with them.
        #[command(subcommand)]
        command: WorktreeCommand,
    },
    /// Push a ticket's branch and open a pull request for it, through `gh`.
    #[command(after_help = super::pr::HELP)]
    Pr(PrArgs),
    /// Comment on the issue that a ticket was imported from, or close it.
    #[command(after_help = super::source::HELP)]
    Source(SourceArgs),
    /// Show the tickets' circuit breakers, or close one by hand.
    Circuit {
        /// What to do with them.
        #[command(subcommand)]
        command: CircuitCommand,
    },
    /// Keep background work running: resumes runs and the phone relay after a crash or restart.
    Host(HostArgs),
    /// Show what is running here and on the machines in your configuration (`hosts`).
    Hosts(HostsArgs),
    /// Print a Kubernetes Job that works through a ticket, for `kubectl apply -f -`.
    #[command(after_help = help::JOB)]
    Job(JobArgs),
    /// Watch a demo: a small repository and a scripted agent, no account needed.
    #[command(after_help = help::DEMO)]
    Demo {
        /// Print lines instead of opening the screen, at full speed.
        #[arg(long)]
        headless: bool,
        /// Screen options.
        #[command(flatten)]
        look: LookOptions,
    },
    /// Set up programmator for a project, or create a new one: checks, tickets, settings.
    #[command(after_help = super::init::HELP)]
    Init(InitArgs),
    /// Import tasks from issues, documents and other programs as tickets.
    #[command(after_help = super::import::HELP)]
    Import(ImportArgs),
    /// Check what programmator needs: claude, git, folders, terminal.
    #[command(after_help = help::DOCTOR)]
    Doctor,
    /// Show the configuration.
    Config {
        /// What to do with it.
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// List every key and its command, in the format of `keys.yaml`.
    #[command(after_help = help::KEYS)]
    Keys,
    /// Parse a text for its status block or error lines.
    #[command(after_help = help::PARSE)]
    Parse {
        /// What to look for.
        #[command(subcommand)]
        command: ParseCommand,
    },
    /// Set the passphrase that policy rules can ask for.
    Passphrase {
        /// What to do with it.
        #[command(subcommand)]
        command: PassphraseCommand,
    },
    /// Show or reset the tickets' Claude sessions.
    Session {
        /// What to do with them.
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Add permission rules to Claude's own settings, for working with it interactively.
    Settings {
        /// What to do with them.
        #[command(subcommand)]
        command: SettingsCommand,
    },
    /// Check, list, test and edit the policy.
    Policy {
        /// What to do with it.
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Trust this folder's `.programmator` and Claude settings as they are now.
    #[command(after_help = help::TRUST)]
    Trust,
    /// Let your own Claude sessions ask on your phone, through hooks in Claude's settings or a plugin.
    Hooks {
        /// What to do with them.
        #[command(subcommand)]
        command: HooksCommand,
    },
    /// Decide about a tool call for Claude, which runs this by itself in a session that you have opened with `O`, or that you have
    /// started yourself.
    #[command(hide = true)]
    Hook(Hook),
    #[command(flatten)]
    Upkeep(Upkeep),
    /// Print the man page, or write one for each command into a folder.
    #[command(after_help = help::MAN)]
    Man {
        /// The folder; created if it does not exist.
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Print shell completions, for commands, tickets, runs and configuration keys.
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

//! What can be typed.

use super::answer::AnswerArgs;
use super::away::AwayCommand;
use super::chat::ChatArgs;
use super::circuit::CircuitCommand;
use super::config::ConfigCommand;
use super::export::ExportArgs;
use super::headless::Questions;
use super::help;
use super::hook::Hook;
use super::options::{LookOptions, RunOptions};
use super::parse::ParseCommand;
use super::passphrase::PassphraseCommand;
use super::phase::PhaseCommand;
use super::picture::PictureOptions;
use super::plan::PlanArgs;
use super::policy::PolicyCommand;
use super::prompt::PromptCommand;
use super::report::ReportArgs;
use super::review::ReviewArgs;
use super::search::SearchArgs;
use super::sessions::SessionCommand;
use super::settings::SettingsCommand;
use super::ticket::TicketCommand;
use super::worktree::WorktreeCommand;
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;

/// Supervises Claude Code while it works through tickets.
///
/// Give it tickets and it drives the real `claude` through their phases, one iteration at a time: it shows
/// everything live, verifies every claim, ticks the boxes, and resumes after a crash. Without
/// tickets it opens Home, the list of all tickets and runs; without a terminal it prints lines, as `programmator run` does.
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
    /// Work in this folder instead of the current one.
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Options of runs.
    #[command(flatten)]
    pub run: RunOptions,
}

/// How a run goes on while you are not at a screen.
#[derive(Debug, Clone, Copy, Args)]
pub struct Away {
    /// Let questions wait for an answer from elsewhere (`programmator answer`, another screen) instead of denying them.
    #[arg(long)]
    pub away: bool,
    /// Work in the background, with --away, and return at once.
    #[arg(long, conflicts_with = "json")]
    pub detach: bool,
}

impl Away {
    /// What becomes of questions.
    pub fn questions(self) -> Questions {
        if self.away { Questions::Wait } else { Questions::Denied }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Work through tickets in headless mode: for pipes and CI.
    #[command(after_help = help::RUN)]
    Run {
        /// Tickets to work on: ids, unique parts of ids, or paths.
        #[arg(value_name = "TICKET", required = true)]
        tickets: Vec<String>,
        /// Let Claude resolve the conflict that one ticket's merge ended with.
        #[arg(long)]
        resolve: bool,
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
    /// Stop the run of a ticket, whichever program works on it; it can be resumed.
    #[command(after_help = help::STOP)]
    Stop {
        /// A run id or its last characters, or a ticket.
        run: String,
        /// Do not wait for the end of the iteration.
        #[arg(long)]
        now: bool,
    },
    /// Have Claude draft the phases of a ticket: a new one for an idea, or one that has none.
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
    Status {
        /// A run id or its last characters, or a ticket; all runs if omitted.
        run: Option<String>,
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Show what came of all runs so far: phases, reviews, cost and time.
    #[command(after_help = help::STATS)]
    Stats {
        /// Print JSON instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Tell what runs have come to while you were away: phases, files, cost, and what waits for you.
    #[command(after_help = help::REPORT)]
    Report(ReportArgs),
    /// List the questions that wait for you in all runs, or show one.
    #[command(after_help = help::QUEUE)]
    Queue {
        /// The question to show whole; all in one line each if omitted.
        id: Option<String>,
        /// Print JSON instead of text.
        #[arg(long, conflicts_with = "id")]
        json: bool,
    },
    /// Answer a question of a run that works in another terminal or in the background.
    #[command(after_help = help::ANSWER)]
    Answer(AnswerArgs),
    /// Answer questions of runs on your phone, by a Telegram bot of your own.
    Away {
        #[command(subcommand)]
        command: AwayCommand,
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
    /// Review what differs from a branch, by several reviewers in parallel: for CI, and before a merge.
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
    /// List, show, create and tick tickets.
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
    /// Show what Claude would be sent next for a ticket.
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
        /// With `prune`: only say what would be removed.
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
        /// Restore these files and folders alone.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print what was restored as JSON; needs --yes.
        #[arg(long, requires = "yes")]
        json: bool,
        /// Restore without asking first.
        #[arg(long, short)]
        yes: bool,
    },
    /// Fork a ticket from a snapshot: a new ticket with a worktree that has the files of the snapshot.
    #[command(after_help = help::FORK)]
    Fork {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// The snapshot, as `programmator snapshots` lists it.
        #[arg(value_name = "SNAPSHOT")]
        n: String,
        /// The id of the new ticket; by default one is made up.
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
    /// Show the tickets' circuit breakers, or close one by hand.
    Circuit {
        /// What to do with them.
        #[command(subcommand)]
        command: CircuitCommand,
    },
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
    /// Check what programmator needs: claude, git, folders, terminal.
    #[command(after_help = help::DOCTOR)]
    Doctor,
    /// Show the configuration.
    Config {
        /// What to do with it.
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// List every key and its command, as `keys.yaml` takes them.
    #[command(after_help = help::KEYS)]
    Keys,
    /// Parse a text: its status block or its error lines.
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
    /// Decide about a tool call for Claude, which runs this by itself in a session that you have opened with `O`.
    #[command(hide = true)]
    Hook(Hook),
    /// Print shell completions.
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

impl Cli {
    /// The command that a word looks like, when it may be a slip of the keyboard: two letters off at most.
    pub(super) fn command_like(word: &str) -> Option<String> {
        let command = Self::command();
        let names = command.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name);
        near(word, names)
    }

    /// The same of what `programmator snapshots` takes instead of a ticket.
    pub(super) fn snapshots_like(word: &str) -> Option<String> {
        near(word, [PRUNE].into_iter()).map(|word| format!("snapshots {word}"))
    }
}

/// What `programmator snapshots` takes instead of a ticket.
pub(super) const PRUNE: &str = "prune";

fn near<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let near = names.map(|name| (strsim::damerau_levenshtein(name, word), name));
    near.filter(|(off, name)| *off <= 2.min(name.len() / 2)).min().map(|(_, name)| name.to_owned())
}

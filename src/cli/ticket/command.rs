//! What can be typed of `programmator ticket`.

use crate::cli::help::tickets as help;
use crate::cli::options::whole;
use clap::{Args, Subcommand};

/// What can be done with tickets.
#[derive(Debug, Subcommand)]
pub enum TicketCommand {
    /// List the tickets of the tickets folder.
    #[command(visible_alias = "ls", after_help = help::LIST)]
    List(ListArgs),
    /// List tickets that are open or in progress and not blocked, by priority.
    #[command(after_help = help::READY)]
    Ready(Who),
    /// List blocked tickets, and what blocks them.
    #[command(after_help = help::BLOCKED)]
    Blocked(Who),
    /// List closed tickets, most recent first.
    #[command(after_help = help::CLOSED)]
    Closed {
        /// Maximum number.
        #[arg(long, default_value_t = 20, value_parser = whole)]
        limit: usize,
        /// Which ones.
        #[command(flatten)]
        who: Who,
    },
    /// Show one ticket, with its blockers, the tickets it blocks, its children and its links.
    #[command(after_help = help::SHOW)]
    Show {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// Show it as programmator reads it: phases, validation commands, problems.
        #[arg(long)]
        phases: bool,
        /// Print what programmator reads as a JSON object.
        #[arg(long, conflicts_with = "phases")]
        json: bool,
    },
    /// Print the front matter of all tickets as JSON, one per line.
    #[command(after_help = help::QUERY)]
    Query {
        /// A jq filter, such as `.status == "open"`.
        filter: Option<String>,
        /// Print what programmator reads, as one JSON array.
        #[arg(long, conflicts_with = "filter")]
        json: bool,
    },
    /// Show the dependency tree of all tickets, or of the one named.
    #[command(after_help = help::TREE)]
    Tree {
        /// The ticket: id, unique part of an id, or path; all if omitted.
        ticket: Option<String>,
        /// Show a ticket everywhere it occurs, not only at its deepest place.
        #[arg(long)]
        full: bool,
    },
    /// Find problems: checkboxes outside phases, duplicate or unknown ids, dependency cycles, missing commands.
    #[command(after_help = help::LINT)]
    Lint {
        /// Tickets: ids, unique parts of ids, or paths; all if omitted.
        tickets: Vec<String>,
        /// Print a JSON array instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Create a ticket in the tickets folder and open it in your editor.
    #[command(after_help = help::NEW)]
    New {
        /// Its title.
        title: String,
        /// Do not open it in $EDITOR.
        #[arg(long)]
        no_edit: bool,
    },
    /// Create a ticket without phases and print its id.
    #[command(after_help = help::CREATE)]
    Create(Box<CreateArgs>),
    /// Open a ticket in your editor; without a terminal, print its path.
    #[command(after_help = help::EDIT)]
    Edit {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
    },
    /// Set the status of a ticket to `in_progress`.
    #[command(after_help = help::START)]
    Start {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
    },
    /// Set the status of a ticket to closed.
    #[command(after_help = help::CLOSE)]
    Close {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
    },
    /// Set the status of a ticket to open.
    #[command(after_help = help::REOPEN)]
    Reopen {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
    },
    /// Set the status of a ticket.
    #[command(after_help = help::STATUS)]
    Status {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// `open`, `in_progress` or `closed`.
        status: String,
    },
    /// Add a dependency; show the tree, or find cycles.
    #[command(after_help = help::DEP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Dep {
        /// What to do instead.
        #[command(subcommand)]
        command: Option<DepCommand>,
        /// The ticket: id, unique part of an id, or path.
        #[arg(required = true)]
        ticket: Option<String>,
        /// The ticket it waits for.
        #[arg(required = true)]
        dep: Option<String>,
    },
    /// Remove a dependency.
    #[command(after_help = help::UNDEP)]
    Undep {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// The ticket it waits for.
        dep: String,
    },
    /// Link tickets with each other.
    #[command(after_help = help::LINK)]
    Link {
        /// Two tickets or more: ids, unique parts of ids, or paths.
        #[arg(required = true, num_args = 2..)]
        tickets: Vec<String>,
    },
    /// Remove the link between two tickets.
    #[command(after_help = help::UNLINK)]
    Unlink {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// The ticket it is linked with.
        target: String,
    },
    /// Add a timestamped note to a ticket.
    #[command(after_help = help::ADD_NOTE)]
    AddNote {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// The note; read from standard input if omitted.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        text: Vec<String>,
    },
    /// Mark a phase as done; applies at once, also during a run.
    #[command(after_help = help::TICK)]
    Tick {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// The phase: its number in the file, or its text.
        phase: String,
    },
    /// Mark a phase as open again.
    #[command(after_help = help::UNTICK)]
    Untick {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// The phase: its number in the file, or its text.
        phase: String,
    },
}

impl TicketCommand {
    /// It is for the person alone. Boxes have words of their own for that.
    pub(crate) fn changes(&self) -> bool {
        match self {
            Self::List(_)
            | Self::Ready(_)
            | Self::Blocked(_)
            | Self::Closed { .. }
            | Self::Show { .. }
            | Self::Query { .. }
            | Self::Tree { .. }
            | Self::Lint { .. }
            | Self::Edit { .. }
            | Self::Tick { .. }
            | Self::Untick { .. } => false,
            Self::Dep { command, .. } => command.is_none(),
            Self::New { .. }
            | Self::Create(_)
            | Self::Start { .. }
            | Self::Close { .. }
            | Self::Reopen { .. }
            | Self::Status { .. }
            | Self::Undep { .. }
            | Self::Link { .. }
            | Self::Unlink { .. }
            | Self::AddNote { .. } => true,
        }
    }
}

/// `programmator ticket dep …`, instead of two tickets.
#[derive(Debug, Subcommand)]
pub enum DepCommand {
    /// Show the dependency tree of a ticket.
    #[command(after_help = help::DEP_TREE)]
    Tree {
        /// The ticket: id, unique part of an id, or path.
        ticket: String,
        /// Show a ticket everywhere it occurs, not only at its deepest place.
        #[arg(long)]
        full: bool,
    },
    /// Find dependency cycles.
    #[command(after_help = help::DEP_CYCLE)]
    Cycle,
}

fn priority(text: &str) -> Result<u8, String> {
    let priority = text.parse().ok().filter(|priority| *priority <= 4);
    priority.ok_or_else(|| "must be a number from 0 to 4".to_owned())
}

/// Whose tickets are listed.
#[derive(Debug, Clone, Args)]
pub struct Who {
    /// Only tickets of this assignee.
    #[arg(short, long, value_name = "NAME")]
    pub assignee: Option<String>,
    /// Only tickets with this tag.
    #[arg(short = 'T', long, value_name = "TAG")]
    pub tag: Option<String>,
}

/// Which tickets are listed, and how.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only tickets with this status.
    #[arg(long)]
    pub status: Option<String>,
    /// Whose.
    #[command(flatten)]
    pub who: Who,
    /// List them as programmator reads them: phases done, and problems; includes plans without an id.
    #[arg(long, conflicts_with_all = ["status", "assignee", "tag"])]
    pub phases: bool,
}

/// What `create` writes.
#[derive(Debug, Args)]
pub struct CreateArgs {
    /// Its title.
    #[arg(default_value = "Untitled")]
    pub title: String,
    /// Description.
    #[arg(short, long, default_value = "", allow_hyphen_values = true, hide_default_value = true)]
    pub description: String,
    /// The text below Design.
    #[arg(long, default_value = "", allow_hyphen_values = true, hide_default_value = true)]
    pub design: String,
    /// The text below Acceptance Criteria.
    #[arg(long, default_value = "", allow_hyphen_values = true, hide_default_value = true)]
    pub acceptance: String,
    /// Type: bug, feature, task, epic, chore or your own.
    #[arg(short = 't', long = "type", default_value = "task")]
    pub kind: String,
    /// Priority, from 0 (highest) to 4.
    #[arg(short, long, default_value_t = 2, value_parser = priority)]
    pub priority: u8,
    /// Assignee [default: git's user.name].
    #[arg(short, long, value_name = "NAME")]
    pub assignee: Option<String>,
    /// External reference, such as gh-123.
    #[arg(long, value_name = "REF", default_value = "", hide_default_value = true)]
    pub external_ref: String,
    /// Parent ticket: id or unique part of an id.
    #[arg(long, value_name = "TICKET")]
    pub parent: Option<String>,
    /// Comma-separated tags.
    #[arg(long, value_delimiter = ',')]
    pub tags: Vec<String>,
}

//! The options that several commands share: those of runs and those of the screen.

use clap::Args;
use std::path::PathBuf;

/// Options of everything that starts runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct RunOptions {
    /// Stop a run after this many iterations [default: 50].
    #[arg(short = 'n', long, value_name = "N")]
    pub max_iterations: Option<String>,
    /// Stop after this many iterations in a row without any change [default: 3].
    #[arg(long, value_name = "N")]
    pub stagnation_limit: Option<String>,
    /// Stop an iteration after this time [default: 900].
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<String>,
    /// Limit Claude calls per hour, shared by all tickets [default: 100].
    #[arg(long, value_name = "N")]
    pub calls: Option<String>,
    /// Model to use [default: Claude's own].
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Who reviews finished work: auto, simple (commands only), reviewed (also a critic) or thorough (and an evaluator
    /// at the end) [default: auto].
    #[arg(long, value_name = "NAME")]
    pub workflow: Option<String>,
    /// Prompt template to use for this run instead of the default.
    #[arg(long, value_name = "FILE")]
    pub prompt: Option<PathBuf>,
    /// Work in a separate git worktree and branch for the ticket.
    #[arg(long)]
    pub worktree: bool,
    /// Start every iteration with a fresh Claude session.
    #[arg(long)]
    pub no_continue: bool,
    /// Do not resume a session unused for this long [default: 24].
    #[arg(long, value_name = "HOURS")]
    pub session_expiry: Option<String>,
    /// Screen options.
    #[command(flatten)]
    pub look: LookOptions,
}

/// Options of everything that opens the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct LookOptions {
    /// The screen's theme: auto, dark, light, ansi, mono, another (docs/themes.md), or your own [default: auto].
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Draw marks and borders with ASCII only.
    #[arg(long)]
    pub ascii: bool,
}

/// A number as it is typed.
pub fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "not a whole number".to_owned())
}

impl From<LookOptions> for RunOptions {
    fn from(look: LookOptions) -> Self {
        Self { look, ..Self::default() }
    }
}

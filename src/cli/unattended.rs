//! The options of a run that nobody watches.

use super::headless::Questions;
use clap::Args;

/// How a run goes on while you are not at a screen.
#[derive(Debug, Clone, Copy, Args)]
pub struct Away {
    /// Let questions wait for an answer (`programmator answer`, another screen) instead of denying them.
    #[arg(long)]
    pub away: bool,
    /// Run in the background and return at once; implies --away.
    #[arg(long, conflicts_with = "json")]
    pub detach: bool,
}

impl Away {
    /// What becomes of questions.
    pub fn questions(self) -> Questions {
        if self.away { Questions::Wait } else { Questions::Denied }
    }
}

//! Why a ticket could not be opened, in words, and the exit code that it makes.

use crate::adapters::agent::AgentError;
use crate::adapters::store::StoreError;
use crate::adapters::tickets::LoadError;
use crate::base::id::TicketId;
use crate::base::time::Timestamp;
use crate::domain::breaker::Breaker;
use crate::domain::outcome::ExitReason;
use crate::domain::request::HELD;
use crate::domain::settings::BreakerSettings;
use crate::orchestrator::breaker::{Recovery, recover, refusal};

/// Why a run could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Ticket(#[from] LoadError),
    #[error("{path} cannot be run: line {line}, column {column}: {message}")]
    Broken { path: String, line: usize, column: usize, message: String },
    #[error("{ticket} is already running in {holder}: watch it with `programmator attach {ticket}`")]
    Held { ticket: TicketId, holder: String },
    #[error("{ticket} is not started: {why}")]
    CircuitOpen {
        ticket: TicketId,
        /// Why it is open, and what to do.
        why: String,
    },
    /// No such run, or several.
    #[error("{0}")]
    NoRun(String),
    /// A run of another folder: which, and the command that resumes it there.
    #[error("{0}; to resume it there: {1}")]
    Elsewhere(String, String),
    #[error("{0}")]
    Config(String),
    #[error("{0} is not started: {1}")]
    NoAgent(TicketId, AgentError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OpenError {
    /// The program's exit code when this is the worst that happens.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Held { .. } => HELD,
            Self::Store(_) | Self::NoAgent(..) => 1,
            Self::CircuitOpen { .. } => ExitReason::CircuitOpen.exit_code(),
            _ => 2,
        }
    }
}

/// Refuses a start while the breaker is open and has not cooled down.
pub(super) fn admit(
    ticket: &TicketId,
    breaker: &Breaker,
    limits: &BreakerSettings,
    now: Timestamp,
) -> Result<(), OpenError> {
    let Recovery::Refused { .. } = recover(breaker, limits, now) else { return Ok(()) };
    let why = refusal(breaker, limits, now, ticket.as_str()).unwrap_or_default();
    Err(OpenError::CircuitOpen { ticket: ticket.clone(), why })
}

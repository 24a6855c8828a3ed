//! What the host has done, in a log of its own.

use crate::adapters::bounded_log::{self, append};
use crate::base::text::clean_line;
use crate::base::time::Clock;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Most bytes of it; what is older is kept once, beside it.
const MOST: u64 = 1 << 20;
/// Most characters of a line.
const LINE: usize = 1_000;

/// The log in the state folder.
pub struct HostLog {
    path: PathBuf,
    clock: Arc<dyn Clock>,
}

impl HostLog {
    pub fn of(session: &Session) -> Self {
        Self { path: session.state.join("host.log"), clock: session.clock() }
    }

    /// Adds a line, and prints it for a service manager's log.
    pub fn add(&self, out: &mut dyn Write, words: &str) {
        let line = format!("{} UTC  {}\n", self.clock.now().second(), clean_line(words, LINE));
        if let Err(error) = append(&self.path, &line, MOST) {
            tracing::warn!(%error, "the host's log cannot be written");
        }
        // Nobody may be reading it.
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }

    /// Prints the last lines, the oldest first.
    pub fn print(&self, out: &mut dyn Write, last: usize) -> Result<(), CliError> {
        let bytes = bounded_log::read(&self.path)
            .map_err(|error| CliError::failure(format!("{}: {error}", self.path.display())))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        if lines.is_empty() {
            writeln!(out, "The host has not run yet.")?;
        }
        for line in &lines[lines.len().saturating_sub(last)..] {
            writeln!(out, "{}", clean_line(line, LINE + 40))?;
        }
        Ok(())
    }
}

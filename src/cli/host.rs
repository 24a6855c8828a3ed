//! What the screen needs of the program while the terminal is not its own: editor, background, clipboard.

use super::operator::Paths;
use crate::adapters::clipboard;
use crate::adapters::editor::Editor;
use crate::base::id::TicketId;
use crate::base::time::Clock;
use crate::runtime::attendance::Attendance;
use crate::tui::screen_loop::Host;
use std::sync::Arc;

/// The host of a screen in a terminal.
pub struct TerminalHost {
    /// Files of the tickets that are known.
    pub paths: Paths,
    /// When the person last touched the screen.
    pub attendance: Attendance,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl Host for TerminalHost {
    async fn edit(&mut self, ticket: &TicketId) -> Result<(), String> {
        let Some(path) = self.paths.of(ticket) else {
            return Err(format!("the file of {ticket} is not known"));
        };
        let mut command = Editor::from_env().command(&path);
        let program = command.get_program().to_string_lossy().into_owned();
        // The editor has the terminal; runs go on on other threads meanwhile.
        let status = tokio::task::spawn_blocking(move || command.status()).await;
        match status {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(format!("{program} ended with {status}")),
            Ok(Err(error)) => Err(format!("{program} could not be started: {error}; set $EDITOR")),
            Err(error) => Err(format!("{program} was lost: {error}")),
        }
    }

    fn touched(&mut self) {
        self.attendance.mark(self.clock.now());
    }

    fn suspend(&mut self) {
        // Returns when the shell continues us.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
    }

    fn copy(&mut self, text: &str) -> Result<(), String> {
        clipboard::copy(text).map_err(|error| error.to_string())
    }
}

//! Runs that this program does not work on, and what the person can do about them here.

use crate::domain::own_session;
use crate::domain::summary::Owner;
use crate::tui::model::Model;
use crate::tui::tab::Tab;

impl Model {
    /// What is in front, or under Home's cursor, is a Claude session that the person has started themselves: it is no ticket, and has
    /// no run of ours.
    pub fn fronts_own_session(&self) -> bool {
        self.ticket_in_front().is_some_and(|key| own_session::is(key.id(), key.file()))
    }

    /// Why a run that is only shown takes no commands here; `None`: it is ours, or nobody works on it and it is of this
    /// directory.
    pub fn is_elsewhere(&self, tab: &Tab) -> Option<String> {
        let directory = tab.state.workspace.home().to_string_lossy();
        if let Some(host) = &self.host {
            return Some(match tab.owner {
                Owner::Nobody => format!("its run was on {host}; start programmator there"),
                Owner::Here | Owner::Another => {
                    format!("on {host}; here you can answer, pause, skip, message and stop it")
                }
            });
        }
        if tab.is_own_session() {
            let words = "your own Claude session: answer its questions here, type everything else in its terminal";
            return Some(words.into());
        }
        match tab.owner {
            Owner::Another => Some("in another process; here you can answer, pause, skip, message and stop it".into()),
            Owner::Nobody if directory != self.folder => {
                Some(format!("its run belongs to {directory}; start programmator there"))
            }
            Owner::Here | Owner::Nobody => None,
        }
    }
}

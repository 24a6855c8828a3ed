//! Bringing tickets to the front: those that are listed, and any that is named.

use crate::domain::request::Request;
use crate::domain::summary::Owner;
use crate::domain::ticket::TicketKey;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::tab::Tab;
use std::path::Path;

impl Model {
    /// Shows a listed ticket in a tab of its own, with its last run; nothing is started.
    pub fn show_listed(&mut self, id: &TicketKey) -> Vec<Ask> {
        let run = self.last_run(id).map(|run| run.run);
        let at = self.open_tab(id);
        self.show_tab(at);
        run.map(|run| Ask::Request(Request::Show(run))).into_iter().collect()
    }

    /// Brings the ticket of this id or path to the front. One that is listed is shown; any other that was typed is asked for.
    pub fn open(&mut self, name: String) -> Vec<Ask> {
        // Another directory may have a ticket of the same id.
        let is_of_here = |tab: &Tab| tab.owner == Owner::Here || tab.state.workspace.home() == Path::new(&self.folder);
        let is_meant = |tab: &Tab| name == tab.id.file() || name == tab.id.as_str() && is_of_here(tab);
        if let Some(at) = self.tabs.iter().position(is_meant) {
            self.show_tab(at);
            return Vec::new();
        }
        if let Some(id) = self.listed.keys().find(|id| name == id.file() || name == id.as_str()).cloned() {
            return self.show_listed(&id);
        }
        self.tell(opening(&name));
        self.opening = Some(name.clone());
        vec![Ask::Request(Request::Open(name))]
    }

    /// It is known what came of the name that the person asked for. Whether it was the last one.
    pub fn was_opening(&mut self, name: &str) -> bool {
        self.toast.take_if(|(words, _)| *words == opening(name));
        self.opening.take_if(|last| last == name).is_some()
    }
}

/// What is said of a ticket until its run begins.
pub fn starting(id: &TicketKey) -> String {
    format!("starting {id} …")
}

/// What is said of a name until it is known which ticket it means, and that is open.
pub fn opening(name: &str) -> String {
    // That of a listed ticket is its file.
    let stem = Path::new(name).file_stem().filter(|_| name.starts_with(std::path::MAIN_SEPARATOR));
    format!("{} is being opened", stem.map_or(name.into(), |stem| stem.to_string_lossy()))
}

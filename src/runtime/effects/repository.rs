//! What the repository brings along for Claude: told to the person.

use super::Effects;
use crate::base::text::clean_line;
use crate::orchestrator::input::Input;
use crate::runtime::launching::{Brought, Loaded};
use std::ffi::OsStr;
use std::path::Path;

impl Effects {
    /// Looks at it before a start of Claude.
    pub(super) fn look_at_repository(&mut self) -> Brought {
        let brought = Brought::look(&self.workspace, self.store.folder(), self.reporter.presence());
        if let Some(why) = &brought.git {
            self.announce_git(why);
        }
        if !brought.carried.is_empty() {
            self.announce(&brought);
        }
        brought
    }

    fn announce_git(&mut self, why: &str) {
        let why = clean_line(why, 300);
        let text = format!("{why}: Claude's built-in git lookups are disabled, and every git command needs approval");
        if self.work.announced_git.as_ref() != Some(&text) {
            self.work.announced_git = Some(text.clone());
            self.answer_now(Input::Warned { text });
        }
    }

    /// Tells it once, and again when it has changed.
    fn announce(&mut self, brought: &Brought) {
        let Brought { carried, loaded, why, .. } = brought;
        let does = if *loaded == Loaded::Project { "loads" } else { "does not load" };
        // An `.envrc` is for a person's shell and is never used.
        let used =
            |name: &String| *loaded != Loaded::Project || Path::new(name).file_name() != Some(OsStr::new(".envrc"));
        let names: Vec<String> = carried.names(self.workspace.directory()).into_iter().filter(used).collect();
        let names = clean_line(&names.join(", "), 300);
        let text = format!("this repository contains files that Claude {does}: {names} ({why})");
        if self.work.announced.as_ref() != Some(&text) {
            self.work.announced = Some(text.clone());
            self.answer_now(Input::Warned { text });
        }
    }
}

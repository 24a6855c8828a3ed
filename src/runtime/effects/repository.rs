//! What the repository brings along for Claude: told to the person, and used only as they trust it.

use super::Effects;
use crate::adapters::agent::launch::{Options, OwnGit};
use crate::adapters::path_view::RealPaths;
use crate::adapters::repository_files::{self, Carried};
use crate::adapters::trust::TrustStore;
use crate::base::text::clean_line;
use crate::config::Trust;
use crate::domain::approval::Presence;
use crate::orchestrator::input::Input;
use crate::policy::git_programs;
use std::ffi::OsStr;
use std::path::Path;

/// Whether Claude reads the repository's own memory and settings by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loaded {
    Project,
    Nothing,
}

impl Effects {
    /// Looks at it anew before each start of Claude: what Claude has written there meanwhile is trusted by nobody.
    pub(super) fn admit_repository(&mut self, options: &mut Options) -> Loaded {
        if let Some(why) = git_programs::named(&RealPaths::default(), self.workspace.directory()) {
            options.own_git = OwnGit::Stays;
            self.announce_git(&why);
        }
        let carried = repository_files::look(self.workspace.directory());
        if carried.is_empty() {
            return Loaded::Nothing;
        }
        // In a worktree they are trusted as those of the directory that the person was in.
        let seen = match self.workspace.worktree() {
            Some(worktree) => carried.moved(&worktree.top, &worktree.home_top),
            None => carried.clone(),
        };
        let trust = TrustStore::new(self.store.folder()).trust_of_carried(self.workspace.home(), &seen);
        let (why, loaded) = match trust {
            _ if self.reporter.presence() == Presence::Nobody => {
                ("nobody is at the screen".to_owned(), Loaded::Nothing)
            }
            Ok(Trust::Trusted) => ("trusted by you".to_owned(), Loaded::Project),
            Ok(Trust::Changed) => ("they have changed since you trusted them".to_owned(), Loaded::Nothing),
            Ok(Trust::Unknown) => ("review them; `programmator trust` trusts them".to_owned(), Loaded::Nothing),
            Err(error) => (error.to_string(), Loaded::Nothing),
        };
        self.announce(&carried, &why, loaded);
        if loaded == Loaded::Project {
            options.setting_sources.extend(["project".to_owned(), "local".to_owned()]);
            options.mcp_config = carried.servers();
        }
        loaded
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
    fn announce(&mut self, carried: &Carried, why: &str, loaded: Loaded) {
        let does = if loaded == Loaded::Project { "loads" } else { "does not load" };
        // An `.envrc` is for a person's shell and is never used.
        let used =
            |name: &String| loaded != Loaded::Project || Path::new(name).file_name() != Some(OsStr::new(".envrc"));
        let names: Vec<String> = carried.names(self.workspace.directory()).into_iter().filter(used).collect();
        let names = clean_line(&names.join(", "), 300);
        let text = format!("this repository contains files that Claude {does}: {names} ({why})");
        if self.work.announced.as_ref() != Some(&text) {
            self.work.announced = Some(text.clone());
            self.answer_now(Input::Warned { text });
        }
    }
}

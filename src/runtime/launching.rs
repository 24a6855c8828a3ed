//! How Claude is started for a call of a run: its options, its environment, and what of the repository it reads by itself.

use crate::adapters::agent::launch::{Additions, Launch, Options, OwnGit, environment};
use crate::adapters::agent::memory;
use crate::adapters::path_view::RealPaths;
use crate::adapters::repository_files::{self, Carried};
use crate::adapters::shell::{self, NoBash};
use crate::adapters::trust::TrustStore;
use crate::config::{AgentConfig, Config, Trust};
use crate::domain::approval::Presence;
use crate::domain::workspace::Workspace;
use crate::orchestrator::effect::Spawn;
use crate::policy::git_programs;
use std::path::{Path, PathBuf};

/// Whether Claude reads the repository's own memory and settings by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    Project,
    Nothing,
}

/// What the repository brings along for Claude.
pub struct Brought {
    /// Why its configuration of git keeps Claude from looking by itself.
    pub git: Option<String>,
    pub carried: Carried,
    pub loaded: Loaded,
    /// Why it is loaded, or not.
    pub why: String,
}

impl Brought {
    /// Looks at it anew: what Claude has written there meanwhile is trusted by nobody. `state`: our state folder.
    pub fn look(workspace: &Workspace, state: &Path, presence: Presence) -> Self {
        let git = git_programs::named(&RealPaths::default(), workspace.directory());
        let carried = repository_files::look(workspace.directory());
        // In a worktree they are trusted as those of the directory that the person was in.
        let seen = match workspace.worktree() {
            Some(worktree) => carried.moved(&worktree.top, &worktree.home_top),
            None => carried.clone(),
        };
        let trust = || TrustStore::new(state).trust_of_carried(workspace.home(), &seen);
        let (why, loaded) = match presence {
            _ if carried.is_empty() => (String::new(), Loaded::Nothing),
            Presence::Nobody => ("nobody is at the screen".to_owned(), Loaded::Nothing),
            Presence::Screen => match trust() {
                Ok(Trust::Trusted) => ("trusted by you".to_owned(), Loaded::Project),
                Ok(Trust::Changed) => ("they have changed since you trusted them".to_owned(), Loaded::Nothing),
                Ok(Trust::Unknown) => ("review them; `programmator trust` trusts them".to_owned(), Loaded::Nothing),
                Err(error) => (error.to_string(), Loaded::Nothing),
            },
        };
        Self { git, carried, loaded, why }
    }

    /// Claude's options for a call of a run in this repository.
    pub fn options(&self, config: &Config, spawn: &Spawn, presence: Presence) -> Options {
        let agent = &config.agent;
        let mut options = Options {
            fallback_model: agent.fallback_model.clone(),
            model: spawn.model.clone(),
            effort: spawn.effort.clone(),
            resume: spawn.session.clone(),
            max_budget_usd: spawn.max_budget_usd,
            setting_sources: agent.setting_sources.clone(),
            presence,
            plan_mode: spawn.plan_mode,
            extra: agent.flags.clone(),
            ..Options::default()
        };
        if self.git.is_some() {
            options.own_git = OwnGit::Stays;
        }
        if self.loaded == Loaded::Project {
            options.setting_sources.extend(["project".to_owned(), "local".to_owned()]);
            options.mcp_config = self.carried.servers();
        }
        options
    }

    /// What is added to Claude's system prompt: the person's memory and, unless Claude reads it by itself, the project's.
    pub fn memory(&self, config: &Config, workspace: &Workspace) -> Option<String> {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let memory = match self.loaded {
            Loaded::Project => memory::collect_persons(&home),
            Loaded::Nothing => memory::collect(&home, workspace.directory()),
        };
        match (&config.soul, memory) {
            (Some(soul), memory) => Some(format!("{}\n\n{}", soul.trim_end(), memory.unwrap_or_default())),
            (None, memory) => memory,
        }
    }
}

/// Everything that is needed to start Claude in this folder with these options, whoever waits for it: it may take as long as
/// its owner lets it. `marker`: the run's id; `scratch`: its folder for temporary files.
pub fn launch(
    agent: &AgentConfig,
    folder: &Path,
    options: Options,
    marker: String,
    scratch: Option<PathBuf>,
) -> Result<Launch, NoBash> {
    let env = agent.variables();
    let additions = Additions {
        shell: Some(shell::find(&env, folder)?),
        env,
        max_retries: agent.max_retries,
        marker: marker.clone(),
        scratch,
    };
    let env = environment(std::env::vars_os(), &additions);
    Ok(Launch { command: agent.command.clone(), options, env, folder: folder.to_owned(), marker, patience: None })
}

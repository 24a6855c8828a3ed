//! Running the validation commands.

use super::Effects;
use crate::adapters::agent::marker::MARKER;
use crate::adapters::agent::orphans;
use crate::adapters::environment::{Variables, of_commands, set_scratch};
use crate::adapters::room::Room;
use crate::adapters::shell::{self, NoBash};
use crate::adapters::validate::{self, Place};
use crate::orchestrator::input::Input;
use crate::orchestrator::state::State;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::oneshot;

impl Effects {
    /// What commands of the run are started with, and the room for what they print.
    pub(super) fn surroundings(&self) -> (Variables, Result<PathBuf, NoBash>, Room) {
        let own = self.config.agent.variables();
        let mut env = of_commands(&std::env::vars_os().collect(), &own);
        env.push((MARKER.into(), self.run.to_string().into()));
        set_scratch(&mut env, &self.scratch);
        let room = Room { folder: self.store.folder().to_owned(), reserve: self.config.storage.reserve };
        (env, shell::find(&own, self.workspace.directory()), room)
    }

    pub(super) fn run_validation(&mut self, n: u32, commands: Vec<String>, state: &State) {
        let workspace = self.workspace.clone();
        let timeout = Duration::from_secs(state.settings.validation_timeout);
        let log_dir = self.run_dir().join(format!("{n}.validation"));
        let (env, shell, room) = self.surroundings();
        let marker = self.run.to_string();
        let output = self.config.storage.validation_output;
        let (file, tree) = (self.ticket_file.clone(), self.work.evidence.clone());
        let (stop, stopped) = oneshot::channel();
        self.work.validation = Some(stop);
        self.answer_with(async move {
            let folder = workspace.directory();
            let place = Place { folder, timeout, log_dir: &log_dir, output, room, env: &env, shell: &shell };
            let results = tokio::select! {
                results = validate::run(n, &commands, &place) => Some(results),
                Ok(()) = stopped => None,
            };
            // Claude has ended: whoever is left of the run is theirs, and would go on changing the tree.
            let _ = tokio::task::spawn_blocking(move || orphans::sweep(&[marker])).await;
            if let Some(tree) = tree.get() {
                tree.commands_ran();
            }
            // They run what Claude has written, which may have ticked a box too.
            let reading = file.read().await;
            match results {
                Some(results) => Input::ValidationFinished { n, results, reading },
                None => Input::ValidationStopped { n, reading },
            }
        });
    }
}

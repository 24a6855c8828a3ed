//! Running the validation commands.

use super::Effects;
use crate::adapters::agent::marker::MARKER;
use crate::adapters::agent::orphans;
use crate::adapters::environment::{Variables, of_commands, set_scratch};
use crate::adapters::git::resolving;
use crate::adapters::room::Room;
use crate::adapters::shell::{self, NoBash};
use crate::adapters::validate::{self, Place};
use crate::domain::merge::ConflictStage;
use crate::domain::record::ValidationRan;
use crate::domain::workspace::Workspace;
use crate::orchestrator::input::Input;
use crate::orchestrator::state::State;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::oneshot;

/// Where commands are run, and how.
pub(super) struct Setting {
    workspace: Workspace,
    timeout: Duration,
    log_dir: PathBuf,
    output: u64,
    room: Room,
    env: Variables,
    shell: Result<PathBuf, NoBash>,
}

impl Setting {
    pub(super) fn place(&self) -> Place<'_> {
        Place {
            folder: self.workspace.directory(),
            timeout: self.timeout,
            log_dir: &self.log_dir,
            output: self.output,
            room: self.room.clone(),
            env: &self.env,
            shell: &self.shell,
        }
    }
}

impl Effects {
    /// Where commands of the run are run, and how.
    pub(super) fn setting(&self, state: &State, logs: &str) -> Setting {
        let (env, shell, room) = self.surroundings();
        Setting {
            workspace: self.workspace.clone(),
            timeout: Duration::from_secs(state.settings.validation_timeout),
            log_dir: self.run_dir().join(logs),
            output: self.config.storage.validation_output,
            room,
            env,
            shell,
        }
    }

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
        let setting = self.setting(state, &format!("{n}.validation"));
        let is_conflict = state.conflict_stage() == Some(ConflictStage::Open);
        let marker = self.run.to_string();
        let (file, tree) = (self.ticket_file.clone(), self.work.evidence.clone());
        let (stop, stopped) = oneshot::channel();
        self.work.validation = Some(stop);
        self.answer_with(async move {
            let place = setting.place();
            let run = async {
                let left = if is_conflict { markers(n, &setting.workspace).await } else { None };
                match left {
                    Some(left) => vec![left],
                    None => validate::run(n, &commands, &place).await,
                }
            };
            let results = tokio::select! {
                results = run => Some(results),
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

/// Files in conflict that still hold markers: the commands would fail on nothing else. What keeps them from being looked for is
/// told when the merge is to be committed.
async fn markers(n: u32, workspace: &Workspace) -> Option<ValidationRan> {
    let left = resolving::marked(workspace.worktree()?).await.unwrap_or_default();
    let tail = format!("these files still contain conflict markers: {}", left.join(", "));
    let command = "looking for conflict markers".to_owned();
    (!left.is_empty()).then_some(ValidationRan {
        n,
        command,
        exit: Some(1),
        timed_out: false,
        ms: 0,
        tail,
        log: String::new(),
    })
}

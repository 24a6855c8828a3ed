//! Having the worktree that a run works in: git makes it, folders and files are copied into it, the person's setup command
//! runs once. What of it an earlier process has done is not done again.

use super::Effects;
use crate::adapters::dependencies::{self, Copied};
use crate::adapters::environment::Variables;
use crate::adapters::git::merging;
use crate::adapters::git::worktree::{self, Found};
use crate::adapters::room::Room;
use crate::adapters::shell::NoBash;
use crate::adapters::validate::{self, Place};
use crate::base::text::clean_line;
use crate::base::time::human;
use crate::config::WorktreeConfig;
use crate::domain::merge::MergeHow;
use crate::domain::record::ValidationRan;
use crate::domain::worktree::{Worktree, WorktreeMade};
use crate::orchestrator::input::Input;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::spawn_blocking;

/// What a new worktree is made with.
pub(super) struct Making {
    pub(super) worktree: Worktree,
    config: WorktreeConfig,
    timeout: Duration,
    pub(super) log_dir: PathBuf,
    output: u64,
    pub(super) room: Room,
    env: Variables,
    shell: Result<PathBuf, NoBash>,
}

impl Effects {
    /// `timeout`: seconds for the setup command.
    pub(super) fn make_worktree(&mut self, worktree: Worktree, how: MergeHow, timeout: u64) {
        let making = self.making(worktree, timeout, "worktree");
        let ticket = self.ticket_path.clone();
        self.answer_with(async move {
            match making.make(how, &ticket).await {
                Ok(made) => Input::WorktreeReady(made),
                Err(why) => Input::WorktreeFailed { why },
            }
        });
    }

    /// What is made there, and where the outputs of its commands go.
    pub(super) fn making(&self, worktree: Worktree, timeout: u64, log: &str) -> Making {
        let (env, shell, room) = self.surroundings();
        Making {
            worktree,
            config: self.config.worktree.clone(),
            timeout: Duration::from_secs(timeout),
            log_dir: self.run_dir().join(log),
            output: self.config.storage.validation_output,
            room,
            env,
            shell,
        }
    }
}

impl Making {
    /// Where a command of the person's is run, and where its output goes.
    pub(super) fn place<'a>(&'a self, folder: &'a Path, log_dir: &'a Path) -> Place<'a> {
        let Self { timeout, output, room, env, shell, .. } = self;
        Place { folder, timeout: *timeout, log_dir, output: *output, room: room.clone(), env, shell }
    }

    async fn make(self, how: MergeHow, ticket: &Path) -> Result<WorktreeMade, String> {
        // Not after all the work.
        if how != MergeHow::Off {
            merging::base_of(&self.worktree).await?;
        }
        // On the disk that it is on, or will be.
        let top = &self.worktree.top;
        let folder = top.ancestors().find(|folder| folder.is_dir()).unwrap_or(top).to_owned();
        let Found { commit, is_ready, mut notes, .. } =
            worktree::make(&self.worktree, ticket, &Room { folder, ..self.room.clone() }).await?;
        if !is_ready {
            notes.extend(self.fill().await?);
            notes.extend(self.set_up().await?);
            worktree::mark_ready(top).await?;
        }
        if !self.worktree.directory.is_dir() {
            let folder = self.worktree.directory.strip_prefix(top).unwrap_or(top).display();
            return Err(format!("{} has no folder {folder}", self.worktree.base));
        }
        Ok(WorktreeMade { commit, notes })
    }

    /// Folders and files of the person's working tree. What git does not ignore is not copied: it would pass for new work.
    pub(super) async fn fill(&self) -> Result<Vec<String>, String> {
        let Worktree { top, home_top, .. } = &self.worktree;
        let mut notes = Vec::new();
        for name in &self.config.dependencies {
            let (from, to) = (home_top.join(name), top.join(name));
            let partial = dependencies::partial(top);
            if !from.is_dir() || to.exists() || !worktree::ignores(top, name).await? {
                continue;
            }
            let copied = spawn_blocking(move || dependencies::folder(&from, &to, &partial)).await;
            notes.extend(match copied.map_err(|error| error.to_string())? {
                Ok(Copied::Done) => Some(format!("{name} shared")),
                Ok(Copied::Nothing) => None,
                Ok(Copied::Unshared) => {
                    Some(format!("{name} skipped: this file system does not support copy-on-write"))
                }
                Err(error) => Some(format!("{name} skipped: {error}")),
            });
        }
        for name in &self.config.copy {
            if !worktree::ignores(top, name).await? {
                notes.push(format!("{name} not copied: not ignored by git"));
                continue;
            }
            match dependencies::file(home_top, top, Path::new(name)) {
                Ok(Copied::Done) => notes.push(format!("{name} copied")),
                Ok(_) => {}
                Err(error) => return Err(format!("{name} cannot be copied: {error}")),
            }
        }
        Ok(notes)
    }

    pub(super) async fn set_up(&self) -> Result<Option<String>, String> {
        let Some(command) = &self.config.setup else { return Ok(None) };
        let logs = self.log_dir.join("setup");
        let ran = validate::run(0, std::slice::from_ref(command), &self.place(&self.worktree.top, &logs)).await;
        let Some(ValidationRan { exit, timed_out, ms, tail, log, .. }) = ran.into_iter().next() else {
            return Ok(None);
        };
        let (command, took) = (clean_line(command, 100), human(Duration::from_millis(ms)));
        let how = match exit {
            Some(0) => return Ok(Some(format!("`{command}` in {took}"))),
            _ if timed_out => format!("took longer than {took} (validation.timeout)"),
            Some(code) => format!("ended with exit code {code}"),
            None => "failed".to_owned(),
        };
        let last = tail.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Err(format!("`{command}` (worktree.setup) {how}: {}; its output is in {log}", clean_line(last, 200)))
    }
}

//! What a person may set, where, and what comes out of it: built-in < user < project < environment < flags.
//!
//! [`key`] is the table of all keys, [`mod@file`] reads YAML, [`flags`] vets what is handed on to Claude,
//! [`layers`] puts everything together and says where each value came from. All of it is pure: files are read
//! by `adapters::config_files`, trust is remembered by `adapters::trust`.

pub mod afk;
pub mod away;
pub mod file;
pub mod flags;
pub mod hangup;
pub mod hosts;
pub mod key;
pub mod layers;
pub mod own_gate;
pub mod per_step;
pub mod theme_line;
mod values;
pub mod webhook;

use crate::config::away::AwayConfig;
use crate::config::hangup::OnHangup;
use crate::config::hosts::HostConfig;
use crate::config::key::Key;
use crate::config::own_gate::OwnGate;
use crate::config::webhook::Webhook;
use crate::domain::leftovers::KeepLeftovers;
use crate::domain::notification::NotifyFor;
use crate::domain::profile::Profile;
use crate::domain::pruning::Keep;
use crate::domain::record::Level;
use crate::domain::settings::Settings;
use crate::domain::source_reply::SourceReply;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

pub use layers::{Layers, Resolved, resolve};
pub use values::Explained;

/// Everything that is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub settings: Settings,
    pub agent: AgentConfig,
    /// Commands that check every claim, after the ticket's own.
    pub validation: Vec<String>,
    /// What a new worktree gets.
    pub worktree: WorktreeConfig,
    /// How long snapshots are kept: the person's own, never a project's.
    pub keep_snapshots: Keep,
    /// How much is kept, and how long is waited for storage.
    pub storage: StorageConfig,
    /// What is told to the issue that a ticket came from once it is done.
    pub source: SourceReply,
    pub review: ReviewConfig,
    pub screen: ScreenConfig,
    pub notify: NotifyConfig,
    pub away: AwayConfig,
    /// Other machines that runs can be on, by what the person calls them.
    pub hosts: BTreeMap<String, HostConfig>,
    /// How many runs may be open at once; `None`: any number.
    pub max_parallel: Option<usize>,
    /// What becomes of the runs when the screen's terminal is closed.
    pub on_hangup: OnHangup,
    /// What the policy does in Claude sessions that the person starts themselves.
    pub own_sessions: OwnGate,
    /// Where tickets are, when the person says so; as written (a leading `~/` is the home folder).
    pub tickets_dir: Option<String>,
    /// Claude is told what the project's files say of it.
    pub guidelines: bool,
    /// Files whose text goes along in each prompt, below the working directory.
    pub context_files: Vec<String>,
    /// Files in the place of the prompts of single steps, by the step's name; as written.
    pub step_prompts: BTreeMap<String, String>,
    /// What a chat tells Claude before anything else: its `SOUL.md`.
    pub soul: Option<String>,
    /// What the gate does where no rule of the person's decides.
    pub profile: Profile,
    /// Keys that the command line gives.
    pub given: Vec<Key>,
}

impl Config {
    /// The rules of a run that is resumed: those it began with, but for what the command line gives now, and the
    /// breaker's: like limits they are the person's, and the reason to resume may be that they were changed.
    pub fn over(&self, frozen: &Settings) -> Settings {
        let (mut settings, now) = (frozen.clone(), &self.settings);
        for key in &self.given {
            match key {
                Key::MaxIterations => settings.max_iterations = now.max_iterations,
                Key::Stagnation => settings.stagnation_limit = now.stagnation_limit,
                Key::IterationTimeout => settings.iteration_timeout = now.iteration_timeout,
                Key::Model => settings.model.clone_from(&now.model),
                Key::SessionContinuity => settings.session_continuity = now.session_continuity,
                Key::SessionExpiry => settings.session_expiry_hours = now.session_expiry_hours,
                _ => {}
            }
        }
        settings.breaker = now.breaker.clone();
        // How long a question holds Claude is for where the person is now: at a screen, or away.
        settings.approval_defer_after = now.approval_defer_after;
        settings
    }
}

/// How Claude is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentConfig {
    /// Program and first arguments; never empty.
    pub command: Vec<String>,
    /// Further flags for Claude, vetted.
    pub flags: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// What Claude switches to while its model is overloaded.
    pub fallback_model: Option<String>,
    /// Claude's own settings that it may load: empty or `user`.
    pub setting_sources: Vec<String>,
    /// `CLAUDE_CODE_MAX_RETRIES`; `None` leaves it as the environment has it.
    pub max_retries: Option<u32>,
}

impl AgentConfig {
    /// `env` as the system has variables.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        self.env.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }
}

/// What a new worktree gets: the person's own, never a project's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeConfig {
    /// Where worktrees are, as written (a leading `~/` is the home folder).
    pub folder: Option<String>,
    /// Run once in it.
    pub setup: Option<String>,
    /// Files that are copied, relative to the top.
    pub copy: Vec<String>,
    /// Ignored folders that are copied where that costs no room.
    pub dependencies: Vec<String>,
}

/// What `programmator review` asks whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewConfig {
    /// What reviewers look for, one each; never empty.
    pub focus: Vec<String>,
    /// Reviewers at work at the same time.
    pub parallel: u32,
    pub model: Option<String>,
}

/// How much is kept on disk, and how long a run waits for one that cannot be written. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageConfig {
    /// How long a run waits while nothing can be stored.
    pub patience: Duration,
    /// Free space that is kept for records.
    pub reserve: u64,
    /// Kept of what Claude prints in one iteration.
    pub stream: u64,
    /// Kept of what a validation command prints.
    pub validation_output: u64,
    /// What is kept of runs that have ended.
    pub keep: KeepLeftovers,
}

/// Screen options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenConfig {
    pub theme: String,
    pub ascii: bool,
    pub animations: bool,
    /// The terminal is told how far the runs are (OSC 9;4).
    pub progress: bool,
}

/// How the person hears of what they do not see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifyConfig {
    /// The terminal's bell.
    pub bell: NotifyFor,
    /// The terminal's own notifications (OSC 9).
    pub terminal: NotifyFor,
    /// The desktop's (`notify-send`, `osascript`).
    pub desktop: NotifyFor,
    /// A program and its first arguments; empty: none. It is told everything.
    pub command: Vec<String>,
    /// Addresses, also while there is no screen.
    pub webhooks: Vec<Webhook>,
}

/// A file as read: its path for messages, and its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileText {
    pub path: String,
    pub text: String,
}

impl FileText {
    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit(['/', '\\']).next().unwrap_or(&self.path)
    }
}

/// The files of one config folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// `config.yaml`.
    pub config: Option<FileText>,
    /// `prompts/*.md`, sorted by name.
    pub prompts: Vec<FileText>,
    /// `policy.yaml`, which `policy` reads; here it is only trusted or not.
    pub policy: Option<FileText>,
}

/// Whether the person trusts a project's files as they are now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// These very bytes are trusted.
    Trusted,
    /// Never asked.
    Unknown,
    /// Other bytes were trusted; these have changed since.
    Changed,
}

/// Something a person should know about the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub level: Level,
    pub text: String,
}

impl Notice {
    fn warn(text: String) -> Self {
        Self { level: Level::Warn, text }
    }
}

/// A setting that cannot be used. The program does not start with one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {message}")]
pub struct ConfigError {
    /// `path:line`, the variable or the flag.
    pub at: String,
    /// What is wrong and what would be right.
    pub message: String,
}

//! What most commands begin with: where we are, what is configured, the person's store.

use super::config::{Sources, load};
use super::error::{CliError, NOT_FOR_CLAUDE};
use super::options::RunOptions;
use crate::adapters::agent::marker::MARKER;
use crate::adapters::agent::orphans;
use crate::adapters::clock::SystemClock;
use crate::adapters::config_files;
use crate::adapters::passphrase::Passphrases;
use crate::adapters::private_file;
use crate::adapters::store::{Store, state_dir};
use crate::adapters::tickets::Places;
use crate::base::time::Clock;
use crate::config::key::Key;
use crate::config::{Config, Resolved};
use crate::domain::summary::RunSummary;
use crate::domain::worktree::WorktreeFor;
use crate::runtime::policy_engine::Person;
use crate::runtime::supervisor::{Rules, Typed, find_run};
use crate::tui::arrangement::Arrangement;
use crate::tui::command::keys_file;
use crate::tui::keys::Keymap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where we are and what was asked for.
#[derive(Clone)]
pub struct Session {
    /// Absolute path of the working directory.
    pub folder: PathBuf,
    /// Our variables of the environment, as text.
    pub environment: BTreeMap<String, String>,
    /// Config keys that were given as flags.
    pub flags: Vec<(Key, &'static str, String)>,
    /// The state folder; need not exist.
    pub state: PathBuf,
    /// The template of this run's work, absolute.
    pub prompt: Option<PathBuf>,
    /// Nobody sits at a screen, and questions wait for an answer from elsewhere.
    pub is_away: bool,
}

/// Seconds that a question of a run whose person is away holds Claude's process, where neither `approval.timeout` nor
/// `approval.defer_after` says it: as long as a screen that nobody touches.
const AWAY_HOLDS: u64 = 3_600;

/// Refuses what only a person may ask for, in a process that a Claude of ours has started.
pub fn not_for_claude(message: &str) -> Result<(), CliError> {
    if std::env::var_os(MARKER).is_some_and(|run| !run.is_empty()) || orphans::has_marked_ancestor() {
        return Err(CliError::new(NOT_FOR_CLAUDE, message));
    }
    Ok(())
}

impl Session {
    /// Looks around from `directory`, else the present folder. Fails when it is not there.
    pub fn new(directory: Option<&Path>, options: &RunOptions) -> Result<Self, CliError> {
        let folder = directory.unwrap_or(Path::new("."));
        let folder = std::fs::canonicalize(folder)
            .map_err(|error| CliError::usage(format!("the folder {} cannot be used: {error}", folder.display())))?;
        let environment: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let own = std::env::var_os("PROGRAMMATOR_STATE_DIR");
        let xdg = std::env::var_os("XDG_STATE_HOME");
        let state = state_dir(own.as_deref(), xdg.as_deref())?;
        let prompt = options.prompt.as_ref().map(|path| folder.join(path));
        Ok(Self { folder, environment, flags: flags(options), state, prompt, is_away: false })
    }

    /// Refuses what only a person may ask for, in a process that a Claude of ours has started.
    pub fn not_for_claude(&self, message: &str) -> Result<(), CliError> {
        not_for_claude(message)
    }

    /// The configuration for runs in `folder`.
    pub fn resolve(&self, folder: &Path) -> Result<Resolved, CliError> {
        let (environment, flags, prompt) = (&self.environment, &self.flags, self.prompt.as_deref());
        let sources = Sources { folder, state_folder: &self.state, environment, flags, prompt };
        let mut resolved = load(&sources)?;
        let settings = &mut resolved.config.settings;
        if self.is_away && settings.approval_timeout.is_none() {
            settings.approval_defer_after.get_or_insert(AWAY_HOLDS);
        }
        Ok(resolved)
    }

    /// The configuration as runs ask for it.
    pub fn rules(&self) -> Rules {
        let session = self.clone();
        Arc::new(move |workspace| {
            let Resolved { mut config, templates, .. } =
                session.resolve(workspace.home()).map_err(|error| error.message)?;
            config.worktree.folder = session.worktrees(&config).map(|folder| folder.display().to_string());
            Ok((Arc::new(config), Arc::new(templates)))
        })
    }

    /// Where tickets are looked for.
    pub fn places(&self, resolved: &Resolved) -> Places {
        let configured = resolved.config.tickets_dir.as_deref().map(|dir| self.written(dir));
        Places { folder: self.folder.clone(), tickets_dir: configured, home: self.home() }
    }

    /// A folder that a variable of the environment names.
    pub fn folder_of(&self, name: &str) -> Option<PathBuf> {
        self.environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    fn home(&self) -> Option<PathBuf> {
        self.folder_of("HOME")
    }

    /// A path as a person writes it: a leading `~/` is the home folder.
    pub(super) fn written(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), self.home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(path),
        }
    }

    /// Where worktrees are made; `None` without a home. Not in our state folder, which the gate keeps from Claude.
    fn worktrees(&self, config: &Config) -> Option<PathBuf> {
        if let Some(folder) = &config.worktree.folder {
            return Some(self.written(folder));
        }
        let data = self.environment.get("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let data = data.or_else(|| Some(self.home()?.join(".local/share")))?;
        Some(data.join("programmator/worktrees"))
    }

    /// The run that `text` names, whether or not the configuration can be read.
    pub fn find_run(&self, store: &Store, text: &str, typed: Typed) -> Result<RunSummary, CliError> {
        let no_config = |_| Places { folder: self.folder.clone(), ..Places::default() };
        let places = self.resolve(&self.folder).map_or_else(no_config, |resolved| self.places(&resolved));
        Ok(find_run(store, &places, text, typed)?)
    }

    /// The person's own themes: name and YAML of each `themes/*.yaml` in the config folder.
    pub fn themes(&self) -> Vec<(String, String)> {
        self.config_folder().map_or_else(Vec::new, |folder| config_files::themes(&folder))
    }

    /// The keys of this person; the error has everything that is wrong with theirs.
    pub fn keys(&self) -> Result<Keymap, CliError> {
        let Some(folder) = self.config_folder() else { return Ok(Keymap::default()) };
        let file =
            config_files::own_file(&folder, keys_file::NAME).map_err(|error| CliError::usage(error.to_string()))?;
        let read = file.as_ref().map_or_else(|| Ok(Keymap::default()), keys_file::read);
        read.map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            CliError::usage(lines.join("\n"))
        })
    }

    /// Where the arrangement of the panes is kept.
    pub fn arrangement_file(&self) -> PathBuf {
        self.state.join("panes.json")
    }

    /// The arrangement of the panes as it was kept; `Err` says why it is not.
    pub fn arrangement(&self) -> Result<Arrangement, String> {
        let file = self.arrangement_file();
        let text = private_file::read(&file).map_err(|error| error.to_string())?;
        let read = text.map_or_else(|| Ok(Arrangement::default()), |text| serde_json::from_str(&text));
        read.map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Where what was typed on the screen and not sent is kept; `host`: for the tickets of that machine.
    pub fn unsent_folder(&self, host: Option<&str>) -> PathBuf {
        let folder = self.state.join("unsent");
        host.map_or_else(|| folder.clone(), |host| folder.join(host))
    }

    /// The person's config folder; need not exist. `None` without a home.
    pub fn config_folder(&self) -> Option<PathBuf> {
        config_files::user_folder(&self.environment)
    }

    /// The person's passphrase.
    pub fn passphrases(&self) -> Option<Passphrases> {
        Some(Passphrases::new(&self.config_folder()?, &self.state))
    }

    /// The person whose machine it is.
    pub fn person(&self) -> Person {
        let home = self.environment.get("HOME").map_or(PathBuf::from("/"), PathBuf::from);
        Person {
            home: std::fs::canonicalize(&home).unwrap_or(home),
            user: self.environment.get("USER").cloned().unwrap_or_default(),
            passphrases: self.passphrases(),
        }
    }

    /// Opens the person's store.
    pub fn store(&self) -> Result<Store, CliError> {
        Ok(Store::open(&self.state)?)
    }

    /// The same for what only reads: also where nothing can be written.
    pub fn store_to_read(&self) -> Result<Store, CliError> {
        Ok(match Store::open(&self.state) {
            Err(error) if error.is_not_writable() => Store::open_to_read(&self.state).map_err(|_| error)?,
            opened => opened?,
        })
    }

    /// The machine's clock.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock)
    }
}

/// The options that are config keys.
fn flags(options: &RunOptions) -> Vec<(Key, &'static str, String)> {
    let ascii = options.look.ascii.then(|| "true".to_owned());
    let given = [
        (Key::MaxIterations, "--max-iterations", options.max_iterations.clone()),
        (Key::Stagnation, "--stagnation-limit", options.stagnation_limit.clone()),
        (Key::IterationTimeout, "--timeout", options.timeout.clone()),
        (Key::Calls, "--calls", options.calls.clone()),
        (Key::Model, "--model", options.model.clone()),
        (Key::WorkflowName, "--workflow", options.workflow.clone()),
        (Key::GitWorktree, "--worktree", options.worktree.then(|| WorktreeFor::Ticket.word().to_owned())),
        (Key::SessionContinuity, "--no-continue", options.no_continue.then(|| "false".to_owned())),
        (Key::SessionExpiry, "--session-expiry", options.session_expiry.clone()),
        (Key::Theme, "--theme", options.look.theme.clone()),
        (Key::Ascii, "--ascii", ascii),
    ];
    given.into_iter().filter_map(|(key, flag, value)| Some((key, flag, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arrangement_is_read_as_it_was_kept_and_a_broken_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_owned();
        let (folder, environment) = (state.clone(), BTreeMap::new());
        let session = Session { folder, environment, flags: Vec::new(), state, prompt: None, is_away: false };
        assert_eq!(session.arrangement(), Ok(Arrangement::default()));
        let own = Arrangement { left: 6, hidden: ["log".to_owned()].into(), ..Arrangement::default() };
        let kept = serde_json::to_string(&Arrangement { is_zoomed: true, ..own.clone() }).unwrap();
        private_file::write(&session.arrangement_file(), &kept).unwrap();
        assert_eq!(session.arrangement(), Ok(own));
        private_file::write(&session.arrangement_file(), "{\"left\": \"wide\"}").unwrap();
        assert!(session.arrangement().unwrap_err().contains("panes.json"));
    }

    #[test]
    fn questions_of_a_run_whose_person_is_away_outlive_their_process_unless_they_have_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let held = |is_away, key: Option<Key>| {
            let flags = key.map(|key| (key, "--flag", "7".to_owned())).into_iter().collect();
            let (state, environment) = (folder.path().to_owned(), BTreeMap::new());
            let session = Session { folder: state.clone(), environment, flags, state, prompt: None, is_away };
            session.resolve(folder.path()).unwrap().config.settings.approval_defer_after
        };
        assert_eq!((held(true, None), held(false, None)), (Some(AWAY_HOLDS), None));
        assert_eq!((held(true, Some(Key::DeferAfter)), held(true, Some(Key::ApprovalTimeout))), (Some(7), None));
    }
}

//! `programmator config show` and `programmator trust`: what is set and why, and what is being trusted.
//!
//! [`load`] is the one way from files, environment and flags to a [`Resolved`] configuration.

use super::help;
use crate::adapters::config_files::{self, PROJECT_FOLDER, ReadError};
use crate::adapters::context_files;
use crate::adapters::repository_files;
use crate::adapters::soul;
use crate::adapters::trust::{TrustError, TrustStore, hash};
use crate::base::text::{Clean, clean_line};
use crate::config::file::unknown;
use crate::config::key::Key;
use crate::config::{ConfigError, FileText, Files, Layers, Notice, Resolved, Trust, resolve};
use crate::domain::context_file::ContextFile;
use crate::domain::record::Level;
use crate::orchestrator::prompt::{Kind, Template};
use crate::orchestrator::steps::STEPS;
use crate::orchestrator::steps::code::{PHASED, PHASELESS};
use clap::Subcommand;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// What can be done with the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show each value and where it came from.
    #[command(after_help = help::CONFIG_SHOW)]
    Show {
        /// Only these keys, or groups of keys.
        #[arg(value_name = "KEY")]
        keys: Vec<String>,
    },
}

/// Why there is no configuration. The program's exit code is 2.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    File(#[from] ReadError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// Settings that cannot be used, one on each line.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Settings(Vec<ConfigError>),
}

/// Where the configuration of a run comes from.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The working directory.
    pub folder: &'a Path,
    /// programmator's state folder.
    pub state_folder: &'a Path,
    pub environment: &'a BTreeMap<String, String>,
    /// Flags of the command line: key, name of the flag, what stands behind it.
    pub flags: &'a [(Key, &'static str, String)],
    /// A template in the place of those of work.
    pub prompt: Option<&'a Path>,
}

/// Reads all layers and resolves them. What is wrong with an untrusted project's files is a notice: a
/// repository must not be able to keep the program from starting.
pub fn load(sources: &Sources<'_>) -> Result<Resolved, LoadError> {
    let user = match config_files::user_folder(sources.environment) {
        Some(folder) => config_files::read(&folder)?,
        None => Files::default(),
    };
    let (project, unreadable) = match config_files::read(&sources.folder.join(PROJECT_FOLDER)) {
        Ok(files) => (files, None),
        Err(error) => (Files::default(), Some(error)),
    };
    let trust = if project == Files::default() {
        Trust::Unknown
    } else {
        TrustStore::new(sources.state_folder).trust_of(sources.folder, &project)?
    };
    let layers =
        Layers { user, project, trust, environment: sources.environment.clone(), flags: sources.flags.to_vec() };
    let mut resolved = resolve(&layers).map_err(LoadError::Settings)?;
    let folder = config_files::user_folder(sources.environment).unwrap_or_default();
    for (name, path) in resolved.config.step_prompts.clone() {
        let step = STEPS.iter().filter(|step| step.name.word() == name);
        // Those that ask once more for an answer stay.
        let kinds: Vec<Kind> =
            step.flat_map(|step| step.prompts).filter(|kind| !kind.file.ends_with("_only.md")).copied().collect();
        own_prompt(&mut resolved, &folder.join(path), &kinds, &format!("workflow.prompts.{name}"))?;
    }
    if let Some(path) = sources.prompt {
        own_prompt(&mut resolved, path, &[PHASED, PHASELESS], "--prompt")?;
    }
    resolved.notices.extend(unreadable.map(|error| Notice {
        level: Level::Warn,
        text: clean_line(&format!("{error}; the project's settings are ignored"), 400),
    }));
    let along = context_files::read(sources.folder, &resolved.config.context_files);
    let told = along.iter().filter_map(ContextFile::notice);
    resolved.notices.extend(told.map(|text| Notice { level: Level::Warn, text }));
    Ok(resolved)
}

/// Puts the person's file in the place of these templates; `from`: where that is set.
fn own_prompt(resolved: &mut Resolved, path: &Path, kinds: &[Kind], from: &str) -> Result<(), LoadError> {
    let file = path.display().to_string();
    let missing = || ReadError { path: path.to_owned(), reason: "no such file".to_owned() };
    let source = config_files::read_file(path)?.ok_or_else(missing)?.text;
    for kind in kinds {
        resolved.templates.set(*kind, Template { file: file.clone(), source: source.clone() });
        let name = format!("prompts.{}", kind.file.trim_end_matches(".md"));
        for row in resolved.values.iter_mut().filter(|row| row.name == name) {
            (row.value, row.from) = (format!("{} lines", source.lines().count()), from.to_owned());
        }
    }
    resolved.templates.check(kinds).map_err(|error| {
        let at = format!("{}:{}", error.file, error.line);
        LoadError::Settings(vec![ConfigError { at, message: error.message }])
    })
}

/// The configuration with these keys alone, or those of these groups; with all of them if none is named. An error names one
/// that there is not.
pub fn chosen(mut resolved: Resolved, keys: &[String]) -> Result<Resolved, String> {
    let is_meant = |name: &str, key: &String| {
        name == key || name.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with('.'))
    };
    if let Some(key) = keys.iter().find(|key| !resolved.values.iter().any(|row| is_meant(&row.name, key))) {
        return Err(unknown(key));
    }
    resolved.values.retain(|row| keys.is_empty() || keys.iter().any(|key| is_meant(&row.name, key)));
    Ok(resolved)
}

/// Prints each value and where it came from, then what a person should know.
pub fn show(out: &mut dyn Write, resolved: &Resolved) -> io::Result<()> {
    let width = |text: fn(&crate::config::Explained) -> &str| {
        resolved.values.iter().map(|row| text(row).chars().count()).max().unwrap_or(0)
    };
    let (name, value) = (width(|row| &row.name), width(|row| &row.value).min(40));
    for row in &resolved.values {
        writeln!(out, "{:name$}  {:value$}  {}", row.name, row.value, row.from)?;
    }
    for notice in &resolved.notices {
        writeln!(out, "\nwarning: {}", clean_line(&notice.text, 400))?;
    }
    Ok(())
}

/// Shows the project's files, word for word and made safe to show, and trusts them as shown.
pub fn trust(out: &mut dyn Write, folder: &Path, state_folder: &Path) -> Result<(), TrustFailure> {
    let files = config_files::read(&folder.join(PROJECT_FOLDER))?;
    let shown_folder = clean_line(&folder.display().to_string(), 400);
    let carried = repository_files::look(folder);
    let soul = soul::of(&folder.join(PROJECT_FOLDER))?;
    if files == Files::default() && carried.is_empty() && soul.is_none() {
        writeln!(
            out,
            "{shown_folder} has no {PROJECT_FOLDER}/config.yaml, policy.yaml, SOUL.md or prompts and no Claude settings: \
            nothing to trust"
        )?;
        return Ok(());
    }
    for file in files.config.iter().chain(&files.prompts).chain(&files.policy).chain(&soul).chain(&carried.files) {
        print_file(out, file)?;
    }
    for path in &carried.unreadable {
        writeln!(out, "cannot be shown, so the Claude settings here are not trusted: {}\n", clean_line(path, 400))?;
    }
    let store = TrustStore::new(state_folder);
    if files != Files::default() {
        store.trust(folder, &files)?;
    }
    if let Some(soul) = &soul {
        store.trust_soul(folder, soul)?;
    }
    if !carried.files.is_empty() && carried.unreadable.is_empty() {
        store.trust_carried(folder, &carried)?;
    }
    writeln!(out, "trusted for {shown_folder}, as shown, until any of these files changes")?;
    Ok(())
}

/// Why trusting failed.
#[derive(Debug, thiserror::Error)]
pub enum TrustFailure {
    #[error(transparent)]
    File(#[from] ReadError),
    #[error(transparent)]
    Store(#[from] TrustError),
    /// What is trusted cannot be shown, so it is not trusted.
    #[error(transparent)]
    Output(#[from] io::Error),
}

fn print_file(out: &mut dyn Write, file: &FileText) -> io::Result<()> {
    writeln!(out, "{} (sha256 {})", clean_line(&file.path, 400), hash(file))?;
    for line in Clean::new(&file.text).as_str().lines() {
        writeln!(out, "    {line}")?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orchestrator::steps::critique::{CRITIQUE, VERDICT_ONLY};
    use crate::orchestrator::steps::fix::FIX;
    use std::fs;
    use std::path::PathBuf;

    struct Home {
        folder: tempfile::TempDir,
        environment: BTreeMap<String, String>,
        prompt: Option<PathBuf>,
    }

    impl Home {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for name in ["user", "state", "work/.programmator/prompts"] {
                fs::create_dir_all(folder.path().join(name)).unwrap();
            }
            let user = folder.path().join("user").display().to_string();
            let environment = BTreeMap::from([("PROGRAMMATOR_CONFIG_DIR".to_owned(), user)]);
            Self { folder, environment, prompt: None }
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.folder.path().join(name), text).unwrap();
        }

        fn load(&self) -> Result<Resolved, LoadError> {
            load(&Sources {
                folder: &self.folder.path().join("work"),
                state_folder: &self.folder.path().join("state"),
                environment: &self.environment,
                flags: &[],
                prompt: self.prompt.as_deref(),
            })
        }

        fn trust(&self) -> String {
            let mut out = Vec::new();
            trust(&mut out, &self.folder.path().join("work"), &self.folder.path().join("state")).unwrap();
            String::from_utf8(out).unwrap()
        }
    }

    fn shown(resolved: &Resolved) -> String {
        let mut out = Vec::new();
        show(&mut out, resolved).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_project_is_ignored_until_trusted_and_again_when_it_changes() {
        let home = Home::new();
        assert!(home.trust().contains("nothing to trust"));
        home.write("work/.programmator/config.yaml", "agent:\n  model: x\n");
        let resolved = home.load().unwrap();
        assert_eq!(resolved.config.settings.model, None);
        assert!(shown(&resolved).contains("config.yaml:2 sets agent.model: ignored"), "{}", shown(&resolved));

        assert!(home.trust().contains("    agent:\n"));
        home.write("work/.programmator/config.yaml", "agent:\n  model: good\n");
        let resolved = home.load().unwrap();
        assert_eq!(resolved.config.settings.model, None);
        assert!(shown(&resolved).contains("have changed"), "{}", shown(&resolved));

        home.trust();
        let resolved = home.load().unwrap();
        assert_eq!(resolved.config.settings.model.as_deref(), Some("good"));
        assert!(resolved.notices.is_empty());
        home.write("work/.programmator/prompts/phased.md", "\u{1b}[2Jnew");
        assert_eq!(home.load().unwrap().config.settings.model, None);
        let told = home.trust();
        assert!(told.contains("    new\n") && !told.contains('\u{1b}'), "{told:?}");
    }

    #[test]
    fn a_run_has_a_template_of_its_own() {
        let mut home = Home::new();
        home.write("own.md", "Do {{ phase }}.\nEnd with PROGRAMMATOR_STATUS.\n");
        home.write("user/config.yaml", "");
        home.prompt = Some(home.folder.path().join("own.md"));
        let resolved = home.load().unwrap();
        assert!(resolved.templates.get(PHASED).source.starts_with("Do {{ phase }}"));
        assert!(
            shown(&resolved).lines().any(|line| line.starts_with("prompts.phaseless") && line.ends_with("--prompt"))
        );
        home.write("own.md", "Do\n{{ fase }}\n");
        assert!(home.load().unwrap_err().to_string().contains("own.md:2"));
        home.prompt = Some(home.folder.path().join("gone.md"));
        assert!(home.load().unwrap_err().to_string().contains("gone.md: no such file"));
    }

    #[test]
    fn a_step_has_a_template_of_its_own() {
        let home = Home::new();
        let set = "workflow:\n  prompts: {critique: own.md}\n";
        home.write("user/config.yaml", set);
        home.write("user/own.md", "Look at {{ phase }}.\n");
        let resolved = home.load().unwrap();
        let texts =
            [CRITIQUE, VERDICT_ONLY, FIX].map(|kind| resolved.templates.get(kind).source.starts_with("Look at"));
        assert_eq!(texts, [true, false, false], "what asks for the verdict alone stays");
        let told = shown(&resolved);
        let is_told = |line: &str| line.starts_with("prompts.critique") && line.ends_with("workflow.prompts.critique");
        assert!(told.lines().any(is_told), "{told}");
        home.write("user/own.md", "{{ fase }}\n");
        assert!(home.load().unwrap_err().to_string().contains("own.md:1"));
        home.write("user/config.yaml", "workflow:\n  prompts: {critique: gone.md}\n");
        assert!(home.load().unwrap_err().to_string().contains("gone.md: no such file"));
        // A repository does not say which files of the person's Claude is shown.
        home.write("user/config.yaml", "");
        home.write("work/.programmator/config.yaml", set);
        home.trust();
        let resolved = home.load().unwrap();
        assert!(resolved.notices[0].text.contains("only your own configuration"), "{:?}", resolved.notices);
        assert!(resolved.templates.own(CRITIQUE).is_none());
    }

    #[test]
    fn show_is_aligned_and_says_where_from() {
        let mut home = Home::new();
        home.write("user/config.yaml", "limits:\n  stagnation: 4\n");
        home.environment.insert("PROGRAMMATOR_TIMEOUT".into(), "60".into());
        let text = shown(&home.load().unwrap());
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert!(line("limits.stagnation").ends_with("user/config.yaml:2"), "{text}");
        assert!(line("limits.iteration_timeout").ends_with("PROGRAMMATOR_TIMEOUT"), "{text}");
        assert!(line("prompts.phased").ends_with("built-in"), "{text}");
        let column = line("limits.max_iterations").find("50").unwrap();
        assert_eq!(line("screen.theme").find("auto"), Some(column), "{text}");
    }

    #[test]
    fn a_hostile_project_cannot_keep_the_program_from_starting() {
        let home = Home::new();
        for text in ["limits: [", "nope: 1\n", "limits:\n  stagnation: 0\n"] {
            home.write("work/.programmator/config.yaml", text);
            let resolved = home.load().unwrap();
            assert_eq!(resolved.notices.len(), 1, "{text}");
        }
        home.write("work/.programmator/config.yaml", &"#".repeat(100_000));
        assert!(home.load().unwrap().notices[0].text.contains("larger than"));
        home.write("user/config.yaml", "nope: 1\n");
        assert!(home.load().unwrap_err().to_string().contains("config.yaml:1"));
    }
}

//! What `programmator init` finds, and what is decided about it.

use super::origin::{self, Tasks};
use crate::adapters::agent::probe::look_up;
use crate::adapters::config_files::PROJECT_FOLDER;
use crate::adapters::inside;
use crate::adapters::project_kind::part::{Finding, Kind, Part};
use crate::adapters::project_kind::{self, chosen, ci};
use crate::adapters::tickets;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::cli::away;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::config::Config;
use crate::domain::import::item::Source;
use crate::domain::import::page::ImportPlace;
use crate::domain::profile::Profile;
use crate::domain::workflow::Workflow;
use serde::Serialize;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// What is there.
pub(super) struct Setup {
    /// Absolute.
    pub(super) folder: PathBuf,
    /// The folder is a new project's.
    pub(super) is_new: bool,
    pub(super) parts: Vec<Part>,
    pub(super) checks: Vec<Candidate>,
    /// Where tickets are found without a setting, and whether there are some.
    pub(super) tickets: PathBuf,
    pub(super) has_tickets: bool,
    /// The top of the repository.
    pub(super) git: Option<PathBuf>,
    /// Where tasks could be imported from.
    pub(super) sources: Vec<ImportPlace>,
    /// A phone is asked already, or no place is known for its settings.
    pub(super) has_phone: bool,
    /// The person's own settings.
    pub(super) own: Config,
    pub(super) assignee: Option<String>,
    pub(super) now: Timestamp,
}

/// A command that may check claims, from the project's folder.
pub(super) struct Candidate {
    pub(super) command: String,
    pub(super) evidence: String,
    /// The project itself asks for it. What is only usual may never have passed here.
    pub(super) is_default: bool,
    /// Its program, where it is not installed here.
    pub(super) missing: Option<String>,
}

/// What is decided; `--json` prints it: add, never rename.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Choices {
    /// `git init`.
    pub(super) git: bool,
    pub(super) tickets: PathBuf,
    /// The title of a first ticket.
    pub(super) first_ticket: Option<String>,
    pub(super) validation: Vec<String>,
    pub(super) workflow: Workflow,
    pub(super) profile: Profile,
    /// The first of the sources that are there, of which tasks are imported afterwards.
    pub(super) import: Option<Source>,
    /// A phone is paired afterwards.
    pub(super) phone: bool,
}

/// A finding, for `--json`.
#[derive(Serialize)]
pub(super) struct Detected<'a> {
    /// Relative to the project's folder; empty for the folder itself.
    folder: &'a str,
    #[serde(flatten)]
    finding: &'a Finding,
}

/// The first ticket where commands check something: the shortest way to a phase that is verified.
pub(super) const CHECKS_PASS: &str = "Make the checks of this project pass";

/// The folder of a new project below `here`; an error where something is there.
pub(super) fn new_folder(here: &Path, name: &Path) -> Result<PathBuf, CliError> {
    let shown = clean_line(&name.to_string_lossy(), 200);
    let is_plain = name.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_plain || name.as_os_str().is_empty() {
        let cure = format!("for an existing folder: programmator -C {shown} init");
        return Err(CliError::bad_input(format!("`{shown}` is not a folder name; {cure}")));
    }
    let folder = here.join(name);
    match folder.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(folder),
        Ok(about) if about.is_dir() && std::fs::read_dir(&folder)?.next().is_none() => Ok(folder),
        Ok(about) if about.is_dir() => {
            Err(CliError::failure(format!("{shown} exists and is not empty: programmator -C {shown} init")))
        }
        Ok(_) => Err(CliError::failure(format!("{shown} exists and is not a folder: choose another name"))),
        Err(error) => Err(CliError::failure(format!("{shown} cannot be used: {error}"))),
    }
}

impl Setup {
    /// Looks around. `own`: the person's own settings; `tickets`: where tickets are looked for in this folder.
    pub(super) async fn look(
        session: &Session,
        own: Config,
        tickets: PathBuf,
        tasks: &Tasks,
        project_type: Option<&str>,
        is_new: bool,
    ) -> Result<(Self, Choices), CliError> {
        let folder = session.folder.clone();
        let home = session.environment.get("HOME").and_then(|home| Path::new(home).canonicalize().ok());
        if folder.parent().is_none() || home.as_ref() == Some(&folder) {
            let shown = folder.display();
            let cure = "go to a project's folder, or give the name of a new one";
            return Err(CliError::failure(format!("{shown} is not a project: {cure}")));
        }
        // A new project does not take its tickets from the folder that it lies in.
        let tickets = if is_new && own.tickets_dir.is_none() { folder.join(".tickets") } else { tickets };
        let has_tickets = !files_in(&tickets)?.is_empty();
        let git = folder.ancestors().find(|above| above.join(".git").exists()).map(Path::to_owned);
        let mut parts = project_kind::look(&folder);
        ci::confirm(&folder, &mut parts);
        if let Some(name) = project_type {
            parts = chosen::only(parts, name).map_err(|known| {
                let known = known.join(", ");
                CliError::usage(format!("unknown project type `{}`; use one of {known}", clean_line(name, 80)))
            })?;
        }
        let path = session.environment.get("PATH").map(OsStr::new);
        let checks = candidates(&parts, &|part, check| missing(&folder.join(&part.folder), &check.name, path));
        let defaults = checks.iter().filter(|one| one.is_default);
        let validation: Vec<String> = defaults.map(|one| one.command.clone()).collect();
        let title = if validation.is_empty() { "The first thing to do" } else { CHECKS_PASS };
        let choices = Choices {
            git: git.is_none(),
            tickets: tickets.clone(),
            // What is imported is the first thing to do.
            first_ticket: (!has_tickets && tasks.named().is_none()).then(|| title.to_owned()),
            validation,
            workflow: own.settings.workflow.name,
            profile: own.profile,
            import: None,
            phone: false,
        };
        let sources = if tasks.none { Vec::new() } else { origin::places(session, &tickets).await };
        let has_phone = away::is_paired(session).unwrap_or(true);
        let (assignee, now) = (session.environment.get("USER").cloned(), session.clock().now());
        let setup =
            Self { folder, is_new, parts, checks, tickets, has_tickets, git, sources, has_phone, own, assignee, now };
        Ok((setup, choices))
    }

    pub(super) fn config_path(&self) -> PathBuf {
        self.folder.join(PROJECT_FOLDER).join("config.yaml")
    }

    /// Whether what is written there stays in the project: a link of a repository must not lead out of it. Where the person has
    /// put a folder elsewhere that is theirs to say.
    pub(super) fn may_write(&self, file: &Path) -> bool {
        let top = self.git.as_deref().unwrap_or(&self.folder);
        !file.starts_with(top) || !self.folder.exists() || inside::stays_in(top, file)
    }

    /// A path for people: from the folder where it lies in it.
    pub(super) fn shown(&self, path: &Path) -> String {
        let inner = path.strip_prefix(&self.folder).ok().filter(|inner| !inner.as_os_str().is_empty());
        clean_line(&inner.unwrap_or(path).to_string_lossy(), 300)
    }

    pub(super) fn detected(&self) -> impl Iterator<Item = Detected<'_>> {
        self.parts.iter().flat_map(|part| {
            let folder = part.folder.as_str();
            part.findings.iter().map(move |finding| Detected { folder, finding })
        })
    }

    /// What was found, and which file shows it.
    pub(super) fn tell(&self, out: &mut dyn Write) -> Result<(), CliError> {
        for part in &self.parts {
            for kind in [Kind::Language, Kind::Framework, Kind::Tool] {
                for one in part.of(kind) {
                    writeln!(out, "found    {} ({})", one.name, clean_line(&part.evidence(one), 200))?;
                }
            }
        }
        if self.parts.is_empty() {
            writeln!(out, "found    no known project files")?;
        }
        for ImportPlace { source, file, new } in self.sources.iter().filter(|one| one.new != Some(0)) {
            let what = new.map_or_else(|| "tasks".to_owned(), |new| counted(new, "new task"));
            match file {
                Some(file) => writeln!(out, "found    {what} in {}", file.display())?,
                None => writeln!(out, "found    {what} of {}", source.word())?,
            }
        }
        match &self.git {
            // A folder that is made has nothing that could be found.
            None if self.is_new => {}
            None => writeln!(out, "found    no git repository")?,
            Some(top) if *top != self.folder => {
                let top = clean_line(&top.display().to_string(), 200);
                writeln!(out, "found    the repository {top}; settings in this folder apply only when you start here")?;
            }
            Some(_) => {}
        }
        Ok(())
    }
}

/// The tickets of a folder, which need not be there.
pub(super) fn files_in(dir: &Path) -> Result<Vec<PathBuf>, CliError> {
    tickets::files_in(dir).map_err(|error| CliError::tickets_folder(dir, &error))
}

fn candidates(parts: &[Part], missing: &dyn Fn(&Part, &Finding) -> Option<String>) -> Vec<Candidate> {
    let each = parts.iter().flat_map(|part| part.of(Kind::Check).map(move |check| (part, check)));
    each.map(|(part, check)| Candidate {
        command: part.command(check),
        evidence: part.evidence(check),
        is_default: check.is_own,
        missing: missing(part, check),
    })
    .collect()
}

/// The program of a command, where it is neither on the `path` nor, if it is a path itself, in the folder.
fn missing(folder: &Path, command: &str, path: Option<&OsStr>) -> Option<String> {
    let program = command.split(' ').next().filter(|word| *word != "if")?.to_owned();
    let found = look_up(std::slice::from_ref(&program), path, folder);
    found.is_err().then_some(program)
}

//! `programmator host install|uninstall`: the host is started with the person's session, by their service manager.

use super::stop::end;
use crate::adapters::outside_program::{self, ProgramError};
use crate::adapters::own_program::as_started;
use crate::adapters::project_file::{self, ProjectFileError};
use crate::adapters::sole_process::{self, HOST};
use crate::base::text::{clean_line, clean_path};
use crate::cli::agree::agree;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::cli::settings::{WRITES, show};
use crate::domain::service_unit::Manager;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::time::interval;

/// What the host needs of the environment: where programs are, and whose files it works with.
const VARIABLES: [&str; 7] = [
    "PATH", "PROGRAMMATOR_STATE_DIR", "PROGRAMMATOR_CONFIG_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
    "CLAUDE_CONFIG_DIR", "PROGRAMMATOR_CLAUDE",
];
/// How long the host may take to begin, and how often it is looked for.
const BEGINNING: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);

/// The file of the service manager, where there is one.
pub fn installed(session: &Session) -> Option<PathBuf> {
    path(session).ok().filter(|path| path.symlink_metadata().is_ok())
}

/// Shows the file, writes it, and has the host started.
pub async fn install(out: &mut dyn Write, session: &Session, yes: bool) -> Result<(), CliError> {
    let path = path(session)?;
    let old = project_file::read(&path).map_err(failed)?;
    let new = text(session)?;
    let name = clean_path(&path);
    if old.as_ref() == Some(&new) {
        writeln!(out, "{name} is up to date.")?;
    } else {
        show(out, &name, old.as_deref().unwrap_or_default(), &new)?;
        if !yes {
            agree(out, &format!("Write this to {name}, and start the host?"), WRITES)?;
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        project_file::replace(&path, old.as_deref(), &new).map_err(failed)?;
        writeln!(out, "Written to {name}.")?;
    }
    let not_started = |why| {
        CliError::failure(format!("the host was not started: {why}; have your service manager run `programmator host`"))
    };
    for args in knowing() {
        manage(session, &args).await.map_err(not_started)?;
    }
    // One that was started by hand makes room, now that another will be started.
    end(session)?;
    if Manager::HERE == Manager::Launchd {
        // Fails where it is not loaded.
        let _ = manage(session, &of(&["unload", &path.to_string_lossy()])).await;
    }
    manage(session, &starting(&path)).await.map_err(not_started)?;
    if !is_there(session).await? {
        return Err(CliError::failure(format!(
            "{} was started, but no host is running: see {}",
            Manager::HERE.file(),
            match Manager::HERE {
                Manager::Systemd => "`systemctl --user status programmator-host` and `programmator host logs`",
                Manager::Launchd => "`launchctl list programmator.host` and `programmator host logs`",
            }
        )));
    }
    writeln!(out, "The host is running, and starts whenever you log in.")?;
    if Manager::HERE == Manager::Systemd {
        writeln!(out, "To start it when the machine starts, before you log in: `loginctl enable-linger`.")?;
    }
    Ok(())
}

/// Shows the file, has the host ended, and removes the file.
pub async fn uninstall(out: &mut dyn Write, session: &Session, yes: bool) -> Result<(), CliError> {
    let path = path(session)?;
    let name = clean_path(&path);
    let Some(old) = project_file::read(&path).map_err(failed)? else {
        return Ok(writeln!(out, "The host is not installed: there is no {name}.")?);
    };
    show(out, &name, &old, "")?;
    if !yes {
        agree(out, &format!("Remove {name}, and end the host? Background runs continue."), "removes")?;
    }
    let was_there = sole_process::holder(&session.state, HOST)?.is_some();
    let told = manage(session, &ending()).await;
    // Also one that was started by hand.
    end(session)?;
    fs::remove_file(&path).map_err(|error| CliError::failure(format!("{name} cannot be removed: {error}")))?;
    let ended = if was_there { " The host has ended." } else { "" };
    writeln!(out, "Removed {name}.{ended}")?;
    told.map_err(|why| CliError::failure(format!("the service may still be registered: {why}")))
}

fn path(session: &Session) -> Result<PathBuf, CliError> {
    let home = || session.folder_of("HOME").ok_or_else(|| CliError::failure("there is no home folder: set HOME"));
    let folder = match Manager::HERE {
        Manager::Systemd => match session.folder_of("XDG_CONFIG_HOME") {
            Some(config) => config.join("systemd/user"),
            None => home()?.join(".config/systemd/user"),
        },
        Manager::Launchd => home()?.join("Library/LaunchAgents"),
    };
    Ok(folder.join(Manager::HERE.file()))
}

fn text(session: &Session) -> Result<String, CliError> {
    let program = as_started()?;
    let program = program.to_str().filter(|_| program.is_file());
    let program = program.ok_or_else(|| CliError::failure("the path of this program is gone, or not UTF-8"))?;
    // It is started in another folder.
    let value = |name: &&'static str| {
        let value = session.environment.get(*name).filter(|value| !value.is_empty())?;
        let is_folder = name.ends_with("_DIR") || name.starts_with("XDG_");
        Some((*name, if is_folder { session.folder.join(value).display().to_string() } else { value.clone() }))
    };
    let variables: Vec<_> = VARIABLES.iter().filter_map(value).collect();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Ok(Manager::HERE.text(program, &variables))
}

/// A host has come to be.
async fn is_there(session: &Session) -> Result<bool, CliError> {
    let deadline = Instant::now() + BEGINNING;
    let mut looks = interval(LOOK);
    while Instant::now() < deadline {
        looks.tick().await;
        if sole_process::holder(&session.state, HOST)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is said to the service manager so that it knows the file as it stands now.
fn knowing() -> Vec<Vec<String>> {
    match Manager::HERE {
        Manager::Systemd => [&["daemon-reload"][..], &["enable", Manager::HERE.file()]].map(of).to_vec(),
        // It is only replaced where it is loaded, and reads its file then.
        Manager::Launchd => Vec::new(),
    }
}

/// And so that it starts the host, also where an older one is running.
fn starting(path: &Path) -> Vec<String> {
    match Manager::HERE {
        Manager::Systemd => of(&["restart", Manager::HERE.file()]),
        Manager::Launchd => of(&["load", "-w", &path.to_string_lossy()]),
    }
}

fn ending() -> Vec<String> {
    match Manager::HERE {
        Manager::Systemd => of(&["disable", "--now", Manager::HERE.file()]),
        Manager::Launchd => of(&["remove", "programmator.host"]),
    }
}

fn of(words: &[&str]) -> Vec<String> {
    let user: &[&str] = if Manager::HERE == Manager::Systemd { &["--user"] } else { &[] };
    user.iter().chain(words).map(|word| (*word).to_owned()).collect()
}

/// An error: why it was not done, for the person.
async fn manage(session: &Session, args: &[String]) -> Result<(), String> {
    let program = if Manager::HERE == Manager::Systemd { "systemctl" } else { "launchctl" };
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let line = format!("`{program} {}`", words.join(" "));
    match outside_program::printed(program, &words, &session.folder).await {
        Ok(_) => Ok(()),
        Err(ProgramError::Missing) => Err(format!("{program} is not installed")),
        Err(ProgramError::Failed { said, .. }) => Err(format!("{line}: {}", clean_line(said.trim(), 400))),
        Err(ProgramError::NoAnswer) => Err(format!("{line} did not respond")),
        Err(ProgramError::NotStarted(error) | ProgramError::NotRead(error)) => Err(format!("{line}: {error}")),
        Err(ProgramError::TooMuch) => Err(format!("{line} printed too much")),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn failed(error: ProjectFileError) -> CliError {
    CliError::failure(error.to_string())
}

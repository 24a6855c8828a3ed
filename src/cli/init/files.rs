//! The files that `programmator init` writes: their text, whether they are there, and how one is put in its place.

use super::ignored::gitignore;
use super::setup::{CHECKS_PASS, Choices, Setup, files_in};
use crate::adapters::config_files::PROJECT_FOLDER;
use crate::adapters::project_file;
use crate::adapters::tickets::{self, NewTicket, create};
use crate::base::text::clean_line;
use crate::cli::error::CliError;
use crate::domain::ticket::TEMPLATE_PHASE;
use crate::domain::ticket::draft::Draft;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A file that is written.
pub(super) struct Change {
    pub(super) path: PathBuf,
    /// What it says now; `None`: it is not there.
    pub(super) old: Option<String>,
    pub(super) new: String,
    /// Where what it says now is kept.
    backup: Option<PathBuf>,
}

/// A file that is left as it is.
#[derive(Serialize)]
pub(super) struct Skipped {
    pub(super) path: PathBuf,
    pub(super) why: &'static str,
}

/// Backups that are tried; nobody has as many.
const BACKUPS: u32 = 1_000;
/// What git is not to see.
const IGNORED: &str = "*.bak\n";

/// What is to be written, in this order, and what is not. With `force` the settings are replaced.
pub(super) fn planned(setup: &Setup, choices: &Choices, force: bool) -> Result<(Vec<Change>, Vec<Skipped>), CliError> {
    let (mut changes, mut skipped) = (Vec::new(), Vec::new());
    let path = setup.config_path();
    let old = project_file::read(&path).map_err(|error| CliError::failure(error.to_string()))?;
    let new = config_text(setup, choices);
    match &old {
        Some(old) if *old == new => skipped.push(Skipped { path, why: "already up to date" }),
        Some(_) if !force => skipped.push(Skipped { path, why: "already exists; --force replaces it" }),
        _ if !setup.may_write(&path) => return Err(leads_out(&path)),
        _ => {
            let backup = old.is_some().then(|| free_name(&path)).transpose()?;
            let ignored = backup.is_some().then(|| ignoring(setup, choices)).transpose()?.flatten();
            changes.push(Change { path, old, new, backup });
            changes.extend(ignored);
        }
    }
    changes.extend(gitignore(setup, choices).map(|(path, new)| Change { path, old: None, new, backup: None }));
    match first_ticket(setup, choices)? {
        Some(ticket) => changes.push(ticket),
        None if setup.has_tickets => {
            skipped.push(Skipped { path: choices.tickets.clone(), why: "already has tickets" });
        }
        None => {}
    }
    Ok((changes, skipped))
}

fn leads_out(path: &Path) -> CliError {
    let shown = clean_line(&path.display().to_string(), 300);
    CliError::failure(format!("{shown} is a link out of the project: remove the link; nothing was changed"))
}

/// The first ticket, where the folder has none.
fn first_ticket(setup: &Setup, choices: &Choices) -> Result<Option<Change>, CliError> {
    // What is imported is the first thing to do.
    let Some(title) = choices.first_ticket.as_ref().filter(|_| choices.import.is_none()) else { return Ok(None) };
    if !files_in(&choices.tickets)?.is_empty() {
        return Ok(None);
    }
    let phase = if title == CHECKS_PASS { "Run every validation command and fix what fails" } else { TEMPLATE_PHASE };
    let draft = Draft { title: title.clone(), phases: vec![phase.to_owned()], ..Draft::default() };
    let (assignee, now) = (setup.assignee.as_deref(), setup.now);
    let new = NewTicket { draft: &draft, project: &setup.folder, assignee, now, origin: None, parent: None, deps: &[] };
    let id = tickets::id_for(title, &setup.folder, &choices.tickets)
        .ok_or_else(|| CliError::failure("no id is free for the first ticket"))?;
    let path = choices.tickets.join(format!("{id}.md"));
    if !setup.may_write(&path) {
        return Err(leads_out(&choices.tickets));
    }
    Ok(Some(Change { path, old: None, new: create::text(id.as_str(), &new), backup: None }))
}

/// Keeps backups out of the repository.
fn ignoring(setup: &Setup, choices: &Choices) -> Result<Option<Change>, CliError> {
    let path = setup.folder.join(PROJECT_FOLDER).join(".gitignore");
    let old = project_file::read(&path).map_err(|error| CliError::failure(error.to_string()))?;
    let text = old.clone().unwrap_or_default();
    let has_git = setup.git.is_some() || choices.git;
    if !has_git || text.lines().any(|line| line == IGNORED.trim_end()) {
        return Ok(None);
    }
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    Ok(Some(Change { path, old, new: format!("{text}{gap}{IGNORED}"), backup: None }))
}

/// A name beside the file that nothing has.
fn free_name(path: &Path) -> Result<PathBuf, CliError> {
    let name = |n: u32| path.with_extension(if n == 0 { "yaml.bak".to_owned() } else { format!("yaml.{n}.bak") });
    let free = (0..BACKUPS).map(name).find(|path| path.symlink_metadata().is_err());
    free.ok_or_else(|| CliError::failure(format!("too many backups next to {}: remove some", path.display())))
}

/// What the project says of itself, where it differs from what holds without it.
fn config_text(setup: &Setup, choices: &Choices) -> String {
    let mut text =
        "# Settings of programmator for this project that differ from your own and from the built-in values.\n\
                    # `programmator config show` prints every key with its value.\n"
            .to_owned();
    if !choices.validation.is_empty() {
        text.push_str(
            "\nvalidation:\n  # All of these run in this folder after every claim, and must pass.\n  commands:\n",
        );
    }
    for command in &choices.validation {
        let known = setup.checks.iter().find(|one| one.command == *command);
        let evidence = known.map(|one| format!("  # {}", clean_line(&one.evidence, 200))).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    - {}{evidence}", quoted(command));
    }
    if choices.workflow != setup.own.settings.workflow.name {
        let _ = writeln!(text, "\nworkflow:\n  # Who reviews finished work.\n  name: {}", choices.workflow.word());
    }
    if choices.profile != setup.own.profile {
        let _ =
            writeln!(text, "\npolicy:\n  # What Claude may do without asking.\n  profile: {}", choices.profile.word());
    }
    if choices.tickets != setup.tickets && !is_found(setup, &choices.tickets) {
        let dir = choices.tickets.strip_prefix(&setup.folder).unwrap_or(&choices.tickets);
        let _ = writeln!(text, "\ntickets:\n  dir: {}", quoted(&dir.to_string_lossy()));
    }
    text
}

/// The folder is found without a setting, once it is there.
fn is_found(setup: &Setup, tickets: &Path) -> bool {
    setup.own.tickets_dir.is_none() && tickets == setup.folder.join(".tickets")
}

/// A text in double quotes: JSON's strings are YAML's too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Change {
    /// Writes it, its backup first, and adds to `written` what is there by now. An error says what cannot be written and why.
    pub(super) fn write(&self, written: &mut Vec<PathBuf>) -> Result<(), String> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| {
            format!("{} cannot be written: {error}", clean_line(&path.display().to_string(), 300))
        };
        if let (Some(backup), Some(old)) = (&self.backup, &self.old) {
            // Who may not read the file may not read what it said.
            create::write_copy(backup, old.as_bytes(), &self.path).map_err(|error| failed(backup, &error))?;
            written.push(backup.clone());
        }
        if self.old.is_some() {
            let replaced = project_file::replace(&self.path, self.old.as_deref(), &self.new);
            replaced.map_err(|error| clean_line(&error.cause(), 400))?;
        } else {
            let folder = self.path.parent().unwrap_or(Path::new("."));
            let made = std::fs::create_dir_all(folder);
            let made = made.and_then(|()| tickets::write_new(&self.path, self.new.as_bytes()));
            made.map_err(|error| failed(&self.path, &error))?;
        }
        written.push(self.path.clone());
        Ok(())
    }
}

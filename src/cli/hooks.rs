//! `programmator hooks`: the hooks by which Claude sessions that the person starts themselves ask elsewhere, in Claude's
//! settings or as a plugin.

use super::agree::agree;
use super::error::CliError;
use super::help;
use super::hook::WAIT;
use super::session::Session;
use super::settings::{WRITES, show, trust_again};
use crate::adapters::hook_log;
use crate::adapters::own_program::as_started;
use crate::adapters::project_file::{self, ProjectFileError};
use crate::base::text::{clean_line, clean_path};
use crate::config::own_gate::OwnGate;
use crate::domain::claude_hooks::{BEFORE, Hooks, added, command, events, installed, plugin, wanted, without};
use crate::domain::finding::{Finding, Mark};
use clap::Subcommand;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What can be done with the hooks.
#[derive(Debug, Clone, Subcommand)]
pub enum HooksCommand {
    /// Add the hooks to Claude's settings; the change is shown first.
    #[command(after_help = help::HOOKS_INSTALL)]
    Install {
        /// For sessions in this folder only (`.claude/settings.local.json`).
        #[arg(long)]
        project: bool,
        /// Write without asking first.
        #[arg(long, short)]
        yes: bool,
    },
    /// Remove the hooks from Claude's settings.
    #[command(after_help = help::HOOKS_REMOVE)]
    Remove {
        /// The hooks for sessions in this folder.
        #[arg(long)]
        project: bool,
        /// Write without asking first.
        #[arg(long, short)]
        yes: bool,
    },
    /// Show where the hooks are installed.
    #[command(after_help = help::HOOKS_STATUS)]
    Status,
    /// Write the hooks as a Claude Code plugin.
    #[command(after_help = help::HOOKS_PLUGIN)]
    Plugin {
        /// The plugin's folder.
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
}

/// Carries the command out.
pub fn run(out: &mut dyn Write, session: &Session, what: &HooksCommand) -> Result<(), CliError> {
    match what {
        HooksCommand::Install { project, yes } => {
            let is_written = install(out, session, &file(session, *project)?, *yes)?;
            if is_written && *project { trust_again(out) } else { Ok(()) }
        }
        HooksCommand::Remove { project, yes } => {
            let is_written = remove(out, &file(session, *project)?, *yes)?;
            if is_written && *project { trust_again(out) } else { Ok(()) }
        }
        HooksCommand::Status => {
            let mode = mode(session);
            let is_gated = mode.as_ref().is_ok_and(|mode| *mode != OwnGate::Off);
            for project in [false, true] {
                let path = file(session, project)?;
                let text = project_file::read(&path).map_err(failed)?.unwrap_or_default();
                if let Some(why) = broken(&path, &text) {
                    writeln!(out, "{why}")?;
                    continue;
                }
                // A clone may have brought these settings along.
                let how = installed(&text).map_or_else(
                    || "not installed".to_owned(),
                    |command| format!("installed: {}", clean_line(&command, 400)),
                );
                writeln!(out, "{}  {how}", clean_path(&path))?;
                if let Some(lacks) = lacks(&text, project, is_gated) {
                    writeln!(out, "  {lacks}")?;
                }
            }
            match mode {
                Ok(mode) => tell_mode(out, mode)?,
                Err(error) => writeln!(out, "policy.own_sessions cannot be read: {}", error.message)?,
            }
            let verdicts = hook_log::verdicts(&session.state);
            if verdicts.is_file() {
                writeln!(out, "Calls that the policy asked about or blocked: {}", clean_path(&verdicts))?;
            }
            Ok(())
        }
        HooksCommand::Plugin { dir } => write_plugin(out, session, &session.folder.join(dir)),
    }
}

/// Why settings cannot be read as JSON, where that is, and what to do.
fn broken(path: &Path, text: &str) -> Option<String> {
    let error = serde_json::from_str::<serde_json::Value>(text).err().filter(|_| !text.trim().is_empty())?;
    let (line, why) = (error.line(), error.to_string());
    let why = why.split(" at line ").next().unwrap_or_default();
    Some(format!(
        "{}:{line}: not valid JSON ({}), so Claude loads none of these settings: fix that line, then `programmator hooks \
         status` shows the hooks",
        clean_path(path),
        clean_line(why, 200)
    ))
}

/// The settings that have them: of the person, and in this folder; an error: why that cannot be seen.
pub fn installed_in(session: &Session) -> Result<Vec<Result<PathBuf, String>>, CliError> {
    let mut found = Vec::new();
    for path in [file(session, false)?, file(session, true)?] {
        match project_file::read(&path) {
            Ok(Some(text)) if installed(&text).is_some() => found.push(Ok(path)),
            Ok(Some(text)) if text.contains("programmator") => found.extend(broken(&path, &text).map(Err)),
            Ok(_) => {}
            Err(error) => found.push(Err(error.to_string())),
        }
    }
    Ok(found)
}

/// Whether the person's own sessions ask.
pub fn check(session: &Session) -> Finding {
    let finding = |mark, text: String| Finding::new("hooks", mark, text);
    let is_gated = mode(session).is_ok_and(|mode| mode != OwnGate::Off);
    let (mut commands, mut all, mut lacking) = (Vec::new(), Vec::new(), None);
    for project in [false, true] {
        let Ok(path) = file(session, project) else { continue };
        let text = match project_file::read(&path) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return finding(Mark::Warn, error.to_string()),
        };
        if let Some(why) = broken(&path, &text) {
            return finding(Mark::Warn, why);
        }
        commands.extend(installed(&text));
        all.extend(events(&text));
        // Each call need be judged but once.
        lacking = lacking.or_else(|| Some(format!("{}: {}", path.display(), lacks(&text, project, false)?)));
    }
    let ours = program().map(|program| self::command(&program));
    match commands.into_iter().next() {
        _ if is_gated && !all.contains(&BEFORE) => finding(
            Mark::Warn,
            "policy.own_sessions is set, but its hook is missing: `programmator hooks install` adds it".to_owned(),
        ),
        None => finding(
            Mark::Ok,
            "Hooks not installed: your own Claude sessions ask in their terminals only (`programmator hooks install`)"
                .to_owned(),
        ),
        Some(command) if ours.is_ok_and(|ours| ours == command) => match lacking {
            Some(lacking) => finding(Mark::Warn, lacking),
            None => finding(Mark::Ok, "your own Claude sessions can ask on the phone, too".to_owned()),
        },
        Some(command) => finding(
            Mark::Warn,
            format!(
                "your own Claude sessions run a different program: {command} (`programmator hooks install` fixes that)"
            ),
        ),
    }
}

/// What an installation of an earlier version, or from before the policy was wanted, is without; `None`: nothing, or there is none.
fn lacks(text: &str, project: bool, is_gated: bool) -> Option<String> {
    let there = events(text);
    let missing: Vec<&str> = wanted(is_gated).into_iter().filter(|event| !there.contains(event)).collect();
    let how = if project { "programmator hooks install --project" } else { "programmator hooks install" };
    (!there.is_empty() && !missing.is_empty())
        .then(|| format!("missing hooks: {}; `{how}` adds them", missing.join(", ")))
}

/// Says what the policy does in these sessions.
fn tell_mode(out: &mut dyn Write, mode: OwnGate) -> Result<(), CliError> {
    let does = match mode {
        OwnGate::Off => "the policy does not apply to your own sessions",
        OwnGate::Observe => "calls that the policy would ask about or block are logged",
        OwnGate::Enforce => "calls are asked about or blocked as the policy says",
    };
    Ok(writeln!(out, "policy.own_sessions is {}: {does}.", mode.word())?)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn failed(error: ProjectFileError) -> CliError {
    CliError::failure(error.to_string())
}

/// Claude's settings: of the person, or what is theirs alone in this folder.
fn file(session: &Session, project: bool) -> Result<PathBuf, CliError> {
    if project {
        return Ok(project_file::claude_settings(&session.folder));
    }
    let folder = session.folder_of("CLAUDE_CONFIG_DIR").or_else(|| Some(session.folder_of("HOME")?.join(".claude")));
    Ok(folder.ok_or_else(|| CliError::failure("there is no home folder: set HOME"))?.join("settings.json"))
}

/// The path of this program, for good.
fn program() -> Result<String, CliError> {
    let program = as_started()?;
    match program.to_str().filter(|_| program.is_file()) {
        Some(program) => Ok(program.to_owned()),
        None => {
            Err(CliError::failure(format!("Claude could not start {}: it is gone, or not UTF-8", program.display())))
        }
    }
}

/// What the person wants of the policy in sessions of their own.
fn mode(session: &Session) -> Result<OwnGate, CliError> {
    Ok(session.resolve(&session.folder)?.config.own_sessions)
}

/// `false`: there was nothing to write.
fn install(out: &mut dyn Write, session: &Session, path: &Path, yes: bool) -> Result<bool, CliError> {
    let old = project_file::read(path).map_err(failed)?;
    let before = before(path, old.as_deref())?;
    let mode = mode(session)?;
    let events = wanted(mode != OwnGate::Off);
    let hooks = Hooks { command: &command(&program()?), wait: WAIT, events: &events };
    let new = added(before.as_deref().unwrap_or_default(), hooks)
        .map_err(|why| CliError::usage(format!("{}: {why}; nothing was changed", path.display())))?;
    if old.as_ref() == Some(&new) {
        writeln!(out, "{} already has these hooks.", clean_path(path))?;
        tell_mode(out, mode)?;
        return Ok(false);
    }
    let name = clean_path(path);
    show(out, &name, old.as_deref().unwrap_or_default(), &new)?;
    if !yes {
        agree(out, &format!("Write this to {name}?"), WRITES)?;
    }
    keep(path, before.as_deref())?;
    project_file::replace(path, old.as_deref(), &new).map_err(failed)?;
    writeln!(out, "Written to {name}. New sessions ask on your phone while `programmator away on` is active.")?;
    tell_mode(out, mode)?;
    Ok(true)
}

/// Takes them out of these settings. Whether there is still such a file.
pub fn remove(out: &mut dyn Write, path: &Path, yes: bool) -> Result<bool, CliError> {
    let old = project_file::read(path).map_err(failed)?;
    let Some(old) = old.filter(|old| installed(old).is_some()) else {
        writeln!(out, "{} has no programmator hooks.", clean_path(path))?;
        return Ok(false);
    };
    let new = before(path, Some(&old))?;
    let is_kept = project_file::read(&beside(path)).map_err(failed)? == new;
    let name = clean_path(path);
    show(out, &name, &old, new.as_deref().unwrap_or_default())?;
    if !yes {
        agree(out, &if new.is_some() { format!("Write this to {name}?") } else { format!("Remove {name}?") }, WRITES)?;
    }
    match &new {
        Some(new) => project_file::replace(path, Some(&old), new).map_err(failed)?,
        None if project_file::read(path).map_err(failed)?.as_ref() == Some(&old) => gone(path)?,
        None => {
            return Err(CliError::failure(format!(
                "{name} was changed in the meantime; nothing was removed: try again"
            )));
        }
    }
    keep(path, None)?;
    let how = if is_kept { "restored" } else { "hooks removed" };
    writeln!(out, "{name}: {how}. Running sessions keep the hooks until they end.")?;
    Ok(new.is_some())
}

/// What the file says without hooks of ours: what is kept beside it, if nothing else was changed since. `None`: there was no
/// file.
fn before(path: &Path, text: Option<&str>) -> Result<Option<String>, CliError> {
    let Some((text, command)) = text.and_then(|text| Some((text, installed(text)?))) else {
        return Ok(text.map(str::to_owned));
    };
    let kept = project_file::read(&beside(path)).map_err(failed)?;
    let hooks = Hooks { command: &command, wait: WAIT, events: &events(text) };
    if added(kept.as_deref().unwrap_or_default(), hooks).is_ok_and(|made| made == text) {
        return Ok(kept);
    }
    without(text).map_err(|why| CliError::failure(format!("{}: {why}; nothing was changed", path.display())))
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("json.before-programmator")
}

/// Keeps what the file said; `None`: there was none, or it says so again.
fn keep(path: &Path, text: Option<&str>) -> Result<(), CliError> {
    let beside = beside(path);
    let old = project_file::read(&beside).map_err(failed)?;
    match text {
        Some(text) => project_file::replace(&beside, old.as_deref(), text).map_err(failed),
        None if old.is_some() => gone(&beside),
        None => Ok(()),
    }
}

fn gone(path: &Path) -> Result<(), CliError> {
    fs::remove_file(path).or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error.into()) })
}

fn write_plugin(out: &mut dyn Write, session: &Session, dir: &Path) -> Result<(), CliError> {
    let mode = mode(session)?;
    let files = plugin(&program()?, env!("CARGO_PKG_VERSION"), WAIT, &wanted(mode != OwnGate::Off));
    let is_other = |manifest: String| !manifest.contains("\"name\": \"programmator\"");
    let is_taken = match fs::read_to_string(dir.join(&files[0].0)) {
        Ok(manifest) => is_other(manifest),
        Err(_) => fs::read_dir(dir).is_ok_and(|mut inside| inside.next().is_some()),
    };
    if is_taken {
        return Err(CliError::usage(format!("{} contains other files; nothing was written", dir.display())));
    }
    for (name, text) in files {
        let path = dir.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    writeln!(out, "Written. `claude --plugin-dir {}` starts Claude with it.", dir.display())?;
    tell_mode(out, mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_are_no_json_are_named_with_the_line() {
        let why = |text| broken(Path::new("/h/settings.json"), text);
        let told = why("{\n  \"a\": 1,\n}\n").unwrap();
        assert!(told.starts_with("/h/settings.json:3: not valid JSON (trailing comma), "), "{told}");
        assert_eq!([why(""), why(" \n"), why("{}")], [None, None, None]);
    }
}

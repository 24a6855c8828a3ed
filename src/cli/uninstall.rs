//! `programmator uninstall`: takes out what programmator has put on this machine, each thing shown first. Tickets, and what is in
//! repositories, are the person's.

use super::agree::agree;
use super::backup::nobody_works;
use super::error::CliError;
use super::help;
use super::hooks;
use super::host;
use super::session::Session;
use crate::adapters::disk_use::bytes_of;
use crate::base::amount::{counted, size};
use crate::base::text::{clean_line, clean_path};
use clap::Args;
use std::fs;
use std::io::{self, IsTerminal, Write, stdin};
use std::path::{Path, PathBuf};

/// What is asked for.
#[derive(Debug, Args)]
#[command(after_help = help::UNINSTALL)]
pub struct UninstallArgs {
    /// Also remove the state (runs, their output, chats) and your configuration.
    #[arg(long)]
    purge: bool,
    /// Remove without asking first.
    #[arg(long, short)]
    yes: bool,
}

/// What programmator keeps in the state folder.
const STATE: [&str; 34] = [
    "away.json", "away.lock", "away-scope.json", "away-scope.lock", "background", "backup-copy", "bell", "chats",
    "cleaned-up", "hooks", "host.lock", "host.log", "host.log.old", "hosts", "imports", "locks", "lockout.json",
    "not-restored-yet", "own-sessions", "panes.json", "phone.log", "phone.log.old", "programmator.log",
    "programmator.log.1", "restore", "runs", "sockets", "sources", "trust.json", "unsent",
    "wishes", // Last: what knows the rest.
    "programmator.db-shm", "programmator.db-wal", "programmator.db",
];

/// And in the configuration folder.
const CONFIGURATION: [&str; 10] = [
    "config.yaml", "keys.yaml", "passphrase.phc", "policy.lock", "policy.yaml", "prompts", "SOUL.md", "telegram.json",
    "templates", "themes",
];

/// Of these, folders that the person has filled.
const OF_THE_PERSON: [&str; 3] = ["prompts", "templates", "themes"];

/// Where the documentation says that completions go, below the home folder.
const COMPLETIONS: [&str; 3] = [
    ".local/share/bash-completion/completions/programmator",
    ".config/fish/completions/programmator.fish",
    ".zfunc/_programmator",
];

/// And man pages.
const MAN: &str = ".local/share/man/man1";

/// Carries it out.
pub async fn run(out: &mut dyn Write, session: &Session, args: &UninstallArgs) -> Result<(), CliError> {
    if args.purge {
        nobody_works(&session.state)?;
    }
    let changes = args.yes || stdin().is_terminal();
    let (mut found, mut is_left) = (0, false);
    for path in hooks::installed_in(session)? {
        match path {
            Ok(path) if changes => {
                found += 1;
                is_agreed(hooks::remove(out, &path, args.yes))?;
            }
            Ok(path) => {
                found += 1;
                writeln!(out, "hooks in {}", clean_path(&path))?;
            }
            // Whoever keeps their settings elsewhere has linked them.
            Err(why) => {
                is_left = true;
                writeln!(out, "Cannot check for hooks: {}", clean_line(&why, 400))?;
            }
        }
    }
    if let Some(path) = host::installed(session) {
        found += 1;
        if changes {
            if let Err(error) = is_agreed(host::uninstall(out, session, args.yes).await) {
                is_left = true;
                writeln!(out, "{}", error.message)?;
            }
        } else {
            writeln!(out, "the host's service, {}", clean_path(&path))?;
        }
    }
    let home = session.environment.get("HOME").map(PathBuf::from);
    for path in COMPLETIONS.iter().filter_map(|name| Some(home.as_ref()?.join(name))) {
        if fs::read_to_string(&path).is_ok_and(|text| text.contains("programmator")) {
            found += 1;
            let what = format!("completions in {}", clean_path(&path));
            removed(out, &what, (changes, args.yes), || fs::remove_file(&path))?;
        }
    }
    if let Some((folder, pages)) = home.as_ref().and_then(|home| man_pages(&home.join(MAN))) {
        found += 1;
        let what = format!("{} in {}", counted(pages.len(), "man page"), clean_path(&folder));
        removed(out, &what, (changes, args.yes), || pages.iter().try_for_each(fs::remove_file))?;
    }
    if args.purge {
        let config = session.config_folder();
        let folders = [("state", Some(&session.state), &STATE[..]), ("configuration", config.as_ref(), &CONFIGURATION)];
        for (what, folder, names) in folders {
            let Some(folder) = folder.filter(|folder| folder.symlink_metadata().is_ok()) else { continue };
            found += 1;
            let what = format!("{what} in {} ({})", clean_path(folder), size(bytes_of(folder)));
            let state = &session.state;
            // A run may have begun while the person was asked.
            let is_gone = removed(out, &what, (changes, args.yes), || {
                nobody_works(state).map_err(|error| std::io::Error::other(error.message))?;
                clear(folder, names)
            });
            let is_gone = match is_gone {
                Ok(is_gone) => is_gone,
                Err(error) => {
                    is_left = true;
                    writeln!(out, "{}", error.message)?;
                    false
                }
            };
            if is_gone && folder.symlink_metadata().is_ok() {
                writeln!(out, "{} is kept: it contains files that are not programmator's.", clean_path(folder))?;
            }
        }
    }
    let program = std::env::current_exe().map_or_else(|_| "programmator".to_owned(), |program| clean_path(&program));
    if found == 0 {
        writeln!(out, "Nothing to remove: no hooks, host, completions or man pages.")?;
    } else if !changes {
        writeln!(
            out,
            "Would remove {}. Nothing was removed: no terminal to ask on; --yes removes without asking.",
            counted(found, "item")
        )?;
    }
    writeln!(
        out,
        "Kept: the program ({program}), tickets, .programmator in projects, worktrees, and snapshots in repositories, \
         and hooks in other projects (`programmator hooks remove --project` there, before the program is gone)."
    )?;
    for path in older_states(&session.state) {
        writeln!(out, "Also kept: an older state from `restore-state`: {}", clean_path(&path))?;
    }
    if !args.purge {
        writeln!(out, "Also kept: state and configuration (--purge removes them).")?;
    }
    if is_left {
        return Err(CliError::failure("not everything was removed: see above"));
    }
    Ok(())
}

/// This folder and the pages of programmator in it, if there are any.
fn man_pages(folder: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
    let is_ours = |name: &str| {
        let command = name.strip_prefix("programmator").and_then(|rest| rest.strip_suffix(".1"));
        command.is_some_and(|command| command.is_empty() || command.starts_with('-'))
    };
    let mut pages: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    pages.retain(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_ours));
    pages.sort();
    (!pages.is_empty()).then(|| (folder.to_owned(), pages))
}

/// What `restore-state` has kept beside the state folder.
fn older_states(state: &Path) -> Vec<PathBuf> {
    let (Some(above), Some(name)) = (state.parent(), state.file_name()) else { return Vec::new() };
    let begins = format!("{}.before-restore-", name.to_string_lossy());
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    let kept = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&begins));
    let mut paths: Vec<PathBuf> = kept.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Shows it, asks, and removes it. Whether it was removed.
fn removed(
    out: &mut dyn Write,
    what: &str,
    (changes, yes): (bool, bool),
    remove: impl FnOnce() -> io::Result<()>,
) -> Result<bool, CliError> {
    if !changes {
        writeln!(out, "{what}")?;
        return Ok(false);
    }
    if !yes && !is_agreed(agree(out, &format!("Remove the {what}?"), "removes"))? {
        return Ok(false);
    }
    remove().map_err(|error| CliError::failure(format!("the {what} cannot be removed: {error}")))?;
    writeln!(out, "Removed the {what}.")?;
    Ok(true)
}

/// A no is about one thing. Whether it was a yes.
fn is_agreed<T>(done: Result<T, CliError>) -> Result<bool, CliError> {
    match done {
        Ok(_) => Ok(true),
        Err(error) if error.exit_code == super::agree::DECLINED => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes the texts in a folder, and the folder when nothing else is in it: a folder of this name may hold other things.
fn clear_texts(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_text = path.extension().is_some_and(|end| end == "md" || end == "yaml" || end == "yml");
        if is_text && path.symlink_metadata()?.is_file() {
            fs::remove_file(&path)?;
        }
    }
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// Removes what is ours in a folder, and the folder when nothing else is in it. A link is not followed.
fn clear(folder: &Path, names: &[&str]) -> io::Result<()> {
    if !folder.symlink_metadata()?.is_dir() {
        return Err(io::Error::other("it is a link: remove its target yourself"));
    }
    for name in names {
        let path = folder.join(name);
        let gone = match path.symlink_metadata() {
            Ok(data) if data.is_dir() && OF_THE_PERSON.contains(name) => clear_texts(&path),
            Ok(data) if data.is_dir() => fs::remove_dir_all(&path),
            Ok(_) => fs::remove_file(&path),
            Err(error) => Err(error),
        };
        match gone {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let _ = fs::remove_dir(folder);
    Ok(())
}

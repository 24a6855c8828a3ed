//! `programmator init`: what stands between a person with a project and their first verified phase. Looks, asks, shows, and
//! only then writes.

mod files;
mod ignored;
mod origin;
mod setup;
mod talk;
mod trial;

use super::away::{self, AwayCommand};
use super::config::{Sources, load};
use super::error::CliError;
use super::import;
use super::session::Session;
use super::settings;
use crate::adapters::config_files::{self, PROJECT_FOLDER};
use crate::adapters::git;
use crate::adapters::trust::TrustStore;
use crate::base::json;
use crate::base::text::{clean_line, shell_word};
use crate::config::{FileText, Files, Trust};
use crate::domain::import::item::Source;
use crate::domain::import::page::ImportPlace;
use clap::Args;
use files::{Change, Skipped};
use origin::Tasks;
use serde::Serialize;
use setup::{CHECKS_PASS, Choices, Setup};
use std::io::{IsTerminal, Write, stderr, stdin, stdout};
use std::path::{Path, PathBuf};
use talk::Talk;

/// What is set up, and how.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Create a new project: a folder with this name, with git and a first ticket.
    #[arg(value_name = "NAME")]
    name: Option<PathBuf>,
    /// Use the defaults without asking.
    #[arg(long, short)]
    yes: bool,
    /// Replace `.programmator/config.yaml`; the old one is kept as a backup.
    #[arg(long)]
    force: bool,
    /// Print what was found, decided and written as a JSON object; asks nothing.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tasks: Tasks,
    /// Project type, such as rust, python or pnpm, if detection is wrong or there are no files yet.
    #[arg(long, value_name = "TYPE")]
    project_type: Option<String>,
}

/// What stands below the options in its `--help`.
pub const HELP: &str = "\
Examples:
  programmator init                 ask, with a default for each question
  programmator init shop            a new project in the folder shop
  programmator init --yes           use the defaults
  programmator init --json | jq .decided.validation
  programmator init --yes --from github --label bug --limit 20
  programmator init shop --from prd:docs/shop.md

It reads the project's manifests, lock files and CI files and writes `.programmator/config.yaml`, with the commands that check claims, and a first ticket. Esc goes back, nothing is written before the last page, and nothing is replaced without --force. Without a terminal it uses the defaults. With --json an object: folder, already, detected, decided, sources, written, \
skipped, trusted, imported.

Exit codes: 0 done, 1 failed, 2 already set up, 5 you said no, 64 wrong usage, 77 inside a run.";

/// Exit code where there is nothing to do.
const ALREADY: u8 = 2;

/// What was done; `--json` prints it: add, never rename.
#[derive(Serialize)]
struct Report<'a> {
    folder: &'a Path,
    /// There was nothing to do.
    already: bool,
    detected: Vec<setup::Detected<'a>>,
    decided: &'a Choices,
    /// Where tasks could be imported from.
    sources: Vec<&'static str>,
    written: Vec<PathBuf>,
    skipped: &'a [Skipped],
    /// The settings count.
    trusted: bool,
    /// What `programmator import --json` says of the tasks that were asked for.
    imported: Option<serde_json::Value>,
}

/// Carries out `programmator init`. Gives the exit code.
pub async fn run(out: &mut dyn Write, session: &Session, args: &InitArgs) -> Result<u8, CliError> {
    let here = &session.folder;
    let session = &match &args.name {
        Some(name) => Session { folder: setup::new_folder(&session.folder, name)?, ..session.clone() },
        None => session.clone(),
    };
    origin::check(here, session, &args.tasks).await?;
    let (setup, mut choices) = look(session, args).await?;
    let asks = !args.yes && !args.json && stdin().is_terminal() && stdout().is_terminal() && stderr().is_terminal();
    if !args.json {
        setup.tell(out)?;
    }
    let (mut changes, mut skipped) = files::planned(&setup, &choices, args.force)?;
    let already = changes.is_empty() && !choices.git;
    if asks && !already {
        let keeps_settings = skipped.iter().any(|one| one.path == setup.config_path()) && !args.force;
        let mut talk = Talk::new(choices, keeps_settings, args.tasks.are_settled());
        loop {
            talk.ask(out, &setup).await?;
            (changes, skipped) = files::planned(&setup, &talk.choices, args.force)?;
            show(out, &setup, &talk.choices, &changes)?;
            tell_skipped(out, &setup, &skipped)?;
            if talk.agree()? {
                break;
            }
        }
        choices = talk.choices;
    }
    let written = if already { Vec::new() } else { write(session, &setup, &choices, &changes).await? };
    let folder = &setup.folder;
    let trusted = is_trusted(&session.state, folder)?;
    let code = if already { ALREADY } else { 0 };
    let wanted =
        origin::wanted(here, &args.tasks, choices.import, &setup.sources).map(|wanted| wanted.asking(asks, args.json));
    if args.json {
        let (detected, decided) = (setup.detected().collect(), &choices);
        let sources = setup.sources.iter().map(|one| one.source.word()).collect();
        let (mut printed, mut code) = (Vec::new(), Ok(code));
        if let Some(wanted) = wanted {
            code = import::run(&mut printed, session, &wanted).await;
        }
        // Nothing is printed of an import that failed; its error comes behind what was done before it.
        let (skipped, imported) = (&skipped, serde_json::from_slice(&printed).ok());
        let report = Report { folder, already, detected, decided, sources, written, skipped, trusted, imported };
        writeln!(out, "{}", json::pretty(&report)?)?;
        return code;
    }
    if already {
        let more = if args.force { ": nothing to change." } else { "; --force replaces its settings." };
        writeln!(out, "{} is already set up{more}", setup.shown(folder))?;
    } else {
        tell(out, &setup, &choices, &written, &skipped, trusted)?;
    }
    let imported = match wanted {
        Some(wanted) => import::run(out, session, &wanted).await,
        None => Ok(code),
    };
    if !already {
        let imported = choices.import.or(args.tasks.named());
        next(out, &setup, (&choices, imported), &written)?;
    }
    if choices.phone {
        let command = AwayCommand::Setup { api: None, brief: false, claude_afk: false };
        let paired = Box::pin(away::run(out, &mut stderr(), session, command)).await?;
        return imported.map(|code| code.max(paired));
    }
    imported
}

/// What is there, and the defaults.
async fn look(session: &Session, args: &InitArgs) -> Result<(Setup, Choices), CliError> {
    // The person's own settings, whatever the project's say.
    let nowhere = session.folder.join(PROJECT_FOLDER);
    let (environment, flags) = (&session.environment, &session.flags);
    let sources = Sources { folder: &nowhere, state_folder: &session.state, environment, flags, prompt: None };
    let own = load(&sources)?;
    // Settings that stay say where tickets are.
    let stays = !args.force && args.name.is_none();
    let tickets =
        if stays { session.places(&session.resolve(&session.folder)?).dir() } else { session.places(&own).dir() };
    Setup::look(session, own.config, tickets, &args.tasks, args.project_type.as_deref(), args.name.is_some()).await
}

fn show(out: &mut dyn Write, setup: &Setup, choices: &Choices, changes: &[Change]) -> Result<(), CliError> {
    if choices.git {
        writeln!(out, "git init {}", clean_line(&setup.folder.display().to_string(), 300))?;
    }
    for change in changes {
        let name = setup.shown(&change.path);
        settings::show(out, &name, change.old.as_deref().unwrap_or_default(), &change.new)?;
    }
    Ok(())
}

fn tell_skipped(out: &mut dyn Write, setup: &Setup, skipped: &[Skipped]) -> Result<(), CliError> {
    for one in skipped {
        writeln!(out, "skipped  {}: {}", setup.shown(&one.path), one.why)?;
    }
    Ok(())
}

/// Writes everything. The files that were written.
async fn write(
    session: &Session,
    setup: &Setup,
    choices: &Choices,
    changes: &[Change],
) -> Result<Vec<PathBuf>, CliError> {
    std::fs::create_dir_all(&setup.folder)?;
    if setup.is_new {
        // Without one of its own, the tickets of a folder above would be the project's.
        std::fs::create_dir_all(&choices.tickets)?;
    }
    let mut written = Vec::new();
    if choices.git {
        git::init(&setup.folder).await.map_err(CliError::failure)?;
        written.push(setup.folder.join(".git"));
    }
    for change in changes {
        let done = if change.path == setup.config_path() {
            trusting(&session.state, &setup.folder, &change.new, || change.write(&mut written))
        } else {
            change.write(&mut written)
        };
        done.map_err(|why| stopped(setup, &why, &written))?;
    }
    Ok(written)
}

/// Why it stopped, and what is there by then.
fn stopped(setup: &Setup, why: &str, written: &[PathBuf]) -> CliError {
    let shown: Vec<String> = written.iter().map(|path| setup.shown(path)).collect();
    let so_far =
        if shown.is_empty() { "nothing was changed".to_owned() } else { format!("written: {}", shown.join(", ")) };
    CliError::failure(format!("{why}; {so_far}; run `programmator init` again"))
}

/// Writes the settings, trusted before they are there: a program that is killed in between leaves none that do not count. What
/// was trusted stays trusted if they cannot be written.
fn trusting(
    state: &Path,
    folder: &Path,
    config: &str,
    write: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let store = TrustStore::new(state);
    let present = config_files::read(&folder.join(PROJECT_FOLDER)).map_err(|error| error.to_string())?;
    let others = Files { config: None, ..present.clone() };
    let was_trusted = store.trust_of(folder, &present).map_err(|error| error.to_string())? == Trust::Trusted;
    // Other files of the folder may be there that the person has not looked at.
    if others == Files::default() || was_trusted {
        let path = folder.join(PROJECT_FOLDER).join("config.yaml").display().to_string();
        let ours = Files { config: Some(FileText { path, text: config.to_owned() }), ..others };
        store.trust(folder, &ours).map_err(|error| error.to_string())?;
    }
    write().map_err(|why| match was_trusted.then(|| store.trust(folder, &present)) {
        Some(Err(error)) => format!("{why}; {error}"),
        _ => why,
    })
}

/// Whether the settings that are there count: they and what lies beside them are trusted as they are.
fn is_trusted(state: &Path, folder: &Path) -> Result<bool, CliError> {
    let present =
        config_files::read(&folder.join(PROJECT_FOLDER)).map_err(|error| CliError::failure(error.to_string()))?;
    let trust = TrustStore::new(state).trust_of(folder, &present);
    Ok(trust.map_err(|error| CliError::failure(error.to_string()))? == Trust::Trusted)
}

fn tell(
    out: &mut dyn Write,
    setup: &Setup,
    choices: &Choices,
    written: &[PathBuf],
    skipped: &[Skipped],
    trusted: bool,
) -> Result<(), CliError> {
    for path in written {
        writeln!(out, "written  {}", setup.shown(path))?;
    }
    tell_skipped(out, setup, skipped)?;
    let wrote_settings = written.contains(&setup.config_path());
    for command in choices.validation.iter().filter(|_| wrote_settings) {
        writeln!(out, "checks   {}", clean_line(command, 1_000))?;
    }
    for one in setup.checks.iter().filter(|one| wrote_settings && choices.validation.contains(&one.command)) {
        if let Some(program) = &one.missing {
            let shown = clean_line(&one.command, 200);
            writeln!(out, "note     {program} is not installed: no claim can be verified while `{shown}` fails")?;
        }
    }
    if wrote_settings && !trusted {
        writeln!(
            out,
            "\nThe settings do not apply yet: {PROJECT_FOLDER} has other files that you have not trusted. Review them, then run `programmator trust`, which trusts all of them."
        )?;
    }
    if choices.validation.is_empty() && wrote_settings {
        writeln!(out, "\nNo command checks claims yet: add some to `validation.commands` or to a ticket.")?;
    }
    Ok(())
}

/// What else there is to import, and what comes next: behind what was imported.
fn next(
    out: &mut dyn Write,
    setup: &Setup,
    (choices, imported): (&Choices, Option<Source>),
    written: &[PathBuf],
) -> Result<(), CliError> {
    let is_other = |one: &&ImportPlace| imported != Some(one.source) && one.new != Some(0);
    let others: Vec<_> = setup.sources.iter().filter(is_other).collect();
    if !others.is_empty() {
        writeln!(out, "\nExisting tasks:")?;
    }
    for ImportPlace { source, file, .. } in others {
        let file = file.as_ref().map(|file| format!(" {}", file.display())).unwrap_or_default();
        writeln!(out, "  programmator import {}{file}", source.word())?;
    }
    writeln!(out, "\nNext:")?;
    if setup.is_new {
        let name = clean_line(&setup.folder.file_name().unwrap_or_default().to_string_lossy(), 200);
        writeln!(out, "  cd {}", shell_word(&name))?;
    }
    writeln!(out, "  programmator doctor")?;
    match written.iter().find(|path| path.parent() == Some(&choices.tickets)) {
        // The ticket says nothing yet that could be done.
        Some(path) if choices.first_ticket.as_deref() != Some(CHECKS_PASS) => {
            writeln!(out, "  edit {}: replace the placeholders", setup.shown(path))?;
        }
        Some(path) => {
            let id = path.file_stem().unwrap_or_default().to_string_lossy();
            writeln!(out, "  programmator {}", clean_line(&id, 80))?;
        }
        None => writeln!(out, "  programmator")?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_trusted_stays_so_where_nothing_can_be_written() {
        let (state, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let ours = folder.path().join(PROJECT_FOLDER);
        std::fs::create_dir(&ours).unwrap();
        std::fs::write(ours.join("config.yaml"), "limits: {stagnation: 7}\n").unwrap();
        let store = TrustStore::new(state.path());
        let present = || config_files::read(&ours).unwrap();
        store.trust(folder.path(), &present()).unwrap();
        let write = |done: Result<(), String>| trusting(state.path(), folder.path(), "limits: {}\n", || done);
        assert_eq!(write(Err("full".to_owned())), Err("full".to_owned()));
        assert_eq!(store.trust_of(folder.path(), &present()).unwrap(), Trust::Trusted);
        assert_eq!(write(Ok(())), Ok(()));
        std::fs::write(ours.join("config.yaml"), "limits: {}\n").unwrap();
        assert_eq!(store.trust_of(folder.path(), &present()).unwrap(), Trust::Trusted);
    }
}

//! Where the first tasks of a project come from: what can be typed about it, what is there, and what is imported of it.

use crate::cli::error::CliError;
use crate::cli::import;
use crate::cli::import::args::{ImportArgs, Origin};
use crate::cli::options::whole;
use crate::cli::session::Session;
use crate::domain::import::item::Source;
use crate::domain::import::page::ImportPlace;
use crate::runtime::importing::{ImportError, sources};
use clap::Args;
use std::path::{Path, PathBuf};

/// What is imported, where the person says it with the command.
#[derive(Debug, Args)]
pub(super) struct Tasks {
    /// Import tasks afterwards: a source of `programmator import`, optionally with a document after a colon.
    #[arg(long, value_name = "SOURCE[:FILE]", value_parser = Origin::parse, conflicts_with = "skip_tasks")]
    from: Option<Origin>,
    /// With github: only issues with this label.
    #[arg(long, requires = "from")]
    label: Option<String>,
    /// Maximum number of tasks; 0: all.
    #[arg(long, value_name = "N", requires = "from", value_parser = whole)]
    limit: Option<usize>,
    /// Do not look for tasks to import.
    #[arg(id = "skip_tasks", long = "skip-tasks")]
    pub(super) none: bool,
}

impl Tasks {
    /// Nothing is to be asked about it.
    pub(super) fn are_settled(&self) -> bool {
        self.from.is_some() || self.none
    }

    /// Where the person has said that they come from.
    pub(super) fn named(&self) -> Option<Source> {
        self.from.as_ref().map(|origin| origin.source)
    }
}

/// The places that the folder shows, counted: what has a ticket among `tickets` is not new.
pub(super) async fn places(session: &Session, tickets: &Path) -> Vec<ImportPlace> {
    import::importer(session, tickets.to_owned()).places().await
}

/// What is imported once everything is written: what was named with the command, or the one that was `picked` of the places.
/// `here`: the folder in which the command was typed.
pub(super) fn wanted(here: &Path, tasks: &Tasks, picked: Option<Source>, places: &[ImportPlace]) -> Option<ImportArgs> {
    let Some(Origin { source, file }) = &tasks.from else {
        let source = picked?;
        let place = places.iter().find(|one| one.source == source);
        return Some(ImportArgs::of(source, place.and_then(|one| one.file.clone()).into_iter().collect()));
    };
    let files = file.iter().map(|file| here.join(file)).collect();
    let mut wanted = ImportArgs::of(*source, files);
    wanted.label.clone_from(&tasks.label);
    wanted.limit = tasks.limit.unwrap_or(wanted.limit);
    Some(wanted)
}

/// What is named can be read, as far as a look at files and programs tells: said before anything is written.
pub(super) async fn check(here: &Path, session: &Session, tasks: &Tasks) -> Result<(), CliError> {
    let Some(Origin { source, file }) = &tasks.from else { return Ok(()) };
    let files = file.as_ref().map(|file| here.join(file)).into_iter().collect();
    match import::importer(session, PathBuf::new()).readable(*source, files) {
        Ok(()) => Ok(()),
        Err(ImportError::NoDocument(source)) => {
            let there = sources::shown(here).await.into_iter().find(|(of, _)| *of == source);
            let there = there.and_then(|(_, file)| file).unwrap_or_else(|| PathBuf::from("FILE"));
            let (word, there) = (source.word(), there.display());
            Err(CliError::usage(format!("{word} needs a document: name it, as in --from {word}:{there}")))
        }
        Err(error) => Err(error.into()),
    }
}

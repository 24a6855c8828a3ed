//! Going on with a run: which one is meant, and whether it is one of the folder that the person is in.

use super::dying::Dying;
use super::open_error::OpenError;
use super::opening::{Opener, Opening};
use crate::adapters::store::{Found, Store, StoreError};
use crate::base::text::clean_line;
use crate::domain::messages::reason_words;
use crate::domain::outcome::ExitReason;
use crate::domain::summary::RunSummary;
use crate::runtime::offline::state_of;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

impl Opener {
    /// Goes on with a run that works `here`, in this folder or one above: the one that `text` names (id, end of an id,
    /// ticket), else the latest that can be. One of another folder is named, and not opened.
    pub fn resume(&self, text: Option<&str>, here: &Path) -> Result<Opening, OpenError> {
        let summary = match text {
            Some(text) => find_run_here(&self.store, text, here)?,
            None => self.latest_resumable(here)?,
        };
        if !summary.workspace().contains(here) {
            let RunSummary { ticket, folder, .. } = &summary;
            let run = summary.run.short();
            return Err(OpenError::Elsewhere(format!("run {run} of {ticket} works in {folder}"), there(&summary)));
        }
        let path = PathBuf::from(&summary.ticket_path);
        let (ticket, lock) = self.take(&path)?;
        let state = state_of(&self.store, summary.run)?;
        if !state.is_resumable() {
            let reason = state.ended.as_ref().map_or("", |ended| reason_words(ended.reason));
            return Err(OpenError::NoRun(format!(
                "run {} has ended ({reason}); `programmator {}` starts a new one",
                summary.run.short(),
                summary.ticket
            )));
        }
        self.ready(self.after(state, ticket, &path, here)?, lock)
    }

    /// The newest run that can be resumed here: of each ticket only its latest run counts, and only where its file
    /// is there and nobody works on it.
    fn latest_resumable(&self, here: &Path) -> Result<RunSummary, OpenError> {
        let mut seen = HashSet::new();
        let mut elsewhere = None;
        let dying = Dying::since_now();
        let is_free = |path: &Path| loop {
            match self.store.ticket_holder(path)? {
                None => return Ok::<_, StoreError>(true),
                Some(_) if dying.waited() => {}
                Some(_) => return Ok(false),
            }
        };
        for summary in self.store.runs()? {
            let path = Path::new(&summary.ticket_path);
            let reason = summary.reason.as_deref().and_then(ExitReason::from_word);
            let latest = seen.insert(summary.ticket_path.clone());
            let resumable = reason.is_none_or(ExitReason::is_resumable);
            if latest && resumable && path.is_file() && is_free(path)? {
                if summary.workspace().contains(here) {
                    return Ok(summary);
                }
                elsewhere.get_or_insert(summary);
            }
        }
        if let Some(summary) = elsewhere {
            let (ticket, folder) = (&summary.ticket, &summary.folder);
            let what = format!("no interrupted run in this folder; the latest is {ticket} in {folder}");
            return Err(OpenError::Elsewhere(what, there(&summary)));
        }
        Err(OpenError::NoRun("no interrupted run; `programmator status` lists all runs".into()))
    }
}

/// The run that `text` names: id, beginning or end of an id, or its ticket.
pub fn find_run(store: &Store, text: &str) -> Result<RunSummary, OpenError> {
    let text = clean_line(text, 80);
    match store.find_run(&text)? {
        Found::One(summary) => Ok(*summary),
        Found::None => Err(OpenError::NoRun(format!("there is no run `{text}`; `programmator status` lists all runs"))),
        Found::Many(runs) => {
            let lines = runs.iter().map(|run| format!("\n  {}  {}  {} UTC", run.run, run.ticket, run.started.second()));
            Err(OpenError::NoRun(format!("`{text}` matches several runs:{}", lines.collect::<String>())))
        }
    }
}

/// The same; of a ticket's name that is known in several places, the run that works `here`.
fn find_run_here(store: &Store, text: &str, here: &Path) -> Result<RunSummary, OpenError> {
    if let Found::Many(runs) = store.find_run(text)? {
        let mut of_here = runs.iter().filter(|run| run.ticket.as_str() == text && run.workspace().contains(here));
        let newest = of_here.next();
        if let Some(newest) = newest.filter(|newest| of_here.all(|run| run.ticket_path == newest.ticket_path)) {
            return Ok(newest.clone());
        }
    }
    find_run(store, text)
}

/// What resumes a run of another folder, for a shell.
fn there(run: &RunSummary) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:=".contains(c);
    let quoted = |text: &str| {
        if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
    };
    format!("programmator -C {} resume {}", quoted(&run.folder), quoted(run.ticket.as_str()))
}

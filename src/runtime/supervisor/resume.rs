//! Going on with a run: which one is meant, and whether it is one of the folder that the person is in.

use super::dying::Dying;
use super::open_error::OpenError;
use super::opening::{Opener, Opening};
use crate::adapters::chats;
use crate::adapters::store::{Store, StoreError, newest_of_each};
use crate::adapters::tickets::{self, FindError, Places};
use crate::base::text::clean_line;
use crate::domain::messages::{how_to_reopen, reason_words};
use crate::domain::outcome::ExitReason;
use crate::domain::summary::RunSummary;
use crate::runtime::offline::state_of;
use std::path::{Path, PathBuf};

impl Opener {
    /// Goes on with a run that works in this folder or one above: the one that [`text` names](find_run), else the latest that can be. One of another folder is named, and not opened.
    pub fn resume(&self, text: Option<&str>, places: &Places) -> Result<Opening, OpenError> {
        let here = places.folder.as_path();
        let summary = match text {
            Some(text) => find_run(&self.store, places, text, Typed::Part)?,
            None => self.latest_resumable(here)?,
        };
        if summary.is_own_session() {
            let name = &summary.ticket;
            return Err(OpenError::NoRun(format!("{name} is your own Claude session: continue in its terminal")));
        }
        if !summary.workspace().contains(here) {
            let RunSummary { ticket, folder, .. } = &summary;
            let run = summary.run.short();
            return Err(OpenError::Elsewhere(format!("run {run} of {ticket} belongs to {folder}"), there(&summary)));
        }
        let path = PathBuf::from(&summary.ticket_path);
        let (ticket, lock) = self.take(&path)?;
        let state = state_of(&self.store, summary.run)?;
        if !state.is_resumable() {
            let run = summary.run.short();
            let reason = state.ended.as_ref().map(|ended| ended.reason);
            return Err(OpenError::NoRun(match reason {
                // Of a complete ticket nothing is started.
                Some(ExitReason::Complete) => {
                    format!("run {run} is complete; `programmator {}` shows it, {}", ticket.id, how_to_reopen(&ticket))
                }
                reason => format!(
                    "run {run} has ended ({}); `programmator {}` starts a new one",
                    reason.map_or("", reason_words),
                    ticket.id
                ),
            }));
        }
        self.ready(self.after(state, ticket, &path, here)?, lock)
    }

    /// The newest run that can be resumed here: of each ticket only its latest run counts, and only where its file
    /// is there and nobody works on it.
    fn latest_resumable(&self, here: &Path) -> Result<RunSummary, OpenError> {
        let mut elsewhere = None;
        let dying = Dying::since_now();
        let is_free = |path: &Path| loop {
            match self.store.ticket_holder(path)? {
                None => return Ok::<_, StoreError>(true),
                Some(_) if dying.waited() => {}
                Some(_) => return Ok(false),
            }
        };
        for summary in newest_of_each(self.store.runs()?) {
            let path = Path::new(&summary.ticket_path);
            let reason = summary.reason.as_deref().and_then(ExitReason::from_word);
            let resumable = reason.is_none_or(ExitReason::is_resumable);
            // A chat is taken up by its own command.
            let is_chat = chats::is_chat(self.store.folder(), path);
            if resumable && !is_chat && path.is_file() && is_free(path)? {
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

/// What a person may type for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// Its ticket. Something is changed: no run is guessed.
    Ticket,
    /// That, an end of the run's own id, or a part of its ticket's.
    Part,
}

/// Most runs that a message lists.
const MAX_LISTED: usize = 10;

/// The run that `text` names. A ticket file that it means decides, and where there is none, what the store knows: first
/// what works in this folder.
pub fn find_run(store: &Store, places: &Places, text: &str, typed: Typed) -> Result<RunSummary, OpenError> {
    match tickets::find(text, places) {
        Ok(path) => {
            let not_run = || {
                let ticket = tickets::load(&path).map_or_else(|_| clean_line(text, 80), |ticket| ticket.id.to_string());
                OpenError::NoRun(format!("{ticket} has not run yet"))
            };
            return store.latest_for(&path.display().to_string())?.ok_or_else(not_run);
        }
        Err(several @ FindError::Ambiguous { .. }) => return Err(OpenError::NoRun(several.to_string())),
        Err(_) => {}
    }
    let text = clean_line(text, 80);
    let mut runs = store.runs_of(&text)?;
    if runs.is_empty() && typed == Typed::Part {
        runs = store.runs_like(&text)?;
    }
    let mut of_here = runs.iter().filter(|run| run.workspace().contains(&places.folder));
    match (of_here.next(), of_here.next(), runs.as_slice()) {
        (Some(one), None, _) | (_, _, [one]) => Ok(one.clone()),
        (_, _, []) => Err(OpenError::NoRun(format!("no run `{text}`; `programmator status` lists all runs"))),
        (_, _, several) => {
            let line = |run: &RunSummary| {
                let (started, title) = (run.started.second(), clean_line(&run.title, 60));
                format!(
                    "\n  {}  {}  {}  {started} UTC  {}  {title}",
                    run.run.short(),
                    run.ticket,
                    run.label(),
                    run.folder
                )
            };
            let lines: String = several.iter().take(MAX_LISTED).map(line).collect();
            let more = match several.len().saturating_sub(MAX_LISTED) {
                0 => String::new(),
                more => format!("\n  and {more} more"),
            };
            Err(OpenError::NoRun(format!("`{text}` matches several runs:{lines}{more}")))
        }
    }
}

/// What resumes a run of another folder, for a shell.
fn there(run: &RunSummary) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:=".contains(c);
    let quoted = |text: &str| {
        if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
    };
    format!("programmator -C {} resume {}", quoted(&run.folder), quoted(run.ticket.as_str()))
}

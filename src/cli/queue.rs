//! `programmator queue`: what waits for the person in runs of any program, by name.

use super::error::CliError;
use super::question::{Question, Shown};
use super::session::Session;
use crate::adapters::store::Store;
use crate::base::id::{RunId, TicketId};
use crate::base::text::clean_line;
use crate::base::time::{Timestamp, human};
use crate::domain::approval::{Approval, ApprovalKind, QuestionId};
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::runtime::offline::state_of;
use serde::Serialize;
use std::io::Write;

/// Characters at the end of a call's id that name its question.
const NAME: usize = 8;
/// Columns of a question in the list.
pub(super) const WORDS: usize = 100;

/// What a run waits for. `queue --json`: add, never rename.
#[derive(Debug, Serialize)]
pub(super) struct Waiting {
    /// What `answer` takes; `None`: only a screen takes the answer.
    name: Option<String>,
    pub(super) run: RunId,
    pub(super) ticket: TicketId,
    pub(super) title: String,
    folder: String,
    /// The call or the question in a few words.
    pub(super) words: String,
    /// No program works on the run: it has to be resumed before it can be answered.
    pub(super) interrupted: bool,
    /// The question; `None`: a draft, proposed phases or changed validation commands.
    #[serde(flatten)]
    pub(super) approval: Option<Approval>,
    #[serde(skip)]
    pub(super) summary: RunSummary,
}

impl Waiting {
    fn since(&self) -> Timestamp {
        self.approval.as_ref().map_or(self.summary.updated, |approval| approval.asked)
    }

    pub(super) fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("–")
    }
}

/// Prints what waits, the oldest first.
pub fn list(out: &mut dyn Write, session: &Session, json: bool) -> Result<(), CliError> {
    let waiting = waiting(&session.store_to_read()?)?;
    if json {
        return Ok(writeln!(out, "{}", crate::base::json::pretty(&waiting)?)?);
    }
    if waiting.is_empty() {
        return Ok(writeln!(out, "No question waits for you.")?);
    }
    let now = session.clock().now();
    let wide = |text: fn(&Waiting) -> &str| waiting.iter().map(|one| text(one).chars().count()).max().unwrap_or(0);
    let (names, tickets) = (wide(Waiting::label), wide(|one| one.ticket.as_str()));
    let ages: Vec<String> = waiting.iter().map(|one| human(now.since(one.since()))).collect();
    let width = ages.iter().map(|age| age.chars().count()).max().unwrap_or(0);
    let is_one_folder = waiting.iter().all(|one| one.folder == waiting[0].folder);
    for (one, age) in waiting.iter().zip(&ages) {
        let folder = if is_one_folder { String::new() } else { format!("  {}", clean_line(&one.folder, WORDS)) };
        let words = clean_line(&one.words, WORDS);
        let how = match &one.name {
            _ if one.interrupted => "  (interrupted: resume the run to answer)",
            None => "  (answer it on the screen)",
            Some(_) => "",
        };
        writeln!(out, "{:names$}  {:tickets$}  {age:>width$}{folder}  {words}{how}", one.label(), one.ticket.as_str())?;
    }
    if waiting.iter().any(|one| one.name.is_some() && !one.interrupted) {
        writeln!(out, "\n`programmator queue NAME` shows one whole, and how `programmator answer NAME …` answers it.")?;
    }
    Ok(())
}

/// Prints one question whole, and how it is answered.
pub fn show(out: &mut dyn Write, session: &Session, id: &str) -> Result<(), CliError> {
    let store = session.store_to_read()?;
    let (one, approval) = find(waiting(&store)?, id)?;
    let id = one.label();
    let (kind, age) = (approval.kind, human(session.clock().now().since(approval.asked)));
    let for_run = if approval.edited_from.is_none() { " [--for-run]" } else { "" };
    match Question::of(approval).shown() {
        Shown::Asked(text, _) => {
            writeln!(out, "{}  {}  asked {age} ago", one.ticket, clean_line(&one.title, WORDS))?;
            write!(out, "{text}")?;
            if one.interrupted {
                return Ok(writeln!(out, "\n{}", gone(&one.ticket))?);
            }
            let (yes, no) = match kind {
                ApprovalKind::Question => ("NUMBER, or your words".to_owned(), "deny [why]"),
                ApprovalKind::Call => (format!("allow{for_run}"), "deny [what to do instead]"),
                _ => ("allow".to_owned(), "deny [what to do instead]"),
            };
            writeln!(out, "\nprogrammator answer {id} {yes}\nprogrammator answer {id} {no}").map_err(CliError::from)
        }
        Shown::Denied(why, _) => Err(only_on_screen(&why)),
    }
}

/// Why it cannot be answered now.
pub(super) fn gone(ticket: &TicketId) -> String {
    format!("no program works on {ticket} now: `programmator resume {ticket}` goes on with it, and asks again")
}

pub(super) fn only_on_screen(why: &str) -> CliError {
    CliError::failure(format!("{}: answer it on the screen", why.trim_start_matches("denied: ")))
}

/// The question of this name, or the only one of this ticket.
pub(super) fn find(waiting: Vec<Waiting>, id: &str) -> Result<(Waiting, Approval), CliError> {
    let known = waiting.iter().filter_map(|one| one.name.clone()).collect::<Vec<_>>().join(", ");
    let (named, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|one| one.name.as_deref() == Some(id));
    let of_ticket = || others.into_iter().filter(|one| one.ticket.as_str() == id).collect();
    let mut found = if named.is_empty() { of_ticket() } else { named };
    let id = clean_line(id, 40);
    match (found.pop(), found.is_empty()) {
        (Some(mut one), true) => match one.approval.take() {
            Some(approval) => Ok((one, approval)),
            None => Err(only_on_screen(&one.words)),
        },
        (Some(_), false) => {
            Err(CliError::usage(format!("`{id}` means several questions: `programmator queue` lists them")))
        }
        (None, _) if known.is_empty() => Err(CliError::usage(format!("no question `{id}` waits; none waits"))),
        (None, _) => Err(CliError::usage(format!("no question `{id}` waits; these wait: {known}"))),
    }
}

pub(super) fn waiting(store: &Store) -> Result<Vec<Waiting>, CliError> {
    let mut out = Vec::new();
    for run in store.runs()?.into_iter().filter(|run| run.state != RunState::Ended && run.needs.is_some()) {
        let run = store.as_seen(run)?;
        let interrupted = run.owner() == Owner::Nobody;
        match state_of(store, run.run) {
            // What it waited for when its summary was read may be over.
            Ok(state) if state.approvals.is_empty() => {
                let waits = state.validation_change.is_some()
                    || state.waiting_draft().is_some()
                    || state.awaits_phases().is_some();
                out.extend(waits.then(|| told(&run, interrupted, None)));
            }
            Ok(state) => {
                out.extend(state.approvals.iter().map(|asked| told(&run, interrupted, Some((**asked).clone()))));
            }
            // Those of the others are told all the same.
            Err(error) => {
                let why = clean_line(&error.to_string(), 400);
                // Nobody may be reading.
                let _ = writeln!(std::io::stderr(), "the records of {} cannot be read: {why}", run.ticket);
            }
        }
    }
    out.sort_by_key(Waiting::since);
    Ok(out)
}

fn told(run: &RunSummary, interrupted: bool, approval: Option<Approval>) -> Waiting {
    Waiting {
        summary: run.clone(),
        name: approval.as_ref().map(|approval| name(&approval.id)),
        run: run.run,
        ticket: run.ticket.clone(),
        title: run.title.clone(),
        folder: run.folder.clone(),
        words: approval.as_ref().map_or_else(|| run.needs.clone().unwrap_or_default(), Approval::words),
        interrupted,
        approval,
    }
}

/// The end of the call's id; a call that is asked about again has another name, so that nobody answers what they have not seen.
pub(super) fn name(id: &QuestionId) -> String {
    let start = id.call.char_indices().rev().nth(NAME - 1).map_or(0, |(at, _)| at);
    let end: String = id.call[start..].chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    // A word that begins with a dash is an option.
    let end = if end.starts_with('-') { format!("q{end}") } else { end };
    if id.revision == 0 { end } else { format!("{end}.{}", id.revision) }
}

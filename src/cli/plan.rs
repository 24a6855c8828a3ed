//! `programmator plan`: phases for a ticket that has none, from Claude's draft. With a terminal the screen opens, where
//! the draft is looked at; else it is printed, and written only where that was asked for.

use super::error::CliError;
use super::farewell::After;
use super::headless::{self, Questions, Work};
use super::options::RunOptions;
use super::session::Session;
use super::start::{self, Open};
use crate::adapters::store::Store;
use crate::adapters::tickets::{self, FindError, NewTicket};
use crate::base::json;
use crate::base::text::{Clean, clean_line};
use crate::domain::outcome::ExitReason;
use crate::domain::planning::PlanAsked;
use crate::domain::ticket::draft::Draft;
use crate::domain::ticket::part::Part;
use crate::runtime::doctor;
use crate::runtime::headless::{Format, Printer};
use crate::runtime::offline::state_of;
use clap::Args;
use serde::Serialize;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::{Path, PathBuf};

/// What is planned, and how.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// A goal in your own words, or a ticket without phases: id, unique part of an id, or path.
    #[arg(value_name = "WHAT")]
    what: String,
    /// Save the draft without review, and without the screen.
    #[arg(long, visible_alias = "yes")]
    save: bool,
    /// Print the draft as JSON, without the screen.
    #[arg(long)]
    json: bool,
    /// Options of runs.
    #[command(flatten)]
    pub run: RunOptions,
}

/// What stands below the options in its `--help`.
pub const HELP: &str = "\
Examples:
  programmator plan \"Limit logins to five a minute\"   a new ticket, planned on the screen
  programmator plan tk-4f2a                            a ticket without phases
  programmator plan \"Limit logins\" --save             no screen; save the draft without review
  programmator plan tk-4f2a --json > draft.json        no screen; only print the draft

Claude has read-only access while planning. A new ticket starts with your text; the draft is written when you accept it.

Exit codes: 0 the draft was written or printed, 3 there is none or you discarded it; others as for programmator run.";

/// Columns of a title; an idea that is longer goes into the text.
const TITLE: usize = 100;

/// A ticket without phases that is planned.
pub(super) struct Planned {
    pub path: PathBuf,
    /// What it says, where it was made for this: title and text may be drafted, too.
    pub made: Option<Draft>,
    /// The draft is written into it unseen.
    pub saves: bool,
    /// The draft is printed as a JSON object.
    pub is_json: bool,
    /// The work may be split into several tickets.
    pub splits: bool,
}

/// Carries out `programmator plan`. Gives the exit code.
pub async fn run(out: &mut dyn Write, session: &Session, args: &PlanArgs) -> Result<u8, CliError> {
    let (path, made) = ticket(session, &args.what).await?;
    draft(out, session, Planned { path, made, saves: args.save, is_json: args.json, splits: false }).await
}

/// Has it planned: on the screen, or without one where the draft is only printed or written.
pub(super) async fn draft(out: &mut dyn Write, session: &Session, planned: Planned) -> Result<u8, CliError> {
    let Planned { path, made, saves, is_json, splits } = planned;
    let asked = Box::new(PlanAsked { made, saves, splits, ..PlanAsked::default() });
    let name = path.display().to_string();
    if !saves && !is_json && stdout().is_terminal() {
        return start::screen(session, Open::Plan(name, asked), After::Kept).await;
    }
    // One that waits is printed as it is: nothing has to be run for it.
    if !saves && has_draft(session, &path)? {
        report(out, session, &path, (saves, is_json))?;
        return Ok(0);
    }
    let printer = Printer::new(stderr(), Format::Text, jiff::tz::TimeZone::system());
    let code = headless::run_by(session, Work::Plan(name, asked), printer, Questions::Denied).await?;
    let is_printed = report(out, session, &path, (saves, is_json))?;
    Ok(if is_printed && !saves && code == ExitReason::Drafted.exit_code() { 0 } else { code })
}

/// A draft of the ticket's latest run waits for the person.
fn has_draft(session: &Session, path: &Path) -> Result<bool, CliError> {
    if !Store::is_there(&session.state) {
        return Ok(false);
    }
    let store = session.store()?;
    let Some(latest) = store.latest_for(&path.display().to_string())? else { return Ok(false) };
    let state = state_of(&store, latest.run)?;
    Ok(state.waiting_draft().is_some())
}

/// The file of the ticket that is meant; for an idea a new one, and what it says. None is written before there is a Claude
/// that can plan it: each try would leave one behind.
async fn ticket(session: &Session, what: &str) -> Result<(PathBuf, Option<Draft>), CliError> {
    let resolved = session.resolve(&session.folder)?;
    let places = session.places(&resolved);
    let is_idea = what.trim().contains(char::is_whitespace);
    match tickets::find(what, &places) {
        Ok(path) => return Ok((path, None)),
        Err(FindError::Missing { .. }) if is_idea => {}
        Err(_) if is_idea && !Path::new(what.trim()).exists() => {}
        Err(error) => {
            return Err(CliError::usage(format!("{error}; for a new ticket, describe the goal in a few words")));
        }
    }
    let has_claude = doctor::has_claude(&resolved.config, &session.folder).await;
    has_claude.map_err(|missing| CliError::failure(missing.text))?;
    let draft = idea(what);
    let assignee = session.environment.get("USER").map(String::as_str);
    let (now, project) = (session.clock().now(), &session.folder);
    let new = NewTicket { draft: &draft, project, assignee, now, origin: None, parent: None, deps: &[] };
    let path = tickets::create(&new, &places.dir()).map_err(|error| CliError::usage(error.to_string()))?;
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let _ = writeln!(stderr(), "created {}", Clean::new(&path.to_string_lossy()));
    Ok((path, Some(draft)))
}

/// A ticket of a few words: its first line is the title, and all of it the text where the title does not hold it.
fn idea(what: &str) -> Draft {
    let what = what.trim();
    let first = what.lines().next().unwrap_or_default();
    let title = clean_line(first, TITLE);
    let is_whole = what.lines().count() <= 1 && title == clean_line(first, usize::MAX);
    Draft { title, text: if is_whole { String::new() } else { what.to_owned() }, ..Draft::default() }
}

/// Prints the draft of the ticket's latest run. `false`: there is none.
fn report(
    out: &mut dyn Write,
    session: &Session,
    path: &Path,
    (saves, is_json): (bool, bool),
) -> Result<bool, CliError> {
    let store = session.store()?;
    let Some(latest) = store.latest_for(&path.display().to_string())? else { return Ok(false) };
    let state = state_of(&store, latest.run)?;
    let Some(draft) = state.plan.as_ref().and_then(|plan| plan.draft.as_ref()) else { return Ok(false) };
    let is_saved = state.ended.as_ref().is_some_and(|ended| ended.reason == ExitReason::Planned);
    let (ticket, run) = (latest.ticket.as_str(), latest.run.to_string());
    if is_json {
        let path = path.display().to_string();
        let printed =
            Printed { ticket, path: &path, run: &run, saved: is_saved, cost_usd: state.cost_usd, draft: draft.into() };
        writeln!(out, "{}", json::pretty(&printed)?)?;
    } else {
        writeln!(out, "{}", Clean::new(draft.body().trim_end()))?;
    }
    if !is_saved && !saves {
        let _ = writeln!(stderr(), "{ticket}: not written; write this draft with `programmator plan {ticket} --save`");
    }
    Ok(true)
}

/// `plan --json`: add, never rename.
#[derive(Serialize)]
struct Printed<'a> {
    ticket: &'a str,
    path: &'a str,
    run: &'a str,
    saved: bool,
    cost_usd: f64,
    draft: PrintedDraft<'a>,
}

#[derive(Serialize)]
struct PrintedDraft<'a> {
    title: &'a str,
    text: &'a str,
    phases: &'a [String],
    validation: &'a [String],
    /// The tickets that it splits off.
    tickets: &'a [Part],
}

impl<'a> From<&'a Draft> for PrintedDraft<'a> {
    fn from(draft: &'a Draft) -> Self {
        let Draft { title, text, phases, validation, parts, .. } = draft;
        Self { title, text, phases, validation, tickets: parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idea_is_a_title_and_what_it_does_not_hold_is_the_text() {
        let made = idea(" Limit logins \n");
        assert_eq!((made.title.as_str(), made.text.as_str()), ("Limit logins", ""));
        let made = idea("Limit logins\n\nSix a minute are too many.");
        assert_eq!((made.title.as_str(), made.text.lines().count()), ("Limit logins", 3));
        let long = "word ".repeat(40);
        let made = idea(&long);
        assert!(made.title.ends_with('…') && made.text == long.trim());
    }
}

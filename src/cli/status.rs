//! `programmator status`: the runs there have been; one of them is [`run`]'s.

mod hank;
pub mod run;
mod watch;

pub use watch::watch;

use super::error::CliError;
use super::session::Session;
use crate::adapters::store::Store;
use crate::adapters::tickets;
use crate::base::text::{clean_line, cut, cut_words};
use crate::base::time::Timestamp;
use crate::domain::messages::reason_words;
use crate::domain::outcome::ExitReason;
use crate::domain::phase::Mark;
use crate::domain::summary::RunSummary;
use clap::Args;
use jiff::tz::TimeZone;
use std::collections::HashMap;
use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr;

/// Columns of the list.
const COLUMNS: usize = 10;
/// The one that says where the runs of other folders are.
const FOLDER: usize = 8;
/// What stands there for this folder.
const HERE: &str = ".";

/// What is asked for.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// A run id or its last characters, or a ticket; all runs if omitted.
    pub run: Option<String>,
    /// Use this machine from your configuration (`hosts`) instead of the local one.
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
    /// Keep this file up to date until Ctrl-C: all runs as JSON, and the fields of Hank's `status.json`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "on", "json"])]
    pub watch_file: Option<PathBuf>,
}

/// Prints all runs, newest first, for people.
pub fn list(out: &mut dyn Write, session: &Session) -> Result<(), CliError> {
    let runs = runs(session)?;
    if runs.is_empty() {
        writeln!(
            out,
            "No runs yet. `programmator <ticket>` starts one; `programmator demo` shows what it looks like."
        )?;
        return Ok(());
    }
    let zone = TimeZone::system();
    // A pipe has no width.
    let most = if std::io::stdout().is_terminal() { 60 } else { 1_000 };
    let rows: Vec<[String; COLUMNS]> = runs.iter().map(|run| row(run, session, &zone, most)).collect();
    let head = ["RUN", "TICKET", "UPDATED", "STATE", "PHASES", "IT", "COST", "PHASE OR REASON", "FOLDER", "TITLE"];
    let head = head.map(str::to_owned);
    let is_all_here = rows.iter().all(|row| row[FOLDER] == HERE);
    let mut widths = [0; COLUMNS];
    for row in rows.iter().chain([&head]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    for row in [&head].into_iter().chain(&rows) {
        let mut line = String::new();
        let cells = row.iter().zip(widths).enumerate().filter(|(at, _)| *at != FOLDER || !is_all_here);
        for (at, (cell, width)) in cells {
            let gap = " ".repeat(width - cell.width());
            // Numbers stand flush right.
            let (before, after) = if matches!(at, 4..=6) { (gap, String::new()) } else { (String::new(), gap) };
            line.push_str(&before);
            line.push_str(cell);
            line.push_str(&after);
            line.push_str("  ");
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Prints all runs, newest first, as a JSON array.
pub fn json(out: &mut dyn Write, session: &Session) -> Result<(), CliError> {
    Ok(writeln!(out, "{}", crate::base::json::pretty(&runs(session)?)?)?)
}

/// All runs of this machine as they are seen from here, newest first.
pub(super) fn runs(session: &Session) -> Result<Vec<RunSummary>, CliError> {
    seen(&session.store_to_read()?)
}

/// The same by a store that is open. Each has the title that its ticket has now, where its file is there.
fn seen(store: &Store) -> Result<Vec<RunSummary>, CliError> {
    let mut titles: HashMap<String, Option<String>> = HashMap::new();
    let mut one = |run: RunSummary| -> Result<RunSummary, CliError> {
        let mut run = store.as_seen(run)?;
        if !run.is_chat() && !run.is_review() && !run.is_own_session() {
            let title = titles.entry(run.ticket_path.clone()).or_insert_with_key(|path| title(Path::new(path)));
            run.title = title.clone().unwrap_or(run.title);
        }
        Ok(run)
    };
    store.runs()?.into_iter().map(&mut one).collect()
}

fn title(path: &Path) -> Option<String> {
    tickets::load(path).ok().map(|ticket| ticket.title).filter(|title| !title.is_empty())
}

/// A time as people write it, to the minute.
fn date(time: Timestamp, zone: &TimeZone) -> String {
    let time = jiff::Timestamp::from_millisecond(time.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Why the run ended, for people.
fn reason(run: &RunSummary) -> Option<String> {
    let word = run.reason.as_deref()?;
    if run.is_own_session() {
        return Some("idle: no question".to_owned());
    }
    Some(match ExitReason::from_word(word) {
        Some(ExitReason::Complete) => match run.marks.iter().filter(|mark| **mark == Mark::Skipped).count() {
            0 => reason_words(ExitReason::Complete).to_owned(),
            skipped => format!("complete, {skipped} skipped"),
        },
        Some(reason) => reason_words(reason).to_owned(),
        None => word.to_owned(),
    })
}

/// Where the run works, with `~` for the home folder.
fn folder(run: &RunSummary, session: &Session) -> String {
    let (workspace, home) = (run.workspace(), session.environment.get("HOME").filter(|home| home.len() > 1));
    match (workspace.home(), home.and_then(|home| workspace.home().strip_prefix(home).ok())) {
        (folder, _) if folder == session.folder => HERE.to_owned(),
        (_, Some(rest)) => clean_line(&Path::new("~").join(rest).to_string_lossy(), 1_000),
        (folder, None) => clean_line(&folder.to_string_lossy(), 1_000),
    }
}

/// The run in columns, of which those that hold prose have at most so many cells.
fn row(run: &RunSummary, session: &Session, zone: &TimeZone, most: usize) -> [String; COLUMNS] {
    let asks_or_phase = || run.asks().or(run.phase.as_deref()).map(str::to_owned);
    let about = reason(run).or_else(asks_or_phase).unwrap_or_default();
    [
        run.run.short(),
        cut(run.ticket.as_str(), 24),
        date(run.updated, zone),
        run.label().to_owned(),
        if run.phases == 0 { "–".to_owned() } else { format!("{}/{}", run.phases_done, run.phases) },
        run.iterations.to_string(),
        format!("${:.2}", run.cost_usd),
        cut_words(&clean_line(&about, 1_000), most),
        cut(&folder(run, session), most),
        cut_words(&clean_line(&run.title, 1_000), most),
    ]
}

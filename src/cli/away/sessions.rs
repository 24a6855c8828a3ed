//! The person's own Claude sessions, as `programmator away status` lists them: which there are, and in which terminals.

use super::scope::Scope;
use crate::adapters::known_sessions::{Known, known};
use crate::base::text::clean_line;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use serde_json::{Value, json};
use std::io::Write;

/// Columns of a directory.
const FOLDER: usize = 80;

/// Lists them.
pub fn list(out: &mut dyn Write, session: &Session) -> Result<(), CliError> {
    let known = known(&session.state);
    if known.is_empty() {
        return Ok(());
    }
    let scope = Scope::read(&session.state);
    writeln!(out, "\nYour own Claude sessions:")?;
    let rows: Vec<[String; 3]> = known.iter().map(row).collect();
    let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (places, folders) = (wide(1), wide(2));
    for (row, known) in rows.iter().zip(&known) {
        let [session, place, folder] = row;
        let source = known.terminal.source.word();
        let muted = if scope.has(&known.session) { "" } else { ", muted" };
        writeln!(out, "  {session}  {place:places$}  {folder:folders$}  (by {source}{muted})")?;
    }
    for known in &known {
        if let Some(doubt) = known.terminal.doubt() {
            writeln!(out, "{}: {doubt}.", known.session)?;
        }
    }
    Ok(())
}

fn row(known: &Known) -> [String; 3] {
    [known.session.to_string(), known.terminal.place(), clean_line(&known.folder, FOLDER)]
}

/// The same for programs.
pub fn as_json(session: &Session) -> Vec<Value> {
    let scope = Scope::read(&session.state);
    known(&session.state)
        .iter()
        .map(|known| {
            json!({
                "session": known.session,
                "folder": known.folder,
                "terminal": known.terminal.id,
                "source": known.terminal.source,
                "tmux_pane": known.terminal.pane,
                "warning": known.terminal.doubt(),
                "pid": known.process.pid,
                "since": known.since,
                "muted": !scope.has(&known.session),
            })
        })
        .collect()
}

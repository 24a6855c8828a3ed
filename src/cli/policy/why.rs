//! `programmator policy why`: what was decided about a call, from the journal.

use super::super::error::CliError;
use super::super::session::Session;
use crate::base::text::clean_line;
use crate::domain::approval::UnitView;
use crate::domain::messages::LogFormatter;
use crate::domain::record::{Record, Stored};
use std::io::Write;
use std::sync::Arc;

/// Calls that are named when a part of an id fits several.
const NAMED: usize = 10;

/// Prints each verdict and answer about the call, oldest first.
pub fn print(out: &mut dyn Write, session: &Session, request: &str) -> Result<u8, CliError> {
    let store = session.store_to_read()?;
    for summary in store.runs()? {
        let records = store.load(summary.run)?.records;
        let mut ids: Vec<&str> = records.iter().filter_map(|stored| judged(&stored.record)).collect();
        ids.retain(|id| !request.is_empty() && id.contains(request));
        ids.sort_unstable();
        ids.dedup();
        match ids[..] {
            [] => {}
            [id] => {
                let (run, ticket) = (summary.run.short(), &summary.ticket);
                writeln!(out, "call {} of run {run}, ticket {ticket}", clean_line(id, 80))?;
                explain(out, &records, id)?;
                return Ok(0);
            }
            _ => {
                let some: Vec<String> = ids.iter().take(NAMED).map(|id| clean_line(id, 80)).collect();
                let shown = clean_line(request, 80);
                return Err(CliError::usage(format!("`{shown}` matches several calls: {}", some.join(", "))));
            }
        }
    }
    let shown = clean_line(request, 80);
    Err(CliError::usage(format!(
        "no call `{shown}`; `programmator logs --json TICKET` shows the id of each call as tool_use_id"
    )))
}

fn judged(record: &Record) -> Option<&str> {
    match record {
        Record::ToolJudged { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}

fn explain(out: &mut dyn Write, records: &[Arc<Stored>], id: &str) -> std::io::Result<()> {
    let mut formatter = LogFormatter::default();
    for stored in records {
        let line = formatter.line(&stored.record);
        match &stored.record {
            Record::ToolJudged { tool_use_id, tool, target, verdict, reason, units: parts, .. }
                if tool_use_id == id =>
            {
                let (tool, target) = (clean_line(tool, 60), clean_line(target, 500));
                writeln!(out, "{}  {:10}  {tool} {target}", stored.time, verdict.word())?;
                writeln!(out, "  {}", clean_line(reason, 1_000))?;
                units(out, parts)?;
            }
            Record::ApprovalAsked(approval) if approval.id.call == id => {
                if let Some(line) = line {
                    writeln!(out, "{}  {}", stored.time, line.text)?;
                }
                units(out, &approval.units)?;
            }
            Record::ApprovalAnswered(answered) if answered.id.call == id => {
                writeln!(out, "{}  {}", stored.time, line.map(|line| line.text).unwrap_or_default())?;
            }
            Record::ApprovalVoid(void) if void.id.call == id => {
                writeln!(out, "{}  withdrawn: {}", stored.time, clean_line(&void.why, 500))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn units(out: &mut dyn Write, units: &[UnitView]) -> std::io::Result<()> {
    for (at, unit) in units.iter().enumerate() {
        let (text, verdict) = (clean_line(&unit.text, 60), unit.verdict.word());
        let (rule, reason) = (clean_line(&unit.rule, 60), clean_line(&unit.reason, 200));
        writeln!(out, "{:3}  {text}  {verdict}  {rule}: {reason}", at + 1)?;
    }
    Ok(())
}

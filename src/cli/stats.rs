//! `programmator stats`: what came of all runs so far.

use super::error::CliError;
use super::session::Session;
use crate::domain::lines::Line;
use crate::domain::stats::lines;
use crate::runtime::headless::Format;
use crate::runtime::stats::stats;
use std::io::Write;

/// Prints the figures.
pub fn print(out: &mut dyn Write, session: &Session, format: Format) -> Result<(), CliError> {
    let stats = stats(&session.store_to_read()?)?;
    if format == Format::Json {
        return Ok(writeln!(out, "{}", crate::base::json::pretty(&stats)?)?);
    }
    for line in lines(&stats) {
        match line {
            Line::Heading(words) | Line::Text(words) => writeln!(out, "{words}")?,
            Line::Gap => writeln!(out)?,
        }
    }
    Ok(())
}

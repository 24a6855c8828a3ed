//! `programmator report`: what runs have come to, for a person who was away.

use super::error::CliError;
use super::session::Session;
use crate::base::time::Timestamp;
use crate::domain::lines::Line;
use crate::domain::report::lines;
use crate::runtime::report::{report, report_of};
use crate::runtime::supervisor::Typed;
use clap::Args;
use jiff::Span;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::io::Write;

/// How far back the report goes where nothing else is said.
const USUAL: &str = "8h";

/// What is told.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// A run id or its last characters, or a ticket; all runs if omitted.
    pub run: Option<String>,
    /// Start of the report: a duration (`8h`, `2d`) or a time (`2026-11-24 09:00`) [default: 8h; the full run if one is
    /// named].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// Print JSON instead of Markdown.
    #[arg(long)]
    pub json: bool,
}

/// Prints the report.
pub fn print(out: &mut dyn Write, session: &Session, args: &ReportArgs) -> Result<(), CliError> {
    let store = session.store_to_read()?;
    let (now, zone) = (session.clock().now(), TimeZone::system());
    let since = |usual: Option<Timestamp>| match (&args.since, usual) {
        (Some(text), _) => moment(text, now, &zone),
        (None, Some(usual)) => Ok(usual),
        (None, None) => moment(USUAL, now, &zone),
    };
    let report = match &args.run {
        None => report(&store, since(None)?, now)?,
        Some(run) => {
            let run = session.find_run(&store, run, Typed::Part)?;
            let since = since(Some(run.started))?;
            report_of(&store, run, since, now)?
        }
    };
    if args.json {
        return Ok(writeln!(out, "{}", crate::base::json::pretty(&report)?)?);
    }
    for line in lines(&report, &zone) {
        match line {
            Line::Heading(words) => writeln!(out, "## {words}")?,
            Line::Text(words) => writeln!(out, "{words}")?,
            Line::Gap => writeln!(out)?,
        }
    }
    Ok(())
}

/// The moment that a text names: a time back from now, or a day or a time of day in the zone.
fn moment(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, CliError> {
    let here = jiff::Timestamp::from_millisecond(now.millis()).unwrap_or_default().to_zoned(zone.clone());
    let back = || text.parse::<Span>().ok().map(|span| here.checked_sub(span.abs()));
    let named = || text.parse::<DateTime>().ok().map(|named| named.to_zoned(zone.clone()));
    // The last time that it was so late.
    let time = || {
        let today = here.with().time(text.parse().ok()?).build();
        Some(today.and_then(|today| if today > here { today.yesterday() } else { Ok(today) }))
    };
    match named().or_else(time).or_else(back) {
        Some(Ok(moment)) if moment > here => Err(CliError::usage(format!("`--since {text}` is in the future"))),
        Some(Ok(moment)) => Ok(Timestamp::from_millis(moment.timestamp().as_millisecond())),
        _ => Err(CliError::usage(format!(
            "invalid --since `{text}`: use a duration (`8h`, `2d`, `90m`) or a time (`09:00`, `2026-11-24`, `2026-11-24T09:00`)"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_back_or_a_time_of_the_persons_clock() {
        // 2026-11-24T12:00Z, an hour later in this zone.
        let (now, zone) = (Timestamp::from_millis(1_795_521_600_000), TimeZone::fixed(jiff::tz::offset(1)));
        let hours = |text: &str| {
            moment(text, now, &zone)
                .map(|then| (then.millis() - now.millis()) / 3_600_000)
                .map_err(|error| error.to_string())
        };
        for (text, wanted) in [
            ("8h", -8),
            ("2d", -48),
            ("90m", -1),
            ("2026-11-24", -13),
            ("2026-11-24T12:00", -1),
            ("11:00", -2),
            ("13:00", 0),
            ("22:00", -15),
        ] {
            assert_eq!(hours(text), Ok(wanted), "{text}");
        }
        assert!(hours("2026-11-25").unwrap_err().contains("in the future"));
        for text in ["", "yesterday", "8", "25:00", "2026-13-01", "99999999y"] {
            let why = hours(text).unwrap_err();
            assert!(why.contains("invalid --since") && why.contains("8h"), "{text}: {why}");
        }
    }
}

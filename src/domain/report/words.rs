//! The report in words, as Markdown: the same lines on the screen and on the command line.

use super::{Became, PhaseReport, Report, RunReport};
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::base::time::human;
use crate::domain::chat;
use crate::domain::commit::short;
use crate::domain::lines::Line;
use crate::domain::messages::{done_words, iterations_words, reason_words};
use crate::domain::outcome::{DoneHow, ExitReason};
use crate::domain::summary::RunState;
use jiff::tz::TimeZone;
use std::iter::once;

/// Names of changed files, and commands that verified a phase, that are told; of the others how many.
const NAMED: usize = 5;
/// Characters of a text at most.
const WORDS: usize = 100;

/// All of it. `zone`: in which the times are told.
pub fn lines(report: &Report, zone: &TimeZone) -> Vec<Line> {
    let since = report.since.day_and_minute(zone);
    let long = human(report.until.since(report.since));
    let unread = report.unread.iter().flat_map(|run| {
        let why = clean_line(&run.why, 2 * WORDS);
        [Line::Gap, Line::Text(format!("The records of {} cannot be read: {why}", run.ticket))]
    });
    if report.runs.is_empty() {
        let nothing = Line::Text(format!("Nothing has happened since {since} ({long})."));
        return once(nothing).filter(|_| report.unread.is_empty()).chain(unread).collect();
    }
    let waiting = report.runs.iter().filter(|run| run.needs_person()).count();
    let waiting = match waiting {
        0 => "nothing needs you".to_owned(),
        1 => "1 needs you".to_owned(),
        some => format!("{some} need you"),
    };
    let runs = counted(report.runs.len(), "run");
    let mut out = vec![Line::Text(format!("Since {since} ({long}): {runs}, ${:.2}, {waiting}.", report.cost_usd))];
    for run in &report.runs {
        out.push(Line::Gap);
        let is_same = |other: &&RunReport| (&other.ticket, &other.folder) == (&run.ticket, &run.folder);
        let has_others = report.runs.iter().filter(is_same).count() > 1;
        out.extend(of_run(run, has_others.then_some(zone)));
    }
    out.extend(unread);
    out
}

/// One run. `zone`: its ticket has others here, so its heading says which it is and when it ended.
fn of_run(run: &RunReport, zone: Option<&TimeZone>) -> Vec<Line> {
    let stopped = format!("{}: ", reason_words(ExitReason::UserStopped));
    let stands = match (&run.ended, run.state) {
        // A chat is closed: that is its end, and says by whom.
        (Some(ended), _) if chat::is_id(&run.ticket) => ended.strip_prefix(&stopped).unwrap_or(ended),
        (Some(ended), _) => ended.as_str(),
        (None, RunState::Parked) => "parked; resumes automatically",
        (None, RunState::Interrupted) => "interrupted; can be resumed",
        (None, state) => state.word(),
    };
    let title = clean_line(&run.title, WORDS);
    let which = zone.map_or_else(String::new, |zone| {
        let what = if run.ended.is_some() { "ended" } else { "updated" };
        format!(" · run {}, {what} {}", run.run.short(), run.updated.day_and_minute(zone))
    });
    let mut out = vec![Line::Heading(format!("{} {title}{which}", run.ticket)), Line::Gap];
    let mut item = |words: String| out.push(Line::Text(format!("- {words}")));
    item(if run.unverified { format!("{stands}, not verified") } else { stands.to_owned() });
    if run.ended.is_none() {
        run.waits.iter().for_each(|what| item(format!("needs you: {}", clean_line(what, WORDS))));
    }
    run.unsent.iter().for_each(|what| item(clean_line(what, 2 * WORDS)));
    if run.phases > 0 {
        item(format!("{} of {} phases done", run.phases_done, run.phases));
    }
    run.decided.iter().for_each(|phase| item(of_phase(phase)));
    if run.files_count > 0 {
        item(files(run));
    }
    if run.denied_count > 0 {
        let more = (run.denied_count as usize).saturating_sub(NAMED.min(run.denied.len()));
        let named = run.denied.iter().take(NAMED).map(|call| clean_line(call, WORDS)).collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        item(format!("denied, because nobody could approve: {named}{more}"));
    }
    for commit in &run.commits {
        item(format!("committed as {}", short(commit)));
    }
    if let Some(base) = &run.merged_into {
        item(format!("merged into {}", clean_line(base, WORDS)));
    }
    // A chat has messages, which count for nothing.
    let iterations = if chat::is_id(&run.ticket) {
        String::new()
    } else {
        format!("{}, ", iterations_words(run.iterations, run.reviews))
    };
    item(format!("{iterations}${:.2}, in {}", run.cost_usd, clean_line(&run.folder, WORDS)));
    out
}

fn of_phase(phase: &PhaseReport) -> String {
    let name = phase.phase.as_deref().map_or_else(|| "the ticket".to_owned(), |text| clean_line(text, WORDS));
    let ground = match (phase.became, phase.how) {
        (Became::Done, Some(how)) => done_words(how),
        (Became::TakenBack, _) => "reverted by a restore",
        (became, _) => became.word(),
    };
    let by = some_of(phase.commands.iter().map(|command| format!("`{}`", clean_line(command, WORDS))));
    let by = match phase.how {
        _ if by.is_empty() => by,
        Some(DoneHow::Verified) => format!(" by {by}"),
        _ => format!("; {by} passed"),
    };
    let why = phase.why.as_ref().map_or_else(String::new, |why| format!(": {}", clean_line(why, 2 * WORDS)));
    format!("{name}: {ground}{by}{why}")
}

fn files(run: &RunReport) -> String {
    let lines = if run.added + run.removed > 0 { format!(" +{} −{}", run.added, run.removed) } else { String::new() };
    let count = counted(run.files_count as usize, "file");
    let names = run.files.iter().map(|file| clean_line(file, WORDS)).take(NAMED).collect::<Vec<_>>();
    let more = (run.files_count as usize).saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{count} changed{lines}: {}{more}", names.join(", "))
}

/// The first ones, and how many more there are.
fn some_of(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(NAMED);
    let named = all.take(NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

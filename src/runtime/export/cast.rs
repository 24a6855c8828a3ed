//! A run as a recording for `asciinema play`, version 2. Records have their times; what Claude printed has none, and is
//! spread evenly between the beginning of its iteration and the record that tells its end.

use super::stored::{Exported, Item};
use crate::base::text::{Clean, clean_line};
use crate::base::time::Timestamp;
use crate::domain::messages::{LogFormatter, draft_lines, draft_words};
use crate::domain::record::Record;
use crate::domain::stream::show::Block;
use serde_json::json;
use std::io::{self, Write};

/// Columns and lines of the recording.
const SIZE: (u16, u16) = (120, 40);
/// Longest pause when it is played, in seconds.
const PAUSE: u32 = 2;
/// Most lines of one text.
const LINES: usize = 200;

pub fn write(out: &mut dyn Write, run: &Exported<'_>) -> io::Result<()> {
    let title = clean_line(&run.secrets.mask(format!("{}: {}", run.summary.ticket, run.summary.title)), 200);
    let begin = run.summary.started;
    let header = json!({
        "version": 2, "width": SIZE.0, "height": SIZE.1, "timestamp": begin.millis() / 1_000,
        "idle_time_limit": PAUSE, "title": title,
    });
    writeln!(out, "{header}")?;
    let mut log = LogFormatter::of(run.zone.clone());
    let mut ends = ends(run).into_iter().peekable();
    let (mut now, mut from) = (begin, begin);
    run.each(|item| {
        let text = match item {
            Item::Record(stored) => {
                now = stored.time.max(now);
                if let Record::IterationStarted { n, .. } = stored.record {
                    from = stored.time;
                    while ends.peek().is_some_and(|(of, _)| *of < n) {
                        ends.next();
                    }
                }
                let line = log.line(&stored.record);
                line.map_or_else(String::new, |line| format!("{} {}\n", stored.time.clock_time(&run.zone), line.text))
            }
            Item::Said(n, line, share) => {
                let end = ends.peek().filter(|(of, _)| *of == n).map_or(now, |(_, end)| *end);
                let ms = (end.since(from).as_secs_f64() * 1_000.0 * share) as i64;
                now = Timestamp::from_millis(from.millis() + ms).max(now);
                run.shown(&line).blocks.iter().map(told).collect()
            }
        };
        let text = run.secrets.mask(Clean::new(&text).into_string());
        if text.is_empty() {
            return Ok(());
        }
        let seconds = now.since(begin).as_secs_f64();
        writeln!(out, "{}", json!([seconds, "o", text.replace('\n', "\r\n")]))
    })
}

/// When Claude's process ended in each iteration.
fn ends(run: &Exported<'_>) -> Vec<(u32, Timestamp)> {
    let end = |record: &Record| match record {
        Record::AgentExited { n, .. } => Some(*n),
        _ => None,
    };
    run.records.iter().filter_map(|stored| Some((end(&stored.record)?, stored.time))).collect()
}

fn told(block: &Block) -> String {
    let some = |text: &str| text.trim().lines().take(LINES).flat_map(|line| [line, "\n"]).collect::<String>();
    match block {
        Block::Text(text) => format!("\n{}\n", some(text)),
        Block::Status(status) => format!("status {} · {}\n", status.status.word(), clean_line(&status.summary, 200)),
        Block::Critique(critique) => {
            let head = format!("verdict {} · {}\n", critique.verdict.word(), clean_line(&critique.summary, 200));
            critique.issues.iter().fold(head, |told, issue| told + "  " + &clean_line(&issue.words(), 400) + "\n")
        }
        Block::Evaluation(said) => {
            let head = format!("verdict {} · {}\n", said.verdict.word(), clean_line(&said.summary, 200));
            said.phases.iter().fold(head, |told, phase| told + "  + " + &clean_line(phase, 400) + "\n")
        }
        Block::Draft(draft) => {
            let head = format!("draft {}\n", draft_words(draft));
            draft_lines(draft).iter().fold(head, |told, line| told + "  " + &clean_line(line, 400) + "\n")
        }
        Block::Tool(tool) => format!("● {} {}\n", tool.name, clean_line(&tool.target, 200)),
        Block::ToolResult(result) => {
            let text = if result.error { some(&result.text) } else { String::new() };
            format!("  {}\n{text}", clean_line(&result.summary, 200))
        }
        Block::Person(text) => format!("> {}\n", clean_line(text, 400)),
        Block::Notice { text, .. } => format!("{}\n", clean_line(text, 400)),
        Block::TurnEnd(end) if end.error => format!("{} {}\n", end.how, clean_line(&end.message, 400)),
        Block::Thinking(_) | Block::Progress(_) | Block::TurnEnd(_) => String::new(),
    }
}

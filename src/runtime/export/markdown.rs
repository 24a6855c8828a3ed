//! A run as a Markdown page: a heading an iteration, Claude's words as they are, calls as a list with their results.

use super::stored::{Exported, Item};
use crate::base::text::{Clean, clean_line};
use crate::domain::critique::Issue;
use crate::domain::messages::{LogFormatter, Weight, draft_lines, draft_words};
use crate::domain::record::Record;
use crate::domain::stream::show::{Block, Edit, Tool};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

pub fn write(out: &mut dyn Write, run: &Exported<'_>) -> io::Result<()> {
    let summary = run.summary;
    let title = clean_line(&run.secrets.mask(format!("{}: {}", summary.ticket, summary.title)), 400);
    let (day, time) = (summary.started.day(&run.zone), summary.started.clock_time(&run.zone));
    let head =
        format!("# {title}\n\nRun {} · started {day} {time} · {}\n", summary.run, clean_line(&summary.folder, 400));
    writeln!(out, "{}", run.secrets.mask(head))?;
    let mut log = LogFormatter::of(run.zone.clone());
    let mut calls: HashMap<String, String> = HashMap::new();
    run.each(|item| {
        let text = match item {
            Item::Record(stored) => {
                let line = log.line(&stored.record).filter(|line| line.level > Weight::Call);
                let heading = match &stored.record {
                    Record::IterationStarted { n, phase, .. } => {
                        let phase = clean_line(phase.as_deref().unwrap_or("the whole ticket"), 300);
                        format!("\n## Iteration {n}: {phase}\n\n")
                    }
                    _ => String::new(),
                };
                let time = stored.time.clock_time(&run.zone);
                heading + &line.map_or_else(String::new, |line| format!("- `{time}` {}\n", line.text))
            }
            Item::Said(_, line, _) => {
                let mut text = String::new();
                for block in run.shown(&line).blocks {
                    add(&mut text, &block, &mut calls);
                }
                Clean::new(&text).into_string()
            }
        };
        write!(out, "{}", run.secrets.mask(text))
    })
}

fn add(out: &mut String, block: &Block, calls: &mut HashMap<String, String>) {
    // Writing to a string cannot fail.
    let _ = match block {
        Block::Text(text) => write!(out, "\n{}\n\n", text.trim()),
        Block::Status(status) => {
            let phase = status.phase_completed.as_deref().unwrap_or("none");
            write!(
                out,
                "\n> Status: {} · phase: {phase} · {}\n\n",
                status.status.word(),
                clean_line(&status.summary, 400)
            )
        }
        Block::Critique(critique) => {
            let summary = clean_line(&critique.summary, 400);
            let head = format!("\n> Verdict: {} · {summary}\n", critique.verdict.word());
            let issue = |told: String, issue: &Issue| told + "> - " + &clean_line(&issue.words(), 400) + "\n";
            writeln!(out, "{}", critique.issues.iter().fold(head, issue))
        }
        Block::Evaluation(said) => {
            let summary = clean_line(&said.summary, 400);
            let head = format!("\n> Verdict: {} · {summary}\n", said.verdict.word());
            let phase = |told: String, phase: &String| told + "> - " + &clean_line(phase, 400) + "\n";
            writeln!(out, "{}", said.phases.iter().fold(head, phase))
        }
        Block::Draft(draft) => {
            let line = |told: String, line: &String| told + "> " + &clean_line(line, 400) + "  \n";
            writeln!(out, "{}", draft_lines(draft).iter().fold(format!("\n> Draft: {}\n>\n", draft_words(draft)), line))
        }
        Block::Tool(tool) => {
            calls.insert(tool.id.clone(), tool.name.clone());
            call(out, tool)
        }
        Block::ToolResult(result) => {
            let name = calls.get(&result.id).map_or("call", String::as_str);
            let failed = if result.error { "failed: " } else { "" };
            let told = writeln!(out, "  - {name}: {failed}{}", clean_line(&result.summary, 200));
            if result.error { told.and_then(|()| fenced(out, "", &result.text)) } else { told }
        }
        Block::Person(text) => {
            let quoted: Vec<String> = text.trim().lines().map(|line| format!("> {line}")).collect();
            write!(out, "\n{}\n\n", quoted.join("\n"))
        }
        Block::TurnEnd(end) if end.error => writeln!(out, "\n**{}** {}", end.how, clean_line(&end.message, 400)),
        Block::Notice { text, .. } => writeln!(out, "- {}", clean_line(text, 400)),
        Block::Thinking(_) | Block::Progress(_) | Block::TurnEnd(_) => Ok(()),
    };
}

fn call(out: &mut String, tool: &Tool) -> std::fmt::Result {
    let target = clean_line(&tool.target, 300).replace('`', "'");
    writeln!(out, "- **{}** `{target}`", tool.name)?;
    match &tool.edit {
        Some(Edit { old, new, .. }) => {
            let side = |sign, text: &str| text.lines().flat_map(|line| [sign, line, "\n"]).collect::<String>();
            fenced(out, "diff", &(side("-", old) + &side("+", new)))
        }
        None if tool.detail.is_empty() => Ok(()),
        None => fenced(out, "", &tool.detail),
    }
}

/// Text in a fence that is longer than any in it.
fn fenced(out: &mut String, language: &str, text: &str) -> std::fmt::Result {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    write!(out, "\n{fence}{language}\n{}\n{fence}\n\n", text.trim_end_matches('\n'))
}

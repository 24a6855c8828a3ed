//! The figures in words: the same lines on the screen and on the command line.

use super::{Stats, Tally};
use crate::base::amount::{counted, grouped};
use crate::base::text::{clean_line, cut};
use crate::base::time::human;
use crate::domain::lines::Line;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

/// Columns of a ticket's id at most, and of its title.
const ID: usize = 18;
const TITLE: usize = 40;

/// All figures, at most 100 columns wide; the numbers within 80.
pub fn lines(stats: &Stats) -> Vec<Line> {
    let total = &stats.total;
    let mut lines: Vec<Line> = overview(total).into_iter().map(Line::Text).collect();
    if total.runs == 0 {
        return lines;
    }
    let steps = total.steps.iter().map(|step| {
        [
            clean_line(step.step.word(), 20),
            step.iterations.to_string(),
            human(Duration::from_millis(step.ms)),
            grouped(step.usage.total()),
            usd(step.cost_usd),
        ]
    });
    table(&mut lines, ["Step", "iterations", "time", "tokens", "cost"], &steps.collect::<Vec<_>>());
    let tickets = stats.tickets.iter().map(|ticket| {
        let tally = &ticket.tally;
        [
            cut(&ticket.ticket, ID),
            tally.runs.to_string(),
            format!("{}/{}", tally.done, tally.tried),
            rate(tally),
            tally.fixes.to_string(),
            human(Duration::from_millis(tally.ms)),
            usd(tally.cost_usd),
            clean_line(&ticket.title, TITLE),
        ]
    });
    let head = ["Ticket", "runs", "done/tried", "first pass", "fixes", "time", "cost", ""];
    table(&mut lines, head, &tickets.collect::<Vec<_>>());
    lines
}

fn overview(total: &Tally) -> Vec<String> {
    if total.runs == 0 {
        return vec!["No runs yet.".to_owned()];
    }
    let reviews = total.approved + total.minor + total.rejected;
    let verdicts = format!("{} approved, {} minor, {} rejected", total.approved, total.minor, total.rejected);
    let (attempts, phases) =
        (counted(total.fixes as usize, "attempt"), counted(total.fixed as usize, "rejected phase"));
    let fixes = if total.fixes == 0 { "none".to_owned() } else { format!("{attempts}, {phases} fixed") };
    let critic = if reviews == 0 { "no verdicts yet".to_owned() } else { verdicts };
    [
        ("Runs", format!("{}, {} complete", total.runs, total.complete)),
        ("Iterations", total.iterations.to_string()),
        ("Phases", format!("{} tried, {} done", total.tried, total.done)),
        ("First pass", format!("{} of {} checked ({})", total.first_pass, total.judged, rate(total))),
        ("Critic", critic),
        ("Fixes", fixes),
        ("Time", human(Duration::from_millis(total.ms))),
        ("Cost", format!("{}, {} tokens", usd(total.cost_usd), grouped(total.tokens))),
    ]
    .map(|(name, words)| format!("{name:<12}{words}"))
    .to_vec()
}

fn usd(cost: f64) -> String {
    format!("${cost:.2}")
}

fn rate(tally: &Tally) -> String {
    tally.first_pass_rate.map_or_else(|| "–".to_owned(), |rate| format!("{:.0} %", rate * 100.0))
}

/// The first column flush left, numbers flush right, words behind them.
fn table<const N: usize>(lines: &mut Vec<Line>, head: [&str; N], rows: &[[String; N]]) {
    let head = head.map(str::to_owned);
    let width = |at: usize| rows.iter().chain([&head]).map(|row| row[at].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
            let gap = " ".repeat(width - cell.width());
            if at == 0 || head[at].is_empty() { format!("{cell}{gap}") } else { format!("{gap}{cell}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.extend([Line::Gap, Line::Heading(line(&head))]);
    lines.extend(rows.iter().map(|row| Line::Text(line(row))));
}

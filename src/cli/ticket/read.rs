//! Tickets as programmator reads them, with phases, commands and what is wrong: `ticket list --phases`, `ticket show --phases`
//! and `--json`.

use crate::adapters::tickets::Listed;
use crate::base::json;
use crate::base::text::{Clean, clean_line};
use crate::domain::ticket::{Phase, PhaseSettings, Problem, Ticket, TicketStatus};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// How `show` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// Widest id column.
const MAX_ID: usize = 24;

/// Prints one line for each ticket of the folder `dir`: mark, id, status, phases, title; and what is wrong with it.
pub fn list(out: &mut dyn Write, dir: &Path, listed: &[Listed]) -> io::Result<()> {
    if listed.is_empty() {
        let dir = clean_line(&dir.to_string_lossy(), 200);
        writeln!(out, "No tickets in {dir}.")?;
        return writeln!(out, "Create one:  programmator ticket new \"Title\"");
    }
    let rows: Vec<Row> = listed.iter().map(Row::of).collect();
    let widest = |column: fn(&Row) -> &str| rows.iter().map(|row| column(row).width()).max().unwrap_or(0);
    let (id, status, phases) = (widest(|row| &row.id), widest(|row| row.status), widest(|row| &row.phases));
    for row in &rows {
        let line = format!(
            "{} {}  {}  {}  {}",
            row.mark,
            pad_end(&row.id, id),
            pad_end(row.status, status),
            pad_start(&row.phases, phases),
            row.title
        );
        writeln!(out, "{}", line.trim_end())?;
        for message in &row.problems {
            writeln!(out, "    {message}")?;
        }
    }
    Ok(())
}

/// A ticket in the list.
struct Row {
    mark: char,
    id: String,
    status: &'static str,
    phases: String,
    title: String,
    problems: Vec<String>,
}

impl Row {
    fn of(listed: &Listed) -> Self {
        let file = listed.path.file_stem().unwrap_or_default().to_string_lossy();
        let ticket = match &listed.ticket {
            Ok(ticket) => ticket,
            Err(error) => {
                return Self {
                    mark: '!',
                    id: clean_line(&file, MAX_ID),
                    status: "broken",
                    phases: String::new(),
                    title: String::new(),
                    problems: vec![clean_line(&error.to_string(), 400)],
                };
            }
        };
        let (mark, status) = if ticket.is_broken() { ('!', "broken") } else { look(ticket) };
        Self {
            mark,
            id: clean_line(ticket.id.as_str(), MAX_ID),
            status,
            phases: match ticket.phases.len() {
                0 => "-".to_owned(),
                all => format!("{}/{all}", done(ticket)),
            },
            title: clean_line(&ticket.title, 1_000),
            problems: ticket.problems.iter().map(problem_line).collect(),
        }
    }
}

/// Mark and word of a ticket's state; one without a status is known by its phases.
fn look(ticket: &Ticket) -> (char, &'static str) {
    let all_done = !ticket.phases.is_empty() && done(ticket) == ticket.phases.len();
    match ticket.status {
        Some(status @ TicketStatus::Open) => ('○', status.word()),
        Some(status @ TicketStatus::InProgress) => ('▶', status.word()),
        Some(status @ TicketStatus::Closed) => ('✓', status.word()),
        None if all_done => ('✓', "-"),
        None => ('○', "-"),
    }
}

fn done(ticket: &Ticket) -> usize {
    ticket.phases.iter().filter(|phase| phase.done).count()
}

pub(super) fn problem_line(problem: &Problem) -> String {
    let message = clean_line(&problem.message, 400);
    format!("{}:{}: {message}", problem.line, problem.column)
}

fn pad_end(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

fn pad_start(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(text.width())))
}

pub fn show(out: &mut dyn Write, ticket: &Ticket, format: Format) -> io::Result<()> {
    match format {
        Format::Text => show_text(out, ticket),
        Format::Json => writeln!(out, "{}", json::pretty(&TicketRow::of(ticket))?),
    }
}

fn show_text(out: &mut dyn Write, ticket: &Ticket) -> io::Result<()> {
    let (mark, status) = if ticket.is_broken() { ('!', "broken") } else { look(ticket) };
    writeln!(out, "{mark} {}  {}", ticket.id, clean_line(&ticket.title, 1_000))?;
    if status != "-" {
        writeln!(out, "  status    {status}")?;
    }
    if !ticket.deps.is_empty() {
        writeln!(out, "  deps      {}", clean_line(&ticket.deps.join(", "), 400))?;
    }
    for (key, value) in ticket.extra.iter().filter(|(_, value)| !value.is_empty()) {
        let key = pad_end(&clean_line(key, 40), 9);
        writeln!(out, "  {key} {}", clean_line(value, 200))?;
    }
    if ticket.phases.is_empty() {
        writeln!(out, "\nNo phases: a run works on the whole ticket at once.")?;
    } else {
        writeln!(out, "\nPhases ({} of {} done)", done(ticket), ticket.phases.len())?;
    }
    for phase in &ticket.phases {
        let settings = phase.settings.words();
        let settings = if settings.is_empty() { settings } else { format!("  ({})", clean_line(&settings, 200)) };
        writeln!(out, "  {} {}{settings}", tick(phase.done), clean_line(&phase.text, 200))?;
        for task in &phase.tasks {
            writeln!(out, "      {} {}", tick(task.done), clean_line(&task.text, 200))?;
        }
    }
    if !ticket.validation.is_empty() {
        writeln!(out, "\nValidation commands")?;
    }
    for command in &ticket.validation {
        writeln!(out, "  {}", Clean::new(command).as_str().replace('\n', "\n    "))?;
    }
    if !ticket.problems.is_empty() {
        writeln!(out, "\nProblems")?;
    }
    for problem in &ticket.problems {
        writeln!(out, "  {}", problem_line(problem))?;
    }
    Ok(())
}

fn tick(done: bool) -> char {
    if done { '✓' } else { '○' }
}

/// `show --json` and `query --json`: add, never rename.
#[derive(Serialize)]
pub(super) struct TicketRow<'a> {
    id: &'a str,
    title: &'a str,
    status: Option<TicketStatus>,
    deps: &'a [String],
    phases: Vec<ShownPhase<'a>>,
    validation: &'a [String],
    problems: &'a [Problem],
}

#[derive(Serialize)]
struct ShownPhase<'a> {
    n: usize,
    text: &'a str,
    state: &'static str,
    line: usize,
    #[serde(skip_serializing_if = "PhaseSettings::is_empty")]
    settings: &'a PhaseSettings,
}

impl<'a> TicketRow<'a> {
    pub(super) fn of(ticket: &'a Ticket) -> Self {
        let phase = |phase: &'a Phase| ShownPhase {
            n: phase.n,
            text: &phase.text,
            state: if phase.done { "done" } else { "pending" },
            line: phase.line,
            settings: &phase.settings,
        };
        Self {
            id: ticket.id.as_str(),
            title: &ticket.title,
            status: ticket.status,
            deps: &ticket.deps,
            phases: ticket.phases.iter().map(phase).collect(),
            validation: &ticket.validation,
            problems: &ticket.problems,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::tickets::LoadError;
    use crate::domain::ticket::parse::parse;

    fn printed(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        print(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn listed(name: &str, text: &str) -> Listed {
        Listed { path: name.into(), ticket: Ok(parse(text.as_bytes(), name)) }
    }

    #[test]
    fn no_title_is_cut() {
        let title = "Count words in a file, and say so in a title that is far too long for a narrow screen, ".repeat(3);
        let ticket = listed("tk-1.md", &format!("# {title}\n- [ ] a\n"));
        let text = printed(|out| list(out, Path::new("dir"), &[ticket]));
        assert!(text.trim_end().ends_with("narrow screen,") && text.matches("narrow").count() == 3, "{text}");
    }

    #[test]
    fn the_list_is_a_table_with_broken_tickets_in_it() {
        let tickets = [
            listed("tk-1.md", "---\nstatus: open\n---\n# Größe 日本\n- [x] a\n- [ ] b\n"),
            listed("tk-22.md", "---\nstatus: in_progress\n---\n# \x1b[31mRed\n"),
            listed("tk-3.md", "---\nid: tk-3\nid: x\n---\n# Broken\n- [ ] a\n"),
            Listed { path: "dir/gone.md".into(), ticket: Err(LoadError::Gone { path: "dir/gone.md".into() }) },
            listed("plan.md", "# Plan\n- [x] a\n"),
            listed("odd.md", "# Odd\n## Validation Commands\n- [ ] write it\n"),
        ];
        assert_eq!(
            printed(|out| list(out, Path::new("dir"), &tickets)),
            "\
○ tk-1     open         1/2  Größe 日本
▶ tk-22    in_progress    -  Red
! tk-3     broken       0/1  Broken
    3:1: the front matter cannot be read: the key `id` appears twice
! gone     broken
    no file dir/gone.md
✓ plan.md  -            1/1  Plan
○ odd.md   -              -  Odd
    3:1: not a validation command: write one command in backticks, like - `make test`
    3:1: no open checkbox of this ticket is a phase: it runs as a whole. Write phases under another heading
"
        );
        let empty = printed(|out| list(out, Path::new("dir"), &[]));
        assert!(empty.contains("programmator ticket new"), "{empty}");
    }

    const TICKET: &str = "---\nid: tk-1\nstatus: open\ndeps: [tk-0]\npriority: 2\nlinks: []\n---\n# T\u{1b}[2J\u{9b}\u{202e}\u{e0041}\n- [ ] a\n  - [x] t\n- [x] b\n- [ ] a\n## Validation Commands\n- `make`\n";

    #[test]
    fn a_ticket_is_shown_to_people() {
        assert_eq!(
            printed(|out| show(out, &parse(TICKET.as_bytes(), "f.md"), Format::Text)),
            "\
○ tk-1  T
  status    open
  deps      tk-0
  priority  2

Phases (1 of 3 done)
  ○ a
      ✓ t
  ✓ b
  ○ a

Validation commands
  make

Problems
  12:1: same text as the phase in line 9: give them different texts, because the first open one is ticked
"
        );
    }

    #[test]
    fn a_ticket_is_shown_to_programs() {
        let json = printed(|out| show(out, &parse(TICKET.as_bytes(), "f.md"), Format::Json));
        assert!(!json.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{e0041}']), "{json}");
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "title", "status", "deps", "phases", "validation", "problems"]);
        assert_eq!(value["phases"][1], serde_json::json!({"n": 2, "text": "b", "state": "done", "line": 11}));
        assert_eq!(value["status"], "open");
        assert_eq!(value["title"], "T\u{1b}[2J\u{9b}\u{202e}\u{e0041}");
        assert_eq!(value["problems"][0]["line"], 12);
        let plan = printed(|out| show(out, &parse(b"- [ ] a", "f.md"), Format::Json));
        assert!(plan.contains("\"status\": null"));
    }
}

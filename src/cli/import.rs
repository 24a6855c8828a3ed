//! `programmator import`: tasks of other programs and documents as tickets. Shows how each stands, asks, and writes what is new.

pub mod args;
mod importer;
mod plan;

pub(in crate::cli) use importer::importer;

use super::agree::{DECLINED, plain_prompts};
use super::error::CliError;
use super::session::Session;
use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::base::json;
use crate::base::text::clean_line;
use crate::domain::import::Standing;
use crate::domain::import::foreign;
use crate::domain::import::item::Item;
use crate::domain::import::rc::Told;
use crate::domain::import::visible::shown;
use crate::domain::request::HELD;
use crate::runtime::importing::{ImportError, Listed};
use args::ImportArgs;
use inquire::{InquireError, MultiSelect};
use serde::Serialize;
use std::io::{IsTerminal, Write, stderr, stdin, stdout};
use std::path::Path;

/// What stands below the options in its `--help`.
pub const HELP: &str = "\
Examples:
  programmator import prd docs/requirements.md
  programmator import hank --one              .hank/fix_plan.md as one ticket with phases
  programmator import github --label sprint-1 --yes
  programmator import tasks TODO.md --dry-run --json | jq '.tasks[].title'
  programmator import prd docs/prd.md --plan  Claude drafts the phases, and several tickets if it is long

Run it again at any time: imported tasks are recognized by the ticket's `external-ref`. Tasks that have changed at the source, or are gone, are listed; their tickets are not changed, except that a dependency imported later is added to their `deps`. Imported text is quoted in the ticket as data. Its links and validation commands are left out unless you ask for them, and invisible characters are shown. With --json an object: source, tasks (key, title, standing, \
ticket, closed, commands), gone, notes, settings, left_out, more. With --plan you review the draft on the screen, as with programmator plan; \
without a terminal or with --json it is printed, and --yes writes it into the ticket without review.

Exit codes: 0 done, 1 failed, 2 wrong usage, 5 you said no, 75 another import is running, 77 inside a run; with --plan those of programmator plan.";

/// `--json`: add, never rename.
#[derive(Serialize)]
struct Report<'a> {
    source: &'static str,
    tasks: Vec<Row<'a>>,
    gone: Vec<Gone<'a>>,
    notes: &'a [String],
    /// Settings of Hank's, and what they are here.
    settings: Vec<Setting<'a>>,
    /// New tasks beyond the limit, of those that were read.
    left_out: usize,
    /// There are tasks beyond the limit.
    more: bool,
}

#[derive(Serialize)]
struct Row<'a> {
    key: &'a str,
    title: String,
    /// new, written, done, imported or changed
    standing: &'static str,
    ticket: Option<String>,
    /// The ticket is closed.
    closed: bool,
    /// What it wants to be checked by; only --commands takes it over.
    commands: &'a [String],
}

#[derive(Serialize)]
struct Gone<'a> {
    ticket: &'a TicketId,
    reference: &'a str,
}

#[derive(Serialize)]
struct Setting<'a> {
    name: &'a str,
    value: &'a str,
    here: &'a str,
}

/// Carries out `programmator import`.
pub async fn run(out: &mut dyn Write, session: &Session, args: &ImportArgs) -> Result<u8, CliError> {
    if args.plan && !args.dry_run {
        return Box::pin(plan::run(out, session, args)).await;
    }
    if args.json && !args.yes && !args.dry_run {
        return Err(CliError::usage("--json cannot ask: add --yes or --dry-run"));
    }
    let importer = importer(session, session.places(&session.resolve(&session.folder)?).dir());
    let alone = if args.dry_run { None } else { Some(importer.alone()?) };
    let mut listed = importer.list(args.wanted()).await?;
    if !args.json {
        show(out, args, &listed)?;
    }
    let new = listed.new_ones();
    let is_nothing = new.is_empty() && !listed.has_more();
    let chosen = if args.dry_run || new.is_empty() { Vec::new() } else { choose(args, &listed.found.items, new)? };
    let done = alone.map(|alone| importer.import(&alone, &listed, &chosen)).transpose()?.unwrap_or_default();
    if args.json {
        listed.found.notes.extend(done.notes);
        let id = |n: usize| done.written.iter().find(|(at, _)| *at == n).map(|(_, path)| id_of(path));
        let settings = &listed.found.settings;
        let settings = settings.iter().map(|one| Setting { name: &one.name, value: &one.value, here: &one.here });
        let report = Report {
            source: args.source().word(),
            tasks: (0..listed.kept).map(|n| row(&listed, n, id(n))).collect(),
            gone: listed.gone.iter().map(|one| Gone { ticket: &one.id, reference: &one.reference }).collect(),
            notes: &listed.found.notes,
            settings: settings.collect(),
            left_out: listed.left_out,
            more: listed.has_more(),
        };
        writeln!(out, "{}", json::pretty(&report)?)?;
    } else {
        for (_, path) in &done.written {
            writeln!(out, "written  {}", clean_line(&path.display().to_string(), 300))?;
        }
        for note in &done.notes {
            writeln!(out, "note     {}", clean_line(note, 400))?;
        }
        if !args.dry_run && is_nothing {
            writeln!(out, "Nothing new.")?;
        }
    }
    Ok(0)
}

impl From<ImportError> for CliError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Usage(why) => Self::usage(why),
            ImportError::Failed(why) => Self::failure(why),
            ImportError::Held(why) => Self::new(HELD, why),
            ImportError::NoDocument(_) => Self::usage(error.to_string()),
        }
    }
}

fn row(listed: &Listed, n: usize, written: Option<String>) -> Row<'_> {
    let item = &listed.found.items[n];
    let standing = &listed.standing[n];
    let word = if written.is_some() { "written" } else { standing.word() };
    let ticket = written.or_else(|| standing.ticket().map(TicketId::to_string));
    let closed = listed.is_closed(n);
    Row { key: &item.key, title: foreign::title(item), standing: word, ticket, closed, commands: &item.commands }
}

fn id_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Says how each task stands.
fn show(out: &mut dyn Write, args: &ImportArgs, listed: &Listed) -> Result<(), CliError> {
    let found = &listed.found;
    for (n, (item, standing)) in found.items.iter().zip(&listed.standing).take(listed.kept).enumerate() {
        let closed = if listed.is_closed(n) { " (closed)" } else { "" };
        let word = standing.word();
        let ticket = standing.ticket().map(|id| format!("  {id}")).unwrap_or_default();
        writeln!(
            out,
            "{word:8} {}{}{ticket}{closed}",
            foreign::title(item),
            item.about(args.commands && *standing == Standing::New)
        )?;
        // What is taken is run: each is shown before anybody is asked.
        for command in item.commands.iter().filter(|_| args.commands && *standing == Standing::New) {
            writeln!(out, "         runs {}", shown(command).replace('\n', "<U+000A>"))?;
        }
    }
    for one in &listed.gone {
        writeln!(out, "gone     {}  {}", clean_line(&one.title, 200), one.id)?;
    }
    for Told { name, value, here } in &found.settings {
        writeln!(out, "setting  {name}={value}: {here}")?;
    }
    for note in &found.notes {
        writeln!(out, "note     {}", clean_line(note, 400))?;
    }
    if found.has_more {
        let cure = if args.limit == 0 { "" } else { "; --limit 0 shows all" };
        writeln!(out, "note     more tasks were skipped{cure}")?;
    } else if listed.left_out > 0 {
        writeln!(out, "note     {} skipped; --limit 0 shows all", counted(listed.left_out, "task"))?;
    }
    Ok(())
}

/// Which of the new ones are imported.
fn choose(args: &ImportArgs, items: &[Item], new: Vec<usize>) -> Result<Vec<usize>, CliError> {
    if args.yes {
        return Ok(new);
    }
    if !(stdin().is_terminal() && stdout().is_terminal() && stderr().is_terminal()) {
        return Err(CliError::usage("nothing was imported: no terminal to ask on; --yes imports without asking"));
    }
    let labels: Vec<String> =
        new.iter().map(|n| foreign::title(&items[*n]) + &items[*n].about(args.commands)).collect();
    let all: Vec<usize> = (0..new.len()).collect();
    plain_prompts();
    let asked = tokio::task::block_in_place(|| {
        MultiSelect::new("Import these?", labels)
            .with_default(&all)
            .with_help_message("Space toggle · Enter import · Esc cancel")
            .raw_prompt_skippable()
    });
    match asked {
        Ok(Some(picked)) => Ok(picked.into_iter().map(|one| new[one.index]).collect()),
        Ok(None) | Err(InquireError::OperationInterrupted | InquireError::OperationCanceled) => {
            Err(CliError::new(DECLINED, "nothing was imported"))
        }
        Err(error) => Err(CliError::failure(format!("cannot ask in this terminal: {error}; use --yes"))),
    }
}

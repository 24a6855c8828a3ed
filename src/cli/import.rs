//! `programmator import`: tasks of other programs and documents as tickets. Shows how each stands, asks, and writes what is new.

pub mod args;
mod found;
mod owed;
mod read;
pub mod sources;
mod write;

use super::agree::DECLINED;
use super::error::CliError;
use super::session::Session;
use crate::adapters::tickets;
use crate::adapters::tickets::LoadError;
use crate::adapters::tickets::create::{DIGEST, REFERENCE};
use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::base::json;
use crate::base::text::clean_line;
use crate::domain::import::foreign::{self, Taken};
use crate::domain::import::item::{Item, Source};
use crate::domain::import::rc::Told;
use crate::domain::import::visible::shown;
use crate::domain::import::{Known, Standing, gone, standings};
use crate::domain::ticket::Ticket;
use crate::domain::ticket::card::Card;
use args::ImportArgs;
use found::Found;
use inquire::{InquireError, MultiSelect};
use serde::Serialize;
use std::io::{IsTerminal, Write, stderr, stdin, stdout};
use std::path::{Path, PathBuf};

/// What stands below the options in its `--help`.
pub const HELP: &str = "\
Examples:
  programmator import prd docs/requirements.md
  programmator import hank --one              .hank/fix_plan.md as one ticket with phases
  programmator import github --label sprint-1 --yes
  programmator import tasks TODO.md --dry-run --json | jq '.tasks[].title'

Run it again at any time: what was imported is known by the ticket's `external-ref`. Tasks that have changed there since, or are gone, are \
shown; their tickets are yours and are not touched, except that a ticket gets a task in its `deps` that it waits for and that comes later. Imported text is quoted in the ticket as data. Its links and validation commands are left out \
unless you ask for them, and characters that would not be seen are shown. With --json an object: source, tasks (key, title, standing, \
ticket, closed, commands), gone, notes, settings, left_out, more.

Exit codes: 0 done, 1 it failed, 2 wrong usage, 5 you said no, 75 while another import is at work, 77 inside a run.";

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
    if args.json && !args.yes && !args.dry_run {
        return Err(CliError::usage("--json asks nothing: add --yes or --dry-run"));
    }
    let dir = session.places(&session.resolve(&session.folder)?).dir();
    let _alone = if args.dry_run { None } else { Some(owed::alone(session)?) };
    // What an import that was killed still owes: the person has agreed to it then.
    let settled = if args.dry_run { Vec::new() } else { owed::settle(session, &dir) };
    let known = known(&dir)?;
    let mut found = read::tasks(session, args, known.len()).await?;
    let standing = standings(args.source, &found.items, &known);
    // What is known or done is shown, and takes no place.
    let mut new = (0..standing.len()).filter(|n| standing[*n] == Standing::New);
    let kept = if args.limit == 0 { None } else { new.nth(args.limit) }.unwrap_or(found.items.len());
    let left_out = standing[kept..].iter().filter(|one| **one == Standing::New).count();
    // Only what was read to its end tells what is missing.
    let places = if found.is_whole { &found.places[..] } else { &[] };
    let gone: Vec<&Known> = gone(args.source, places, &found.items, &known);
    if !args.json {
        show(out, args, &found, &standing[..kept], (&known, &gone), left_out)?;
    }
    let new: Vec<usize> = (0..kept).filter(|n| standing[*n] == Standing::New).collect();
    let is_nothing = new.is_empty() && left_out == 0 && !found.has_more;
    let chosen = if args.dry_run || new.is_empty() { Vec::new() } else { choose(args, &found.items, new)? };
    let taken = Taken { commands: args.commands, links: args.links };
    let names = write::names(session, &dir, (args.source, &found.items), &chosen, &known)?;
    let links = write::links((args.source, &found.items), &standing, &names, &known);
    let owed = owed::note(session, &dir, &links)?;
    let (written, mut lost) = write::tickets(session, &dir, (args.source, taken), &found.items, &names)?;
    lost.extend(write::link(session, &dir, &links));
    owed.settled();
    lost.splice(..0, settled);
    found.notes.extend(lost.iter().cloned());
    if args.json {
        let id = |n: usize| written.iter().find(|(at, _)| *at == n).map(|(_, path)| id_of(path));
        let row = |n: usize| row(&found.items[n], &standing[n], id(n), &known);
        let settings = found.settings.iter().map(|one| Setting { name: &one.name, value: &one.value, here: &one.here });
        let report = Report {
            source: args.source.word(),
            tasks: (0..kept).map(row).collect(),
            gone: gone.iter().map(|one| Gone { ticket: &one.id, reference: &one.reference }).collect(),
            notes: &found.notes,
            settings: settings.collect(),
            left_out,
            more: left_out > 0 || found.has_more,
        };
        writeln!(out, "{}", json::pretty(&report)?)?;
    } else {
        for (_, path) in &written {
            writeln!(out, "written  {}", clean_line(&path.display().to_string(), 300))?;
        }
        for note in &lost {
            writeln!(out, "note     {}", clean_line(note, 400))?;
        }
        if !args.dry_run && is_nothing {
            writeln!(out, "Nothing new.")?;
        }
    }
    Ok(0)
}

/// How many open tasks a source has, by its documents; `None` where another program or machine would have to be asked, or where
/// they cannot be read.
pub(in crate::cli) fn open_tasks(session: &Session, source: Source, file: Option<&Path>) -> Option<usize> {
    let files = match (source, file) {
        (Source::Github, _) => return None,
        (_, Some(file)) => vec![file.to_owned()],
        (Source::Beads, None) => sources::files(&session.folder, source).ok()?,
        (_, None) => Vec::new(),
    };
    let found = read::documents(session, &ImportArgs::of(source, files)).ok()?;
    Some(found.items.iter().filter(|item| !item.is_done).count())
}

/// Whether a source can be read, as far as that can be known without another program or machine.
pub(in crate::cli) fn readable(session: &Session, source: Source, files: Vec<PathBuf>) -> Result<(), CliError> {
    match source {
        Source::Github if files.is_empty() => Ok(()),
        Source::Github => Err(read::takes_no_file()),
        Source::Beads => Ok(()),
        _ => read::documents(session, &ImportArgs::of(source, files)).map(drop),
    }
}

fn row<'a>(item: &'a Item, standing: &Standing, written: Option<String>, known: &[Known]) -> Row<'a> {
    let (word, ticket) = match standing {
        Standing::New if written.is_some() => ("written", written),
        Standing::New => ("new", None),
        Standing::Done => ("done", None),
        Standing::Imported(id) => ("imported", Some(id.to_string())),
        Standing::Changed(id) => ("changed", Some(id.to_string())),
    };
    let closed = is_closed(standing, known);
    Row { key: &item.key, title: foreign::title(item), standing: word, ticket, closed, commands: &item.commands }
}

fn is_closed(standing: &Standing, known: &[Known]) -> bool {
    let (Standing::Imported(id) | Standing::Changed(id)) = standing else { return false };
    known.iter().any(|one| one.id == *id && one.is_closed)
}

fn id_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The tickets of the folder that were imported.
fn known(dir: &Path) -> Result<Vec<Known>, CliError> {
    let mut known = Vec::new();
    for one in tickets::list(dir).map_err(|error| CliError::tickets_folder(dir, &error))? {
        let whole = one.ticket.ok().filter(|ticket| !ticket.is_broken()).and_then(of_ticket);
        // A person may have broken it since; it is an imported one all the same.
        known.extend(match whole {
            Some(one) => Some(one),
            None => match tickets::read(&one.path) {
                Ok(bytes) => of_lines(&one.path, &bytes),
                Err(error @ (LoadError::Unreadable { .. } | LoadError::TooLarge { .. })) => {
                    let why = "nothing was imported, for that file may be a task's already";
                    return Err(CliError::failure(format!("{error}; {why}")));
                }
                // No ticket of ours is a link or a pipe.
                Err(_) => None,
            },
        });
    }
    Ok(known)
}

fn of_ticket(ticket: Ticket) -> Option<Known> {
    let extra = |key: &str| ticket.extra.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
    let reference = extra(REFERENCE).filter(|reference| !reference.is_empty())?;
    let digest = extra(DIGEST).unwrap_or_default();
    Some(Known { is_closed: ticket.is_closed(), reference, digest, id: ticket.id, title: ticket.title })
}

/// What the lines before the title say, whatever else is wrong with the file.
fn of_lines(path: &Path, bytes: &[u8]) -> Option<Known> {
    let text = String::from_utf8_lossy(bytes);
    let is_key = |line: &&str| ["status:", REFERENCE, DIGEST].iter().any(|key| line.starts_with(key));
    let lines: Vec<&str> = text.lines().take_while(|line| !line.starts_with("# ")).filter(is_key).collect();
    let title = text.lines().find(|line| line.starts_with("# ")).unwrap_or_default();
    let id = TicketId::parse(&id_of(path)).ok()?;
    let card = Card::read(format!("---\nid: {id}\n{}\n---\n{title}\n", lines.join("\n")).as_bytes())?;
    let reference = Some(card.text(REFERENCE)).filter(|reference| !reference.is_empty())?;
    Some(Known { id, is_closed: card.is_closed(), reference, digest: card.text(DIGEST), title: card.title })
}

/// Says how each task stands.
fn show(
    out: &mut dyn Write,
    args: &ImportArgs,
    found: &Found,
    standing: &[Standing],
    (known, gone): (&[Known], &[&Known]),
    left_out: usize,
) -> Result<(), CliError> {
    for (item, standing) in found.items.iter().zip(standing) {
        let closed = if is_closed(standing, known) { " (closed)" } else { "" };
        let (word, ticket) = match standing {
            Standing::New => ("new", String::new()),
            Standing::Done => ("done", String::new()),
            Standing::Imported(id) => ("known", format!("  {id}")),
            Standing::Changed(id) => ("changed", format!("  {id}")),
        };
        writeln!(
            out,
            "{word:8} {}{}{ticket}{closed}",
            foreign::title(item),
            about(item, args.commands && *standing == Standing::New)
        )?;
        // What is taken is run: each is shown before anybody is asked.
        for command in item.commands.iter().filter(|_| args.commands && *standing == Standing::New) {
            writeln!(out, "         runs {}", shown(command).replace('\n', "<U+000A>"))?;
        }
    }
    for one in gone {
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
        writeln!(out, "note     more tasks are left out{cure}")?;
    } else if left_out > 0 {
        writeln!(out, "note     {} left out; --limit 0 shows all", counted(left_out, "task"))?;
    }
    Ok(())
}

/// What else a task has.
fn about(item: &Item, takes_commands: bool) -> String {
    let phases = (!item.phases.is_empty()).then(|| counted(item.phases.len(), "phase"));
    let left = if takes_commands { "" } else { " left out" };
    let commands = counted(item.commands.len(), "validation command") + left;
    let commands = (!item.commands.is_empty()).then_some(commands);
    let priority = item.priority.map(|priority| format!("priority {priority}"));
    let all: Vec<String> = [phases, commands, priority].into_iter().flatten().collect();
    if all.is_empty() { String::new() } else { format!("  ({})", all.join(", ")) }
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
        new.iter().map(|n| foreign::title(&items[*n]) + &about(&items[*n], args.commands)).collect();
    let all: Vec<usize> = (0..new.len()).collect();
    let asked = tokio::task::block_in_place(|| {
        MultiSelect::new("Import these?", labels)
            .with_default(&all)
            .with_help_message("Space takes or leaves one, Enter imports, Esc imports nothing")
            .raw_prompt_skippable()
    });
    match asked {
        Ok(Some(picked)) => Ok(picked.into_iter().map(|one| new[one.index]).collect()),
        Ok(None) | Err(InquireError::OperationInterrupted | InquireError::OperationCanceled) => {
            Err(CliError::new(DECLINED, "nothing was imported"))
        }
        Err(error) => Err(CliError::failure(format!("the terminal cannot be asked: {error}; --yes asks nothing"))),
    }
}
